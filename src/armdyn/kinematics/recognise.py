"""Which closed form of the inverse kinematics an arm has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

import numpy as np

from armdyn.kinematics.decompositions import FAMILIES, POSITIONS, Family
from armdyn.typing import Array

NEARLY = 1e-5
"""Angle, rad, and distance, as a share of the arm's size, up to which axes count as parallel or meeting. Files print
right angles as 1.5708, which is 3.7e-6 off; what is built is off by more, and is not meant to be parallel."""
EXACT = 1e-12
"""Up to here what is off is rounding, and the closed form needs no improvement."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Axes in numbers: directions h (k, 3) and points p (k, 3), m. size: length of the arm, m."""

    h: Array
    p: Array
    size: float

    def mirrored(self) -> Lines:
        """Return the axes from the tool to the base."""
        return Lines(-self.h[::-1], self.p[::-1], self.size)


@dataclass(frozen=True, eq=False)
class Match:
    """The family of an arm.

    lines:    its axes, snapped so that they lie as the family says; meeting axes have their points in common.
    mirrored: whether the family is that of the arm from its tool to its base.
    off:      how far the axes were from it, rad or share of the size.
    """

    family: Family
    lines: Lines
    mirrored: bool
    off: float


def recognised_position(lines: Lines) -> tuple[str, Lines, float] | None:
    """Return how the first three axes put a point somewhere, with the axes as that says."""
    for name, family in zip(POSITIONS, FAMILIES, strict=False):
        groups = tuple(group for group in family.meeting if max(group) <= 3)
        snapped = _snapped(lines, replace(family, meeting=groups))
        if snapped is not None:
            return name, *snapped
    return None


def recognised(lines: Lines) -> Match | None:
    """Return the family of six revolute axes, None if there is none."""
    for family in FAMILIES:
        for mirrored in (False, True):
            snapped = _snapped(lines.mirrored() if mirrored else lines, family)
            if snapped is not None:
                made, off = snapped
                return Match(family, made.mirrored() if mirrored else made, mirrored, off)
    return None


def _snapped(lines: Lines, family: Family) -> tuple[Lines, float] | None:
    """The axes as the family says, and how far they were from it; None if they are another family's."""
    h, off = lines.h.copy(), 0.0
    p = lines.p - h * (h * lines.p).sum(axis=1, keepdims=True)  # nearest to the origin: more zeros
    for group in family.parallel:
        index = [k - 1 for k in group]
        signs = np.sign(h[index] @ h[index[0]])
        mean = (signs[:, None] * h[index]).sum(axis=0)
        mean /= np.linalg.norm(mean)
        off = max(off, float(np.abs(signs[:, None] * h[index] - mean).max()))
        if off > NEARLY:
            return None
        exact = off < EXACT  # of parallel axes one and the same direction is taken, to the last bit
        h[index] = signs[:, None] * (h[index[0]] if exact else mean)
    for group in family.meeting:
        index = [k - 1 for k in group]
        if any(_parallel(h[a], h[b]) for a, b in pairwise(index)):
            return None
        across = np.eye(3) - h[index, :, None] * h[index, None, :]
        point = np.linalg.lstsq(across.reshape(-1, 3), (across @ p[index, :, None]).reshape(-1), rcond=None)[0]
        miss = np.linalg.norm((across @ (point - p[index])[:, :, None])[..., 0], axis=-1)
        off = max(off, float(miss.max()) / lines.size)
        if off > NEARLY:
            return None
        p[index] = point
    snapped = replace(lines, h=h, p=p)
    return (snapped, off) if _solvable(snapped, family) else None


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < NEARLY)


def _solvable(lines: Lines, family: Family) -> bool:
    """Whether every joint moves what its angle is found from: no two neighbouring axes are the same line, and axes next
    to a parallel or meeting group are not part of it.
    """
    h, p = lines.h, lines.p
    groups = [{k - 1 for k in group} for group in family.parallel]
    for a, b in combinations(range(len(h)), 2):
        apart = np.linalg.norm(np.cross(h[a], p[b] - p[a])) / lines.size
        if b == a + 1 and _parallel(h[a], h[b]) and apart < NEARLY:
            return False
    for group in groups:
        first, last = min(group), max(group)
        if first > 0 and _parallel(h[first - 1], h[first]):
            return False
        if last + 1 < len(h) and _parallel(h[last + 1], h[last]):
            return False
    return not any(_parallel(h[k], h[k + 1]) for k in (3, 4) if family.meeting and 6 in family.meeting[-1])


def lines_of(h: Sequence[Array], p: Sequence[Array]) -> Lines:
    """Return axes with their size."""
    points = np.array(p, dtype=float)
    size = float(np.abs(np.diff(points, axis=0)).sum()) or 1.0
    return Lines(np.array(h, dtype=float), points, size)


def completed(lines: Lines) -> tuple[Match, tuple[int, ...]] | None:
    """Return the family of fewer than six revolute axes with virtual ones added, and the places of the real axes.

    Virtual axes are tried before, between and behind the real ones: through points of these, parallel to them or
    across them. The family with the fewest operations is taken.
    """
    best: tuple[int, Match, tuple[int, ...]] | None = None
    count = len(lines.h)
    for real in combinations(range(6), count):
        for h, p in _completions(lines, real, 6 - count):
            match = recognised(Lines(h, p, lines.size))
            if match is not None:
                rank = FAMILIES.index(match.family)
                if best is None or rank < best[0]:
                    best = rank, match, real
    return None if best is None else best[1:]


def _completions(lines: Lines, real: tuple[int, ...], missing: int) -> Iterator[tuple[Array, Array]]:
    h, p = np.zeros((6, 3)), np.zeros((6, 3))
    h[list(real)], p[list(real)] = lines.h, lines.p
    virtual = [k for k in range(6) if k not in real]
    for choice in product(range(len(_virtual_axes(lines))), repeat=missing):
        for k, number in zip(virtual, choice, strict=True):
            h[k], p[k] = _virtual_axes(lines)[number]
        yield h.copy(), p.copy()


def _virtual_axes(lines: Lines) -> list[tuple[Array, Array]]:
    made = []
    for h, p in zip(lines.h, lines.p, strict=True):
        across = np.cross(h, np.eye(3)[np.argmin(np.abs(h))])
        across /= np.linalg.norm(across)
        made += [(across, p), (np.cross(h, across), p), (h, p + lines.size * across)]
    return made
