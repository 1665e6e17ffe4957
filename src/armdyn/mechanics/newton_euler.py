"""Newton-Euler in link frames, linear in the inertial parameters.

Source: Khalil sec. 7.4.3, (7.51)-(7.61) (with (7.57) corrected: U_j = skew(wd) + skew(w) skew(w)); the same recursion
is Milićević table 2 and Siciliano (7.107)-(7.114). Cost grows linearly with the number of joints; branches are allowed.

The steps at one link are in `steps.newton_euler`; (7.53) and (7.56) are written there in an equal form with fewer
operations. Friction and rotor inertia of (7.61) come from `actuated`.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.algebra import ZERO, Scalar, Vec3, cross, named
from armdyn.mechanics.by_recursion import by_recursion
from armdyn.mechanics.kinematics import link_poses
from armdyn.mechanics.steps.newton_euler import (
    LinkMotion,
    body_wrench,
    propagate_motion,
    rate_matrix,
    wrench_to_parent,
)
from armdyn.robot.links import WORLD
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
    """What the recursion ends with: torques, and the force and moment that every joint passes on, in link frames.

    motion: of every link; `motion[j].at(r)` is the acceleration of a point of it.
    """

    torques: list[Scalar]
    f: list[Vec3]
    m: list[Vec3]
    motion: list[LinkMotion]


def joint_torques(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Scalars | None = None, *, weightless: bool = False
) -> list[Scalar]:
    """Torques of the bodies' motion, gravity and tip wrench. Khalil (7.51)-(7.60)"""
    a_base = ZERO if weightless else -robot.gravity  # the base accelerates upwards instead of the bodies falling
    return transmitted(robot, q, qd, qdd, tip_wrench(robot, q, wrench), Start(ZERO, ZERO, a_base)).torques


def transmitted(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, tip: Tip, start: Start) -> Transmitted:
    """The recursion, out and in again. Khalil (7.51)-(7.61)"""
    n = robot.n
    base = LinkMotion(start.w, start.wd, rate_matrix(start.w, start.wd), start.a)
    motion = [base] * n
    f, m = [ZERO] * n, [ZERO] * n
    poses = [link.pose(q[link.index]) for link in robot.links]

    for link in robot.outward():
        j, i = link.index, link.parent
        motion[j] = propagate_motion(link, poses[j], qd[j], qdd[j], base if i == WORLD else motion[i])
        f[j], m[j] = body_wrench(link, motion[j])

    if tip.link != WORLD:
        f[tip.link], m[tip.link] = f[tip.link] + tip.f, m[tip.link] + tip.m  # Khalil (7.58), (7.60)

    torques: list[Scalar] = [0] * n
    for link in robot.inward():
        j, i = link.index, link.parent
        named(f[j], "E", j + 1), named(m[j], "N", j + 1)
        torques[j] = link.along(f[j], m[j])  # Khalil (7.61)
        if i != WORLD:
            force, moment, lever = wrench_to_parent(link, poses[j], f[j], m[j])
            f[i], m[i] = f[i] + force, m[i] + moment + lever  # Khalil (7.58), (7.60)
    return Transmitted(torques, f, m, motion)


def tip_wrench(robot: Robot, q: Scalars, wrench: Scalars | None, frame: str = "tool") -> Tip:
    """f_e, m_e of Khalil (7.58), (7.60) of a wrench at the origin of a frame in world axes."""
    link, T = robot.frame(frame)
    if wrench is None or link == WORLD:
        return Tip(WORLD, ZERO, ZERO)
    back = link_poses(robot, q)[link].R.T
    force, moment = back @ Vec3.of(wrench[:3]), back @ Vec3.of(wrench[3:])
    return Tip(link, force, moment + cross(T.p, force))


inverse_dynamics, mass_matrix, coriolis, gravity = by_recursion(joint_torques)
