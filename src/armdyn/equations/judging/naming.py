"""Which of the robot's parameters somebody's symbols are.

Symbols are renamed by stem: m_1, m_2, m_3 -> ml1, ml2, ml3, index kept, so that a wrong index stays a wrong index. A
name that the robot has keeps its meaning unless a renaming of its whole stem explains the equations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product

from armdyn.graph import Node, normal_form, substitute, symbol
from armdyn.graph.node import SYMBOL
from armdyn.graph.polynomial import rational_terms
from armdyn.graph.structure import ordered

MOST_RENAMINGS = 4000
"""Combinations of renamings that are tried."""

Pattern = tuple[str, str]
"""Letters before and behind the first index."""
_STEMS = {"m": "m M ml mm", "I": "I J Il Izz Iz Jz Im", "l": "l a L d r lc c h s", "g": "g G g0 gamma", "k": "k kr n N"}
KIND = {stem: kind for kind, stems in _STEMS.items() for stem in stems.split()}
"""Stem -> what it usually is: mass, inertia, length, gravity, ratio."""


def pattern(name: str) -> tuple[Pattern, int | None]:
    """The stem of a name and its index: I3yy -> (("I", "yy"), 3)."""
    match = re.fullmatch(r"(.*?)(\d+)(\D*)", name)
    return ((match[1], match[3]), int(match[2])) if match else ((name, ""), None)


def unknown_symbols(values: Iterable[Node], known: Iterable[str]) -> list[str]:
    """Names of parameters that the robot does not have."""
    names = set(known)
    found = {str(node.value) for node in ordered(tuple(values)) if node.op == SYMBOL and not node.online}
    return sorted(found - names)


def renaming(pairs: Sequence[tuple[Node, Node]], parameters: Sequence[str]) -> dict[str, str]:
    """Their names -> the robot's, for the symbols that the robot does not have; those that nothing explains stay.

    pairs: (their entry, ours).
    """
    theirs = [a for a, _ in pairs]
    unknown = unknown_symbols(theirs, parameters)
    if not unknown:
        return {}
    used = {str(node.value) for node in ordered(tuple(theirs)) if node.op == SYMBOL and not node.online}
    stems: dict[Pattern, set[int | None]] = {}
    for name in used:
        stem, index = pattern(name)
        stems.setdefault(stem, set()).add(index)
    own: dict[Pattern, set[int | None]] = {}
    for name in parameters:
        stem, index = pattern(name)
        own.setdefault(stem, set()).add(index)
    known = {stem for stem in stems if stem in own}
    strange = sorted((stem for stem in stems if stem not in own), key=str)
    ours_names = {str(node.value) for node in ordered(tuple(b for _, b in pairs)) if node.op == SYMBOL}
    ours_stems = {pattern(name)[0] for name in parameters if name in ours_names}
    choices = [_targets(stem, stems[stem], own, ours_stems) for stem in strange]
    best: tuple[float, dict[str, str]] = (0.0, {})
    terms = [compared_terms(pair) for pair in pairs]
    for combination in islice(product(*choices), MOST_RENAMINGS):
        taken = [stem for stem in combination if stem is not None]
        if len(set(taken)) < len(taken):
            continue
        moved = [stem for stem in known if stem in taken]
        free = sorted((stem for stem in ours_stems if stem not in known and stem not in taken), key=str)
        alike = [[each for each in free if stems[stem] <= own[each] and _same_kind(stem, each)] for stem in moved]
        for targets in islice(product(*alike), 50):
            if len(set(targets)) < len(targets):
                continue
            renamed = dict(zip(strange, combination, strict=True)) | dict(zip(moved, targets, strict=True))
            names = _names(renamed, stems)
            score = _agreement(terms, names) - 0.5 * len(moved) + _likeness(renamed)
            if score > best[0]:
                best = (score, names)
    return best[1]


def _targets(
    stem: Pattern, indices: set[int | None], own: Mapping[Pattern, set[int | None]], used: set[Pattern]
) -> list[Pattern | None]:
    """The robot's stems that it can stand for, likely ones first; None: it stays unknown."""
    fitting = [each for each, there in own.items() if indices <= there and each in used and _same_kind(stem, each)]
    return [*sorted(fitting, key=lambda each: (-_similar(stem, each), str(each)))[:6], None]


def _same_kind(a: Pattern, b: Pattern) -> bool:
    """Whether both may be masses, inertias, lengths, ...; a stem that is not known may be anything."""
    kinds = KIND.get(a[0]), KIND.get(b[0])
    return None in kinds or kinds[0] == kinds[1]


def _similar(a: Pattern, b: Pattern) -> float:
    same_kind = KIND.get(a[0], a[0][:1]) == KIND.get(b[0], b[0][:1])
    return 2.0 * same_kind + (a[0][:1].lower() == b[0][:1].lower()) + (a[1] == b[1])


def _likeness(renamed: Mapping[Pattern, Pattern | None]) -> float:
    """A small preference, which decides only among renamings that agree equally well."""
    return 1e-3 * sum(-1.0 if b is None else _similar(a, b) for a, b in renamed.items())


def _names(renamed: Mapping[Pattern, Pattern | None], stems: Mapping[Pattern, set[int | None]]) -> dict[str, str]:
    found = {}
    for theirs, ours in renamed.items():
        if ours is None:
            continue
        for index in stems[theirs]:
            middle = "" if index is None else str(index)
            found[theirs[0] + middle + theirs[1]] = ours[0] + middle + ours[1]
    return found


Terms = dict[frozenset[tuple[str, int]], Fraction]
"""Powers of the factors of a term, by name -> its number."""


def compared_terms(pair: tuple[Node, Node]) -> tuple[Terms, Terms]:
    """The terms of their entry and of ours, multiplied out."""
    form = normal_form(pair)
    units = [f"{kind} {unit!r}" for kind in ("sin", "cos") for unit in form.ring.angles]
    factors = [*units, *(str(node.value) if node.op == SYMBOL else repr(node) for node in form.ring.symbols)]
    theirs, ours = (
        {
            frozenset((name, int(power)) for name, power in zip(factors, exponents, strict=True) if power): value
            for exponents, value in rational_terms(polynomial).items()
        }
        for polynomial in form.entries
    )
    return theirs, ours


def _agreement(terms: Sequence[tuple[Terms, Terms]], names: Mapping[str, str]) -> float:
    """Number of terms that agree, renamed, less a little for those that do not."""
    score = 0.0
    for theirs, ours in terms:
        for factors, value in theirs.items():
            renamed = frozenset((names.get(name, name), power) for name, power in factors)
            score += 1.0 if ours.get(renamed) == value else 0.3 if renamed in ours else -0.1
    return score


def applied(value: Node, names: Mapping[str, str]) -> Node:
    """The expression in the robot's names; all at once, so that two names can change places."""
    made: Node = substitute(value, {symbol(a, kind="parameter"): symbol(b, kind="parameter") for a, b in names.items()})
    return made
