"""The closed loop as machine code: law, plant and integrator traced into one step, repeated by a loop that is machine
code too. Its results are those of `fixed_step`, up to rounding.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from armdyn.algebra import ops
from armdyn.control.base import Desired, Law
from armdyn.control.uncertainty import break_away
from armdyn.dynamics import Dynamics, compile
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import NotApplicable
from armdyn.graph import Graph, Node, derivative, substitute, symbol, trace
from armdyn.kernels import build, jit
from armdyn.kernels.kernel import LARGEST, Kernel
from armdyn.parameters import standard_parameters, with_standard_parameters
from armdyn.simulation.integrators import Integrator, Linear
from armdyn.simulation.outcome import RunSamples, past_range, range_detail
from armdyn.simulation.plant_coordinates import Measure, PlantCoordinates
from armdyn.simulation.problem import HUGE, SimulationProblem
from armdyn.simulation.run import Status
from armdyn.simulation.saturation import Saturation
from armdyn.simulation.stiction import Grip, Stiction, without_friction
from armdyn.simulation.stiffness import moving, solve_symmetric, traced_part
from armdyn.simulation.stops import StopForces
from armdyn.typing import Array

CHUNK = 4096
"""Steps between two checks that the motion is still bounded."""
SHORT = 1000
"""Evaluations of the closed loop that Python does in less time than it takes to trace a step."""


def obstacle(problem: SimulationProblem, *, watched: bool = False) -> str | None:
    """What keeps a problem from being compiled; None if nothing does.

    watched: configurations at which the law is undefined are looked for afterwards.
    """
    law = problem.law
    able = law.compilable or (watched and law.undefined(problem.q0[None]) is not None)
    reasons = {
        "that there is no LLVM": not jit.available(),
        f"the integrator {problem.method.name}": not problem.method.compiles,
        f"the law {type(law).__name__}": not able or not _models_are_compiled(law),
        "sensors": problem.sensors is not None,
        "a wrench at the tool": problem.wrench is not None,
        "a stop condition": problem.stop is not None,
        "a control period of several steps": problem.hold > 1,
        "a plant with free or ball joints": problem.nq > problem.n,
        "presliding friction": len(problem.presliding) > 0,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _models_are_compiled(law: Law) -> bool:
    """Whether the models of the law, and of laws within it, are compiled dynamics."""
    inner = getattr(law, "law", None)
    model = getattr(law, "dyn", None)
    own = is_dataclass(law) and (model is None or isinstance(model, Dynamics))
    return own and (inner is None or _models_are_compiled(inner))


# The step as a graph --------------------------------------------------------------------------------------------------


class TracedDynamics:
    """Dynamics over symbols: functions of the same names that return the nodes of their graphs.

    parameters: the robot's named parameters are symbols too.
    """

    def __init__(self, dyn: Dynamics, parameters: bool = False) -> None:
        self.dyn, self.n, self.robot, self.symbols = dyn, dyn.n, dyn.robot, parameters

    def __getattr__(self, name: str) -> Any:
        if name not in QUANTITIES:
            return getattr(self.dyn, name)
        graph = self.dyn.graph(name, parameters=self.symbols)

        def function(*arguments: Any) -> Array:
            values: dict[Any, Any] = {}
            for symbols, argument in zip(graph.inputs.values(), arguments, strict=True):
                values |= dict(zip(symbols, np.asarray(argument, dtype=object), strict=True))
            (result,) = graph.outputs.values()
            return np.array(substitute(result, values), dtype=object)

        return function


def traced_law(law: Law) -> Law:
    """The law with traced models."""
    changes: dict[str, Any] = {}
    for entry in fields(cast(Any, law)):
        value = getattr(law, entry.name)
        if isinstance(value, Dynamics):
            changes[entry.name] = TracedDynamics(value)
        elif isinstance(value, Law):
            changes[entry.name] = traced_law(value)
    return replace(cast(Any, law), **changes) if changes else law


def stage_rows(method: Integrator) -> int:
    """Rows of the reference that a step reads: at both ends and in between, or at the start alone."""
    return 1 if method.grid == 1 else method.grid + 1


class StepProgram(NamedTuple):
    """Everything that the code of a step depends on.

    reference:  shapes of the desired position, velocity and acceleration.
    memory:     size of the internal state of the law.
    varying:    names and sizes of gains that are inputs, instead of numbers in the code.
    parameters: standard parameters of the plant that are inputs.
    """

    dyn: Dynamics
    law: Law
    method: Integrator
    dt: float
    hold: int
    saturation: Saturation | None
    reference: tuple[tuple[int, ...], ...]
    memory: int
    measure: Measure
    stops: StopForces | None
    stiction: bool
    varying: tuple[tuple[str, int], ...] = ()
    parameters: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Entries of a row (t, reference)."""
        return 1 + sum(math.prod(shape) for shape in self.reference)

    @property
    def inputs(self) -> int:
        """Number of gains and parameters that are inputs."""
        return sum(count for _, count in self.varying) + len(self.parameters)


