"""Limits and working ranges of the joints, and the vectors that users give for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.typing import Array


def joint_vector(name: str, value: Any, n: int | None = None) -> Array:
    """A joint vector (n,) of finite numbers; a single number is repeated."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0 and n is not None:
        array = np.full(n, float(array))
    if array.ndim != 1 or (n is not None and array.size != n) or not np.isfinite(array).all():
        wanted = "one finite number per joint" if n is None else f"{n} finite numbers, or one for all joints"
        raise ShapeError(f"{name} = {np.array2string(array, threshold=12)}", expected=wanted)
    return array


def limit_vector(name: str, value: Any, n: int) -> Array:
    """Limits (n,): positive numbers, infinite where None was given."""
    if value is None:
        return np.full(n, np.inf)
    array = np.array([np.inf if x is None else x for x in np.ravel(np.asarray(value, dtype=object))], dtype=float)
    array = np.full(n, array[0]) if array.size == 1 else array
    if array.size != n or np.isnan(array).any() or (array <= 0).any():
        raise ShapeError(f"{name} = {value}", expected=f"{n} positive limits, or one for all joints")
    return array
