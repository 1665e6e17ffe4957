"""Engines are compared before they are timed: a quick wrong answer is worth nothing."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from armdyn.bench.calls import Call
from armdyn.typing import Array

TOLERANCE = 1e-9
"""Of the largest entry: what rounding leaves of accelerations of a chain of 30 joints, with a margin of ten."""


def difference(ours: Array, theirs: Array) -> float:
    """Largest difference, relative to our largest entry; infinite for other shapes and for NaN."""
    if ours.shape != theirs.shape:
        return float("inf")
    scale = float(np.abs(ours).max(initial=0.0)) or 1.0
    apart = float(np.abs(ours - theirs).max(initial=0.0)) / scale
    return apart if np.isfinite(apart) else float("inf")


def differences(reference: Call, calls: Mapping[str, Call]) -> dict[str, float]:
    """How far each call's result is from the reference's. All get the same samples."""
    expected = reference.result()
    return {name: difference(expected, call.result()) for name, call in calls.items()}
