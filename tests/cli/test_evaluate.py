"""armdyn evaluate as a user sees it: what it prints is what the library's result holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import text_table
from support.command import Run, plain

PANDA = "0.1,30deg,-0.2,-1,0.4,1,0.2"


def test_a_state_as_table_json_and_file(run: Run, tmp_path: Path) -> None:
    robot, q = armdyn.load("panda"), [0.1, np.pi / 6, -0.2, -1, 0.4, 1, 0.2]
    state = armdyn.evaluate(robot, q, np.full(7, 0.5), np.full(7, -0.3))
    options = ("--at", PANDA, "--qd", ",".join(["0.5"] * 7), "--qdd", ",".join(["-0.3"] * 7))
    csv = tmp_path / "state.csv"
    status, out, _ = run("evaluate", "panda", *options, "--out", csv)
    assert status == 0
    for name, x, words in zip(state.names, state.tau, ("Joints", "Torques by body", "Mass matrix M"), strict=False):
        assert name in out and f"{x:.6g}" in out and words in out
    found = json.loads(run("evaluate", "panda", *options, "--json").out)
    assert found == json.loads(json.dumps(state.record()))
    columns = text_table.read(csv)
    np.testing.assert_array_equal(text_table.numbered(columns, "tau")[0], state.tau)


def test_accelerations_under_torques_and_a_force(run: Run) -> None:
    options = ("--at", "30deg,0.2", "--tau", "100,50", "--wrench", "10,0,0,0,0,0", "--json")
    found = json.loads(run("evaluate", "planar2r", *options).out)
    dyn = armdyn.compile(armdyn.load("planar2r"))
    expected = dyn.forward_dynamics([np.pi / 6, 0.2], [0.0, 0.0], [100.0, 50.0], [10.0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(found["qdd"], expected, rtol=1e-12)


def test_a_motion_of_plan(run: Run, tmp_path: Path) -> None:
    move, out = tmp_path / "move.csv", tmp_path / "all.csv"
    run("plan", "planar2r", "--from", "0,0", "--to", "1,0.5", "--dt", "0.01", "--out", move)
    assert run("evaluate", "planar2r", move, "--out", out).status == 0
    planned, evaluated = text_table.read(move), text_table.read(out)
    for name in ("t", "q1", "qdd2", "tau1", "tau2"):
        np.testing.assert_allclose(evaluated[name], planned[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of a state and a motion"),
        (("--at", "0,x"), "'x' is not a number"),
        (("--at", "0"), "shape"),
        (("--at", "home"), "unknown configuration 'home'"),
        (("--at", "0,0", "--qdd", "0,0", "--tau", "1,1"), "both tau and qdd"),
        (("missing.csv",), "missing.csv"),
    ],
)
def test_bad_requests_end_with_status_2(run: Run, arguments: tuple[str, ...], message: str) -> None:
    status, _, err = run("evaluate", "planar2r", *arguments)
    assert status == 2
    assert message.lower() in " ".join(plain(err).lower().split()) and "Traceback" not in err
