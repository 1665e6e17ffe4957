"""Pose and Jacobian of a frame in machine code, as inverse kinematics calls them thousands of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.mechanics.kinematics import frame_pose, jacobian_dot_qd, link_poses, point_jacobian, rows_of
from armdyn.robot.robot import Robot
from armdyn.typing import Array


class Place(NamedTuple):
    """R (..., 3, 3) and p (..., 3) of the frame in the world, J (..., 6, n) there: linear rows first, world axes."""

    R: Array
    p: Array
    J: Array


@lru_cache(maxsize=32)
def placer(robot: Robot, frame: str = "tool") -> Callable[[Array], Place]:
    """Return the function q (..., n) -> Place of the frame."""

    def place(q: Sequence[Any]) -> dict[str, Any]:
        poses, where = link_poses(robot, q), robot.frame(frame)
        tool = frame_pose(poses, where)
        linear, angular = point_jacobian(robot, poses, where.link, tool.p)
        return {"R": tool.R.rows, "p": tuple(tool.p), "J": rows_of(linear, angular)}

    kernel = build(trace(place, {"q": robot.n}), f"{robot.name}_place")
    return lambda q: Place(*kernel(np.ascontiguousarray(q, dtype=float)))


@lru_cache(maxsize=32)
def drifter(robot: Robot, frame: str = "tool") -> Callable[[Array, Array], Array]:
    """Return the function (q, qd) -> Jdot qd (..., 6), the acceleration of the frame at constant joint velocities."""
    formula = jacobian_dot_qd.formula
    graph = trace(lambda q, qd: list(formula(robot, q, qd, frame=frame)), {"q": robot.n, "qd": robot.n})
    kernel = build(graph, f"{robot.name}_drift")

    def drift(q: Array, qd: Array) -> Array:
        value: Array = kernel(np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(qd, dtype=float))
        return value

    return drift
