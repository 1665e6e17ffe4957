"""The chapter on references: where the methods come from."""

from __future__ import annotations

from armdyn import catalog, references
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.report.chapters.chapter import ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.pages import html

METHODS = ("parameters", "operational_space")
"""Topics of the references that a study uses besides its formulations."""


def references_used(subject: Subject) -> ReportChapter:
    """The source texts by author, then further references."""
    topics = references.topics()
    wanted = [name for name in (*(entry.name for entry in FORMULATIONS), *METHODS) if name in topics]
    if subject.robot.name in catalog.names():
        wanted.insert(0, subject.robot.name)
    found = {entry.key: entry for name in wanted for entry in references.about(name)}
    others = [f"{entry} Used for: {entry.used}." for entry in found.values() if not entry.text]
    words = (
        "This report cites the source texts by author. The command `armdyn cite` prints all references, also as BibTeX."
    )
    rows = [(entry.cited_as, f"{entry} Used for: {entry.used}.") for entry in references.TEXTS if entry.key in found]
    return ReportChapter([html.paragraph(words), html.definitions(rows), html.bullets("Further references", others)])
