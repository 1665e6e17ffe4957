"""The folding rules: what each operation simplifies when its node is made.

Conventions that the rules keep: a constant is the first operand of its product and the last of its sum or difference;
a constant factor or term is positive and the operation carries the sign; `neg` is never an operand of `add`, `sub`,
`mul` or `div`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph.node import (
    ABS,
    ADD,
    ATAN2,
    CONST,
    DIV,
    EXP,
    MUL,
    NEG,
    ONE,
    SELECT,
    SIGN,
    SQRT,
    SUB,
    ZERO,
    Node,
    Number,
    _constant,
    as_node,
    constant,
    interned,
)


def neg(a: Node) -> Node:
    if a.op == NEG:
        return a.args[0]
    return _constant(-a.value) if a.op == CONST else interned(NEG, (a,))


def add(a: Node, b: Node) -> Node:
    if a.op == NEG:
        return neg(add(a.args[0], b.args[0])) if b.op == NEG else sub(b, a.args[0])
    if b.op == NEG:
        return sub(a, b.args[0])
    if a.op == CONST:
        return plus(b, a.value)
    if b.op == CONST:
        return plus(a, b.value)
    if a.op == SUB and a.args[1] is b:
        return a.args[0]
    if b.op == SUB and b.args[1] is a:
        return b.args[0]
    together = _together(a, b, 1)
    if together is not None:
        return together
    return interned(ADD, (a, b) if a.key <= b.key else (b, a))


def sub(a: Node, b: Node) -> Node:
    if b.op == NEG:
        return add(a, b.args[0])
    if a.op == NEG:
        return neg(add(a.args[0], b))
    if b.op == CONST:
        return plus(a, -b.value)
    if a.op == CONST:
        return neg(plus(b, -a.value))
    if a is b:
        return ZERO
    cancelled = _cancelled(a, b)
    if cancelled is None:
        cancelled = _together(a, b, -1)
    if cancelled is not None:
        return cancelled
    # One orientation only: a program that needs both a-b and b-a computes one of them.
    return interned(SUB, (a, b)) if a.key <= b.key else neg(interned(SUB, (b, a)))


def _cancelled(a: Node, b: Node) -> Node | None:
    """Return a - b when one operand is part of the other."""
    if a.op == ADD and b in a.args:
        return a.args[1] if a.args[0] is b else a.args[0]
    if b.op == ADD and a in b.args:
        return neg(b.args[1] if b.args[0] is a else b.args[0])
    if a.op == SUB and a.args[0] is b:
        return neg(a.args[1])
    return b.args[1] if b.op == SUB and b.args[0] is a else None


def plus(a: Node, number: Number) -> Node:
    """Return a + number, constants of nested sums gathered. A constant is the last operand of its sum."""
    if number == 0:
        return a
    if a.op == CONST:
        return constant(a.value + number)
    if a.op == NEG:
        return neg(plus(a.args[0], -number))
    if a.op in (ADD, SUB) and a.args[1].op == CONST:
        inner = a.args[1].value
        return plus(a.args[0], number + inner if a.op == ADD else number - inner)
    return interned(ADD, (a, _constant(number))) if number > 0 else interned(SUB, (a, _constant(-number)))


def _together(a: Node, b: Node, sign: int) -> Node | None:
    """Return a + sign*b as one product: equal terms with constant factors, or products of sines and cosines."""
    if a.trig > 1 and b.trig > 1:
        from armdyn.graph.angle import combined  # angle.py builds on this module

        sum_of_angles = combined(a, b, sign)
        if sum_of_angles is not None:
            return sum_of_angles
    factor_a, rest_a = split_constant(a)
    factor_b, rest_b = split_constant(b)
    return mul(constant(factor_a + sign * factor_b), rest_a) if rest_a is rest_b else None


def split_constant(a: Node) -> tuple[Number, Node]:
    """(k, x) with a = k*x and a constant k, 1 if there is none. A constant is the first operand of its product."""
    if a.op == MUL and a.args[0].op == CONST:
        return a.args[0].value, a.args[1]
    return 1, a


def mul(a: Node, b: Node) -> Node:
    if a.op == CONST:
        return _scaled(a.value, b)
    if b.op == CONST:
        return _scaled(b.value, a)
    if a.op == NEG:
        return mul(a.args[0], b.args[0]) if b.op == NEG else neg(mul(a.args[0], b))
    if b.op == NEG:
        return neg(mul(a, b.args[0]))
    return interned(MUL, (a, b) if a.key <= b.key else (b, a))


def _scaled(number: Number, a: Node) -> Node:
    if number == 0:
        return ZERO
    if number < 0:
        return neg(_scaled(-number, a))
    if number == 1:
        return a
    if a.op == CONST:
        return constant(number * a.value)
    if a.op == NEG:
        return neg(_scaled(number, a.args[0]))
    if a.op == MUL and a.args[0].op == CONST:
        return mul(constant(number * a.args[0].value), a.args[1])
    return interned(MUL, (_constant(number), a))


def div(a: Node, b: Node) -> Node:
    """Quotient a / b. A divisor known off-line becomes a factor, so that no division is left at run time."""
    if b.op == NEG:
        return neg(div(a, b.args[0]))
    if a.op == NEG:
        return neg(div(a.args[0], b))
    if b.op == CONST:
        return _divided(a, b.value)
    if a is ZERO:
        return ZERO
    exact = _quotient(a, b, DEEPEST_QUOTIENT)
    if exact is not None:
        return exact
    if a.online and not b.online:
        return mul(a, div(ONE, b))
    return interned(DIV, (a, b))


DEEPEST_QUOTIENT = 6
"""Levels of sums and products in which a divisor is looked for as a factor; bounds the work on shared expressions."""


def _quotient(a: Node, b: Node, depth: int) -> Node | None:
    """The quotient a / b if b is a visible factor of every term of a, as the mass in m l + m (c - l); else None."""
    if a is b:
        return ONE
    if depth == 0 or a.op not in (ADD, SUB, MUL, NEG):
        return None
    first = _quotient(a.args[0], b, depth - 1)
    if a.op == NEG:
        return None if first is None else neg(first)
    if a.op == MUL:
        if first is not None:
            return mul(first, a.args[1])
        second = _quotient(a.args[1], b, depth - 1)
        return None if second is None else mul(a.args[0], second)
    second = None if first is None else _quotient(a.args[1], b, depth - 1)
    if first is None or second is None:
        return None
    return add(first, second) if a.op == ADD else sub(first, second)


def _divided(a: Node, number: Number) -> Node:
    if number == 0:
        raise ArmdynError(f"division by zero: ({a!r}) / 0")
    if a.op == CONST:
        exact = not isinstance(a.value, float) and not isinstance(number, float)
        return constant(Fraction(a.value) / Fraction(number) if exact else a.value / number)
    return mul(constant(1.0 / number if isinstance(number, float) else Fraction(1) / number), a)


def power(a: Node, exponent: int) -> Node:
    """Return a to a whole power, as products by repeated squaring: what a program executes.

    >>> from armdyn.graph import symbol
    >>> x = symbol("x")
    >>> x**2 is x * x, x**-1 is 1 / x
    (True, True)
    """
    if exponent < 0:
        return div(ONE, power(a, -exponent))
    result, square = ONE, a
    while exponent:
        if exponent & 1:
            result = mul(result, square)
        exponent >>= 1
        if exponent:
            square = mul(square, square)
    return result


def square_root(a: Node) -> Node:
    if a.op != CONST:
        return interned(SQRT, (a,))
    if a.value < 0:
        raise ArmdynError(f"square root of a negative number: sqrt({a.value})")
    if isinstance(a.value, float):
        return constant(math.sqrt(a.value))
    exact = Fraction(a.value)
    top, bottom = math.isqrt(exact.numerator), math.isqrt(exact.denominator)
    is_square = top * top == exact.numerator and bottom * bottom == exact.denominator
    return constant(Fraction(top, bottom)) if is_square else interned(SQRT, (a,))


def sign_of(a: Node) -> Node:
    if a.op == CONST:
        return constant((a.value > 0) - (a.value < 0))
    return neg(interned(SIGN, a.args)) if a.op == NEG else interned(SIGN, (a,))


def absolute(a: Node) -> Node:
    if a.op == CONST:
        return constant(abs(a.value))
    return interned(ABS, a.args) if a.op == NEG else interned(ABS, (a,))


def exponential(a: Node) -> Node:
    if a.op == CONST:
        return ONE if a.value == 0 else constant(math.exp(a.value))
    return interned(EXP, (a,))


def arctangent(y: Node, x: Node) -> Node:
    """The angle of the point (x, y)."""
    if y.op != CONST or x.op != CONST:
        return interned(ATAN2, (y, x))
    return ZERO if y.value == 0 and x.value >= 0 else constant(math.atan2(y.value, x.value))


def select(condition: Any, if_not_negative: object, if_negative: object) -> Any:
    """`if_not_negative` where condition >= 0, else `if_negative`; works on numbers and nodes alike.

    >>> from armdyn.graph import symbol
    >>> select(-2, 10, 20), select(symbol("x"), 3, 3)
    (20, 3)
    """
    nodes = [as_node(each) for each in (condition, if_not_negative, if_negative)]
    if not any(isinstance(each, Node) for each in (condition, if_not_negative, if_negative)):
        return if_not_negative if condition >= 0 else if_negative
    test, first, second = nodes
    if test is None or first is None or second is None:
        raise ArmdynError("select needs numbers or expression nodes; apply it to each entry of an array")
    if test.op == CONST:
        return first if test.value >= 0 else second
    return first if first is second else interned(SELECT, (test, first, second))
