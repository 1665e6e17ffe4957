"""From an empty folder, by the commands of the documentation: a table, trade-offs, an optimum, drives, a report."""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pytest

import armdyn
from support.command import Run
from support.fences import commands, fences

PAGE = Path(__file__).parents[2] / "docs" / "choose" / "design.md"
FULL = bool(os.environ.get("ARMDYN_FULL"))


def test_the_commands_of_the_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The short version has a coarse grid and one chapter."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    table = next(block for block in fences(text, "") if block.startswith("robot;"))
    Path("arm.csv").write_text(table, encoding="utf-8")
    lines = [line for line in commands(text) if "arm.csv" in line or line[1].endswith(".toml")]
    path = [line for line in lines if line[0] != "bound" and "list" not in line]
    assert [line[0] for line in path] == ["check", "plan", "sweep", "sweep", "size", "study"]
    for line in path:
        short = [re.sub(r":[56]$", ":2", word) for word in line] + ["actuators"] * (line[0] == "study")
        status, out, err = run(*(line if FULL else short))
        assert status in ((0, 1) if line[0] == "check" else (0,)), (line, out, err)
    for name in ("tradeoff.png", "variants.csv", "best.toml", "driven.toml", "report/report.html"):
        assert Path(name).stat().st_size > 300, name
    grid = np.genfromtxt("variants.csv", delimiter=",", names=True)
    kept = (grid["largest_payload"] >= 3) & (grid["reach"] >= 1.1)
    kept &= np.max([grid[name] for name in grid.dtype.names if name.startswith("motor_heat")], axis=0) <= 0.8
    best, motion = armdyn.load("best.toml"), armdyn.read_trajectory("move.csv")
    # The sweep times the path on a spline, and limits count as kept up to 1e-6: its grid and ours agree to 3e-4.
    assert armdyn.shortest_cycle(best, motion).duration <= grid["cycle_time"][kept].min() * (1 + 3e-4)
