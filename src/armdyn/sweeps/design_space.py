"""What varies in a sweep, as named parameters of the robot, and the dynamics of all its variants as one set of kernels.

Parameters are inputs of the compiled functions, so that a variant needs no compilation, and derivatives with respect
to them come from the same graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from armdyn.algebra import ZERO, CentralInertia, Mat3
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.dynamics.programs import program
from armdyn.errors import ArmdynError, unknown_name
from armdyn.graph import Graph, Node, derivative, substitute, symbol
from armdyn.graph.structure import leaves
from armdyn.kernels import Program
from armdyn.parameters import parameter_names, standard_parameters, with_standard_parameters
from armdyn.robot import Robot
from armdyn.robot.edit import add_payload
from armdyn.robot.record import robot_from_record
from armdyn.robot.record_writer import record_from_robot
from armdyn.typing import Array

PAYLOAD = "payload"
"""Name of the mass of a load at the tool, kg."""


def parametrised(robot: Robot, names: Sequence[str]) -> Robot:
    """The robot with what varies in named parameters, in the order of `names`, and with no other ones.

    names: parameters of the robot's file; JOINT.KEY of the file, such as elbow.a or elbow.rotor.ratio; standard
           parameters (M3, ZZ2, Fv1, ...); "payload".
    """
    symbols = {name: name if name.isidentifier() else f"parameter{k + 1}" for k, name in enumerate(names)}
    own = [name for name in names if name in robot.parameters]
    values = {name: float(robot.parameters[name]) for name in own}
    standard = [name for name in names if name not in own and name in parameter_names(robot)]
    keys = [name for name in names if "." in name and name not in own]
    for name in names:
        if name not in (*own, *standard, *keys, PAYLOAD):
            known = (*robot.parameters, PAYLOAD, *_places(robot), *parameter_names(robot))
            raise unknown_name("parameter", name, known, where=f"sweep of {robot.name!r}")
    if keys:
        record, numbers = record_from_robot(robot), record_from_robot(replace(robot, expressions=None, parameters={}))
        for name in keys:
            values[name] = float(_replaced(numbers, name, 0.0, robot))
            _replaced(record, name, symbols[name], robot)
        record["parameters"] = {**record.get("parameters", {}), **{symbols[name]: values[name] for name in keys}}
        robot = robot_from_record(record)
    robot = _without_other_parameters(robot, [symbols[name] for name in (*own, *keys)])
    if standard:
        now = standard_parameters(robot).as_dict()
        values |= {name: float(now[name]) for name in standard}
        robot = with_standard_parameters(robot.symbolic, {name: symbol(name, kind="parameter") for name in standard})
    if PAYLOAD in names and PAYLOAD not in own:
        values[PAYLOAD] = 0.0
        load = CentralInertia(symbol(PAYLOAD, kind="parameter"), ZERO, Mat3.symmetric(0, 0, 0, 0, 0, 0))
        robot = add_payload(robot.symbolic, load, None)
    return replace(robot.symbolic, parameters={symbols[name]: values[name] for name in names}).bound()


def _without_other_parameters(robot: Robot, kept: Sequence[str]) -> Robot:
    """The robot with numbers, or expressions in the parameters that are kept, for all other parameters."""
    others: dict[Any, Any] = {}
    for name, value in robot.symbolic.parameters.items():  # a parameter may use those above it
        if name not in kept:
            others[name] = substitute(value, others) if isinstance(value, Node) else value
    symbolic = robot.symbolic.mapped(lambda x: substitute(x, others) if isinstance(x, Node) else x)
    return replace(symbolic, parameters={name: robot.parameters[name] for name in kept}).bound()


def _replaced(record: dict[str, Any], name: str, value: Any, robot: Robot) -> Any:
    """Put a value at JOINT.KEY of a record; return what stood there."""
    joint, *path = name.split(".")
    place: Any = next((entry for entry in record["joint"] if entry["name"] == joint), None)
    for key in path[:-1]:
        place = place.get(key) if isinstance(place, dict) else None
    key = path[-1]
    if isinstance(place, list) and key.isdigit() and int(key) < len(place):
        old, place[int(key)] = place[int(key)], value
    elif isinstance(place, dict) and isinstance(place.get(key), int | float | str):
        old, place[key] = place[key], value
    else:
        known = (*robot.parameters, PAYLOAD, *_places(robot))
        raise unknown_name("parameter", name, known, where=f"sweep of {robot.name!r}")
    try:
        float(old) if not isinstance(value, str) else None
    except ValueError:
        raise ArmdynError(f"{name} = {old!r} is not a number", where=f"sweep of {robot.name!r}") from None
    return old


def _places(robot: Robot) -> list[str]:
    """JOINT.KEY of every number of the robot's file."""
    found: list[str] = []

    def walk(place: Any, path: str) -> None:
        for key, value in place.items() if isinstance(place, dict) else enumerate(place):
            if isinstance(value, dict | list):
                walk(value, f"{path}.{key}")
            elif isinstance(value, int | float) and not isinstance(value, bool):
                found.append(f"{path}.{key}")

    for entry in record_from_robot(replace(robot, expressions=None, parameters={}))["joint"]:
        walk(entry, entry["name"])
    return found


