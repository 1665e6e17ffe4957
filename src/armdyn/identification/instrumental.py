"""Instrumental variables: parameters that noise of the measured motion does not bend.

After Janot, Vandanjon and Gautier (IDIM-IV). Least squares takes the regressor for exact; noise of positions and
filters that cut into the motion make it depend on the errors, and the estimate is biased. Instruments Z are a
regressor along a motion that has no noise in common with the measured one: the motion that was commanded, or the one
that the model itself performs when it is commanded so. Then

    pi = (Z^T Y)^-1 Z^T tau,    covariance  (Z^T Y)^-1 (Z^T S Z) (Y^T Z)^-1,  S = sigma_j^2 correlation_j by joint.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.identification.estimation import MOST, Estimate, correlation_of, weighted
from armdyn.identification.observation import Observation
from armdyn.identification.samples import Samples
from armdyn.robot import Robot
from armdyn.typing import Array

Motion = Callable[[Robot], tuple[Array, Array, Array]]
"""From a model to the motion it performs, at the times of the samples: q, qd, qdd, (N, n) each."""

SETTLED = 1e-3
"""Change of the parameters, in standard deviations, at which no further simulation is made."""


def instrumental(observation: Observation, reference: Any, *, white: bool = False) -> Estimate:
    """Estimate with the instruments of a noiseless motion.

    Args:    reference: the commanded motion: a trajectory (`reference(t)`, `reference(t, 1)`, `reference(t, 2)`) in
             the time of the log, or a function of the model (a Robot) that gives (q, qd, qdd) at the times of the
             samples, for example by simulating the robot's own control law; it is then asked again until the
             parameters settle.
    """
    estimate = weighted(observation, white=True)
    fixed = not _takes_models(reference)
    for _ in range(MOST):
        motion = _commanded(reference, observation.samples.t) if fixed else reference(_model(observation, estimate))
        new = _with_instruments(observation, _instruments(observation, motion), estimate, white)
        change = np.abs(new.values - estimate.values).max(initial=0.0, where=new.std == 0)
        moved = np.divide(new.values - estimate.values, new.std, out=np.zeros_like(new.values), where=new.std > 0)
        settled = max(change, np.abs(moved).max()) < SETTLED
        estimate = new
        if settled:
            return estimate
    return replace(estimate, remarks=(*estimate.remarks, f"had not settled after {MOST} rounds"))


def _takes_models(reference: Any) -> bool:
    return not hasattr(reference, "duration") and not isinstance(reference, Samples)


def _model(observation: Observation, estimate: Estimate) -> Robot:
    return observation.base.robot_with(estimate.values)


def _commanded(reference: Any, t: Array) -> tuple[Array, Array, Array]:
    if isinstance(reference, Samples):
        return reference.q, reference.qd, reference.qdd
    return tuple(np.asarray(reference(t, order)) for order in range(3))  # type: ignore[return-value]


def _instruments(observation: Observation, motion: tuple[Array, Array, Array]) -> Observation:
    samples = observation.samples
    for array in motion:
        if array.shape != samples.q.shape:
            raise ShapeError(f"a commanded motion of shape {array.shape}", where="instrumental",
                             expected=f"{samples.q.shape}, that of the samples")  # fmt: skip
    q, qd, qdd = motion
    return replace(observation, samples=replace(samples, q=q, qd=qd, qdd=qdd), _rows=None)


def _with_instruments(observation: Observation, instruments: Observation, start: Estimate, white: bool) -> Estimate:
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
        raise ArmdynError("the commanded motion does not tell the parameters apart", where="instrumental",
                          expected="the motion of the log, without noise")  # fmt: skip
    inverse = np.linalg.inv(M * np.outer(scale, scale)) * np.outer(scale, scale)
    values = inverse @ (w @ Zy)
    residuals = observation.residuals(values)
    sigma = np.sqrt(np.nanmean(residuals**2, axis=0) * observation.counts / np.maximum(observation.counts - p / n, 1))
    correlation = np.ones(n) if white else correlation_of(residuals)
    noise = np.einsum("j,jab->ab", w**2 * sigma**2 * correlation, ZZ)
    covariance = inverse @ noise @ inverse.T
    return Estimate(start.names, values, covariance, sigma, correlation, observation.counts, "instrumental")


__all__ = ["instrumental"]
