"""armdyn show: the robot as tables."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import bullet, console, print_json, show_facts
from armdyn.cli.console import show as show_sections
from armdyn.cli.verb import RUNNING, takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.robot.robot import Robot


class DHConvention(StrEnum):
    """Conventions of DH tables."""

    modified = "modified"
    standard = "standard"


@takes("closed", "elastic", "frictionless", "free_joints", movable=False)
def show(
    robot: Robot,
    json: Annotated[
        bool, typer.Option("--json", help="Print the robot as JSON, with the keys of a robot file.")
    ] = False,
    latex: Annotated[bool, typer.Option("--latex", help="Print the tables in LaTeX (needs booktabs).")] = False,
    dh: Annotated[
        DHConvention | None, typer.Option(metavar="CONVENTION", help="Show a DH table instead: modified or standard.")
    ] = None,
) -> None:
    """Show a robot: geometry, inertias, limits, actuators, friction, provenance."""
    if dh is not None:
        robot = robot.to_dh(dh.value)
    if json:
        from armdyn.robot.record_writer import record_from_robot

        print_json(record_from_robot(robot))
        return
    if latex:
        from armdyn.markup import latex_tables
        from armdyn.robot.describe import sections

        print(latex_tables(sections(robot)))
        return
    out = console()
    _print(out, robot)
    from armdyn.doctor import check

    checkup = check(robot)
    if not checkup.fine:
        out.print(f"[yellow]Check-up: {checkup.summary}.[/] Details: armdyn check {RUNNING.get().robot}", markup=True)


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
