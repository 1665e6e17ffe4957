"""Evidence: do the torques follow from the motion, and would they follow better if the log were read differently?

All torques are fitted at once by the regressor with free parameters: only the geometry of the model is used, so the
masses may be unknown. Wrong columns, signs or units leave a large residual in such a fit. Other readings of the log
(`Reading`) are tried until none fits better. Torque and regressor are low-passed and decimated alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TypeVar

import numpy as np
from scipy.interpolate import make_interp_spline

from armdyn.algebra import Vec3
from armdyn.dynamics import compile as compiled
from armdyn.identification.log.filters import decimated, decimated_keep
from armdyn.identification.log.samples import Samples, excerpts
from armdyn.parameters.regressor import regressor
from armdyn.robot import Robot
from armdyn.typing import Array

INCLUDE = ("inertial", "rotor", "friction", "offset")
MOST = 2000
"""Samples at which the regressor is evaluated, at most."""
DECIMATION = 4
"""Decimation factor of torque and regressor after that."""
RESOLVED = 8.0
"""Samples to the period of the cut-off that the regressor needs; a log too long for it is judged by excerpts."""
EXCERPTS, SETTLED = 8, 1.0
"""Number of excerpts of a long log, and periods of the cut-off at their ends that do not count."""
FEWEST = 50
"""Samples of a joint below which it is not judged."""
SINGULAR = 1e-11
"""Eigenvalues of the normal equations below this share of the largest count as zero (squared: 3e-6 for columns)."""
ROUNDING = 1e-10
"""Length of a column below which, as a share of the longest, it is rounding: the torques do not depend on it."""
NOISE = 0.03
"""Relative error of a torque below which differences are not evidence."""
CLEAR = 2 * NOISE
"""Largest relative error of any torque up to which no other reading is tried."""
POOR = 0.1
"""Largest relative error above which other readings of the motion are tried too."""
BETTER = 2.5
"""Product of the joints' improvements above which another reading of a log is preferred."""
DEGREE = math.pi / 180
Number = TypeVar("Number", int, float)


@dataclass(frozen=True)
class Reading:
    """How the columns of a log are read: the declared reading is the identity.

    torques, positions: (n,) column of each joint
    signs: (n,) of the torques
    scales: (n,) of the positions; negative for a position of the opposite sign
    gravity: 1, 0 if the torques do not contain it, -1 if it acts the other way
    """

    torques: tuple[int, ...]
    positions: tuple[int, ...]
    signs: tuple[int, ...]
    scales: tuple[float, ...]
    gravity: int = 1

    @staticmethod
    def declared(n: int) -> Reading:
        each = tuple(range(n))
        return Reading(each, each, (1,) * n, (1.0,) * n)

    @property
    def motion(self) -> Reading:
        """The part that changes the regressor."""
        return replace(self, torques=self.declared(len(self.signs)).torques, signs=(1,) * len(self.signs))


@dataclass(frozen=True, eq=False)
class Rows:
    """The regressor and torques under one reading of the motion, condensed.

    Y: (m, n, p) regressor
    keep: (m, n) bool, samples that count
    gram: (n, p, p) Y_j^T Y_j
    product: (n, n, p) Y_j^T tau_k
    square: (n, n) tau_k^T tau_k over the samples of joint j
    """

    Y: Array
    keep: Array
    gram: Array
    product: Array
    square: Array


