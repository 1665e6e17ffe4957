"""The fastest timing on the grid of a path: one pass over its cells, repeated until friction agrees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion.path_grid import QUARTERS, Cells
from armdyn.motion.reachability import SLACK, Conflict, ConstraintRows, allowed, controllable, fastest, pruned
from armdyn.motion.resistance import resistance_of, torque_scale
from armdyn.motion.sampling import Infeasible, too_heavy
from armdyn.motion.timed_path import TimingStatus
from armdyn.robot.limits import MotionLimits, joint_names
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

AGREED = 1e-6
"""Fraction of the torque limits by which friction may differ from its linear model when the iteration stops."""
MOST_ROUNDS, UNDAMPED = 40, 5
"""Rounds of that iteration; later ones go half of the way, since a torque that falls from a corner speed on has no
slope there."""


# Friction, by iteration -------------------------------------------------------------------------------------------


def timed_cells(
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
) -> tuple[ConstraintRows, list[tuple[str, int, int]]]:
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
    return ConstraintRows(a, b, r + SLACK), labels


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
    rows, labels = ConstraintRows(*(np.ascontiguousarray(part[:, kept]) for part in rows)), [labels[k] for k in kept]
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
    rows: ConstraintRows
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
