"""How well a motion determines the base parameters: functions of the eigenvalues of G = W^T W, with gradients.

W is the observation matrix: the base regressor at all samples, one below the other (Siciliano (7.85)), and G^-1 times
the variance of the noise is the covariance of the estimate. All criteria are to be made small.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armdyn.errors import unknown_name
from armdyn.typing import Array

Criterion = Callable[[Array, float], tuple[float, Array]]

TINY = 1e-300


def condition(eigenvalues: Array, sharpness: float) -> tuple[float, Array]:
    """log cond(W) with the extreme eigenvalues replaced by power means, and its slope by every eigenvalue.

        [log sum_i l_i^s + log sum_i l_i^-s] / (2 s)   ->   log sqrt(l_max / l_min)   for s -> infinity

    The largest and smallest eigenvalue have kinks where two of them meet; the means have none.
    """
    logs = np.log(np.maximum(eigenvalues, TINY))
    top, low = _soft_max(sharpness * logs), _soft_max(-sharpness * logs)
    value = (top[0] + low[0]) / (2 * sharpness)
    return value, (top[1] - low[1]) / (2 * np.maximum(eigenvalues, TINY))


def determinant(eigenvalues: Array, sharpness: float) -> tuple[float, Array]:
    """-log det(G) / (2 p): D-optimality, the log of the mean radius of the confidence ellipsoid."""
    safe = np.maximum(eigenvalues, TINY)
    return -float(np.log(safe).mean()) / 2, -1 / (2 * len(safe) * safe)


def _soft_max(logs: Array) -> tuple[float, Array]:
    """log sum exp and the shares of its terms."""
    most = logs.max()
    terms = np.exp(logs - most)
    return float(most + np.log(terms.sum())), terms / terms.sum()


CRITERIA: dict[str, Criterion] = {"condition": condition, "D": determinant}


def criterion_named(name: str) -> Criterion:
    if name not in CRITERIA:
        raise unknown_name("criterion", name, CRITERIA, where="excitation")
    return CRITERIA[name]


def condition_number(W: Array) -> float:
    """Largest over smallest singular value of an observation matrix, its columns as they are (SI units)."""
    values = np.linalg.svd(W, compute_uv=False)
    return float(values[0] / values[-1]) if values[-1] > 0 else float("inf")


def scaled_condition_number(W: Array) -> float:
    """The same with columns scaled to length 1, which makes it independent of units."""
    lengths = np.linalg.norm(W, axis=0)
    return condition_number(W / lengths) if (lengths > 0).all() else float("inf")


__all__ = ["CRITERIA", "condition_number", "criterion_named", "scaled_condition_number"]
