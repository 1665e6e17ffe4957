"""Explicit closed forms, collected the way a textbook would write them.

Normal form first, so nothing cancels any more; then sums of angles (c23), squares of sines, velocity products outside,
and inside common parameters in front of brackets, brackets that are powers written as powers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from armdyn.graph import fold
from armdyn.graph.angle import natural_order
from armdyn.graph.expression_writer import is_decimal
from armdyn.graph.node import COS, SIN, SYMBOL, ZERO, Node, constant
from armdyn.graph.polynomial import Ring, normal_form, rational_terms, whole_terms
from armdyn.graph.structure import rebuilt
from armdyn.graph.trigonometry import Factor, Shortener, Terms

if TYPE_CHECKING:
    from flint import fmpq_mpoly

Monomial = frozenset[tuple[Node, int]]
"""A product of powers."""
Sum = dict[Monomial, Fraction]

_RATE = re.compile(r"\w*[A-Za-z](d|dd|_dot|_ddot)_?\d*")
_LARGEST_FACTORED = 16


def closed_form(expressions: Any) -> Any:
    """Nested polynomial expressions in explicit form, nested alike.

    Products of velocities and accelerations (names like qd1, qdd2) come outermost. Inside, what most terms share
    stands before a bracket; parameters go before sines and cosines where as many terms share them.

    >>> from armdyn.graph import symbols
    >>> (q1, q2, qdd), (m, a, l) = symbols("q1 q2 qdd1"), symbols("m a l", "parameter")
    >>> x = a * q1.cos() + l * (q1.cos() * q2.cos() - q1.sin() * q2.sin())
    >>> y = a * q1.sin() + l * (q1 + q2).sin()
    >>> closed_form(m * (x * x + y * y) * qdd)
    m*qdd1*(a*a + l*l + 2*a*l*cos(q2))
    """
    form = normal_form(expressions)
    shortener, trig = Shortener(len(form.ring.angles)), _Trigonometry(form.ring)
    gather = _Gather()

    written: dict[Any, list[tuple[fmpq_mpoly, Node]]] = {}

    def write(node: Node) -> Node:
        """Each polynomial is written once: of the Christoffel symbols of a chain, many are equal or opposite."""
        polynomial = form.ring.polynomial(node)
        if not polynomial:
            return ZERO
        alike = written.setdefault((len(polynomial), abs(polynomial.leading_coefficient())), [])
        for other, result in alike:
            if other == polynomial:
                return result
            if other == -polynomial:
                return -result
        alike.append((polynomial, gather.outer(_short_sum(form.ring, polynomial, shortener, trig))))
        return alike[-1][1]

    return rebuilt(form.nodes, write)


def _short_sum(ring: Ring, polynomial: fmpq_mpoly, shortener: Shortener, trigonometry: _Trigonometry) -> Sum:
    """The terms of a normal form with its trigonometric parts in their shortest form."""
    count = len(ring.angles)
    whole, denominator = whole_terms(polynomial)
    by_rest: dict[tuple[int, ...], Terms] = {}
    for exponents, value in whole.items():
        by_rest.setdefault(exponents[2 * count :], {})[exponents[: 2 * count]] = value
    total: dict[Monomial, int] = {}
    for rest, terms in by_rest.items():
        plain = [(symbol, power) for symbol, power in zip(ring.symbols, rest, strict=True) if power]
        for coefficient, factors in shortener.shortest(terms):
            sign, trig = trigonometry.powers(factors)
            key = frozenset([*plain, *trig])
            total[key] = total.get(key, 0) + sign * coefficient
    return {key: Fraction(value, denominator) for key, value in total.items() if value}


class _Trigonometry:
    """Sines and cosines of combinations of a ring's angles, each made once."""

    def __init__(self, ring: Ring) -> None:
        self.ring = ring
        self._made: dict[tuple[str, tuple[int, ...]], tuple[int, Node]] = {}
        self._products: dict[tuple[Factor, ...], tuple[int, list[tuple[Node, int]]]] = {}

    def powers(self, factors: tuple[Factor, ...]) -> tuple[int, list[tuple[Node, int]]]:
        """Sign and powers of a product."""
        if factors not in self._products:
            self._products[factors] = self._powers(factors)
        return self._products[factors]

    def _powers(self, factors: tuple[Factor, ...]) -> tuple[int, list[tuple[Node, int]]]:
        sign, powers = 1, []
        for name, combination, power in factors:
            turned, node = self._made.get((name, combination)) or self._make(name, combination)
            sign *= turned**power
            powers.append((node, power))
        return sign, powers

    def _make(self, name: str, combination: tuple[int, ...]) -> tuple[int, Node]:
        parts = (times * unit for times, unit in zip(combination, self.ring.angles, strict=True) if times)
        angle = sum(parts, ZERO)
        node = angle.sin() if name == SIN else angle.cos()
        made = (1, node) if node.op in (SIN, COS) else (-1, -node)  # sin(-x) = -sin(x)
        self._made[name, combination] = made
        return made


