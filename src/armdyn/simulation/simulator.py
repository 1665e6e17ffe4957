"""simulate: the door. Options are checked here, once; the loops do the rest."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from armdyn.control.law import Desired, Law
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.robot import Robot
from armdyn.robot.parts import Joint
from armdyn.simulation.adaptive_step import adaptive_steps
from armdyn.simulation.compiled_loop import TooLong, compiled_steps, obstacle
from armdyn.simulation.course import Course
from armdyn.simulation.fixed_step import fixed_steps
from armdyn.simulation.integrators import method
from armdyn.simulation.outcome import Outcome
from armdyn.simulation.problem import Problem, Sensors, Stop, Wrench
from armdyn.simulation.run import Run
from armdyn.typing import Array

WORTHWHILE = 20_000
"""Steps (times joints) from which machine code for the whole loop pays, if nobody says otherwise."""


def simulate(
    plant: Dynamics | Robot,
    controller: Law,
    reference: Any,
    duration: float | None = None,
    dt: float = 1e-3,
    q0: Any = None,
    qd0: Any = None,
    *,
    integrator: str = "euler43",
    control_period: float | None = None,
    sensors: Sensors | None = None,
    torque_limits: Any = None,
    changes: Mapping[float, Dynamics | Robot] | None = None,
    wrench: Wrench | None = None,
    stiction: bool = False,
    elastic: bool = False,
    stop: Stop | None = None,
    stop_at_limits: bool = False,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    max_step: float = np.inf,
    compiled: bool | None = None,
    throw: bool = False,
) -> Run:
    """The motion of an arm under a control law.

    Args:    plant: the true arm; the law may know another one. reference: any callable ref(t), ref(t, 1), ref(t, 2),
             or a position to hold. duration: s, in whole steps (default: that of the reference). q0, qd0: start
             (default: on the reference). integrator: euler43 (El Baji (43)), semi_implicit, rk4, variational, dopri.
             control_period: the law is evaluated at these intervals and its torques held (None: continuously; with
             sensors: dt). torque_limits: "robot" for those of the joints, or numbers. changes: other plants from
             these times on, as {2.0: robot.with_payload(...)}. wrench: (t, q, qd) -> (6,) exerted by the robot at its
             tool. stiction: joints at rest stick. elastic: springs between motors and links, as the robot has them; the
             law then sees the motors. stop: (t, q, qd) -> number whose change of sign ends the motion.
             stop_at_limits: so does the end of a joint's range. rtol, atol, max_step: of dopri. compiled: the whole
             loop as machine code (None: where it pays). throw: an error in place of a run that did not reach its end.
    Returns: Run: t, q, qd, tau, error, energies, status.
    """
    begin = time.perf_counter()
    dyn = _dynamics(plant, "plant")
    n = dyn.n
    if not isinstance(controller, Law):
        raise ArmdynError(
            f"the controller is {type(controller).__name__}", where="simulate", expected="a law of armdyn.control"
        )
    model = getattr(controller, "dyn", None)
    if model is not None and model.n != n:
        raise ShapeError(
            f"the controller's model has {model.n} joints", where="simulate", expected=f"{n}, as the plant"
        )
    _positive("dt", dt)
    course = Course(reference, None if controller.in_task_space else n)
    steps = _steps(course, duration, dt)
    hold = _hold(control_period, sensors, dt)
    how = method(integrator)
    problem = Problem(
        plants=_plants(dyn, changes, dt, steps),
        law=controller,
        course=course,
        dt=float(dt),
        steps=steps,
        q0=_start("q0", q0, n, controller, course.start.q),
        qd0=_start("qd0", qd0, n, controller, course.start.qd),
        method=how,
        hold=hold,
        sensors=sensors,
        torque_limits=_torque_limits(torque_limits, dyn),
        wrench=wrench,
        stiction=stiction,
        elastic=elastic,
        stop=stop,
        ranges=_ranges(dyn.robot) if stop_at_limits else None,
        rtol=max(rtol, 100 * np.finfo(float).eps),
        atol=atol,
        max_step=max_step,
    )
    outcome, in_code = _solved(problem, compiled)
    run = _run(problem, outcome, in_code, time.perf_counter() - begin)
    return run.required() if throw else run


def _solved(problem: Problem, compiled: bool | None) -> tuple[Outcome, bool]:
    if problem.elastic and (problem.stiction or problem.wrench is not None or problem.method.name == "variational"):
        raise NotApplicable(
            "elastic joints together with stiction, a wrench or the variational integrator", where="simulate",
            expected="one of them at a time",
        )  # fmt: skip
    if problem.method.step is None:
        if problem.sensors is not None or problem.stiction or problem.elastic:
            raise NotApplicable(
                "sensors, stiction and elastic joints belong to fixed steps", where="simulate, integrator 'dopri'",
                expected="integrator euler43, semi_implicit or rk4",
            )  # fmt: skip
        if compiled:
            raise NotApplicable("the integrator dopri is not compiled", where="simulate", advice="Leave compiled out.")
        return adaptive_steps(problem), False
    reason = obstacle(problem)
    if compiled and reason is not None:
        raise NotApplicable(f"{reason} cannot be compiled", where="simulate", advice="Leave compiled out.")
    wanted = compiled if compiled is not None else problem.steps * problem.n >= WORTHWHILE
    if wanted and reason is None:
        try:
            return compiled_steps(problem), True
        except TooLong:
            if compiled:
                raise
    return fixed_steps(problem), False


def _run(problem: Problem, outcome: Outcome, in_code: bool, seconds: float) -> Run:
    t = problem.times[: len(outcome.q)] if outcome.t is None else outcome.t
    known = outcome.table
    desired = problem.course.table(t) if known is None else Desired(*(column[: len(t)] for column in known))
    law, n = problem.law, problem.n
    motors = (outcome.q[:, n:], outcome.qd[:, n:]) if problem.elastic else None
    outcome = outcome._replace(q=np.ascontiguousarray(outcome.q[:, :n]), qd=np.ascontiguousarray(outcome.qd[:, :n]))
    if law.in_task_space:
        error = np.array([law.error(q, type(desired)(*d)) for q, *d in zip(outcome.q, *desired, strict=True)])
    else:
        error = desired.q - outcome.q
    arrays = (t, outcome.q, outcome.qd, outcome.tau, error, outcome.memory, *desired)
    for array in arrays:
        array.flags.writeable = False
    plants = tuple((start, dyn) for start, dyn in problem.plants if start < len(t))
    return Run(
        t=t, q=outcome.q, qd=outcome.qd, tau=outcome.tau, desired=desired, error=error, memory=outcome.memory,
        status=outcome.status, detail=outcome.detail, plants=plants, integrator=problem.method.name, dt=problem.dt,
        controller=told(law), compiled=in_code, seconds=seconds, motors=motors,
    )  # fmt: skip


def told(law: Law) -> str:
    """A law in one line: its name and its gains."""
    parts = []
    defaults: dict[str, Any] = {entry.name: entry.default for entry in fields(law)} if is_dataclass(law) else {}
    for name, default in defaults.items():
        value = getattr(law, name)
        if isinstance(default, int | float | str | bool) and np.all(value == default):
            continue
        if isinstance(value, np.ndarray):
            same = value.size and np.all(value == value.flat[0])
            parts.append(f"{name}={value.flat[0]:.6g}" if same else f"{name}=({_listed(value)})")
        elif isinstance(value, Law):
            parts.append(told(value))
        elif isinstance(value, bool | int | float | str):
            parts.append(f"{name}={value}")
    return f"{type(law).__name__}({', '.join(parts)})"


def _listed(values: Array) -> str:
    few = [f"{x:.4g}" for x in values.flat[:8]]
    return ", ".join(few) + (", ..." if values.size > len(few) else "")


# Options ------------------------------------------------------------------------------------------------------------


def _dynamics(plant: Any, what: str) -> Dynamics:
    if not isinstance(plant, Robot | Dynamics):
        raise ArmdynError(f"the {what} is {type(plant).__name__}", where="simulate", expected="a Robot or its Dynamics")
    robot = plant if isinstance(plant, Robot) else plant.robot
    if robot.loops:
        raise NotApplicable(
            "closed loops are not simulated", where=f"robot {robot.name!r}", expected="a chain or a tree",
            advice='robot.without("loops") is the tree with the loops cut open.',
        )  # fmt: skip
    return compiled_dynamics(plant) if isinstance(plant, Robot) else plant


def _positive(name: str, value: float) -> None:
    if not (isinstance(value, int | float | np.number) and math.isfinite(value) and value > 0):
        raise ArmdynError(f"{name} = {value}", where="simulate", expected="a positive time in s")


def _steps(course: Course, duration: float | None, dt: float) -> int:
    if duration is None:
        duration = course.duration
        if duration is None or not math.isfinite(duration):
            raise ArmdynError("the reference has no end", where="simulate", expected="duration=... in s")
    _positive("duration", duration)
    return max(1, math.ceil(duration / dt - 1e-9))


def _hold(period: float | None, sensors: Sensors | None, dt: float) -> int:
    if period is None:
        return 0 if sensors is None else 1
    _positive("control_period", period)
    hold = round(period / dt)
    if hold < 1 or abs(hold * dt - period) > 1e-9 * period:
        raise ArmdynError(
            f"control_period = {period} with dt = {dt}", where="simulate", expected="a whole number of time steps"
        )
    return hold


def _plants(
    dyn: Dynamics, changes: Mapping[float, Dynamics | Robot] | None, dt: float, steps: int
) -> tuple[tuple[int, Dynamics], ...]:
    plants = [(0, dyn)]
    for at in sorted(changes or {}):
        other = _dynamics((changes or {})[at], "changed plant")
        if other.n != dyn.n:
            raise ShapeError(
                f"the plant from t = {at} s on has {other.n} joints", where="simulate", expected=f"{dyn.n}"
            )
        if not (math.isfinite(at) and at >= 0):
            raise ArmdynError(f"a change at t = {at}", where="simulate", expected="a time that is not negative, in s")
        start = round(at / dt)
        if start <= steps:
            plants = [*(entry for entry in plants if entry[0] != start), (start, other)]
    return tuple(plants)


def _start(name: str, value: Any, n: int, law: Law, on_reference: Array) -> Array:
    if value is None:
        if not law.in_task_space:
            return np.array(on_reference, dtype=float)
        if name == "q0":
            raise ArmdynError("no start given", where="simulate", expected="q0=...: the reference moves the tool")
        return np.zeros(n)
    start = np.array(value, dtype=float)
    if start.shape != (n,) or not np.isfinite(start).all():
        raise ShapeError(f"{name} = {start.tolist()}", where="simulate", expected=f"{n} finite numbers")
    return start


def _torque_limits(value: Any, dyn: Dynamics) -> Array | None:
    if value is None:
        return None
    if isinstance(value, str):
        if value != "robot":
            raise ArmdynError(f"torque_limits = {value!r}", where="simulate", expected="'robot', numbers, or None")
        limits = np.array([_strength(joint) for joint in dyn.robot.joints])
        if np.isinf(limits).all():
            raise ArmdynError("the robot has no torque limits", where=f"simulate, robot {dyn.robot.name!r}",
                              advice="Give them as numbers, or leave torque_limits out.")  # fmt: skip
        return limits
    given: Array = np.asarray(value, dtype=float)
    if given.shape not in ((), (dyn.n,)) or np.isnan(given).any() or (given <= 0).any():
        raise ArmdynError(
            f"torque_limits = {value}", where="simulate", expected=f"one positive number, or {dyn.n} of them"
        )
    return np.full(dyn.n, given)


def _strength(joint: Joint) -> float:
    """The largest torque at a joint: its limit, or what its motor gives through the gear; infinite if not given."""
    found = [] if joint.limits is None or joint.limits.torque is None else [float(joint.limits.torque)]
    if joint.motor is not None and joint.motor.torque is not None:
        found.append(float(joint.motor.torque) * abs(float(1 if joint.rotor is None else joint.rotor.ratio)))
    return min(found, default=np.inf)


def _ranges(robot: Robot) -> Array:
    ends = []
    for joint in robot.joints:
        limits = joint.limits
        low = -np.inf if limits is None or limits.lower is None else float(limits.lower)
        high = np.inf if limits is None or limits.upper is None else float(limits.upper)
        ends.append((low, high))
    return np.array(ends).T
