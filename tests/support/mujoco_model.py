"""The same MJCF text read by MuJoCo: frames, mass matrix, bias torques, damping."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from armdyn.mechanics import composite_body, kinematics, newton_euler
from armdyn.robot import Robot

TOLERANCE = 1e-10


def states(n: int, count: int = 5) -> np.ndarray[Any, Any]:
    """Positions, velocities, accelerations."""
    return np.random.default_rng(n).uniform(-1, 1, (count, 3, n))


def assert_same_dynamics(text: str, robot: Robot, tolerance: float = TOLERANCE, count: int = 5) -> None:
    """Mass matrix with armature, bias without friction, viscous friction, and the poses of all bodies.

    The text has no springs and no gravity compensation: damping is then all that is passive.
    """
    assert_same_model(mujoco.MjModel.from_xml_string(text), robot, tolerance, count)


def assert_same_model(model: Any, robot: Robot, tolerance: float = TOLERANCE, count: int = 5) -> None:
    """The same for a model that MuJoCo has compiled."""
    data = mujoco.MjData(model)
    order = [model.joint(joint.name).dofadr[0] for joint in robot.joints]
    assert model.nv == robot.n
    bare = robot.without("friction")
    viscous = np.array([joint.friction.viscous if joint.friction else 0 for joint in robot.joints], dtype=float)
    for q, qd, _ in states(robot.n, count):
        data.qpos[order], data.qvel[order] = q, qd
        mujoco.mj_forward(model, data)
        M = np.zeros((model.nv, model.nv))
        for row, unit in zip(M, np.eye(model.nv), strict=True):
            mujoco.mj_mulM(model, data, row, unit)
        scale = 1 + np.abs(M).max()
        np.testing.assert_allclose(
            composite_body.mass_matrix(robot, q), M[np.ix_(order, order)], atol=tolerance * scale
        )
        bias = newton_euler.inverse_dynamics(bare, q, qd, np.zeros(robot.n))
        np.testing.assert_allclose(bias, data.qfrc_bias[order], atol=tolerance * (1 + np.abs(bias).max()))
        np.testing.assert_allclose(viscous * qd, -data.qfrc_passive[order], atol=tolerance * (1 + viscous.max()))
        for name in (joint.body.name for joint in robot.tree):
            if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name) < 0:
                continue  # a frame on an axis, or a site
            T = kinematics.pose(robot, q, frame=name)
            np.testing.assert_allclose(T[:3, 3], data.body(name).xpos, atol=tolerance)
            np.testing.assert_allclose(T[:3, :3], data.body(name).xmat.reshape(3, 3), atol=tolerance)
