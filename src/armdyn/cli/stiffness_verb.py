"""armdyn stiffness: stiffness and damping of elastic joints from a log with the encoders of motors and links."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, first_warning, save_robot, show, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot


@takes("elastic", "springs", "gravity_compensation", "dry_friction", "static_friction", "asymmetric_friction",
       "friction_law", "payload")  # fmt: skip
def stiffness(
    robot: Robot,
    log: Annotated[Path, typer.Argument(metavar="LOG", help="Log with positions of links and motors, and torques.")],
    link: Annotated[str, typer.Option(metavar="COLUMNS", help="Columns of the links' positions.")] = "q{i}",
    motor: Annotated[
        str, typer.Option(metavar="COLUMNS", help="Columns of the motors' positions, seen at the joints.")
    ] = "theta{i}",
    delay: Annotated[
        float, typer.Option(metavar="S", help="Time by which torques act later than their stamps say, s.")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the robot with what was identified.")] = None,
) -> None:
    """Identify stiffness, damping, rotor inertia and motor friction of elastic joints.

    The robot says which joints are elastic; the values it has for them are not used. In column names {i} counts the
    joints from 1 and {joint} is their name. SI units, or those in the columns' headers.
    """
    from armdyn.identification import stiffness

    with working("elastic joints"):
        found = stiffness(robot, log, link=link, motor=motor, delay=delay)
    screen = console()
    show(screen, *found.sections())
    if out is not None:
        with first_warning(str(out)):
            save_robot(screen, found.robot, out)
