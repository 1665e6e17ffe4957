"""The arguments of `simulate`, checked once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from armdyn.control.base import Law
from armdyn.control.computed_torque import NoControl
from armdyn.control.open_loop import FunctionLaw
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.errors import ArmdynError, NotApplicable, ShapeError, unknown_name
from armdyn.parameters import with_standard_parameters
from armdyn.robot import Robot
from armdyn.robot.limits import limit_vector, start_position, torque_limits, torque_speed
from armdyn.simulation.course import Course
from armdyn.simulation.integrators import AUTO
from armdyn.simulation.problem import SimulationProblem
from armdyn.simulation.saturation import Saturation
from armdyn.simulation.settings import Actuation, Plant, Sensors, Solver, Stop, numbers, of_state, positive_time
from armdyn.simulation.stiction import sticks
from armdyn.simulation.stops import StopForces, Stops
from armdyn.typing import Array

MOST_STEPS = 10**7


def true_arm(body: Plant) -> tuple[Dynamics, dict[str, Array]]:
    """The plant, and (...) the parameters by name that differ between the samples of a batch; empty for one run."""
    robot = body.robot
    dyn = body.model if isinstance(body.model, Dynamics) and not body.payload else compiled_dynamics(robot)
    for push in body.pushes:
        robot.frame(push.frame)  # raises UnknownName
    values = named_parameters(dyn, body.parameters)
    if any(array.ndim for array in values.values()):
        return dyn, values
    if not values:
        return dyn, {}
    single = {name: float(array) for name, array in values.items()}
    return compiled_dynamics(with_standard_parameters(dyn.robot, single), cache=dyn.cache), {}


def named_parameters(dyn: Dynamics, given: Any) -> dict[str, Array]:
    """(...) values by name, of a mapping or of all parameters, (..., p), of which those that stay are left out."""
    names, where = dyn.parameter_names, "Plant, parameters"
    if isinstance(given, Mapping):
        for name in given:
            if name not in names:
                raise unknown_name("parameter", name, names, where=where)
        return {name: numbers(name, value, where) for name, value in given.items()}
    table = numbers("parameters", given, where)
    if table.shape[-1:] != (len(names),):
        raise ShapeError(
            f"parameters of shape {table.shape}",
            where=where,
            expected=f"(..., {len(names)}), in the order of dyn.parameter_names",
        )
    changed = (table != dyn.parameters).reshape(-1, len(names)).any(axis=0)
    return {name: table[..., k] for k, name in enumerate(names) if changed[k]}


def checked_law(law: Any, n: int) -> Law:
    """The control law, made of the function if it is one; raises ArmdynError if it is for another number of joints."""
    if not isinstance(law, Law):
        expected = "a law of armdyn.control, or a function (t, q, qd) -> tau"
        if isinstance(law, np.ndarray):
            raise ArmdynError(
                "the controller is an array",
                where="simulate",
                expected=expected,
                advice="Torques over time: armdyn.control.TorqueTable(t, tau).",
            )
        of_state("the controller", law, "simulate", expected)
        return FunctionLaw(law, n)
    model = getattr(law, "dyn", None)
    joints = getattr(law, "n", None) if model is None else model.robot.n
    if joints is not None and joints != n:
        whose = "law is for" if model is None else "model has"
        raise ShapeError(f"the controller's {whose} {joints} joints", where="simulate", expected=f"{n}, as the plant")
    return law


def course_of(reference: Any, law: Law, robot: Robot, q0: Any) -> Course:
    """The reference; without one, the initial configuration."""
    if reference is None:
        if law.needs_reference:
            raise ArmdynError(
                "no reference",
                where=f"simulate, law {type(law).__name__}",
                expected="a trajectory, a callable ref(t), or a constant configuration",
            )
        default = robot.neutral if robot.compounds or robot.constrained else start_position(robot)
        reference = default if q0 is None else start_of("q0", q0, robot.nq, law, default)
    return Course(reference, None if law.in_task_space else robot.n, robot.nq)


def check_free(dyn: Dynamics, law: Law, body: Plant, solver: Solver, stop_at_limits: bool) -> None:
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
                f"free and ball joints together with {reason}",
                where="simulate",
                expected="positions that are coordinates",
                advice="A law of your own (a subclass of Law) gets q, (nq,), and may use robot.difference.",
            )


def check_presliding(problem: SimulationProblem, body: Plant, batch: bool) -> None:
    """Raise NotApplicable for options that cannot keep the state of presliding friction."""
    name = problem.solver.integrator
    reasons = {
        "a batch of simulations": batch,
        "changes of the plant": len(body.changes) > 0,
        f"the integrator {name}": name != AUTO and (problem.method.step is None or name == "variational"),
    }
    for reason, given in reasons.items():
        if given:
            raise NotApplicable(
                f"presliding friction together with {reason}",
                where="simulate",
                expected="one run of one plant with fixed steps",
                advice='robot.without("presliding") leaves it out.',
            )


def step_count(course: Course, duration: float | None, dt: float) -> int:
    """Time steps until `duration`, or until the end of the reference."""
    if duration is None:
        duration = course.duration
        if duration is None or not math.isfinite(duration):
            raise ArmdynError("the motion has no end", where="simulate", expected="duration=... in s")
    positive_time("duration", duration)
    if not duration / dt <= MOST_STEPS:
        raise ArmdynError(
            f"{duration:.6g} s in steps of {dt:.6g} s",
            where="simulate",
            expected=f"at most {MOST_STEPS:.0e} steps, all of which are kept",
            advice="Take longer steps, or simulate a shorter time.",
        )
    return max(1, math.ceil(duration / dt - 1e-9))


def hold_steps(period: float | None, sampled: bool, dt: float) -> int:
    """Time steps per control period; 0: continuous control. sampled: every dt, if no period is given."""
    if period is None:
        return int(sampled)
    hold = round(period / dt)
    if hold < 1 or abs(hold * dt - period) > 1e-9 * period:
        raise ArmdynError(
            f"control_period = {period} with dt = {dt}", where="simulate", expected="a whole number of time steps"
        )
    return hold


def plants_over_time(dyn: Dynamics, body: Plant, dt: float, steps: int) -> tuple[tuple[int, Dynamics], ...]:
    """(index of the first sample, dynamics), in order of time."""
    plants = {0: dyn}
    for at, model in sorted(body.changes.items()):
        other = model if isinstance(model, Dynamics) else compiled_dynamics(Plant(model).robot)
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


def start_of(name: str, value: Any, n: int, law: Law, on_reference: Array) -> Array:
    if value is None:
        if not law.in_task_space:
            return np.array(on_reference, dtype=float)
        if name == "q0":
            raise ArmdynError("no initial configuration", where="simulate", expected="q0=..., (n,) rad or m")
        return np.zeros(n)
    start = numbers(name, value, "simulate", f"{n} finite numbers")
    if start.shape != (n,):
        raise ShapeError(f"{name} = {start.tolist()}", where="simulate", expected=f"{n} finite numbers")
    return start.copy()


def checked_sensors(sensors: Sensors | None, n: int) -> Sensors | None:
    """The sensors; raises ShapeError if a property is given for another number of joints."""
    for name in ("noise_q", "noise_qd", "resolution") if sensors is not None else ():
        shape = np.shape(getattr(sensors, name))
        if shape not in ((), (1,), (n,)):
            raise ShapeError(f"{name} of shape {shape}", where="simulate, sensors", expected=f"one number or {n}")
    return sensors


def stop_condition(stop: Stop | None) -> Stop | None:
    """The function whose change of sign ends the motion; truth values become -1 and 1."""
    if stop is None:
        return None
    of_state("stop", stop, "simulate", "a function (t, q, qd) -> number or truth value")

    def condition(t: float, q: Array, qd: Array) -> float:
        value = stop(t, q, qd)
        if isinstance(value, bool | np.bool_):
            return 1.0 if value else -1.0
        try:
            return float(value)
        except (TypeError, ValueError) as error:
            raise ArmdynError(
                f"{value!r} at t = {t:.6g} s", where="simulate, stop", expected="a number or a truth value"
            ) from error

    return condition


def sticking(dyn: Dynamics, body: Plant, solver: Solver, parameters: Mapping[str, Array]) -> bool:
    """Whether joints at rest stick: as decided by the user, else where friction does not vanish at rest.

    parameters: of a batch; dry friction of any sample counts.
    """
    if "load_friction" in dyn.robot.features:
        if body.stiction:
            raise NotApplicable(
                "stiction together with friction that grows with the load",
                where="simulate",
                expected="one of the two",
                advice='robot.without("load_friction") leaves it out.',
            )
        return False  # its sign is rounded
    if body.stiction is not None:
        return body.stiction
    fixed = solver.integrator == AUTO or solver.method.step is not None
    plain = not (dyn.robot.compounds or dyn.robot.constrained or dyn.coordinates.doubled)
    dry = any(name.startswith("Fc") and values.any() for name, values in parameters.items())
    return fixed and plain and solver.integrator != "variational" and (dry or sticks(dyn))


def stop_forces(dyn: Dynamics, body: Plant) -> StopForces | None:
    if body.stops is False:
        return None
    return (Stops() if body.stops is True else body.stops).on(dyn)


def saturation_of(actuation: Actuation, robot: Robot) -> Saturation | None:
    torque = _torque_limits(actuation.torque_limits, robot)
    if actuation.no_load_speed is None:
        return None if torque is None else Saturation(tuple(torque.tolist()))
    if torque is None:
        raise ArmdynError(
            "no_load_speed without torque_limits",
            where="simulate, actuation",
            expected="the torques from which it falls: torque_limits=...",
        )
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
        raise ArmdynError(
            "the robot has no torque limits",
            where=f"simulate, robot {robot.name!r}",
            advice="Give them as numbers, or leave torque_limits out.",
        )
    return limits
