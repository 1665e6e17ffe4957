"""MuJoCo's model of an arm with elastic joints: each joint is two hinges on one axis, the motor and then the spring."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.robot import Robot


class ElasticArm:
    """A robot whose joints are all revolute and elastic, with reflected rotors, as an engine simulates it.

    The motor's hinge has no mass but armature; the spring's hinge carries the link, with stiffness and damping.
    """

    def __init__(self, robot: Robot, timestep: float = 1e-3) -> None:
        self.mujoco = mujoco = pytest.importorskip("mujoco")
        self.n = robot.n
        root = mujoco.MjSpec()
        root.option.gravity = np.asarray(robot.gravity.array(), float)
        root.option.timestep, root.option.integrator = timestep, mujoco.mjtIntegrator.mjINT_RK4
        bodies = {-1: root.worldbody}
        for link, joint in zip(robot.links, robot.joints, strict=True):
            assert link.revolute and joint.elastic is not None
            quat = np.zeros(4)
            mujoco.mju_mat2Quat(quat, np.asarray(link.placement.R.array(), float).flatten())
            place = np.asarray(link.placement.p.array(), float)
            body = bodies[link.parent].add_body(name=link.name, pos=place, quat=quat)
            armature = float(joint.rotor.inertia) * float(joint.rotor.ratio) ** 2
            body.add_joint(name=f"motor {link.name}", axis=[0, 0, 1], armature=armature)
            spring = joint.elastic
            body.add_joint(name=link.name, axis=[0, 0, 1], stiffness=spring.stiffness, damping=spring.damping)
            central = link.inertia.about_com()
            tensor = np.asarray(central.tensor.array(), float)
            body.mass, body.explicitinertial = float(central.mass), True
            body.ipos = np.asarray(central.com.array(), float)
            body.fullinertia = [tensor[0, 0], tensor[1, 1], tensor[2, 2], tensor[0, 1], tensor[0, 2], tensor[1, 2]]
            bodies[link.index] = body
        self.model = root.compile()
        self.data = mujoco.MjData(self.model)
        self.offsets = np.array([float(link.offset) for link in robot.links])
        self.motor = np.array([self.model.joint(f"motor {link.name}").dofadr[0] for link in robot.links])
        self.spring = np.array([self.model.joint(link.name).dofadr[0] for link in robot.links])

    def set_state(self, x: np.ndarray, xd: np.ndarray) -> None:
        """x = (q, theta) and its rates."""
        (q, theta), (qd, thetad) = np.split(x, 2), np.split(xd, 2)
        self.data.qpos[self.motor], self.data.qpos[self.spring] = theta + self.offsets, q - theta
        self.data.qvel[self.motor], self.data.qvel[self.spring] = thetad, qd - thetad

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """(x, xd)."""
        theta, thetad = self.data.qpos[self.motor] - self.offsets, self.data.qvel[self.motor]
        q, qd = theta + self.data.qpos[self.spring], thetad + self.data.qvel[self.spring]
        return np.concatenate([q, theta]), np.concatenate([qd, thetad])

    def accelerations(self, x: np.ndarray, xd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """xdd under the motors' torques."""
        self.set_state(x, xd)
        self.data.qfrc_applied[self.motor] = tau
        self.mujoco.mj_forward(self.model, self.data)
        thetadd = self.data.qacc[self.motor]
        return np.concatenate([thetadd + self.data.qacc[self.spring], thetadd])

    def step(self, tau: np.ndarray) -> None:
        """One time step of RK4 under held torques."""
        self.data.qfrc_applied[self.motor] = tau
        self.mujoco.mj_step(self.model, self.data)
