"""Bertrand and Bruneau's formulation: what every body does to every joint, in coefficients that depend on q alone.

    tau_i = sum_k [ sum_j (H_ijk qdd_j + beta_ijk qd_j^2 + 2 qd_j sum_n<j zeta_ijnk qd_n) + G_ik + Q_ik ]  El Baji (23)

Source: El Baji sec. 3, (1)-(33), the extension of Bertrand and Bruneau 2013 to prismatic joints, corrected: no factor
on the tensors of bodies behind prismatic joints (ElBaji-2), the wrench is exerted by the body (ElBaji-3), u_n in the
Coriolis term (ElBaji-6), parentheses of (29) (ElBaji-7), G and Q outside of the sum over j (ElBaji-8).

The letters, for joint j and body k: w_j = eps_bar_j u_j; L_jk = (eps_j 1 - eps_bar_j skew(o_j o_k)) u_j is the bracket
of (14), the velocity that qd_j = 1 gives to the body's reference point. El Baji takes the centre of mass as that point;
we take the link's origin, with (m, s = m c, I and J about it): for s = 0 the lines below are (24)-(28), and nothing
divides by the mass. All vectors of body k are in the axes of its link (El Baji (29)). Joint j's axis is z of link j.
"Earlier" joints are those nearer to the base on the way to body k, so branches are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from armdyn.algebra import ZERO, Inertia, Mat3, Scalar, Vec3, cross, ops
from armdyn.algebra.ops import add, half, mul
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kane import Partial, Partials, link_partials, seen_by_links
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.newton_euler import tip_wrench
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Carried = dict[int, Partial]
"""(L_jk, w_j) of one body k, for the joints j that carry it, nearest to the base first."""
Matrix = list[list[Scalar]]
Cube = list[Matrix]

PARTS = ("inertia", "centrifugal", "coriolis", "gravity", "external")
"""What `contributions` keeps apart, in its order."""


# The coefficients of one body -------------------------------------------------------------------------------------


def pseudo_inertia(tensor: Mat3) -> Mat3:
    """J = 1/2 Tr(I) 1 - I = integral of r r^T dm. El Baji table 1"""
    round_part: Mat3 = Mat3.identity() * half(tensor.trace)
    return round_part - tensor


def _on(joint: Partial, force: Vec3, moment: Vec3) -> Scalar:
    """The part of a force at the body's reference point and of a moment that a joint bears. El Baji (15), (21)"""
    return add(joint.v.dot(force), joint.w.dot(moment))


def _H(body: Inertia, carried: Carried) -> dict[tuple[int, int], Scalar]:
    """{(i, j): H_ijk}, symmetric in i, j. El Baji (24)"""
    H: dict[tuple[int, int], Scalar] = {}
    for j, (L_j, w_j) in carried.items():
        force, moment = body.wrench(ZERO, w_j, L_j)  # m L_j + w_j x s, I w_j + s x L_j: El Baji (24)
        for i in carried:
            H[i, j] = H[j, i] if (j, i) in H else _on(carried[i], force, moment)
    return H


def _beta(body: Inertia, carried: Carried) -> dict[tuple[int, int], Scalar]:
    """{(i, j): beta_ijk}; zero for prismatic j. El Baji (25), corrected: ElBaji-2"""
    beta: dict[tuple[int, int], Scalar] = {}
    for j, (L_j, w_j) in carried.items():
        turned = cross(w_j, L_j)
        force = body.mass * turned + cross(w_j, cross(w_j, body.moment))  # El Baji (25)
        moment = cross(w_j, body.tensor @ w_j) + cross(body.moment, turned)  # El Baji (25)
        beta |= {(i, j): _on(carried[i], force, moment) for i in carried}
    return beta


def _zeta(body: Inertia, carried: Carried) -> dict[tuple[int, int, int], Scalar]:
    """{(i, j, n): zeta_ijnk}, n earlier than j; zero for prismatic n. El Baji (26), corrected: ElBaji-2, ElBaji-7"""
    zeta: dict[tuple[int, int, int], Scalar] = {}
    J, order = pseudo_inertia(body.tensor), list(carried)
    for n in order:
        w_n, Jw_n = carried[n].w, J @ carried[n].w
        for j in order[order.index(n) + 1 :]:
            L_j, w_j = carried[j]
            turned = cross(w_n, L_j)
            force = body.mass * turned + cross(w_n, cross(w_j, body.moment))  # El Baji (26)
            moment = cross(Jw_n, w_j) + cross(body.moment, turned)  # El Baji (26): dual(J u_n) u_j
            zeta |= {(i, j, n): _on(carried[i], force, moment) for i in order}
    return zeta


