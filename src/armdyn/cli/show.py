"""armdyn show: the robot as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli import parse
from armdyn.cli.console import bullet, console, load_robot, print_json, show_facts
from armdyn.cli.console import show as show_sections

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.robot.robot import Robot


@parse.takes("closed", "elastic", "tree", "passive")
def show(
    robot: parse.RobotArgument,
    tip: parse.TipOption = None,
    base: parse.BaseOption = None,
    lock: parse.LockOption = None,
    without: parse.WithoutOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the robot as JSON, with the keys of a robot file.")
    ] = False,
) -> None:
    """Show a robot: geometry, inertias, limits, actuators, friction, provenance."""
    loaded = load_robot(robot, tip, base, lock, without)
    if json:
        from armdyn.robot.record_writer import record_from_robot

        print_json(record_from_robot(loaded))
        return
    out = console()
    _print(out, loaded)
    checkup = loaded.checkup()
    if not checkup.ok:
        out.print(f"[yellow]Check-up: {checkup.summary}.[/] Details: armdyn check {robot}", markup=True)


def _print(out: Console, robot: Robot) -> None:
    """Head, tables and notes of a robot."""
    from rich.text import Text

    from armdyn.robot import describe

    show_facts(out, describe.title(robot), describe.head(robot))
    show_sections(out, *describe.sections(robot))
    notes = describe.notes(robot)
    if notes:
        out.print(Text("Notes", style="bold"))
    for note in notes:
        out.print(bullet(note))
