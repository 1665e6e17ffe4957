"""Closed motions of quintic polynomials as a linear space, as `harmonics` has Fourier series. Siciliano sec. 7.4

    q_j(t) = sum_i x_ji B_i(t),    0 <= t <= T                                                                   [PE-1]

with the periodic B-splines B_i of degree 5 on pieces of equal length: jerk and its derivative are continuous too, so
that nothing shakes the arm, and a motion that is repeated goes on smoothly. The B_i add up to one, so that equal
numbers are rest at one position.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import BSpline, PPoly

from armdyn.errors import ArmdynError
from armdyn.identification.excitation.harmonics import orthonormal, positive_period
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

DEGREE = 5


@dataclass(frozen=True, kw_only=True)
class Polynomials:
    """Closed motions of quintic polynomials, four times continuously differentiable.

    count: number of pieces (default 20)
    period: s (default 10)
    rest: begin and end with zero velocity and acceleration (default True)
    """

    count: int = 20
    period: float = 10.0
    rest: bool = True

    def __post_init__(self) -> None:
        positive_period(self.period)
        if self.count <= DEGREE:
            raise ArmdynError(f"{self.count} polynomials", expected=f"at least {DEGREE + 1}")

    def __str__(self) -> str:
        return f"{self.count} quintic polynomials, period {self.period:g} s"

    @property
    def fine(self) -> int:
        """Samples per period between which nothing rises by more than 4e-5: Markov's p'' <= 800 max |p|, degree 5."""
        return 1600 * self.count

    @cached_property
    def _splines(self) -> Array:
        """(count, 6, count) coefficients of every B_i in every piece, ascending powers of time."""
        spline = PPoly.from_spline(BSpline.basis_element(np.arange(DEGREE + 2.0)))
        inside = spline.c[::-1, (spline.x[:-1] >= 0) & (spline.x[:-1] <= DEGREE) & (np.diff(spline.x) > 0)]
        found, powers = np.zeros((self.count, DEGREE + 1, self.count)), (self.count / self.period) ** np.arange(6)
        for k in range(self.count):
            for m in range(DEGREE + 1):
                found[k, :, (k - m) % self.count] += inside[:, m] * powers
        return found

    @cached_property
    def basis(self) -> Array:
        """(count, size) from free numbers, the mean first, to those of the splines; the others are like velocities."""
        rest = self._splines[0, 1:3] if self.rest else np.zeros((0, self.count))
        found = orthonormal(np.vstack([np.ones(self.count), rest]))
        return np.column_stack([np.ones(self.count), self.period / self.count * found])

    @property
    def size(self) -> int:
        """Free numbers per joint, the mean first."""
        return int(self.basis.shape[1])

    def sampling(self, t: Array) -> Array:
        """(3, len(t), size): the matrices S0, S1, S2 of position, velocity and acceleration at these times."""
        units = self.motion(np.eye(self.size).T)
        return np.stack([units.inside(np.asarray(t), order) for order in range(3)])

    def motion(self, x: Array) -> PiecewisePolynomial:
        """The motion of free numbers x (n, size), one period."""
        knots = np.linspace(0, self.period, self.count + 1)
        return PiecewisePolynomial(knots, self._splines @ (self.basis @ np.asarray(x).T))

    def repeated(self, motion: Trajectory, periods: float) -> Trajectory:
        """The motion over several periods."""
        assert isinstance(motion, PiecewisePolynomial)
        pieces, whole = max(1, round(np.ceil(periods * self.count - 1e-9))), int(np.ceil(periods - 1e-9))
        knots = self.period / self.count * np.arange(pieces + 1)
        knots[-1] = self.period * periods
        return PiecewisePolynomial(knots, np.concatenate([motion.coefficients] * whole)[:pieces])


__all__ = ["Polynomials"]
