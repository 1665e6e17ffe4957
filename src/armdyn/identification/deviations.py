"""Deviations of a log from its declared reading: tilt of gravity, gain of a drive, zero of a joint, delay.

Each deviation changes the torques, to first order, by columns c of its own:

    tau = Y pi + N b + c x                                                                                     [DV-1]

with free parameters pi and presliding terms N (`friction_terms`), because friction that lags behind the velocity looks
like a delay. Only what Y and N cannot imitate tells x; its worth is the share of the residual's power that it explains.
The zeros of joints are the exception: inertial parameters imitate them, so that they are judged by the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armdyn.identification.evidence import DECIMATION, INCLUDE, Evidence, Reading, with_gravity
from armdyn.identification.friction_terms import Bank
from armdyn.identification.processing import decimated
from armdyn.parameters.standard import parameter_names, standard_parameters
from armdyn.robot import Robot
from armdyn.typing import Array

STEP = 1e-3
"""Step of the differences by which torques are differentiated, rad (of gravity: a share of it)."""
RANK = 1e-6
"""Singular values of the columns below this share of the largest count as zero."""
LEAST = 0.005
"""Relative error of a torque below which it gets no more weight."""
SEEN = 1e-3
"""Size of a column, torques and their errors being of size 1, that must be left beside the free parameters."""


@dataclass(frozen=True, eq=False)
class Deviation:
    """values: (c,) estimates; std: (c,), residuals taken as white; share: of the residual's power that it explains."""

    values: Array
    std: Array
    share: float

    @property
    def certainty(self) -> float:
        """Largest estimate over its standard deviation."""
        return float(np.max(np.abs(self.values) / np.maximum(self.std, 1e-300)))


NOTHING = Deviation(np.zeros(1), np.full(1, np.inf), 0.0)


class Deviations:
    """Deviations of one reading of a log."""

    def __init__(self, evidence: Evidence, reading: Reading) -> None:
        self.evidence, self.reading, self.robot = evidence, reading, evidence.robot
        self.rows = evidence.rows(reading)
        errors = np.nan_to_num(evidence.errors(reading), nan=1.0)
        self.weight = np.sqrt(evidence.weights(self.rows, reading)) / np.maximum(errors, LEAST)
        self.keep = self.rows.keep & (self.weight > 0)
        self.torques = self._read(evidence.tau)
        self.parameters = evidence.fit(reading)[0]

    def _read(self, tau: Array) -> Array:
        read: Array = tau[:, list(self.reading.torques)] * np.array(self.reading.signs)
        return read

    def _stacked(self, x: Array) -> Array:
        """(m, n, ...) values joint by joint, weighted, where they count."""
        return np.concatenate([self.weight[j] * x[self.keep[:, j], j] for j in range(self.robot.n)])

    @cached_property
    def _free(self) -> Array:
        """Orthonormal columns that span those of the parameters and of presliding."""
        s, stride = self.evidence.samples, self.evidence.stride
        order, scale = list(self.reading.positions), np.array(self.reading.scales)
        q, qd = s.q[:, order] * scale, s.qd[:, order] * scale
        bank, blocks = Bank.of(self.robot, qd), [self._stacked(self.rows.Y)]
        for j in range(self.robot.n):
            own = bank.columns(q, qd, j)[:, 2:-1]
            own = decimated(decimated(own, stride), DECIMATION)
            blocks.append(self._stacked(np.where(np.arange(self.robot.n)[:, None] == j, own[:, None], 0.0)))
        return _spanned(np.hstack(blocks))

    def _left(self, x: Array) -> Array:
        left: Array = x - self._free @ (self._free.T @ x)
        return left

    def estimated(self, columns: Array) -> Deviation:
        """The deviation with these columns, (m, n, c)."""
        C = self._left(self._stacked(columns))
        if len(C) <= C.shape[1] or np.linalg.norm(C) < SEEN * np.sqrt(len(C)):
            return NOTHING
        return _explained(C, self._left(self._stacked(self.torques)), self._free.shape[1])

    def rest(self, lag: float = 0.0) -> float:
        """Power of what no parameters explain, with torques taken `lag`, s, later."""
        return float(np.sum(self._left(self._stacked(self._read(self.evidence.torques(lag)))) ** 2))

    def tilt(self) -> Deviation:
        """Change of gravity across its declared direction, two components, rad."""
        g = self.reading.gravity * np.array([float(x) for x in self.robot.gravity])
        size = float(np.linalg.norm(g))
        if not size:
            return NOTHING
        across = np.linalg.svd(g[None])[2][1:]
        return self.estimated(np.stack([
            (self._regressor(with_gravity(self.robot, g + STEP * size * e)) - self.rows.Y) @ self.parameters / STEP
            for e in across
        ], axis=2))  # fmt: skip

    def gains(self) -> list[Deviation]:
        """By joint: how much larger its torque is than the motion of the whole robot asks for, as a share."""
        fitted = self.rows.Y @ self.parameters
        own = np.eye(self.robot.n)
        return [self.estimated((fitted * own[j])[:, :, None]) for j in range(self.robot.n)]

    def zeros(self) -> tuple[list[Deviation], float]:
        """By joint: position of the model at the zero of the log, rad or m; and the size of the residual without any.

        Judged by the inertial parameters of the model, beside free friction, offsets and share of all torques.
        """
        names = parameter_names(self.robot, INCLUDE)
        model = standard_parameters(self.robot, INCLUDE).array()
        free = np.array([name.startswith(("F", "off")) for name in names])
        model = np.where(free, 0.0, model)
        expected = self.rows.Y @ model
        n = self.robot.n
        basis = _spanned(np.hstack([self._stacked(self.rows.Y[:, :, free]), self._stacked(expected[:, :, None])]))
        y = self._stacked(self.torques)
        rest = y - basis @ (basis.T @ y)
        found = []
        for j in range(n):
            moved = self._regressor(self.robot, STEP * np.eye(n)[j]) @ model
            C = self._stacked(((moved - expected) / STEP)[:, :, None])
            C = C - basis @ (basis.T @ C)
            found.append(NOTHING if np.linalg.norm(C) < SEEN * np.sqrt(len(C)) else
                         _explained(C, rest, basis.shape[1]))  # fmt: skip
        return found, float(np.sqrt(np.mean(rest**2)))

    def _regressor(self, robot: Robot, moved: Array | float = 0.0) -> Array:
        return self.evidence.regressor(robot, self.reading, moved)


def _spanned(A: Array) -> Array:
    lengths = np.linalg.norm(A, axis=0)
    used = lengths > 1e-9 * lengths.max(initial=1e-300)
    U, s, _ = np.linalg.svd(A[:, used] / lengths[used], full_matrices=False)
    Q: Array = U[:, s > RANK * s[0]] if len(s) else U
    return Q


def _explained(C: Array, y: Array, used: int) -> Deviation:
    """Least squares of y on C, both without what is free."""
    x = np.linalg.lstsq(C, y, rcond=RANK)[0]
    left, power = y - C @ x, max(float(y @ y), 1e-300)
    variance = float(left @ left) / max(len(y) - used, 1)
    std = np.sqrt(variance * np.diag(np.linalg.pinv(C.T @ C)))
    return Deviation(x, std, 1 - float(left @ left) / power)


__all__ = ["Deviation", "Deviations"]
