"""Physically consistent parameters: possible, nearest to the estimate, the truth left alone."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import armdyn
from armdyn.errors import ArmdynError, MissingExtra, PhysicsError, ShapeError
from armdyn.identification.physical_fit import consistent, whitening
from armdyn.parameters import base_parameters, physical_consistency, standard_parameters
from armdyn.parameters.base import stacked_regressor
from armdyn.parameters.standard import parameter_names

pytest.importorskip("cvxpy")


def covariance_of(base, noise: float) -> np.ndarray:  # type: ignore[no-untyped-def, type-arg]
    """Of least squares over random states with white noise of the torques."""
    W = stacked_regressor(base.robot, base.include, states=400)
    names = parameter_names(base.robot, base.include)
    W = W[:, [names.index(name) for name in base.columns]] @ base.from_columns
    return noise**2 * np.linalg.inv(W.T @ W)


@pytest.mark.parametrize("name", ["panda", "ur5", "random"])
def test_a_possible_estimate_is_left_alone(name: str) -> None:
    robot = armdyn.load(name) if name != "random" else armdyn.random_robot(3, n=5)
    assert physical_consistency(robot).solid
    base = base_parameters(robot)
    found = consistent(base, base.values, covariance_of(base, 0.5))
    assert found.consistency.consistent
    assert np.abs(found.shift).max() < 0.05  # of a standard deviation
    # Where the data say nothing the prior decides: the standard parameters are the robot's own, too.
    own, new = (standard_parameters(r, ("inertial",)).array() for r in (robot, found.robot))
    assert np.abs(own - new).max() < 0.02 * np.abs(own).max()


@pytest.mark.parametrize("name", ["panda", "puma560"])
def test_an_impossible_estimate_becomes_possible_and_is_not_farther_from_the_truth(name: str) -> None:
    robot = armdyn.load(name)
    base = base_parameters(robot, ("inertial", "friction"))
    sigma = covariance_of(base, 3.0)
    rng = np.random.default_rng(0)
    R = whitening(sigma)
    for _ in range(3):
        noisy = rng.multivariate_normal(base.values, sigma)
        assert not physical_consistency(base.robot_with(noisy)).consistent  # zeros in place of what is not told
        found = consistent(base, noisy, sigma)
        assert found.consistency.consistent
        given, kept = (np.linalg.norm(R @ (x - base.values)) for x in (noisy, found.values))
        # The truth lies in the convex set onto which the estimate is projected, but for margin and prior.
        assert kept < given + 0.1
        assert found.distance < given + 0.1
        np.testing.assert_allclose(base.from_standard(standard_parameters(found.robot, base.include)), found.values,
                                   rtol=1e-9, atol=1e-12)  # fmt: skip


def test_no_possible_neighbour_is_nearer() -> None:
    """Optimality by another way than the solver's: random possible robots near the solution, nearest of all."""
    base = base_parameters(armdyn.load("ur5"))
    sigma = covariance_of(base, 3.0)
    rng = np.random.default_rng(1)
    noisy = rng.multivariate_normal(base.values, sigma)
    found = consistent(base, noisy, sigma, weight=1e-5)  # a prior that takes hardly any part
    R = whitening(sigma)
    names = parameter_names(base.robot, base.include)
    pi = standard_parameters(found.robot, base.include).array()
    own = standard_parameters(base.robot, base.include).array()  # strictly inside, so that ways towards it stay inside
    down = 0.0
    for size in (1e-4, 1e-3, 1e-2, 1e-1):
        for _ in range(100):
            to = own.reshape(-1, 10) * rng.uniform(0.5, 1.5, (base.robot.n, 1))  # other weights, and added points
            to = (to + [_point(rng.uniform(0, 1), rng.normal(size=3) * 0.1) for _ in to]).ravel()
            other = pi + size * (to - pi)
            assert physical_consistency(dict(zip(names, other.tolist(), strict=True))).consistent
            change = float(np.linalg.norm(R @ (base.from_standard(other) - noisy))) - found.distance
            down = min(down, change / size)
    # All ways lead up: to first order nothing is gained (prior and margin leave a little), and the first order is what
    # an optimum of a convex problem is told by. Unconstrained, the way to the estimate gains the whole distance.
    assert down > -0.02 * found.distance


def _point(mass: float, at: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Standard parameters of a point mass."""
    I = mass * (at @ at * np.eye(3) - np.outer(at, at))
    return np.array([*I[np.triu_indices(3)], *(mass * at), mass])


def test_friction_alone_is_bounded_least_squares() -> None:
    base = base_parameters(armdyn.load("ur5"), ("friction",))
    rng = np.random.default_rng(2)
    A = rng.normal(size=(base.count, base.count))
    sigma = A @ A.T + 0.1 * np.eye(base.count)
    estimate = rng.normal(size=base.count)
    found = consistent(base, estimate, sigma, weight=0.0)
    R = whitening(sigma)
    order = [base.standard.index(name) for name in base.names]
    expected = lsq_linear(R, R @ estimate, (0, np.inf), tol=1e-14).x
    assert order == list(range(base.count))
    np.testing.assert_allclose(found.values, expected, atol=1e-5)  # Clarabel's tolerance, 1e-8, in chi squared
    assert (found.values >= 0).all() and (found.values == 0).any() | (found.values < 1e-6).any()


def test_prior_decides_only_what_the_data_do_not() -> None:
    robot = armdyn.load("panda")
    base = base_parameters(robot)
    sigma = covariance_of(base, 0.5)
    heavier = robot.with_payload(2.0, (0.0, 0.0, 0.05), (0.01, 0, 0, 0.01, 0, 0.01))
    plain, other = consistent(base, base.values, sigma), consistent(base, base.values, sigma, prior=heavier)
    np.testing.assert_allclose(other.shift, plain.shift, atol=0.05)
    assert abs(float(other.parameters["M7"]) - float(plain.parameters["M7"])) > 0.1


def test_offsets_are_estimated_too() -> None:
    base = base_parameters(armdyn.load("planar2r"), ("inertial", "offset"))
    values = base.values.copy()
    place = [i for i, name in enumerate(base.names) if name.startswith("off")]
    values[place] = [0.4, -0.3]
    found = consistent(base, values, covariance_of(base, 0.1))
    np.testing.assert_allclose(found.offsets, [0.4, -0.3], atol=1e-2)
    np.testing.assert_allclose(base.from_standard(standard_parameters(found.robot, base.include)), found.values,
                               rtol=1e-9, atol=1e-12)  # fmt: skip
    assert found.consistency.consistent


def test_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    base = base_parameters(armdyn.load("pendulum"))
    with pytest.raises(ShapeError):
        consistent(base, np.ones(7), np.eye(7))
    with pytest.raises(ArmdynError, match="positive finite variances"):
        consistent(base, base.values, np.zeros((base.count, base.count)))
    absent = base_parameters(armdyn.load("pendulum"), absent=("M1",))  # first moments without mass
    with pytest.raises(PhysicsError, match="no physically consistent robot"):
        consistent(absent, absent.values, np.eye(absent.count))
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    with pytest.raises(MissingExtra, match=r"armdyn\[physical\]"):
        consistent(base, base.values, np.eye(base.count))
