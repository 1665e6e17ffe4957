"""Polynomial normal form: two expressions are equal exactly if their normal forms are.

An expression becomes a polynomial with rational coefficients in its symbols and in the cosine and sine of each
angle, reduced with s^2 = 1 - c^2. Numbers are exact: a float constant counts as the rational it is. Functions other
than sine and cosine (sign, sqrt, ...) and pi are generators of their own, about which nothing is assumed. A quotient
is allowed where the divisor cancels in the end, as the mass does in m (a/m) b, and holds no sine or cosine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from armdyn.errors import ArmdynError, NotApplicable
from armdyn.graph.angle import linear_form, natural_order
from armdyn.graph.node import ADD, CONST, COS, DIV, MUL, NEG, SIN, SUB, Node, constant
from armdyn.graph.structure import leaves, nodes_of, ordered, rebuilt

if TYPE_CHECKING:
    from flint import fmpq_mpoly


class Ring:
    """The polynomials in the symbols and angles of some expressions.

    `angles` are the units whose multiples occur (q1, or q1/2 if that occurs, or a constant angle); `symbols` are all
    other generators. The exponents of a term are those of the sines, then of the cosines, then of the symbols.
    """

    def __init__(self, nodes: Iterable[Node], outputs: Iterable[Node] = ()) -> None:
        from flint import fmpq_mpoly_ctx  # loaded on first use, to keep the start of the library quick

        order = tuple(nodes)
        self._parts = _denominators(node.args[0] for node in order if node.op in (SIN, COS))
        self.angles = tuple(sorted((atom / parts for atom, parts in self._parts.items()), key=_angle_order))
        self._divisors = {1 / node.args[1]: node.args[1] for node in order if node.op == DIV}
        plain = sorted(_plain_generators(order, outputs), key=lambda node: (not node.online, natural_order(node)))
        self.symbols = (*plain, *self._divisors)
        count = len(self.angles)
        names = [f"s{i}" for i in range(count)] + [f"c{i}" for i in range(count)]
        # With the sines first in lexicographic order, s^2 leads s^2 + c^2 - 1, so division is the reduction.
        self.context = fmpq_mpoly_ctx.get([*names, *(f"x{i}" for i in range(len(self.symbols)))], "lex")
        generators = self.context.gens()
        self._pairs = {unit: (generators[count + i], generators[i]) for i, unit in enumerate(self.angles)}
        self._relations = [s * s + c * c - 1 for c, s in self._pairs.values()]
        self._known = dict(zip(self.symbols, generators[2 * count :], strict=True))
        self._turns: dict[Node, tuple[fmpq_mpoly, fmpq_mpoly]] = {}
        self._cleared: dict[Node, fmpq_mpoly] = {}

    def polynomial(self, node: Node) -> fmpq_mpoly:
        """The normal form of an expression over this ring."""
        if not self._divisors:
            return self._polynomial(node)
        if node not in self._cleared:
            self._cleared[node] = self._without_quotients(self._polynomial(node))
        return self._cleared[node]

    def _polynomial(self, node: Node) -> fmpq_mpoly:
        """The same with the reciprocals of divisors as generators."""
        stack = [node]
        while stack:
            part = stack[-1]
            waiting = () if part.op in (SIN, COS) else [arg for arg in part.args if arg not in self._known]
            if part in self._known:
                stack.pop()
            elif waiting:
                stack.extend(waiting)
            else:
                self._known[part] = self._convert(part)
        return self._known[node]

    def _convert(self, node: Node) -> fmpq_mpoly:
        if node.op == CONST:
            return self._number(node)
        if node.op in (SIN, COS):
            return self._turn(node.args[0])[node.op == SIN]
        a = self._known[node.args[0]]
        if node.op == NEG:
            return -a
        b = self._known[1 / node.args[1] if node.op == DIV else node.args[1]]
        return self.reduced(a * b) if node.op in (MUL, DIV) else a + b if node.op == ADD else a - b

    def _without_quotients(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """The polynomial with every reciprocal y of a divisor d gone: sum p_k y^k is (sum p_k d^(n-k)) / d^n."""
        first = len(self.symbols) - len(self._divisors) + 2 * len(self.angles)
        for place, divisor in enumerate(self._divisors.values(), first):
            highest = polynomial.degrees()[place]
            if highest <= 0:
                continue
            d = self.polynomial(divisor)
            parts: dict[int, dict[tuple[int, ...], Any]] = {}
            for exponents, value in polynomial.to_dict().items():
                rest = (*exponents[:place], 0, *exponents[place + 1 :])
                parts.setdefault(int(exponents[place]), {})[rest] = value
            top = sum((self.context.from_dict(part) * d ** (highest - k) for k, part in parts.items()), 0 * d)
            polynomial, left = divmod(top, d**highest)
            if left or any(d.degrees()[: 2 * len(self.angles)]):
                raise NotApplicable(
                    f"the normal form is a polynomial, but the expression divides by {divisor!r}",
                    advice="Compare such expressions by exact evaluation, or multiply by the divisor first",
                )
        return polynomial

    def _number(self, node: Node) -> fmpq_mpoly:
        from flint import fmpq

        return self.context.constant(fmpq(*Fraction(node.value).as_integer_ratio()))

    def reduced(self, polynomial: fmpq_mpoly) -> fmpq_mpoly:
        """The polynomial with no sine to a power above one."""
        degrees = polynomial.degrees()
        for i, relation in enumerate(self._relations):
            if degrees[i] > 1:
                polynomial = polynomial % relation
        return polynomial

    def _turn(self, angle: Node) -> tuple[fmpq_mpoly, fmpq_mpoly]:
        """(cos, sin) of a linear combination of the units."""
        if angle in self._turns:
            return self._turns[angle]
        cos, sin = self.context.constant(1), self.context.constant(0)
        for atom, factor in _angle_terms(angle):
            times = int(factor * self._parts[atom])
            c, s = self._pairs[atom / self._parts[atom]]
            for _ in range(abs(times)):
                sign = 1 if times > 0 else -1
                cos, sin = self.reduced(cos * c - sign * sin * s), self.reduced(sin * c + sign * cos * s)
        self._turns[angle] = cos, sin
        return cos, sin


def rational_terms(polynomial: fmpq_mpoly) -> dict[tuple[int, ...], Fraction]:
    """Exponents -> coefficient, in Python's own numbers."""
    return {
        tuple(map(int, exponents)): Fraction(int(value.p), int(value.q))
        for exponents, value in polynomial.to_dict().items()
    }


