"""armdyn stiffness: stiffness and damping of elastic joints from a log with the encoders of motors and links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.parse import OptionError
from armdyn.cli.verb import Writes, verb

if TYPE_CHECKING:
    from armdyn import Robot
    from armdyn.result import Result


@verb(out=Writes("Write the robot with what was identified.", parse.ROBOT_FILES[:3]))
def stiffness(
    robot: Robot,
    log: Annotated[str, typer.Argument(metavar="LOG", help="Log with positions of links and motors, and torques.")],
    columns: Annotated[
        str,
        typer.Option(metavar="LINK,MOTOR", help="Columns of the positions: of links; of motors, seen at the joints."),
    ] = "q{i},theta{i}",
    delay: Annotated[
        float, typer.Option(metavar="S", help="Time by which torques act later than their stamps say, s.")
    ] = 0.0,
    logger: parse.LoggerOption = None,
) -> Result:
    """Identify stiffness, damping, rotor inertia and motor friction of elastic joints.

    The robot says which joints are elastic; the values it has for them are not used. In column names {i} counts the
    joints from 1 and {joint} is their name. SI units, or those in the columns' headers.
    """
    from armdyn import stiffness

    names = parse.words(columns)
    if len(names) != 2:
        raise OptionError(f"--columns {columns}", expected="two patterns, as in q{i},theta{i}")
    return stiffness(robot, log, link=names[0], motor=names[1], delay=delay, log_format=logger)
