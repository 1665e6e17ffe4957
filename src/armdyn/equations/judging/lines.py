"""Which line of a derivation somebody got wrong: a sheet with one line changed, compared with what was given.

A wrong angular velocity or centre of mass spoils many entries of M, C and g at once. Truc's derivation serves, because
it starts from positions and angular velocities and differentiates them, as most derivations by hand do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from armdyn.equations.derivation import Equations, derive
from armdyn.equations.judging.naming import KIND, pattern
from armdyn.equations.sheets.sheet import Line
from armdyn.equations.sheets.steps import plain_name, written
from armdyn.errors import ArmdynError
from armdyn.graph import Node, constant, substitute, symbol, text
from armdyn.graph.node import COS, SIN, SYMBOL
from armdyn.graph.structure import ordered, rebuilt

MOST_JOINTS = 5
"""Sheets of larger arms take too long to be written some hundred times."""
QUANTITIES = (
    (r"omega_(\d+)", "the angular velocity of link {}"),
    (r"p_C_?(\d+)\^0", "the position of the centre of mass of link {}"),
    (r"J_T_?(\d+)\^0", "the velocity of the centre of mass of link {}"),
    (r"I_(\d+)", "the inertia tensor of link {}"),
    (r"J_O\^\(m_?(\d+)\)", "the angular velocity of rotor {}"),
    (r"J_P\^\(m_?(\d+)\)", "the velocity of rotor {}"),
    (r"g\^0", "the vector of gravity"),
)
"""Lines in which errors are looked for: name and words."""


class Slip(NamedTuple):
    """A line with a mistake in it, in words, and the results that follow from it: M, C, g and tau."""

    words: str
    results: Mapping[str, Any]


class Slips:
    """Derivations of a robot with one mistake in them; each is written once."""

    def __init__(self, ours: Equations) -> None:
        self.ours = ours
        self._written: dict[int, list[Slip]] = {}

    def of(self, suspects: Sequence[int]) -> Iterator[Slip]:
        """suspects: links, counted from 1, to which mistakes are confined; 0 is gravity."""
        for place, line in enumerate(self._lines):
            found = _quantity(line)
            if found is not None and found[1] in suspects:
                yield from self._changed(place, f"{found[0]} ({plain_name(line.name)})")

    @cached_property
    def _equations(self) -> Equations:
        return derive(self.ours.robot, "kronecker")

    @cached_property
    def _lines(self) -> Sequence[Line]:
        if self.ours.robot.n > MOST_JOINTS:
            return ()
        try:
            return written(self._equations).lines
        except ArmdynError:  # not a serial arm
            return ()

    def _changed(self, place: int, where: str) -> Sequence[Slip]:
        if place not in self._written:
            self._written[place] = [
                Slip(f"{where}: {words}", written(self._equations, changes={place: value}).results)
                for words, value in _changed(self._lines[place], self.ours)
            ]
        return self._written[place]


def _quantity(line: Line) -> tuple[str, int] | None:
    """What a line says in words, and the number of its link, 0 for gravity; None if it is none of QUANTITIES."""
    for form, words in QUANTITIES:
        match = re.fullmatch(form, plain_name(line.name))
        if match:
            index = "".join(match.groups())
            return words.format(index), int(index or 0)
    return None


# What people get wrong in a line --------------------------------------------------------------------------------------


def _changed(line: Line, ours: Equations) -> Iterator[tuple[str, Any]]:
    """A line's value with one mistake in it, likely ones first."""
    value, n = line.value, ours.robot.n
    name = plain_name(line.name)
    if name.startswith("omega"):
        for rate in _symbols(value, "qd"):
            joint = str(rate.value)[2:]
            yield f"without the part of joint {joint}", substitute(value, {rate: constant(0)})
            yield f"the part of joint {joint} has the wrong sign", substitute(value, {rate: -rate})
            others = [other for other in _symbols(value, "qd") if other is not rate]
            if len(others) > 1:
                yield f"the part of joint {joint} alone", substitute(value, dict.fromkeys(others, constant(0)))
    if name.startswith("J"):
        yield from _columns(value, n)
    if name.startswith("I"):
        for i, j in combinations(range(3), 2):
            turn = {i: j, j: i}
            swapped = tuple(tuple(value[turn.get(a, a)][turn.get(b, b)] for b in range(3)) for a in range(3))
            yield f"its moments about {'xyz'[i]} and {'xyz'[j]} are exchanged", swapped
    if name.startswith("g"):
        for i, j in combinations(range(3), 2):
            turn = {i: j, j: i}
            yield f"along {'xyz'[i]} in place of {'xyz'[j]}", tuple(value[turn.get(a, a)] for a in range(3))
    yield from _other_parameters(value, ours)
    yield from _other_angles(value, n, whole=name.startswith("p"))
    for k, entry in enumerate(value):
        for angle in _angles_of(entry):
            sine, cosine = angle.sin(), angle.cos()
            swapped = substitute(entry, {sine: cosine, cosine: sine})
            words = f"sine and cosine of {text(angle)} are exchanged in row {k + 1}"
            yield words, (*value[:k], swapped, *value[k + 1 :])
    for k, entry in enumerate(value):
        if isinstance(entry, Node) and entry is not constant(0):
            yield f"the sign of entry {k + 1}", (*value[:k], -entry, *value[k + 1 :])
    yield "twice as large", rebuilt(value, lambda x: 2 * x)


