"""Checks of simulations."""

from __future__ import annotations

from typing import Any

import numpy as np

import armdyn
from armdyn import control
from armdyn.simulation import Solver, simulate
from armdyn.simulation.studies import imperfect_models, monte_carlo
from support.cells.case import EXACT, KD, KP, Case, cell, close


@cell("simulation.simulate")
def _simulate(c: Case) -> None:
    # The second model integrates Dahl's equation in time, not along the path: errors of either method, h = 4 ms.
    close(*c.simulated(), 1e-7 if "presliding" in c.robot.features else EXACT)


@cell("simulation.imperfect_models")
def _imperfect(c: Case) -> None:
    """The full model tracks to the integrator's error; a model without a term that the arm has does not."""
    law = control.ComputedTorque(c.dyn, 100, 20)
    runs = imperfect_models(c.dyn, law, c.move, 0.05, solver=Solver(dt=1e-3, integrator="rk4"))
    full, *others = runs.values()
    assert np.abs(full.error).max() < 1e-6
    assert max(np.abs(run.error).max() for run in others) > 1e-6


@cell("simulation.monte_carlo")
def _monte_carlo(c: Case) -> None:
    """Arms that do not differ from the model move as the arm does."""
    spread: dict[str, Any] = {"samples": 2, "mass": 0.0, "com": 0.0, "friction": 0.0}
    course = armdyn.point_to_point(c.q, c.q + 0.2, "quintic", duration=0.03)
    found = monte_carlo(
        c.robot, control.PID(KP, KD), course, 0.03, q0=c.q, qd0=c.qd, **spread, solver=Solver(dt=1e-3, integrator="rk4")
    )
    run = simulate(c.dyn, control.PID(KP, KD), course, 0.03, q0=c.q, qd0=c.qd, solver=Solver(dt=1e-3, integrator="rk4"))
    close(found.largest_error[0], np.abs(run.error).max(axis=0), 1e-7)
    _simulate(c)
