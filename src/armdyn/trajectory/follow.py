"""Joint motion that takes a frame along a path in space. Khalil (9.18)-(9.21)"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline

from armdyn.errors import ShapeError
from armdyn.kinematics.compiled_frame import drifter
from armdyn.kinematics.inverse import Unreachable, inverse_kinematics
from armdyn.kinematics.numeric_inverse import (
    Problem,
    levenberg_marquardt,
    pseudo_inverse,
    search_bounds,
)
from armdyn.kinematics.task_rows import row_indices, row_mask
from armdyn.robot.features import FRICTIONLESS, takes
from armdyn.robot.limits import joint_vector
from armdyn.robot.robot import Robot
from armdyn.trajectory.cartesian import TaskTrajectory
from armdyn.trajectory.joint import hold
from armdyn.trajectory.piecewise import PiecewisePolynomial, hermite
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

LARGEST_STEP = 0.1
"""Desired largest change of a joint between two points of the first pass, rad or m."""
MOST_POINTS = 20_000
TIGHT = 1e-12
"""Error to which configurations are refined at every time, m and rad."""
PIECES_ERROR, MOST_PIECES = 1e-9, 512
"""Error, m and rad, up to which polynomials stand for the motion, and most of them in a smooth part."""
MOST_STEPS = 60
"""Steps of the iteration where the predicted configuration is not near enough: at a singularity it creeps."""


@dataclass(frozen=True, eq=False, repr=False)
class TaskFollowing(Trajectory):
    """Joint motion along a path in space: inverse kinematics is solved at every requested time.

        x(q) = x_d(t)                                        (9.18)
        qd  = J^+ xd_d + (1 - J^+ J) z1                      (9.19)
        qdd = J^+ (xdd_d - Jdot qd) + (1 - J^+ J) z2         (9.20)

    The initial guess comes from splines, the `guide`, through the points of a first pass; z1 and z2 are its
    derivatives, which matter for redundant arms only.

    robot: the robot.
    task:  the path in space, with its timing.
    frame: name of the frame that follows it.
    rows:  indices of the controlled rows of x y z rx ry rz.
    guide: (n,) approximate joint motion.
    """

    robot: Robot
    task: TaskTrajectory
    frame: str
    rows: Array
    guide: PiecewisePolynomial
    highest = 2

    @property
    def duration(self) -> float:
        return self.task.duration

    @property
    def n(self) -> int:
        return self.robot.n

    @property
    def breaks(self) -> Array:
        return self.task.breaks

    def inside(self, t: Array, order: int) -> Array:
        flat = np.ravel(t.real)
        T = self.task.pose(flat)
        problem = Problem(self.robot, self.frame, T, row_indices(self.rows), False, TIGHT)
        q = _corrected(problem, self.guide(flat))
        if order:
            _, J = problem.error(q)
            inverse = pseudo_inverse(J)
            free = np.eye(self.n) - inverse @ J
            qd = _apply(inverse, self.task.velocity(flat)[:, self.rows]) + _apply(free, self.guide(flat, 1))
            if order == 1:
                q = qd
            else:
                drift = drifter(self.robot, self.frame)(q, qd)
                wanted = (self.task.acceleration(flat) - drift)[:, self.rows]
                q = _apply(inverse, wanted) + _apply(free, self.guide(flat, 2))
        return q.reshape(*t.shape, self.n)

    def polynomials(self) -> PiecewisePolynomial:
        """The motion as quintic pieces between exact nodes, so many that the frame stays within PIECES_ERROR.

        Timing needs the path thousands of times, and solves the inverse kinematics at the nodes only.
        """
        count = 8
        while True:
            parts = [self._part(*ends, count) for ends in pairwise(_seams(self.task))]
            knots = np.concatenate([parts[0].knots[:1], *(part.knots[1:] + part.start for part in parts)])
            made = PiecewisePolynomial(knots, np.concatenate([part.pieces for part in parts]))
            middle = 0.5 * (knots[1:] + knots[:-1])
            problem = Problem(self.robot, self.frame, self.task.pose(middle), row_indices(self.rows), False, TIGHT)
            if count >= MOST_PIECES or problem.residual(made(middle)).max() < PIECES_ERROR:
                return made
            count *= 2

    def _part(self, start: float, end: float, count: int) -> _Part:
        """Quintic pieces of a smooth part; at its ends derivatives are taken inside."""
        t, inside = np.linspace(start, end, count + 1), 1e-9 * self.duration
        places = np.clip(t, start + inside, end - inside)
        spline = hermite(t - start, [self(places, order) for order in range(3)])
        return _Part(start, spline.knots, spline.coefficients)


class _Part(NamedTuple):
    """Pieces of a part of a motion that begins at start, s."""

    start: float
    knots: Array
    pieces: Array


def _apply(A: Array, x: Array) -> Array:
    product: Array = np.einsum("kij,kj->ki", A, x)
    return product


def _corrected(problem: Problem, q: Array) -> Array:
    """Three Newton steps with the pseudo-inverse, enough from the nearby guide."""
    for _ in range(3):
        e, J = problem.error(q)
        q = q + _apply(pseudo_inverse(J), e)
    return q


@takes("elastic", *FRICTIONLESS)
def follow(
    robot: Robot,
    task: TaskTrajectory,
    q0: Any = None,
    *,
    frame: str = "tool",
    rows: str | None = None,
    limits: bool = True,
) -> TaskFollowing:
    """Return the joint motion that moves a frame of the robot along a path in space.

    Args:
        robot:  the robot.
        task:   the path, with its timing.
        q0:     (n,) initial configuration or one near it; it selects the solution (default: by inverse kinematics).
        frame:  name of the frame that follows the path (default: tool).
        rows:   controlled rows of x y z rx ry rz (default: all, or x y z if the orientation is free).
        limits: keep within the joint limits (default: True).

    Returns: a trajectory that is exact at every time: positions solved to 1e-12, velocities by Khalil (9.19),
             accelerations by Khalil (9.20).
    Raises:  Unreachable, with the time at which the path leaves the workspace or meets a singularity or a limit.
    """
    chosen = row_mask(rows, task.rotation is not None)
    start = _first(robot, task, q0, frame, rows, limits)
    if task.duration == 0:
        return TaskFollowing(robot, task, frame, chosen, hold(start, 0.0))
    t, q = _first_pass(robot, task, start, frame, chosen)
    bounds = search_bounds(robot, limits)
    if not (inside := bounds.contains(q, 1e-6)).all():
        k = int(np.argmin(inside))
        over = np.maximum(q[k] - bounds.upper, bounds.lower - q[k])
        joint = robot.joints[int(over.argmax())].name
        raise _lost(robot, t[k], f"joint {joint!r} would exceed its limit by {over.max():.3g}")
    return TaskFollowing(robot, task, frame, chosen, _guide(t, q, _seams(task)))


def _seams(task: TaskTrajectory) -> Array:
    """Times between which the path is smooth, s."""
    seams = [0.0]
    for time in task.breaks:
        if 1e-9 * task.duration < time - seams[-1] and time < (1 - 1e-9) * task.duration:
            seams.append(float(time))
    return np.array([*seams, task.duration])


def _guide(t: Array, q: Array, seams: Array) -> PiecewisePolynomial:
    """Quintic splines through the points, one for each smooth part of the path, so that jumps of acceleration stay."""
    knots: list[Array] = [np.zeros(1)]
    pieces = []
    for start, end in pairwise(seams):
        part = (t >= start) & (t <= end)
        spline = make_interp_spline(t[part], q[part], k=5)
        own = np.unique(spline.t)
        pieces.append(np.stack([spline(own[:-1], i) / math.factorial(i) for i in range(6)], axis=1))
        knots.append(own[1:])
    return PiecewisePolynomial(np.concatenate(knots), np.concatenate(pieces))


def _first(robot: Robot, task: TaskTrajectory, q0: Any, frame: str, rows: str | None, limits: bool) -> Array:
    pose = task.pose(0.0) if task.rotation is not None else task.pose(0.0)[:3, 3]
    if q0 is None:
        return inverse_kinematics(robot, pose, frame=frame, rows=rows, limits=limits).q
    given = joint_vector("q0", q0, robot.n)
    result = inverse_kinematics(
        robot, pose, given, frame=frame, rows=rows, limits=False, method="numeric", starts=1, throw=False
    )
    if not result.reached or np.abs(result.q - given).max() > 0.5:
        raise ShapeError(
            f"the path does not start where q0 puts the {frame} frame",
            where=f"robot {robot.name!r}",
            expected="q0 at, or near, the start of the path",
            advice="Leave q0 out to let the inverse kinematics choose.",
        )
    return result.q


def _first_pass(robot: Robot, task: TaskTrajectory, q: Array, frame: str, rows: Array) -> tuple[Array, Array]:
    """Times and configurations, each found from the one before it, dense enough not to change the solution branch."""
    seams = _seams(task)
    step = task.duration / 64
    while True:
        counts = [max(6, math.ceil((end - start) / step)) for start, end in pairwise(seams)]
        parts = [np.linspace(*ends, count + 1)[:-1] for ends, count in zip(pairwise(seams), counts, strict=True)]
        t = np.append(np.concatenate(parts), task.duration)
        track, largest = _tracked(robot, task, q, t, frame, rows)
        if largest <= LARGEST_STEP or len(t) >= MOST_POINTS:
            return t, track
        step = max(step / max(1.2 * largest / LARGEST_STEP, 1.5), task.duration / MOST_POINTS)


def _tracked(robot: Robot, task: TaskTrajectory, q: Array, t: Array, frame: str, rows: Array) -> tuple[Array, float]:
    """One pass, by a Heun step along J^+ and Newton's method from each point; and the largest step of a joint."""
    T, velocity = task.pose(t), task.velocity(t)[:, rows]
    whole = Problem(robot, frame, T, row_indices(rows), False, TIGHT)
    track = np.empty((len(t), robot.n))
    track[0] = _corrected(whole.chosen(np.array([0])), q[None])[0]
    largest = 0.0
    for k in range(1, len(t)):
        dt = t[k] - t[k - 1]
        rates = []
        at = track[k - 1]
        for i in (k - 1, k):
            _, J = whole.chosen(np.array([i])).error(at[None])
            rates.append(pseudo_inverse(J[0]) @ velocity[i])
            at = track[k - 1] + dt * rates[0]
        guess = track[k - 1] + dt * (rates[0] + rates[1]) / 2
        here = whole.chosen(np.array([k]))
        found = _corrected(here, guess[None])
        step = float(np.abs(found[0] - track[k - 1]).max())
        if not np.isfinite(step) or step > 1.0:
            found = np.array([np.full(robot.n, np.nan)])
        if not (here.residual(found) < 1e-9).all():
            exact = levenberg_marquardt(here, track[k - 1][None], MOST_STEPS)
            if not exact.residual[0] < 1e-9:
                raise _lost(robot, t[k], f"the path cannot be followed (error {exact.residual[0]:.2g} m or rad)")
            found = exact.q
            step = float(np.abs(found[0] - track[k - 1]).max())
            if step > 1.0:
                raise _lost(robot, t[k], "the joints would have to jump to another solution")
        largest = max(largest, step)
        track[k] = found[0]
    return track, largest


def _lost(robot: Robot, time: float, what: str) -> Unreachable:
    return Unreachable(
        what,
        where=f"robot {robot.name!r}, t = {time:.4g} s",
        expected="a path within the workspace, away from singular configurations",
        advice="Start from another solution (q0), move the path, or move in joint space (`point_to_point`).",
    )