def _symbol(name: str) -> Node:
    """A standard parameter of the plant as a symbol."""
    return symbol(f"plant_{name}")


@lru_cache(maxsize=32)
def _varied(dyn: Dynamics, names: tuple[str, ...]) -> Dynamics:
    """The plant with these standard parameters as named parameters of its robot."""
    known = standard_parameters(dyn.robot).as_dict()
    values = {_symbol(name).value: float(known[name]) for name in names}
    plain = replace(dyn.robot.bound(), expressions=None, parameters=values)
    return compile(with_standard_parameters(plain, {name: _symbol(name) for name in names}), cache=dyn.cache)


def with_gains(law: Law, varying: tuple[tuple[str, int], ...], gains: Sequence[Any]) -> Law:
    """The law with symbols in place of the gains that vary; which terms it has is that of the law as it was."""
    if not varying:
        return law
    _ = getattr(law, "integrates", None)  # kept in the copy
    other, first = copy(law), 0
    for name, size in varying:
        object.__setattr__(other, name, np.array(gains[first : first + size], dtype=object))
        first += size
    return other


class _ClosedLoop:
    """Plant, actuators and law over symbols. row: (t, reference) at the time of the state."""

    def __init__(self, p: StepProgram, law: Law) -> None:
        self.p, self.law, self.where = p, law, PlantCoordinates.of(p.dyn, p.measure)
        self.dyn = _varied(p.dyn, p.parameters) if p.parameters else p.dyn
        self.plant = TracedDynamics(self.dyn, bool(p.parameters))
        self.dry = _traced_stiction(self.plant) if p.stiction else None

    def torque(self, row: Array, q: Array, qd: Array, z: Array) -> tuple[Array, Array]:
        """Torques of the actuators, and the rate of the law's internal state."""
        seen, shapes = (self.where.measured(q), self.where.measured(qd)), self.p.reference
        parts = np.split(row[1:], np.cumsum([math.prod(shape) for shape in shapes])[:-1])
        desired = Desired(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))
        tau = np.asarray(self.law(row[0], *seen, desired, z), dtype=object)
        if self.p.saturation is not None:
            tau = self.p.saturation(tau, qd[self.where.motors])
        return tau, np.asarray(self.law.change(row[0], *seen, desired, z), dtype=object)

    def rates(self, row: Array, q: Array, qd: Array, z: Array, grip: Grip) -> tuple[Array, Array, Array]:
        """Accelerations, the rate of the law's internal state, and torques, within a step."""
        seen = qd if self.dry is None else self.dry.directed(qd, grip.way)
        tau, zd = self.torque(row, q, seen, z)
        return self.acceleration(q, qd, tau, grip), zd, tau

    def acting(self, tau: Array, q: Array, qd: Array) -> Array:
        """Torques of actuators and stops on all coordinates."""
        driven = self.where.driven(tau)
        return driven if self.p.stops is None else driven + self.p.stops(q, qd)

    def grip(self, row: Array, q: Array, qd: Array, z: Array) -> Grip:
        """Which joints stick during the step."""
        if self.dry is None:
            return Grip(qd, qd)
        return self.dry.grip(q, qd, self.acting(self.torque(row, q, qd, z)[0], q, qd))

    def acceleration(self, q: Array, qd: Array, tau: Array, grip: Grip) -> Array:
        acting = self.acting(tau, q, qd)
        if self.dry is not None:
            return self.dry.acceleration(q, qd, acting, None, grip)
        return np.asarray(self.plant.forward_dynamics(q, qd, acting))

    def linear(self, row: Array, z: Array, grip: Grip) -> Linear:
        """M, D, K of plant and stops, and of the law where it acts continuously; q and qd must be symbols."""

        def whole(q: Array, qd: Array) -> tuple[Array, Array, Array]:
            M, D, K = traced_part(self.dyn, self.p.stops, bool(self.p.parameters))(q, qd)
            if self.p.hold:
                return M, D, K
            tau = _nodes(self.where.driven(self.torque(row, q, qd, z)[0]))
            slopes = derivative(tau, tuple(qd)), derivative(tau, tuple(q))
            if self.dry is not None:  # laws that compensate dry friction jump at rest: see `law_slopes`
                slopes = substitute(slopes, dict(zip(qd, moving(qd), strict=True)))
            return M, D - np.array(slopes[0]), K - np.array(slopes[1])

        return whole if self.dry is None else self.dry.linear(whole, grip)


