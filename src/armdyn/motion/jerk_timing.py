"""The fastest timing of a path with limited jerk, by an interior-point method.

Let q(w), w from 0 to 1, be the path at a quintic speed: at rest and without acceleration at both ends. Played at the
rate wd = sqrt(x), primes denoting derivatives by w,

    qd = q' sqrt(x),     qdd = q'' x + q' x'/2,     qddd = sqrt(x) (q''' x + 3/2 q'' x' + 1/2 q' x'')         [JT-1]

so that x stays positive where the robot rests. x is a quadratic spline in w. The duration, the integral of x^-1/2, is
convex in x; velocities, accelerations and torques (without friction that depends on the speed) are linear in x, and

    |q''' x + 3/2 q'' x' + 1/2 q' x''| <= J x^-1/2                                                            [JT-2]

bounds a linear function by a convex one. Minimised is the duration with a logarithmic barrier for all limits, whose
weight is lowered step by step. A Newton step leaves the curvature of [JT-2] out: it replaces x^-1/2 by its tangent,
which lies below it, so that the model of a step is convex and within the limits (the convex-concave procedure of Yuille
and Rangarajan 2003). A spline touches three coefficients at a time: a step costs as much as the evaluation of limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import solveh_banded

from armdyn.dynamics import Dynamics
from armdyn.motion.path import bends, third_derivative
from armdyn.motion.resistance import Reserve, resistance_of, torque_scale
from armdyn.motion.sampling import too_heavy
from armdyn.robot.limits import MotionLimits
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

PLACES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
"""Where limits are kept in every interval of the spline."""
BOOLE = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90
"""Weights of those places in an integral."""
DENSE = np.linspace(0.0, 1.0, 17)
"""Where limits are checked in the end."""
GAP = 1e-5
"""Fraction of the duration by which the barrier may lengthen it, at most."""
WEAKER = 0.25
"""Factor of the barrier's weight from one minimisation to the next."""
ROUNDS, CLOSE = 3, 1e-4
"""Rounds in which limits exceeded between the places by more than CLOSE, a fraction, are tightened there."""
LEAST = 0.9
"""Factor of x down to which a timing that exceeds limits between the places is slowed as a whole."""
MOST_STEPS = 600
ACCEPTED = 0.1
"""Part of the expected decrease that a step must bring."""
GAUSS, WEIGHT = (x / 2 for x in np.polynomial.legendre.leggauss(6))


def quintic(w: Array) -> tuple[Array, Array, Array, Array]:
    """Return the path parameter, from 0 to 1, and its derivatives by w. Khalil (8.12)"""
    return (
        w**3 * (10 - 15 * w + 6 * w**2),
        30 * w**2 * (1 - w) ** 2,
        60 * w * (1 - w) * (1 - 2 * w),
        60 - 360 * w + 360 * w**2,
    )


class Spline(NamedTuple):
    """The timing of a part of the path: x, piecewise quadratic in w.

    first, length: of the part, as path parameter.
    knots:         (N+1,) w.
    x:             (N, 3) coefficients of x in w - knots[k], ascending.
    steps:         Newton steps of the search.
    finished:      whether the search converged.
    kept:          whether limits are kept at all places that are checked.
    """

    first: float
    length: float
    knots: Array
    x: Array
    steps: int
    finished: bool
    kept: bool


class Along(NamedTuple):
    """The path at the places of the intervals of a spline, (N, places, n): q and its derivatives by w."""

    q: Array
    q1: Array
    q2: Array
    q3: Array


