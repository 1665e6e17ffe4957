"""The smallest change of somebody's expression that makes it right.

An expression is affine in every single place of it that is not inside a sine or cosine: value = A + B v. What has to
stand there for the whole to be right is therefore known in numbers, v + (right - value) / B, at a few random points.
The changes that people make by mistake are compared with it, and the one that fits is proved as an identity.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from armdyn.equations.judging.terms import changes
from armdyn.errors import ArmdynError
from armdyn.graph import Node, closed_form, constant, evaluate, identical, symbol, text
from armdyn.graph.node import ADD, CONST, COS, DIV, MUL, NEG, SIN, SUB, SYMBOL
from armdyn.graph.structure import ordered

MARK = symbol("here", kind="parameter")
"""Stands for a part of an expression that is shown in another colour."""
POINTS = 3
"""Random points at which changes are compared; what fits at all of them is then proved."""
CLOSE = 1e-9
"""Relative difference of numbers that count as equal before the proof."""
MOST_PLACES = 4000
"""Places of an expression at which changes are tried."""


class Edit(NamedTuple):
    """A change: its kind (sign, factor, sin/cos, index, angle, exponent, symbol, ...), in words, and the new whole.

    path: the way to the place that is changed, from the outside inwards; None if there are several.
    """

    kind: str
    words: str
    result: Node
    path: tuple[int, ...] | None = None


@dataclass(frozen=True)
class _Place:
    """One occurrence of a part: the way to it, its value and the slope of the whole by it, at each point."""

    path: tuple[int, ...]
    node: Node
    value: tuple[float, ...]
    slope: tuple[float, ...]


class _Candidate(NamedTuple):
    kind: str
    words: str
    place: _Place
    new: Node


def smallest_edits(given: Node, right: Node, alternatives: Sequence[Node], n: int) -> list[Edit]:
    """Changes of `given` that make it `right`: single ones, likely ones first; else those of its terms.

    alternatives: the robot's parameters. n: number of joints.
    """
    used = {str(node.value) for node in ordered((given, right, tuple(alternatives))) if node.op == SYMBOL}
    names = sorted(used | {f"{rate}{i + 1}" for rate in ("q", "qd", "qdd") for i in range(n)})
    points = [_point(names, seed) for seed in range(POINTS)]
    try:
        totals = [evaluate((given, right), point) for point in points]
    except ArmdynError:
        return []
    missing = tuple(b - a for a, b in totals)
    scale = max(max(abs(a), abs(b)) for a, b in totals)
    places = list(_places(given, points))[:MOST_PLACES]
    candidates = list(_candidates(places, alternatives, n))
    numbers = _numbers([candidate.new for candidate in candidates], points)
    found = []
    for candidate, values in zip(candidates, numbers, strict=True):
        place = candidate.place
        if all(
            abs(s * (v - old) - m) <= CLOSE * scale
            for s, v, old, m in zip(place.slope, values, place.value, missing, strict=True)
        ):
            found.append(candidate)
    edits = _proved(given, right, found)
    if not edits:
        several = changes(given, right)
        edits = [Edit(" and ".join(several[0]), several[1], right)] if several else []
    return edits


def _proved(given: Node, right: Node, candidates: Sequence[_Candidate]) -> list[Edit]:
    edits: dict[str, Edit] = {}
    for candidate in candidates:
        result = _replaced(given, candidate.place.path, candidate.new)
        if candidate.words not in edits and identical(result, right):
            edits[candidate.words] = Edit(candidate.kind, candidate.words, result, candidate.place.path)
        if len(edits) >= 4:
            break
    return sorted(edits.values(), key=lambda edit: (_rank(edit.kind), len(edit.words)))


ORDER = (
    "sign",
    "factor",
    "exponent",
    "sin/cos",
    "index",
    "angle",
    "symbol",
    "superfluous term",
    "missing factor",
    "superfluous factor",
)


def _rank(kind: str) -> int:
    return ORDER.index(kind) if kind in ORDER else len(ORDER)


def _point(names: Sequence[str], seed: int) -> dict[str, float]:
    source = random.Random(seed)
    return {name: source.uniform(0.4, 1.9) * source.choice((-1, 1)) for name in names}


def _numbers(nodes: Sequence[Node], points: Sequence[Mapping[str, float]]) -> list[tuple[float, ...]]:
    columns = [evaluate(tuple(nodes), point) for point in points]
    return list(zip(*columns, strict=True)) if nodes else []


def _places(root: Node, points: Sequence[Mapping[str, float]]) -> Iterator[_Place]:
    """All places, from the outside inwards."""
    from armdyn.graph.evaluate import run

    values = [run(ordered(root), point) for point in points]
    waiting: list[tuple[tuple[int, ...], Node, tuple[float, ...]]] = [((), root, (1.0,) * len(points))]
    count = 0
    while waiting and count < MOST_PLACES:
        path, node, slope = waiting.pop(0)
        count += 1
        yield _Place(path, node, tuple(float(each[node]) for each in values), slope)
        if node.op in (SIN, COS) or not node.args:
            continue
        for k, arg in enumerate(node.args):
            inner = []
            for s, each in zip(slope, values, strict=True):
                other = each[node.args[1 - k]] if len(node.args) == 2 else 1.0
                inner.append(s * _slope(node.op, k, other))
            if node.op == DIV and k == 1:
                continue
            waiting.append(((*path, k), arg, tuple(inner)))


def _slope(op: str, k: int, other: float) -> float:
    if op in (ADD, SUB, NEG):
        return -1.0 if op == NEG or (op == SUB and k == 1) else 1.0
    return other if op == MUL else 1.0 / other


def marked(root: Node, path: tuple[int, ...]) -> tuple[Node, Node]:
    """The expression with MARK at a place, and what stands there."""
    part = root
    for k in path:
        part = part.args[k]
    return _replaced(root, path, MARK), part


def _replaced(root: Node, path: tuple[int, ...], new: Node) -> Node:
    """The expression with another part at a place."""
    if not path:
        return new
    args = list(root.args)
    args[path[0]] = _replaced(args[path[0]], path[1:], new)
    return _made(root, args)


def _made(node: Node, args: Sequence[Node]) -> Node:
    if node.op == NEG:
        return -args[0]
    a, b = args
    return a + b if node.op == ADD else a - b if node.op == SUB else a * b if node.op == MUL else a / b


# What people get wrong ------------------------------------------------------------------------------------------------


def _candidates(places: Sequence[_Place], alternatives: Sequence[Node], n: int) -> Iterator[_Candidate]:
    half, two = constant(1) / 2, constant(2)
    squares = {place.path for place in places if place.node.op == MUL and place.node.args[0] is place.node.args[1]}
    for place in places:
        node = place.node
        shown = _shown(node)
        term = place.path == () or node.op in (MUL, SYMBOL, SIN, COS, ADD, SUB)
        if term:
            yield _Candidate("sign", f"the sign of {shown}", place, -node)
            yield _Candidate("factor", f"a factor of 2 is missing before {shown}", place, two * node)
            yield _Candidate("factor", f"a factor of 2 too many before {shown}", place, half * node)
            yield _Candidate("superfluous term", f"{shown} does not belong here", place, constant(0))
        if node.op == CONST:
            for value in (1, 2, 3, 4, half):
                yield _Candidate(
                    "factor",
                    f"the factor {shown} should be {_shown(constant(value) if isinstance(value, int) else value)}",
                    place,
                    value * constant(1),
                )
        if place.path not in squares:
            kind = "exponent" if place.path[:-1] in squares else "superfluous factor"
            words = (
                f"the square of {shown} should be its first power"
                if kind == "exponent"
                else f"the factor {shown} is too much"
            )
            yield _Candidate(kind, words, place, constant(1))
        if node.op in (SYMBOL, SIN, COS, ADD, SUB):
            yield _Candidate("exponent", f"{shown} should be squared", place, node * node)
        if node.op in (SIN, COS):
            yield from _trigonometric(place, n)
        if node.op == SYMBOL:
            yield from _other_symbols(place, alternatives, n)
        if node.op in (MUL, SYMBOL, SIN, COS):
            for each in alternatives:
                yield _Candidate("missing factor", f"a factor {_shown(each)} is missing at {shown}", place, node * each)


def _trigonometric(place: _Place, n: int) -> Iterator[_Candidate]:
    node = place.node
    angle, is_sine = node.args[0], node.op == SIN
    shown = _shown(node)
    other = angle.cos() if is_sine else angle.sin()
    yield _Candidate("sin/cos", f"{shown} should be {_shown(other)}", place, other)
    for angle_of in _angles(n):
        new = angle_of.sin() if is_sine else angle_of.cos()
        if new is not node:
            yield _Candidate("angle", f"the angle of {shown}: it should be {_shown(new)}", place, new)


def _angles(n: int) -> list[Node]:
    """Sums of up to four joint angles, and differences of two."""
    q = [symbol(f"q{i + 1}") for i in range(n)]
    sums = [sum(part, constant(0)) for size in range(1, min(n, 4) + 1) for part in combinations(q, size)]
    return [*sums, *(a - b for a, b in combinations(q, 2)), *(2 * a for a in q)]


def _other_symbols(place: _Place, alternatives: Sequence[Node], n: int) -> Iterator[_Candidate]:
    node = place.node
    name = str(node.value)
    stem = _stem(name)
    if node.online:
        rate = name.rstrip("0123456789")
        for new in (symbol(f"{rate}{k + 1}") for k in range(n)):
            if new is not node:
                yield _Candidate("index", f"{name} should be {new.value}", place, new)
        return
    for each in alternatives:
        if each is not node:
            kind = "index" if _stem(str(each.value)) == stem else "symbol"
            yield _Candidate(kind, f"{name} should be {each.value}", place, each)


def _stem(name: str) -> str:
    """A name with its digits replaced: all masses have one stem."""
    return "".join("#" if letter.isdigit() else letter for letter in name)


def _shown(node: Node) -> str:
    word = str(text(node))
    return word if len(word) <= 60 else word[:57] + "..."


def short_form(node: Node) -> str:
    """The expression in closed form, as text."""
    try:
        return str(text(closed_form(node)))
    except ArmdynError:
        return str(text(node))
