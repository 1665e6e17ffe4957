"""Which joints of closed loops follow from the others, where a file does not say it.

The rates that loops forbid are J qd = 0; as many joints as J has independent columns follow from the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from armdyn.algebra import Pose
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Loop
from armdyn.robot.robot import Robot
from armdyn.typing import Array

INDEPENDENT = 1e-6
"""A column counts as independent of others beyond this part of the largest one."""


def with_passive_joints(robot: Robot, driven: Callable[[str], bool]) -> Robot:
    """The robot with joints of its loops marked passive, at its `home`: rather those that nothing drives.

    driven: whether an actuator drives the joint of a name.

    Mimic joints and joints that others follow stay as they are. Loops that do not determine that many joints raise
    an error where they are used.
    """
    tree = robot.opened
    J = loop_rates(robot)
    names = [joint.name for joint in tree.joints]
    leaders = {joint.mimic.joint for joint in robot.movable if joint.mimic}
    followers = {joint.name for joint in robot.movable if joint.mimic}
    free = [k for k, name in enumerate(names) if name not in leaders | followers]
    undriven, rest = [k for k in free if not driven(names[k])], [k for k in free if driven(names[k])]
    chosen = {names[k] for k in independent_columns(J, (undriven, rest))}
    marked = tuple(replace(joint, passive=joint.name in chosen) for joint in robot.tree)
    return replace(robot, tree=marked)


def independent_columns(J: Array, groups: Sequence[Sequence[int]]) -> list[int]:
    """Columns of J that span the same space, taken from the groups in their order, each time the longest remainder."""
    chosen: list[int] = []
    rest = J.copy()
    least = INDEPENDENT * float(np.abs(J).max(initial=0.0))
    for group in groups:
        waiting = list(group)
        while waiting:
            best = max(waiting, key=lambda k: float(rest[:, k] @ rest[:, k]))
            length = float(np.linalg.norm(rest[:, best]))
            if length <= least:
                break
            way = rest[:, best] / length
            rest -= np.outer(way, way @ rest)
            waiting.remove(best)
            chosen.append(best)
    return chosen


def loop_rates(robot: Robot) -> Array:
    """J, (rows, joints of the opened tree), at `home`: relative velocities that the closing joints do not allow."""
    tree = robot.opened
    poses: list[Pose] = []
    for link in tree.links:
        own = link.pose(float(tree.joints[link.index].home))
        poses.append(own if link.parent == WORLD else poses[link.parent] @ own)
    blocks = [_rates(tree, loop, poses) for loop in robot.loops]
    return np.concatenate(blocks) if blocks else np.zeros((0, tree.n))


def _rates(tree: Robot, loop: Loop, poses: Sequence[Pose]) -> Array:
    J = np.zeros((6, tree.n))
    ends = ((-1, loop.first, loop.first_placement), (1, loop.second, loop.second_placement))
    for sign, body, placement in ends:
        frame = tree.frame(body)
        point = frame.pose @ placement.pose()
        if frame.link != WORLD:
            point = poses[frame.link] @ point
        where, axes = _array(point), _axes(point)
        k = frame.link
        while k != WORLD:
            z = _axes(poses[k])[:, 2]
            turning = tree.links[k].revolute
            J[:3, k] += sign * (np.cross(z, where - _array(poses[k])) if turning else z)
            J[3:, k] += sign * (z if turning else 0 * z)
            k = tree.links[k].parent
    J[:3], J[3:] = axes.T @ J[:3], axes.T @ J[3:]
    rows = {
        "spherical": [0, 1, 2],
        "revolute": [0, 1, 2, 3, 4],
        "prismatic": [0, 1, 3, 4, 5],
        "universal": [0, 1, 2, 5],
    }
    return J[rows.get(loop.kind, [0, 1, 2, 3, 4, 5])]


def _array(pose: Pose) -> Array:
    return np.array([float(x) for x in pose.p])


def _axes(pose: Pose) -> Array:
    return np.array([[float(x) for x in row] for row in pose.R.rows])
