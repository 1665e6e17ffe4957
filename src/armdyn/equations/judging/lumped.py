"""Lumped parameters: what p_1 ... p_5 must be for M_11 = p_1 + 2 p_3 cos q_2 and so on to be the robot's equations.

Each term in the coordinates gives one linear equation. There must be more equations than parameters, so that a wrong
term cannot be defined away: one that contradicts the others is found by the comparison afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from armdyn.equations.judging.naming import KIND, Pattern, Terms, compared_terms, pattern
from armdyn.graph import Node, constant, symbol

FEWEST = 2
"""Symbols of one stem that may be lumped parameters: a single one is a misprint."""

Equation = tuple[dict[str, Fraction], Node]
"""Factors of the lumped parameters, and the sum that they must give."""


def lumped(pairs: Sequence[tuple[Node, Node]], unknown: Iterable[str], parameters: Iterable[str]) -> dict[str, Node]:
    """Lumped parameters -> expressions in the robot's; none if there are too few equations for them."""
    stems: dict[Pattern, list[str]] = {}
    for name in unknown:
        if pattern(name)[0][0] not in KIND:  # masses or lengths in other letters are names, not sums
            stems.setdefault(pattern(name)[0], []).append(name)
    wanted = {name for names in stems.values() if len(names) >= FEWEST for name in names}
    known = set(parameters)
    equations = [each for pair in pairs for each in _equations(*compared_terms(pair), wanted, known)] if wanted else []
    used = {name for factors, _ in equations for name in factors}
    return _solved(equations) if len(equations) > len(used) else {}


def _equations(theirs: Terms, ours: Terms, wanted: set[str], known: set[str]) -> list[Equation]:
    """One for each product of sines, cosines and velocities."""
    factors: dict[frozenset[tuple[str, int]], dict[str, Fraction]] = {}
    beside: dict[frozenset[tuple[str, int]], set[frozenset[tuple[str, int]]]] = {}
    for term, value in theirs.items():
        place = frozenset(each for each in term if each[0] not in known | wanted)
        lump = [name for name, power in term if name in wanted and power == 1]
        if len(lump) == 1:
            factors.setdefault(place, {})[lump[0]] = value
            beside.setdefault(place, set()).add(frozenset(each for each in term if each[0] in known))
        else:
            beside.setdefault(place, set()).update((frozenset(), frozenset((("", 0),))))  # something else stands here
    found = []
    for place, own in factors.items():
        if len(beside[place]) != 1:
            continue
        (common,) = beside[place]  # g in p_4 g cos q_1
        total = constant(0)
        for term, value in ours.items():
            if frozenset(each for each in term if each[0] not in known) == place:
                rest = dict(each for each in term if each[0] in known)
                for name, power in common:
                    rest[name] = rest.get(name, 0) - power
                if any(power < 0 for power in rest.values()):
                    break
                total = total + _product(value, rest)
        else:
            found.append((own, total))
    return found


def _product(value: Fraction, powers: Mapping[str, int]) -> Node:
    found = constant(value)
    for name, power in powers.items():
        found = found * symbol(name, kind="parameter") ** power
    return found


def _solved(equations: Sequence[Equation]) -> dict[str, Node]:
    """By elimination; later equations that contradict earlier ones are left out."""
    solved: dict[str, Equation] = {}
    for factors, total in equations:
        row, right = dict(factors), total
        for name, (others, value) in solved.items():
            factor = row.pop(name, Fraction(0))
            right = right - constant(factor) * value
            for other, each in others.items():
                row[other] = row.get(other, Fraction(0)) - factor * each
        row = {name: x for name, x in row.items() if x}
        if not row:
            continue
        pivot = min(row)
        lead = row.pop(pivot)
        new: Equation = ({name: x / lead for name, x in row.items()}, right / constant(lead))
        for name, (others, value) in list(solved.items()):
            factor = others.pop(pivot, Fraction(0))
            for other, each in new[0].items():
                others[other] = others.get(other, Fraction(0)) - factor * each
            solved[name] = ({k: x for k, x in others.items() if x}, value - constant(factor) * new[1])
        solved[pivot] = new
    return {name: value for name, (others, value) in solved.items() if not others}
