"""armdyn.plan: the motion, its torques, the verdict, and the file that it hands over."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import text_table
from armdyn.errors import ArmdynError, FeatureError, FileError, NotApplicable, ShapeError
from armdyn.mechanics import lagrange
from armdyn.motion import Infeasible, plan
from support.feature_robots import ROBOTS

ENDS = [[0.2, 0.9], [0.9, 1.3]]


def test_torques_of_an_arm_without_limits_are_in_the_file_and_the_figure(tmp_path: Path) -> None:
    """Siciliano's arm has no limits; its torques are checked against another formulation."""
    robot = armdyn.load("planar2r")
    found = plan(robot, ENDS, dt=0.01)
    assert found.fine and found.verdict.status.name == "UNLIMITED"
    columns = text_table.read(found.save(tmp_path / "move.csv"))
    assert [*columns] == ["t", "q1", "q2", "qd1", "qd2", "qdd1", "qdd2", "tau1", "tau2"]
    q, qd, qdd, tau = (text_table.numbered(columns, name) for name in ("q", "qd", "qdd", "tau"))
    expected = lagrange.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(tau, expected, atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(q[[0, -1]], ENDS, atol=1e-12)
    assert armdyn.read_trajectory(tmp_path / "move.csv").duration == found.duration
    axes = found.plot(tmp_path / "move.png", "column").axes
    (torques,) = [each for each in axes if each.get_ylabel() == "torque, N m"]
    drawn = max(np.nanmax(np.abs(curve.get_ydata())) for curve in torques.lines)
    assert drawn == pytest.approx(np.abs(found.verdict.peak["torque"]).max(), rel=1e-3)


def test_a_file_that_does_not_read_back_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = plan(armdyn.load("planar2r"), ENDS, dt=0.1)
    write = text_table.write
    monkeypatch.setattr(text_table, "write", lambda path, columns: write(path, columns, digits=4))
    with pytest.raises(FileError, match="torques differ"):
        found.save(tmp_path / "rounded.csv")


def test_the_record_is_plain_and_complete() -> None:
    robot = armdyn.load("ur5")
    ends = [[0, -1, 1, 0, 0, 0], [1, -1.5, 1.5, 0, 0.5, 0]]
    found = plan(robot, ends, timing="optimal", duration=1.5, largest=True, com=(0, 0, 0.1))
    record = json.loads(json.dumps(found.record(), allow_nan=False))
    assert record["largest_payload"] == pytest.approx(found.payload.mass) and found.duration <= 1.5
    assert len(record["joints"]) == 6 and record["joints"][0]["torque limit"] == 150
    assert record["bearing_loads"]["shoulder_pan_joint"]["radial_force"] > 0
    assert record["holds"] is found.fine is True
    for words in ("ur5: ", "time-optimal", "Largest payload", "shoulder_pan_joint", "tilting moment"):
        assert words in str(found)


def test_the_verdict_is_that_of_feasibility() -> None:
    robot, limits = armdyn.load("panda"), {"tau_max": [6, 87, 87, 87, 12, 12, 12]}
    found = plan(robot, [[0, 0, 0, -1, 0, 1, 0], [1, 0, 0, -1, 0, 1, 0]], limits=limits)
    other = armdyn.feasibility(robot, found.motion, limits=limits)
    assert not found.fine and [*map(str, found.verdict.excesses)] == [*map(str, other.excesses)]
    assert found.torques(found.verdict.time["torque"][0])[0] == found.verdict.peak["torque"][0]
    slower = plan(robot, [[0, 0, 0, -1, 0, 1, 0], [1, 0, 0, -1, 0, 1, 0]], limits=limits, timing="scaled")
    assert slower.fine and slower.before is not None and slower.before.duration == found.duration


def test_elastic_joints_have_a_plan_without_torques() -> None:
    robot = ROBOTS["elastic"]()
    found = plan(robot, [np.zeros(robot.n), np.full(robot.n, 0.3)])
    assert found.fine and found.loads is None and "tau1" not in found.columns()
    assert "torque" not in found.record()["joints"][0]
    with pytest.raises(NotApplicable, match="elastic"):
        found.torques(0.0)
    with pytest.raises(FeatureError, match="elastic"):
        plan(robot, [np.zeros(robot.n), np.full(robot.n, 0.3)], limits={"tau_max": 1e6})


def test_payload_and_the_largest_of_it() -> None:
    robot, ends = armdyn.load("ur5"), [[0, -1, 1, 0, 0, 0], [1, -1.5, 1.5, 0, 0.5, 0]]
    empty = plan(robot, ends, profile="quintic", duration=0.8, largest=True)
    assert empty.payload is not None and empty.verdict.use["torque"].max() == pytest.approx(1, abs=1e-3)
    carried = plan(robot, ends, profile="quintic", duration=0.8, payload=empty.payload.mass)
    np.testing.assert_allclose(carried.torques(0.4), empty.torques(0.4), rtol=1e-12)


def test_bad_requests() -> None:
    robot = armdyn.load("planar2r")
    for points, options, error, match in (
        ([[0, 0]], {}, ShapeError, "at least two configurations"),
        ([[0, 0], [1]], {}, ShapeError, "different lengths"),
        ([[0, 0, 0], [1, 0, 0]], {}, ShapeError, r"\(k, 2\)"),
        (["home", [0, 0]], {}, ArmdynError, "unknown configuration 'home'"),
        (ENDS, {"timing": "fast"}, ArmdynError, "unknown timing 'fast'"),
        (ENDS, {"profile": "trapez"}, ArmdynError, "unknown profile 'trapez'"),
        ([*ENDS, [0, 0]], {"profile": "smooth"}, ArmdynError, "blends, cubic, quintic"),
        ([*ENDS, [0, 0]], {"profile": "cubic", "straight": True}, NotApplicable, "straight lines"),
        (ENDS, {"tool_limits": {"v_max": 1.0}}, NotApplicable, "limits of the tool"),
        (ENDS, {"timing": "optimal"}, Infeasible, "no torque limit is known"),
        (ENDS, {"limits": {"vmax": 1.0}}, ArmdynError, "Did you mean 'v_max'"),
    ):
        with pytest.raises(error, match=match):
            plan(robot, points, **options)
