"""From a graph to a function: one kernel; a Composite of several, if it is too long for one; NumPy, if far too long.

Functions of long chains are composites of others: the derivatives of forward dynamics, and dynamics with wrenches.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, PhysicsError, ShapeError
from armdyn.graph import Graph
from armdyn.kernels import Composite, Program, build, interpreted
from armdyn.kernels.kernel import LARGEST

SHARE = 16_000
"""Operations of one kernel, when a graph is split among several."""
Parts = Sequence[Program]


class SlowCode(UserWarning):
    """A function is not machine code."""


def program(graph: Graph, name: str, cache: bool) -> Program:
    """The fastest function for a graph: one kernel, several, or NumPy."""
    total = graph.operations.total
    if total <= LARGEST:
        return build(graph, name, cache=cache)
    parts = parts_of(graph)
    if not parts:
        warnings.warn(
            f"{name}: {total} operations are too many to compile; each call takes about {total / 200_000:.0f} ms more",
            SlowCode,
            stacklevel=2,
        )
        return interpreted(graph, name)
    kernels = tuple(build(part, f"{name}_{k}", cache=cache) for k, part in enumerate(parts))
    return Composite(kernels, concatenated, graph.operations)


def parts_of(graph: Graph) -> list[Graph]:
    """The graphs of the kernels that share a long one, each with some columns; none if it cannot be shared."""
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


# How composites combine the results of their parts --------------------------------------------------------------------


def concatenated(parts: Parts, *arguments: Any, **options: Any) -> list[Any]:
    """Of kernels, each of which computes some columns of every output."""
    found = [part(*arguments, **options) for part in parts]
    columns = zip(*(each if isinstance(each, tuple) else (each,) for each in found), strict=True)
    return [np.concatenate(column, axis=-1) for column in columns]


def acceleration_derivatives(parts: Parts, q: Any, qd: Any, tau: Any, **options: Any) -> list[Any]:
    """Of forward dynamics, derivatives of inverse dynamics, and the mass matrix."""
    forward, slopes, inertia = parts
    dq, dqd = slopes(q, qd, forward(q, qd, tau, **options), **options)
    try:
        inverse = np.linalg.inv(inertia(q, **options))
    except np.linalg.LinAlgError as error:
        raise PhysicsError("the mass matrix is singular at this configuration") from error
    return [-inverse @ dq, -inverse @ dqd, np.broadcast_to(inverse, dq.shape).copy()]


def acceleration_hessian(parts: Parts, q: Any, qd: Any, tau: Any, weights: Any, **options: Any) -> list[Any]:
    """Of derivatives of forward dynamics, itself, and second derivatives of inverse dynamics.

    See `graphs.forward_dynamics_hessian`.
    """
    slopes, forward, hessian = parts
    by_q, by_qd, inverse = slopes(q, qd, tau, **options)
    u = (inverse @ np.asarray(weights, dtype=float)[..., None])[..., 0]
    q_q, q_qd, qd_qd, q_qdd = hessian(q, qd, forward(q, qd, tau, **options), u, **options)
    turned = q_qdd @ by_q
    return [-(q_q + turned + turned.swapaxes(-1, -2)), -(q_qd + q_qdd @ by_qd), -qd_qd, -(q_qdd @ inverse)]


def torques_with_wrenches(parts: Parts, q: Any, qd: Any, qdd: Any, *wrenches: Any, **options: Any) -> list[Any]:
    """Of inverse dynamics, and the Jacobians of the frames on which wrenches act."""
    core, *jacobians = parts
    return [core(q, qd, qdd, **options) + _wrench_torques(jacobians, q, wrenches, options)]


def accelerations_with_wrenches(parts: Parts, q: Any, qd: Any, tau: Any, *wrenches: Any, **options: Any) -> list[Any]:
    """Of forward dynamics, and the Jacobians of the frames on which wrenches act."""
    core, *jacobians = parts
    return [core(q, qd, tau - _wrench_torques(jacobians, q, wrenches, options), **options)]


def _wrench_torques(jacobians: Parts, q: Any, wrenches: Sequence[Any], options: dict[str, Any]) -> Any:
    """The sum of J^T w."""
    loads: Any = 0.0
    for jacobian, wrench in zip(jacobians, wrenches, strict=True):
        exerted = np.asarray(wrench, dtype=float)
        if exerted.shape[-1:] != (6,):
            raise ShapeError(f"got shape {exerted.shape}", where="input 'wrench'", expected="shape (..., 6)")
        loads = loads + (exerted[..., None, :] @ jacobian(q, **options))[..., 0, :]
    return loads


class Composition(NamedTuple):
    """How a function is made of others: of which, and how their results are combined."""

    parts: tuple[str, ...]
    combine: Callable[..., Sequence[Any]]


COMPOSED = {
    "forward_dynamics_derivatives": Composition(
        ("forward_dynamics", "inverse_dynamics_derivatives", "mass_matrix"), acceleration_derivatives
    ),
    "forward_dynamics_hessian": Composition(
        ("forward_dynamics_derivatives", "forward_dynamics", "inverse_dynamics_hessian"), acceleration_hessian
    ),
}
"""Functions that are composites for long chains."""
LOADED = {"inverse_dynamics": torques_with_wrenches, "forward_dynamics": accelerations_with_wrenches}
"""Functions of which looped code knows no wrenches."""


def finite(value: Any) -> bool:
    """Whether all entries are finite, by their sum: it is not finite if one of them is not."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ArmdynError(f"got {array.dtype} entries", expected="real numbers")
    return math.isfinite(np.add.reduce(array, axis=None)) or bool(np.isfinite(array).all())