def resolved(samples: Samples) -> Samples:
    """The samples; of a log so long that MOST samples do not resolve its motion, excerpts."""
    if not samples.cutoff:
        return samples
    rate = (len(samples) - 1) / float(samples.t[-1] - samples.t[0])
    stride = max(1, math.floor(rate / (RESOLVED * samples.cutoff)))
    if len(samples) <= 2 * MOST * stride:
        return samples
    return excerpts(samples, EXCERPTS, MOST * stride // EXCERPTS, math.ceil(SETTLED * rate / samples.cutoff))


@dataclass(frozen=True, eq=False)
class Evidence:
    """A processed log, seen by the robot's regressor."""

    robot: Robot
    samples: Samples
    _known: dict[Reading, Rows] = field(default_factory=dict, repr=False)

    @cached_property
    def stride(self) -> int:
        return max(1, math.ceil(len(self.samples) / MOST))

    def torques(self, lag: float = 0.0) -> Array:
        """(m, n) decimated torques, each as measured `lag`, s, later."""
        step = self.stride * float(self.samples.t[1] - self.samples.t[0])
        coarse, moved = self._coarse, np.arange(-(-len(self.samples) // self.stride)) + lag / step
        return decimated(coarse(np.clip(moved, 0, len(moved) - 1)) if lag else coarse(moved), DECIMATION)

    @cached_property
    def _coarse(self) -> Callable[[Array], Array]:
        """Torques low-passed at every stride-th sample, as a function of the number of the sample."""
        tau = decimated(self.samples.tau, self.stride)
        spline: Callable[[Array], Array] = make_interp_spline(np.arange(len(tau)), tau, k=3)
        return spline

    @cached_property
    def tau(self) -> Array:
        return self.torques()

    def rows(self, reading: Reading) -> Rows:
        """The regressor under a reading of the motion."""
        key = reading.motion
        if key not in self._known:
            self._known[key] = self._rows(key)
        return self._known[key]

    def _rows(self, reading: Reading) -> Rows:
        robot = with_gravity(self.robot, [reading.gravity * float(x) for x in self.robot.gravity])
        keep = decimated_keep(decimated_keep(self.samples.keep, self.stride), DECIMATION)[:, list(reading.positions)]
        return condensed(self.regressor(robot, reading), keep, self.tau)

    def regressor(self, robot: Robot, reading: Reading, moved: Array | float = 0.0) -> Array:
        """(m, n, p) decimated regressor of a robot, its joints moved by constant amounts."""
        s, order, scale = self.samples, list(reading.positions), np.array(reading.scales)
        q, qd, qdd = (x[:: self.stride][:, order] * scale for x in (s.q, s.qd, s.qdd))
        near = compiled(robot).closed(q) if robot.constrained else None
        return decimated(np.asarray(regressor(robot, q + moved, qd, qdd, INCLUDE, near)), DECIMATION)

    # Fits ----------------------------------------------------------------------------------------------------------

    def fit(self, reading: Reading) -> tuple[Array, Array]:
        """(p,) standard parameters of least residual, and (p, r) whose product with its transpose is their covariance.

        Joints are weighted by their torques; residuals are assumed white.
        """
        rows = self.rows(reading)
        parameters, errors = self._solved(rows, reading)
        counts = rows.keep.sum(axis=0)
        weight = self.weights(rows, reading)
        root = least(np.einsum("j,jpq->pq", weight, rows.gram), np.zeros(len(parameters)))[1]
        known = np.isfinite(errors)
        sigma = math.sqrt(float(counts[known] @ errors[known] ** 2) / max(float(counts[known].sum()), 1.0))
        return parameters, sigma * root

    def errors(self, reading: Reading) -> Array:
        """(n,) residual of the fit over the standard deviation of each joint's torque; NaN where there are no data."""
        return self._solved(self.rows(reading), reading)[1]

    def weights(self, rows: Rows, reading: Reading) -> Array:
        """(n,) one over the variance of each joint's torque; 0 where there are too few data."""
        counts = rows.keep.sum(axis=0)
        spread = [self.tau[rows.keep[:, j], k].var() if counts[j] else 0.0 for j, k in enumerate(reading.torques)]
        known = (counts >= FEWEST) & (np.array(spread) > 0)
        return np.where(known, 1 / np.where(known, spread, 1.0), 0.0)

    def _solved(self, rows: Rows, reading: Reading) -> tuple[Array, Array]:
        """Parameters and the relative residual of each joint's torque."""
        joint, column = np.arange(self.robot.n), list(reading.torques)
        weight = self.weights(rows, reading)
        product = rows.product[joint, column] * np.array(reading.signs)[:, None]
        parameters = least(np.einsum("j,jpq->pq", weight, rows.gram), weight @ product)[0]
        squares = (rows.square[joint, column] - 2 * product @ parameters
                   + np.einsum("jpq,p,q->j", rows.gram, parameters, parameters))  # fmt: skip
        mean = np.maximum(squares, 0) / np.maximum(rows.keep.sum(axis=0), 1)
        return parameters, np.where(weight > 0, np.sqrt(mean * weight), np.nan)

    def improvement(self, before: Array, after: Array) -> float:
        """Product of the joints' ratios of errors, ignoring differences below the noise."""
        ratio = np.fmax(before, NOISE) / np.fmax(after, NOISE)
        return float(np.exp(np.log(ratio[np.isfinite(before) & np.isfinite(after)]).sum()))

    # Other readings ------------------------------------------------------------------------------------------------

    def readings(self) -> list[Reading]:
        """The declared reading and then, one change after the other, those that fit better."""
        readings = [Reading.declared(self.robot.n)]
        errors = self.errors(readings[0])
        while len(readings) <= self.robot.n and np.nanmax(errors, initial=0.0) > CLEAR:
            gain, best = self._best(errors, self._other_torques(readings[-1]))
            if np.nanmax(errors) > POOR and not self._clear(best):  # these need the regressor again, which takes time
                other, motion = self._best(errors, self._other_motions(readings[-1]), first=True)
                gain, best = (other, motion) if other > gain else (gain, best)
            if best is None or gain < BETTER:
                break
            readings.append(best)
            errors = self.errors(best)
        return readings

    def _best(self, errors: Array, readings: Iterator[Reading], *, first: bool = False) -> tuple[float, Reading | None]:
        """How much better, and the reading; of those that are equal but for noise, the one that fits best.

        first: the first one that fits clearly ends the search
        """
        gain, rest, best = 1.0, math.inf, None
        for reading in readings:
            after = self.errors(reading)
            better, left = self.improvement(errors, after), float(np.log(np.fmax(after, 1e-12))[after >= 0].sum())
            if better > gain or (better == gain and best is not None and left < rest):
                gain, rest, best = better, left, reading
            if first and self._clear(best):
                break
        return gain, best

    def _clear(self, reading: Reading | None) -> bool:
        return reading is not None and bool(np.nanmax(self.errors(reading)) <= CLEAR)

    def _other_torques(self, reading: Reading) -> Iterator[Reading]:
        """Readings that differ by the sign of one torque or by two columns of torques."""
        for j in range(self.robot.n):
            yield replace(reading, signs=_changed(reading.signs, j, -reading.signs[j]))
        for i, j in combinations(range(self.robot.n), 2):
            yield replace(reading, torques=_swapped(reading.torques, i, j), signs=_swapped(reading.signs, i, j))

    def _other_motions(self, reading: Reading) -> Iterator[Reading]:
        """Readings that differ by the unit of positions, by two columns or the sign of one of them, or by gravity."""
        revolute = [joint.kind == "revolute" for joint in self.robot.joints]
        for kind, factor in ((True, DEGREE), (True, 1 / DEGREE), (False, 1e-3), (False, 1e3)):
            if kind in revolute:
                scales = [s * factor if r == kind else s for s, r in zip(reading.scales, revolute, strict=True)]
                yield replace(reading, scales=tuple(scales))
        yield from (replace(reading, gravity=g) for g in (1, 0, -1) if g != reading.gravity)
        for j in range(self.robot.n):
            yield replace(reading, scales=_changed(reading.scales, j, -reading.scales[j]))
        for i, j in combinations(range(self.robot.n), 2):
            yield replace(reading, positions=_swapped(reading.positions, i, j))


def _changed(values: tuple[Number, ...], j: int, value: Number) -> tuple[Number, ...]:
    changed = list(values)
    changed[j] = value
    return tuple(changed)


def _swapped(values: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    order = list(values)
    order[i], order[j] = order[j], order[i]
    return tuple(order)


def with_gravity(robot: Robot, g: Sequence[float] | Array) -> Robot:
    """The robot in another gravity, m/s^2."""
    return replace(robot, gravity=Vec3(*(float(x) for x in g)), expressions=None)


def condensed(Y: Array, keep: Array, tau: Array) -> Rows:
    """Regressor and torques with the products that fits need."""
    kept = Y * keep[:, :, None]
    gram = np.stack([kept[:, j].T @ kept[:, j] for j in range(Y.shape[1])])
    product = np.stack([tau.T @ kept[:, j] for j in range(Y.shape[1])])
    return Rows(Y, keep, gram, product, keep.T.astype(float) @ tau**2)


def least(gram: Array, product: Array) -> tuple[Array, Array]:
    """The shortest solution of the normal equations in scaled columns, and a root of the inverse of gram."""
    scale = np.sqrt(np.diag(gram))
    scale = np.where(scale > ROUNDING * scale.max(initial=0.0), scale, np.inf)  # no part of the solution
    values, vectors = np.linalg.eigh(gram / np.outer(scale, scale))
    good = values > SINGULAR * values[-1]
    root = vectors[:, good] / np.sqrt(values[good]) / scale[:, None]
    return root @ (root.T @ product), root


__all__ = ["Evidence", "Reading", "least", "resolved", "with_gravity"]
