"""The model of a robot with elastic joints in one vector of coordinates, x = (q, theta of the elastic joints).

    M(x) xdd + C(x, xd) xd + g(x) + springs(x) + friction(xd) + J^T w = tau        Khalil (7.35)

The links feel their own weight and inertia; the rotors count at theta; springs k (q - theta) lie between. tau has one
entry per coordinate: those of the motors act on theta, and on q of rigid joints; an entry on the link side of an
elastic joint acts on the link itself, and is zero for motions that the motors alone produce.
For rotors of the full model, which turn with the links that carry them, M and C couple q and theta.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from armdyn.algebra import Scalar, gradient, ops
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.mechanics import (
    christoffel,
    composite_body,
    derivatives,
    energies,
    forward,
    friction,
    kinematics,
    linear,
    newton_euler,
)
from armdyn.mechanics.kinematics import Motion, Wrench
from armdyn.mechanics.matrices import Rows, transpose, zeros
from armdyn.mechanics.quantity import quantity
from armdyn.mechanics.rotors import spin_mass_matrix, spin_torques
from armdyn.mechanics.springs import spring_torques
from armdyn.robot.coordinates import coordinates
from armdyn.robot.links import Assembly
from armdyn.robot.parts import Friction
from armdyn.robot.reframing import with_assembly
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def links_of(robot: Robot) -> Robot:
    """The links alone: the rigid robot without rotors and motors, with the friction of its joints."""
    tree = tuple(replace(joint, elastic=None, motor=None) for joint in robot.tree)
    return with_assembly(replace(robot, tree=tree, expressions=None), Assembly(robot.links, dict(robot.frames), ()))


def link_side(robot: Robot, x: Scalars) -> list[Scalar]:
    """(n,) positions of the links, or rates."""
    return [x[j] for j in range(robot.n)]


def motor_side(robot: Robot, x: Scalars) -> list[Scalar]:
    """(n,) positions of the motors, or rates: those of rigid joints are the links'."""
    return [x[place] for place in coordinates(robot).motors]


def on_coordinates(robot: Robot, links: Sequence[Scalar], motors: Sequence[Scalar]) -> list[Scalar]:
    """Torques on all coordinates from torques on the links and by the motors; at rigid joints they add up."""
    where = coordinates(robot)
    torques: list[Scalar] = [*links, *[0] * (where.size - where.n)]
    for place, torque in zip(where.motors, motors, strict=True):
        torques[place] = add(torques[place], torque)
    return torques


# Torques ------------------------------------------------------------------------------------------------------------


