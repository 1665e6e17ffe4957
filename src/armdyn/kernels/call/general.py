"""Every call but the plain single one: keywords, threads, and errors that name the argument."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph.structure import Port
from armdyn.kernels.ports import Ports

SMALLEST_SHARE = 256
"""Samples below which another thread costs more than it saves."""


def general_call(name: str, ports: Ports, ufunc: Any) -> Callable[..., Any]:
    """A Python function that calls the ufunc, on several threads if asked, and explains what NumPy refuses."""

    def call(*arguments: Any, threads: int | None = None, **options: Any) -> Any:
        if any(isinstance(each, np.ma.MaskedArray) for each in arguments):
            raise ArmdynError("a masked array", where=name, expected="an array; fill or drop masked entries first")
        try:
            if "casting" not in options and not all(map(_doubles, _targets(ports, arguments, options))):
                raise TypeError("results would lose digits")
            if threads is not None and threads != 1:
                return _threaded(ufunc, ports, arguments, options, threads)
            return ufunc(*arguments, **options)
        except (ValueError, TypeError) as error:
            problem = _explained(name, ports, arguments, options)
            if problem is None:
                raise
            raise problem from error

    call.__name__ = call.__qualname__ = name
    return call


def _explained(name: str, ports: Ports, arguments: Sequence[Any], options: dict[str, Any]) -> ArmdynError | None:
    """Why NumPy refused, in terms of the arguments' names; None if they are fine."""
    inputs, outputs = ports.inputs, ports.outputs
    if not len(inputs) <= len(arguments) <= len(ports.all):
        names = ", ".join(port.name for port in inputs)
        return ShapeError(f"{len(arguments)} arguments given", where=name, expected=f"{len(inputs)}: {names}")
    given: list[tuple[Port, str, Any]] = [
        (port, f"input {port.name!r}", value) for port, value in zip(inputs, arguments, strict=False)
    ]
    listed = _targets(ports, arguments, options)
    if listed:
        if len(listed) != len(outputs):
            return ShapeError(f"{len(listed)} arrays given", where=f"{name}, out", expected=f"{len(outputs)} arrays")
        given += [(port, f"output {port.name!r}", v) for port, v in zip(outputs, listed, strict=True) if v is not None]
    batches = {}
    for port, what, value in given:
        where = f"{name}, {what}"
        wanted = "(...)" if not port.shape else f"(..., {', '.join(map(str, port.shape))})"
        try:
            array = np.asarray(value)
        except ValueError:
            return ShapeError("the entries do not make an array", where=where, expected=f"numbers of shape {wanted}")
        writing = what.startswith("output")
        if array.dtype.kind not in "biuf" or not (writing or np.can_cast(array.dtype, float)):
            return ArmdynError(f"got {array.dtype} entries", where=where, expected="real numbers, at most 64 bits wide")
        if writing and (problem := _not_writable(value, where)):
            return problem
        rank = len(port.shape)
        if array.ndim < rank or array.shape[array.ndim - rank :] != port.shape:
            return ShapeError(f"got shape {array.shape}", where=where, expected=f"shape {wanted}")
        batches[what] = array.shape[: array.ndim - rank]
    try:
        batch = np.broadcast_shapes(*(shape for what, shape in batches.items() if what.startswith("input")))
    except ValueError:
        listed_shapes = ", ".join(f"{shape} for {what}" for what, shape in batches.items())
        return ShapeError(f"batch shapes do not broadcast: {listed_shapes}", where=name, expected="equal sizes, or 1")
    for what, shape in batches.items():
        if what.startswith("output") and shape != batch:
            return ShapeError(f"got batch shape {shape}", where=f"{name}, {what}", expected=f"batch shape {batch}")
    return None


def _targets(ports: Ports, arguments: Sequence[Any], options: dict[str, Any]) -> tuple[Any, ...]:
    """What was given for the results."""
    out = options.get("out", tuple(arguments[len(ports.inputs) :]) or None)
    return () if out is None else out if isinstance(out, tuple) else (out,)


