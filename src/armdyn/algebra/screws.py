"""Screws: motions (v, w) and wrenches (f, m) as pairs of vectors, linear part first."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.algebra.inertia import Inertia
from armdyn.algebra.ops import Scalar, add
from armdyn.algebra.poses import Pose
from armdyn.algebra.vectors import Vec3, cross


class Screw(NamedTuple):
    """A velocity or acceleration (v, w), a momentum (p, l) or a wrench (f, m) about the origin of its frame."""

    linear: Vec3
    angular: Vec3

    def plus(self, other: Screw) -> Screw:
        return Screw(self.linear + other.linear, self.angular + other.angular)

    def minus(self, other: Screw) -> Screw:
        return Screw(self.linear - other.linear, self.angular - other.angular)

    def times(self, factor: Scalar) -> Screw:
        return Screw(factor * self.linear, factor * self.angular)

    def dot(self, other: Screw) -> Scalar:
        """Power of a wrench and a velocity, twice the energy of a momentum and its velocity."""
        return add(self.linear.dot(other.linear), self.angular.dot(other.angular))

    def wrench_seen_from(self, T_ab: Pose) -> Screw:
        """A wrench about the origin of b in its axes, about that of a in its axes."""
        force = T_ab.R @ self.linear
        return Screw(force, T_ab.R @ self.angular + cross(T_ab.p, force))

    def motion_seen_from(self, T_ab: Pose) -> Screw:
        """A motion of the point at the origin of b in its axes, of the point at that of a in its axes."""
        w = T_ab.R @ self.angular
        return Screw(T_ab.R @ self.linear + cross(T_ab.p, w), w)


def momentum(body: Inertia, V: Screw) -> Screw:
    """The spatial inertia times a velocity: I_j V_j. Khalil (7.21)"""
    (v, w), MS = V, body.moment
    return Screw(body.mass * v + cross(w, MS), cross(MS, v) + body.tensor @ w)
