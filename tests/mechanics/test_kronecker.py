"""Euler-Lagrange with Kronecker products: Truc sec. 4."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.algebra import derivative
from armdyn.graph import identical, symbols
from armdyn.mechanics import kronecker
from armdyn.mechanics.kronecker import kronecker_product, matrix_derivative, time_derivative
from armdyn.mechanics.matrices import column, identity, product
from support.laws import SHAPES, assert_close, check_christoffel, check_engine, check_exact, check_scalars, sample

x1, x2, v1, v2 = symbols("x1 x2 v1 v2")


def D(x):  # type: ignore[no-untyped-def]
    """2 x 3."""
    a, b = x
    return [[a * b, a.sin(), b], [a * a, b.cos() * a, a + b * b]]


def H(x):  # type: ignore[no-untyped-def]
    """3 x 2."""
    a, b = x
    return [[a, b], [a * b, b * b], [a.cos(), a * a * b]]


def sine_free(x):  # type: ignore[no-untyped-def]
    """2 x 2."""
    return [[x[0] * x[1], x[0]], [x[1] * x[1], x[0] * x[0]]]


@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_pinocchio(shape: str) -> None:
    check_engine(kronecker, shape)


@pytest.mark.parametrize("shape", ["standard", "sliding", "right angles", "tree"])
def test_equals_newton_euler_exactly(shape: str) -> None:
    check_exact(kronecker, shape)


def test_rotors_exactly() -> None:
    check_exact(kronecker, "free axes", rotors=True)


def test_every_scalar() -> None:
    check_scalars(kronecker)


@pytest.mark.parametrize("shape", ["modified", "sliding", "tree"])
def test_coriolis_matrix_is_the_christoffel_matrix(shape: str) -> None:
    check_christoffel(kronecker, shape)


def test_kronecker_product_is_numpys() -> None:
    """Truc (30)"""
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(2, 3)), rng.normal(size=(4, 2))
    assert_close(np.array(kronecker_product(A.tolist(), B.tolist())), np.kron(A, B), 1e-15)


def test_matrix_derivative_order() -> None:
    """Truc (31): the derivatives of one entry stand beside each other."""
    expected = [
        [x2, x1, x1.cos(), 0, 0, 1],
        [2 * x1, 0, x2.cos(), -x1 * x2.sin(), 1, 2 * x2],
    ]
    assert identical(matrix_derivative(D, (x1, x2)), expected)


def test_derivative_of_a_product() -> None:
    """Truc (32): d(DH)/dx = dD/dx (H (x) 1_r) + D dH/dx."""
    x = (x1, x2)
    left = matrix_derivative(lambda y: product(D(y), H(y)), x)
    first = product(matrix_derivative(D, x), kronecker_product(H(x), identity(2)))
    second = product(D(x), matrix_derivative(H, x))
    assert identical(left, [[a + b for a, b in zip(p, q, strict=True)] for p, q in zip(first, second, strict=True)])


def test_time_derivative_and_its_printed_form() -> None:
    """Truc (33) holds with 1_q, q the columns of D; printed with 1_r, r the size of x, sizes do not match."""
    x, xd = (x1, x2), (v1, v2)
    assert identical(time_derivative(matrix_derivative(D, x), xd), derivative(D, x, xd))
    printed = kronecker_product(identity(2), column(xd))
    with pytest.raises(ValueError, match="argument"):
        product(matrix_derivative(D, x), printed)
    square = product(matrix_derivative(sine_free, x), printed)  # q = r: the two forms are one
    assert identical(square, derivative(sine_free, x, xd))


def test_lemma() -> None:
    """Truc (47): (1 (x) x) x = (x (x) 1) x."""
    x = column((x1, x2, v1))
    one = identity(3)
    assert identical(product(kronecker_product(one, x), x), product(kronecker_product(x, one), x))


def test_skew_by_the_matrices_of_the_source() -> None:
    """Truc (53)-(55): Mdot = U, Mdot - 2C = V^T - V."""
    robot, q, qd, _, _ = sample("tree")
    U, V = (np.array(matrix, float) for matrix in kronecker.velocity_matrices(robot, q, qd))
    assert_close(U - 2 * kronecker.coriolis_matrix(robot, q, qd), V.T - V)
