"""Why a run needs an implicit integrator, why it failed, and what holds joints away from the reference."""

from __future__ import annotations

import numpy as np

from armdyn.control.base import SingularTask
from armdyn.control.uncertainty import break_away
from armdyn.simulation.integrators import METHODS
from armdyn.simulation.outcome import RunSamples
from armdyn.simulation.plant_coordinates import initial
from armdyn.simulation.problem import SimulationProblem
from armdyn.simulation.run import Status
from armdyn.simulation.stiction import sticks
from armdyn.simulation.stiffness import Mode, fastest, law_slopes, linear_part, told
from armdyn.typing import Array

SAMPLED = 2.0
"""Rate times period up to which held torques of a damping law are stable."""
AWAY = 1e-2
"""Distance from the reference at which a joint that friction holds is reported, rad or m."""


def automatic(problem: SimulationProblem) -> str:
    """rk4, unless damping or springs of plant or law are too stiff for it at the start, middle or end of the motion.

    A margin of two is kept, since inertias change along the motion.
    """
    times = (0.0,) if problem.law.in_task_space else (0.0, problem.dt * problem.steps / 2, problem.dt * problem.steps)
    rates = (mode.rate for t in times for mode in _modes(problem, t, law=not problem.hold))
    return "implicit" if 2 * max(rates) * problem.dt > METHODS["rk4"].limit else "rk4"


def _modes(problem: SimulationProblem, t: float, *, law: bool = True) -> tuple[Mode, Mode]:
    """The fastest mode of the plant alone, and of the plant under its law, on the reference (t = 0: at the start).

    law: whether to ask the law; held torques do not act within a step, and a user's function may have a state.
    """
    p, dyn, where = problem, problem.plants[0][1], problem.coordinates
    desired = p.course.at(t)
    x, xd = p.start if t == 0 else initial(dyn, desired.q, desired.qd)
    M, D, K = linear_part(dyn, None, p.presliding)(x, xd)
    if p.stops is not None:  # as if all of them pushed
        damping, stiffness = (np.pad(part, (0, len(xd) - p.n)) for part in p.stops.strongest)
        D, K = D + np.diag(damping), K + np.diag(stiffness)
    memory = p.law.start(p.q0, p.qd0)

    def driving(x: Array, xd: Array) -> Array:
        return where.driven(p.law(t, where.measured(x), where.measured(xd), desired, memory))

    alone = fastest(M, D, K)
    if not law:
        return alone, alone
    try:
        damping, stiffness = law_slopes(driving, x, xd, dyn.robot)
    except SingularTask:  # the loop will say so
        return alone, alone
    if not np.isfinite([damping, stiffness]).all():
        return alone, alone
    return alone, fastest(M, D + damping, K + stiffness)


def diagnosed(problem: SimulationProblem, outcome: RunSamples) -> RunSamples:
    """The outcome of a failed run with joint and cause: damping or springs too fast for step, period or delay."""
    p, names, method, dt = problem, problem.plants[0][1].coordinates.names, problem.method, problem.dt
    plant, loop = _modes(p, 0.0)

    def found(cause: str, status: Status = outcome.status) -> RunSamples:
        return outcome._replace(status=status, detail=f"{outcome.detail}: {cause}")

    if outcome.status is not Status.UNSTABLE:
        if method.step is None and sticks(p.plants[0][1]):
            return found(_chatter(p, outcome))
        mode, whose = (loop, "arm and law") if loop.rate > 2 * plant.rate else (plant, "the arm")
        return found(told(mode, names, whose)) if mode.rate * dt > METHODS["rk4"].limit else outcome
    if plant.rate * dt > method.limit:
        limit = f"{method.name} needs dt below {method.limit / plant.rate:.2g} s"
        return found(f"{told(plant, names, 'the arm')}; {limit}", Status.STIFF)
    period, delay = p.hold * dt, 0.0 if p.sensors is None else p.sensors.delay
    cause = told(loop, names, "arm and law")
    if delay and loop.rate * (period + delay) > SAMPLED:
        return found(f"{cause}; measurements {delay:g} s old come too late")
    if loop.rate * (period or dt) > (SAMPLED if period else method.limit):
        step = f"a control period of {period:g} s is too long" if period else f"dt = {dt:g} s is too long"
        return found(f"{cause}; {step}")
    j = int(np.abs(outcome.qd[-1]).argmax())
    return found(f"{names[j]!r} moved fastest, at {abs(outcome.qd[-1, j]):.2g} per s")


def _chatter(problem: SimulationProblem, outcome: RunSamples) -> str:
    """The joint nearest to rest among those whose dry friction jumps there, and what helps."""
    dyn = problem.plants[0][1]
    up, down = break_away(dyn)
    speeds = np.where(up > down, np.abs(outcome.qd[-1]), np.inf)
    name = dyn.coordinates.names[int(speeds.argmin())]
    return (
        f"dry friction jumps where {name!r} is at rest; integrators with fixed steps hold it there, "
        'robot.without("friction") has none'
    )


def held_by_friction(problem: SimulationProblem, outcome: RunSamples) -> str:
    """The joints that dry friction holds away from the reference at the end, if any."""
    p = problem
    if p.law.in_task_space or not p.law.needs_reference:
        return ""
    away = np.abs(p.course.at(p.dt * p.steps).q - outcome.q[-1])
    names = p.plants[0][1].coordinates.names
    held = [f"{names[j]!r} at {away[j]:.2g}" for j in np.flatnonzero((outcome.qd[-1] == 0) & (away > AWAY))]
    return f"dry friction holds {', '.join(held)} from the reference" if held else ""
