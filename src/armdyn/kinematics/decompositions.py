"""Families of six revolute joints with a closed form: which axes must lie how, and the order in which angles follow.

The arm is a product of rotations about its axes at q = 0, e^1 e^2 ... e^6 = X, where X is the motion from the pose at
q = 0 to the wanted one. Every function is arithmetic over any scalar: numbers, arrays, exact numbers, graph nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from armdyn.algebra import Mat3, Pose, Vec3, ops
from armdyn.algebra.ops import Scalar
from armdyn.kinematics.subproblems import (
    ONE,
    Angle,
    Axis,
    Choice,
    affine,
    both,
    on_conic,
    scaled,
    summed,
    to_direction,
    to_distance,
    to_height,
    turn,
    turn_of,
)


class Branch(NamedTuple):
    """One solution: the angles in the order of the axes, and a condition that is negative where it does not exist."""

    angles: tuple[Angle, ...]
    exists: Scalar


@dataclass(frozen=True)
class Chain:
    """Axes of an arm at q = 0, over any scalar.

    across: a unit vector perpendicular to each axis.
    ways:   1 or -1: axes that are parallel point the same way if they have the same sign.
    size:   length of the arm, m, with which lever arms are compared.
    """

    axes: tuple[Axis, ...]
    across: tuple[Vec3, ...]
    ways: tuple[int, ...]
    size: Scalar

    def mirrored(self) -> Chain:
        """Return the arm from its tool to its base: X becomes its inverse."""
        axes = tuple(axis.reversed() for axis in reversed(self.axes))
        return Chain(axes, self.across[::-1], self.ways[::-1], self.size)

    def seen_from(self, other: int, k: int, angle: Angle) -> Angle:
        """Return an angle about axis k as one about a parallel axis, which may point the other way."""
        return angle if self.ways[k] == self.ways[other] else -angle


Solve = Callable[[Chain, Mat3, Vec3, Sequence[Angle]], Iterator[Branch]]
"""From arm, R and p of X, and the angles that free joints keep, to the branches."""


Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Kind:
    """How axes lie. parallel, meeting: groups of axes (1 to 6) that are parallel, or pass through one point."""

    parallel: Groups
    meeting: Groups


@dataclass(frozen=True)
class Family(Kind):
    """A kind of arm with a closed form.

    name:  in words.
    solve: the branches.
    conic: whether an angle is found where a conic meets a circle.
    """

    name: str
    solve: Solve
    conic: bool = False


# The wrist's centre by the first three joints -------------------------------------------------------------------------

Position = Callable[[Sequence[Axis], Vec3, Vec3, Sequence[Angle], Scalar], Iterator[Branch]]
"""Angles of three axes that take a point (where the axes are at q = 0) to a wanted point."""


def _each(choices: list[Choice], *known: Scalar) -> Iterator[tuple[Angle, Scalar]]:
    """The choices, each with its condition joined with those of the angles chosen before."""
    for angle, exists in choices:
        for condition in known:
            exists = both(condition, exists)
        yield angle, exists


def two_parallel_three(
    axes: Sequence[Axis], point: Vec3, wanted: Vec3, held: Sequence[Angle], size: Scalar
) -> Iterator[Branch]:
    """Height along axis 2 gives q1, the triangle across it q3, what is left q2."""
    one, two, three = axes
    height = two.h.dot(point - one.p)
    for q1, first in _each(to_height(one.reversed(), two.h, wanted - one.p, height, held[0], size)):
        end = one.moved(-q1, wanted)
        yield from _planar_pair(two, three, q1, first, point, end, held, size)


def _planar_pair(
    two: Axis, three: Axis, q1: Angle, first: Scalar, point: Vec3, end: Vec3, held: Sequence[Angle], size: Scalar
) -> Iterator[Branch]:
    end = held[2].vector(end)
    across = two.across(end - two.p)
    triangle = to_distance(three, point - three.p, two.p - three.p, across.dot(across), held[2], size)
    for q3, exists in _each(triangle, first):
        q2 = turn(two, three.moved(q3, point) - two.p, across, held[1], size)
        yield Branch((q1, q2, q3), exists)


def one_parallel_two(
    axes: Sequence[Axis], point: Vec3, wanted: Vec3, held: Sequence[Angle], size: Scalar
) -> Iterator[Branch]:
    """Height along axis 1 gives q3, the triangle across it q2, what is left q1."""
    one, two, three = axes
    height = one.h.dot(wanted - three.p)
    across = one.across(wanted - one.p)
    for q3, third in _each(to_height(three, one.h, point - three.p, height, held[2], size)):
        end = held[1].vector(three.moved(q3, point))
        triangle = to_distance(two, end - two.p, one.p - two.p, across.dot(across), held[1], size)
        for q2, exists in _each(triangle, third):
            yield Branch((turn(one, two.moved(q2, end) - one.p, across, held[0], size), q2, q3), exists)


def one_meets_two(
    axes: Sequence[Axis], point: Vec3, wanted: Vec3, held: Sequence[Angle], size: Scalar
) -> Iterator[Branch]:
    """Distance from the crossing of axes 1 and 2 gives q3, height along axis 1 q2, what is left q1."""
    one, two, three = axes
    center, reach = one.p - three.p, wanted - one.p
    up = three.h.dot(point - three.p - center)
    for q3, third in _each(to_distance(three, point - three.p, center, reach.dot(reach) - up * up, held[2], size)):
        end = held[1].vector(three.moved(q3, point) - one.p)
        for q2, exists in _each(to_height(two, one.h, end, one.h.dot(reach), held[1], size), third):
            yield Branch((turn(one, two.turned(q2, end), reach, held[0], size), q2, q3), exists)


def two_meets_three(
    axes: Sequence[Axis], point: Vec3, wanted: Vec3, held: Sequence[Angle], size: Scalar
) -> Iterator[Branch]:
    """Distance from the crossing of axes 2 and 3 gives q1, height along axis 2 q3, what is left q2."""
    one, two, three = axes
    center, lever = two.p - one.p, point - two.p
    up = one.h.dot(wanted - one.p - center)
    back = one.reversed()
    for q1, first in _each(to_distance(back, wanted - one.p, center, lever.dot(lever) - up * up, held[0], size)):
        end = held[2].vector(one.moved(-q1, wanted) - two.p)
        for q3, exists in _each(to_height(three, two.h, lever, two.h.dot(end), held[2], size), first):
            yield Branch((q1, turn(two, three.turned(q3, lever), end, held[1], size), q3), exists)


def three_skew(
    axes: Sequence[Axis], point: Vec3, wanted: Vec3, held: Sequence[Angle], size: Scalar
) -> Iterator[Branch]:
    """Height along axis 1 and distance from a point of it are linear in the image of q3: a conic; then q2 and q1."""
    one, two, three = axes
    reach, offset, lever = wanted - one.p, two.p - one.p, point - three.p
    arm = three.p - two.p  # end - two.p = arm + e^3 lever
    # The image x of (end - two.p) across axis 2 has x . h1 = height and x . offset = half, both affine in q3.
    along = affine(three, two.h, lever, two.h.dot(arm))
    square = affine(three, arm * 2, lever, lever.dot(lever) + arm.dot(arm))
    height = summed((one.h.dot(reach) - one.h.dot(offset), 0, 0), scaled(along, -one.h.dot(two.h)))
    rest = (reach.dot(reach) - offset.dot(offset)) / 2
    half = summed((rest, 0, 0), summed(scaled(square, -0.5), scaled(along, -offset.dot(two.h))))
    g, k = two.across(one.h), two.across(offset)
    gg, gk, kk = g.dot(g), g.dot(k), k.dot(k)
    gram = gg * kk - gk * gk
    # |x|^2 = (kk height^2 - 2 gk height half + gg half^2) / gram = square - along^2
    conic = [
        (kk, height, height),
        (-2 * gk, height, half),
        (gg, half, half),
        (gram, along, along),
        (-gram, square, ONE),
    ]
    for q3, exists in _each(on_conic(conic, held[2])):
        end = held[1].vector(three.moved(q3, point))
        u = two.across(end - two.p)
        value_g, value_k = _at(height, q3), _at(half, q3)
        x = g * ((kk * value_g - gk * value_k) / gram) + k * ((gg * value_k - gk * value_g) / gram)
        q2 = turn(two, u, x, held[1], size)
        yield Branch((turn(one, two.moved(q2, end) - one.p, reach, held[0], size), q2, q3), exists)


def _at(f: tuple[Scalar, Scalar, Scalar], angle: Angle) -> Scalar:
    return f[0] + f[1] * angle.cos + f[2] * angle.sin


def wrist(position: Position) -> Solve:
    """Return the solution of arms whose last three axes meet: the wrist's centre first, then its rotation."""

    def solve(arm: Chain, R: Mat3, p: Vec3, held: Sequence[Angle]) -> Iterator[Branch]:
        four, five, six = arm.axes[3:]
        for (q1, q2, q3), exists in position(arm.axes[:3], four.p, held[0].vector(R @ four.p + p), held, arm.size):

            def left(v: Vec3, turns: tuple[Angle, ...] = (q1, q2, q3)) -> Vec3:
                """The rotation that the wrist has to make, of a vector."""
                v = R @ v
                for axis, angle in zip(arm.axes, turns, strict=False):
                    v = axis.turned(-angle, v)
                return v

            pointing, across = held[4].vector(left(six.h)), held[5].vector(left(arm.across[5]))

            def around(q5: Angle, pointing: Vec3 = pointing, across: Vec3 = across) -> tuple[Angle, Angle]:
                q4 = turn(four, five.turned(q5, six.h), pointing, held[3])
                # The last angle from the rotation that is left: it makes up for a free q4, and for its rounding.
                return q4, turn_of(six, arm.across[5], five.turned(-q5, four.turned(-q4, across)), held[5])

            (q5, found), (other, _) = _each(to_direction(five, four.h, six.h, pointing, held[4]), exists)
            q4, q6 = around(q5)
            yield Branch((q1, q2, q3, q4, q5, q6), found)
            # Where the wrist's axes are at right angles, its other solution is half a turn about axes 4 and 6 away.
            right_angles = ops.is_zero(four.h.dot(five.h)) and ops.is_zero(five.h.dot(six.h))
            q4, q6 = (q4.half_turn(), q6.half_turn()) if right_angles else around(other)
            yield Branch((q1, q2, q3, q4, other, q6), found)

    return solve


