"""Inverse kinematics in machine code: all branches, the nearest within limits, one step of the iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3, ops
from armdyn.algebra.ops import Scalar
from armdyn.graph import Graph, trace
from armdyn.kernels import build
from armdyn.kernels.kernel import Kernel
from armdyn.kinematics.closed_form import ClosedForm, closed_form, held_angles
from armdyn.kinematics.rotations import rotation_vector
from armdyn.kinematics.subproblems import Angle, both
from armdyn.mechanics.kinematics import frame_pose, link_poses, point_jacobian, rows_of
from armdyn.robot.limits import position_limits
from armdyn.robot.robot import Robot

EDGE = 1e-9
"""How far beyond a limit a closed form may lie, rad or m: rounding."""
BEYOND, NOWHERE = 1e3, 1e6
"""Added to the distance of a branch that lies beyond the limits, or does not exist, so that others are preferred: no
arm moves that far."""
TURN = 2 * np.pi


def rows_of_pose(T: Any) -> Any:
    """Return the rows of a pose that is given by rows, or as 16 numbers row by row, as exported code takes it."""
    return [T[k : k + 4] for k in range(0, 16, 4)] if len(T) == 16 else T


def _target(T: Sequence[Sequence[Scalar]]) -> Pose:
    return Pose(Mat3([row[:3] for row in T[:3]]), Vec3(*(row[3] for row in T[:3])))


def _off(T: Sequence[Sequence[Scalar]]) -> Scalar:
    """How far T is from a pose: the largest entry of |R^T R - 1| and of its last row; 1 if R is left-handed."""
    R = _target(T).R
    x, y, z = (R.column(j) for j in range(3))
    last = [T[3][0], T[3][1], T[3][2], T[3][3] - 1]
    off = _largest([x.dot(x) - 1, y.dot(y) - 1, z.dot(z) - 1, x.dot(y), y.dot(z), z.dot(x), *last])
    return ops.select(x.cross(y).dot(z), off, 1)


def _revolute(robot: Robot) -> list[bool]:
    return [link.revolute for link in robot.links]


def all_graph(robot: Robot, form: ClosedForm, *, flat: bool = False) -> Graph:
    """Return the program of all branches: q (branches, n), angles in (-pi, pi], and exists (branches,), 1 or 0.

    flat: the wanted pose T is given as 16 numbers, row by row. q0: what free joints keep, and the joint that is given
    to arms with seven joints.
    """

    def program(T: Any, q0: Any) -> dict[str, Any]:
        found = list(form.solve(_target(rows_of_pose(T)), held_angles(_revolute(robot), q0)))
        q = [[ops.atan2(x.sin, x.cos) if isinstance(x, Angle) else x for x in branch.angles] for branch in found]
        if form.known is not None:
            q = [[*row[: form.known], q0[form.known], *row[form.known + 1 :]] for row in q]
        return {"q": q, "exists": [ops.select(branch.exists, 1, 0) for branch in found]}

    return trace(program, {"T": 16 if flat else (4, 4), "q0": robot.n})


def nearest_graph(robot: Robot, form: ClosedForm, *, limits: bool, flat: bool = False) -> Graph:
    """Return the program of the branch nearest to q0: q (n,), and (status, how far T is from a pose).

    Of arms with seven joints, `known` is the position of the known joint, and the distance from q0 a third result.

    Angles are turned by whole turns to within limits, as near to q0 as possible. status: 0 where it is within limits,
    1 where there is one beyond them only, 2 where there is none.
    """
    free = np.full(robot.n, np.inf)
    lower, upper = position_limits(robot) if limits else (-free, free)
    revolute = _revolute(robot)

    def program(T: Any, q0: Any, known: Any = None) -> dict[str, Any]:
        T = rows_of_pose(T)
        wanted = _target(T)
        start = [_clipped(x, low, high) for x, low, high in zip(q0, lower, upper, strict=True)]
        if form.known is not None:
            start[form.known] = known[0]
        held = held_angles(revolute, start)
        best: list[Scalar] = []
        least: Scalar = 0
        for angles, exists in form.solve(wanted, held):
            q, inside = [], 1
            for k, x in enumerate(angles):
                if isinstance(x, Angle):
                    x = start[k] if k == form.known else start[k] + _difference(x, held[k])
                x, room = _within(x, lower[k], upper[k], revolute[k])
                q.append(x)
                inside = inside if room is None else both(inside, room)
            distance = ops.total(abs(x - y) for x, y in zip(q, q0, strict=True))
            distance = ops.select(exists, distance + ops.select(inside, 0, BEYOND), NOWHERE)
            if best:
                better = least - distance
                best = [ops.select(better, new, old) for new, old in zip(q, best, strict=True)]
                least = ops.select(better, distance, least)
            else:
                best, least = q, distance
        found = NOWHERE - 1 - least
        status = ops.select(found, ops.select(BEYOND - 1 - least, 0, 1), 2)
        fitting = status - 0.5  # what is within limits but for rounding is put there
        inner = [_clipped(x, low, high) for x, low, high in zip(best, lower, upper, strict=True)]
        q = [ops.select(fitting, ops.select(found, x, y), z) for x, y, z in zip(best, q0, inner, strict=True)]
        facts = [status, _off(T)] if form.known is None else [status, _off(T), least]
        return {"q": q, "found": facts}

    given = {} if form.known is None else {"known": 1}
    return trace(program, {"T": 16 if flat else (4, 4), "q0": robot.n, **given})


def _clipped(x: Scalar, low: float, high: float) -> Scalar:
    x = ops.select(x - low, x, low) if np.isfinite(low) else x
    return ops.select(high - x, x, high) if np.isfinite(high) else x


def _difference(angle: Angle, start: Any) -> Scalar:
    """angle - start, in (-pi, pi]: the angle nearest to the start is found without rounding to whole turns."""
    return ops.atan2(angle.sin * start.cos - angle.cos * start.sin, angle.cos * start.cos + angle.sin * start.sin)


def _within(x: Scalar, low: float, high: float, revolute: bool) -> tuple[Scalar, Scalar | None]:
    """The position, by a whole turn nearer to its range if it is outside; how far it is inside (None: no limits)."""
    room: Scalar | None = None
    if revolute and np.isfinite(low):
        x = ops.select(x - (low - EDGE), x, x + TURN)
    if revolute and np.isfinite(high):
        x = ops.select((high + EDGE) - x, x, x - TURN)
    if np.isfinite(low):
        room = x - (low - EDGE)
    if np.isfinite(high):
        above = (high + EDGE) - x
        room = above if room is None else both(room, above)
    return x, room


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
    return build(trace(lambda T: [_off(T)], {"T": (4, 4)}), "pose_check").call


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
        e = _error(_target(here), _target(T), rows)
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
    longest = _largest(step)
    factor = ops.select(LONGEST_STEP - longest, 1, LONGEST_STEP / (longest + 1e-300))
    moved = [
        _clipped(ops.add(position, ops.mul(entry, factor)), low, high)
        for position, entry, low, high in zip(q, step, lower, upper, strict=True)
    ]
    return {"q": moved, "residual": _largest(e)}


def _largest(entries: Sequence[Scalar]) -> Scalar:
    largest: Scalar = 0
    for entry in entries:
        if not ops.is_zero(entry):
            largest = ops.select(abs(entry) - largest, abs(entry), largest)
    return largest


def task_error(
    robot: Robot, frame: str, rows: Sequence[int], q: Sequence[Scalar], T: Any
) -> tuple[list[Scalar], list[list[Scalar]]]:
    """Return the rows of the error of a frame's pose (linear, angular; world axes), and those of its Jacobian."""
    poses, where = link_poses(robot, q), robot.frame(frame)
    here = frame_pose(poses, where)
    J = rows_of(*point_jacobian(robot, poses, where.link, here.p))
    return _error(here, _target(T), rows), [list(J[i]) for i in rows]


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
