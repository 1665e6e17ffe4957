"""Manipulability: how well an arm moves its tool in the directions in which it can move it at all."""

from __future__ import annotations

import numpy as np

from armdyn.kinematics.task_rows import SINGULAR_RATIO
from armdyn.typing import Array


def general_rank(J: Array) -> int:
    """Return the rank of Jacobians (k, m, n) almost everywhere: that of the best of k configurations."""
    return int(np.linalg.matrix_rank(J, tol=SINGULAR_RATIO * max(np.abs(J).max(initial=0.0), 1e-300)).max(initial=0))


def product_of_axes(J: Array, rank: int) -> Array:
    """Return the product (...) of the `rank` largest singular values of Jacobians J (..., m, n). Siciliano (3.56)

    With rank = m this is sqrt(det(J J^T)), 0 if there are fewer joints. A smaller rank is that of an arm whose tool
    moves in a plane or on a curve: the product does not depend on how the arm stands in the world.
    """
    axes = np.linalg.svd(J, compute_uv=False)
    if not 0 < rank <= axes.shape[-1]:
        return np.zeros(axes.shape[:-1])
    return np.asarray(axes[..., :rank].prod(axis=-1))


__all__ = ["general_rank", "product_of_axes"]
