"""Wrenches that the robot exerts on its environment, on any bodies at once: one term for every formulation.

Where a formula takes `wrench`, it may be (force, moment) at the tool, or a mapping {frame name: (force, moment)} with
as many frames as there are contacts. World axes, at the origin of the named frame, exerted by the robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armdyn.algebra import Scalar, Vec3
from armdyn.algebra.ops import add
from armdyn.mechanics.kinematics import frame_pose, link_poses, point_jacobian
from armdyn.robot.robot import Robot
from armdyn.typing import Scalars


def external_torques(robot: Robot, q: Scalars, wrenches: Mapping[str, Scalars]) -> list[Scalar]:
    """The sum of J_f^T F_f over the frames f. Khalil (7.30), Siciliano (7.42)"""
    torques: list[Scalar] = [0] * robot.n
    poses = link_poses(robot, q)
    for name, wrench in wrenches.items():
        frame = robot.frame(name)
        force, moment = Vec3.of(wrench[:3]), Vec3.of(wrench[3:])
        linear, angular = point_jacobian(robot, poses, frame.link, frame_pose(poses, frame).p)
        for j in robot.path(frame.link):
            torques[j] = add(torques[j], add(linear[j].dot(force), angular[j].dot(moment)))
    return torques


def split(robot: Robot, q: Scalars, wrench: Any) -> tuple[Scalars | None, list[Scalar]]:
    """(what a formula takes as its tip wrench, torques of all others)."""
    if isinstance(wrench, Mapping):
        return None, external_torques(robot, q, wrench)
    return wrench, [0] * robot.n


__all__ = ["external_torques", "split"]
