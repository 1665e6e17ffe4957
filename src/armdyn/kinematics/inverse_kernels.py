"""Inverse kinematics in machine code: programs of closed forms, and one step of the iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.algebra import Pose, ops
from armdyn.algebra.ops import Scalar
from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.kernels.kernel import Kernel
from armdyn.kinematics.closed_form import closed_form
from armdyn.kinematics.inverse_graphs import all_graph, clipped, largest, nearest_graph, off_a_pose, target_pose
from armdyn.kinematics.rotations import rotation_vector
from armdyn.kinematics.subproblems import both
from armdyn.mechanics.kinematics import frame_pose, link_poses, point_jacobian, rows_of
from armdyn.robot.limits import position_limits
from armdyn.robot.robot import Robot


@lru_cache(maxsize=32)
def all_kernel(robot: Robot, frame: str = "tool", rotation: bool = True) -> Kernel:
    """Return the kernel (T, q0) -> (q, exists) of all branches of an arm that has a closed form."""
    form = closed_form(robot, frame, rotation)
    assert form is not None
    return build(all_graph(robot, form), f"{robot.name}_all_inverse")


@lru_cache(maxsize=32)
def nearest_kernel(robot: Robot, frame: str = "tool", rotation: bool = True, limits: bool = True) -> Kernel:
    """Return the kernel (T, q0) -> (q, found) of the nearest branch of an arm that has a closed form."""
    form = closed_form(robot, frame, rotation)
    assert form is not None
    return build(nearest_graph(robot, form, limits=limits), f"{robot.name}_nearest_inverse")


@lru_cache(maxsize=1)
def pose_check() -> Callable[..., Any]:
    """Return the function T -> (how far T is from a pose,)."""
    return build(trace(lambda T: [off_a_pose(T)], {"T": (4, 4)}), "pose_check").call


# One step of the iteration --------------------------------------------------------------------------------------------

DAMPING = 0.05
"""Share of the squared error that damps a step: more needs more steps, less leaves the way to the solution."""
LEAST_DAMPING = 1e-14
"""At the solution: keeps the step finite at singular configurations."""
LONGEST_STEP = 1.0
"""Largest change of a joint in one step, rad or m."""


@lru_cache(maxsize=32)
def step_kernel(robot: Robot, frame: str, rows: tuple[int, ...], limits: bool) -> Kernel:
    """Return the kernel (q, T) -> (next q, residual of q) of one damped step; rows: of the error that count."""

    def program(q: Any, T: Any) -> dict[str, Any]:
        return damped_step(robot, q, *task_error(robot, frame, rows, q, T), limits=limits)

    return build(trace(program, {"q": robot.n, "T": (4, 4)}), f"{robot.name}_inverse_step")


@lru_cache(maxsize=32)
def placed_step_kernel(robot: Robot, rows: tuple[int, ...], limits: bool) -> Kernel:
    """Return the kernel (q, pose, J, T) -> (next q, residual of q), for robots whose pose is found elsewhere."""

    def program(q: Any, here: Any, J: Any, T: Any) -> dict[str, Any]:
        e = _error(target_pose(here), target_pose(T), rows)
        return damped_step(robot, q, e, [list(J[i]) for i in rows], limits=limits)

    inputs = {"q": robot.n, "here": (4, 4), "J": (6, robot.n), "T": (4, 4)}
    return build(trace(program, inputs), f"{robot.name}_placed_inverse_step")


@lru_cache(maxsize=32)
def error_kernel(robot: Robot, frame: str, rows: tuple[int, ...]) -> Kernel:
    """Return the kernel (q, T) -> (e, J): the rows of the error, m and rad, and the Jacobian from joint steps to it."""

    def program(q: Any, T: Any) -> dict[str, Any]:
        e, J = task_error(robot, frame, rows, q, T)
        return {"e": e, "J": J}

    return build(trace(program, {"q": robot.n, "T": (4, 4)}), f"{robot.name}_pose_error")


def damped_step(
    robot: Robot, q: Sequence[Scalar], e: Sequence[Scalar], J: list[list[Scalar]], *, limits: bool
) -> dict[str, Any]:
    """Return q after one step, joints at a limit held, and the largest entry of the error before it.

    dq = J^T (J J^T + w 1)^-1 e with w = DAMPING |e|^2. (Levenberg-Marquardt; Chan & Lawrence 1988)
    """
    free = np.full(robot.n, np.inf)
    lower, upper = position_limits(robot) if limits else (-free, free)
    for k in range(robot.n):
        slope = _dot([row[k] for row in J], e)
        for edge, sign in ((lower[k], -1), (upper[k], 1)):
            if np.isfinite(edge) and not ops.is_zero(slope):
                leaving = both(sign * (q[k] - edge), sign * slope)  # at the limit, and driven beyond it
                for row in J:
                    row[k] = 0 if ops.is_zero(row[k]) else ops.select(leaving, 0, row[k])
    square = ops.total(x * x for x in e)
    weight = DAMPING * ops.select(1 - square, square, 1) + LEAST_DAMPING
    x = _solved([[ops.add(_dot(a, b), weight if a is b else 0) for b in J] for a in J], e)
    step = [_dot([row[k] for row in J], x) for k in range(robot.n)]
    longest = largest(step)
    factor = ops.select(LONGEST_STEP - longest, 1, LONGEST_STEP / (longest + 1e-300))
    moved = [
        clipped(ops.add(position, ops.mul(entry, factor)), low, high)
        for position, entry, low, high in zip(q, step, lower, upper, strict=True)
    ]
    return {"q": moved, "residual": largest(e)}


def task_error(
    robot: Robot, frame: str, rows: Sequence[int], q: Sequence[Scalar], T: Any
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Return the rows of the error of a frame's pose (linear, angular; world axes), and those of its Jacobian."""
    poses, where = link_poses(robot, q), robot.frame(frame)
    here = frame_pose(poses, where)
    J = rows_of(*point_jacobian(robot, poses, where.link, here.p))
    return _error(here, target_pose(T), rows), [list(J[i]) for i in rows]


def _error(here: Pose, wanted: Pose, rows: Sequence[int]) -> list[Scalar]:
    e: list[Scalar] = [*(wanted.p - here.p)]
    if max(rows) > 2:
        e += list(rotation_vector(np.array((wanted.R @ here.R.T).rows, dtype=object)))
    return [e[i] for i in rows]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return ops.total(ops.mul(x, y) for x, y in zip(a, b, strict=True))


def _solved(A: list[list[Scalar]], b: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b for a symmetric positive definite A, as A = L D L^T."""
    size = len(b)
    L: list[list[Scalar]] = [[0] * size for _ in range(size)]
    inverse: list[Scalar] = []
    y: list[Scalar] = []
    for i in range(size):
        scaled: list[Scalar] = []
        for j in range(i):
            scaled.append(A[i][j] - _dot(scaled, L[j][:j]))
            L[i][j] = scaled[j] * inverse[j]
        inverse.append(1 / (A[i][i] - _dot(scaled, L[i][:i])))
        y.append(b[i] - _dot(L[i][:i], y))
    x: list[Scalar] = [0] * size
    for i in reversed(range(size)):
        x[i] = y[i] * inverse[i] - _dot([L[j][i] for j in range(i + 1, size)], x[i + 1 :])
    return x
