"""The model of a control law in experiments: equations that the simulated arm does not use."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from armdyn.control import ComputedTorque, Desired
from armdyn.control.computed_torque import PARTS
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.mechanics import kane
from armdyn.robot.robot import Robot
from armdyn.texts.item import Check, below, distance
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


def computed_torque_by_hand(dyn: Dynamics, other: OtherModel) -> Check:
    """Computed torque at a random state, in all of its forms, against its equations written out with another model.

        w = qdd_d + kd (qd_d - qd) + kp (q_d - q)  or  kp (q_d - q) - kd qd,   tau = M w + C qd + g + friction

    El Baji (41), Khalil (9.22), (9.24), (9.29), (9.31); each term of tau left out in turn.
    """
    rng, worst = np.random.default_rng(41), 0.0
    q, qd, *reference = rng.uniform(-1, 1, (5, other.n))
    kp, kd = rng.uniform(1, 9, (2, other.n))
    desired = Desired(*reference)
    accelerations = {
        "tracking": desired.qdd + kd * (desired.qd - qd) + kp * (desired.q - q),
        "position": kp * (desired.q - q) - kd * qd,
    }
    for (scheme, w), predictive in product(accelerations.items(), (False, True)):
        at, rate = (desired.q, desired.qd) if predictive else (q, qd)
        M = other.mass_matrix(at)
        terms = {"coriolis": other.coriolis(at, rate), "gravity": other.gravity(at), "friction": other.friction(rate)}
        terms["coupling"] = (M - np.diag(np.diag(M))) @ w
        whole = np.diag(M) * w + sum(terms.values())
        for part, through in product((None, *PARTS), ("newton_euler", "matrices")):
            form: dict[str, Any] = {"scheme": scheme, "predictive": predictive, "through": through}
            law = ComputedTorque(dyn, kp, kd, leave_out=() if part is None else (part,), **form)
            printed = whole if part is None else whole - terms[part]
            worst = max(worst, distance(law(0.0, q, qd, desired), printed))
    return below("the law at a random state against its equation, every form, with and without each term", worst, 1e-11)
