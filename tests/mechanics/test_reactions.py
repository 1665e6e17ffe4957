"""Forces and moments that joints transmit, against equilibrium of whole subtrees and against Siciliano's recursion."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import kinematics, moving_base, newton_euler
from armdyn.mechanics.reactions import joint_reactions
from armdyn.mechanics.rotors import rotor_torques
from armdyn.robot.random import random_robot
from armdyn.texts.siciliano.newton_euler_items import borne, geared, printed_recursion

WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])


def state(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2, 2, (3, n))


@pytest.mark.parametrize("seed", range(6))
def test_component_along_the_axis_is_the_torque(seed: int) -> None:
    """Without friction and without the joints' own rotors, for a wrench at the tool."""
    robot = random_robot(seed, 5, branching=0.3)
    q, qd, qdd = state(robot.n, seed)
    found = joint_reactions(robot, q, qd, qdd, WRENCH)
    along = [F[5] if link.revolute else F[2] for F, link in zip(found, robot.links, strict=True)]
    np.testing.assert_allclose(along, newton_euler.inverse_dynamics(robot, q, qd, qdd, WRENCH), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("wrench", [None, WRENCH])
@pytest.mark.parametrize("seed", range(4))
def test_first_joint_bears_what_the_base_must_hold(seed: int, wrench: np.ndarray | None) -> None:
    """All six components, with rotors on links: the wrench that the Euler equations of the base ask for."""
    robot = random_robot(seed, 4, rotors=True)
    q, qd, qdd = state(robot.n, seed)
    passed = joint_reactions(robot, q, qd, qdd, wrench)[0]
    pose = robot.links[0].pose(q[0])
    R, p = np.asarray(pose.R.array(), float), np.asarray(pose.p.array(), float)
    force, moment = R @ passed[:3], R @ passed[3:]
    own = [spin for spin in robot.spins if spin.carrier == -1 and spin.axis is not None]
    held = np.asarray(moving_base.base_wrench(robot, q, qd, qdd, wrench=wrench))
    base, root = moving_base.base_body(robot), np.asarray(robot.base.xyz.array(), float)
    weight = -float(base.mass) * np.asarray(robot.gravity.array(), float)
    lever = -np.cross(np.asarray(base.moment.array(), float), np.asarray(robot.gravity.array(), float))
    spun = sum((qdd[j] * float(k) * float(s.inertia) * np.asarray(s.axis.array(), float)
                for s in own for j, k in s.rates if s.axis is not None), np.zeros(3))  # fmt: skip
    np.testing.assert_allclose(held[:3], force + weight, rtol=1e-10, atol=1e-10)
    total = moment + np.cross(p, force) + lever + spun - np.cross(root, force + weight)
    np.testing.assert_allclose(held[3:], total, rtol=1e-10, atol=1e-10)


def test_against_the_recursion_of_siciliano() -> None:
    """(7.112), (7.113), corrected, for revolute and prismatic joints with rotors on the links."""
    robot = geared(4)
    q, qd, qdd = state(4, 1)
    printed = printed_recursion(robot, q.tolist(), qd.tolist(), qdd.tolist(), 1)
    expected = borne(robot, q.tolist(), printed)
    np.testing.assert_allclose(joint_reactions(robot, q, qd, qdd), expected, rtol=1e-10, atol=1e-11)


def test_wrenches_on_several_frames_add_up() -> None:
    robot = random_robot(3, 4)
    body = robot.joints[1].body.name
    q, qd, qdd = state(4, 3)
    none, tool, other, both = (np.asarray(joint_reactions(robot, q, qd, qdd, w))
                               for w in (None, WRENCH, {body: 2 * WRENCH},
                                         {"tool": WRENCH, body: 2 * WRENCH}))  # fmt: skip
    np.testing.assert_allclose(both - none, (tool - none) + (other - none), atol=1e-10)
    assert not np.abs(other - none)[2:].any()
    R = np.asarray(kinematics.pose(robot, q, body))[:3, :3]
    frame = np.asarray(robot.frame(body).pose.R.array(), float)
    np.testing.assert_allclose((other - none)[1][:3], frame @ R.T @ (2 * WRENCH[:3]), atol=1e-10)


def test_own_rotors_and_friction_act_along_the_axis_only() -> None:
    robot = armdyn.load("rx90")
    q, qd, qdd = state(6, 2)
    missing = (
        newton_euler.inverse_dynamics(robot.without("friction"), q, qd, qdd) - joint_reactions(robot, q, qd, qdd)[:, 5]
    )
    np.testing.assert_allclose(missing, rotor_torques(robot, q, qd, qdd), atol=1e-10)


def test_compiled_with_a_wrench() -> None:
    robot = armdyn.load("ur5")
    dyn = armdyn.compile(robot)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 20, 6))
    np.testing.assert_allclose(
        dyn.joint_reactions(q, qd, qdd), joint_reactions(robot, q, qd, qdd), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(dyn.joint_reactions(q, qd, qdd, WRENCH), joint_reactions(robot, q, qd, qdd, WRENCH),
                               rtol=1e-9, atol=1e-9)  # fmt: skip
