"""Pinocchio: C++ algorithms on a model of joints about z, called through its Python bindings.

Joints are `JointModelRZ` and `JointModelPZ`, its fastest ones. Reflected rotor inertias are its armature. Batches are
`rneaInParallel` and `abaInParallel` with one thread and a pool of one; the other functions have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from armdyn.dynamics.looped.robots import floats
from armdyn.errors import NotApplicable
from armdyn.kernels.looped.recursion import FREE
from armdyn.robot import Robot
from armdyn.robot.links import WORLD, Link
from armdyn.speed.calls import Call, Inputs, imported
from armdyn.speed.sample_robots import armature, home
from armdyn.typing import Array


class PinocchioEngine:
    """A robot as a `pinocchio.Model`."""

    def __init__(self, robot: Robot) -> None:
        pin = self.pin = imported("pinocchio", "Pinocchio", "pin")
        if robot.compounds and not floats(robot):
            raise NotApplicable("free or ball joints beside a free joint at the root")
        self.model = _model(pin, robot)
        self.data = self.model.createData()
        self.floating = bool(robot.compounds)
        first = FREE if robot.compounds else 0
        self.bodies = [self.model.getJointId(link.name) - 1 for link in robot.links[first:]]
        joints = [self.model.joints[self.model.getJointId(link.name)] for link in robot.links[first:]]
        self.order = np.array([*range(first), *(joint.idx_v for joint in joints)])
        base = [0, 1, 2, 6, 3, 4, 5] if first else []  # (qx, qy, qz, qw) in theirs
        self.places = np.array([*base, *(joint.idx_q for joint in joints)])

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        if self.floating and function in ("coriolis_matrix", "regressor"):
            return {}  # their Coriolis matrix of a free base is another one, their columns are others
        name = {
            "inverse_dynamics": "rnea",
            "forward_dynamics": "aba",
            "mass_matrix": "crba",
            "coriolis_matrix": "computeCoriolisMatrix",
            "regressor": "computeJointTorqueRegressor",
            "inverse_dynamics_derivatives": "computeRNEADerivatives",
        }[function]
        arguments = (self.model, self.data, *self.theirs(inputs))
        read = {
            "mass_matrix": self._matrix,
            "inverse_dynamics_derivatives": self._matrices,
            "coriolis_matrix": self._whole,
            "regressor": self._regressor,
        }.get(function, self._vector)
        return {"call": Call(f"pin.{name}", getattr(self.pin, name), arguments, read)}

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        name = {"inverse_dynamics": "rneaInParallel", "forward_dynamics": "abaInParallel"}.get(function)
        if name is None or not hasattr(self.pin, name) or len(self.order) == 1:
            return {}  # it takes a matrix of one row for a column and overwrites memory
        columns = [np.asfortranarray(values.T) for values in self.theirs(inputs)]
        result = np.ones_like(columns[-1])
        pool = self.pin.ModelPool(self.model, 1)

        def read(_: Any) -> Array:
            return self._vector(result.T)

        arguments = (1, pool, *columns, result)
        return {"batch": Call(f"pin.{name}", getattr(self.pin, name), arguments, read, samples=len(inputs[0]))}

    def theirs(self, inputs: Sequence[Array]) -> list[Array]:
        """Positions, then joint vectors, in their order."""
        moved = [np.empty_like(values) for values in inputs]
        for k, values in enumerate(inputs):
            moved[k][..., self.order if k else self.places] = values
        return moved

    def _vector(self, value: Any) -> Array:
        return np.atleast_1d(np.asarray(value, dtype=float))[..., self.order]

    def _matrix(self, value: Any) -> Array:
        n = len(self.order)
        upper = np.triu(np.reshape(np.asarray(value, dtype=float), (n, n)))
        full: Array = (upper + np.triu(upper, 1).T)[np.ix_(self.order, self.order)]
        return full

    def _whole(self, value: Any) -> Array:
        n = len(self.order)
        whole: Array = np.array(value, dtype=float).reshape(n, n)[np.ix_(self.order, self.order)]
        return whole

    def _regressor(self, value: Any) -> Array:
        """Their columns are m, m c, then XX XY YY XZ YZ ZZ; ours XX XY XZ YY YZ ZZ, m c, m."""
        n = len(self.order)
        theirs = np.array(value, dtype=float).reshape(n, n, 10)[np.ix_(self.order, self.bodies)]
        ours: Array = theirs[..., [4, 5, 7, 6, 8, 9, 1, 2, 3, 0]].reshape(n, 10 * n)
        return ours

    def _matrices(self, value: Any) -> Array:
        n = len(self.order)
        return np.stack([np.reshape(part, (n, n))[np.ix_(self.order, self.order)] for part in value[:2]])


def _model(pin: Any, robot: Robot) -> Any:
    model = pin.Model()
    model.gravity.linear = np.asarray(robot.gravity.array(), float)
    ids: dict[int, int] = {WORLD: 0}
    seen = pin.SE3.Identity()  # the last link of a free joint in the frame that the joint moves
    for link in _depth_first(robot):
        rotation, position = home(link)
        placement = pin.SE3(rotation, position)
        if robot.compounds and link.index < FREE:
            if link.compound is not None:
                inner = link.compound
                seen = pin.SE3(np.array(inner.R.array(), dtype=float), np.array(inner.p.array(), dtype=float))
                base = model.addJoint(0, pin.JointModelFreeFlyer(), placement * seen.inverse(), link.name)
            else:
                seen = seen * placement
            ids[link.index] = base
        else:
            joint = pin.JointModelRZ() if link.revolute else pin.JointModelPZ()
            before = seen if link.parent < FREE and robot.compounds else pin.SE3.Identity()
            ids[link.index] = model.addJoint(ids[link.parent], joint, before * placement, link.name)
        body = link.inertia.about_com()
        inertia = pin.Inertia(
            float(body.mass), np.asarray(body.com.array(), float), np.asarray(body.tensor.array(), float)
        )
        carried = robot.compounds and link.index < FREE
        model.appendBodyToJoint(ids[link.index], inertia, seen if carried else pin.SE3.Identity())
    added = np.zeros(robot.n)
    for link, value in zip(robot.links, armature(robot), strict=True):
        if value:
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
