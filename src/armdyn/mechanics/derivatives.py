"""First derivatives of the inverse dynamics, and the Coriolis matrix, by composite bodies: [D-1] to [D-6].

The equations are in `steps.derivatives`. Each wrench is passed inwards from link to link ("link"), or all screws are
brought to the world's axes and origin at once ("world"): the first costs less for short chains with right angles, the
second for long ones.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from armdyn.algebra import Z_AXIS, ZERO, Mat3, Screw, Vec3, cross
from armdyn.algebra.dual import gradient
from armdyn.algebra.ops import add
from armdyn.errors import unknown_name
from armdyn.mechanics.actuators import friction_torques, rotor_coriolis_matrix, rotor_torques
from armdyn.mechanics.composite_body import composites, mass_matrix
from armdyn.mechanics.external import external_torques
from armdyn.mechanics.kinematics import link_poses, velocities
from armdyn.mechanics.matrices import Rows, plus, zeros
from armdyn.mechanics.moving_axes import in_moving_axes, less_frame_rates
from armdyn.mechanics.newton_euler import joint_torques
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.springs import spring_torques
from armdyn.mechanics.steps.composite_body import joint_axis
from armdyn.mechanics.steps.derivatives import AxisRates, CompositeResponse, MassMotion, composite_response
from armdyn.mechanics.steps.newton_euler import LinkMotion, axis_acceleration, body_wrench, propagate_motion
from armdyn.robot.features import PASSIVE
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Axes = Literal["link", "world"]
AXES: tuple[Axes, ...] = ("link", "world")
NOTHING = Screw(ZERO, ZERO)


class State(NamedTuple):
    """Link by link: the axes, the wrenches of the links alone, and how their masses move."""

    axes: list[AxisRates]
    wrenches: list[Screw]
    moving: list[MassMotion]


def state(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars | None, factor: int) -> State:
    """The outward pass, in link frames. factor: multiplies Sd and B. Without qdd: no accelerations, no gravity."""
    v, w = velocities(robot, q, qd)
    base = LinkMotion(ZERO, ZERO, Mat3.zero(), -robot.gravity)
    motion: list[LinkMotion] = []
    result = State([], [], [])
    for link in robot.outward():
        j, i, body = link.index, link.parent, link.inertia
        twice_v, twice_w = (factor * v[j], factor * w[j]) if factor != 1 else (v[j], w[j])
        result.moving.append(MassMotion.of(body, twice_v, twice_w))
        S, Sd, Sdd, wrench = joint_axis(link), turned_axis(link, twice_v, twice_w), NOTHING, NOTHING
        if qdd is not None:
            pose, before = link.pose(q[j]), base if i == WORLD else motion[i]
            motion.append(propagate_motion(link, pose, qd[j], qdd[j], before, by_axis=True))
            wrench = body_wrench(link, motion[j])
            # The spatial acceleration is a - w x v: G x S + V x Sd becomes a x z + 2 v x (w x z) for a revolute joint.
            U_z, drift = axis_acceleration(pose.R, before.U), cross(twice_v, cross(w[j], Z_AXIS))
            Sdd = Screw(cross(motion[j].a, Z_AXIS) + drift, U_z) if link.revolute else Screw(U_z, ZERO)
        result.axes.append(AxisRates(S, Sd, Sdd))
        result.wrenches.append(wrench)
    return result


def turned_axis(link: Link, v: Vec3, w: Vec3) -> Screw:
    """[D-1] in the link's own frame."""
    w_z = cross(w, Z_AXIS)
    return Screw(cross(v, Z_AXIS), w_z) if link.revolute else Screw(w_z, ZERO)


def composite_responses(robot: Robot, q: Scalars, known: State, angular_rates: list[Vec3]) -> list[CompositeResponse]:
    """The inward pass: composite bodies, and their responses to their own joint. Link frames."""
    bodies, wrenches, moving = composites(robot, q), list(known.wrenches), list(known.moving)
    result: list[CompositeResponse] = []
    for link in robot.inward():
        j, i = link.index, link.parent
        B, f = moving[j], wrenches[j]
        result.append(composite_response(known.axes[j], bodies[j], B, f, angular_rates[j]))
        if i != WORLD:
            T = link.pose(q[j])
            wrenches[i] = wrenches[i].plus(f.wrench_seen_from(T))
            moving[i] = moving[i].plus(B.seen_from(T))
    return result[::-1]


