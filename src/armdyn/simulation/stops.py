"""Mechanical stops at the joint limits, over numbers and over symbols.

    torque = -max(0, k d + c d')  at the upper limit, d = q - upper >= 0, and its mirror image at the lower one

A stop pushes and never pulls. Its stiffness and damping follow from a time constant and a damping ratio: k = I / T^2,
c = 2 ratio I / T. I is the inertia that the joint feels in the middle of the working range with the other joints free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armdyn.control.pointwise import where_not_negative
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.robot.limits import position_limits, working_range
from armdyn.typing import Array

FAR = 1e300
"""In place of infinite limits, which machine code would turn into not-a-number."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Stops:
    """Stops at the joint limits of a plant.

    time_constant: within which a stop acts on its joint, s (default: 0.005).
    damping_ratio: of joint and stop; 1 (default) hardly bounces.
    stiffness:     in place of the time constant, N m/rad or N/m, (n,) or one number.
    damping:       in place of the damping ratio, N m s/rad or N s/m, (n,) or one number.
    """

    time_constant: float = 0.005
    damping_ratio: float = 1.0
    stiffness: Any = None
    damping: Any = None

    def __post_init__(self) -> None:
        if not (self.time_constant > 0 and self.damping_ratio >= 0):
            raise ArmdynError(
                f"time_constant = {self.time_constant}, damping_ratio = {self.damping_ratio}",
                where="Stops",
                expected="a positive time in s, and a ratio >= 0",
            )

    def on(self, dyn: Dynamics) -> StopForces:
        """The stops of a plant."""
        robot, n = dyn.robot, dyn.robot.n
        middle = np.mean(working_range(robot), axis=0)
        M = dyn.mass_matrix(np.array(dyn.coordinates.joined(middle, middle)))
        inertia = 1 / np.diagonal(np.linalg.inv(M))[:n]
        k = inertia / self.time_constant**2 if self.stiffness is None else np.broadcast_to(self.stiffness, (n,))
        c = 2 * self.damping_ratio * np.sqrt(k * inertia) if self.damping is None else self.damping
        low, high = position_limits(robot)
        return StopForces(*(tuple(np.broadcast_to(np.clip(x, -FAR, FAR), (n,)).tolist()) for x in (low, high, k, c)))


class StopForces(NamedTuple):
    """Stops with numbers: limits, rad or m, stiffness and damping of each joint."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]

    def __call__(self, q: Array, qd: Array) -> Array:
        """(size,) torques of the stops on the coordinates, of which the joints come first; numbers or symbols."""
        n = len(self.low)
        low, high, k, c = map(np.array, self)
        torque = np.zeros(len(qd), dtype=q.dtype)
        for depth, rate, way in ((q[:n] - high, qd[:n], -1), (low - q[:n], -qd[:n], 1)):
            push = k * depth + c * rate
            torque[:n] = torque[:n] + way * where_not_negative(depth, where_not_negative(push, push, 0.0), 0.0)
        return torque

    def slopes(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """(size,) damping and stiffness of the stops that push."""
        n = len(self.low)
        low, high, k, c = map(np.array, self)
        pushing = np.zeros(n, dtype=q.dtype)
        for depth, rate in ((q[:n] - high, qd[:n]), (low - q[:n], -qd[:n])):
            pushing = pushing + where_not_negative(depth, where_not_negative(k * depth + c * rate, 1.0, 0.0), 0.0)
        rest = np.zeros(len(qd) - n)
        return np.concatenate([c * pushing, rest]), np.concatenate([k * pushing, rest])

    @property
    def strongest(self) -> tuple[Array, Array]:
        """(n,) damping and stiffness with every stop pushing."""
        given = np.array(self.low) > -FAR
        given |= np.array(self.high) < FAR
        return given * np.array(self.damping), given * np.array(self.stiffness)
