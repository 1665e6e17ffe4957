"""Robotics Toolbox for Python: a `DHRobot` of modified Denavit-Hartenberg links, whose `rne` is written in C.

It takes one chain, here of revolute joints. For prismatic joints described this way its torques differ from those of
Pinocchio, MuJoCo and armdyn; the cause is unknown, so they are left out. Accelerations and mass matrices come from
repeated calls of `rne`; there are no derivatives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from armdyn.errors import NotApplicable
from armdyn.mechanics import newton_euler
from armdyn.robot import Robot
from armdyn.robot.reframing import reframed
from armdyn.speed.calls import Call, Inputs, imported, plain
from armdyn.speed.sample_robots import armature, home

ROUNDING = 1e-12
METHODS = {"inverse_dynamics": "rne", "forward_dynamics": "accel", "mass_matrix": "inertia"}


MOST_JOINTS = 10


class ToolboxEngine:
    """A robot as a `roboticstoolbox.DHRobot`."""

    def __init__(self, robot: Robot) -> None:
        toolbox = imported("roboticstoolbox", "Robotics Toolbox", "roboticstoolbox-python")
        if robot.n > MOST_JOINTS:
            raise NotApplicable("long chains are not compared with Robotics Toolbox", where=f"robot {robot.name!r}")
        if any(link.parent != link.index - 1 for link in robot.links):
            raise NotApplicable("Robotics Toolbox takes one chain without branches", where=f"robot {robot.name!r}")
        if not all(link.revolute for link in robot.links):
            raise NotApplicable(
                "prismatic joints are not compared with Robotics Toolbox", where=f"robot {robot.name!r}"
            )
        self.robot = _upright(toolbox, reframed(robot))

    def single(self, function: str, inputs: Inputs) -> dict[str, Call]:
        if function not in METHODS:
            return {}
        name = METHODS[function]
        return {"call": Call(f"DHRobot.{name}", getattr(self.robot, name), inputs, plain)}

    def batch(self, function: str, inputs: Inputs) -> dict[str, Call]:
        if function not in METHODS:
            return {}
        name = METHODS[function]
        call = getattr(self.robot, name)
        return {"batch": Call(f"DHRobot.{name}, rows", call, inputs, plain, samples=len(inputs[0]))}


def _upright(toolbox: Any, robot: Robot) -> Any:
    """The model with our direction of gravity; versions differ in its sign."""
    q = np.linspace(0.3, 1.7, robot.n)
    ours = np.asarray(newton_euler.gravity(robot, q))
    models = [_model(toolbox, robot, sign) for sign in (1.0, -1.0)]
    return min(models, key=lambda model: float(np.abs(model.gravload(q) - ours).max()))


def _model(toolbox: Any, robot: Robot, sign: float) -> Any:
    links = []
    ground = np.eye(3)
    for link, added in zip(robot.links, armature(robot), strict=True):
        rotation, position = home(link)
        if link.index == 0:  # the base position changes no torque, its rotation only rotates gravity
            ground, rotation, position = rotation, np.eye(3), np.zeros(3)
        alpha = math.atan2(-rotation[1, 2], rotation[2, 2])
        theta = math.atan2(-rotation[0, 1], rotation[0, 0])
        d = position @ rotation[:, 2]
        if abs(rotation[0, 2]) + abs(position - (position[0], *(d * rotation[1:, 2]))).max() > ROUNDING:
            raise NotApplicable("no modified Denavit-Hartenberg table", where=f"link {link.name!r}")
        body = link.inertia.about_com()
        inertial = {
            "m": float(body.mass),
            "r": np.asarray(body.com.array(), float),
            "I": np.asarray(body.tensor.array(), float),
            "Jm": added,
            "G": 1.0,
        }
        links.append(toolbox.RevoluteMDH(d=d, a=position[0], alpha=alpha, offset=theta, **inertial))
    gravity = sign * ground.T @ np.asarray(robot.gravity.array(), float)
    return toolbox.DHRobot(links, name="robot", gravity=gravity)
