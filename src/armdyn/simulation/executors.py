"""The ways to run a problem, in the order in which they are preferred; each gives the same motion.

An executor takes a checked `Problem` and returns its `Outcome`. `execute` picks the first one that can run the problem
and is worth its preparation; `Solver.compiled` forces machine code, or Python.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from armdyn.errors import NotApplicable
from armdyn.simulation import compiled_loop, sampled_loop
from armdyn.simulation.fixed_step import fixed_steps
from armdyn.simulation.outcome import RunSamples
from armdyn.simulation.problem import SimulationProblem
from armdyn.simulation.run import Status


class Executor(NamedTuple):
    """One way to run a problem.

    run:             the problem's outcome.
    obstacle:        what keeps it from running a problem; None if nothing does.
    worth_compiling: whether its machine code is the better choice, if nobody has decided it; None: it has none.
    """

    run: Callable[[SimulationProblem], RunSamples]
    obstacle: Callable[[SimulationProblem], str | None]
    worth_compiling: Callable[[SimulationProblem], bool] | None = None


def _adaptive_steps(problem: SimulationProblem) -> RunSamples:
    from armdyn.simulation.adaptive_step import adaptive_steps  # brings SciPy's integrators along

    return adaptive_steps(problem)


def _compiled_steps(problem: SimulationProblem) -> RunSamples:
    """Simulate in machine code; where the law may have been undefined, step by step in Python instead."""
    run = compiled_loop.compiled_steps(problem)
    if problem.law.compilable:
        return run
    seen = problem.coordinates.measured(run.q.T).T
    doubtful = problem.law.undefined(seen)
    if run.status is Status.UNSTABLE or doubtful is None or doubtful.any():
        return fixed_steps(problem)
    return run


EXECUTORS = (
    Executor(_compiled_steps, partial(compiled_loop.obstacle, watched=True), compiled_loop.worth_compiling),
    Executor(sampled_loop.sampled_steps, sampled_loop.obstacle, sampled_loop.worth_compiling),
    Executor(fixed_steps, lambda problem: None if problem.method.step else "adaptive steps"),
    Executor(_adaptive_steps, lambda problem: "fixed steps" if problem.method.step else None),
)


def execute(problem: SimulationProblem) -> tuple[RunSamples, bool]:
    """The outcome, and whether machine code ran the loop."""
    _check_combination(problem)
    wanted = problem.solver.compiled
    for executor in EXECUTORS:
        if executor.obstacle(problem) is not None:
            continue
        worth = executor.worth_compiling
        if wanted is not True if worth is None else wanted or (wanted is None and worth(problem)):
            return executor.run(problem), worth is not None
    reason = EXECUTORS[0].obstacle(problem)
    raise NotApplicable(f"{reason} cannot be compiled", where="simulate", advice="Leave out compiled=True.")


def _check_combination(problem: SimulationProblem) -> None:
    """Raise NotApplicable for options that no executor takes together."""
    if problem.stiction and not problem.coordinates.rigid:
        raise NotApplicable(
            "elastic joints together with stiction",
            where="simulate",
            expected="one of the two",
            advice='robot.without("elastic") has rigid joints.',
        )
    if problem.method.step is None and (problem.sensors is not None or problem.stiction):
        raise NotApplicable(
            "sensors and stiction need fixed steps",
            where=f"simulate, integrator {problem.method.name!r}",
            expected="integrator euler_taylor, semi_implicit, rk4 or implicit",
        )
