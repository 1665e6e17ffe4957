"""Verb by verb: the command calls the function of its name and prints what its result holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import armdyn
from armdyn.cli import VERBS
from armdyn.result import Result
from support.command import Run

NAMES = [verb.__name__ for verbs in VERBS.values() for verb in verbs]
CASES: dict[str, tuple[str, ...]] = {
    "certify": ("planar2r", "--points", "1"),
}
"""Verb -> arguments of a quick command; every verb under `@verb` has an entry."""
WIDE = 2000
"""Columns of a terminal on which nothing is folded."""


def flat(text: str) -> str:
    """The text without line ends and repeated blanks."""
    return " ".join(text.split())


def missing(result: Result, printed: str) -> list[str]:
    """What the result holds and the command did not print."""
    view = result._view()
    held = [view.title, *(text for fact in view.facts for text in fact), *view.notes]
    held += [] if view.verdict is None else [view.verdict[0][1:]]  # the first letter becomes a capital
    held += [text for title, formulas in view.formulas for text in (title, *(f.plain or f.latex for f in formulas))]
    for section in (*view.sections, *view.details):
        heads = [text for column in section.columns for text in (column.head, column.unit)]
        held += [section.title, section.note, *heads, *(cell for row in section.rows for cell in row)]
    shown = flat(printed)
    return [text for text in held if flat(text) not in shown]


@pytest.mark.parametrize("name", CASES)
def test_the_command_prints_what_the_result_holds(
    name: str, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
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
    assert missing(result, str(result)) == []
    status, out, err = run(name, *CASES[name], "--json", *(["--force"] if "Written" in out else []))
    assert status == (0 if results[-1].fine else 1), err
    assert json.loads(out) == json.loads(json.dumps(results[-1].record()))
