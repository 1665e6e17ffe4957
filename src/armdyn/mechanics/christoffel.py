"""From a mass matrix to its Christoffel symbols, for any formulation that has one."""

from __future__ import annotations

from collections.abc import Callable

from armdyn.algebra import Scalar, gradient
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.mechanics.matrices import times, zeros
from armdyn.typing import Matrix, Scalars

Tensor = list[list[list[Scalar]]]


def partials(matrix: Callable[[Scalars], Matrix], q: Scalars) -> Tensor:
    """[k][i][j]: dM_ij/dq_k, by dual numbers."""
    return gradient(matrix, q)


def symbols(dM: Scalars) -> Tensor:
    """[i][j][k]: c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i). Khalil (7.7)

    In Siciliano (7.45) the second term is printed dM_ik/dq_i; only dM_ik/dq_j makes c_ijk = c_ikj, Siciliano (7.46).
    """
    n = len(dM)
    c: Tensor = [zeros(n, n) for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                c[i][j][k] = c[i][k][j] = half(sub(add(dM[k][i][j], dM[j][i][k]), dM[i][j][k]))
    return c


def matrix_from_symbols(c: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """C_ij = sum_k c_ijk qd_k. Khalil (7.7), Siciliano (7.44)"""
    return [times(c_i, qd) for c_i in c]


def gamma(c: Scalars) -> list[list[Scalar]]:
    """Gamma, (n, n(n+1)/2): factors of qd_1^2, qd_1 qd_2, ..., qd_2^2, ..., qd_n^2 in C qd. Siciliano (7.117)"""
    n = range(len(c))
    return [[c_i[j][k] if j == k else mul(2, c_i[j][k]) for j in n for k in n if k >= j] for c_i in c]


def coriolis_matrix(matrix: Callable[[Scalars], Matrix], q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """The Coriolis matrix for which Mdot - 2C is skew-symmetric."""
    return matrix_from_symbols(symbols(partials(matrix, q)), qd)
