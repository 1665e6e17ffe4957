"""A robot over exact rationals: the same structure, numbers without rounding.

Numbers become the rationals their shortest decimal stands for. An angle becomes a rational point of the unit circle
next to it (multiples of a quarter turn stay what they are), so rotations are exactly orthogonal. Formulations that
agree on such a robot agree as formulas, not to a tolerance.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from flint import fmpq

from armdyn.algebra.ops import QUARTER_TURNS
from armdyn.graph import RationalAngle
from armdyn.robot.robot import Robot

FINEST_HALF_TANGENT = 10_000
"""Largest denominator of tan(angle/2): keeps the rationals short. An angle moves by about 1e-8 rad; beside a simple
tangent, which has no near neighbours of such denominators, by up to 1e-4 rad (near 0) or 5e-5 rad (at a quarter turn).
"""


def rational(x: Any) -> Any:
    """A number as the rational its shortest decimal stands for; a literal 0 stays structure."""
    if type(x) is int and x == 0:
        return x
    exact = Fraction(repr(float(x))) if isinstance(x, float) else Fraction(x)
    return fmpq(exact.numerator, exact.denominator)


def exact_angle(x: Any) -> Any:
    """An angle as a rational point of the circle; quarter turns stay numbers, whose cosines are literal integers."""
    if (type(x) is int and x == 0) or float(x) in QUARTER_TURNS:
        return x
    tangent = Fraction(math.tan(math.remainder(float(x), 2 * math.pi) / 2)).limit_denominator(FINEST_HALF_TANGENT)
    return RationalAngle(fmpq(tangent.numerator, tangent.denominator))


def exact(robot: Robot) -> Robot:
    """The robot over exact rationals."""
    return robot.mapped(rational, exact_angle)
