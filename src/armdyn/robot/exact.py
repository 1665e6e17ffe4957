"""A robot over exact rationals: the same structure, numbers without rounding.

Numbers become the rationals their shortest decimal stands for. An angle becomes a rational point of the unit circle
next to it (multiples of a quarter turn stay what they are), so rotations are exactly orthogonal. Formulations that
agree on such a robot agree as formulas, not to a tolerance (`exact`). In equations that are printed, angles are
multiples of pi wherever their digits say so, and terms that cancel leave nothing behind (`decimals`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from flint import fmpq

from armdyn.algebra.ops import QUARTER_TURNS
from armdyn.graph import PI, RationalAngle
from armdyn.robot.parts import FreeTransform, Joint
from armdyn.robot.robot import Robot
from armdyn.robot.scalars import scalars

FINEST_PRINTED = 10**9
"""Largest denominator of tan(angle/2) in equations: an angle moves by less than its own rounding, about 1e-17 rad."""
PARTS_OF_PI = (1, 2, 3, 4, 6, 8, 12)
"""Denominators q of the angles p pi/q that are recognised by their digits."""
FEWEST_DIGITS = 4
"""Decimals from which the digits of an angle tell: 1.5708 is pi/2, 1.57 may be a measured angle."""
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


def decimals(robot: Robot) -> Robot:
    """The robot in the exact numbers that its decimals stand for; expressions in named parameters stay as they are."""
    changed = robot.mapped(_decimal, _constant_angle)
    return replace(changed, tree=tuple(map(_with_offset, changed.tree, robot.tree)))


def _with_offset(changed: Joint, joint: Joint) -> Joint:
    """The zero of a revolute joint stays a number: it is added to the joint's position."""
    if joint.kind != "revolute":
        return changed
    key = "zero" if isinstance(joint.geometry, FreeTransform) else "theta"
    zero = getattr(joint.geometry, key)
    fraction = part_of_pi(zero)
    number = _decimal(zero) if fraction is None else fraction * PI
    geometry: Any = changed.geometry
    return replace(changed, geometry=replace(geometry, **{key: number}))


def _decimal(x: Any) -> Any:
    return Fraction(repr(x)) if isinstance(x, float) else x


def _constant_angle(x: Any) -> Any:
    if not isinstance(x, float):
        return x
    fraction = part_of_pi(x)
    if fraction is not None:
        return fraction * PI
    tangent = Fraction(math.tan(math.remainder(x, 2 * math.pi) / 2))
    return RationalAngle(tangent.limit_denominator(FINEST_PRINTED))


def angle_shift(robot: Robot) -> float:
    """The most, rad, that `decimals` moves an angle by reading it as a multiple of pi."""
    angles = [x for joint in robot.tree for x in scalars(joint, angles=True)]
    found = [(x, part_of_pi(x)) for x in (*angles, *robot.base.rpy, *robot.tool.rpy)]
    return max((abs(float(part) * math.pi - x) for x, part in found if part is not None), default=0.0)


def part_of_pi(angle: Any) -> Fraction | None:
    """The fraction p/q of pi that an angle is to all its digits, which must be four decimals at least.

    >>> part_of_pi(1.5708), part_of_pi(-0.785398163397), part_of_pi(1.57), part_of_pi(0.3)
    (Fraction(1, 2), Fraction(-1, 4), None, None)
    """
    if not isinstance(angle, float):
        return None
    digits = -int(Decimal(repr(angle)).as_tuple().exponent)
    for q in PARTS_OF_PI if digits >= FEWEST_DIGITS else ():
        p = round(angle * q / math.pi)
        # The last digits of a double may be off: 2.0943951023931957 is 2 pi / 3, computed.
        if p and abs(p * math.pi / q - angle) <= max(0.5 * 10.0**-digits, 4e-16 * abs(angle)):
            return Fraction(p, q)
    return None


def exact(robot: Robot) -> Robot:
    """The robot over exact rationals."""
    return robot.mapped(rational, exact_angle)
