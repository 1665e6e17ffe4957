"""Measurements: noise, resolution, delay, velocities by differences."""

from __future__ import annotations

import numpy as np

from armdyn.simulation.problem import SimulationProblem
from armdyn.simulation.settings import Sensors
from armdyn.typing import Array


class MeasuredState:
    """The state as the controller measures it, once per control period."""

    def __init__(self, problem: SimulationProblem) -> None:
        assert problem.sensors is not None
        self.sensors: Sensors = problem.sensors
        self.random = np.random.default_rng(self.sensors.seed)
        self.n = problem.n
        self.period = problem.hold * problem.dt
        self.age = round(self.sensors.delay / self.period)
        self.past: list[tuple[Array, Array]] = []
        self.before: Array | None = None

    def __call__(self, k: int, q: Array, qd: Array) -> tuple[Array, Array]:
        """The measured state, delayed; until the delay has passed, the first measurement."""
        s = self.sensors
        seen_q = q + np.asarray(s.noise_q) * self.random.standard_normal(self.n)
        seen_qd = qd + np.asarray(s.noise_qd) * self.random.standard_normal(self.n)
        step = np.broadcast_to(np.asarray(s.resolution, dtype=float), (self.n,))
        fine = np.where(step > 0, step, 1.0)
        seen_q = np.where(step > 0, fine * np.round(seen_q / fine), seen_q)
        if s.differentiate:
            seen_qd = np.zeros(self.n) if self.before is None else (seen_q - self.before) / self.period
            self.before = seen_q
        self.past.append((seen_q, seen_qd))
        return self.past.pop(0) if len(self.past) > self.age else self.past[0]
