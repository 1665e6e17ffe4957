"""JAX: functions that `jax.jit`, `jax.grad` and `jax.vmap` take, and the same as a module that needs JAX only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import Any

from armdyn.codegen import python_source as python
from armdyn.codegen.evaluation import evaluated, installed
from armdyn.codegen.functions import Model, model
from armdyn.errors import ShapeError
from armdyn.robot import Robot


def function(robot: Robot, name: str, *, parameters: bool = False) -> Callable[..., Any]:
    """One quantity as a function of JAX arrays (..., n); leading axes broadcast.

    JAX computes in single precision unless its option `jax_enable_x64` is set.

    robot: with at least one movable joint.
    name: of the quantity, from QUANTITIES.
    parameters: keep the named parameters of the robot's file as a last argument.

    Raises MissingExtra if JAX is not installed.
    """
    jnp = installed("jax.numpy", "JAX")
    entry = model(robot, (name,), parameters=parameters).functions[0]
    takes, gives = entry.inputs, entry.outputs
    functions = {op: getattr(jnp, op) for op in ("sin", "cos", "sqrt", "exp", "abs", "sign")}
    functions["select"] = lambda condition, yes, no: jnp.where(condition >= 0, yes, no)

    def call(*arguments: Any) -> Any:
        arrays = [jnp.asarray(argument, dtype=float) for argument in arguments]
        if len(arrays) != len(takes):
            raise ShapeError(f"{len(arrays)} arguments", where=name, expected=", ".join(p.name for p in takes))
        values = {}
        for port, array in zip(takes, arrays, strict=True):
            if array.ndim == 0 or array.shape[-1] != len(port.nodes):
                raise ShapeError(
                    f"{port.name} has shape {array.shape}", where=name, expected=f"(..., {len(port.nodes)})"
                )
            values[port.name] = [array[..., i] for i in range(len(port.nodes))]
        batch = jnp.broadcast_shapes(*(array.shape[:-1] for array in arrays))
        results = evaluated(entry.graph, values, functions)
        outputs = []
        for port in gives:
            stacked = jnp.stack([jnp.broadcast_to(x, batch) for x in results[port.name]], axis=-1)
            outputs.append(stacked.reshape(batch + port.shape))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = entry.definition.doc
    return call


def files(model: Model) -> dict[PurePath, str]:
    """A module of functions over JAX arrays. JAX itself is needed only to run it."""
    return python.files(model, "jax")
