"""armdyn bench."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from armdyn.speed import measuring
from support.command import Run

TINY = replace(measuring.QUICK, sizes=(16,), rounds=1, turn=1e-5, most=0.01, compared=4)


def test_prints_and_writes_the_results(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "QUICK", TINY)
    page = tmp_path / "RESULTS.md"
    status, out, _ = run("bench", "pendulum", "--quick", "--out", page)
    assert status == 0
    assert "dyn.inverse_dynamics" in out
    assert "share" in out
    text = page.read_text(encoding="utf-8")
    assert text.startswith("**Speed of the compiled functions**")
    assert r"| dyn.mass\_matrix |" in text


def test_a_place_that_cannot_be_written_is_refused_before_measuring(run: Run, tmp_path: Path) -> None:
    status, out, err = run("bench", "pendulum", "--out", tmp_path)
    assert (status, out) == (2, "")
    assert "File error" in err


def test_json(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "QUICK", TINY)
    monkeypatch.setattr(measuring, "compile_seconds", lambda robot, names: dict.fromkeys(names, 1.0))
    status, out, _ = run("bench", "pendulum", "--quick", "--json")
    assert status == 0
    assert json.loads(out)["robots"][0]["name"] == "pendulum"


def test_a_robot_without_any_function_short_enough(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "QUICK", replace(TINY, longest=-1))
    status, out, _ = run("bench", "pendulum", "--quick", "--out", tmp_path / "RESULTS.md")
    assert status == 0
    assert "mass matrix is left out" in out
