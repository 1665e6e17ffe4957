"""First derivatives of the inverse dynamics, and the Coriolis matrix, by composite bodies.

After the spatial-vector derivatives of Singh, Russell and Wensing (2022) and the Coriolis matrix of Echeandia and
Wensing (2021), written for joints with one axis. A joint j that turns a little carries all beyond it along as one rigid
body, so three things are enough to know: what the composite body beyond joint i weighs (I), how its mass moves
(p, A below), and the wrench f that it needs. With S the joint's axis as a screw (linear, angular), V and G the velocity
and acceleration of its link and x the product of screws

    Sd = V x S                   rate of the axis                                                             [D-1]
    Sdd = G x S + V x Sd         rate of the link's motion with q: rate of Sd                                 [D-2]
    B W = (w x p, (tr(A) 1 - A) w),   p = sum of m rd,  A = sum of m rd r^T,  W = (v, w)                      [D-3]

    dtau_i/dq_j  = S_i.(2 B_i Sd_j + I_i Sdd_j)                   joint j carries joint i, or is it           [D-4]
    dtau_j/dq_i  = S_j.(2 B_i Sd_i + I_i Sdd_i + S_i x* f_i)      joint j carries joint i, and is not it      [D-5]
    C_ij = S_i.(B_i S_j + I_i Sd_j),   C_ji = S_j.(B_i S_i + I_i Sd_i),   dtau/dqd = 2 C                      [D-6]

with I_i, B_i, f_i of all that joint i carries. B is linear in the angular part of a screw only: one 3x3 matrix and one
vector, where the sources have a 6x6 matrix. The sums run over particles with position r and velocity rd.

Each wrench is passed inwards from link to link ("link"), or all screws are brought to the world's axes and origin at
once ("world"): the first costs less for short chains with right angles, the second for long ones.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from armdyn.algebra import Z_AXIS, ZERO, Inertia, Mat3, Pose, Screw, Vec3, cross, momentum, outer, skew
from armdyn.algebra.dual import gradient
from armdyn.algebra.ops import add, half
from armdyn.errors import unknown_name
from armdyn.mechanics.actuators import friction_torques, rotor_coriolis_matrix, rotor_torques
from armdyn.mechanics.composite_body import composites, mass_matrix
from armdyn.mechanics.kinematics import link_poses, velocities
from armdyn.mechanics.matrices import Rows, plus, zeros
from armdyn.mechanics.moving_axes import in_moving_axes, less_frame_rates
from armdyn.mechanics.newton_euler import acceleration, joint_torques, rate_matrix, turning_moment
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.springs import spring_torques
from armdyn.robot.features import PASSIVE
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Axes = Literal["link", "world"]
AXES: tuple[Axes, ...] = ("link", "world")


class Moving(NamedTuple):
    """How the mass of a body moves: p = sum of m rd, A = sum of m rd r^T. [D-3]"""

    p: Vec3
    A: Mat3

    @staticmethod
    def of(body: Inertia, v: Vec3, w: Vec3) -> Moving:
        """With rd = v + w x r: A = v h^T + [w] S, where h is the first moment and S = sum of m r r^T."""
        spread = Mat3.identity() * half(body.tensor.trace) - body.tensor
        return Moving(body.mass * v + cross(w, body.moment), outer(v, body.moment) + skew(w) @ spread)

    def plus(self, other: Moving) -> Moving:
        return Moving(self.p + other.p, self.A + other.A)

    def seen_from(self, T_ab: Pose) -> Moving:
        R, P = T_ab
        p = R @ self.p
        return Moving(p, R @ self.A @ R.T + outer(p, P))

    def times(self, w: Vec3) -> Screw:
        """B W of [D-3]; only the angular part of W counts."""
        return Screw(cross(w, self.p), self.A.trace * w - self.A @ w)

    def row(self, S: Screw) -> Vec3:
        """S^T B: what it is multiplied with is the angular part of a screw."""
        v, w = S
        turned: Vec3 = self.A.trace * w - self.A.T @ w
        return cross(self.p, v) + turned


class Axis(NamedTuple):
    """A joint's axis and its rates [D-1], [D-2]."""

    S: Screw
    Sd: Screw
    Sdd: Screw

    def seen_from(self, T_ab: Pose) -> Axis:
        return Axis(*(screw.motion_seen_from(T_ab) for screw in self))


class Carried(NamedTuple):
    """What all that a joint carries answers, in wrenches.

    turning: S^T B (multiplies an angular velocity). inertial: S^T I (multiplies a screw). by_position: the bracket of
    [D-5]; by_rate: that of C_ji in [D-6].
    """

    turning: Vec3
    inertial: Screw
    by_position: Screw
    by_rate: Screw

    def seen_from(self, T_ab: Pose) -> Carried:
        return Carried(T_ab.R @ self.turning, *(wrench.wrench_seen_from(T_ab) for wrench in self[1:]))


class State(NamedTuple):
    """Link by link: the axes, the wrenches of the links alone, and how their masses move."""

    axes: list[Axis]
    wrenches: list[Screw]
    moving: list[Moving]