# Three parallel axes --------------------------------------------------------------------------------------------------


def _parallel_rest(
    arm: Chain, R: Mat3, p: Vec3, held: Sequence[Angle], known: dict[int, Angle], exists: Scalar, first: int
) -> Iterator[Branch]:
    """The three parallel axes from `first` on (counted from 0), all others known: their sum, the triangle, the rest."""
    two, three, four = arm.axes[first : first + 3]
    # e^2 e^3 e^4 = e^-1 X e^-6 e^-5
    end, image = four.p, arm.across[first]
    for k in range(first + 3, 6):
        end, image = arm.axes[k].moved(-known[k], end), arm.axes[k].turned(-known[k], image)
    end, image = R @ end + p, R @ image
    for k in range(first):
        end, image = arm.axes[k].moved(-known[k], end), arm.axes[k].turned(-known[k], image)
    rest = arm.seen_from(first, first + 1, held[first + 1]).plus(arm.seen_from(first, first + 2, held[first + 2]))
    total = turn_of(two, arm.across[first], image, held[first].plus(rest))
    kept = (held[0], *held[first : first + 2])
    for (_, q2, q3), found in _planar_pair(two, three, total, exists, four.p, end, kept, arm.size):
        rest = total.plus(-q2).plus(-arm.seen_from(first, first + 1, q3))
        q4 = arm.seen_from(first + 2, first, rest)
        angles = {**known, first: q2, first + 1: q3, first + 2: q4}
        yield Branch(tuple(angles[k] for k in range(6)), found)


