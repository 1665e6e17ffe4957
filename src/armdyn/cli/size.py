"""armdyn size: motors and gears for a motion."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


@verb(out=Writes("Write the robot with its drives (.toml).", (".toml",)))
def size(
    robot: Robot,
    motion: Annotated[
        Path, typer.Argument(metavar="MOTION", help="Samples of t, q1, ... (.csv), as `plan --out` writes.")
    ],
    catalog: Annotated[
        Path | None,
        typer.Argument(metavar="[CATALOG]", help="Your motors and gears (.toml) instead of typical classes."),
    ] = None,
) -> Result:
    """Choose the lightest motor and gear of every joint for a motion that is repeated, and say why lighter ones fail.

    Exit status: 0 the robot with these drives keeps its limits, 1 it does not, or a joint has no drive.
    """
    from armdyn import size

    return size(robot, motion, catalog)
