"""The chapter on conventions: the text that the code keeps to."""

from __future__ import annotations

import re

from armdyn import conventions
from armdyn.report.chapters.chapter import ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.pages import html


def conventions_used(subject: Subject) -> ReportChapter:
    """Units, frames, signs and orders."""
    _, *paragraphs = (conventions.__doc__ or "").strip().split("\n\n")
    return ReportChapter([html.definitions([_titled(" ".join(paragraph.split())) for paragraph in paragraphs])])


def _titled(paragraph: str) -> tuple[str, str]:
    """`Units. SI; ...` -> (Units, SI; ...), with the constants that it names written out."""
    title, rest = re.split(r"[.:] ", paragraph, maxsplit=1)
    return title, re.sub(r"(see )?`([A-Z_]{4,})`", _constant, rest).replace("`", "")


def _constant(match: re.Match[str]) -> str:
    return " ".join(map(str, getattr(conventions, match[2])))