def middle_parallel(arm: Chain, R: Mat3, p: Vec3, held: Sequence[Angle]) -> Iterator[Branch]:
    """Height of the crossing of axes 5 and 6 gives q1, the direction of axis 6 q5, what is left q6 and the three."""
    one, two, _, _, five, six = arm.axes
    height = two.h.dot(six.p - one.p)
    crossing = held[0].vector(R @ six.p + p)
    for q1, first in _each(to_height(one.reversed(), two.h, crossing - one.p, height, held[0], arm.size)):
        pointing = held[4].vector(one.turned(-q1, R @ six.h))
        for q5, exists in _each(to_direction(five, two.h, six.h, pointing, held[4]), first):
            yield from _after_q5(arm, R, p, held, q1, q5, exists)


def middle_parallel_skew(arm: Chain, R: Mat3, p: Vec3, held: Sequence[Angle]) -> Iterator[Branch]:
    """Direction and height of axis 6 along axis 2 are linear in q1 and in q5: a conic for q1; q5, q6 and the three."""
    one, two, _, _, five, six = arm.axes
    back, lever, between = one.reversed(), six.p - five.p, two.h.dot(five.h)
    # h2 . e^-1 R h6 = h2 . e^5 h6 and h2 . e^-1 X p6 = h2 . e^5 p6
    f = affine(back, two.h, R @ six.h, -between * five.h.dot(six.h))
    g = affine(back, two.h, R @ six.p + p - one.p, two.h.dot(one.p - five.p) - between * five.h.dot(lever))
    a, b = two.h.dot(five.across(six.h)), two.h.dot(five.h.cross(six.h))
    c, d = two.h.dot(five.across(lever)), two.h.dot(five.h.cross(lever))
    determinant = a * d - b * c
    cos, sin = summed(scaled(f, d), scaled(g, -b)), summed(scaled(g, a), scaled(f, -c))
    for q1, exists in _each(on_conic([(1, cos, cos), (1, sin, sin), (-determinant * determinant, ONE, ONE)], held[0])):
        q5 = Angle(_at(cos, q1) / determinant, _at(sin, q1) / determinant)
        yield from _after_q5(arm, R, p, held, q1, q5, exists)