def step_graph(p: StepProgram) -> Graph:
    """One step: state (q, qd, z) and rows (t, reference) at the stages in; the next state and the torques out.

    Gains and parameters that vary are a third input.
    """
    memory, size = p.memory, PlantCoordinates.of(p.dyn, p.measure).size
    rows = stage_rows(p.method)

    def step(state: Any, reference: Any, given: Any = ()) -> dict[str, Any]:
        loop = _ClosedLoop(p, with_gains(traced_law(p.law), p.varying, given))
        x: Array = np.array(state, dtype=object)
        table = np.array(reference, dtype=object)
        held: list[Array] = []

        def rates(c: float, q: Array, qd: Array, z: Array) -> tuple[Array, Array, Array]:
            row = table[round(p.method.grid * c)]
            if not p.hold:
                return loop.rates(row, q, qd, z, grip)
            if not held:  # torques and internal state change once per step
                held.extend(loop.torque(row, q, qd, z))
            return loop.acceleration(q, qd, held[0], grip), np.zeros(memory), held[0]

        assert p.method.step is not None
        q, qd, z, lost_q, lost_qd = np.split(x, np.cumsum([size, size, memory, size]))
        grip = loop.grip(table[0], q, qd, z)
        extra = (loop.linear(table[0], z, grip), solve_symmetric) if p.method.name == "implicit" else ()
        dq, dqd, dz, tau = p.method.step(rates, p.dt, q, qd, z, *extra)
        if p.hold:
            dz = p.dt * held[1]
        q, lost_q = _plus(q, dq, lost_q, table[0, 0])
        qd, lost_qd = _plus(qd, dqd, lost_qd, table[0, 0])
        if loop.dry is not None:
            qd, lost_qd = (loop.dry.settled(entry, qd, grip) for entry in (qd, lost_qd))
        moved = {"next": _nodes((*q, *qd, *(z + dz), *lost_q, *lost_qd)), "tau": _nodes(tau)}
        values = given[len(given) - len(p.parameters) :]
        found: dict[str, Any] = substitute(moved, dict(zip(map(_symbol, p.parameters), values, strict=True)))
        return found

    inputs: dict[str, Any] = {"state": 4 * size + memory, "reference": (rows, p.width)}
    if p.inputs:
        inputs["given"] = p.inputs
    return trace(step, inputs, fold_angles=False)


class Stages:
    """The parts of a step as machine code, for steps that are too long to be compiled whole: Python puts them together.

    x is (q, qd, z), hold is (stuck, way) of the joints; without dry friction it has no effect.
    """

    def __init__(self, p: StepProgram) -> None:
        self.size, memory = PlantCoordinates.of(p.dyn, p.measure).size, p.memory
        loop = _ClosedLoop(p, traced_law(p.law))
        shapes = {"x": 2 * self.size + memory, "hold": 2 * self.size, "row": p.width}

        def parts(x: Any, hold: Any, row: Any) -> tuple[Array, Array, Array, Array, Grip]:
            q, qd, z = np.split(np.array(x, dtype=object), [self.size, 2 * self.size])
            stuck, way = np.split(np.array(hold, dtype=object), 2)
            return np.array(row, dtype=object), q, qd, z, Grip(stuck, way)

        def gripping(x: Any, hold: Any, row: Any) -> dict[str, Any]:
            at, q, qd, z, _ = parts(x, hold, row)
            return {"hold": _nodes(np.concatenate(loop.grip(at, q, qd, z)))}

        def rates(x: Any, hold: Any, row: Any) -> dict[str, Any]:
            at, q, qd, z, grip = parts(x, hold, row)
            return {"rates": _nodes(np.concatenate(loop.rates(at, q, qd, z, grip)))}

        def linear(x: Any, hold: Any, row: Any) -> dict[str, Any]:
            at, q, qd, z, grip = parts(x, hold, row)
            return {"MDK": [[_nodes(line) for line in part] for part in loop.linear(at, z, grip)(q, qd)]}

        functions = {"grip": gripping, "rates": rates} | ({"linear": linear} if p.method.name == "implicit" else {})
        graphs = {name: trace(function, shapes, fold_angles=False) for name, function in functions.items()}
        self.operations = max(graph.operations.total for graph in graphs.values())
        self.kernels = {} if self.operations > LARGEST else {k: build(graph, k) for k, graph in graphs.items()}

    def grip(self, row: Array, x: Array) -> Array:
        """hold, (2 size,), at the start of a step."""
        return cast(Array, self.kernels["grip"](x, np.zeros(2 * self.size), row))

    def rates(self, row: Array, x: Array, hold: Array) -> tuple[Array, Array, Array]:
        """Accelerations, the rate of the law's internal state, and torques."""
        found = self.kernels["rates"](x, hold, row)
        memory = len(x) - 2 * self.size
        return found[: self.size], found[self.size : self.size + memory], found[self.size + memory :]

    def linear(self, row: Array, x: Array, hold: Array) -> tuple[Array, Array, Array]:
        """M, D, K at the start of a step."""
        M, D, K = self.kernels["linear"](x, hold, row)
        return M, D, K


