"""The arm as it is drawn: joints, the straight parts between them, the tool. Report, studio and shared page draw this.

All points are given in the frames of moving links, so that a viewer gets them once and moves them with the links.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.mechanics.closed_chain import all_positions
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Array

GROUND = -1
"""Index of a link that does not move; its frame is the world."""
PALETTE = {
    "link": "#6f8fc0",
    "revolute": "#e58a3c",
    "prismatic": "#2a9d8f",
    "spherical": "#c2566e",
    "universal": "#c2566e",
    "base": "#8a93a3",
    "gravity": "#8a5cc2",
}
TOOL_AXES = ("#d64545", "#3a9d4a", "#3b6fd4")
"""Colours of the x, y and z axis of the tool."""
PLATFORM_JOINTS = 3
"""A chain of at least this many passive, massless joints from the base only locates a platform and is not drawn."""


class SceneJoint(NamedTuple):
    """A joint: its kind, the link that carries it, its origin (3,) and its axis (3,) in that link's frame."""

    kind: str
    link: int
    point: Array
    axis: Array


class Segment(NamedTuple):
    """A straight part between two points (3,), each in the frame of its link.

    The ends are on one link, or on two links that slide along each other.
    """

    first: int
    start: Array
    second: int
    end: Array


class Skeleton(NamedTuple):
    """A scene at one configuration, in the world: joints (kind, origin, axis), segments (start, end), tool (4, 4)."""

    joints: list[tuple[str, Array, Array]]
    segments: list[tuple[Array, Array]]
    tool: Array

    @property
    def points(self) -> Array:
        """(k, 3) ends of the segments, origins of the joints and of the tool."""
        ends = [p for segment in self.segments for p in segment]
        return np.array([*ends, *(p for _, p, _ in self.joints), self.tool[:3, 3]])

    @property
    def size(self) -> float:
        """The longest side of the box around the points, m; 1 if they coincide."""
        return float(np.ptp(self.points, axis=0).max()) or 1.0


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn of a robot.

    joints: those that close loops come last.
    tool: the link that carries the tool, and the tool's pose (4, 4) in its frame.
    base: (3,) where the robot stands, in the world.
    """

    joints: tuple[SceneJoint, ...]
    segments: tuple[Segment, ...]
    tool: tuple[int, Array]
    base: Array

    def at(self, poses: Array) -> Skeleton:
        """The scene in the world. poses: (links, 4, 4) of the moving links, as `poses_of_links` gives them."""
        joints = [(j.kind, placed(poses, j.link, j.point), placed(poses, j.link, j.axis, 0.0)) for j in self.joints]
        ends = [(placed(poses, s.first, s.start), placed(poses, s.second, s.end)) for s in self.segments]
        link, tool = self.tool
        return Skeleton(
            joints,
            [(start, end) for start, end in ends if np.linalg.norm(end - start) > 0],
            tool if link == GROUND else poses[link] @ tool,
        )


def placed(poses: Array, link: int, vector: Array, w: float = 1.0) -> Array:
    """A point of a link in the world, or a direction if w is 0. poses: as in `Scene.at`. Returns (3,)."""
    return vector if link == GROUND else np.asarray((poses[link] @ np.append(vector, w))[:3])


def scene(robot: Robot) -> Scene:
    """What is drawn of the robot, closed chains and trees included."""
    tree = robot.opened
    unseen = _platform_joints(tree) if robot.loops else set()
    base, origin = _vector(robot.base.xyz), np.zeros(3)
    joints, segments = [], []
    for link in tree.links:
        if link.index in unseen:
            continue
        joints.append(SceneJoint(link.kind, link.index, origin, np.array([0.0, 0.0, 1.0])))
        parent, foot = _index(link.parent), _vector(link.placement.p)
        segments.append(Segment(parent, base if parent == GROUND else origin, parent, foot))
        if link.kind == "prismatic":  # drawn along its travel, from its zero
            segments.append(Segment(parent, foot, link.index, origin))
    for loop in robot.loops:
        for body, placement in ((loop.first, loop.first_placement), (loop.second, loop.second_placement)):
            held = tree.frame(body)
            carrier, end = _index(held.link), _matrix(held.pose @ placement.pose())
            segments.append(Segment(carrier, base if carrier == GROUND else origin, carrier, end[:3, 3]))
        joints.append(SceneJoint(loop.kind, carrier, end[:3, 3], end[:3, 2]))
    frame = tree.frame("tool")
    carrier, tool = _index(frame.link), _matrix(frame.pose)
    if carrier != GROUND:
        segments.append(Segment(carrier, origin, carrier, tool[:3, 3]))
    return Scene(tuple(joints), tuple(segments), (carrier, tool), base)


def skeleton(robot: Robot, q: Array) -> Skeleton:
    """The robot's scene in the world at the positions q (n,) of its independent joints."""
    return scene(robot).at(poses_of_links(robot, all_positions(robot, q)))


def poses_of_links(robot: Robot, q: Any) -> Array:
    """(links, 4, 4) poses of all moving links in the world. q: positions of all joints, dependent ones included."""
    poses = link_poses(robot.opened, [float(x) for x in q])
    return np.array([pose.array() for pose in poses], dtype=float).reshape(-1, 4, 4)


def _platform_joints(tree: Robot) -> set[int]:
    """Joints that only locate a platform: passive, massless, one after the other from the base up to the first mass."""
    found: set[int] = set()
    for first in tree.links:
        chain = [first] if first.parent == WORLD and not first.revolute and tree.joints[first.index].passive else []
        while chain and float(chain[-1].inertia.mass) == 0:
            below = [link for link in tree.links if link.parent == chain[-1].index]
            if len(below) != 1 or not tree.joints[below[0].index].passive:
                break
            chain.append(below[0])
        found |= {link.index for link in chain} if len(chain) >= PLATFORM_JOINTS else set()
    return found


def _index(link: int) -> int:
    return GROUND if link == WORLD else link


def _vector(values: Any) -> Array:
    return np.array([float(x) for x in values])


def _matrix(pose: Any) -> Array:
    return np.asarray(pose.array(), dtype=float)
