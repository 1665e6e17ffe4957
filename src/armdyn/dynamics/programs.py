"""From a graph to a function: one kernel; several, if it is too long for one; or NumPy, if it is far too long."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from armdyn.errors import ArmdynError, PhysicsError, ShapeError
from armdyn.graph import Graph, Operations
from armdyn.kernels import Kernel, build
from armdyn.kernels.call.general import delivered, general_call
from armdyn.kernels.call.interpreted import Interpreter
from armdyn.kernels.kernel import LARGEST
from armdyn.kernels.ports import ports_of

COUNTED = tuple(field.name for field in fields(Operations) if field.name != "offline")
SHARE = 16_000
"""Operations of one kernel, when a graph is split among several."""


class SlowCode(UserWarning):
    """A function is not machine code."""


class Program(Protocol):
    """What a graph became: a Kernel or one of the classes below."""

    @property
    def operations(self) -> Operations: ...

    @property
    def compile_seconds(self) -> float: ...

    @property
    def from_cache(self) -> bool: ...

    def __call__(self, *arguments: Any, **options: Any) -> Any: ...


@dataclass(frozen=True)
class Split:
    """Several kernels, each of which computes some columns of every output."""

    kernels: tuple[Kernel, ...]
    outputs: int
    operations: Operations

    @property
    def compile_seconds(self) -> float:
        return sum(kernel.compile_seconds for kernel in self.kernels)

    @property
    def from_cache(self) -> bool:
        return all(kernel.from_cache for kernel in self.kernels)

    def __call__(self, *arguments: Any, out: Any = None, **options: Any) -> Any:
        parts = [kernel.call(*arguments, **options) for kernel in self.kernels]
        columns = zip(*(part if isinstance(part, tuple) else (part,) for part in parts), strict=True)
        return delivered([np.concatenate(part, axis=-1) for part in columns], out)


@dataclass(frozen=True)
class Interpreted:
    """The graph, operation by operation on arrays: for programs that would take too long to compile."""

    graph: Graph
    compile_seconds: float = 0.0
    from_cache: bool = False

    @property
    def operations(self) -> Operations:
        return self.graph.operations

    def __call__(self, *arguments: Any, out: Any = None, threads: int | None = None) -> Any:
        return self._call(*arguments, out=out)

    @cached_property
    def _call(self) -> Callable[..., Any]:
        ports = ports_of(self.graph)
        return general_call("function", ports, Interpreter(self.graph, ports))


class Several:
    """Made of other programs, `parts`; operations of the linear algebra between them are not counted."""

    @property
    def parts(self) -> tuple[Program, ...]:
        raise NotImplementedError

    @property
    def operations(self) -> Operations:
        counts = [program.operations for program in self.parts]
        return Operations(*(sum(getattr(each, name) for each in counts) for name in COUNTED))

    @property
    def compile_seconds(self) -> float:
        return sum(program.compile_seconds for program in self.parts)

    @property
    def from_cache(self) -> bool:
        return all(program.from_cache for program in self.parts)


@dataclass(frozen=True)
class Composed(Several):
    """Derivatives of forward dynamics of a long chain, from three other programs and NumPy's linear algebra."""

    forward: Program
    slopes: Program
    inertia: Program

    @property
    def parts(self) -> tuple[Program, ...]:
        return self.forward, self.slopes, self.inertia

    def __call__(self, q: Any, qd: Any, tau: Any, out: Any = None, **options: Any) -> Any:
        dq, dqd = self.slopes(q, qd, self.forward(q, qd, tau, **options), **options)
        try:
            inverse = np.linalg.inv(self.inertia(q, **options))
        except np.linalg.LinAlgError as error:
            raise PhysicsError("the mass matrix is singular at this configuration") from error
        return delivered([-inverse @ dq, -inverse @ dqd, np.broadcast_to(inverse, dq.shape).copy()], out)


COMPOSING = ("forward_dynamics", "inverse_dynamics_hessian")


