"""Arms and states that the tests of analysis share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import armdyn
from support import pinocchio_model as engine

Array = np.ndarray[Any, Any]
TASKS = {
    "planar2r": "x y",
    "planar3r": "x y",
    "puma560": "x y z rx ry rz",
    "panda": "x y z rx ry rz",
    "random 6": "x y z rx ry rz",
    "random 8": "x y z rx ry rz",
    "random 5": "x z ry",
}
"""Square and redundant tasks, planar and spatial, revolute and prismatic joints, with rotors (the random arms)."""


@lru_cache
def compiled(name: str) -> armdyn.Dynamics:
    kind, _, n = name.partition(" ")
    robot = armdyn.random_robot(10 + int(n), int(n), rotors=True, friction=True) if n else armdyn.load(kind)
    return armdyn.compile(robot)


def states(name: str, count: int = 4, seed: int = 0) -> tuple[Array, Array]:
    """Random positions away from stretched arms, and velocities; (count, n) each."""
    random = np.random.default_rng(seed)
    n = compiled(name).n
    return random.uniform(0.3, 1.4, (count, n)), random.uniform(-1, 1, (count, n))


def foreign(name: str, q: Array, qd: Array) -> tuple[Array, Array, Array, Array, Array]:
    """M, C qd, g, J, Jdot qd of one state by Pinocchio, of the arm without rotors and friction."""
    robot = compiled(name).robot.without("rotors", "friction")
    still = np.zeros_like(q)
    g = engine.inverse_dynamics(robot, q, still, still)
    c = engine.inverse_dynamics(robot, q, qd, still) - g
    return engine.mass_matrix(robot, q), c, g, engine.jacobian(robot, q), jacobian_dot_qd(robot, q, qd)


def jacobian_dot_qd(robot: armdyn.Robot, q: Array, qd: Array) -> Array:
    pin = engine.pin
    model = engine.build(robot)
    data, at = model.createData(), engine.order(model, robot)
    x, xd = np.zeros(robot.n), np.zeros(robot.n)
    x[at], xd[at] = q, qd
    pin.forwardKinematics(model, data, x, xd, np.zeros(robot.n))
    pin.updateFramePlacements(model, data)
    frame = model.getFrameId("tool")
    motion = pin.getFrameClassicalAcceleration(model, data, frame, pin.LOCAL_WORLD_ALIGNED)
    return np.asarray(motion.vector)
