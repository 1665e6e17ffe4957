"""Interpolation functions r(t) from 0 to 1, each with its minimum time. Khalil sec. 8.3

A move q(t) = q0 + r(t) D keeps |qd_j| <= k_vj and |qdd_j| <= k_aj for all joints if |rd| <= v and |rdd| <= a with

    v = min_j k_vj / |D_j|,    a = min_j k_aj / |D_j|        (Khalil (8.29)-(8.34), without a preferred joint)

where joints at rest (D_j = 0) are left out. So a profile depends on v and a alone.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Polynomial

from armdyn.errors import ArmdynError
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.typing import Array

EVEN = 1 / 3
"""Fraction of the duration in which a profile with a phase of constant velocity accelerates, by default."""


class Profile(ABC):
    """A family of interpolation functions."""

    name: str
    continuous: int
    """The highest derivative without jumps, ends included: 0 position, 1 velocity, 2 acceleration."""

    @abstractmethod
    def fastest(self, v: float, a: float) -> PiecewisePolynomial:
        """The r(t) of least duration with |rd| <= v and |rdd| <= a."""

    @abstractmethod
    def lasting(self, duration: float) -> PiecewisePolynomial:
        """The r(t) of that duration."""


@dataclass(frozen=True)
class Fixed(Profile):
    """A profile of fixed shape: r is a function of t/t_f.

    name:       of the profile.
    continuous: highest continuous derivative.
    pieces:     polynomials in t/t_f, ascending, each with the t/t_f at which it ends.
    v_peak:     maximum of |dr/d(t/t_f)|.
    a_peak:     maximum of the second derivative; NaN if unbounded (a jump of velocity).
    """

    name: str
    continuous: int
    pieces: tuple[tuple[float, tuple[float, ...]], ...]
    v_peak: float
    a_peak: float

    def fastest(self, v: float, a: float) -> PiecewisePolynomial:
        by_acceleration = 0.0 if math.isnan(self.a_peak) else math.sqrt(self.a_peak / a)
        duration = max(self.v_peak / v, by_acceleration)  # Khalil table 8.1
        if duration == 0:
            raise _unlimited(self.name, "v_max" if math.isnan(self.a_peak) else "v_max or a_max")
        return self.lasting(duration)

    def lasting(self, duration: float) -> PiecewisePolynomial:
        ends = [end for end, _ in self.pieces]
        knots = np.array([0.0, *ends])
        shifted = [Polynomial(c)(Polynomial([k, 1.0])).coef for k, (_, c) in zip(knots, self.pieces, strict=False)]
        return _assembled(knots * duration, shifted, 1 / duration)


@dataclass(frozen=True)
class Ramped(Profile):
    """Accelerate for a time tau, keep the velocity V, decelerate in the mirror image of the acceleration.

        r(t) = V tau G(t/tau)                      0 <= t <= tau
        r(t) = V (t - tau/2)                       tau <= t <= t_f - tau
        r(t) = 1 - V tau G((t_f - t)/tau)          t_f - tau <= t <= t_f,      V = 1/(t_f - tau)

    ramp: pieces of G on [0, 1], ascending in s, each with the s at which it ends; its derivative rises from 0 to 1 and
    is symmetric, so that G(1) = 1/2. peak: maximum c of its second derivative, so that |rdd| <= c V/tau.
    """

    name: str
    continuous: int
    ramp: tuple[tuple[float, tuple[float, ...]], ...]
    peak: float

    def fastest(self, v: float, a: float) -> PiecewisePolynomial:
        """tau = c V/a, t_f = tau + 1/V; V = v if it is reached. Khalil (8.20), (8.22), (8.33), (8.41), (8.45)"""
        if math.isinf(a):
            raise _unlimited(self.name, "a_max")
        V = min(v, math.sqrt(a / self.peak))  # reached if 1 > c v^2/a: (8.18), (8.46); else (8.35), (8.47)
        tau = self.peak * V / a
        return self.phases(tau, max(tau + 1 / V, 2 * tau))

    def lasting(self, duration: float) -> PiecewisePolynomial:
        return self.phases(EVEN * duration, duration)

    def phases(self, tau: float, duration: float) -> PiecewisePolynomial:
        """The r(t) that accelerates for tau and lasts `duration`, s. Khalil, compact forms after (8.34) and (8.47)"""
        if not 0 < tau <= duration / 2:
            raise ArmdynError(
                f"an acceleration phase of {tau:.6g} s in a motion of {duration:.6g} s",
                where=f"profile {self.name!r}",
                expected="more than 0 and at most half the duration",
            )
        distance = tau / (duration - tau)
        ramp = [Polynomial(c) for _, c in self.ramp]
        ends = np.array([0.0, *(end for end, _ in self.ramp)])
        up = [distance * g(Polynomial([s, 1 / tau])) for s, g in zip(ends, ramp, strict=False)]
        down = [1 - distance * g(Polynomial([s, -1 / tau])) for s, g in zip(ends[:0:-1], ramp[::-1], strict=True)]
        middle = Polynomial([distance / 2, 1 / (duration - tau)])
        cruise = [middle] if duration > 2 * tau else []
        before, after = tau * ends, duration - tau * ends[::-1]
        knots = np.concatenate([before, after if cruise else after[1:]])
        return _assembled(knots, [p.coef for p in (*up, *cruise, *down)])


@dataclass(frozen=True)
class BangBang(Profile):
    """Constant acceleration up to half the time, constant deceleration after it. Khalil (8.15)

    The trapezoid without a phase of constant velocity, with its own minimum time.
    """

    name: str
    continuous: int
    ramped: Ramped

    def fastest(self, v: float, a: float) -> PiecewisePolynomial:
        duration = max(2 / v, 2 / math.sqrt(a))  # Khalil table 8.1, from (8.16), (8.17)
        if duration == 0:
            raise _unlimited(self.name, "v_max or a_max")
        return self.lasting(duration)

    def lasting(self, duration: float) -> PiecewisePolynomial:
        return self.ramped.phases(duration / 2, duration)


def _assembled(knots: Array, pieces: list[Array], scale: float = 1.0) -> PiecewisePolynomial:
    """Pieces in ascending powers of scale (t - knot) as one function."""
    degree = max(map(len, pieces))
    coefficients = np.zeros((len(pieces), degree, 1))
    for k, c in enumerate(pieces):
        coefficients[k, : len(c), 0] = c * scale ** np.arange(len(c))
    return PiecewisePolynomial(knots, coefficients)


def _unlimited(name: str, limit: str) -> ArmdynError:
    return ArmdynError(
        f"the minimum time of a {name} profile needs a limit", expected=limit, advice="Give it, or a duration."
    )


def _trapezoidal_ramp(share: float) -> tuple[tuple[float, tuple[float, ...]], ...]:
    """G whose second derivative rises in `share`, stays at 1/(1 - share), and falls in `share`."""
    c = 1 / (1 - share)
    first = Polynomial([0, 0, 0, c / (6 * share)])
    second = Polynomial([first(share), first.deriv()(share), c / 2])(Polynomial([-share, 1]))
    third = Polynomial([-0.5, 1]) + first(Polynomial([1, -1]))  # by symmetry G(s) = s - 1/2 + G(1 - s)
    return (share, tuple(first.coef)), (1 - share, tuple(second.coef)), (1.0, tuple(third.coef))


def trapezoidal_acceleration(name: str, share: str) -> Ramped:
    """Profile whose acceleration rises and falls in a share of its time. Khalil fig. 8.9b, peak 1/(1 - share)"""
    try:
        part = float(share)
    except ValueError:
        part = math.nan
    if not 0 < part <= 0.5:
        raise ArmdynError(
            f"{share!r} as the share of a ramp", where=f"profile {name!r}", expected="a number over 0, at most 0.5"
        )
    return Ramped(name, 2, _trapezoidal_ramp(part), 1 / (1 - part))


def fastest_of_limited_jerk(v: float, a: float, j: float) -> PiecewisePolynomial:
    """The fastest r(t) with |rd| <= v, |rdd| <= a and |rddd| <= j: a ramp of trapezoidal acceleration.

    The acceleration rises for t_j and lasts t_a in all. Where it reaches a, t_j = a/j; where the velocity reaches v,
    t_a = t_j + v/(j t_j). (Biagiotti and Melchiorri 2008, sec. 3.4)
    """
    t_j = min(a / j, math.sqrt(v / j))
    t_a = t_j + v / (j * t_j) if math.isfinite(v) else math.inf
    if t_a > 1 / v:  # v is not reached
        t_j = min(a / j, (1 / (2 * j)) ** (1 / 3))
        t_a = t_j / 2 + math.sqrt(t_j**2 / 4 + 1 / (j * t_j))
        v = 1 / t_a
    return trapezoidal_acceleration("smooth_trapezoid", str(min(t_j / t_a, 0.5))).phases(t_a, max(t_a + 1 / v, 2 * t_a))


# The ramp is given in powers of s; `phases` moves the origin of each piece to where it starts.
LINEAR = Fixed("linear", 0, ((1.0, (0.0, 1.0)),), 1.0, math.nan)  # Khalil (8.4)
CUBIC = Fixed("cubic", 1, ((1.0, (0.0, 0.0, 3.0, -2.0)),), 3 / 2, 6.0)  # Khalil (8.7)-(8.9)
# Khalil (8.11)-(8.13)
QUINTIC = Fixed("quintic", 2, ((1.0, (0.0, 0.0, 0.0, 10.0, -15.0, 6.0)),), 15 / 8, 10 / math.sqrt(3))
TRAPEZOID = Ramped("trapezoid", 1, ((1.0, (0.0, 0.0, 0.5)),), 1.0)  # Khalil (8.19)
BANG_BANG = BangBang("bang_bang", 1, TRAPEZOID)  # Khalil (8.15)-(8.17)
SMOOTH = Ramped("smooth", 2, ((1.0, (0.0, 0.0, 0.0, 1.0, -0.5)),), 3 / 2)  # Khalil (8.37)-(8.43)
SMOOTH_TRAPEZOID = trapezoidal_acceleration("smooth_trapezoid", "0.25")
"""Trapezoidal acceleration: it rises and falls in a quarter of tau each."""

PROFILES: dict[str, Profile] = {
    profile.name: profile for profile in (LINEAR, CUBIC, QUINTIC, BANG_BANG, TRAPEZOID, SMOOTH, SMOOTH_TRAPEZOID)
}
