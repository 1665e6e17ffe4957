"""CasADi: functions for optimal control, built of scalar operations (SX), so that CasADi differentiates them."""

from __future__ import annotations

from typing import Any

from armdyn.codegen.evaluation import evaluated, installed
from armdyn.codegen.functions import ExportedFunction, model
from armdyn.dynamics import Dynamics
from armdyn.robot import Robot


def function(robot: Robot | Dynamics, name: str, *, parameters: bool = False) -> Any:
    """One quantity as a `casadi.Function`: column vectors in, vectors and matrices out.

    robot: with at least one movable joint, or its Dynamics.
    name: of the quantity, from QUANTITIES.
    parameters: keep the named parameters of the robot's file as a last argument.

    Raises MissingExtra if CasADi is not installed.
    """
    casadi = installed("casadi", "CasADi")
    return _built(casadi, model(robot, (name,), parameters=parameters).functions[0])


def _built(casadi: Any, function: ExportedFunction) -> Any:
    takes, gives = function.inputs, function.outputs
    inputs = {port.name: casadi.SX.sym(port.name, len(port.nodes)) for port in takes}
    entries = {port.name: casadi.vertsplit(inputs[port.name]) for port in takes}
    results = evaluated(function.graph, entries, _functions(casadi))
    outputs = []
    for port in gives:
        rows, columns = (*port.shape, 1, 1)[:2]
        flat = casadi.vertcat(*(casadi.SX(entry) for entry in results[port.name]))
        outputs.append(casadi.reshape(flat, columns, rows).T)
    names = list(inputs), [port.name for port in gives]
    return casadi.Function(function.name, list(inputs.values()), outputs, *names)


def _functions(casadi: Any) -> dict[str, Any]:
    return {
        "sin": casadi.sin,
        "cos": casadi.cos,
        "sqrt": casadi.sqrt,
        "exp": casadi.exp,
        "atan2": casadi.atan2,
        "abs": casadi.fabs,
        "sign": casadi.sign,
        "select": lambda condition, yes, no: casadi.if_else(condition >= 0, yes, no),
    }
