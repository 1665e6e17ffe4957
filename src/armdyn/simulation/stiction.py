"""Dry friction with stiction.

At rest friction balances the other torques up to the break-away torque, which Fc sign(qd) does not describe. Each step
begins by deciding which joints at rest stay there: all of them are held, the holding torques are computed, and joints
whose torque exceeds the break-away friction are released, the most overloaded first. A joint whose velocity changes
sign within a step is at rest at its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics, compile
from armdyn.typing import Array

AT_REST = 1e-9
"""Velocity at which the break-away torque is read from the friction law, rad/s or m/s."""


class Grip(NamedTuple):
    """State of the joints during one step.

    stuck: (n,) whether the joint sticks.
    way:   (n,) direction of motion, or of incipient motion: -1, 0 or 1.
    """

    stuck: Array
    way: Array


class Stiction:
    """A plant whose joints stick at rest."""

    def __init__(self, dyn: Dynamics) -> None:
        self.dyn = dyn
        self.smooth = compile(dyn.robot.without("friction"), cache=dyn.cache)
        n = dyn.n
        self.break_up = dyn.friction(np.full(n, AT_REST))
        self.break_down = dyn.friction(np.full(n, -AT_REST))

    def grip(self, q: Array, qd: Array, tau: Array, wrench: Any) -> Grip:
        """Which joints stick at this state under these torques."""
        way = np.sign(qd)
        stuck = qd == 0
        if not stuck.any():
            return Grip(stuck, way)
        M, rest = self._terms(q, qd, tau, wrench)
        while True:
            friction = self._kinetic(qd, way)
            qdd = _solved(M, rest - friction, ~stuck)
            needed = rest - M @ qdd  # friction that holds the joints
            over = np.where(stuck, np.maximum(needed - self.break_up, self.break_down - needed), -np.inf)
            worst = int(over.argmax())
            if over[worst] <= 0:
                return Grip(stuck, way)
            stuck, way = stuck.copy(), way.copy()
            stuck[worst], way[worst] = False, np.sign(needed[worst])

    def acceleration(self, q: Array, qd: Array, tau: Array, wrench: Any, grip: Grip) -> Array:
        """(n,) accelerations; those of stuck joints are zero."""
        M, rest = self._terms(q, qd, tau, wrench)
        return _solved(M, rest - self._kinetic(qd, grip.way), ~grip.stuck)

    def settled(self, qd: Array, grip: Grip) -> Array:
        """(n,) velocities after a step: joints that stick or reversed are at rest."""
        return np.where(grip.stuck | (qd * grip.way < 0), 0.0, qd)

    def _terms(self, q: Array, qd: Array, tau: Array, wrench: Any) -> tuple[Array, Array]:
        return self.smooth.mass_matrix(q), tau - self.smooth.inverse_dynamics(q, qd, np.zeros(len(q)), wrench)

    def _kinetic(self, qd: Array, way: Array) -> Array:
        """Kinetic friction; a joint that reverses within a step keeps its direction."""
        rate = np.where(qd * way > 0, qd, AT_REST * way)
        return np.where(way == 0, 0.0, self.dyn.friction(rate))


def _solved(M: Array, rest: Array, free: Array) -> Array:
    qdd = np.zeros(len(rest))
    if free.any():
        qdd[free] = np.linalg.solve(M[np.ix_(free, free)], rest[free])
    return qdd
