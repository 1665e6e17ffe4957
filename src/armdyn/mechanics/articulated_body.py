"""Articulated bodies: forward dynamics without the mass matrix, at a cost that grows linearly with the joints.

Source: Khalil sec. 7.6.2, (7.67)-(7.91) (with (7.88) corrected: F - S^T F_n + beta). Screws are pairs of vectors,
linear part first: accelerations (v, w), wrenches (f, m) about the link's origin. The axis of joint j is z of link
frame j, as in Khalil. Branches are allowed: (7.74) and (7.75) then add up over the children.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.algebra import ZERO, Inertia, Mat3, Pose, Scalar, Screw, Vec3, cross, ops, outer, skew
from armdyn.algebra.ops import add, mul, sub
from armdyn.errors import NotApplicable
from armdyn.mechanics import external, linear
from armdyn.mechanics.composite_body import turned
from armdyn.mechanics.forward import joint_name
from armdyn.mechanics.friction import driving_torques
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import plus
from armdyn.mechanics.moving_axes import steady
from armdyn.mechanics.newton_euler import tip_wrench
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.springs import spring_torques
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


class Block(NamedTuple):
    """A symmetric 6x6 matrix by its blocks [[A, B], [B^T, D]]: takes an acceleration to a wrench."""

    A: Mat3
    B: Mat3
    D: Mat3

    def times(self, V: Screw) -> Screw:
        return Screw(self.A @ V.linear + self.B @ V.angular, self.B.T @ V.linear + self.D @ V.angular)

    def plus(self, other: Block) -> Block:
        return Block(self.A + other.A, self.B + other.B, self.D + other.D)


@quantity
def forward_dynamics(robot: Robot, q: Scalars, qd: Scalars, tau: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint accelerations that torques produce, by articulated bodies. Khalil (7.67)-(7.79)

    Args:    q, qd: (..., n) rad or m and derivative. tau: (..., n) of the actuators. wrench: (..., 6) at the
             tool, or {frame: (..., 6)}.
    Returns: qdd: (..., n).
    Raises:  PhysicsError if a joint moves nothing. NotApplicable for rotors of the full model on moving links.
    """
    Ia = rotor_inertias(robot)
    poses = [link.pose(q[link.index]) for link in robot.links]
    tip, elsewhere = external.split(robot, q, wrench)
    gamma, beta = rates(robot, poses, q, qd, tip)
    resisting = plus(spring_torques(robot, q), elsewhere)
    force = list(map(sub, driving_torques(robot, qd, tau), resisting))  # Khalil (7.82)
    I = [spatial(link.inertia) for link in robot.links]
    u = [Screw(ZERO, ZERO) for _ in robot.links]
    inverse: list[Scalar] = [0] * robot.n
    pull: list[Scalar] = [0] * robot.n

    for link in robot.inward():
        j, i = link.index, link.parent
        u[j] = column(link, I[j])  # I* a
        H = add(link.along(*u[j]), Ia[j])  # Khalil (7.71)
        inverse[j] = linear.reciprocal(H, scale(link, I[j]), joint_name(robot, j))
        pull[j] = add(force[j], link.along(*beta[j]))  # tau + a^T beta*
        if i != WORLD:
            gain = Screw(over(u[j].linear, H, inverse[j]), over(u[j].angular, H, inverse[j]))  # I* a H^-1
            K = reduced(link, I[j], u[j], gain)  # Khalil (7.72)
            alpha = K.times(gamma[j]).plus(gain.times(pull[j])).minus(beta[j])  # Khalil (7.73)
            beta[i] = beta[i].minus(wrench_at_parent(poses[j], alpha))  # Khalil (7.74)
            I[i] = I[i].plus(block_at_parent(link, q[j], poses[j].p, K))  # Khalil (7.75)

    V: list[Screw] = []
    qdd: list[Scalar] = []
    for link in robot.outward():
        j = link.index
        R, P = poses[j]
        v, w = Screw(-robot.gravity, ZERO) if link.parent == WORLD else V[link.parent]
        drift = Screw(R.T @ (v + cross(w, P)), R.T @ w).plus(gamma[j])  # Khalil (7.76) and gamma
        qdd.append(mul(inverse[j], sub(pull[j], u[j].dot(drift))))  # Khalil (7.77)
        V.append(drift.plus(Screw(link.slide(qdd[j]), link.spin(qdd[j]))))  # Khalil (7.78)
    return [sub(chart, still) for chart, still in zip(qdd, steady(robot, qd), strict=True)]


