"""Friction terms beyond Coulomb and viscous friction: width of the sign, presliding, load.

The torque of a joint is modelled as

    tau = Y pi + Fv qd + Fc S + sum_i a_i [s(qd, w_i) - S] + sum_k b_k [z_k - S] + c |l| S                     [FT-1]

with Y pi the torque of bodies, rotors, shared motors and offsets; S = s(qd, w_0) the sign of the velocity, rounded over
w_0; l the torque of bodies and rotors alone; and presliding states z_k of Dahl's law, which follow the sign of the
velocity over a distance delta_k:

    dz/dq = (1 - z sign(qd)) / delta, so that z moves to sign(qd) as exp(-|path| / delta)                       [FT-2]

A motor that several joints turn adds the terms of width and presliding of its own rate to each of them. All terms are
linear in their coefficients: widths and distances are a fixed bank, and the coefficients tell which of them are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.mechanics.friction import motors_with_friction
from armdyn.robot import Robot
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Array

ROUNDED = 0.02
"""Velocity over which the sign of friction is rounded, rad/s."""
WIDTHS = (0.05, 0.15, 0.5)
"""Further widths, as shares of the largest velocity."""
DISTANCES = (1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
"""Presliding distances, rad."""
SHAPES = ("width",) * len(WIDTHS) + ("presliding",) * len(DISTANCES)


@dataclass(frozen=True, eq=False)
class Bank:
    """The terms of [FT-1] of every joint.

    scale: (n,) unit of velocities and distances: 1 for a revolute joint, the largest velocity of a prismatic one
    fastest: (n,) largest velocity, rad/s or m/s
    shared: rates of motors that several joints turn, (n,) each, seen at the joints
    fastest_shared: largest velocity of each
    """

    scale: Array
    fastest: Array
    shared: tuple[Array, ...]
    fastest_shared: tuple[float, ...]

    @staticmethod
    def of(robot: Robot, qd: Array) -> Bank:
        """The bank for a robot and the velocities, (N, n), of a log."""
        fastest = np.maximum(np.abs(qd).max(axis=0), 1e-9)
        revolute = np.array([joint.kind == "revolute" for joint in robot.joints])
        rows = [np.array(inverse_rows(robot)[j], dtype=float) for j in motors_with_friction(robot)]
        shared = tuple(row for row in rows if np.count_nonzero(row) > 1)
        return Bank(np.where(revolute, 1.0, fastest), fastest, shared,
                    tuple(max(float(np.abs(qd @ row).max()), 1e-9) for row in shared))  # fmt: skip

    @property
    def groups(self) -> tuple[str, ...]:
        """The group of every term; coefficients of a group are shrunk together."""
        motors = [f"{shape} of motor {k + 1}" for k in range(len(self.shared)) for shape in SHAPES]
        return (*SHAPES, "load", *motors)

    def moving(self, qd: Array) -> Array:
        """(N, n) bool: faster than the velocity over which the sign is rounded."""
        moving: Array = np.abs(qd) > ROUNDED * self.scale
        return moving

    def classes(self, qd: Array) -> Array:
        """(N, n) class of speed: 0 at rest, 1 slow, 2 fast."""
        return self.moving(qd).astype(int) + (np.abs(qd) > 5 * ROUNDED * self.scale)

    def sign(self, qd: Array) -> Array:
        """(N, n) sign of the velocity, rounded."""
        return np.tanh(qd / (ROUNDED * self.scale))

    def plain(self, qd: Array, j: int) -> Array:
        """(N, 2) columns of Fv and Fc of joint j."""
        return np.column_stack([qd[:, j], np.tanh(qd[:, j] / (ROUNDED * self.scale[j]))])

    def columns(self, q: Array, qd: Array, load: Array, j: int) -> Array:
        """(N, k) terms of joint j with coefficient 1 along a motion in time.

        q, qd: (N, n) consecutive samples
        load: (N,) torque of bodies and rotors on the joint
        """
        return self.all_columns(qd, self.states(q, j), load, j)[:, 2:]

    def states(self, q: Array, joint: int | None = None) -> list[Array]:
        """Presliding states, (N, distances), along positions (N, n): of every joint, then of the shared motors.

        joint: the only one whose states are wanted; the others are empty
        """
        paths = [(q[:, j], float(self.scale[j]), joint in (None, j)) for j in range(q.shape[1])]
        paths += [(q @ row, 1.0, joint is None or row[joint] != 0) for row in self.shared]
        return [
            np.column_stack([presliding(path, d * scale) for d in DISTANCES])
            if wanted else np.zeros((len(q), len(DISTANCES)))
            for path, scale, wanted in paths
        ]  # fmt: skip

    def all_columns(self, qd: Array, states: Sequence[Array], load: Array, j: int) -> Array:
        """(N, 2 + k) columns of Fv, Fc and the terms of joint j, with the presliding states given."""
        n, parts = qd.shape[1], self.plain(qd, j)
        S = parts[:, 1:]
        wide = np.tanh(qd[:, j : j + 1] / (np.array(WIDTHS) * self.fastest[j]))
        blocks = [parts, wide - S, states[j] - S, np.abs(load)[:, None] * S]
        for k, (row, fastest) in enumerate(zip(self.shared, self.fastest_shared, strict=True)):
            rate = (qd @ row)[:, None]
            sign = np.tanh(rate / ROUNDED)
            shapes = np.hstack([np.tanh(rate / (np.array(WIDTHS) * fastest)) - sign, states[n + k] - sign])
            blocks.append(shapes * (row[j] != 0))
        return np.hstack(blocks)


def presliding(q: Array, distance: float) -> Array:
    """(N,) state z of [FT-2] along positions (N,); 0 at the first sample.

    >>> presliding(np.array([0.0, 1.0, 2.0, 1.0]), 1.0).round(3).tolist()
    [0.0, 0.632, 0.865, -0.314]
    """
    z = np.zeros(len(q))
    direction = np.sign(np.diff(q))
    turns = np.flatnonzero(direction[1:] != direction[:-1]) + 1
    state = 0.0
    for start, end in zip([0, *turns.tolist()], [*turns.tolist(), len(direction)], strict=True):
        s = direction[start] if len(direction) else 0.0
        path = np.abs(q[start + 1 : end + 1] - q[start])
        z[start + 1 : end + 1] = s + (state - s) * np.exp(-path / distance) if s else state
        state = float(z[end])
    return z


__all__ = ["Bank", "presliding"]
