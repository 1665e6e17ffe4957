"""Arithmetic over any scalar: float, complex, NumPy array, dual number, exact rational, graph node.

A scalar is anything with `+ - * /` and, where a function is needed, a method of its name (`x.sin()`). Plain Python
numbers and NumPy arrays are served here. The literal integers 0, 1 and -1 stand for structure, not for measured
values: `mul` and `add` fold them away, so that a robot's zeros never cost an operation and never become 0.0.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

Scalar = Any
"""float, complex, NumPy array, Dual, Fraction, Node, ...: the algorithms do not ask."""

QUARTER_TURNS = {k * math.pi / 2: k for k in range(-8, 9)}
COS_SIN_OF_QUARTER = ((1, 0), (0, 1), (-1, 0), (0, -1))


def is_zero(x: Scalar) -> bool:
    """True for the literal 0 (structure), false for a 0.0 that may be a measured value."""
    return type(x) is int and x == 0


def mul(a: Scalar, b: Scalar) -> Scalar:
    """Product a * b with literal 0, 1, -1 folded."""
    if type(a) is int:
        if a == 0:
            return 0
        if a == 1:
            return b
        if a == -1:
            return -b
    if type(b) is int:
        if b == 0:
            return 0
        if b == 1:
            return a
        if b == -1:
            return -a
    return a * b


def add(a: Scalar, b: Scalar) -> Scalar:
    """Sum a + b with literal 0 folded."""
    if type(a) is int and a == 0:
        return b
    if type(b) is int and b == 0:
        return a
    return a + b


def sub(a: Scalar, b: Scalar) -> Scalar:
    """Difference a - b with literal 0 folded."""
    if type(b) is int and b == 0:
        return a
    if type(a) is int and a == 0:
        return -b
    return a - b


def div(a: Scalar, b: Scalar) -> Scalar:
    """Quotient a / b; literals stay literals where the quotient is whole, so that exact scalars never meet a float."""
    if type(a) is int and (a == 0 or (type(b) is int and a % b == 0)):
        return a // b if type(b) is int else 0
    return a / b


def half(x: Scalar) -> Scalar:
    """x / 2; an even literal stays one."""
    return div(x, 2)


def total(terms: Any) -> Scalar:
    """Sum of any number of scalars; the literal 0 when there is none."""
    result: Scalar = 0
    for term in terms:
        result = add(result, term)
    return result


def _function(name: str, x: Scalar) -> Scalar:
    method = getattr(x, name, None)
    if method is not None:
        return method()
    if isinstance(x, complex):
        return getattr(cmath, name)(x)
    if isinstance(x, np.ndarray | np.generic):
        return getattr(np, name)(x)
    return getattr(math, name)(x)


def sin(x: Scalar) -> Scalar:
    """Sine of any scalar."""
    if type(x) is float:
        return math.sin(x)
    return 0 if is_zero(x) else _function("sin", x)


def cos(x: Scalar) -> Scalar:
    """Cosine of any scalar."""
    if type(x) is float:
        return math.cos(x)
    return 1 if is_zero(x) else _function("cos", x)


def sqrt(x: Scalar) -> Scalar:
    """Square root of any scalar that has one."""
    return x if type(x) is int and x in (0, 1) else _function("sqrt", x)


def exp(x: Scalar) -> Scalar:
    """Exponential of any scalar that has one."""
    return 1 if is_zero(x) else _function("exp", x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """The angle of the point (x, y) for any scalars that have one."""
    if hasattr(y, "atan2"):
        return y.atan2(x)
    if hasattr(x, "atan2"):  # y is a plain number
        return (y + 0 * x).atan2(x)
    if isinstance(y, np.ndarray | np.generic) or isinstance(x, np.ndarray | np.generic):
        return np.arctan2(y, x)
    return math.atan2(y, x)


def sign(x: Scalar) -> Scalar:
    """-1, 0 or 1 (of the real part for complex numbers, so that complex-step derivatives see a constant)."""
    if hasattr(x, "sign"):
        return x.sign()
    if isinstance(x, np.ndarray):
        return np.sign(x.real)
    real = x.real
    return int(real > 0) - int(real < 0)


def select(condition: Scalar, if_not_negative: Scalar, if_negative: Scalar) -> Scalar:
    """`if_not_negative` where condition >= 0, else `if_negative`: the branch that generic code may use."""
    if hasattr(condition, "select"):
        return condition.select(if_not_negative, if_negative)
    if isinstance(condition, np.ndarray):
        return np.where(condition.real >= 0, if_not_negative, if_negative)
    return if_not_negative if condition.real >= 0 else if_negative


def cos_sin(angle: Scalar) -> tuple[Scalar, Scalar]:
    """(cos, sin) of a constant angle; exact integers at multiples of a quarter turn.

    The double nearest to k pi/2 stands for k pi/2: its cosine is the literal 0, not 6e-17.

    >>> cos_sin(math.pi / 2), cos_sin(-math.pi)
    ((0, 1), (-1, 0))
    """
    if type(angle) is float and angle in QUARTER_TURNS:
        return COS_SIN_OF_QUARTER[QUARTER_TURNS[angle] % 4]
    return cos(angle), sin(angle)


def tidy(x: Scalar) -> Scalar:
    """A constant with 0.0, 1.0 and -1.0 turned into the literal integers that fold."""
    if isinstance(x, float) and x in (0.0, 1.0, -1.0):
        return int(x)
    return x
