"""Articulated bodies: forward dynamics without the mass matrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Screw
from armdyn.errors import ArmdynError, PhysicsError
from armdyn.graph import trace
from armdyn.mechanics import articulated_body, newton_euler
from armdyn.mechanics.steps.articulated_body import spatial_inertia
from armdyn.robot import Robot
from support import pinocchio_model
from support.laws import SHAPES, assert_close, sample
from support.pinocchio_model import pin


def reflected(robot: Robot) -> Robot:
    """The robot with its rotors felt by their own joints only."""
    tree = [replace(j, rotor=replace(j.rotor, model="reflected")) if j.rotor else j for j in robot.tree]
    return replace(robot, tree=tuple(tree))


@pytest.mark.parametrize("shape", SHAPES)
def test_undoes_pinocchios_inverse_dynamics(shape: str) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    tau = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert_close(articulated_body.forward_dynamics(robot, q, qd, tau, wrench), qdd)


@pytest.mark.parametrize("seed", range(6))
def test_undoes_ours_with_rotors_and_friction(seed: int) -> None:
    robot = reflected(armdyn.random_robot(seed, 6, rotors=True, friction=True, branching=0.3, any_gravity=True))
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    wrench = np.arange(6.0)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert_close(articulated_body.forward_dynamics(robot, q, qd, tau, wrench), qdd)


def test_batches_complex_numbers_and_symbols() -> None:
    robot, q, qd, tau, wrench = sample("tree")
    qdd = articulated_body.forward_dynamics(robot, q, qd, tau, wrench)
    assert_close(articulated_body.forward_dynamics(robot, [q, q], qd, tau, wrench), [qdd, qdd], 1e-13)
    step = 1e-30
    slope = articulated_body.forward_dynamics(robot, q, qd, tau + 1j * step * tau, wrench).imag / step
    assert_close(newton_euler.mass_matrix(robot, q) @ slope, tau)  # d qdd / d tau = M^-1
    inputs = {"q": robot.n, "qd": robot.n, "tau": robot.n, "w": 6}
    graph = trace(lambda *arguments: articulated_body.forward_dynamics(robot, *arguments), inputs)
    assert_close(graph(q=q, qd=qd, tau=tau, w=wrench), qdd)


def test_rotors_that_their_carrier_feels_are_refused() -> None:
    robot = armdyn.random_robot(1, 3, rotors=True)
    full = [replace(j, rotor=replace(j.rotor, model="full")) if j.rotor else j for j in robot.tree]
    robot = replace(robot, tree=tuple(full))
    with pytest.raises(ArmdynError, match=r"spin on moving links \(joint2, joint3\).*composite_body"):
        articulated_body.forward_dynamics(robot, [0.1] * 3, [0.0] * 3, [0.0] * 3)


def test_a_full_rotor_on_the_base_is_only_felt_by_its_joint() -> None:
    robot = armdyn.random_robot(1, 1, rotors=True)
    rotor = replace(robot.tree[0].rotor, model="full")
    robot = replace(robot, tree=(replace(robot.tree[0], rotor=rotor),))
    assert robot.spins[0].axis is not None
    tau = newton_euler.inverse_dynamics(robot, [0.3], [1.0], [2.0])
    assert_close(articulated_body.forward_dynamics(robot, [0.3], [1.0], tau), np.array([2.0]))


@pytest.mark.parametrize("mass", [0, 1e-30], ids=["zero", "rounding"])
def test_a_joint_that_moves_nothing_is_named(mass: float) -> None:
    rows = [{"type": "revolute", "mass": 1, "com": [0.1, 0, 0], "a": 0.5},
            {"type": "revolute", "name": "flange", "mass": 1, "com": [0, 0, 0.1], "inertia": [0, 0, 0, 0, 0, mass],
             "convention": "modified"}]  # fmt: skip
    robot = Robot.from_dh(rows)
    with pytest.raises(PhysicsError, match="joint 'flange': the inertia seen by this joint is zero"):
        articulated_body.forward_dynamics(robot, [0.1, 0.2], [0.0, 0.0], [0.0, 0.0])


def test_erratum_khalil_2() -> None:
    """Khalil (7.88) adds S^T F_n; the balance of a link is I V = F - S^T F_n + beta, (7.69). Forces are Pinocchio's."""
    robot, q, qd, qdd, _ = sample("turning")
    model = pinocchio_model.build(robot)
    data = model.createData()
    pin.rnea(model, data, q, qd, qdd)
    j = robot.n - 2  # joint n-1; the joints of Pinocchio count from 1
    v, a = data.v[j + 1], data.a_gf[j + 1]
    linear = a.linear + np.cross(v.angular, v.linear)  # from a spatial to a plain acceleration of the origin
    F, F_n = (Screw(*map(vec, (data.f[i].linear, data.f[i].angular))) for i in (j + 1, j + 2))
    poses = [link.pose(x) for link, x in zip(robot.links, q.tolist(), strict=True)]
    _, beta = articulated_body.rates(robot, poses, q.tolist(), qd.tolist(), None)
    left = spatial_inertia(robot.links[j].inertia).times(Screw(vec(linear), vec(a.angular)))
    carried = F_n.wrench_seen_from(poses[j + 1])
    assert_close(flat(F.minus(carried).plus(beta[j])), flat(left), 1e-12)
    assert np.abs(flat(F.plus(carried).plus(beta[j])) - flat(left)).max() > 0.1 * np.abs(flat(left)).max()


def vec(x: np.ndarray) -> armdyn.algebra.Vec3:
    return armdyn.algebra.Vec3(*x.tolist())


def flat(screw: Screw) -> np.ndarray:
    return np.array([*screw.linear, *screw.angular])
