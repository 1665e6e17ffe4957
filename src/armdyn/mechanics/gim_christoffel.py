"""The mass matrix from Jacobians, the Coriolis matrix from its Christoffel symbols ("GIM-Christoffel" in El Baji).

Source: Khalil (7.5)-(7.8); Siciliano (7.13)-(7.49), with (7.45) corrected (see `christoffel`). The sources' joint axis
z_{j-1} is z_j here: link frames have their z on their own joint axis. Any tree of revolute and prismatic joints.
"""

from __future__ import annotations

from armdyn.algebra import Scalar, Screw, cross, momentum
from armdyn.algebra.ops import add, half, sub
from armdyn.mechanics import christoffel
from armdyn.mechanics.actuators import actuated, rotor_mass_matrix
from armdyn.mechanics.christoffel import Tensor
from armdyn.mechanics.energies import (
    inertia_matrix,
    jacobians,
    kinetic_energy,
    potential_energy,
    tip_torques,
)
from armdyn.mechanics.kinematics import Wrench, link_poses
from armdyn.mechanics.matrices import plus, times, zeros
from armdyn.mechanics.quantity import quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def swept(J_i: Screw, J_k: Screw) -> Screw:
    """dJ_i/dq_k of two columns of a link's Jacobian, in its frame, joint k beyond joint i; it is zero for k <= i."""
    return Screw(cross(J_i.linear, J_k.angular) + cross(J_i.angular, J_k.linear), cross(J_i.angular, J_k.angular))


def inertia_partials(robot: Robot, q: Scalars) -> Tensor:
    """[k][i][j]: db_ij/dq_k of the bodies, the sum of J_i,k^T I J_j + J_i^T I J_j,k: Siciliano (7.32)
    differentiated.
    """
    dB: Tensor = [zeros(robot.n, robot.n) for _ in range(robot.n)]
    for link, J in zip(robot.links, jacobians(robot, q), strict=True):
        P = {j: momentum(link.inertia, J[j]) for j in J}
        for i, k in ((i, k) for i in J for k in J if i < k):
            J_ik = swept(J[i], J[k])
            for j in J:
                share = J_ik.dot(P[j])
                dB[k][i][j] = add(dB[k][i][j], share)
                dB[k][j][i] = add(dB[k][j][i], share)
    return dB


def gravity_torques(robot: Robot, q: Scalars) -> list[Scalar]:
    """g_i = -sum over the bodies of m g0^T j_Pi, with m j_Pi the momentum of the body for qd_i = 1. Siciliano (7.39)"""
    torques: list[Scalar] = [0] * robot.n
    for link, pose, J in zip(robot.links, link_poses(robot, q), jacobians(robot, q), strict=True):
        g0 = pose.R.T @ robot.gravity
        for i in J:
            torques[i] = sub(torques[i], g0.dot(momentum(link.inertia, J[i]).linear))
    return torques


# With rotors ------------------------------------------------------------------------------------------------------


def _all_partials(robot: Robot, q: Scalars) -> Tensor:
    """[k][i][j]: db_ij/dq_k of the whole matrix, bodies and rotors. Siciliano (7.32)"""
    bodies = inertia_partials(robot, q)
    if all(spin.axis is None for spin in robot.spins):
        return bodies
    rotors = christoffel.partials(lambda x: rotor_mass_matrix(robot, x), q)
    return [
        [list(map(add, *rows)) for rows in zip(*planes, strict=True)] for planes in zip(bodies, rotors, strict=True)
    ]


@quantity
def christoffel_symbols(robot: Robot, q: Scalars) -> Tensor:
    """c_ijk of the mass matrix, rotors included: (..., n, n, n), c_ijk = c_ikj.

    Khalil (7.7), Siciliano (7.45) corrected
    """
    return christoffel.symbols(_all_partials(robot, q))


@quantity
def velocity_coefficients(robot: Robot, q: Scalars) -> Tensor:
    """h_ijk = db_ij/dq_k - 1/2 db_jk/dq_i: (..., n, n, n), torque i is sum h_ijk qd_j qd_k. Siciliano (7.41)

    h_ijj is the centrifugal effect of joint j; of h_ijk and h_ikj only the sum has a meaning (c_ijk is half of it).
    """
    dB, n = _all_partials(robot, q), range(robot.n)
    return [[[sub(dB[k][i][j], half(dB[i][j][k])) for k in n] for j in n] for i in n]


# The equations of motion ------------------------------------------------------------------------------------------


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion: A qdd + C qd + Q + J^T F_e. Khalil (7.6), Siciliano (7.42)

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    C = christoffel.matrix_from_symbols(christoffel.symbols(inertia_partials(robot, q)), qd)
    inertia, velocity = times(inertia_matrix(robot, q), qdd), times(C, qd)
    return plus(inertia, velocity, gravity_torques(robot, q), tip_torques(robot, q, wrench))


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix B(q): (..., n, n), from the Jacobians of the bodies. Siciliano (7.32)"""
    return inertia_matrix(robot, q)


@actuated
def coriolis_matrix(robot: Robot, q: Scalars, qd: Scalars) -> list[list[Scalar]]:
    """C_ij = sum_k c_ijk qd_k: (..., n, n); Bdot - 2C is skew-symmetric. Khalil (7.7), Siciliano (7.44)-(7.48)"""
    return christoffel.matrix_from_symbols(christoffel.symbols(inertia_partials(robot, q)), qd)


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C qd: (..., n). Siciliano (7.43)"""
    return times(christoffel.matrix_from_symbols(christoffel.symbols(inertia_partials(robot, q)), qd), qd)


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity: (..., n). Siciliano (7.39)"""
    return gravity_torques(robot, q)


__all__ = [
    "christoffel_symbols",
    "coriolis",
    "coriolis_matrix",
    "gravity",
    "inverse_dynamics",
    "kinetic_energy",
    "mass_matrix",
    "potential_energy",
    "velocity_coefficients",
]
