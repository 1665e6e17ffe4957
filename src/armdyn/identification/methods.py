"""The estimators by the names that `identify` accepts."""

from __future__ import annotations

from typing import Literal

from armdyn.errors import unknown_name
from armdyn.identification.estimation import Damped, Estimator, Ordinary, Weighted
from armdyn.identification.instrumental import Instrumental
from armdyn.identification.robust_estimation import Robust
from armdyn.identification.sequential_estimation import Sequential
from armdyn.identification.total_estimation import Total

Method = Literal["ordinary", "weighted", "robust", "sequential", "damped", "total", "instrumental"]
ESTIMATORS: dict[Method, type[Estimator]] = {
    "ordinary": Ordinary,
    "weighted": Weighted,
    "robust": Robust,
    "sequential": Sequential,
    "damped": Damped,
    "total": Total,
    "instrumental": Instrumental,
}


def estimator_of(method: Method | Estimator) -> Estimator:
    """The estimator itself, or the named one with its default settings."""
    if isinstance(method, Estimator):
        return method
    if method not in ESTIMATORS:
        raise unknown_name("method", method, ESTIMATORS, where="identify")
    return ESTIMATORS[method]()


__all__ = ["ESTIMATORS", "Method", "estimator_of"]
