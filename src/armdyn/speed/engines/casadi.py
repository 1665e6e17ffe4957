"""CasADi: an SX function of the same graph, evaluated by its virtual machine.

"out" is a call through `Function.buffer`, the fastest one from Python; batches are `Function.map` through a buffer.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import NotApplicable
from armdyn.robot import Robot
from armdyn.speed.calls import FUNCTIONS, Call, Inputs, imported
from armdyn.typing import Array

MOST_JOINTS = 10
NOT_COMPARED = ("coriolis_matrix", "regressor")
"""The same graphs again, at the same speed."""


class CasadiEngine:
    """The functions of a robot as `casadi.Function`."""

    def __init__(self, robot: Robot) -> None:
        self.casadi = imported("casadi", "CasADi", "casadi")
        if robot.n > MOST_JOINTS or robot.compounds:
            raise NotApplicable(
                "its programs of long chains and floating robots take minutes to make", where=f"robot {robot.name!r}"
            )
        self.robot = robot
        self._functions: dict[str, Any] = {}

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        if function in NOT_COMPARED:
            return {}
        made = self._function(function)
        return {
            "call": Call("casadi.Function", made, inputs, lambda value: self._read(function, value)),
            "out": self._buffered("casadi.Function.buffer", function, made, inputs, ()),
        }

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        if function in NOT_COMPARED:
            return {}
        samples = len(inputs[0])
        made = self._function(function).map(samples)
        return {"batch": self._buffered("casadi.Function.map", function, made, inputs, (samples,))}

    def _function(self, function: str) -> Any:
        """Results are dense, since a buffer holds every entry."""
        if function not in self._functions:
            from armdyn.codegen.casadi_graph import function as exported

            made, n = exported(self.robot, function), self.robot.n
            inputs = [self.casadi.SX.sym(f"x{k}", n) for k in range(FUNCTIONS[function])]
            results = made(*inputs)
            listed = results if isinstance(results, tuple) else (results,)
            dense = [self.casadi.densify(result) for result in listed]
            self._functions[function] = self.casadi.Function(function, inputs, dense)
        return self._functions[function]

    def _buffered(self, label: str, function: str, made: Any, inputs: Inputs, batch: tuple[int, ...]) -> Call:
        """CasADi is column-major: a (samples, n) array of ours is an (n, samples) matrix there."""
        n = self.robot.n
        matrices = {"mass_matrix": 1, "inverse_dynamics_derivatives": 2}.get(function, 0)
        shape = (*batch, n, n) if matrices else (*batch, n)
        results = [np.ones(shape) for _ in range(matrices or 1)]
        buffer, evaluate = made.buffer()
        kept = [np.ascontiguousarray(values) for values in inputs]
        for k, values in enumerate(kept):
            buffer.set_arg(k, values.data)
        for k, result in enumerate(results):
            buffer.set_res(k, result.data)

        def read(_: Any) -> Array:
            _keep(buffer, kept)
            turned = [np.swapaxes(result, -1, -2) if matrices else result for result in results]
            return np.array(turned[0]) if len(turned) == 1 else np.stack(turned, axis=-3)

        return Call(label, evaluate, (), read, samples=batch[0] if batch else 1)

    def _read(self, function: str, value: Any) -> Array:
        listed = value if isinstance(value, tuple) else (value,)
        arrays = [np.asarray(part.full(), dtype=float) for part in listed]
        if function in ("inverse_dynamics", "forward_dynamics"):
            return arrays[0][:, 0]
        return arrays[0] if len(arrays) == 1 else np.stack(arrays)


def _keep(*_: Any) -> None:
    """The closure that calls this keeps the objects alive whose addresses CasADi has."""