@lru_cache(maxsize=32)
def stages_of(loop: StepProgram) -> Stages | None:
    """The parts of a step; None if one of them is too long as well."""
    stages = Stages(loop)
    return stages if stages.kernels else None


def _traced_stiction(plant: TracedDynamics) -> Stiction:
    """The plant's stiction over symbols."""
    smooth = TracedDynamics(without_friction(plant.dyn), plant.symbols)
    limits = break_away(plant if plant.symbols else plant.dyn)
    return Stiction(plant, smooth, limits, solve_symmetric)


def _plus(x: Array, growth: Array, lost: Array, t: Any) -> tuple[Array, Array]:
    """`integrators.plus` over symbols.

    Folding would simplify the rounding error to zero, as exact arithmetic has none; so the sum is hidden behind a
    selection that always takes it, since time is never negative.
    """
    wanted = growth + lost
    total = np.array([ops.select(t, entry, 0) for entry in x + wanted], dtype=object)
    return total, wanted - (total - x)


def _node(entry: Any) -> Any:
    return entry if isinstance(entry, Node) else float(entry)


def _nodes(entries: Any) -> list[Any]:
    return [_node(entry) for entry in entries]


# The steps as machine code --------------------------------------------------------------------------------------------


class March:
    """The machine code of a step, repeated without coming back to Python.

    It is the inner loop that the kernel gives to NumPy, one sample at a time, called with results that are the next
    sample's arguments. That is safe because a sample reads all it needs before it writes. (NumPy itself would notice
    that results overlap arguments and make copies.)
    """

    def __init__(self, loop: StepProgram) -> None:
        self.loop = loop

    @cached_property
    def graph(self) -> Graph:
        """The step, traced at first use."""
        return step_graph(self.loop)

    @cached_property
    def kernel(self) -> Kernel:
        """The step as a kernel, built at first use."""
        if self.graph.operations.total > LARGEST:
            raise NotApplicable(
                f"a step of {self.graph.operations.total} operations",
                where="simulate",
                expected=f"at most {LARGEST} for machine code",
                advice="Leave out compiled=True: Python then runs the loop.",
            )
        return build(self.graph, "step")

    def worth_compiling(self, evaluations: int) -> bool:
        """Whether to run this many evaluations in machine code.

        Building costs about 0.15 ms per operation the first time, an evaluation in Python about 0.03 ms. From one
        evaluation per operation on, the first run is at most a few times slower than in Python, and later runs, whose
        code is in the cache, are faster. Tracing a long step takes longer than a short run, so the dynamics of the
        plant, a part of every stage, is counted first.
        """
        most = min(evaluations, LARGEST)
        plant = self.loop.method.stages * self.loop.dyn.program("forward_dynamics").operations.total
        return "kernel" in vars(self) or (plant <= most and self.graph.operations.total <= most)

    def __call__(self, state: Array, reference: Array, tau: Array, first: int, count: int) -> None:
        """Steps first .. first + count - 1: rows of `state` and `tau` are filled in."""
        stages, width = self.kernel.ports.inputs[1].shape
        stride = max(1, stages - 1)
        if self.kernel.sequence is None:
            for k in range(first, first + count):
                window = reference[stride * k : stride * k + stages]
                self.kernel.ufunc(state[k], window, out=(state[k + 1], tau[k]))
            return
        rows = (8 * state.shape[1], 8 * width * stride, 8 * state.shape[1], 8 * tau.shape[1])
        starts = (
            state.ctypes.data + first * rows[0],
            reference.ctypes.data + first * rows[1],
            state.ctypes.data + (first + 1) * rows[2],
            tau.ctypes.data + first * rows[3],
        )
        pointers = (ctypes.c_void_p * 4)(*starts)
        steps = (ctypes.c_int64 * 4)(*rows)
        self.kernel.sequence(ctypes.addressof(pointers), ctypes.addressof(steps), count)


