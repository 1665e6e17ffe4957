"""Total least squares: the regressor is noisy as the torque is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.estimation import (
    Estimate,
    Estimator,
    information,
    narrowed,
    noisy_rows,
    settled_weights,
    sigma_of,
    solved,
)
from armdyn.identification.observation import Observation, stacked
from armdyn.typing import Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Total(Estimator):
    """Total least squares: columns of the regressor are noisy as the torque is.

    Columns without noise are eliminated first (mixed total least squares); offsets, columns of ones, always are.
    Weights by joint as in `Weighted`. Variances are those of the linearisation,
    sigma^2 (1 + |D pi|^2) (Y^T Y - s^2 D^2)^-1, D = diag(noise).

    noise: (p,) standard deviation of the errors in each column over that of the torque, in the units of the column;
           0: exact (default: the same share of every column's length as of the torque's)
    """

    noise: Any = None

    def __call__(self, observation: Observation) -> Estimate:
        weights = settled_weights(observation, lambda weights: solved(observation, weights))[0]
        rows = stacked(observation, weights)
        p = observation.count
        lengths = np.linalg.norm(rows, axis=0)
        D = lengths[:-1] / lengths[-1] if self.noise is None else np.asarray(self.noise, dtype=float).copy()
        D[[name.startswith("off") for name in observation.base.names]] = 0.0
        exact, noisy = np.flatnonzero(D == 0), np.flatnonzero(D > 0)
        R: Array = np.linalg.qr(np.column_stack([rows[:, exact], rows[:, noisy] / D[noisy], rows[:, -1]]))[1]
        e = len(exact)
        _, singular, Vt = np.linalg.svd(R[e:, e:])
        null = Vt[-1]
        if abs(null[-1]) < 1e-8:
            raise ArmdynError("total least squares has no solution", where="identification",
                              expected="a motion that excites all base parameters",
                              advice="Use method='weighted' or 'damped'.")  # fmt: skip
        values = np.zeros(p)
        scaled = -null[:-1] / null[-1]
        values[noisy] = scaled / D[noisy]
        if e:
            values[exact] = np.linalg.solve(R[:e, :e], R[:e, -1] - R[:e, e:-1] @ scaled)
        sigma = sigma_of(observation, values, weights)
        times = self.times(observation.residuals(values))
        found = information(observation, weights) - singular[-1] ** 2 * np.diag(D**2)
        P = np.linalg.inv(found)
        root = P @ narrowed(noisy_rows(observation, weights, sigma**2 * times).T)
        return Estimate(observation.base.names, values, root, sigma, times, observation.counts, "total")


__all__ = ["Total"]
