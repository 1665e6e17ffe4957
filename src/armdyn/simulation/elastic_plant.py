"""Arms with elastic joints: coordinates are the links' positions and the motors', with springs between. Khalil (7.35)

The law sees the motors' side, where the sensors of most arms are.
"""

from __future__ import annotations

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.mechanics import elastic
from armdyn.typing import Array


class ElasticPlant:
    """The doubled model x = (q, theta) of a robot with elastic joints, as machine code."""

    def __init__(self, dyn: Dynamics) -> None:
        robot, n = dyn.robot, dyn.n
        elastic.coordinates(robot)  # an error if no joint is elastic
        formula = elastic.forward_dynamics.formula
        names = ("q", "qd", "theta", "thetad", "tau")
        graph = trace(lambda *values: formula(robot, *values), dict.fromkeys(names, n), fold_angles=False)
        self.kernel = build(graph, "elastic_forward_dynamics", cache=dyn.cache)
        self.n = n
        stiffness = [joint.elastic.stiffness if joint.elastic is not None else np.inf for joint in robot.joints]
        self.stiffness = np.array([float(k) for k in stiffness])
        self.gravity = dyn.gravity

    def start(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Links at q, motors where the springs bear gravity."""
        return np.concatenate([q, q + self.gravity(q) / self.stiffness]), np.concatenate([qd, qd])

    def seen(self, x: Array) -> Array:
        """The motors' side."""
        return x[self.n :]

    def forward_dynamics(self, x: Array, xd: Array, tau: Array) -> Array:
        n = self.n
        both: Array = self.kernel(x[:n], xd[:n], x[n:], xd[n:], tau)
        return both.ravel()
