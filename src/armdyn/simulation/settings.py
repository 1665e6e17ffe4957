"""The arguments of `simulate`, one small frozen object per concern: plant, solver, actuation, sensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from inspect import signature
from typing import Any, Literal

import numpy as np

from armdyn.control.base import NOTHING
from armdyn.dynamics import Dynamics
from armdyn.errors import ArmdynError, unknown_name
from armdyn.robot import Robot
from armdyn.simulation.integrators import AUTO, Integrator, method
from armdyn.simulation.plant_coordinates import MEASURES, Measure
from armdyn.simulation.stops import Stops
from armdyn.typing import Array

Wrench = Callable[[float, Array, Array], Any]
Stop = Callable[[float, Array, Array], float]


TOOL = "tool"
"""The frame of the tool."""
NOT_IN_FILES = {"file": False}
"""Metadata of fields that hold functions or robots: the files of experiments have no place for them."""


@dataclass(frozen=True, kw_only=True)
class Push:
    """A force on the arm, constant for a time.

    force: (3,) on the robot, N, world axes.
    frame: name of the frame at whose origin it acts (default: "tool").
    start: time from which it acts, s (default: 0).
    end:   time until which it acts, s (default: for ever).
    """

    force: tuple[float, ...]
    frame: str = TOOL
    start: float = 0.0
    end: float = np.inf

    def __post_init__(self) -> None:
        if len(self.force) != 3 or not self.start < self.end:
            raise ArmdynError(
                f"force = {self.force}, start = {self.start}, end = {self.end}",
                where="Push",
                expected="three numbers in N, and an end after the start, s",
            )

    def at(self, t: float) -> Array:
        """(3,) the force at a time, N."""
        return np.array(self.force) if self.start <= t < self.end else np.zeros(3)


@dataclass(frozen=True, eq=False)
class Plant:
    """The arm that is simulated, and what acts on it beyond its own dynamics.

    model:       the true robot, or its compiled dynamics; the control law may know another one (default: none yet, the
                 robot of an experiment).
    payload:     mass at the tool that the control law does not know, kg (default: 0).
    payload_com: (3,) its centre of mass in the tool frame, m (default: the tool's origin).
    pushes:      forces that push the arm for a time: see `Push` (default: none).
    stiction:    joints at rest stick until the torque exceeds the break-away friction; False: friction is Fc sign(qd),
                 which chatters about rest (default: True where a rigid arm has dry friction and steps are fixed).
    stops:       stops at the joint limits: True, or `Stops(...)` (default: False, the joints move on).
    measure:     side of elastic joints that the law sees, "motor" or "link" (default: "motor", where most encoders
                 are).
    parameters:  standard parameters in place of the model's, by name as in {"M2": 1.2, "Fv1": 0.3}, or all of them,
                 (..., p), in the order of `dyn.parameter_names`; leading axes make a batch (default: the model's).
    wrench:      function (t, q, qd) -> (6,), what the robot exerts at its tool, N and N m, world axes; or
                 -> {frame: (6,)} for any frames (default: none).
    changes:     other models from given times on, s: {2.0: robot.with_payload(1.5)} (default: none).
    """

    model: Dynamics | Robot | None = field(default=None, metadata=NOT_IN_FILES)
    _: KW_ONLY
    payload: float = 0.0
    payload_com: tuple[float, ...] = (0.0, 0.0, 0.0)
    pushes: tuple[Push, ...] = ()
    stiction: bool | None = None
    stops: bool | Stops = False
    measure: Measure = "motor"
    parameters: Mapping[str, Any] | Any = field(default_factory=dict)
    wrench: Wrench | None = field(default=None, metadata=NOT_IN_FILES)
    changes: Mapping[float, Dynamics | Robot] = field(default_factory=dict, metadata=NOT_IN_FILES)

    def __post_init__(self) -> None:
        if not isinstance(self.stops, bool | Stops):
            raise ArmdynError(f"stops = {self.stops!r}", where="Plant", expected="True, False or Stops(...)")
        if self.wrench is not None:
            of_state("wrench", self.wrench, "Plant", "a function (t, q, qd) -> (6,), or -> {frame: (6,)}")
        if self.measure not in MEASURES:
            raise unknown_name("side of the joints", self.measure, MEASURES, where="Plant, measure")
        if not (np.isfinite(self.payload) and self.payload >= 0 and len(self.payload_com) == 3):
            raise ArmdynError(
                f"payload = {self.payload}, payload_com = {self.payload_com}",
                where="Plant",
                expected="a mass of at least 0 kg, and three numbers in m",
            )

    @property
    def robot(self) -> Robot:
        """The true robot, with its payload."""
        if not isinstance(self.model, Robot | Dynamics):
            raise ArmdynError(
                f"the plant is a {type(self.model).__name__}",
                where="simulate",
                expected="a Robot or its Dynamics",
                advice="Plant(robot, parameters=...) makes a batch."
                if isinstance(self.model, list)
                else "See armdyn.load.",
            )
        robot = self.model if isinstance(self.model, Robot) else self.model.robot
        return robot.with_payload(self.payload, self.payload_com) if self.payload else robot

    @property
    def exerted(self) -> Wrench | None:
        """What the robot exerts, on those who push it too: a function (t, q, qd) -> (6,) or {frame: (6,)}."""
        if not self.pushes:
            return self.wrench

        def exerted(t: float, q: Array, qd: Array) -> dict[str, Array]:
            own: Any = {} if self.wrench is None else self.wrench(t, q, qd)
            wrenches = {
                name: np.array(w, dtype=float) for name, w in (own if isinstance(own, Mapping) else {TOOL: own}).items()
            }
            for push in self.pushes:
                wrenches.setdefault(push.frame, np.zeros(6))[:3] -= push.at(t)
            return wrenches

        return exerted


@dataclass(frozen=True, kw_only=True)
class Solver:
    """How the equations of motion are integrated.

    integrator: auto (default): rk4, or implicit where damping or springs are too stiff for dt. euler_taylor,
                semi_implicit, rk4, implicit, variational: fixed steps; dop853, and radau for stiff arms: error control
                and events.
    dt:         time step and sampling interval of the result, s (default: 1e-3).
    rtol:       relative tolerance of dop853 and radau (default: 1e-9).
    atol:       absolute tolerance of both, rad or m and per s (default: 1e-12).
    max_step:   longest internal step of both, s (default: unlimited).
    keep:       of a batch, every keep-th time step is stored (default: 1, all of them).
    compiled:   True: the whole closed loop as machine code; False: step by step in Python; None (default): compiled
                where that is possible and pays.
    """

    integrator: str = AUTO
    dt: float = 1e-3
    rtol: float = 1e-9
    atol: float = 1e-12
    max_step: float = np.inf
    keep: int = 1
    compiled: bool | None = None

    def __post_init__(self) -> None:
        positive_time("dt", self.dt)
        if self.keep < 1:
            raise ArmdynError(f"keep = {self.keep}", where="Solver", expected="a number of time steps, at least 1")
        if self.integrator != AUTO:
            _ = self.method

    @cached_property
    def method(self) -> Integrator:
        """The integrator of that name."""
        return method(self.integrator)


@dataclass(frozen=True, kw_only=True, eq=False)
class Actuation:
    """What the actuators make of the torques that the law demands.

    torque_limits:  "robot" for the limits of its joints and motors, or (n,) or one number, N m or N (default: none).
    no_load_speed:  speed at which an actuator has no torque left, "robot" for the velocity limits of its joints and
                    motors, or (n,) or one number, rad/s or m/s (default: torques do not depend on the speed).
    corner_speed:   speed from which the torque falls, linearly, to zero at the no-load speed, (n,) or one number
                    (default: 0, a motor at constant voltage).
    control_period: the law is evaluated at these intervals, s, whole multiples of dt, and its torques are held in
                    between (default: continuously; every dt with sensors).
    """

    torque_limits: Literal["robot"] | Any = None
    no_load_speed: Literal["robot"] | Any = None
    corner_speed: Any = 0.0
    control_period: float | None = None

    def __post_init__(self) -> None:
        if self.control_period is not None:
            positive_time("control_period", self.control_period)


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensors:
    """What the controller measures of the arm.

    noise_q:       standard deviation of white noise on positions, rad or m, (n,) or one number (default: 0).
    noise_qd:      standard deviation of white noise on velocities, rad/s or m/s, (n,) or one number (default: 0).
    resolution:    step of the position sensors, rad or m, (n,) or one number (default: 0, continuous).
    delay:         sensor delay, s, rounded to whole control periods (default: 0).
    differentiate: velocities are differences of measured positions over a control period (default: measured).
    seed:          of the noise; the same seed gives the same noise (default: 0).
    """

    noise_q: Any = 0.0
    noise_qd: Any = 0.0
    resolution: Any = 0.0
    delay: float = 0.0
    differentiate: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("noise_q", "noise_qd", "resolution", "delay"):
            value = numbers(name, getattr(self, name), "Sensors")
            if (value < 0).any():
                raise ArmdynError(f"{name} = {getattr(self, name)}", where="Sensors", expected="numbers >= 0")


def positive_time(name: str, value: Any) -> None:
    """Raise ArmdynError unless the value is a positive time in s."""
    if not (isinstance(value, int | float | np.number) and np.isfinite(value) and value > 0):
        raise ArmdynError(f"{name} = {value}", where="simulate", expected="a positive time in s")


def of_state(name: str, function: Any, where: str, expected: str) -> None:
    """Raise ArmdynError unless something can be called as (t, q, qd)."""
    if not callable(function):
        raise ArmdynError(f"{name} is a {type(function).__name__}", where=where, expected=expected)
    try:
        taken = signature(function)
    except ValueError:  # of some functions written in C
        return
    try:
        taken.bind(0.0, NOTHING, NOTHING)
    except TypeError as error:
        raise ArmdynError(f"{name} takes {taken}", where=where, expected=expected) from error


def numbers(name: str, value: Any, where: str, expected: str = "finite numbers") -> Array:
    """Finite numbers as an array."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if not np.isfinite(array).all():
        raise ArmdynError(f"{name} = {value!r}", where=where, expected=expected)
    return array
