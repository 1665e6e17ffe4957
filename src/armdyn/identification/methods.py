"""The estimators by the names that `identify` accepts."""

from __future__ import annotations

from typing import Literal

from armdyn.errors import unknown_name
from armdyn.identification import estimation
from armdyn.identification.estimation import Estimator
from armdyn.identification.instrumental import Instrumental

Method = Literal["ordinary", "weighted", "robust", "sequential", "damped", "total", "instrumental"]
ESTIMATORS: dict[Method, type[Estimator]] = {
    "ordinary": estimation.Ordinary,
    "weighted": estimation.Weighted,
    "robust": estimation.Robust,
    "sequential": estimation.Sequential,
    "damped": estimation.Damped,
    "total": estimation.Total,
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
