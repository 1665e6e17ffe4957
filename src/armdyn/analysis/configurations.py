"""Configurations at which a robot is looked at, and where its tool is there."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from armdyn.errors import PhysicsError
from armdyn.mechanics import closed_chain, kinematics
from armdyn.robot import describe
from armdyn.robot.limits import working_range
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Array

SINGULAR = 1e3
"""Condition number from which on a configuration is called singular: a tool speed then needs joint speeds a thousand
times larger in the worst direction than in the best."""


def configurations(robot: Robot, more: int = 3) -> dict[str, Array]:
    """Named joint positions to look at: zero, the middle of the ranges, and some in general position.

    Of a robot with closed loops: closed positions near them (a loop may close in more than one way).
    """
    if robot.n == 0:
        return {"fixed": np.zeros(0)}
    low, high = working_range(robot, one_turn=True)
    middle = (low + high) / 2
    shown = {"zero": np.zeros(robot.n)}
    if np.abs(middle).max() > 0.02 * math.pi:
        shown["middle of ranges"] = middle
    steps = np.arange(1, robot.n + 1) * ((math.sqrt(5) - 1) / 2)  # golden ratio: well spread and always the same
    for k in range(1, more + 1):
        shown[f"general {k}"] = low + (steps * k % 1) * (high - low)
    return _closed(robot, shown) if robot.loops else shown


def _closed(robot: Robot, shown: dict[str, Array]) -> dict[str, Array]:
    """Those from which the loops close, with their passive joints moved so that they do; all, if none closes."""
    active, _ = closed_chain.active_joints(robot)
    found: dict[str, Array] = {}
    for name, q in shown.items():
        with suppress(PhysicsError):
            found[name] = closed_chain.close(robot, q[active], q)
    return found or shown


def pose_table(robot: Robot, shown: dict[str, Array]) -> Section:
    """Tool position and conditioning of the Jacobian, its linear rows measured in distances of the tool."""
    tools = {name: _tool(robot, q) for name, q in shown.items()}
    size = max((float(np.linalg.norm(T[:3, 3] - base_position(robot))) for T in tools.values()), default=0.0) or 1.0
    values = {name: _singular_values(robot, q, size) for name, q in shown.items()}
    rank = max((int((s > 1e-9 * max(s.max(initial=0.0), 1e-300)).sum()) for s in values.values()), default=0)
    rows = []
    for name, q in shown.items():
        s = values[name]
        condition = s[0] / s[rank - 1] if rank and s[rank - 1] > 0 else math.inf
        text = f"{condition:.3g}" if condition < SINGULAR else "singular"
        joints = ", ".join(describe.number(float(x), 3) for x in q)
        rows.append((name, *(f"{x:.4f}" for x in tools[name][:3, 3]), text if rank else "no motion", f"({joints})"))
    columns = (Column("configuration"), Column("x", "m"), Column("y", "m"), Column("z", "m"),
               Column("condition of J"), Column("q", "rad|m"))  # fmt: skip
    note = f"The tool moves in {rank} of 6 directions; lengths in J are measured in {size:.3g} m." if rank else ""
    if 0 < rank < 6:
        note += " Rotations count in the condition: for x y z alone see the ellipsoids."
    return Section("Tool positions", columns, tuple(rows), note)


def _singular_values(robot: Robot, q: Array, size: float) -> Array:
    """Of the Jacobian with lengths measured in `size`: rows of linear velocity, columns of slides."""
    rows = np.array([1 / size] * 3 + [1.0] * 3)
    columns = np.array([size if joint.kind == "prismatic" else 1.0 for joint in robot.joints])
    J: Array = rows[:, None] * np.reshape(kinematics.jacobian(robot, q), (6, robot.n)) * columns
    return np.linalg.svd(J, compute_uv=False) if robot.n else np.zeros(0)


def _tool(robot: Robot, q: Array) -> Array:
    return kinematics.pose(robot, q)


def base_position(robot: Robot) -> Array:
    """(3,) m, where the robot stands in the world."""
    return np.array([float(x) for x in robot.base.xyz])