class Family:
    """The dynamics of a robot whose parameters are inputs; functions are compiled when they are first used.

    robot: to be varied. names: what varies, see `parametrised`.
    """

    def __init__(self, robot: Robot, names: Sequence[str]) -> None:
        self.names, self.robot = tuple(names), parametrised(robot, names)
        self._dyn = compiled(self.robot)
        self._known: dict[tuple[str, bool], Program] = {}

    @property
    def compiles(self) -> bool:
        """Whether one kernel serves all variants; closed chains and elastic joints are compiled one by one."""
        return not (self.robot.constrained or self._dyn.coordinates.doubled)

    def kernel(self, name: str, *, slopes: bool = False) -> Program:
        """A function of Dynamics with the parameters (k,) as its last argument, or its derivative by them.

        slopes: entries of the result, row by row, by parameters: (entries, k).
        """
        if (name, slopes) not in self._known:
            graph = self._dyn.graph(name, parameters=True)
            inputs = tuple(symbol(f"parameter_{k + 1}") for k in range(len(self.names)))
            outputs = substitute(dict(graph.outputs), dict(zip(self.robot.parameters, inputs, strict=True)))
            if slopes:
                outputs = {"slopes": derivative(tuple(leaves(tuple(outputs.values()))), inputs)}
            made = Graph({**graph.inputs, "parameters": inputs}, outputs)
            self._known[name, slopes] = program(made, f"{name} of variants", cache=True)
        return self._known[name, slopes]

    def variant(self, values: Array) -> tuple[Robot, Any]:
        """The robot with these values, and its dynamics."""
        robot = self.robot.with_parameters(**dict(zip(self.robot.parameters, map(float, values), strict=True)))
        return robot, VariantDynamics(self, robot, values) if self.compiles else compiled(robot)


class VariantDynamics:
    """The functions of `Dynamics` that measures use, for one variant of a family."""

    def __init__(self, family: Family, robot: Robot, values: Array) -> None:
        self.family, self.robot, self.n = family, robot, robot.n
        self._values = values

    def __getattr__(self, name: str) -> Callable[..., Any]:
        kernel = self.family.kernel(name)
        return partial(_called, kernel, self._values)


def _called(kernel: Program, values: Array, *state: Any) -> Any:
    return kernel(*state, values)


def slopes_of(dyn: Dynamics | VariantDynamics, name: str, *state: Any) -> Array:
    """Derivative of a function of a variant by the parameters, (..., entries of the result, k)."""
    assert isinstance(dyn, VariantDynamics), "only variants of a family have slopes"
    found: Array = dyn.family.kernel(name, slopes=True)(*state, dyn._values)
    return found


def varied(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The robot with other values of what varies, by the names that `sweep` takes; see `parametrised`."""
    return Family(robot, tuple(values)).variant(np.array(list(values.values()), dtype=float))[0]
