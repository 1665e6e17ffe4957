"""Dry friction with joints that stick.

At rest friction is whatever holds the joint, up to what it takes to break away; the formula Fc sign(qd) knows nothing
of that. Here each step begins with the question which of the joints at rest stay there: all that are at rest are
held, the constraint torques are computed, and joints whose torque is too much for friction are let go, the most
overloaded first. A joint whose velocity changes sign within a step comes to rest at its end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armdyn.dynamics import Dynamics, compile
from armdyn.typing import Array

AT_REST = 1e-9
"""Velocity at which the break-away torque is read from the friction law, rad/s or m/s."""


class Grip(NamedTuple):
    """How the joints stand in one step: which are stuck, and which way the others slide (or begin to)."""

    stuck: Array
    way: Array


class Stiction:
    """A plant with joints that stick."""

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
            friction = self._sliding(qd, way)
            qdd = _solved(M, rest - friction, ~stuck)
            needed = rest - M @ qdd  # what friction must bear
            over = np.where(stuck, np.maximum(needed - self.break_up, self.break_down - needed), -np.inf)
            worst = int(over.argmax())
            if over[worst] <= 0:
                return Grip(stuck, way)
            stuck, way = stuck.copy(), way.copy()
            stuck[worst], way[worst] = False, np.sign(needed[worst])

    def acceleration(self, q: Array, qd: Array, tau: Array, wrench: Any, grip: Grip) -> Array:
        """Accelerations; those of stuck joints are zero."""
        M, rest = self._terms(q, qd, tau, wrench)
        return _solved(M, rest - self._sliding(qd, grip.way), ~grip.stuck)

    def settled(self, qd: Array, grip: Grip) -> Array:
        """Velocities after a step: joints that stick or turned around are at rest."""
        return np.where(grip.stuck | (qd * grip.way < 0), 0.0, qd)

    def _terms(self, q: Array, qd: Array, tau: Array, wrench: Any) -> tuple[Array, Array]:
        return self.smooth.mass_matrix(q), tau - self.smooth.inverse_dynamics(q, qd, np.zeros(len(q)), wrench)

    def _sliding(self, qd: Array, way: Array) -> Array:
        """Friction in the direction of sliding; a joint that turns around within a step keeps its direction."""
        rate = np.where(qd * way > 0, qd, AT_REST * way)
        return np.where(way == 0, 0.0, self.dyn.friction(rate))


def _solved(M: Array, rest: Array, free: Array) -> Array:
    qdd = np.zeros(len(rest))
    if free.any():
        qdd[free] = np.linalg.solve(M[np.ix_(free, free)], rest[free])
    return qdd
