"""Trajectories along a path with their fastest timing: what `time_optimal` returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from armdyn.motion.path import third_derivative
from armdyn.trajectory.compose import Retimed
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.typing import Array


class TimingStatus(Enum):
    """How the search for the fastest timing ended, in a sentence with advice."""

    OPTIMAL = "The timing is the fastest on this grid."
    FRICTION_OPEN = (
        "The iteration over friction did not converge: limits are kept only approximately. Give more points, or check "
        "the motion with `feasibility`."
    )
    COARSE = "Between the grid points a limit is exceeded by more than 5 %. Give more points."
    UNFINISHED = "The search with limited jerk was stopped: all limits are kept, but the timing may not be the fastest."


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimal(Retimed):
    """Trajectory along a path with the fastest timing that the limits allow.

    Between grid points the acceleration of s is constant. Limits hold at both ends and, after a slight slowing down, at
    the quarters of every cell; between these they are exceeded by a few ten-thousandths at most.

    status: how the search ended, with advice.
    s:      (N+1,) path parameter at the grid points.
    speed:  (N+1,) its rate, 1/s.
    bound:  (N+1,) largest rate from which the end can still be reached, 1/s; infinite with limited jerk.
    rounds: iterations over friction; Newton steps with limited jerk.
    """

    status: TimingStatus
    s: Array
    speed: Array
    bound: Array
    rounds: int
    highest = 2

    @property
    def breaks(self) -> Array:
        return self.clock.breaks  # the path's own are among them

    def within(self, s: Array, cell: Array) -> Array:
        """The parameter kept strictly inside its cell: at a corner or a jump, derivatives are those of the cell."""
        assert isinstance(self.clock, PiecewisePolynomial)
        first, side = self.clock.coefficients[:, 0, 0], 1e-9 * self.path.duration
        last = np.append(first[1:], self.path.duration)
        return np.clip(s, first[cell] + side, last[cell] - side)

    def inside(self, t: Array, order: int) -> Array:
        if order == 0:
            return super().inside(t, order)
        assert isinstance(self.clock, PiecewisePolynomial)
        knots = self.clock.knots
        cell = np.clip(np.searchsorted(knots, t.real, side="right") - 1, 0, len(knots) - 2)
        s, sd, sdd = (self.clock(t.real, k)[..., 0] for k in range(3))
        first = self.path(self.within(s, cell), 1)
        if order == 1:
            velocity: Array = first * sd[..., None]
            return velocity
        acceleration: Array = self.path(self.within(s, cell), 2) * sd[..., None] ** 2 + first * sdd[..., None]
        return acceleration

    def __str__(self) -> str:
        return f"{self.duration:.6g} s on {len(self.s) - 1} cells. {self.status.value}"


@dataclass(frozen=True, eq=False, repr=False)
class JerkLimited(TimeOptimal):
    """Trajectory along a path with the fastest timing that the limits allow, jerk included.

    The squared rate of the path parameter is a spline (`jerk_timing`); limits hold at 17 places of each of its
    intervals. Without acceleration at both ends.
    """

    highest = 3

    def inside(self, t: Array, order: int) -> Array:
        if order < 3:
            return Retimed.inside(self, t.real, order)
        s, s1, s2, s3 = (self.clock(t.real, k) for k in range(4))
        third = third_derivative(self.path, s[..., 0])
        jerk: Array = third * s1**3 + 3 * self.path(s[..., 0], 2) * s1 * s2 + self.path(s[..., 0], 1) * s3
        return jerk
