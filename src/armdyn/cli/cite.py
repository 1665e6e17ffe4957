"""armdyn cite: references of the methods and the robots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from armdyn.cli.verb import verb

if TYPE_CHECKING:
    from armdyn.result import Result


def known_topics(incomplete: str) -> list[str]:
    """Completions of a topic for the TAB key."""
    from armdyn import catalog, cite

    return [name for name in (*cite().topics, *catalog.names()) if name.startswith(incomplete)]


@verb()
def cite(
    about: Annotated[
        str | None,
        typer.Argument(
            metavar="[TOPIC|ROBOT]",
            help="A topic, formulation, robot or author (default: everything).",
            autocompletion=known_topics,
        ),
    ] = None,
    bibtex: Annotated[bool, typer.Option("--bibtex", help="Print entries for a BibTeX file.")] = False,
) -> Result | str:
    """Print the references of a method, of a robot's data, or of everything armdyn rests on."""
    from armdyn import cite

    found = cite(about)
    return found.bibtex() if bibtex else found
