"""Piecewise polynomial trajectories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.polynomial import polynomial as poly

from armdyn.errors import ShapeError
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

SLACK = 8
"""Doubles behind arrays that machine code reads in vectors."""
MANY = 64
"""Times from which on machine code evaluates them."""


@dataclass(frozen=True, eq=False, repr=False)
class PiecewisePolynomial(Trajectory):
    """Piecewise polynomial trajectory.

        q(t) = sum_i coefficients[k, i] (t - knots[k])^i     for knots[k] <= t <= knots[k+1]

    At an inner knot, values are those of the later piece.

    knots:        (k+1,) non-decreasing times from 0 to the duration, s.
    coefficients: (k, degree+1, n) in ascending order, rad or m, and s.
    """

    knots: Array
    coefficients: Array

    def __post_init__(self) -> None:
        for name in ("knots", "coefficients"):
            given = np.asarray(getattr(self, name), dtype=float)
            own = np.zeros(given.size + SLACK)[: given.size].reshape(given.shape)
            own[...] = given
            own.setflags(write=False)
            object.__setattr__(self, name, own)
        knots, coefficients = self.knots, self.coefficients
        if coefficients.ndim != 3 or knots.shape != (len(coefficients) + 1,) or len(knots) < 2:
            raise ShapeError(
                f"knots {knots.shape}, coefficients {coefficients.shape}", expected="(k+1,) and (k, degree+1, n)"
            )
        if knots[0] != 0 or (np.diff(knots) < 0).any() or not np.isfinite(knots).all():
            raise ShapeError("knots are not in order", expected="finite non-decreasing times from 0")

    @property
    def duration(self) -> float:
        return float(self.knots[-1])

    @property
    def n(self) -> int:
        return int(self.coefficients.shape[2])

    @property
    def breaks(self) -> Array:
        return self.knots

    def derivatives(self, t: Array, highest: int = 2) -> tuple[Array, ...]:
        times = np.asarray(t, dtype=float)
        within = bool(times.size) and times.min() >= 0 and times.max() <= self.duration  # not so if there is a NaN
        found = self._compiled(times, highest) if within else None
        return super().derivatives(times, highest) if found is None else tuple(found)

    def _compiled(self, t: Array, order: int) -> list[Array] | None:
        """Derivatives up to that order by machine code; None for few times, which are not worth loading LLVM."""
        if t.size < MANY or order > 3 or np.iscomplexobj(t):
            return None
        from armdyn.kernels import jit
        from armdyn.trajectory.evaluation import derivatives_of

        return derivatives_of(self.knots, self.coefficients, t, order + 1) if jit.available() else None

    def inside(self, t: Array, order: int) -> Array:
        found = self._compiled(t, order)
        if found is not None:
            return found[order]
        last = len(self.coefficients) - 1
        piece = np.clip(np.searchsorted(self.knots, t.real, side="right") - 1, 0, last)
        x = (t - self.knots[piece])[..., None]
        c = self.coefficients[piece]
        value = np.zeros((*t.shape, self.n), dtype=x.dtype)
        for i in range(self.coefficients.shape[1] - 1, order - 1, -1):
            factor = float(np.prod(np.arange(i, i - order, -1, dtype=float)))
            value = value * x + factor * c[..., i, :]
        return value

    def peak(self, order: int = 0) -> Array:
        """(n,) largest magnitude of the derivative of that order: exact, from the roots of the next one."""
        degree = self.coefficients.shape[1] - 1 - order
        if degree < 0:
            return np.zeros(self.n)
        curves = poly.polyder(self.coefficients, order, axis=1)
        h = np.diff(self.knots)
        # A polynomial lies within the range of its Bernstein coefficients: only those that reach beyond the values at
        # the knots can have a larger one inside.
        i = np.arange(degree + 1)
        to_bernstein = np.array([[math.comb(j, k) / math.comb(degree, k) for k in i] for j in i])
        bernstein = np.abs(to_bernstein @ (curves * h[:, None, None] ** i[:, None]))
        largest: Array = bernstein[:, [0, -1]].max(axis=(0, 1))
        for k, j in np.argwhere(bernstein.max(axis=1) > largest):
            c = curves[k, :, j]
            at = _roots_between(poly.polyder(c), h[k])
            largest[j] = max(largest[j], np.abs(poly.polyval(np.array(at), c)).max(initial=0.0))
        return largest


def _roots_between(c: Array, end: float) -> list[float]:
    """Real roots of a polynomial within (0, end); nearly real ones are included as candidates."""
    scale = np.abs(c * end ** np.arange(len(c)))
    significant = np.flatnonzero(scale > 1e-14 * scale.max()) if scale.max() > 0 else np.empty(0, int)
    if significant.size == 0 or significant[-1] == 0:
        return []
    roots = poly.polyroots(c[: significant[-1] + 1])
    return [float(x.real) for x in roots if abs(x.imag) < 1e-6 * end and 0 < x.real < end]


def along_line(q0: Array, D: Array, r: PiecewisePolynomial) -> PiecewisePolynomial:
    """Return q(t) = q0 + r(t) D, a straight move in joint space. Khalil (8.1), (8.2)"""
    coefficients = r.coefficients * D
    coefficients[:, 0, :] += q0
    return PiecewisePolynomial(r.knots, coefficients)


def stretched(r: PiecewisePolynomial, duration: float) -> PiecewisePolynomial:
    """Return the same shape over another duration, s."""
    if r.duration == 0:
        return PiecewisePolynomial(np.array([0.0, duration]), r.coefficients[-1:])
    factor = duration / r.duration
    powers = factor ** -np.arange(r.coefficients.shape[1], dtype=float)
    return PiecewisePolynomial(r.knots * factor, r.coefficients * powers[:, None])


def hermite(knots: Array, derivatives: Sequence[Any]) -> PiecewisePolynomial:
    """Return the polynomials of lowest degree with given values and derivatives at the knots.

    Two knots and zero velocities give Khalil (8.6), with zero accelerations too (8.11).

    knots:       (k+1,) s.
    derivatives: (k+1, n) arrays: positions, then velocities (cubic pieces), then accelerations (quintic pieces).
    """
    m = len(derivatives)
    h = np.diff(knots)[:, None]
    scaled = [np.asarray(d, dtype=float) for d in derivatives]
    start = [d[:-1] * h**i for i, d in enumerate(scaled)]
    end = [d[1:] * h**i for i, d in enumerate(scaled)]
    normalised = np.einsum("ab,bkn->kan", _hermite_matrix(m), np.array(start + end))
    powers = h[:, :, None] ** np.arange(2 * m)[None, :, None]
    return PiecewisePolynomial(np.asarray(knots, dtype=float), normalised / powers)


def _hermite_matrix(m: int) -> Array:
    """Matrix from (values and derivatives at 0, then at 1) to the coefficients of the polynomial on [0, 1]."""
    conditions = np.zeros((2 * m, 2 * m))
    for k in range(m):
        for i in range(k, 2 * m):
            factor = np.prod(np.arange(i, i - k, -1))
            conditions[k, i] = factor if i == k else 0
            conditions[m + k, i] = factor
    inverse: Array = np.linalg.inv(conditions)
    return np.round(2 * inverse) / 2  # entries are halves of integers for m <= 3
