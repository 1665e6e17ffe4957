"""Limits, working ranges and reach: one answer, whoever asks."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import armdyn
from armdyn.algebra import Vec3
from armdyn.analysis import analyse
from armdyn.control import PID
from armdyn.kinematics.reach import reach
from armdyn.mechanics import kinematics
from armdyn.mechanics.coupling import joint_torques, motor_torques, motor_velocities
from armdyn.motion import motion_limits
from armdyn.robot.limits import (
    careful_rates,
    common_units,
    half_span,
    position_limits,
    start_position,
    torque_limits,
    total_length,
    velocity_limits,
    working_range,
)
from armdyn.robot.random import random_robot
from armdyn.simulation import Actuation, simulate
from armdyn.sweeps import sweep

ARM = {"type": "revolute", "a": 0.5, "mass": 1.0, "com": [-0.25, 0, 0], "inertia": [0, 0, 0, 0.02, 0, 0.02]}
SLIDE = {"type": "prismatic", "mass": 1.0}


def robot_of(*rows: dict[str, Any], **more: Any) -> armdyn.Robot:
    return armdyn.Robot.from_dh(list(rows), **more)


# Motors behind gears and couplings --------------------------------------------------------------------------------


def geared(coupled: bool) -> armdyn.Robot:
    """Two joints with gears of 50:1 and motors of 0.2 N m and 300 rad/s, given by ratios or by a coupling."""
    motor = {"torque": 0.2, "speed": 300.0}
    if coupled:
        row = ARM | {"motor": motor, "rotor": {"inertia": 1e-4}}
        return replace(robot_of(row, row), coupling=((0.02, 0.0), (0.0, 0.02)))
    row = ARM | {"motor": motor, "rotor": {"inertia": 1e-4, "ratio": 50.0}}
    return robot_of(row, row)


@pytest.mark.parametrize("coupled", [False, True], ids=["ratio", "coupling"])
def test_the_same_gears_give_the_same_limits(coupled: bool) -> None:
    """0.2 N m behind 50:1 are 10 N m, and 300 rad/s are 6 rad/s, whichever way the gears are written."""
    robot = geared(coupled)
    np.testing.assert_allclose(torque_limits(robot), [10.0, 10.0], rtol=1e-14)
    np.testing.assert_allclose(velocity_limits(robot), [6.0, 6.0], rtol=1e-14)
    limits = motion_limits(robot)
    np.testing.assert_allclose(limits.tau_max, [10.0, 10.0], rtol=1e-14)
    np.testing.assert_allclose(limits.velocity, [6.0, 6.0], rtol=1e-14)
    law, drives = PID(kp=1000, kd=0), Actuation(torque_limits="robot")
    run = simulate(robot, law, np.ones(2), 0.01, q0=np.zeros(2), actuation=drives)
    np.testing.assert_allclose(run.tau[0], [10.0, 10.0], rtol=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_coupled_motors_are_never_overloaded_and_one_is_used_fully(seed: int) -> None:
    """At every corner of the joints' box all motors keep their limits, and at some corner one reaches its own."""
    rng = np.random.default_rng(seed)
    n = 4
    rows = [ARM | {"motor": {"torque": t, "speed": s}} for t, s in rng.uniform(0.5, 3.0, (n, 2))]
    J = rng.uniform(-1, 1, (n, n)) + 2 * np.eye(n)
    J[0, 1:] = J[1:, 0] = 0.0  # the first joint has a motor of its own
    robot = replace(robot_of(*rows), coupling=tuple(map(tuple, J.tolist())))
    corners = np.array(list(itertools.product([-1, 1], repeat=n)), dtype=float)
    for name, limits, at_motors in (
        ("torque", torque_limits(robot), motor_torques),
        ("speed", velocity_limits(robot), motor_velocities),
    ):
        most = np.array([getattr(joint.motor, name) for joint in robot.joints], dtype=float)
        use = np.abs(np.asarray(at_motors(robot, corners * limits))) / most
        assert use.max() <= 1 + 1e-12
        assert use[:, 1:].max() == pytest.approx(1.0)
        alone = most[0] / J[0, 0] if name == "torque" else most[0] * J[0, 0]
        assert limits[0] == pytest.approx(alone), "a joint with a motor of its own has the exact limit"


