"""Deviations of a log from its declared reading: tilt of gravity, gain of a drive, zero of a joint, delay.

Each deviation changes the torques, to first order, by columns c of its own:

    tau = Y pi + N b + c x + noise                                                                             [DV-1]

with free parameters pi and friction terms N (`friction_terms`), because friction that lags behind the velocity looks
like a delay, and friction that grows with the load like a gain. Only what Y and N cannot imitate tells x.

Noise: rows are weighted by the residuals of all deviations together, by joint and class of speed, with the weights of a
Student distribution; standard deviations are those of a sandwich over blocks of time, so that residuals may be
correlated in time and between joints, as errors of a model are. A deviation counts if a log without any would show one
as clear in one case of a hundred (`certain`): Student's distribution with a degree of freedom per block.
The worth of a deviation is the share of the residual's power that it explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import stdtrit

from armdyn.doctor.log_evidence import DECIMATION, INCLUDE, Evidence, Reading, least, with_gravity
from armdyn.identification.friction.terms import Bank
from armdyn.identification.log.filters import decimated
from armdyn.parameters.standard import parameter_names, standard_parameters
from armdyn.typing import Array

STEP = 1e-3
"""Step of the differences by which torques are differentiated, rad (of gravity: a share of it)."""
LEAST = 0.002
"""Relative error of a torque below which it gets no more weight."""
SEEN = 1e-3
"""Size of a column, torques and their errors being of size 1, that must be left beside the free parameters."""
BLOCKS = 24
"""Blocks of time whose errors are taken as independent of each other."""
FALSE_ALARM = 0.01
"""Probability that any deviation counts in a log without one."""
FREEDOM = 4.0
"""Degrees of freedom of the noise."""
PASSES = 5
"""Times that the weights are renewed."""
NORMAL = 1.4826
"""Standard deviation over median of the absolute values of normal noise."""
DELAY = 0.1
"""Largest delay that is searched, s."""
REPEATED = 0.01
"""Share of their power by which the positions of a repeated motion may differ from those of the period before."""
PER_PARAMETER = 8
"""Torques per parameter below which nothing is judged."""
FEWEST = 20
"""Samples of a class of speed below which it has no noise of its own."""


@dataclass(frozen=True, eq=False)
class Deviation:
    """values: (c,) estimates; std: (c,); share: of the residual's power that it explains."""

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
        known = evidence.weights(self.rows, reading)
        self.keep = self.rows.keep & (known > 0)
        self.size = 1 / np.sqrt(np.where(known > 0, known, 1.0))
        self.torques = self._read(evidence.tau)
        self.parameters = evidence.fit(reading)[0]
        errors = np.nan_to_num(evidence.errors(reading), nan=1.0)
        self.weight = np.tile(1 / (self.size * np.maximum(errors, LEAST)), (len(self.torques), 1))
        self._renew_weights()

    @staticmethod
    def judged(evidence: Evidence, reading: Reading) -> bool:
        """Whether there are enough samples to judge by."""
        rows = evidence.rows(reading)
        known = rows.keep & (evidence.weights(rows, reading) > 0)
        return bool(known.sum() > PER_PARAMETER * rows.Y.shape[2])

    def _read(self, tau: Array) -> Array:
        read: Array = tau[:, list(self.reading.torques)] * np.array(self.reading.signs)
        return read

    def _stacked(self, x: Array) -> Array:
        """(m, n, ...) values joint by joint, weighted, where they count."""
        weight = self.weight.reshape(self.weight.shape + (1,) * (x.ndim - 2))
        return np.concatenate([(weight * x)[self.keep[:, j], j] for j in range(self.robot.n)])

    @cached_property
    def certain(self) -> float:
        """Certainty from which on a deviation counts."""
        count = 2 * self.robot.n + 2
        return -float(stdtrit(BLOCKS - 1, FALSE_ALARM / (2 * count)))

    # What is free ---------------------------------------------------------------------------------------------------

    @cached_property
    def _motion(self) -> tuple[Array, Array]:
        s, order, scale = self.evidence.samples, list(self.reading.positions), np.array(self.reading.scales)
        return s.q[:, order] * scale, s.qd[:, order] * scale

    @cached_property
    def _bank(self) -> Bank:
        return Bank.of(self.robot, self._motion[1])

    def _coarse(self, x: Array) -> Array:
        return decimated(decimated(x, self.evidence.stride), DECIMATION)

    @cached_property
    def _columns(self) -> Array:
        """(m, n, p) independent columns of the parameters, then the friction terms of every joint."""
        (q, qd), n, bank = self._motion, self.robot.n, self._bank
        names = parameter_names(self.robot, INCLUDE)
        bodies = np.array([not name.startswith(("F", "off")) for name in names])
        load = np.abs(self.rows.Y[:, :, bodies] @ self.parameters[bodies]) * self._coarse(bank.sign(qd))
        blocks = [self.rows.Y @ self._independent]
        for a, row in enumerate(bank.rows):  # joints, then motors that several joints turn
            own = self._coarse(bank.columns(q, qd, a)[:, 2:])
            if a < n:
                own[:, -1] = load[:, a]
            blocks.append(own[:, None] * row[:, None])
        return np.concatenate(blocks, axis=2)

    @cached_property
    def _independent(self) -> Array:
        """(p, r) from independent columns to those of the standard parameters."""
        Y = np.concatenate([self.rows.Y[self.keep[:, j], j] / self.size[j] for j in range(self.robot.n)])
        root = least(Y.T @ Y, np.zeros(Y.shape[1]))[1]
        return root

    @cached_property
    def _free(self) -> tuple[Array, Array]:
        """Stacked free columns, and a root of the inverse of their products."""
        F = self._stacked(self._columns)
        return F, least(F.T @ F, np.zeros(F.shape[1]))[1]

    def _left(self, x: Array) -> Array:
        """What the free columns leave of stacked values."""
        F, root = self._free
        left: Array = x - F @ (root @ (root.T @ (F.T @ x)))
        return left

    # Noise ----------------------------------------------------------------------------------------------------------

    def _renew_weights(self) -> None:
        """Weights by the residuals of all deviations together: a deviation must not count as noise."""
        every = np.concatenate([self._columns, *self.hypotheses.values()], axis=2)
        speed = self._bank.classes(self._motion[1])[:: self.evidence.stride][::DECIMATION]
        for _ in range(PASSES):
            A, y = self._stacked(every), self._stacked(self.torques)
            rest = y - A @ least(A.T @ A, A.T @ y)[0]
            ends = np.cumsum(self.keep.sum(axis=0))
            for j, own in enumerate(np.split(rest, ends[:-1])):
                inside = self.keep[:, j]
                if inside.any():
                    residual = own / self.weight[inside, j]
                    self.weight[inside, j] = _weights(residual, speed[inside, j], LEAST * self.size[j])
        self.__dict__.pop("_free", None)

    @cached_property
    def _block(self) -> Array:
        """The block of time of every stacked row; of a repeated motion, of its period: errors are repeated with it."""
        places = np.concatenate([np.flatnonzero(self.keep[:, j]) for j in range(self.robot.n)])
        period = repeated(self._motion[0][:: self.evidence.stride][::DECIMATION]) or len(self.keep)
        return np.asarray(places % period * BLOCKS // period)

    def _explained(self, C: Array, y: Array) -> Deviation:
        """Least squares of y on C, both without what is free."""
        if len(C) <= C.shape[1] or np.linalg.norm(C) < SEEN * np.sqrt(len(C)):
            return NOTHING
        inverse = np.linalg.pinv(C.T @ C)
        x = inverse @ (C.T @ y)
        left, power = y - C @ x, max(float(y @ y), 1e-300)
        scores = np.stack([C[self._block == b].T @ left[self._block == b] for b in range(BLOCKS)])
        covariance = inverse @ (scores.T @ scores) @ inverse * BLOCKS / (BLOCKS - 1)
        return Deviation(x, np.sqrt(np.diag(covariance)), 1 - float(left @ left) / power)

    # The deviations -------------------------------------------------------------------------------------------------

    @cached_property
    def hypotheses(self) -> dict[tuple[str, int], Array]:
        """{(kind, joint): (m, n, c) columns}."""
        n, own = self.robot.n, np.eye(self.robot.n)
        fitted = self.rows.Y @ self.parameters
        found = {("zero", j): (slope @ self.parameters)[:, :, None] for j, slope in enumerate(self._by_zero)}
        found |= {("gain", j): (fitted * own[j])[:, :, None] for j in range(n)}
        found |= {("tilt", 0): self._by_tilt} if self._by_tilt.size else {}
        step = float(self.evidence.samples.t[1] - self.evidence.samples.t[0])
        late, early = (self._read(self.evidence.torques(sign * step)) for sign in (1, -1))
        return found | {("delay", 0): ((early - late) / (2 * step))[:, :, None]}

    @cached_property
    def found(self) -> dict[tuple[str, int], Deviation]:
        """Each deviation alone.

        Tilt: two components across gravity, rad. Gain of a joint: how much larger its torque is than the motion of the
        whole robot asks for, as a share. Zero: position of the model at the zero of the log, rad or m.
        """
        y = self._left(self._stacked(self.torques))
        return {
            key: self._explained(self._left(self._stacked(columns)), y)
            for key, columns in self.hypotheses.items() if key[0] != "delay"
        }  # fmt: skip

    @cached_property
    def _by_zero(self) -> list[Array]:
        """By joint: (m, n, p) change of the regressor by the position of the model at the zero of the joint."""
        moved = (self.evidence.regressor(self.robot, self.reading, STEP * own) for own in np.eye(self.robot.n))
        return [(Y - self.rows.Y) / STEP for Y in moved]

    @cached_property
    def _by_tilt(self) -> Array:
        """(m, n, 2) torques by a change of gravity across its declared direction, as a share of it."""
        g = self.reading.gravity * np.array([float(x) for x in self.robot.gravity])
        size = float(np.linalg.norm(g))
        if not size:
            return np.zeros((*self.torques.shape, 0))
        tilted = [with_gravity(self.robot, g + STEP * size * e) for e in np.linalg.svd(g[None])[2][1:]]
        return np.stack([(self.evidence.regressor(robot, self.reading) - self.rows.Y) @ self.parameters / STEP
                         for robot in tilted], axis=2)  # fmt: skip

    def delay(self) -> Deviation:
        """Lag of the torques, s, that fits best."""
        lags = np.linspace(-DELAY, DELAY, 21)
        rest = [self.rest(float(lag)) for lag in lags]
        best = int(np.argmin(rest))
        ends = (float(lags[max(best - 1, 0)]), float(lags[min(best + 1, len(lags) - 1)]))
        lag = float(minimize_scalar(self.rest, bounds=ends, method="bounded", options={"xatol": 1e-5}).x)
        left = self._left(self._stacked(self._read(self.evidence.torques(lag))))
        slope = self._explained(self._left(self._stacked(self.hypotheses["delay", 0])), left)
        return Deviation(np.array([lag]), slope.std, 1 - float(left @ left) / max(self.rest(0.0), 1e-300))

    def rest(self, lag: float) -> float:
        """Power of what no parameters explain, with torques taken `lag`, s, later."""
        return float(np.sum(self._left(self._stacked(self._read(self.evidence.torques(lag)))) ** 2))

    # By the model's own masses --------------------------------------------------------------------------------------

    @cached_property
    def _model(self) -> tuple[Array, Array]:
        """(p,) bool, parameters that the model does not tell (friction, rotors, offsets), and (p,) its others."""
        names = parameter_names(self.robot, INCLUDE)
        free = np.array([name.startswith(("F", "off", "Ia")) for name in names])
        return free, np.where(free, 0.0, standard_parameters(self.robot, INCLUDE).array())

    def _by_model(self, columns: Sequence[Array], beside: Sequence[Array]) -> tuple[list[Deviation], float]:
        """Deviations with these columns, (m, n) each, and the size of the residual without them.

        Friction, rotors, offsets and the columns `beside` are free.
        """
        free, _ = self._model
        F = np.hstack([self._stacked(self.rows.Y[:, :, free]), *(self._stacked(x[:, :, None]) for x in beside)])
        root = least(F.T @ F, np.zeros(F.shape[1]))[1]

        def left(x: Array) -> Array:
            rest: Array = x - F @ (root @ (root.T @ (F.T @ x)))
            return rest

        y = left(self._stacked(self.torques))
        found = [self._explained(left(self._stacked(x[:, :, None])), y) for x in columns]
        return found, float(np.sqrt(np.mean(y**2)))

    @cached_property
    def scale(self) -> Deviation:
        """How much larger the torques of bodies are than the model's, weight and inertia together."""
        _, model = self._model
        found = self._by_model([self.rows.Y @ model], [])[0][0]
        return replace(found, values=found.values - 1)

    def zeros(self) -> tuple[list[Deviation], float]:
        """By joint: position of the model at the zero of the log, rad or m, by the model's masses times one scale.

        And the size of the residual without any.
        """
        _, model = self._model
        return self._by_model([slope @ model for slope in self._by_zero], [self.rows.Y @ model])


def repeated(q: Array) -> int | None:
    """Number of samples after which positions (m, n) repeat themselves; None if they do not within half of them."""
    x = q - q.mean(axis=0)
    m, power = len(x), np.concatenate([[0.0], np.cumsum((x**2).sum(axis=1))])
    spectrum = (np.abs(np.fft.rfft(x, 2 * m, axis=0)) ** 2).sum(axis=1)
    product = np.fft.irfft(spectrum)[:m]
    lags = np.arange(1, m // 2 + 1)
    both = power[m - lags] + power[m] - power[lags]  # of the samples that are compared
    apart = 1 - 2 * product[lags] / np.maximum(both, 1e-300)
    far = np.flatnonzero(apart > 0.5)  # beyond the neighbours of a sample itself
    if not len(far) or not (again := np.flatnonzero(apart[far[0] :] < REPEATED)).size:
        return None
    first = far[0] + again[0]
    stop = first + int(np.argmax(np.append(apart[first:] > REPEATED, True)))
    return int(lags[first + np.argmin(apart[first:stop])])


def _weights(residual: Array, speed: Array, floor: float) -> Array:
    """One over the noise by class of speed, times the root of the weights of a Student distribution."""
    sigma = np.full(len(residual), NORMAL * float(np.median(np.abs(residual))))
    for kind in np.unique(speed):
        inside = speed == kind
        if inside.sum() >= FEWEST:
            sigma[inside] = NORMAL * float(np.median(np.abs(residual[inside])))
    sigma = np.maximum(sigma, floor)
    weights: Array = np.sqrt((FREEDOM + 1) / (FREEDOM + (residual / sigma) ** 2)) / sigma
    return weights


__all__ = ["Deviation", "Deviations"]
