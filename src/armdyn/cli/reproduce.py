"""armdyn reproduce: the source texts, regenerated and compared with the print."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.console import console, tables, working
from armdyn.files import create_folder, require_free

if TYPE_CHECKING:
    from armdyn.tables import Section
    from armdyn.texts import Outcome, Reproduction

EXPLAINED, UNEXPLAINED = 0, 1


def reproduce(
    source: Annotated[
        str,
        typer.Argument(
            metavar="AUTHOR",
            help="elbaji, milicevic, khalil, truc, siciliano or all.",
            autocompletion=lambda incomplete: _known(incomplete),
        ),
    ] = "all",
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for index.html, or AUTHOR.html (default: out/reproduce).")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Also measure what takes minutes (El Baji table 3 simplified by SymPy).")
    ] = False,
) -> None:
    """Reproduce the tables, figures and worked examples of the source texts, and compare them with the print.

    elbaji: Online trajectory tracking control based on the explicit form of the equations of motion for serial
    manipulator using the new formulation (2022).

    milicevic: Transformation matrix approach to dynamics of manipulative robots.

    khalil: Modeling and control of manipulators, part II: dynamics and control (2019).

    truc: Dynamic model with a new formulation of Coriolis/centrifugal matrix for robot manipulators (2020).

    siciliano: Robotics: Modelling, Planning and Control (2009), chapter 7.

    Verdicts: same; formula same, data chosen (the text does not give all data); corrected (an erratum explains the
    difference); not confirmed (a claim of the text did not hold here); no print to compare; unexplained.
    Exit status: 0 nothing is unexplained, 1 something is, 2 error.
    """
    from rich.text import Text

    from armdyn.texts import run
    from armdyn.texts.page import page_name, write
    from armdyn.texts.running import chosen

    folder = create_folder(out or Path("out") / "reproduce")
    require_free([folder / page_name([chapter.source for chapter in chosen(source)])])
    with working("starting") as say:
        made = run(source, say, full=full)
        say("writing the page")
        path = write(made, folder)
    screen = console()
    for table in tables(_section(made), screen.width):
        screen.print(table)
    for result in made.unexplained:
        screen.print(Text(f"{result.item.key}: {result.outcome.sentence}", style="bold red"))
    for result in made.results:
        if result.verdict == "not confirmed":
            screen.print(Text.assemble((f"{result.item.key}, not confirmed: ", "bold"), result.outcome.sentence))
    for tag, check in made.evidence.items():
        if not check.holds:
            screen.print(Text(f"No evidence for {tag}: {check.what}: {check.figure}", style="bold red"))
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
            _agreement(result.outcome),
            " ".join(dict.fromkeys(slip.tag for slip in result.outcome.slips)),
        )
        for result in made.results
    )
    columns = (Column("item"), Column("what", folds=True), Column("verdict"), Column("agree"),
               Column("errata", folds=True))  # fmt: skip
    return Section("", columns, rows)


def _agreement(outcome: Outcome) -> str:
    """How many comparisons and claims hold."""
    held = [check.holds for check in outcome.checks] + [claim.holds for claim in outcome.claims]
    return f"{sum(held)} of {len(held)}"


def _known(incomplete: str) -> list[str]:
    """Completions of the shell."""
    from armdyn.references import TEXTS

    return [name for name in (*(reference.text for reference in TEXTS), "all") if name.startswith(incomplete)]
