"""Inverse kinematics: joint positions that put a frame of the robot where it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, NotApplicable, ShapeError, unknown_name
from armdyn.kinematics.closed_form import ClosedForm, closed_form, no_closed_form
from armdyn.kinematics.compiled_frame import placer
from armdyn.kinematics.inverse_graphs import EDGE
from armdyn.kinematics.inverse_kernels import all_kernel, nearest_kernel, pose_check
from armdyn.kinematics.numeric_inverse import (
    Bounds,
    Cost,
    Outcome,
    Problem,
    descend,
    levenberg_marquardt,
    many_starts,
    one_solution,
    search_bounds,
)
from armdyn.kinematics.rotations import EXACTLY_ORTHOGONAL, checked_pose, unorthogonality
from armdyn.kinematics.task_rows import row_indices, row_mask
from armdyn.robot.features import CLOSED, FRICTIONLESS, takes
from armdyn.robot.limits import joint_vector
from armdyn.robot.robot import Robot
from armdyn.typing import Array

METHODS = ("auto", "closed", "numeric")
SECONDARY = ("middle", "near", "manipulability")
POLISHING_STEPS = 12
"""For results of closed forms of arms that are nearly of their family: three suffice but at double solutions."""
SWEPT = (32, 512)
"""Values of the known joint of an arm with seven joints at which its closed form is evaluated: first, and where none of
these gives a solution within limits. With 64 values alone, 2 of 1,000 reachable poses of Panda were missed."""


class Unreachable(ArmdynError):
    """A pose, or a path of poses, that the robot cannot reach."""


class SolutionStatus(Enum):
    """How the inverse kinematics ended."""

    REACHED = "The pose is reached."
    OUT_OF_LIMITS = (
        "The pose is reached only beyond the joint limits. Move the pose, or pass limits=False to see where the joints "
        "would have to go."
    )
    NOT_REACHED = (
        "No joint position was found that reaches the pose. Check that it lies in the workspace (and that an arm with "
        "fewer than six joints can take the orientation: give a position, or `rows`); else try more starts."
    )


_STATUS = np.array([SolutionStatus.REACHED, SolutionStatus.OUT_OF_LIMITS, SolutionStatus.NOT_REACHED], dtype=object)
_REACHED = SolutionStatus.REACHED


class InverseKinematics(NamedTuple):
    """Joint positions for poses: one for a single pose, arrays for a batch.

    q:          (..., n), rad or m: the best found, reached or not.
    status:     SolutionStatus, or an array of them.
    iterations: over all starts (0: closed form alone).
    method:     "closed" or "numeric".
    rounding:   how far the given rotations were from rotations, largest entry of |R^T R - 1|; they were made ones.
    asked:      robot, frame, poses (..., 4, 4) and rows that were asked for.
    """

    q: Array
    status: Any
    iterations: Any
    method: str
    rounding: float
    asked: tuple[Robot, str, Array, tuple[int, ...]]

    @property
    def reached(self) -> Any:
        """True where the pose is reached."""
        return (
            self.status is SolutionStatus.REACHED
            if isinstance(self.status, SolutionStatus)
            else self.status == SolutionStatus.REACHED
        )

    @property
    def residual(self) -> Any:
        """Largest component of the error, m or rad, by forward kinematics."""
        robot, frame, T, rows = self.asked
        found = Problem(robot, frame, T.reshape(-1, 4, 4), rows, False, 0.0).residual(self.q.reshape(-1, robot.n))
        return float(found[0]) if T.ndim == 2 else found.reshape(T.shape[:-2])


WHOLE = tuple(range(6))


@takes("elastic", *CLOSED, *FRICTIONLESS)
def inverse_kinematics(
    robot: Robot | Dynamics,
    pose: Any,
    q0: Any = None,
    *,
    method: Literal["auto", "closed", "numeric"] = "auto",
    frame: str = "tool",
    rows: str | None = None,
    limits: bool = True,
    starts: int = 100,
    seed: int = 0,
    tolerance: float = 1e-10,
    secondary: str | Callable[[Array], Array] | None = None,
    continuous: bool = False,
    throw: bool = True,
) -> InverseKinematics:
    """Return joint positions that put a frame at a pose.

    robot:      the robot, or its compiled dynamics.
    pose:       (..., 4, 4) in the world, or (..., 3) for a position with any rotation, m. Rotations that were printed
                with four or more decimals are made orthogonal; `rounding` of the result says how far they were off.
    q0:         (n,) or (..., n), where to start; the nearest solution is preferred (default: middle of the ranges).
    method:     "closed" (arms with a closed form: see `closed_form`), "numeric" (any arm), "auto" (closed where there
                is a closed form; arms with seven joints by iteration, and by their closed form where that fails).
    frame:      name of a body or joint, or "tool".
    rows:       those of x y z rx ry rz (world axes) that count, for instance "x y" (default: all that the pose gives).
    limits:     keep within the joint limits.
    starts:     most positions to start from.
    seed:       of the random starts.
    tolerance:  largest error, m and rad.
    secondary:  what a redundant arm minimises besides: "middle" (distance from the middle of the ranges), "near"
                (distance from q0), "manipulability" (its negative), or a function of q (..., n).
    continuous: the poses (k, 4, 4) are a path: each solution is the one nearest to the one before.
    throw:      raise Unreachable if a pose is not reached; else see `status` of the result.
    Raises:     Unreachable, NotApplicable (no closed form), ShapeError.
    """
    robot = robot.robot if isinstance(robot, Dynamics) else robot
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    if rows is None and secondary is None and type(pose) is np.ndarray and pose.shape[-2:] == (4, 4) and not continuous:
        solved = _plain_call(robot, pose, q0, method, frame, limits, tolerance, seed, throw)
        if solved is not None:
            return solved
    T, batch, rotation, rounding = _targets(pose)
    chosen = row_indices(row_mask(rows, rotation))
    near = _start(robot, q0, batch, limits)
    if continuous:
        return _along(robot, T, near, batch, method, frame, rows, limits, starts, seed, tolerance, throw)
    form = closed_form(robot, frame, rotation) if rows is None else None
    if method == "closed" and form is None:
        raise no_closed_form(robot, frame)
    problem = Problem(robot, frame, T, chosen, limits, tolerance)
    alone = method == "closed" or (method == "auto" and form is not None and form.known is None)
    if form is not None and alone and secondary is None:
        how = "closed"
        outcome, status = _by_formula(form, problem, near)
        missed = np.flatnonzero(status == 2)
        if missed.size and method == "auto" and not form.exact:
            _merge(outcome, status, missed, *_by_iteration(problem.chosen(missed), near[missed], starts, seed))
    else:
        how = "numeric"
        outcome, status = _by_iteration(problem, near, starts, seed, form if method == "auto" else None)
        if secondary is not None:
            outcome = descend(problem, outcome, _cost(secondary, robot, problem.bounds, near, frame))
    n = robot.n
    asked = robot, frame, T.reshape(*batch, 4, 4), chosen
    if batch == ():
        result = InverseKinematics(outcome.q[0], _STATUS[status[0]], int(outcome.iterations[0]), how, rounding, asked)
    else:
        iterations = outcome.iterations.reshape(batch)
        result = InverseKinematics(
            outcome.q.reshape(*batch, n), _STATUS[status].reshape(batch), iterations, how, rounding, asked
        )
    if throw:
        _raise_if_missed(robot, result)
    return result


def _plain_call(
    robot: Robot,
    pose: Array,
    q0: Any,
    method: str,
    frame: str,
    limits: bool,
    tolerance: float,
    seed: int,
    throw: bool,
) -> InverseKinematics | None:
    """What needs no preparation, in microseconds; None for whatever is not plain, not a pose or not reached."""
    try:
        start = _middle(robot, limits) if q0 is None else np.asarray(q0, dtype=float)
        if start.shape[-1:] != (robot.n,):
            return None
        solve = _exact_kernel(robot, frame, limits) if method != "numeric" else None
        if solve is not None:
            q, found = solve(pose, start)
            if pose.ndim == 2 and start.ndim == 1:
                status, off = found.tolist()
                if status == 0.0 and off < EXACTLY_ORTHOGONAL:
                    return InverseKinematics(q, _REACHED, 0, "closed", off, (robot, frame, pose, WHOLE))
                return None
            states, off = found[..., 0], float(found[..., 1].max(initial=0.0))
            if not off < EXACTLY_ORTHOGONAL or pose.ndim == 2 or (throw and states.any()):
                return None
            none = np.zeros(states.shape, dtype=int)
            return InverseKinematics(q, _STATUS[states.astype(int)], none, "closed", off, (robot, frame, pose, WHOLE))
        off = float(pose_check()(pose)[0]) if pose.ndim == 2 and start.ndim == 1 else 1.0
    except (ArmdynError, TypeError, ValueError):
        return None  # what is wrong is told by the way that checks everything
    if not off < EXACTLY_ORTHOGONAL or not np.isfinite(start).all():
        return None
    sweep = _sweep(robot, frame, limits) if method != "numeric" else None
    steps = 0
    if method != "closed":
        best, steps = one_solution(robot, frame, limits, pose, start, tolerance, seed, rounds=0 if sweep else 4)
        if best is not None:
            return InverseKinematics(best, _REACHED, steps, "numeric", off, (robot, frame, pose, WHOLE))
    if sweep is not None:
        q, found = sweep(pose, start)
        k = found[:, 2].argmin()
        if found[k, 0] == 0.0:
            return InverseKinematics(q[k], _REACHED, steps, "closed", off, (robot, frame, pose, WHOLE))
    return None


@lru_cache(maxsize=64)
def _exact_kernel(robot: Robot, frame: str, limits: bool) -> Callable[..., Any] | None:
    """(T, q0) -> (q, found) of an arm whose closed form is exact and gives all joints."""
    form = closed_form(robot, frame)
    exact = form is not None and form.exact and form.known is None
    return nearest_kernel(robot, frame, True, limits).call if exact else None


@lru_cache(maxsize=64)
def _sweep(robot: Robot, frame: str, limits: bool) -> Callable[..., Any] | None:
    """(T, q0) -> (q, found) for all values of the known joint of an arm with seven, whose closed form is exact."""
    form = closed_form(robot, frame)
    if form is None or not form.exact or form.known is None:
        return None
    kernel, (few, many) = nearest_kernel(robot, frame, True, limits), swept_values(robot, limits, form.known)

    def sweep(T: Array, q0: Array) -> Any:
        q, found = kernel(T, q0, few)
        return (q, found) if not found[:, 0].all() else kernel(T, q0, many)

    return sweep


def swept_values(robot: Robot, limits: bool, known: int) -> list[Array]:
    """Values of the known joint spread over its range, (count, 1) for each count of SWEPT."""
    bounds = search_bounds(robot, limits)
    return [np.linspace(bounds.start_lower[known], bounds.start_upper[known], count)[:, None] for count in SWEPT]


@lru_cache(maxsize=64)
def _middle(robot: Robot, limits: bool) -> Array:
    middle: Array = search_bounds(robot, limits).middle
    return middle


@takes("elastic", *FRICTIONLESS)
def all_solutions(robot: Robot, pose: Any, *, frame: str = "tool", q0: Any = None, limits: bool = True) -> Array:
    """Return every joint position of one pose in closed form: (k, n), k possibly 0, the one nearest to q0 first.

    Angles are those within limits nearest to q0; whole turns are not listed. Where a joint is free (a singular
    position, more prismatic joints than needed, the known joint of an arm with seven) it stays at q0.
    Raises:  NotApplicable for an arm without closed form here: see `closed_form`.
    """
    T, batch, rotation, _ = _targets(pose)
    if batch != ():
        raise ShapeError(f"poses of shape {batch}", expected="a single pose")
    form = closed_form(robot, frame, rotation)
    if form is None:
        raise no_closed_form(robot, frame)
    near = _start(robot, q0, (), limits)[0]
    q, exists = all_kernel(robot, frame, rotation)(T[0], near)
    found = q[exists > 0]
    if not form.exact and len(found):
        rows = WHOLE if rotation else WHOLE[:3]
        problem = Problem(robot, frame, np.broadcast_to(T, (len(found), 4, 4)), rows, False, 1e-10)
        polished = levenberg_marquardt(problem, found, POLISHING_STEPS)
        found = polished.q[polished.reached]
    fitted, inside = _within(found, search_bounds(robot, limits), near, robot)
    kept: list[Array] = []
    for q in sorted(fitted[inside], key=lambda q: float(np.abs(q - near).sum())):
        if all(np.abs((q - other + np.pi) % (2 * np.pi) - np.pi).max() > 1e-6 for other in kept):
            kept.append(q)
    return np.array(kept).reshape(-1, robot.n)


# The pieces ---------------------------------------------------------------------------------------------------------


def _targets(pose: Any) -> tuple[Array, tuple[int, ...], bool, float]:
    """Poses (k, 4, 4), the shape of the batch, whether there are rotations, and how far these were from rotations."""
    target = np.asarray(pose, dtype=float)
    if target.ndim >= 2 and target.shape[-2:] == (4, 4):
        T = checked_pose("pose", target).reshape(-1, 4, 4)
        return T, target.shape[:-2], True, unorthogonality(target[..., :3, :3])
    if target.ndim >= 1 and target.shape[-1] == 3 and np.isfinite(target).all():
        T = np.tile(np.eye(4), (target.size // 3, 1, 1))
        T[:, :3, 3] = target.reshape(-1, 3)
        return T, target.shape[:-1], False, 0.0
    raise ShapeError(f"pose of shape {target.shape}", expected="(..., 4, 4), or (..., 3) for a position; finite")


def _start(robot: Robot, q0: Any, batch: tuple[int, ...], limits: bool) -> Array:
    """Where to start: (k, n)."""
    count = int(np.prod(batch, dtype=int))
    if q0 is None:
        return np.tile(_middle(robot, limits), (count, 1))
    given = np.asarray(q0, dtype=float)
    if given.ndim == 1:
        return np.tile(joint_vector("q0", given, robot.n), (count, 1))
    if given.shape != (*batch, robot.n) or not np.isfinite(given).all():
        raise ShapeError(f"q0 of shape {given.shape}", expected=f"({robot.n},) or {(*batch, robot.n)}")
    return given.reshape(-1, robot.n).copy()


def _by_formula(form: ClosedForm, problem: Problem, near: Array) -> tuple[Outcome, Array]:
    """The solutions within limits that are nearest to `near`, and their status: 0 reached, 1 beyond limits, 2 none."""
    robot, T = problem.robot, problem.T
    kernel = nearest_kernel(robot, problem.frame, max(problem.rows) > 2, problem.limits)
    if form.known is None:
        q, found = kernel(T, near)
    else:
        q, found = _swept(kernel, form.known, problem, near)
    status = found[:, 0].astype(int)
    iterations = np.zeros(len(q), dtype=int)
    if not form.exact:
        polished = levenberg_marquardt(problem, q, POLISHING_STEPS)
        better = polished.reached & (status == 0)
        q[better], iterations[better] = polished.q[better], polished.iterations[better]
        status[(status == 0) & ~better] = 2
    return Outcome(q, np.zeros(len(q)), iterations, status == 0), status


def _swept(kernel: Any, known: int, problem: Problem, near: Array) -> tuple[Array, Array]:
    """The nearest of the solutions for values of the known joint that are spread over its range."""
    q, found = near.copy(), np.full((len(near), 3), np.inf)
    for values in swept_values(problem.robot, problem.limits, known):
        left = np.flatnonzero(found[:, 0])
        block = max(1, 2000 // len(values))
        for first in range(0, len(left), block):  # in blocks that stay in the cache
            part = left[first : first + block]
            every, results = kernel(problem.T[part, None], near[part, None], values)
            best = results[..., 2].argmin(axis=1)
            rows = np.arange(len(best))
            q[part], found[part] = every[rows, best], results[rows, best]
    return q, found


def _by_iteration(
    problem: Problem, near: Array, starts: int, seed: int, form: ClosedForm | None = None
) -> tuple[Outcome, Array]:
    """Damped steps from `near`, then by the closed form of an arm with seven joints, then from random starts."""
    first = 1 if form is not None else max(starts, 1)
    outcome = many_starts(problem, near, first, seed)
    status = np.where(outcome.reached, 0, 2)
    failed = np.flatnonzero(status)
    if form is not None and failed.size:
        _merge(outcome, status, failed, *_by_formula(form, problem.chosen(failed), near[failed]))
        failed = np.flatnonzero(status)
        if failed.size and starts > 1:
            random = many_starts(problem.chosen(failed), near[failed], starts, seed)
            _merge(outcome, status, failed, random, np.where(random.reached, 0, status[failed]))
    elif problem.limits and failed.size:
        freed = Problem(problem.robot, problem.frame, problem.T[failed], problem.rows, False, problem.tolerance)
        beyond = many_starts(freed, near[failed], min(starts, STARTS_BEYOND_LIMITS), seed).reached
        status[failed[beyond]] = 1
    return outcome, status


STARTS_BEYOND_LIMITS = 8
"""Starts with which is told whether a pose is reached beyond the limits: advice for the user, no result."""


def _merge(outcome: Outcome, status: Array, index: Array, other: Outcome, other_status: Array) -> None:
    """Put the outcome for some poses into that for all."""
    better = other_status < status[index]
    outcome.q[index[better]] = other.q[better]
    outcome.iterations[index] += other.iterations
    status[index[better]] = other_status[better]
    outcome.reached[index] = status[index] == 0


def _along(
    robot: Robot,
    T: Array,
    near: Array,
    batch: tuple[int, ...],
    method: Any,
    frame: str,
    rows: str | None,
    limits: bool,
    starts: int,
    seed: int,
    tolerance: float,
    throw: bool,
) -> InverseKinematics:
    """A path of poses, each from the solution of the one before."""
    if len(batch) != 1:
        raise ShapeError(f"poses of shape {batch}", expected="(k, 4, 4): a path")
    q, found = near[0], []
    options = {"method": method, "frame": frame, "rows": rows, "limits": limits, "tolerance": tolerance}
    for k, pose in enumerate(T):
        each = inverse_kinematics(robot, pose, q, starts=starts if k == 0 else 1, seed=seed, throw=throw, **options)
        found.append(each)
        q = each.q
    chosen = row_indices(row_mask(rows, True))
    return InverseKinematics(
        np.array([each.q for each in found]),
        np.array([each.status for each in found], dtype=object),
        np.array([each.iterations for each in found]),
        found[0].method,
        max(each.rounding for each in found),
        (robot, frame, T, chosen),
    )


def _within(q: Array, bounds: Bounds, near: Array, robot: Robot) -> tuple[Array, Array]:
    """(the same positions with every angle turned to within limits, as near as possible to `near`; where possible)."""
    revolute = np.array([link.revolute for link in robot.links])
    whole = 2 * np.pi * revolute
    base = q + whole * np.round((near - q) / (2 * np.pi))
    options = base + whole * np.arange(-2, 3)[:, None, None]
    allowed = (options >= bounds.lower - EDGE) & (options <= bounds.upper + EDGE)
    best = np.where(allowed, np.abs(options - near), np.inf).argmin(axis=0)
    fitted = np.take_along_axis(options, best[None], axis=0)[0]
    return np.clip(fitted, bounds.lower, bounds.upper), np.asarray(allowed.any(axis=0).all(axis=-1))


def _cost(secondary: str | Cost, robot: Robot, bounds: Bounds, near: Array, frame: str) -> Cost:
    if callable(secondary):
        return secondary
    if secondary == "middle":
        width = np.maximum(bounds.start_upper - bounds.start_lower, 1e-9)
        return lambda q: np.asarray((((q - bounds.middle) / width) ** 2).sum(axis=-1))
    if secondary == "near":
        if not (near == near[:1]).all():
            raise NotApplicable("secondary='near' with a start for each pose", expected="one q0 for all")
        return lambda q: np.asarray(((q - near[0]) ** 2).sum(axis=-1))
    if secondary == "manipulability":
        place = placer(robot, frame)
        return lambda q: -np.prod(np.linalg.svd(place(q).J, compute_uv=False), axis=-1)
    raise unknown_name("secondary task", secondary, SECONDARY)


def _raise_if_missed(robot: Robot, result: InverseKinematics) -> None:
    states = np.ravel(np.asarray(result.status, dtype=object))
    missed = np.flatnonzero(states != SolutionStatus.REACHED)
    if missed.size == 0:
        return
    first = int(missed[0])
    what = "the pose is not reached" if states.size == 1 else f"{missed.size} of {states.size} poses are not reached"
    text = states[first].value
    raise Unreachable(
        what + (f", the first at index {first}" if states.size > 1 else ""),
        where=f"robot {robot.name!r}",
        advice=text if states.size == 1 else text + " With throw=False every pose has its own status.",
    )
