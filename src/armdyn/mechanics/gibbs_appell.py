"""Gibbs-Appell equations: the energy of acceleration, differentiated by the joint accelerations.

    S = 1/2 integral of a.a dm,     tau_r = dS/dqdd_r - Q_r                                                     [G-1]

Q_r is the generalized force of gravity and of the environment. A force F at a point of acceleration a gives
Q_r = d(F.a)/dqdd_r, so Appell's function S - sum F.a holds everything and one derivative gives tau.

Source: El Baji sec. 1 names the method; Appell 1900, Gibbs 1879; Mirtaheri and Zohoor 2021 (El Baji ref. 14). With the
link's origin as reference point the inertial parameters (m, s = m c, I about the origin) enter linearly; all vectors
of a link are in its own axes. The derivative is taken by dual numbers: exact over any scalar. Branches are allowed.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algebra import Inertia, Scalar, Vec3, cross, gradient, ops
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kane import seen_by_links
from armdyn.mechanics.kinematics import Motion, Wrench, link_poses
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def gibbs_function(body: Inertia, w: Vec3, wd: Vec3, a: Vec3) -> Scalar:
    """Energy of acceleration of one body. w, wd: angular velocity, acceleration; a: acceleration of its origin.

        S = 1/2 (m a.a + wd.I wd + w^2 w.I w) + a.(wd x s + w x (w x s)) + wd.(w x I w)                          [G-2]

    A point at r has the acceleration a + wd x r + w x (w x r); this is half its square, integrated over the mass.
    """
    s, Iw = body.moment, body.tensor @ w
    squares = add(mul(body.mass, a.dot(a)), add(wd.dot(body.tensor @ wd), mul(w.dot(w), w.dot(Iw))))
    products = add(a.dot(cross(wd, s) + cross(w, cross(w, s))), wd.dot(cross(w, Iw)))
    return add(half(squares), products)  # [G-2]


def _energy(robot: Robot, motion: Motion) -> Scalar:
    """S of all bodies."""
    moving = zip(robot.links, motion.w, motion.wd, motion.a, strict=True)
    return ops.total(gibbs_function(link.inertia, w, wd, a) for link, w, wd, a in moving)


def _weight_terms(robot: Robot, gravity: Sequence[Vec3], motion: Motion) -> Scalar:
    """The sum of F.a for the weights: m g times the acceleration of the centre of mass.  [G-3]"""
    terms: list[Scalar] = []
    for link, g, w, wd, a in zip(robot.links, gravity, motion.w, motion.wd, motion.a, strict=True):
        m, s = link.inertia.mass, link.inertia.moment
        terms.append(g.dot(m * a + cross(wd, s) + cross(w, cross(w, s))))
    return ops.total(terms)


def _tip_terms(robot: Robot, q: Scalars, motion: Motion, wrench: Scalars | None) -> Scalar:
    """F.a and M.wd of the wrench that the robot exerts at its tool.  [G-4]"""
    k, T = robot.frame("tool")
    if wrench is None or k == WORLD:
        return 0
    w, wd, back = motion.w[k], motion.wd[k], link_poses(robot, q)[k].R.T
    a = motion.a[k] + cross(wd, T.p) + cross(w, cross(w, T.p))
    return add(a.dot(back @ Vec3.of(wrench[:3])), wd.dot(back @ Vec3.of(wrench[3:])))


def _appell(robot: Robot, q: Scalars, motion: Motion, wrench: Scalars | None) -> Scalar:
    """S - sum F.a, the environment's wrench being -w."""
    weights = _weight_terms(robot, seen_by_links(robot, q, robot.gravity), motion)
    return add(sub(_energy(robot, motion), weights), _tip_terms(robot, q, motion, wrench))


@quantity
def acceleration_energy(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> Scalar:
    """Energy of acceleration S of the bodies (no rotors): (...), kg m^2/s^4.  [G-2]"""
    return _energy(robot, Motion(robot, q, qd, qdd))


@quantity
def appell_function(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Scalars | None = None) -> Scalar:
    """S less F.a of the weights and of the environment's force at the tool, which is -w: (...), kg m^2/s^4.

    By Gauss' principle of least constraint the free robot takes the accelerations that make it smallest.
    """
    return _appell(robot, q, Motion(robot, q, qd, qdd), wrench)


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion.

        tau_r = d(S - sum F.a)/dqdd_r                                                                           [G-1]

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    return gradient(lambda x: _appell(robot, q, Motion(robot, q, qd, x), wrench), qdd)


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix M(q): (..., n, n), the second derivatives of S: at rest S = 1/2 qdd.M qdd."""
    rest, joints = [0] * robot.n, range(robot.n)
    units = [[int(i == j) for i in joints] for j in joints]
    return [gradient(lambda x: _energy(robot, Motion(robot, q, rest, x)), unit) for unit in units]


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C(q, qd) qd: (..., n), dS/dqdd where qdd = 0."""
    return gradient(lambda x: _energy(robot, Motion(robot, q, qd, x)), [0] * robot.n)


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity, g(q): (..., n), -Q_r of the weights."""
    rest, seen = [0] * robot.n, seen_by_links(robot, q, robot.gravity)
    return [-Q for Q in gradient(lambda x: _weight_terms(robot, seen, Motion(robot, q, rest, x)), rest)]
