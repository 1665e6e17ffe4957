"""Exact numbers with square roots: elements of a tower of fields Q(sqrt(d1), sqrt(d2), ...), each root positive.

A field grows while one computes: the square root of a number that is no square in it yet becomes its next root. Zero is
then recognised exactly, and a sign by intervals that are narrowed until they tell.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

from flint import arb, ctx, fmpq

from armdyn.errors import ArmdynError

FIRST_BITS, MOST_BITS = 128, 1 << 16
"""Precision with which a sign is sought first, and at most: zero is excluded before."""


class Field:
    """The numbers under the roots: each an element whose own roots stand before it."""

    def __init__(self) -> None:
        self.radicands: list[Surd] = []

    def number(self, x: Any) -> Surd:
        """A rational number, or a float as the binary fraction that it is."""
        if isinstance(x, float):
            exact = Fraction(x)
            x = fmpq(exact.numerator, exact.denominator)
        return Surd(self, {0: fmpq(x)} if x else {})


class Surd:
    """A sum of rational multiples of products of roots. parts: set of roots, as bits, -> its multiple, not 0."""

    __slots__ = ("field", "parts")
    __array_ufunc__ = None

    def __init__(self, field: Field, parts: dict[int, Any]) -> None:
        self.field, self.parts = field, parts

    def _other(self, x: Any) -> Surd | None:
        if isinstance(x, Surd):
            return x
        return self.field.number(x) if isinstance(x, int | float | fmpq) else None

    def __add__(self, other: Any) -> Surd:
        b = self._other(other)
        if b is None:
            return NotImplemented
        parts = dict(self.parts)
        for key, value in b.parts.items():
            total = parts.pop(key, 0) + value
            if total:
                parts[key] = total
        return Surd(self.field, parts)

    __radd__ = __add__

    def __neg__(self) -> Surd:
        return Surd(self.field, {key: -value for key, value in self.parts.items()})

    def __sub__(self, other: Any) -> Surd:
        b = self._other(other)
        if b is None:
            return NotImplemented
        return self + (-b)

    def __rsub__(self, other: Any) -> Surd:
        return Surd.__add__(-self, other)

    def __mul__(self, other: Any) -> Surd:
        b = self._other(other)
        if b is None:
            return NotImplemented
        total = Surd(self.field, {})
        common: dict[int, dict[int, Any]] = {}  # products by the roots that they have twice
        for i, x in self.parts.items():
            for j, y in b.parts.items():
                part = common.setdefault(i & j, {})
                part[i ^ j] = part.get(i ^ j, 0) + x * y
        for twice, parts in common.items():
            product = Surd(self.field, {key: value for key, value in parts.items() if value})
            for k, radicand in enumerate(self.field.radicands):
                if twice >> k & 1:
                    product = product * radicand
            total = total + product
        return total

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Surd:
        b = self._other(other)
        if b is None:
            return NotImplemented
        return self * b.inverse()

    def __rtruediv__(self, other: Any) -> Surd:
        return Surd.__mul__(self.inverse(), other)

    def __pow__(self, exponent: int) -> Surd:
        return reduce(Surd.__mul__, [self] * exponent)

    def inverse(self) -> Surd:
        """1 / x, by its conjugate in the last root."""
        last = max(self.parts, default=0)
        if not self.parts:
            raise ZeroDivisionError("1/0 of exact numbers with roots")
        if last == 0:
            return Surd(self.field, {0: 1 / self.parts[0]})
        a, b = self.split(last.bit_length() - 1)
        conjugate = a - Surd(self.field, {key | 1 << last.bit_length() - 1: value for key, value in b.parts.items()})
        return conjugate * (self * conjugate).inverse()

    def split(self, k: int) -> tuple[Surd, Surd]:
        """(a, b) with x = a + b sqrt(d_k)."""
        bit = 1 << k
        a = {key: value for key, value in self.parts.items() if not key & bit}
        b = {key ^ bit: value for key, value in self.parts.items() if key & bit}
        return Surd(self.field, a), Surd(self.field, b)

    def __eq__(self, other: object) -> bool:
        b = self._other(other)
        return b is not None and self.parts == b.parts

    def __hash__(self) -> int:
        return hash(frozenset(self.parts.items()))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def interval(self) -> Any:
        """An interval that contains the number, in the precision of flint."""
        needed = max(self.parts, default=0).bit_length()
        roots = [radicand.interval().sqrt() for radicand in self.field.radicands[:needed]]
        total = arb(0)
        for key, value in self.parts.items():
            term = arb(value)
            for k, root in enumerate(roots):
                term = term * root if key >> k & 1 else term
            total += term
        return total

    def sign(self) -> int:
        """-1, 0 or 1."""
        if not self.parts:
            return 0
        before, ctx.prec = ctx.prec, FIRST_BITS
        try:
            while ctx.prec <= MOST_BITS:
                x = self.interval()
                if x > 0 or x < 0:
                    return 1 if x > 0 else -1
                ctx.prec *= 2
        finally:
            ctx.prec = before
        raise ArmdynError("the sign of an exact number with roots was not found", expected="a number farther from zero")

    def select(self, if_not_negative: Any, if_negative: Any) -> Any:
        """`if_not_negative` where the number is >= 0."""
        return if_not_negative if self.sign() >= 0 else if_negative

    def sqrt(self) -> Surd:
        """The root, which becomes a new one of the field if it is not in it; the number must not be negative."""
        root = _root_within(self, len(self.field.radicands))
        if root is not None:
            return root if root.sign() >= 0 else -root
        self.field.radicands.append(self)
        return Surd(self.field, {1 << len(self.field.radicands) - 1: fmpq(1)})


def _root_within(x: Surd, roots: int) -> Surd | None:
    """A square root among the numbers with the first roots, None if there is none."""
    if not x.parts:
        return x
    if roots == 0:
        value = x.parts[0]
        if value < 0 or not (value.p.is_square() and value.q.is_square()):
            return None
        return Surd(x.field, {0: fmpq(value.p.isqrt(), value.q.isqrt())})
    k = roots - 1
    d = x.field.radicands[k]
    a, b = x.split(k)
    if not b:
        plain = _root_within(a, k)
        if plain is not None:
            return plain
        above = _root_within(a * d.inverse(), k)
        return None if above is None else above * Surd(x.field, {1 << k: fmpq(1)})
    norm = _root_within(a * a - b * b * d, k)
    if norm is None:
        return None
    for each in (norm, -norm):
        y = _root_within((a + each) / 2, k)
        if y is not None and y:
            return y + b / (2 * y) * Surd(x.field, {1 << k: fmpq(1)})
    return None
