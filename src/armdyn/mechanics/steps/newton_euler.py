"""Newton-Euler at one link, in the link's frame.

Source: Khalil (7.51)-(7.60), with (7.57) corrected: U_j = skew(wd) + skew(w) skew(w). The names given to `named` are
those of the programs in Khalil's appendix.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from armdyn.algebra import Mat3, Pose, Scalar, Screw, Vec3, cross, named, skew
from armdyn.algebra.ops import mul, sub
from armdyn.robot.links import Link


class LinkMotion(NamedTuple):
    """Rates of a link, in its frame: angular velocity and acceleration, U of (7.57), acceleration of the origin."""

    w: Vec3
    wd: Vec3
    U: Mat3
    a: Vec3

    def at(self, r: Vec3) -> Vec3:
        """Acceleration of a point r of the link, in its frame. Khalil (7.57), Siciliano (7.110)"""
        return self.a + self.U @ r


def propagate_velocity(link: Link, pose: Pose, qd: Scalar, parent: Screw) -> Screw:
    """Return a link's velocity (v, w), of its origin and in its frame, from its parent's. Khalil (7.17), (7.18)"""
    R, P = pose
    v, w = parent
    return Screw(R.T @ (v + cross(w, P)) + link.slide(qd), R.T @ w + link.spin(qd))


def propagate_motion(
    link: Link, pose: Pose, qd: Scalar, qdd: Scalar, parent: LinkMotion, *, by_axis: bool | None = None
) -> LinkMotion:
    """Return the motion of a link from that of its parent. Khalil (7.51)-(7.54), (7.57)

    by_axis: take wd from the motion of the joint's axis (default: if the axis lies along an axis of the parent's frame,
        where that form has fewer operations).
    """
    j = link.index
    R, P = pose
    w_i, wd_i, U_i, a_i = parent
    spin, slide = link.spin(qd), link.slide(qd)
    w_before = named(R.T @ w_i, "WI", j + 1)  # Khalil (7.51)
    w = named(w_before + spin, "W", j + 1)  # Khalil (7.52)
    if lies_on_grid(R.column(2)) if by_axis is None else by_axis:
        wd = angular_acceleration(w, axis_acceleration(R, U_i), (R.T @ wd_i + link.spin(qdd)).z)  # Khalil (7.53)
    else:
        wd = R.T @ wd_i + (link.spin(qdd) + cross(w_before, spin))  # Khalil (7.53)
    named(wd, "WP", j + 1)
    a_before = named(a_i + U_i @ P, "VSP", j + 1)
    a = named(R.T @ a_before + (link.slide(qdd) + 2 * cross(w_before, slide)), "VP", j + 1)  # Khalil (7.54)
    return LinkMotion(w, wd, named(rate_matrix(w, wd), "U", j + 1), a)  # Khalil (7.57)


def body_wrench(link: Link, motion: LinkMotion) -> Screw:
    """Return the force and moment that give a link alone its motion. Khalil (7.55), (7.56)"""
    w, wd, U, a = motion
    body, j = link.inertia, link.index
    force = named(body.mass * a + U @ body.moment, "F", j + 1)  # Khalil (7.55)
    turning = named(turning_moment(body.tensor, w, wd, U), "No", j + 1)
    return Screw(force, turning + cross(body.moment, a))  # Khalil (7.56)


class ParentWrench(NamedTuple):
    """What a joint's wrench is to the parent, in the parent's frame.

    force: the joint's force. moment: the joint's moment. lever: the moment of the force about the parent's origin.
    """

    force: Vec3
    moment: Vec3
    lever: Vec3


def wrench_to_parent(link: Link, pose: Pose, f: Vec3, m: Vec3) -> ParentWrench:
    """Return a joint's force and moment as the parent sees them. Khalil (7.59), (7.60)"""
    R, P = pose
    force = named(R @ f, "FDI", link.index + 1)  # Khalil (7.59)
    return ParentWrench(force, R @ m, cross(P, force))


def rate_matrix(w: Vec3, wd: Vec3) -> Mat3:
    """Return U, which takes a point r fixed in the body to wd x r + w x (w x r).

    Khalil (7.57), corrected: wd in the first hat
    """
    w_hat = skew(w)
    return skew(wd) + w_hat @ w_hat


def lies_on_grid(axis: Vec3) -> bool:
    """Whether an axis lies along x, y or z of the frame, so that products with it cost nothing.

    This decides between equal forms, so a zero of any origin will do; a graph node has its number in `value`.
    """
    numbers = (getattr(x, "value", x) for x in axis)
    return sum(not isinstance(x, int | float | Fraction) or x != 0 for x in numbers) == 1


def axis_acceleration(R: Mat3, U_parent: Mat3) -> Vec3:
    """Return U z of a link, known before its wd: points on the joint's axis move with both links."""
    return R.T @ (U_parent @ R.column(2))


def angular_acceleration(w: Vec3, U_z: Vec3, wd_z: Scalar) -> Vec3:
    """Return the wd of Khalil (7.53) from U z and its own z, without the cross product.

    The products of w are those of (7.57). Saves 2 multiplications a link where axes are at right angles, and more where
    they are parallel.
    """
    return Vec3(sub(mul(w.y, w.z), U_z.y), sub(U_z.x, mul(w.x, w.z)), wd_z)


def turning_moment(tensor: Mat3, w: Vec3, wd: Vec3, U: Mat3) -> Vec3:
    """Return I wd + w x (I w) of Khalil (7.56), multiplied out.

    U has the products of rates already and the differences of the moments of inertia are constants (PIS in the
    programs of Khalil): 15 multiplications instead of 24.
    """
    XX, XY, XZ, YY, YZ, ZZ = tensor.upper()
    (_, Uxy, Uxz), (Uyx, _, Uyz), (Uzx, Uzy, _) = U.rows
    wxy, wxz, wyz = mul(w.x, w.y), mul(w.x, w.z), mul(w.y, w.z)
    wxx, wyy, wzz = mul(w.x, w.x), mul(w.y, w.y), mul(w.z, w.z)
    principal = Vec3(mul(XX, wd.x), mul(YY, wd.y), mul(ZZ, wd.z))
    gyroscopic = Vec3(mul(sub(ZZ, YY), wyz), mul(sub(XX, ZZ), wxz), mul(sub(YY, XX), wxy))
    squares = Vec3(mul(YZ, sub(wyy, wzz)), mul(XZ, sub(wzz, wxx)), mul(XY, sub(wxx, wyy)))
    raised = Vec3(mul(XZ, Uyx), mul(XY, Uzy), mul(YZ, Uxz))
    lowered = Vec3(mul(XY, Uzx), mul(YZ, Uxy), mul(XZ, Uyz))
    return principal + gyroscopic + squares + (raised - lowered)
