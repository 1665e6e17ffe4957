"""Instrumental variables: an estimate that noise in the measured motion does not bias.

After Janot, Vandanjon and Gautier (IDIM-IV). Least squares takes the regressor for exact; noise of positions and
filters that cut into the motion make it depend on the errors, and the estimate is biased. Instruments Z are a
regressor along a motion that shares no noise with the measured one: the commanded motion, or the motion that the model
itself performs under that command. Then

    pi = (Z^T Y)^-1 Z^T tau,    covariance  (Z^T Y)^-1 (Z^T S Z) (Y^T Z)^-1,

with S = sigma_j^2 times the autocorrelation time of joint j.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.fit.estimation import MOST, Estimate, Estimator, Weighted, root_of
from armdyn.identification.fit.observation import Observation
from armdyn.identification.log.samples import Samples
from armdyn.typing import Array

SETTLED = 1e-3
"""Change of the parameters, in standard deviations, at which no further simulation is made."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Instrumental(Estimator):
    """Estimate with the instruments of a noise-free motion.

    reference: the commanded motion (a trajectory in the time of the log, or `Samples`), or a function of the model
               (a Robot) that returns (q, qd, qdd), (N, n) each, at the times of the samples, for example by simulating
               the robot's control law; it is called again until the parameters settle
    """

    reference: Any = None

    def __post_init__(self) -> None:
        if self.reference is None:
            raise ArmdynError(
                "instrumental variables need the commanded motion",
                where="identify",
                expected="method=Instrumental(reference=...), a trajectory or a function of the model",
            )

    def __call__(self, observation: Observation) -> Estimate:
        estimate = Weighted(white=True)(observation)
        for _ in range(MOST):
            new = self._solved(observation, _instruments(observation, self._motion(observation, estimate)), estimate)
            change = np.abs(new.values - estimate.values).max(initial=0.0, where=new.std == 0)
            moved = np.divide(new.values - estimate.values, new.std, out=np.zeros_like(new.values), where=new.std > 0)
            settled = max(change, np.abs(moved).max()) < SETTLED
            estimate = new
            if settled:
                return estimate
        return replace(estimate, notes=(*estimate.notes, f"The parameters had not settled after {MOST} iterations."))

    def _motion(self, observation: Observation, estimate: Estimate) -> tuple[Array, Array, Array]:
        """The noise-free motion at the times of the samples."""
        if isinstance(self.reference, Samples):
            return self.reference.q, self.reference.qd, self.reference.qdd
        if hasattr(self.reference, "duration"):
            q, qd, qdd = (np.asarray(self.reference(observation.samples.t, order)) for order in range(3))
            return q, qd, qdd
        q, qd, qdd = self.reference(observation.base.robot_with(estimate.values))
        return q, qd, qdd

    def _solved(self, observation: Observation, instruments: Observation, start: Estimate) -> Estimate:
        """One solution, with the weights of `start`."""
        p, n = observation.count, observation.n
        ZY, ZZ, Zy = np.zeros((n, p, p)), np.zeros((n, p, p)), np.zeros((n, p))
        for rows, other in zip(observation.rows(), instruments.rows(), strict=True):
            for j in range(n):
                keep = rows.keep[:, j]
                Y, Z = rows.Y[keep, j], other.Y[keep, j]
                ZY[j] += Z.T @ Y
                ZZ[j] += Z.T @ Z
                Zy[j] += Z.T @ rows.tau[keep, j]
        w = 1 / np.maximum(start.sigma, 1e-300) ** 2
        M = np.einsum("j,jab->ab", w, ZY)
        scale = 1 / np.sqrt(np.maximum(np.abs(np.diag(M)), 1e-300))
        if np.linalg.cond(M * np.outer(scale, scale)) > 1e12:
            raise ArmdynError(
                "the commanded motion does not determine all base parameters",
                where="instrumental",
                expected="the motion of the log, without noise",
            )
        inverse = np.linalg.inv(M * np.outer(scale, scale)) * np.outer(scale, scale)
        values = inverse @ (w @ Zy)
        residuals = observation.residuals(values)
        sigma = np.sqrt(
            np.nanmean(residuals**2, axis=0) * observation.counts / np.maximum(observation.counts - p / n, 1)
        )
        times = self.times(residuals)
        noise = np.einsum("j,jab->ab", w**2 * sigma**2 * times, ZZ)
        root = inverse @ root_of(noise)
        return Estimate(start.names, values, root, sigma, times, observation.counts, "instrumental")


def _instruments(observation: Observation, motion: tuple[Array, Array, Array]) -> Observation:
    samples = observation.samples
    for array in motion:
        if array.shape != samples.q.shape:
            raise ShapeError(
                f"a commanded motion of shape {array.shape}",
                where="instrumental",
                expected=f"{samples.q.shape}, that of the samples",
            )
    q, qd, qdd = motion
    return replace(observation, samples=replace(samples, q=q, qd=qd, qdd=qdd), _rows=None)


__all__ = ["Instrumental"]
