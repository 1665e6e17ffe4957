"""Why equations differ: a model with one thing changed, a convention, or a missing term and what it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from armdyn.equations.derivation import Equations
from armdyn.equations.judging.edits import short_form
from armdyn.errors import ArmdynError
from armdyn.graph import PI, Node, constant, identical, normal_form, substitute, symbol
from armdyn.graph.node import SYMBOL
from armdyn.graph.polynomial import rational_terms
from armdyn.graph.structure import leaves, ordered


class Cause(NamedTuple):
    """What explains all wrong entries; a convention is no error."""

    words: str
    convention: bool = False


class Missing(NamedTuple):
    """What is missing or too much: in words, its kind, and its number of terms."""

    words: str
    kind: str
    terms: int


Pairs = Mapping[str, tuple[Node, Node]]


def explained_by_model(ours: Equations, pairs: Pairs, wrong: Sequence[str]) -> Cause | None:
    """The first model with one thing changed that gives exactly what was given, in every entry."""
    for cause, replacements, signs in _models(ours):
        touched: set[str] = set()
        for name in pairs:
            given, right = pairs[name]
            changed = substitute(right, replacements) * _sign(name, signs)
            touched |= {name} if changed is not right else set()
            if not _alike(given, changed):
                break
        else:
            if _enough(touched, wrong, pairs) if cause.convention else touched and len(pairs) > 1:
                return cause
    return None


def _enough(touched: set[str], wrong: Sequence[str], pairs: Pairs) -> bool:
    """Whether the entries that were given can tell a convention from an error: one slip of a sign or of a sine looks
    like a convention in a single entry, but not in a whole tau, or in M and g together.
    """
    kinds = {name.rstrip("0123456789") for name in touched & set(wrong)}
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


def _models(ours: Equations) -> Iterator[tuple[Cause, dict[Node, Node], dict[int, int]]]:
    """Models with one thing changed, as replacements in our equations."""
    robot = ours.robot
    q, qd, qdd = ([symbol(f"{rate}{i + 1}") for i in range(robot.n)] for rate in ("q", "qd", "qdd"))
    owners = owner_of_parameters(ours)
    for i in range(robot.n):
        flipped = {x[i]: -x[i] for x in (q, qd, qdd)}
        joint = robot.joints[i].name
        yield (
            Cause(f"Convention: joint {i + 1} ({joint}) is counted in the other direction.", True),
            flipped,
            {i + 1: -1},
        )
    for i in range(robot.n):
        if robot.joints[i].kind == "revolute":
            for turn, words in ((1, "a quarter turn later"), (-1, "a quarter turn earlier"), (2, "half a turn later")):
                shifted = {q[i]: q[i] + PI / 2 * turn}
                yield Cause(f"Convention: the zero of joint {i + 1} is {words}.", True), shifted, {}
    if "g" in ours.tree.parameters:
        g = symbol("g", kind="parameter")
        yield Cause("gravity has the opposite sign"), {g: -g}, {}
        yield Cause("gravity is left out"), {g: constant(0)}, {}
    groups: dict[str, list[str]] = {}
    for name, owner in owners.items():
        groups.setdefault(owner, []).append(name)
    rotors = [name for name, owner in owners.items() if "rotor" in owner]
    for words, names in (("all rotors are left out", [n for n in rotors if "ratio" not in owners[n]]),):
        if names:
            yield Cause(words), {symbol(name, kind="parameter"): constant(0) for name in names}, {}
    for owner, names in groups.items():
        yield Cause(f"{owner} is left out"), {symbol(name, kind="parameter"): constant(0) for name in names}, {}
    for stem in ("inertia", "mass of the rotor", "inertia of the rotor"):
        names = [name for name, owner in owners.items() if stem in owner and ("rotor" in owner) == ("rotor" in stem)]
        if len(names) > 1:
            yield (
                Cause(f"the {stem} of every link is left out".replace("of the rotor of every link", "of every rotor")),
                {symbol(name, kind="parameter"): constant(0) for name in names},
                {},
            )


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
