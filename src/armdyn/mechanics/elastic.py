"""Elastic joints: the doubled model of links and motors with springs between them.

    M_q qdd + h(q, qd) + friction(qd) + [S thetadd + ...] + J^T w = k (theta - q) + d (thetad - qd)     Khalil (7.35a)
    [S^T qdd + ...] + I_a thetadd + friction_m(thetad) + k (theta - q) + d (thetad - qd) = tau           Khalil (7.35b)

q: links' side; theta: motors seen at their joints, through their gears (q_M of Khalil). Terms in brackets come from
rotors of the full model, which turn with their carriers; Khalil has reflected rotors only. In the equations above
rotors count at theta, not at q. A joint without `elastic` is stiff: its theta is its q, whatever is given, and both
come back equal. The formulations of the other modules leave the springs out: they are the stiff limit.
"""

from __future__ import annotations

from typing import NamedTuple

from armdyn.algebra import Scalar, derivative, ops
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.errors import NotApplicable, RobotError
from armdyn.mechanics import composite_body, forward, friction, linear, newton_euler
from armdyn.mechanics.energies import kinetic, potential
from armdyn.mechanics.external import split
from armdyn.mechanics.friction import friction_torque, joint_friction
from armdyn.mechanics.kinematics import Motion, Wrench
from armdyn.mechanics.matrices import Rows
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.rotors import spin_mass_matrix, spin_torques
from armdyn.robot.parts import Elastic, Friction
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars

SOLID = Elastic(0)


class Coordinates(NamedTuple):
    """The free coordinates x = (q, theta of the elastic joints). motors[j]: place in x of what drives motor j."""

    motors: list[int]
    size: int


def coordinates(robot: Robot) -> Coordinates:
    motors, size = [], robot.n
    for j, joint in enumerate(robot.joints):
        motors.append(j if joint.elastic is None else size)
        size += joint.elastic is not None
    if size == robot.n:
        raise RobotError("no joint is elastic", where=f"robot {robot.name!r}",
                         expected="elastic = {stiffness = ...} on a joint at least",
                         advice="Use the other formulations for a stiff robot.")  # fmt: skip
    return Coordinates(motors, size)


def motor_side(robot: Robot, links: Scalars, motors: Scalars) -> list[Scalar]:
    """Motors' positions (or rates), those of stiff joints taken from the links."""
    pairs = zip(robot.joints, links, motors, strict=True)
    return [link if joint.elastic is None else motor for joint, link, motor in pairs]


def spring_torques(robot: Robot, q: Scalars, qd: Scalars, theta: Scalars, thetad: Scalars) -> list[Scalar]:
    """k (theta - q) + d (thetad - qd): what the transmissions do on the links. Khalil (7.34); 0 for stiff joints."""
    torques: list[Scalar] = []
    for j, joint in enumerate(robot.joints):
        spring = joint.elastic or SOLID
        stretch, rate = sub(theta[j], q[j]), sub(thetad[j], qd[j])
        torques.append(add(mul(spring.stiffness, stretch), mul(spring.damping, rate)))
    return torques


def motor_friction(robot: Robot, thetad: Scalars) -> list[Scalar]:
    """F_vm thetad + F_cm sign(thetad) of the elastic joints, and of motors with friction. Khalil (7.35b)"""
    elastic = [
        friction_torque(Friction(joint.elastic.viscous, joint.elastic.coulomb), rate) if joint.elastic else 0
        for joint, rate in zip(robot.joints, thetad, strict=True)
    ]
    return list(map(add, elastic, friction.motor_friction(robot, thetad)))


@quantity
def inverse_dynamics(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, theta: Scalars, thetad: Scalars, thetadd: Scalars,
    wrench: Wrench = None,
) -> list[list[Scalar]]:  # fmt: skip
    """Torques that produce a motion of links and motors: (..., 2, n), on the links and by the motors.

    The first row is zero for a motion that motors can produce: it is what (7.35a) lacks. For stiff joints all is in
    the second row.
    """
    coordinates(robot)
    theta, thetad = motor_side(robot, q, theta), motor_side(robot, qd, thetad)
    thetadd = motor_side(robot, qdd, thetadd)
    spring = spring_torques(robot, q, qd, theta, thetad)
    links, motors = rigid_torques(robot, q, qd, qdd, thetad, thetadd, wrench)
    links = [sub(x, s) for x, s in zip(links, spring, strict=True)]  # Khalil (7.35a)
    motors = [ops.total(terms) for terms in zip(motors, motor_friction(robot, thetad), spring, strict=True)]
    for j, joint in enumerate(robot.joints):
        if joint.elastic is None:
            links[j], motors[j] = 0, add(links[j], motors[j])
    return [links, motors]


def rigid_torques(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, thetad: Scalars, thetadd: Scalars, wrench: Wrench
) -> tuple[list[Scalar], list[Scalar]]:
    """(links, motors): the left sides of (7.35) without springs and motor friction."""
    tip, elsewhere = split(robot, q, wrench)
    bodies = newton_euler.joint_torques(robot, q, qd, qdd, tip)
    on_joints, on_motors = spin_torques(robot, q, Motion(robot, q, qd, qdd), thetad, thetadd)
    parts = zip(bodies, joint_friction(robot, qd), elsewhere, on_joints, strict=True)
    return [ops.total(part) for part in parts], on_motors