def _symbols(value: Any, stem: str = "") -> list[Node]:
    found = [node for node in ordered(value) if node.op == SYMBOL]
    return [node for node in found if not stem or re.fullmatch(rf"{stem}\d+", str(node.value))]


def _columns(value: Any, n: int) -> Iterator[tuple[str, Any]]:
    """A Jacobian without a column, or without a length in one of them: a relative velocity taken for the whole."""
    for j in range(n):
        if any(row[j] is not constant(0) for row in value):

            def column(change: Any, j: int = j) -> Any:
                return tuple((*row[:j], change(row[j]), *row[j + 1 :]) for row in value)

            yield f"without the part of joint {j + 1}", column(lambda x: constant(0))
            yield f"the part of joint {j + 1} has the wrong sign", column(lambda x: -x)
            for node in _symbols([row[j] for row in value]):
                if not node.online:
                    words = f"the part of joint {j + 1} without {node.value}"
                    yield words, column(lambda x, node=node: substitute(x, {node: constant(0)}))


def _other_parameters(value: Any, ours: Equations) -> Iterator[tuple[str, Any]]:
    names = list(ours.tree.parameters)
    for node in _symbols(value):
        if node.online:
            continue
        kind = KIND.get(pattern(str(node.value))[0][0])
        for name in names:
            own = pattern(name)[0][0]
            if name != node.value and (own == pattern(str(node.value))[0][0] or (kind and KIND.get(own) == kind)):
                words = f"with {name} in place of {node.value}"
                yield words, substitute(value, {node: symbol(name, kind="parameter")})
        yield f"without {node.value}", substitute(value, {node: constant(0)})
        yield f"without the factor {node.value}", substitute(value, {node: constant(1)})


def _angles_of(value: Any) -> list[Node]:
    return list(dict.fromkeys(node.args[0] for node in ordered(value) if node.op in (SIN, COS)))


def _other_angles(value: Any, n: int, whole: bool) -> Iterator[tuple[str, Any]]:
    """Other sums of joint angles; whole: none of no angle at all, which is a velocity without the part of a joint."""
    q = [symbol(f"q{i + 1}") for i in range(n)]
    sums: list[Node] = [sum(part, constant(0)) for size in range(int(whole), n + 1) for part in combinations(q, size)]
    sums += [a - b for a, b in combinations(q, 2)]
    for angle in _angles_of(value):
        used = set(map(str, (node.value for node in _symbols(angle))))
        for other in sums:
            if other is not angle and (other is constant(0) or used & {str(x.value) for x in _symbols(other)}):
                words = f"with the angle {text(other)} in place of {text(angle)}"
                yield words, substitute(value, {angle.sin(): other.sin(), angle.cos(): other.cos()})


def mass_like(ours: Equations, owners: Mapping[str, str]) -> list[tuple[int, list[str]]]:
    """Link, counted from 1 -> its masses and inertias and those of its joint's rotor."""
    joints = [joint for joint in ours.robot.symbolic.tree if joint.kind != "fixed"]
    found = []
    for i, joint in enumerate(joints):
        own = {f"the mass of {joint.body.name}", f"the inertia of {joint.body.name}"}
        own |= {f"the {what} of the rotor of joint {i + 1}" for what in ("mass", "inertia")}
        found.append((i + 1, [name for name, owner in owners.items() if owner in own]))
    return found
