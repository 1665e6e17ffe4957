"""Feasibility and the loads of actuators, against numbers found by hand."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.motion.verdict import FeasibilityStatus
from armdyn.texts.siciliano import example_7_2
from motion.arms import compiled, slider, waypoints

LIFT = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=2.0)  # a = 1 then -1, v up to 1
WEIGHT = 2.0 * 9.81


def test_margins_by_hand() -> None:
    robot = slider(gravity=9.81)
    verdict = armdyn.feasibility(
        robot, LIFT, limits={"v_max": 2.0, "a_max": 1.25, "tau_max": 2 * (WEIGHT + 2), "p_max": WEIGHT + 2}
    )
    assert verdict.holds and verdict.status is FeasibilityStatus.FEASIBLE
    for quantity, share in {"velocity": 0.5, "acceleration": 0.8, "torque": 0.5, "power": 1.0}.items():
        assert np.isclose(verdict.use[quantity][0], share), quantity
        assert np.isclose(verdict.margin[quantity][0], 1 - share)
    assert np.isclose(verdict.time["velocity"][0], 1.0) and np.isclose(verdict.peak["torque"][0], WEIGHT + 2)


def test_what_is_exceeded_is_told_with_joint_value_and_time() -> None:
    verdict = armdyn.feasibility(slider(), LIFT, limits={"v_max": 0.75})
    assert not verdict and verdict.status is FeasibilityStatus.TOO_FAST
    (excess,) = verdict.excesses
    assert excess.joint == "slide" and excess.quantity == "velocity" and excess.limit == 0.75
    assert np.isclose(excess.value, 1.0) and np.isclose(excess.time, 1.0)
    ((start, end),) = excess.intervals  # v = t, then 2 - t
    assert np.isclose(start, 0.75, atol=2e-3) and np.isclose(end, 1.25, atol=2e-3)
    assert "slide: velocity 1 at 1 s, limit 0.75 (0.75" in str(verdict).replace("0.751", "0.75")
    braking = armdyn.feasibility(slider(), LIFT, limits={"tau_max": 3.0, "tau_min": -1.5}).excesses[0]
    assert braking.limit == -1.5 and np.isclose(braking.value, -2.0) and braking.intervals[0][1] == 2.0


def test_statuses_advise() -> None:
    assert armdyn.feasibility(slider(), LIFT).status is FeasibilityStatus.UNLIMITED
    heavy = armdyn.feasibility(slider(gravity=9.81), LIFT, limits={"tau_max": WEIGHT - 1})
    assert heavy.status is FeasibilityStatus.TOO_HEAVY and "No timing helps" in str(heavy)
    panda = compiled("panda")
    start = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
    away = armdyn.point_to_point(start, start + 1.6 * np.eye(7)[3], "quintic", duration=8.0)
    verdict = armdyn.feasibility(panda, away)
    assert verdict.status is FeasibilityStatus.TOO_FAR
    (excess,) = verdict.excesses
    assert excess.joint == "panda_joint4" and excess.limit == -0.0698 and np.isclose(excess.value, 0.1)


def test_scaled_and_time_optimal_motions_are_feasible() -> None:
    panda = compiled("panda")
    start = np.array([0, 0, 0, -1.5, 0, 1.5, 0])
    move = armdyn.point_to_point(start, start + 0.5, "quintic", duration=0.2)
    assert not armdyn.feasibility(panda, move)
    limits = armdyn.motion.motion_limits(panda.robot)
    slowed = armdyn.scale_to_torque(move, panda, limits={"v_max": limits.velocity, "a_max": limits.acceleration})
    assert armdyn.feasibility(panda, slowed)
    assert armdyn.feasibility(panda, armdyn.time_optimal(move, panda))


def test_motors_limit_their_joints() -> None:
    rows = [{"name": "turn", "type": "revolute", "theta": 0, "d": 0, "a": 1, "alpha": 0, "mass": 1.0, "com": [0, 0, 0],
             "inertia": [0] * 6, "rotor": {"inertia": 1e-4, "ratio": 50.0}, "motor": {"torque": 0.2, "speed": 100.0},
             "limits": {"torque": 30.0, "velocity": 4.0}}]  # fmt: skip
    limits = armdyn.motion.motion_limits(armdyn.Robot.from_dh(rows))
    assert limits.tau_max[0] == 10.0 and limits.velocity[0] == 2.0


# Loads of actuators ---------------------------------------------------------------------------------------------------


def test_loads_by_hand() -> None:
    loads = armdyn.sizing(slider(gravity=9.81), LIFT)
    up, down = WEIGHT + 2, WEIGHT - 2
    assert np.isclose(loads.peak_torque[0], up) and np.isclose(loads.peak_speed[0], 1.0)
    assert np.isclose(loads.rms_torque[0], np.sqrt((up**2 + down**2) / 2))
    assert np.isclose(loads.rms_speed[0], np.sqrt(1 / 3))
    assert np.isclose(loads.peak_power[0], up) and loads.peak_braking[0] == 0
    assert np.isclose(loads.energy_given[0], WEIGHT * 1.0) and loads.energy_returned[0] == 0  # all of it is height
    assert np.isclose(loads.mean_power, WEIGHT / 2)


def test_energy_comes_back_when_braking() -> None:
    loads = armdyn.sizing(slider(), LIFT)
    assert np.isclose(loads.energy_given[0], 1.0, rtol=1e-5)  # m v^2 / 2
    assert np.isclose(loads.energy_returned[0], 1.0, rtol=1e-5) and np.isclose(loads.peak_braking[0], 2.0)


def test_rest_and_heat() -> None:
    loads = armdyn.sizing(slider(gravity=9.81), LIFT, rest=3.0, continuous=WEIGHT)
    up, down = WEIGHT + 2, WEIGHT - 2
    mean_square = (up**2 + down**2 + 3 * WEIGHT**2) / 5
    assert np.isclose(loads.rms_torque[0] ** 2, mean_square) and loads.cycle == 5.0
    assert np.isclose(loads.heat[0], mean_square / WEIGHT**2) and loads.heat[0] > 1
    assert np.isclose(loads.on_time[0], WEIGHT**2 / mean_square)
    assert np.isnan(armdyn.sizing(slider(), LIFT).heat).all()


def test_power_is_the_same_on_both_sides_of_the_gears() -> None:
    dyn = compiled("planar2r")
    move = example_7_2.equal_durations()
    joint, motor = armdyn.sizing(dyn, move), armdyn.sizing(dyn, move, side="motor")
    assert np.allclose(motor.peak_torque, joint.peak_torque / 100) and np.allclose(
        motor.peak_speed, joint.peak_speed * 100
    )
    assert np.allclose(motor.peak_power, joint.peak_power) and np.allclose(motor.energy_given, joint.energy_given)


def test_energy_balance_of_a_whole_arm() -> None:
    """Given less returned is the change of potential energy and what friction took; the arm starts and ends at rest."""
    dyn = compiled("puma560")
    q0, q1 = np.zeros(6), np.array([0.5, -0.7, 0.4, 0.3, -0.2, 0.1])
    move = armdyn.point_to_point(q0, q1, "quintic", duration=1.5)
    loads = armdyn.sizing(dyn, move)
    t = np.linspace(0, 1.5, 20_001)
    lost = ((dyn.friction(move(t, 1)) * move(t, 1)).sum(axis=1)[1:] * np.diff(t)).sum()
    gained = dyn.potential_energy(q1) - dyn.potential_energy(q0)
    assert np.isclose((loads.energy_given - loads.energy_returned).sum(), gained + lost, rtol=1e-3)


def test_bad_questions() -> None:
    with pytest.raises(armdyn.ArmdynError, match="unknown side 'rotor'"):
        armdyn.sizing(slider(), LIFT, side="rotor")  # type: ignore[arg-type]
    with pytest.raises(armdyn.ArmdynError, match="rest = -1"):
        armdyn.sizing(slider(), LIFT, rest=-1.0)


@pytest.mark.parametrize("name", ["panda", "ur5"])
@pytest.mark.parametrize("seed", range(3))
def test_what_functions_of_motion_return_is_feasible_and_no_less(name: str, seed: int) -> None:
    """`feasibility` accepts answers of time_optimal, scale_to_torque and plan, but not at limits lower by 0.1 %."""
    dyn, points = compiled(name), waypoints(name, seed, 4)
    reference = armdyn.trajectory.from_samples(np.linspace(0, 1 + seed, 4), points)
    motions = [
        armdyn.time_optimal(points, dyn),
        armdyn.scale_to_torque(reference, dyn),
        armdyn.plan(dyn, points, timing="optimal").motion,
    ]
    for motion in motions:
        verdict = armdyn.feasibility(dyn, motion)
        kept = [excess for excess in verdict.excesses if excess.quantity != "position"]  # no timing changes the path
        assert not kept
        limits = verdict.limits
        names = {"v_max": "velocity", "a_max": "acceleration", "tau_max": "tau_max", "tau_min": "tau_min"}
        lower = {key: 0.999 * getattr(limits, own) for key, own in names.items()}
        over = armdyn.feasibility(dyn, motion, limits=lower).excesses
        assert any(excess.quantity != "position" for excess in over)


def test_a_line_is_timed_on_polynomials_that_keep_the_tool_on_it() -> None:
    dyn = compiled("panda")
    q0 = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    T = dyn.pose(q0)
    end = T.copy()
    end[:3, 3] += [0.1, 0.2, -0.15]
    path = armdyn.trajectory.follow(dyn.robot, armdyn.trajectory.line(T, end, duration=1.0), q0)
    motion = armdyn.time_optimal(path, dyn)
    here = dyn.pose(motion(np.linspace(0, motion.duration, 500)))
    way = (end - T)[:3, 3] / np.linalg.norm((end - T)[:3, 3])
    moved = here[:, :3, 3] - T[:3, 3]
    assert np.abs(moved - np.outer(moved @ way, way)).max() < 1e-8  # PIECES_ERROR between nodes, ten times
    assert np.abs(here[:, :3, :3] - T[:3, :3]).max() < 1e-8
    assert armdyn.feasibility(dyn, motion)