def fastest_spline(
    dyn: Dynamics,
    curve: Trajectory,
    first: float,
    last: float,
    limits: MotionLimits,
    points: int,
    turns: Array,
    reserve: Reserve,
) -> Spline:
    """Return the timing of a part of a path, from rest to rest, that keeps all limits, jerk included.

    first, last: the part, as path parameter.
    points:      number of intervals of the spline.
    turns:       path parameters that become knots, such as those at which friction changes its sign.
    reserve:     torques to stay away from the limits.
    """
    knots = _knots(curve, first, last, points, turns)
    program = JerkProgram(dyn, curve, first, last, knots, PLACES, limits, reserve)
    program.require_holding(dyn, f"robot {dyn.robot.name!r}, path")
    start = np.full(len(knots) + 1, program.slow_rate())
    c, steps, finished = minimised(program, start)
    check = JerkProgram(dyn, curve, first, last, knots, DENSE, limits, reserve)
    for _ in range(ROUNDS):
        between = [np.minimum(s.min(axis=1, keepdims=True), 0.0) for s in check.slacks(check.values(c))]
        if min(s.min(initial=0.0) for s in between) > -CLOSE:
            break
        program.reserve = [old - new for old, new in zip(program.reserve, between, strict=True)]
        c, more, finished = minimised(program, 0.99 * program.largest_factor(c) * c, 100 * GAP)
        steps += more
    c = c * check.largest_factor(c)
    x, x1, x2 = program.values(c)[:, :, 0]
    kept = check.least_slack(c) >= 0
    return Spline(first, last - first, knots, np.stack([x, x1, x2 / 2], axis=1), steps, finished, kept)


def _knots(curve: Trajectory, first: float, last: float, points: int, turns: Array) -> Array:
    """Even knots, moved to the breaks of the path and to `turns`; more of them where the path bends sharply."""
    even = np.linspace(0.0, 1.0, points + 1)
    sharp = bends(curve, first + (last - first) * quintic(even)[0])
    places = np.concatenate([curve.breaks, turns])
    places = np.sort(places[(places > first) & (places < last)])
    fixed = _solved((places - first) / (last - first))
    knots = even.copy()
    for w in fixed:
        k = int(np.abs(knots[1:-1] - w).argmin()) + 1
        if knots[k] in even:
            knots[k] = w
        elif np.abs(knots - w).min() > 1e-3 / points:
            knots = np.sort(np.append(knots, w))
    more = _solved((sharp - first) / (last - first))
    return np.union1d(knots, more[np.abs(more[:, None] - knots).min(axis=1) > 1e-3 / points]) if len(more) else knots


def _solved(s: Array) -> Array:
    """The w of path parameters from 0 to 1, by bisection."""
    low, high = np.zeros_like(s), np.ones_like(s)
    for _ in range(52):
        middle = 0.5 * (low + high)
        below = quintic(middle)[0] < s
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(0.5 * (low + high))


