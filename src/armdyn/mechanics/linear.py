"""Symmetric linear equations over any scalar: M = L^T D L, and its solution.

The last joint is eliminated first. In this order the factor L has no entry where M has none because two joints lie on
different branches of a tree: literal zeros stay literal zeros and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from armdyn.algebra import Scalar, ops
from armdyn.algebra.ops import add, mul, sub
from armdyn.errors import PhysicsError
from armdyn.mechanics.matrices import Rows, inner, transpose
from armdyn.typing import Matrix, Scalars

Where = Callable[[int], str]

ROUNDING = 1e-14
"""A pivot this small against what it was computed from is rounding: the exact one may be zero."""


class Factors(NamedTuple):
    """M = L^T D L. lower: rows of the unit lower triangle L; inverse: the reciprocals of the entries of D."""

    lower: list[list[Scalar]]
    inverse: list[Scalar]


def factor(M: Matrix, where: Where = "joint {}".format) -> Factors:
    """Factors of a symmetric positive definite matrix, of which the lower triangle is read.

    where: how an error names row k.

    >>> factor([[5.0, 2.0], [2.0, 1.0]])
    Factors(lower=[[], [2.0]], inverse=[1.0, 1.0])
    """
    rows = [list(row[: k + 1]) for k, row in enumerate(M)]
    n = len(rows)
    lower: list[list[Scalar]] = [[0] * k for k in range(n)]
    inverse: list[Scalar] = [0] * n
    for k in reversed(range(n)):
        inverse[k] = reciprocal(rows[k][k], M[k][k], where(k))
        for i in range(k):
            lower[k][i] = mul(rows[k][i], inverse[k])
            for j in range(i + 1):
                rows[i][j] = sub(rows[i][j], mul(lower[k][i], rows[k][j]))
    return Factors(lower, inverse)


def solve(factors: Factors, b: Scalars) -> list[Scalar]:
    """The x with M x = b.

    >>> solve(factor([[5.0, 2.0], [2.0, 1.0]]), [9.0, 4.0])
    [1.0, 2.0]
    """
    lower, inverse = factors
    x = list(b)
    n = range(len(x))
    for k in reversed(n):  # L^T y = b
        for i in range(k):
            x[i] = sub(x[i], mul(lower[k][i], x[k]))
    x = [mul(inverse[k], x[k]) for k in n]  # D z = y
    for k in n:  # L x = z
        for i in range(k):
            x[k] = sub(x[k], mul(lower[k][i], x[i]))
    return x


def reciprocal(pivot: Scalar, scale: Scalar, where: str) -> Scalar:
    """1 / pivot. A pivot that vanishes, by itself or against its scale, means that no force can be balanced there."""
    if _vanishes(pivot, scale):
        raise PhysicsError(
            "the inertia seen by this joint is zero, so its acceleration is undetermined",
            where=where,
            expected="a positive definite mass matrix",
            advice="Give the links beyond it a mass, or the joint a rotor with inertia",
        )
    return 1 if type(pivot) is int and pivot == 1 else 1 / pivot


def _vanishes(pivot: Scalar, scale: Scalar) -> bool:
    """Known to be zero: exactly, or to rounding for floats and arrays of them. Symbols are never known."""
    rounded = is_rounded(pivot) and is_rounded(scale)
    small = abs(pivot) <= ROUNDING * abs(scale) if rounded else pivot == 0
    return bool(small.any() if hasattr(small, "any") else small)


def is_rounded(x: Scalar) -> bool:
    """A float or an array of them: not a symbol, not an exact number."""
    return isinstance(x, int | float | complex) or hasattr(x, "dtype")


# More rows than unknowns ------------------------------------------------------------------------------------------


def least_squares(A: Matrix, B: Matrix, *, refine: bool = True) -> Rows:
    """The X that solves A X = B, m rows that determine p unknowns, by normal equations and one step of refinement.

    No pivot is chosen, so that the same text serves every configuration: A^T A is positive definite. Unknowns with the
    fewest neighbours come first; what is zero by structure costs nothing.
    """
    rows = [(a, b) for a, b in zip(A, B, strict=True) if not all(map(ops.is_zero, a))]
    A, B = [a for a, _ in rows], [b for _, b in rows]
    p = len(A[0]) if A else 0
    if len(A) == p == 2:
        return _by_determinants(A, B)
    order = _fewest_neighbours(A, p)
    solved = _normal_solver([[row[j] for j in order] for row in A])
    X = solved(B)
    if refine:
        rest = [
            [sub(b, inner([row[j] for j in order], column)) for b, column in zip(line, transpose(X), strict=True)]
            for row, line in zip(A, B, strict=True)
        ]
        X = [[add(x, dx) for x, dx in zip(*lines, strict=True)] for lines in zip(X, solved(rest), strict=True)]
    return [X[order.index(j)] for j in range(p)]


def least_norm(A: Matrix, b: Scalars) -> list[Scalar]:
    """The smallest x with A^T x = b, m unknowns for p equations, where A^T A is positive definite."""
    rows = [k for k, a in enumerate(A) if not all(map(ops.is_zero, a))]
    kept = [A[k] for k in rows]
    solved = _normal_solver(kept, turned=False)
    x = [inner(a, [row[0] for row in solved([[y] for y in b])]) for a in kept]
    rest = [[sub(y, inner(column, x))] for y, column in zip(b, transpose(kept), strict=True)]
    more = [row[0] for row in solved(rest)]
    found: list[Scalar] = [0] * len(A)
    for k, a, y in zip(rows, kept, x, strict=True):
        found[k] = add(y, inner(a, more))
    return found


def _by_determinants(A: Matrix, B: Matrix) -> Rows:
    (a, b), (c, d) = A
    inverse = 1 / sub(mul(a, d), mul(b, c))
    top, bottom = B
    pairs = list(zip(top, bottom, strict=True))
    return [
        [mul(sub(mul(d, x), mul(b, y)), inverse) for x, y in pairs],
        [mul(sub(mul(a, y), mul(c, x)), inverse) for x, y in pairs],
    ]


def _normal_solver(A: Matrix, *, turned: bool = True) -> Callable[[Matrix], Rows]:
    """What solves A^T A X = A^T B, or A^T A X = B if B is turned already."""
    columns = transpose(A)
    N = [[inner(x, y) for y in columns[: i + 1]] for i, x in enumerate(columns)]
    try:
        factors = factor(N)
    except PhysicsError:
        raise PhysicsError(
            "the equations do not determine their unknowns",
            expected="a matrix of full column rank",
            advice="Closed chain: a singular configuration, or more passive joints than the loops "
            "determine. Move away from it, or mark other joints as passive.",
        ) from None

    def solved(B: Matrix) -> Rows:
        right = [[inner(x, b) for x in columns] for b in transpose(B)] if turned else transpose(B)
        return transpose([solve(factors, each) for each in right])

    return solved


def _fewest_neighbours(A: Matrix, p: int) -> list[int]:
    """An order of the unknowns in which elimination, last first, fills in little."""
    near = {
        j: {k for row in A if not ops.is_zero(row[j]) for k in range(p) if not ops.is_zero(row[k])} for j in range(p)
    }
    order: list[int] = []
    left = set(range(p))
    while left:
        j = min(left, key=lambda k: (len(near[k] & left), k))
        left.remove(j)
        for k in near[j] & left:
            near[k] |= near[j]
        order.insert(0, j)
    return order


__all__ = ["Factors", "factor", "least_norm", "least_squares", "reciprocal", "solve"]
