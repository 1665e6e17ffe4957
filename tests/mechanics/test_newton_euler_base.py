"""Newton-Euler in base axes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.algebra import ZERO, Inertia, Mat3, Vec3, cross
from armdyn.errors import PhysicsError
from armdyn.mechanics import kinematics, newton_euler, newton_euler_base
from armdyn.robot import Robot
from support import pinocchio_model
from support.laws import SHAPES, assert_close, check_exact, check_scalars, sample

STEP = 1e-30  # complex step: far below rounding of the real part


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_pinocchio(shape: str) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    rest, engine = np.zeros(robot.n), pinocchio_model.inverse_dynamics
    weight = engine(robot, q, rest, rest)
    assert_close(newton_euler_base.inverse_dynamics(robot, q, qd, qdd, wrench), engine(robot, q, qd, qdd, wrench))
    assert_close(newton_euler_base.mass_matrix(robot, q), pinocchio_model.mass_matrix(robot, q))
    assert_close(newton_euler_base.gravity(robot, q), weight)
    fast = 3 * qd  # velocity terms not small against the weight that is subtracted, which costs them digits
    assert_close(newton_euler_base.coriolis(robot, q, fast), engine(robot, q, fast, rest) - weight, 1e-9)


@pytest.mark.parametrize("shape", ["standard", "sliding", "right angles", "tree"])
def test_equals_the_link_frame_form_exactly(shape: str) -> None:
    check_exact(newton_euler_base, shape)


def test_rotors_exactly() -> None:
    check_exact(newton_euler_base, "free axes", rotors=True)


def test_every_scalar() -> None:
    check_scalars(newton_euler_base)


def with_inertia(robot: Robot, index: int, inertia: Inertia) -> Robot:
    tree = list(robot.tree)
    tree[index] = replace(tree[index], body=replace(tree[index].body, inertia=inertia))
    return replace(robot, tree=tuple(tree))


@pytest.mark.parametrize("mass", [0, 0.0], ids=["literal", "float"])
def test_a_link_without_mass(mass: float) -> None:
    """Only its tensor counts; nothing is divided by its mass."""
    robot, q, qd, qdd, wrench = sample("standard")
    robot = with_inertia(robot, 1, Inertia(mass, ZERO, Mat3.symmetric(0.2, 0.01, 0, 0.3, -0.02, 0.25)))
    link_frames = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert_close(newton_euler_base.inverse_dynamics(robot, q, qd, qdd, wrench), link_frames)


def test_first_moments_without_mass_are_refused() -> None:
    """Grouped parameters: right for link frames, without meaning where a centre of mass is needed."""
    robot, q, *_ = sample("standard")
    robot = with_inertia(robot, 1, Inertia(0, Vec3(0.1, 0, 0), Mat3.zero()))
    assert np.isfinite(newton_euler.gravity(robot, q)).all()
    with pytest.raises(PhysicsError, match=r"first moments without mass.*newton_euler"):
        newton_euler_base.gravity(robot, q)


def test_erratum_milicevic_2() -> None:
    """Table 1 repeats the row of omega dot for the linear acceleration of a rotational link."""
    robot = armdyn.random_robot(3, 2, convention="modified", prismatic=0)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2, 2, (3, 2))
    moving = kinematics.jacobian(robot, q + 1j * STEP * qd, frame="joint2") @ (qd + 1j * STEP * qdd)
    acceleration = moving.imag[:3] / STEP  # d/dt of J qd: of the origin of link 2
    (z_1, _), (p_1, p_2) = zip(*((T.R.column(2), T.p) for T in kinematics.link_poses(robot, q)), strict=True)
    z_2 = kinematics.link_poses(robot, q)[1].R.column(2)
    w_1, wd_1 = qd[0] * z_1, qdd[0] * z_1
    ours = newton_euler_base.carried(w_1, wd_1, p_2 - p_1)
    printed = wd_1 + qdd[1] * z_2 + cross(w_1, qd[1] * z_2)
    assert_close(ours.array(), acceleration, 1e-13)
    assert np.abs(printed.array() - acceleration).max() > 0.1


@pytest.mark.parametrize("shape", ["turning", "tree"])
def test_erratum_milicevic_3(shape: str) -> None:
    """Table 1 starts with +g: the torques would hold the robot against a weight that pulls upwards."""
    robot, q, *_ = sample(shape)

    def potential(x: np.ndarray) -> complex:
        """-sum m g.r, as in Milićević (2.3)."""
        points = zip(robot.links, kinematics.link_poses(robot, x), strict=True)
        return -sum(body.mass * robot.gravity.dot(T.apply(body.com))
                    for body, T in ((link.inertia.about_com(), T) for link, T in points))  # fmt: skip

    slope = np.array([potential(q + 1j * STEP * unit).imag / STEP for unit in np.eye(robot.n)])
    assert_close(newton_euler_base.gravity(robot, q), slope)
    printed = newton_euler_base.gravity(replace(robot, gravity=-robot.gravity), q)
    assert_close(newton_euler_base.gravity(robot, q) - printed, 2 * slope)
    assert np.abs(slope).max() > 1