def _G(robot: Robot, q: Scalars, partials: Partials) -> Matrix:
    """[i][k]: G_ik = -(m_k g u_g at the centre of mass, on joint i); g u_g is the gravity vector. El Baji (27)"""
    G = _zeros(robot.n)
    for k, g in enumerate(seen_by_links(robot, q, robot.gravity)):
        body = robot.links[k].inertia
        weight, moment = body.mass * g, cross(body.moment, g)
        for i, joint in partials[k].items():
            G[i][k] = -_on(joint, weight, moment)  # El Baji (27)
    return G


def _Q(robot: Robot, q: Scalars, partials: Partials, wrench: Wrench) -> Matrix:
    """[i][k]: Q_ik of the wrenches that bodies exert. El Baji (28), corrected: ElBaji-3, ElBaji-7"""
    Q = _zeros(robot.n)
    if wrench is None:
        return Q
    for frame, each in (wrench if isinstance(wrench, Mapping) else {"tool": wrench}).items():
        k, force, couple = tip_wrench(robot, q, each, frame)
        for i, joint in partials[k].items() if k != WORLD else ():
            Q[i][k] = add(Q[i][k], _on(joint, force, couple))  # El Baji (28)
    return Q


def _zeros(n: int) -> Matrix:
    return [[0] * n for _ in range(n)]


# Sums over the bodies ---------------------------------------------------------------------------------------------


def _M(robot: Robot, partials: Partials) -> Matrix:
    """M_ij = sum_k H_ijk, over the bodies that both joints carry. El Baji (31)"""
    M = _zeros(robot.n)
    for link, carried in zip(robot.links, partials, strict=True):
        for (i, j), H in _H(link.inertia, carried).items():
            M[i][j] = add(M[i][j], H)
    return M


def _C(robot: Robot, partials: Partials) -> Cube:
    """[i][j][n]: the matrices C_i, sum_k beta_ijk on the diagonal, sum_k zeta_ijnk on both sides. El Baji (32), (33)"""
    C: Cube = [_zeros(robot.n) for _ in range(robot.n)]
    for link, carried in zip(robot.links, partials, strict=True):
        for (i, j), beta in _beta(link.inertia, carried).items():
            C[i][j][j] = add(C[i][j][j], beta)
        for (i, j, n), zeta in _zeta(link.inertia, carried).items():
            C[i][j][n] = C[i][n][j] = add(C[i][j][n], zeta)
    return C


def _quadratic(C: Cube, qd: Scalars) -> list[Scalar]:
    """qd^T C qd: entry i is the sum of C_ijj qd_j^2 and of 2 C_ijn qd_j qd_n, n < j. El Baji (23), (30)"""
    torques: list[Scalar] = []
    for C_i in C:
        crossed = [ops.total(map(mul, row[:j], qd[:j])) for j, row in enumerate(C_i)]
        rates = [add(mul(C_i[j][j], qd[j]), mul(2, crossed[j])) for j in range(len(qd))]
        torques.append(ops.total(map(mul, rates, qd)))
    return torques


# For users --------------------------------------------------------------------------------------------------------


@quantity
def inertia_coefficients(robot: Robot, q: Scalars) -> Cube:
    """H_ijk: (..., n, n, n), what body k has of the inertia between joints i and j. El Baji (24)"""
    H = [_H(link.inertia, carried) for link, carried in zip(robot.links, link_partials(robot, q), strict=True)]
    n = range(robot.n)
    return [[[H[k].get((i, j), 0) for k in n] for j in n] for i in n]


@quantity
def centrifugal_coefficients(robot: Robot, q: Scalars) -> Cube:
    """beta_ijk: (..., n, n, n), the torque on joint i that body k causes for qd_j = 1. El Baji (25)"""
    beta = [_beta(link.inertia, carried) for link, carried in zip(robot.links, link_partials(robot, q), strict=True)]
    n = range(robot.n)
    return [[[beta[k].get((i, j), 0) for k in n] for j in n] for i in n]


@quantity
def coriolis_coefficients(robot: Robot, q: Scalars) -> list[Cube]:
    """zeta_ijnk: (..., n, n, n, n) for n < j, zero elsewhere: joint i, rates qd_j qd_n, body k. El Baji (26)"""
    zeta = [_zeta(link.inertia, carried) for link, carried in zip(robot.links, link_partials(robot, q), strict=True)]
    N = range(robot.n)
    return [[[[zeta[k].get((i, j, n), 0) for k in N] for n in N] for j in N] for i in N]


@quantity
def gravity_coefficients(robot: Robot, q: Scalars) -> Matrix:
    """G_ik: (..., n, n), the torque on joint i that holds body k against gravity. El Baji (27)"""
    return _G(robot, q, link_partials(robot, q))


