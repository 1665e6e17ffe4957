"""Lines of a derivation among somebody's equations, beside those of the text whose names they bear."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from armdyn.equations.derivation import derive
from armdyn.equations.judging.reader import Statement
from armdyn.equations.sheets.steps import DERIVATIONS, plain_name, written
from armdyn.errors import FeatureError
from armdyn.graph import Node, constant
from armdyn.graph.structure import leaves
from armdyn.robot.robot import Robot


def given_steps(statements: Sequence[Statement], robot: Robot) -> dict[str, tuple[Node, Node]]:
    """Name of a line, with the place in a vector or matrix -> (their value, ours), in the order of the derivation."""
    theirs = {_key(each.name): each for each in statements if each.name}
    best: dict[str, tuple[Node, Node]] = {}
    most = 0
    for formulation, texts in DERIVATIONS.items() if theirs else ():
        for text in texts:
            try:
                lines = written(derive(robot, formulation), text).lines
            except FeatureError:  # no serial arm
                return {}
            found = [
                (part, line.value, theirs[_key(part)].value)
                for line in lines
                for part in line.name.split(" = ")
                if _key(part) in theirs
            ]
            if len(found) > most:
                most = len(found)
                best = {name: pair for each in found for name, pair in _scalars(*each).items()}
            if most == len(theirs):
                return best
    return best


def _key(name: str) -> str:
    return re.sub(r"[{}_^ \\\\]", "", plain_name(name))


def _scalars(name: str, ours: Any, theirs: Any) -> Mapping[str, tuple[Node, Node]]:
    """The entries of a vector or a matrix; a lone zero stands for all of them."""
    own, given = list(leaves(ours)), list(leaves(theirs))
    if given == [constant(0)]:
        given = given * len(own)
    if len(given) != len(own):
        return {}
    if isinstance(ours, Node):
        return {plain_name(name): (given[0], ours)}
    columns = len(ours[0]) if isinstance(ours[0], tuple) else 0
    places = [f"{k // columns + 1},{k % columns + 1}" if columns else f"{k + 1}" for k in range(len(own))]
    return {f"{plain_name(name)}[{place}]": pair for place, *pair in zip(places, given, own, strict=True)}  # type: ignore[misc]