class JerkProgram:
    """The limits as functions of the spline's coefficients: each has to leave a positive slack."""

    def __init__(
        self,
        dyn: Dynamics,
        curve: Trajectory,
        first: float,
        last: float,
        knots: Array,
        places: Array,
        limits: MotionLimits,
        reserve: Reserve,
    ) -> None:
        self.limits, self.scale, self.resistance = limits, torque_scale(limits), resistance_of(dyn, limits)
        self.basis = _basis(knots, places)
        h = np.diff(knots)[:, None]
        self.weights = h * BOOLE if len(places) == len(BOOLE) else np.empty(0)  # only checked, not minimised
        inner = np.clip(places, 1e-9, 1 - 1e-9)  # the sides of breaks that belong to the interval
        w = knots[:-1, None] + h * inner
        path = self.path = _along(curve, first, last, w)
        self.kept = np.broadcast_to(reserve(first + (last - first) * quintic(w)[0]), path.q.shape)
        rest = np.zeros_like(path.q)
        self.g = dyn.inverse_dynamics(path.q, rest, rest)
        self.a = 0.5 * (dyn.inverse_dynamics(path.q, rest, path.q1) - self.g)
        self.b = dyn.inverse_dynamics(path.q, path.q1, path.q2) - self.g - dyn.friction(path.q1)
        on = np.isfinite(limits.acceleration)
        most = limits.acceleration[on]
        fastest = ((path.q1 / limits.velocity) ** 2).max(axis=-1, keepdims=True)
        sides = (
            [sign * path.q2[..., on] / most for sign in (1, -1)],
            [sign * path.q1[..., on] / most / 2 for sign in (1, -1)],
        )
        self.linear = np.concatenate([fastest, *sides[0]], -1), np.concatenate([0 * fastest, *sides[1]], -1)
        on = np.isfinite(limits.jerk)
        most = limits.jerk[on]
        self.jerk = path.q3[..., on] / most, 1.5 * path.q2[..., on] / most, 0.5 * path.q1[..., on] / most
        self.reserve: list[Array] = [np.zeros(())] * 5
        self.torques = [
            (side, sign, np.flatnonzero(np.isfinite(limit)), limit)
            for side, sign, limit in ((0, 1, limits.tau_max), (1, -1, limits.tau_min))
        ]

    def values(self, c: Array) -> Array:
        """(3, N, places) x and its two derivatives."""
        local = np.stack([c[:-2], c[1:-1], c[2:]], axis=1)
        return np.asarray(np.einsum("npoc,nc->onp", self.basis, local))

    def duration(self, x: Array) -> float:
        return float((self.weights * x**-0.5).sum())

    def slacks(self, values: Array) -> list[Array]:
        """Slacks, (N, places, m) each; positive within the limits."""
        x, x1, x2 = values[..., None]
        jerk = sum(k * v for k, v in zip(self.jerk, (x, x1, x2), strict=True))
        found = [1 - self.linear[0] * x - self.linear[1] * x1, x**-0.5 - jerk, x**-0.5 + jerk]
        lost = self.resistance(self.path.q1 * np.sqrt(x))
        moving = self.a * x1 + self.b * x + self.g
        for side, sign, on, limit in self.torques:
            found.append((sign * (limit - moving - lost[side]) - self.kept)[..., on] / self.scale[on])
        return [slack - reserve for slack, reserve in zip(found, self.reserve, strict=True)]

    def slopes(self, x: Array) -> list[tuple[Array, ...]]:
        """Derivatives of the slacks by x, x' and, for jerk, x''; friction by central differences."""
        x = x[..., None]
        tangent = -0.5 * x**-1.5
        j = self.jerk
        found: list[tuple[Array, ...]] = [
            (-self.linear[0], -self.linear[1]),
            (tangent - j[0], -j[1], -j[2]),
            (tangent + j[0], j[1], j[2]),
        ]
        y = self.path.q1 * np.sqrt(x)
        slope = (self.resistance(1.001 * y) - self.resistance(0.999 * y)) / (0.004 * x)
        for side, sign, on, _ in self.torques:
            found.append(
                (-sign * (self.b + slope[side])[..., on] / self.scale[on], -sign * self.a[..., on] / self.scale[on])
            )
        return found

    def least_slack(self, c: Array) -> float:
        values = self.values(c)
        return -np.inf if values[0].min() <= 0 else min(float(s.min(initial=np.inf)) for s in self.slacks(values))

    def require_holding(self, dyn: Dynamics, where: str) -> None:
        """Raise Infeasible if gravity with dry friction exceeds a limit."""
        resting = self.g + self.resistance(1e-6 * self.path.q1)[0]
        over = np.maximum(resting - self.limits.tau_max, self.limits.tau_min - resting) + self.kept
        over = over.reshape(-1, dyn.n)
        k, i = np.unravel_index(int(over.argmax()), over.shape)
        if over[k, i] >= 0:
            dry = bool((resting - self.g).reshape(over.shape)[k, i])
            raise too_heavy(dyn.robot, int(i), float(resting.reshape(over.shape)[k, i]), self.limits, dry, where)

    def slow_rate(self) -> float:
        """A constant x well within the limits."""
        x, points = 1e6, len(self.basis) + 2
        resting = self.least_slack(np.full(points, 1e-12))
        for _ in range(200):
            if self.least_slack(np.full(points, x)) >= 0.5 * min(resting, 1.0):
                break
            x *= 0.6
        return x

    def largest_factor(self, c: Array) -> float:
        """The largest factor up to 1 of all coefficients that keeps the limits; LEAST if none does."""
        low, high = LEAST, 1.0
        if self.least_slack(c) >= 0:
            return 1.0
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.least_slack(middle * c) >= 0 else (low, middle)
        return low

    def merit(self, c: Array, mu: float) -> float:
        """Duration with the barrier of weight mu; infinite outside of the limits."""
        values = self.values(c)
        if values[0].min() <= 0:
            return np.inf
        slacks = self.slacks(values)
        if min(s.min(initial=1.0) for s in slacks) <= 0:
            return np.inf
        return self.duration(values[0]) - mu * sum(float(np.log(s).sum()) for s in slacks)

    def step(self, c: Array, mu: float) -> tuple[Array, float]:
        """Newton step of the merit and the slope in its direction."""
        values = self.values(c)
        x = values[0]
        gradient, hessian = np.zeros((3, *x.shape)), np.zeros((3, 3, *x.shape))
        gradient[0], hessian[0, 0] = -0.5 * self.weights * x**-1.5, 0.75 * self.weights * x**-2.5
        for slack, slopes in zip(self.slacks(values), self.slopes(x), strict=True):
            parts = [slope / slack for slope in slopes]
            for i, part in enumerate(parts):
                gradient[i] -= mu * part.sum(axis=-1)
                for k, other in enumerate(parts[: i + 1]):
                    hessian[i, k] += mu * (part * other).sum(axis=-1)
        for i, k in ((0, 1), (0, 2), (1, 2)):
            hessian[i, k] = hessian[k, i]
        slope = np.einsum("onp,npoc->nc", gradient, self.basis)
        bend = np.einsum("abnp,npac,npbd->ncd", hessian, self.basis, self.basis, optimize=True)
        cells = len(x)
        whole, band = np.zeros(cells + 2), np.zeros((3, cells + 2))
        for i in range(3):
            whole[i : i + cells] += slope[:, i]
            for k in range(i, 3):
                band[k - i, i : i + cells] += bend[:, i, k]
        direction = -solveh_banded(band, whole, lower=True)
        return direction, float(whole @ direction)


