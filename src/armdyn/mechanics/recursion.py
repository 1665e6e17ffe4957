"""From a recursion for the torques to all that it gives: the same four steps for every recursion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armdyn.algebra import Scalar
from armdyn.mechanics.actuators import actuated
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.quantity import quantity
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

Torques = Callable[..., list[Scalar]]
"""(robot, q, qd, qdd, wrench=None, *, weightless=False) -> torques of the bodies."""


def quantities(torques: Torques) -> tuple[Any, Any, Any, Any]:
    """inverse_dynamics, mass_matrix, coriolis and gravity of a recursion."""

    @actuated
    def inverse_dynamics(robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
        """Joint torques that produce a motion.

            tau = M(q) qdd + C(q, qd) qd + g(q) + friction(qd) + rotor terms + J^T w

        Args:    q, qd, qdd: (..., n) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
        Returns: tau: (..., n) N m or N, exerted by the actuators on +q.
        """
        return torques(robot, q, qd, qdd, wrench)

    @actuated
    def mass_matrix(robot: Robot, q: Scalars) -> list[list[Scalar]]:
        """Inertia matrix M(q): (..., n, n), column j the torques of a unit acceleration of joint j.

        Khalil sec. 7.6.1
        """
        rest, n = [0] * robot.n, range(robot.n)
        columns = [torques(robot, q, rest, [int(i == j) for i in n], weightless=True) for j in n]
        return [[columns[max(i, j)][min(i, j)] for j in n] for i in n]

    @actuated
    def coriolis(robot: Robot, q: Scalars, qd: Scalars) -> list[Scalar]:
        """Centrifugal and Coriolis torques C(q, qd) qd: (..., n)."""
        return torques(robot, q, qd, [0] * robot.n, weightless=True)

    @quantity
    def gravity(robot: Robot, q: Scalars) -> list[Scalar]:
        """Torques that hold the robot still against gravity, g(q): (..., n)."""
        rest = [0] * robot.n
        return torques(robot, q, rest, rest)

    return inverse_dynamics, mass_matrix, coriolis, gravity
