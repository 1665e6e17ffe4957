"""Publications that the methods and the robots of armdyn rest on, by topic and by robot. The data: references.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import starmap
from pathlib import Path
from typing import Any

from armdyn import catalog
from armdyn.errors import unknown_name
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.tables import Column, Section

DATA = Path(__file__).with_suffix(".toml")
NUMBERS = {"000": "elbaji", "001": "milicevic", "002": "khalil", "003": "truc", "004": "siciliano"}
"""File numbers of the five source texts, accepted wherever their names are."""


@dataclass(frozen=True)
class Reference:
    """One publication: who, what, when, where, and what armdyn takes from it."""

    key: str
    authors: tuple[str, ...]
    title: str
    year: int | None = None
    where: str = ""
    kind: str = "article"
    volume: str = ""
    issue: str = ""
    pages: str = ""
    used: str = ""
    topics: tuple[str, ...] = ()
    robots: tuple[str, ...] = ()
    text: str = ""
    """For the five source texts: their name in `armdyn reproduce`, such as "elbaji"."""
    cited_as: str = ""
    """For the five source texts: the author's name by which code and documentation cite them, such as "El Baji"."""

    @property
    def names(self) -> tuple[str, ...]:
        """What `about` finds it by."""
        return (self.key, self.text, *self.topics, *self.robots)

    def __str__(self) -> str:
        """One line of plain text."""
        volume = self.volume + (f"({self.issue})" if self.issue else "")
        place = " ".join(filter(None, (self.where, volume)))
        ending = ", ".join(filter(None, (place, self.pages, str(self.year or ""))))
        return f"{_listed(self.authors)}: {self.title}." + (f" {ending}." if ending else "")

    def bibtex(self) -> str:
        """An entry of a BibTeX file."""
        home = {"article": "journal", "inproceedings": "booktitle", "book": "publisher"}.get(self.kind, "howpublished")
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            home: self.where,
            "volume": self.volume,
            "number": self.issue,
            "pages": self.pages.replace("-", "--"),
            "year": str(self.year or ""),
        }
        lines = [f"  {name:<12} = {{{_tex(value)}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])


def _reference(key: str, entry: dict[str, Any]) -> Reference:
    fields: dict[str, Any] = {name: tuple(x) if isinstance(x, list) else x for name, x in entry.items()}
    return Reference(key, **fields)


REFERENCES = tuple(starmap(_reference, tomllib.loads(DATA.read_text(encoding="utf-8")).items()))
TEXTS = tuple(reference for reference in REFERENCES if reference.text)
"""The five source texts."""


def topics() -> list[str]:
    """What `about` understands besides robots: formulations first, then the rest by name."""
    known = {topic for reference in REFERENCES for topic in reference.topics}
    first = [entry.name for entry in FORMULATIONS if entry.name in known]
    return first + sorted(known - set(first))


def about(name: str) -> tuple[Reference, ...]:
    """The references of a topic or of a catalog robot, or the one publication with that key or name of a text.

    >>> [reference.key for reference in about("kane")]
    ['kane1985']
    """
    wanted = name.lower().replace("-", "_").replace(" ", "_")
    wanted = NUMBERS.get(wanted, wanted)
    found = [reference for reference in REFERENCES if wanted and wanted in reference.names]
    if not found and wanted not in catalog.names():
        raise unknown_name("topic", name, [*topics(), *catalog.names()])
    return tuple(found)


@dataclass(frozen=True)
class References(Result):
    """References of a topic, of a robot's data, or of everything that armdyn rests on."""

    about: str
    references: tuple[Reference, ...]
    data: str = ""
    """Where the data of a catalog robot come from."""
    topics: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Reference]:
        return iter(self.references)

    def _view(self) -> View:
        facts = [("data", self.data)] if self.data else []
        facts += [("topics", ", ".join(self.topics))] if self.topics else []
        columns = (Column("key"), Column("cited as"), Column("reference", folds=True), Column("used for", folds=True))
        rows = tuple((each.key, each.cited_as, str(each), each.used) for each in self.references)
        return View(
            f"References: {self.about}", facts=facts, sections=(Section("", columns, rows).filled(),) if rows else ()
        )

    def record(self) -> dict[str, Any]:
        """The references with all their fields."""
        return {"about": self.about, "data": self.data, "references": [asdict(each) for each in self.references]}

    def bibtex(self) -> str:
        """Entries for a BibTeX file."""
        return "\n\n".join(reference.bibtex() for reference in self.references)


def cite(topic: str | None = None) -> References:
    """References of a method, of a catalog robot's data, or of a source text.

    topic: a topic, formulation, robot or author (default: everything).

    >>> [reference.key for reference in cite("kane")]
    ['kane1985']
    """
    if topic is None:
        return References("everything", REFERENCES, topics=tuple(topics()))
    from armdyn.formats import read

    data = read(topic).source if topic in catalog.names() else ""
    return References(topic, about(topic), data)


def _listed(authors: tuple[str, ...]) -> str:
    return authors[0] if len(authors) == 1 else f"{', '.join(authors[:-1])} and {authors[-1]}"


_TEX = {"ć": r"{\'c}", "ö": r"{\"o}", "ü": r"{\"u}", "é": r"{\'e}"}


def _tex(text: str) -> str:
    """Letters that older BibTeX does not read, written out."""
    return "".join(_TEX.get(letter, letter) for letter in text)
