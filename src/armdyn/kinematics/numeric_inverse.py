"""Inverse kinematics by iteration: Levenberg-Marquardt on batches, within joint limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armdyn.kinematics.compiled_frame import Place, placer
from armdyn.kinematics.rotations import rotation_vector
from armdyn.kinematics.task_rows import SINGULAR_RATIO
from armdyn.robot.limits import position_limits, working_range
from armdyn.robot.robot import Robot
from armdyn.typing import Array

LONGEST_STEP = 1.0
"""Largest change of a joint in one iteration, rad or m."""
Cost = Callable[[Array], Array]


class Bounds(NamedTuple):
    """Position limits (n,), infinite where there are none, and the finite ranges in which starts are drawn."""

    lower: Array
    upper: Array
    start_lower: Array
    start_upper: Array

    @property
    def middle(self) -> Array:
        """Middle of the ranges in which starts are drawn, (n,)."""
        return (self.start_lower + self.start_upper) / 2

    def contains(self, q: Array, slack: float = 1e-9) -> Array:
        """Return whether positions (..., n) lie within the limits, but for `slack`, rad or m."""
        within = (q >= self.lower - slack) & (q <= self.upper + slack)
        return np.asarray(within.all(axis=-1))

    def hold(self, q: Array, direction: Array) -> Array:
        """Return which joints (..., n) are at a limit and would leave it in that direction."""
        return np.asarray(((q <= self.lower) & (direction < 0)) | ((q >= self.upper) & (direction > 0)))


def search_bounds(robot: Robot, limits: bool) -> Bounds:
    """Return where inverse kinematics looks for solutions; without `limits`, everywhere."""
    free = np.full(robot.n, np.inf)
    lower, upper = position_limits(robot) if limits else (-free, free)
    return Bounds(lower, upper, *working_range(robot, limits=limits, one_turn=True))


@dataclass(frozen=True, eq=False)
class Problem:
    """Poses to reach.

    place:     q (k, n) to pose and Jacobian of the frame.
    R, p:      (k, 3, 3) and (k, 3), poses in the world.
    rows:      (6,) True for the rows of the error (linear, angular; world axes) that count.
    bounds:    where to look for solutions.
    tolerance: largest error, m and rad.
    """

    place: Callable[[Array], Place]
    R: Array
    p: Array
    rows: Array
    bounds: Bounds
    tolerance: float

    def chosen(self, index: Array) -> Problem:
        """Return the problem of some of the poses."""
        return Problem(self.place, self.R[index], self.p[index], self.rows, self.bounds, self.tolerance)

    def error(self, q: Array) -> tuple[Array, Array]:
        """Return the error (k, rows), m and rad, and the Jacobian (k, rows, n) that maps joint steps to it."""
        here = self.place(q)
        e = np.concatenate(
            [self.p - here.p, rotation_vector(self.R @ np.swapaxes(here.R, -1, -2))]
            if self.rows[3:].any()
            else [self.p - here.p, np.zeros_like(self.p)],
            axis=-1,
        )
        return e[..., self.rows], here.J[..., self.rows, :]

    def residual(self, q: Array) -> Array:
        """Return the largest component of the error (k,), m or rad."""
        largest: Array = np.abs(self.error(q)[0]).max(axis=-1)
        return largest


class Outcome(NamedTuple):
    """q (k, n), residual (k,), iterations (k,), reached (k,)."""

    q: Array
    residual: Array
    iterations: Array
    reached: Array


def levenberg_marquardt(problem: Problem, q: Array, most: int) -> Outcome:
    """Improve every q until its pose is reached: dq = (J^T J + |e|^2 1)^-1 J^T e, joints at a limit held.

    The damping falls with the error, so convergence is quadratic where the pose can be reached (Chan & Lawrence 1988).
    """
    q = np.clip(q, problem.bounds.lower, problem.bounds.upper)
    count, n = q.shape
    residual, iterations = np.full(count, np.inf), np.zeros(count, dtype=int)
    live = np.arange(count)
    for _ in range(most + 1):
        part = problem.chosen(live)
        e, J = part.error(q[live])
        residual[live] = np.abs(e).max(axis=-1)
        going = residual[live] > problem.tolerance
        live, e, J = live[going], e[going], J[going]
        if live.size == 0:
            break
        iterations[live] += 1
        gradient = np.einsum("kij,ki->kj", J, e)
        held = ((q[live] <= problem.bounds.lower) & (gradient < 0)) | (
            (q[live] >= problem.bounds.upper) & (gradient > 0)
        )
        J = np.where(held[:, None, :], 0.0, J)
        damping = np.minimum((e * e).sum(axis=-1), 1.0) + 1e-14
        normal = np.swapaxes(J, -1, -2) @ J + damping[:, None, None] * np.eye(n)
        step = np.linalg.solve(normal, np.where(held, 0.0, gradient)[..., None])[..., 0]
        longest = np.abs(step).max(axis=-1, keepdims=True)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        q[live] = np.clip(q[live] + step, problem.bounds.lower, problem.bounds.upper)
    return Outcome(q, residual, iterations, residual <= problem.tolerance)


def many_starts(problem: Problem, first: Array, starts: int, most: int, seed: int) -> Outcome:
    """From `first` (k, n); where that fails, from random positions, more and more of them, up to `starts` in all."""
    best = levenberg_marquardt(problem, first.copy(), most)
    random = np.random.default_rng(seed)
    used, batch = 1, 4
    while used < starts and not best.reached.all():
        batch = min(batch, starts - used)
        left = np.flatnonzero(~best.reached)
        shape = (len(left), batch, first.shape[1])
        q = random.uniform(problem.bounds.start_lower, problem.bounds.start_upper, shape).reshape(-1, first.shape[1])
        tried = levenberg_marquardt(problem.chosen(np.repeat(left, batch)), q, most)
        residual = tried.residual.reshape(-1, batch)
        distance = np.abs(tried.q.reshape(shape) - first[left][:, None, :]).max(axis=-1)
        reached = tried.reached.reshape(-1, batch)
        # Among those that reach the pose, the one nearest to where we started; else the least residual.
        nearest = np.where(reached, distance, np.inf).argmin(axis=1)
        pick = np.where(reached.any(axis=1), nearest, residual.argmin(axis=1))
        flat = np.arange(len(left)) * batch + pick
        best.iterations[left] += tried.iterations.reshape(-1, batch).sum(axis=1)
        better = tried.reached[flat] | (tried.residual[flat] < best.residual[left])
        for field in ("q", "residual", "reached"):
            getattr(best, field)[left[better]] = getattr(tried, field)[flat[better]]
        used, batch = used + batch, 2 * batch
    return best


def pseudo_inverse(J: Array) -> Array:
    """Return J^+ (..., n, rows) without the directions that are lost."""
    inverse: Array = np.linalg.pinv(J, rcond=SINGULAR_RATIO)
    return inverse


def descend(problem: Problem, outcome: Outcome, cost: Cost, most: int = 200) -> Outcome:
    """Lower a cost by motions that leave the pose alone (projected gradient), where the arm is redundant."""
    q = outcome.q.copy()
    value = np.where(outcome.reached, cost(q), -np.inf)
    length = np.full(len(q), 0.2)
    iterations = outcome.iterations.copy()
    for _ in range(most):
        live = np.flatnonzero(outcome.reached & (length > 1e-6))
        if live.size == 0:
            break
        part = problem.chosen(live)
        _, J = part.error(q[live])
        slope = _gradient(cost, q[live])
        fixed = problem.bounds.hold(q[live], -slope)
        J, slope = np.where(fixed[:, None, :], 0.0, J), np.where(fixed, 0.0, slope)
        direction = -(slope - np.einsum("kij,kj->ki", pseudo_inverse(J) @ J, slope))
        size = np.linalg.norm(direction, axis=-1)
        length[live[size < 1e-7]] = 0.0
        step = direction * (np.minimum(length[live], size) / np.maximum(size, 1e-300))[:, None]
        tried = levenberg_marquardt(part, q[live] + step, 8)
        new = np.where(tried.reached, cost(tried.q), np.inf)
        better = new < value[live]
        iterations[live] += 1
        q[live[better]], value[live[better]] = tried.q[better], new[better]
        length[live] *= np.where(better, 1.5, 0.4)
    return Outcome(q, np.where(outcome.reached, problem.residual(q), outcome.residual), iterations, outcome.reached)


def _gradient(cost: Cost, q: Array, h: float = 1e-6) -> Array:
    steps = h * np.eye(q.shape[1])
    slope: Array = (cost(q[:, None, :] + steps) - cost(q[:, None, :] - steps)) / (2 * h)
    return slope


def problem_of(robot: Robot, R: Array, p: Array, rows: Array, frame: str, limits: bool, tolerance: float) -> Problem:
    """Return the problem of putting a frame of a robot at poses R (k, 3, 3), p (k, 3)."""
    return Problem(placer(robot, frame), R, p, rows, search_bounds(robot, limits), tolerance)
