"""The shortest way to write a trigonometric polynomial in sines and cosines of sums of angles.

c2 c3 - s2 s3 is better written c23, and 1 - c2^2 is s2^2. A polynomial is split into parts that no identity can mix,
and for each part the angles are exchanged for sums or differences as long as that saves terms.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flint import fmpq_mpoly

Exponents = tuple[int, ...]
"""Exponents of the sines, then of the cosines, of some angles."""
Terms = dict[Exponents, Fraction]
Whole = dict[Exponents, int]
"""Terms scaled to whole coefficients: the search works on these, since integers are quicker than fractions."""
Combination = tuple[int, ...]
"""An angle as whole multiples of the angles of a ring."""
Factor = tuple[str, Combination, int]
"""("sin" or "cos", angle, power)."""
Written = list[tuple[Fraction, tuple[Factor, ...]]]


class Shortener:
    """Finds short forms over a fixed number of angles, and remembers them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._known: dict[frozenset[tuple[Exponents, int]], Written] = {}

    def shortest(self, terms: Terms) -> Written:
        """The polynomial as a short list of (coefficient, factors)."""
        written: Written = []
        for part in _independent_parts(terms, self.count):
            scale, whole = _scaled_to_whole(part)
            key = frozenset(whole.items())
            if key not in self._known:
                self._known[key] = _shortest_part(whole, self.count)
            written += [(scale * value, factors) for value, factors in self._known[key]]
        return written


def _scaled_to_whole(terms: Terms) -> tuple[Fraction, Whole]:
    """(scale, terms/scale), the latter with coprime whole coefficients, the first one positive."""
    denominator = math.lcm(*(value.denominator for value in terms.values()))
    whole = {exponents: int(value * denominator) for exponents, value in terms.items()}
    content = math.gcd(*whole.values()) * (1 if whole[min(whole)] > 0 else -1)
    return Fraction(content, denominator), {exponents: value // content for exponents, value in whole.items()}


def _independent_parts(terms: Terms, count: int) -> list[Terms]:
    """Terms grouped by whether their frequency in each angle is odd: no identity leads from one group to another."""
    parts: dict[Exponents, Terms] = {}
    for exponents, value in terms.items():
        parity = tuple((exponents[i] + exponents[count + i]) % 2 for i in range(count))
        parts.setdefault(parity, {})[exponents] = value
    return list(parts.values())


def _shortest_part(terms: Whole, count: int) -> Written:
    used = [i for i in range(count) if any(e[i] or e[count + i] for e in terms)]
    local = {tuple(e[i] for i in used) + tuple(e[count + i] for i in used): value for e, value in terms.items()}
    basis = [tuple(int(i == j) for j in range(count)) for i in used]
    best = _with_squares(local, len(used))
    while len(best) > 1:
        better = _best_exchange(local, basis, best)
        if better is None:
            break
        local, basis, best = better
    return [(Fraction(value), _factors(exponents, basis)) for exponents, value in sorted(best.items())]


def _best_exchange(
    terms: Whole, basis: list[Combination], best: Whole
) -> tuple[Whole, list[Combination], Whole] | None:
    """The exchange of one angle for its sum or difference with another that saves most, None if none saves."""
    found: tuple[Whole, list[Combination], Whole] | None = None
    for sign in (1, -1):
        for i in range(len(basis)):
            for j in range(len(basis)):
                if i == j or not _looks_like_sum(terms, len(basis), i, j, sign):
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


def _looks_like_sum(terms: Whole, count: int, i: int, j: int, sign: int) -> bool:
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


def _groups(terms: Whole, count: int, i: int, j: int) -> int:
    """How many terms must remain at least, whatever is done to angles i and j: one for each factor in the others."""
    touched = (i, j, count + i, count + j)
    return len({tuple(power for k, power in enumerate(exponents) if k not in touched) for exponents in terms})


def _weight(terms: Whole) -> tuple[int, int]:
    return len(terms), sum(map(sum, terms))


def _exchanged(terms: Whole, count: int, i: int, j: int, sign: int) -> Whole:
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


def _with_squares(terms: Whole, count: int) -> Whole:
    """The polynomial with c^2 written as 1 - s^2 for each angle where that is shorter."""
    for k in range(count):
        if any(exponents[count + k] > 1 for exponents in terms):
            other = _cosines_to_sines(terms, k, count + k)
            terms = other if _weight(other) < _weight(terms) else terms
    return terms


def _cosines_to_sines(terms: Whole, sine: int, cosine: int) -> Whole:
    result: Whole = {}
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


def _factors(exponents: Exponents, basis: list[Combination]) -> tuple[Factor, ...]:
    count = len(basis)
    names = ["sin"] * count + ["cos"] * count
    powers = enumerate(zip(names, exponents, strict=True))
    return tuple((name, basis[k % count], power) for k, (name, power) in powers if power)
