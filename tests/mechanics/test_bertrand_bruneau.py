"""Bertrand and Bruneau's formulation against Pinocchio, exact arithmetic, and what El Baji says of its coefficients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armdyn.algebra import Inertia
from armdyn.mechanics import bertrand_bruneau, christoffel, newton_euler
from support import pinocchio_model as engine
from support.laws import assert_close, check_christoffel, sample, without_mass


@pytest.mark.parametrize("shape", ["modified", "sliding", "tree"])
def test_coriolis_matrix_is_the_christoffel_matrix(shape):
    check_christoffel(bertrand_bruneau, shape)


def test_tensor_holds_the_christoffel_symbols():
    """(33) is symmetric, and a quadratic form has one symmetric matrix; the symbols by dual numbers from another M."""
    robot, q, *_ = sample("tree")
    C = bertrand_bruneau.coriolis_tensor(robot, q)
    expected = christoffel.symbols(christoffel.partials(lambda x: newton_euler.mass_matrix(robot, x), list(q)))
    assert_close(C, np.array(expected, float))
    assert np.abs(C).max() > 1e-3


@pytest.mark.parametrize("shape", ["standard", "tree"])
def test_symmetries(shape):
    """(31): M_ij = M_ji, body by body; (33): C_i = C_i^T; (26): n turns j against i as it turns i against j."""
    robot, q, qd, _, _ = sample(shape)
    H, zeta = bertrand_bruneau.inertia_coefficients(robot, q), bertrand_bruneau.coriolis_coefficients(robot, q)
    C = bertrand_bruneau.coriolis_tensor(robot, q)
    assert (H.transpose(1, 0, 2) == H).all()
    assert (C.transpose(0, 2, 1) == C).all()
    assert_close(np.einsum("ijn,j,n->i", C, qd, qd), bertrand_bruneau.coriolis(robot, q, qd), 1e-13)
    for n in range(robot.n):
        later = zeta[n + 1 :, n + 1 :, n]
        assert np.abs(later + later.transpose(1, 0, 2)).max(initial=0) < 1e-13 * np.abs(zeta).max()


def test_index_limits():
    """(31), (33): in a chain body k adds only to joints up to k, for rates up to k."""
    robot, q, *_ = sample("turning")
    H, zeta = bertrand_bruneau.inertia_coefficients(robot, q), bertrand_bruneau.coriolis_coefficients(robot, q)
    beta = bertrand_bruneau.centrifugal_coefficients(robot, q)
    for i, j, k in np.ndindex(*H.shape):
        assert (H[i, j, k] != 0) == (k >= max(i, j))
        assert beta[i, j, k] == 0 or k >= max(i, j)
        assert all(zeta[i, j, n, k] == 0 for n in range(robot.n) if n >= j or k < max(i, j))


@pytest.mark.parametrize("shape", ["modified", "sliding", "tree"])
def test_contributions_of_single_bodies(shape):
    """(23): what body k adds to each joint is the torque of the robot in which only body k has inertia."""
    robot, q, qd, qdd, wrench = sample(shape)
    parts = bertrand_bruneau.contributions(robot, q, qd, qdd, wrench)
    assert parts.shape == (len(bertrand_bruneau.PARTS), robot.n, robot.n)
    for k in range(robot.n):
        bare = [
            joint if i == k else replace(joint, body=replace(joint.body, inertia=Inertia.zero()))
            for i, joint in enumerate(robot.tree)
        ]
        alone = engine.inverse_dynamics(replace(robot, tree=tuple(bare)), q, qd, qdd)
        assert_close(parts[:4, :, k].sum(0), alone)
    assert_close(parts[4].sum(1), engine.jacobian(robot, q).T @ wrench)
    assert_close(parts.sum((0, 2)), engine.inverse_dynamics(robot, q, qd, qdd, wrench))


def test_terms_apart():
    """Inertia, centrifugal, Coriolis, gravity: each is what its rates and accelerations alone give."""
    robot, q, qd, qdd, _ = sample("standard")
    rest, weightless = np.zeros(robot.n), robot.without("gravity")
    inertia, centrifugal, coriolis, gravity, external = bertrand_bruneau.contributions(robot, q, qd, qdd).sum(2)
    assert_close(inertia, engine.mass_matrix(robot, q) @ qdd)
    one_by_one = [engine.inverse_dynamics(weightless, q, rate, rest) for rate in np.diag(qd)]
    assert_close(centrifugal, np.sum(one_by_one, axis=0))
    assert_close(centrifugal + coriolis, engine.inverse_dynamics(weightless, q, qd, rest))
    assert_close(gravity, engine.inverse_dynamics(robot, q, rest, rest))
    assert not external.any()


@pytest.mark.parametrize("keep_moment", [False, True])
def test_bodies_without_mass(keep_moment):
    robot, *motion = sample("standard")
    light = without_mass(robot, keep_moment)
    expected = newton_euler.inverse_dynamics(light, *motion)
    assert_close(bertrand_bruneau.inverse_dynamics(light, *motion), expected)
    assert np.abs(expected - newton_euler.inverse_dynamics(robot, *motion)).max() > 1e-3
