"""Direct dynamics from inverse dynamics, and the symmetric equations behind it."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.errors import PhysicsError
from armdyn.graph import RationalAngle, symbols
from armdyn.mechanics import articulated_body, composite_body, forward, linear, newton_euler, newton_euler_base
from armdyn.robot import Robot
from armdyn.robot.exact import exact
from support import pinocchio_model
from support.laws import SHAPES, assert_close, sample


@pytest.mark.parametrize("by", [newton_euler, newton_euler_base], ids=["link frames", "base axes"])
@pytest.mark.parametrize("shape", SHAPES)
def test_undoes_pinocchios_inverse_dynamics(shape: str, by: ModuleType) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    tau = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert_close(forward.forward_dynamics(robot, q, qd, tau, wrench, by=by), qdd)
    assert_close(forward.mass_matrix(robot, q, by=by), pinocchio_model.mass_matrix(robot, q))


@pytest.mark.parametrize("module", [forward, composite_body, articulated_body], ids=lambda m: m.__name__.split(".")[-1])
@pytest.mark.parametrize("shape", ["modified", "sliding", "right angles", "tree"])
def test_undoes_inverse_dynamics_exactly(shape: str, module: ModuleType) -> None:
    """Over rationals the accelerations come back without a tolerance."""
    robot = exact(armdyn.random_robot(400, **{**SHAPES[shape], "n": 4}))
    rng = np.random.default_rng(3)

    def rationals(count: int) -> list[fmpq]:
        return [fmpq(int(rng.integers(-20, 20)), int(rng.integers(1, 10))) for _ in range(count)]

    q = [RationalAngle(x) if link.revolute else x for link, x in zip(robot.links, rationals(4), strict=True)]
    qd, qdd, wrench = rationals(4), rationals(4), rationals(6)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert module.forward_dynamics(robot, q, qd, tau, wrench) == tuple(qdd)


@pytest.mark.parametrize("seed", range(20))
def test_mixed_chains_and_trees_forth_and_back(seed: int) -> None:
    """Turning and sliding joints in any order: every inverse gives Pinocchio's torques, every direct undoes them."""
    robot = armdyn.random_robot(seed, 6, prismatic=0.5, branching=0.3 * (seed % 2), fixed=0.3, any_gravity=True)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    wrench = rng.uniform(-5, 5, 6)
    tau = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench)
    for inverse in (newton_euler, newton_euler_base):
        assert_close(inverse.inverse_dynamics(robot, q, qd, qdd, wrench), tau)
    for module in (forward, composite_body, articulated_body):
        assert_close(module.forward_dynamics(robot, q, qd, tau, wrench), qdd)


def test_rotors_and_friction() -> None:
    robot = armdyn.random_robot(7, 4, rotors=True, friction=True)
    q, qd, qdd = np.random.default_rng(7).uniform(-2, 2, (3, 4))
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert_close(forward.forward_dynamics(robot, q, qd, tau), qdd)
    assert_close(forward.mass_matrix(robot, q), newton_euler.mass_matrix(robot, q))


def test_a_batch_is_a_loop() -> None:
    robot, *_ = sample("tree")
    q, qd, tau = np.random.default_rng(8).uniform(-2, 2, (3, 3, robot.n))
    together = forward.forward_dynamics(robot, q, qd, tau)
    one_by_one = [forward.forward_dynamics(robot, *each) for each in zip(q, qd, tau, strict=True)]
    assert_close(together, one_by_one, 1e-11)  # the last digits of the sines, times the condition of M


@pytest.mark.parametrize("module", [forward, composite_body, articulated_body], ids=lambda m: m.__name__.split(".")[-1])
def test_a_singular_mass_matrix_is_an_error_that_names_the_joint(module: ModuleType) -> None:
    rows = [
        {"type": "prismatic", "mass": 2},
        {"type": "revolute", "name": "wrist", "mass": 1, "inertia": [1, 0, 0, 1, 0, 0]},
    ]
    robot = Robot.from_dh(rows, name="needle")
    with pytest.raises(PhysicsError, match="robot 'needle', joint 'wrist': the inertia seen by this joint is zero"):
        module.forward_dynamics(robot, [0.1, 0.2], [0.0, 0.0], [1.0, 1.0])


# L^T D L ------------------------------------------------------------------------------------------------------------


def test_factors_and_solution() -> None:
    rng = np.random.default_rng(0)
    root = rng.uniform(-1, 1, (6, 6))
    M, b = root @ root.T + np.eye(6), rng.uniform(-1, 1, 6)
    factors = linear.factor(M.tolist())
    L = np.eye(6)
    for k, row in enumerate(factors.lower):
        L[k, :k] = row
    assert_close(L.T @ np.diag(1 / np.array(factors.inverse)) @ L, M, 1e-14)
    assert_close(linear.solve(factors, b.tolist()), np.linalg.solve(M, b), 1e-13)


def test_exact_solution() -> None:
    M = [[Fraction(1, i + j + 1) for j in range(5)] for i in range(5)]  # Hilbert: hopeless for rounding
    x = [Fraction(k) for k in (3, -1, 4, -1, 5)]
    b = [sum(m * y for m, y in zip(row, x, strict=True)) for row in M]
    assert linear.solve(linear.factor(M), b) == x


def test_a_tree_fills_nothing_in() -> None:
    """Joints 2 and 3 hang on joint 1 side by side: L keeps the literal zero between them."""
    a, b, c, d, e = symbols("a b c d e")
    lower = linear.factor([[a, b, c], [b, d, 0], [c, 0, e]]).lower
    assert type(lower[2][1]) is int and lower[2][1] == 0
    assert lower[1][0] is b * (1 / d)


def test_rank_deficient_floats_are_noticed() -> None:
    """The pivot that is left is rounding, not zero."""
    v = np.array([0.1, 0.3, 0.7])
    M = np.outer(v, v) + np.diag([0, 0, 1.0])
    with pytest.raises(PhysicsError, match="joint 0"):
        linear.factor(M.tolist())
    regular = np.diag([1.0, 1.0, 1.0])
    batch = np.moveaxis(np.stack([regular, M]), 0, -1)
    with pytest.raises(PhysicsError, match="joint 0"):  # one bad sample of a batch is enough
        linear.factor([list(row) for row in batch])
