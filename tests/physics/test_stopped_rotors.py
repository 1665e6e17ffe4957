"""Rotors whose joint is locked, left out or fixed stay on their carriers: against Pinocchio, with rotors as bodies."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import identical, symbol
from armdyn.mechanics import newton_euler
from armdyn.robot import Body, Robot
from armdyn.robot.random import random_robot
from physics import engine
from physics.test_rotors import relative
from support.pinocchio_model import pin

SEEDS = range(2000 if os.environ.get("ARMDYN_FULL") else 60)
TOLERANCE = 1e-11
"""As for full rotors that spin: gear ratios of 120 squared stand beside light links."""


def robot_with_full_rotors(seed: int) -> Robot:
    """Trees of up to eight joints, skew axes, fixed bodies, rotors on any body that their joint does not move."""
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, 2 + seed % 7, rotors=True, branching=0.3 * (seed % 2), fixed=0.2, any_gravity=True)
    bodies = [robot.root.name]
    tree = []
    for joint in robot.tree:
        if joint.rotor is not None:
            mass, across = (round(float(x), 4) for x in rng.uniform((0.5, 1e-4), (5, 1e-3)))
            on = str(rng.choice(bodies)) if rng.random() < 0.5 else None
            joint = replace(joint, rotor=replace(joint.rotor, model="full", mass=mass, transverse=across, on=on))
        tree.append(joint)
        bodies.append(joint.body.name)
    return replace(robot, tree=tuple(tree))


def motion(rng: np.random.Generator, robot: Robot, held: dict[str, float]) -> tuple[Any, Any, Any, list[int]]:
    """q, qd, qdd of a motion during which some joints are held, and the indices of the others."""
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    for j, joint in enumerate(robot.joints):
        if joint.name in held:
            q[j], qd[j], qdd[j] = held[joint.name], 0, 0
    return q, qd, qdd, [j for j, joint in enumerate(robot.joints) if joint.name not in held]


def test_a_locked_joint_leaves_its_rotor_on_the_carrier() -> None:
    worst = 0.0
    for seed in SEEDS:
        robot, rng = robot_with_full_rotors(seed), np.random.default_rng(seed)
        chosen = rng.permutation(robot.n)[: rng.integers(1, robot.n)]
        held = {robot.joints[j].name: round(float(rng.uniform(-2, 2)), 3) for j in chosen}
        q, qd, qdd, left = motion(rng, robot, held)
        expected = engine.torques(robot, q, qd, qdd)[left]
        locked = robot.locked(held)
        worst = max(worst, relative(newton_euler.inverse_dynamics(locked, q[left], qd[left], qdd[left]), expected))
        assert locked.tool_body == robot.tool_body or locked.frame().link == locked.n - 1
    assert worst < TOLERANCE


@pytest.mark.parametrize("seed", range(20))
def test_a_chain_keeps_the_rotors_that_its_bodies_carry(seed: int) -> None:
    """The same torques as the whole robot with weightless bodies beyond the tip, whose joints are at rest."""
    robot, rng = robot_with_full_rotors(seed), np.random.default_rng(seed)
    tip = robot.joints[rng.integers(robot.n)].body.name
    chain = robot.chain(tip=tip)
    kept = {joint.body.name for joint in chain.tree} | {robot.root.name}

    def bare(joint: Any) -> Any:
        body = joint.body if joint.body.name in kept else Body(joint.body.name)
        rotor = joint.rotor
        if rotor is not None and (rotor.on or joint.parent) not in kept:  # its mass is left out with its carrier
            rotor = replace(rotor, model="reflected", on=None) if joint.body.name in kept else None
        return replace(joint, body=body, rotor=rotor)

    whole = replace(robot, tree=tuple(map(bare, robot.tree)))
    moving = [joint.name for joint in chain.joints]
    q, qd, qdd, left = motion(rng, whole, {joint.name: 0.0 for joint in robot.joints if joint.name not in moving})
    expected = engine.torques(whole, q, qd, qdd)[left]
    assert relative(newton_euler.inverse_dynamics(chain, q[left], qd[left], qdd[left]), expected) < TOLERANCE


@pytest.mark.parametrize("seed", range(20))
def test_without_rotors_on_links_only_the_spin_goes(seed: int) -> None:
    """The rotors are bodies at rest on their carriers, and each adds ratio^2 inertia to its joint."""
    robot = robot_with_full_rotors(seed)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    model, A, _ = engine.with_rotor_bodies(robot)
    still = A.T @ pin.rnea(model, model.createData(), A @ q, A @ qd, A @ qdd)
    reflected = [float(joint.rotor.ratio) ** 2 * float(joint.rotor.inertia) for joint in robot.joints]
    found = newton_euler.inverse_dynamics(robot.without("rotors_on_links"), q, qd, qdd)
    assert relative(found, still + np.array(reflected) * qdd) < TOLERANCE
    assert "rotors_on_links" not in robot.without("rotors_on_links").features


def test_a_fixed_joint_carries_its_rotor() -> None:
    arm = {"name": "arm", "a": 1, "mass": 2, "com": [-0.5, 0, 0], "alpha": "pi/2"}
    rotor = {"model": "full", "mass": 3, "position": [0.2, 0, 0], "inertia": 0.01, "transverse": 0.02}
    with_rotor = Robot.from_dh([arm, {"name": "mount", "type": "fixed", "rotor": rotor}], gravity=(0, -9.81, 0))
    q = 0.4
    expected = 9.81 * np.cos(q) * (2 * 0.5 + 3 * 1.2)  # both centres of mass on the line of the arm
    assert newton_euler.gravity(with_rotor, [q]) == pytest.approx([expected], rel=1e-14)


def test_locked_equations_name_the_mass_of_the_rotor() -> None:
    """Siciliano's arm with the elbow at zero: link 1 carries motor 2 at its end."""
    a1, l1, l2, ml1, ml2, mm2, g = (symbol(s, "parameter") for s in ("a1", "l1", "l2", "ml1", "ml2", "mm2", "g"))
    (found,) = armdyn.derive(armdyn.load("planar2r", lock={"elbow": 0.0})).nodes("g")
    assert identical(found, g * (l1 * ml1 + (a1 + l2) * ml2 + a1 * mm2) * symbol("q1").cos())


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, -1, 0), (0, 0, 1), (0.6, 0, 0.8), (0.36, 0.48, -0.8)])
@pytest.mark.parametrize("rpy", [("pi/2", 0, 0), (0, 0.3, "pi/3"), (0, 0, "pi/2"), (0.1, 0.2, 0.3)])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_a_joint_can_be_locked_whatever_its_placement(axis: Any, rpy: Any, kind: str) -> None:
    rows = [{"name": "a", "type": kind, "xyz": [0.1, 0.2, 0.3], "rpy": list(rpy), "axis": list(axis), "offset": 0.2},
            {"name": "b", "xyz": [0.1, 0, 0.5], "mass": 2, "com": [0.3, 0.1, 0]}]  # fmt: skip
    robot = Robot.from_dh(rows)
    held = robot.locked({"a": 0.7})
    found, expected = armdyn.compile(held).pose([0.4]), armdyn.compile(robot).pose([0.7, 0.4])
    assert np.abs(found - expected).max() < 1e-14
