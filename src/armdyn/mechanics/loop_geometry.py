"""One closed loop: where its two ends are, how far they are apart, and what its joints do to them.

All is seen from the last body that both branches share, in axes of the loop's first joint: a planar loop then moves in
the plane of x and y, and what cannot open is zero by structure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Vec3, cross, dot
from armdyn.algebra.ops import add, div, mul, sub
from armdyn.mechanics.angle_pair import AnglePair
from armdyn.robot.links import Link
from armdyn.robot.loop_paths import branches
from armdyn.robot.parts import Loop
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

ROUNDING = 1e-13
"""An entry of a constant pose this close to 0, 1 or -1 is that number."""


class Placed(NamedTuple):
    """The loop in one configuration: T of each of its joints by index, and of its two ends."""

    joints: dict[int, Pose]
    first: Pose
    second: Pose

    @property
    def gap(self) -> Vec3:
        """From the first end to the second."""
        return self.second.p - self.first.p


class LoopGeometry:
    """A loop of a robot with its joints, for any scalar.

    tree: the opened robot. first, second: indices of the joints from the common body to either end.
    """

    def __init__(self, tree: Robot, loop: Loop) -> None:
        self.tree, self.loop = tree, loop
        names = {joint.name: index for index, joint in enumerate(tree.joints)}
        self.first, self.second = ([names[name] for name in branch] for branch in branches(tree.tree, loop))
        self.joints = [*self.first, *self.second]
        origin = tree.links[self.joints[0]].placement.inverse() if self.joints else Pose.identity()
        leaders = {branch[0] for branch in (self.first, self.second) if branch}
        self.links: dict[int, Link] = {}
        for j in self.joints:
            link = tree.links[j]
            self.links[j] = replace(link, placement=_clean(origin @ link.placement if j in leaders else link.placement))
        self.first_end = self._end(loop.first, loop.first_placement.pose(), origin if not self.first else None)
        self.second_end = self._end(loop.second, loop.second_placement.pose(), origin if not self.second else None)

    def _end(self, body: str, placement: Pose, origin: Pose | None) -> Pose:
        """An end in the frame of the branch's last joint, or in the loop's frame for a branch without joints."""
        pose = self.tree.frame(body).pose @ placement
        return pose if origin is None else _clean(origin @ pose)

    def placed(self, q: Scalars) -> Placed:
        """Where everything is; q: of all joints of the tree."""
        poses: dict[int, Pose] = {}
        ends = []
        for branch, end in ((self.first, self.first_end), (self.second, self.second_end)):
            pose = Pose.identity()
            for j in branch:
                pose = self._moved(pose, j, q)
                poses[j] = pose
            ends.append(pose @ end)
        return Placed(poses, *ends)

    def _moved(self, pose: Pose, joint: int, q: Scalars) -> Pose:
        """Where a joint's link is, from where its parent is."""
        link, value = self.links[joint], q[joint]
        seen = value.orientation(self) if isinstance(value, AnglePair) else None
        return pose @ link.pose(value) if seen is None else Pose(seen, pose.apply(link.placement.p))

    def _branch(self, joint: int) -> tuple[list[int], Pose]:
        return (self.first, self.first_end) if joint in self.first else (self.second, self.second_end)

    def before(self, joint: int, q: Scalars) -> Pose:
        """Where the link of a joint would be at joint value zero."""
        branch, pose = self._branch(joint)[0], Pose.identity()
        for j in branch[: branch.index(joint)]:
            pose = self._moved(pose, j, q)
        return pose @ self.links[joint].placement

    def between(self, one: int, two: int, q: Scalars) -> Pose:
        """From the link of a joint to where that of a later one of the same branch would be at joint value zero."""
        branch, pose = self._branch(one)[0], Pose.identity()
        for j in branch[branch.index(one) + 1 : branch.index(two)]:
            pose = pose @ self.links[j].pose(q[j])
        return pose @ self.links[two].placement

    def after(self, joint: int, q: Scalars) -> Pose:
        """From the link of a joint to the end of its branch."""
        (branch, end), pose = self._branch(joint), Pose.identity()
        for j in branch[branch.index(joint) + 1 :]:
            pose = pose @ self.links[j].pose(q[j])
        return pose @ end

    def other_end(self, joint: int, q: Scalars) -> Pose:
        """Where the branch ends that a joint is not on."""
        branch, end = (self.second, self.second_end) if joint in self.first else (self.first, self.first_end)
        pose = Pose.identity()
        for j in branch:
            pose = self._moved(pose, j, q)
        return pose @ end

    def conditions(self, placed: Placed) -> list[Scalar]:
        """Zero where the ends meet: three or two lengths, then angles (twice the tangent of half of each).

        The tangent has no second zero half a turn away, so a loop never counts as closed the wrong way round.
        """
        gap, (R1, _), (R2, _) = placed.gap, placed.first, placed.second
        (_, r01, r02), (r10, _, r12), (r20, r21, r22) = rows = (R1.T @ R2).rows
        kind = self.loop.kind
        if kind == "spherical":
            return list(gap)
        if kind == "universal":
            return [*gap, r01]
        if kind == "revolute":
            factor = div(2, add(1, r22))
            return [*gap, mul(r02, factor), mul(r12, factor)]
        factor = div(2, add(1, add(add(rows[0][0], rows[1][1]), r22)))
        turned = [mul(x, factor) for x in (sub(r21, r12), sub(r02, r20), sub(r10, r01))]
        if kind == "prismatic":
            return [dot(R1.column(0), gap), dot(R1.column(1), gap), *turned]
        return [*gap, *turned]

    def columns(self, placed: Placed) -> dict[int, list[Scalar]]:
        """Rates of the conditions per rate of each joint of the loop, exact where the loop is closed."""
        R1, p1 = placed.first
        p2 = placed.second.p
        if self.loop.kind == "prismatic":
            p1 = p2  # the point of the first body where the second end is
        found = {}
        for sign, branch, point in ((-1, self.first, p1), (1, self.second, p2)):
            for j in branch:
                z, p = placed.joints[j].R.column(2), placed.joints[j].p
                revolute = self.links[j].revolute
                linear, angular = (cross(z, point - p), z) if revolute else (z, ZERO)
                found[j] = [mul(sign, x) for x in self._rows(linear, angular, R1, placed.second.R)]
        return found

    def _rows(self, v: Vec3, w: Vec3, R1: Mat3, R2: Mat3) -> list[Scalar]:
        """The part of a relative velocity that the closing joint does not allow, in the order of the conditions."""
        kind = self.loop.kind
        if kind == "spherical":
            return list(v)
        if kind == "universal":
            return [*v, dot(w, cross(R2.column(1), R1.column(0)))]
        if kind == "revolute":
            return [*v, dot(w, R1.column(1)), sub(0, dot(w, R1.column(0)))]
        turning = list(R1.T @ w)
        return [*(R1.T @ v)][:2] + turning if kind == "prismatic" else [*v, *turning]

    def bias(self, placed: Placed, qd: Scalars) -> list[Scalar]:
        """dJ/dt qd in the order of the conditions, exact where the loop is closed and qd keeps it closed."""
        (v1, w1, a1, wd1), (v2, w2, a2, wd2) = (
            self._end_motion(branch, placed, end.p, qd)
            for branch, end in ((self.first, placed.first), (self.second, placed.second))
        )
        a, w, wd = a2 - a1, w2 - w1, wd2 - wd1
        (R1, _), (R2, _), kind = placed.first, placed.second, self.loop.kind
        if kind == "spherical":
            return list(a)
        if kind == "universal":
            x, y = R1.column(0), R2.column(1)
            axis = cross(cross(w2, y), x) + cross(y, cross(w1, x))
            return [*a, add(dot(wd, cross(y, x)), dot(w, axis))]
        if kind == "revolute":
            wd = wd - cross(w1, w)
            return [*a, dot(wd, R1.column(1)), sub(0, dot(wd, R1.column(0)))]
        turning = list(R1.T @ (wd - cross(w1, w)))
        if kind == "prismatic":
            slid = v2 - v1  # of the ends; of the second against the point of the first body where it is: less w1 x gap
            a = a - cross(wd1, placed.gap) - cross(w1, slid) - cross(w1, slid - cross(w1, placed.gap))
            return [*(R1.T @ a)][:2] + turning
        return [*a, *turning]

    def _end_motion(self, branch: list[int], placed: Placed, end: Vec3, qd: Scalars) -> tuple[Vec3, Vec3, Vec3, Vec3]:
        """(velocity, angular velocity, their rates) of an end at joint accelerations zero."""
        v, w, a, wd, at = ZERO, ZERO, ZERO, ZERO, ZERO
        for j in branch:
            z, p = placed.joints[j].R.column(2), placed.joints[j].p
            v, a, at = v + cross(w, p - at), a + cross(wd, p - at) + cross(w, cross(w, p - at)), p
            rate = qd[j] * z
            if self.links[j].revolute:
                w, wd = w + rate, wd + cross(w, rate)
            else:
                v, a = v + rate, a + 2 * cross(w, rate)
        return v + cross(w, end - at), w, a + cross(wd, end - at) + cross(w, cross(w, end - at)), wd

    def wrench(self, placed: Placed, multipliers: Scalars) -> tuple[Vec3, Vec3]:
        """Force and moment that the closing joint exerts on the second body, at its end: the transpose of `_rows`."""
        (R1, _), (R2, _), kind = placed.first, placed.second, self.loop.kind
        if kind == "prismatic":
            x, y, *turning = multipliers
            return R1 @ Vec3(x, y, 0), R1 @ Vec3(*turning)
        force, turning = Vec3(*multipliers[:3]), list(multipliers[3:])
        if kind == "spherical":
            return force, ZERO
        if kind == "universal":
            return force, turning[0] * cross(R2.column(1), R1.column(0))
        if kind == "revolute":
            return force, R1 @ Vec3(sub(0, turning[1]), turning[0], 0)
        return force, R1 @ Vec3(*turning)


def lengths_of(loop: Loop) -> int:
    """How many of a loop's conditions are lengths; they come first."""
    return 2 if loop.kind == "prismatic" else 3


def _clean(pose: Pose) -> Pose:
    """Entries that are 0, 1 or -1 to rounding as literals."""
    return Pose(Mat3([[_snapped(x) for x in row] for row in pose.R.rows]), Vec3(*map(_snapped, pose.p)))


def _snapped(x: Scalar) -> Scalar:
    if isinstance(x, float):
        for whole in (0, 1, -1):
            if abs(x - whole) < ROUNDING:
                return whole
    return x


__all__ = ["LoopGeometry", "Placed", "lengths_of"]
