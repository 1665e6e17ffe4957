"""Which closed form of the inverse kinematics an arm has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise, product

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3
from armdyn.algebra.ops import Scalar
from armdyn.kinematics.decompositions import FAMILIES, POSITIONS, Branch, Chain, Family, Kind
from armdyn.kinematics.subproblems import Angle, Axis
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

    @property
    def chain(self) -> Chain:
        """The axes of `lines`."""
        return chain_of(self.lines, self.family, mirrored=self.mirrored)


def recognised_position(lines: Lines) -> tuple[str, Kind, float] | None:
    """Return how the first three axes put a point somewhere, the kind of arm that they are, and how far off it is."""
    for name, family in zip(POSITIONS, FAMILIES, strict=False):
        kind = Kind(family.parallel, tuple(group for group in family.meeting if max(group) <= 3))
        snapped = _snapped(lines, kind)
        if snapped is not None:
            return name, kind, snapped[1]
    return None


def recognised(lines: Lines) -> Match | None:
    """Return the family of six revolute axes, None if there is none."""
    for family in FAMILIES:
        for mirrored in (False, True):
            snapped = _snapped(lines.mirrored() if mirrored else lines, family)
            if snapped is not None:
                made, off = snapped
                match = Match(family, made.mirrored() if mirrored else made, mirrored, off)
                if _solves(match):
                    return match
    return None


TRIALS = 16
"""Configurations on which a family is tried before it is taken: an arm may have axes that lie as the family says and
others that coincide, so that an angle moves nothing of what it is found from."""


def _solves(match: Match) -> bool:
    """Whether the closed form finds random configurations from the poses that they give."""
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (TRIALS, 6))
    turns = [Angle(np.cos(x), np.sin(x)) for x in q.T]
    arm = match.chain
    columns = [*_UNITS, Vec3(0, 0, 0)]
    for axis, angle in zip(reversed(arm.axes), reversed(turns), strict=True):
        *ends, origin = columns
        columns = [*(axis.turned(angle, end) for end in ends), axis.moved(angle, origin)]
    found = np.zeros(TRIALS, dtype=bool)
    with np.errstate(all="ignore"):
        for angles, exists in branches(match, Pose(Mat3.columns(*columns[:3]), columns[3]), turns):
            near = [
                np.abs(a.cos * b.sin - a.sin * b.cos) + np.abs(a.cos - b.cos)
                for a, b in zip(angles, turns, strict=True)
            ]
            found |= (np.max(near, axis=0) < FOUND) & (np.broadcast_to(exists, TRIALS) >= 0)
    return bool(found.all())


FOUND = 1e-4
"""Distance, rad, within which a configuration counts as found again: that of double solutions is 1e-8."""
_UNITS = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))


def branches(match: Match, X: Pose, held: Sequence[Angle], arm: Chain | None = None) -> Iterator[Branch]:
    """Return the branches of six revolute axes.

    X: the motion from q = 0. held: angles that free joints keep. arm: the axes over another scalar, from `placed`.
    """
    arm = match.chain if arm is None else arm
    if not match.mirrored:
        yield from match.family.solve(arm, X.R, X.p, held)
        return
    back = X.inverse()
    for angles, exists in match.family.solve(arm.mirrored(), back.R, back.p, held[::-1]):
        yield Branch(angles[::-1], exists)


def placed(axes: Sequence[Axis], across: Sequence[Vec3], lines: Lines, kind: Kind, *, mirrored: bool = False) -> Chain:
    """Return axes over any scalar, so placed that they lie exactly as their kind says: parallel, or through one point.

    across: unit vectors across the axes, nearly at least. lines: the axes in numbers.
    """
    made, ways, last = [Axis(axis.h, axis.across(axis.p)) for axis in axes], [1] * len(axes), len(axes) - 1
    places = [[last - (k - 1) if mirrored else k - 1 for k in group] for group in kind.parallel]
    for first, *others in places:
        for k in others:
            ways[k] = 1 if lines.h[k] @ lines.h[first] > 0 else -1
            made[k] = Axis(made[first].h if ways[k] > 0 else -made[first].h, made[k].p)
    for group in kind.meeting:
        index = [last - (k - 1) if mirrored else k - 1 for k in group]
        point = made[index[0]].crossing(made[index[1]])
        for k in index:
            made[k] = Axis(made[k].h, point)
    made = [Axis(tidy(axis.h), tidy(axis.p)) for axis in made]
    beside = tuple(tidy(axis.across(v)) for axis, v in zip(made, across, strict=True))
    return Chain(tuple(made), beside, tuple(ways), float(lines.size))


LITERAL = 1e-12
"""How near to 0, 1 or -1 an entry of a direction or point counts as that number: rounding of right angles."""


def tidy(v: Iterable[Scalar]) -> Vec3:
    """Return a vector, numbers near 0, 1 and -1 as the literals that fold."""
    return Vec3(*map(_literal, v))


def _literal(x: Scalar) -> Scalar:
    if not isinstance(x, float):
        return x
    nearest = round(x)
    return nearest if abs(x - nearest) < LITERAL and abs(nearest) <= 1 else float(x)


def chain_of(lines: Lines, kind: Kind, *, mirrored: bool = False) -> Chain:
    """Return axes in numbers, placed as their kind says."""
    axes = [Axis(Vec3(*map(float, h)), Vec3(*map(float, p))) for h, p in zip(lines.h, lines.p, strict=True)]
    return placed(axes, [Vec3(*map(float, _across(h))) for h in lines.h], lines, kind, mirrored=mirrored)


def _across(h: Array) -> Array:
    """A unit vector perpendicular to h."""
    v = np.eye(3)[np.argmin(np.abs(h))]
    v = v - h * (h @ v)
    unit: Array = v / np.linalg.norm(v)
    return unit


def _snapped(lines: Lines, kind: Kind) -> tuple[Lines, float] | None:
    """The axes as their kind says, and how far they were from it; None if they are another kind's."""
    for group in kind.parallel:
        index = [k - 1 for k in group]
        if not all(_parallel(lines.h[index[0]], lines.h[k]) for k in index[1:]):
            return None
    for group in kind.meeting:
        if any(_parallel(lines.h[a - 1], lines.h[b - 1]) for a, b in pairwise(group)):
            return None
    arm = chain_of(lines, kind)
    h, p = (np.array([list(getattr(axis, name)) for axis in arm.axes], dtype=float) for name in "hp")
    moved = np.cross(h, p - lines.p) / lines.size
    off = float(max(np.abs(h - lines.h).max(), np.abs(moved).max()))
    return (replace(lines, h=h, p=p), off) if off <= NEARLY else None


