"""Somebody's terms beside the right ones: which became which, and what happened to them.

Both expressions are multiplied out; what they share cancels. A term of theirs that is left is matched with the term of
ours that it resembles most. Several errors in one expression are told apart that way, also within one product.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from armdyn.equations.judging.naming import pattern
from armdyn.errors import NotApplicable
from armdyn.graph import Node, closed_form, constant, text
from armdyn.graph.node import ADD, CONST, COS, DIV, MUL, NEG, SIN, SUB, SYMBOL
from armdyn.graph.structure import ordered

MOST_TERMS = 2000
"""Terms of an expression, multiplied out, up to which they are compared one by one."""
MOST_LEFT = 40
"""Terms left on one side: with more, the expressions are too different for terms to be matched."""
MOST_CHANGES = 3
"""Changes of a term's factors with which it still resembles another."""

Factors = tuple[tuple[Node, int], ...]
"""Factors of a term with their powers, in a fixed order."""
Sum = Mapping[Factors, Fraction]


class Change(NamedTuple):
    """What happened to a term: kinds and words, and the terms in question."""

    kinds: tuple[str, ...]
    words: str
    term: str


def changes(given: Node, right: Node) -> tuple[tuple[str, ...], str] | None:
    """Kinds of the errors and words for all of them; None if the expressions are too different."""
    found: list[tuple[tuple[str, ...], str]] = []
    for theirs in dict.fromkeys((given, _closed(given))):
        try:
            each = list(_compared(_multiplied(theirs), _multiplied(right)))
        except NotApplicable:
            continue
        terms: dict[tuple[tuple[str, ...], str], list[str]] = {}
        for change in each:
            terms.setdefault(change[:2], []).append(change.term)
        if 0 < len(terms) <= MOST_CHANGES:
            words = [f"{words}{_where(places)}" for (_, words), places in terms.items()]
            found.append((tuple(kind for kinds, _ in terms for kind in kinds), "; ".join(words)))
    return min(found, key=lambda each: len(each[0]), default=None)


def _closed(node: Node) -> Node:
    try:
        return closed_form(node)  # type: ignore[no-any-return]
    except NotApplicable:
        return node


def _where(terms: list[str]) -> str:
    shown = [term for term in terms if term]
    return f" in {shown[0]}" if len(shown) == 1 else f" in {len(shown)} terms" if shown else ""


def _multiplied(node: Node) -> Sum:
    """The terms of an expression: their factors and numbers."""
    sums: dict[Node, dict[Factors, Fraction]] = {}
    for part in ordered((node,)):
        args = [sums[arg] for arg in part.args] if part.op in (ADD, SUB, MUL, DIV, NEG) else []
        found: dict[Factors, Fraction] = {}
        if part.op == CONST:
            found[()] = Fraction(part.value)
        elif part.op == NEG or (part.op in (ADD, SUB)):
            for k, terms in enumerate(args):
                sign = -1 if part.op == NEG or (part.op == SUB and k == 1) else 1
                for factors, value in terms.items():
                    found[factors] = found.get(factors, Fraction(0)) + sign * value
        elif part.op == MUL or (part.op == DIV and len(args[1]) == 1):
            power = 1 if part.op == MUL else -1
            if len(args[0]) * len(args[1]) > MOST_TERMS:
                raise NotApplicable("too many terms")
            for first, x in args[0].items():
                for second, y in args[1].items():
                    factors = _product(first, second, power)
                    found[factors] = found.get(factors, Fraction(0)) + x * y**power
        else:
            found[((part, 1),)] = Fraction(1)
        sums[part] = {factors: value for factors, value in found.items() if value}
    return sums[node]


def _product(first: Factors, second: Factors, power: int) -> Factors:
    powers = dict(first)
    for factor, each in second:
        powers[factor] = powers.get(factor, 0) + power * each
    return tuple(sorted(((f, p) for f, p in powers.items() if p), key=lambda each: str(text(each[0]))))


