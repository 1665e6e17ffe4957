"""Between motors and joints: positions, velocities, torques, limits, currents.

    dq = J dq_m                    joints from motors                                             Khalil (7.31)
    tau_m = J^T tau                what the motors give, by virtual work                          Khalil (7.32)-(7.33)
    tau_m = K_T i,  i = K_a u      a motor on a current amplifier; with J = 1/N: tau = N K_a K_T u        Khalil (9.4)

J is the robot's `coupling`, gears included; without one it is diagonal with 1/ratio of the rotors. It is constant, so
it serves positions too: q = J q_m, both zero together.
"""

from __future__ import annotations

from typing import Any

from armdyn.algebra import Scalar, ops
from armdyn.algebra.ops import div, mul
from armdyn.errors import RobotError
from armdyn.mechanics.matrices import Rows, times, transpose
from armdyn.mechanics.quantity import quantity
from armdyn.robot.parts import Motor
from armdyn.robot.robot import Robot
from armdyn.robot.transmission import coupling_rows, inverse_rows
from armdyn.typing import Scalars


@quantity
def coupling_matrix(robot: Robot) -> Rows:
    """J: (n, n), qd = J qd_m. Khalil (7.31)"""
    return coupling_rows(robot)


# Positions, velocities, torques -----------------------------------------------------------------------------------


@quantity
def motor_positions(robot: Robot, q: Scalars) -> list[Scalar]:
    """q_m = J^-1 q: (..., n) rad."""
    return times(inverse_rows(robot), q)


@quantity
def joint_positions(robot: Robot, q_m: Scalars) -> list[Scalar]:
    """q = J q_m: (..., n) rad or m. Khalil (7.31)"""
    return times(coupling_rows(robot), q_m)


@quantity
def motor_velocities(robot: Robot, qd: Scalars) -> list[Scalar]:
    """qd_m = J^-1 qd: (..., n) rad/s; accelerations likewise."""
    return times(inverse_rows(robot), qd)


@quantity
def joint_velocities(robot: Robot, qd_m: Scalars) -> list[Scalar]:
    """qd = J qd_m: (..., n) rad/s or m/s; accelerations likewise. Khalil (7.31)"""
    return times(coupling_rows(robot), qd_m)


@quantity
def motor_torques(robot: Robot, tau: Scalars) -> list[Scalar]:
    """tau_m = J^T tau: (..., n) N m at the motors. Khalil (7.33)"""
    return times(transpose(coupling_rows(robot)), tau)


@quantity
def joint_torques(robot: Robot, tau_m: Scalars) -> list[Scalar]:
    """tau = J^-T tau_m: (..., n) N m or N at the joints."""
    return times(transpose(inverse_rows(robot)), tau_m)


# Currents and limits ----------------------------------------------------------------------------------------------


def _motors(robot: Robot) -> list[Motor]:
    """The motors of all joints; one that is missing is an error."""
    motors = []
    for joint in robot.joints:
        if joint.motor is None:
            raise RobotError(
                "the joint has no motor",
                where=f"robot {robot.name!r}, joint {joint.name!r}",
                expected="motor = {torque_constant = ...}",
            )
        motors.append(joint.motor)
    return motors


@quantity
def torques_from_currents(robot: Robot, current: Scalars) -> list[Scalar]:
    """Joint torques of motor currents: (..., n), tau = J^-T K_T i. Khalil (9.4)

    Args: current: (..., n) A. A control input u of the amplifier is the current amplifier * u.
    """
    motors = [mul(motor.torque_constant, i) for motor, i in zip(_motors(robot), current, strict=True)]
    return times(transpose(inverse_rows(robot)), motors)


@quantity
def currents(robot: Robot, tau: Scalars) -> list[Scalar]:
    """Motor currents that give joint torques: (..., n) A. Khalil (9.4) turned round"""
    at_motors = times(transpose(coupling_rows(robot)), tau)
    return [div(x, motor.torque_constant) for x, motor in zip(at_motors, _motors(robot), strict=True)]


@quantity
def control_inputs(robot: Robot, tau: Scalars) -> list[Scalar]:
    """Inputs u of the amplifiers that give joint torques: (..., n), u = tau / (N K_a K_T) for one gear N.

    Khalil (9.4)
    """
    amperes = currents.formula(robot, tau)
    return [div(i, motor.amplifier) for i, motor in zip(amperes, _motors(robot), strict=True)]


@quantity
def torques_from_inputs(robot: Robot, u: Scalars) -> list[Scalar]:
    """Joint torques of amplifier inputs u: (..., n). Khalil (9.4)"""
    amperes = [mul(motor.amplifier, entry) for motor, entry in zip(_motors(robot), u, strict=True)]
    return torques_from_currents.formula(robot, amperes)


@quantity
def motor_load(robot: Robot, qd: Scalars, tau: Scalars) -> list[list[Scalar]]:
    """How much of its limits every motor uses: (..., 3, n), torque, speed and current over their limits.

    Within limits where all entries are at most 1; a limit that is not given counts as none (0).
    """
    motors = _motors(robot)
    torque = times(transpose(coupling_rows(robot)), tau)
    speed = times(inverse_rows(robot), qd)
    current = [div(x, motor.torque_constant) for x, motor in zip(torque, motors, strict=True)]
    pairs: list[tuple[str, Any]] = [("torque", torque), ("speed", speed), ("current", current)]
    return [[_share(x, getattr(m, name)) for x, m in zip(values, motors, strict=True)] for name, values in pairs]


def _share(x: Scalar, limit: Scalar) -> Scalar:
    return 0 if limit is None else div(mul(x, ops.sign(x)), limit)


__all__ = [
    "control_inputs",
    "coupling_matrix",
    "currents",
    "joint_positions",
    "joint_torques",
    "joint_velocities",
    "motor_load",
    "motor_positions",
    "motor_torques",
    "motor_velocities",
    "torques_from_currents",
    "torques_from_inputs",
]
