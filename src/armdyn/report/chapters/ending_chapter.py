"""The last chapters: conventions and references."""

from __future__ import annotations

import re

from armdyn import catalog, conventions, references
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.report.chapters.chapter import Chapter, Subject
from armdyn.report.pages import html

METHODS = ("parameters", "operational_space")
"""What the study uses besides the formulations, as topics of the references."""


def conventions_used(subject: Subject) -> Chapter:
    """Signs, frames, orders: the text that the code keeps to."""
    _, *paragraphs = (conventions.__doc__ or "").strip().split("\n\n")
    pairs = [_titled(" ".join(paragraph.split())) for paragraph in paragraphs]
    return Chapter([html.definitions(pairs)])


def _titled(paragraph: str) -> tuple[str, str]:
    """`Units. SI; ...` -> (Units, SI; ...), with the constants that it names written out."""
    title, rest = re.split(r"[.:] ", paragraph, maxsplit=1)
    return title, re.sub(r"(see )?`([A-Z_]{4,})`", _constant, rest).replace("`", "")


def _constant(match: re.Match[str]) -> str:
    return " ".join(map(str, getattr(conventions, match[2])))


def references_used(subject: Subject) -> Chapter:
    """Where the methods come from."""
    wanted = [entry.name for entry in FORMULATIONS] + [name for name in METHODS if name in references.topics()]
    if subject.robot.name in catalog.names():
        wanted.insert(0, subject.robot.name)
    found: dict[str, references.Reference] = {}
    for name in wanted:
        if name in references.topics() or name in catalog.names():
            found |= {reference.key: reference for reference in references.about(name)}
    numbered = [entry for entry in found.values() if entry.number]
    others = [entry for entry in found.values() if not entry.number]
    rows = [(entry.number, f"{entry} Used for: {entry.used}.") for entry in sorted(numbered, key=lambda e: e.number)]
    words = "Numbers such as Khalil in this report stand for these texts. `armdyn cite` prints them, also as BibTeX."
    blocks = [html.paragraph(words.replace("`", "")), html.definitions(rows)]
    blocks.append(html.bullets("Further references", [f"{entry} Used for: {entry.used}." for entry in others]))
    return Chapter(blocks)