@quantity
def inverse_dynamics(robot: Robot, x: Scalars, xd: Scalars, xdd: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Torques on all coordinates that produce a motion: (..., size). Khalil (7.35)

    Args:    x, xd, xdd: (..., size) rad or m and derivatives. wrench: (..., 6) at the tool, or {frame: (..., 6)}.
    """
    q, qd, qdd = (link_side(robot, each) for each in (x, xd, xdd))
    links = newton_euler.inverse_dynamics.formula(links_of(robot), q, qd, qdd, wrench)
    still = [0] * robot.n
    parts = on_coordinates(robot, links, still), _transmission(robot, x, xd, xdd)
    return list(map(add, *parts))


def _transmission(robot: Robot, x: Scalars, xd: Scalars, xdd: Scalars) -> list[Scalar]:
    """What rotors, springs and motors add to the torques of the links."""
    terms = rotor_torques(robot, x, xd, xdd), stretch(robot, x), _motor_friction(robot, xd)
    return [ops.total(each) for each in zip(*terms, strict=True)]


def rotor_torques(robot: Robot, x: Scalars, xd: Scalars, xdd: Scalars) -> list[Scalar]:
    """Torques that the rotors ask for: (size,)."""
    q, qd, qdd = (link_side(robot, each) for each in (x, xd, xdd))
    motion = Motion(robot, q, qd, qdd) if any(spin.axis for spin in robot.spins) else None
    return on_coordinates(robot, *spin_torques(robot, q, motion, motor_side(robot, xd), motor_side(robot, xdd)))


@quantity
def springs(robot: Robot, x: Scalars) -> list[Scalar]:
    """Torques of springs of elastic joints, of springs across joints, and of counterbalances: (..., size), N m or N."""
    across = spring_torques(robot, link_side(robot, x))
    return list(map(add, on_coordinates(robot, across, [0] * robot.n), stretch(robot, x)))


def stretch(robot: Robot, x: Scalars) -> list[Scalar]:
    """Torques that stretch elastic joints: k (q - theta) on the links, k (theta - q) by the motors. Khalil (7.34)"""
    spring = [joint.elastic.stiffness if joint.elastic else 0 for joint in robot.joints]
    return _between(robot, spring, x)


def _between(robot: Robot, factors: Sequence[Scalar], x: Scalars) -> list[Scalar]:
    """c (q - theta) on the links and c (theta - q) by the motors."""
    pairs = zip(factors, link_side(robot, x), motor_side(robot, x), strict=True)
    pull = [mul(c, sub(link, motor)) for c, link, motor in pairs]
    return on_coordinates(robot, pull, [sub(0, torque) for torque in pull])


@quantity
def friction_torques(robot: Robot, xd: Scalars) -> list[Scalar]:
    """Friction of joints, springs and motors: (..., size), N m or N."""
    links = friction.joint_friction(robot, link_side(robot, xd))
    return list(map(add, on_coordinates(robot, links, [0] * robot.n), _motor_friction(robot, xd)))


def _motor_friction(robot: Robot, xd: Scalars) -> list[Scalar]:
    """d (qd - thetad) of the springs on links and motors; F_vm thetad + F_cm sign(thetad) on the motors."""
    thetad, still = motor_side(robot, xd), [0] * robot.n
    own = [
        friction.friction_torque(Friction(joint.elastic.viscous, joint.elastic.coulomb), rate) if joint.elastic else 0
        for joint, rate in zip(robot.joints, thetad, strict=True)
    ]
    motors = list(map(add, own, friction.motor_friction(robot, thetad)))
    damping = [joint.elastic.damping if joint.elastic else 0 for joint in robot.joints]
    return list(map(add, _between(robot, damping, xd), on_coordinates(robot, still, motors)))


@quantity
def coriolis(robot: Robot, x: Scalars, xd: Scalars) -> list[Scalar]:
    """Centrifugal and Coriolis torques C(x, xd) xd: (..., size)."""
    still = [0] * robot.n
    links = newton_euler.coriolis.formula(links_of(robot), link_side(robot, x), link_side(robot, xd))
    rotors = rotor_torques(robot, x, xd, [0] * coordinates(robot).size)
    return list(map(add, on_coordinates(robot, links, still), rotors))


@quantity
def gravity(robot: Robot, x: Scalars) -> list[Scalar]:
    """Weights of the links: (..., size), zero at the motors."""
    return on_coordinates(robot, newton_euler.gravity.formula(robot, link_side(robot, x)), [0] * robot.n)


@quantity
def forward_dynamics(robot: Robot, x: Scalars, xd: Scalars, forces: Scalars, wrench: Wrench = None) -> list[Scalar]:
    """Accelerations of links and motors under torques on all coordinates: (..., size).

    Raises:  PhysicsError if a motor of an elastic joint has no inertia.
    """
    return linear.solve(factors(robot, x), _excess(robot, x, xd, forces, wrench))


def factors(robot: Robot, x: Scalars) -> linear.Factors:
    """Factors of the mass matrix."""
    names = coordinates(robot).names
    return linear.factor(mass_matrix.formula(robot, x), lambda k: f"robot {robot.name!r}, joint {names[k]!r}")


def _excess(robot: Robot, x: Scalars, xd: Scalars, forces: Scalars, wrench: Wrench) -> list[Scalar]:
    """tau less what the state asks for without acceleration."""
    bias = inverse_dynamics.formula(robot, x, xd, [0] * coordinates(robot).size, wrench)
    return [sub(force, h) for force, h in zip(forces, bias, strict=True)]


# Matrices -----------------------------------------------------------------------------------------------------------


@quantity
def mass_matrix(robot: Robot, x: Scalars) -> Rows:
    """Mass matrix: (..., size, size): bodies at q, rotors where their motors are."""
    q = link_side(robot, x)
    bodies = composite_body.bodies_matrix(robot, q)
    return _padded(bodies, rotor_matrix(robot, q))


def rotor_matrix(robot: Robot, q: Scalars) -> Rows:
    """What the rotors add to the mass matrix: (size, size)."""
    where = coordinates(robot)
    return spin_mass_matrix(robot, q, where.motors, where.size)


def _padded(links: Sequence[Sequence[Scalar]], whole: Rows) -> Rows:
    """The sum of a matrix of the links and one of all coordinates."""
    n = len(links)
    return [
        [add(entry, links[i][j]) if i < n and j < n else entry for j, entry in enumerate(row)]
        for i, row in enumerate(whole)
    ]


@quantity
def coriolis_matrix(robot: Robot, x: Scalars, xd: Scalars) -> Rows:
    """Christoffel matrix C(x, xd): (..., size, size); dM/dt - 2C is skew-symmetric."""
    links = derivatives.coriolis_matrix.formula(links_of(robot), link_side(robot, x), link_side(robot, xd))
    size = coordinates(robot).size
    if all(spin.axis is None for spin in robot.spins):
        return _padded(links, zeros(size, size))
    return _padded(links, christoffel.coriolis_matrix(lambda z: rotor_matrix(robot, link_side(robot, z)), x, xd))


@quantity
def inverse_dynamics_derivatives(robot: Robot, x: Scalars, xd: Scalars, xdd: Scalars) -> tuple[Rows, Rows]:
    """Derivatives of the torques by x and by xd: (..., 2, size, size); at rest the jump of dry friction is left out."""
    q, qd, qdd = (link_side(robot, each) for each in (x, xd, xdd))
    by_q, by_qd = derivatives.inverse_dynamics_derivatives.formula(links_of(robot), q, qd, qdd)
    by_x = gradient(lambda z: _transmission(robot, z, xd, xdd), x)
    by_xd = gradient(lambda z: _transmission(robot, x, z, xdd), xd)
    return _padded(by_q, transpose(by_x)), _padded(by_qd, transpose(by_xd))


@quantity
def forward_dynamics_derivatives(robot: Robot, x: Scalars, xd: Scalars, forces: Scalars) -> tuple[Rows, Rows, Rows]:
    """Derivatives of the accelerations by x, xd and tau: (..., 3, size, size)."""
    inertia = factors(robot, x)
    xdd = linear.solve(inertia, _excess(robot, x, xd, forces, None))
    by_x, by_xd = inverse_dynamics_derivatives.formula(robot, x, xd, xdd)
    return forward.slopes(inertia, by_x, by_xd)


# Energies and places --------------------------------------------------------------------------------------------------


@quantity
def kinetic_energy(robot: Robot, x: Scalars, xd: Scalars) -> Scalar:
    """Kinetic energy of links and rotors: (...), J."""
    q, M = link_side(robot, x), rotor_matrix(robot, link_side(robot, x))
    size = range(len(M))
    spins = ops.total(mul(mul(M[i][j], xd[i]), xd[j]) for i in size for j in size)
    return add(energies.kinetic(robot, q, link_side(robot, xd)), half(spins))


@quantity
def potential_energy(robot: Robot, x: Scalars) -> Scalar:
    """Potential energy of the weights and of the springs, 1/2 k (q - theta)^2: (...), J. Khalil (7.34)"""
    q, theta = link_side(robot, x), motor_side(robot, x)
    stretched = (
        mul(joint.elastic.stiffness, mul(sub(a, b), sub(a, b)))
        for joint, a, b in zip(robot.joints, q, theta, strict=True)
        if joint.elastic
    )
    return add(energies.potential_energy.formula(robot, q), half(ops.total(stretched)))


@quantity
def joint_positions(robot: Robot, x: Scalars) -> list[Scalar]:
    """Positions of the links: (..., n)."""
    return link_side(robot, x)


@quantity
def pose(robot: Robot, x: Scalars, frame: str = "tool") -> Any:
    """Pose of a frame in the world, from the link side: (..., 4, 4)."""
    return kinematics.pose.formula(robot, link_side(robot, x), frame)


@quantity
def jacobian(robot: Robot, x: Scalars, frame: str = "tool") -> Rows:
    """Geometric Jacobian of a frame: (..., 6, size), zero in the columns of the motors."""
    motors = coordinates(robot).size - robot.n
    return [[*row, *[0] * motors] for row in kinematics.jacobian.formula(robot, link_side(robot, x), frame)]


@quantity
def jacobian_dot_qd(robot: Robot, x: Scalars, xd: Scalars, frame: str = "tool") -> list[Scalar]:
    """Acceleration of a frame due to velocities alone: (..., 6)."""
    return list(kinematics.jacobian_dot_qd.formula(robot, link_side(robot, x), link_side(robot, xd), frame))


__all__ = [
    "coriolis",
    "coriolis_matrix",
    "forward_dynamics",
    "forward_dynamics_derivatives",
    "friction_torques",
    "gravity",
    "inverse_dynamics",
    "inverse_dynamics_derivatives",
    "jacobian",
    "jacobian_dot_qd",
    "joint_positions",
    "kinetic_energy",
    "links_of",
    "mass_matrix",
    "pose",
    "potential_energy",
    "springs",
]