def whole_terms(polynomial: fmpq_mpoly) -> tuple[dict[tuple[int, ...], int], int]:
    """(exponents -> whole number, the number that all of them are divided by)."""
    terms = polynomial.to_dict()
    denominator = math.lcm(*{int(value.q) for value in terms.values()})
    return {
        tuple(map(int, exponents)): int(value.p) * (denominator // int(value.q)) for exponents, value in terms.items()
    }, denominator


def _plain_generators(order: tuple[Node, ...], outputs: Iterable[Node]) -> set[Node]:
    """Symbols and unknown functions that the expressions contain outside of sines and cosines."""
    found: set[Node] = set()
    seen: set[Node] = set()
    users = {arg for node in order for arg in node.args}
    # An output may also be the argument of another one: sign(x) and x.
    stack = [*outputs, *(node for node in order if node not in users)]
    while stack:
        node = stack.pop()
        if node in seen or node.op in (CONST, SIN, COS):
            continue
        seen.add(node)
        if node.op in (ADD, SUB, MUL, NEG, DIV):
            stack += node.args
        else:
            found.add(node)
    return found


def _angle_terms(angle: Node) -> list[tuple[Node, Fraction]]:
    """(atom, coefficient) of an angle; a constant part is an atom with coefficient 1."""
    terms, quarters, offset = linear_form(angle)
    pairs = sorted(terms.items(), key=lambda item: natural_order(item[0]))
    rest = angle - sum((constant(factor) * atom for atom, factor in pairs), constant(0))
    return pairs if quarters == 0 and offset == 0 else [*pairs, (rest, Fraction(1))]


def _denominators(angles: Iterable[Node]) -> dict[Node, int]:
    """For each atom of the angles the n such that only whole multiples of atom/n occur."""
    found: dict[Node, int] = {}
    for angle in angles:
        for atom, factor in _angle_terms(angle):
            found[atom] = math.lcm(found.get(atom, 1), factor.denominator)
    return found


def _angle_order(unit: Node) -> tuple[object, ...]:
    terms, _, _ = linear_form(unit)
    return natural_order(next(iter(terms))) if terms else (2, unit.key)


@dataclass(frozen=True, eq=False)
class NormalForm:
    """Normal forms of nested expressions over one ring."""

    ring: Ring
    nodes: Any

    @property
    def entries(self) -> Any:
        """The polynomials, nested like the expressions."""
        return rebuilt(self.nodes, self.ring.polynomial)

    @property
    def terms(self) -> int:
        """Number of terms of all entries together."""
        return sum(len(self.ring.polynomial(node)) for node in leaves(self.nodes))

    @property
    def is_zero(self) -> bool:
        """True if every entry vanishes identically."""
        return all(self.ring.polynomial(node).is_zero() for node in leaves(self.nodes))


def normal_form(expressions: Any) -> NormalForm:
    """The normal forms of nested expressions; shared parts are converted once.

    >>> from armdyn.graph import symbols
    >>> x, q = symbols("x q")
    >>> normal_form((x + q.sin()) ** 2 + q.cos() ** 2).terms  # x^2 + 2 x s + 1
    3
    """
    nodes = nodes_of(expressions)
    ring = Ring(ordered(nodes), leaves(nodes))
    for node in leaves(nodes):
        ring.polynomial(node)
    return NormalForm(ring, nodes)


def identical(a: Any, b: Any) -> bool:
    """True if the expressions (nested alike) are equal for all values of their symbols: a proof, not a sample.

    False means different, unless functions other than sine and cosine or pi occur: these are taken as unknowns.

    >>> from armdyn.graph import symbols
    >>> x, q = symbols("x q")
    >>> identical((2 * q).sin() * x, 2 * q.sin() * q.cos() * x), identical(q.sin(), q.cos())
    (True, False)
    """
    first, second = list(leaves(nodes_of(a))), list(leaves(nodes_of(b)))
    if len(first) != len(second):
        raise ArmdynError(f"cannot compare {len(first)} expressions with {len(second)}", expected="the same shape")
    ring = Ring(ordered((first, second)), (*first, *second))
    return all(ring.polynomial(u) == ring.polynomial(v) for u, v in zip(first, second, strict=True))
