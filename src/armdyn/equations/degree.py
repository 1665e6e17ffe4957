"""A scalar that is nothing but a degree: running a formula over it bounds the degree of the polynomial it computes."""

from __future__ import annotations

from typing import Any

from armdyn.algebra import Mat3, Vec3


class Degree:
    """Total degree of a polynomial in cosines, sines and plain variables; quotients count as products.

    >>> x = Degree(1)
    >>> (x * x + x).degree, (x * x.sin()).degree
    (2, 2)
    """

    __slots__ = ("degree",)
    __array_ufunc__ = None

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def _largest(self, other: Any) -> Degree:
        return Degree(max(self.degree, degree_of(other)))

    def _product(self, other: Any) -> Any:
        if isinstance(other, Vec3 | Mat3):
            return NotImplemented
        return Degree(self.degree + degree_of(other))

    __add__ = __radd__ = __sub__ = __rsub__ = _largest
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _product

    def __neg__(self) -> Degree:
        return self

    def __lt__(self, other: object) -> bool:
        return False  # the sign of a constant axis; only its degree matters here

    def sin(self) -> Degree:
        return Degree(1)

    cos = sin


def degree_of(x: Any) -> int:
    """The degree of anything: 0 for a constant, the largest entry's for a nest of tuples."""
    if isinstance(x, Degree):
        return x.degree
    return max(map(degree_of, x), default=0) if isinstance(x, list | tuple) else 0
