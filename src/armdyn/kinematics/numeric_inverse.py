"""Inverse kinematics by iteration: damped steps in machine code on batches, within joint limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from armdyn.kinematics.inverse_kernels import error_kernel, placed_step_kernel, step_kernel
from armdyn.kinematics.task_rows import SINGULAR_RATIO
from armdyn.robot.limits import position_limits, working_range
from armdyn.robot.robot import Robot
from armdyn.typing import Array

STEPS_BEFORE_RESTART = 16
"""Steps from one start: those that have not arrived by then seldom do, and another start is cheaper."""
STARTS_AT_ONCE = 16
"""Random starts that are tried together: they share the lanes of a processor."""
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


@lru_cache(maxsize=64)
def search_bounds(robot: Robot, limits: bool) -> Bounds:
    """Return where inverse kinematics looks for solutions; without `limits`, everywhere."""
    free = np.full(robot.n, np.inf)
    lower, upper = position_limits(robot) if limits else (-free, free)
    return Bounds(lower, upper, *working_range(robot, limits=limits, one_turn=True))


@dataclass(frozen=True, eq=False)
class Problem:
    """Poses to reach.

    robot, frame: what is to be put where.
    T:            (k, 4, 4) poses in the world.
    rows:         indices of the rows of the error (linear, angular; world axes) that count.
    limits:       keep within the joint limits.
    tolerance:    largest error, m and rad.
    """

    robot: Robot
    frame: str
    T: Array
    rows: tuple[int, ...]
    limits: bool
    tolerance: float

    @property
    def bounds(self) -> Bounds:
        """Where to look for solutions."""
        return search_bounds(self.robot, self.limits)

    @property
    def step(self) -> Callable[[Array, Array], tuple[Array, Array]]:
        """(q, T) -> (next q, residual of q)."""
        return step_of(self.robot, self.frame, self.rows, self.limits)

    def chosen(self, index: Array) -> Problem:
        """Return the problem of some of the poses."""
        return replace(self, T=self.T[index])

    def error(self, q: Array) -> tuple[Array, Array]:
        """Return the error (k, rows), m and rad, and the Jacobian (k, rows, n) that maps joint steps to it."""
        e, J = error_kernel(self.robot, self.frame, self.rows)(q, self.T)
        return e, J

    def residual(self, q: Array) -> Array:
        """Return the largest component of the error (k,), m or rad."""
        return np.asarray(self.step(q, self.T)[1])


@lru_cache(maxsize=64)
def step_of(
    robot: Robot, frame: str, rows: tuple[int, ...], limits: bool
) -> Callable[[Array, Array], tuple[Array, Array]]:
    """Return (q, T) -> (next q, residual of q); robots with loops are placed by their compiled dynamics."""
    if not robot.constrained:
        return step_kernel(robot, frame, rows, limits).call
    from armdyn.dynamics import compile as compiled  # open chains need none of it, and start faster

    dyn, step = compiled(robot), placed_step_kernel(robot, rows, limits).call
    return lambda q, T: step(q, dyn.pose(q, frame=frame), dyn.jacobian(q, frame=frame), T)


class Outcome(NamedTuple):
    """q (k, n), residual (k,), iterations (k,), reached (k,)."""

    q: Array
    residual: Array
    iterations: Array
    reached: Array


def levenberg_marquardt(problem: Problem, q: Array, most: int) -> Outcome:
    """Improve every q (k, n) until its pose is reached, by at most so many steps."""
    step, T = problem.step, problem.T
    q = np.clip(q, problem.bounds.lower, problem.bounds.upper)
    count = len(q)
    residual, iterations = np.empty(count), np.zeros(count, dtype=int)
    live, at = np.arange(count), q
    for k in range(most + 1):
        following, off = step(at, T)
        going = off > problem.tolerance
        if k == most or not going.any():
            q[live], residual[live], iterations[live] = at, off, k
            break
        if not going.all():
            done = ~going
            index = live[done]
            q[index], residual[index], iterations[index] = at[done], off[done], k
            live, following, T = live[going], following[going], T[going]
        at = following
    return Outcome(q, residual, iterations, residual <= problem.tolerance)


def one_solution(
    robot: Robot, frame: str, limits: bool, T: Array, q: Array, tolerance: float, seed: int, rounds: int
) -> tuple[Array | None, int]:
    """Return joint positions for one pose, or None, and the number of steps: the same steps with as little as possible
    around them.

    From q; then from random starts, as many at once as share a processor's lanes, in so many rounds.
    """
    step = step_of(robot, frame, tuple(range(6)), limits)
    bounds = search_bounds(robot, limits)
    at = np.minimum(np.maximum(q, bounds.lower), bounds.upper)
    for k in range(STEPS_BEFORE_RESTART + 1):
        following, off = step(at, T)
        if off <= tolerance:
            return at, k
        at = following
    for table in random_starts(robot, limits, seed)[:rounds]:
        at = table
        for k in range(STEPS_BEFORE_RESTART + 1):
            following, off = step(at, T)
            if off.min() <= tolerance:
                reached = at[off <= tolerance]
                return reached[np.abs(reached - q).max(axis=1).argmin()], STEPS_BEFORE_RESTART + k * STARTS_AT_ONCE
            at = following
    return None, STEPS_BEFORE_RESTART * (1 + rounds * STARTS_AT_ONCE)


@lru_cache(maxsize=64)
def random_starts(robot: Robot, limits: bool, seed: int) -> Array:
    """Return random positions in the ranges of the joints, (rounds, STARTS_AT_ONCE, n)."""
    bounds, shape = search_bounds(robot, limits), (8, STARTS_AT_ONCE, robot.n)
    return np.random.default_rng(seed).uniform(bounds.start_lower, bounds.start_upper, shape)


def many_starts(problem: Problem, first: Array, starts: int, seed: int) -> Outcome:
    """From `first` (k, n); where that fails, from random positions, up to `starts` in all."""
    best = levenberg_marquardt(problem, first, STEPS_BEFORE_RESTART if starts > 1 else 4 * STEPS_BEFORE_RESTART)
    random, bounds, used = np.random.default_rng(seed), problem.bounds, 1
    while used < starts and not best.reached.all():
        count = min(STARTS_AT_ONCE, starts - used)
        left = np.flatnonzero(~best.reached)
        shape = (len(left), count, first.shape[1])
        q = random.uniform(bounds.start_lower, bounds.start_upper, shape).reshape(-1, first.shape[1])
        tried = levenberg_marquardt(problem.chosen(np.repeat(left, count)), q, STEPS_BEFORE_RESTART)
        residual, reached = tried.residual.reshape(-1, count), tried.reached.reshape(-1, count)
        distance = np.abs(tried.q.reshape(shape) - first[left][:, None, :]).max(axis=-1)
        # Among those that reach the pose, the one nearest to where we started; else the least residual.
        nearest = np.where(reached, distance, np.inf).argmin(axis=1)
        flat = np.arange(len(left)) * count + np.where(reached.any(axis=1), nearest, residual.argmin(axis=1))
        best.iterations[left] += tried.iterations.reshape(-1, count).sum(axis=1)
        better = tried.reached[flat] | (tried.residual[flat] < best.residual[left])
        for field in ("q", "residual", "reached"):
            getattr(best, field)[left[better]] = getattr(tried, field)[flat[better]]
        used += count
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
