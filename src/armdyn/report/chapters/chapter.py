"""A chapter of a study: blocks of HTML, facts for the summary, files beside the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Fact:
    """One of the key facts of the summary. good: the verdict, None if the fact is not one."""

    label: str
    text: str
    remark: str = ""
    good: bool | None = None


@dataclass(frozen=True)
class File:
    """A file beside the report, and what it contains."""

    path: Path
    what: str


@dataclass(frozen=True)
class ReportChapter:
    """The content of a chapter.

    blocks: HTML, in order.
    facts: for the summary.
    files: written beside the report.
    notes: for the list of notes in the summary.
    numbers: for study.json.
    """

    blocks: Sequence[str]
    facts: Sequence[Fact] = ()
    files: Sequence[File] = ()
    notes: Sequence[str] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)
