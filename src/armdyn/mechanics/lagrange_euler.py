"""Lagrange-Euler with 4x4 homogeneous matrices: U_ij, U_ijk, pseudo-inertia, and the coefficients D, h, c.

Source: Milićević sec. 2, (2.1)-(2.15); of the two signs printed for gravity, (2.15) is right and (2.4) is not. Our link
frames have z on their own joint axis, so dA/dq_j = A Q_j with the operator on the right of joint j's matrix.
Any tree of revolute and prismatic joints: sums over j = max(i, k), ..., n are sums over the links that joints i and k
both carry.
"""

from __future__ import annotations

from armdyn.algebra import Inertia, Pose, Scalar
from armdyn.algebra.ops import add, half, sub, total
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.christoffel import Tensor, matrix_from_symbols
from armdyn.mechanics.energies import kinetic_energy, potential_energy, tip_torques
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import Rows, column, inner, plus, product, times, zeros
from armdyn.mechanics.quantity import quantity
from armdyn.robot.links import WORLD, Link
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Pairs = dict[tuple[int, int], Rows]


def trace_of_product(A: Rows, B: Rows) -> Scalar:
    """Tr(A B^T)."""
    return total(inner(a, b) for a, b in zip(A, B, strict=True))


def homogeneous(pose: Pose) -> Rows:
    return [[*row, p] for row, p in zip(pose.R.rows, pose.p, strict=True)] + [[0, 0, 0, 1]]


def derivative_operator(link: Link) -> Rows:
    """Q of a joint: dA/dq = A Q. Milićević (2.3), after (2.1)"""
    if link.revolute:
        return [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    return [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]


def pseudo_inertia(body: Inertia) -> Rows:
    """J: the integral of r r^T dm over the body, r = (x, y, z, 1). Milićević (2.3)"""
    XX, XY, XZ, YY, YZ, ZZ = body.tensor.upper()
    MX, MY, MZ = body.moment
    xx, yy, zz = (half(sub(add(a, b), c)) for a, b, c in ((YY, ZZ, XX), (XX, ZZ, YY), (XX, YY, ZZ)))
    return [[xx, -XY, -XZ, MX], [-XY, yy, -YZ, MY], [-XZ, -YZ, zz, MZ], [MX, MY, MZ, body.mass]]


class Derivatives:
    """U_ij = dA_0i/dq_j and U_ijk = dU_ij/dq_k of every link i, for the joints that carry it. Milićević (2.3)

    U[i][j] and UU[i][j, k], j <= k: the second derivatives are symmetric.
    """

    def __init__(self, robot: Robot, q: Scalars) -> None:
        self.U: list[dict[int, Rows]] = []
        self.UU: list[Pairs] = []
        poses: list[Rows] = []
        for link in robot.outward():
            i, at_base = link.index, link.parent == WORLD
            A, Q = homogeneous(link.pose(q[i])), derivative_operator(link)
            poses.append(A if at_base else product(poses[link.parent], A))
            U = {} if at_base else {j: product(U_pj, A) for j, U_pj in self.U[link.parent].items()}
            UU = {} if at_base else {jk: product(U_pjk, A) for jk, U_pjk in self.UU[link.parent].items()}
            UU |= {(j, i): product(U_ij, Q) for j, U_ij in U.items()}
            U[i] = product(poses[i], Q)
            UU[i, i] = product(U[i], Q)
            self.U.append(U)
            self.UU.append(UU)


def inertia_coefficients(robot: Robot, at: Derivatives) -> Rows:
    """D_ik = sum_j Tr(U_jk J_j U_ji^T). Milićević (2.11)"""
    D: Rows = zeros(robot.n, robot.n)
    for link, U in zip(robot.links, at.U, strict=True):
        J = pseudo_inertia(link.inertia)
        for k, U_jk in U.items():
            UJ = product(U_jk, J)
            for i in (i for i in U if i <= k):
                D[i][k] = D[k][i] = add(D[i][k], trace_of_product(UJ, U[i]))
    return D


def velocity_coefficients(robot: Robot, at: Derivatives) -> Tensor:
    """h_ikm = sum_j Tr(U_jkm J_j U_ji^T). Milićević (2.14)"""
    h: Tensor = [zeros(robot.n, robot.n) for _ in range(robot.n)]
    for link, U, UU in zip(robot.links, at.U, at.UU, strict=True):
        J = pseudo_inertia(link.inertia)
        for (k, m), U_jkm in UU.items():
            UJ = product(U_jkm, J)
            for i in U:
                h[i][k][m] = h[i][m][k] = add(h[i][k][m], trace_of_product(UJ, U[i]))
    return h


def gravity_coefficients(robot: Robot, at: Derivatives) -> list[Scalar]:
    """c_i = -sum_j m_j g U_ji r_j, with g = (gx, gy, gz, 0). Milićević (2.15)"""
    c: list[Scalar] = [0] * robot.n
    g = [[*robot.gravity, 0]]
    for link, U in zip(robot.links, at.U, strict=True):
        m_r = column((*link.inertia.moment, link.inertia.mass))
        for i, U_ji in U.items():
            c[i] = sub(c[i], product(product(g, U_ji), m_r)[0][0])
    return c


# For users --------------------------------------------------------------------------------------------------------


@quantity
def D(robot: Robot, q: Scalars) -> Rows:
    """D_ik of the links: (..., n, n); `mass_matrix` adds the spinning rotors. Milićević (2.11)"""
    return inertia_coefficients(robot, Derivatives(robot, q))


@quantity
def h(robot: Robot, q: Scalars) -> Tensor:
    """h_ikm of the links: (..., n, n, n), h_ikm = h_imk: the Christoffel symbols of D. Milićević (2.14)"""
    return velocity_coefficients(robot, Derivatives(robot, q))


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion: sum D_ik qdd_k + sum h_ikm qd_k qd_m + c_i, and J^T w. Milićević (2.5)

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    at = Derivatives(robot, q)
    inertia = times(inertia_coefficients(robot, at), qdd)
    velocity = centrifugal_torques(velocity_coefficients(robot, at), qd)
    return plus(inertia, velocity, gravity_coefficients(robot, at), tip_torques(robot, q, wrench))


def centrifugal_torques(h: Tensor, qd: Scalars) -> list[Scalar]:
    """h_i = sum_k sum_m h_ikm qd_k qd_m. Milićević (2.13)"""
    return times(matrix_from_symbols(h, qd), qd)


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix D(q): (..., n, n). Milićević (2.11)"""
    return inertia_coefficients(robot, Derivatives(robot, q))


@actuated
def coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """C_ik = sum_m h_ikm qd_m: (..., n, n); as h_ikm are Christoffel symbols, Ddot - 2C is skew.

    Milićević (2.13)-(2.14)
    """
    return matrix_from_symbols(velocity_coefficients(robot, Derivatives(robot, q)), qd)


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques h(q, qd): (..., n). Milićević (2.12)-(2.13)"""
    return centrifugal_torques(velocity_coefficients(robot, Derivatives(robot, q)), qd)


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity, c(q): (..., n). Milićević (2.15)"""
    return gravity_coefficients(robot, Derivatives(robot, q))


__all__ = [
    "D",
    "coriolis",
    "coriolis_matrix",
    "gravity",
    "h",
    "inverse_dynamics",
    "kinetic_energy",
    "mass_matrix",
    "potential_energy",
]
