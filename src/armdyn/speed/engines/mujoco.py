"""MuJoCo: `mj_inverse` and `mj_forward` on a model without shapes, contacts and constraints.

The state is written into its data before the clock starts; only the call is timed. Its derivatives are finite
differences, which are not comparable; it has no batch call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.errors import NotApplicable
from armdyn.robot import Robot
from armdyn.robot.links import WORLD
from armdyn.speed.calls import Call, Inputs, imported
from armdyn.speed.sample_robots import armature, home
from armdyn.typing import Array


class MujocoEngine:
    """A robot as an `mjModel`."""

    def __init__(self, robot: Robot) -> None:
        self.mujoco = imported("mujoco", "MuJoCo", "mujoco")
        self.robot = robot
        if robot.compounds:
            raise NotApplicable("free joints are not compared with MuJoCo", where=f"robot {robot.name!r}")
        try:
            self.model = _model(self.mujoco, robot)
        except ValueError as error:
            reason = " ".join(str(error).split())
            raise NotApplicable(f"MuJoCo rejects the robot: {reason}", where=f"robot {robot.name!r}") from error
        self.order = np.array([self.model.joint(link.name).dofadr[0] for link in robot.links])

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        name = {"inverse_dynamics": "mj_inverse", "forward_dynamics": "mj_forward"}.get(function)
        if name is None:
            return {}
        data = self.mujoco.MjData(self.model)
        inverse = function == "inverse_dynamics"
        for field, values in zip(("qpos", "qvel", "qacc" if inverse else "qfrc_applied"), inputs, strict=True):
            getattr(data, field)[self.order] = values
        result = data.qfrc_inverse if inverse else data.qacc

        def read(_: Any) -> Array:
            return np.array(result[self.order])

        return {"call": Call(f"mujoco.{name}", getattr(self.mujoco, name), (self.model, data), read)}

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        return {}


def _model(mujoco: Any, robot: Robot) -> Any:
    spec = mujoco.MjSpec()
    spec.option.gravity = np.asarray(robot.gravity.array(), float)
    for flag in ("CONSTRAINT", "CONTACT", "LIMIT", "FRICTIONLOSS", "EQUALITY"):
        spec.option.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    bodies: dict[int, Any] = {WORLD: spec.worldbody}
    for link, added in zip(robot.links, armature(robot), strict=True):
        rotation, position = home(link)
        turn = np.zeros(4)
        mujoco.mju_mat2Quat(turn, rotation.ravel())
        body = bodies[link.parent].add_body(name=f"{link.name} body", pos=position, quat=turn)
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.revolute else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=link.name, type=kind, axis=[0, 0, 1], armature=added)
        central = link.inertia.about_com()
        tensor = np.asarray(central.tensor.array(), float)
        body.mass, body.ipos = float(central.mass), np.asarray(central.com.array(), float)
        body.fullinertia = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        body.explicitinertial = True
        bodies[link.index] = body
    return spec.compile()