def products(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars | None, factor: int, axes: Axes) -> tuple[Rows, Rows]:
    """(dtau/dq, factor C) of the bodies. [D-4]-[D-6]"""
    if axes not in AXES:
        raise unknown_name("axes", axes, AXES)
    known = state(robot, q, qd, qdd, factor)
    w = velocities(robot, q, qd)[1]
    own = [cross(w[link.index], Z_AXIS) if link.revolute else ZERO for link in robot.links]  # Sd without the factor
    responses = composite_responses(robot, q, known, own)
    joints = known.axes
    if axes == "world":
        poses = link_poses(robot, q)
        joints = [axis.seen_from(T) for axis, T in zip(joints, poses, strict=True)]
        responses = [response.seen_from(T) for response, T in zip(responses, poses, strict=True)]
        own = [T.R @ rate for rate, T in zip(own, poses, strict=True)]
    dq, C = zeros(robot.n, robot.n), zeros(robot.n, robot.n)
    for link in robot.links:
        i = j = link.index
        response = responses[i]
        while True:
            S, Sd, Sdd = joints[j]
            dq[i][j] = add(response.turning.dot(own[j]), response.inertial.dot(Sdd))
            C[i][j] = add(response.turning.dot(S.angular), response.inertial.dot(Sd))
            if i != j:
                dq[j][i] = S.dot(response.by_position)
                C[j][i] = S.dot(response.by_rate)
            above = robot.links[j].parent
            if above == WORLD:
                break
            if axes == "link":
                response = response.seen_from(robot.links[j].pose(q[j]))
            j = above
    return dq, C


@quantity
def inverse_dynamics_derivatives(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, axes: Axes = "link"
) -> tuple[Rows, Rows]:
    """(dtau/dq, dtau/dqd) of the inverse dynamics: (..., 2, n, n).

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. axes: in which the products are formed, "link" or "world".
    Returns: [..., 0, i, j] = dtau_i/dq_j, [..., 1, i, j] = dtau_i/dqd_j, rotors and friction included. At qd = 0, where
             dry friction jumps, its derivative is taken as that of its smooth part.
    """
    dq, dqd = products(robot, q, qd, qdd, 2, axes)
    n = range(robot.n)
    if robot.features.keys() & PASSIVE:
        stiffness = gradient(lambda x: spring_torques(robot, x), q)
        dq = [[add(dq[i][j], stiffness[j][i]) for j in n] for i in n]
    if any(spin.axis is not None for spin in robot.spins):
        by_q = gradient(lambda x: rotor_torques(robot, x, qd, qdd), q)
        by_qd = gradient(lambda x: rotor_torques(robot, q, x, qdd), qd)
        dq = [[add(dq[i][j], by_q[j][i]) for j in n] for i in n]
        dqd = [[add(dqd[i][j], by_qd[j][i]) for j in n] for i in n]
    if robot.compounds:
        M = mass_matrix.formula(robot, q)
        torques = plus(joint_torques(robot, q, qd, qdd), rotor_torques(robot, q, qd, qdd), spring_torques(robot, q))
        dq, dqd = in_moving_axes(robot, (dq, dqd), M, torques, qd, qdd)
    slopes = gradient(lambda x: friction_torques(robot, x), qd)
    return dq, [[add(dqd[i][j], slopes[j][i]) for j in n] for i in n]


@quantity
def wrench_derivatives(robot: Robot, q: Scalars, wrench: Scalars) -> Rows:
    """d(J^T w)/dq: (..., n, n), what a constant wrench at the tool adds to dtau/dq; world axes.

    Args: q: (..., n). wrench: (..., 6) force and moment that the robot exerts at the tool. Entry [i, j] is dtau_i/dq_j.
    """
    by_q = gradient(lambda x: external_torques(robot, x, {"tool": wrench}), q)
    n = range(robot.n)
    return [[by_q[j][i] for j in n] for i in n]


@quantity
def coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars, axes: Axes = "link") -> Rows:
    """Christoffel matrix C(q, qd): (..., n, n); Mdot - 2C is skew-symmetric. [D-6]"""
    C = products(robot, q, qd, None, 1, axes)[1]
    rotors = rotor_coriolis_matrix(robot, q, qd)
    C = [[add(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(C, rotors, strict=True)]
    return less_frame_rates(robot, C, mass_matrix.formula(robot, q), qd) if robot.compounds else C


__all__ = ["AXES", "Axes", "coriolis_matrix", "inverse_dynamics_derivatives", "wrench_derivatives"]
