"""First derivatives and the Coriolis matrix by composite bodies: exactly, by complex steps, against formulations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.algebra import gradient
from armdyn.errors import UnknownName
from armdyn.graph import RationalAngle, trace
from armdyn.mechanics import derivatives, gim_christoffel, newton_euler
from armdyn.robot import Robot
from armdyn.robot.exact import exact

STEP = 1e-30


def robot_of(seed: int, **options: Any) -> Robot:
    settings: dict[str, Any] = {
        "prismatic": (0.3, 0.0, 0.7)[seed % 3],
        "branching": 0.4 * (seed % 2),
        "fixed": 0.2,
        "any_gravity": True,
        "rotors": seed % 4 == 0,
    }
    return armdyn.random_robot(seed, 1 + seed % 6, **settings | options)


def by_complex_step(robot: Robot, q: Any, qd: Any, qdd: Any) -> np.ndarray:
    result = np.zeros((2, robot.n, robot.n))
    for k in range(robot.n):
        step = np.zeros(robot.n, complex)
        step[k] = 1j * STEP
        result[0, :, k] = newton_euler.inverse_dynamics(robot, q + step, qd, qdd).imag / STEP
        result[1, :, k] = newton_euler.inverse_dynamics(robot, q, qd + step, qdd).imag / STEP
    return result


@pytest.mark.parametrize("axes", derivatives.AXES)
@pytest.mark.parametrize("seed", range(18))
def test_against_complex_steps(seed: int, axes: derivatives.Axes) -> None:
    robot = robot_of(seed)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    expected = by_complex_step(robot, q, qd, qdd)
    found = derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd, axes=axes)
    scale = max(np.abs(expected).max(), 1.0)
    assert np.abs(found - expected).max() < 1e-10 * scale
    C = derivatives.coriolis_matrix(robot, q, qd, axes=axes)
    assert np.abs(C - gim_christoffel.coriolis_matrix(robot, q, qd)).max() < 1e-10 * scale
    assert np.abs(found[1] - 2 * C).max() < 1e-10 * scale  # torques are a quadratic form of the velocities


@pytest.mark.parametrize("seed", (1, 2, 3, 5))
def test_exactly(seed: int) -> None:
    """Over rationals, with sines and cosines of rational points of the circle: identities, not tolerances."""
    robot = exact(robot_of(seed, prismatic=0.5, rotors=False))
    q = [RationalAngle(fmpq(k + 1, 7)) if link.revolute else fmpq(k + 1, 3) for k, link in enumerate(robot.links)]
    qd, qdd = ([fmpq(k + shift, 5) for k in range(robot.n)] for shift in (-2, 3))
    by_link, by_world = (derivatives.coriolis_matrix(robot, q, qd, axes=axes) for axes in derivatives.AXES)
    assert by_link == by_world == gim_christoffel.coriolis_matrix(robot, q, qd)
    formula = derivatives.inverse_dynamics_derivatives
    assert formula(robot, q, qd, qdd, axes="link") == formula(robot, q, qd, qdd, axes="world")


def test_batches_and_unknown_axes() -> None:
    robot = robot_of(5)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 4, robot.n))
    found = derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd)
    assert found.shape == (4, 2, robot.n, robot.n)
    for k in range(4):
        assert np.allclose(found[k], by_complex_step(robot, q[k], qd[k], qdd[k]), rtol=1e-9, atol=1e-9)
    with pytest.raises(UnknownName, match="link, world"):
        derivatives.coriolis_matrix(robot, q, qd, axes="base")  # type: ignore[arg-type]


def test_friction_has_its_slope() -> None:
    """Viscous friction and the Stribeck curve, by dual numbers; dry friction is flat on either side of rest."""
    robot = armdyn.random_robot(1, 3, friction=True)
    q, qd, qdd = np.random.default_rng(0).uniform(-0.3, 0.3, (3, 3))
    found = derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd)[1]
    h = 1e-6
    for k in range(3):
        step = h * np.eye(3)[k]
        difference = newton_euler.inverse_dynamics(robot, q, qd + step, qdd)
        difference -= newton_euler.inverse_dynamics(robot, q, qd - step, qdd)
        assert np.abs(difference / (2 * h) - found[:, k]).max() < 1e-6 * np.abs(found).max()  # a difference's error
    at_rest = derivatives.inverse_dynamics_derivatives(robot, q, 0 * qd, qdd)[1]
    assert np.allclose(np.diag(at_rest), [joint.friction.viscous for joint in robot.joints])  # type: ignore[union-attr]


def test_over_dual_numbers_of_the_recursion() -> None:
    robot = robot_of(7)
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, robot.n)).tolist()
    formula = newton_euler.inverse_dynamics.formula  # type: ignore[attr-defined]
    dq = np.array(gradient(lambda x: formula(robot, x, qd, qdd), q), float).T
    assert np.allclose(derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd)[0], dq, rtol=1e-9, atol=1e-9)


def test_branches_do_not_see_one_another() -> None:
    """Entries between joints on different branches are literal zeros: they cost nothing."""
    row = {"type": "revolute", "a": 0.3, "mass": 1.0, "com": [0.1, 0.2, 0.3], "alpha": 0.4}
    robot = Robot.from_dh([row | {"name": "a"}, row | {"name": "b", "parent": "a"}, row | {"name": "c", "parent": "a"}])
    for axes in derivatives.AXES:
        formula = derivatives.inverse_dynamics_derivatives
        graph = trace(lambda q, qd, qdd: formula(robot, q, qd, qdd, axes=axes), {"q": 3, "qd": 3, "qdd": 3})  # noqa: B023
        for matrix in graph.outputs["out"]:
            assert repr(matrix[1][2]) == repr(matrix[2][1]) == "0"


def test_costs_less_than_differentiating_the_graph() -> None:
    robot = armdyn.load("panda").without("friction", "rotors")
    inputs = {"q": 7, "qd": 7, "qdd": 7}
    formula = derivatives.inverse_dynamics_derivatives
    count = trace(lambda q, qd, qdd: formula(robot, q, qd, qdd), inputs, fold_angles=False).operations
    assert count.total < 4000  # 5300 by forward mode on the graph of Newton-Euler
