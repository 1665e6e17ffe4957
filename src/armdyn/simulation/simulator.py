"""simulate: the arguments are checked here, once; the loops do the rest."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.control.computed_torque import NoControl
from armdyn.control.law import Desired, Law, SingularTask
from armdyn.control.open_loop import FunctionLaw, TorqueFunction
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.dynamics.presliding import Presliding, sliding_part
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FREE, FRICTIONLESS, takes
from armdyn.robot.limits import limit_vector, position_limits, start_position, torque_limits, torque_speed
from armdyn.simulation import sampled_loop
from armdyn.simulation.adaptive_step import adaptive_steps
from armdyn.simulation.batch import Samples, march, samples
from armdyn.simulation.compiled_loop import compiled_steps, obstacle, pays
from armdyn.simulation.course import Course
from armdyn.simulation.fixed_step import fixed_steps
from armdyn.simulation.integrators import AUTO, METHODS
from armdyn.simulation.outcome import Outcome
from armdyn.simulation.problem import Problem
from armdyn.simulation.run import Run, Status
from armdyn.simulation.runs import Runs
from armdyn.simulation.saturation import Saturation
from armdyn.simulation.settings import Actuation, Plant, Sensors, Solver, Stop, positive_time
from armdyn.simulation.sides import initial
from armdyn.simulation.stiction import sticks
from armdyn.simulation.stiffness import Mode, fastest, law_slopes, linear_part, told
from armdyn.simulation.stops import StopForces, Stops
from armdyn.typing import Array

SAMPLED = 2.0
"""Rate times period up to which held torques of a damping law are stable."""
MOST_STEPS = 10**7
AWAY = 1e-2
"""Distance from the reference at which a joint that friction holds is reported, rad or m."""


@takes(*CLOSED, "elastic", *FRICTIONLESS, *FREE)
def simulate(
    plant: Dynamics | Robot | Plant,
    controller: Law | TorqueFunction | Sequence[Law],
    reference: Any = None,
    duration: float | None = None,
    dt: float | None = None,
    *,
    q0: Any = None,
    qd0: Any = None,
    integrator: str | None = None,
    solver: Solver = Solver(),  # noqa: B008 (frozen)
    actuation: Actuation = Actuation(),  # noqa: B008
    sensors: Sensors | None = None,
    stop: Stop | None = None,
    stop_at_limits: bool = False,
    throw: bool = False,
) -> Run:
    """Motion of an arm under a control law.

    Leading axes of q0, qd0 or of a constant reference, or a list of laws with different gains, make a batch: all
    samples run side by side in machine code, and the result, `Runs`, has these axes too.

    Args:
        plant:          the true arm; `Plant(robot, ...)` adds stiction, a wrench, changes of the load, the measured
                        side of elastic joints.
        controller:     control law, which may know another model than the plant; or any function (t, q, qd) -> tau,
                        (n,) N m or N; or a list of laws, one per sample.
        reference:      callable ref(t), ref(t, 1), ref(t, 2), such as a trajectory, or a constant configuration
                        (default: none, for a function or table of torques; errors are then those from q0).
        duration:       s, rounded up to whole time steps (default: that of the reference or the table).
        dt:             time step, s (default: that of the solver, 1e-3).
        q0:             (nq,) initial configuration, rad or m (default: on the reference; without one, joints at zero or
                        in the middle of ranges that do not hold zero).
        qd0:            (n,) initial velocity, rad/s or m/s (default: on the reference).
        integrator:     name of the integrator (default: that of the solver, auto).
        solver:         tolerances, machine code or Python: see `Solver`.
        actuation:      torque limits and control period: see `Actuation`.
        sensors:        noise, resolution and delay of the measurements (default: the exact state).
        stop:           function (t, q, qd) -> number whose change of sign ends the motion (default: none).
        stop_at_limits: reaching a joint limit ends the motion (default: False).
        throw:          raise SimulationError if the motion does not reach its end (default: False, see `Run.status`).

    Returns: Run: t, q, qd, tau, error, energies, status; of a batch, Runs.
    """
    begin = time.perf_counter()
    body = plant if isinstance(plant, Plant) else Plant(plant)
    step, name = solver.dt if dt is None else dt, solver.integrator if integrator is None else integrator
    solver = replace(solver, dt=step, integrator=name)
    whole = _dynamics(body.model, "plant")
    parts = Presliding.of(whole.robot)
    dyn = compiled_dynamics(sliding_part(whole.robot), cache=whole.cache) if len(parts) else whole
    n = dyn.robot.n
    many = samples(controller, reference, q0, qd0)
    if many is not None:
        q0, qd0, reference = many.first(q0, many.q0), many.first(qd0, many.qd0), many.first(reference, many.goals)
        controller = many.laws[0] if many.laws else controller
    law = _checked_law(controller, n)
    _check_free(dyn, law, body, solver, stop_at_limits)
    course = _course(reference, law, dyn.robot, q0)
    steps = step_count(course, getattr(law, "duration", None) if duration is None else duration, solver.dt)
    nq = dyn.robot.nq
    start = _start("q0", q0, nq, law, course.start.q), _start("qd0", qd0, n, law, course.start.qd)
    problem = Problem(
        plants=_plants(dyn, body, solver.dt, steps),
        law=law,
        course=course,
        solver=solver,
        steps=steps,
        q0=start[0],
        qd0=start[1],
        hold=_hold(actuation.control_period, sensors is not None or isinstance(law, FunctionLaw), solver.dt),
        sensors=sensors,
        saturation=_saturation(actuation, dyn.robot),
        wrench=body.wrench,
        stiction=_sticks(dyn, body, solver),
        stops=_stops(dyn, body),
        measure=body.measure,
        stop=stop,
        ranges=np.array(position_limits(dyn.robot)) if stop_at_limits else None,
        presliding=parts,
    )
    if len(parts):
        _check_presliding(problem, body, many is not None)
    if name == AUTO:
        problem = replace(problem, solver=replace(solver, integrator=_automatic(problem)))
    if many is not None:
        runs = _runs(problem, many, begin)
        return runs.required() if throw else runs
    outcome, in_code = _solved(problem)
    if name == AUTO and outcome.status is Status.UNSTABLE and problem.method.name == "rk4":
        # Somewhere on the way inertias were smaller than where the choice was made.
        problem = replace(problem, solver=replace(solver, integrator="implicit"))
        outcome, in_code = _solved(problem)
    if outcome.status in (Status.UNSTABLE, Status.CRAWLING, Status.STALLED):
        outcome = _diagnosed(problem, outcome)
    elif outcome.status is Status.FINISHED and problem.stiction:
        outcome = outcome._replace(detail=_held_by_friction(problem, outcome))
    run = _run(problem, outcome, in_code, time.perf_counter() - begin)
    return run.required() if throw else run


def _runs(problem: Problem, many: Samples, begin: float) -> Runs:
    """The results of a batch."""
    p, keep = problem, problem.solver.keep
    found = march(p, many, keep)
    places = p.sides.motors
    motors = None if p.sides.rigid else (found.q[..., places], found.qd[..., places])
    q, qd = found.q[..., : p.nq], found.qd[..., : p.n]
    table = p.course.table(p.times[::keep])
    desired = Desired(found.desired, table.qd, table.qdd)
    finished = bool((found.statuses == Status.FINISHED).all())
    lost = int((found.statuses != Status.FINISHED).sum())
    status, detail = (Status.FINISHED, "") if finished else (Status.UNSTABLE, f"{lost} of {many.total} samples")
    return Runs(p.times[::keep], q, qd, found.tau, desired, found.desired - q, found.memory, status, detail, p.plants,
                p.method.name, p.dt, p.law.summary, True, time.perf_counter() - begin, motors, found.statuses,
                found.ends)  # fmt: skip


def _automatic(problem: Problem) -> str:
    """rk4, unless damping or springs of plant or law are too stiff for it at the start, middle or end of the motion.

    A margin of two is kept, since inertias change along the motion.
    """
    times = (0.0,) if problem.law.in_task_space else (0.0, problem.dt * problem.steps / 2, problem.dt * problem.steps)
    rates = (mode.rate for t in times for mode in _modes(problem, t))
    return "implicit" if 2 * max(rates) * problem.dt > METHODS["rk4"].limit else "rk4"


def _modes(problem: Problem, t: float) -> tuple[Mode, Mode]:
    """The fastest mode of the plant alone, and of the plant under its law, on the reference (t = 0: at the start)."""
    p, dyn, where = problem, problem.plants[0][1], problem.sides
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
    try:
        damping, stiffness = law_slopes(driving, x, xd, dyn.robot)
    except SingularTask:  # the loop will say so
        return alone, alone
    if not np.isfinite([damping, stiffness]).all():
        return alone, alone
    return alone, fastest(M, D + damping, K + stiffness)


def _diagnosed(problem: Problem, outcome: Outcome) -> Outcome:
    """The outcome of a failed run with joint and cause: damping or springs too fast for step, period or delay."""
    p, names, method, dt = problem, problem.plants[0][1].coordinates.names, problem.method, problem.dt
    plant, loop = _modes(p, 0.0)

    def found(cause: str, status: Status = outcome.status) -> Outcome:
        return outcome._replace(status=status, detail=f"{outcome.detail}: {cause}")

    if outcome.status is not Status.UNSTABLE:
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


def _held_by_friction(problem: Problem, outcome: Outcome) -> str:
    """The joints that dry friction holds away from the reference at the end, if any."""
    p = problem
    if p.law.in_task_space or not p.law.needs_reference:
        return ""
    away = np.abs(p.course.at(p.dt * p.steps).q - outcome.q[-1])
    names = p.plants[0][1].coordinates.names
    held = [f"{names[j]!r} at {away[j]:.2g}" for j in np.flatnonzero((outcome.qd[-1] == 0) & (away > AWAY))]
    return f"dry friction holds {', '.join(held)} from the reference" if held else ""


def _solved(problem: Problem) -> tuple[Outcome, bool]:
    """The outcome, and whether machine code ran the loop."""
    compiled, name = problem.solver.compiled, problem.method.name
    if problem.stiction and not problem.sides.rigid:
        raise NotApplicable(
            "elastic joints together with stiction", where="simulate", expected="one of the two",
            advice='robot.without("elastic") has rigid joints.',
        )  # fmt: skip
    if problem.method.step is None and (problem.sensors is not None or problem.stiction):
        raise NotApplicable(
            "sensors and stiction need fixed steps", where=f"simulate, integrator {name!r}",
            expected="integrator euler_taylor, semi_implicit, rk4 or implicit",
        )  # fmt: skip
    reason = obstacle(problem)
    sampled = reason is not None and compiled is not False and sampled_loop.applies(problem)
    if sampled and (compiled or sampled_loop.pays(problem)):
        return sampled_loop.sampled_steps(problem), True
    if compiled and reason is not None:
        raise NotApplicable(f"{reason} cannot be compiled", where="simulate", advice="Leave out compiled=True.")
    if reason is None and (compiled or (compiled is None and pays(problem))):
        return compiled_steps(problem), True
    return (adaptive_steps if problem.method.step is None else fixed_steps)(problem), False


def _run(problem: Problem, outcome: Outcome, in_code: bool, seconds: float) -> Run:
    t = problem.times[: len(outcome.q)] if outcome.t is None else outcome.t
    known = outcome.table
    desired = problem.course.table(t) if known is None else Desired(*(column[: len(t)] for column in known))
    law, n = problem.law, problem.n
    places = problem.sides.motors
    motors = None if problem.sides.rigid else (outcome.q[:, places], outcome.qd[:, places])
    nq = problem.nq
    outcome = outcome._replace(q=np.ascontiguousarray(outcome.q[:, :nq]), qd=np.ascontiguousarray(outcome.qd[:, :n]))
    if law.in_task_space:
        error = np.array([law.error(q, type(desired)(*d)) for q, *d in zip(outcome.q, *desired, strict=True)])
    else:
        robot = problem.plants[0][1].robot
        error = robot.difference(outcome.q, desired.q) if robot.compounds else desired.q - outcome.q
    arrays = (t, outcome.q, outcome.qd, outcome.tau, error, outcome.memory, *desired)
    for array in arrays:
        array.flags.writeable = False
    plants = tuple((start, dyn) for start, dyn in problem.plants if start < len(t))
    return Run(
        t=t, q=outcome.q, qd=outcome.qd, tau=outcome.tau, desired=desired, error=error, memory=outcome.memory,
        status=outcome.status, detail=outcome.detail, plants=plants, integrator=problem.method.name, dt=problem.dt,
        controller=law.summary, compiled=in_code, seconds=seconds, motors=motors,
    )  # fmt: skip


# Arguments ----------------------------------------------------------------------------------------------------------


def _dynamics(plant: Any, what: str) -> Dynamics:
    if not isinstance(plant, Robot | Dynamics):
        raise ArmdynError(
            f"the {what} is a {type(plant).__name__}", where="simulate", expected="a Robot or its Dynamics"
        )
    return compiled_dynamics(plant) if isinstance(plant, Robot) else plant


def _checked_law(law: Any, n: int) -> Law:
    """The control law, made of the function if it is one; raises ArmdynError if it is for another number of joints."""
    if not isinstance(law, Law):
        if callable(law):
            return FunctionLaw(law, n)
        raise ArmdynError(f"the controller is a {type(law).__name__}", where="simulate",
                          expected="a law of armdyn.control, or a function (t, q, qd) -> tau")  # fmt: skip
    model = getattr(law, "dyn", None)
    joints = getattr(law, "n", None) if model is None else model.robot.n
    if joints is not None and joints != n:
        whose = "law is for" if model is None else "model has"
        raise ShapeError(f"the controller's {whose} {joints} joints", where="simulate", expected=f"{n}, as the plant")
    return law


def _course(reference: Any, law: Law, robot: Robot, q0: Any) -> Course:
    """The reference; without one, the initial configuration."""
    if reference is None:
        if law.needs_reference:
            raise ArmdynError("no reference", where=f"simulate, law {type(law).__name__}",
                              expected="a trajectory, a callable ref(t), or a constant configuration")  # fmt: skip
        default = robot.neutral if robot.compounds or robot.constrained else start_position(robot)
        reference = default if q0 is None else q0
    return Course(reference, None if law.in_task_space else robot.n, robot.nq)


def _check_free(dyn: Dynamics, law: Law, body: Plant, solver: Solver, stop_at_limits: bool) -> None:
    """Raise NotApplicable for what needs coordinates, if the plant has free or ball joints."""
    reasons = {
        f"the law {type(law).__name__}": type(law).__module__.startswith("armdyn.") and not isinstance(law, NoControl),
        "the integrator variational": solver.integrator == "variational",
        "stiction": bool(body.stiction),
        "stops": body.stops is not False,
        "stop_at_limits": stop_at_limits,
    }
    for reason, given in reasons.items():
        if given and dyn.robot.compounds:
            raise NotApplicable(
                f"free and ball joints together with {reason}", where="simulate",
                expected="positions that are coordinates",
                advice="A law of your own (a subclass of Law) gets q, (nq,), and may use robot.difference.",
            )  # fmt: skip


def _check_presliding(problem: Problem, body: Plant, batch: bool) -> None:
    """Raise NotApplicable for what does not keep the state of presliding friction."""
    name = problem.solver.integrator
    reasons = {
        "a batch of simulations": batch,
        "changes of the plant": len(body.changes) > 0,
        f"the integrator {name}": name != AUTO and (problem.method.step is None or name == "variational"),
    }
    for reason, given in reasons.items():
        if given:
            raise NotApplicable(
                f"presliding friction together with {reason}", where="simulate",
                expected="one run of one plant with fixed steps",
                advice='robot.without("presliding") leaves it out.',
            )  # fmt: skip


def step_count(course: Course, duration: float | None, dt: float) -> int:
    """Time steps until `duration`, or until the end of the reference."""
    if duration is None:
        duration = course.duration
        if duration is None or not math.isfinite(duration):
            raise ArmdynError("the motion has no end", where="simulate", expected="duration=... in s")
    positive_time("duration", duration)
    if not duration / dt <= MOST_STEPS:
        raise ArmdynError(f"{duration:.6g} s in steps of {dt:.6g} s", where="simulate",
                          expected=f"at most {MOST_STEPS:.0e} steps, all of which are kept",
                          advice="Take longer steps, or simulate a shorter time.")  # fmt: skip
    return max(1, math.ceil(duration / dt - 1e-9))


def _hold(period: float | None, sampled: bool, dt: float) -> int:
    """Time steps per control period; 0: continuous control. sampled: every dt, if no period is given."""
    if period is None:
        return int(sampled)
    hold = round(period / dt)
    if hold < 1 or abs(hold * dt - period) > 1e-9 * period:
        raise ArmdynError(
            f"control_period = {period} with dt = {dt}", where="simulate", expected="a whole number of time steps"
        )
    return hold


def _plants(dyn: Dynamics, body: Plant, dt: float, steps: int) -> tuple[tuple[int, Dynamics], ...]:
    """(index of the first sample, dynamics), in order of time."""
    plants = {0: dyn}
    for at, model in sorted(body.changes.items()):
        other = _dynamics(model, "changed plant")
        if other.coordinates.motors != dyn.coordinates.motors:
            raise ShapeError(
                f"the plant from t = {at} s on has {_joints(other)}", where="simulate", expected=_joints(dyn)
            )
        if not (math.isfinite(at) and at >= 0):
            raise ArmdynError(f"a change at t = {at}", where="simulate", expected="a time >= 0 in s")
        if (start := round(at / dt)) <= steps:
            plants[start] = other
    return tuple(plants.items())


def _joints(dyn: Dynamics) -> str:
    elastic = dyn.n - dyn.robot.n
    return f"{dyn.robot.n} joints" + (f", {elastic} of them elastic" if elastic else "")


def _start(name: str, value: Any, n: int, law: Law, on_reference: Array) -> Array:
    if value is None:
        if not law.in_task_space:
            return np.array(on_reference, dtype=float)
        if name == "q0":
            raise ArmdynError("no initial configuration", where="simulate", expected="q0=..., (n,) rad or m")
        return np.zeros(n)
    start = np.array(value, dtype=float)
    if start.shape != (n,) or not np.isfinite(start).all():
        raise ShapeError(f"{name} = {start.tolist()}", where="simulate", expected=f"{n} finite numbers")
    return start


def _sticks(dyn: Dynamics, body: Plant, solver: Solver) -> bool:
    """Whether joints at rest stick: as decided by the user, else where friction does not vanish at rest."""
    if "load_friction" in dyn.robot.features:
        if body.stiction:
            raise NotApplicable("stiction together with friction that grows with the load", where="simulate",
                                expected="one of the two",
                                advice='robot.without("load_friction") leaves it out.')  # fmt: skip
        return False  # its sign is rounded
    if body.stiction is not None:
        return body.stiction
    fixed = solver.integrator == AUTO or solver.method.step is not None
    plain = not (dyn.robot.compounds or dyn.robot.constrained or dyn.coordinates.doubled)
    return fixed and plain and solver.integrator != "variational" and sticks(dyn)


def _stops(dyn: Dynamics, body: Plant) -> StopForces | None:
    if body.stops is False:
        return None
    return (Stops() if body.stops is True else body.stops).on(dyn)


def _saturation(actuation: Actuation, robot: Robot) -> Saturation | None:
    torque = _torque_limits(actuation.torque_limits, robot)
    if actuation.no_load_speed is None:
        return None if torque is None else Saturation(tuple(torque.tolist()))
    if torque is None:
        raise ArmdynError("no_load_speed without torque_limits", where="simulate, actuation",
                          expected="the torques from which it falls: torque_limits=...")  # fmt: skip
    curve = torque_speed(robot, actuation.no_load_speed, actuation.corner_speed, where="simulate, actuation")
    return Saturation(tuple(torque.tolist()), *curve)


def _torque_limits(value: Any, robot: Robot) -> Array | None:
    if value is None:
        return None
    if not isinstance(value, str):
        return limit_vector("torque_limits", value, robot.n)
    if value != "robot":
        raise ArmdynError(f"torque_limits = {value!r}", where="simulate", expected="'robot', numbers, or None")
    limits = torque_limits(robot)
    if np.isinf(limits).all():
        raise ArmdynError("the robot has no torque limits", where=f"simulate, robot {robot.name!r}",
                          advice="Give them as numbers, or leave torque_limits out.")  # fmt: skip
    return limits
