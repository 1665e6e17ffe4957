"""A timing slowed as a whole until it keeps its limits between the grid points too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion.resistance import Reserve
from armdyn.motion.scaling import Demand, demand_of, excesses_at, factors_of
from armdyn.motion.timed_path import TimeOptimal, TimingStatus
from armdyn.robot.limits import MotionLimits
from armdyn.trajectory.piecewise import PiecewisePolynomial, stretched
from armdyn.typing import Array

WITHIN = np.array([0.0, 0.25, 0.5, 0.75, 1.0 - 1e-9])
"""Places in a cell at which limits are checked."""
LEAST = 0.95
"""Factor down to which a motion that exceeds limits within the cells is slowed as a whole."""


def settled(dyn: Dynamics, motion: TimeOptimal, limits: MotionLimits, reserve: Reserve) -> TimeOptimal:
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
