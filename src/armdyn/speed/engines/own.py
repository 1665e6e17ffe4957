"""armdyn as its users call it, and the bare kernel without input checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.speed.calls import Call, Inputs, inertial, plain, stacked


class OwnEngine:
    """The functions of a Dynamics."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics = dynamics

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        call, read = getattr(self.dynamics, function), _reader(function)
        out = {"out": self._out(function, ())}
        return {
            "call": Call(f"dyn.{function}", call, inputs, read),
            "out": Call(f"dyn.{function}, out=", call, inputs, read, out),
        }

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        """With out=, since the others also write into existing arrays. kernel: without the check for finite results."""
        call, read, samples = getattr(self.dynamics, function), _reader(function), len(inputs[0])
        out = {"out": self._out(function, (samples,))}
        kernel = self.dynamics.program(function)
        return {
            "batch": Call(f"dyn.{function}", call, inputs, read, out, samples),
            "kernel": Call("kernel alone", kernel, inputs, read, out, samples),
        }

    def _out(self, function: str, batch: tuple[int, ...]) -> Any:
        """Arrays for the result; writing ones makes sure that their memory is mapped."""
        shapes = result_shapes(self.dynamics, function)
        arrays = tuple(np.ones((*batch, *shape)) for shape in shapes)
        return arrays if len(arrays) > 1 else arrays[0]


def result_shapes(dynamics: Dynamics, function: str) -> list[tuple[int, ...]]:
    """Of the results for one sample."""
    n = dynamics.n
    if function in ("inverse_dynamics", "forward_dynamics"):
        return [(n,)]
    if function == "regressor":
        return [(n, len(dynamics.parameter_names))]
    return [(n, n)] * (2 if function == "inverse_dynamics_derivatives" else 1)


def _reader(function: str) -> Any:
    return {"inverse_dynamics_derivatives": stacked, "regressor": inertial}.get(function, plain)
