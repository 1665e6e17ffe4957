"""Springs across joints and counterbalances: torques of the position beside gravity, and their potential energy.

    tau = k (q - rest) + dU_c/dq,   U_c = sum over the bodies of c m g^T p

with c the fraction of a body's weight m g that a counterbalance carries at its centre of mass p.
"""

from __future__ import annotations

from collections.abc import Iterator

from armdyn.algebra import Scalar, Vec3, ops
from armdyn.algebra.ops import add, half, mul, sub
from armdyn.mechanics.kinematics import frame_pose, link_poses, point_jacobian
from armdyn.robot.links import WORLD, Frame
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def spring_torques(robot: Robot, q: Scalars) -> list[Scalar]:
    """Torques of the actuators that hold springs and counterbalances; without them zero."""
    torques: list[Scalar] = [_pull(robot, j, q[j]) for j in range(robot.n)]
    lifted = list(_lifted(robot))
    if lifted:
        poses = link_poses(robot, q)
        for frame, com, weight in lifted:
            point = frame_pose(poses, frame).apply(com)
            linear, _ = point_jacobian(robot, poses, frame.link, point)
            torques = [add(torque, column.dot(weight)) for torque, column in zip(torques, linear, strict=True)]
    return torques


def spring_energy(robot: Robot, q: Scalars) -> Scalar:
    """Potential energy of springs, zero at rest, and of counterbalances, zero for masses at the world's origin."""
    energies: list[Scalar] = [
        half(mul(_pull(robot, j, q[j]), sub(q[j], joint.spring.rest)))
        for j, joint in enumerate(robot.joints)
        if joint.spring is not None
    ]
    lifted = list(_lifted(robot))
    if lifted:
        poses = link_poses(robot, q)
        energies += [frame_pose(poses, frame).apply(com).dot(weight) for frame, com, weight in lifted]
    return ops.total(energies)


def _pull(robot: Robot, j: int, position: Scalar) -> Scalar:
    spring = robot.joints[j].spring
    return 0 if spring is None else mul(spring.stiffness, sub(position, spring.rest))


def _lifted(robot: Robot) -> Iterator[tuple[Frame, Vec3, Vec3]]:
    """(frame, centre of mass in it, weight that is carried) of every moving body with a counterbalance."""
    for joint in robot.tree:
        fraction, frame = joint.body.gravity_compensation, robot.frame(joint.body.name)
        if not ops.is_zero(fraction) and frame.link != WORLD:
            central = joint.body.inertia.about_com()
            yield frame, central.com, mul(fraction, central.mass) * robot.gravity
