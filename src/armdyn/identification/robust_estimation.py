"""Robust estimation: outliers count less, sample by sample; standard deviations by the sandwich formula (Huber)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from armdyn.errors import unknown_name
from armdyn.identification.estimation import (
    MOST,
    RANK,
    SETTLED,
    Estimate,
    Estimator,
    Weighted,
    covariance_root,
    deviations_of,
    largest_torque,
    narrowed,
    solved,
)
from armdyn.identification.observation import Observation, extended
from armdyn.typing import Array

Loss = Literal["huber", "tukey"]
BLOCK = 4.0
"""Autocorrelation times in a block of the sandwich covariance."""
HUBER, TUKEY = 1.345, 4.685
"""Residuals over sigma where the losses leave the square; 95 % efficient for normal errors."""


@dataclass(frozen=True, kw_only=True)
class Robust(Estimator):
    """Weighted least squares in which a sample counts the less the larger its residual is.

    sigma is 1.4826 times the median of the absolute residuals, which a few outliers do not move.

    loss: "huber" (beyond 1.345 sigma the influence is constant) or "tukey" (beyond 4.685 sigma it is zero)
    """

    loss: Loss = "huber"

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise unknown_name("loss", self.loss, get_args(Loss), where="robust")

    def __call__(self, observation: Observation) -> Estimate:
        values = Weighted(white=True)(observation).values
        for weigh in (_huber, _tukey) if self.loss == "tukey" else (_huber,):  # Tukey's loss needs a good start
            for _ in range(MOST):
                sigma = _median_sigma(observation, values)
                seen = _reweighted(observation, values, sigma, weigh)
                new = solved(seen, 1 / sigma)
                change = np.abs(new - values).max() / max(np.abs(new).max(), 1e-300)
                values = new
                if change < SETTLED:
                    break
        u = observation.residuals(values) / sigma
        pull = u * weigh(u)
        times = self.times(pull)
        slope = _slope(u, weigh)
        # The variance of an estimate that solves sum of pull = 0: E pull^2 / (E slope)^2 (Huber).
        variance = sigma**2 * np.nanmean(pull**2, axis=0) / np.nanmean(slope, axis=0) ** 2
        stationary = covariance_root(observation, 1 / sigma, variance * times)
        root = _at_least(_sandwich(observation, values, sigma, times, weigh), stationary)
        light = (np.nansum(weigh(u) < 0.5, axis=0) / np.maximum(observation.counts, 1)).tolist()
        note = "Outliers (samples with less than half weight) by joint: " + ", ".join(f"{x:.2%}" for x in light) + "."
        return Estimate(observation.base.names, values, root, sigma, times, observation.counts,
                        f"robust ({self.loss})", notes=(note,))  # fmt: skip


def _sandwich(
    observation: Observation, values: Array, sigma: Array, times: Array, weigh: Callable[[Array], Array]
) -> Array:
    """Root of the covariance of an estimate that solves sum of Y^T psi(u) / sigma = 0, psi(u) = u w(u) (Huber).

    The covariance is H^-1 B H^-1. H is the sum of slopes of psi. B is measured: the sum of squares of the scores, added
    up over blocks of time that are longer than the residuals are correlated, so that errors may depend on the motion
    and on each other.
    """
    p = observation.count
    H, scores = np.zeros((p, p)), []
    for rows in observation.rows():
        u = np.where(rows.keep, (rows.tau - rows.Y @ values) / sigma, 0.0)
        slope = _slope(u, weigh)
        scaled = np.where(rows.keep[:, :, None], rows.Y / sigma[:, None], 0.0)
        H += np.einsum("mja,mj,mjb->ab", scaled, slope, scaled, optimize=True)
        scores.append(np.einsum("mja,mj->ma", scaled, u * weigh(u)))
    pulls = np.concatenate(scores)
    block = max(1, min(math.ceil(BLOCK * float(times.max())), len(pulls) // (2 * p) or 1))
    sums = np.add.reduceat(pulls, np.arange(0, len(pulls), block), axis=0)
    samples = float(observation.counts.sum())
    few = len(sums) / max(len(sums) - 1, 1) * samples / max(samples - p, 1.0)
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    inverse = np.linalg.pinv(H / np.outer(scale, scale), rcond=RANK, hermitian=True) / np.outer(scale, scale)
    return np.asarray(np.sqrt(few) * inverse @ narrowed(sums.T))


def _slope(u: Array, weigh: Callable[[Array], Array], step: float = 1e-4) -> Array:
    """d psi / du by central differences."""
    slope: Array = ((u + step) * weigh(u + step) - (u - step) * weigh(u - step)) / (2 * step)
    return slope


def _at_least(root: Array, other: Array) -> Array:
    """A root of a covariance with its standard deviations raised to those of another one where these are larger.

    The sandwich is right for errors that depend on the motion, but it comes from few blocks; the other one knows the
    autocorrelation, but takes the errors to be stationary.
    """
    ratio = np.maximum(deviations_of(other) / np.maximum(deviations_of(root), 1e-150), 1.0)
    return np.asarray(root * ratio[:, None])


def _huber(u: Array) -> Array:
    """Weights of samples by residual over sigma."""
    weights: Array = np.minimum(1.0, HUBER / np.maximum(np.abs(u), 1e-300))
    return weights


def _tukey(u: Array) -> Array:
    return np.where(np.abs(u) < TUKEY, (1 - (u / TUKEY) ** 2) ** 2, 0.0)


def _median_sigma(observation: Observation, values: Array) -> Array:
    middle = np.nanmedian(np.abs(observation.residuals(values)), axis=0)
    sigma: Array = np.maximum(1.4826 * middle, 1e-9 * largest_torque(observation))
    return sigma


def _reweighted(observation: Observation, values: Array, sigma: Array, weigh: Callable[[Array], Array]) -> Observation:
    """The observation with every sample multiplied by the root of its weight."""
    factors = np.zeros_like(observation.factors)
    for rows in observation.rows():
        roots = np.sqrt(weigh((rows.tau - rows.Y @ values) / sigma))
        for j in range(observation.n):
            chosen, w = rows.keep[:, j], roots[:, j]
            block = np.column_stack([rows.Y[:, j], rows.tau[:, j]]) * w[:, None]
            factors[j] = extended(factors[j], block[chosen])
    return replace(observation, factors=factors)


__all__ = ["Robust"]
