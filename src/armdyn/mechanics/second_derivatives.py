"""Second derivatives of the inverse dynamics, contracted with a vector, by composite bodies.

With weights u, let W be the motion of the links if the joints move at the rates u. Then u.tau is the sum over the links
of W.F, F being the wrench that a link needs, and how a joint j changes it is known from `derivatives`: the turn of all
beyond it as one rigid body. In the words of [D-1] to [D-3], with SW = W x S beside Sd = V x S, B_W that of W, and

    i = I W,  b = 2 B^T W   summed over all that a joint carries                                              [D-7]

the first derivatives of u.tau are

    by q_j: SW.f + Sdd.i + Sd.b,     by qd_j: 2 Sd.i + S.b,     by qdd_j: S.i                                 [D-8]

where only the angular part of a screw counts for b, a moment. A joint k beyond j changes of these nothing but f, i, b:

    f: by q_k  S x* f + I Sdd + 2 B Sd,     by qd_k  2 (I Sd + B S),     by qdd_k  I S                        [D-9]
    i: by q_k  S x* i + I SW                                                                                  [D-10]
    b: by q_k  w x b - 2 B_W^T Sd + 2 B^T SW,     by qd_k  -2 B_W^T S                                         [D-11]

with the screws of joint k and the sums over all that it carries. Each pair of joints costs a few products of screws.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from armdyn.algebra import Z_AXIS, ZERO, Inertia, Pose, Scalar, Screw, Vec3, cross, momentum
from armdyn.algebra.dual import gradient
from armdyn.algebra.ops import add
from armdyn.mechanics.actuators import friction_torques, rotor_torques
from armdyn.mechanics.composite_body import composites, forward_dynamics
from armdyn.mechanics.derivatives import state, turned_axis
from armdyn.mechanics.kinematics import link_poses, velocities
from armdyn.mechanics.matrices import Rows, inner, plus, zeros
from armdyn.mechanics.newton_euler import inverse_dynamics
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.springs import spring_torques
from armdyn.mechanics.steps.derivatives import MassMotion, wrench_product
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Torques = Callable[[Scalars, Scalars, Scalars], Scalars]
Hessian = tuple[Rows, Rows, Rows, Rows]
"""Second derivatives by (q, q), (q, qd), (qd, qd), (q, qdd)."""


class Changed(NamedTuple):
    """A joint's screws, Sd twice and once (its angular part), and how f, i and b change with it."""

    S: Screw
    Sd2: Screw
    Sdd: Screw
    SW: Screw
    turn: Vec3
    f_q: Screw
    f_qd: Screw
    f_qdd: Screw
    i_q: Screw
    b_q: Vec3
    b_qd: Vec3

    def seen_from(self, T: Pose) -> Changed:
        S, Sd2, Sdd, SW = (screw.motion_seen_from(T) for screw in self[:4])
        f_q, f_qd, f_qdd, i_q = (screw.wrench_seen_from(T) for screw in self[5:9])
        return Changed(S, Sd2, Sdd, SW, T.R @ self.turn, f_q, f_qd, f_qdd, i_q, T.R @ self.b_q, T.R @ self.b_qd)


class Sums(NamedTuple):
    """Over all that a joint carries: 2 B, B_W, f, i, b. [D-7]"""

    B2: MassMotion
    BW: MassMotion
    f: Screw
    i: Screw
    b: Vec3

    def plus(self, other: Sums) -> Sums:
        return Sums(
            self.B2.plus(other.B2), self.BW.plus(other.BW), self.f.plus(other.f), self.i.plus(other.i), self.b + other.b
        )

    def seen_from(self, T: Pose) -> Sums:
        return Sums(
            self.B2.seen_from(T),
            self.BW.seen_from(T),
            self.f.wrench_seen_from(T),
            self.i.wrench_seen_from(T),
            T.R @ self.b,
        )


def changes(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, weights: Scalars) -> list[Changed]:
    """Outward and inward pass, then the screws and changes of every joint, in the world's axes. [D-7], [D-9]-[D-11]"""
    known = state(robot, q, qd, qdd, 2)
    w = velocities(robot, q, qd)[1]
    v_W, w_W = velocities(robot, q, weights)
    bodies, poses = composites(robot, q), link_poses(robot, q)
    sums = []
    for link in robot.links:
        j, W = link.index, Screw(v_W[link.index], w_W[link.index])
        BW = MassMotion.of(link.inertia, *W)
        sums.append(Sums(known.moving[j], BW, known.wrenches[j], momentum(link.inertia, W), known.moving[j].row(W)))
    result: list[Changed] = []
    for link in robot.inward():
        j = link.index
        turn = cross(w[j], Z_AXIS) if link.revolute else ZERO
        SW = turned_axis(link, v_W[j], w_W[j])
        result.append(_changed(*known.axes[j], SW, turn, bodies[j], sums[j]).seen_from(poses[j]))
        if link.parent != WORLD:
            sums[link.parent] = sums[link.parent].plus(sums[j].seen_from(link.pose(q[j])))
    return result[::-1]