def _doubles(target: Any) -> bool:
    """Whether results keep all digits in an array; NumPy itself would also write to single precision."""
    return not isinstance(target, np.ndarray) or (target.dtype.kind, target.itemsize) == ("f", 8)


def _not_writable(target: Any, where: str) -> ArmdynError | None:
    """Why results cannot be written to `out`; None if they can."""
    if not isinstance(target, np.ndarray):
        return ArmdynError(f"got {type(target).__name__}", where=where, expected="an array of float64")
    if not _doubles(target):
        return ArmdynError(f"got {target.dtype} entries", where=where, expected="float64 entries")
    if not target.flags.writeable:
        return ArmdynError("the array is read-only", where=where, expected="an array that can be written to")
    return None


def delivered(results: Sequence[Any], out: Any, where: str = "out") -> Any:
    """The results, copied into the arrays of `out` if it is given."""
    if out is not None:
        targets = out if isinstance(out, tuple) else (out,)
        if len(targets) != len(results):
            raise ShapeError(f"{len(targets)} arrays given", where=where, expected=f"{len(results)} arrays")
        for target, result in zip(targets, results, strict=True):
            if problem := _not_writable(target, where):
                raise problem
            if target.shape != np.shape(result):
                raise ShapeError(f"got shape {target.shape}", where=where, expected=f"shape {np.shape(result)}")
            np.copyto(target, result)
        results = targets
    return results[0] if len(results) == 1 else tuple(results)


def _threaded(ufunc: Any, ports: Ports, arguments: Sequence[Any], options: dict[str, Any], threads: int) -> Any:
    """The same call, its longest batch axis divided among threads (0: one per processor)."""
    if not isinstance(threads, int | np.integer) or threads < 0:
        raise ArmdynError(f"threads={threads}", expected="a positive whole number, or 0 for one per processor")
    threads = threads or os.cpu_count() or 1
    inputs = len(ports.inputs)
    if len(arguments) != inputs or set(options) - {"out"}:
        return ufunc(*arguments, **options)
    arrays = [np.asarray(value) for value in arguments]
    ranks = [len(port.shape) for port in ports.all]
    shapes = [array.shape[: array.ndim - rank] for array, rank in zip(arrays, ranks, strict=False)]
    batch = np.broadcast_shapes(*shapes)
    samples = int(np.prod(batch))
    threads = min(threads, max(batch, default=1), samples // SMALLEST_SHARE)
    if threads < 2:
        return ufunc(*arguments, **options)
    out = options.get("out")
    results: list[Any] = list(out) if isinstance(out, tuple) else [out] * len(ports.outputs)
    if any(result is not None and any(np.may_share_memory(result, array) for array in arrays) for result in results):
        return ufunc(*arguments, **options)  # only NumPy itself knows which copies are needed
    results = [
        np.empty(batch + port.shape) if result is None else result
        for port, result in zip(ports.outputs, results, strict=True)
    ]
    for result, port in zip(results, ports.outputs, strict=True):
        if not isinstance(result, np.ndarray) or result.shape != batch + port.shape:
            return ufunc(*arguments, **options)  # refuses, and the refusal is explained
    axis = batch.index(max(batch)) - len(batch)
    bounds = np.linspace(0, batch[axis], threads + 1).astype(int)
    failures: list[BaseException] = []

    def share(start: int, stop: int) -> None:
        try:
            parts = [_part(a, axis, rank, start, stop) for a, rank in zip(arrays, ranks, strict=False)]
            outs = [_part(a, axis, rank, start, stop) for a, rank in zip(results, ranks[inputs:], strict=True)]
            ufunc(*parts, out=tuple(outs))
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=share, args=pair) for pair in itertools.pairwise(bounds[1:])]
    for worker in workers:
        worker.start()
    share(0, bounds[1])
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    return results[0] if len(results) == 1 else tuple(results)


def _part(array: Any, axis: int, rank: int, start: int, stop: int) -> Any:
    """A share of an array along a batch axis counted from the end; arrays that are broadcast there stay whole."""
    place = array.ndim - rank + axis
    if place < 0 or array.shape[place] == 1:
        return array
    return array[(slice(None),) * place + (slice(start, stop),)]
