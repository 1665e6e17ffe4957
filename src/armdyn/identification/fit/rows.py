"""Rows of the estimation: measured torques, and the columns of everything that can explain them.

    tau = Y pi + Fv qd + Fc S + sum_i a_i [s(qd, w_i) - S] + sum_k b_k [z_k - S] + c |l| S            the robot
          + g l + h qdd - T dtau/dt                                                                   the signal
          + W (r_1 l + r_2 z_near + r_3 z_far),    W = 1 - S^2                                        joints at rest
                                                                                                              [RO-1]

The first line is the friction law "rounded" (`friction_terms`). The second belongs to the measurement: a drive whose
torque is reported with another gain, without all of its rotor's (h may be negative, which must not become part of the
robot), or smoothed over a time T, so that it lags: tau + T dtau/dt is then the torque of the robot, with tau as it was
measured. Without this term a lag looks like less inertia and more viscous friction. The derivative of noise is not
correlated with the noise, so that it does not bias T. The third line is
what a gear holds by itself while its joint rests. l is the torque of bodies and rotors at the joint, from the solution
before. Torque and columns are low-passed at 10 Hz and decimated alike, which changes no solution of [RO-1].
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.fit.observation import regressor_rows
from armdyn.identification.friction.terms import GROUPS, SLOW, Bank
from armdyn.identification.log.filters import decimated
from armdyn.identification.log.samples import Samples, excerpts
from armdyn.parameters.standard import parameter_names
from armdyn.robot import Robot
from armdyn.robot.transmission import inverse_rows
from armdyn.typing import Array


@dataclass(frozen=True)
class RowSettings:
    """How samples become rows.

    rate: of the rows, Hz. Their low-pass passes 10 Hz, which is what rigid bodies of an arm move with.
    most: rows that are used at most, four minutes; of a longer log an excerpt for each block of time.
    warm_up: time at both ends of an excerpt that does not count, s, ten rows of the low-pass and presliding states.
    blocks: of time, held out one after the other. Eight leave 7/8 of a log and give a spread of eight figures.
    guard: time left out beside a held-out block, s; the low-pass reaches 0.4 s, its main lobe 0.1 s.
    fewest: rows in motion (4 s) below which a log is too short to hold out blocks.
    least: rows in motion (1 s) below which a log is refused: friction cannot be told from inertia.
    """

    rate: float = 25.0
    most: int = 6000
    warm_up: float = 1.0
    blocks: int = 8
    guard: float = 0.3
    fewest: int = 100
    least: int = 25


ROW = RowSettings()
SIGNAL, REST = ("gain", "inertia", "lag"), ("rest load", "rest", "rest")
TERMS = ("viscous", "coulomb", *GROUPS, *SIGNAL, *REST)
"""Group of every column of a joint's own; those of a group are shrunk together."""
NEAR, FAR = 0, 3
"""Places of the presliding distances, 1 and 8 mrad, whose states act at rest."""


class Design(NamedTuple):
    """Columns, (m, c), on which the torque of a joint depends, and their places, (c,), among the unknowns."""

    columns: Array
    places: Array