@quantity
def forward_dynamics(
    robot: Robot, q: Scalars, qd: Scalars, theta: Scalars, thetad: Scalars, tau: Scalars, wrench: Wrench = None
) -> list[list[Scalar]]:
    """Accelerations of links and motors under motor torques: (..., 2, n), qdd and thetadd.

    Args:    q, qd, theta, thetad: (..., n) state. tau: (..., n) of the motors, seen at the joints.
    Raises:  PhysicsError if a motor of an elastic joint has no inertia.
    """
    motors, size = coordinates(robot)
    rest = [0] * robot.n
    on_links, by_motors = inverse_dynamics.formula(robot, q, qd, rest, theta, thetad, rest, wrench)
    forces: list[Scalar] = [sub(0, x) for x in on_links] + [0] * (size - robot.n)
    for j, place in enumerate(motors):
        forces[place] = add(forces[place], sub(tau[j], by_motors[j]))
    x = linear.solve(linear.factor(doubled_matrix(robot, q), lambda k: _place(robot, motors, k)), forces)
    return [x[: robot.n], [x[place] for place in motors]]


def doubled_matrix(robot: Robot, q: Scalars) -> Rows:
    """Mass matrix in the free coordinates: bodies, and rotors where their motors are."""
    motors, size = coordinates(robot)
    M = spin_mass_matrix(robot, q, motors, size)
    bodies = composite_body.bodies_matrix(robot, q)
    for i, row in enumerate(bodies):
        for j, entry in enumerate(row):
            M[i][j] = add(M[i][j], entry)
    return M


def _place(robot: Robot, motors: list[int], k: int) -> str:
    name = forward.joint_name(robot, k if k < robot.n else motors.index(k))
    return name if k < robot.n else f"{name}, motor"


@quantity
def energy(robot: Robot, q: Scalars, qd: Scalars, theta: Scalars, thetad: Scalars) -> Scalar:
    """Kinetic and potential energy with the springs' 1/2 k (q - theta)^2: (...), J. Khalil (7.34)"""
    motors, size = coordinates(robot)
    M = spin_mass_matrix(robot, q, motors, size)
    rates = [*qd, *(x for joint, x in zip(robot.joints, thetad, strict=True) if joint.elastic)]
    spins = half(ops.total(mul(mul(M[i][j], rates[i]), rates[j]) for i in range(size) for j in range(size)))
    stretches = [sub(x, y) for x, y in zip(q, motor_side(robot, q, theta), strict=True)]
    squares = (
        mul((joint.elastic or SOLID).stiffness, mul(x, x)) for joint, x in zip(robot.joints, stretches, strict=True)
    )
    return ops.total((kinetic(robot, q, qd), potential(robot, q), spins, half(ops.total(squares))))


# The motors' motion behind a motion of the links ------------------------------------------------------------------


@quantity
def motor_motion(
    robot: Robot, q: Scalars, qd: Scalars, qdd: Scalars, qddd: Scalars, qdddd: Scalars
) -> list[list[Scalar]]:
    """What the motors must do for a motion of the links: (..., 4, n), theta, thetad, thetadd and tau.

        theta = q + tau_links / k, and its two derivatives; tau = I_a thetadd + friction_m + tau_links

    Args:    q ... qdddd: (..., n) the links' motion up to the fourth derivative.
    Raises:  NotApplicable for spring damping and for rotors of the full model on moving links: theta then is not a
             function of the links' motion alone.
    """
    coordinates(robot)
    _must_be_flat(robot)

    def stretched(state: Scalars) -> list[Scalar]:
        n = robot.n
        x, rate, acceleration = state[:n], state[n : 2 * n], state[2 * n :]
        rest = [0] * n
        links, _ = rigid_torques(robot, x, rate, acceleration, rest, rest, None)
        pairs = zip(robot.joints, x, links, strict=True)
        return [add(a, b / joint.elastic.stiffness) if joint.elastic else a for joint, a, b in pairs]

    state, first, second = (*q, *qd, *qdd), (*qd, *qdd, *qddd), (*qdd, *qddd, *qdddd)
    theta = stretched(state)
    thetad = derivative(stretched, state, first)
    both = (*state, *first)
    thetadd = derivative(lambda z: derivative(stretched, z[: 3 * robot.n], z[3 * robot.n :]), both, (*first, *second))
    torques = inverse_dynamics.formula(robot, q, qd, qdd, theta, thetad, thetadd)[1]
    return [theta, thetad, thetadd, torques]


def _must_be_flat(robot: Robot) -> None:
    for spin in robot.spins:
        if spin.axis is not None and spin.carrier >= 0:
            raise NotApplicable("a rotor of the full model on a moving link", expected='model = "reflected"',
                                where=forward.joint_name(robot, spin.joint))  # fmt: skip
    for j, joint in enumerate(robot.joints):
        if joint.elastic is not None and not ops.is_zero(joint.elastic.damping):
            raise NotApplicable("a spring with damping: the motors' motion follows from a differential equation",
                                where=forward.joint_name(robot, j), expected="damping = 0")  # fmt: skip


__all__ = ["energy", "forward_dynamics", "inverse_dynamics", "motor_motion", "spring_torques"]
