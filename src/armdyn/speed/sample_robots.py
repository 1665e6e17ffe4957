"""The robots that are measured, in a form that all engines can describe."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import replace
from importlib import metadata

import numpy as np

from armdyn.errors import RobotError, UnknownName
from armdyn.formats import ModelWarning, load
from armdyn.robot import Robot
from armdyn.robot.links import Link
from armdyn.robot.random import random_robot
from armdyn.typing import Array

DEFAULT = (
    "ur5",
    "rx90",
    "panda",
    "chain7",
    "chain20",
    "chain30",
    "chain50",
    "chain100",
    "chain200",
    "quadruped",
    "quadruped+free",
    "talos",
    "talos+free",
)
MOST_JOINTS = 200
WHEEL = {"quadruped": "anymal_b_simple_description/robots/anymal.urdf", "talos": "talos_data/robots/talos_full_v2.urdf"}
"""Robots with branches, in the wheel example-robot-data."""


def default() -> list[str]:
    """The robots of a run without names: those of the wheel only if it is installed."""
    return [name for name in DEFAULT if name.removesuffix("+free") not in WHEEL or _wheel(name) is not None]


def _wheel(name: str) -> str | None:
    """The file of a robot of the wheel, if there is such a robot and the wheel is installed."""
    ending = WHEEL.get(name.removesuffix("+free"))
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return None
    found = [str(file.locate()) for file in files if ending is not None and str(file).endswith(ending)]
    return found[0] if found else None


def chosen(name: str) -> Robot:
    """A robot by catalog name, file, or `chainN`: a fixed random chain of N revolute joints, nothing of it aligned.

    `talos` and `quadruped` are robots of the wheel example-robot-data, whose mimic joints move by themselves; with
    `+free` they stand on a free base.
    """
    match = re.fullmatch(r"chain(\d{1,3})", name)
    if match:
        n = int(match[1])
        if not 1 <= n <= MOST_JOINTS:
            raise RobotError(f"a chain of {n} joints", where="bench", expected=f"1 to {MOST_JOINTS}")
        robot = random_robot(30, n, prismatic=0.0, tool=False)
        return replace(robot, name=name)
    file = _wheel(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = _of_catalog(name) if file is None else load(file, free_root=True if name.endswith("+free") else None)
    if file is not None:
        robot = replace(robot.opened, name=name)
    if not robot.n:
        raise RobotError(
            "the robot has no movable joint", where=f"robot {robot.name!r}", expected="a revolute or prismatic joint"
        )
    return robot


def _of_catalog(name: str) -> Robot:
    """Of the catalog, or of a file."""
    try:
        return load(name)
    except UnknownName as error:
        more = f"Or a file, chainN for a chain of N joints, {', '.join(WHEEL)}, and these with +free."
        raise UnknownName(error.what, where="bench", expected=error.expected, advice=more) from None


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


def states(robot: Robot, samples: int, seed: int = 1) -> tuple[Array, Array, Array]:
    """Positions, velocities, and accelerations or torques, (samples, ...) each: the same for the same seed."""
    rng, n = np.random.default_rng(seed), robot.n
    q: Array = rng.uniform(-math.pi, math.pi, (samples, n))
    if robot.compounds:
        q = robot.integrate(robot.neutral, q, 1.0)
    return q, rng.uniform(-2, 2, (samples, n)), rng.uniform(-5, 5, (samples, n))