def _after_q5(
    arm: Chain, R: Mat3, p: Vec3, held: Sequence[Angle], q1: Angle, q5: Angle, exists: Scalar
) -> Iterator[Branch]:
    one, two, _, _, five, six = arm.axes
    q6 = turn(six, R.T @ one.turned(q1, two.h), five.turned(-q5, two.h), held[5])
    yield from _parallel_rest(arm, R, p, held, {0: q1, 4: q5, 5: q6}, exists, 1)


def first_parallel(arm: Chain, R: Mat3, p: Vec3, held: Sequence[Angle]) -> Iterator[Branch]:
    """Height of the crossing of axes 5 and 6 gives q4, the direction of axis 6 q5, what is left q6 and the three."""
    one, _, _, four, five, six = arm.axes
    height = one.h.dot(R @ six.p + p - four.p)
    for q4, fourth in _each(to_height(four, one.h, six.p - four.p, height, held[3], arm.size)):
        g, pointing = four.turned(-q4, one.h), held[4].vector(four.turned(-q4, R @ six.h))
        for q5, exists in _each(to_direction(five, g, six.h, pointing, held[4]), fourth):
            q6 = turn(six, R.T @ one.h, five.turned(-q5, g), held[5])
            yield from _parallel_rest(arm, R, p, held, {3: q4, 4: q5, 5: q6}, exists, 0)


