"""Many simulations as one batch of machine code: initial states, constant references, gains, parameters of the plant.

All samples march in step, a block of them at a time, so that their states stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple, cast

import numpy as np

from armdyn.control.base import Law
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.kernels import build
from armdyn.kernels.kernel import Kernel
from armdyn.simulation.compiled_loop import StepProgram, loops, obstacle, rows_of, stage_rows, step_graph
from armdyn.simulation.plant_coordinates import initial
from armdyn.simulation.problem import HUGE, SimulationProblem
from armdyn.simulation.run import Status
from armdyn.typing import Array

BLOCK = 256
"""Samples that march together."""


class BatchValues(NamedTuple):
    """What differs between the samples of a batch of shape (...): None where they share it.

    q0, qd0:    (..., nq) and (..., n) initial states.
    goals:      (..., nq) constant references.
    laws:       control laws, one per sample, of one kind and with the same models.
    parameters: (...) standard parameters of the plant by name, empty where they share all of them.
    """

    shape: tuple[int, ...]
    q0: Array | None
    qd0: Array | None
    goals: Array | None
    laws: Sequence[Law] | None
    parameters: Mapping[str, Array]

    @property
    def total(self) -> int:
        return int(np.prod(self.shape))

    def first(self, value: Any, given: Array | None) -> Any:
        """The argument of the first sample."""
        return value if given is None else given.reshape(-1, given.shape[-1])[0]


def samples(controller: Any, reference: Any, q0: Any, qd0: Any, parameters: Mapping[str, Array]) -> BatchValues | None:
    """The samples of a batch; None for a single simulation."""
    laws = list(controller) if isinstance(controller, Sequence) else None
    moving = callable(reference) or reference is None or hasattr(reference, "pose")
    in_task_space = getattr(laws[0] if laws else controller, "in_task_space", False)
    arrays = [None if x is None or np.ndim(x) < 2 else np.asarray(x, dtype=float) for x in (q0, qd0)]
    goals = None if moving or in_task_space or np.ndim(reference) < 2 else np.asarray(reference, dtype=float)
    shapes = [x.shape[:-1] for x in (*arrays, goals) if x is not None] + ([] if laws is None else [(len(laws),)])
    shapes += [x.shape for x in parameters.values()]
    if not shapes:
        return None
    for name, array in zip(("q0", "qd0", "reference"), (*arrays, goals), strict=True):
        if array is not None and not np.isfinite(array).all():
            raise ArmdynError(f"{name} has entries that are not finite", where="simulate", expected="finite numbers")
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ShapeError(
            f"leading axes {', '.join(map(str, shapes))} of q0, qd0, reference, laws or parameters",
            where="simulate",
            expected="equal sizes, or 1",
        ) from None
    if int(np.prod(shape)) == 0:
        raise ShapeError(f"a batch of shape {shape}", where="simulate", expected="at least one sample")
    return BatchValues(shape, arrays[0], arrays[1], goals, laws, parameters)


class Results(NamedTuple):
    """Samples of all simulations: (..., k, n) each, with the memory of the law, and how each of them ended."""

    q: Array
    qd: Array
    tau: Array
    memory: Array
    desired: Array
    statuses: Array
    ends: Array


def march(problem: SimulationProblem, given: BatchValues, keep: int) -> Results:
    """Simulate all samples; every `keep`-th time step is stored."""
    p, n, size, count = problem, problem.n, problem.coordinates.size, given.total
    reason = obstacle(p) or ("a change of the plant" if len(p.plants) > 1 else None)
    if reason is not None:
        raise NotApplicable(
            f"{reason} in a batch",
            where="simulate",
            expected="a closed loop that can be compiled",
            advice="Simulate the samples one by one.",
        )
    q0, qd0 = (
        np.broadcast_to(own if x is None else x, (*given.shape, own.shape[-1])).reshape(count, -1)
        for own, x in ((p.q0, given.q0), (p.qd0, given.qd0))
    )
    varying, gains = _gains(p.law, given.laws)
    gains = gains if len(gains) == count else np.broadcast_to(gains, (*given.shape, gains.shape[-1])).reshape(count, -1)
    columns = [np.broadcast_to(values, given.shape).reshape(count) for values in given.parameters.values()]
    extra = np.column_stack([gains, *columns])
    each = given.laws if given.laws is not None and len(given.laws) == count else [p.law] * count
    z = np.array([law.start(*x) for law, *x in zip(each, q0, qd0, strict=True)])
    start = [initial(p.plants[0][1], *x) for x in zip(q0, qd0, strict=True)] if size > n else None
    x0, xd0 = (q0, qd0) if start is None else (np.array(side) for side in zip(*start, strict=True))
    state = np.column_stack([x0, xd0, z, np.zeros((count, 2 * size))])
    kernel = _kernel(loops(p)[0]._replace(varying=varying, parameters=tuple(given.parameters)))
    goals = None if given.goals is None else np.broadcast_to(given.goals, (*given.shape, n)).reshape(count, n)
    kept = p.steps // keep + 1
    found = [np.full((count, kept, width), np.nan) for width in (size, size, n, z.shape[1])]
    for first in range(0, count, BLOCK):
        rows = slice(first, min(first + BLOCK, count))
        goal = None if goals is None else goals[rows]
        _march_block(p, kernel, state[rows], extra[rows], goal, keep, [array[rows] for array in found])
    q, qd, tau, memory = (array.reshape(*given.shape, kept, array.shape[-1]) for array in found)
    bounded = (np.abs(np.concatenate([q, qd], axis=-1)) < HUGE).all(axis=-1)
    ends = np.where(bounded.all(axis=-1), kept, (~bounded).argmax(axis=-1))
    for array in (q, qd, tau, memory):
        array[np.arange(kept) >= ends[..., None]] = np.nan
    statuses = np.array([Status.UNSTABLE, Status.FINISHED], dtype=object)[(ends == kept).astype(int)]
    shared = p.course.table(p.times[::keep]).q
    desired = shared if goals is None else np.repeat(goals.reshape(*given.shape, 1, n), kept, axis=-2)
    return Results(q, qd, tau, memory, desired, statuses, ends)


def _march_block(
    p: SimulationProblem, kernel: Kernel, state: Array, given: Array, goals: Array | None, keep: int, found: list[Array]
) -> None:
    n, size, stride, window = p.n, p.coordinates.size, p.method.grid, stage_rows(p.method)
    times = p.dt / stride * np.arange(stride * (p.steps + 1) + 1)
    table = p.course.table(times)
    reference = rows_of(times, table)
    own = None
    if goals is not None:  # constant, and different for each sample
        own = np.zeros((len(state), window, 1 + 3 * n))
        own[:, :, 1 : 1 + n] = goals[:, None]
    extra = (given,) if given.shape[1] else ()
    state, other, tau = state.copy(), np.empty_like(state), np.empty((len(state), n))
    with np.errstate(all="ignore"):
        for k in range(p.steps + 1):
            rows = reference[stride * k : stride * k + window] if own is None else own
            kernel.ufunc(state, rows, *extra, out=(other, tau))
            if k % keep == 0:
                parts = np.split(state, [size, 2 * size, state.shape[1] - 2 * size], axis=1)
                for array, part in zip(found, (parts[0], parts[1], tau, parts[2]), strict=True):
                    array[:, k // keep] = part
            state, other = other, state


def _gains(law: Law, laws: Sequence[Law] | None) -> tuple[tuple[tuple[str, int], ...], Array]:
    """Names and sizes of the fields in which laws differ, and their values (samples, total)."""
    if laws is None:
        return (), np.empty((1, 0))
    names: list[tuple[str, int]] = []
    columns: list[Array] = []
    for entry in fields(cast(Any, law)):
        values: list[Any] = [getattr(each, entry.name, None) if type(each) is type(law) else None for each in laws]
        shape = np.shape(values[0])
        if isinstance(values[0], np.ndarray) and all(isinstance(x, np.ndarray) and x.shape == shape for x in values):
            table = np.array(values, dtype=float).reshape(len(laws), -1)
            if (table != table[0]).any():
                names.append((entry.name, table.shape[1]))
                columns.append(table)
        elif any(x is not values[0] and x != values[0] for x in values) or type(laws[-1]) is not type(law):
            raise ArmdynError(
                f"laws that differ in {entry.name}",
                where="simulate",
                expected="laws of one kind and with the same models, which differ in gains",
            )
    return tuple(names), np.column_stack(columns) if columns else np.empty((len(laws), 0))


@lru_cache(maxsize=32)
def _kernel(loop: StepProgram) -> Kernel:
    return build(step_graph(loop), "batch_step")
