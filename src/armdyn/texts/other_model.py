"""The model of a control law in experiments: equations that the simulated arm does not use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.dynamics import compile as compiled_dynamics
from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.mechanics import kane
from armdyn.robot.robot import Robot
from armdyn.typing import Array


class OtherModel:
    """The functions of Dynamics that laws use, from given equations of motion as machine code.

    `simulate` moves an arm by composite or articulated bodies. A law that used the compiled model of the same arm would
    cancel it whatever it says; only a law with other equations shows that both describe the arm of the text.

    robot:    the arm.
    torques:  function (q, qd, qdd) -> n torques without friction, arithmetic over any scalar (default: Kane's).
    viscous:  coefficients of viscous friction, (n,) or one number (default: none).
    """

    def __init__(self, robot: Robot, torques: Callable[..., Any] | None = None, viscous: Any = 0.0) -> None:
        self.robot, self.n, self.viscous = robot, robot.n, np.asarray(viscous, dtype=float)
        bare = robot.without("friction")
        formula = torques or (lambda q, qd, qdd: kane.inverse_dynamics.formula(bare, q, qd, qdd))
        self.torques: Any = build(trace(formula, dict.fromkeys(("q", "qd", "qdd"), robot.n)), f"other_{robot.name}")
        self.still = np.zeros(robot.n)
        compiled = compiled_dynamics(robot)
        self.pose, self.jacobian, self.jacobian_dot_qd = compiled.pose, compiled.jacobian, compiled.jacobian_dot_qd

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        return np.asarray(self.torques(q, qd, qdd) + self.friction(qd))

    def gravity(self, q: Array) -> Array:
        return np.asarray(self.torques(q, self.still, self.still))

    def coriolis(self, q: Array, qd: Array) -> Array:
        return np.asarray(self.torques(q, qd, self.still) - self.gravity(q))

    def mass_matrix(self, q: Array) -> Array:
        columns = self.torques(q[..., None, :], self.still, np.eye(self.n)) - self.gravity(q)[..., None, :]
        return np.swapaxes(columns, -1, -2)

    def friction(self, qd: Array) -> Array:
        return np.asarray(self.viscous * qd)
