"""Lagrange's equations, energies differentiated; and the inertia matrix with its Christoffel symbols."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import christoffel, gim_christoffel, lagrange
from armdyn.mechanics.energies import inertia_matrix
from support.laws import SHAPES, assert_close, check_christoffel, check_engine, check_exact, check_scalars, sample

MODULES = [lagrange, gim_christoffel]
both = pytest.mark.parametrize("module", MODULES, ids=["lagrange", "gim_christoffel"])


@pytest.mark.parametrize("shape", SHAPES)
@both
def test_agrees_with_pinocchio(module, shape: str) -> None:
    check_engine(module, shape)


@pytest.mark.parametrize("shape", ["standard", "sliding", "right angles", "tree"])
@both
def test_equals_newton_euler_exactly(module, shape: str) -> None:
    check_exact(module, shape)


@both
def test_rotors_exactly(module) -> None:
    check_exact(module, "free axes", rotors=True)


@both
def test_every_scalar(module) -> None:
    check_scalars(module)


@pytest.mark.parametrize("shape", ["modified", "sliding", "tree"])
def test_coriolis_matrix_is_the_christoffel_matrix(shape: str) -> None:
    check_christoffel(gim_christoffel, shape)


def test_christoffel_symbols_with_rotors() -> None:
    """C of symbols = C of the module, rotors on the moving links included; Siciliano (7.46): c_ijk = c_ikj."""
    robot = armdyn.random_robot(1, 5, rotors=True)
    rng = np.random.default_rng(1)
    q, qd = rng.uniform(-2, 2, (2, robot.n))
    c = gim_christoffel.christoffel_symbols(robot, q)
    assert_close(c @ qd, gim_christoffel.coriolis_matrix(robot, q, qd))
    assert (c == c.transpose(0, 2, 1)).all()
    without = gim_christoffel.christoffel_symbols(robot.without("rotors"), q)
    assert np.abs(c - without).max() > 1e-3  # they do act


def test_velocity_coefficients_sum_to_the_same_torques() -> None:
    """Siciliano (7.43): sum h_ijk qd_j qd_k = C qd, and h_ijk + h_ikj = 2 c_ijk; h_iii = 0 in a serial chain."""
    robot, q, qd, _, _ = sample("modified")
    h = gim_christoffel.velocity_coefficients(robot, q)
    assert_close(h @ qd @ qd, gim_christoffel.coriolis(robot, q, qd))
    assert_close(h + h.transpose(0, 2, 1), 2 * gim_christoffel.christoffel_symbols(robot, q))
    assert np.abs(np.einsum("iii->i", h)).max() == 0


@pytest.mark.parametrize("shape", ["turning", "sliding", "tree"])
def test_derivatives_of_the_inertia_matrix(shape: str) -> None:
    """The product rule of columns against dual numbers."""
    robot, q, *_ = sample(shape)
    by_rule = np.array(gim_christoffel.inertia_partials(robot, q), dtype=float)
    by_duals = np.array(christoffel.partials(lambda x: inertia_matrix(robot, x), q), dtype=float)
    assert_close(by_rule, by_duals)


def test_inertia_depends_on_later_joints_only() -> None:
    """Khalil sec. 7.3.3.3 c: A_ij depends on q_{k+1}, ..., q_n with k = min(i, j): zeros by structure, not by
    rounding.
    """
    robot, q, *_ = sample("turning")
    dA = gim_christoffel.inertia_partials(robot, q)
    for k, i, j in np.ndindex(6, 6, 6):
        structural = type(dA[k][i][j]) is int and dA[k][i][j] == 0
        assert structural == (k <= min(i, j))


def test_equations_of_any_lagrangian() -> None:
    """A bead on a rotating hoop, L = m/2 (R^2 x'^2 + R^2 W^2 sin^2 x) + m g R cos x; its equation by hand."""
    m, R, W, g = 0.3, 0.5, 2.0, 9.81

    def L(x, v):  # type: ignore[no-untyped-def]
        sine, cosine = armdyn.algebra.ops.sin(x[0]), armdyn.algebra.ops.cos(x[0])
        return m * R * R / 2 * (v[0] * v[0] + W * W * sine * sine) + m * g * R * cosine

    x, v, a = 0.7, -1.1, 0.4
    by_hand = m * R * R * a - m * R * R * W * W * np.sin(x) * np.cos(x) + m * g * R * np.sin(x)
    assert lagrange.equations(L, [x], [v], [a])[0] == pytest.approx(by_hand, rel=1e-14)
