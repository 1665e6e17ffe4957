"""Articulated bodies: forward dynamics without the mass matrix, at a cost that grows linearly with the joints.

Source: Khalil sec. 7.6.2, (7.67)-(7.91) (with (7.88) corrected: F - S^T F_n + beta); the steps at one link are in
`steps.articulated_body`. The axis of joint j is z of link frame j, as in Khalil. Branches are allowed: (7.74) and
(7.75) then add up over the children.
"""

from __future__ import annotations

from functools import partial

from armdyn.algebra import ZERO, Mat3, Pose, Scalar, Screw, Vec3, ops
from armdyn.algebra.ops import add, mul, sub
from armdyn.errors import NotApplicable
from armdyn.mechanics import external, linear
from armdyn.mechanics.forward import joint_name
from armdyn.mechanics.friction import driving_torques
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import plus
from armdyn.mechanics.moving_axes import steady
from armdyn.mechanics.newton_euler import tip_wrench
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.springs import spring_torques
from armdyn.mechanics.steps.articulated_body import (
    SpatialInertia,
    bias_force,
    driving_force,
    inertia_to_parent,
    joint_acceleration,
    joint_gain,
    joint_inertia,
    propagate_acceleration,
    reduced_inertia,
    reduced_wrench,
    spatial_inertia,
    velocity_product,
)
from armdyn.mechanics.steps.composite_body import joint_axis, turned_about_z
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


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
    axes = [joint_axis(link) for link in robot.links]
    I = [spatial_inertia(link.inertia) for link in robot.links]
    u = [Screw(ZERO, ZERO) for _ in robot.links]
    inverse: list[Scalar] = [0] * robot.n
    driving: list[Scalar] = [0] * robot.n

    for link in robot.inward():
        j, i = link.index, link.parent
        u[j], H = joint_inertia(axes[j], I[j], Ia[j])  # Khalil (7.71)
        inverse[j] = linear.reciprocal(H, _scale(link, I[j]), joint_name(robot, j))
        driving[j] = driving_force(axes[j], force[j], beta[j])
        if i != WORLD:
            gain = joint_gain(u[j], H, inverse[j])
            K = reduced_inertia(I[j], u[j], gain, revolute=link.revolute)  # Khalil (7.72)
            alpha = reduced_wrench(K, gamma[j], gain, driving[j], beta[j])  # Khalil (7.73)
            beta[i] = beta[i].minus(alpha.wrench_seen_from(poses[j]))  # Khalil (7.74)
            turned = partial(_turned_to_parent, link, q[j])
            I[i] = I[i].plus(inertia_to_parent(turned, poses[j].p, K))  # Khalil (7.75)

    V: list[Screw] = []
    qdd: list[Scalar] = []
    for link in robot.outward():
        j = link.index
        parent = Screw(-robot.gravity, ZERO) if link.parent == WORLD else V[link.parent]
        drift = propagate_acceleration(poses[j], parent, gamma[j])  # Khalil (7.76) and gamma
        qdd.append(joint_acceleration(inverse[j], driving[j], u[j], drift))  # Khalil (7.77)
        V.append(drift.plus(axes[j].times(qdd[j])))  # Khalil (7.78)
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
        w_i = ZERO if link.parent == WORLD else w[link.parent]
        w.append(poses[j].R.T @ w_i + link.spin(qd[j]))  # Khalil (7.51), (7.52)
        gamma.append(velocity_product(poses[j], w_i, link.spin(qd[j]), link.slide(qd[j])))  # Khalil (7.68)
        beta.append(bias_force(link.inertia, w[j]))  # Khalil (7.70)
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


def _turned_to_parent(link: Link, q: Scalar, block: Mat3) -> Mat3:
    """R A R^T of a block A, R being the link's orientation in its parent: about z first, then as it is placed."""
    if link.revolute:
        block = turned_about_z(block, *ops.cos_sin(add(q, link.offset)))
    R = link.placement.R
    return R @ block @ R.T


def _scale(link: Link, I: SpatialInertia) -> Scalar:
    """What the inertia about the joint's axis is small against, when it is only rounding."""
    return I.D.trace if link.revolute else I.A.trace


__all__ = ["forward_dynamics"]
