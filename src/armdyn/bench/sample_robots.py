"""The robots that are measured, in a form that all engines can describe."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace

import numpy as np

from armdyn.errors import RobotError
from armdyn.formats import ModelWarning, load
from armdyn.robot import Robot
from armdyn.robot.links import Link
from armdyn.robot.random import random_robot
from armdyn.typing import Array

DEFAULT = ("ur5", "rx90", "panda", "chain30")
MOST_JOINTS = 200


def chosen(name: str) -> Robot:
    """A robot by catalog name, file, or `chainN`: a fixed random chain of N revolute joints.

    The axes of the chain are parallel or perpendicular, half of its lengths are zero on average, its bodies general.
    """
    match = re.fullmatch(r"chain(\d{1,3})", name)
    if match:
        n = int(match[1])
        if not 1 <= n <= MOST_JOINTS:
            raise RobotError(f"a chain of {n} joints", where="bench", expected=f"1 to {MOST_JOINTS}")
        robot = random_robot(30, n, convention="modified", prismatic=0.0, skew=False, tilted_base=False, tool=False)
        return replace(robot, name=name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = load(name)
    if not robot.n:
        raise RobotError(
            "the robot has no movable joint", where=f"robot {robot.name!r}", expected="a revolute or prismatic joint"
        )
    return robot


def comparable(robot: Robot) -> tuple[Robot, tuple[str, ...]]:
    """The robot without parts that not all engines support, and the names of the omitted parts."""
    omitted = []
    if any(joint.friction for joint in robot.joints):
        omitted.append("friction")
    if robot.loops:
        omitted.append("loops")
    if robot.coupling:
        omitted.append("coupling")
    if any(spin.axis is not None or spin.others for spin in robot.spins):
        omitted.append("rotors")
    return (robot.without(*omitted) if omitted else robot), tuple(omitted)


def armature(robot: Robot) -> Array:
    """Reflected rotor inertia of each joint, which adds to the diagonal of the mass matrix."""
    added = np.zeros(robot.n)
    for spin in robot.spins:
        added[spin.joint] += float(spin.inertia) * float(spin.ratio) ** 2
    return added


def home(link: Link) -> tuple[Array, Array]:
    """Rotation and position of a link in its parent, at joint value 0, offset included."""
    pose = link.pose(0)
    return np.array(pose.R.array(), dtype=float), np.array(pose.p.array(), dtype=float)


def states(n: int, samples: int, seed: int = 1) -> tuple[Array, Array, Array]:
    """Positions, velocities, and accelerations or torques: (samples, n) each, the same for the same seed."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-math.pi, math.pi, (samples, n))
    return q, rng.uniform(-2, 2, (samples, n)), rng.uniform(-5, 5, (samples, n))
