"""Friction terms beyond Coulomb and viscous friction: width of the sign, presliding, and load.

The torque of joint j is modelled as

    tau = Y pi + sum_i a_i [s(qd, w_i) - S] + sum_k b_k [z_k - S] + c |l| S + g l                               [FT-1]

with S = s(qd, w_0) the sign of the velocity, rounded over w_0; l the torque of bodies and rotors (Y pi without
friction); and presliding states z_k of Dahl's law, which follow the sign of the velocity over a distance delta_k:

    dz/dq = (s - z) / delta, s = sign(qd), so that z moves to s as exp(-|path| / delta)                         [FT-2]

All terms are linear in their coefficients, so no nonlinear search is needed: widths and distances are a fixed bank.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.robot import Robot
from armdyn.typing import Array

ROUNDED = 0.02
"""Velocity over which the sign of friction is rounded, rad/s."""
WIDTHS = (0.05, 0.15, 0.5)
"""Further widths, as shares of the largest velocity of the joint."""
DISTANCES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Presliding distances, rad."""
GROUPS = ("width",) * len(WIDTHS) + ("presliding",) * len(DISTANCES) + ("load", "gain")
"""The group of every term."""


def rounded_sign(qd: Array, width: Array | float) -> Array:
    """sign(qd), rounded over a velocity."""
    s: Array = np.tanh(qd / width)
    return s


@dataclass(frozen=True, eq=False)
class Bank:
    """The terms of [FT-1] of every joint.

    scale: (n,) unit of velocities and distances of the joint: 1 for a revolute joint; for a prismatic one its largest
           velocity
    fastest: (n,) largest velocity, rad/s or m/s
    """

    scale: Array
    fastest: Array

    @staticmethod
    def of(robot: Robot, qd: Array) -> Bank:
        """The bank for a robot and the velocities, (N, n), of a log."""
        fastest = np.maximum(np.abs(qd).max(axis=0), 1e-9)
        revolute = np.array([joint.kind == "revolute" for joint in robot.joints])
        return Bank(np.where(revolute, 1.0, fastest), fastest)

    def sign(self, qd: Array) -> Array:
        """(N, n) S of [FT-1]."""
        return rounded_sign(qd, ROUNDED * self.scale)

    def columns(self, q: Array, qd: Array, load: Array) -> Array:
        """(N, n, k) torques of the terms with coefficient 1, along a motion in time.

        q, qd: (N, n) consecutive samples
        load: (N, n) torque of bodies and rotors
        """
        S = self.sign(qd)
        wide = [rounded_sign(qd, w * self.fastest) - S for w in WIDTHS]
        sliding = [presliding(q, d * self.scale) - S for d in DISTANCES]
        return np.stack([*wide, *sliding, np.abs(load) * S, load], axis=-1)


def presliding(q: Array, distance: Sequence[float] | Array) -> Array:
    """(N, n) states z of [FT-2] along positions (N, n); 0 at the first sample."""
    z = np.zeros(q.shape)
    for j, delta in enumerate(np.broadcast_to(np.asarray(distance, dtype=float), q.shape[1:])):
        steps = np.diff(q[:, j])
        direction = np.sign(steps)
        turns = np.flatnonzero(direction[1:] != direction[:-1]) + 1
        state = 0.0
        for start, end in zip(np.r_[0, turns], np.r_[turns, len(steps)], strict=True):
            s = direction[start] if len(steps) else 0.0
            path = np.abs(q[start + 1 : end + 1, j] - q[start, j]) if s else np.zeros(end - start)
            z[start + 1 : end + 1, j] = s + (state - s) * np.exp(-path / delta) if s else state
            state = float(z[end, j])
    return z


__all__ = ["Bank", "presliding", "rounded_sign"]
