"""Dry friction with stiction, over numbers and over symbols.

At rest friction balances the other torques up to the break-away torque, which Fc sign(qd) does not describe. Each step
begins by deciding which joints at rest stay there: all of them are held, the holding torques are computed, and joints
whose torque exceeds the break-away friction are released, the most overloaded first. During the step the friction of a
moving joint keeps its direction, so that the step is smooth. A joint whose velocity changes sign within a step is at
rest at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from armdyn.control.pointwise import INCIPIENT, sign, where_not_negative
from armdyn.control.uncertainty import break_away
from armdyn.dynamics import Dynamics, compile
from armdyn.simulation.integrators import Linear
from armdyn.typing import Array

STICKS = 1e-3
"""A law sticks if it leaves this share of the friction at 1 rad/s or m/s at rest."""
Solve = Callable[[Array, Array], Array]


class Grip(NamedTuple):
    """State of the joints during one step.

    stuck: (n,) 1 where the joint sticks, 0 elsewhere.
    way:   (n,) direction of motion, or of incipient motion: -1, 0 or 1.
    """

    stuck: Array
    way: Array


def sticks(dyn: Dynamics) -> bool:
    """Whether a joint has friction that does not vanish at rest."""
    up, down = break_away(dyn)
    moving = dyn.friction(np.ones(dyn.n))
    return bool((up - down > 2 * STICKS * np.abs(moving)).any())


@lru_cache(maxsize=32)
def without_friction(dyn: Dynamics) -> Dynamics:
    """The same plant without friction."""
    return compile(dyn.robot.without("friction"), cache=dyn.cache)


class Stiction:
    """A plant whose joints stick at rest.

    dyn, smooth: the plant with and without friction; over symbols, their traced functions.
    solve:       x of A x = b, with A symmetric.
    """

    def __init__(self, dyn: Any, smooth: Any, limits: tuple[Array, Array], solve: Solve = np.linalg.solve) -> None:
        self.dyn, self.smooth, self.solve = dyn, smooth, solve
        self.break_up, self.break_down = limits

    @staticmethod
    def of(dyn: Dynamics) -> Stiction:
        """Over numbers."""
        return Stiction(dyn, without_friction(dyn), break_away(dyn))

    def grip(self, q: Array, qd: Array, tau: Array, wrench: Any = None) -> Grip:
        """Which joints stick at this state under these torques."""
        way = sign(qd)
        stuck = 1 - abs(way)
        numbers = stuck.dtype != object
        if numbers and not stuck.any():
            return Grip(stuck, way)
        M, rest = self._terms(q, qd, tau, wrench)
        for _ in range(len(qd)):
            qdd = self._solved(M, rest - self._kinetic(qd, way), stuck)
            needed = rest - M @ qdd  # friction that holds the joints
            over = stuck * _larger(needed - self.break_up, self.break_down - needed)
            worst = over[0]
            for entry in over[1:]:
                worst = _larger(np.array([entry]), np.array([worst]))[0]
            if numbers and worst <= 0:
                break
            # The overload must be positive, and the largest.
            released = stuck * where_not_negative(over - worst, where_not_negative(-over, 0.0, 1.0), 0.0)
            way = way + released * sign(needed)
            stuck = stuck - released
        return Grip(stuck, way)

    def acceleration(self, q: Array, qd: Array, tau: Array, wrench: Any, grip: Grip) -> Array:
        """(n,) accelerations; those of stuck joints are zero."""
        M, rest = self._terms(q, qd, tau, wrench)
        return self._solved(M, rest - self._kinetic(qd, grip.way), grip.stuck)

    def settled(self, x: Array, qd: Array, grip: Grip) -> Array:
        """(n,) x after a step, zero for joints that stick or reversed; qd: their velocities."""
        turned = where_not_negative(qd * grip.way, 0.0, 1.0)
        return where_not_negative(-(grip.stuck + turned), x, 0.0)

    def linear(self, plant: Linear, grip: Grip) -> Linear:
        """M, D, K of an implicit step in which stuck joints do not move."""

        def masked(q: Array, qd: Array) -> tuple[Array, Array, Array]:
            M, D, K = plant(q, qd)
            free = 1 - grip.stuck
            both = free[:, None] * free
            return both * M + _diagonal(grip.stuck), both * D, both * K

        return masked

    def _terms(self, q: Array, qd: Array, tau: Array, wrench: Any) -> tuple[Array, Array]:
        still = np.zeros(len(qd))
        bias = self.smooth.inverse_dynamics(q, qd, still, *(() if wrench is None else (wrench,)))
        return self.smooth.mass_matrix(q), tau - bias

    def directed(self, qd: Array, way: Array) -> Array:
        """(n,) velocities within a step: those of joints that have reversed are as good as zero, in their direction.

        Friction keeps its direction during a step, and so must a law that compensates it: a difference of twice the
        friction would throw a light joint far away.
        """
        return where_not_negative(-qd * way, INCIPIENT * way, qd)

    def _kinetic(self, qd: Array, way: Array) -> Array:
        """Kinetic friction; a joint that reverses within a step keeps its direction."""
        return np.asarray(abs(way) * self.dyn.friction(self.directed(qd, way)))

    def _solved(self, M: Array, rest: Array, stuck: Array) -> Array:
        free = 1 - stuck
        return self.solve(free[:, None] * free * M + _diagonal(stuck), free * rest)


def _diagonal(entries: Array) -> Array:
    matrix = np.zeros((len(entries), len(entries)), dtype=entries.dtype)
    np.fill_diagonal(matrix, entries)
    return matrix


def _larger(a: Array, b: Array) -> Array:
    return where_not_negative(a - b, a, b)
