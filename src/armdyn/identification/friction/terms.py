"""Friction terms beyond Coulomb and viscous friction: width of the sign, presliding, load.

The torque of a joint is modelled as

    tau = Y pi + Fv qd + Fc S + sum_i a_i [s(qd, w_i) - S] + sum_k b_k [z_k - S] + c |l| S                     [FT-1]

with Y pi the torque of bodies, rotors, springs and offsets; s(qd, w) = qd / sqrt(qd^2 + w^2) the sign of the velocity,
rounded over w, and S = s(qd, w_0); l the torque that the joint carries, all but friction and offset; and presliding
states z_k of Dahl's law over distances delta_k (`armdyn.dynamics.presliding`). This is the friction law "rounded" of
`armdyn.mechanics.friction`, so that the robot that is delivered has it.

A motor that several joints turn has terms of its own rate and position; they act on each of these joints by its ratio.
All terms are linear in their coefficients: widths and distances are a fixed bank, and the coefficients tell which of
them are there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armdyn.dynamics.presliding import presliding
from armdyn.mechanics.friction import motors_with_friction
from armdyn.robot import Robot
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Array

SLOW = 0.02
"""Velocity over which the sign of friction is rounded, rad/s."""
SHARP = 0.1
"""A further width, as a share of that: friction whose sign changes at once."""
WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Further widths, as shares of the largest velocity. They are so close that friction of any width between is a sum of
neighbours to within the noise: with (0.05, 0.15, 0.5), Fc and Fv were off by 3 to 14 standard deviations there."""
DISTANCES = (1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 32e-3, 64e-3, 128e-3)
"""Presliding distances, rad, as close for the same reason."""
SHORT = 0.05
"""Share of a joint's whole path, if that is less than the longest distance, over which its states are taken to forget
how they began: of a joint that moves little, most samples count."""
GROUPS = ("width",) * (1 + len(WIDTHS)) + ("presliding",) * len(DISTANCES) + ("load",)
"""The group of every term; coefficients of a group are shrunk together."""
SMALLEST = 1e-4
"""Coefficients below this share of the largest of a joint are left out of the robot's file."""


@dataclass(frozen=True, eq=False)
class Bank:
    """The terms of [FT-1] of every joint and of every motor that several joints turn.

    rows: (n + s, n) rate of each of them, from the rates of the joints
    motors: (s,) places of these motors
    scale: (n + s,) unit of velocities and distances: 1 for a revolute joint, the largest velocity of a prismatic one
    fastest: (n + s,) largest velocity, rad/s or m/s
    """

    rows: Array
    motors: tuple[int, ...]
    scale: Array
    fastest: Array

    @staticmethod
    def of(robot: Robot, qd: Array) -> Bank:
        """The bank for a robot and the velocities, (N, n), of a log."""
        motors = np.array(inverse_rows(robot), dtype=float)
        shared = tuple(j for j in motors_with_friction(robot) if np.count_nonzero(motors[j]) > 1)
        rows = np.vstack([np.eye(robot.n), motors[list(shared)]])
        fastest = np.maximum(np.abs(qd @ rows.T).max(axis=0), 1e-9)
        revolute = np.array([joint.kind == "revolute" for joint in robot.joints])
        ratios = np.abs(motors[list(shared), list(shared)])
        return Bank(rows, shared, np.append(np.where(revolute, 1.0, fastest[: robot.n]), ratios), fastest)

    @property
    def n(self) -> int:
        """Number of joints."""
        return int(self.rows.shape[1])

    @property
    def count(self) -> int:
        """Number of terms."""
        return len(GROUPS)

    def moving(self, qd: Array) -> Array:
        """(N, n) bool: faster than the velocity over which the sign is rounded."""
        moving: Array = np.abs(qd) > SLOW * self.scale[: self.n]
        return moving

    def unsettled(self, q: Array, qd: Array) -> Array:
        """(N,) bool: a joint or motor has begun to move, but its presliding states depend on how they were before.

        A log does not tell how joints moved before it. States forget it as exp(-path / delta), after [PS-1]: over the
        longest distance of the bank those of the usual ones, up to a quarter of it, to within 2 %. A path three times
        as long left out so many samples that errors on another motion doubled (palletiser, 10 s).
        """
        moving, place = np.abs(qd @ self.rows.T) > SLOW * self.scale, q @ self.rows.T
        path = np.cumsum(moving * np.abs(np.diff(place, axis=0, prepend=place[:1])), axis=0)
        enough = np.minimum(self.distances[:, -1], SHORT * path[-1])
        unsettled: Array = (np.logical_or.accumulate(moving) & (path < enough)).any(axis=1)
        return unsettled

    def classes(self, qd: Array) -> Array:
        """(N, n) class of speed: 0 at rest, 1 slow, 2 fast."""
        return self.moving(qd).astype(int) + (np.abs(qd) > 5 * SLOW * self.scale[: self.n])

    def sign(self, qd: Array) -> Array:
        """(N, n) sign of the velocities of joints, rounded."""
        return rounded(qd, self.widths[: self.n, 0])

    @cached_property
    def widths(self) -> Array:
        """(n + s, 2 + widths) velocities over which signs are rounded."""
        return np.column_stack([np.outer(self.scale, (SLOW, SHARP * SLOW)), np.outer(self.fastest, WIDTHS)])

    @cached_property
    def distances(self) -> Array:
        """(n + s, distances) of presliding."""
        return np.outer(self.scale, DISTANCES)

    def columns(self, q: Array, qd: Array, a: int, every: int = 1, used: Array | None = None) -> Array:
        """(N, 2 + k) columns of Fv, Fc and the terms of joint or motor a along consecutive samples, (N, n) each.

        The column of load is zero.

        every: how many samples are between two for which they are wanted
        used: (2 + k,) bool; presliding states of others are not computed, their columns are zero (default: all)
        """
        rate, path = qd[::every] @ self.rows[a], q @ self.rows[a]
        S, *wide = (rounded(rate, w) for w in self.widths[a])
        along = np.ones(len(DISTANCES), dtype=bool) if used is None else used[-1 - len(DISTANCES) : -1]
        states = [
            presliding(path, d)[::every] if x else S for d, x in zip(self.distances[a].tolist(), along, strict=True)
        ]
        return np.column_stack([rate, S, *(x - S for x in (*wide, *states)), np.zeros(len(rate))])

    def values(self, a: int, terms: Array) -> Mapping[str, float]:
        """Coefficients, (k,), of the terms of joint or motor a as the values of the law "rounded"."""
        least = SMALLEST * np.abs(terms[:-1]).max(initial=0.0)
        count = 1 + len(WIDTHS)
        found: dict[str, float] = {}
        for name, length, sizes, scales in (
            ("coulomb", "width", terms[:count], self.widths[a, 1:]),
            ("presliding", "distance", terms[count:-1], self.distances[a]),
        ):
            kept = [(float(x), float(w)) for x, w in zip(sizes, scales, strict=True) if abs(x) > least]
            for k, (x, w) in enumerate(kept, 1):
                found |= {f"{name}_{k}": x, f"{length}_{k}": w}
        return found | ({"load": float(terms[-1])} if terms[-1] else {})


def rounded(rate: Array, width: Array) -> Array:
    """s(qd, w) = qd / sqrt(qd^2 + w^2)."""
    sign: Array = rate / np.hypot(rate, width)
    return sign


__all__ = ["Bank"]
