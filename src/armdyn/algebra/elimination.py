"""Linear equations over any scalar, by elimination: any matrix, not only symmetric ones.

Which row and column come next is decided by what is known of the entries: size for numbers (the smallest one of a
batch), being zero for exact ones, structure for symbols. The choice is the same for a whole batch.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armdyn.algebra.dual import Dual
from armdyn.algebra.ops import Scalar, div, mul, sub
from armdyn.errors import PhysicsError
from armdyn.typing import Matrix

Rows = list[list[Scalar]]

RANK_TOLERANCE = 1e-10
"""A pivot this small against the largest entry is rounding: the exact one may be zero."""


class Elimination(NamedTuple):
    """The result of Gauss-Jordan elimination of A X = B.

    pivots: (row, column) in the order they were taken; their number is the rank.
    solution: {column: row of X}.
    rest: what is left of the rows of B whose row of A became zero: zero if the equations do not contradict each other.
    """

    pivots: list[tuple[int, int]]
    solution: dict[int, list[Scalar]]
    rest: dict[int, list[Scalar]]


def eliminate(A: Matrix, B: Matrix, tolerance: float = RANK_TOLERANCE) -> Elimination:
    """Solve as far as the rank of A goes. A: m rows of p; B: m rows of any number of right-hand sides.

    >>> eliminate([[2.0, 0.0], [0.0, 4.0], [2.0, 4.0]], [[2.0], [4.0], [6.0]]).solution
    {1: [1.0], 0: [1.0]}
    """
    left: Rows = [list(row) for row in A]
    right: Rows = [list(row) for row in B]
    scale = max((largest(x) for row in left for x in row), default=0.0)
    free_rows, free_columns = set(range(len(left))), set(range(len(left[0]) if left else 0))
    pivots: list[tuple[int, int]] = []
    while free_rows and free_columns:
        weight, i, j = max((known_size(left[i][j]), -i, -j) for i in free_rows for j in free_columns)
        if weight <= tolerance * scale:
            break
        row, column = -i, -j
        pivots.append((row, column))
        free_rows.remove(row)
        free_columns.remove(column)
        _clear(left, right, row, column)
    solution = {column: right[row] for row, column in pivots}
    return Elimination(pivots, solution, {row: right[row] for row in sorted(free_rows)})


def _clear(left: Rows, right: Rows, row: int, column: int) -> None:
    """Divide the pivot's row by the pivot and take it from all others."""
    pivot = left[row][column]
    left[row] = [1 if j == column else div(x, pivot) for j, x in enumerate(left[row])]
    right[row] = [div(x, pivot) for x in right[row]]
    for i in range(len(left)):
        factor = left[i][column]
        if i == row or known_zero(factor):
            continue
        pairs = enumerate(zip(left[i], left[row], strict=True))
        left[i] = [0 if j == column else sub(x, mul(factor, y)) for j, (x, y) in pairs]
        right[i] = [sub(x, mul(factor, y)) for x, y in zip(right[i], right[row], strict=True)]


def solve(A: Matrix, B: Matrix, where: str | None = None) -> Rows:
    """The X with A X = B for a square A.

    >>> solve([[0, 2.0], [1, 0]], [[4.0], [3.0]])
    [[3.0], [2.0]]
    """
    found = eliminate(A, B)
    if len(found.pivots) < len(A):
        raise PhysicsError(
            f"a matrix of {len(A)} rows has rank {len(found.pivots)}",
            where=where,
            expected="a matrix that can be inverted",
        )
    return [found.solution[column] for column in range(len(A))]


def inverse(A: Matrix, where: str | None = None) -> Rows:
    """The inverse of a square matrix.

    >>> inverse([[2, 0], [0, 4]])
    [[0.5, 0], [0, 0.25]]
    """
    n = range(len(A))
    return solve(A, [[int(i == j) for j in n] for i in n], where)


# What is known of an entry ----------------------------------------------------------------------------------------


def known_size(x: Scalar) -> float:
    """Size of a number, the smallest of a batch; 1 for a symbol, 2 for an exact constant other than zero."""
    if isinstance(x, Dual):
        return known_size(x.value)
    if isinstance(x, int | float | complex | np.number | np.ndarray):
        return float(np.abs(x).min())
    if _is_symbol(x):
        return 1.0
    return 0.0 if known_zero(x) else 2.0


def largest(x: Scalar) -> float:
    """Size of a number, the largest of a batch; 1 for what is not a plain number."""
    if isinstance(x, Dual):
        return largest(x.value)
    return float(np.abs(x).max()) if isinstance(x, int | float | complex | np.number | np.ndarray) else 1.0


def known_zero(x: Scalar) -> bool:
    """Zero by structure: the literal, an exact zero, a symbolic constant zero. A float 0.0 counts, a batch does not."""
    if isinstance(x, Dual):
        return known_zero(x.value) and known_zero(x.dot)
    if isinstance(x, np.ndarray) or _is_symbol(x):
        return False
    value: Any = getattr(x, "value", x) if hasattr(x, "op") else x
    return bool(value == 0)


def _is_symbol(x: Scalar) -> bool:
    """An expression that is not a constant."""
    return getattr(x, "op", "const") != "const"


__all__ = ["Elimination", "eliminate", "inverse", "known_size", "known_zero", "solve"]