class _Gather:
    """Turns a sum of monomials into a nested expression."""

    def __init__(self) -> None:
        self._known: dict[frozenset[tuple[Monomial, Fraction]], Node] = {}

    def outer(self, terms: Sum) -> Node:
        """Collected by products of rates; the brackets before them by `inner`."""
        groups: dict[Monomial, Sum] = {}
        for monomial, value in terms.items():
            rates = frozenset(part for part in monomial if part[0].op == SYMBOL and is_rate(part[0]))
            groups.setdefault(rates, {})[monomial - rates] = value
        total = ZERO
        for rates in sorted(groups, key=_monomial_order):
            total = fold.add(total, fold.mul(self.inner(groups[rates]), _product(rates)))
        return total

    def inner(self, terms: Sum) -> Node:
        """Common factors in front, then brackets around what shares a factor; the same sum is written once.

        A Christoffel symbol stands before two products of velocities.
        """
        if len(terms) < 2:
            return _plain_sum(terms)
        key = frozenset(terms.items())
        if key not in self._known:
            self._known[key] = self._gathered(terms)
        return self._known[key]

    def _gathered(self, terms: Sum) -> Node:
        content = _content(terms.values())
        if content != 1:
            rest = {monomial: value / content for monomial, value in terms.items()}
            return fold.mul(constant(content), self.inner(rest))
        common = frozenset.intersection(*terms)
        if common:
            rest = {monomial - common: value for monomial, value in terms.items()}
            return fold.mul(_product(common), self.inner(rest))
        product = _as_product(terms)
        if product is not None:
            return product
        factor = self._best_factor(terms)
        if factor is None:
            return _plain_sum(terms)
        inside = {monomial - {factor}: value for monomial, value in terms.items() if factor in monomial}
        outside = {monomial: value for monomial, value in terms.items() if factor not in monomial}
        bracket = fold.mul(_product(frozenset([factor])), self.inner(inside))
        return fold.add(bracket, self.inner(outside))

    def _best_factor(self, terms: Sum) -> tuple[Node, int] | None:
        """The factor that most terms share; a symbol that comes in several powers is no candidate."""
        counts = Counter(part for monomial in terms for part in monomial)
        powers = Counter(node for node, _ in counts)
        shared = [part for part, count in counts.items() if count > 1 and powers[part[0]] == 1]
        if not shared:
            return None

        def rank(part: tuple[Node, int]) -> tuple[Any, ...]:
            is_angle = part[0].op in (SIN, COS)
            return -counts[part], is_angle, natural_order(part[0])

        return min(shared, key=rank)


def is_rate(symbol: Node) -> bool:
    """True for velocities and accelerations, by their names: qd1, qdd2, theta_dot3.

    >>> from armdyn.graph import symbols
    >>> [is_rate(each) for each in symbols("qd1 qdd12 q1 d3 x_dot")]
    [True, True, False, False, True]
    """
    return symbol.online and _RATE.fullmatch(symbol.value) is not None


def _monomial_order(monomial: Monomial) -> tuple[Any, ...]:
    """Accelerations before velocities before the rest, then by name."""
    names = sorted(node.value for node, _ in monomial)
    return (not any("dd" in name for name in names), not names, names)


def _product(monomial: Monomial) -> Node:
    result = constant(1)
    for node, power in sorted(monomial, key=lambda part: natural_order(part[0])):
        result = fold.mul(result, fold.power(node, power))
    return result


def _content(values: Iterable[Fraction]) -> Fraction:
    """The number that all coefficients share: 2 of 2 a + 4 b, -1 of -a - b, 1/4 of a/4 + 3 b/4."""
    numbers = list(values)
    sign = -1 if numbers[0] < 0 and all(value < 0 for value in numbers) else 1
    if any(map(is_decimal, numbers)):  # measured values have no common divisor but their size
        size = abs(numbers[0])
        return sign * size if all(abs(value) == size for value in numbers) else Fraction(sign)
    bottoms = {value.denominator for value in numbers}
    top = math.gcd(*(value.numerator for value in numbers))
    return Fraction(sign * top, bottoms.pop() if len(bottoms) == 1 else 1)


def _plain_sum(terms: Sum) -> Node:
    total = ZERO
    for monomial, value in sorted(terms.items(), key=lambda item: _sum_order(item[0])):
        total = fold.add(total, fold.mul(constant(value), _product(monomial)))
    return total


def _sum_order(monomial: Monomial) -> list[tuple[Any, ...]]:
    return sorted((natural_order(node), power) for node, power in monomial)


def _as_product(terms: Sum) -> Node | None:
    """A bracket that is a product of brackets, such as (a + b)^2, or None."""
    if not 2 < len(terms) <= _LARGEST_FACTORED or any(map(is_decimal, terms.values())):
        return None
    if _is_irreducible(terms):
        return None
    nodes = sorted({node for monomial in terms for node, _ in monomial}, key=natural_order)
    scale, factors = _polynomial(terms, nodes).factor()
    if len(factors) == 1 and factors[0][1] == 1:
        return None
    result = constant(Fraction(int(scale.p), int(scale.q)))
    for factor, power in factors:
        part: Sum = {
            frozenset((nodes[i], e) for i, e in enumerate(exponents) if e): value
            for exponents, value in rational_terms(factor).items()
        }
        result = fold.mul(result, fold.power(_plain_sum(part), int(power)))
    return result


def _is_irreducible(terms: Sum) -> bool:
    """True if plainly so: x a + b where x and the product a occur once and b has no factor of a."""
    powers: dict[Node, list[int]] = {}
    for monomial in terms:
        for node, power in monomial:
            powers.setdefault(node, []).append(power)
    shared = any(len(each) == len(terms) for each in powers.values())
    return not shared and any(each == [1] for each in powers.values())


def _polynomial(terms: Sum, nodes: list[Node]) -> fmpq_mpoly:
    from flint import fmpq, fmpq_mpoly_ctx

    place = {node: i for i, node in enumerate(nodes)}
    rows: dict[tuple[int, ...], fmpq] = {}
    for monomial, value in terms.items():
        exponents = [0] * len(nodes)
        for node, power in monomial:
            exponents[place[node]] = power
        rows[tuple(exponents)] = fmpq(*value.as_integer_ratio())
    return fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(nodes))], "lex").from_dict(rows)