_WRIST = ((4, 5, 6),)
FAMILIES = (
    Family(((2, 3),), _WRIST, "spherical wrist, axes 2 and 3 parallel", wrist(two_parallel_three)),
    Family(((1, 2),), _WRIST, "spherical wrist, axes 1 and 2 parallel", wrist(one_parallel_two)),
    Family((), ((1, 2), *_WRIST), "spherical wrist, axes 1 and 2 meet", wrist(one_meets_two)),
    Family((), ((2, 3), *_WRIST), "spherical wrist, axes 2 and 3 meet", wrist(two_meets_three)),
    Family((), _WRIST, "spherical wrist", wrist(three_skew), conic=True),
    Family(((2, 3, 4),), ((5, 6),), "axes 2, 3, 4 parallel, 5 and 6 meet", middle_parallel),
    Family(((1, 2, 3),), ((5, 6),), "axes 1, 2, 3 parallel, 5 and 6 meet", first_parallel),
    Family(((2, 3, 4),), (), "axes 2, 3, 4 parallel", middle_parallel_skew, conic=True),
)
"""In the order in which they are tried: those with fewer operations first. Each also holds for the mirrored arm."""


POSITIONS: dict[str, Position] = {
    "2 and 3 parallel": two_parallel_three,
    "1 and 2 parallel": one_parallel_two,
    "1 and 2 meeting": one_meets_two,
    "2 and 3 meeting": two_meets_three,
    "skew": three_skew,
}
"""Three axes that put a point somewhere: the same as those below a wrist, and in the same order."""


# Arms of fewer directions ---------------------------------------------------------------------------------------------


def planar_arm(
    arm: Chain,
    revolute: Sequence[bool],
    X: Pose | None,
    point: Vec3,
    end: Vec3,
    held: Sequence[Angle | Scalar],
    tolerance: float,
) -> Iterator[Branch]:
    """All axes parallel: two angles from the triangle, a third from the rotation, a height for the last slide.

    X: the motion; None if the rotation is not asked for. point, end: of the tool at q = 0 and where it is wanted.
    """
    turning = [k for k, is_revolute in enumerate(revolute) if is_revolute]
    sliding = [k for k, is_revolute in enumerate(revolute) if not is_revolute]
    (first, second, *third), (one, two, *more) = turning, [arm.axes[k] for k in turning]
    rise = one.h.dot(end - point)
    exists: Scalar = 1
    if X is not None:
        tilt = X.R @ one.h - one.h
        exists = tolerance * tolerance - tilt.dot(tilt)
        sum_of_angles = held[first]
        for k in turning[1:]:
            sum_of_angles = sum_of_angles.plus(arm.seen_from(first, k, held[k]))
        total = turn_of(one, arm.across[first], X.R @ arm.across[first], sum_of_angles)
    slides = {k: held[k] for k in sliding}
    for k in sliding[:-1]:  # more slides than needed stay where they are
        rise = rise - held[k] * arm.ways[k] * arm.ways[first]
    if sliding:
        slides[sliding[-1]] = rise * arm.ways[sliding[-1]] * arm.ways[first]
    else:
        exists = both(exists, tolerance * tolerance - rise * rise)
    if more and X is not None:
        point, end = more[0].p, X.apply(more[0].p)
    kept = (held[first], held[first], held[second])
    for (_, q1, q2), found in _planar_pair(one, two, kept[0], exists, point, end, kept, arm.size):
        angles = {**slides, first: q1, second: q2}
        rest = total.plus(-q1).plus(-arm.seen_from(first, second, q2)) if X is not None else None
        if third and rest is not None:
            angles[third[0]] = arm.seen_from(third[0], first, rest)
        elif rest is not None:
            off = rest.sin * rest.sin + (rest.cos - 1) * (rest.cos - 1)
            found = both(found, tolerance * tolerance - off)
        yield Branch(tuple(angles[k] for k in range(len(revolute))), found)


def prismatic_arm(
    inverse: Sequence[Vec3], directions: Sequence[Vec3], R: Mat3 | None, shift: Vec3, tolerance: float
) -> Iterator[Branch]:
    """Slides alone: a linear equation, which the pose must satisfy."""
    q = tuple(row.dot(shift) for row in inverse)
    rest = shift
    for direction, x in zip(directions, q, strict=True):
        rest = rest - direction * x
    off = rest.dot(rest)
    if R is not None:
        off = off + ops.total((R.rows[i][j] - (i == j)) * (R.rows[i][j] - (i == j)) for i in range(3) for j in range(3))
    yield Branch(q, tolerance * tolerance - off)
