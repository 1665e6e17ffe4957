"""Euler-Lagrange in matrix form, with Kronecker products: the Coriolis matrix straight from dM/dq.

Source: Truc (23)-(55). Departures from the print: in (33) the identity has as many rows as the matrix has columns,
1_q, not 1_r; in (24) and (43) derivatives are by q, not qd. The inertia matrix (28) is written with link
origins instead of centres of mass, so that bodies without mass need no exception (see `energies`). Any tree.
"""

from __future__ import annotations

from collections.abc import Callable

from armdyn.algebra import Scalar, gradient
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.energies import gravity_torques, inertia_matrix, kinetic_energy, potential_energy, tip_torques
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import Rows, column, identity, plus, product, times, transpose
from armdyn.mechanics.quantity import quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Matrix, Scalars

# The operators of Truc sec. 4 -----------------------------------------------------------------------------------------


def kronecker_product(D: Matrix, H: Matrix) -> Rows:
    """The blocks d_ij H: (p r) x (q s) for D: p x q, H: r x s. Truc (30)

    >>> kronecker_product([[1, 2]], [[1, 0], [0, 1]])
    [[1, 0, 2, 0], [0, 1, 0, 2]]
    """
    return [[mul(d, h) for d in d_row for h in h_row] for d_row in D for h_row in H]


def matrix_derivative(D: Callable[[Scalars], Matrix], x: Scalars) -> Rows:
    """dD/dx: p x (q r) for D: p x q and x: r; beside each other in row i stand dd_ij/dx_1 ... dd_ij/dx_r. Truc (31)

    >>> matrix_derivative(lambda x: [[x[0] * x[1], x[1]]], (2.0, 3.0))
    [[3.0, 2.0, 0, 1]]
    """
    by_entry = zip(*gradient(D, x), strict=True)  # for each row of D: its derivatives by x_1 ... x_r
    return [[entry for entries in zip(*rows, strict=True) for entry in entries] for rows in by_entry]


def time_derivative(dD: Matrix, xd: Scalars) -> Rows:
    """Ddot = dD/dx (1_q (x) xd), q the number of columns of D. Truc (33), printed with 1_r"""
    q = len(dD[0]) // len(xd)
    return product(dD, kronecker_product(identity(q), column(xd)))


# The terms of the equations of motion -----------------------------------------------------------------------------


def inertia_derivative(robot: Robot, q: Scalars) -> Rows:
    """dM/dq: n x n^2. Truc (31)"""
    return matrix_derivative(lambda x: inertia_matrix(robot, x), q)


def velocity_matrices(robot: Robot, q: Scalars, qd: Scalars) -> tuple[Rows, Rows]:
    """U = dM/dq (1_n (x) qd) = Mdot and V = dM/dq (qd (x) 1_n). Truc (53)"""
    dM = inertia_derivative(robot, q)
    return time_derivative(dM, qd), product(dM, kronecker_product(column(qd), identity(robot.n)))


def coriolis_torques(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """C qd = U qd - 1/2 V^T qd. Truc (46)"""
    U, V = velocity_matrices(robot, q, qd)
    return [sub(u, half(v)) for u, v in zip(times(U, qd), times(transpose(V), qd), strict=True)]


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion: M qdd + C qd + g + J^T w. Truc (44)

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    inertia = times(inertia_matrix(robot, q), qdd)
    return plus(inertia, coriolis_torques(robot, q, qd), gravity_torques(robot, q), tip_torques(robot, q, wrench))


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix M(q): (..., n, n). Truc (28)"""
    return inertia_matrix(robot, q)


@actuated
def coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """C = 1/2 (U + V - V^T): (..., n, n); Mdot - 2C = V^T - V is skew-symmetric. Truc (52)-(55)"""
    U, V = velocity_matrices(robot, q, qd)
    n = range(robot.n)
    return [[half(add(U[i][j], sub(V[i][j], V[j][i]))) for j in n] for i in n]


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C qd: (..., n). Truc (46)"""
    return coriolis_torques(robot, q, qd)


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity: (..., n). Truc (45)"""
    return gravity_torques(robot, q)


__all__ = [
    "coriolis",
    "coriolis_matrix",
    "gravity",
    "inertia_derivative",
    "inverse_dynamics",
    "kinetic_energy",
    "kronecker_product",
    "mass_matrix",
    "matrix_derivative",
    "potential_energy",
    "time_derivative",
]
