"""CasADi: functions for optimal control, built of scalar operations (SX), so that CasADi differentiates them."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from armdyn.errors import MissingExtra
from armdyn.export.evaluation import evaluated
from armdyn.export.functions import Function, Model, model
from armdyn.robot import Robot


def function(robot: Robot, name: str, *, parameters: bool = False) -> Any:
    """One quantity as a `casadi.Function`: column vectors in, vectors and matrices out.

    parameters: keep the named parameters of the robot's file as a last argument.
    Raises:  MissingExtra if CasADi is not installed.
    """
    casadi = _casadi()
    return _built(casadi, model(robot, (name,), parameters=parameters).functions[0])


def files(model: Model) -> dict[PurePath, str]:
    """One file for `casadi.Function.load` per function."""
    casadi = _casadi()
    made: dict[PurePath, str] = {}
    with TemporaryDirectory() as folder:
        stored = Path(folder) / "function"  # what `serialize` gives is not what `load` reads
        for each in model.functions:
            _built(casadi, each).save(str(stored))
            made[PurePath(f"{model.prefix}_{each.name}.casadi")] = stored.read_text(encoding="ascii")
    return made


def _built(casadi: Any, function: Function) -> Any:
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
        "abs": casadi.fabs,
        "sign": casadi.sign,
        "select": lambda condition, yes, no: casadi.if_else(condition >= 0, yes, no),
    }


def _casadi() -> Any:
    try:
        return import_module("casadi")
    except ImportError:
        raise MissingExtra(
            "CasADi is not installed", where="export", advice="Install it: pip install 'armdyn[casadi]'"
        ) from None
