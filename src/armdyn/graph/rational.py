"""Angles that have an exact cosine and sine: rational points of the unit circle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph.angle import quarter_turns

_QUARTER = ((1, 0), (0, 1), (-1, 0), (0, -1))


class RationalAngle:
    """The angle whose half has tangent t: cos = (1-t^2)/(1+t^2), sin = 2t/(1+t^2), over Fraction or flint's fmpq.

    Closed under +, -, whole multiples and quarter turns, so that mechanics evaluated with such angles is exact.

    >>> angle = RationalAngle(Fraction(1, 2))
    >>> angle.cos(), angle.sin()
    (Fraction(3, 5), Fraction(4, 5))
    >>> (2 * angle - angle) == angle, (angle + angle).cos()
    (True, Fraction(-7, 25))
    """

    __slots__ = ("_cos", "_sin")
    __array_ufunc__ = None

    def __init__(self, half_tangent: Any) -> None:
        t = Fraction(half_tangent) if isinstance(half_tangent, int) else half_tangent
        if isinstance(t, float | complex):
            raise ArmdynError(f"an exact angle needs a rational half-tangent, got {t!r}", advice="Use Fraction or fmpq")
        self._cos = (1 - t * t) / (1 + t * t)
        self._sin = 2 * t / (1 + t * t)

    @classmethod
    def _at(cls, cos: Any, sin: Any) -> RationalAngle:
        angle = cls.__new__(cls)
        angle._cos, angle._sin = cos, sin
        return angle

    def cos(self) -> Any:
        return self._cos

    def sin(self) -> Any:
        return self._sin

    def _other(self, other: object) -> RationalAngle | None:
        if isinstance(other, RationalAngle):
            return other
        turns = quarter_turns(other)
        if turns is None:
            if isinstance(other, int | float | Fraction):
                raise ArmdynError(
                    f"cannot add {other!r} to an exact angle: its cosine is not rational",
                    expected="another RationalAngle or a multiple of pi/2",
                )
            return None
        return RationalAngle._at(*_QUARTER[turns % 4])

    def __add__(self, other: object) -> RationalAngle:
        angle = self._other(other)
        if angle is None:
            return NotImplemented
        c, s, d, t = self._cos, self._sin, angle._cos, angle._sin
        return RationalAngle._at(c * d - s * t, s * d + c * t)

    __radd__ = __add__

    def __neg__(self) -> RationalAngle:
        return RationalAngle._at(self._cos, -self._sin)

    def __pos__(self) -> RationalAngle:
        return self

    def __sub__(self, other: object) -> RationalAngle:
        angle = self._other(other)
        return NotImplemented if angle is None else self + (-angle)

    def __rsub__(self, other: object) -> RationalAngle:
        return -self + other

    def __mul__(self, factor: Any) -> RationalAngle:
        if getattr(factor, "denominator", None) != 1:
            raise ArmdynError(
                f"cannot multiply an exact angle by {factor!r}",
                expected="a whole number",
                advice="An exact angle stands only inside sines and cosines",
            )
        times = int(factor)
        result = RationalAngle._at(1, 0)
        for _ in range(abs(times)):
            result = result + self
        return result if times >= 0 else -result

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RationalAngle) and (self._cos, self._sin) == (other._cos, other._sin)

    def __hash__(self) -> int:
        return hash((self._cos, self._sin))

    def __repr__(self) -> str:
        return f"RationalAngle(cos={self._cos}, sin={self._sin})"
