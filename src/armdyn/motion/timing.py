"""The fastest timing of a path under limits of torque, velocity, acceleration and jerk, friction included."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, ShapeError
from armdyn.motion.grid_timing import timed_cells
from armdyn.motion.jerk_timing import fastest_spline, joined
from armdyn.motion.path import ByLength, as_path, corners, curvature_jumps
from armdyn.motion.path_grid import FEWEST, Cells, cells_of, reversals
from armdyn.motion.resistance import Reserve, none_reserved
from armdyn.motion.sampling import Infeasible, dynamics_of
from armdyn.motion.timed_path import JerkLimited, TimeOptimal, TimingStatus
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import LimitsGiven, MotionLimits, limits_of
from armdyn.robot.robot import Robot
from armdyn.trajectory.compose import polynomial_clock
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

POINTS = 400
FINER_GRIDS = 3
"""How often the number of cells is doubled if some of them exceed a limit between their ends by much."""
RESOLVED = 2.0
"""Number of full changes of acceleration in the mean time of a cell that a spline follows: faster ones are not used."""

Timing = tuple[Cells, Array, Array, TimingStatus, int, bool]
"""A part of a path on its grid, and what `timed_cells` found for it."""


@takes(*CLOSED, *TREE)
def time_optimal(
    path: Any,
    model: Robot | Dynamics,
    *,
    points: int = POINTS,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    limits: LimitsGiven = None,
) -> TimeOptimal:
    """Return the fastest timing of a path under torque, velocity, acceleration and jerk limits.

        tau = a(s) sdd + b(s) sd^2 + g(s) + friction(q'(s) sd),     a = M q',  b = M q'' + C(q, q') q'

    Args:
        path:        trajectory, whose own timing does not matter, or points (k, n) for a spline.
        model:       robot or its dynamics.
        points:      number of grid cells (default: 400); with limited jerk a spline has half as many intervals.
        start_speed: at the start, as a multiple of the path's own velocity there (default: 0, rest).
        end_speed:   at the end, likewise (default: 0, rest).
        limits:      of the joints, as in `feasibility` (default: the robot's).

    Method:  controllable sets backwards, largest acceleration forwards (`reachability`; Pham & Pham 2018). Limits hold
             at both ends of every cell. The robot stops at corners. Dry friction depends on the direction only;
             other friction, and what speed takes from the torques (Khalil sec. 8.5), is linearised in sd^2 about the
             last timing until both agree. With limited jerk another method is used (`jerk_timing`), from rest to rest;
             the robot then stops where the curvature of the path jumps as well.
    Raises:  Infeasible, with the place on the path and the joint, if no timing keeps the limits.

    >>> import armdyn
    >>> move = time_optimal([[0.0, 0.0], [1.0, 1.0]], armdyn.load("planar2r"), limits={"tau_max": [3000.0, 1000.0]})
    >>> move.status.name, bool(move.duration < 1.0)
    ('OPTIMAL', True)
    """
    dyn = dynamics_of(model)
    if points < 2:
        raise ArmdynError(f"points = {points}", expected="at least 2 cells")
    kept = limits_of(dyn.robot, limits, "time_optimal")
    return fastest_timing(dyn, path_of(path, dyn), kept, points, start_speed, end_speed)


def path_of(path: Any, dyn: Dynamics) -> Trajectory:
    """Return the path of a motion of the robot's joints, or a spline through points (k, n)."""
    curve = as_path(path)
    if curve.n != dyn.n:
        raise ShapeError(f"a path of {curve.n} joints", where=f"robot {dyn.robot.name!r}", expected=f"{dyn.n} joints")
    return curve


def fastest_timing(
    dyn: Dynamics,
    curve: Trajectory,
    limits: MotionLimits,
    points: int,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    reserve: Reserve = none_reserved,
) -> TimeOptimal:
    """Return the fastest timing of a path (`path_of`) within limits; see `time_optimal`.

    reserve: torques, (..., n), to stay away from the limits at path parameters (...).
    """
    smooth = bool(np.isfinite(limits.jerk).any())
    if smooth and (start_speed or end_speed):
        raise ArmdynError(
            "limited jerk with a speed at an end of the path",
            where="time_optimal",
            expected="motion from rest to rest",
            advice="Give j_max = np.inf.",
        )
    ends = [_speed_on(curve, which, x) for which, x in ((0, start_speed), (1, end_speed))]
    stops = corners(curve) / curve.duration
    timings: list[Timing] = []
    for finer in range(FINER_GRIDS + 1):
        found = []
        try:
            for first, last in pairwise(stops):
                cells = cells_of(dyn, curve, first, last, points << finer, reserve)
                start, end = ends[0] if first == 0 else 0.0, ends[1] if last == 1 else 0.0
                found.append((cells, *timed_cells(dyn, curve, cells, limits, start, end)))
        except Infeasible:
            if not timings:
                raise
            break  # the timing on the coarser grid stands: a joint that reverses may leave no rate at a new grid point
        timings = found
        if not any(timing[-1] for timing in timings):
            break
    motion = _ending_at_rest(_joined(curve, timings))
    return _with_limited_jerk(dyn, motion, limits, points, reserve) if smooth else motion


def _with_limited_jerk(
    dyn: Dynamics, free: TimeOptimal, limits: MotionLimits, points: int, reserve: Reserve
) -> JerkLimited:
    """The fastest timing with limited jerk; free: the one without that limit."""
    curve, jumps = curvature_jumps(free.path)
    kept = reserve if curve is free.path or not isinstance(curve, ByLength) else lambda s: reserve(curve.time(s))
    middle = 0.5 * (free.breaks[1:] + free.breaks[:-1])
    resolved = RESOLVED * np.abs(free(middle, 2)).max(axis=0) * points / free.duration
    limits = replace(limits, jerk=np.minimum(limits.jerk, np.maximum(resolved, 1e-9 * resolved.max())))
    stops = np.union1d(corners(curve), jumps)
    turns = curve.duration * reversals(dyn, curve, np.linspace(0.0, 1.0, points + 1))
    parts = [
        fastest_spline(
            dyn,
            curve,
            first,
            last,
            limits,
            max(FEWEST, round(points / 2 * (last - first) / curve.duration)),
            turns,
            kept,
        )
        for first, last in pairwise(stops)
    ]
    clock = joined(parts)
    within, finished = all(part.kept for part in parts), all(part.finished for part in parts)
    status = TimingStatus.OPTIMAL if finished else TimingStatus.UNFINISHED
    status = status if within else TimingStatus.COARSE
    s, speed = clock(clock.times)[:, 0], clock(clock.times, 1)[:, 0]
    return JerkLimited(curve, clock, status, s, speed, np.full_like(s, np.inf), sum(part.steps for part in parts))


def _speed_on(curve: Trajectory, which: int, factor: float) -> float:
    """Rate of the path parameter, from 0 to 1, at `factor` times the path's own velocity."""
    if not (np.isfinite(factor) and factor >= 0):
        raise ArmdynError(f"an end speed of {factor}", expected="a number, 0 or more")
    own = curve.curve if isinstance(curve, ByLength) else curve
    velocity = float(np.linalg.norm(own(which * own.duration, 1)))
    return factor * (velocity if isinstance(curve, ByLength) else 1.0) / curve.duration


def _joined(curve: Trajectory, timings: list[Timing]) -> TimeOptimal:
    """The parts one after the other, as a time law s(t) of piecewise constant acceleration."""
    L = curve.duration
    knots, pieces = [np.zeros(1)], []
    for cells, x, *_ in timings:
        ds, rate = np.diff(cells.x), np.sqrt(x)
        times = 2 * ds / (rate[:-1] + rate[1:])
        knots.append(knots[-1][-1] + np.cumsum(times))
        pieces.append(L * np.stack([cells.x[:-1], rate[:-1], np.diff(x) / (4 * ds)], axis=1))
    clock = polynomial_clock(np.concatenate(knots), np.concatenate(pieces))
    s = L * np.concatenate([cells.x for cells, *_ in timings])
    speed = L * np.concatenate([np.sqrt(x) for _, x, *_ in timings])
    bound = L * np.concatenate([highest for _, _, highest, *_ in timings])
    statuses = {timing[3] for timing in timings} - {TimingStatus.OPTIMAL}
    status = min(statuses, key=list(TimingStatus).index, default=TimingStatus.OPTIMAL)
    return TimeOptimal(curve, clock, status, s, speed, bound, max(timing[4] for timing in timings))


def _ending_at_rest(motion: TimeOptimal) -> TimeOptimal:
    """The motion with s not decreasing by rounding at its end, where friction would change its sign."""
    assert isinstance(motion.clock, PiecewisePolynomial)
    pieces = motion.clock.coefficients.copy()
    h = motion.clock.knots[-1] - motion.clock.knots[-2]
    pieces[-1, 2, 0] = max(pieces[-1, 2, 0], -pieces[-1, 1, 0] / (2 * h))
    while pieces[-1, 1, 0] + 2 * pieces[-1, 2, 0] * h < 0:
        pieces[-1, 2, 0] = np.nextafter(pieces[-1, 2, 0], np.inf)
    return replace(motion, clock=replace(motion.clock, coefficients=pieces))
