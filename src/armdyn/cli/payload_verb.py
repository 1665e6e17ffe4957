"""armdyn payload: what an arm carries, from a log without it and a log with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from armdyn.cli import parse
from armdyn.cli.console import console, first_warning, save_robot, working
from armdyn.cli.verb import takes

if TYPE_CHECKING:
    from armdyn.identification.log.log_format import Effort, Side
    from armdyn.robot.robot import Robot

LOG_HELP = "(.csv, .npz, .parquet, a ROS 2 bag)"


@takes("tree")
def payload(
    robot: Robot,
    unloaded: Annotated[str, typer.Argument(metavar="UNLOADED", help=f"Log without the payload {LOG_HELP}.")],
    loaded: Annotated[str, typer.Argument(metavar="LOADED", help="Log with it; the motion may differ.")],
    calibrated: Annotated[
        bool,
        typer.Option(
            "--calibrated",
            help="Trust the robot's masses: the unloaded log gives the torque gain and its error.",
        ),
    ] = False,
    known_mass: Annotated[
        float | None,
        typer.Option(metavar="KG", help="The payload's mass is known: find the gain of the torques instead."),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the robot with the payload.")] = None,
    unit: Annotated[
        list[str] | None, typer.Option(metavar="Q=UNIT", help="Unit of a quantity, as in q=deg or t=ms; repeatable.")
    ] = None,
    side: Annotated[
        str, typer.Option(help="Side of the gears on which the logs were measured: joint or motor.")
    ] = "joint",
    effort: Annotated[str, typer.Option(help="Meaning of the effort columns: torque or current.")] = "torque",
    gains: Annotated[
        str | None, typer.Option(metavar="K", help="Torque per unit of effort, one for all joints or one each.")
    ] = None,
    rate: Annotated[float | None, typer.Option(metavar="HZ", help="Sampling rate of logs without time stamps.")] = None,
    topic: Annotated[str | None, typer.Option(metavar="NAME", help="Topic of the joint states in ROS 2 bags.")] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option(metavar="OLD=NEW", help="Replace OLD in names of the logs by NEW (fer_=panda_); repeatable."),
    ] = None,
) -> None:
    """Identify the payload of a robot, mass, centre and inertia with error bars, from two logs."""
    with working("reading the logs") as say:
        from armdyn.identification import LogFormat, payload

        log_format = LogFormat(
            units=dict(parse.pair(entry, "--unit", "q=deg") for entry in unit or ()) or None,
            side=cast("Side", side),
            effort=cast("Effort", effort),
            gains=None if gains is None else parse.numbers(gains, robot.n, "--gains", single=True),
            rate=rate,
            topic=topic,
            rename=dict(parse.pair(entry, "--rename", "fer_=panda_") for entry in rename or ()) or None,
        )
        found = payload(robot, loaded, unloaded, calibrated=calibrated, log_format=log_format, progress=say)
        gain = None if known_mass is None else found.torque_gain(known_mass)
    screen = console()
    screen.print(str(found), highlight=False, markup=False)
    for finding in found.findings:
        screen.print(f"Suspicious log, {finding.where}: {finding.what}. {finding.advice}", style="yellow")
    if gain is not None:
        times = f"Torques are {gain[0]:.4g} +- {gain[1]:.2g} times the true ones"
        screen.print(f"{times}: give --gains {1 / gain[0]:.4g} to armdyn identify.", highlight=False)
    if out is not None:
        with first_warning(str(out)):
            save_robot(screen, found.added_to(robot), out)
