"""The shortest way to write a trigonometric polynomial in sines and cosines of sums of angles.

c2 c3 - s2 s3 is better written c23, and 1 - c2^2 is s2^2. A polynomial is split into parts that no identity can mix,
and for each part the angles are exchanged for sums or differences as long as that saves terms.
"""

from __future__ import annotations

import math
import operator
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import fmpq_mpoly

Exponents = tuple[int, ...]
"""Exponents of the sines, then of the cosines, of some angles."""
Terms = dict[Exponents, int]
"""A polynomial with whole coefficients: integers are quicker than fractions."""
Combination = tuple[int, ...]
"""An angle as whole multiples of the angles of a ring."""
Factor = tuple[str, Combination, int]
"""("sin" or "cos", angle, power)."""
Written = list[tuple[int, tuple[Factor, ...]]]


class Shortener:
    """Finds short forms over a fixed number of angles, and remembers them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._known: dict[frozenset[tuple[Exponents, int]], Written] = {}

    def shortest(self, terms: Terms) -> Written:
        """The polynomial as a short list of (coefficient, factors)."""
        written: Written = []
        for part in _independent_parts(terms, self.count):
            content = math.gcd(*part.values()) * (1 if part[min(part)] > 0 else -1)
            coprime = {exponents: value // content for exponents, value in part.items()}
            key = frozenset(coprime.items())
            if key not in self._known:
                self._known[key] = _shortest_part(coprime, self.count)
            written += [(content * value, factors) for value, factors in self._known[key]]
        return written


def _independent_parts(terms: Terms, count: int) -> list[Terms]:
    """Terms grouped by whether their frequency in each angle is odd: no identity leads from one group to another."""
    parts: dict[Exponents, Terms] = {}
    for exponents, value in terms.items():
        parity = tuple((exponents[i] + exponents[count + i]) % 2 for i in range(count))
        parts.setdefault(parity, {})[exponents] = value
    return list(parts.values())


def _shortest_part(terms: Terms, count: int) -> Written:
    basis = [tuple(int(i == j) for j in range(count)) for i in range(count)]
    best = _with_squares(terms, count)
    while len(best) > 1:
        better = _best_exchange(terms, basis, best)
        if better is None:
            break
        terms, basis, best = better
    angles = tuple(basis)
    return [(value, _factors(exponents, angles)) for exponents, value in sorted(best.items())]


def _best_exchange(
    terms: Terms, basis: list[Combination], best: Terms
) -> tuple[Terms, list[Combination], Terms] | None:
    """The exchange of one angle for its sum or difference with another that saves most, None if none saves."""
    found: tuple[Terms, list[Combination], Terms] | None = None
    alike = _alike(terms, len(basis))
    if not alike:
        return None
    for sign in (1, -1):
        for i in range(len(basis)):
            for j in range(len(basis)):
                if i == j or not _looks_like_sum(alike, len(basis), i, j, sign):
                    continue
                if _groups(best, len(basis), i, j) >= len(best):
                    continue
                combination = tuple(b + sign * a for a, b in zip(basis[i], basis[j], strict=True))
                if max(map(abs, combination)) > 1:
                    continue  # textbooks write c2 s23, not sin(2 q2 + q3)
                exchanged = _exchanged(terms, len(basis), i, j, sign)
                if len(exchanged) > 4 * len(best):
                    continue  # squares of sines cannot make up for that
                short = _with_squares(exchanged, len(basis))
                if _weight(short) < _weight(best):
                    best = short
                    found = exchanged, [*basis[:j], combination, *basis[j + 1 :]], short
    return found


def _alike(terms: Terms, count: int) -> Terms:
    """The terms with another of the same degree in every angle and the same magnitude: sums of angles leave pairs."""
    groups: dict[tuple[int, ...], list[Exponents]] = {}
    for exponents, value in terms.items():
        degree = map(operator.add, exponents[:count], exponents[count:])
        groups.setdefault((abs(value), *degree), []).append(exponents)
    return {exponents: terms[exponents] for group in groups.values() if len(group) > 1 for exponents in group}


def _looks_like_sum(terms: Terms, count: int, i: int, j: int, sign: int) -> bool:
    """True if x c_i c_j and -sign x s_i s_j both occur, or x s_i c_j and sign x c_i s_j: what a sum leaves behind."""
    for exponents, value in terms.items():
        if not exponents[i]:
            continue
        for here, there, expected in ((j, count + j, -sign * value), (count + j, j, sign * value)):
            if exponents[here]:
                partner = list(exponents)
                for position, change in ((i, -1), (count + i, 1), (here, -1), (there, 1)):
                    partner[position] += change
                if terms.get(tuple(partner)) == expected:
                    return True
    return False


def _groups(terms: Terms, count: int, i: int, j: int) -> int:
    """How many terms must remain at least, whatever is done to angles i and j: one for each factor in the others."""
    touched = (i, j, count + i, count + j)
    return len({tuple(power for k, power in enumerate(exponents) if k not in touched) for exponents in terms})


def _weight(terms: Terms) -> tuple[int, int]:
    return len(terms), sum(map(sum, terms))


def _exchanged(terms: Terms, count: int, i: int, j: int, sign: int) -> Terms:
    """The polynomial after angle j has been replaced by b = (angle j) + sign * (angle i)."""
    from flint import fmpq_mpoly_ctx

    names = [f"s{k}" for k in range(count)] + [f"c{k}" for k in range(count)]
    context = fmpq_mpoly_ctx.get(names, "lex")
    generators = list(context.gens())
    s_i, c_i, s_b, c_b = generators[i], generators[count + i], generators[j], generators[count + j]
    polynomial = context.from_dict(terms)
    images = generators.copy()
    images[j] = s_b * c_i - sign * c_b * s_i  # sin(b - sign * angle i)
    images[count + j] = c_b * c_i + sign * s_b * s_i
    result: fmpq_mpoly = polynomial.compose(*images, ctx=context)
    for k in (i, j):
        s, c = generators[k], generators[count + k]
        result = result % (s * s + c * c - 1)
    return {tuple(map(int, e)): int(value.p) for e, value in result.to_dict().items()}


def _with_squares(terms: Terms, count: int) -> Terms:
    """The polynomial with c^2 written as 1 - s^2 for each angle where that is shorter."""
    highest = [max(powers) for powers in zip(*terms, strict=True)]
    for k in range(count):
        if highest[count + k] > 1:
            other = _cosines_to_sines(terms, k, count + k)
            terms = other if _weight(other) < _weight(terms) else terms
    return terms


def _cosines_to_sines(terms: Terms, sine: int, cosine: int) -> Terms:
    result: Terms = {}
    for exponents, value in terms.items():
        pairs = exponents[cosine] // 2
        if not pairs:
            result[exponents] = result.get(exponents, 0) + value
            continue
        for power in range(pairs + 1):  # (1 - s^2)^pairs
            new = list(exponents)
            new[cosine] -= 2 * pairs
            new[sine] += 2 * power
            key = tuple(new)
            result[key] = result.get(key, 0) + value * math.comb(pairs, power) * (-1) ** power
    return {exponents: value for exponents, value in result.items() if value}


@lru_cache(maxsize=65536)
def _factors(exponents: Exponents, basis: tuple[Combination, ...]) -> tuple[Factor, ...]:
    count = len(basis)
    names = ["sin"] * count + ["cos"] * count
    powers = enumerate(zip(names, exponents, strict=True))
    return tuple((name, basis[k % count], power) for k, (name, power) in powers if power)
