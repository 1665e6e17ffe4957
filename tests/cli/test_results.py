"""Verb by verb: the command calls the function of its name and prints what its result holds."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import armdyn
from armdyn.cli import VERBS
from armdyn.notebook_view import text
from armdyn.result import Result
from armdyn.speed import measuring
from support.command import Run

NAMES = [verb.__name__ for verbs in VERBS.values() for verb in verbs]
CASES: dict[str, tuple[str, ...]] = {
    "analyse": ("planar3r", "--tau-max", "120,60,20", "--map", "payload", "--points", "3"),
    "bench": ("pendulum", "--quick"),
    "certify": ("planar2r", "--points", "1"),
    "cite": ("puma560",),
    "compare": ("pendulum", "--coriolis"),
    "derive": ("planar2r",),
    "export": ("planar2r", "--functions", "gravity,pose"),
    "formulations": (),
    "prune": ("planar2r", "--tolerance", "5%", "--rank"),
    "reproduce": ("milicevic",),
    "robots": (),
    "share": ("planar2r",),
    "simulate": ("planar2r", "--law", "pid", "--duration", "0.1"),
    "show": ("scara5", "--dh", "modified"),
}
"""Verb -> arguments of a quick command; every verb under `@verb` has an entry."""
WIDE = 2000
"""Columns of a terminal on which nothing is folded."""


def flat(words: str) -> str:
    """The words without line ends and repeated blanks."""
    return " ".join(words.split())


def missing(result: Result, printed: str) -> list[str]:
    """What the result holds and the command did not print."""
    view = result._view()
    held = [view.title, *(each for fact in view.facts for each in fact), *view.notes]
    held += [] if view.verdict is None else [view.verdict[0][1:]]  # the first letter becomes a capital
    held += [each for title, formulas in view.formulas for each in (title, *(f.plain or f.latex for f in formulas))]
    for section in (*view.sections, *view.details):
        heads = [each for column in section.columns for each in (column.head, column.unit)]
        held += [section.title, section.note, *heads, *(cell for row in section.rows for cell in row)]
    shown = flat(printed)
    return [each for each in held if flat(each) not in shown]


def finite(record: Any) -> Any:
    """The record with null for what is no finite number: JSON has no infinity."""
    if isinstance(record, dict):
        return {key: finite(value) for key, value in record.items()}
    if isinstance(record, list):
        return [finite(value) for value in record]
    return None if isinstance(record, float) and not math.isfinite(record) else record


@pytest.mark.parametrize("name", CASES)
def test_the_command_prints_what_the_result_holds(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(measuring, "QUICK", replace(measuring.QUICK, sizes=(16,), rounds=1, turn=1e-5, compared=4))
    function, results = getattr(armdyn, name), []

    def recorded(*args: Any, **options: Any) -> Any:
        results.append(function(*args, **options))
        return results[-1]

    monkeypatch.setattr(armdyn, name, recorded, raising=False)
    status, out, err = run(name, *CASES[name], columns=WIDE)
    (result,) = results
    assert isinstance(result, Result), type(result)
    assert status == (0 if result.fine else 1), err
    assert missing(result, out) == []
    assert missing(result, text(result._view(), WIDE)) == []
    assert str(result) == text(result._view())
    status, out, err = run(name, *CASES[name], "--json", *(["--force"] if "Written" in out else []))
    assert status == (0 if results[-1].fine else 1), err
    assert json.loads(out) == finite(json.loads(json.dumps(results[-1].record())))
