"""Periodic motion as a finite Fourier series, as used for excitation in identification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Fourier(Trajectory):
    """A finite Fourier series whose velocity has the coefficients a and b.

        q_j(t) = q0_j + sum_k [a_jk sin(k w t) - b_jk cos(k w t)] / (k w),    w = 2 pi / period

    q0:      (n,) mean, rad or m.
    a:       (n, harmonics) rad/s or m/s.
    b:       (n, harmonics) rad/s or m/s.
    period:  s.
    periods: number of periods (default: 1).
    """

    q0: Array
    a: Array
    b: Array
    period: float
    periods: float = 1.0
    periodic: ClassVar[bool] = True

    @property
    def duration(self) -> float:
        return self.period * self.periods

    @property
    def n(self) -> int:
        return self.q0.size

    def inside(self, t: Array, order: int) -> Array:
        kw = 2 * math.pi / self.period * np.arange(1, self.a.shape[1] + 1)
        phase = t[..., None, None] * kw + order * math.pi / 2  # each derivative shifts the phase by a quarter turn
        terms = (self.a * np.sin(phase) - self.b * np.cos(phase)) * kw ** (order - 1.0)
        value: Array = terms.sum(axis=-1)
        return value + self.q0 if order == 0 else value


def fourier(q0: Any, a: Any, b: Any, period: float, periods: float = 1.0) -> Fourier:
    """Return a periodic motion about q0 with the harmonics a (sine) and b (cosine): see `Fourier`.

    >>> fourier([0.5], [[1.0]], [[0.0]], period=6.283185307179586)(0.0, 1).tolist()
    [1.0]
    """
    mean, sines, cosines = (np.asarray(x, dtype=float) for x in (q0, a, b))
    if mean.ndim != 1 or sines.ndim != 2 or sines.shape != cosines.shape or len(sines) != mean.size:
        raise ShapeError(
            f"q0 {mean.shape}, a {sines.shape}, b {cosines.shape}", expected="(n,), (n, harmonics), (n, harmonics)"
        )
    if not (period > 0 and periods > 0 and math.isfinite(period) and math.isfinite(periods)):
        raise ArmdynError(f"period {period}, periods {periods}", expected="positive numbers")
    if not all(np.isfinite(x).all() for x in (mean, sines, cosines)):
        raise ShapeError("the coefficients contain NaN or infinity", expected="finite numbers")
    return Fourier(mean, sines, cosines, float(period), float(periods))
