"""An angle known by its cosine and sine: what a triangle of links gives without an inverse function.

Mechanics needs sines and cosines of joint angles only, so most formulas never ask for the angle itself. Where they do
(`value`), four steps of t + sin(angle - t) from the middle of its quadrant give it to rounding: each one cubes the
error.
"""

from __future__ import annotations

import math
from typing import Any

from armdyn.algebra import Mat3, Scalar, ops
from armdyn.algebra.ops import add, mul, sub

STEPS = 4
"""Newton steps. Starting pi/4 away, the error falls to 8e-2, 8e-5, 8e-14 and then to rounding."""


class AnglePair:
    """The angle whose cosine and sine are given, over any scalar.

    seen: what saw the joint with this angle, such as a loop, and the orientation in which it saw the joint's link.

    >>> (AnglePair(0.0, 1.0) + math.pi / 2).cos()
    -1.0
    """

    __slots__ = ("cosine", "seen", "sine")

    def __init__(self, cosine: Scalar, sine: Scalar, seen: tuple[object, Mat3] | None = None) -> None:
        self.cosine, self.sine, self.seen = cosine, sine, seen

    def orientation(self, by: object) -> Mat3 | None:
        """Of the joint's link as `by` saw it, if that is known."""
        return self.seen[1] if self.seen is not None and self.seen[0] is by else None

    def cos(self) -> Scalar:
        return self.cosine

    def sin(self) -> Scalar:
        return self.sine

    def __neg__(self) -> AnglePair:
        return AnglePair(self.cosine, sub(0, self.sine))

    def __add__(self, other: Any) -> AnglePair:
        """The sum with an angle, given as such or as a pair."""
        c, s = (other.cosine, other.sine) if isinstance(other, AnglePair) else ops.cos_sin(other)
        return AnglePair(
            sub(mul(self.cosine, c), mul(self.sine, s)),
            add(mul(self.sine, c), mul(self.cosine, s)),
        )

    __radd__ = __add__

    def __sub__(self, other: Any) -> AnglePair:
        return self.__add__(-other)

    def __mul__(self, factor: Any) -> Scalar:
        """A multiple of the angle itself, as the torque of a spring is."""
        return self.value() * factor

    __rmul__ = __mul__

    def value(self) -> Scalar:
        """The angle within half a turn, rad."""
        t = ops.select(
            self.sine,
            ops.select(self.cosine, math.pi / 4, 3 * math.pi / 4),
            ops.select(self.cosine, -math.pi / 4, -3 * math.pi / 4),
        )
        for _ in range(STEPS):
            t = t + (self.sine * ops.cos(t) - self.cosine * ops.sin(t))
        return t

    def __repr__(self) -> str:
        return f"AnglePair({self.cosine}, {self.sine})"
