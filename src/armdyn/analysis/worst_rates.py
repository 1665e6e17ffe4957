"""The largest torque errors that velocities and accelerations in a box can cause at given positions.

At one position an error is e = sum_j A_j y_j + sum_{j<=k} F_jk x_j x_k + c with |x_j|, |y_j| <= 1: rates as shares of
their limits. It is linear in y. Squares are at most 1, and products of different x_j are largest at corners, so

    |e| <= sum_j |A_j| + max over s = +-1 of [s c + sum_j max(s F_jj, 0) + max_x sum_{j<k} s F_jk x_j x_k]       [PR-5]

with all corners x tried. It is exact where no s F_jj is negative.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from armdyn.typing import Array

MOST_JOINTS = 10
"""With more joints, products of velocities are added by magnitude instead of corner by corner."""


def largest_error(A: Array, F: Array, c: Array) -> Array:
    """Return (...,) bounds on |e|. [PR-5]

    A: (..., n) factors of accelerations, times their limits.
    F: (..., n, n) factors of qd_j qd_k, j <= k, times their limits; zero below the diagonal.
    c: (...,) what does not depend on rates.
    """
    squares = np.diagonal(F, axis1=-2, axis2=-1)
    lowest, highest = _products(F)
    up = highest + np.maximum(squares, 0).sum(axis=-1) + c
    down = np.maximum(-squares, 0).sum(axis=-1) - lowest - c
    return np.asarray(np.abs(A).sum(axis=-1) + np.maximum(up, down))


def error_at_corners(A: Array, F: Array, c: Array) -> Array:
    """Return (...,) the largest |e| of rates at their limits; arguments as for `largest_error`."""
    squares = np.diagonal(F, axis1=-2, axis2=-1).sum(axis=-1)
    lowest, highest = _products(F)
    return np.asarray(np.abs(A).sum(axis=-1) + np.maximum(highest + squares + c, -(lowest + squares + c)))


def worst_corner(F: Array, c: float) -> tuple[Array, int]:
    """(x, s): the (n,) velocities, as shares of their limits, that make s (x F x + c) large, by which sign s.

    The best corner, from which each coordinate is moved to its best value between the limits.
    """
    best, sign, highest = np.ones(len(F)), 1, -np.inf
    for s in (1, -1):
        form = s * (F + F.T) / 2
        x = _best_corner(form)
        for j in [*range(len(F))] * 3:
            slope = 2 * (form[j] @ x - form[j, j] * x[j])
            inside = float(np.clip(-slope / (2 * form[j, j]), -1, 1)) if form[j, j] < 0 else 1.0
            x[j] = max((x[j], -1.0, 1.0, inside), key=lambda y: form[j, j] * y * y + slope * y)
        value = float(x @ form @ x) + s * c
        if value > highest:
            best, sign, highest = x, s, value
    return best, sign


def _best_corner(form: Array) -> Array:
    n = len(form)
    corners = _corners(n) if n <= MOST_JOINTS else np.random.default_rng(0).choice((-1.0, 1.0), (512, n))
    return np.array(corners[np.einsum("cj,jk,ck->c", corners, form, corners).argmax()])


def _products(F: Array) -> tuple[Array, Array]:
    """(smallest, largest) sum of products of different velocities."""
    j, k = np.triu_indices(F.shape[-1], 1)
    factors = F[..., j, k]
    if F.shape[-1] > MOST_JOINTS:
        size = np.abs(factors).sum(axis=-1)
        return -size, size
    corners = _corners(F.shape[-1])
    sums = factors @ (corners[:, j] * corners[:, k]).T
    return sums.min(axis=-1), sums.max(axis=-1)


@lru_cache
def _corners(n: int) -> Array:
    """(2^(n-1), n) all signs, the first positive: x and -x give the same products."""
    bits = np.arange(2 ** (n - 1))[:, None] >> np.arange(n - 1)
    return np.hstack([np.ones((len(bits), 1)), 1.0 - 2.0 * (bits & 1)])