def state(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars | None, factor: int) -> State:
    """The outward pass, in link frames. factor: multiplies Sd and B. Without qdd: no accelerations, no gravity."""
    v, w = velocities(robot, q, qd)
    moves = qdd is not None
    a_base = -robot.gravity if moves else ZERO
    rates: Scalars = qdd if qdd is not None else [0] * robot.n
    wd, U, a = [ZERO] * robot.n, [Mat3.zero()] * robot.n, [ZERO] * robot.n
    result = State([], [], [])
    for link in robot.outward():
        j, i, body = link.index, link.parent, link.inertia
        twice_v, twice_w = (factor * v[j], factor * w[j]) if factor != 1 else (v[j], w[j])
        result.moving.append(Moving.of(body, twice_v, twice_w))
        S, Sd, Sdd, wrench = unit(link), turned_axis(link, twice_v, twice_w), Screw(ZERO, ZERO), Screw(ZERO, ZERO)
        if moves:
            R, P = link.pose(q[j])
            wd_i, U_i, a_i = (ZERO, Mat3.zero(), a_base) if i == WORLD else (wd[i], U[i], a[i])
            w_before = ZERO if i == WORLD else R.T @ w[i]
            U_z = R.T @ (U_i @ R.column(2))  # Khalil (7.51)-(7.57), as in newton_euler
            wd[j] = acceleration(w[j], U_z, (R.T @ wd_i + link.spin(rates[j])).z)
            U[j] = rate_matrix(w[j], wd[j])
            a[j] = R.T @ (a_i + U_i @ P) + (link.slide(rates[j]) + 2 * cross(w_before, link.slide(qd[j])))
            force = body.mass * a[j] + U[j] @ body.moment
            wrench = Screw(force, turning_moment(body.tensor, w[j], wd[j], U[j]) + cross(body.moment, a[j]))
            # The spatial acceleration is a - w x v: G x S + V x Sd becomes a x z + 2 v x (w x z) for a turning joint.
            drift = cross(twice_v, cross(w[j], Z_AXIS))
            Sdd = Screw(cross(a[j], Z_AXIS) + drift, U_z) if link.revolute else Screw(U_z, ZERO)
        result.axes.append(Axis(S, Sd, Sdd))
        result.wrenches.append(wrench)
    return result


def unit(link: Link) -> Screw:
    return Screw(ZERO, Z_AXIS) if link.revolute else Screw(Z_AXIS, ZERO)


def turned_axis(link: Link, v: Vec3, w: Vec3) -> Screw:
    """[D-1] in the link's own frame."""
    w_z = cross(w, Z_AXIS)
    return Screw(cross(v, Z_AXIS), w_z) if link.revolute else Screw(w_z, ZERO)


def product(V: Screw, S: Screw) -> Screw:
    """The product of screws V x S: the rate of S when it moves with V. [D-1]"""
    v, w = V
    return Screw(cross(w, S.linear) + cross(v, S.angular), cross(w, S.angular))


def wrench_product(V: Screw, F: Screw) -> Screw:
    """V x* F: the rate of a wrench that moves with V. [D-5]"""
    v, w = V
    return Screw(cross(w, F.linear), cross(w, F.angular) + cross(v, F.linear))


def answered(axis: Axis, body: Inertia, B: Moving, f: Screw, own: Vec3) -> Carried:
    """What all that a joint carries answers to its axis; own: angular part of Sd. [D-4]-[D-6]"""
    S, Sd, Sdd = axis
    by_position = B.times(own).plus(momentum(body, Sdd)).plus(wrench_product(S, f))
    return Carried(B.row(S), momentum(body, S), by_position, B.times(S.angular).plus(momentum(body, Sd)))


def carried(robot: Robot, q: Scalars, known: State, angular_rates: list[Vec3]) -> list[Carried]:
    """The inward pass: composite bodies, and their answers to their own joint. Link frames."""
    bodies, wrenches, moving = composites(robot, q), list(known.wrenches), list(known.moving)
    result: list[Carried] = []
    for link in robot.inward():
        j, i = link.index, link.parent
        B, f = moving[j], wrenches[j]
        result.append(answered(known.axes[j], bodies[j], B, f, angular_rates[j]))
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
    answers = carried(robot, q, known, own)
    joints = known.axes
    if axes == "world":
        poses = link_poses(robot, q)
        joints = [axis.seen_from(T) for axis, T in zip(joints, poses, strict=True)]
        answers = [answer.seen_from(T) for answer, T in zip(answers, poses, strict=True)]
        own = [T.R @ rate for rate, T in zip(own, poses, strict=True)]
    dq, C = zeros(robot.n, robot.n), zeros(robot.n, robot.n)
    for link in robot.links:
        i = j = link.index
        answer = answers[i]
        while True:
            S, Sd, Sdd = joints[j]
            dq[i][j] = add(answer.turning.dot(own[j]), answer.inertial.dot(Sdd))
            C[i][j] = add(answer.turning.dot(S.angular), answer.inertial.dot(Sd))
            if i != j:
                dq[j][i] = S.dot(answer.by_position)
                C[j][i] = S.dot(answer.by_rate)
            above = robot.links[j].parent
            if above == WORLD:
                break
            if axes == "link":
                answer = answer.seen_from(robot.links[j].pose(q[j]))
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
def coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars, axes: Axes = "link") -> Rows:
    """Christoffel matrix C(q, qd): (..., n, n); Mdot - 2C is skew-symmetric. [D-6]"""
    C = products(robot, q, qd, None, 1, axes)[1]
    rotors = rotor_coriolis_matrix(robot, q, qd)
    C = [[add(a, b) for a, b in zip(*rows, strict=True)] for rows in zip(C, rotors, strict=True)]
    return less_frame_rates(robot, C, mass_matrix.formula(robot, q), qd) if robot.compounds else C


__all__ = ["AXES", "Axes", "coriolis_matrix", "inverse_dynamics_derivatives"]
