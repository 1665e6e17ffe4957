"""A path on a grid: where its cells are, and the torques that rates of its parameter need there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.kernels.procedure import with_slack
from armdyn.motion.path import bends, sides
from armdyn.motion.resistance import Reserve, rubs
from armdyn.motion.sweep import SHARES
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

FINER = np.array([1 / 64, 1 / 16, 1 / 4])
"""Where the cells next to the ends are subdivided."""
FEWEST = 40
"""Smallest number of cells between two corners."""


class Cells(NamedTuple):
    """A part of the path, between two corners, on a grid.

    x:         (N+1,) path parameter, from 0 to 1 over the whole path.
    q1, q2:    (5, N, n) derivatives of the position by x at the quarters of every cell, `SHARES`, both ends included.
    a, b, g:   (5, N, n) torque = a u + b x + g + friction, with u the acceleration and x the squared rate.
    reserve:   (5, N, n) torque to stay away from the limits.
    """

    x: Array
    q1: Array
    q2: Array
    a: Array
    b: Array
    g: Array
    reserve: Array


def _grid(dyn: Dynamics, curve: Trajectory, first: float, last: float, points: int) -> Array:
    """Grid from first to last, denser at the ends, where a motion from rest changes its speed most.

        k/N = (sigma + 2/pi asin(sqrt(sigma)))/2,     sigma from 0 to 1: half of them evenly in sigma, half in speed

    Breaks of the path are grid points, and so are the places at which a joint with dry friction reverses.
    """
    count = max(FEWEST, round(points * (last - first)))
    sigma = np.sin(np.linspace(0.0, np.pi / 2, 8 * count + 1)) ** 2
    even = np.interp(np.linspace(0, 1, count + 1), 0.5 * (sigma + np.linspace(0, 1, 8 * count + 1)), sigma)
    ends = even[1] * FINER  # how friction behaves at rest then matters for a moment only
    x = first + (last - first) * np.concatenate([[0.0], ends, even[1:-1], 1 - ends[::-1], [1.0]])
    x[-1] = last
    places = np.concatenate([[first], curve.breaks / curve.duration, reversals(dyn, curve, x), [last]])
    places = np.unique(places[(places >= first) & (places <= last)])
    close = 1e-7 * (last - first)
    places = places[np.insert(np.diff(places) > 0.01 * close, 0, True)]
    places[-1] = last
    # Even grid points make way for a place that is near.
    free = x[_distances(x, places) > 0.3 * np.gradient(x)]
    x = np.union1d(free, places)
    more = bends(curve, x * curve.duration) / curve.duration
    return np.union1d(x, more[_distances(more, x) > close])


def _distances(points: Array, others: Array) -> Array:
    """Distances of points (k,) to the nearest of others, which are in order."""
    k = np.searchsorted(others, points).clip(1, len(others) - 1)
    return np.asarray(np.minimum(np.abs(points - others[k - 1]), np.abs(others[k] - points)))


def reversals(dyn: Dynamics, curve: Trajectory, x: Array) -> Array:
    """Path parameters at which joints with dry friction reverse."""
    if not rubs(dyn):
        return np.empty(0)
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


def cells_of(dyn: Dynamics, curve: Trajectory, first: float, last: float, points: int, reserve: Reserve) -> Cells:
    """Return the part of a path between two corners on a grid of so many points."""
    L = curve.duration
    x = _grid(dyn, curve, first, last, points)
    s = (x[:-1] + np.array(SHARES)[:, None] * np.diff(x)) * L
    s[0], s[-1] = sides(curve, x[:-1] * L)[1], sides(curve, x[1:] * L)[0]
    q, q1, q2, a, b, g = (with_slack((*s.shape, dyn.n)) for _ in range(6))
    for order, (value, derivative) in enumerate(zip((q, q1, q2), curve.derivatives(s), strict=True)):
        np.multiply(derivative, L**order, out=value)
    rest = np.zeros_like(q)
    g[...] = dyn.inverse_dynamics(q, rest, rest)
    np.subtract(dyn.inverse_dynamics(q, rest, q1), g, out=a)
    np.subtract(dyn.inverse_dynamics(q, q1, q2), g, out=b)
    if rubs(dyn):
        b -= dyn.friction(q1)
    return Cells(x, q1, q2, a, b, g, np.broadcast_to(reserve(s), q.shape))