def worth_compiling(problem: SimulationProblem) -> bool:
    """Whether machine code is the better choice, if nobody has decided it."""
    evaluations = problem.steps * problem.method.stages
    return evaluations >= SHORT and all(march_of(loop).worth_compiling(evaluations) for loop in loops(problem))


def compiled_steps(problem: SimulationProblem) -> RunSamples:
    """Simulate in machine code."""
    p, n, size = problem, problem.n, problem.coordinates.size
    stride = p.method.grid
    times = p.dt / stride * np.arange(stride * (p.steps + 1) + 1)
    table = p.course.table(times)
    reference = rows_of(times, table)
    on_grid = Desired(*(column[::stride] for column in table))
    z = p.law.start(p.q0, p.qd0)
    state = np.empty((p.steps + 2, 4 * size + len(z)))
    state[0] = np.concatenate([*p.start, z, np.zeros(2 * size)])
    tau = np.empty((p.steps + 1, n))
    ends = [*(start for start, _ in p.plants[1:]), p.steps + 1]
    for (start, _), end, loop in zip(p.plants, ends, loops(p), strict=True):
        march = march_of(loop)
        for first in range(start, end, CHUNK):
            count = min(CHUNK, end - first)
            march(state, reference, tau, first, count)
            ended = _ended(p, state, tau, first, count)
            if ended is not None:
                return ended._replace(table=on_grid)
    return _outcome(p, state, tau, p.steps + 1, Status.FINISHED, "")._replace(table=on_grid)


def rows_of(times: Array, table: Desired) -> Array:
    """(times, width) rows (t, reference)."""
    return np.ascontiguousarray(np.column_stack([times, *(column.reshape(len(times), -1) for column in table)]))


def loops(p: SimulationProblem) -> list[StepProgram]:
    """The closed loops of the run, one for each plant."""
    memory = len(p.law.start(p.q0, p.qd0))
    shapes = tuple(x.shape for x in p.course.start) if p.law.in_task_space else ((p.n,),) * 3
    rest = p.saturation, shapes, memory, p.measure, p.stops, p.stiction
    return [StepProgram(dyn, p.law, p.method, p.dt, p.hold, *rest) for _, dyn in p.plants]


@lru_cache(maxsize=32)
def march_of(loop: StepProgram) -> March:
    """The code of a step; laws and plants are frozen, so that it is made only once for the same ones."""
    return March(loop)


def _ended(p: SimulationProblem, state: Array, tau: Array, first: int, count: int) -> RunSamples | None:
    """The outcome, if the motion ended within these steps."""
    n, size = p.n, p.coordinates.size
    block = state[first + 1 : first + count + 1, : 2 * size]
    with np.errstate(invalid="ignore"):
        unbounded: Array = np.logical_not((np.abs(block) < HUGE).all(axis=1))
    hit = past_range(p, block[:, :n])
    past = np.zeros(count, bool) if hit is None else hit.any(axis=1)
    if first == 0 and hit is not None and (now := past_range(p, state[0, :n])) is not None and now.any():
        return _outcome(p, state, tau, 1, Status.LIMIT, range_detail(p, 0.0, now))
    bad = np.flatnonzero(unbounded | past)
    if not bad.size or first + int(bad[0]) + 1 > p.steps:
        return None
    k = first + int(bad[0]) + 1
    if unbounded[bad[0]]:
        return _outcome(p, state, tau, k, Status.UNSTABLE, f"at t = {k * p.dt:.6g} s")
    assert hit is not None
    if k >= first + count:  # its torques are those of the next step
        x, xd, z = state[k, :size], state[k, size : 2 * size], state[k, 2 * size : -2 * size]
        last = p.law(k * p.dt, p.coordinates.measured(x), p.coordinates.measured(xd), p.course.at(k * p.dt), z)
        tau[k] = p.limited(last, xd)
    return _outcome(p, state, tau, k + 1, Status.LIMIT, range_detail(p, k * p.dt, hit[bad[0]]))


def _outcome(p: SimulationProblem, state: Array, tau: Array, count: int, status: Status, detail: str) -> RunSamples:
    size = p.coordinates.size
    while count > 1 and not np.isfinite(tau[count - 1]).all():
        count -= 1
    part = state[:count]
    return RunSamples(
        np.ascontiguousarray(part[:, :size]),
        np.ascontiguousarray(part[:, size : 2 * size]),
        np.nan_to_num(tau[:count]),
        np.ascontiguousarray(part[:, 2 * size : -2 * size]),
        status,
        detail,
    )
