"""A path on a grid: where its cells are, and the torques that rates of its parameter need there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion.path import bends, sides
from armdyn.motion.resistance import Reserve
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

QUARTERS = np.array([0.25, 0.5, 0.75])
FINER = np.array([1 / 64, 1 / 16, 1 / 4])
"""Where the cells next to the ends are subdivided."""
FEWEST = 40
"""Smallest number of cells between two corners."""


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


def _grid(dyn: Dynamics, curve: Trajectory, first: float, last: float, points: int, extra: Array) -> Array:
    """Grid from first to last, denser at the ends, where a motion from rest changes its speed most.

        k/N = (sigma + 2/pi asin(sqrt(sigma)))/2,     sigma from 0 to 1: half of them evenly in sigma, half in speed

    Breaks of the path are grid points, and so are `extra` and the places at which a joint with dry friction reverses.
    """
    count = max(min(FEWEST, points), round(points * (last - first)))
    sigma = np.sin(np.linspace(0.0, np.pi / 2, 8 * count + 1)) ** 2
    even = np.interp(np.linspace(0, 1, count + 1), 0.5 * (sigma + np.linspace(0, 1, 8 * count + 1)), sigma)
    ends = even[1] * FINER  # how friction behaves at rest then matters for a moment only
    x = first + (last - first) * np.concatenate([[0.0], ends, even[1:-1], 1 - ends[::-1], [1.0]])
    x[-1] = last
    places = np.concatenate([curve.breaks / curve.duration, reversals(dyn, curve, x)])
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
    more = np.append(bends(curve, x * curve.duration) / curve.duration, extra[(extra > first) & (extra < last)])
    more = more[np.abs(more[:, None] - x).min(axis=1) > close] if len(more) else more
    return np.union1d(x, more)


def reversals(dyn: Dynamics, curve: Trajectory, x: Array) -> Array:
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


def cells_of(
    dyn: Dynamics, curve: Trajectory, first: float, last: float, points: int, reserve: Reserve, extra: Array
) -> Cells:
    """Return the part of a path between two corners on a grid of so many points, and extra ones, from 0 to 1."""
    L = curve.duration
    x = _grid(dyn, curve, first, last, points, extra)
    s = np.stack([sides(curve, x[:-1] * L)[1], sides(curve, x[1:] * L)[0]])
    q, q1, q2 = (np.ascontiguousarray(curve(s, order)) * L**order for order in range(3))
    rest = np.zeros_like(q)
    g = dyn.inverse_dynamics(q, rest, rest)
    a = dyn.inverse_dynamics(q, rest, q1) - g
    b = dyn.inverse_dynamics(q, q1, q2) - g - dyn.friction(q1)
    quarters = x[:-1] + QUARTERS[:, None] * np.diff(x)
    return Cells(x, q, q1, q2, a, b, g, np.broadcast_to(reserve(s), q.shape), curve(quarters * L, 1) * L)
