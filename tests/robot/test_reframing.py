"""Links re-expressed in modified Denavit-Hartenberg frames: same robot, more zeros."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import RobotError
from armdyn.graph import trace
from armdyn.mechanics import energies, kinematics, newton_euler
from armdyn.robot import Robot
from armdyn.robot.reframing import reframed


def robot_of(seed: int) -> Robot:
    return armdyn.random_robot(
        seed,
        1 + seed % 7,
        convention=("free", None, "standard")[seed % 3],
        branching=0.4 * (seed % 2),
        fixed=0.3,
        skew=seed % 4 != 0,
        any_gravity=True,
        rotors=seed % 3 == 0,
    )


@pytest.mark.parametrize("level", (True, False))
@pytest.mark.parametrize("seed", range(24))
def test_nothing_a_user_sees_changes(seed: int, level: bool) -> None:
    robot = robot_of(seed)
    view = reframed(robot, level=level)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    wrench = rng.uniform(-5, 5, 6)

    def same(formula: Any, *values: Any) -> None:
        expected = np.asarray(formula(robot, *values))
        assert np.abs(formula(view, *values) - expected).max() <= 1e-11 * max(np.abs(expected).max(), 1.0)

    same(newton_euler.inverse_dynamics, q, qd, qdd, wrench)
    same(newton_euler.mass_matrix, q)
    same(energies.kinetic_energy, q, qd)
    same(energies.potential_energy, q)
    for frame in robot.frames:
        same(kinematics.pose, q, frame)
        same(kinematics.jacobian, q, frame)


@pytest.mark.parametrize("seed", range(8))
def test_placements_of_a_chain_are_turns_and_moves_along_x_and_z(seed: int) -> None:
    robot = armdyn.random_robot(seed, 5, convention="free", prismatic=0.0)
    for link in reframed(robot).links[1:]:
        R, p = link.placement
        assert R.rows[0] == (1, 0, 0) or R.rows[0] == (-1, 0, 0)
        assert R.column(0).x in (1, -1)
        alpha = math.atan2(R.rows[2][1], R.rows[1][1])
        assert p.y * math.cos(alpha) + p.z * math.sin(alpha) == pytest.approx(0, abs=1e-12)  # p = (a, -d sin, d cos)


def count(robot: Robot) -> int:
    sizes = dict.fromkeys(("q", "qd", "qdd"), robot.n)
    return trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), sizes).operations.total


@pytest.mark.parametrize("seed", range(6))
def test_operations_vanish(seed: int) -> None:
    robot = armdyn.random_robot(seed, 6, convention="free")
    assert count(reframed(robot)) < 0.9 * count(robot)


def test_modified_frames_stay_as_they_are() -> None:
    robot = armdyn.load("panda")
    for old, new in zip(robot.links[:-1], reframed(robot).links[:-1], strict=True):
        assert old.placement == new.placement
        assert old.offset == new.offset


def test_an_angle_a_hair_off_a_right_angle_is_kept() -> None:
    rows = [{"type": "revolute", "alpha": angle, "a": 0.3, "mass": 1.0} for angle in (0, 1.5708, "pi/2")]
    first, second = (link.placement.R.rows[2][1] for link in reframed(Robot.from_dh(rows, "modified")).links[1:])
    assert first == pytest.approx(math.sin(1.5708), abs=1e-15)
    assert type(first) is float
    assert first < 1
    assert second == 1
    assert type(second) is int


def test_nearly_parallel_axes_keep_their_origins_near() -> None:
    """The common normal of axes that miss being parallel by 1e-9 lies a million kilometres away."""
    row = {"convention": "free", "type": "revolute", "xyz": [0.3, 0.1, 0.2], "mass": 1.0, "com": [0.1, 0, 0]}
    robot = Robot.from_dh([row | {"rpy": [0, 0, 0]}, row | {"rpy": [1e-9, 0, 0]}, row | {"rpy": [0, 2e-9, 0.5]}])
    view = reframed(robot)
    assert max(abs(x) for link in view.links for x in link.placement.p) < 1
    state = np.random.default_rng(0).uniform(-2, 2, (3, 3))
    expected = newton_euler.inverse_dynamics(robot, *state)
    assert np.allclose(newton_euler.inverse_dynamics(view, *state), expected, rtol=1e-12, atol=1e-12)


def test_symbols_are_refused() -> None:
    with pytest.raises(RobotError, match="symbols"):
        reframed(armdyn.load("planar2r").symbolic)
