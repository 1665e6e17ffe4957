"""Estimators: base parameters, and how well they are known, from an observation.

Sources: Siciliano (7.86) and sec. 7.4, Khalil sec. 7.3.3 f; weights by joint after Gautier.

    Ordinary      least squares, all samples weighted alike                                      Siciliano (7.86)
    Weighted      samples of joint j divided by the standard deviation sigma_j of its residuals, iterated
    Damped        for a motion that does not excite all parameters: the others stay at the prior  Siciliano sec. 7.4
    Instrumental  instruments from a noise-free motion (`instrumental`)

An estimator is a frozen object with its settings; called with an `Observation` it returns an `Estimate`.

Standard deviations. Errors of the torque are taken to be stationary in time, and independent between joints and of the
regressor. They need not be white: filters and unmodelled effects correlate the residuals of neighbouring samples. The
integrated autocorrelation time 1 + 2 (rho_1 + rho_2 + ...) says how many samples carry the information of one
independent sample; variances are multiplied by it, joint by joint. That is exact for columns of the regressor that
change slowly compared with the residuals, and conservative for others. `white=True` assumes white residuals, as most
publications do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.fit.observation import Observation, stacked
from armdyn.typing import Array

RANK = 1e-9
"""Smallest singular value that counts, relative to the largest, columns scaled to length 1: rounding is below it."""
SETTLED = 1e-6
"""Relative change of the weights at which iterations end."""
MOST = 50
"""Iterations at most."""
UNDETERMINED = 0.1
"""Share of a parameter in directions that the data do not determine, above which it counts as undetermined."""
DAMPING = 1e-6
"""Damping relative to the largest singular value."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Base parameters with their accuracy.

    names: (p,) of the base parameters
    values: (p,) in SI units
    root: (p, r) whose product with its transpose is the covariance of the values
    sigma: (n,) standard deviation of the residuals by joint, N m or N
    autocorrelation_time: (n,) of the residuals by joint, in samples: so many carry the information of one
    samples: (n,) how many samples were used, by joint
    method: name of the estimator
    damped: (k, p) directions, scaled by the columns' lengths, that the data do not determine, kept at the prior
    left_out: parameters set to zero because the torques do not need them
    notes: what the estimator reports, in sentences
    """

    names: tuple[str, ...]
    values: Array
    root: Array
    sigma: Array
    autocorrelation_time: Array
    samples: Array
    method: str
    damped: Array = field(default_factory=lambda: np.zeros((0, 0)))
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def covariance(self) -> Array:
        """(p, p) covariance of the values: symmetric and positive semidefinite by construction."""
        return np.asarray(self.root @ self.root.T)

    @cached_property
    def std(self) -> Array:
        """(p,) standard deviations; infinite for parameters that the data do not determine."""
        deviations = deviations_of(self.root)
        if len(self.damped):
            deviations[np.sqrt((self.damped**2).sum(axis=0)) > UNDETERMINED] = np.inf
        return deviations

    @cached_property
    def relative_std(self) -> Array:
        """(p,) standard deviations over values."""
        size = np.abs(self.values)
        relative: Array = np.divide(self.std, size, out=np.full(len(size), np.inf), where=size > 0)
        return relative

    @cached_property
    def correlations(self) -> Array:
        """(p, p) correlation matrix of the parameters."""
        deviations = deviations_of(self.root)
        unit = self.root / np.where(deviations > 0, deviations, 1.0)[:, None]
        return np.asarray(unit @ unit.T)


@dataclass(frozen=True, kw_only=True)
class Estimator(ABC):
    """A method of estimation with its settings.

    white: assume white residuals for the standard deviations (default: measure their autocorrelation)
    """

    white: bool = False

    @abstractmethod
    def __call__(self, observation: Observation) -> Estimate:
        """The estimate of the base parameters from an observation."""

    def times(self, residuals: Array) -> Array:
        """(n,) autocorrelation times of residuals (N, n)."""
        return np.ones(residuals.shape[1]) if self.white else autocorrelation_time(residuals)

    def _estimate(
        self, observation: Observation, values: Array, weights: Array, method: str, damping: float = 0.0
    ) -> Estimate:
        """Values of least squares with these weights, and their accuracy."""
        sigma = sigma_of(observation, values, weights, damping)
        times = np.ones(observation.n) if self.white else self.times(observation.residuals(values))
        root = covariance_root(observation, weights, sigma**2 * times, damping)
        return Estimate(observation.base.names, values, root, sigma, times, observation.counts, method)


# Least squares ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Ordinary(Estimator):
    """Least squares with all samples weighted alike. Siciliano (7.86)"""

    def __call__(self, observation: Observation) -> Estimate:
        weights = np.ones(observation.n)
        return self._estimate(observation, solved(observation, weights), weights, "ordinary")


@dataclass(frozen=True, kw_only=True)
class Weighted(Estimator):
    """Least squares with the samples of each joint weighted by their residuals, until the weights settle.

    The weight of a joint whose torque is fitted exactly would grow without bound: sigma is kept above 1e-9 of the
    largest torque.
    """

    def __call__(self, observation: Observation) -> Estimate:
        weights, notes = settled_weights(observation, lambda weights: solved(observation, weights))
        estimate = self._estimate(observation, solved(observation, weights), weights, "weighted")
        return replace(estimate, notes=tuple(notes))


@dataclass(frozen=True, kw_only=True, eq=False)
class Damped(Estimator):
    """Weighted least squares for motions that do not excite all parameters. Siciliano sec. 7.4

    Minimises |Y pi - tau|^2 + lambda^2 |D (pi - prior)|^2 with D the lengths of the columns of Y and lambda = damping
    times the largest singular value of Y D^-1. What was damped by more than half is reported in `Estimate.damped`;
    such parameters have an infinite standard deviation.

    prior: (p,) base parameters (default: those of the robot)
    damping: relative to the largest singular value (default 1e-6)
    """

    prior: Any = None
    damping: float = DAMPING

    def __call__(self, observation: Observation) -> Estimate:
        start = observation.base.values if self.prior is None else np.asarray(self.prior, dtype=float)
        shifted = replace(observation, factors=_less(observation.factors, start))

        def solve(weights: Array) -> Array:
            inverse, y, _ = _inverse(shifted, weights, self.damping)
            return inverse @ y

        weights, notes = settled_weights(shifted, solve, self.damping)
        estimate = self._estimate(observation, start + solve(weights), weights, "damped", self.damping)
        return replace(estimate, damped=_inverse(observation, weights, self.damping)[2], notes=tuple(notes))


def _less(factors: Array, values: Array) -> Array:
    """The factors of tau - Y values."""
    less = factors.copy()
    less[:, :, -1] -= factors[:, :, :-1] @ values
    return less


def settled_weights(
    observation: Observation, solve: Callable[[Array], Array], damping: float = 0.0
) -> tuple[Array, list[str]]:
    """Weights 1/sigma_j at which the residuals have these sigma_j."""
    least = 1e-9 * largest_torque(observation)
    sigma = np.full(observation.n, 1.0)
    for _ in range(MOST):
        new = np.maximum(sigma_of(observation, solve(1 / sigma), 1 / sigma, damping), least)
        change = np.abs(new / sigma - 1).max()
        sigma = new
        if change < SETTLED:
            return 1 / sigma, []
    return 1 / sigma, [f"The weights had not settled after {MOST} iterations (last change {change:.1e})."]


def solved(observation: Observation, weights: Array) -> Array:
    """The parameters of least residual; an error names those that the data do not determine."""
    inverse, y, lost = _inverse(observation, weights)
    if len(lost):
        raise ArmdynError(
            f"the motion does not determine all {observation.count} base parameters",
            where="identification",
            expected="a motion that excites all base parameters",
            advice=f"{_undetermined(observation.base.names, lost)} Log a motion that excites them, or "
            "leave out the free estimate.",
        )
    return inverse @ y


def _inverse(observation: Observation, weights: Array, damping: float = 0.0) -> tuple[Array, Array, Array]:
    """(B, y, lost): parameters B y of least weighted residual, B B^T being the inverse of the information matrix.

    Columns are scaled to length 1 first. lost: undetermined directions, of singular values below RANK, or that
    damping halves at least.
    """
    rows = stacked(observation, weights)
    lengths = np.linalg.norm(rows[:, :-1], axis=0)
    empty = lengths == 0
    lengths[empty] = 1.0
    fewer = max(len(lengths) - len(rows), 0)  # than parameters: rows of zeros are added
    scaled = np.pad(rows, ((0, fewer), (0, 0)))
    U, s, Vt = np.linalg.svd(scaled[:, :-1] / lengths, full_matrices=False)
    level = max(RANK, damping) * s[0]
    determined = s > level
    gains = np.divide(s, s**2 + (damping * s[0]) ** 2, out=np.zeros_like(s), where=s > RANK * s[0])
    inverse = (Vt.T * gains) / lengths[:, None]
    inverse[empty] = 0.0  # not only to rounding
    return inverse, U.T @ scaled[:, -1], Vt[~determined]


def _undetermined(names: Sequence[str], lost: Array) -> str:
    """A sentence with the parameters in the undetermined directions."""
    share = np.sqrt((lost**2).sum(axis=0))
    order = [i for i in np.argsort(-share) if share[i] > UNDETERMINED]
    return f"Not determined: {', '.join(names[i] for i in order[:12])}{' ...' if len(order) > 12 else ''}."


# How well they are known --------------------------------------------------------------------------------------------


# A covariance is kept as a root R, covariance = R R^T. The product itself has the square of the condition: computed as
# P (...) P it was neither symmetric nor positive where the log hardly tells two parameters apart.


def covariance_root(observation: Observation, weights: Array, variance: Array, damping: float = 0.0) -> Array:
    """(p, p) root of P (sum of w_j^4 v_j Y_j^T Y_j) P, P the inverse of the sum of w_j^2 Y_j^T Y_j: for any weights."""
    inverse = _inverse(observation, weights, damping)[0]
    return np.asarray(inverse @ narrowed((noisy_rows(observation, weights, variance) @ inverse).T))


def noisy_rows(observation: Observation, weights: Array, variance: Array) -> Array:
    """(m, p) rows whose sum of squares is the sum of w_j^4 v_j Y_j^T Y_j."""
    return stacked(observation, weights**2 * np.sqrt(variance))[:, :-1]


def root_of(covariance: Array) -> Array:
    """(p, r) root of a matrix of rank r."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    good = values > 1e-12 * values[-1]
    root: Array = scale[:, None] * vectors[:, good] * np.sqrt(values[good])
    return root


