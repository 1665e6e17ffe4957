"""The fastest timing of a path under limits of torque, velocity, acceleration and jerk, friction included."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, ShapeError
from armdyn.motion.jerk_timing import fastest_spline, joined
from armdyn.motion.path import ByLength, as_path, bends, corners, curvature_jumps, sides, third_derivative
from armdyn.motion.reachability import SLACK, Conflict, Rows, allowed, controllable, fastest, pruned
from armdyn.motion.resistance import Reserve, none_reserved, resistance_of, torque_scale
from armdyn.motion.sampling import Infeasible, dynamics_of, too_heavy
from armdyn.motion.scaling import Demand, demand_of, excesses_at, factors_of
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import MotionLimits, joint_names, motion_limits
from armdyn.robot.robot import Robot
from armdyn.trajectory.compose import Retimed, polynomial_clock
from armdyn.trajectory.piecewise import PiecewisePolynomial, stretched
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

POINTS = 400
QUARTERS = np.array([0.25, 0.5, 0.75])
FINER = np.array([1 / 64, 1 / 16, 1 / 4])
"""Where the cells next to the ends are subdivided."""
WITHIN = np.array([0.0, 0.25, 0.5, 0.75, 1.0 - 1e-9])
"""Places in a cell at which limits are checked in the end."""
LEAST = 0.95
"""Factor down to which a motion that exceeds limits within the cells is slowed as a whole."""
FEWEST = 40
"""Smallest number of cells between two corners."""
RESOLVED = 2.0
"""Number of full changes of acceleration in the mean time of a cell that a spline follows: faster ones are not used."""
AGREED = 1e-6
"""Fraction of the torque limits by which friction may differ from its linear model when the iteration stops."""
MOST_ROUNDS, UNDAMPED = 40, 5
"""Rounds of that iteration; later ones go half of the way, since a torque that falls from a corner speed on has no
slope there."""


class TimingStatus(Enum):
    """How the search for the fastest timing ended, in a sentence with advice."""

    OPTIMAL = "The timing is the fastest on this grid."
    FRICTION_OPEN = (
        "The iteration over friction did not converge: limits are kept only approximately. Give more points, or check "
        "the motion with `feasibility`."
    )
    COARSE = "Between the grid points a limit is exceeded by more than 5 %. Give more points."
    UNFINISHED = "The search with limited jerk was stopped: all limits are kept, but the timing may not be the fastest."


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimal(Retimed):
    """Trajectory along a path with the fastest timing that the limits allow.

    Between grid points the acceleration of s is constant. Limits hold at both ends and, after a slight slowing down, at
    the quarters of every cell; between these they are exceeded by a few ten-thousandths at most.

    status: how the search ended, with advice.
    s:      (N+1,) path parameter at the grid points.
    speed:  (N+1,) its rate, 1/s.
    bound:  (N+1,) largest rate from which the end can still be reached, 1/s; infinite with limited jerk.
    rounds: iterations over friction; Newton steps with limited jerk.
    """

    status: TimingStatus
    s: Array
    speed: Array
    bound: Array
    rounds: int
    highest = 2

    @property
    def breaks(self) -> Array:
        return self.clock.breaks  # the path's own are among them

    def within(self, s: Array, cell: Array) -> Array:
        """The parameter kept strictly inside its cell: at a corner or a jump, derivatives are those of the cell."""
        assert isinstance(self.clock, PiecewisePolynomial)
        first, side = self.clock.coefficients[:, 0, 0], 1e-9 * self.path.duration
        last = np.append(first[1:], self.path.duration)
        return np.clip(s, first[cell] + side, last[cell] - side)

    def inside(self, t: Array, order: int) -> Array:
        if order == 0:
            return super().inside(t, order)
        assert isinstance(self.clock, PiecewisePolynomial)
        knots = self.clock.knots
        cell = np.clip(np.searchsorted(knots, t.real, side="right") - 1, 0, len(knots) - 2)
        s, sd, sdd = (self.clock(t.real, k)[..., 0] for k in range(3))
        first = self.path(self.within(s, cell), 1)
        if order == 1:
            velocity: Array = first * sd[..., None]
            return velocity
        acceleration: Array = self.path(self.within(s, cell), 2) * sd[..., None] ** 2 + first * sdd[..., None]
        return acceleration

    def __str__(self) -> str:
        return f"{self.duration:.6g} s on {len(self.s) - 1} cells. {self.status.value}"


@dataclass(frozen=True, eq=False, repr=False)
class JerkLimited(TimeOptimal):
    """Trajectory along a path with the fastest timing that the limits allow, jerk included.

    The squared rate of the path parameter is a spline (`jerk_timing`); limits hold at 17 places of each of its
    intervals. Without acceleration at both ends.
    """

    highest = 3

    def inside(self, t: Array, order: int) -> Array:
        if order < 3:
            return Retimed.inside(self, t.real, order)
        s, s1, s2, s3 = (self.clock(t.real, k) for k in range(4))
        third = third_derivative(self.path, s[..., 0])
        jerk: Array = third * s1**3 + 3 * self.path(s[..., 0], 2) * s1 * s2 + self.path(s[..., 0], 1) * s3
        return jerk


class Cells(NamedTuple):
    """A part of the path, between two corners, on a grid.

    x:         (N+1,) path parameter, from 0 to 1 over the whole path.
    q, q1, q2: (2, N, n) position and its derivatives by x, at the start [0] and the end [1] of every cell.
    a, b, g:   (2, N, n) torque = a u + b x + g + friction, with u the acceleration and x the squared rate.
    reserve:   (2, N, n) torque to stay away from the limits.
    within:    (3, N, n) the first derivative at the quarters of every cell.
    """

    x: Array
    q: Array
    q1: Array
    q2: Array
    a: Array
    b: Array
    g: Array
    reserve: Array
    within: Array


@takes(*CLOSED, *TREE)
def time_optimal(
    path: Any,
    model: Robot | Dynamics,
    *,
    tau_max: Any = None,
    tau_min: Any = None,
    v_max: Any = None,
    a_max: Any = None,
    j_max: Any = None,
    no_load_speed: Any = None,
    corner_speed: Any = 0.0,
    points: int = POINTS,
    start_speed: float = 0.0,
    end_speed: float = 0.0,
) -> TimeOptimal:
    """Return the fastest timing of a path under torque, velocity, acceleration and jerk limits.

        tau = a(s) sdd + b(s) sd^2 + g(s) + friction(q'(s) sd),     a = M q',  b = M q'' + C(q, q') q'

    Limits are (n,) or one number; np.inf for none.

    Args:
        path:        trajectory, whose own timing does not matter, or points (k, n) for a spline.
        model:       robot or its dynamics.
        tau_max:     torque limits, N m or N (default: the robot's).
        tau_min:     lower torque limits, N m or N (default: -tau_max).
        v_max:       velocity limits, rad/s or m/s (default: the robot's).
        a_max:       acceleration limits, rad/s^2 or m/s^2 (default: the robot's).
        j_max:       jerk limits, rad/s^3 or m/s^3 (default: the robot's).
        no_load_speed: speed at which an actuator has no torque left, (n,) or one number, rad/s or m/s, or "robot" for
                       the velocity limits (default: torques do not depend on the speed); `robot.limits.TorqueSpeed`.
        corner_speed:  speed from which its torque falls (default: 0).
        points:      number of grid cells (default: 400); with limited jerk a spline has half as many intervals.
        start_speed: at the start, as a multiple of the path's own velocity there (default: 0, rest).
        end_speed:   at the end, likewise (default: 0, rest).

    Method:  controllable sets backwards, largest acceleration forwards (`reachability`; Pham & Pham 2018). Limits hold
             at both ends of every cell. The robot stops at corners. Dry friction depends on the direction only;
             other friction, and what speed takes from the torques (Khalil sec. 8.5), is linearised in sd^2 about the
             last timing until both agree. With limited jerk another method is used (`jerk_timing`), from rest to rest;
             the robot then stops where the curvature of the path jumps as well.
    Raises:  Infeasible, with the place on the path and the joint, if no timing keeps the limits.

    >>> import armdyn
    >>> move = time_optimal([[0.0, 0.0], [1.0, 1.0]], armdyn.load("planar2r"), tau_max=[3000.0, 1000.0])
    >>> move.status.name, bool(move.duration < 1.0)
    ('OPTIMAL', True)
    """
    dyn = dynamics_of(model)
    if points < 2:
        raise ArmdynError(f"points = {points}", expected="at least 2 cells")
    limits = motion_limits(dyn.robot, tau_max=tau_max, tau_min=tau_min, v_max=v_max, a_max=a_max, j_max=j_max,
                           no_load_speed=no_load_speed, corner_speed=corner_speed)  # fmt: skip
    return fastest_timing(dyn, path_of(path, dyn), limits, points, start_speed, end_speed)


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
        raise ArmdynError("limited jerk with a speed at an end of the path", where="time_optimal",
                          expected="motion from rest to rest", advice="Give j_max = np.inf.")  # fmt: skip
    ends = [_speed_on(curve, which, x) for which, x in ((0, start_speed), (1, end_speed))]
    stops = corners(curve) / curve.duration
    timings = []
    for first, last in pairwise(stops):
        cells = _cells(dyn, curve, first, last, points, reserve)
        start, end = ends[0] if first == 0 else 0.0, ends[1] if last == 1 else 0.0
        timings.append((cells, *_timed(dyn, curve, cells, limits, start, end)))
    motion = _joined(curve, timings)
    motion = _ending_at_rest(motion if any(ends) else _settled(dyn, motion, limits, reserve))
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
    turns = curve.duration * _reversals(dyn, curve, np.linspace(0.0, 1.0, points + 1))
    parts = [
        fastest_spline(dyn, curve, first, last, limits,
                       max(FEWEST, round(points / 2 * (last - first) / curve.duration)), turns, kept)
        for first, last in pairwise(stops)
    ]  # fmt: skip
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


def _grid(dyn: Dynamics, curve: Trajectory, first: float, last: float, points: int) -> Array:
    """Grid from first to last, denser at the ends, where a motion from rest changes its speed most.

        k/N = (sigma + 2/pi asin(sqrt(sigma)))/2,     sigma from 0 to 1: half of them evenly in sigma, half in speed

    Breaks of the path are grid points, and so are the places at which a joint with dry friction reverses.
    """
    count = max(min(FEWEST, points), round(points * (last - first)))
    sigma = np.sin(np.linspace(0.0, np.pi / 2, 8 * count + 1)) ** 2
    even = np.interp(np.linspace(0, 1, count + 1), 0.5 * (sigma + np.linspace(0, 1, 8 * count + 1)), sigma)
    ends = even[1] * FINER  # how friction behaves at rest then matters for a moment only
    x = first + (last - first) * np.concatenate([[0.0], ends, even[1:-1], 1 - ends[::-1], [1.0]])
    x[-1] = last
    places = np.concatenate([curve.breaks / curve.duration, _reversals(dyn, curve, x)])
    places = np.unique(places[(places > first) & (places < last)])
    fixed = {first, last, *places.tolist()}
    for place in places.tolist():
        k = int(np.searchsorted(x, place))  # x[k-1] < place <= x[k]
        width = x[k] - x[k - 1]
        if x[k] not in fixed and x[k] - place < 0.3 * width:
            x[k] = place
        elif x[k - 1] not in fixed and place - x[k - 1] < 0.3 * width:
            x[k - 1] = place
        elif min(place - x[k - 1], x[k] - place) > 1e-9 * (last - first):
            x = np.insert(x, k, place)
    close = 1e-7 * (last - first)
    more = bends(curve, x * curve.duration) / curve.duration
    more = more[np.abs(more[:, None] - x).min(axis=1) > close] if len(more) else more
    return np.union1d(x, more)


def _reversals(dyn: Dynamics, curve: Trajectory, x: Array) -> Array:
    """Path parameters at which joints with dry friction reverse."""
    dry = np.abs(dyn.friction(np.full(dyn.n, 1e-9))) > 1e-6 * np.abs(dyn.friction(np.ones(dyn.n)))
    if not dry.any():
        return np.empty(0)
    L = curve.duration
    speed = curve(x * L, 1)
    k, i = np.nonzero((speed[:-1] * speed[1:] < 0) & dry)
    low, high, sign = x[k], x[k + 1], np.sign(speed[k, i])
    for _ in range(45):
        middle = 0.5 * (low + high)
        ahead = curve(middle * L, 1)[np.arange(len(i)), i] * sign > 0
        low, high = np.where(ahead, middle, low), np.where(ahead, high, middle)
    turns: Array = 0.5 * (low + high)
    return turns


def _cells(dyn: Dynamics, curve: Trajectory, first: float, last: float, points: int, reserve: Reserve) -> Cells:
    L = curve.duration
    x = _grid(dyn, curve, first, last, points)
    s = np.stack([sides(curve, x[:-1] * L)[1], sides(curve, x[1:] * L)[0]])
    q, q1, q2 = (np.ascontiguousarray(curve(s, order)) * L**order for order in range(3))
    rest = np.zeros_like(q)
    g = dyn.inverse_dynamics(q, rest, rest)
    a = dyn.inverse_dynamics(q, rest, q1) - g
    b = dyn.inverse_dynamics(q, q1, q2) - g - dyn.friction(q1)
    quarters = x[:-1] + QUARTERS[:, None] * np.diff(x)
    return Cells(x, q, q1, q2, a, b, g, np.broadcast_to(reserve(s), q.shape), curve(quarters * L, 1) * L)


# Friction, by iteration -------------------------------------------------------------------------------------------


def _timed(
    dyn: Dynamics, curve: Trajectory, cells: Cells, limits: MotionLimits, start: float, end: float
) -> tuple[Array, Array, TimingStatus, int]:
    """(x, bound, status, rounds) of a part of the path; x: squared rate at its N+1 points."""
    top = _velocity_bound(cells, limits)
    q1 = cells.q1
    little = 1e-6
    resistance = resistance_of(dyn, limits)
    dry = resistance(q1 * little)
    slope = np.zeros_like(dry)
    scale = torque_scale(limits)
    most = np.sqrt(np.where(np.isfinite(top), top, 1e4).max())
    speeds = np.array([0.3, 1.0]) * most
    if all(np.abs(resistance(q1 * y) - dry).max() <= AGREED * scale.min() for y in speeds):
        x, bound = _solved(dyn, curve, cells, limits, dry, slope, top, start, end)
        return x, bound, TimingStatus.OPTIMAL, 1
    # A first guess: between rest and the speed at which friction alone would take all torque there is.
    cap = most
    for _ in range(60):
        if (np.abs(resistance(q1 * cap)) <= scale).all():
            break
        cap *= 0.8
    slope = (resistance(q1 * cap) - dry) / cap**2
    constant = dry
    x = bound = np.empty(0)
    for round_ in range(1, MOST_ROUNDS + 1):
        try:
            x, bound = _solved(dyn, curve, cells, limits, constant, slope, top, start, end)
        except Infeasible:
            if round_ == 1 or not len(x):
                raise
            x = 0.25 * x  # the linear model overestimates friction: less so at lower speed
        y = np.sqrt(np.stack([x[:-1], x[1:]]))[..., None]
        friction = resistance(q1 * np.maximum(y, little))
        if np.abs((constant + slope * y**2 - friction) / scale).max() < AGREED:
            return x, bound, TimingStatus.OPTIMAL, round_
        near = np.maximum(y, 1e-6 * y.max())  # at rest the slope would be infinite
        above, below = resistance(q1 * near * 1.001), resistance(q1 * near * 0.999)
        before = constant, slope
        slope = (above - below) / (0.004 * near**2)
        value = resistance(q1 * near)
        constant = value - slope * near**2
        slow = y < near
        if slow.any():  # there, through the true value at rest
            slope = np.where(slow, (value - dry) / near**2, slope)
            constant = np.where(slow, dry, constant)
        if round_ > UNDAMPED:
            constant, slope = 0.5 * (constant + before[0]), 0.5 * (slope + before[1])
    return x, bound, TimingStatus.FRICTION_OPEN, MOST_ROUNDS


# One pass ---------------------------------------------------------------------------------------------------------


def _velocity_bound(cells: Cells, limits: MotionLimits) -> Array:
    """(N+1,) squared rate that the velocity limits allow."""
    with np.errstate(divide="ignore"):
        each = ((limits.velocity / np.abs(cells.q1)) ** 2).min(axis=2)
    bound: Array = np.minimum(np.append(each[0], np.inf), np.insert(each[1], 0, np.inf))
    return bound


def _rows(
    cells: Cells, limits: MotionLimits, constant: Array, slope: Array, stops: tuple[bool, bool]
) -> tuple[Rows, list[tuple[str, int, int]]]:
    """All constraints, scaled to limits of 1, and of each the quantity, the joint and the sign."""
    step = 2 * np.diff(cells.x)[:, None]
    found: list[tuple[Array, Array, Array]] = []
    labels: list[tuple[str, int, int]] = []
    half = torque_scale(limits)
    for where in (0, 1):
        for side, sign, limit in ((0, 1, limits.tau_max), (1, -1, -limits.tau_min)):
            on = np.flatnonzero(np.isfinite(limit))
            velocity = cells.b + slope[side]
            friction = constant[side, where].copy()
            if stops[where]:  # at rest dry friction may be anything from none to all
                friction[-where] = sign * np.maximum(sign * friction[-where], 0.0)
            rest = cells.g[where] + friction
            scaled = sign * cells.a[where][:, on] / half[on], sign * velocity[where][:, on] / half[on]
            found.append((*scaled, (limit[on] - sign * rest[:, on] - cells.reserve[where][:, on]) / half[on]))
            labels += [("torque", int(i), sign) for i in on]
        for sign in (1, -1):
            on = np.flatnonzero(np.isfinite(limits.acceleration))
            scaled = tuple(sign * d[where][:, on] / limits.acceleration[on] for d in (cells.q1, cells.q2))
            found.append((scaled[0], scaled[1], np.ones_like(scaled[0])))
            labels += [("acceleration", int(i), sign) for i in on]
    count = len(found) // 2
    at_ends = [(a + step * b, b, r) for a, b, r in found[count:]]  # there x has grown by step u
    for share, q1 in zip(QUARTERS, cells.within, strict=True):
        use = np.abs(q1) / limits.velocity
        if use.any():
            bound = (use**2).max(axis=1, keepdims=True)
            at_ends.append((share * step * bound, bound, np.ones_like(bound)))
            labels.append(("velocity", int(use.max(axis=0).argmax()), 1))
    a, b, r = (np.concatenate(part, axis=1) for part in zip(*found[:count], *at_ends, strict=True))
    return Rows(a, b, r + SLACK), labels


def _solved(
    dyn: Dynamics,
    curve: Trajectory,
    cells: Cells,
    limits: MotionLimits,
    constant: Array,
    slope: Array,
    top: Array,
    start: float,
    end: float,
) -> tuple[Array, Array]:
    rows, labels = _rows(cells, limits, constant, slope, (start == 0, end == 0))
    ds = np.diff(cells.x)
    if not labels and not np.isfinite(top).any():
        raise Infeasible("no limit is known", where=f"robot {dyn.robot.name!r}", expected="tau_max, a_max or v_max")
    kept = pruned(rows, top[:-1])
    rows, labels = Rows(*(np.ascontiguousarray(part[:, kept]) for part in rows)), [labels[k] for k in kept]
    errors = _Errors(dyn, curve, cells, limits, rows, labels, constant[0])
    low, high, conflict = allowed(rows, top[:-1]) if labels else (np.zeros(len(ds)), top[:-1], None)
    if conflict is not None:
        raise errors.infeasible(conflict)
    if end**2 > top[-1] * (1 + 1e-12):
        raise errors.too_fast("end", end, float(np.sqrt(top[-1])))
    K_low, K_high, conflict = controllable(rows, ds, low, high, end**2) if labels else (0 * top, top.copy(), None)
    if conflict is not None:
        raise errors.infeasible(conflict)
    if start**2 < K_low[0] * (1 - 1e-9) - 1e-12 and (heaviest := errors.heaviest()) is not None:
        raise errors.infeasible(Conflict(heaviest, -1, -1))
    if not K_low[0] * (1 - 1e-9) - 1e-12 <= start**2 <= K_high[0] * (1 + 1e-9) + 1e-12:
        raise errors.too_fast("start", start, float(np.sqrt(K_high[0])), float(np.sqrt(K_low[0])))
    x = fastest(rows, ds, K_low, K_high, min(max(start**2, K_low[0]), K_high[0]))
    stuck = np.sqrt(x[:-1]) + np.sqrt(x[1:]) <= 0
    if stuck.any():
        raise errors.infeasible(Conflict(int(stuck.argmax()), -1, -1))
    return x, np.sqrt(K_high)


class _Errors(NamedTuple):
    """Errors with the place on the path and the limits that conflict."""

    dyn: Dynamics
    curve: Trajectory
    cells: Cells
    limits: MotionLimits
    rows: Rows
    labels: list[tuple[str, int, int]]
    constant: Array

    def heaviest(self) -> int | None:
        """The cell in which gravity exceeds the torque limits most; None if it never does."""
        over = self._overload()[1].max(axis=(0, 2))
        return int(over.argmax()) if over.max() > 0 else None

    def _overload(self) -> tuple[Array, Array]:
        """Torques at rest, (2, cells, n), and by how much they exceed their limits."""
        resting = self.cells.g + self.constant
        return resting, np.maximum(resting - self.limits.tau_max, self.limits.tau_min - resting)

    def infeasible(self, conflict: Conflict) -> Infeasible:
        """Where the limits conflict; if gravity is the cause, where it exceeds them most."""
        resting, over = self._overload()
        too_much = bool((over[:, conflict.cell] > 0).any())
        k, cell, i = map(int, np.unravel_index(over.argmax(), over.shape)) if too_much else (0, conflict.cell, 0)
        s = self.cells.x[cell] * self.curve.duration
        where = f"robot {self.dyn.robot.name!r}, path at s = {s:.6g} of {self.curve.duration:.6g}"
        if too_much:
            dry = bool(self.constant[k, cell, i] != 0)
            return too_heavy(self.dyn.robot, i, float(resting[k, cell, i]), self.limits, dry, where)
        pair = [self._row(row) for row in (conflict.upper, conflict.lower) if row >= 0]
        reason = " and ".join(dict.fromkeys(pair)) if pair else "the limits"
        return Infeasible(
            f"{reason} leave{'s' * (len(set(pair)) == 1)} no speed from which the end can be reached",
            where=where,
            advice="Raise these limits, or change the path there.",
        )

    def _row(self, row: int) -> str:
        quantity, i, sign = self.labels[row]
        return f"the {'upper' if sign > 0 else 'lower'} {quantity} limit of joint {joint_names(self.dyn.robot)[i]!r}"

    def too_fast(self, which: str, given: float, most: float, least: float = 0.0) -> Infeasible:
        word, bound = ("fast", most) if given > most else ("slow", least)
        share = bound / given if given > 0 else 0.0
        advice = f"Give {share:.6g} times the {which} speed." if given > 0 else f"Give a {which} speed."
        return Infeasible(
            f"the path is too {word} at its {which}: {given:.6g}/s of its length, {bound:.6g}/s is possible",
            where=f"robot {self.dyn.robot.name!r}",
            advice=advice,
        )


def _joined(curve: Trajectory, timings: list[tuple[Cells, Array, Array, TimingStatus, int]]) -> TimeOptimal:
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
    open_ = any(timing[3] is TimingStatus.FRICTION_OPEN for timing in timings)
    status = TimingStatus.FRICTION_OPEN if open_ else TimingStatus.OPTIMAL
    return TimeOptimal(curve, clock, status, s, speed, bound, max(timing[4] for timing in timings))


def _settled(dyn: Dynamics, motion: TimeOptimal, limits: MotionLimits, reserve: Reserve) -> TimeOptimal:
    """The motion slowed uniformly until it keeps the limits at the quarters of every cell too. Siciliano sec. 7.7"""
    assert isinstance(motion.clock, PiecewisePolynomial)
    knots, (place, rate, half) = motion.clock.knots, motion.clock.coefficients[:, :, 0].T[..., None]
    h = np.diff(knots)[:, None] * WITHIN
    s, sd, sdd = place + h * (rate + h * half), rate + 2 * h * half, np.broadcast_to(2 * half, h.shape)
    s, sd, sdd = s.ravel(), sd.reshape(-1, 1), sdd.reshape(-1, 1)
    s = motion.within(s, np.repeat(np.arange(len(knots) - 1), len(WITHIN)))
    q, q1, q2 = (motion.path(s, order) for order in range(3))
    qd, qdd = q1 * sd, q2 * sd**2 + q1 * sdd
    tau, c = dyn.inverse_dynamics(q, qd, qdd), np.inf
    kept = reserve(s)
    low, high = limits.torques(qd)
    over = ((tau > high - kept) | (tau < low + kept)).any(axis=1)
    if over.any():
        away = np.broadcast_to(kept, tau.shape)[over]
        limits = replace(limits, tau_max=limits.tau_max - away, tau_min=limits.tau_min + away)
        demand = demand_of(dyn, q[over], qd[over], qdd[over])
        if limits.curve is not None:
            c = _slowed(demand, limits, qd[over])
        else:
            if demand.law is not None:
                demand = demand._replace(resting=demand.resting + demand.law(1.0))
            held = (demand.resting <= limits.tau_max) & (demand.resting >= limits.tau_min)
            c = float(np.where(held, factors_of(demand, limits), np.inf).min())
    with np.errstate(divide="ignore"):
        c = min(c, float((limits.velocity / np.abs(qd)).min()))
        c = min(c, float(np.sqrt((limits.acceleration / np.abs(qdd)).min())))
    c = min(c, 1 / max(_peak_between((np.abs(qd) / limits.velocity).reshape(*h.shape, -1)), 1e-300))
    if c >= 1:
        return motion
    if c <= LEAST:
        return replace(motion, status=TimingStatus.COARSE)
    clock = stretched(motion.clock, motion.duration / c)
    return replace(motion, clock=clock, speed=c * motion.speed)


def _slowed(demand: Demand, limits: MotionLimits, qd: Array) -> float:
    """The largest factor below 1 at which the torques keep limits that fall with the speed; LEAST if there is none."""
    low, high = LEAST, 1.0
    for _ in range(50):
        c = 0.5 * (low + high)
        low, high = (c, high) if excesses_at(c, demand, limits, qd).max() <= 0 else (low, c)
    return low


def _peak_between(values: Array) -> float:
    """Largest value of the parabolas through every three neighbours of (cells, places, n) values."""
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    bend = 2 * here - before - after
    top = (bend > 0) & (np.abs(after - before) < 2 * bend)
    peak = here + np.where(top, (after - before) ** 2 / (8 * np.where(top, bend, 1.0)), 0.0)
    return float(peak.max())


def _ending_at_rest(motion: TimeOptimal) -> TimeOptimal:
    """The motion with s not decreasing by rounding at its end, where friction would change its sign."""
    assert isinstance(motion.clock, PiecewisePolynomial)
    pieces = motion.clock.coefficients.copy()
    h = motion.clock.knots[-1] - motion.clock.knots[-2]
    while pieces[-1, 1, 0] + 2 * pieces[-1, 2, 0] * h < 0:
        pieces[-1, 2, 0] = np.nextafter(pieces[-1, 2, 0], np.inf)
    return replace(motion, clock=replace(motion.clock, coefficients=pieces))
