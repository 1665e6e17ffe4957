"""armdyn study: everything about one robot in one command, with a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from armdyn.cli.check import print_findings
from armdyn.cli.console import BaseOption, LockOption, RobotArgument, TipOption, console, load_robot, tables
from armdyn.cli.show import print_robot


def study(
    robot: RobotArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where the report goes; out/ROBOT if not given.")
    ] = None,
    tip: TipOption = None,
    base: BaseOption = None,
    lock: LockOption = None,
) -> None:
    """Study a robot: model, check-up, poses, equations, certificate of agreement, report."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.text import Text

    screen = console()
    folder = out or Path("out") / Path(robot).stem
    with Progress(TextColumn("{task.description:<32}"), BarColumn(), TimeElapsedColumn(), console=screen,
                  transient=True) as progress:  # fmt: skip
        task = progress.add_task("reading the robot", total=None)
        made = load_robot(robot, tip, base, lock)
        progress.update(task, description="check-up")
        checkup = made.checkup()
        from armdyn.report.study import study as run

        result = run(made, folder, lambda step: progress.update(task, description=step))
    print_robot(screen, made)
    screen.print()
    screen.print(Text.assemble("Check-up: ", (checkup.summary, "green" if checkup.ok else "yellow")))
    if not checkup.ok:
        print_findings(screen, checkup)
    for table in tables(result.poses, screen.width):
        screen.print(table)
    if result.agrees is not None:
        verdict = ("all agree exactly", "green") if result.agrees else ("DO NOT agree: see the report", "bold red")
        screen.print(Text.assemble("Formulations: ", verdict))
    for note in result.notes:
        screen.print(Text(note, style="yellow"))
    names = ", ".join(path.name for path in result.files if path != result.report)
    screen.print(
        Text.assemble("Report: ", (str(result.report), "bold green"), f"   beside it: {names}"), soft_wrap=True
    )
