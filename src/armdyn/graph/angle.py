"""Sines and cosines, simplified when they are made: exact quarter turns, one form per angle, sums of angles.

    sin(-x) = -sin x,  sin(x + pi/2) = cos x,  c2 c3 - s2 s3 = cos(q2 + q3),  x c c + x s s = x

Angles are compared as linear combinations, so sin(q2 + q3) is one node however the sum was written.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache

from armdyn.graph.fold import add, mul, neg, plus, sub
from armdyn.graph.node import (
    ADD,
    CONST,
    COS,
    MUL,
    NEG,
    ONE,
    PI,
    PI_OP,
    SIN,
    SUB,
    SYMBOL,
    ZERO,
    Node,
    Number,
    constant,
    interned,
)

_MAX_FACTORS = 12
_fold_angles: ContextVar[bool] = ContextVar("fold_angles", default=True)

_QUARTERS = {k * math.pi / 2: k for k in range(-8, 9)} | {k * (math.pi / 2): k for k in range(-8, 9)}
"""Doubles that stand for k quarter turns when they appear inside a sine or cosine."""


@contextmanager
def angle_folding(enabled: bool) -> Iterator[None]:
    """Switch the sum-angle rules on or off for the nodes made inside the `with` block.

    >>> from armdyn.graph import symbols
    >>> a, b = symbols("a b")
    >>> with angle_folding(False):
    ...     kept = a.cos() * b.cos() - a.sin() * b.sin()
    >>> kept.op, (a.cos() * b.cos() - a.sin() * b.sin()).op
    ('sub', 'cos')
    """
    token = _fold_angles.set(enabled)
    try:
        yield
    finally:
        _fold_angles.reset(token)


def quarter_turns(value: object) -> int | None:
    """The k of a value k*pi/2 (an exact multiple of PI, 0, or the double nearest to it with |k| <= 8), else None.

    >>> quarter_turns(math.pi), quarter_turns(PI * 3 / 2), quarter_turns(0), quarter_turns(0.1)
    (2, 3, 0, None)
    """
    if isinstance(value, Node):
        terms, quarters, offset = linear_form(value)
        return int(quarters) if not terms and offset == 0 and quarters.denominator == 1 else None
    if isinstance(value, (int, Fraction)):
        return 0 if value == 0 else None
    return _QUARTERS.get(float(value)) if isinstance(value, (float, int)) else None


def linear_form(angle: Node) -> tuple[dict[Node, Fraction], Fraction, Number]:
    """(terms, quarters, offset) with angle = sum of coefficient*atom + quarters*pi/2 + offset."""
    terms: dict[Node, Fraction] = {}
    quarters, offset = Fraction(0), 0
    stack: list[tuple[Node, Fraction]] = [(angle, Fraction(1))]
    while stack:
        node, factor = stack.pop()
        if node.op == CONST:
            offset = offset + node.value * (float(factor) if isinstance(node.value, float) else factor)
        elif node.op == PI_OP:
            quarters += 2 * factor
        elif node.op == NEG:
            stack.append((node.args[0], -factor))
        elif node.op in (ADD, SUB):
            stack += [(node.args[0], factor), (node.args[1], factor if node.op == ADD else -factor)]
        elif node.op == MUL and (scale := _rational(node.args[0])) is not None:
            stack.append((node.args[1], factor * scale))
        else:
            terms[node] = terms.get(node, Fraction(0)) + factor
    if offset in _QUARTERS and isinstance(offset, float):
        quarters, offset = quarters + _QUARTERS[offset], 0
    return {atom: factor for atom, factor in terms.items() if factor}, quarters, offset


def _rational(node: Node) -> Fraction | None:
    """The value of an exact constant, or of a float such as 0.5 that plainly means a fraction."""
    if node.op != CONST:
        return None
    exact = Fraction(node.value)
    return exact if not isinstance(node.value, float) or exact.denominator <= 1024 else None


def natural_order(atom: Node) -> tuple[object, ...]:
    """Sort key that puts q2 before q10 and symbols before other expressions."""
    return _symbol_order(atom.value) if atom.op == SYMBOL else (1, atom.key)


@lru_cache(maxsize=4096)
def _symbol_order(name: str) -> tuple[object, ...]:
    return (0, *natural_key(name))


def natural_key(text: str) -> list[str | int]:
    """Sort key of a text in which numbers count as numbers.

    >>> sorted(["q10", "q2", "m1"], key=natural_key)
    ['m1', 'q2', 'q10']
    """
    return [int(part) if i % 2 else part for i, part in enumerate(re.split(r"(\d+)", text))]


def _angle(terms: list[tuple[Node, Fraction]], quarters: Fraction, offset: Number) -> Node:
    """The one node for this linear combination."""
    total = ZERO
    for atom, factor in terms:
        part = mul(constant(abs(factor)), atom)
        total = add(total, part) if factor > 0 else sub(total, part)
    if quarters:
        total = add(total, mul(constant(quarters / 2), PI))
    return plus(total, constant(offset).value)


def sine(angle: Node) -> Node:
    """sin(angle), normalised."""
    return interned(SIN, (angle,)) if angle.op == SYMBOL else _shifted_sine(angle, 0)


def cosine(angle: Node) -> Node:
    """cos(angle), normalised."""
    return interned(COS, (angle,)) if angle.op == SYMBOL else _shifted_sine(angle, 1)


def _shifted_sine(angle: Node, shift: int) -> Node:
    """sin(angle + shift*pi/2) as plus or minus the sine or cosine of an angle without whole quarter turns."""
    terms, quarters, offset = linear_form(angle)
    ordered = sorted(terms.items(), key=lambda item: natural_order(item[0]))
    phase = quarters + shift
    flip = (ordered[0][1] if ordered else offset) < 0  # the leading coefficient is positive
    if flip:
        ordered = [(atom, -factor) for atom, factor in ordered]
        phase, offset = -phase, -offset
    turns = math.floor(phase)
    rest = phase - turns
    value = _plain_trig(SIN if turns % 2 == 0 else COS, ordered, rest, offset)
    return neg(value) if (turns % 4 >= 2) != flip else value


def _plain_trig(op: str, terms: list[tuple[Node, Fraction]], rest: Fraction, offset: Number) -> Node:
    if not terms and offset == 0:
        if rest == 0:
            return ZERO if op == SIN else ONE
        if rest == (Fraction(1, 3) if op == SIN else Fraction(2, 3)):  # sin(pi/6) and cos(pi/3)
            return constant(Fraction(1, 2))
    if not terms and isinstance(offset, float):
        return constant((math.sin if op == SIN else math.cos)(offset + float(rest) * math.pi / 2))
    return interned(op, (_angle(terms, rest, offset),))


def combined(a: Node, b: Node, sign: int) -> Node | None:
    """Return a + sign*b for products of sines and cosines that are a sum of angles, else None.

    The caller has checked that both products hold at least two sines or cosines.
    """
    if not _fold_angles.get():
        return None
    factors_a, factors_b = _factors(a), _factors(b)
    if len(factors_a) != len(factors_b):
        return None
    common, rest_a = [], []
    for factor in factors_a:
        if factor in factors_b:
            factors_b.remove(factor)
            common.append(factor)
        else:
            rest_a.append(factor)
    if len(rest_a) != 2 or not all(factor.op in (SIN, COS) for factor in rest_a + factors_b):
        return None
    value = _sum_of_angles(rest_a, factors_b, sign)
    if value is None:
        return None
    for factor in common:
        value = mul(factor, value)
    return value


def _factors(product: Node) -> list[Node]:
    found: list[Node] = []
    stack = [product]
    while stack and len(found) <= _MAX_FACTORS:
        node = stack.pop()
        if node.op == MUL:
            stack += node.args
        else:
            found.append(node)
    return found


def _sum_of_angles(first: list[Node], second: list[Node], sign: int) -> Node | None:
    (u, v), (w, z) = first, second
    if u.op == v.op:  # cos A cos B +- sin A sin B
        if w.op != z.op or w.op == u.op or {u.args[0], v.args[0]} != {w.args[0], z.args[0]}:
            return None
        angle = _simple(u.args[0] - sign * v.args[0])
        if angle is None:
            return None
        return neg(angle.cos()) if sign < 0 and u.op == SIN else angle.cos()
    if u.op == COS:
        u, v = v, u
    if w.op == COS:
        w, z = z, w
    if w.op != SIN or z.op != COS or u.args[0] is not z.args[0] or v.args[0] is not w.args[0]:
        return None
    angle = _simple(u.args[0] + sign * v.args[0])  # sin A cos B +- cos A sin B
    return None if angle is None else angle.sin()


def _simple(angle: Node) -> Node | None:
    """The angle if it holds no multiple angle: c c - s s stays, cos 2q would cost a function and reads no better."""
    return angle if all(abs(factor) <= 1 for factor in linear_form(angle)[0].values()) else None
