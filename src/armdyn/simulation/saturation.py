"""What actuators can give: largest torques, which fall with the speed, over numbers and over symbols."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armdyn.control.pointwise import clipped, where_not_negative
from armdyn.typing import Array


class Saturation(NamedTuple):
    """Torque limits of n actuators.

        -T share(-qd) <= tau <= T share(qd),   share(v) = 1 up to the corner speed, 0 from the no-load speed on

    linear in between: a motor loses torque while it drives, not while it brakes.

    torque:  T, N m or N; infinite: unlimited.
    corner:  speed up to which T is available, rad/s or m/s; None: at every speed.
    no_load: speed at which no torque is left.
    """

    torque: tuple[float, ...]
    corner: tuple[float, ...] | None = None
    no_load: tuple[float, ...] | None = None

    def __call__(self, tau: Array, qd: Array) -> Array:
        """(n,) torques that the actuators give, of those demanded, at these velocities."""
        if self.corner is None or self.no_load is None:
            return clipped(tau, self.torque)
        high, low = self._share(qd), -self._share(-qd)
        limited = [np.isfinite(limit) for limit in self.torque]
        limit = np.where(limited, self.torque, 0.0)
        high, low = limit * high, limit * low
        below = where_not_negative(tau - high, high, tau)
        both = where_not_negative(below - low, below, low)
        return np.where(limited, both, tau)

    def _share(self, v: Array) -> Array:
        assert self.corner is not None and self.no_load is not None
        corner, no_load = np.array(self.corner), np.array(self.no_load)
        line = (no_load - v) / (no_load - corner)
        return where_not_negative(line, where_not_negative(line - 1, 1.0, line), 0.0)
