"""Timing with limited jerk: exact motions on straight lines, bounds, limits on a fine grid, stops and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.motion import Infeasible
from armdyn.motion.timed_path import TimingStatus
from motion.arms import compiled, slider, waypoints
from support.limits import FULL

LINE = [[0.0], [1.0]]


def uses(dyn: armdyn.Dynamics, move: Any, **limits: Any) -> dict[str, float]:
    """Largest share of every limit at 20,001 times; torques by inverse dynamics."""
    known = armdyn.motion.motion_limits(dyn.robot, **limits)
    t = np.linspace(0, move.duration, 20_001)
    q, qd, qdd, jerk = (move(t, order) for order in range(4))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    low, high = known.torques(qd)
    shares = {"velocity": np.abs(qd) / known.velocity, "acceleration": np.abs(qdd) / known.acceleration,
              "jerk": np.abs(jerk) / known.jerk, "torque": np.maximum(tau / high, tau / low)}  # fmt: skip
    return {name: float(share.max()) for name, share in shares.items()}


def exact(v: float, a: float, j: float) -> float:
    """Shortest time for 1 m within these limits, by another route: all switching times from the area under jerk."""
    from scipy.optimize import brentq

    def reached(top: float) -> tuple[float, float]:
        rise = 2 * np.sqrt(top / j) if top < a * a / j else a / j + top / a  # time to reach the velocity `top`
        return top * rise, 2 * rise  # distance and time of acceleration and braking

    if reached(v)[0] <= 1:
        way, time = reached(v)
        return float(time + (1 - way) / v)
    return float(reached(brentq(lambda top: reached(top)[0] - 1, 1e-9, v))[1])


@pytest.mark.parametrize(("v", "a", "j"), [(1.0, 2.0, 2.0), (1.0, 2.0, 20.0), (0.4, 2.0, 1.0), (9.0, 0.5, 100.0)])
def test_straight_lines_take_the_exact_time(v: float, a: float, j: float) -> None:
    profile = armdyn.point_to_point([0.0], [1.0], v_max=v, a_max=a, j_max=j)
    assert profile.duration == pytest.approx(exact(v, a, j), rel=1e-9)
    assert [profile.peak(k)[0] for k in (1, 2, 3)] <= [v * (1 + 1e-9), a * (1 + 1e-9), j * (1 + 1e-9)]
    timed = armdyn.time_optimal(LINE, slider(), limits={"tau_max": 2.0 * a, "v_max": v, "j_max": j})  # 2 kg
    assert timed.status is TimingStatus.OPTIMAL
    # Switching times lie between the knots of the spline: 2e-3 at 200 of them.
    assert 1 - 1e-9 < timed.duration / profile.duration < 1.003


def test_straight_lines_against_ruckig() -> None:
    """Fastest motion of single joints, and of three joints on a line."""
    pytest.importorskip("ruckig", reason="ruckig (pip install ruckig) is not installed")
    from armdyn.trajectory import jerk_limited

    rng = np.random.default_rng(20261117)
    for _ in range(40):
        goal, (v, a, j) = rng.uniform(-2, 2, 3), 10 ** rng.uniform(-1, 1, (3, 3)) * [[1], [2], [20]]
        ours = armdyn.point_to_point(np.zeros(3), goal, v_max=v, a_max=a, j_max=j)
        tight = [(limit / np.abs(goal)).min() for limit in (v, a, j)]
        theirs = jerk_limited([0.0], [1.0], v_max=tight[0], a_max=tight[1], j_max=tight[2])
        assert ours.duration == pytest.approx(theirs.duration, rel=1e-12)


@pytest.mark.parametrize("name", ["panda", "ur5", "puma560"] if FULL else ["ur5"])
@pytest.mark.parametrize("seed", [11, 12, 13] if FULL else [11])
def test_limits_hold_and_durations_fall_to_the_optimum_without_jerk_limits(name: str, seed: int) -> None:
    dyn, points = compiled(name), waypoints(name, seed)
    free = armdyn.time_optimal(points, dyn)
    durations = []
    for j in (30.0, 300.0, 3e3, 1e6) if FULL else (30.0, 3e3, 1e6):
        move = armdyn.time_optimal(points, dyn, limits={"j_max": j})
        assert move.status is TimingStatus.OPTIMAL
        # Kept at 17 places of every interval, between which they curve by up to a thousandth (puma560, jerk 1e6).
        assert max(uses(dyn, move, j_max=j).values()) < 1 + 1e-3
        assert np.abs(move([0.0, move.duration], 2)).max() < 1e-6  # no jump at the ends
        durations.append(move.duration)
    assert durations == sorted(durations, reverse=True)
    # The optimum without jerk limits is a bound up to its own grid (with friction its cells are conservative).
    assert 0.99 < durations[-1] / free.duration < 1.01
    assert durations[0] > 1.05 * free.duration  # long paths at constant velocity lose little


def test_derivatives_are_consistent_and_the_path_is_kept() -> None:
    dyn, points = compiled("ur5"), waypoints("ur5", 21)
    path = armdyn.via_points(points, "quintic", times=np.arange(5.0))  # at rest at both ends: by its length
    move = armdyn.time_optimal(path, dyn, limits={"j_max": 200.0}, points=200)
    t, h = np.linspace(0.02, 0.98, 60) * move.duration, 1e-5
    for order in range(3):
        slope = (move(t + h, order) - move(t - h, order)) / (2 * h)
        assert np.median(np.abs(slope - move(t, order + 1)).max(axis=1)) < 1e-4
    near = np.linalg.norm(move(t)[:, None] - path(np.linspace(0, 4, 8001))[None], axis=2).min(axis=1)
    assert near.max() < 2e-3  # half the distance of two of these points
    assert np.allclose(move([0.0, move.duration]), points[[0, -1]])
    verdict = armdyn.feasibility(dyn, move, limits={"j_max": 200.0})
    assert verdict.holds and verdict.use["jerk"].max() == pytest.approx(1, abs=1e-3)


def test_friction_and_torque_speed_curves_with_limited_jerk() -> None:
    dyn, goal = compiled("puma560"), np.array([1.0, -0.8, 0.7, 0.5, 0.6, 0.4])
    curve: dict[str, Any] = {"no_load_speed": 2.0, "corner_speed": 0.5}
    move = armdyn.time_optimal([np.zeros(6), goal], dyn, limits={"j_max": 500.0, **curve})
    free = armdyn.time_optimal([np.zeros(6), goal], dyn, limits=curve)
    assert max(uses(dyn, move, j_max=500.0, **curve).values()) < 1 + 5e-4
    assert 1 < move.duration / free.duration < 1.3


def test_the_robot_stops_where_the_curvature_jumps() -> None:
    dyn = compiled("planar2r")
    blends = armdyn.via_points([[0.0, 0.0], [1.0, 0.2], [0.8, 1.0]], "blends", v_max=1.0, a_max=2.0)
    limits: dict[str, Any] = {"tau_max": [3000.0, 1500.0], "j_max": 50.0}
    move = armdyn.time_optimal(blends, dyn, limits=limits)
    inner = blends.breaks[(blends.breaks > 1e-6) & (blends.breaks < blends.duration - 1e-6)]
    assert len(inner) >= 2
    t = np.linspace(0, move.duration, 40_001)
    q, speed = move(t), np.linalg.norm(move(t, 1), axis=1)
    for corner in blends(inner[1:3]):
        k = np.linalg.norm(q - corner, axis=1).argmin()
        assert speed[k] < 0.02 * speed.max()
    assert armdyn.feasibility(dyn, move, limits=limits)


def test_jumps_of_acceleration_are_infinite_jerk() -> None:
    robot = armdyn.load("pendulum")
    verdict = armdyn.feasibility(robot, armdyn.point_to_point([0.0], [1.0], v_max=1, a_max=2), limits={"j_max": 1e6})
    assert [(x.quantity, x.value) for x in verdict.excesses] == [("jerk", np.inf)]
    smooth = armdyn.point_to_point([0.0], [1.0], v_max=1, a_max=2, j_max=1e4)
    assert armdyn.feasibility(robot, smooth, limits={"j_max": 1e4})
    assert not armdyn.feasibility(robot, smooth, limits={"j_max": 0.99e4})


def test_limits_of_the_robot_and_refusals() -> None:
    from dataclasses import replace

    robot = slider()
    limits = armdyn.robot.parts.Limits(torque=4.0, velocity=1.0, jerk=20.0)
    limited = replace(robot, tree=(replace(robot.tree[0], limits=limits),))
    assert armdyn.time_optimal(LINE, limited).duration == pytest.approx(exact(1.0, 2.0, 20.0), rel=3e-3)
    with pytest.raises(armdyn.ArmdynError, match="from rest to rest"):
        armdyn.time_optimal(LINE, limited, start_speed=0.1)
    with pytest.raises(Infeasible, match="against gravity alone"):
        armdyn.time_optimal(LINE, slider(gravity=1.0), limits={"tau_max": 1.0, "j_max": 10.0})
    with pytest.raises(armdyn.ArmdynError, match="whose acceleration jumps"):
        armdyn.point_to_point([0.0], [1.0], "cubic", v_max=1, j_max=5)
    with pytest.raises(armdyn.ArmdynError, match="exceeds the limits by a factor of 1.583"):
        armdyn.point_to_point([0.0], [1.0], v_max=1, a_max=2, j_max=5, duration=1.2)
