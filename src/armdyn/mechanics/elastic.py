"""Elastic joints, links and motors side by side: the equations as Khalil writes them.

    M_q qdd + h(q, qd) + friction(qd) + [S thetadd + ...] + J^T w = k (theta - q) + d (thetad - qd)     Khalil (7.35a)
    [S^T qdd + ...] + I_a thetadd + friction_m(thetad) + k (theta - q) + d (thetad - qd) = tau           Khalil (7.35b)

q: links' side; theta: motors seen at their joints, through their gears (q_M of Khalil). Terms in brackets come from
rotors of the full model, which turn with their carriers; Khalil has reflected rotors only. A joint without `elastic` is
rigid: its theta is its q, whatever is given, and both come back equal. `doubled` has the same model in one vector of
coordinates, with all its quantities.
"""

from __future__ import annotations

from armdyn.algebra import Scalar, derivative, ops
from armdyn.algebra.ops import add
from armdyn.errors import NotApplicable, RobotError
from armdyn.mechanics import doubled, forward, newton_euler
from armdyn.mechanics.kinematics import Wrench
from armdyn.mechanics.quantity import quantity
from armdyn.robot.coordinates import Coordinates, coordinates
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def elastic_coordinates(robot: Robot) -> Coordinates:
    """The coordinates of a robot with elastic joints; raises RobotError if it has none."""
    found = coordinates(robot)
    if not found.doubled:
        raise RobotError(
            "no joint is elastic",
            where=f"robot {robot.name!r}",
            expected="elastic = {stiffness = ...} on a joint at least",
            advice="Use the other formulations for a rigid robot.",
        )
    return found


@quantity
def inverse_dynamics(
    robot: Robot,
    q: Scalars,
    qd: Scalars,
    qdd: Scalars,
    theta: Scalars,
    thetad: Scalars,
    thetadd: Scalars,
    wrench: Wrench = None,
) -> list[list[Scalar]]:
    """Torques that produce a motion of links and motors: (..., 2, n), on the links and by the motors.

    The first row is zero for a motion that motors can produce: it is what (7.35a) lacks. For rigid joints all is in
    the second row.
    """
    where = elastic_coordinates(robot)
    x, xd, xdd = (where.joined(*pair) for pair in ((q, theta), (qd, thetad), (qdd, thetadd)))
    torques = doubled.inverse_dynamics.formula(robot, x, xd, xdd, wrench)
    links = [0 if joint.elastic is None else torques[j] for j, joint in enumerate(robot.joints)]
    return [links, [torques[place] for place in where.motors]]


@quantity
def forward_dynamics(
    robot: Robot, q: Scalars, qd: Scalars, theta: Scalars, thetad: Scalars, tau: Scalars, wrench: Wrench = None
) -> list[list[Scalar]]:
    """Accelerations of links and motors under motor torques: (..., 2, n), qdd and thetadd.

    Args:    q, qd, theta, thetad: (..., n) state. tau: (..., n) of the motors, seen at the joints.
    Raises:  PhysicsError if a motor of an elastic joint has no inertia.
    """
    where = elastic_coordinates(robot)
    forces = doubled.on_coordinates(robot, [0] * robot.n, list(tau))
    xdd = doubled.forward_dynamics.formula(robot, where.joined(q, theta), where.joined(qd, thetad), forces, wrench)
    return [xdd[: robot.n], [xdd[place] for place in where.motors]]


@quantity
def energy(robot: Robot, q: Scalars, qd: Scalars, theta: Scalars, thetad: Scalars) -> Scalar:
    """Kinetic and potential energy with the springs' 1/2 k (q - theta)^2: (...), J. Khalil (7.34)"""
    where = elastic_coordinates(robot)
    x, xd = where.joined(q, theta), where.joined(qd, thetad)
    return add(doubled.kinetic_energy.formula(robot, x, xd), doubled.potential_energy.formula(robot, x))


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
    elastic_coordinates(robot)
    _must_be_flat(robot)
    own = doubled.links_of(robot)

    def stretched(state: Scalars) -> list[Scalar]:
        n = robot.n
        x, rate, acceleration = state[:n], state[n : 2 * n], state[2 * n :]
        links = newton_euler.inverse_dynamics.formula(own, x, rate, acceleration)
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
            raise NotApplicable(
                "a rotor of the full model on a moving link",
                expected='model = "reflected"',
                where=forward.joint_name(robot, spin.joint),
            )
    for j, joint in enumerate(robot.joints):
        if joint.elastic is not None and not ops.is_zero(joint.elastic.damping):
            raise NotApplicable(
                "a spring with damping: the motors' motion follows from a differential equation",
                where=forward.joint_name(robot, j),
                expected="damping = 0",
            )


__all__ = ["energy", "forward_dynamics", "inverse_dynamics", "motor_motion"]
