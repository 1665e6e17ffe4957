"""Truc sec. 5: the reference of the three-link arm."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.typing import Array


class Swing:
    """The reference (73) of Truc: (1, 0.75, 0.5)(1 - cos 2 pi t)."""

    duration = 5.0
    size = np.array([1.0, 0.75, 0.5])

    def __call__(self, t: Any, order: int = 0) -> Array:
        if order not in (0, 1, 2):
            raise ArmdynError(f"derivative of order {order}", where="Swing", expected="0, 1 or 2")
        w = 2 * np.pi
        angle = w * np.asarray(t, dtype=float)[..., None]
        wave = (1 - np.cos(angle), w * np.sin(angle), w**2 * np.cos(angle))[order]
        return np.asarray(wave * self.size)
