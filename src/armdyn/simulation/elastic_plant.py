"""Arms with elastic joints: positions of links and motors are separate coordinates, with springs between. Khalil (7.35)

The control law sees the motor side, where most arms have their sensors.
"""

from __future__ import annotations

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.graph import trace
from armdyn.kernels import build
from armdyn.mechanics import elastic
from armdyn.typing import Array


class ElasticPlant:
    """Compiled forward dynamics of a robot with elastic joints, x = (q, theta)."""

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
        """Initial x and xd: links at q, springs in balance with gravity."""
        return np.concatenate([q, q + self.gravity(q) / self.stiffness]), np.concatenate([qd, qd])

    def seen(self, x: Array) -> Array:
        """(n,) motor side of x or xd."""
        return x[self.n :]

    def forward_dynamics(self, x: Array, xd: Array, tau: Array) -> Array:
        n = self.n
        both: Array = self.kernel(x[:n], xd[:n], x[n:], xd[n:], tau)
        return both.ravel()
