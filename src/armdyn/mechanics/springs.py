"""Springs across joints and counterbalances: torques of the position beside gravity, and their potential energy.

    tau = k (q - rest) + dU_c/dq,   U_c = sum over the bodies of c m g^T p

with c the fraction of a body's weight m g that a counterbalance carries at its centre of mass p. Both are linear: in
the stiffness k (Ks) and in the carried mass of a link, the sum of c m of its bodies (Mc).
"""

from __future__ import annotations

from armdyn.algebra import Scalar, Vec3, ops
from armdyn.algebra.ops import add, div, half, mul, sub
from armdyn.mechanics.kinematics import link_poses, point_jacobian
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def spring_torques(robot: Robot, q: Scalars, gravity: Vec3 | None = None) -> list[Scalar]:
    """Torques of the actuators that hold springs and counterbalances; without them zero.

    gravity: acceleration of free fall in the axes in which the robot stands (default: the robot's).
    """
    torques: list[Scalar] = [_pull(robot, j, q[j]) for j in range(robot.n)]
    carried = counterbalances(robot)
    poses = link_poses(robot, q) if carried else []
    for link, (com, mass) in carried.items():
        linear, _ = point_jacobian(robot, poses, link, poses[link].apply(com))
        weight = mass * (robot.gravity if gravity is None else gravity)
        torques = [add(torque, column.dot(weight)) for torque, column in zip(torques, linear, strict=True)]
    return torques


def spring_energy(robot: Robot, q: Scalars) -> Scalar:
    """Potential energy of springs, zero at rest, and of counterbalances, zero for masses at the world's origin."""
    energies: list[Scalar] = [
        half(mul(_pull(robot, j, q[j]), sub(q[j], joint.spring.rest)))
        for j, joint in enumerate(robot.joints)
        if joint.spring is not None
    ]
    carried = counterbalances(robot)
    poses = link_poses(robot, q) if carried else []
    energies += [poses[link].apply(com).dot(mass * robot.gravity) for link, (com, mass) in carried.items()]
    return ops.total(energies)


def unit_torques(robot: Robot, q: Scalars) -> dict[tuple[str, int], list[Scalar]]:
    """Torques of springs of stiffness 1 and of counterbalances that carry 1 kg, by ("Ks" or "Mc", joint)."""
    nothing: list[Scalar] = [0] * robot.n
    units: dict[tuple[str, int], list[Scalar]] = {}
    for j, joint in enumerate(robot.joints):
        if joint.spring is not None:
            units["Ks", j] = [*nothing[:j], sub(q[j], joint.spring.rest), *nothing[j + 1 :]]
    carried = counterbalances(robot)
    poses = link_poses(robot, q) if carried else []
    for link, (com, _) in carried.items():
        linear, _ = point_jacobian(robot, poses, link, poses[link].apply(com))
        units["Mc", link] = [column.dot(robot.gravity) for column in linear]
    return units


def counterbalances(robot: Robot) -> dict[int, tuple[Vec3, Scalar]]:
    """Link -> (point in its frame, mass): what the counterbalances of its bodies carry together."""
    carried: dict[int, list[tuple[Vec3, Scalar]]] = {}
    for joint in robot.tree:
        fraction, (link, pose) = joint.body.gravity_compensation, robot.frame(joint.body.name)
        if link != WORLD and not ops.is_zero(fraction) and not ops.is_zero(joint.body.inertia.mass):
            central = joint.body.inertia.about_com()
            carried.setdefault(link, []).append((pose.apply(central.com), mul(fraction, central.mass)))
    return {link: parts[0] if len(parts) == 1 else _together(parts) for link, parts in carried.items()}


def _together(parts: list[tuple[Vec3, Scalar]]) -> tuple[Vec3, Scalar]:
    mass = ops.total(part for _, part in parts)
    if isinstance(mass, float) and mass == 0:  # nothing is carried: any point will do
        return parts[0][0], mass
    moment = ops.total(part * com for com, part in parts)
    return Vec3(*(div(x, mass) for x in moment)), mass


def _pull(robot: Robot, j: int, position: Scalar) -> Scalar:
    spring = robot.joints[j].spring
    return 0 if spring is None else mul(spring.stiffness, sub(position, spring.rest))
