"""A derivation that can be followed: lines with their rule, their value and their source, each later one made of
earlier ones, and checks of what came out against another formulation.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.graph import Node, RationalAngle, closed_form, constant, evaluate, identical
from armdyn.graph.structure import leaves, ordered

ROUNDING = 1e-9
"""Relative difference of sums of thousands of rounded terms."""


class Notation(NamedTuple):
    """How a text writes things.

    letters: of the quantities, such as M -> B. symbols: LaTeX of the variables' stems, such as q -> vartheta.
    """

    text: str
    letters: Mapping[str, str] = {}
    symbols: Mapping[str, str] = {}


@dataclass(frozen=True)
class Line:
    """One result of a derivation.

    name: what it is called, in LaTeX. rule: what it is computed from, in LaTeX ("" for what is given). value: nested
    tuples of expressions, collected as a textbook would. source: the equation of the text. section: the heading above.
    """

    name: str
    rule: str
    value: Any
    source: str
    section: str
    folded: bool = False
    """Too long to be written out: the value is the expression as it was computed."""

    @property
    def is_zero(self) -> bool:
        return all(node is constant(0) for node in leaves(self.value))


@dataclass(frozen=True)
class Check:
    """A result that was proved equal to what another formulation gives.

    compared: "numbers" or "exact values" of a result that was not proved but compared at three points.
    """

    name: str
    against: str
    holds: bool
    compared: str = ""


@dataclass
class Sheet:
    """The lines of a derivation while it is written.

    changes: number of a line -> another value, which everything after it then uses: a derivation with a mistake in it.
    """

    notation: Notation
    changes: Mapping[int, Any] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    section: str = ""
    results: dict[str, Any] = field(default_factory=dict)
    """What was derived: M, C, g and tau, by these names in every text."""

    def line(self, name: str, rule: str, value: Any, source: str = "", *, folded: bool = False) -> Any:
        """Put down a result in closed form and return it, in the type in which it was given.

        name, rule: LaTeX, in which !J is a vector or a matrix, printed in bold.
        """
        nested = _nested(value)
        shown = nested if self.changes or folded else _closed(nested)
        found = Line(bold(name), bold(rule), shown, source, self.section, folded)
        if len(self.lines) in self.changes:
            found = replace(found, value=self.changes[len(self.lines)])
        self.lines.append(found)
        return _like(value, found.value)

    def check(self, name: str, value: Any, expected: Callable[[], Any], against: str, *, long: bool = False) -> None:
        """Prove that a result is what another formulation gives; a long one is compared at three points instead."""
        if self.changes:
            return
        pair = _nested(value), _nested(expected())
        ways = {"exact values": exactly_equal} if long else {"": identical}
        ways["numbers"] = close  # axes of the file whose length is 1 but for the last digit
        compared = next((way for way, agree in ways.items() if agree(*pair)), None)
        if compared is None:
            raise ArmdynError(
                f"the derivation of {name} does not agree with {against}",
                where=f"steps by {self.notation.text}",
                advice="This is a fault of armdyn; please report the robot.",
            )
        self.checks.append(Check(name, against, True, compared))


def exactly_equal(a: Any, b: Any) -> bool:
    """Whether expressions are equal at three rational points; not where an angle of the file has no rational sine."""
    for seed in (3, 5, 7):
        source = random.Random(seed)
        point: dict[Any, Any] = {
            node: RationalAngle(Fraction(source.randint(1, 40), 41))
            if re.fullmatch(r"q\d+", str(node.value))
            else Fraction(source.randint(1, 60), 7)
            for node in ordered((a, b))
            if node.op == "symbol"
        }
        try:
            x, y = evaluate((a, b), point)
        except ArmdynError:
            return False
        if x != y:
            return False
    return True


def close(a: Any, b: Any) -> bool:
    """Whether expressions are equal but for rounding, at three random points."""
    names = [node for node in ordered((a, b)) if node.op == "symbol"]
    for seed in (3, 5, 7):
        source = random.Random(seed)
        point = {node: source.uniform(0.3, 3.0) for node in names}
        pairs = list(zip(leaves(evaluate(a, point)), leaves(evaluate(b, point)), strict=True))
        scale = max(abs(x) for x, _ in pairs)
        if not all(abs(x - y) <= ROUNDING * (1 + scale) for x, y in pairs):  # nan is not close to anything
            return False
    return True


def bold(latex: str) -> str:
    r"""LaTeX with vectors and matrices in bold.

    >>> print(bold(r"!J_P^{(\ell_1)} !\omega"))
    \boldsymbol{J}_P^{(\ell_1)} \boldsymbol{\omega}
    """
    return re.sub(r"!(\\[A-Za-z]+|\w)", r"\\boldsymbol{\1}", latex)


def _nested(value: Any) -> Any:
    """Scalars, vectors, matrices and poses as nested tuples of nodes."""
    if isinstance(value, Pose):
        rows = [(*row, p) for row, p in zip(value.R.rows, value.p, strict=True)]
        return _nested([*rows, (0, 0, 0, 1)])
    if isinstance(value, Mat3):
        return _nested(value.rows)
    if isinstance(value, Vec3 | list | tuple):
        return tuple(_nested(part) for part in value)
    return value if isinstance(value, Node) else constant(value)


def _closed(value: Any) -> Any:
    """In explicit form; what divides by a parameter, such as a centre of mass MX/M, as it is."""
    try:
        return closed_form(value)
    except NotApplicable:
        return value


def _like(given: Any, value: Any) -> Any:
    if isinstance(given, Pose):
        return Pose(
            Mat3([[_plain(x) for x in row[:3]] for row in value[:3]]), Vec3(*(_plain(row[3]) for row in value[:3]))
        )
    if isinstance(given, Mat3):
        return Mat3([[_plain(x) for x in row] for row in value])
    if isinstance(given, Vec3):
        return Vec3(*map(_plain, value))
    if isinstance(given, list | tuple):
        return [_like(part, each) for part, each in zip(given, value, strict=True)]
    return _plain(value)


def _plain(node: Node) -> Any:
    """Numbers 0, 1, -1 express structure: they fold away as Python's own."""
    return int(node.value) if node.op == "const" and node.value in (0, 1, -1) else node