@quantity
def external_coefficients(robot: Robot, q: Scalars, wrench: Wrench) -> Matrix:
    """Q_ik: (..., n, n), the torque on joint i for the wrenches that body k exerts. El Baji (28)

    wrench: (..., 6) at the tool, or {frame: (..., 6)}, each at the origin of its frame, world axes.
    """
    return _Q(robot, q, link_partials(robot, q), wrench)


@quantity
def contributions(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> Cube:
    """What each body adds to each joint's torque, term by term: (..., 5, n, n). El Baji (23)

    Entry [p][i][k]: part PARTS[p] (inertia, centrifugal, coriolis, gravity, external), joint i, body k. The bodies
    alone: their sum over p and k is the torque without friction and rotors.

    wrench: (..., 6) at the tool, or {frame: (..., 6)} (default: none).
    """
    bodies = [link.inertia for link in robot.links]
    partials = link_partials(robot, q)
    return [*_moving(bodies, partials, qd, qdd), _G(robot, q, partials), _Q(robot, q, partials, wrench)]


@quantity
def separate_contributions(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Cube]:
    """The same with mass and inertia apart: (..., 2, 4, n, n). El Baji sec. 3.4

    Entry [0] has the masses at their centres, [1] the tensors about these: D^tran and D^rot of Milićević (4.2) in the
    first of the four parts (inertia, centrifugal, coriolis, gravity).
    """
    partials = link_partials(robot, q)
    central = [link.inertia.about_com() for link in robot.links]
    masses = [replace(each, tensor=Mat3.zero()).at_origin() for each in central]
    tensors = [Inertia(0, ZERO, each.tensor) for each in central]
    still = _zeros(robot.n)
    return [
        [*_moving(masses, partials, qd, qdd), _G(robot, q, partials)],
        [*_moving(tensors, partials, qd, qdd), still],
    ]


def _moving(bodies: Sequence[Inertia], partials: Partials, qd: Scalars, qdd: Scalars) -> list[Matrix]:
    """[i][k] of inertia, centrifugal and Coriolis torques. El Baji (23)"""
    inertia, centrifugal, coriolis = (_zeros(len(bodies)) for _ in range(3))
    for k, (body, carried) in enumerate(zip(bodies, partials, strict=True)):
        for (i, j), H in _H(body, carried).items():
            inertia[i][k] = add(inertia[i][k], mul(H, qdd[j]))
        for (i, j), beta in _beta(body, carried).items():
            centrifugal[i][k] = add(centrifugal[i][k], mul(beta, mul(qd[j], qd[j])))
        for (i, j, n), zeta in _zeta(body, carried).items():
            coriolis[i][k] = add(coriolis[i][k], mul(mul(2, zeta), mul(qd[j], qd[n])))
    return [inertia, centrifugal, coriolis]


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion.

        tau = M(q) qdd + qd^T C(q) qd + G(q) + Q                                        El Baji (30)

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    partials = link_partials(robot, q)
    inertia = [ops.total(map(mul, row, qdd)) for row in _M(robot, partials)]
    velocity = _quadratic(_C(robot, partials), qd)
    weights = map(ops.total, _G(robot, q, partials))
    external = map(ops.total, _Q(robot, q, partials, wrench))
    return [ops.total(terms) for terms in zip(inertia, velocity, weights, external, strict=True)]  # El Baji (30)


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> Matrix:
    """Mass matrix M(q): (..., n, n). El Baji (31)"""
    return _M(robot, link_partials(robot, q))


@quantity
def coriolis_tensor(robot: Robot, q: Scalars) -> Cube:
    """C of the bodies (no rotors): (..., n, n, n); entry [i] is the matrix C_i with torque qd^T C_i qd. El Baji (32),
    (33)

    C_i is symmetric, and a quadratic form has only one symmetric matrix: C_ijn are the Christoffel symbols of M.
    """
    return _C(robot, link_partials(robot, q))


@actuated
def coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Matrix:
    """Coriolis matrix: (..., n, n), C_ij = sum_n C_ijn qd_n: the Christoffel matrix, see `coriolis_tensor`."""
    return [[ops.total(map(mul, row, qd)) for row in C_i] for C_i in _C(robot, link_partials(robot, q))]


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques qd^T C(q) qd: (..., n). El Baji (30)"""
    return _quadratic(_C(robot, link_partials(robot, q)), qd)


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity, g(q): (..., n), the sum of G_ik over the bodies.

    El Baji (23)
    """
    return [ops.total(G) for G in _G(robot, q, link_partials(robot, q))]
