"""armdyn prune."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import armdyn
from support.command import Run


def test_prune_proves_and_writes_a_reduced_model(run: Run, tmp_path: Path) -> None:
    file, picture = tmp_path / "reduced.py", tmp_path / "zero.svg"
    limits = ("--tolerance", "0.4, 0.4, 0.2", "--limits", "v=2,a=3")
    status, text, _ = run("prune", "three_link", *limits, "--json", "--out", file, "--plot", picture)
    assert status == 0
    found = json.loads(text)
    assert found["tolerance"] == [0.4, 0.4, 0.2]
    assert all(b <= t for b, t in zip(found["bound"], found["tolerance"], strict=True))
    assert found["reduced"]["multiplications"] < found["full"]["multiplications"]
    names: dict[str, object] = {}
    exec(file.read_text(encoding="utf-8"), names)
    rng = np.random.default_rng(0)
    robot = armdyn.load("three_link")
    dyn = armdyn.compile(robot)
    for _ in range(50):
        q, qd, qdd = rng.uniform(-1, 1, (3, 3)) * [[1], [2], [3]]
        error = np.abs(dyn.inverse_dynamics(q, qd, qdd) - np.array(names["function"](q, qd, qdd)["tau"]))  # type: ignore[operator]
        assert (error <= found["bound"]).all()
    assert picture.read_text(encoding="utf-8").count("<path") > 20


def test_prune_prints_tables_and_equations(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "reduced.txt"
    status, text, _ = run("prune", "planar2r", "--tolerance", "5%", "--out", file)
    assert status == 0
    assert "proven bound" in text and "one call" in text and "D11" in text
    assert "Assumed, because the robot has none: velocity limits of all joints." in text
    assert "M11 = " in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--tolerance", "200%"), "between 0 and 100"),
        (("--tolerance", "0"), "positive"),
        (("--out", "x.doc"), "must end in"),
    ],
)
def test_bad_options(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, _, error = run("prune", "planar2r", *arguments)
    assert status == 2 and message in " ".join(error.replace("│", " ").split())