def _changed(S: Screw, Sd2: Screw, Sdd: Screw, SW: Screw, turn: Vec3, body: Inertia, sums: Sums) -> Changed:
    B2, BW, f, i, b = sums
    f_q = wrench_product(S, f).plus(momentum(body, Sdd)).plus(B2.times(turn))
    f_qd = momentum(body, Sd2).plus(B2.times(S.angular))
    i_q = wrench_product(S, i).plus(momentum(body, SW))
    b_q = cross(S.angular, b) - BW.row(Sd2) + B2.row(SW)
    return Changed(S, Sd2, Sdd, SW, turn, f_q, f_qd, momentum(body, S), i_q, b_q, -2 * BW.row(S))


def bodies_hessian(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, weights: Scalars) -> Hessian:
    """Second derivatives of the weighted torques of the bodies alone: [D-8] changed by [D-9] to [D-11]."""
    joints = changes(robot, q, qd, qdd, weights)
    q_q, q_qd, qd_qd, q_qdd = (zeros(robot.n, robot.n) for _ in range(4))
    for link in robot.links:
        k = link.index
        beyond = joints[k]
        for j in robot.path(k):
            S, Sd2, Sdd, SW, turn = joints[j][:5]
            q_q[j][k] = q_q[k][j] = add(add(SW.dot(beyond.f_q), Sdd.dot(beyond.i_q)), turn.dot(beyond.b_q))
            q_qd[k][j] = add(Sd2.dot(beyond.i_q), S.angular.dot(beyond.b_q))
            qd_qd[j][k] = qd_qd[k][j] = S.angular.dot(beyond.b_qd)
            q_qdd[k][j] = S.dot(beyond.i_q)
            if j != k:
                q_qd[j][k] = add(SW.dot(beyond.f_qd), turn.dot(beyond.b_qd))
                q_qdd[j][k] = SW.dot(beyond.f_qdd)
    return q_q, q_qd, qd_qd, q_qdd


@quantity
def inverse_dynamics_hessian(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, weights: Scalars) -> Hessian:
    """Second derivatives of the sum of weights_i tau_i: (..., 4, n, n).

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. weights: (..., n).
    Returns: by (q, q), (q, qd), (qd, qd), (q, qdd); rows belong to the first of a pair. By (qd, qdd) and (qdd, qdd)
             they are zero. Rotors, springs and friction are included; of dry friction at qd = 0, its smooth part.
    """
    total = bodies_hessian(robot, q, qd, qdd, weights)
    if any(spin.axis is not None for spin in robot.spins) or robot.features.keys() & {"gravity_compensation"}:

        def others(x: Scalars, xd: Scalars, xdd: Scalars) -> Scalars:
            return plus(rotor_torques(robot, x, xd, xdd), spring_torques(robot, x))

        total = _added(total, twice(others, q, qd, qdd, weights))
    slopes = gradient(lambda x: gradient(lambda y: inner(weights, friction_torques(robot, y)), x), qd)
    q_q, q_qd, qd_qd, q_qdd = total
    return q_q, q_qd, _sum(qd_qd, slopes), q_qdd


@quantity
def differentiated_newton_euler(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, weights: Scalars) -> Hessian:
    """The same by differentiating the recursion of Newton and Euler twice, with dual numbers."""
    return twice(lambda x, xd, xdd: inverse_dynamics.formula(robot, x, xd, xdd), q, qd, qdd, weights)


@quantity
def differentiated_composite_body(robot: Robot, q: Scalars, qd: Scalars, tau: Scalars, weights: Scalars) -> Hessian:
    """Second derivatives of the sum of weights_i qdd_i, by differentiating M^-1 (tau - h) twice."""
    return twice(lambda x, xd, y: forward_dynamics.formula(robot, x, xd, y), q, qd, tau, weights)


def twice(torques: Torques, q: Scalars, qd: Scalars, qdd: Scalars, weights: Scalars) -> Hessian:
    """Second derivatives of weighted torques by nested dual numbers."""

    def weighted(x: Scalars, xd: Scalars, xdd: Scalars) -> Scalar:
        return inner(weights, torques(x, xd, xdd))

    by_q = gradient(lambda x: gradient(lambda y: weighted(y, qd, qdd), x), q)
    by_q_qd = gradient(lambda x: gradient(lambda y: weighted(x, y, qdd), qd), q)
    by_qd = gradient(lambda x: gradient(lambda y: weighted(q, y, qdd), x), qd)
    by_q_qdd = gradient(lambda x: gradient(lambda y: weighted(x, qd, y), qdd), q)
    return by_q, by_q_qd, by_qd, by_q_qdd


def _added(a: Hessian, b: Hessian) -> Hessian:
    q_q, q_qd, qd_qd, q_qdd = (_sum(x, y) for x, y in zip(a, b, strict=True))
    return q_q, q_qd, qd_qd, q_qdd


def _sum(a: Rows, b: Rows) -> Rows:
    return [[add(x, y) for x, y in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


__all__ = ["inverse_dynamics_hessian"]
