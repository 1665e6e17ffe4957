"""A graph as a function of NumPy arrays, operation by operation: right and slow, where there is no machine code."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.graph import Graph
from armdyn.kernels.call.general import delivered
from armdyn.kernels.ports import Ports


class Interpreter:
    """Stands in for the ufunc of a kernel: arrays in, arrays out, leading axes broadcast, `out=`."""

    def __init__(self, graph: Graph, ports: Ports) -> None:
        self.graph, self.ports = graph, ports

    def __call__(self, *arguments: Any, out: Any = None) -> Any:
        inputs = self.ports.inputs
        given, targets = arguments[: len(inputs)], arguments[len(inputs) :]
        if len(given) != len(inputs) or len(targets) > len(self.ports.outputs):
            raise TypeError(f"{len(arguments)} arguments")  # explained by the caller, as the next ones
        arrays = [np.asarray(value) for value in given]
        batches = []
        for port, array in zip(inputs, arrays, strict=True):
            rank = len(port.shape)
            if not np.can_cast(array.dtype, np.float64) or array.shape[array.ndim - rank :] != port.shape:
                raise TypeError(f"{array.dtype} of shape {array.shape}")
            batches.append(array.shape[: array.ndim - rank])
        batch = np.broadcast_shapes(*batches)
        lanes = batch or (1,)  # one sample is a batch of one: what Python's functions refuse is NaN in arrays
        values = {
            port.name: np.broadcast_to(array, (*lanes, *port.shape)).astype(float)
            for port, array in zip(inputs, arrays, strict=True)
        }
        results = self.graph(**values)
        listed = list(results.values()) if isinstance(results, dict) else [results]
        stacked = [_stacked(result, lanes) for result in listed]
        return delivered([each.reshape(*batch, *each.shape[len(lanes) :]) for each in stacked], targets or out)


def _stacked(value: Any, batch: tuple[int, ...]) -> Any:
    """Nested tuples of numbers and arrays as one array, batch axes first."""
    if isinstance(value, tuple):
        return np.stack([_stacked(part, batch) for part in value], axis=len(batch))
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), batch))