@dataclass(frozen=True)
class ComposedHessian(Several):
    """Second derivatives of forward dynamics of a long chain; see `graphs.forward_dynamics_hessian`."""

    slopes: Program
    forward: Program
    hessian: Program

    @property
    def parts(self) -> tuple[Program, ...]:
        return self.slopes, self.forward, self.hessian

    def __call__(self, q: Any, qd: Any, tau: Any, weights: Any, out: Any = None, **options: Any) -> Any:
        by_q, by_qd, inverse = self.slopes(q, qd, tau, **options)
        u = (inverse @ np.asarray(weights, dtype=float)[..., None])[..., 0]
        q_q, q_qd, qd_qd, q_qdd = self.hessian(q, qd, self.forward(q, qd, tau, **options), u, **options)
        turned = q_qdd @ by_q
        results = [-(q_q + turned + turned.swapaxes(-1, -2)), -(q_qd + q_qdd @ by_qd), -qd_qd, -(q_qdd @ inverse)]
        return delivered(results, out)


@dataclass(frozen=True)
class Loaded(Several):
    """Inverse or forward dynamics with wrenches on frames, from those without and the Jacobians of the frames.

    core: without wrenches.
    jacobians: one per wrench.
    inverse: inverse dynamics, to which J^T w is added; else forward dynamics, from whose torques it is taken.
    """

    core: Program
    jacobians: tuple[Program, ...]
    inverse: bool

    @property
    def parts(self) -> tuple[Program, ...]:
        return self.core, *self.jacobians

    def __call__(self, q: Any, qd: Any, last: Any, *wrenches: Any, out: Any = None, **options: Any) -> Any:
        loads: Any = 0.0
        for jacobian, wrench in zip(self.jacobians, wrenches, strict=True):
            exerted = np.asarray(wrench, dtype=float)
            if exerted.shape[-1:] != (6,):
                raise ShapeError(f"got shape {exerted.shape}", where="input 'wrench'", expected="shape (..., 6)")
            loads = loads + (exerted[..., None, :] @ jacobian(q, **options))[..., 0, :]
        if self.inverse:
            return delivered([self.core(q, qd, last, **options) + loads], out)
        return delivered([self.core(q, qd, last - loads, **options)], out)


def program(graph: Graph, name: str, cache: bool) -> Program:
    """The fastest function for a graph: one kernel, several, or NumPy."""
    total = graph.operations.total
    if total <= LARGEST:
        return build(graph, name, cache=cache)
    parts = parts_of(graph)
    if not parts:
        warnings.warn(
            f"{name}: {total} operations are too many to compile; each call takes about {total / 200_000:.0f} ms more",
            SlowCode, stacklevel=2,
        )  # fmt: skip
        return Interpreted(graph)
    kernels = tuple(build(part, f"{name}_{k}", cache=cache) for k, part in enumerate(parts))
    return Split(kernels, len(graph.outputs), graph.operations)


def parts_of(graph: Graph) -> list[Graph]:
    """The graphs of the kernels that share a long one; none if it cannot be shared."""
    shares = math.ceil(graph.operations.total / SHARE)
    return _columns(graph, shares) or _columns(graph, 2 * shares) or []


def _columns(graph: Graph, shares: int) -> list[Graph] | None:
    """The graph in parts of some columns each; None if a part is still too long, or there are no columns."""
    outputs = dict(graph.outputs)
    if not all(isinstance(rows, tuple) and isinstance(rows[0], tuple) for rows in outputs.values()):
        return None
    width = min(len(rows[0]) for rows in outputs.values())
    if any(len(rows[0]) != width for rows in outputs.values()) or shares > width:
        return None
    bounds = np.linspace(0, width, shares + 1).astype(int)
    parts = []
    for start, stop in pairwise(bounds):
        chosen = {name: tuple(row[start:stop] for row in rows) for name, rows in outputs.items()}
        part = Graph(graph.inputs, chosen, graph.names)
        if part.operations.total > LARGEST:
            return None
        parts.append(part)
    return parts


def finite(value: Any) -> bool:
    """Whether all entries are finite, by their sum: it is not finite if one of them is not."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ArmdynError(f"got {array.dtype} entries", expected="real numbers")
    return math.isfinite(np.add.reduce(array, axis=None)) or bool(np.isfinite(array).all())
