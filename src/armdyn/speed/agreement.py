"""Comparison of the engines' results, which comes before timing: a fast wrong answer is worth nothing."""

from __future__ import annotations

import numpy as np

from armdyn.typing import Array

TOLERANCE = 1e-9
"""Relative to the largest entry: ten times the rounding errors in the accelerations of a chain of 30 joints."""


def difference(ours: Array, theirs: Array) -> float:
    """Largest difference relative to our largest entry; infinite for different shapes and for NaN."""
    if ours.shape != theirs.shape:
        return float("inf")
    scale = float(np.abs(ours).max(initial=0.0)) or 1.0
    apart = float(np.abs(ours - theirs).max(initial=0.0)) / scale
    return apart if np.isfinite(apart) else float("inf")
