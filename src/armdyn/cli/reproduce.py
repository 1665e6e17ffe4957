"""armdyn reproduce: the source texts, regenerated and judged. Exit status 0 all explained, 1 not all, 2 error."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, tables, working

if TYPE_CHECKING:
    from armdyn.reproduce import Reproduction
    from armdyn.tables import Section

EXPLAINED, UNEXPLAINED = 0, 1


def reproduce(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="000, 001, 002, 003, 004 or all.")] = "all",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where index.html goes; out/reproduce if not given.")
    ] = None,
) -> None:
    """Reproduce the source texts: every table, figure and worked example, beside what is printed.

    Verdicts: same, corrected (an erratum explains the difference), chosen (the text gives no numbers), unexplained.
    Exit status: 0 nothing is unexplained, 1 something is, 2 error.
    """
    from rich.text import Text

    from armdyn.reproduce import run
    from armdyn.reproduce.page import prepared, write
    from armdyn.reproduce.running import chosen

    folder = prepared(out or Path("out") / "reproduce")
    total = sum(len(chapter.items) for chapter in chosen(source))
    with working("starting", total) as say:
        made = run(source, say)
        say("page")
        path = write(made, folder)
    screen = console()
    for table in tables(_section(made), screen.width):
        screen.print(table)
    for result in made.unexplained:
        for check in (*result.outcome.checks, *(slip.fails for slip in result.outcome.slips)):
            if not check.holds:
                screen.print(Text(f"{result.item.key}: {check.what}: {check.figure}", style="bold red"))
    for tag, check in made.evidence.items():
        if not check.holds:
            screen.print(Text(f"{tag} is not shown: {check.what}: {check.figure}", style="bold red"))
    counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(made.counts.items()))
    style = "green" if made.ok else "bold red"
    screen.print(Text.assemble(f"{len(made.results)} items: ", (counts, style)))
    screen.print(Text.assemble("Page: ", (str(path), "bold green")), soft_wrap=True)
    raise typer.Exit(EXPLAINED if made.ok else UNEXPLAINED)


def _section(made: Reproduction) -> Section:
    from armdyn.tables import Column, Section

    rows = tuple(
        (
            result.item.key,
            result.item.title,
            result.verdict,
            str(sum(check.holds for check in result.outcome.checks)) + f" of {len(result.outcome.checks)}",
            " ".join(dict.fromkeys(slip.tag for slip in result.outcome.slips)),
        )
        for result in made.results
    )
    columns = (Column("item"), Column("what", folds=True), Column("verdict"), Column("agree"),
               Column("errata", folds=True))  # fmt: skip
    return Section("", columns, rows)
