"""Largest payloads and shortest cycles: against brute force, closed forms and Pinocchio's torques."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.motion import Infeasible
from armdyn.motion.sampling import sample_times
from motion.arms import compiled, slider, waypoints
from support.limits import FULL

LINE = [[0.0], [1.0]]
COM, INERTIA = (0.02, -0.01, 0.08), (0.004, 0.0, 0.001, 0.003, 0.0, 0.002)


def excess(robot: armdyn.Robot, motion: Any, **limits: Any) -> float:
    """Largest use of a torque limit, less 1; by inverse dynamics of the loaded robot."""
    known = armdyn.motion.motion_limits(robot, **limits)
    t = sample_times(motion, motion.duration / 8000)
    q, qd, qdd = (motion(t, order) for order in range(3))
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    low, high = known.torques(qd)
    return float(np.maximum(tau / high, tau / low).max()) - 1


@pytest.mark.parametrize("name", ["ur5", "panda", "puma560"] if FULL else ["ur5"])
def test_largest_payload_of_a_motion_is_that_of_brute_force(name: str) -> None:
    dyn, ends = compiled(name), waypoints(name, 31, 2)
    best = armdyn.time_optimal(ends, dyn)
    move = best.slower(1.3)  # room for a payload
    curve: dict[str, Any] = {"no_load_speed": 2.0 * move.peak(1).max(), "corner_speed": move.peak(1).max()}
    found = armdyn.largest_payload(dyn, move, com=COM, inertia=INERTIA, limits=curve)
    whole = dyn.robot.with_payload(found.mass, COM, (found.mass * np.array(INERTIA)).tolist())
    assert excess(whole, move, **curve) == pytest.approx(0, abs=1e-4)
    more = dyn.robot.with_payload(1.01 * found.mass, COM, (1.01 * found.mass * np.array(INERTIA)).tolist())
    assert excess(more, move, **curve) > 1e-5
    # The joint and the instant that limit it
    tau = armdyn.compile(whole).inverse_dynamics(*(move(found.time, k) for k in range(3)))
    i = [joint.name for joint in dyn.robot.joints].index(str(found.joint))
    assert tau[i] == pytest.approx(found.torque, rel=1e-4)
    assert f"{found.mass:.4g} kg" in str(found) and str(found.joint) in str(found)


def test_largest_payload_by_pinocchio() -> None:
    """Its torques are linear in the mass too: the largest mass from those of the empty robot and of one with 3 kg."""
    pytest.importorskip("pinocchio", reason="pinocchio is not installed")
    from support.pinocchio_model import inverse_dynamics

    robot = armdyn.load("ur5")
    start, end = waypoints("ur5", 33, 2)
    move = armdyn.point_to_point(start, end, "quintic", duration=2.0)
    found = armdyn.largest_payload(robot, move, com=COM)
    limit = armdyn.robot.limits.torque_limits(robot)
    t = np.linspace(0, move.duration, 401)
    state = [move(t, order) for order in range(3)]
    empty, full = (
        np.array([inverse_dynamics(each, *now) for now in zip(*state, strict=True)])
        for each in (robot, robot.with_payload(3.0, COM))
    )
    each = (full - empty) / 3.0
    with np.errstate(divide="ignore"):
        brute = ((limit - np.sign(each) * empty) / np.abs(each)).min()
    assert found.mass == pytest.approx(brute, rel=1e-4) and found.mass <= brute * (1 + 1e-9)  # 401 times


def test_lifting_a_weight_in_closed_form() -> None:
    """M (a + g) = F: mass from force for a given motion; from the shortest time if the timing is free."""
    robot, g, F = slider(gravity=9.81), 9.81, 100.0
    move = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=1.0)  # 4 m/s^2
    found = armdyn.largest_payload(robot, move, limits={"tau_max": F})
    assert found.mass == pytest.approx(F / (g + 4.0) - 2.0, rel=1e-9) and found.least == 0
    assert found.joint == "slide" and found.quantity == "torque" and found.time < 0.5 + 1e-6
    # Free timing: up at F/M - g, down at F/M + g, T^2 = 2 (up + down) / (up down)
    timed = armdyn.largest_payload(robot, LINE, limits={"tau_max": F}, duration=1.0)
    M = 2.0 + timed.mass
    up, down = F / M - g, F / M + g
    assert np.sqrt(2 * (up + down) / (up * down)) == pytest.approx(1.0, rel=1e-3)
    assert timed.motion.duration <= 1.0 and timed.mass > found.mass
    cycle = armdyn.shortest_cycle(robot, LINE, timed.mass, limits={"tau_max": F})
    assert cycle.duration == pytest.approx(1.0, rel=1e-3) and cycle.rest == 0 and cycle.joint is None


def test_no_gravity_and_no_limit() -> None:
    robot = slider()
    timed = armdyn.largest_payload(robot, LINE, limits={"tau_max": 8.0}, duration=2.0)  # F = 4 M / T^2
    assert timed.mass == pytest.approx(8.0 - 2.0, rel=1e-3)
    still = armdyn.largest_payload(robot, armdyn.trajectory.hold([0.0], 1.0), limits={"tau_max": 8.0})
    assert still.mass == np.inf and still.joint is None and "No payload" in str(still)


def test_heat_limits_the_payload_and_lengthens_the_cycle() -> None:
    """Without gravity the rms torque of a bang-bang motion is its torque; a rest lowers it."""
    move = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=1.0)
    found = armdyn.largest_payload(slider(), move, limits={"tau_max": 1e3, "continuous": 20.0})
    assert found.quantity == "heat" and found.mass == pytest.approx(20 / 4 - 2, rel=1e-6)
    rested = armdyn.largest_payload(slider(), move, limits={"tau_max": 1e3, "continuous": 20.0}, rest=3.0)
    assert rested.mass == pytest.approx(2 * 20 / 4 - 2, rel=1e-6)  # rms halves in four times the time
    hot = armdyn.shortest_cycle(
        slider(), LINE, 3.0, limits={"tau_max": 20.0, "continuous": 10.0}
    )  # 5 kg: 4 m/s^2 for 1 s
    assert hot.joint == "slide" and hot.heat[0] == pytest.approx(1, rel=1e-3)
    # c times as slow: rms^2 (c T + rest) = c T (F/c^2)^2; the shortest sum c + rest has rest = 4/c^3 - c, c^4 >= 4
    c = np.linspace(1, 3, 20001)
    assert hot.duration == pytest.approx(np.maximum(4 / c**3, c).min(), rel=5e-3)
    with pytest.raises(Infeasible, match="overheats at any speed"):
        armdyn.shortest_cycle(slider(gravity=9.81), LINE, limits={"tau_max": 50.0, "continuous": 10.0})
    limits = armdyn.robot.parts.Limits(torque=1e3, continuous=20.0)
    own = replace(slider(), tree=(replace(slider().tree[0], limits=limits),))
    assert armdyn.largest_payload(own, move).mass == pytest.approx(found.mass)
    assert armdyn.sizing(own, move).heat[0] == pytest.approx((2 * 4 / 20) ** 2, rel=1e-6)


def test_refusals() -> None:
    move = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=1.0)
    with pytest.raises(Infeasible, match=r"joint 'slide' would exceed its limit of 5 N at .* with any payload"):
        armdyn.largest_payload(slider(), move, limits={"tau_max": 5.0})
    with pytest.raises(Infeasible, match="no torque limit is known"):
        armdyn.largest_payload(slider(), move)
    with pytest.raises(Infeasible, match=r"takes 1.* s without a payload"):
        armdyn.largest_payload(slider(), LINE, limits={"tau_max": 8.0}, duration=0.5)
    with pytest.raises(armdyn.ArmdynError, match="duration"):
        armdyn.largest_payload(slider(), LINE, limits={"tau_max": 8.0}, duration=-1.0)


@pytest.mark.parametrize(("seed", "longer"), [(35, 1.2), (36, 1.05)] if FULL else [(36, 1.05)])
def test_a_path_timed_for_its_payload_on_an_arm(seed: int, longer: float) -> None:
    dyn, points = compiled("ur5"), waypoints("ur5", seed, 3)
    limits: dict[str, Any] = {"tau_max": 0.6 * armdyn.robot.limits.torque_limits(dyn.robot)}
    least = armdyn.time_optimal(points, dyn, limits=limits).duration
    found = armdyn.largest_payload(dyn, points, duration=longer * least, com=COM, limits=limits)
    assert 0.1 < found.mass < 50 and found.motion.duration <= longer * least
    assert excess(found.loaded, found.motion, **limits) < 1e-3
    heavier = dyn.robot.with_payload(1.02 * found.mass, COM)
    if found.quantity == "weight":  # it could not be held everywhere along the path
        held = armdyn.compile(heavier).gravity(found.motion(np.linspace(0, found.motion.duration, 2001)))
        assert (np.abs(held) > limits["tau_max"]).any()
    else:
        assert armdyn.time_optimal(points, heavier, limits=limits).duration > longer * least
    lighter = armdyn.shortest_cycle(dyn, points, 0.9 * found.mass, com=COM, limits=limits)
    assert lighter.duration <= longer * least
