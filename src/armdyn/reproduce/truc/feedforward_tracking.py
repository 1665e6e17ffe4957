"""Truc sec. 5: the three-link arm under feedforward alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.control.computed_torque import Feedforward
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.errors import ArmdynError
from armdyn.formats import load
from armdyn.simulation.run import Run
from armdyn.simulation.settings import Solver
from armdyn.simulation.simulator import simulate
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


def feedforward_tracking(dt: float = 5e-5) -> Run:
    """Truc sec. 5: the three-link arm under feedforward alone, (72), on the reference (73), from rest.

    Nothing corrects the arm: the error of a step grows about a thousandfold until t = 5 s. So the steps are short, and
    their increments are summed without loss.
    """
    dyn = compiled_dynamics(load("three_link"))
    return simulate(dyn, Feedforward(dyn), Swing(), dt=dt, integrator="rk4", solver=Solver(compiled=True))