def narrowed(root: Array) -> Array:
    """A root of the same covariance with as many columns as rows at most."""
    return np.asarray(np.linalg.qr(root.T)[1]).T if root.shape[1] > len(root) else root


def deviations_of(root: Array) -> Array:
    """(p,) standard deviations."""
    return np.asarray(np.linalg.norm(root, axis=1))


def sigma_of(observation: Observation, values: Array, weights: Array, damping: float = 0.0) -> Array:
    """(n,) standard deviation of the residuals, each joint's degrees of freedom counted.

    A joint loses as many as its rows fit parameters: the trace of its part of the hat matrix.
    """
    x = np.append(values, -1.0)
    squares = ((observation.factors @ x) ** 2).sum(axis=1)
    inverse = _inverse(observation, weights, damping)[0]
    A = observation.factors[:, :, :-1] * weights[:, None, None]
    fitted = ((A @ inverse) ** 2).sum(axis=(1, 2))
    free = np.maximum(observation.counts - fitted, 1.0)
    sigma: Array = np.sqrt(squares / free)
    return sigma


def largest_torque(observation: Observation) -> float:
    per_row = (observation.factors[:, :, -1] ** 2).sum(axis=1) / np.maximum(observation.counts, 1)
    return float(np.sqrt(per_row.max())) or 1.0