def _compared(theirs: Sum, ours: Sum) -> Iterator[Change]:
    rest = {f: theirs.get(f, Fraction(0)) - ours.get(f, Fraction(0)) for f in {**theirs, **ours}}
    extra = {f: x for f, x in rest.items() if x and f in theirs}
    lacking = {f: -x for f, x in rest.items() if x and f in ours}
    if len(extra) > MOST_LEFT or len(lacking) > MOST_LEFT:
        raise NotApplicable("too different")
    pairs = [
        (len(kinds), a, b, kinds, words)
        for a, x in extra.items()
        for b, y in lacking.items()
        if a != b and _shared(a, b)
        for kinds, words in [_difference(a, x, b, y)]
        if len(kinds) <= MOST_CHANGES
    ]
    done: set[tuple[str, Factors]] = set()
    for size, a, b, kinds, words in sorted(pairs, key=lambda each: each[0]):
        used = {("theirs", a), ("ours", b)}
        twice = any(f in extra and f in lacking for f in (a, b))  # a number alone would be a smaller change
        if done & used or (twice and size > 1):
            continue
        done |= used | {(side, f) for side in ("theirs", "ours") for f in (a, b) if f in extra and f in lacking}
        yield Change(kinds, words, shown(a, theirs.get(a, extra[a])))
    for a in extra:
        if ("theirs", a) not in done and a in lacking:
            kinds, words = _difference(a, theirs[a], a, ours[a])
            done.add(("ours", a))
            yield Change(kinds, words, shown(a, theirs[a]))
        elif ("theirs", a) not in done:
            yield Change(("superfluous term",), f"{shown(a, extra[a])} is too much", "")
    for b in lacking:
        if ("ours", b) not in done:
            yield Change(("missing term",), f"missing: {shown(b, lacking[b])}", "")


def _shared(a: Factors, b: Factors) -> bool:
    return bool({f for f, _ in a} & {f for f, _ in b}) or (len(a) == len(b) == 1)


def _difference(a: Factors, x: Fraction, b: Factors, y: Fraction) -> tuple[tuple[str, ...], str]:
    """What makes x a of y b: kinds and words."""
    first, second = dict(a), dict(b)
    gone = {f: p - second.get(f, 0) for f, p in a if p > second.get(f, 0)}
    come = {f: p - first.get(f, 0) for f, p in b if p > first.get(f, 0)}
    kinds, words = [], []
    for old, power in list(gone.items()):
        alike = [new for new, each in come.items() if each == power and _kind(old, new) != "symbol"]
        alike += [x for x, p in come.items() if p == power and x.op == old.op == SYMBOL and x.online == old.online]
        if alike:
            del gone[old], come[alike[0]]
            kinds.append(_kind(old, alike[0]))
            words.append(f"{text(old)} should be {text(alike[0])}")
    for old, power in gone.items():
        kinds.append("exponent" if old in second else "superfluous factor")
        words.append(
            f"{text(old)} has too high a power" if old in second else f"the factor {text(old**power)} is too much"
        )
    for new, power in come.items():
        kinds.append("exponent" if new in first else "missing factor")
        words.append(f"{text(new)} has too low a power" if new in first else f"a factor {text(new**power)} is missing")
    if x == -y:
        kinds.append("sign")
        words.append("the sign is wrong")
    elif x != y:
        kinds.append("factor")
        words.append(f"the number {x} should be {y}")
    return tuple(kinds), ", ".join(words)


def _kind(old: Node, new: Node) -> str:
    if old.op in (SIN, COS) and new.op in (SIN, COS):
        return "sin/cos" if old.args == new.args else "angle" if old.op == new.op else "symbol"
    if old.op == new.op == SYMBOL and pattern(str(old.value))[0] == pattern(str(new.value))[0]:
        return "index"
    return "symbol"


def shown(factors: Factors, value: Fraction) -> str:
    """A term as text."""
    product = constant(value)
    for factor, power in factors:
        product = product * factor**power if power > 0 else product / factor**-power
    return str(text(product))
