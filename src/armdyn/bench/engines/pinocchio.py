"""Pinocchio: C++ algorithms on a model of joints about z, called through its Python bindings.

Joints are `JointModelRZ` and `JointModelPZ`, its fastest ones. Reflected rotor inertias are its armature. Batches are
`rneaInParallel` and `abaInParallel` with one thread and a pool of one; the other functions have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from armdyn.bench.calls import Call, Inputs, imported
from armdyn.bench.sample_robots import armature, home
from armdyn.robot import Robot
from armdyn.robot.links import WORLD, Link
from armdyn.typing import Array


class PinocchioEngine:
    """A robot as a `pinocchio.Model`."""

    def __init__(self, robot: Robot) -> None:
        pin = self.pin = imported("pinocchio", "Pinocchio", "pin")
        self.model = _model(pin, robot)
        self.data = self.model.createData()
        joints = [self.model.joints[self.model.getJointId(link.name)] for link in robot.links]
        self.order = np.array([joint.idx_v for joint in joints])

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        name = {"inverse_dynamics": "rnea", "forward_dynamics": "aba", "mass_matrix": "crba",
                "inverse_dynamics_derivatives": "computeRNEADerivatives"}[function]  # fmt: skip
        arguments = (self.model, self.data, *(self._theirs(values) for values in inputs))
        read = {"mass_matrix": self._matrix, "inverse_dynamics_derivatives": self._matrices}.get(function, self._vector)
        return {"call": Call(f"pin.{name}", getattr(self.pin, name), arguments, read)}

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        name = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}.get(function)
        if name is None or not hasattr(self.pin, name) or len(self.order) == 1:
            return {}  # it takes a matrix of one row for a column and overwrites memory
        columns = [np.asfortranarray(self._theirs(values).T) for values in inputs]
        result = np.ones_like(columns[0])
        pool = self.pin.ModelPool(self.model, 1)

        def read(_: Any) -> Array:
            return self._vector(result.T)

        arguments = (1, pool, *columns, result)
        return {"batch": Call(f"pin.{name}", getattr(self.pin, name), arguments, read, samples=len(inputs[0]))}

    def _theirs(self, values: Array) -> Array:
        moved = np.empty_like(values)
        moved[..., self.order] = values
        return moved

    def _vector(self, value: Any) -> Array:
        return np.atleast_1d(np.asarray(value, dtype=float))[..., self.order]

    def _matrix(self, value: Any) -> Array:
        n = len(self.order)
        upper = np.triu(np.reshape(np.asarray(value, dtype=float), (n, n)))
        full: Array = (upper + np.triu(upper, 1).T)[np.ix_(self.order, self.order)]
        return full

    def _matrices(self, value: Any) -> Array:
        n = len(self.order)
        return np.stack([np.reshape(part, (n, n))[np.ix_(self.order, self.order)] for part in value[:2]])


def _model(pin: Any, robot: Robot) -> Any:
    model = pin.Model()
    model.gravity.linear = np.asarray(robot.gravity.array(), float)
    ids: dict[int, int] = {WORLD: 0}
    for link in _depth_first(robot):
        joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
        rotation, position = home(link)
        ids[link.index] = model.addJoint(ids[link.parent], joint, pin.SE3(rotation, position), link.name)
        body = link.inertia.about_com()
        inertia = pin.Inertia(float(body.mass), np.asarray(body.com.array(), float),
                              np.asarray(body.tensor.array(), float))  # fmt: skip
        model.appendBodyToJoint(ids[link.index], inertia, pin.SE3.Identity())
    added = np.zeros(robot.n)
    for link, value in zip(robot.links, armature(robot), strict=True):
        added[model.joints[ids[link.index]].idx_v] = value
    model.armature = added
    return model


def _depth_first(robot: Robot) -> Iterator[Link]:
    """Links in depth-first order, on which its algorithms rely."""
    children: dict[int, list[Link]] = {}
    for link in robot.links:
        children.setdefault(link.parent, []).append(link)
    waiting = children.get(WORLD, [])[::-1]
    while waiting:
        link = waiting.pop()
        yield link
        waiting += children.get(link.index, [])[::-1]
