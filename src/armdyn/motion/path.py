"""Paths: motions without their timing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.trajectory.follow import TaskFollowing
from armdyn.trajectory.trajectory import Trajectory
from armdyn.trajectory.via import from_samples
from armdyn.typing import Array

SLOW = 1e-2
"""Fraction of its largest speed below which a path is parametrised by its length instead of its own time."""
STILL = 1e-7
"""Fraction of its largest speed below which a path stands still."""
STEADY = 1e-4
"""Fraction of the largest speed at which the direction of a path that comes to rest is taken."""
CORNER = 1e-6
"""Change of direction, rad, that makes a corner, at which the robot must stop."""
JUMP = 1e-5
"""Jump of the second derivative, as a fraction of its largest value, that counts as one."""
TURN = 0.05
"""Largest change of direction between two grid points, rad."""
CELLS = 1024
PIECE = 8
"""Parts of a smooth piece of a path whose directions are compared."""
GAUSS, WEIGHT = (x / 2 for x in np.polynomial.legendre.leggauss(6))


@dataclass(frozen=True, eq=False, repr=False)
class FunctionTrajectory(Trajectory):
    """A function ref(t, order) with a duration, as a trajectory."""

    ref: Any
    highest = 2

    @property
    def duration(self) -> float:
        return float(self.ref.duration)

    @property
    def n(self) -> int:
        return int(np.shape(self.ref(0.0))[-1])

    @property
    def breaks(self) -> Array:
        return np.asarray(getattr(self.ref, "breaks", np.array([0.0, self.duration])), dtype=float)

    def inside(self, t: Array, order: int) -> Array:
        return np.asarray(self.ref(t.real, order), dtype=float)


def as_trajectory(ref: Any) -> Trajectory:
    """Return a reference as a trajectory."""
    return ref if isinstance(ref, Trajectory) else FunctionTrajectory(ref)


def as_path(path: Any) -> Trajectory:
    """Return a path: a trajectory, or a spline through points (k, n) parametrised by its chord lengths."""
    if isinstance(path, TaskFollowing):
        curve: Trajectory = path.polynomials()
    elif isinstance(path, Trajectory) or callable(path):
        curve = as_trajectory(path)
    else:
        points = np.asarray(path, dtype=float)
        if points.ndim != 2 or len(points) < 2 or not np.isfinite(points).all():
            raise ShapeError(f"a path of shape {points.shape}", expected="a trajectory, or (k, n) points, k >= 2")
        chords = np.linalg.norm(np.diff(points, axis=0), axis=1)
        if (chords == 0).any():
            raise ArmdynError(f"points {int(chords.argmin()) + 1} and {int(chords.argmin()) + 2} are the same")
        curve = from_samples(np.concatenate([[0.0], np.cumsum(chords)]), points)
    if curve.duration == 0:
        raise ArmdynError("the path has no length", expected="a path of positive length")
    s = np.union1d(np.linspace(0.0, curve.duration, CELLS + 1), curve.breaks)
    speed = np.linalg.norm(curve(s, 1), axis=-1)
    if speed.max() == 0:
        raise ArmdynError("the path has no length", expected="a path of positive length")
    return curve if speed.min() > SLOW * speed.max() else ByLength(curve)


def sides(path: Trajectory, s: Array) -> tuple[Array, Array]:
    """Return parameters just before and just after s, within the path."""
    tiny = 1e-9 * path.duration
    return np.clip(s - tiny, 0.0, path.duration), np.clip(s + tiny, 0.0, path.duration)


def corners(path: Trajectory) -> Array:
    """Return the parameters of the corners of a path, both ends included."""
    places = path.breaks[(path.breaks > 0) & (path.breaks < path.duration)]
    # Tangents beside the break, continued to it: over the distance between them a curve turns, too.
    before, after = (_unit(path(x, 1) + (places - x)[:, None] * path(x, 2)) for x in sides(path, places))
    sharp = np.linalg.norm(after - before, axis=-1) > CORNER
    return np.concatenate([[0.0], places[sharp], [path.duration]])


def curvature_jumps(path: Trajectory) -> tuple[Trajectory, Array]:
    """Return the path, by its length if its own parameter is not smooth, and where its curvature jumps."""
    jumps = _second_jumps(path)
    if len(jumps) and not isinstance(path, ByLength):
        path = ByLength(path)
        jumps = _second_jumps(path)
    return path, jumps


def _second_jumps(path: Trajectory) -> Array:
    places = path.breaks[(path.breaks > 0) & (path.breaks < path.duration)]
    before, after = (path(x, 2) for x in sides(path, places))
    s = np.linspace(0.0, path.duration, CELLS + 1)
    scale = np.abs(path(s, 2)).max() + np.abs(path(s, 1)).max() / path.duration
    return np.asarray(places[np.abs(after - before).max(axis=-1, initial=0.0) > JUMP * scale])


def third_derivative(path: Trajectory, s: Array) -> Array:
    """Return the third derivative of a path, by differences of the second one if the path has no formula for it."""
    if path.highest is None or path.highest >= 3:
        return path(s, 3)
    breaks, step = path.breaks, 1e-5 * path.duration
    k = np.clip(np.searchsorted(breaks, s, side="right") - 1, 0, len(breaks) - 2)
    side = 1e-9 * path.duration
    low = np.maximum(s - step, breaks[k] + side)
    high = np.maximum(np.minimum(s + step, breaks[k + 1] - side), low + side)
    slope: Array = (path(high, 2) - path(low, 2)) / (high - low)[..., None]
    return slope


def bends(path: Trajectory, s: Array) -> Array:
    """Return parameters to add to a grid s so that the path turns by TURN at most between two grid points.

    Where a path comes nearly to rest it may reverse over a tiny length; sampling its own time finds such places.
    """
    dense = path._table[1] if isinstance(path, ByLength) else np.linspace(0.0, path.duration, CELLS // 2 + 1)
    pieces = np.unique(np.clip(path.breaks, s[0], s[-1]))  # a short one would fall between the places of the whole path
    each = pieces[:-1, None] + np.diff(pieces)[:, None] * np.linspace(0.0, 1.0, PIECE + 1)
    dense = np.union1d(dense[(dense >= s[0]) & (dense <= s[-1])], each)
    middle = 0.5 * (dense[1:] + dense[:-1])
    tangent = _unit(path(middle, 1))
    turned = np.concatenate([[0.0, 0.0], np.cumsum(np.linalg.norm(np.diff(tangent, axis=0), axis=1))])
    at = np.concatenate([[s[0]], middle])
    on_grid = np.interp(s, at, turned)
    sharp = np.diff(on_grid) > TURN
    if not sharp.any():
        return np.empty(0)
    levels = np.arange(TURN, turned[-1], TURN)
    places = np.interp(levels, turned, at)
    cell = np.clip(np.searchsorted(s, places) - 1, 0, len(s) - 2)
    added: Array = places[sharp[cell]]
    return added


def _unit(v: Array) -> Array:
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    unit: Array = v / np.where(size > 0, size, 1.0)
    return unit


@dataclass(frozen=True, eq=False, repr=False)
class ByLength(Trajectory):
    """A curve parametrised by its length in joint space, rad or m: |dq/ds| = 1, also where the curve comes to rest.

        q'  = dq/du / |dq/du|,     q'' = (dq/du2 - q' (q' . dq/du2)) / |dq/du|^2,     u the time of the curve

    Where the curve comes to rest, q' and q'' are those of the nearest point at which it moves with a ten-thousandth of
    its largest speed.
    """

    curve: Trajectory
    highest = 2

    @property
    def duration(self) -> float:
        return float(self._table[1][-1])

    @property
    def n(self) -> int:
        return self.curve.n

    @property
    def breaks(self) -> Array:
        nodes, lengths = self._table
        places = np.concatenate([self.curve.breaks, self._rests])
        return np.unique(lengths[np.searchsorted(nodes, places).clip(0, len(nodes) - 1)])

    def time(self, s: Array) -> Array:
        """Return the curve's time at lengths s, by Newton's method in the cell of s."""
        nodes, lengths = self._table
        cell = np.clip(np.searchsorted(lengths, s, side="right") - 1, 0, len(nodes) - 2)
        start, width = nodes[cell], nodes[cell + 1] - nodes[cell]
        whole = lengths[cell + 1] - lengths[cell]
        left = s - lengths[cell]
        h = width * np.where(whole > 0, left / np.where(whole > 0, whole, 1.0), 0.0)
        for _ in range(6):
            speed = self._speed(start + h)
            step = (self._lengths(start, h) - left) / np.where(speed > 0, speed, np.inf)
            h = np.clip(h - step, 0.0, width)
        time: Array = start + h
        return time

    def inside(self, t: Array, order: int) -> Array:
        u = self.time(t.real)
        if order == 0:
            return self.curve(u)
        rests, moving = self._moving
        part = np.clip(np.searchsorted(rests, u, side="right") - 1, 0, len(rests) - 2)
        u = np.clip(u, moving[part, 0], moving[part, 1])
        first = self.curve(u, 1)
        tangent = _unit(first)
        if order == 1:
            return tangent
        second = self.curve(u, 2)
        across = second - tangent * (tangent * second).sum(axis=-1, keepdims=True)
        bend: Array = across / (first**2).sum(axis=-1, keepdims=True)
        return bend

    def _speed(self, u: Array) -> Array:
        speed: Array = np.linalg.norm(self.curve(u, 1), axis=-1)
        return speed

    def _lengths(self, start: Array, h: Array) -> Array:
        """Length from start to start + h, by Gauss quadrature with six points."""
        places = start[..., None] + h[..., None] * (0.5 + GAUSS)
        length: Array = h * (self._speed(places) @ WEIGHT)
        return length

    @cached_property
    def _rests(self) -> Array:
        """Times at which the curve stands still, and its two ends."""
        end = self.curve.duration
        u = np.union1d(np.linspace(0.0, end, 2 * CELLS + 1), self.curve.breaks)
        speed = self._speed(u)
        dips = np.flatnonzero((speed[1:-1] <= speed[:-2]) & (speed[1:-1] <= speed[2:])) + 1
        low, high = u[dips - 1], u[dips + 1]
        for _ in range(60):  # golden section
            a, b = low + 0.382 * (high - low), low + 0.618 * (high - low)
            left = self._speed(a) < self._speed(b)
            low, high = np.where(left, low, a), np.where(left, b, high)
        found = (low + high) / 2
        still = found[self._speed(found) < STILL * speed.max()]
        whole = u[speed < STILL * speed.max()]  # breaks, and intervals in which the curve waits
        return np.unique(np.concatenate([[0.0], still, whole, [end]]))

    @cached_property
    def _table(self) -> tuple[Array, Array]:
        """Times and lengths; times are dense where the curve rests, so that its speed varies little in a cell."""
        end = self.curve.duration
        near = end / CELLS * 0.5 ** np.arange(24)
        crowd = (self._rests[:, None] + np.concatenate([-near, near])).ravel()
        nodes = np.concatenate([np.linspace(0.0, end, CELLS + 1), self.curve.breaks, self._rests, crowd])
        nodes = np.unique(np.clip(nodes, 0.0, end))
        lengths = np.concatenate([[0.0], np.cumsum(self._lengths(nodes[:-1], np.diff(nodes)))])
        return nodes, lengths

    @cached_property
    def _moving(self) -> tuple[Array, Array]:
        """The rests, and between every two of them the interval in which the direction of the curve is well defined."""
        rests, (nodes, _) = self._rests, self._table
        speed = self._speed(nodes)
        enough = STEADY * speed.max()
        spans = []
        for a, b in pairwise(rests):
            fast = nodes[(nodes >= a) & (nodes <= b) & (speed >= enough)]
            middle = (a + b) / 2
            spans.append((fast[0], fast[-1]) if len(fast) else (middle, middle))
        return rests, np.array(spans)
