"""Essential parameters: those that the torques need. The others are set to zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy import stats

from armdyn.errors import ArmdynError
from armdyn.identification.fit.estimation import Estimate, sigma_of
from armdyn.identification.fit.observation import Observation, stacked
from armdyn.typing import Array


def essential_parameters(
    observation: Observation, estimate: Estimate, *, level: float = 0.01, growth: float | None = None
) -> Estimate:
    """The estimate with only the parameters that the torques need; the others are set to zero.

    Backward elimination: the parameter of largest relative standard deviation is left out and the rest estimated again,
    with the weights of `estimate`, until the residual grows more than by chance.

    level: significance of the F-test against all parameters (default 0.01)
    growth: also stop when the norm of the residual has grown by this share (default: no such limit)
    """
    weights = 1 / np.maximum(estimate.sigma * np.sqrt(estimate.autocorrelation_time), 1e-300)
    rows = stacked(observation, weights)
    p = observation.count
    free = float((observation.counts / estimate.autocorrelation_time).sum()) - p
    if free < 1:
        raise ArmdynError(
            "fewer independent samples than parameters", where="identify(essential=True)", advice="Use a longer log."
        )
    kept = list(range(p))
    full = _fitted(rows, kept)
    best = full
    while len(kept) > 1:
        values, inverse = best[:2]
        relative = np.sqrt((inverse**2).sum(axis=1)) / np.maximum(np.abs(values), 1e-300)
        trial = [k for i, k in enumerate(kept) if i != int(np.argmax(relative))]
        fitted = _fitted(rows, trial)
        left_out = p - len(trial)
        F = (fitted[2] - full[2]) / left_out / max(full[2] / free, 1e-300)
        if stats.f.sf(F, left_out, free) < level or (growth is not None and fitted[2] > (1 + growth) ** 2 * full[2]):
            break
        kept, best = trial, fitted
    values, root = np.zeros(p), np.zeros((p, best[1].shape[1]))
    values[kept] = best[0]
    root[kept] = best[1] * np.sqrt(max(full[2] / free, 0.0))
    left = tuple(name for i, name in enumerate(observation.base.names) if i not in kept)
    sigma = sigma_of(observation, values, weights)
    return replace(
        estimate, values=values, root=root, sigma=sigma, left_out=left, method=f"{estimate.method}, essential"
    )


def _fitted(rows: Array, kept: Sequence[int]) -> tuple[Array, Array, float]:
    """(values, B with B B^T the inverse of the information, sum of squared residuals) with some columns only."""
    A, y = rows[:, kept], rows[:, -1]
    lengths = np.linalg.norm(A, axis=0)
    inverse = np.linalg.pinv(A / lengths) / lengths[:, None]
    values = inverse @ y
    return values, inverse, float(((y - A @ values) ** 2).sum())


__all__ = ["essential_parameters"]
