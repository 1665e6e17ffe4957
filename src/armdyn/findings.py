"""What a check-up finds, as data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from armdyn.tables import WIDTH, Column, Section, paragraph, render

Severity = Literal["impossible", "doubtful", "note"]
SEVERITIES: tuple[Severity, ...] = ("impossible", "doubtful", "note")
"""Impossible: no body or motor has such values. Doubtful: probably not what was meant. Note: for the record."""
REMARK = "remark"
"""The rule of findings that only repeat a note of the description."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that looks wrong.

    rule: short name of the rule. where: the part of the robot. what: a sentence. condition: what should hold.
    value, unit: by how much it does not. cause: the likely one. advice: what to do.
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
    def impossible(self) -> bool:
        return self.severity == "impossible"

    @property
    def amount(self) -> str:
        """By how much, with its unit."""
        return "" if self.value is None else f"{self.value:.4g} {self.unit}".rstrip()

    def record(self) -> dict[str, Any]:
        keys = ("rule", "severity", "where", "what", "condition", "value", "unit", "cause", "advice")
        return {key: getattr(self, key) for key in keys}


@dataclass(frozen=True, slots=True)
class Checkup:
    """The findings on one robot, the worst first."""

    robot: str
    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """True if nothing is impossible or doubtful; notes do no harm."""
        return all(finding.severity == "note" for finding in self.findings)

    @property
    def summary(self) -> str:
        """`2 impossible, 1 doubtful, 3 notes`, or `nothing to remark`."""
        count = Counter(finding.severity for finding in self.findings)
        parts = [f"{count[severity]} {severity}" for severity in SEVERITIES if count[severity]]
        return ", ".join(parts).replace(" note", " notes" if count["note"] > 1 else " note") or "nothing to remark"

    def record(self) -> dict[str, Any]:
        return {"robot": self.robot, "ok": self.ok, "findings": [finding.record() for finding in self.findings]}

    def json(self) -> str:
        """The findings as a JSON text."""
        return json.dumps(self.record(), indent=2, ensure_ascii=False)

    @property
    def remarks(self) -> list[str]:
        """What the description itself remarks, word by word."""
        return [f.what if f.where == "robot" else f"{f.where}: {f.what}" for f in self.findings if f.rule == REMARK]

    def section(self) -> Section:
        """The findings as a table; those that differ only in their place share a row."""
        columns = (Column(""), Column("where", folds=True), Column("what is wrong", folds=True),
                   Column("by how much", folds=True), Column("likely cause, and what to do", folds=True))  # fmt: skip
        alike: dict[tuple[str, str, str], list[Finding]] = {}
        for f in self.findings:
            if f.rule != REMARK:
                advice = " ".join(map(sentence, filter(None, (f.cause, f.advice))))
                alike.setdefault((f.severity, sentence(f.what), advice), []).append(f)
        rows = tuple(
            (severity, listed([f.where for f in some]), what, max(some, key=_size).amount, advice)
            for (severity, what, advice), some in alike.items()
        )
        return Section(f"Check-up of {self.robot}: {self.summary}", columns, rows)

    def __str__(self) -> str:
        section = self.section()
        text = render(section, WIDTH) if section.rows else section.title
        return "\n".join([text, *(paragraph("-", remark, 2) for remark in self.remarks)])


def _size(finding: Finding) -> float:
    return abs(finding.value or 0.0)


def sentence(text: str) -> str:
    """The text with a capital and a full stop.

    >>> sentence("the mass is -1 kg")
    'The mass is -1 kg.'
    """
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?", "!")) or not text else f"{text}."


def sorted_by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))


def listed(names: Sequence[str], most: int = 8) -> str:
    """Names in one line; a long list is cut."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
