"""Inverse kinematics: joint positions that put a frame of the robot where it is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, NotApplicable, ShapeError, unknown_name
from armdyn.kinematics.analytic_inverse import ClosedForm, closed_form
from armdyn.kinematics.compiled_frame import placer
from armdyn.kinematics.numeric_inverse import (
    Bounds,
    Cost,
    Outcome,
    Problem,
    descend,
    levenberg_marquardt,
    many_starts,
    problem_of,
    search_bounds,
)
from armdyn.kinematics.rotations import checked_pose
from armdyn.kinematics.task_rows import row_mask
from armdyn.robot.features import FRICTIONLESS, takes
from armdyn.robot.limits import joint_vector
from armdyn.robot.robot import Robot
from armdyn.typing import Array

EDGE = 1e-9
"""How far beyond a limit a closed form may lie: rounding."""
METHODS = ("auto", "closed", "numeric")
SECONDARY = ("middle", "near", "manipulability")
MOST_ITERATIONS = 60
NEARLY = 1e-4
"""Error, m or rad, up to which a formula's result is improved: double roots are exact to 1e-8 of the arm's turn, while
a wrong rotation of an arm that cannot choose it is off by far more."""


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


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """Joint positions for poses: one for a single pose, arrays for a batch.

    q:          (..., n), rad or m: the best found, reached or not.
    status:     SolutionStatus, or an array of them.
    residual:   largest component of the error, m or rad.
    iterations: over all starts (0: closed form alone).
    method:     "closed" or "numeric".
    """

    q: Array
    status: Any
    residual: Any
    iterations: Any
    method: str

    @property
    def reached(self) -> Any:
        """True where the pose is reached."""
        return (
            self.status is SolutionStatus.REACHED
            if isinstance(self.status, SolutionStatus)
            else self.status == SolutionStatus.REACHED
        )


@takes("elastic", *FRICTIONLESS)
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
    throw: bool = True,
) -> InverseKinematics:
    """Return joint positions that put a frame at a pose.

    robot:     the robot, or its compiled dynamics.
    pose:      (..., 4, 4) in the world, or (..., 3) for a position with any rotation, m.
    q0:        (n,) or (..., n), where to start; the nearest solution is preferred (default: middle of the ranges).
    method:    "closed" (arms with parallel axes, a spherical wrist, or of the UR kind: see `closed_form`), "numeric"
               (any arm), "auto" (closed where there is a closed form).
    frame:     name of a body or joint, or "tool".
    rows:      those of x y z rx ry rz (world axes) that count, for instance "x y" (default: all that the pose gives).
    limits:    keep within the joint limits.
    starts:    most positions to start from.
    seed:      of the random starts.
    tolerance: largest error, m and rad.
    secondary: what a redundant arm minimises besides: "middle" (distance from the middle of the ranges), "near"
               (distance from q0), "manipulability" (its negative), or a function of q (..., n).
    throw:     raise Unreachable if a pose is not reached; else see `status` of the result.
    Raises:    Unreachable, NotApplicable (no closed form), ShapeError.
    """
    if method not in METHODS:
        raise unknown_name("method", method, METHODS)
    robot = robot.robot if isinstance(robot, Dynamics) else robot
    R, p, batch = _targets(pose)
    chosen = row_mask(rows, R is not None)
    near = _start(robot, q0, batch, limits)
    arm = closed_form(robot, frame)
    usable = arm is not None and _applies(arm, R is not None, rows)
    if method == "closed" and not usable:
        raise _no_closed_form(robot, arm)
    turns = np.broadcast_to(np.eye(3), (len(p), 3, 3)) if R is None else R
    problem = problem_of(robot, turns, p, chosen, frame, limits, tolerance)
    if usable and method != "numeric" and secondary is None:
        assert arm is not None
        outcome, beyond = _by_formula(arm, robot, problem, R, near)
        how = "closed"
    else:
        outcome = many_starts(problem, near, max(starts, 1), MOST_ITERATIONS, seed)
        beyond = np.zeros(len(p), dtype=bool)
        failed = np.flatnonzero(~outcome.reached)
        if limits and failed.size:
            freed = problem_of(robot, turns[failed], p[failed], chosen, frame, False, tolerance)
            beyond[failed] = many_starts(freed, near[failed], min(starts, 8), MOST_ITERATIONS, seed).reached
        if secondary is not None:
            outcome = descend(problem, outcome, _cost(secondary, robot, problem.bounds, near, frame))
        how = "numeric"
    result = _result(outcome, beyond, batch, how)
    if throw:
        _raise_if_missed(robot, result)
    return result


@takes("elastic", *FRICTIONLESS)
def all_solutions(robot: Robot, pose: Any, *, frame: str = "tool", q0: Any = None, limits: bool = True) -> Array:
    """Return every joint position of one pose in closed form: (k, n), k possibly 0, the one nearest to q0 first.

    Angles are those within limits nearest to q0; whole turns are not listed. Where a joint is free (a singular
    position, or more prismatic joints than needed) it stays at q0.
    Raises:  NotApplicable for an arm without closed form here: see `closed_form`.
    """
    R, p, batch = _targets(pose)
    if batch != ():
        raise ShapeError(f"poses of shape {batch}", expected="a single pose")
    arm = closed_form(robot, frame)
    if arm is None or not _applies(arm, R is not None, None):
        raise _no_closed_form(robot, arm)
    near = _start(robot, q0, (), limits)[0]
    turns = np.eye(3)[None] if R is None else R
    problem = problem_of(robot, turns, p, row_mask(None, R is not None), frame, False, 1e-10)
    _, found = _polished(arm, problem, R, near[None])
    fitted, inside = _within(found, search_bounds(robot, limits), near, robot)
    kept: list[Array] = []
    for q in sorted(fitted[inside], key=lambda q: float(np.abs(q - near).sum())):
        if all(np.abs((q - other + np.pi) % (2 * np.pi) - np.pi).max() > 1e-6 for other in kept):
            kept.append(q)
    return np.array(kept).reshape(-1, robot.n)


# The pieces ---------------------------------------------------------------------------------------------------------


def _targets(pose: Any) -> tuple[Array | None, Array, tuple[int, ...]]:
    """(R, p, shape of the batch): rotations (k, 3, 3) or None, positions (k, 3)."""
    target = np.asarray(pose, dtype=float)
    if target.ndim >= 2 and target.shape[-2:] == (4, 4):
        T = checked_pose("pose", target).reshape(-1, 4, 4)
        return T[:, :3, :3], T[:, :3, 3], target.shape[:-2]
    if target.ndim >= 1 and target.shape[-1] == 3 and np.isfinite(target).all():
        return None, target.reshape(-1, 3), target.shape[:-1]
    raise ShapeError(f"pose of shape {target.shape}", expected="(..., 4, 4), or (..., 3) for a position; finite")


def _start(robot: Robot, q0: Any, batch: tuple[int, ...], limits: bool) -> Array:
    """Where to start: (k, n)."""
    count = int(np.prod(batch, dtype=int))
    if q0 is None:
        return np.tile(search_bounds(robot, limits).middle, (count, 1))
    given = np.asarray(q0, dtype=float)
    if given.ndim == 1:
        return np.tile(joint_vector("q0", given, robot.n), (count, 1))
    if given.shape != (*batch, robot.n) or not np.isfinite(given).all():
        raise ShapeError(f"q0 of shape {given.shape}", expected=f"({robot.n},) or {(*batch, robot.n)}")
    return given.reshape(-1, robot.n).copy()


def _applies(arm: ClosedForm, rotation: bool, rows: str | None) -> bool:
    return rows is None and (rotation or not arm.needs_rotation)


def _no_closed_form(robot: Robot, arm: ClosedForm | None) -> NotApplicable:
    if arm is not None:
        return NotApplicable(
            "a closed form for a part of the pose", where=f"robot {robot.name!r}", advice="Use method='numeric'."
        )
    return NotApplicable(
        "no closed form of the inverse kinematics",
        where=f"robot {robot.name!r}",
        expected="axes all parallel (two or three revolute), or six revolute joints with the last three axes through "
        "one point, or with axes 2, 3, 4 parallel and the last two through one point",
        advice="Use method='numeric'.",
    )


def _polished(arm: ClosedForm, problem: Problem, R: Array | None, near: Array) -> tuple[Array, Array]:
    """(index of the pose, q) of all solutions of all poses, improved to rounding.

    Those that the formula only nearly gives are dropped; a double solution may come twice.
    """
    index: list[int] = []
    found: list[Array] = []
    for k, (p, start) in enumerate(zip(problem.p, near, strict=True)):
        for q in arm.solutions(None if R is None else R[k], p, start):
            index.append(k)
            found.append(q)
    if not found:
        return np.empty(0, dtype=int), np.empty((0, near.shape[1]))
    which, q = np.array(index), np.array(found)
    close = problem.chosen(which).residual(q) < NEARLY
    which, q = which[close], q[close]
    exact = levenberg_marquardt(problem.chosen(which), q, 12)
    return which[exact.reached], exact.q[exact.reached]


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


def _by_formula(arm: ClosedForm, robot: Robot, problem: Problem, R: Array | None, near: Array) -> tuple[Outcome, Array]:
    """For every pose the solution within limits that is nearest to `near`; and whether there is one only beyond."""
    count = len(problem.p)
    unlimited = Problem(
        problem.place, problem.R, problem.p, problem.rows, search_bounds(robot, False), problem.tolerance
    )
    index, found = _polished(arm, unlimited, R, near)
    fitted, inside = _within(found, problem.bounds, near[index], robot)
    order = np.lexsort((np.abs(fitted - near[index]).sum(axis=-1), ~inside, index))  # by pose: inside first, then near
    poses, first = np.unique(index[order], return_index=True)
    chosen = order[first]
    q, reached, beyond = near.copy(), np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    q[poses] = np.where(inside[chosen, None], fitted[chosen], found[chosen])
    reached[poses], beyond[poses] = inside[chosen], ~inside[chosen]
    return Outcome(q, problem.residual(q), np.zeros(count, dtype=int), reached), beyond


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


def _result(outcome: Outcome, beyond: Array, batch: tuple[int, ...], how: str) -> InverseKinematics:
    status = np.full(len(outcome.q), SolutionStatus.NOT_REACHED, dtype=object)
    status[beyond] = SolutionStatus.OUT_OF_LIMITS
    status[outcome.reached] = SolutionStatus.REACHED
    if batch == ():
        return InverseKinematics(outcome.q[0], status[0], float(outcome.residual[0]), int(outcome.iterations[0]), how)
    n = outcome.q.shape[1]
    return InverseKinematics(
        outcome.q.reshape(*batch, n),
        status.reshape(batch),
        outcome.residual.reshape(batch),
        outcome.iterations.reshape(batch),
        how,
    )


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
