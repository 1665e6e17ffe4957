"""armdyn show: the robot as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import BaseOption, LockOption, RobotArgument, TipOption, console, load_robot, tables

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.robot.robot import Robot


def show(
    robot: RobotArgument,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the robot as JSON, with the keys of a robot file.")
    ] = False,
) -> None:
    """Show a robot: geometry, inertia, limits, drives, sources."""
    made = load_robot(robot, tip, base, lock)
    if json:
        from json import dumps

        from armdyn.robot.record_writer import record_from_robot

        print(dumps(record_from_robot(made), indent=2, ensure_ascii=False))
        return
    out = console()
    print_robot(out, made)
    checkup = made.checkup()
    if not checkup.ok:
        out.print(f"[yellow]Check-up: {checkup.summary}.[/] Details: armdyn check {robot}", markup=True)


def print_robot(out: Console, robot: Robot) -> None:
    """Head, tables and notes of a robot."""
    from rich.padding import Padding
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from armdyn.robot import describe

    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    for label, fact in describe.head(robot):
        facts.add_row(label, Text(fact))
    out.print(Panel(facts, title=Text(describe.title(robot), style="bold"), title_align="left", border_style="blue"))
    for section in describe.sections(robot):
        for table in tables(section, out.width):
            out.print(table)
    remarks = describe.notes(robot)
    if remarks:
        out.print(Text("Notes", style="bold"))
        for remark in remarks:
            bullet = Table.grid(padding=(0, 1))
            bullet.add_row(Text("-", style="dim"), Text(remark))
            out.print(Padding(bullet, (0, 0, 0, 0)))
