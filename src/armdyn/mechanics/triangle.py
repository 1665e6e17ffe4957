"""A triangle of a closed chain: two parallel revolute joints whose links meet, as in every planar four-bar.

Seen along their axes, the two links are vectors of constant length between two known points: two circles that meet,

    R(phi1) a + R(phi2) b = d                                                              gives both, in closed form

The angles phi are those of the links against the loop's frame (its plane, if the loop is planar), not of one link
against the other: a and b are then constants, and the links' orientations need no products of rotations.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algebra import Mat3, Scalar, Vec3, ops
from armdyn.algebra.ops import add, div, mul, sub
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.loop_geometry import LoopGeometry
from armdyn.mechanics.matrices import inner
from armdyn.typing import Scalars


class TriangleGeometry:
    """Two joints of a loop, for any scalar.

    joints: the two, the second after the first if they are on one branch (`chained`). sense: 1 or -1, whether the
    second turns about the first one's axis.
    """

    def __init__(self, loop: LoopGeometry, joints: tuple[int, int], chained: bool, sense: int) -> None:
        self.loop, (self.one, self.two) = loop, joints
        self.chained, self.sense = chained, sense

    def angles(self, q: Scalars, near: Scalar | None, branch: int) -> tuple[AnglePair, AnglePair]:
        """Positions of the two joints; near: the first one's, which decides on the root (default: branch)."""
        loop = self.loop
        before, end = loop.before(self.one, q), loop.other_end(self.one, q)
        axis = before.R.column(2)
        planar = all(type(x) is int for x in axis) and axis.z != 0  # the axis is that of the loop's plane
        axes = Mat3.identity() if planar else before.R
        flip = axis.z if planar else 1
        start = _turned(axes.T @ before.R)
        if self.chained:
            arm, other = loop.between(self.one, self.two, q), loop.after(self.two, q)
            flips = flip, flip * self.sense
            a, b = _flat(arm.p, flips[0]), _flat(other.p, flips[1])
            d = axes.T @ (end.p - before.p)
        else:
            arm, other = loop.after(self.one, q), loop.before(self.two, q)
            flips = flip, flip * self.sense
            a, b = _flat(arm.p, flips[0]), _flat(-loop.after(self.two, q).p, flips[1])
            d = axes.T @ (other.p - before.p)
        sought = None if near is None else start + flip * ops.add(near, loop.links[self.one].offset)
        first, second = _two_circles(a, b, (d.x, d.y), sought, flip * branch)
        if self.chained:
            turn = _turned(arm.R)
            behind = first + (turn if flip > 0 else -turn)
        else:
            behind = _turned(axes.T @ other.R)
        found = []
        for joint, angle, zero, sense in zip(
            (self.one, self.two), (first, second), (start, behind), flips, strict=True
        ):
            relative = angle - zero if sense > 0 else zero - angle
            offset = loop.links[joint].offset
            pair = relative if ops.is_zero(offset) else relative - offset
            found.append(AnglePair(pair.cosine, pair.sine, (loop, _orientation(angle, sense)) if planar else None))
        return found[0], found[1]


def _two_circles(
    a: Sequence[Scalar], b: Sequence[Scalar], d: Sequence[Scalar], near: AnglePair | None, branch: int
) -> tuple[AnglePair, AnglePair]:
    """phi1, phi2 of R(phi1) a + R(phi2) b = d; near: an angle on the side of the first that is meant."""
    a2, b2, d2 = (inner(x, x) for x in (a, b, d))
    K = ops.half(add(d2, sub(a2, b2)))
    X, Y = inner(a, d), _cross(a, d)
    square = mul(a2, d2)
    root = ops.sqrt(sub(square, mul(K, K)))
    if near is None:
        root = mul(branch, root)
    else:
        side = sub(mul(X, near.sine), mul(Y, near.cosine))
        root = ops.select(side, root, sub(0, root))
    inverse = 1 / square
    first = AnglePair(
        mul(sub(mul(X, K), mul(Y, root)), inverse),
        mul(add(mul(Y, K), mul(X, root)), inverse),
    )
    e = (
        sub(d[0], sub(mul(first.cosine, a[0]), mul(first.sine, a[1]))),
        sub(d[1], add(mul(first.sine, a[0]), mul(first.cosine, a[1]))),
    )
    share = div(1, b2)
    return first, AnglePair(mul(inner(b, e), share), mul(_cross(b, e), share))


def _cross(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sub(mul(a[0], b[1]), mul(a[1], b[0]))


def _flat(p: Vec3, flip: int) -> tuple[Scalar, Scalar]:
    """A point in the plane; flip: -1 where the plane is seen from below."""
    return p.x, mul(flip, p.y)


def _turned(R: Mat3) -> AnglePair:
    """The angle of the x axis of a rotation whose z is along or against the axis."""
    x = R.column(0)
    return AnglePair(x.x, x.y)


def _orientation(angle: AnglePair, flip: int) -> Mat3:
    """Axes of a link in the plane, at this angle, seen from above or below."""
    c, s = angle.cosine, angle.sine
    return Mat3([[c, mul(-flip, s), 0], [s, mul(flip, c), 0], [0, 0, flip]])


__all__ = ["TriangleGeometry"]
