"""Forces in closed chains: joints without a motor need no torque, and closing joints do no work."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.equations.closed_certificate import with_closed_loops
from armdyn.mechanics import closed_chain, loop_forces
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.loop_geometry import LoopGeometry
from armdyn.robot import Robot
from armdyn.robot.parts import Loop, LoopKind, Placement
from armdyn.robot.random import random_robot

FREE = {"spherical": 3, "universal": 2, "revolute": 1, "prismatic": 1, "fixed": 0}
WRENCH = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])


def closed_at(kind: LoopKind, seed: int) -> tuple[Robot, np.ndarray]:
    """A random arm of eight joints whose last body a cut of this kind holds to the base, and a closed configuration."""
    robot, q = random_robot(seed, 8, prismatic=0.0), np.random.default_rng(seed).uniform(-1, 1, 8)
    first = 2 + FREE[kind]
    tree = tuple(replace(joint, passive=k >= first) for k, joint in enumerate(robot.tree))
    loop = Loop("cut", robot.root.name, robot.tree[-1].body.name, kind=kind)
    return with_closed_loops(replace(robot, tree=tree, loops=(loop,), expressions=None), list(q)), q


def along(robot: Robot, F: np.ndarray) -> np.ndarray:
    return np.array([F[j, 5] if link.revolute else F[j, 2] for j, link in enumerate(robot.opened.links)])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", get_args(LoopKind))
def test_joints_without_a_motor_need_no_torque(kind: LoopKind, seed: int) -> None:
    robot, q = closed_at(kind, seed)
    qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (2, robot.n))
    F = np.asarray(loop_forces.joint_reactions(robot, q, qd, qdd, WRENCH))
    expected = np.zeros(8)
    expected[: robot.n] = closed_chain.inverse_dynamics(robot, q, qd, qdd, WRENCH)
    assert np.abs(along(robot, F) - expected).max() < 1e-10 * np.abs(F).max()
    closing = F[-1]
    free = {"spherical": [3, 4, 5], "revolute": [5], "prismatic": [2], "fixed": [], "universal": []}[kind]
    assert np.abs(closing[free]).max(initial=0) < 1e-10 * np.abs(F).max()
    if kind == "universal":  # turns about x of the first and y of the second frame, which are one frame here
        assert np.abs(closing[[3, 4]]).max() < 1e-10 * np.abs(F).max()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", get_args(LoopKind))
def test_columns_are_the_rates_of_the_conditions(kind: LoopKind, seed: int) -> None:
    """By complex steps; otherwise Newton's steps would come near a closed configuration slowly, or not at all."""
    robot, q = closed_at(kind, seed)
    loop = LoopGeometry(robot.opened, robot.loops[0])
    placed = loop.placed(list(q))
    np.testing.assert_allclose(loop.conditions(placed), 0, atol=1e-13)
    for joint, column in loop.columns(placed).items():
        moved = q.astype(complex)
        moved[joint] += 1e-30j
        rates = np.imag(loop.conditions(loop.placed(list(moved)))) / 1e-30
        np.testing.assert_allclose(rates, column, rtol=0, atol=1e-12)


def between_branches(kind: LoopKind, seed: int) -> tuple[Robot, np.ndarray]:
    """The same of a tree: the cut holds the ends of two branches of four and three joints or more, off their frames."""
    robot, q = random_robot(seed, 9, branching=0.15, prismatic=0.2), np.random.default_rng(seed).uniform(-1, 1, 9)
    first, second = (robot.tree[k].body.name for k in (8, 4))
    tree = tuple(replace(joint, passive=k >= 3 + FREE[kind]) for k, joint in enumerate(robot.tree))
    loop = Loop("cut", first, second, Placement(Vec3(0.1, -0.2, 0.3), Vec3(0.4, 0.5, -0.6)), kind=kind)
    return with_closed_loops(replace(robot, tree=tree, loops=(loop,), expressions=None), list(q)), q


@pytest.mark.parametrize(("make", "seed"), [(closed_at, 0), (closed_at, 1), (between_branches, 12)])
@pytest.mark.parametrize("kind", get_args(LoopKind))
def test_the_bias_is_the_second_rate_of_the_conditions(kind: LoopKind, make: Any, seed: int) -> None:
    """Along a motion that keeps the loop closed, without accelerations: by differences of complex steps."""
    robot, q = make(kind, seed)
    loop = LoopGeometry(robot.opened, robot.loops[0])
    placed = loop.placed(list(q))
    columns = loop.columns(placed)
    still = np.zeros(len(loop.conditions(placed)))
    J = np.stack([np.asarray(columns.get(joint, still), dtype=float) for joint in range(len(q))], axis=1)
    qd = np.linalg.svd(J)[2][np.linalg.matrix_rank(J) :].sum(axis=0)

    def rate(t: float) -> np.ndarray:
        return np.imag(loop.conditions(loop.placed(list(q + (t + 1e-30j) * qd)))) / 1e-30

    np.testing.assert_allclose(J @ qd, 0, atol=1e-12)
    second = (rate(1e-5) - rate(-1e-5)) / 2e-5
    np.testing.assert_allclose(loop.bias(placed, list(qd)), second, rtol=0, atol=1e-7)  # differences of 1e-5


@pytest.mark.parametrize("name", ["parallelogram", "palletiser", "five_bar", "bricard"])
def test_compiled_reactions(name: str) -> None:
    robot = armdyn.load(name)
    dyn, chain, rng = armdyn.compile(robot), dependent_joints(robot), np.random.default_rng(3)
    q = np.array([chain.assembly[k] for k in chain.independent]) + rng.uniform(-0.1, 0.1, (5, robot.n))
    qd, qdd = rng.uniform(-1, 1, (2, 5, robot.n))
    for wrench in (None, rng.uniform(-9, 9, (5, 6))):
        F = dyn.joint_reactions(q, qd, qdd, wrench)
        expected = loop_forces.joint_reactions(robot, dyn.closed(q), qd, qdd, wrench)
        assert np.abs(F - expected).max() < 1e-11 * np.abs(F).max()
        tau = np.zeros((5, robot.opened.n))
        tau[:, chain.independent] = dyn.inverse_dynamics(q, qd, qdd, wrench)
        assert np.array([along(robot, each) for each in F]) == pytest.approx(tau, abs=1e-10 * np.abs(F).max())


def test_a_hanging_four_bar_by_hand() -> None:
    """The parallelogram at rest with both bars upright: each carries its own weight and what stands on it.

    Joint 1' bears the weight of everything that its chain holds, less what the cut takes over to joint 1''.
    """
    robot = armdyn.load("parallelogram")
    q = np.array([[np.pi / 2, np.pi / 2 + 0.4]])
    F = armdyn.compile(robot).joint_reactions(q, np.zeros((1, 2)), np.zeros((1, 2)))[0]
    weight = 9.81 * sum(float(link.inertia.mass) for link in robot.opened.links)
    roots = [link.index for link in robot.opened.links if link.parent < 0]
    assert np.linalg.norm(F[roots][:, :3], axis=1).sum() >= weight * (1 - 1e-12)
    poses = [armdyn.mechanics.kinematics.link_poses(robot.opened, armdyn.compile(robot).closed(q)[0])[k] for k in roots]
    total = sum(np.asarray(pose.R.array(), dtype=float) @ F[k, :3] for pose, k in zip(poses, roots, strict=True))
    assert total == pytest.approx([0, weight, 0], abs=1e-9 * weight)