def _basis(knots: Array, places: Array) -> Array:
    """(N, places, 3, 3) the three quadratic B-splines of every interval: values and two derivatives."""
    padded = np.concatenate([knots[:1], knots, knots[-1:]])
    before, start, end, after = (padded[i : i + len(knots) - 1, None] for i in range(4))
    w = start + (end - start) * places
    left, right = (end - before) * (end - start), (after - start) * (end - start)
    first = np.stack([(end - w) ** 2 / left, -2 * (end - w) / left, 2 / left + 0 * w], axis=-1)
    last = np.stack([(w - start) ** 2 / right, 2 * (w - start) / right, 2 / right + 0 * w], axis=-1)
    whole = np.array([1.0, 0.0, 0.0])
    return np.stack([first, whole - first - last, last], axis=-1)


def _along(curve: Trajectory, first: float, last: float, w: Array) -> Along:
    """Derivatives by w, by the chain rule."""
    u, u1, u2, u3 = ((last - first) * each for each in quintic(w))
    s = first + u
    p, p1, p2, p3 = *(np.ascontiguousarray(curve(s, order)) for order in range(3)), third_derivative(curve, s)
    u1, u2, u3 = u1[..., None], u2[..., None], u3[..., None]
    return Along(p, p1 * u1, p2 * u1**2 + p1 * u2, p3 * u1**3 + 3 * p2 * u1 * u2 + p1 * u3)


