"""simulate: from arguments to a problem, through one of the loops to a result."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.control.base import Desired, Law
from armdyn.control.open_loop import TorqueFunction
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.dynamics.presliding import Presliding, sliding_part
from armdyn.errors import ArmdynError
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FEATURES, FREE, FRICTIONLESS, takes
from armdyn.robot.limits import position_limits
from armdyn.simulation.arguments import (
    check_free,
    check_presliding,
    checked_law,
    checked_sensors,
    course_of,
    hold_steps,
    plants_over_time,
    saturation_of,
    start_of,
    step_count,
    sticking,
    stop_condition,
    stop_forces,
    true_arm,
)
from armdyn.simulation.batch import BatchValues, march, samples
from armdyn.simulation.causes import automatic, diagnosed, held_by_friction
from armdyn.simulation.executors import execute
from armdyn.simulation.experiment import Experiment
from armdyn.simulation.integrators import AUTO
from armdyn.simulation.outcome import RunSamples
from armdyn.simulation.problem import SimulationProblem
from armdyn.simulation.run import Run, Status
from armdyn.simulation.runs import Runs
from armdyn.simulation.settings import Actuation, Plant, Sensors, Solver, Stop
from armdyn.typing import Progress


@takes(*CLOSED, "elastic", *FRICTIONLESS, *FREE)
def simulate(
    plant: Dynamics | Robot | Plant,
    law: Law | TorqueFunction | Sequence[Law] | Experiment,
    reference: Any = None,
    duration: float | None = None,
    *,
    q0: Any = None,
    qd0: Any = None,
    solver: Solver = Solver(),  # noqa: B008 (frozen)
    actuation: Actuation = Actuation(),  # noqa: B008
    sensors: Sensors | None = None,
    stop: Stop | None = None,
    stop_at_limits: bool = False,
    throw: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Motion of an arm under a control law.

    Leading axes of q0, qd0, of a constant reference or of the parameters of the plant, or a list of laws with different
    gains, make a batch: all samples run side by side in machine code, and the result, `Runs`, has these axes too.

    Args:
        plant:          the true arm; `Plant(robot, ...)` adds a payload, pushes, other parameters, stiction, stops, a
                        wrench, changes of the load, the measured side of elastic joints.
        law:            control law, which may know another model than the plant; or any function (t, q, qd) -> tau,
                        (n,) N m or N; or a list of laws, one per sample; or an `Experiment`, which holds all other
                        arguments too and is run with its studies.
        reference:      callable ref(t), ref(t, 1), ref(t, 2), such as a trajectory, or a constant configuration
                        (default: none, for a function or table of torques; errors are then those from q0).
        duration:       s, rounded up to whole time steps (default: that of the reference or the table).
        q0:             (nq,) initial configuration, rad or m (default: on the reference; without one, joints at zero or
                        in the middle of ranges that do not hold zero).
        qd0:            (n,) initial velocity, rad/s or m/s (default: on the reference).
        solver:         integrator, time step, tolerances, machine code or Python: see `Solver`.
        actuation:      torque limits and control period: see `Actuation`.
        sensors:        noise, resolution and delay of the measurements (default: the exact state).
        stop:           function (t, q, qd) -> number, or truth value, whose change of sign ends the motion (default:
                        none).
        stop_at_limits: reaching a joint limit ends the motion (default: False).
        throw:          raise SimulationError if the motion does not reach its end (default: False, see `Run.status`).
        progress:       called with the step and the fraction done, of the studies of an experiment (default: none).

    Returns: Run: t, q, qd, tau, error, energies, status; of a batch, Runs.
    """
    if isinstance(law, Experiment):
        if not isinstance(plant, Robot) or (reference, duration, q0, qd0, sensors, stop) != (None,) * 6:
            raise ArmdynError(
                "an experiment together with other arguments",
                where="simulate",
                expected="simulate(robot, experiment): the experiment holds them",
            )
        from armdyn.simulation.studies import run_experiment  # studies simulate in their turn

        run = run_experiment(law, plant, progress)
        return run.required() if throw else run
    begin = time.perf_counter()
    body = plant if isinstance(plant, Plant) else Plant(plant)
    whole, parameters = true_arm(body)
    parts = Presliding.of(whole.robot)
    dyn = compiled_dynamics(sliding_part(whole.robot), cache=whole.cache) if len(parts) else whole
    n = dyn.robot.n
    many = samples(law, reference, q0, qd0, parameters)
    if many is not None:
        q0, qd0, reference = many.first(q0, many.q0), many.first(qd0, many.qd0), many.first(reference, many.goals)
        law = many.laws[0] if many.laws else law
    law = checked_law(law, n)
    check_free(dyn, law, body, solver, stop_at_limits)
    course = course_of(reference, law, dyn.robot, q0)
    steps = step_count(course, getattr(law, "duration", None) if duration is None else duration, solver.dt)
    nq = dyn.robot.nq
    start = start_of("q0", q0, nq, law, course.start.q), start_of("qd0", qd0, n, law, course.start.qd)
    problem = SimulationProblem(
        plants=plants_over_time(dyn, body, solver.dt, steps),
        law=law,
        course=course,
        solver=solver,
        steps=steps,
        q0=start[0],
        qd0=start[1],
        hold=hold_steps(actuation.control_period, sensors is not None, solver.dt),
        sensors=checked_sensors(sensors, n),
        saturation=saturation_of(actuation, dyn.robot),
        wrench=body.exerted,
        stiction=sticking(dyn, body, solver, parameters),
        stops=stop_forces(dyn, body),
        measure=body.measure,
        stop=stop_condition(stop),
        ranges=np.array(position_limits(dyn.robot)) if stop_at_limits else None,
        presliding=parts,
    )
    if len(parts):
        check_presliding(problem, body, many is not None)
    if solver.integrator == AUTO:
        problem = replace(problem, solver=replace(solver, integrator=automatic(problem)))
    if many is not None:
        runs = _runs(problem, many, begin)
        if solver.integrator == AUTO and not runs.ok and problem.method.name == "rk4":  # as below
            runs = _runs(replace(problem, solver=replace(solver, integrator="implicit")), many, begin)
        return runs.required() if throw else runs
    outcome, in_code = execute(problem)
    if solver.integrator == AUTO and outcome.status is Status.UNSTABLE and problem.method.name == "rk4":
        # Somewhere on the way inertias were smaller than where the choice was made.
        problem = replace(problem, solver=replace(solver, integrator="implicit"))
        outcome, in_code = execute(problem)
    if outcome.status in (Status.UNSTABLE, Status.CRAWLING, Status.STALLED):
        outcome = diagnosed(problem, outcome)
    elif outcome.status is Status.FINISHED and problem.stiction:
        outcome = outcome._replace(detail=held_by_friction(problem, outcome))
    run = _run(problem, outcome, in_code, time.perf_counter() - begin, _notes(whole.robot, law.innermost))
    return run.required() if throw else run


