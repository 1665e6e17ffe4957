"""A strut of a closed chain: a bar from a universal joint to a ball, as in the legs of parallel robots.

Its two revolute joints turn the bar about one point, so that what they close is a distance: with O the centre of the
universal joint, P the ball where the other branch puts it, and v the ball seen from the second joint's frame,

    |P - O|^2 = |v|^2                                                          one condition instead of three
    Rz(a) A Rz(b) v = u = P - O in the axes of the first joint                 gives both angles, in closed form
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from armdyn.algebra import Mat3, Pose, Scalar, cross, dot, ops
from armdyn.algebra.ops import add, mul, sub
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.mechanics.loop_geometry import LoopGeometry
from armdyn.typing import Scalars

CENTRED = 1e-12
"""Axes of a universal joint meet this closely, m."""


def universal_joint(loop: LoopGeometry, open_joints: set[int], own: set[int]) -> tuple[int, int] | None:
    """The two joints of a strut of the loop; None if there is none.

    open_joints: those that are to be solved for. own: those of them that are in no other loop.
    """
    if loop.loop.kind != "spherical":
        return None
    for branch in (loop.first, loop.second):
        for one, two in pairwise(branch):
            later = branch[branch.index(two) + 1 :]
            plain = {one, two} <= own and not open_joints & set(later)
            turning = loop.links[one].revolute and loop.links[two].revolute
            if plain and turning and all(abs(float(x)) < CENTRED for x in loop.links[two].placement.p):
                return one, two
    return None


class StrutGeometry:
    """The strut of a loop, for any scalar. one, two: its universal joint."""

    def __init__(self, loop: LoopGeometry, joints: tuple[int, int]) -> None:
        self.loop, (self.one, self.two) = loop, joints
        first = self.one in loop.first
        leg, self.other = (loop.first, loop.second) if first else (loop.second, loop.first)
        place = leg.index(self.one)
        self.before, self.after = leg[:place], leg[place + 2 :]
        self.end, self.other_end = (loop.first_end, loop.second_end) if first else (loop.second_end, loop.first_end)

    def _chain(self, joints: Sequence[int], q: Scalars) -> tuple[dict[int, Pose], Pose]:
        """Poses of joints one after the other, from the frame where they begin."""
        pose, found = Pose.identity(), {}
        for j in joints:
            pose = pose @ self.loop.links[j].pose(q[j])
            found[j] = pose
        return found, pose

    def condition(self, q: Scalars) -> tuple[dict[int, Scalar], Scalar]:
        """(its rates by joint, value) of (|P - O|^2 - |v|^2)/2: the joints of the strut itself have none."""
        before, base = self._chain(self.before, q)
        other, carrier = self._chain(self.other, q)
        after, tip = self._chain(self.after, q)
        O, v = base.apply(self.loop.links[self.one].placement.p), tip.apply(self.end.p)
        P = carrier.apply(self.other_end.p)
        n = P - O
        rates: dict[int, Scalar] = {}
        for poses, point, along in ((other, P, n), (before, O, -n), (after, v, -v)):
            for j, pose in poses.items():
                z = pose.R.column(2)
                rates[j] = dot(along, cross(z, point - pose.p) if self.loop.links[j].revolute else z)
        return rates, ops.half(sub(dot(n, n), dot(v, v)))

    def angles(self, q: Scalars, near: Scalar | None, branch: int) -> tuple[AnglePair, AnglePair]:
        """Positions of the universal joint; near: the second one's, which decides on the root (default: branch)."""
        links = self.loop.links
        _, base = self._chain(self.before, q)
        _, carrier = self._chain(self.other, q)
        _, tip = self._chain(self.after, q)
        frame, A, v = base @ links[self.one].placement, links[self.two].placement.R, tip.apply(self.end.p)
        u = frame.R.T @ (carrier.apply(self.other_end.p) - frame.p)
        _, _, (a, b, c) = A.rows
        X, Y = add(mul(a, v.x), mul(b, v.y)), sub(mul(b, v.x), mul(a, v.y))
        C = sub(u.z, mul(c, v.z))
        square = add(mul(X, X), mul(Y, Y))
        root = ops.sqrt(sub(square, mul(C, C)))
        if near is None:
            root = mul(branch, root)
        else:
            turned = ops.add(near, links[self.two].offset)
            side = sub(mul(X, ops.sin(turned)), mul(Y, ops.cos(turned)))
            root = ops.select(side, root, sub(0, root))
        second = _pair(sub(mul(X, C), mul(Y, root)), add(mul(Y, C), mul(X, root)), square)
        w = A @ (_turn(second) @ v)
        first = _pair(
            add(mul(w.x, u.x), mul(w.y, u.y)),
            sub(mul(w.x, u.y), mul(w.y, u.x)),
            add(mul(w.x, w.x), mul(w.y, w.y)),
        )
        return _minus(first, links[self.one].offset), _minus(second, links[self.two].offset)


def _pair(x: Scalar, y: Scalar, square: Scalar) -> AnglePair:
    inverse = 1 / square
    return AnglePair(mul(x, inverse), mul(y, inverse))


def _minus(angle: AnglePair, offset: Scalar) -> AnglePair:
    return angle if ops.is_zero(offset) else angle - offset


def _turn(angle: AnglePair) -> Mat3:
    c, s = angle.cosine, angle.sine
    return Mat3([[c, sub(0, s), 0], [s, c, 0], [0, 0, 1]])


__all__ = ["StrutGeometry", "universal_joint"]
