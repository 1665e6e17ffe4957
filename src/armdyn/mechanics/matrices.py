"""Matrices of any size over any scalar, as lists of rows; literal zeros and ones cost nothing."""

from __future__ import annotations

from collections.abc import Callable

from armdyn.algebra import Scalar
from armdyn.algebra.ops import mul, total
from armdyn.typing import Matrix, Scalars

Rows = list[list[Scalar]]


def zeros(rows: int, columns: int) -> Rows:
    return [[0] * columns for _ in range(rows)]


def identity(size: int) -> Rows:
    return [[int(i == j) for j in range(size)] for i in range(size)]


def column(vector: Scalars) -> Rows:
    """A vector as a matrix of one column."""
    return [[x] for x in vector]


def transpose(A: Matrix) -> Rows:
    return [list(row) for row in zip(*A, strict=True)]


def inner(a: Scalars, b: Scalars) -> Scalar:
    """Sum of the products of two vectors of one length."""
    return total(mul(x, y) for x, y in zip(a, b, strict=True))


def by_columns(column: Callable[[list[int]], Scalars], n: int) -> Rows:
    """The symmetric n x n matrix whose column j is column(e_j); of two equal entries the one that e_i, i > j, gives."""
    return symmetric([column([int(i == j) for i in range(n)]) for j in range(n)])


def symmetric(A: Matrix) -> Rows:
    """A symmetric matrix whose equal entries are the same, those of the lower triangle."""
    return [[A[max(i, j)][min(i, j)] for j in range(len(A))] for i in range(len(A))]


def product(A: Matrix, B: Matrix) -> Rows:
    """A B. Sizes that do not match are a ValueError.

    >>> product([[1, 2]], [[3], [4]])
    [[11]]
    """
    columns = transpose(B)
    return [[inner(row, col) for col in columns] for row in A]


def plus(*vectors: Scalars) -> list[Scalar]:
    """Sum of vectors of one length."""
    return [total(entries) for entries in zip(*vectors, strict=True)]


def times(A: Matrix, x: Scalars) -> list[Scalar]:
    """A x, a vector."""
    return [inner(row, x) for row in A]