def _runs(problem: SimulationProblem, many: BatchValues, begin: float) -> Runs:
    """The results of a batch."""
    p, keep = problem, problem.solver.keep
    found = march(p, many, keep)
    places = p.coordinates.motors
    motors = None if p.coordinates.rigid else (found.q[..., places], found.qd[..., places])
    q, qd = found.q[..., : p.nq], found.qd[..., : p.n]
    table = p.course.table(p.times[::keep])
    goal = found.desired
    if p.law.in_task_space:  # as for constant references, each sample has its own
        goal = np.broadcast_to(goal, (*many.shape, *goal.shape))
    desired = Desired(goal, table.qd, table.qdd)
    error = p.law.error(q, desired) if p.law.in_task_space else goal - q
    lost = int((found.statuses != Status.FINISHED).sum())
    status, detail = (Status.UNSTABLE, f"{lost} of {many.total} samples") if lost else (Status.FINISHED, "")
    return Runs(
        t=p.times[::keep],
        q=q,
        qd=qd,
        tau=found.tau,
        desired=desired,
        error=error,
        memory=found.memory,
        status=status,
        detail=detail,
        plants=p.plants,
        integrator=p.method.name,
        dt=p.dt,
        law=p.law,
        compiled=True,
        seconds=time.perf_counter() - begin,
        motors=motors,
        statuses=found.statuses,
        ends=found.ends,
        parameters=many.parameters,
    )


def _run(problem: SimulationProblem, outcome: RunSamples, in_code: bool, seconds: float, notes: tuple[str, ...]) -> Run:
    t = problem.times[: len(outcome.q)] if outcome.t is None else outcome.t
    known = outcome.table
    desired = problem.course.table(t) if known is None else Desired(*(column[: len(t)] for column in known))
    law, n = problem.law, problem.n
    places = problem.coordinates.motors
    motors = None if problem.coordinates.rigid else (outcome.q[:, places], outcome.qd[:, places])
    nq = problem.nq
    outcome = outcome._replace(q=np.ascontiguousarray(outcome.q[:, :nq]), qd=np.ascontiguousarray(outcome.qd[:, :n]))
    if law.in_task_space:
        error = law.error(outcome.q, desired)
    else:
        robot = problem.plants[0][1].robot
        error = robot.difference(outcome.q, desired.q) if robot.compounds else desired.q - outcome.q
    arrays = (t, outcome.q, outcome.qd, outcome.tau, error, outcome.memory, *desired)
    for array in arrays:
        array.flags.writeable = False
    plants = tuple((start, dyn) for start, dyn in problem.plants if start < len(t))
    return Run(
        t=t,
        q=outcome.q,
        qd=outcome.qd,
        tau=outcome.tau,
        desired=desired,
        error=error,
        memory=outcome.memory,
        status=outcome.status,
        detail=outcome.detail,
        plants=plants,
        integrator=problem.method.name,
        dt=problem.dt,
        law=law,
        compiled=in_code,
        seconds=seconds,
        motors=motors,
        notes=notes,
    )


def _notes(robot: Robot, law: Law) -> tuple[str, ...]:
    """What the law's model leaves out of the plant, and the condition of stability of a law that has one."""
    known = getattr(getattr(law, "dyn", None), "robot", robot)
    missing = [FEATURES[name].words for name in robot.features if name not in known.features]
    notes = [f"The control law's model leaves out: {words}. The simulated arm includes it." for words in missing]
    return (*notes, *([f"Condition of stability: {law.condition}."] if hasattr(law, "condition") else []))
