"""Trajectories made of others: in another time, backwards, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.trajectory.cartesian import TaskTrajectory, in_sequence
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

GAP = 1e-9
"""Largest jump between two motions that is ignored, rad or m."""


@dataclass(frozen=True, eq=False, repr=False)
class Retimed(Trajectory):
    """A path with another timing: q(t) = path(s(t)), with a time law s(t), the `clock`."""

    path: Trajectory
    clock: Trajectory
    highest = 3

    @property
    def duration(self) -> float:
        return self.clock.duration

    @property
    def n(self) -> int:
        return self.path.n

    @property
    def breaks(self) -> Array:
        """Breaks of the clock, and times at which a monotonic clock passes a break of the path."""
        t = np.linspace(0.0, self.duration, 1001)
        s = self.clock(t)[:, 0]
        passed = np.interp(self.path.breaks, s, t) if s[-1] >= s[0] else np.interp(self.path.breaks, s[::-1], t[::-1])
        for _ in range(5):  # Newton from linear interpolation
            speed = self.clock(passed, 1)[:, 0]
            moving = np.abs(speed) > 1e-12
            step = np.where(moving, (self.path.breaks - self.clock(passed)[:, 0]) / np.where(moving, speed, 1.0), 0.0)
            passed = np.clip(passed + step, 0.0, self.duration)
        return np.union1d(self.clock.breaks, passed)

    def inside(self, t: Array, order: int) -> Array:
        s = self.clock(t)[..., 0]
        if order == 0:
            return self.path(s)
        s1 = self.clock(t, 1)
        if order == 1:
            first: Array = self.path(s, 1) * s1
            return first
        s2 = self.clock(t, 2)
        if order == 2:
            second: Array = self.path(s, 2) * s1**2 + self.path(s, 1) * s2
            return second
        s3 = self.clock(t, 3)
        third: Array = self.path(s, 3) * s1**3 + 3 * self.path(s, 2) * s1 * s2 + self.path(s, 1) * s3
        return third


@dataclass(frozen=True, eq=False, repr=False)
class Uniform(Trajectory):
    """A path at another constant speed, forwards or backwards: q(t) = path(rate t) or path(duration + rate t)."""

    path: Trajectory
    rate: float

    @property
    def duration(self) -> float:
        return self.path.duration / abs(self.rate)

    @property
    def n(self) -> int:
        return self.path.n

    @property
    def breaks(self) -> Array:
        there = self.path.breaks / abs(self.rate)
        return there if self.rate > 0 else self.duration - there[::-1]

    @property
    def highest(self) -> int | None:
        return self.path.highest

    def inside(self, t: Array, order: int) -> Array:
        start = 0.0 if self.rate > 0 else self.path.duration
        s: Array = np.clip((start + self.rate * t).real, 0.0, self.path.duration)
        if np.iscomplexobj(t):
            s = s + 1j * self.rate * t.imag
        return self.path.inside(s, order) * self.rate**order

    def peak(self, order: int = 0) -> Array:
        return self.path.peak(order) * abs(self.rate) ** order


def slowed(path: Trajectory, factor: float) -> Trajectory:
    """Return the same path in `factor` times the duration."""
    if not (np.isfinite(factor) and factor > 0):
        raise ArmdynError(f"factor = {factor}", expected="a positive number")
    return Uniform(path, 1 / factor)


def retimed(path: Trajectory, clock: float | Trajectory) -> Trajectory:
    """Return the same path with another duration, s, or time law s(t)."""
    if isinstance(clock, Trajectory):
        if clock.n != 1:
            raise ShapeError(f"a time law of {clock.n} joints", expected="one joint: the path parameter s(t)")
        return Retimed(path, clock)
    if path.duration == 0:
        raise ArmdynError("a motion of zero duration cannot be stretched", advice="Use `hold` to stand still.")
    return slowed(path, clock / path.duration)


def backwards(path: Trajectory) -> Trajectory:
    """Return the same path backwards."""
    return Uniform(path, -1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Concatenation(Trajectory):
    """Motions one after the other; where two meet, derivatives are those of the later one."""

    parts: tuple[Trajectory, ...]
    starts: Array

    @property
    def duration(self) -> float:
        return float(self.starts[-1])

    @property
    def n(self) -> int:
        return self.parts[0].n

    @property
    def breaks(self) -> Array:
        return np.unique(np.concatenate([s + p.breaks for s, p in zip(self.starts, self.parts, strict=False)]))

    @property
    def highest(self) -> int | None:
        known = [part.highest for part in self.parts if part.highest is not None]
        return min(known) if known else None

    def inside(self, t: Array, order: int) -> Array:
        piece = np.clip(np.searchsorted(self.starts, t.real, side="right") - 1, 0, len(self.parts) - 1)
        value = np.zeros((*t.shape, self.n), dtype=t.dtype)
        for k in np.unique(piece):
            chosen = piece == k
            part = self.parts[k]
            local = t[chosen] - self.starts[k]
            value[chosen] = part.inside(local + np.clip(local.real, 0, part.duration) - local.real, order)
        return value

    def peak(self, order: int = 0) -> Array:
        largest: Array = np.max([part.peak(order) for part in self.parts], axis=0)
        return largest


@overload
def concatenate(*parts: Trajectory) -> Trajectory: ...
@overload
def concatenate(*parts: TaskTrajectory) -> TaskTrajectory: ...
def concatenate(*parts: Any) -> Any:
    """Return motions one after the other, each of which starts where the one before it ends.

    parts: motions of joints, or motions of a frame such as `line` and `circle`.
    """
    if not parts:
        raise ShapeError("no trajectories", where="concatenate", expected="at least one")
    if all(isinstance(part, TaskTrajectory) for part in parts):
        return in_sequence(parts, GAP)
    if not all(isinstance(part, Trajectory) for part in parts):
        kinds = ", ".join(type(part).__name__ for part in parts)
        raise ArmdynError(
            f"cannot put {kinds} one after the other",
            where="concatenate",
            expected="motions of joints only, or motions of a frame only",
            advice="`follow` turns the motion of a frame into one of joints.",
        )
    for k, (first, second) in enumerate(pairwise(parts)):
        if first.n != second.n:
            raise ShapeError(f"part {k + 1} moves {first.n} joints, the next {second.n}", expected="the same joints")
        jump = np.abs(second(0.0) - first(first.duration))
        if jump.max() > GAP:
            raise ArmdynError(
                f"joint {int(jump.argmax()) + 1} jumps by {jump.max():.3g} between parts {k + 1} and {k + 2}",
                expected="each part to start where the one before it ends",
                advice="Insert a `point_to_point` between them.",
            )
    return Concatenation(parts, np.cumsum([0.0, *(part.duration for part in parts)]))


def polynomial_clock(knots: Array, coefficients: Array) -> PiecewisePolynomial:
    """Return a time law s(t) for `retimed`, from ascending coefficients (k, degree+1) of its pieces."""
    return PiecewisePolynomial(np.asarray(knots, dtype=float), np.asarray(coefficients, dtype=float)[:, :, None])
