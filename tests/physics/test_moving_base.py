"""A base that moves: the recursion with its motion against virtual joints, exactly and against an engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.algebra import CentralInertia, Mat3, Vec3
from armdyn.graph import RationalAngle
from armdyn.mechanics import gibbs_appell, kinematics, lagrange, moving_base, newton_euler
from armdyn.robot import Robot
from armdyn.robot.exact import exact
from armdyn.robot.parts import Body
from armdyn.robot.random import random_robot
from physics import engine


def arm(seed: int, n: int = 3) -> Robot:
    """With fixed bodies on base and links, full rotors (one on the base), a heavy base."""
    robot = random_robot(seed, n, rotors=True, fixed=0.5, any_gravity=True)
    tree = [
        replace(j, rotor=replace(j.rotor, model="full", transverse=2e-4, on="base" if j.name == "joint1" else None))
        if j.rotor else j for j in robot.tree
    ]  # fmt: skip
    tensor = Mat3.symmetric(1.5, 0.1, -0.2, 1.2, 0.3, 0.9)
    return replace(robot, tree=tuple(tree), root=Body("base", CentralInertia(7.5, Vec3(0.1, -0.2, 0.3), tensor)))


@pytest.mark.parametrize("seed", range(3))
def test_virtual_joints_say_the_same_exactly(seed: int) -> None:
    """Torques of the arm, and the base's wrench projected on the virtual joints, over rationals: no tolerance."""
    robot = exact(arm(seed))
    whole = exact(moving_base.with_virtual_joints(arm(seed)))
    assert [j.name for j in whole.joints[:6]] == [f"base_{x}" for x in ("x", "y", "z", "yaw", "pitch", "roll")]
    rng = np.random.default_rng(seed)

    def draw(size: int) -> list[Any]:
        return [fmpq(int(a), int(b)) for a, b in zip(rng.integers(-9, 9, size), rng.integers(1, 9, size), strict=True)]

    q = [RationalAngle(x) if link.revolute else x for link, x in zip(whole.links, draw(whole.n), strict=True)]
    qd, qdd = draw(whole.n), draw(whole.n)
    wrenches = {"joint2": draw(6), "tool": draw(6)}
    pose = kinematics.pose(whole, q, "base")
    motion = {
        "base": pose,
        "base_velocity": kinematics.velocity(whole, q, qd, "base"),
        "base_acceleration": kinematics.acceleration(whole, q, qd, qdd, "base"),
    }
    for wrench in (None, wrenches["tool"], wrenches):
        expected = lagrange.inverse_dynamics(whole, q, qd, qdd, wrench)
        assert gibbs_appell.inverse_dynamics(whole, q, qd, qdd, wrench) == expected
        found = moving_base.inverse_dynamics(robot, q[6:], qd[6:], qdd[6:], wrench=wrench, **motion)
        assert found == expected[6:]
        held = moving_base.base_wrench(robot, q[6:], qd[6:], qdd[6:], wrench=wrench, **motion)
        J = kinematics.jacobian(whole, q, "base")
        assert tuple(sum(J[i][j] * held[i] for i in range(6)) for j in range(6)) == expected[:6]


@pytest.mark.parametrize("seed", range(2))
def test_against_an_engine(seed: int) -> None:
    robot, whole = arm(seed, 4), moving_base.with_virtual_joints(arm(seed, 4))
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1, 1, (3, whole.n))
    pose = kinematics.pose(whole, q, "base")
    motion = (kinematics.velocity(whole, q, qd, "base"), kinematics.acceleration(whole, q, qd, qdd, "base"))
    expected = engine.torques(whole, q, qd, qdd)[6:]
    found = moving_base.inverse_dynamics(robot, q[6:], qd[6:], qdd[6:], *motion, base=pose)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    back = moving_base.forward_dynamics(robot, q[6:], qd[6:], found, *motion, base=pose)
    assert back == pytest.approx(qdd[6:], abs=1e-7)


def test_at_rest_it_is_the_fixed_robot() -> None:
    robot = arm(1)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 5, robot.n))
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert moving_base.inverse_dynamics(robot, q, qd, qdd) == pytest.approx(expected, rel=1e-12)
    steady = [3.0, -2.0, 1.0, 0, 0, 0]  # a train at constant speed
    assert moving_base.inverse_dynamics(robot, q, qd, qdd, steady) == pytest.approx(expected, rel=1e-12)
    falling = [*robot.gravity, 0, 0, 0]
    free = newton_euler.inverse_dynamics(robot.without("gravity"), q, qd, qdd)
    assert moving_base.inverse_dynamics(robot, q, qd, qdd, None, falling) == pytest.approx(free, rel=1e-9, abs=1e-9)


def test_weight_on_the_base() -> None:
    robot = arm(2)
    rest = np.zeros(robot.n)
    force = moving_base.base_wrench(robot, rest, rest, rest)[:3]
    mass = sum(float(link.inertia.mass) for link in robot.links) + float(moving_base.base_body(robot).mass)
    assert force == pytest.approx(-mass * np.array(list(robot.gravity)))


def test_a_vehicle_in_the_plane() -> None:
    car = moving_base.with_virtual_joints(arm(0), ("x", "y", "yaw"))
    assert [j.kind for j in car.joints[:3]] == ["prismatic", "prismatic", "revolute"]
    assert armdyn.certify(car, points=1).holds
    with pytest.raises(armdyn.ArmdynError, match="unknown virtual joint 'heave'"):
        moving_base.with_virtual_joints(car, ("heave",))
    with pytest.raises(armdyn.ArmdynError, match="4x4"):
        moving_base.inverse_dynamics(arm(0), [0] * 3, [0] * 3, [0] * 3, base=np.eye(3))
