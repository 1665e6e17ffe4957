"""Arms with elastic joints: which coordinates the actuators drive, and which the control law measures."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.typing import Array

Measure = Literal["motor", "link"]
MEASURES = ("motor", "link")


class PlantCoordinates(NamedTuple):
    """The coordinates x = (q, theta) of a plant, seen from its control law: n joints. Rigid arms have x = q.

    size:   number of coordinates.
    motors: (n,) places in x that the actuators drive.
    seen:   (n,) places in x that the sensors measure.
    """

    size: int
    motors: Array
    seen: Array

    @staticmethod
    def of(dyn: Dynamics, measure: Measure) -> PlantCoordinates:
        """The coordinates of a plant whose sensors are on its motors or on its links."""
        motors = np.array(dyn.coordinates.motors)
        return PlantCoordinates(dyn.n, motors, motors if measure == "motor" else np.arange(len(motors)))

    @property
    def rigid(self) -> bool:
        """Whether links and motors move as one."""
        return self.size == len(self.motors)

    def measured(self, x: Array) -> Array:
        """(n,) positions or velocities that the law gets; of numbers or symbols."""
        return x if self.rigid else x[self.seen]

    def driven(self, tau: Any) -> Array:
        """(size,) torques on the coordinates from (n,) torques of the actuators; of numbers or symbols."""
        if self.rigid:
            return np.asarray(tau)
        torques = np.zeros(self.size, dtype=np.asarray(tau).dtype)
        torques[self.motors] = tau
        return torques


def initial(dyn: Dynamics, q: Array, qd: Array) -> tuple[Array, Array]:
    """(x, xd) with the links at q, and the springs in balance with the weights: theta = q + g(q) / k."""
    where = dyn.coordinates
    if not where.doubled:
        return q, qd
    stiffness = [np.inf if joint.elastic is None else float(joint.elastic.stiffness) for joint in dyn.robot.joints]
    relaxed = np.array(where.joined(q, q), dtype=float)
    weights = (dyn.gravity(relaxed) + dyn.springs(relaxed))[: where.n]
    return np.array(where.joined(q, q + weights / stiffness)), np.array(where.joined(qd, qd))
