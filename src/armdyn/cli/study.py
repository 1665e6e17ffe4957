"""armdyn study: a full report on one robot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armdyn.cli.parse import split_robot
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


def default_folder(options: Mapping[str, Any]) -> Path:
    """Where a report goes when the user does not say: out/ROBOT."""
    return Path("out") / Path(split_robot(options["robot"])[0]).stem


@verb(out=Writes("Folder for the report (default: out/ROBOT).", folder=True, default=default_folder))
def study(robot: Robot, out: Path, progress: Progress) -> Result:
    """Study a robot and write a report: check-up, equations, certificate, compiled code, motion, control, export.

    Writes report.html, which needs no network, and the data behind it.
    """
    from armdyn import study

    return study(robot, out, progress)