def minimised(program: JerkProgram, c: Array, weight: float = 1.0) -> tuple[Array, int, bool]:
    """Return the coefficients of the fastest timing from a feasible start, the Newton steps, whether it converged.

    weight: of the barrier at first, as a fraction of the duration.
    """
    values = program.values(c)
    count = sum(s.size for s in program.slacks(values))
    mu, steps = weight * program.duration(values[0]) / count, 0
    while True:
        merit = program.merit(c, mu)
        while steps < MOST_STEPS:
            direction, slope = program.step(c, mu)
            steps += 1
            size = 1.0
            while (new := program.merit(c + size * direction, mu)) > merit + ACCEPTED * size * slope and size > 1e-8:
                size *= 0.5
            if not new < merit:
                break
            c, merit = c + size * direction, new
            if -slope < ACCEPTED * mu * len(c):
                break
        duration = program.duration(program.values(c)[0])
        if mu * count < GAP * duration:
            return c, steps, True
        if steps >= MOST_STEPS:
            return c, steps, False
        mu *= WEAKER


@dataclass(frozen=True, eq=False, repr=False)
class SplineClock(Trajectory):
    """The path parameter s(t) of splines one after the other.

    first, length: (K,) start and length of the part of the path to which an interval belongs.
    w, h:          (K,) start and width of every interval.
    x:             (K, 3) squared rate of w in the interval, ascending coefficients.
    """

    first: Array
    length: Array
    w: Array
    h: Array
    x: Array
    highest = 3

    @property
    def duration(self) -> float:
        return float(self.times[-1])

    @property
    def n(self) -> int:
        return 1

    @property
    def breaks(self) -> Array:
        return self.times

    @cached_property
    def times(self) -> Array:
        """(K+1,) times of the knots, s."""
        return np.concatenate([[0.0], np.cumsum(self._elapsed(np.arange(len(self.w)), self.h))])

    def inside(self, t: Array, order: int) -> Array:
        cell = np.clip(np.searchsorted(self.times, t.real, side="right") - 1, 0, len(self.w) - 1)
        left = t.real - self.times[cell]
        h = self.h[cell] * left / np.diff(self.times)[cell]
        for _ in range(5):  # Newton: dt/dw = x^-1/2
            h = np.clip(h - (self._elapsed(cell, h) - left) * np.sqrt(self._rate(cell, h)), 0.0, self.h[cell])
        u, u1, u2, u3 = quintic(self.w[cell] + h)
        length, (_, slope, bend) = self.length[cell], np.moveaxis(self.x[cell], -1, 0)
        x, x1, x2 = self._rate(cell, h), slope + 2 * bend * h, 2 * bend
        value = (
            self.first[cell] + length * u
            if order == 0
            else length * u1 * np.sqrt(x)
            if order == 1
            else length * (u2 * x + u1 * x1 / 2)
            if order == 2
            else length * np.sqrt(x) * (u3 * x + 1.5 * u2 * x1 + 0.5 * u1 * x2)
        )
        return np.asarray(value)[..., None]

    def _rate(self, cell: Array, h: Array) -> Array:
        c = self.x[cell]
        return np.asarray(c[..., 0] + h * (c[..., 1] + h * c[..., 2]))

    def _elapsed(self, cell: Array, h: Array) -> Array:
        """Time from the start of a cell, by Gauss quadrature with six points."""
        places = h[..., None] * (0.5 + GAUSS)
        return np.asarray(h * (self._rate(cell[..., None], places) ** -0.5 @ WEIGHT))


def joined(parts: list[Spline]) -> SplineClock:
    """Return the time law of several parts of a path, one after the other."""
    counts = [len(part.x) for part in parts]
    return SplineClock(
        np.repeat([part.first for part in parts], counts),
        np.repeat([part.length for part in parts], counts),
        np.concatenate([part.knots[:-1] for part in parts]),
        np.concatenate([np.diff(part.knots) for part in parts]),
        np.concatenate([part.x for part in parts]),
    )
