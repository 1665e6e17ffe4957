"""Vectors and matrices of three, over any scalar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from armdyn.algebra.ops import Scalar, add, mul, sub


class Vec3:
    """A vector (x, y, z) of scalars.

    >>> Vec3(1, 0, 0).cross(Vec3(0, 1, 0))
    Vec3(0, 0, 1)
    """

    __slots__ = ("x", "y", "z")
    __array_ufunc__ = None  # so that numpy_scalar * Vec3 is ours to answer

    def __init__(self, x: Scalar, y: Scalar, z: Scalar) -> None:
        self.x, self.y, self.z = x, y, z

    @staticmethod
    def of(values: Iterable[Scalar]) -> Vec3:
        return Vec3(*values)

    def __iter__(self) -> Iterator[Scalar]:
        yield self.x
        yield self.y
        yield self.z

    def __add__(self, other: Vec3) -> Vec3:
        return Vec3(add(self.x, other.x), add(self.y, other.y), add(self.z, other.z))

    def __sub__(self, other: Vec3) -> Vec3:
        return Vec3(sub(self.x, other.x), sub(self.y, other.y), sub(self.z, other.z))

    def __neg__(self) -> Vec3:
        return Vec3(-self.x, -self.y, -self.z)

    def __mul__(self, factor: Scalar) -> Vec3:
        return Vec3(mul(factor, self.x), mul(factor, self.y), mul(factor, self.z))

    __rmul__ = __mul__

    def dot(self, other: Vec3) -> Scalar:
        return add(add(mul(self.x, other.x), mul(self.y, other.y)), mul(self.z, other.z))

    def cross(self, other: Vec3) -> Vec3:
        return Vec3(
            sub(mul(self.y, other.z), mul(self.z, other.y)),
            sub(mul(self.z, other.x), mul(self.x, other.z)),
            sub(mul(self.x, other.y), mul(self.y, other.x)),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vec3) and all(a is b or a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((self.x, self.y, self.z))

    def __repr__(self) -> str:
        return f"Vec3({self.x}, {self.y}, {self.z})"

    def array(self) -> np.ndarray[Any, Any]:
        """(..., 3) array of numeric entries, broadcast against one another."""
        return np.stack(np.broadcast_arrays(*self), axis=-1)


ZERO = Vec3(0, 0, 0)
Z_AXIS = Vec3(0, 0, 1)


class Mat3:
    """A 3x3 matrix of scalars, kept by rows.

    >>> Mat3.identity() @ Vec3(1, 2, 3)
    Vec3(1, 2, 3)
    """

    __slots__ = ("rows",)
    __array_ufunc__ = None

    def __init__(self, rows: Sequence[Sequence[Scalar]]) -> None:
        a, b, c = rows
        self.rows = (tuple(a), tuple(b), tuple(c))

    @staticmethod
    def identity() -> Mat3:
        return _IDENTITY

    @staticmethod
    def zero() -> Mat3:
        return _ZERO

    @staticmethod
    def diagonal(x: Scalar, y: Scalar, z: Scalar) -> Mat3:
        return Mat3(((x, 0, 0), (0, y, 0), (0, 0, z)))

    @staticmethod
    def symmetric(xx: Scalar, xy: Scalar, xz: Scalar, yy: Scalar, yz: Scalar, zz: Scalar) -> Mat3:
        return Mat3(((xx, xy, xz), (xy, yy, yz), (xz, yz, zz)))

    @staticmethod
    def columns(x: Vec3, y: Vec3, z: Vec3) -> Mat3:
        return Mat3(tuple(zip(x, y, z, strict=True)))

    @property
    def T(self) -> Mat3:
        return Mat3(tuple(zip(*self.rows, strict=True)))

    def column(self, j: int) -> Vec3:
        return Vec3(self.rows[0][j], self.rows[1][j], self.rows[2][j])

    def upper(self) -> tuple[Scalar, ...]:
        """(xx, xy, xz, yy, yz, zz) of a symmetric matrix."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = self.rows
        return xx, xy, xz, yy, yz, zz

    @property
    def trace(self) -> Scalar:
        return add(add(self.rows[0][0], self.rows[1][1]), self.rows[2][2])

    @overload
    def __matmul__(self, other: Vec3) -> Vec3: ...

    @overload
    def __matmul__(self, other: Mat3) -> Mat3: ...

    def __matmul__(self, other: Vec3 | Mat3) -> Vec3 | Mat3:
        if self is _IDENTITY:
            return other
        if isinstance(other, Vec3):
            return Vec3(*self._times(other.x, other.y, other.z))
        if other is _IDENTITY:
            return self
        columns = [self._times(x, y, z) for x, y, z in zip(*other.rows, strict=True)]
        return Mat3(tuple(zip(*columns, strict=True)))

    def _times(self, x: Scalar, y: Scalar, z: Scalar) -> list[Scalar]:
        """The products of the rows with a column; a column of structural zeros costs nothing."""
        if type(x) is type(y) is type(z) is int and x == y == z == 0:
            return [0, 0, 0]
        return [add(add(mul(a, x), mul(b, y)), mul(c, z)) for a, b, c in self.rows]

    def __add__(self, other: Mat3) -> Mat3:
        return self._entrywise(other, add)

    def __sub__(self, other: Mat3) -> Mat3:
        return self._entrywise(other, sub)

    def _entrywise(self, other: Mat3, combine: Any) -> Mat3:
        return Mat3(
            [
                [combine(a, b) for a, b in zip(row, other_row, strict=True)]
                for row, other_row in zip(self.rows, other.rows, strict=True)
            ]
        )

    def __neg__(self) -> Mat3:
        return Mat3([[-a for a in row] for row in self.rows])

    def __mul__(self, factor: Scalar) -> Mat3:
        return Mat3([[mul(factor, a) for a in row] for row in self.rows])

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mat3) and all(
            a is b or a == b for p, q in zip(self.rows, other.rows, strict=True) for a, b in zip(p, q, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self.rows)

    def __repr__(self) -> str:
        return f"Mat3({self.rows})"

    def array(self) -> np.ndarray[Any, Any]:
        """(..., 3, 3) array of numeric entries, broadcast against one another."""
        flat = np.broadcast_arrays(*(a for row in self.rows for a in row))
        return np.stack(flat, axis=-1).reshape(*flat[0].shape, 3, 3)


_IDENTITY = Mat3(((1, 0, 0), (0, 1, 0), (0, 0, 1)))
_ZERO = Mat3(((0, 0, 0), (0, 0, 0), (0, 0, 0)))


def named(value: Any, stem: str, index: int) -> Any:
    """The vector or matrix itself; its entries get the names that printed programs show: W23 is y of w of link 3.

    Scalars without a method `named` have no names.
    """
    rows = value.rows if isinstance(value, Mat3) else ((x,) for x in value)
    for i, row in enumerate(rows, 1):
        for j, entry in enumerate(row, 1):
            listen = getattr(entry, "named", None)
            if listen is not None:
                listen(stem, *((i, j) if isinstance(value, Mat3) else (i,)), index)
    return value


def dot(a: Vec3, b: Vec3) -> Scalar:
    return a.dot(b)


def cross(a: Vec3, b: Vec3) -> Vec3:
    return a.cross(b)


def skew(v: Vec3) -> Mat3:
    """The matrix of the cross product: skew(v) @ x = v x x. Khalil calls it v-hat, Truc and Siciliano S(v)."""
    return Mat3(((0, -v.z, v.y), (v.z, 0, -v.x), (-v.y, v.x, 0)))


def outer(a: Vec3, b: Vec3) -> Mat3:
    """The dyad a b^T."""
    return Mat3([[mul(p, q) for q in b] for p in a])
