"""Inverse kinematics as programs: all branches of a closed form, and the nearest within limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3, ops
from armdyn.algebra.ops import Scalar
from armdyn.graph import Graph, trace
from armdyn.kinematics.closed_form import ClosedForm, held_angles
from armdyn.kinematics.subproblems import Angle, both
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


def target_pose(T: Sequence[Sequence[Scalar]]) -> Pose:
    """Return a pose that is given by rows."""
    return Pose(Mat3([row[:3] for row in T[:3]]), Vec3(*(row[3] for row in T[:3])))


def off_a_pose(T: Sequence[Sequence[Scalar]]) -> Scalar:
    """Return how far T is from a pose: the largest entry of |R^T R - 1| and of its last row; 1 if R is left-handed."""
    R = target_pose(T).R
    x, y, z = (R.column(j) for j in range(3))
    last = [T[3][0], T[3][1], T[3][2], T[3][3] - 1]
    off = largest([x.dot(x) - 1, y.dot(y) - 1, z.dot(z) - 1, x.dot(y), y.dot(z), z.dot(x), *last])
    return ops.select(x.cross(y).dot(z), off, 1)


def _revolute(robot: Robot) -> list[bool]:
    return [link.revolute for link in robot.links]


def all_graph(robot: Robot, form: ClosedForm, *, flat: bool = False) -> Graph:
    """Return the program of all branches: q (branches, n), angles in (-pi, pi], and exists (branches,), 1 or 0.

    flat: the wanted pose T is given as 16 numbers, row by row. q0: what free joints keep, and the joint that is given
    to arms with seven joints.
    """

    def program(T: Any, q0: Any) -> dict[str, Any]:
        found = list(form.solve(target_pose(rows_of_pose(T)), held_angles(_revolute(robot), q0)))
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
        wanted = target_pose(T)
        start = [clipped(x, low, high) for x, low, high in zip(q0, lower, upper, strict=True)]
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
        inner = [clipped(x, low, high) for x, low, high in zip(best, lower, upper, strict=True)]
        q = [ops.select(fitting, ops.select(found, x, y), z) for x, y, z in zip(best, q0, inner, strict=True)]
        facts = [status, off_a_pose(T)] if form.known is None else [status, off_a_pose(T), least]
        return {"q": q, "found": facts}

    given = {} if form.known is None else {"known": 1}
    return trace(program, {"T": 16 if flat else (4, 4), "q0": robot.n, **given})


def clipped(x: Scalar, low: float, high: float) -> Scalar:
    """Return x, or the limit that it exceeds."""
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


def largest(entries: Sequence[Scalar]) -> Scalar:
    """Return the largest magnitude, 0 of none."""
    found: Scalar = 0
    for entry in entries:
        if not ops.is_zero(entry):
            found = ops.select(abs(entry) - found, abs(entry), found)
    return found
