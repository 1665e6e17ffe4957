"""A control law as functions to be written in another language: its memory at the start, and one control period.

The law runs on symbols, with traced models, as in the compiled simulation; what it computes is what `simulate` computes
with the same control period. Its reference vectors come from the law run on numbers, with the compiled dynamics of a
robot that carries the payload and has the gains of the vector: not from the graph that is written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from armdyn.algebra import ops
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, Model, Sampling, Vectors
from armdyn.codegen.naming import checked_prefix, file_stem
from armdyn.codegen.payload_parameters import PAYLOAD, PAYLOAD_NAME, with_payload_parameters
from armdyn.codegen.reference_vectors import AT_DEFAULTS, states
from armdyn.control.base import Desired, Law
from armdyn.dynamics import Dynamics, compile
from armdyn.errors import ArmdynError, NotApplicable, unknown_name
from armdyn.graph import Graph, Node, symbol, trace
from armdyn.robot.features import sentence
from armdyn.simulation.compiled_loop import TracedDynamics, _nodes
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.typing import Array

MOST_PIECES = 64
"""Pieces of a motion among which straight-line code selects: a selection for each coefficient and piece."""
JOINT_SPACE = {"q_desired": "q", "qd_desired": "qd", "qdd_desired": "qdd"}
TASK_SPACE = {"pose_desired": 16, "twist_desired": 6, "acceleration_desired": 6}
"""Arguments that hold the desired motion of the tool, with their sizes."""
CHANGED = 0.25
"""Largest relative change of a tunable gain in reference vectors."""
LOAD = (1.5, 0.02, -0.03, 0.05, 0.012, 0.001, -0.002, 0.010, 0.0015, 0.008)
"""Payload of reference vectors: mass, centre of mass and a physically consistent inertia, in the order of PAYLOAD."""


class Part(NamedTuple):
    """The description of one function of a controller."""

    name: str
    what: str
    included: str
    results: tuple[str, ...]
    entries: Mapping[str, str]

    def words(self, name: str) -> str:
        """What an argument or a result is, with its unit."""
        return self.entries[name]


@dataclass(frozen=True, eq=False)
class Controller:
    """A law that is sampled with a period.

    law:     with gains in numbers.
    dyn:     the model that it knows.
    period:  time between two calls, s.
    tunable: gains of the law that stay arguments, and "payload", the load at the tool of the law's model.
    motion:  desired motion of the joints, which becomes a function of the controller (default: an argument).
    """

    law: Law
    dyn: Dynamics
    period: float
    tunable: tuple[str, ...] = ()
    motion: PiecewisePolynomial | None = None

    def __post_init__(self) -> None:
        if not self.period > 0:
            raise ArmdynError(f"a control period of {self.period} s", where="export", expected="a positive time")
        if not self.law.compilable:
            raise NotApplicable(
                f"the law {type(self.law).__name__} is not a formula of its state",
                where="export",
                expected="a law that `simulate` compiles",
                advice="Laws in the task space can be exported with damping, which keeps them from losing rank.",
            )
        if self.motion is not None and len(self.motion.coefficients) > MOST_PIECES:
            raise NotApplicable(
                f"a motion of {len(self.motion.coefficients)} pieces",
                where="export",
                expected=f"at most {MOST_PIECES}, which straight-line code selects from",
                advice="Leave the motion out and give the desired state as arguments of `control`.",
            )
        known = (*self.gains, PAYLOAD_NAME)
        for name in self.tunable:
            if name not in known:
                raise unknown_name("tunable gain", name, known, where=f"export of {type(self.law).__name__}")

    @property
    def n(self) -> int:
        return self.dyn.robot.n

    @cached_property
    def gains(self) -> dict[str, Array]:
        """Gains of the innermost law that are vectors of numbers."""
        law = self.law.innermost
        values = {entry.name: getattr(law, entry.name) for entry in fields(cast(Any, law))}
        return {
            name: value
            for name, value in values.items()
            if isinstance(value, np.ndarray) and value.ndim == 1 and np.isfinite(value).all()
        }

    @cached_property
    def loaded(self) -> Dynamics:
        """The law's model; where the payload is tunable, with a payload in named parameters."""
        if PAYLOAD_NAME not in self.tunable:
            return self.dyn
        return compile(with_payload_parameters(self.dyn.robot), cache=self.dyn.cache)

    @cached_property
    def values(self) -> dict[str, float]:
        """Default values of the parameters by name, in their order."""
        found = {
            f"{name}_{i}": float(value)
            for name in self.tunable
            if name != PAYLOAD_NAME
            for i, value in enumerate(self.gains[name], 1)
        }
        payload = [*self.loaded.robot.parameters][-len(PAYLOAD) :] if PAYLOAD_NAME in self.tunable else []
        return found | dict.fromkeys(payload, 0.0)

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """The symbols of the parameters."""
        return tuple(map(symbol, self.values))

    # The law with other values ----------------------------------------------------------------------------------------

    def law_with(self, model: Callable[[Dynamics], Any], gains: Mapping[str, Array]) -> Law:
        """The law, and laws inside it, with other models and gains; which terms it has stays as it was."""
        return _changed(self.law, model, gains)

    @cached_property
    def traced(self) -> Law:
        """The law over symbols."""

        def model(dyn: Dynamics) -> TracedDynamics:
            own = dyn is self.dyn and PAYLOAD_NAME in self.tunable
            return TracedDynamics(self.loaded if own else dyn, parameters=own)

        gains = {
            name: np.array([symbol(f"{name}_{i}") for i in range(1, len(self.gains[name]) + 1)], dtype=object)
            for name in self.tunable
            if name != PAYLOAD_NAME
        }
        return self.law_with(model, gains)

    def in_numbers(self, values: Array) -> Law:
        """The law with values of its parameters, on the compiled dynamics of a robot that carries the payload."""
        given = dict(zip(self.values, values, strict=True))
        gains = {
            name: np.array([given[f"{name}_{i}"] for i in range(1, len(self.gains[name]) + 1)])
            for name in self.tunable
            if name != PAYLOAD_NAME
        }
        dyn = self.dyn
        if PAYLOAD_NAME in self.tunable and values[-len(PAYLOAD)] > 0:
            mass, x, y, z, xx, xy, xz, yy, yz, zz = (float(each) for each in values[-len(PAYLOAD) :])
            inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
            dyn = compile(self.dyn.robot.with_payload(mass, com=(x, y, z), inertia=inertia), cache=self.dyn.cache)
        return self.law_with(lambda model: dyn if model is self.dyn else model, gains)

    # Functions --------------------------------------------------------------------------------------------------------

    @cached_property
    def memory(self) -> int:
        """Entries of the law's internal state."""
        return len(self.law.start(np.zeros(self.n), np.zeros(self.n)))

    @cached_property
    def reference(self) -> dict[str, int]:
        """Names and sizes of the arguments that hold the desired motion."""
        if not self.law.needs_reference:
            return {}
        return dict(TASK_SPACE) if self.law.in_task_space else dict.fromkeys(JOINT_SPACE, self.n)

    def desired(self, parts: Any) -> Desired:
        """The desired state of the arguments."""
        arrays = [np.asarray(part) for part in parts] or [np.zeros(self.n)] * 3
        return Desired(arrays[0].reshape(4, 4) if self.law.in_task_space else arrays[0], *arrays[1:])

    def period_of(self, law: Law, time: Any, q: Any, qd: Any, reference: Any, memory: Any) -> dict[str, Any]:
        """Torques during one period, and the memory at its end, of a law over numbers or symbols."""
        desired = self.desired(reference)
        found: dict[str, Any] = {"tau": law(time, q, qd, desired, memory)}
        if self.memory:
            found["next_memory"] = memory + self.period * law.change(time, q, qd, desired, memory)
        if hasattr(law, "residual"):
            found["residual"] = law.residual(q, qd, memory)
        return found

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Arguments of a control period."""
        own = {"memory": self.memory} if self.memory else {}
        return {"time": 1, "q": self.n, "qd": self.n, **self.reference, **own}

    def control_graph(self) -> Graph:
        """One control period over symbols."""
        law = self.traced

        def control(*given: Any) -> dict[str, Any]:
            values = dict(zip(self.sizes, (np.array(part, dtype=object) for part in given), strict=True))
            parts = [values[name] for name in self.reference]
            memory = values.get("memory", np.empty(0))
            found = self.period_of(law, values["time"][0], values["q"], values["qd"], parts, memory)
            return {name: _nodes(np.asarray(value, dtype=object)) for name, value in found.items()}

        return self._with_parameters(trace(control, self.sizes, fold_angles=False))

    def start_graph(self) -> Graph:
        """The memory at the start over symbols."""
        law = self.traced

        def start(q: Any, qd: Any) -> dict[str, Any]:
            arrays = (np.array(part, dtype=object) for part in (q, qd))
            return {"memory": _nodes(np.asarray(law.start(*arrays), dtype=object))}

        return self._with_parameters(trace(start, {"q": self.n, "qd": self.n}, fold_angles=False))

    def _with_parameters(self, graph: Graph) -> Graph:
        return replace(graph, inputs={**graph.inputs, PARAMETERS: self.parameters}) if self.parameters else graph

    def functions(self) -> tuple[ExportedFunction, ...]:
        """The functions to be written."""
        parts = [
            ExportedFunction(self._described_control(), self.control_graph, _no_labels, vectors=self.control_vectors)
        ]
        if self.memory:
            parts.insert(0, ExportedFunction(START, self.start_graph, _no_labels, vectors=self.start_vectors))
        if self.motion is not None:
            parts.append(ExportedFunction(MOTION, self.motion_graph, _no_labels, vectors=self.motion_vectors))
        return tuple(parts)

    def motion_graph(self) -> Graph:
        """The desired motion over symbols."""
        assert self.motion is not None
        knots, coefficients = self.motion.knots, self.motion.coefficients
        last = len(coefficients) - 1

        def chosen(t: Any, values: Any, first: int, end: int) -> Any:
            """The value of the piece in which t is, by halving; at a knot that of the later piece."""
            if end - first == 1 or all(value == values[first] for value in values[first:end]):
                return values[first]
            middle = (first + end) // 2
            right, left = chosen(t, values, middle, end), chosen(t, values, first, middle)
            return ops.select(t - float(knots[middle]), right, left)

        def motion(time: Any) -> dict[str, Any]:
            t = ops.select(time[0], time[0], 0)
            t = ops.select(t - float(knots[-1]), float(knots[-1]), t)
            x = t - chosen(t, [float(knot) for knot in knots[:-1]], 0, last + 1)
            pieces = [
                [
                    chosen(t, [float(c) for c in coefficients[:, i, j]], 0, last + 1)
                    for i in range(coefficients.shape[1])
                ]
                for j in range(self.n)
            ]
            found = {}
            for order, name in enumerate(JOINT_SPACE):
                values = [_derivative(piece, x, order) for piece in pieces]
                if order:  # at rest before the motion and after it
                    values = [
                        ops.select(time[0], ops.select(float(knots[-1]) - time[0], value, 0), 0) for value in values
                    ]
                found[name] = _nodes(values)
            return found

        return trace(motion, {"time": 1}, fold_angles=False)

    def motion_vectors(self, count: int) -> Vectors:
        """The motion at random times, the first before its start and the last after its end."""
        assert self.motion is not None
        times = np.round(np.random.default_rng(3).uniform(0, self.motion.duration, count), 6)
        times[0], times[-1] = -0.5, self.motion.duration + 0.5
        outputs = {name: self.motion(times, order) for order, name in enumerate(JOINT_SPACE)}
        largest = max(float(np.abs(values).max()) for values in outputs.values())
        return Vectors({"time": times[:, None]}, outputs, np.full(count, max(1.0, largest)))

    def _described_control(self) -> Part:
        results = ("tau", *(["next_memory"] if self.memory else []), *(["residual"] if self._observes else []))
        text = (
            f"Torques of the law {self.law.summary} for one control period of {self.period:g} s"
            f"{', and its memory at the end of the period' if self.memory else ''}."
        )
        return Part("control", text, sentence(self.dyn.robot), results, ENTRIES)

    @property
    def _observes(self) -> bool:
        return hasattr(self.law, "residual")

    # Reference vectors ------------------------------------------------------------------------------------------------

    def _given(self, count: int) -> dict[str, Array]:
        """Random arguments; the first state is at rest, at AT_DEFAULTS parameters have their default values."""
        rng = np.random.default_rng(1)
        state = states(self.dyn.robot.without("elastic"), count)
        found = {"time": np.round(rng.uniform(0, 10, (count, 1)), 6), "q": state["q"], "qd": state["qd"]}
        near = {
            name: state[kind] + np.round(rng.uniform(-0.1, 0.1, state[kind].shape), 6)
            for name, kind in JOINT_SPACE.items()
        }
        if self.law.in_task_space:
            poses = self.dyn.pose(near["q_desired"]).reshape(count, 16)
            near = {
                "pose_desired": poses,
                **{name: np.round(rng.uniform(-1, 1, (count, 6)), 6) for name in [*TASK_SPACE][1:]},
            }
        found |= {name: near[name] for name in self.reference}
        if self.parameters:
            default = np.array([*self.values.values()])
            rows = default * (1 + np.round(rng.uniform(-CHANGED, CHANGED, (count, len(default))), 3))
            if PAYLOAD_NAME in self.tunable:
                rows[:, -len(PAYLOAD) :] = LOAD
            rows[AT_DEFAULTS] = default
            found[PARAMETERS] = rows
        return found

    def _laws(self, given: Mapping[str, Array], count: int) -> list[Law]:
        return [self.in_numbers(row) for row in given[PARAMETERS]] if self.parameters else [self.law] * count

    def start_vectors(self, count: int) -> Vectors:
        """The memory at the start, of the law over numbers."""
        given = self._given(count)
        laws = self._laws(given, count)
        memory = np.array([law.start(q, qd) for law, q, qd in zip(laws, given["q"], given["qd"], strict=True)])
        inputs = {name: given[name] for name in ("q", "qd", PARAMETERS) if name in given}
        return Vectors(inputs, {"memory": memory}, np.full(count, max(1.0, np.abs(memory).max())))

    def control_vectors(self, count: int) -> Vectors:
        """One period, of the law over numbers. The scale is the largest torque of all states."""
        given, rng = self._given(count), np.random.default_rng(2)
        laws = self._laws(given, count)
        rows = []
        if self.memory:
            starts = np.array([law.start(q, qd) for law, q, qd in zip(laws, given["q"], given["qd"], strict=True)])
            given["memory"] = starts + np.round(rng.uniform(-0.1, 0.1, starts.shape), 6)
        for k, law in enumerate(laws):
            parts = [given[name][k] for name in self.reference]
            memory = given["memory"][k] if self.memory else np.empty(0)
            rows.append(self.period_of(law, given["time"][k, 0], given["q"][k], given["qd"][k], parts, memory))
        outputs = {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
        inputs = {name: given[name] for name in (*self.sizes, PARAMETERS) if name in given}
        largest = max(float(np.abs(values).max()) for values in outputs.values())
        return Vectors(inputs, outputs, np.full(count, max(1.0, largest)))

    def record(self, periods: int) -> Vectors:
        """The law over numbers in successive periods, along a measured motion near the desired one.

        Halfway its parameters change, as gains and a payload may at any time.
        """
        rng, given = np.random.default_rng(4), self._given(periods)
        time = self.period * np.arange(periods)
        start = self.motion(time) if self.motion is not None else given["q"][1] + np.outer(time, given["qd"][1])
        q = np.round(start + rng.uniform(-0.01, 0.01, start.shape), 9)
        qd = np.round(given["qd"][1] + rng.uniform(-0.1, 0.1, start.shape), 9)
        wanted = {name: np.tile(given[name][1], (periods, 1)) for name in self.reference}
        if self.motion is not None:
            wanted = {name: self.motion(time, order) for order, name in enumerate(JOINT_SPACE)}
        inputs = {"q": q, "qd": qd} | ({} if self.motion is not None else wanted)
        laws = [self.law] * periods
        if self.parameters:
            half = np.arange(periods) < periods // 2
            inputs[PARAMETERS] = np.where(half[:, None], given[PARAMETERS][AT_DEFAULTS], given[PARAMETERS][-1])
            laws = [each for row in (AT_DEFAULTS, -1) for each in [self.in_numbers(given[PARAMETERS][row])]]
            laws = [laws[0 if early else 1] for early in half]
        memory, rows = laws[0].start(q[0], qd[0]), []
        for k, law in enumerate(laws):
            parts = [wanted[name][k] for name in self.reference]
            rows.append(self.period_of(law, time[k], q[k], qd[k], parts, memory))
            memory = rows[-1].pop("next_memory", memory)
        outputs = {name: np.array([row[name] for row in rows], dtype=float) for name in rows[0]}
        largest = max(float(np.abs(values).max()) for values in outputs.values())
        return Vectors(inputs, outputs, np.full(periods, max(1.0, largest)))

    def model(self, prefix: str | None = None) -> Model:
        """What the writers of `codegen` write."""
        robot = self.dyn.robot
        stem = file_stem(robot.name) if prefix is None else checked_prefix(prefix)
        notes = [f"Call `control` once every {self.period:g} s and hold its torques in between."]
        if self.memory:
            notes.append("Begin with the memory of `start`; next_memory is the memory of the next call.")
        if self.motion is not None:
            notes.append("The desired state of a call is that of `motion` at its time.")
        sampling = Sampling(self.period, self.record)
        return Model(
            robot, stem, self.functions(), self.parameters, values=self.values, notes=tuple(notes), sampling=sampling
        )


ENTRIES = {
    "time": "since control began, s",
    "q": "measured joint positions, rad or m",
    "qd": "measured joint velocities, rad/s or m/s",
    "q_desired": "desired joint positions, rad or m",
    "qd_desired": "desired joint velocities, rad/s or m/s",
    "qdd_desired": "desired joint accelerations, rad/s^2 or m/s^2",
    "pose_desired": "desired pose of the tool in the world, a 4 x 4 matrix row by row",
    "twist_desired": "desired velocity of the tool, linear first, world axes, m/s and rad/s",
    "acceleration_desired": "desired acceleration of the tool, linear first, world axes, m/s^2 and rad/s^2",
    "memory": "internal state of the law",
    "next_memory": "internal state of the law for the next call",
    "tau": "torques of the actuators, N m or N",
    "residual": "estimated torques of contacts, N m or N",
}
"""What the arguments and results of a controller are."""
START = Part("start", "Internal state of the law when control begins at a measured state.", "", ("memory",), ENTRIES)


MOTION = Part(
    "motion",
    "Desired motion of the joints; at rest before its start at time 0 and after its end.",
    "",
    tuple(JOINT_SPACE),
    ENTRIES,
)


def _derivative(coefficients: list[Any], x: Any, order: int) -> Any:
    """A derivative of a polynomial in ascending order, by Horner's rule as in PiecewisePolynomial."""
    value: Any = 0
    for i in range(len(coefficients) - 1, order - 1, -1):
        value = value * x + math.perm(i, order) * coefficients[i]
    return value


def _no_labels(graph: Graph) -> Mapping[Node, str]:
    return {}


def _changed(law: Law, model: Callable[[Dynamics], Any], gains: Mapping[str, Array]) -> Law:
    """A copy of a law with other models, and other gains of the innermost law."""
    _ = getattr(law, "integrates", None)  # kept in the copy: which terms there are
    other = copy(law)
    for entry in fields(cast(Any, law)):
        value = getattr(law, entry.name)
        if isinstance(value, Dynamics):
            object.__setattr__(other, entry.name, model(value))
        elif isinstance(value, Law):
            object.__setattr__(other, entry.name, _changed(value, model, gains))
        elif law.innermost is law and entry.name in gains:
            object.__setattr__(other, entry.name, gains[entry.name])
    return other
