"""Composite bodies: the mass matrix and forward dynamics with it."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.algebra import Mat3, rot_z
from armdyn.errors import ShapeError
from armdyn.graph import RationalAngle, trace
from armdyn.mechanics import composite_body, newton_euler
from armdyn.mechanics.steps.composite_body import turned_about_z
from armdyn.robot.exact import exact
from support import pinocchio_model
from support.laws import SHAPES, assert_close, sample


@pytest.mark.parametrize("shape", SHAPES)
def test_mass_matrix_agrees_with_pinocchio(shape: str) -> None:
    robot, q, *_ = sample(shape)
    M = composite_body.mass_matrix(robot, q)
    assert_close(M, pinocchio_model.mass_matrix(robot, q))
    assert (M == M.T).all()
    assert np.linalg.eigvalsh(M).min() > 0


@pytest.mark.parametrize("shape", ["standard", "sliding", "right angles", "tree"])
def test_mass_matrix_equals_newton_euler_exactly(shape: str) -> None:
    robot = exact(armdyn.random_robot(300, rotors=True, **SHAPES[shape]))
    rng = np.random.default_rng(1)
    numbers = [fmpq(int(a), int(b)) for a, b in zip(rng.integers(-9, 9, 7), rng.integers(1, 9, 7), strict=True)]
    q = [RationalAngle(x) if link.revolute else x for link, x in zip(robot.links, numbers, strict=False)]
    assert composite_body.mass_matrix(robot, q) == newton_euler.mass_matrix(robot, q)


def test_branches_do_not_feel_each_other() -> None:
    """Entries between joints of different branches are literal zeros: structure, not small numbers."""
    robot, q, *_ = sample("tree")
    M, apart = composite_body.mass_matrix.formula(robot, q.tolist()), 0
    for i, j in np.ndindex(robot.n, robot.n):
        if i not in robot.path(j) and j not in robot.path(i):
            assert type(M[i][j]) is int and M[i][j] == 0
            apart += 1
    assert apart > 0


def test_turning_a_tensor() -> None:
    """The short form of Rz A Rz^T, for any matrix."""
    A = Mat3(np.random.default_rng(2).uniform(-1, 1, (3, 3)).tolist())
    R = rot_z(0.7)
    assert_close(turned_about_z(A, np.cos(0.7), np.sin(0.7)).array(), (R @ A @ R.T).array(), 1e-14)


@pytest.mark.parametrize("shape", SHAPES)
def test_forward_dynamics_undoes_pinocchios_inverse_dynamics(shape: str) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    tau = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert_close(composite_body.forward_dynamics(robot, q, qd, tau, wrench), qdd)


@pytest.mark.parametrize("seed", range(4))
def test_forward_dynamics_undoes_ours_with_all_that_drives_a_joint(seed: int) -> None:
    robot = armdyn.random_robot(seed, 5, rotors=True, friction=True, branching=0.3)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert_close(composite_body.forward_dynamics(robot, q, qd, tau), qdd)


def test_batches_complex_numbers_and_symbols() -> None:
    robot, q, qd, tau, wrench = sample("tree")
    qdd = composite_body.forward_dynamics(robot, q, qd, tau, wrench)
    assert_close(composite_body.forward_dynamics(robot, q, qd, [tau, tau], wrench), [qdd, qdd], 1e-13)
    step = 1e-30
    slope = composite_body.forward_dynamics(robot, q, qd, tau + 1j * step * tau, wrench).imag / step
    M = composite_body.mass_matrix(robot, q)
    assert_close(M @ slope, tau)  # d qdd / d tau = M^-1
    inputs = {"q": robot.n, "qd": robot.n, "tau": robot.n, "w": 6}
    graph = trace(lambda *arguments: composite_body.forward_dynamics(robot, *arguments), inputs)
    assert_close(graph(q=q, qd=qd, tau=tau, w=wrench), qdd)


def test_wrong_sizes_are_refused() -> None:
    robot, q, qd, tau, _ = sample("tree")
    with pytest.raises(ShapeError, match="tau has shape"):
        composite_body.forward_dynamics(robot, q, qd, tau[:-1])
    with pytest.raises(ShapeError, match="q has shape"):
        composite_body.mass_matrix(robot, q[:-1])
