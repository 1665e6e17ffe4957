"""Lagrange's equations, the energies differentiated directly.

Source: Khalil sec. 7.3, (7.4)-(7.25); the same equations are Milićević (2.2), Truc (16), Siciliano (7.3). The
derivatives are exact, by dual numbers over whatever scalar is at hand. `gim_christoffel` takes the other way of Khalil
and Siciliano, from the mass matrix. Any tree of revolute and prismatic joints.
"""

from __future__ import annotations

from collections.abc import Callable

from armdyn.algebra import Scalar, derivative, gradient
from armdyn.algebra.ops import sub
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.energies import gravity_torques, kinetic, kinetic_energy, potential_energy, tip_torques
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import plus
from armdyn.mechanics.quantity import quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Lagrangian = Callable[[Scalars, Scalars], Scalar]
"""A function of positions and velocities."""


def momenta(L: Lagrangian, q: Scalars, qd: Scalars) -> list[Scalar]:
    """dL/dqd."""
    return gradient(lambda rates: L(q, rates), qd)


def equations(L: Lagrangian, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """d/dt dL/dqd_i - dL/dq_i, for any coordinates and any function L over any scalar. Khalil (7.4a)"""
    n = len(q)
    changes = derivative(lambda state: momenta(L, state[:n], state[n:]), (*q, *qd), (*qd, *qdd))  # d/dt dL/dqd
    forces = gradient(lambda x: L(x, qd), q)  # dL/dq
    return [sub(change, force) for change, force in zip(changes, forces, strict=True)]


def inertial_torques(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars) -> list[Scalar]:
    """A qdd + C qd: what the kinetic energy asks for. Khalil (7.6)"""
    return equations(lambda x, rates: kinetic(robot, x, rates), q, qd, qdd)


@actuated
def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Joint torques that produce a motion: Gamma_i = d/dt dL/dqd_i - dL/dq_i with L = E - U. Khalil (7.4)

    Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
    """
    return plus(inertial_torques(robot, q, qd, qdd), gravity_torques(robot, q), tip_torques(robot, q, wrench))


@actuated
def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
    """Mass matrix: (..., n, n), A_ij = d^2 E / (dqd_i dqd_j). Khalil sec. 7.3.3 i"""
    return gradient(lambda rates: momenta(lambda x, v: kinetic(robot, x, v), q, rates), [0] * robot.n)


@actuated
def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C qd = Adot qd - dE/dq: (..., n). Khalil (7.6)"""
    return inertial_torques(robot, q, qd, [0] * robot.n)


@quantity
def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques that hold the robot still against gravity: (..., n). Khalil (7.8)"""
    return gravity_torques(robot, q)


__all__ = [
    "coriolis",
    "equations",
    "gravity",
    "inverse_dynamics",
    "kinetic_energy",
    "mass_matrix",
    "momenta",
    "potential_energy",
]
