"""Representative configurations of a robot, and the position of its tool there."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import PhysicsError
from armdyn.kinematics.closable import pulled_in
from armdyn.kinematics.task_rows import SINGULAR_RATIO
from armdyn.mechanics import kinematics
from armdyn.mechanics.closed_chain import all_positions
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.robot import describe
from armdyn.robot.limits import common_units, working_range
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.typing import Array

SINGULAR = 1e3
"""Condition number of the Jacobian from which a configuration is called singular: the tool is a thousand times slower
in the worst direction than in the best."""


def configurations(robot: Robot, more: int = 3) -> dict[str, Array]:
    """Named configurations (n,): zero, the middle of the ranges, and `more` in general position.

    For a robot with loops or mimic joints: its assembly instead of zero, and those that close.
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
    return _closing(robot, shown) if robot.constrained else shown


def middle_of_ranges(dyn: Dynamics) -> Array:
    """(n,) the middle of the working ranges; of a closed chain nearer to its assembly where that does not close."""
    middle: Array = pulled_in(dyn, np.mean(working_range(dyn.robot), axis=0)[None])[0]
    return middle


def _closing(robot: Robot, shown: dict[str, Array]) -> dict[str, Array]:
    """The assembly, and those of the configurations that can be reached from it."""
    chain = dependent_joints(robot)
    found = {"assembly": np.array([chain.assembly[k] for k in chain.independent])}
    for name, q in shown.items():
        if name == "zero" and not found["assembly"].any():
            continue
        with suppress(PhysicsError):
            chain.continued(q.tolist())
            found[name] = q
    return found


def pose_table(robot: Robot, shown: dict[str, Array]) -> Section:
    """Tool position and condition number of the Jacobian, made dimensionless by the distance of the tool."""
    tools = {name: _tool(robot, q) for name, q in shown.items()}
    size = max((float(np.linalg.norm(T[:3, 3] - base_position(robot))) for T in tools.values()), default=0.0) or 1.0
    values = {name: _singular_values(robot, q, size) for name, q in shown.items()}
    rank = max((int((s > SINGULAR_RATIO * s.max(initial=0.0)).sum()) for s in values.values()), default=0)
    rows = []
    for name, q in shown.items():
        s = values[name]
        condition = s[0] / s[rank - 1] if rank and s[rank - 1] > 0 else math.inf
        text = f"{condition:.3g}" if condition < SINGULAR else "singular"
        joints = ", ".join(describe.number(float(x), 3) for x in q)
        rows.append((name, *(f"{x:z.4f}" for x in tools[name][:3, 3]), text if rank else "no motion", f"({joints})"))
    columns = (
        Column("configuration"),
        Column("x", "m"),
        Column("y", "m"),
        Column("z", "m"),
        Column("condition of J"),
        Column("q", common_units(robot).position),
    )
    note = f"The tool moves in {rank} of 6 directions. Lengths in J are divided by {size:.3g} m." if rank else ""
    if 0 < rank < 6:
        note += " The condition number includes rotations; the ellipsoids are for positions alone."
    return Section("Tool positions", columns, tuple(rows), note)


def _singular_values(robot: Robot, q: Array, size: float) -> Array:
    """Singular values of the Jacobian with lengths (linear rows, prismatic columns) divided by `size`."""
    rows = np.array([1 / size] * 3 + [1.0] * 3)
    columns = np.array([size if joint.kind == "prismatic" else 1.0 for joint in robot.joints])
    J: Array = rows[:, None] * np.reshape(_jacobian(robot, q), (6, robot.n)) * columns
    return np.linalg.svd(J, compute_uv=False) if robot.n else np.zeros(0)


def _tool(robot: Robot, q: Array) -> Array:
    return kinematics.pose(robot.opened, all_positions(robot, q))


def _jacobian(robot: Robot, q: Array) -> Array:
    q_all = all_positions(robot, q)
    J = kinematics.jacobian(robot.opened, q_all)
    return J @ np.array(dependent_joints(robot).projection(q_all), dtype=float) if robot.constrained else J


def base_position(robot: Robot) -> Array:
    """(3,) m, where the robot stands in the world."""
    return np.array([float(x) for x in robot.base.xyz])
