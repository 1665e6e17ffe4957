"""Forward dynamics from any inverse dynamics, column by column.

Source: Khalil sec. 7.6.1, (7.62)-(7.66). The inverse dynamics is asked n + 1 times: once for what the motion costs
without acceleration, and once per joint for a column of the mass matrix. Cost grows with the cube of the number of
joints.
"""

from __future__ import annotations

from typing import Protocol

from armdyn.algebra import Scalar
from armdyn.algebra.ops import sub
from armdyn.mechanics import linear, newton_euler
from armdyn.mechanics.friction import driving_torques
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.matrices import Rows, by_columns, identity, symmetric, transpose
from armdyn.mechanics.moving_axes import steady
from armdyn.mechanics.quantity import Quantity, quantity
from armdyn.robot.edit import remove
from armdyn.robot.links import Assembly
from armdyn.robot.reframing import with_assembly
from armdyn.robot.robot import Robot
from armdyn.typing import Matrix, Scalars


class Method(Protocol):
    """A formulation that gives inverse dynamics: a module of mechanics."""

    @property
    def inverse_dynamics(self) -> Quantity[..., list[Scalar]]: ...


def bias(robot: Robot, q: Scalars, qd: Scalars, wrench: Wrench = None, by: Method = newton_euler) -> list[Scalar]:
    """H(q, qd): the torques of the motion with qdd = 0. Khalil sec. 7.6.1, after (7.63)"""
    return by.inverse_dynamics.formula(robot, q, qd, steady(robot, qd), wrench)


def columns(robot: Robot, q: Scalars, by: Method = newton_euler) -> list[list[Scalar]]:
    """The mass matrix A: column i is the torque of qdd = u_i at rest without gravity and tip wrench. Khalil (7.64)

    Friction is taken away with its offsets, and so are springs.
    Of the two equal entries the one in the upper triangle is kept.
    """
    bare = remove(robot, ("gravity", "friction", "springs"))
    weightless = with_assembly(bare, Assembly(robot.links, dict(robot.frames), robot.spins))
    return by_columns(lambda qdd: by.inverse_dynamics.formula(weightless, q, [0] * robot.n, qdd), robot.n)


@quantity
def mass_matrix(robot: Robot, q: Scalars, by: Method = newton_euler) -> list[list[Scalar]]:
    """Mass matrix M(q): (..., n, n), rotors included, by the inverse dynamics of the module `by`. Khalil (7.64)"""
    return columns(robot, q, by)


@quantity
def forward_dynamics(
    robot: Robot, q: Scalars, qd: Scalars, tau: Scalars, wrench: Wrench = None, by: Method = newton_euler
) -> list[Scalar]:
    """Joint accelerations that torques produce.

        qdd = A^-1 (tau - H(q, qd))        Khalil (7.63), solved by L^T D L

    Args:    q, qd: (..., n) rad or m and derivative. tau: (..., n) of the actuators. wrench: (..., 6) at the
             tool, or {frame: (..., 6)}. by: module of mechanics whose inverse dynamics is asked.
    Returns: qdd: (..., n).
    Raises:  PhysicsError if the mass matrix is singular.
    """
    return accelerations(robot, columns(robot, q, by), accelerating(robot, q, qd, tau, wrench, by))


def accelerating(
    robot: Robot, q: Scalars, qd: Scalars, tau: Scalars, wrench: Wrench = None, by: Method = newton_euler
) -> list[Scalar]:
    """tau - H(q, qd): what accelerates the joints; of joints with losses, what friction leaves of it."""
    if "load_friction" in robot.features:
        bare = with_assembly(remove(robot, ("friction",)), Assembly(robot.links, dict(robot.frames), robot.spins))
        tau, robot = driving_torques(robot, qd, tau), bare
    return [torque - h for torque, h in zip(tau, bias(robot, q, qd, wrench, by), strict=True)]


def accelerations(robot: Robot, A: Matrix, rest: Scalars) -> list[Scalar]:
    """The qdd of A qdd = rest. Khalil (7.62)"""
    return linear.solve(linear.factor(A, where=lambda k: joint_name(robot, k)), rest)


def slopes(factors: linear.Factors, by_q: Matrix, by_qd: Matrix) -> tuple[Rows, Rows, Rows]:
    """(dqdd/dq, dqdd/dqd, dqdd/dtau) = A^-1 (-dtau/dq, -dtau/dqd, 1). factors: of A."""

    def solved(B: Matrix) -> Rows:
        return transpose([linear.solve(factors, [sub(0, x) for x in column]) for column in transpose(B)])

    minus = [[sub(0, x) for x in row] for row in identity(len(by_q))]
    return solved(by_q), solved(by_qd), symmetric(solved(minus))


def joint_name(robot: Robot, index: int) -> str:
    """How errors name a joint."""
    return f"robot {robot.name!r}, joint {robot.joints[index].name!r}"
