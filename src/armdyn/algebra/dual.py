"""Dual numbers over any scalar: exact first derivatives, and second ones by nesting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from armdyn.algebra import ops
from armdyn.algebra.ops import Scalar, add, div, mul, sub
from armdyn.algebra.vectors import Mat3, Vec3
from armdyn.typing import Scalars

STRUCTURES = (Vec3, Mat3)
"""What answers arithmetic with a dual number itself."""


class Dual:
    """value + dot e, with e^2 = 0.

    `level` keeps nested derivatives apart: a number of a lower level is a constant for one of a higher level.

    >>> x = Dual(3.0, 1)
    >>> (x * x + 1).dot
    6.0
    """

    __slots__ = ("dot", "level", "value")
    __array_ufunc__ = None

    def __init__(self, value: Scalar, dot: Scalar = 0, level: int = 0) -> None:
        self.value, self.dot, self.level = value, dot, level

    def _aligned(self, other: Any) -> tuple[int, Scalar, Scalar, Scalar, Scalar] | None:
        """(level, value, dot, other's value, other's dot) at the higher of the two levels; None for a vector."""
        if isinstance(other, Dual):
            if other.level > self.level:
                return other.level, self, 0, other.value, other.dot
            if other.level == self.level:
                return self.level, self.value, self.dot, other.value, other.dot
        elif isinstance(other, STRUCTURES):
            return None
        return self.level, self.value, self.dot, other, 0

    def __add__(self, other: Any) -> Any:
        if (aligned := self._aligned(other)) is None:
            return NotImplemented
        level, a, da, b, db = aligned
        return Dual(add(a, b), add(da, db), level)

    __radd__ = __add__

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.dot, self.level)

    def __sub__(self, other: Any) -> Any:
        if (aligned := self._aligned(other)) is None:
            return NotImplemented
        level, a, da, b, db = aligned
        return Dual(sub(a, b), sub(da, db), level)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if (aligned := self._aligned(other)) is None:
            return NotImplemented
        level, a, da, b, db = aligned
        return Dual(mul(a, b), add(mul(a, db), mul(da, b)), level)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if (aligned := self._aligned(other)) is None:
            return NotImplemented
        level, a, da, b, db = aligned
        quotient = 0 if ops.is_zero(a) else a / b
        slope = sub(da, mul(quotient, db))
        return Dual(quotient, div(slope, b), level)

    def __rtruediv__(self, other: Any) -> Any:
        return Dual(other, 0, self.level) / self

    def _at(self, value: Scalar, dot: Scalar) -> Dual:
        return Dual(value, dot, self.level)

    def sin(self) -> Dual:
        return self._at(ops.sin(self.value), mul(ops.cos(self.value), self.dot))

    def cos(self) -> Dual:
        return self._at(ops.cos(self.value), -mul(ops.sin(self.value), self.dot))

    def sqrt(self) -> Dual:
        root = ops.sqrt(self.value)
        return self._at(root, self.dot / mul(2, root))

    def exp(self) -> Dual:
        value = ops.exp(self.value)
        return self._at(value, mul(value, self.dot))

    def atan2(self, other: Any) -> Any:
        if (aligned := self._aligned(other)) is None:
            return NotImplemented
        level, y, dy, x, dx = aligned
        slope = sub(mul(x, dy), mul(y, dx))
        return Dual(ops.atan2(y, x), div(slope, add(mul(x, x), mul(y, y))), level)

    def sign(self) -> Scalar:
        return ops.sign(self.value)

    def select(self, if_not_negative: Scalar, if_negative: Scalar) -> Scalar:
        return ops.select(self.value, if_not_negative, if_negative)

    def __repr__(self) -> str:
        return f"Dual({self.value}, {self.dot}, level={self.level})"


def value_of(x: Scalar) -> Scalar:
    """The value at the outermost level."""
    return x.value if isinstance(x, Dual) else x


def dot_of(x: Scalar, level: int = 0) -> Scalar:
    """The derivative at a level; the literal 0 for what does not depend on it."""
    return x.dot if isinstance(x, Dual) and x.level == level else 0


_fresh_levels = count(1000)
"""Levels nobody else uses; a derivative taken inside another one begins later and so gets a higher level."""


def derivative(function: Callable[[Sequence[Scalar]], Any], x: Scalars, direction: Scalars) -> Any:
    """Directional derivative of a function of x, which gives nested lists or one scalar.

    May be nested: the function may itself take derivatives, and x may hold dual numbers.

    >>> derivative(lambda x: [x[0] * x[1], x[1]], (2.0, 3.0), (1, 0))
    [3.0, 0]
    """
    level = next(_fresh_levels)
    return _dots(function([Dual(a, b, level) for a, b in zip(x, direction, strict=True)]), level)


def gradient(function: Callable[[Sequence[Scalar]], Any], x: Scalars) -> list[Any]:
    """The partial derivatives of a function of x, one per entry of x.

    >>> gradient(lambda x: x[0] * x[1], (2.0, 3.0))
    [3.0, 2.0]
    """
    return [derivative(function, x, [int(j == k) for j in range(len(x))]) for k in range(len(x))]


def _dots(result: Any, level: int) -> Any:
    if isinstance(result, list | tuple):
        return [_dots(part, level) for part in result]
    return dot_of(result, level)
