"""What is to be simulated, checked once at the door: the loops take it as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.control.law import Law
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError
from armdyn.simulation.course import Course
from armdyn.simulation.integrators import Method
from armdyn.typing import Array

HUGE = 1e8
"""Positions and velocities beyond this (rad, m, and per s) are a blow-up."""


@dataclass(frozen=True)
class Sensors:
    """What stands between the arm and its controller.

    noise_q, noise_qd: standard deviations of white noise, per joint or one for all. resolution: step of the position
    sensors, rad or m (0: none). delay: age of the measurement when the law gets it, s (whole time steps).
    differentiate: velocities are differences of the measured positions over a control period instead of measurements.
    seed: of the noise; the same seed gives the same noise.
    """

    noise_q: Any = 0.0
    noise_qd: Any = 0.0
    resolution: Any = 0.0
    delay: float = 0.0
    differentiate: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("noise_q", "noise_qd", "resolution", "delay"):
            value = np.asarray(getattr(self, name), dtype=float)
            if not (np.isfinite(value).all() and (value >= 0).all()):
                raise ArmdynError(f"{name} = {getattr(self, name)}", where="Sensors", expected="0 or positive numbers")


Wrench = Callable[[float, Array, Array], Any]
Stop = Callable[[float, Array, Array], float]


@dataclass(frozen=True, eq=False)
class Problem:
    """A closed loop and where it starts. hold: time steps per control period; 0: the law acts continuously."""

    plants: tuple[tuple[int, Dynamics], ...]
    law: Law
    course: Course
    dt: float
    steps: int
    q0: Array
    qd0: Array
    method: Method
    hold: int = 0
    sensors: Sensors | None = None
    torque_limits: Array | None = None
    wrench: Wrench | None = None
    stiction: bool = False
    elastic: bool = False
    stop: Stop | None = None
    ranges: Array | None = None
    """(2, n) lower and upper ends of the joints, where reaching one ends the motion."""
    rtol: float = 1e-9
    atol: float = 1e-12
    max_step: float = np.inf

    @property
    def n(self) -> int:
        return self.plants[0][1].n

    @property
    def times(self) -> Array:
        return self.dt * np.arange(self.steps + 1)

    def plant(self, k: int) -> Dynamics:
        """The plant that moves from sample k on."""
        return next(dyn for start, dyn in reversed(self.plants) if start <= k)


def outside(q: Array, qd: Array) -> bool:
    """Whether a state is beyond all bounds, or not a number."""
    worst = float(abs(q).max()), float(abs(qd).max())  # NaN compares as false
    return not (worst[0] < HUGE and worst[1] < HUGE)
