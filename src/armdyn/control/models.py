"""Models for control laws that are not compiled: a formulation evaluated on numbers in every cycle."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.mechanics.actuators import friction_torques
from armdyn.mechanics.registry import formulation
from armdyn.mechanics.springs import spring_torques
from armdyn.robot import Robot
from armdyn.robot.features import TREE, takes
from armdyn.typing import Array


@takes(*TREE)
class Formulated:
    """The functions of Dynamics that laws use, computed by one formulation of mechanics in every call.

    This is the "fully numeric" model of El Baji sec. 5.3; the "symbolic" one is what `armdyn.compile` generates.

    >>> import armdyn
    >>> model = Formulated(armdyn.load("pendulum"), "bertrand_bruneau")
    >>> model.inverse_dynamics(np.zeros(1), np.zeros(1), np.zeros(1)).shape
    (1,)
    """

    def __init__(self, robot: Robot, name: str = "newton_euler") -> None:
        self.robot, self.n = robot, robot.n
        self.formulation = formulation(name)
        self.formulation.function("inverse_dynamics")  # raises UnknownName for those of forward dynamics alone

    def inverse_dynamics(self, q: Any, qd: Any, qdd: Any) -> Array:
        return np.asarray(self.formulation.function("inverse_dynamics")(self.robot, q, qd, qdd))

    def mass_matrix(self, q: Any) -> Array:
        return np.asarray(self.formulation.function("mass_matrix")(self.robot, q))

    def coriolis(self, q: Any, qd: Any) -> Array:
        return np.asarray(self.formulation.function("coriolis")(self.robot, q, qd))

    def coriolis_matrix(self, q: Any, qd: Any) -> Array:
        # h(v) = C(q, v) v is quadratic in v and C, of Christoffel symbols, is linear in it, so that
        # C(q, qd) v = (h(qd + v) - h(qd - v)) / 4: formulations that give no matrix give it this way.
        columns = [self.coriolis(q, qd + v) - self.coriolis(q, qd - v) for v in np.eye(self.n)]
        return np.transpose(columns) / 4

    def gravity(self, q: Any) -> Array:
        return np.asarray(self.formulation.function("gravity")(self.robot, q))

    def springs(self, q: Any) -> Array:
        return np.array([float(x) for x in spring_torques(self.robot, [float(x) for x in q])])

    def friction(self, qd: Any) -> Array:
        return np.array([float(x) for x in friction_torques(self.robot, [float(x) for x in qd])])
