"""Poses, Jacobians, velocities, accelerations against Pinocchio and against differentiation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ShapeError, UnknownName
from armdyn.mechanics import kinematics
from support import pinocchio_model
from support.limits import FULL

CONVENTIONS: tuple[Any, ...] = ("standard", "modified", "free")
TOLERANCE = 1e-10


def random_case(seed: int) -> tuple[armdyn.Robot, np.random.Generator]:
    n = 1 + seed % 10
    robot = armdyn.random_robot(
        seed, n, convention=CONVENTIONS[seed % 3], branching=0.4 * (seed % 2), fixed=0.2, skew=seed % 4 != 0
    )
    return robot, np.random.default_rng(seed)


@pytest.mark.parametrize("seed", range(100 if FULL else 30))
def test_random_robots_agree_with_pinocchio(seed: int) -> None:
    robot, rng = random_case(seed)
    q = rng.uniform(-3, 3, robot.n)
    assert np.abs(kinematics.pose(robot, q) - pinocchio_model.tool_pose(robot, q)).max() < TOLERANCE
    assert np.abs(kinematics.jacobian(robot, q) - pinocchio_model.jacobian(robot, q)).max() < TOLERANCE


@pytest.mark.parametrize("name", armdyn.catalog.names())
def test_the_catalog_agrees_with_pinocchio(name: str) -> None:
    robot = armdyn.load(name).opened
    q = np.random.default_rng(0).uniform(-3, 3, robot.n)
    assert np.abs(kinematics.pose(robot, q) - pinocchio_model.tool_pose(robot, q)).max() < TOLERANCE
    assert np.abs(kinematics.jacobian(robot, q) - pinocchio_model.jacobian(robot, q)).max() < TOLERANCE


@pytest.mark.parametrize("seed", range(12))
def test_poses_follow_the_joints_as_given(seed: int) -> None:
    """Composing the user's own frames, joint after joint, gives the same as the joint frames of mechanics."""
    robot, rng = random_case(seed)
    q = dict(zip([joint.name for joint in robot.joints], rng.uniform(-3, 3, robot.n), strict=True))
    T = {robot.root.name: robot.base.pose().array()}
    for joint in robot.tree:
        T[joint.body.name] = T[joint.parent] @ joint.pose(float(q.get(joint.name, 0))).array()
        found = kinematics.pose(robot, list(q.values()), joint.body.name)
        assert np.abs(found - T[joint.body.name]).max() < 1e-12


@pytest.mark.parametrize("seed", range(20))
def test_jacobian_is_the_derivative_of_the_pose(seed: int) -> None:
    robot, rng = random_case(seed)
    q, qd = rng.standard_normal((2, robot.n))
    frame = list(robot.frames)[seed % len(robot.frames)]
    step = 1e-30
    T = kinematics.pose(robot, q + 1j * step * qd, frame)  # complex step: exact to rounding
    rate = T.imag / step
    v, w = np.split(kinematics.jacobian(robot, q, frame) @ qd, 2)
    spin = rate[:3, :3] @ T.real[:3, :3].T
    assert rate[:3, 3] == pytest.approx(v, abs=1e-12)
    assert [spin[2, 1], spin[0, 2], spin[1, 0]] == pytest.approx(list(w), abs=1e-12)
    assert kinematics.velocity(robot, q, qd, frame) == pytest.approx(np.concatenate([v, w]), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_accelerations_are_derivatives_of_velocities(seed: int) -> None:
    robot, rng = random_case(seed)
    q, qd, qdd = rng.standard_normal((3, robot.n))
    step = 1e-30
    rate = kinematics.velocity(robot, q + 1j * step * qd, qd + 1j * step * qdd).imag / step
    assert kinematics.acceleration(robot, q, qd, qdd) == pytest.approx(rate, abs=1e-11)
    drift = kinematics.jacobian_dot_qd(robot, q, qd)
    assert kinematics.jacobian(robot, q) @ qdd + drift == pytest.approx(rate, abs=1e-11)


def euler_zyz(R: np.ndarray) -> np.ndarray:
    return np.array([np.arctan2(R[1, 2], R[0, 2]), np.arccos(R[2, 2]), np.arctan2(R[2, 1], -R[2, 0])])


def euler_rpy(R: np.ndarray) -> np.ndarray:
    pitch = np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))
    return np.array([np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])])


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("angles", "of"), [("zyz", euler_zyz), ("rpy", euler_rpy)])
def test_analytic_jacobian_gives_rates_of_euler_angles(seed: int, angles: Any, of: Any) -> None:
    robot = armdyn.random_robot(seed, 6, prismatic=0.2)
    q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, 6))
    step = 1e-6
    ahead, behind = (of(kinematics.pose(robot, q + s * step * qd)) for s in (1, -1))
    rates = (kinematics.analytic_jacobian(robot, q, angles=angles) @ qd)[3:]
    turn = (ahead - behind + np.pi) % (2 * np.pi) - np.pi
    assert turn / (2 * step) == pytest.approx(rates, rel=1e-5, abs=1e-5)  # central differences: h^2 and 1/sin(theta)
    assert kinematics.analytic_jacobian(robot, q, angles=angles)[:3] == pytest.approx(kinematics.jacobian(robot, q)[:3])


def test_batches_equal_loops() -> None:
    robot = armdyn.random_robot(5, 4)
    q = np.random.default_rng(0).standard_normal((3, 2, 4))
    batch = kinematics.jacobian(robot, q)
    assert batch.shape == (3, 2, 6, 4)
    assert np.allclose(batch[2, 1], kinematics.jacobian(robot, q[2, 1]), atol=1e-14)
    assert kinematics.pose(robot, np.empty((0, 4))).shape == (0, 4, 4)


def test_wrong_sizes_and_names() -> None:
    robot = armdyn.random_robot(5, 4)
    with pytest.raises(ShapeError, match=r"q has shape \(3,\).*Expected: \(..., 4\)"):
        kinematics.pose(robot, [0, 0, 0])
    with pytest.raises(ShapeError, match="NaN or infinity"):
        kinematics.pose(robot, [0, 0, 0, np.nan])
    with pytest.raises(ShapeError, match="not numeric"):
        kinematics.pose(robot, np.array(["a", "b", "c", "d"]))
    with pytest.raises(UnknownName, match="unknown frame 'tol'.*Did you mean 'tool'"):
        kinematics.pose(robot, [0, 0, 0, 0], "tol")
    with pytest.raises(ArmdynError, match="zyz, rpy"):
        kinematics.analytic_jacobian(robot, [0, 0, 0, 0], angles="xyz")  # type: ignore[arg-type]
