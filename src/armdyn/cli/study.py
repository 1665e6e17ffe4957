"""armdyn study: a full report on one robot."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
def study(
    robot: Robot,
    out: Path,
    progress: Progress,
    about: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MOTION] [CHAPTER]...",
            help="Samples of t, q1, ... (.csv) of the motion to study (default: there and back near the limits), and "
            "words of the chapters to write, as in geometry actuators (default: all).",
        ),
    ] = None,
) -> Result:
    """Study a robot and write a report: check-up, equations, certificate, compiled code, motion, control, export.

    Writes report.html, which needs no network, and the data behind it.
    """
    from armdyn import study
    from armdyn.trajectory import read_trajectory

    motions = [text for text in about or () if text.endswith(".csv")]
    if len(motions) > 1:
        raise typer.BadParameter(f"two motions: {', '.join(motions)}", param_hint="MOTION")
    words = [text for text in about or () if text not in motions]
    return study(robot, out, progress, motion=read_trajectory(motions[0]) if motions else None, words=words)
