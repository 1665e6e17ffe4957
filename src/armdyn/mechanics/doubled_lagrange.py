"""Elastic joints by Lagrange's equations of the energies in x = (q, theta): another way to the model of `doubled`.

Khalil (7.34): the energy 1/2 k (q - theta)^2 of the springs joins that of the weights.
"""

from __future__ import annotations

from armdyn.algebra import Scalar
from armdyn.algebra.ops import add, sub
from armdyn.mechanics import doubled, lagrange
from armdyn.mechanics.matrices import identity
from armdyn.mechanics.quantity import quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


@quantity
def inverse_dynamics(robot: Robot, x: Scalars, xd: Scalars, xdd: Scalars) -> list[Scalar]:
    """Torques on all coordinates that produce a motion: (..., size), d/dt dL/dxd - dL/dx + friction."""
    kinetic, potential = doubled.kinetic_energy.formula, doubled.potential_energy.formula
    torques = lagrange.equations(lambda z, v: sub(kinetic(robot, z, v), potential(robot, z)), x, xd, xdd)
    return list(map(add, torques, doubled.friction_torques.formula(robot, xd)))


@quantity
def mass_matrix(robot: Robot, x: Scalars) -> list[list[Scalar]]:
    """Mass matrix: (..., size, size), row by row from unit accelerations."""
    return [_of_kinetic_energy(robot, x, [0] * len(x), way) for way in identity(len(x))]


@quantity
def coriolis(robot: Robot, x: Scalars, xd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques: (..., size)."""
    return _of_kinetic_energy(robot, x, xd, [0] * len(x))


def _of_kinetic_energy(robot: Robot, x: Scalars, xd: Scalars, xdd: Scalars) -> list[Scalar]:
    return lagrange.equations(lambda z, v: doubled.kinetic_energy.formula(robot, z, v), x, xd, xdd)


__all__ = ["coriolis", "inverse_dynamics", "mass_matrix"]
