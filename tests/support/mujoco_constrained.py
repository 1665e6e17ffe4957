"""MuJoCo's accelerations under equality constraints, made hard: the force of its soft constraints is fed back."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from armdyn.robot import Robot

ROUNDS = 200
"""Times that the force is fed back at most; each round leaves a part of the error of the last."""


class Constrained:
    """An MJCF text in MuJoCo, without contacts, limits and dry friction."""

    def __init__(self, text: str, robot: Robot) -> None:
        self.model = mujoco.MjModel.from_xml_string(text)
        flags = mujoco.mjtDisableBit
        self.model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_FRICTIONLOSS
        self.model.opt.tolerance, self.model.opt.iterations = 0.0, 200
        self.model.eq_solimp[:, :2] = 0.9999
        self.data = mujoco.MjData(self.model)
        self.order = [self.model.joint(joint.name).qposadr[0] for joint in robot.opened.joints]
        assert self.model.nv == self.model.nq >= len(self.order)

    def accelerations(self, q: Any, qd: Any, tau: Any) -> np.ndarray[Any, Any]:
        """Of all joints of the opened tree, under torques on them; joints that only MuJoCo has stay where they are."""
        model, data, order = self.model, self.data, self.order
        data.qpos[order], data.qvel[order] = q, qd
        data.qfrc_applied[:] = 0
        data.qfrc_applied[order] = tau
        for _ in range(ROUNDS):
            mujoco.mj_forward(model, data)
            data.qfrc_applied += data.qfrc_constraint
            if np.abs(data.qfrc_constraint).max() < 1e-14 * np.abs(data.qfrc_applied).max():
                break
        return np.array(data.qacc[order])
