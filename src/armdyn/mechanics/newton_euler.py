"""Newton-Euler in link frames, linear in the inertial parameters.

Source: Khalil sec. 7.4.3, (7.51)-(7.61) (with (7.57) corrected: U_j = skew(wd) + skew(w) skew(w)); the same recursion
is Milićević table 2 and Siciliano (7.107)-(7.114). Cost grows linearly with the number of joints; branches are allowed.

The recursion follows the source line by line; (7.53) and (7.56) call functions that write them in an equal form with
fewer operations. Friction and rotor inertia of (7.61) come from `actuated`. The names given to `named` are those of the
programs in Khalil's appendix.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Vec3, cross, named, skew
from armdyn.algebra.ops import mul, sub
from armdyn.mechanics.by_recursion import by_recursion
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


class Start(NamedTuple):
    """How the recursion begins: motion of the base at the world's origin, gravity taken from its acceleration."""

    w: Vec3
    wd: Vec3
    a: Vec3


class Tip(NamedTuple):
    """What a link exerts on the environment: force, and moment about its origin, in its axes. Link WORLD: nothing."""

    link: int
    f: Vec3
    m: Vec3


class Transmitted(NamedTuple):
    """What the recursion ends with: torques, and the force and moment that every joint passes on, in link frames."""

    torques: list[Scalar]
    f: list[Vec3]
    m: list[Vec3]


def joint_torques(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Scalars | None = None, *, weightless: bool = False
) -> list[Scalar]:
    """Torques of the bodies' motion, gravity and tip wrench. Khalil (7.51)-(7.60)"""
    a_base = ZERO if weightless else -robot.gravity  # the base accelerates upwards instead of the bodies falling
    return transmitted(robot, q, qd, qdd, tip_wrench(robot, q, wrench), Start(ZERO, ZERO, a_base)).torques


class LinkMotion(NamedTuple):
    """Rates of a link, in its frame: angular velocity and acceleration, U of (7.57), acceleration of the origin."""

    w: Vec3
    wd: Vec3
    U: Mat3
    a: Vec3


def transmitted(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, tip: Tip, start: Start) -> Transmitted:
    """The recursion, out and in again. Khalil (7.51)-(7.61)"""
    n = robot.n
    base = LinkMotion(start.w, start.wd, rate_matrix(start.w, start.wd), start.a)
    motion = [base] * n
    f, m = [ZERO] * n, [ZERO] * n
    poses = [link.pose(q[link.index]) for link in robot.links]

    for link in robot.outward():
        j, i = link.index, link.parent
        motion[j] = moved(link, poses[j], qd[j], qdd[j], base if i == WORLD else motion[i])
        f[j], m[j] = body_wrench(link, motion[j])

    if tip.link != WORLD:
        f[tip.link], m[tip.link] = f[tip.link] + tip.f, m[tip.link] + tip.m  # Khalil (7.58), (7.60)

    torques: list[Scalar] = [0] * n
    for link in robot.inward():
        j, i = link.index, link.parent
        named(f[j], "E", j + 1), named(m[j], "N", j + 1)
        torques[j] = link.along(f[j], m[j])  # Khalil (7.61)
        if i != WORLD:
            f_j, m_j = passed_on(link, poses[j], f[j], m[j])
            f[i], m[i] = f[i] + f_j, m[i] + m_j.turned + m_j.lever  # Khalil (7.58), (7.60)
    return Transmitted(torques, f, m)


