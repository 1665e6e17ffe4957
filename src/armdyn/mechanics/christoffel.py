"""From an inertia matrix to its Christoffel symbols, for any formulation that has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armdyn.algebra import Dual, Scalar, dot_of, ops
from armdyn.algebra.ops import add, half, mul, sub

Scalars = Sequence[Scalar]
Matrix = Sequence[Sequence[Scalar]]


def partials(matrix: Callable[[Scalars], Matrix], q: Scalars) -> list[list[list[Scalar]]]:
    """[k][i][j]: dM_ij/dq_k, by dual numbers."""
    derivatives = []
    for k in range(len(q)):
        moved = [Dual(x, 1 if j == k else 0) for j, x in enumerate(q)]
        derivatives.append([[dot_of(entry) for entry in row] for row in matrix(moved)])
    return derivatives


def symbols(dM: Sequence[Matrix]) -> list[list[list[Scalar]]]:
    """[i][j][k]: c_ijk = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i). 002 [7.7], 004 (7.45) corrected"""
    n = range(len(dM))
    return [[[half(sub(add(dM[k][i][j], dM[j][i][k]), dM[i][j][k])) for k in n] for j in n] for i in n]


def matrix_from_symbols(c: Sequence[Matrix], qd: Scalars) -> list[list[Scalar]]:
    """C_ij = sum_k c_ijk qd_k. 002 [7.7], 004 (7.44)"""
    return [[ops.total(mul(c_ijk, rate) for c_ijk, rate in zip(c_ij, qd, strict=True)) for c_ij in c_i] for c_i in c]


def coriolis_matrix(matrix: Callable[[Scalars], Matrix], q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """The Coriolis matrix for which Mdot - 2C is skew-symmetric."""
    return matrix_from_symbols(symbols(partials(matrix, q)), qd)
