"""Digital control: the law runs in Python once per control period, the plant in machine code in between.

The torques enter the compiled step in the place of the reference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.control.base import NOTHING, Desired, Law, SingularTask
from armdyn.simulation import compiled_loop
from armdyn.simulation.compiled_loop import loops, march_of, stage_rows
from armdyn.simulation.outcome import RunSamples, end_of_motion
from armdyn.simulation.problem import HUGE, SimulationProblem
from armdyn.simulation.run import Status
from armdyn.simulation.sensing import MeasuredState
from armdyn.typing import Array


@dataclass(frozen=True)
class _Given(Law):
    """The torques that stand in the place of the reference."""

    def __call__(self, t: Any, q: Array, qd: Array, desired: Desired, memory: Array = NOTHING) -> Array:
        return desired.q


def plant_of(problem: SimulationProblem) -> SimulationProblem:
    """The plant of a sampled problem alone, its torques given at every time step."""
    return replace(problem, law=_Given(), hold=1, sensors=None, stop=None, saturation=None)


def obstacle(problem: SimulationProblem) -> str | None:
    """What keeps the plant of a sampled law from being compiled; None if nothing does."""
    return compiled_loop.obstacle(plant_of(problem)) if problem.hold else "a law that acts continuously"


def worth_compiling(problem: SimulationProblem) -> bool:
    """Whether machine code for the plant is the better choice."""
    return compiled_loop.worth_compiling(plant_of(problem))


def sampled_steps(problem: SimulationProblem) -> RunSamples:
    """Simulate with the law in Python and the plant in machine code."""
    p, n, size, law = problem, problem.n, problem.coordinates.size, problem.law
    table = p.course.table(p.times)
    measure = None if p.sensors is None else MeasuredState(p)
    z = law.start(p.q0, p.qd0)
    count = p.steps + 1
    state, tau, memory = np.empty((count, 4 * size)), np.empty((count, n)), np.empty((count, len(z)))
    state[0] = np.concatenate([*p.start, np.zeros(2 * size)])
    window, spare = np.zeros((stage_rows(p.method), 1 + 3 * n)), np.empty(n)
    plants = {start: march_of(loop).kernel.ufunc for (start, _), loop in zip(p.plants, loops(plant_of(p)), strict=True)}
    held, value, seen = np.zeros(n), 0.0, p.coordinates

    def outcome(k: int, status: Status, detail: str) -> RunSamples:
        q, qd = (np.ascontiguousarray(state[:k, part : part + size]) for part in (0, size))
        return RunSamples(q, qd, tau[:k].copy(), memory[:k].copy(), status, detail, table=table)

    step = plants[0]
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(count):
            t, here = k * p.dt, state[k]
            x, xd = here[:size], here[size : 2 * size]
            if not here @ here < HUGE**2:
                return outcome(k, Status.UNSTABLE, f"at t = {t:.6g} s")
            memory[k] = z
            status, detail, value = end_of_motion(p, t, x[:n], xd[:n], value if k else None)
            if k % p.hold == 0:
                q, qd = (
                    (seen.measured(x), seen.measured(xd))
                    if measure is None
                    else (measure(k, seen.measured(x), seen.measured(xd)))
                )
                desired = Desired(table.q[k], table.qd[k], table.qdd[k])
                try:
                    held = p.limited(law(t, q, qd, desired, z), xd)
                    if len(z):
                        z = z + p.hold * p.dt * law.change(t, q, qd, desired, z)
                except SingularTask as error:
                    tau[k] = held
                    return outcome(k + 1, Status.SINGULAR, f"{error.what} at t = {t:.6g} s")
                window[:, 1 : 1 + n] = held
            tau[k] = held
            if status is not None or k == p.steps:
                return outcome(k + 1, status or Status.FINISHED, detail)
            if k in plants:
                step = plants[k]
            step(here, window, out=(state[k + 1], spare))
    raise AssertionError("the loop ends by itself")