def rates(
    robot: Robot, poses: list[Pose], q: Scalars, qd: Scalars, wrench: Scalars | None
) -> tuple[list[Screw], list[Screw]]:
    """The gamma and beta of Khalil: accelerations and wrenches that velocities and the tip wrench cause at qdd = 0."""
    w: list[Vec3] = []
    gamma: list[Screw] = []
    beta: list[Screw] = []
    for link in robot.outward():
        j = link.index
        R, P = poses[j]
        w_i = ZERO if link.parent == WORLD else w[link.parent]
        w_before, spin, slide = R.T @ w_i, link.spin(qd[j]), link.slide(qd[j])  # Khalil (7.51)
        w.append(w_before + spin)  # Khalil (7.52)
        drift = R.T @ cross(w_i, cross(w_i, P)) + 2 * cross(w_before, slide)
        gamma.append(Screw(drift, cross(w_before, spin)))  # Khalil (7.68)
        body = link.inertia
        beta.append(Screw(-cross(w[j], cross(w[j], body.moment)), -cross(w[j], body.tensor @ w[j])))  # Khalil (7.70)
    if wrench is not None:
        j, force, moment = tip_wrench(robot, q, wrench)
        if j != WORLD:
            beta[j] = beta[j].minus(Screw(force, moment))  # Khalil (7.70), F_e
    return gamma, beta


def rotor_inertias(robot: Robot) -> list[Scalar]:
    """Ia of Khalil (7.71): the rotor's inertia seen by its joint, k^2 I. Khalil (7.29)"""
    Ia: list[Scalar] = [0] * robot.n
    for spin in robot.spins:
        if spin.axis is not None and spin.carrier != WORLD:
            raise NotApplicable(
                "a rotor of the full model that is carried by a moving link does not fit articulated bodies",
                where=joint_name(robot, spin.joint),
                expected='rotors with model = "reflected"',
                advice="Use composite_body.forward_dynamics.",
            )
        if spin.others:
            raise NotApplicable(
                "a rotor that several joints turn, by a coupling, does not fit articulated bodies",
                where=joint_name(robot, spin.joint),
                expected="motors that drive one joint each",
                advice="Use composite_body.forward_dynamics.",
            )
        Ia[spin.joint] = add(Ia[spin.joint], mul(spin.ratio, mul(spin.ratio, spin.inertia)))
    return Ia


def spatial(body: Inertia) -> Block:
    """[[M 1, -MS^], [MS^, I_O]]: the 6x6 inertia of a link about its origin. Khalil (7.21)"""
    return Block(Mat3.identity() * body.mass, -skew(body.moment), body.tensor)


def column(link: Link, I: Block) -> Screw:
    """I a_j: the column of the joint's axis."""
    return Screw(I.B.column(2), I.D.column(2)) if link.revolute else Screw(I.A.column(2), I.B.T.column(2))


def over(v: Vec3, H: Scalar, inverse: Scalar) -> Vec3:
    """The vector v / H; H / H is the literal 1, so that K has literal zeros where the joint gives way freely."""
    return Vec3(*(1 if x is H else mul(x, inverse) for x in v))


def reduced(link: Link, I: Block, u: Screw, gain: Screw) -> Block:
    """K = I - (I a) H^-1 (I a)^T: the inertia that is left to feel when the joint gives way. Khalil (7.72)"""
    (f, m), (f_H, m_H) = u, gain
    coupling = outer(f, m_H) if link.revolute else outer(f_H, m)  # equal; the factor with the literal 1 is taken
    return Block(I.A - symmetric(outer(f, f_H)), I.B - coupling, I.D - symmetric(outer(m, m_H)))


def symmetric(A: Mat3) -> Mat3:
    return Mat3.symmetric(*A.upper())


def wrench_at_parent(pose: Pose, F: Screw) -> Screw:
    """jS_i^T F: the wrench turned into the parent's axes and taken about its origin. Khalil (7.59), (7.60)"""
    force = pose.R @ F.linear
    return Screw(force, pose.R @ F.angular + cross(pose.p, force))


def block_at_parent(link: Link, q: Scalar, P: Vec3, K: Block) -> Block:
    """jS_i^T K jS_i of Khalil (7.75): each block turned about z and placed, then the origin moved by P."""
    return about(P, Block(*(_turned(link, q, block) for block in K)))


def about(P: Vec3, K: Block) -> Block:
    """The matrix about an origin from which its own is seen at P. Khalil (7.75) without turning"""
    A, B, D = K
    P_hat = skew(P)
    B_moved = B - A @ P_hat
    return Block(symmetric(A), B_moved, symmetric(D + P_hat @ B_moved + (P_hat @ B).T))


def _turned(link: Link, q: Scalar, block: Mat3) -> Mat3:
    if link.revolute:
        block = turned(block, *ops.cos_sin(add(q, link.offset)))
    R = link.placement.R
    return R @ block @ R.T


def scale(link: Link, I: Block) -> Scalar:
    """What the inertia about the joint's axis is small against, when it is only rounding."""
    return I.D.trace if link.revolute else I.A.trace


__all__ = ["forward_dynamics"]
