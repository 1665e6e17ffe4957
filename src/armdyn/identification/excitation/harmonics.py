"""Fourier motions as a linear space: positions and derivatives are linear in a few numbers per joint.

With x = (mean, sine and cosine coefficients of the velocity) the samples of a motion are q = S0 x, qd = S1 x,
qdd = S2 x, joint by joint with the same matrices, so that limits are linear in x and gradients come back by the
transposed matrices. A motion that starts and ends at rest obeys qd(0) = sum a_k = 0 and qdd(0) = w sum k b_k = 0: its
coefficients are taken from the null space of these two rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.trajectory.fourier import Fourier, fourier
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array


@dataclass(frozen=True, kw_only=True)
class Harmonics:
    """Fourier motions of one period.

    count: number of harmonics (default 10)
    period: s (default 10)
    rest: begin and end with zero velocity and acceleration (default True)
    """

    count: int = 10
    period: float = 10.0
    rest: bool = True

    def __post_init__(self) -> None:
        positive_period(self.period)
        if self.count < (2 if self.rest else 1):
            raise ArmdynError(f"{self.count} harmonics", expected="at least 2 for a motion that starts at rest, else 1")

    def __str__(self) -> str:
        return f"{self.count} harmonics, period {self.period:g} s"

    @property
    def fine(self) -> int:
        """Samples per period between which a sine of the highest harmonic rises by 1 - cos(pi/400) = 3e-5 at most."""
        return 400 * self.count

    @cached_property
    def basis(self) -> Array:
        """(1 + 2 count, size) from free numbers to (mean, a, b); its columns are orthonormal."""
        k = self.count
        rows = np.zeros((3 if self.rest else 1, 1 + 2 * k))
        rows[0, 0] = 1.0
        if self.rest:
            rows[1, 1 : 1 + k] = 1.0
            rows[2, 1 + k :] = np.arange(1, k + 1)
        return np.column_stack([rows[0], orthonormal(rows)])

    @property
    def size(self) -> int:
        """Free numbers per joint, the mean first."""
        return int(self.basis.shape[1])

    def sampling(self, t: Array) -> Array:
        """(3, len(t), size): the matrices S0, S1, S2 of position, velocity and acceleration at these times."""
        units = np.eye(1 + 2 * self.count)
        k = self.count
        motion = fourier(units[:, 0], units[:, 1 : 1 + k], units[:, 1 + k :], self.period)
        return np.stack([motion.inside(np.asarray(t), order) @ self.basis for order in range(3)])

    def motion(self, x: Array) -> Fourier:
        """The motion of free numbers x (n, size), one period."""
        k = self.count
        full = x @ self.basis.T
        return fourier(full[:, 0], full[:, 1 : 1 + k], full[:, 1 + k :], self.period)

    def repeated(self, motion: Trajectory, periods: float) -> Trajectory:
        """The motion over several periods."""
        assert isinstance(motion, Fourier)
        return replace(motion, periods=float(periods))


def orthonormal(rows: Array) -> Array:
    """(n, n - m) orthonormal columns that are orthogonal to m independent rows (m, n)."""
    q, _ = np.linalg.qr(rows.T, mode="complete")
    return np.asarray(q[:, len(rows) :])


def positive_period(period: float) -> None:
    """Raise ArmdynError unless the period is a positive time."""
    if not (math.isfinite(period) and period > 0):
        raise ArmdynError(f"period = {period}", expected="a positive time in s")


__all__ = ["Harmonics"]
