"""Whether a timing keeps its limits between the grid points too, and the motion slowed as a whole until it does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion.resistance import Reserve, torque_scale
from armdyn.motion.scaling import Demand, demand_of, excesses_at, factors_of
from armdyn.motion.timed_path import TimeOptimal, TimingStatus
from armdyn.robot.limits import MotionLimits
from armdyn.trajectory.piecewise import PiecewisePolynomial, stretched
from armdyn.typing import Array

WITHIN = np.array([0.0, 0.25, 0.5, 0.75, 1.0 - 1e-9])
"""Places in a cell at which limits are checked."""
SMOOTH = 5e-3
"""Share of a torque limit by which a parabola rises above its three places at most; more is a jump of dry friction."""
LEAST = 0.95
"""Factor down to which a motion that exceeds limits within the cells is slowed as a whole."""


def allowed_speeds(dyn: Dynamics, motion: TimeOptimal, limits: MotionLimits, reserve: Reserve) -> Array:
    """Return for every cell (N,) the factor of the motion's speed at which it keeps the limits at its quarters too."""
    assert isinstance(motion.clock, PiecewisePolynomial)
    knots, (place, rate, half) = motion.clock.knots, motion.clock.coefficients[:, :, 0].T[..., None]
    h = np.diff(knots)[:, None] * WITHIN
    s, sd, sdd = place + h * (rate + h * half), rate + 2 * h * half, np.broadcast_to(2 * half, h.shape)
    s, sd, sdd = s.ravel(), sd.reshape(-1, 1), sdd.reshape(-1, 1)
    s = motion.within(s, np.repeat(np.arange(len(knots) - 1), len(WITHIN)))
    q, q1, q2 = (motion.path(s, order) for order in range(3))
    qd, qdd = q1 * sd, q2 * sd**2 + q1 * sdd
    tau, kept = dyn.inverse_dynamics(q, qd, qdd), reserve(s)
    low, high = limits.torques(qd)
    scale = torque_scale(limits)
    shares = np.maximum(tau - high, low - tau) / scale + 1  # 1 at the nearer limit
    over = ((tau > high - kept) | (tau < low + kept)).any(axis=1)
    with np.errstate(divide="ignore"):
        factors = np.minimum(
            (limits.velocity / np.abs(qd)).min(axis=1), np.sqrt((limits.acceleration / np.abs(qdd)).min(axis=1))
        )
    if over.any():
        away = np.broadcast_to(kept, tau.shape)[over]
        limits = replace(limits, tau_max=limits.tau_max - away, tau_min=limits.tau_min + away)
        demand = demand_of(dyn, q[over], qd[over], qdd[over])
        factors[over] = np.minimum(factors[over], _by_torques(demand, limits, qd[over]))
    speeds = (np.abs(qd) / limits.velocity).reshape(*h.shape, -1)
    between = np.nan_to_num(shares, nan=0.0, neginf=0.0).reshape(*h.shape, -1)  # no limit: -inf / inf
    factors = np.minimum(factors.reshape(h.shape).min(axis=1), 1 / np.maximum(_peaks_between(speeds), 1e-300))
    peaks = _peaks_between(between)
    smooth = peaks - between.max(axis=(1, 2)) < SMOOTH
    return np.asarray(np.minimum(factors, np.where(smooth, 2 - np.maximum(peaks, 1.0), 1.0)))


def slowed_to(motion: TimeOptimal, factor: float) -> TimeOptimal:
    """Return the motion at a fraction of its speed; as it is, and called coarse, if that is below LEAST.

    Siciliano sec. 7.7
    """
    assert isinstance(motion.clock, PiecewisePolynomial)
    if factor >= 1:
        return motion
    if factor <= LEAST:
        return replace(motion, status=TimingStatus.COARSE)
    clock = stretched(motion.clock, motion.duration / factor)
    return replace(motion, clock=clock, speed=factor * motion.speed)


def _by_torques(demand: Demand, limits: MotionLimits, qd: Array) -> Array:
    """(k,) largest factors below 1 at which torques keep their limits; 1 where they do not even at rest."""
    if limits.curve is None:
        if demand.law is not None:
            demand = demand._replace(resting=demand.resting + demand.law(1.0))
        held = (demand.resting <= limits.tau_max) & (demand.resting >= limits.tau_min)
        return np.asarray(np.where(held, factors_of(demand, limits), 1.0).min(axis=1))
    low, high = np.full((len(qd), 1), LEAST), np.ones((len(qd), 1))
    for _ in range(50):
        c = 0.5 * (low + high)
        fits = excesses_at(c, demand, limits, qd).max(axis=1, keepdims=True) <= 0
        low, high = np.where(fits, c, low), np.where(fits, high, c)
    return low[:, 0]


def _peaks_between(values: Array) -> Array:
    """(cells,) largest values of the parabolas through every three neighbours of (cells, places, n) values."""
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    bend = 2 * here - before - after
    top = (bend > 0) & (np.abs(after - before) < 2 * bend)
    peak = here + np.where(top, (after - before) ** 2 / (8 * np.where(top, bend, 1.0)), 0.0)
    return np.asarray(peak.max(axis=(1, 2)))
