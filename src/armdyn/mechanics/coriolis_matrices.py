"""Several Coriolis matrices of the same robot: C qd is the same torque (of all but one), Mdot - 2C skew for some.

Truc sec. 1 reviews how they come about. With the columns J_j of a link's Jacobian, its velocity V = sum_j J_j qd_j and
its spatial inertia I, all about the link's origin and in its axes, Newton and Euler give the link

    C_ij = J_i . (I Jdot_j + V x* I J_j)                                                                         [CM-1]

which is not skew, wherever the origin lies, since Jdot is taken in axes that move with the link. V x* I V has another
factorisation in V, which is (as Lin, Lin and Yae and Ploen do, Truc's [9] and [17]):

    C_ij = J_i . (I Jdot_j + J_j x* I V)                                                                         [CM-2]

since J_i . (J_j x* P) = -J_j . (J_i x* P), and Mdot_ij = Jdot_i . I J_j + J_i . I Jdot_j.
In axes at rest and at the centre of mass, with the Jacobians Jv of its velocity and Jw of the link's angular velocity
w, the rate of I Jw is I Jwdot + w x I Jw - I (w x Jw). The last term gives no torque, as I (w x w) = 0; without it

    C = sum of m Jv^T Jvdot + Jw^T (I Jwdot + [w]x I Jw)                                                         [CM-3]

is skew: "after removing a zero term", as Truc says of [3], which [2] extends to geared arms. Truc's [18] keeps only the
symmetric part of a matrix: that of a skew one is Mdot/2, which gives other torques unless the rest is small.
Since Mdot is symmetric, Mdot - 2C is skew exactly if Mdot = C + C^T. Bodies only: rotors are apart.
"""

from __future__ import annotations

from collections.abc import Callable

from armdyn.algebra import Inertia, Scalar, Screw, cross, momentum, ops
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.mechanics import bertrand_bruneau, derivatives, gim_christoffel, kronecker
from armdyn.mechanics.energies import jacobians
from armdyn.mechanics.gim_christoffel import swept
from armdyn.mechanics.matrices import Rows, zeros
from armdyn.mechanics.quantity import Quantity, quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

OfBody = Callable[[Inertia, Screw, Screw, Screw], Screw]
"""Momentum rate of a body for a column J_j, from its inertia, V, J_j and Jdot_j."""


def _scaled(x: Scalar, screw: Screw) -> Screw:
    return Screw(x * screw.linear, x * screw.angular)


def _sum(*screws: Screw) -> Screw:
    first, *rest = screws
    for each in rest:
        first = first.plus(each)
    return first


def _turned(V: Screw, P: Screw) -> Screw:
    """V x* P: the rate of a momentum that is fixed in a body."""
    return Screw(cross(V.angular, P.linear), cross(V.angular, P.angular) + cross(V.linear, P.linear))


def _over_bodies(robot: Robot, q: Scalars, qd: Scalars, of_body: OfBody) -> Rows:
    C = zeros(robot.n, robot.n)
    for link, J in zip(robot.links, jacobians(robot, q), strict=True):
        V = _sum(*(_scaled(qd[j], J[j]) for j in J))
        for j in J:
            later = [_scaled(qd[k], swept(J[j], J[k])) for k in J if k > j]
            rate = _sum(*later) if later else _scaled(0, J[j])
            force = of_body(link.inertia, V, J[j], rate)
            for i in J:
                C[i][j] = add(C[i][j], J[i].dot(force))
    return C


def _plain(body: Inertia, V: Screw, J: Screw, rate: Screw) -> Screw:
    return _sum(momentum(body, rate), _turned(V, momentum(body, J)))  # [CM-1]


def _skew(body: Inertia, V: Screw, J: Screw, rate: Screw) -> Screw:
    return _sum(momentum(body, rate), _turned(J, momentum(body, V)))  # [CM-2]


def _central(body: Inertia, V: Screw, J: Screw, rate: Screw) -> Screw:
    own, w = body.about_com(), V.angular
    Jv, Jvdot = (x.linear + cross(x.angular, own.com) for x in (J, rate))
    force = own.mass * (Jvdot + cross(w, Jv))  # [CM-3]; w x: from the link's axes to axes at rest
    moment = own.tensor @ (rate.angular + cross(w, J.angular)) + cross(w, own.tensor @ J.angular)  # [CM-3]
    return Screw(force, moment + cross(own.com, force))


@quantity
def newton_euler_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Rows:
    """C of the bodies as Newton and Euler give it in link frames: (..., n, n), not skew. [CM-1]"""
    return _over_bodies(robot, q, qd, _plain)


@quantity
def skew_newton_euler_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Rows:
    """C of the bodies with Mdot - 2C skew, from link to link: (..., n, n). [CM-2]"""
    return _over_bodies(robot, q, qd, _skew)


@quantity
def central_newton_euler_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Rows:
    """C of the bodies by Newton and Euler at centres of mass, in world axes: (..., n, n), skew. [CM-3]"""
    return _over_bodies(robot, q, qd, _central)


@quantity
def symmetric_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Rows:
    """Mdot/2, the symmetric part of C where Mdot = C + C^T: (..., n, n); its torques are not those of C."""
    return [[half(x) for x in row] for row in kronecker.velocity_matrices(robot, q, qd)[0]]


@quantity
def unsymmetric_kronecker_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Rows:
    """C = U - V^T/2 of the bodies: (..., n, n), not skew. Truc (46); the h_ijk qd_k of Siciliano (7.41)"""
    U, V = kronecker.velocity_matrices(robot, q, qd)
    n = range(robot.n)
    return [[sub(U[i][j], half(V[j][i])) for j in n] for i in n]


@quantity
def triangular_matrix(robot: Robot, q: Scalars, qd: Scalars) -> Rows:
    """C_ij = beta_ij qd_j + 2 sum_{n<j} zeta_ijn qd_n of the bodies: (..., n, n), not skew. El Baji (23)"""
    matrix = []
    for C_i in bertrand_bruneau.coriolis_tensor.formula(robot, q):
        rows = [add(mul(row[j], qd[j]), mul(2, ops.total(map(mul, row[:j], qd[:j])))) for j, row in enumerate(C_i)]
        matrix.append(rows)
    return matrix


MATRICES: dict[str, tuple[str, Quantity[..., Rows]]] = {
    "Christoffel symbols": ("Khalil (7.7), Siciliano (7.44)", gim_christoffel.coriolis_matrix),
    "Kronecker products": ("Truc (52)", kronecker.coriolis_matrix),
    "beta and zeta": ("El Baji (32)", bertrand_bruneau.coriolis_matrix),
    "recursive, composite bodies": ("[D-6]", derivatives.coriolis_matrix),
    "Newton-Euler in link frames, made skew": ("Truc sec. 1 [9, 17], [CM-2]", skew_newton_euler_matrix),
    "Newton-Euler at centres of mass": ("Truc sec. 1 [3], geared [2], [CM-3]", central_newton_euler_matrix),
    "symmetric part alone, Mdot/2": ("Truc sec. 1 [18]", symmetric_matrix),
    "Newton-Euler in link frames": ("Truc sec. 1, [CM-1]", newton_euler_matrix),
    "U - V^T/2": ("Truc (46) [11, 12], Siciliano (7.41)", unsymmetric_kronecker_matrix),
    "products of rates once": ("El Baji (23)", triangular_matrix),
}
"""Name -> (source, function) of each matrix."""
