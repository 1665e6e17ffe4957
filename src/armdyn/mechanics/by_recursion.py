"""The terms of a formulation that is one recursion from motion to torques: the recursion at chosen motions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from armdyn.algebra import Scalar
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import by_columns
from armdyn.mechanics.quantity import Quantity, quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Floats, Scalars


class Recursion(Protocol):
    """Torques of the bodies' motion, gravity and tip wrench."""

    def __call__(
        self, robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None, *, weightless: bool = False
    ) -> list[Scalar]: ...


class InverseDynamics(Protocol):
    """Inverse dynamics as users call it: arrays in, an array out; `formula` is the text over scalars."""

    @property
    def formula(self) -> Callable[..., list[Scalar]]: ...

    def __call__(self, robot: Robot, q: Any, qd: Any, qdd: Any, wrench: Any = None) -> Floats: ...


class Terms(NamedTuple):
    """Inverse dynamics, mass matrix, centrifugal and Coriolis torques, gravity torques."""

    inverse_dynamics: InverseDynamics
    mass_matrix: Quantity[[Robot, Scalars], list[list[Scalar]]]
    coriolis: Quantity[[Robot, Scalars, Scalars], list[Scalar]]
    gravity: Quantity[[Robot, Scalars], list[Scalar]]


def by_recursion(torques: Recursion) -> Terms:
    """Inverse dynamics and its terms, from the recursion of a formulation."""

    def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
        """Joint torques that produce a motion: M qdd + C qd + g + friction + rotor terms + J^T w.

        Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
        Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
        """
        return torques(robot, q, qd, qdd, wrench)

    def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
        """Mass matrix M(q): (..., n, n), column j the torques of a unit acceleration of joint j. Khalil sec. 7.6.1"""
        return by_columns(lambda qdd: torques(robot, q, [0] * robot.n, qdd, weightless=True), robot.n)

    def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
        """Centrifugal and Coriolis torques C(q, qd) qd: (..., n)."""
        return torques(robot, q, qd, [0] * robot.n, weightless=True)

    def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
        """Torques that hold the robot still against gravity, g(q): (..., n)."""
        return torques(robot, q, [0] * robot.n, [0] * robot.n)

    for formula in (inverse_dynamics, mass_matrix, coriolis, gravity):
        formula.__module__ = torques.__module__  # features are declared by module
        formula.__qualname__ = formula.__name__
    return Terms(actuated(inverse_dynamics), actuated(mass_matrix), actuated(coriolis), quantity(gravity))