def test_a_motor_without_limit_leaves_those_of_the_others() -> None:
    """A differential: the sum of both joint torques loads motor 1, their difference motor 2, which has no limit."""
    coupled = replace(robot_of(ARM | {"motor": {"torque": 2.0}}, ARM), coupling=((1.0, 1.0), (1.0, -1.0)))
    limits = torque_limits(coupled)
    np.testing.assert_allclose(np.abs(np.asarray(motor_torques(coupled, limits)))[0], 2.0)
    assert np.isfinite(limits).all()
    assert np.isinf(velocity_limits(coupled)).all()
    assert np.asarray(joint_torques(coupled, np.array([2.0, 0.0]))).tolist() == [1.0, 1.0] == limits.tolist()


def test_joint_limits_and_currents_count_beside_motors() -> None:
    gear = {"inertia": 1e-4, "ratio": -10.0}
    weak = ARM | {"rotor": gear, "motor": {"torque": 5.0, "current": 4.0, "torque_constant": 0.5}}
    held = ARM | {"rotor": gear, "motor": {"torque": 5.0}, "limits": {"torque": 7.0, "velocity": 1.0}}
    robot = robot_of(weak, held, ARM)
    np.testing.assert_allclose(torque_limits(robot), [20.0, 7.0, np.inf])
    np.testing.assert_allclose(velocity_limits(robot), [np.inf, 1.0, np.inf])


# Working ranges ---------------------------------------------------------------------------------------------------


def test_ranges_of_joints_without_limits() -> None:
    """A revolute joint makes a turn; a prismatic one moves by half of the links' lengths, or by 0.5 m without links."""
    low, high = working_range(robot_of(ARM, SLIDE, ARM))
    np.testing.assert_allclose(high, [np.pi, 0.5, np.pi])
    np.testing.assert_allclose(low, -high)
    assert total_length(robot_of(ARM, SLIDE, ARM)) == pytest.approx(1.0)
    low, high = working_range(robot_of(SLIDE))
    assert (low.tolist(), high.tolist()) == ([-0.5], [0.5])
    low, high = working_range(armdyn.load("scara5"))
    np.testing.assert_allclose(high[[0, 4]], (0.524 + 0.2 + 0.2 + np.hypot(0.2, 0.14)) / 2)


@pytest.mark.parametrize("row", [ARM, SLIDE], ids=["revolute", "prismatic"])
@pytest.mark.parametrize("given", [{"lower": 1.2}, {"upper": 1.2}, {"lower": -40.0}], ids=str)
def test_one_sided_limits_are_never_inverted(row: dict[str, Any], given: dict[str, float]) -> None:
    robot = robot_of(row | {"limits": given}, ARM)
    low, high = working_range(robot)
    span = 2 * half_span(robot)[0]
    expected = (given["lower"], given["lower"] + span) if "lower" in given else (given["upper"] - span, given["upper"])
    assert (low[0], high[0]) == pytest.approx(expected)
    one_turn = working_range(robot, one_turn=True)
    assert one_turn[1][0] - one_turn[0][0] == pytest.approx(span)
    start = start_position(robot)
    assert low[0] <= start[0] <= high[0]


def test_ranges_do_not_depend_on_where_the_robot_stands() -> None:
    here, there = (replace(armdyn.load("scara5"), base=armdyn.robot.Placement(Vec3(x, 0, 0))) for x in (0.0, 7.0))
    np.testing.assert_array_equal(working_range(here), working_range(there))
    assert reach(here) == pytest.approx(reach(there), rel=1e-12)


