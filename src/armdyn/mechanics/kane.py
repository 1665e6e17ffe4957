"""Kane's equations: the active and the inertia forces, projected on partial velocities, balance.

    F_r + F_r* = 0                                   for every generalized speed qd_r                          [K-1]

Source: El Baji sec. 1 and table 3 (it compares with this method); Kane and Levinson, Dynamics, 1985, ch. 4 and 6. The
reference point of a body is its link's origin, not its centre of mass: Kane's equations hold for any point, and the
inertial parameters (m, s = m c, I about the origin) then enter linearly, so that neither a body without mass nor one
known by grouped parameters is a special case. All vectors of link k are in its own axes. Branches are allowed.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.algebra import ZERO, Scalar, Vec3, cross
from armdyn.algebra.ops import add, sub
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kinematics import Motion, Wrench, link_poses
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


class Partial(NamedTuple):
    """What a unit rate of one joint gives a link: velocity of its origin and angular velocity, in its axes."""

    v: Vec3
    w: Vec3


Partials = list[dict[int, Partial]]
"""[k][r]: the partial velocities of link k, for the joints r that carry it."""


def link_partials(robot: Robot, q: Scalars) -> Partials:
    """v_r = dv_k/dqd_r and w_r = dw_k/dqd_r of every link k and every joint r that carries it."""
    partials: Partials = []
    for link in robot.outward():
        R, P = link.pose(q[link.index])
        back, carried = R.T, {} if link.parent == WORLD else partials[link.parent]
        own = {r: Partial(back @ (v + cross(w, P)), back @ w) for r, (v, w) in carried.items()}  # [K-2]
        own[link.index] = Partial(link.slide(1), link.spin(1))  # [K-3]
        partials.append(own)
    return partials


def seen_by_links(robot: Robot, q: Scalars, vector: Vec3) -> list[Vec3]:
    """A vector given in world axes, in the axes of every link."""
    seen: list[Vec3] = []
    for link in robot.outward():
        before = vector if link.parent == WORLD else seen[link.parent]
        seen.append(link.pose(q[link.index]).R.T @ before)
    return seen


def _inertia_forces(robot: Robot, partials: Partials, motion: Motion) -> list[Scalar]:
    """F_r* = -sum_k (v_r.R_k* + w_r.T_k*), with R_k*, T_k* the force and moment that k's motion needs.  [K-4]"""
    forces: list[Scalar] = [0] * robot.n
    for k, link in enumerate(robot.links):
        force, moment = link.inertia.wrench(motion.w[k], motion.wd[k], motion.a[k])
        for r, (v, w) in partials[k].items():
            forces[r] = sub(forces[r], add(v.dot(force), w.dot(moment)))
    return forces


def _active_forces(robot: Robot, q: Scalars, partials: Partials, wrench: Scalars | None = None) -> list[Scalar]:
    """F_r but for the actuators' tau_r: weights m g at the centres of mass, and -w at the tool.  [K-5]"""
    forces: list[Scalar] = [0] * robot.n
    for k, g in enumerate(seen_by_links(robot, q, robot.gravity)):
        body = robot.links[k].inertia
        weight, moment = body.mass * g, cross(body.moment, g)
        for r, (v, w) in partials[k].items():
            forces[r] = add(forces[r], add(v.dot(weight), w.dot(moment)))
    k, T = robot.frame("tool")
    if wrench is None or k == WORLD:
        return forces
    back = link_poses(robot, q)[k].R.T
    force, couple = back @ Vec3.of(wrench[:3]), back @ Vec3.of(wrench[3:])
    for r, (v, w) in partials[k].items():
        forces[r] = sub(forces[r], add((v + cross(w, T.p)).dot(force), w.dot(couple)))
    return forces


@quantity
def partial_velocities(robot: Robot, q: Scalars) -> list[list[tuple[Scalar, ...]]]:
    """Partial velocities of every link: (..., n, n, 6).

    Entry [k][r] is (v_r, w_r) of link k: the velocity of its frame's origin and its angular velocity for qd_r = 1, in
    the axes of its frame; zero if joint r does not carry it.
    """
    rest, joints = Partial(ZERO, ZERO), range(robot.n)
    return [[(*own.get(r, rest).v, *own.get(r, rest).w) for r in joints] for own in link_partials(robot, q)]


@quantity
def generalized_inertia_forces(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """F_r* of the bodies (no rotors): (..., n) N m or N.  [K-4]"""
    return _inertia_forces(robot, link_partials(robot, q), Motion(robot, q, qd, qdd))


@quantity
def generalized_active_forces(robot: Robot, q: Scalars, wrench: Scalars | None = None) -> list[Scalar]:
    """F_r of gravity and of the environment, to which the actuators add tau_r: (..., n) N m or N.  [K-5]"""
    return _active_forces(robot, q, link_partials(robot, q), wrench)


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion.

        tau_r = -(F_r + F_r*), F_r without the actuators' part                                                 [K-1]

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    partials = link_partials(robot, q)
    inertia = _inertia_forces(robot, partials, Motion(robot, q, qd, qdd))
    active = _active_forces(robot, q, partials, wrench)
    return [-add(F, F_star) for F, F_star in zip(active, inertia, strict=True)]


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix M(q): (..., n, n), -dF_r*/dqdd_s: a unit qdd_s gives link k the accelerations v_s, w_s."""
    M: list[list[Scalar]] = [[0] * robot.n for _ in range(robot.n)]
    for link, partials in zip(robot.links, link_partials(robot, q), strict=True):
        for s, (v_s, w_s) in partials.items():
            force, moment = link.inertia.wrench(ZERO, w_s, v_s)
            for r, (v_r, w_r) in partials.items():
                M[r][s] = add(M[r][s], add(v_r.dot(force), w_r.dot(moment)))
    return M


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C(q, qd) qd: (..., n), -F_r* without accelerations."""
    return [-F for F in _inertia_forces(robot, link_partials(robot, q), Motion(robot, q, qd))]


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity, g(q): (..., n), -F_r of the weights."""
    return [-F for F in _active_forces(robot, q, link_partials(robot, q))]
