"""Linear algebra on the last axes of arrays."""

from __future__ import annotations

import numpy as np

from armdyn.typing import Array


def times(matrix: Array, vector: Array) -> Array:
    """Matrix times vector: (..., m, n), (..., n) -> (..., m)."""
    return np.asarray((matrix @ vector[..., None])[..., 0])


def transposed(matrix: Array) -> Array:
    return np.asarray(matrix.swapaxes(-1, -2))


def singular_values(matrix: Array) -> tuple[Array, Array, Array]:
    """U (..., m, m), s (..., m) largest first, with zeros where there are fewer columns than rows, and Vt."""
    m, n = matrix.shape[-2:]
    U, s, Vt = np.linalg.svd(matrix, full_matrices=m > n)
    return U, np.concatenate([s, np.zeros((*s.shape[:-1], max(m - n, 0)))], axis=-1), Vt
