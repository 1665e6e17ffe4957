"""armdyn cite: references of the methods and the robots."""

from __future__ import annotations

from typing import Annotated

import typer

from armdyn.cli.console import console


def cite(
    about: Annotated[
        str | None,
        typer.Argument(
            metavar="[TOPIC|ROBOT]",
            help="A topic, formulation, robot or author (default: everything).",
            autocompletion=lambda incomplete: _known(incomplete),
        ),
    ] = None,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print entries for a BibTeX file.")] = False,
    topics: Annotated[bool, typer.Option("--topics", help="List the topics.")] = False,
) -> None:
    """Print the references of a method, of a robot's data, or of everything armdyn rests on."""
    from rich.padding import Padding
    from rich.text import Text

    from armdyn import catalog, references

    out = console()
    if topics:
        for topic in references.topics():
            print(topic)
        return
    found = references.REFERENCES if about is None else references.about(about)
    if bibtex:
        print("\n\n".join(reference.bibtex() for reference in found))
        return
    if about in catalog.names():
        from armdyn.formats import read

        out.print(Text.assemble(("Data: ", "dim"), read(str(about)).source), soft_wrap=True)
    for reference in found:
        name = f" (cited as {reference.cited_as})" if reference.cited_as else ""
        out.print(Text.assemble((reference.key, "bold"), (name, "dim")))
        out.print(Padding(Text(str(reference)), (0, 0, 0, 2)))
        out.print(Padding(Text(f"used for: {reference.used}", style="dim"), (0, 0, 0, 2)))


def _known(incomplete: str) -> list[str]:
    """Completions of the shell."""
    from armdyn import catalog, references

    return [name for name in (*references.topics(), *catalog.names()) if name.startswith(incomplete)]