def test_one_turn_is_cut_about_the_middle_of_wide_ranges() -> None:
    wide = ARM | {"limits": {"lower": -1.0, "upper": 30.0}}
    low, high = working_range(robot_of(wide, SLIDE | {"limits": {"lower": -9, "upper": 9}}), one_turn=True)
    np.testing.assert_allclose(low, [14.5 - np.pi, -9])
    np.testing.assert_allclose(high, [14.5 + np.pi, 9])
    assert position_limits(robot_of(ARM))[1].tolist() == [np.inf]
    np.testing.assert_allclose(np.transpose(careful_rates(robot_of(ARM, SLIDE))), [[1.0, 4.0], [0.25, 1.0]])


# Reach ------------------------------------------------------------------------------------------------------------


def searched(robot: armdyn.Robot) -> float:
    """The largest distance of the tool from the base by gradients from the best of many random positions."""
    low, high = working_range(robot)
    base = np.array([float(x) for x in robot.base.xyz])

    def distance(q: Any) -> Any:
        return np.linalg.norm(np.asarray(kinematics.pose(robot, q))[..., :3, 3] - base, axis=-1)

    q = low + (high - low) * np.random.default_rng(1).random((5000, robot.n))
    best = q[np.argsort(-distance(q))[:4]]
    found = [minimize(lambda x: -(distance(x) ** 2), x, bounds=list(zip(low, high, strict=True))).fun for x in best]
    return float(np.sqrt(-min(found)))


@pytest.mark.parametrize("seed", range(10))
def test_reach_against_a_search_by_gradients(seed: int) -> None:
    """Never less than what another search finds; 1e-6 for its own tolerance."""
    robot = random_robot(seed, n=2 + seed % 6)
    assert reach(robot) >= searched(robot) * (1 - 1e-9)
    assert reach(robot) <= searched(robot) * (1 + 1e-2), "reached by no other search: is it there at all?"


def test_reach_by_hand() -> None:
    assert reach(armdyn.load("planar2r")) == pytest.approx(2.0)
    elbow = {"limits": {"lower": np.pi / 3, "upper": np.pi / 2}}  # two links of 0.5 m, at 60 degrees or more
    assert reach(robot_of(ARM, ARM | elbow)) == pytest.approx(np.sqrt(0.75))
    slide = SLIDE | {"limits": {"lower": -0.2, "upper": 0.1}}
    assert reach(robot_of(slide)) == pytest.approx(0.2)


def test_reach_of_a_closed_chain_is_that_of_its_closed_configurations() -> None:
    robot = armdyn.load("parallelogram")
    q = np.random.default_rng(0).uniform(*working_range(robot), (20_000, robot.n))
    base = np.array([float(x) for x in robot.base.xyz])
    distances = np.linalg.norm(armdyn.compile(robot).pose(q)[:, :3, 3] - base, axis=1)
    assert 0.99 * reach(robot) < distances.max() <= reach(robot) * (1 + 1e-9)


def test_reach_of_scara5_is_one_number(tmp_path: Path) -> None:
    """Lift and quill up, arm stretched: the same in the study, a sweep, the analysis and after a round trip
    through URDF.
    """
    from armdyn.report.chapters.robot_chapter import geometry
    from armdyn.report.chapters.subject import Subject

    robot = armdyn.load("scara5")
    half = (0.924 + np.hypot(0.2, 0.14)) / 2
    expected = np.hypot(0.6, 0.524 + half - 0.14 + half)  # the quill's zero is 0.14 m below the arm
    assert reach(robot) == pytest.approx(expected, rel=1e-12)
    dyn = armdyn.compile(robot)
    swept = sweep(robot, {"payload": [0.0]}, measures=("reach",)).results.ravel()
    assert swept.tolist() == [reach(robot)] == [analyse(dyn).reach]
    assert geometry(Subject(robot, tmp_path)).numbers["reach_m"] == reach(robot)
    saved = armdyn.load(robot.save(tmp_path / "scara5.urdf"))
    assert reach(saved) == pytest.approx(reach(robot), rel=1e-12)


def test_a_column_about_all_joints_has_the_units_of_the_kinds_there_are() -> None:
    assert common_units(robot_of(ARM, ARM)).torque == "N m"
    assert common_units(robot_of(SLIDE)).velocity == "m/s"
    assert common_units(robot_of(SLIDE, ARM))[:2] == ("rad or m", "rad/s or m/s")