def _parallel(a: Array, b: Array) -> bool:
    return bool(np.linalg.norm(np.cross(a, b)) < NEARLY)


def lines_of(h: Sequence[Array] | Array, p: Sequence[Array] | Array) -> Lines:
    """Return axes with their size."""
    points = np.array(p, dtype=float)
    size = float(np.abs(np.diff(points, axis=0)).sum()) or 1.0
    return Lines(np.array(h, dtype=float), points, size)


def completed(lines: Lines) -> tuple[Match, tuple[int, ...]] | None:
    """Return a family of four or five revolute axes with virtual ones added, and the places of the real axes.

    Virtual axes are tried behind, before and between the real ones, through points of their neighbours: across these
    or parallel to them.
    """
    count = len(lines.h)
    if count < FEWEST:
        return None
    for real in combinations(range(6), count):
        h, p = np.zeros((6, 3)), np.zeros((6, 3))
        h[list(real)], p[list(real)] = lines.h, lines.p
        virtual = [k for k in range(6) if k not in real]
        for choice in product(*(_virtual_axes(lines, real, k) for k in virtual)):
            for k, (direction, point) in zip(virtual, choice, strict=True):
                h[k], p[k] = direction, point
            match = recognised(Lines(h.copy(), p.copy(), lines.size))
            if match is not None:
                return match, real
    return None


FEWEST = 4
"""Real axes of an arm that is completed: with three of them, whole poses are reached by chance only."""


def _virtual_axes(lines: Lines, real: tuple[int, ...], place: int) -> list[tuple[Array, Array]]:
    """Axes for a place among six, by the nearest real axes before and behind it."""
    before = [k for k, at in enumerate(real) if at < place][-1:]
    behind = [k for k, at in enumerate(real) if at > place][:1]
    made = []
    for k in (*before, *behind):
        h, p = lines.h[k], lines.p[k]
        across = _across(h)
        made += [(across, p), (np.cross(h, across), p), (h, p + lines.size * across)]
    return made
