"""The fastest timing on the grid of a path: sweeps over its cells, repeated until friction agrees and limits hold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.kernels.procedure import LANES, with_slack
from armdyn.motion.path_grid import Cells
from armdyn.motion.resistance import resistance_of, rubs, torque_scale
from armdyn.motion.sampling import Infeasible, too_heavy
from armdyn.motion.sweep import NONE, SHARES, assemble, sweep, tighten
from armdyn.motion.timed_path import TimingStatus
from armdyn.robot.limits import MotionLimits, joint_names
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

AGREED = 1e-6
"""Fraction of the torque limits by which friction may differ from its linear model when the iteration stops."""
MOST_ROUNDS, UNDAMPED = 40, 5
"""Rounds of that iteration; later ones go half of the way, since a torque that falls from a corner speed on has no
slope there."""
KEPT, TIGHTENED = 5e-5, 8
"""Share of a limit by which it may be exceeded between the ends of a cell, and rounds in which cells are tightened."""
COARSE = 5e-3
"""Share of a limit that may be lost in a cell before the grid is made finer."""
LEAST = 0.95
"""Factor down to which a motion that still exceeds limits is slowed as a whole."""
SLOW = 1e-6
"""Rate of the path parameter that stands for the start of motion."""


class _Sweeps:
    """The lines of all cells, what has been taken off their limits, and the sweeps over them."""

    def __init__(self, cells: Cells, limits: MotionLimits, start: float, end: float) -> None:
        self.cells, self.limits, self.start, self.end = cells, limits, start, end
        _, self.count, self.n = cells.a.shape
        self.sides = 1 if limits.curve is None else 2  # a curve has another slope on the lower limit
        self.limited = int(np.isfinite(limits.acceleration).any())
        width = -(-self.n // LANES) * LANES
        self.packed = np.zeros((2 * self.sides + 3, width))
        scale = torque_scale(limits)
        high, low = (np.clip(limit, -NONE, NONE) for limit in (limits.tau_max, limits.tau_min))
        rows = [1 / scale, *([high, low] if self.sides == 1 else [high, NONE + 0 * high, -NONE + 0 * low, low])]
        self.packed[:, : self.n] = [*rows, 1 / limits.acceleration, 1 / limits.velocity]
        self.step = 2 * np.diff(cells.x)
        lines = ((2 * self.sides + 2 * self.limited) * width + LANES) * self.count
        self.lines = tuple(np.empty(lines) for _ in range(3))
        self.low, self.high, self.K_low, self.K_high, self.x = (np.empty(self.count + 1) for _ in range(5))
        self.rest, self.failed = np.empty(self.count), np.zeros(1)
        self.tight, self.tight_speed = with_slack((4, self.count, self.n)), np.zeros(self.count)
        self.arrays = self.step, cells.a, cells.b, cells.g, cells.q1, cells.q2
        self.sizes = self.count, self.n, self.sides, self.limited
        self.reserve = np.array([1.0, -1.0])[:, None, None, None] * cells.reserve if cells.reserve.any() else None

    def _with_reserve(self, values: Array, places: slice = slice(None)) -> Array:
        """(2, places, N, n) with the reserve on its side of the limits."""
        own = with_slack(values.shape)
        np.add(values, 0.0 if self.reserve is None else self.reserve[:, places], out=own)
        return own

    def solve(self, constant: Array, slope: Array) -> int:
        """Sweep with friction = constant + slope x, (2, 2, N, n) at both ends: -1, or where that is not feasible."""
        resting, by_x = self._with_reserve(constant, slice(None, None, len(SHARES) - 1)), with_slack(slope.shape)
        by_x[...] = slope
        for where, rests in ((0, self.start == 0), (-1, self.end == 0)):
            if rests:  # at rest dry friction may be anything from none to all
                resting[0, where, where] -= np.minimum(constant[0, where, where], 0.0)
                resting[1, where, where] -= np.maximum(constant[1, where, where], 0.0)
        lines = assemble(
            *self.sizes, *self.arrays, resting, by_x, self.packed, self.tight, self.tight_speed, *self.lines, self.low,
            self.high, self.rest,
        )  # fmt: skip
        if self.end**2 > self.high[-1] * (1 + 1e-12):
            return int(self.count) + 1
        sets = self.K_low, self.K_high, self.x, self.failed
        bounds = self.low, self.high, self.rest, self.start**2, self.end**2
        return sweep(self.count, lines, self.step, *self.lines, *bounds, *sets)

    def excess(self, x: Array, resistance: Array) -> tuple[int, float]:
        """How many cells exceed limits between their ends, and by what share of them; their limits are tightened."""
        worst = np.zeros(1)
        own = self._with_reserve(resistance), self.packed, x, self.tight, self.tight_speed
        return tighten(*self.sizes, *self.arrays, *own, KEPT, worst), float(worst[0])


def timed_cells(
    dyn: Dynamics, curve: Trajectory, cells: Cells, limits: MotionLimits, start: float, end: float
) -> tuple[Array, Array, TimingStatus, int, bool]:
    """(x, bound, status, rounds, coarse) of a part of the path; x: squared rate at its N+1 points.

    coarse: so much had to be taken off the limits of a cell that smaller cells would be faster.
    """
    known = limits.tau_max, limits.tau_min, limits.velocity, limits.acceleration
    if not any(np.isfinite(limit).any() for limit in known):
        raise Infeasible("no limit is known", where=f"robot {dyn.robot.name!r}", expected="tau_max, a_max or v_max")
    work = _Sweeps(cells, limits, start, end)
    friction = _Friction(dyn, cells, limits)
    status, rounds, tightened = TimingStatus.OPTIMAL, 0, 0
    x, bound = np.empty(0), np.empty(0)
    while True:
        rounds += 1
        failed = work.solve(friction.constant, friction.slope)
        if failed >= 0:
            if not len(x):
                raise _Errors(dyn, curve, cells, limits, work, friction.constant[0]).error(failed)
            if tightened:  # a cell cannot be tightened as far
                break
            x = 0.25 * x  # the linear model overestimates friction: less so at lower speed
        else:
            x, bound = work.x.copy(), np.sqrt(work.K_high)
        if not friction.agrees(x) and status is TimingStatus.OPTIMAL:
            friction.linearise(x, rounds > UNDAMPED)
            if rounds < MOST_ROUNDS:
                continue
            status = TimingStatus.FRICTION_OPEN
        found, worst = work.excess(x, friction.within(x))
        if not found or tightened == TIGHTENED:
            break
        tightened += 1
    stuck = np.sqrt(x[:-1]) + np.sqrt(x[1:]) <= 0
    if stuck.any():
        raise _Errors(dyn, curve, cells, limits, work, friction.constant[0]).error(int(stuck.argmax()))
    coarse = worst > KEPT or max(work.tight.max(), work.tight_speed.max()) > COARSE
    if worst > KEPT and not (start or end):
        x, status = _slowed(work, friction, x, status)
    return x, bound, status, rounds, coarse


def _slowed(work: _Sweeps, friction: _Friction, x: Array, status: TimingStatus) -> tuple[Array, TimingStatus]:
    """The squared rates slowed as a whole until the limits hold; as they are, and called coarse, below LEAST."""
    low, high = LEAST, 1.0
    if work.excess(low**2 * x, friction.within(low**2 * x))[0]:
        return x, TimingStatus.COARSE
    for _ in range(12):
        c = 0.5 * (low + high)
        low, high = (low, c) if work.excess(c**2 * x, friction.within(c**2 * x))[0] else (c, high)
    return low**2 * x, status


class _Friction:
    """What speed takes from the torques, linear in the squared rate x about the last timing: constant + slope x.

    constant, slope: (2, 2, N, n) on the upper and the lower limit, at both ends of the cells.
    """

    def __init__(self, dyn: Dynamics, cells: Cells, limits: MotionLimits) -> None:
        self.q1, self.ends = cells.q1, cells.q1[:: len(SHARES) - 1]
        self.resistance, self.scale = resistance_of(dyn, limits), torque_scale(limits)
        self.dry = self.resistance(cells.q1 * SLOW)
        self.constant = self.dry_ends = self.dry[:, :: len(SHARES) - 1]
        self.slope = np.zeros(self.constant.shape)
        self.varies = rubs(dyn) or limits.curve is not None
        if not self.varies:
            return
        with np.errstate(divide="ignore"):
            top = ((limits.velocity / np.abs(self.ends)) ** 2).min(axis=(0, 2))
        cap = np.sqrt(np.where(np.isfinite(top), top, 1e4).max())
        speeds = np.array([0.3, 1.0]) * cap
        change = [np.abs(self.resistance(self.ends * y) - self.dry_ends).max(initial=0.0) for y in speeds]
        self.varies = bool(max(change) > AGREED * self.scale.min())
        if not self.varies:
            return
        # A first guess: between rest and the speed at which friction alone would take all torque there is.
        for _ in range(60):
            if (np.abs(self.resistance(self.ends * cap)) <= self.scale).all():
                break
            cap *= 0.8
        self.slope = (self.resistance(self.ends * cap) - self.dry_ends) / cap**2

    def within(self, x: Array) -> Array:
        """(2, 5, N, n) at the places of the cells."""
        if not self.varies:
            return self.dry
        rate = np.sqrt(np.maximum(x[:-1] + np.array(SHARES)[:, None] * np.diff(x), 0.0))
        return self.resistance(self.q1 * np.maximum(rate, SLOW)[..., None])

    def agrees(self, x: Array) -> bool:
        """Whether the linear model is right at x; its true values are kept for `linearise`."""
        if not self.varies:
            return True
        self.rate = np.sqrt(np.stack([x[:-1], x[1:]]))[..., None]
        true = self.resistance(self.ends * np.maximum(self.rate, SLOW))
        error = (self.constant + self.slope * self.rate**2 - true) / self.scale
        return bool(np.abs(error).max() < AGREED)

    def linearise(self, x: Array, damped: bool) -> None:
        near = np.maximum(self.rate, 1e-6 * self.rate.max())  # at rest the slope would be infinite
        above, below = (self.resistance(self.ends * near * factor) for factor in (1.001, 0.999))
        slope, value = (above - below) / (0.004 * near**2), self.resistance(self.ends * near)
        constant = value - slope * near**2
        slow = self.rate < near
        if slow.any():  # there, through the true value at rest
            slope = np.where(slow, (value - self.dry_ends) / near**2, slope)
            constant = np.where(slow, self.dry_ends, constant)
        old = 0.5 if damped else 0.0
        self.constant = constant + old * (self.constant - constant)
        self.slope = slope + old * (self.slope - slope)


class _Errors(NamedTuple):
    """Errors with the place on the path and the limits that conflict."""

    dyn: Dynamics
    curve: Trajectory
    cells: Cells
    limits: MotionLimits
    work: _Sweeps
    constant: Array

    def error(self, failed: int) -> Infeasible:
        """The error of a cell, or of the speed at the start (N) or the end (N+1)."""
        work = self.work
        if failed > work.count:
            return self.too_fast("end", work.end, float(np.sqrt(work.high[-1])))
        if failed < work.count:
            return self.infeasible(failed)
        over = self._overload()[1].max(axis=(0, 2))
        if work.start**2 < work.K_low[0] and over.max() > 0:
            return self.infeasible(int(over.argmax()))  # where gravity exceeds the torque limits most
        return self.too_fast("start", work.start, float(np.sqrt(work.K_high[0])), float(np.sqrt(work.K_low[0])))

    def _overload(self) -> tuple[Array, Array]:
        """Torques at rest, (2, cells, n), and by how much they exceed their limits."""
        resting = self.cells.g[:: len(SHARES) - 1] + self.constant
        return resting, np.maximum(resting - self.limits.tau_max, self.limits.tau_min - resting)

    def infeasible(self, failed: int) -> Infeasible:
        """Where the limits conflict; if gravity is the cause, where it exceeds them most."""
        resting, over = self._overload()
        too_much = bool((over[:, failed] > 0).any())
        k, cell, i = map(int, np.unravel_index(over.argmax(), over.shape)) if too_much else (0, failed, 0)
        s = self.cells.x[cell] * self.curve.duration
        where = f"robot {self.dyn.robot.name!r}, path at s = {s:.6g} of {self.curve.duration:.6g}"
        if too_much:
            dry = bool(self.constant[k, cell, i] != 0)
            return too_heavy(self.dyn.robot, i, float(resting[k, cell, i]), self.limits, dry, where)
        pair = self._conflict(failed)
        reason = " and ".join(dict.fromkeys(pair)) if pair else "the limits"
        return Infeasible(
            f"{reason} leave{'s' * (len(set(pair)) == 1)} no speed from which the end can be reached",
            where=where,
            advice="Raise these limits, or change the path there.",
        )

    def _conflict(self, cell: int) -> list[str]:
        """The limits that leave no acceleration in a cell, at the speed at which the sweep found none."""
        cells, limits, names = self.cells, self.limits, joint_names(self.dyn.robot)
        x, step = float(self.work.failed[0]), float(self.work.step[cell])
        found: list[tuple[float, str]] = []
        lowest: list[tuple[float, str]] = []
        quantities = {
            "torque": (cells.a, cells.b, cells.g, limits.tau_max, limits.tau_min),
            "acceleration": (cells.q1, cells.q2, 0 * cells.g, limits.acceleration, -limits.acceleration),
        }
        for quantity, (a, b, g, high, low) in quantities.items():
            for place in (0, -1):
                rest = g[place, cell] + (self.constant[place, cell] if quantity == "torque" else 0.0)
                slope = a[place, cell] - step * b[place, cell] * place
                for i in np.flatnonzero(np.abs(slope) > 1e-9 * np.abs(slope).max()):
                    for word, limit in (("upper", high[i]), ("lower", low[i])):
                        u = (limit - rest[i] - b[place, cell, i] * x) / slope[i]
                        side = found if (word == "upper") == (slope[i] > 0) else lowest
                        side.append((float(u), f"the {word} {quantity} limit of joint {names[i]!r}"))
        finite = [[entry for entry in side if np.isfinite(entry[0])] for side in (found, lowest)]
        return [pick(side)[1] for pick, side in zip((min, max), finite, strict=True) if side]

    def too_fast(self, which: str, given: float, most: float, least: float = 0.0) -> Infeasible:
        word, bound = ("fast", most) if given > most else ("slow", least)
        share = bound / given if given > 0 else 0.0
        advice = f"Give {share:.6g} times the {which} speed." if given > 0 else f"Give a {which} speed."
        return Infeasible(
            f"the path is too {word} at its {which}: {given:.6g}/s of its length, {bound:.6g}/s is possible",
            where=f"robot {self.dyn.robot.name!r}",
            advice=advice,
        )
