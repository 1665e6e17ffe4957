"""armdyn payload: what an arm carries, from a log without it and a log with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result
    from armdyn.typing import Progress


@verb(out=Writes("Write the robot with the payload.", parse.ROBOT_FILES[:3]))
def payload(
    robot: Robot,
    progress: Progress,
    unloaded: Annotated[str, typer.Argument(metavar="UNLOADED", help=f"Log without the payload, {parse.LOG_FILES}.")],
    loaded: Annotated[str, typer.Argument(metavar="LOADED", help="Log with it; the motion may differ.")],
    logger: parse.LoggerOption = None,
    known: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="robot: its masses are known, and the unloaded log gives the torque gain and its error. Or the "
            "payload's mass, kg: find the gain of the torques instead.",
        ),
    ] = None,
) -> Result:
    """Identify the payload of a robot, mass, centre and inertia with error bars, from two logs."""
    from armdyn import payload

    return payload(
        robot,
        loaded,
        unloaded,
        calibrated=known == "robot",
        known_mass=None if known in (None, "robot") else parse.numbers(known, 1, "--known")[0],
        log_format=logger,
        progress=progress,
    )
