"""armdyn study: a full report on one robot."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, show, show_findings, working
from armdyn.cli.verb import default_folder, takes

if TYPE_CHECKING:
    from rich.console import Console

    from armdyn.report.chapters.chapter import Fact
    from armdyn.robot.robot import Robot


@takes("closed", "tree", movable=False)
def study(
    robot: Robot,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the report (default: out/ROBOT).")] = None,
) -> None:
    """Study a robot and write a report: check-up, equations, certificate, compiled code, motion, control, export.

    Writes report.html, which needs no network, and the data behind it.
    """
    from rich.text import Text

    screen = console()
    folder = out or default_folder()
    with working("check-up") as say:
        from armdyn.doctor import check
        from armdyn.report.pages.study_page import study as run
        from armdyn.report.pages.study_page import told

        checkup = check(robot)
        result = run(robot, folder, say)
    _print_facts(screen, robot.name, result.facts)
    if not checkup.fine:
        show_findings(screen, checkup)
    show(screen, result.poses)
    if result.agrees is not None:
        verdict = ("all agree exactly", "green") if result.agrees else ("they DO NOT agree; see the report", "bold red")
        screen.print(Text.assemble("Formulations: ", verdict))
    for reason in dict.fromkeys(result.missing.values()):
        titles = ", ".join(title for title, why in result.missing.items() if why == reason)
        screen.print(Text(f"{titles}: {reason}", style="yellow"))
    for note in result.notes:
        screen.print(Text(note, style="yellow"))
    names = ", ".join(path.relative_to(folder).as_posix() for path in result.files if path != result.report)
    screen.print(
        Text.assemble("Report: ", (str(result.report), "bold green"), f"   also in this folder: {names}"),
        soft_wrap=True,
    )
    screen.print(Text(f"Done in {told(result.seconds, result.peak_megabytes)}.", style="dim"))


def _print_facts(screen: Console, name: str, facts: tuple[Fact, ...]) -> None:
    """The key facts, one per line."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False, title=Text(name, style="bold"), title_justify="left")
    for fact in facts:
        style = {True: "green", False: "bold red", None: ""}[fact.good]
        remark = Text(fact.remark, style="dim")
        table.add_row(Text(fact.label, style="dim"), Text(fact.text, style=style), remark)
    screen.print(table)
    screen.print()
