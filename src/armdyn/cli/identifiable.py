"""armdyn identifiable: which parameters torques can tell, in which combinations, and which they never tell."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


@verb()
def identifiable(
    robot: Robot,
    motion: Annotated[
        Path | None, typer.Argument(metavar="[MOTION]", help="Samples of t, q1, ... (.csv), as `excite --out` writes.")
    ] = None,
    include: parse.IncludeOption = "inertial,friction",
    rate: Annotated[float, typer.Option(metavar="HZ", help="Sampling rate of the measurement, Hz.")] = 100.0,
) -> Result:
    """Tell which parameters a motion identifies, individually or in combination, and which no torque shows."""
    from armdyn import identifiable
    from armdyn.trajectory import read_trajectory

    course = None if motion is None else read_trajectory(motion)
    return identifiable(robot, course, include=parse.words(include), rate=rate)
