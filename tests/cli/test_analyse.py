"""armdyn analyse."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.analysis import payload_capability
from support.command import Run, plain

ARM = armdyn.compile(armdyn.load("planar3r"))


def test_analyse_prints_draws_and_maps(run: Run, tmp_path: Path) -> None:
    picture = tmp_path / "here.svg"
    at = ("--at", "30deg,40deg,50deg", "--limits", "tau=120,60,20", "--plot", picture)
    status, text, _ = run("analyse", "planar3r", *at)
    assert status == 0
    expected = float(payload_capability(ARM, np.radians([30, 40, 50]), tau_max=[120, 60, 20]))
    assert f"{expected:.4g} kg, the largest that is held at rest" in text
    assert "Jacobian of the tool" in text and "effective mass" in text
    assert "velocity" in picture.read_text(encoding="utf-8")
    table, drawn = tmp_path / "payload.csv", tmp_path / "payload.svg"
    over = ("--map", "payload:shoulder,elbow", "--out", table, "--plot", drawn)
    status, text, _ = run("analyse", "planar3r", *at[:4], *over)
    assert status == 0 and "Map over the workspace" in text
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 61 * 61 and "largest payload held at rest" in drawn.read_text(encoding="utf-8")
    one = rows[7]
    q = [float(one[f"q_{joint}"]) for joint in ("shoulder", "elbow", "wrist")]
    assert float(one["payload"]) == pytest.approx(float(payload_capability(ARM, q, tau_max=[120, 60, 20])), rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("planar2r", "--map", "payloud"), "Did you mean 'payload'?"),
        (("planar2r", "--map", "payload"), "Give tau_max"),
        (("planar2r", "--at", "1"), "the robot takes 2"),
        (("planar2r", "--plot", "x.txt"), ".png, .svg, .pdf"),
        (("planar2r", "--out", "x.csv"), "no map to write"),
    ],
)
def test_analyse_refuses(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, _, err = run("analyse", *arguments)
    assert status == 2
    assert message in plain(err)
