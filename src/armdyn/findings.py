"""The findings of a check-up, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.tables import Column, Section

Severity = Literal["invalid", "suspicious", "note"]
SEVERITIES: tuple[Severity, ...] = ("invalid", "suspicious", "note")
"""Invalid: no body or motor has such values. Suspicious: probably not what was meant. Note: for the record."""
MOST_ROWS = 3
"""Findings of one rule with different words that a table shows one by one; more are counted in one row."""
MOST_PLACES = 8
"""Places that one row lists."""
FILE_NOTE = "file-note"
"""The rule of findings that only repeat a note of the description."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One issue that a check found.

    rule: short name of the rule.
    severity: invalid, suspicious or note; see SEVERITIES.
    where: the part of the robot or of the log.
    what: a sentence.
    condition: what should hold.
    value, unit: the value that breaks the condition.
    cause: the likely one.
    advice: what to do.
    """

    rule: str
    severity: Severity
    where: str
    what: str
    condition: str = ""
    value: float | None = None
    unit: str = ""
    cause: str = ""
    advice: str = ""

    @property
    def invalid(self) -> bool:
        return self.severity == "invalid"

    @property
    def amount(self) -> str:
        """The value with its unit."""
        return "" if self.value is None else f"{self.value:.4g} {self.unit}".rstrip()

    def record(self) -> dict[str, Any]:
        keys = ("rule", "severity", "where", "what", "condition", "value", "unit", "cause", "advice")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True, slots=True)
class Checkup(Result):
    """The findings on one robot, the worst first."""

    robot: str
    findings: tuple[Finding, ...]

    @property
    def fine(self) -> bool:
        """True if no finding is invalid or suspicious; notes are allowed."""
        return all(finding.severity == "note" for finding in self.findings)

    @property
    def summary(self) -> str:
        """`2 invalid, 1 suspicious, 3 notes`, or `no issues found`."""
        count = Counter(finding.severity for finding in self.findings)
        parts = [f"{count[severity]} {severity}" for severity in SEVERITIES if count[severity]]
        return ", ".join(parts).replace(" note", " notes" if count["note"] > 1 else " note") or "no issues found"

    def record(self) -> dict[str, Any]:
        return {"robot": self.robot, "fine": self.fine, "findings": [finding.record() for finding in self.findings]}

    @property
    def notes(self) -> list[str]:
        """The notes of the description itself, word for word."""
        return [f.what if f.where == "robot" else f"{f.where}: {f.what}" for f in self.findings if f.rule == FILE_NOTE]

    def _groups(self) -> Iterable[list[Finding]]:
        """The findings of each rule and severity, without notes of the description."""
        groups: dict[tuple[str, str], list[Finding]] = {}
        for finding in self.findings:
            if finding.rule != FILE_NOTE:
                groups.setdefault((finding.severity, finding.rule), []).append(finding)
        return groups.values()

    def section(self) -> Section:
        """The findings as a table; those that differ only in their place, and many of one rule, share a row."""
        columns = (
            Column(""),
            Column("where", folds=True),
            Column("what is wrong", folds=True),
            Column("value", folds=True),
            Column("likely cause, and what to do", folds=True),
        )
        rows = tuple(row for some in self._groups() for row in _rows(some))
        return Section(f"Check-up of {self.robot}: {self.summary}", columns, rows)

    def _view(self) -> View:
        section = self.section()
        shown = (Section("Findings", section.columns, section.rows),) if section.rows else ()
        return View(f"Check-up of {self.robot}", (self.summary, self.fine), sections=shown, notes=self.notes)


def _rows(findings: Sequence[Finding]) -> Iterable[tuple[str, str, str, str, str]]:
    """The rows of the findings of one rule: one per sentence, or a single one, with the worst, for many sentences."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        alike.setdefault((sentence(finding.what), _advice(finding)), []).append(finding)
    most = MOST_PLACES
    if len(alike) > MOST_ROWS:
        worst = max(findings, key=_size)
        what = f"{sentence(worst.what)} There are {len(findings)} findings of this kind; this is the largest."
        alike = {(what, _advice(worst)): [worst, *(finding for finding in findings if finding is not worst)]}
        most = MOST_ROWS
    for (what, advice), some in alike.items():
        yield some[0].severity, listed([f.where for f in some], most), what, max(some, key=_size).amount, advice


def _advice(finding: Finding) -> str:
    return " ".join(map(sentence, filter(None, (finding.cause, finding.advice))))


def _size(finding: Finding) -> float:
    return abs(finding.value or 0.0)


def sentence(text: str) -> str:
    """Return the text with a capital letter and a full stop.

    >>> sentence("the mass is -1 kg")
    'The mass is -1 kg.'
    """
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) or not text else f"{text}."


def sorted_by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def listed(names: Sequence[str], most: int = MOST_PLACES) -> str:
    """Join names in one line; a list longer than `most` is cut."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
