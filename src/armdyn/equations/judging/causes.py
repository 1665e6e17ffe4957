"""Why equations differ: a model with one thing changed, a convention, or a missing term and what it belongs to."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from armdyn.equations.derivation import Equations
from armdyn.equations.judging import naming
from armdyn.equations.judging.edits import short_form
from armdyn.equations.judging.lines import Slips, mass_like
from armdyn.errors import ArmdynError
from armdyn.graph import PI, Node, constant, derivative, evaluate, identical, normal_form, substitute, symbol
from armdyn.graph.node import SYMBOL
from armdyn.graph.polynomial import rational_terms
from armdyn.graph.structure import leaves, ordered


class Cause(NamedTuple):
    """What explains all wrong entries; a convention is no error."""

    words: str
    convention: bool = False


class Model(NamedTuple):
    """A model with one thing changed: what is replaced in our equations, and joints whose torques change their sign."""

    cause: Cause
    replaced: Mapping[Node, Node]
    signs: Mapping[int, int] = {}


class Missing(NamedTuple):
    """What is missing or too much: in words, its kind, and its number of terms."""

    words: str
    kind: str
    terms: int


Pairs = Mapping[str, tuple[Node, Node]]
Point = Mapping[str, float]
CLOSE = 1e-9
"""Relative difference of numbers that count as equal before the proof."""
MODEL = ("M", "C", "Cqd")
PARTS = (("M", "C", "Cqd", "g", "tau"), MODEL, ("M",), ("C", "Cqd"), ("g",), ("tau",))
"""Quantities that one mistake may explain, the most at once first: somebody may have a right M and a wrong g."""


def explained(ours: Equations, pairs: Pairs, wrong: Sequence[str]) -> list[Cause]:
    """Mistakes or a convention that give exactly what was given: one for all entries, or one for each part of them."""
    found: list[Cause] = []
    left, slips, tried = list(wrong), Slips(ours), list[Sequence[str]]()
    for part in PARTS:
        names = [name for name in pairs if kind_of(name) in part]
        of_part = [name for name in left if name in names]
        others = any(kind_of(name) not in part for name in pairs)
        if not of_part or len(of_part) < len([name for name in wrong if name in names]) or names in tried:
            continue
        tried.append(names)
        cause = _cause(ours, {name: pairs[name] for name in names}, of_part, slips)
        if cause is None or (cause.convention and others):
            continue
        where = f"in {' and '.join(dict.fromkeys(map(kind_of, names)))}: " if others else ""
        found.append(cause._replace(words=where + cause.words))
        left = [name for name in left if name not in of_part]
    return found


def kind_of(name: str) -> str:
    """M of M12."""
    return name.rstrip("0123456789")


def _cause(ours: Equations, pairs: Pairs, wrong: Sequence[str], slips: Slips) -> Cause | None:
    """The first hypothesis that gives what was given in every entry; one entry alone says too little."""
    if len(pairs) < 2 or any(kind_of(name) not in PARTS[0] for name in pairs):
        return None
    names = {str(node.value) for node in ordered(tuple(pairs.values())) if node.op == SYMBOL}
    names |= {f"{rate}{i + 1}" for rate in ("q", "qd", "qdd") for i in range(ours.robot.n)} | set(ours.tree.parameters)
    point = _point(sorted(names))
    given = evaluate({name: pair[0] for name, pair in pairs.items()}, point)
    own = {name: pair[1] for name, pair in pairs.items()}
    for model in _fitting(list(_models(ours)), own, given, point):
        right = {name: substitute(node, model.replaced) * _sign(name, model.signs) for name, node in own.items()}
        touched = {name for name in own if right[name] is not own[name]}
        if _proved(pairs, right) and (not model.cause.convention or _enough(touched, wrong, pairs)):
            return model.cause
    christoffel = _other_christoffel(ours.robot.n, pairs, wrong)
    if christoffel is not None:
        return christoffel
    for slip in slips.of(_suspects(ours, pairs, point)) if len(wrong) > 1 else ():
        outputs = {name: _entry(slip.results, name) for name in pairs}
        if _close(given, evaluate(outputs, point)) and _proved(pairs, outputs):
            return Cause(slip.words)
    return None


def _fitting(models: Sequence[Model], own: Mapping[str, Node], given: Point, point: Point) -> Iterator[Model]:
    """The models that give the right numbers at a point; all are evaluated at once."""
    columns: dict[str, Any] = {name: np.full(len(models), x) for name, x in point.items()}
    for k, model in enumerate(models):
        for name, x in evaluate({str(node.value): new for node, new in model.replaced.items()}, point).items():
            columns[name][k] = x
    numbers = evaluate(dict(own), columns)
    for k, model in enumerate(models):
        if _close(
            given, {name: np.broadcast_to(x, len(models))[k] * _sign(name, model.signs) for name, x in numbers.items()}
        ):
            yield model


def _close(given: Point, found: Mapping[str, Any]) -> bool:
    return all(abs(x - found[name]) <= CLOSE * (1 + abs(x)) for name, x in given.items())


def _point(names: Sequence[str]) -> dict[str, float]:
    """Random values; what agrees there is then proved."""
    source = random.Random(1)
    return {name: source.uniform(0.4, 1.9) for name in names}


def _proved(pairs: Pairs, expected: Mapping[str, Node]) -> bool:
    return all(_alike(pair[0], expected[name]) for name, pair in pairs.items())


def _entry(results: Mapping[str, Any], name: str) -> Node:
    """An entry such as M12 of what was derived."""
    kind, indices = kind_of(name), [int(digit) - 1 for digit in name[len(kind_of(name)) :]]
    if kind == "Cqd":
        rates = [symbol(f"qd{j + 1}") for j in range(len(results["C"]))]
        return sum((x * rate for x, rate in zip(results["C"][indices[0]], rates, strict=True)), constant(0))
    found: Any = results[kind]
    for k in indices:
        found = found[k]
    return found if isinstance(found, Node) else constant(found)


def _suspects(ours: Equations, pairs: Pairs, point: Point) -> list[int]:
    """Links, counted from 1, without whose masses and inertias everything would be right; 0: without gravity."""
    found = []
    for link, names in [(0, ["g"]), *mass_like(ours, owner_of_parameters(ours))]:
        numbers = evaluate(dict(pairs), {**point, **dict.fromkeys(names, 0.0)})
        if all(abs(a - b) <= CLOSE * (1 + abs(a)) for a, b in numbers.values()):
            found.append(link)
    return found


def _other_christoffel(n: int, pairs: Pairs, wrong: Sequence[str]) -> Cause | None:
    """Another combination of the derivatives of the inertia matrix than that of the Christoffel symbols.

    c_ijk = a dM_ij/dq_k + b dM_ik/dq_j + c dM_jk/dq_i, with a = b = 1/2 and c = -1/2. Siciliano (7.45)
    """
    places = [(f"M{i + 1}{j + 1}", f"C{i + 1}{j + 1}") for i in range(n) for j in range(n)]
    if not all(name in pairs for place in places for name in place) or not any(name[0] == "C" for name in wrong):
        return None
    M = [pairs[name][0] for name, _ in places]
    q, rates = ([symbol(f"{rate}{k + 1}") for k in range(n)] for rate in ("q", "qd"))
    slope = derivative(M, q)

    def total(orders: Sequence[tuple[int, int, int]]) -> Node:
        parts = (slope[a * n + b][c] * rate for rate, (a, b, c) in zip(rates, orders, strict=True))
        return sum(parts, constant(0))

    each = range(n)
    sums = [
        tuple(total(orders) for orders in zip(*([(i, j, k), (i, k, j), (j, k, i)] for k in each), strict=True))
        for i in each
        for j in each
    ]
    C = [pairs[name][0] for _, name in places]
    names = sorted({str(node.value) for node in ordered((C, sums)) if node.op == SYMBOL})
    theirs, terms = evaluate((C, sums), _point(names))
    for weights in sorted(product(WEIGHTS, repeat=3), key=_oddness):
        if all(
            abs(x - sum(float(w) * y for w, y in zip(weights, parts, strict=True))) <= CLOSE * (1 + abs(x))
            for x, parts in zip(theirs, terms, strict=True)
        ):
            if weights == RIGHT:
                return None
            return Cause(
                "the entries of C are made with c_ijk = "
                + " + ".join(
                    f"{w} {term}"
                    for w, term in zip(weights, ("dM_ij/dq_k", "dM_ik/dq_j", "dM_jk/dq_i"), strict=True)
                    if w
                ).replace("+ -", "- ")
                + ", not with the Christoffel symbols 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i)"
            )
    return None


HALF = Fraction(1, 2)
WEIGHTS = (Fraction(0), HALF, -HALF, Fraction(1), Fraction(-1))
RIGHT = (HALF, HALF, -HALF)


def _oddness(weights: Sequence[Fraction]) -> tuple[int, Fraction]:
    """How far a combination is from the right one."""
    return (
        sum(w != r for w, r in zip(weights, RIGHT, strict=True)),
        sum((abs(w - r) for w, r in zip(weights, RIGHT, strict=True)), Fraction(0)),
    )


def _enough(touched: set[str], wrong: Sequence[str], pairs: Pairs) -> bool:
    """Whether the entries that were given can tell a convention from an error: one slip of a sign or of a sine looks
    like a convention in a single entry, but not in a whole tau, or in M and g together.
    """
    kinds = {kind_of(name) for name in touched & set(wrong)}
    torques = [name for name in pairs if name.startswith("tau")]
    return len(kinds) > 1 or (kinds == {"tau"} and len(torques) > 1 and len(touched & set(wrong)) > 1)


def _alike(a: Node, b: Node) -> bool:
    try:
        return identical(a, b)
    except ArmdynError:
        return False


def _sign(name: str, signs: Mapping[int, int]) -> int:
    """The sign that a row and a column get when joints are counted the other way round."""
    found = 1
    for digit in name.lstrip("MCgtauqd"):
        found *= signs.get(int(digit), 1)
    return found


def _models(ours: Equations) -> Iterator[Model]:
    """Models with one thing changed, likely ones first."""
    robot = ours.robot
    q, qd, qdd = ([symbol(f"{rate}{i + 1}") for i in range(robot.n)] for rate in ("q", "qd", "qdd"))
    owners, parameters = owner_of_parameters(ours), list(ours.tree.parameters)
    for i, joint in enumerate(robot.joints):
        words = f"Convention: joint {i + 1} ({joint.name}) is counted in the other direction."
        yield Model(Cause(words, True), {x[i]: -x[i] for x in (q, qd, qdd)}, {i + 1: -1})
        if joint.kind == "revolute":
            for turn, words in ((1, "a quarter turn later"), (-1, "a quarter turn earlier"), (2, "half a turn later")):
                words = f"Convention: the zero of joint {i + 1} is {words}."
                yield Model(Cause(words, True), {q[i]: q[i] + PI / 2 * turn})

    def changed(words: str, names: Mapping[str, Node]) -> Model:
        return Model(Cause(words), {_named(name): new for name, new in names.items()})

    def without(words: str, names: Sequence[str]) -> Model:
        return changed(f"{words} left out", dict.fromkeys(names, constant(0)))

    def of(kind: str) -> list[str]:
        return [name for name, owner in owners.items() if owner.startswith(kind)]

    if "g" in parameters:
        yield changed("gravity has the opposite sign", {"g": -_named("g")})
        yield without("gravity is", ["g"])
    for owner in dict.fromkeys(owners.values()):
        yield without(f"{owner} is", of(owner))
    rotors = of("the mass of the rotor") + of("the inertia of the rotor")
    if rotors:
        yield without("all rotors are", rotors)
    yield without("the inertias of all rotors are", of("the inertia of the rotor"))
    yield without("the inertias of all links are", [x for x in of("the inertia of") if x not in rotors])
    inertial = [name for name, owner in owners.items() if "ratio" not in owner]
    for words, factor in (("twice", constant(2)), ("half", constant(1) / 2)):
        yield changed(f"everything is {words} as large as it should be", {x: factor * _named(x) for x in inertial})
    pairs = [(a, b) for a, b in permutations(parameters, 2) if _alike_names(a, b)]
    for name, other in pairs:
        yield changed(f"{other} stands in place of {name}", {name: _named(other)})
    for name, other in pairs:
        if name < other:
            yield changed(f"{name} and {other} are exchanged", {name: _named(other), other: _named(name)})
    for i, j, letter in product(range(1, robot.n + 1), range(1, robot.n + 1), "mMI"):
        group = [(x, y) for x, y in pairs if x[:1] == y[:1] == letter and x in inertial]
        group = [(x, y) for x, y in group if (naming.pattern(x)[1], naming.pattern(y)[1]) == (i, j)]
        if i != j and len(group) > 1:
            words = f"{', '.join(y for _, y in group)} stand in place of {', '.join(x for x, _ in group)}"
            yield changed(words, {x: _named(y) for x, y in group})
    lengths = [name for name in parameters if naming.KIND.get(naming.pattern(name)[0][0]) == "l"]
    for name, mass, length in product(of("the inertia of"), of("the mass of"), lengths):
        if owners[name].replace("inertia", "mass") == owners[mass]:
            words = f"{name} + {mass} {length}^2 stands in place of {name}: the inertia about another point"
            yield changed(words, {name: _named(name) + _named(mass) * _named(length) * _named(length)})


def _named(parameter: str) -> Node:
    return symbol(parameter, kind="parameter")


def _alike_names(a: str, b: str) -> bool:
    """Whether one may be taken for the other: I1 for I2, l1 for a1, Ixx1 for Iyy1."""
    (stem, index), (other, place) = naming.pattern(a), naming.pattern(b)
    kinds = naming.KIND.get(stem[0]), naming.KIND.get(other[0])
    return stem == other or (None not in kinds and kinds[0] == kinds[1] and (index == place or kinds[0] == "l"))


def owner_of_parameters(ours: Equations) -> dict[str, str]:
    """Parameter -> what it is: "the mass of link1", "the inertia of the rotor of joint 2"."""
    found: dict[str, str] = {}

    def note(value: object, words: str) -> None:
        for node in leaves(value) if not isinstance(value, Node) else (value,):
            if isinstance(node, Node):
                for part in ordered(node):
                    if part.op == SYMBOL:
                        found.setdefault(str(part.value), words)

    tree = ours.robot.symbolic.tree if ours.robot.constrained else ours.tree.tree
    for place, joint in enumerate(joint for joint in tree if joint.kind != "fixed"):
        body, rotor = joint.body.inertia, joint.rotor
        note((body.mass,), f"the mass of {joint.body.name}")
        note(tuple(x for row in body.tensor.rows for x in row), f"the inertia of {joint.body.name}")
        if rotor is not None:
            note((rotor.mass,), f"the mass of the rotor of joint {place + 1}")
            note((rotor.inertia,), f"the inertia of the rotor of joint {place + 1}")
            note((rotor.ratio,), f"the ratio of the rotor of joint {place + 1}")
    return found


def missing_term(ours: Equations, right: Node, given: Node) -> Missing | None:
    """What is missing or too much, in words, and what it belongs to."""
    rest = right - given
    try:
        form = normal_form((rest, given))
    except ArmdynError:
        return None
    left, theirs = (rational_terms(polynomial) for polynomial in form.entries)
    owners = owner_of_parameters(ours)
    names = set(re.findall(r"[A-Za-z]\w*", short_form(rest)))  # of what is left when equal terms have cancelled
    owned = (owners[name] for name in sorted(names) if name in owners)
    belongs = list(dict.fromkeys(owner for owner in owned if "ratio" not in owner))
    whose = f", {belongs[0]}" if len(belongs) == 1 else ""
    if all(
        theirs.get(factors) == -value for factors, value in left.items()
    ):  # they have it, and it should not be there
        return Missing(f"too much: {short_form(-rest)}{whose}", "superfluous term", len(left))
    return Missing(f"missing: {short_form(rest)}{whose}", "missing term", len(left))