def autocorrelation_time(residuals: Array) -> Array:
    """(n,) integrated autocorrelation time in samples, 1 + 2 (rho_1 + rho_2 + ...), at least 1.

    residuals: (N, n), NaN where a sample does not count; pairs with such a sample are left out. The sum ends where two
    neighbouring autocorrelations together are no longer positive (Geyer's initial positive sequence).
    """
    result = np.ones(residuals.shape[1])
    for j, column in enumerate(residuals.T):
        counts = ~np.isnan(column)
        e = np.where(counts, column, 0.0)
        if counts.sum() < 3 or not e.any():
            continue
        size = 2 * len(e)
        power, there = np.abs(np.fft.rfft(e, size)) ** 2, np.abs(np.fft.rfft(counts.astype(float), size)) ** 2
        pairs = np.maximum(np.round(np.fft.irfft(there, size)[: len(e)]), 1.0)
        rho = np.fft.irfft(power, size)[: len(e)] / pairs
        rho = rho[: len(e) // 4 * 2] / rho[0]
        couples = rho[0::2] + rho[1::2]  # rho_0 + rho_1, rho_2 + rho_3, ...
        negative = np.flatnonzero(couples <= 0)
        end = negative[0] if len(negative) else len(couples)
        result[j] = max(1.0, 2 * couples[:end].sum() - 1)
    return result


__all__ = [
    "Damped",
    "Estimate",
    "Estimator",
    "Ordinary",
    "Weighted",
    "autocorrelation_time",
]
