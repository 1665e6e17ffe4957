"""Mistakes in the use of an engine: torques by Pinocchio from a robot's URDF file, as a function of wrong arrays.

Each makes a function tau(q, qd, qdd) that has one mistake; the arrays are those of armdyn otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.robot import Robot

Rng = np.random.Generator
Torques = Callable[[Any, Any, Any], Any]
ENGINE_FAULTS: dict[str, Callable[[Rng, Engine], Torques]] = {}


class Engine:
    """Pinocchio's terms of the equations of motion in armdyn's arrays; a free base is the first joint."""

    def __init__(self, robot: Robot, urdf: Path, free: bool = False) -> None:
        import pinocchio as pin

        self.pin, self.free, self.robot = pin, free, robot
        self.model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(
            str(urdf))  # fmt: skip
        self.data = self.model.createData()
        names = [joint.name for joint in robot.joints if joint.compound is None]
        first = 6 if free else 0
        self.velocities = [*range(first), *(self.model.joints[self.model.getJointId(name)].idx_v for name in names)]
        self.names = names

    def q(self, q: Any) -> Any:
        """Pinocchio's configuration: quaternions w last, (cos, sin) of continuous joints."""
        own = self.pin.neutral(self.model)
        at = 0
        if self.free:
            own[:7] = [*q[:3], *q[4:7], q[3]]
            at = 7
        for k, name in enumerate(self.names):
            joint = self.model.joints[self.model.getJointId(name)]
            x = float(q[at + k])
            own[joint.idx_q : joint.idx_q + joint.nq] = x if joint.nq == 1 else (np.cos(x), np.sin(x))
        return own

    def torques(self, q: Any, qd: Any, qdd: Any) -> Any:
        v, a = np.empty((2, self.model.nv))
        v[self.velocities], a[self.velocities] = qd, qdd
        return self.pin.rnea(self.model, self.data, self.q(q), v, a)[self.velocities]

    def gravity(self, q: Any) -> Any:
        return self.pin.computeGeneralizedGravity(self.model, self.data, self.q(q))[self.velocities]

    def mass_matrix(self, q: Any) -> Any:
        M = np.triu(self.pin.crba(self.model, self.data, self.q(q)))
        M = M + np.triu(M, 1).T
        return M[np.ix_(self.velocities, self.velocities)]


def engine_fault(kind: str) -> Callable[[Callable[[Rng, Engine], Torques]], Callable[[Rng, Engine], Torques]]:
    def enter(make: Callable[[Rng, Engine], Torques]) -> Callable[[Rng, Engine], Torques]:
        ENGINE_FAULTS[kind] = make
        return make

    return enter


@engine_fault("gravity_compensated")
def without_gravity(rng: Rng, engine: Engine) -> Torques:
    return lambda q, qd, qdd: engine.torques(q, qd, qdd) - engine.gravity(q)


@engine_fault("missing_coriolis")
def without_coriolis(rng: Rng, engine: Engine) -> Torques:
    return lambda q, qd, qdd: engine.mass_matrix(q) @ qdd + engine.gravity(q)


@engine_fault("half_mass_matrix")
def half(rng: Rng, engine: Engine) -> Torques:
    part = np.triu if rng.random() < 0.5 else np.tril

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        return part(engine.mass_matrix(q)) @ qdd + engine.torques(q, qd, 0 * qdd)

    return torques


@engine_fault("joint_order")
def other_order(rng: Rng, engine: Engine) -> Torques:
    """The arrays have two joints exchanged, or all in reverse."""
    n = len(engine.velocities)
    order = np.arange(n)
    if rng.random() < 0.5:
        order = order[::-1]
    else:
        i, j = rng.choice(n, 2, replace=False)
        order[[i, j]] = j, i
    return lambda q, qd, qdd: engine.torques(q[order], qd[order], qdd[order])[order]


@engine_fault("units_angle")
def degrees(rng: Rng, engine: Engine) -> Torques:
    """The engine takes the numbers as degrees."""
    return lambda q, qd, qdd: engine.torques(np.radians(q), np.radians(qd), np.radians(qdd))


@engine_fault("joint_sign")
def other_sign(rng: Rng, engine: Engine) -> Torques:
    sign = np.ones(len(engine.velocities))
    sign[rng.integers(len(sign))] = -1
    return lambda q, qd, qdd: sign * engine.torques(sign * q, sign * qd, sign * qdd)


FREE_BASE = ("velocity_frame", "quaternion_order")


@engine_fault("velocity_frame")
def world_velocity(rng: Rng, engine: Engine) -> Torques:
    """Linear velocity and acceleration of the free base along world axes, as MuJoCo has them, and so its force."""

    def torques(q: Any, qd: Any, qdd: Any) -> Any:
        w, x, y, z = q[3:7]
        R = engine.pin.Quaternion(w, x, y, z).toRotationMatrix()
        v, a = R.T @ qd[:3], R.T @ qdd[:3]
        own = engine.torques(q, np.concatenate([v, qd[3:]]), np.concatenate([a - np.cross(qd[3:6], v), qdd[3:]]))
        return np.concatenate([R @ own[:3], own[3:]])

    return torques


@engine_fault("quaternion_order")
def quaternion_last(rng: Rng, engine: Engine) -> Torques:
    """The engine takes the quaternion with w last."""
    return lambda q, qd, qdd: engine.torques(q[[0, 1, 2, 6, 3, 4, 5, *range(7, len(q))]], qd, qdd)
