"""Articulated bodies at one link.

Source: Khalil (7.67)-(7.79). Screws are pairs of vectors, linear part first: accelerations (v, w), wrenches (f, m). The
functions hold in any axes and about any point, as long as all that they are given is seen from there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from armdyn.algebra import Inertia, Mat3, Pose, Scalar, Screw, Vec3, cross, outer, skew
from armdyn.algebra.ops import add, mul, sub


class SpatialInertia(NamedTuple):
    """A symmetric 6x6 matrix by its blocks [[A, B], [B^T, D]], which takes an acceleration to a wrench."""

    A: Mat3
    B: Mat3
    D: Mat3

    def times(self, V: Screw) -> Screw:
        return Screw(self.A @ V.linear + self.B @ V.angular, self.B.T @ V.linear + self.D @ V.angular)

    def plus(self, other: SpatialInertia) -> SpatialInertia:
        return SpatialInertia(self.A + other.A, self.B + other.B, self.D + other.D)

    def about(self, P: Vec3) -> SpatialInertia:
        """The same about a point from which its own origin is seen at P. Khalil (7.75) without rotation"""
        A, B, D = self
        P_hat = skew(P)
        B_moved = B - A @ P_hat
        return SpatialInertia(_upper(A), B_moved, _upper(D + P_hat @ B_moved + (P_hat @ B).T))


def spatial_inertia(body: Inertia) -> SpatialInertia:
    """Return [[M 1, -MS^], [MS^, I_O]], the 6x6 inertia of a link about its origin. Khalil (7.21)"""
    return SpatialInertia(Mat3.identity() * body.mass, -skew(body.moment), body.tensor)


def velocity_product(pose: Pose, w_parent: Vec3, spin: Vec3, slide: Vec3) -> Screw:
    """Return gamma: the acceleration that velocities alone give a link, relative to its parent. Khalil (7.68)

    w_parent: in the parent's axes. spin, slide: the joint's velocity, in the link's axes.
    """
    R, P = pose
    w_before = R.T @ w_parent  # Khalil (7.51)
    return Screw(R.T @ cross(w_parent, cross(w_parent, P)) + 2 * cross(w_before, slide), cross(w_before, spin))


def bias_force(body: Inertia, w: Vec3) -> Screw:
    """Return beta: minus the wrench that a link needs because of its velocity alone. Khalil (7.70)"""
    return Screw(-cross(w, cross(w, body.moment)), -cross(w, body.tensor @ w))


class JointInertia(NamedTuple):
    """What the joint of an articulated body feels of it.

    u: I* a, the wrench of a unit acceleration along the joint's axis a.
    H: a^T I* a + Ia, the inertia that its actuator accelerates.
    """

    u: Screw
    H: Scalar


def joint_inertia(axis: Screw, I: SpatialInertia, Ia: Scalar) -> JointInertia:
    """Return I* a and H of an articulated inertia I*. Khalil (7.71)

    Ia: the inertia of the joint's rotor.
    """
    u = I.times(axis)
    return JointInertia(u, add(axis.dot(u), Ia))


def driving_force(axis: Screw, force: Scalar, beta: Screw) -> Scalar:
    """Return tau + a^T beta*: what is left of the joint's force to accelerate the articulated body. Khalil (7.73)"""
    return add(force, axis.dot(beta))


def joint_gain(u: Screw, H: Scalar, inverse: Scalar) -> Screw:
    """Return I* a H^-1 of Khalil (7.72), (7.73).

    H / H is the literal 1, so that K has literal zeros where the joint gives way freely.
    """
    return Screw(*(Vec3(*(1 if x is H else mul(x, inverse) for x in part)) for part in u))


def reduced_inertia(I: SpatialInertia, u: Screw, gain: Screw, *, revolute: bool = True) -> SpatialInertia:
    """Return K = I - (I a) H^-1 (I a)^T: the inertia that is left when the joint gives way. Khalil (7.72)

    revolute: whether the literal 1 of the gain, if there is one, is in its angular part.
    """
    (f, m), (f_H, m_H) = u, gain
    coupling = outer(f, m_H) if revolute else outer(f_H, m)  # equal; the factor with the literal 1 is taken
    return SpatialInertia(I.A - _upper(outer(f, f_H)), I.B - coupling, I.D - _upper(outer(m, m_H)))


def reduced_wrench(K: SpatialInertia, gamma: Screw, gain: Screw, driving: Scalar, beta: Screw) -> Screw:
    """Return alpha: the wrench that the parent must exert if it does not accelerate. Khalil (7.73)"""
    return K.times(gamma).plus(gain.times(driving)).minus(beta)


def inertia_to_parent(turned: Callable[[Mat3], Mat3], P: Vec3, K: SpatialInertia) -> SpatialInertia:
    """Return jS_i^T K jS_i: each block turned into the parent's axes, then taken about its origin. Khalil (7.75)

    turned: takes a matrix A to R A R^T, R being the link's orientation. P: the link's origin; both in the parent.
    """
    return SpatialInertia(*map(turned, K)).about(P)


def propagate_acceleration(pose: Pose, parent: Screw, gamma: Screw) -> Screw:
    """Return the acceleration of a link whose joint does not accelerate. Khalil (7.76), and gamma of (7.68)"""
    R, P = pose
    v, w = parent
    return Screw(R.T @ (v + cross(w, P)), R.T @ w).plus(gamma)


def joint_acceleration(inverse: Scalar, driving: Scalar, u: Screw, drift: Screw) -> Scalar:
    """Return qdd = H^-1 (tau + a^T beta* - (I* a)^T drift). Khalil (7.77)

    drift: the acceleration of the link at qdd = 0. With u and the driving force divided by H beforehand, inverse is 1.
    """
    return mul(inverse, sub(driving, u.dot(drift)))


def _upper(A: Mat3) -> Mat3:
    """A matrix known to be symmetric, by its upper half: the lower one is not computed."""
    return Mat3.symmetric(*A.upper())