@dataclass(frozen=True, eq=False)
class TorqueRows:
    """Decimated torques, regressor and columns of a log.

    robot: geometry, and parameters before
    include: families of parameters that are unknown; names: of these standard parameters, the first unknowns
    samples: the log, or excerpts of it; bank: the friction terms
    t: (m,) s; tau: (m, n); Y: (m, n, p) regressor
    columns: (m, n + s, k) of `TERMS`, those that depend on the load being zero
    keep: (m,) bool, rows in which the robot moves; speed: (m, n) class of speed; moving: (m, n) bool
    """

    robot: Robot
    include: tuple[str, ...]
    names: tuple[str, ...]
    samples: Samples
    bank: Bank
    t: Array
    Y: Array
    columns: Array
    tau: Array
    keep: Array
    speed: Array
    moving: Array

    @staticmethod
    def of(robot: Robot, include: Iterable[str], samples: Samples, bank: Bank | None = None) -> TorqueRows:
        """The rows of processed samples, consecutive in time.

        bank: friction terms of another log, for all samples (default: terms for the velocities of these samples, which
              are excerpts if they are many)
        """
        include, factor = tuple(include), row_step(samples)
        if bank is None:
            samples = row_samples(samples)
        samples = replace(samples, decimation=factor)
        bank_given, bank = bank, bank or Bank.of(robot, samples.qd)
        names = parameter_names(robot, include)
        t, Y, tau = regressor_rows(robot, include, samples)
        columns = [decimated(_fixed_columns(bank, samples, a), factor) for a in range(len(bank.rows))]
        qd = samples.qd[::factor]
        moving = bank.moving(qd)
        settled = ~bank.unsettled(samples.q, samples.qd)[::factor]
        keep = np.asarray(moving.any(axis=1) & samples.keep[::factor].any(axis=1) & settled)
        if bank_given is None and keep.sum() < ROW.least:
            raise ArmdynError(
                f"the robot moves for {keep.sum() / ROW.rate:.2g} s",
                where="identify",
                expected=f"joints that move faster than {SLOW:g} rad/s, for at least {ROW.least / ROW.rate:g} s",
                advice="Log a longer motion.",
            )
        return TorqueRows(
            robot, include, names, samples, bank, t, Y, np.stack(columns, axis=1), tau, keep, bank.classes(qd), moving
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(n + s, k): joints and shared motors, and columns of each."""
        return len(self.bank.rows), len(TERMS)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return len(self.names) + self.shape[0] * self.shape[1]

    @cached_property
    def carried(self) -> Array:
        """(p,) bool: parameters of the torque l that a joint carries: those of bodies, rotors and springs."""
        return np.array([not name.startswith(("off", "F")) for name in self.names])

    def load(self, values: Array) -> Array:
        """(m, n) torque l that the joints carry, for standard parameters (p,)."""
        load: Array = self.Y[:, :, self.carried] @ values[self.carried]
        return load

    def loaded(self, values: Array) -> Array:
        """(m, n + s, k) the columns, those of load with these standard parameters."""
        if self.robot.constrained:  # friction that grows with the load is not modelled there
            return self.columns
        s, n, load = self.samples, self.bank.n, self.load(values)
        sign, columns = self.bank.sign(s.qd), self.columns.copy()
        fine = np.column_stack([np.interp(s.t, self.t, column) for column in load.T])
        columns[:, :n, TERMS.index("load")] = decimated(np.abs(fine) * sign, s.decimation)
        columns[:, :n, TERMS.index("gain")] = load
        columns[:, :n, TERMS.index("rest load")] = decimated(fine * (1 - sign**2), s.decimation)
        return columns

    @cached_property
    def blocks(self) -> list[tuple[float, float]]:
        """Begin and end of the blocks of time, which hold equally many rows in motion."""
        ends = np.quantile(self.t[self.keep], np.linspace(0, 1, ROW.blocks + 1))
        ends[-1] += 1.0
        return list(pairwise(ends.tolist()))

    def joint_of(self, number: int) -> int | None:
        """The place among the independent joints of one of all joints; None for a joint that others move."""
        name = self.robot.opened.joints[number].name
        return next((j for j, joint in enumerate(self.robot.joints) if joint.name == name), None)

    def designs(self, X: Array, wanted: Array, *, plain: bool = False) -> list[Design]:
        """By joint: the columns of its torque.

        X: (m, n + s, k) of `TERMS`
        wanted: (n + s, k) bool
        plain: friction is that of the regressor (default: that of the bank)
        """
        p, k, found = len(self.names), len(TERMS), []
        replaced = [] if plain else [place for place, _ in plain_friction(self.robot, self.names, self.bank).values()]
        for j in range(self.bank.n):
            active = np.setdiff1d(np.flatnonzero(self.Y[:, j].any(axis=0)), replaced)
            rubbing = np.flatnonzero(self.bank.rows[:, j])
            own = [self.bank.rows[a, j] * X[:, a, wanted[a]] for a in rubbing]
            places = np.concatenate([active, *(p + a * k + np.flatnonzero(wanted[a]) for a in rubbing)])
            found.append(Design(np.hstack([self.Y[:, j, active], *own]), places))
        return found


def row_step(samples: Samples) -> int:
    """Samples from one row to the next."""
    rate = (len(samples) - 1) / float(samples.t[-1] - samples.t[0])
    return max(1, round(rate / ROW.rate))


def row_samples(samples: Samples) -> Samples:
    """The samples of which rows are made: excerpts of a long log."""
    factor = row_step(samples)
    return excerpts(samples, ROW.blocks, ROW.most * factor // ROW.blocks, round(ROW.warm_up * factor * ROW.rate))


def _fixed_columns(bank: Bank, samples: Samples, a: int) -> Array:
    """(N, k) columns of `TERMS` of joint or motor a that do not depend on the load."""
    friction = bank.columns(samples.q, samples.qd, a)
    N, states = len(friction), 2 + GROUPS.index("presliding")
    found = np.hstack([friction, np.zeros((N, len(SIGNAL) + len(REST)))])
    if a < bank.n:
        S = friction[:, 1]
        found[:, TERMS.index("inertia")] = samples.qdd[:, a]
        found[:, TERMS.index("lag")] = -np.gradient(samples.tau[:, a], samples.t)
        for k, place in enumerate((NEAR, FAR), TERMS.index("rest")):
            found[:, k] = (1 - S**2) * (friction[:, states + place] + S)
    return found


def plain_friction(robot: Robot, names: tuple[str, ...], bank: Bank) -> dict[tuple[int, int], tuple[int, float]]:
    """(joint or motor, 0 viscous or 1 Coulomb) -> the standard parameter in its place, and its value per unit.

    Fvm and Fcm are seen at the joint, the friction of a motor in the bank at the motor.
    """
    every = [joint.name for joint in robot.opened.joints]
    numbers = [every.index(joint.name) + 1 for joint in robot.joints]
    ratios = np.abs(np.diag(np.array(inverse_rows(robot), dtype=float)))
    found = {}
    for a, j in enumerate((*range(bank.n), *bank.motors)):
        kinds, k = (("Fv", "Fc"), 1.0) if a < bank.n else (("Fvm", "Fcm"), float(ratios[j]))
        for i, (kind, factor) in enumerate(zip(kinds, (k**2, k), strict=True)):
            if (name := f"{kind}{numbers[j]}") in names:
                found[a, i] = names.index(name), factor
    return found


__all__ = ["ROW", "TERMS", "Design", "RowSettings", "TorqueRows", "plain_friction", "row_samples", "row_step"]