def moved(link: Link, pose: Pose, qd: Scalar, qdd: Scalar, before: LinkMotion) -> LinkMotion:
    """How a link moves, from the motion of its parent. Khalil (7.51)-(7.54), (7.57)"""
    j = link.index
    R, P = pose
    w_i, wd_i, U_i, a_i = before
    spin, slide = link.spin(qd), link.slide(qd)
    w_before = named(R.T @ w_i, "WI", j + 1)  # Khalil (7.51)
    w = named(w_before + spin, "W", j + 1)  # Khalil (7.52)
    if on_grid(R.column(2)):
        U_z = R.T @ (U_i @ R.column(2))  # U_j z: points on the joint's axis move with both links
        wd = acceleration(w, U_z, (R.T @ wd_i + link.spin(qdd)).z)  # Khalil (7.53)
    else:
        wd = R.T @ wd_i + (link.spin(qdd) + cross(w_before, spin))  # Khalil (7.53)
    named(wd, "WP", j + 1)
    a_before = named(a_i + U_i @ P, "VSP", j + 1)
    a = named(R.T @ a_before + (link.slide(qdd) + 2 * cross(w_before, slide)), "VP", j + 1)  # Khalil (7.54)
    return LinkMotion(w, wd, named(rate_matrix(w, wd), "U", j + 1), a)  # Khalil (7.57)


def body_wrench(link: Link, motion: LinkMotion) -> tuple[Vec3, Vec3]:
    """Force and moment that give a link alone its motion. Khalil (7.55), (7.56)"""
    w, wd, U, a = motion
    body, j = link.inertia, link.index
    force = named(body.mass * a + U @ body.moment, "F", j + 1)  # Khalil (7.55)
    turning = named(turning_moment(body.tensor, w, wd, U), "No", j + 1)
    return force, turning + cross(body.moment, a)  # Khalil (7.56)


class PassedMoment(NamedTuple):
    """A joint's moment, turned into the parent's axes, and that of its force about the parent's origin."""

    turned: Vec3
    lever: Vec3


def passed_on(link: Link, pose: Pose, f: Vec3, m: Vec3) -> tuple[Vec3, PassedMoment]:
    """What the parent gets of a joint's force and moment, in its frame. Khalil (7.59), (7.60)"""
    R, P = pose
    force = named(R @ f, "FDI", link.index + 1)  # Khalil (7.59)
    return force, PassedMoment(R @ m, cross(P, force))


def rate_matrix(w: Vec3, wd: Vec3) -> Mat3:
    """U, which takes a point r fixed in the body to wd x r + w x (w x r).

    Khalil (7.57), corrected: wd in the first hat
    """
    w_hat = skew(w)
    return skew(wd) + w_hat @ w_hat


def on_grid(axis: Vec3) -> bool:
    """Whether an axis lies along x, y or z of the frame, so that products with it cost nothing.

    This decides between equal forms, so a zero of any origin will do; a graph node has its number in `value`.
    """
    numbers = (getattr(x, "value", x) for x in axis)
    return sum(not isinstance(x, int | float | Fraction) or x != 0 for x in numbers) == 1


def acceleration(w: Vec3, U_z: Vec3, wd_z: Scalar) -> Vec3:
    """The wd of Khalil (7.53) from the third column of U and its own z, without the cross product.

    A point on the joint's axis belongs to both links, so this column is known before wd; the products of w are
    those of (7.57). Saves 2 multiplications a link where axes are at right angles, and more where they are parallel.
    """
    return Vec3(sub(mul(w.y, w.z), U_z.y), sub(U_z.x, mul(w.x, w.z)), wd_z)


def turning_moment(tensor: Mat3, w: Vec3, wd: Vec3, U: Mat3) -> Vec3:
    """I wd + w x (I w) of Khalil (7.56), multiplied out.

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


def tip_wrench(robot: Robot, q: Scalars, wrench: Scalars | None, frame: str = "tool") -> Tip:
    """f_e, m_e of Khalil (7.58), (7.60) of a wrench at the origin of a frame in world axes."""
    link, T = robot.frame(frame)
    if wrench is None or link == WORLD:
        return Tip(WORLD, ZERO, ZERO)
    back = link_poses(robot, q)[link].R.T
    force, moment = back @ Vec3.of(wrench[:3]), back @ Vec3.of(wrench[3:])
    return Tip(link, force, moment + cross(T.p, force))


inverse_dynamics, mass_matrix, coriolis, gravity = by_recursion(joint_torques)
