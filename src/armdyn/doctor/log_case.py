"""A log as evidence: do the torques follow from the motion, and would they if the columns were read otherwise?

All hypotheses are compared by one number, the evidence of the torques under a reading of the columns,

    E = - sum_j N_j (log s_j + 1/2) - w sum_i D(J_i, J0_i) - |x|^2/2 - 1/2 log det(H H0^-1) + sum log Phi(f/sd)   [LC-1]

Bodies are free under the log-det divergence D from those of the model (`armdyn.parameters.barrier`), so that a model
may be wrong by a quarter, but not by a factor of twelve. Rotor inertia, friction and offset x of every joint are free
within half of its torque; s_j is the noise of joint j, profiled. H and H0 are the curvatures with and without the log.
The last sum is the factor of a prior that allows friction to brake only; it tells signs where nothing weighs.
N_j counts independent samples: one in a quarter of a second, because errors of a model are correlated in time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import log_ndtr

from armdyn.algebra import Vec3
from armdyn.doctor.reading import Hypothesis, Reading, hypothesis, registered
from armdyn.dynamics import compile as compiled
from armdyn.identification.log.filters import low_passed
from armdyn.identification.log.samples import Samples
from armdyn.parameters.barrier import Barrier, BarrierSettings, minimised, prior_bodies
from armdyn.parameters.regressor import regressor
from armdyn.parameters.standard import INERTIAL, parameter_names, standard_parameters
from armdyn.robot import Robot
from armdyn.typing import Array

INCLUDE = ("inertial", "rotor", "friction", "offset")
FEWEST = 60
"""Samples below which a log is not filtered."""
EARTH = 9.81
"""m/s^2."""
DEGREE = math.pi / 180
QUARTERS = (math.pi / 2, -math.pi / 2, math.pi)
"""rad. Zeros that are usual beside that of the model."""


@dataclass(frozen=True)
class LogSettings:
    """How evidence is weighed.

    rows: samples at which torques are compared. independent: s, time after which errors count as independent.
    bodies: weight of the divergence of bodies, nats: a scale of 0.8 to 1.25 is no surprise.
    own: standard deviation of rotor, friction and offset torques as a part of the joint's torque.
    finest: noise of a joint, at least, as a part of its torque: sensors resolve no finer. A hundredth hid zeros
        off by 0.1 rad, which bodies that are turned explain to half a percent.
    fewest: rows of a joint below which it is not judged. cap: nats by which friction of the wrong sign counts at most.
    named, per_sample: nats that a reading must gain, at least and per independent sample.
    well: largest part of a torque that is not explained, up to which nothing is asked, if bodies are like the model's.
    clear, poor: largest part of a torque that is not explained, up to which columns, signs and units are not doubted,
        and from which on readings of the motion are tried, which take time.
    """

    rows: int = 320
    independent: float = 0.25
    bodies: float = 5.0
    own: float = 0.5
    finest: float = 0.003
    fewest: int = 40
    cap: float = 15.0
    named: float = 8.0
    per_sample: float = 0.1
    well: float = 0.015
    clear: float = 0.06
    poor: float = 0.1


SETTINGS = LogSettings()


@dataclass(frozen=True)
class Columns:
    """How the columns of a log are read; `declared` is as the log says.

    torques, positions: (n,) column of each joint. gains: (n,) of the torques. scales, zeros: (n,) the joint's position
    is scale * column + zero. gravity: (3,) m/s^2, in which the torques were measured. delay: s, by which torques are
    stamped too early. compensated: the model's own gravity was subtracted from the torques.
    """

    torques: tuple[int, ...]
    positions: tuple[int, ...]
    gains: tuple[float, ...]
    scales: tuple[float, ...]
    zeros: tuple[float, ...]
    gravity: tuple[float, float, float]
    delay: float = 0.0
    compensated: bool = False

    @staticmethod
    def declared(robot: Robot) -> Columns:
        each = tuple(range(robot.n))
        x, y, z = (float(g) for g in robot.gravity)
        return Columns(each, each, (1.0,) * robot.n, (1.0,) * robot.n, (0.0,) * robot.n, (x, y, z))

    @property
    def motion(self) -> tuple[object, ...]:
        """What the regressor depends on."""
        return self.positions, self.scales, self.zeros, self.gravity


class Grams(NamedTuple):
    """Products of the regressor of each joint j with itself and with the torques of each column k.

    Y: (m, n, p); keep: (m, n); gram: (n, p, p); product: (n, n, p); square: (n, n)
    """

    Y: Array
    keep: Array
    gram: Array
    product: Array
    square: Array


class TorqueFit(NamedTuple):
    """The parameters of largest posterior probability.

    x: (p,) parameters; errors: (n,) residual over the torque, rms, NaN where nothing is known
    evidence: nats, of which friction that would drive its joint takes `signs`, and parameters that the model does not
        expect take `cost`; sigma: (n,) noise
    """

    x: Array
    errors: Array
    evidence: float
    sigma: Array
    signs: float
    cost: float


@dataclass(frozen=True, eq=False)
class LogRows:
    """The rows of a log at which torques are compared, and what was computed of them.

    count: independent samples. added: gravity was added to the efforts when the log was read.
    """

    robot: Robot
    q: Array
    qd: Array
    qdd: Array
    keep: Array
    coulomb: Array
    torque_at: Callable[[float], Array]
    count: float
    added: bool = False
    _known: dict[object, Grams] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(robot: Robot, samples: Samples, spikes: Array | None = None, *, added: bool = False) -> LogRows:
        """spikes: (N, n) bool, torques of the samples that do not count"""
        step = float(np.median(np.diff(samples.t)))
        cutoff = samples.cutoff if 0 < samples.cutoff < 0.4 / step else 0.0
        tau, coulomb = (
            low_passed(x, cutoff, 1 / step) if cutoff and len(samples) > FEWEST else x
            for x in (samples.tau, np.sign(samples.qd))
        )  # friction that changes at once, filtered alike
        moving = np.flatnonzero(samples.keep.any(axis=1))
        at = (
            moving[np.linspace(0, len(moving) - 1, min(SETTINGS.rows, len(moving))).astype(int)]
            if len(moving)
            else moving
        )
        keep = samples.keep[at] if spikes is None else samples.keep[at] & ~spikes[at]

        def torque_at(delay: float) -> Array:
            if not delay:
                return tau[at]
            place = np.clip(samples.t[at] + delay, samples.t[0], samples.t[-1])
            return np.column_stack([np.interp(place, samples.t, column) for column in tau.T])

        duration = len(moving) * step
        q, qd, qdd = (getattr(samples, name)[at] for name in ("q", "qd", "qdd"))
        return LogRows(
            robot, q, qd, qdd, keep, coulomb[at], torque_at, max(duration / SETTINGS.independent, 1.0), added
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        return parameter_names(self.robot, INCLUDE)

    @cached_property
    def model(self) -> Array:
        """(p,) parameters of the model."""
        return standard_parameters(self.robot, INCLUDE).array()

    @cached_property
    def barrier(self) -> Barrier:
        places = np.array(
            [
                [self.names.index(f"{key}{k + 1}") for key in INERTIAL]
                for k in range(len(self.names))
                if f"M{k + 1}" in self.names
            ]
        )
        none = np.zeros(0, dtype=int)
        return Barrier(
            places, prior_bodies(self.model[places]), none, np.zeros(0), BarrierSettings(bodies=SETTINGS.bodies)
        )

    def regressor(self, columns: Columns, gravity: Sequence[float] | Array | None = None) -> Array:
        """(m, n, p) of the robot under a reading of its columns."""
        robot = with_gravity(self.robot, columns.gravity if gravity is None else gravity)
        order, scale = list(columns.positions), np.array(columns.scales)
        q, qd, qdd = (
            self.q[:, order] * scale + np.array(columns.zeros),
            self.qd[:, order] * scale,
            self.qdd[:, order] * scale,
        )
        near = compiled(self.robot).closed(q) if robot.constrained else None
        Y = np.asarray(regressor(robot, q, qd, qdd, INCLUDE, near))
        if not robot.constrained and not robot.coupling:
            for j in range(robot.n):
                Y[:, j, self.names.index(f"Fc{j + 1}")] = self.coulomb[:, order[j]] * np.sign(scale[j])
        return Y

    def torques(self, columns: Columns) -> Array:
        """(m, n) torques by column, with the model's gravity added back where it was subtracted."""
        tau = self.torque_at(columns.delay)
        if columns.compensated:
            still = replace(self, qd=0 * self.qd, qdd=0 * self.qdd)
            bodies = self.model.copy()
            bodies[_own_places(self.names)] = 0.0
            tau = tau.copy()
            tau[:, list(columns.torques)] += still.regressor(columns) @ bodies / np.array(columns.gains)
        return tau

    def grams(self, columns: Columns) -> Grams:
        key = (columns.motion, columns.delay, columns.compensated and (columns.torques, columns.gains))
        if key not in self._known:
            Y, tau = self.regressor(columns), self.torques(columns)
            keep = self.keep[:, list(columns.positions)]
            kept = Y * keep[:, :, None]
            gram = np.stack([kept[:, j].T @ kept[:, j] for j in range(Y.shape[1])])
            product = np.stack([tau.T @ kept[:, j] for j in range(Y.shape[1])])
            self._known[key] = Grams(Y, keep, gram, product, keep.T.astype(float) @ tau**2)
        return self._known[key]


@dataclass(frozen=True, eq=False)
class LogCase:
    """A log and its robot under a reading of the columns: a case for the search."""

    rows: LogRows
    columns: Columns
    warm: TorqueFit | None = None
    """The fit of a similar reading, from which the iteration starts."""
    beam: ClassVar[int] = 1
    rounds: ClassVar[int] = 3
    eager: ClassVar[bool] = True

    @property
    def robot(self) -> Robot:
        return self.rows.robot

    @cached_property
    def _grams(self) -> Grams:
        return self.rows.grams(self.columns)

    @cached_property
    def fit(self) -> TorqueFit:
        """The parameters of largest posterior probability, noise and evidence [LC-1]."""
        rows, grams, columns, s = self.rows, self._grams, self.columns, SETTINGS
        n, p, gains = self.robot.n, len(rows.names), np.array(columns.gains)
        joint, taken = np.arange(n), list(columns.torques)
        count = grams.keep.sum(axis=0)
        product = grams.product[joint, taken] * gains[:, None]
        square = grams.square[joint, taken] * gains**2
        size = np.sqrt(square / np.maximum(count, 1))
        known = (count >= s.fewest) & (size > 0)
        independent = np.where(known, rows.count * count / max(len(grams.keep), 1), 0.0)
        own = _own_places(rows.names)
        lengths = np.sqrt(np.einsum("jpp->p", grams.gram)[own] / np.maximum(count.sum(), 1) * n)
        torque = np.repeat(size, 4)[: len(own)] if len(own) == 4 * n else np.full(len(own), size.mean() or 1.0)
        sd = s.own * np.maximum(torque, 1e-9) / np.where(lengths > 0, lengths, 1.0)
        prior = np.zeros(p)
        prior[own] = 1 / sd**2
        barrier = rows.barrier
        x, sigma = barrier.start(p), np.maximum(0.3 * size, 1e-12)
        if self.warm is not None:
            x, sigma = self.warm.x, np.maximum(self.warm.errors * size, s.finest * size + 1e-12)
            sigma = np.where(np.isfinite(sigma), sigma, 0.3 * size + 1e-12)
        for _ in range(6):
            weight = np.where(known, independent / np.maximum(count, 1) / sigma**2, 0.0)
            H = np.einsum("j,jpq->pq", weight, grams.gram) + np.diag(prior)
            x, hessian = minimised(H, weight @ product, barrier, x)
            left = np.maximum(square - 2 * product @ x + np.einsum("jpq,p,q->j", grams.gram, x, x), 0.0)
            before, sigma = sigma, np.maximum(np.sqrt(left / np.maximum(count, 1)), s.finest * np.maximum(size, 1e-12))
            if np.abs(np.log(sigma / before)).max() < 0.02:
                break
        start = barrier.start(p)
        spread = (
            np.linalg.slogdet(_touched(hessian))[1]
            - np.linalg.slogdet(_touched(np.diag(prior) + barrier.expansion(start)[1]))[1]
        )
        noise = float(independent[known] @ (np.log(sigma[known] / np.abs(gains[known])) + 0.5))
        friction = [k for k, name in enumerate(rows.names) if name.startswith(("Fv", "Fc"))]
        deviation = 1 / np.sqrt(np.maximum(np.diag(hessian)[friction], 1e-300))
        signs = float(np.maximum(log_ndtr(x[friction] / deviation), -s.cap).sum())
        cost = barrier.value(x) - barrier.value(start) + float(prior @ x**2) / 2
        errors = np.where(known, np.sqrt(left) / np.sqrt(np.maximum(square, 1e-300)), np.nan)
        return TorqueFit(x, errors, -noise - cost - spread / 2 + signs, sigma, signs, cost)

    @property
    def misfit(self) -> float:
        gains = np.abs(np.array(self.columns.gains))
        common = float(np.exp(np.log(gains).mean()))
        unusual = math.log(common) ** 2 / 2 + float((np.log(gains / common) ** 2).sum()) / 2
        return -(self.fit.evidence - unusual) / math.log(10)

    @property
    def settled(self) -> bool:
        """Whether the torques are explained to within usual noise, by parameters near those of the model and by
        friction that brakes: nothing is to ask.
        """
        fit, s = self.fit, SETTINGS
        return self.worst < s.well and fit.cost < s.named and fit.signs > -s.named

    @property
    def worst(self) -> float:
        """The largest part of a joint's torque that is not explained."""
        return float(np.nanmax(self.fit.errors, initial=0.0))

    def after(self, readings: Sequence[Reading]) -> LogCase:
        columns = self.columns
        for reading in readings:
            columns = reading.apply(columns)
        return replace(self, columns=columns, warm=self.fit)

    def hypotheses(self) -> Sequence[Hypothesis]:
        return registered("log")

    def cost(self, reading: Reading) -> float:
        count = self.rows.count
        least = max(SETTINGS.named, SETTINGS.per_sample * count)
        return (least + reading.reals / 2 * math.log(count) + math.log(reading.options)) / math.log(10)

    @cached_property
    def weight_share(self) -> tuple[float, float]:
        """The torques of weight and inertia over those of the model's bodies, all at once, and the standard deviation.

        Friction, rotors and offsets are free.
        """
        free = _own_places(self.rows.names)
        bodies = self.rows.model.copy()
        bodies[free] = 0.0
        A = np.stack(
            [self.columns_of(self._grams.Y @ bodies), *(self.columns_of(self._grams.Y[:, :, k]) for k in free)], axis=1
        )
        y = self.columns_of(self.residual + self._grams.Y @ self.fit.x)
        if not A[:, 0].any():
            return 1.0, math.inf
        others = A[:, 1:]
        own = A[:, 0] - others @ np.linalg.lstsq(others, A[:, 0], rcond=1e-10)[0]
        share = float(own @ y) / max(float(own @ own), 1e-300)
        left = y - A @ np.linalg.lstsq(A, y, rcond=1e-10)[0]
        independent = self.rows.count / max(len(self._grams.keep), 1)
        return share, math.sqrt(float(left @ left) / max(len(y), 1) / max(float(own @ own) * independent, 1e-300))

    def columns_of(self, change: Array) -> Array:
        """(m n,) values (m, n) of all joints, weighted by their noise, where they count."""
        weighted = change / self.fit.sigma * self._grams.keep
        return np.asarray(np.nan_to_num(weighted).ravel())

    @cached_property
    def residual(self) -> Array:
        """(m, n) torques that the fit does not explain, in the order of the joints."""
        tau = self.rows.torques(self.columns)[:, list(self.columns.torques)] * np.array(self.columns.gains)
        return np.asarray(tau - self._grams.Y @ self.fit.x)

    def linear_estimate(self, slope: Array) -> Array:
        """(c,) least squares of the residual on slopes (m, n, c), bodies and friction as they are."""
        A = np.stack([self.columns_of(slope[:, :, k]) for k in range(slope.shape[2])], axis=1)
        return np.asarray(np.linalg.lstsq(A, self.columns_of(self.residual), rcond=1e-10)[0])


def _own_places(names: Sequence[str]) -> list[int]:
    """Places of rotor, friction and offset, joint by joint."""
    return [k for k, name in enumerate(names) if name.startswith(("Ia", "F", "off"))]


def _touched(H: Array) -> Array:
    live = np.flatnonzero(np.diag(H) > 0)
    return H[np.ix_(live, live)]


def with_gravity(robot: Robot, g: Sequence[float] | Array) -> Robot:
    """The robot in another gravity, m/s^2."""
    return replace(robot, gravity=Vec3(*(float(x) for x in g)), expressions=None)


# Hypotheses ----------------------------------------------------------------------------------------------------------


def _put(values: tuple[float, ...], j: int, value: float) -> tuple[float, ...]:
    return (*values[:j], value, *values[j + 1 :])


def _swapped(values: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    order = list(values)
    order[i], order[j] = order[j], order[i]
    return tuple(order)


def _reading(kind: str, where: Sequence[str], what: str, options: int = 1, reals: int = 0, **changes: Any) -> Reading:
    return Reading(kind, tuple(where), what, lambda columns: replace(columns, **changes), reals, options)


@hypothesis("log")
def torque_columns(case: LogCase) -> Iterator[Reading]:
    """Signs of torques, and two columns of torques for each other."""
    columns, names = case.columns, [joint.name for joint in case.robot.joints]
    n = len(names)
    gains = columns.gains
    yield _reading("sign of torque", names, "all torques have the opposite sign", gains=tuple(-g for g in gains))
    for j, name in enumerate(names):
        yield _reading("sign of torque", [name], "the torque has the opposite sign", n, gains=_put(gains, j, -gains[j]))
    if case.worst > SETTINGS.clear:
        for i, j in combinations(range(n), 2):
            order = _swapped(columns.torques, i, j)
            yield _reading(
                "order of torques", [names[i], names[j]], "their torques are swapped", n * (n - 1) // 2, torques=order
            )


@hypothesis("log", effort=1)
def position_columns(case: LogCase) -> Iterator[Reading]:
    """Units and signs of positions, and two columns of positions for each other."""
    columns, joints = case.columns, case.robot.joints
    n, scales = len(joints), columns.scales
    if case.worst < SETTINGS.poor:
        return
    for kind, factor in (("revolute", DEGREE), ("revolute", 1 / DEGREE), ("prismatic", 1e-3), ("prismatic", 1e3)):
        if any(joint.kind == kind for joint in joints):
            changed = tuple(s * factor if joint.kind == kind else s for s, joint in zip(scales, joints, strict=True))
            yield _reading("unit of position", ["positions"], f"{kind} {factor}", 4, scales=changed)
    for j, joint in enumerate(joints):
        yield _reading(
            "sign of position",
            [joint.name],
            "the position has the opposite sign",
            n,
            scales=_put(scales, j, -scales[j]),
        )
    for i, j in combinations(range(n), 2):
        yield _reading(
            "order of positions",
            [joints[i].name, joints[j].name],
            "their positions are swapped",
            n * (n - 1) // 2,
            positions=_swapped(columns.positions, i, j),
        )


@hypothesis("log", effort=1)
def gravity_of_the_log(case: LogCase) -> Iterator[Reading]:
    """Gravity in any direction, and torques that do not contain it."""
    size = float(np.linalg.norm(case.columns.gravity)) or EARTH
    zero = case.rows.regressor(case.columns, (0.0, 0.0, 0.0))
    units = [case.rows.regressor(case.columns, unit) - zero for unit in np.eye(3)]
    if any(case.columns.gravity):
        yield _reading("gravity missing", ["effort"], "the torques do not contain gravity", gravity=(0.0, 0.0, 0.0))
        if not case.columns.compensated:
            yield _reading("gravity missing", ["effort"], "the model's gravity was subtracted", compensated=True)
        if case.rows.added:
            twice = tuple(2 * g for g in case.columns.gravity)
            yield _reading("gravity twice", ["effort"], "the torques contain gravity twice", gravity=twice)
    trials = [case] if any(case.columns.gravity) else []
    if case.worst > SETTINGS.poor:
        axes = (sign * size * unit for unit in np.eye(3) for sign in (1, -1))
        far = [case.after([_reading("", [], "", gravity=tuple(map(float, g)))]) for g in axes]
        trials += sorted(far, key=lambda trial: trial.misfit)[:2]
    for trial in trials:
        for _ in range(2):  # bodies and direction in turn
            slope = np.stack([Y @ trial.fit.x for Y in units], axis=2)
            g = np.array(trial.columns.gravity) + trial.linear_estimate(slope)
            length = float(np.linalg.norm(g))
            if not length > 0.2 * size:
                break
            trial = trial.after([_reading("", [], "", gravity=tuple(map(float, g * (size / length))))])
        yield _reading("direction of gravity", ["model"], "", 6, 2, gravity=trial.columns.gravity)


def likely_gravity(robot: Robot, samples: Samples) -> Array:
    """(3,) gravity in which the torques of a log were measured, m/s^2: the model's, or the direction that they prefer.

    Least squares alone cannot tell it from the opposite, in which masses are negative.
    """
    case = LogCase(LogRows.of(robot, samples), Columns.declared(robot))
    best, least = case, case.misfit
    for reading in gravity_of_the_log(case):
        if isinstance(reading, Reading) and reading.kind == "direction of gravity":
            after = case.after([reading])
            if (length := after.misfit + case.cost(reading)) < least:
                best, least = after, length
    return np.array(best.columns.gravity)


def _best(case: LogCase, change: Callable[[float], dict[str, Any]], step: float, start: float = 0.0) -> float:
    """The amount of a change that fits best, near `start`: the vertex of a parabola through three evaluations, and if
    it is far, of one through nearer evaluations about it.
    """

    def misfit(x: float) -> float:
        return case.misfit if x == 0 else case.after([_reading("", [], "", **change(x))]).misfit

    middle = start
    for width in (step, step, step / 2, step / 4):
        low, at, high = (misfit(middle + x) for x in (-width, 0.0, width))
        curve = low - 2 * at + high
        by = 0.5 * width * (low - high) / curve if curve > 0 else width * (1 if high < low else -1)
        middle += float(np.clip(by, -2 * width, 2 * width))
        if abs(by) < width / 4:
            break
    return middle


@hypothesis("log", effort=2)
def zeros(case: LogCase) -> Iterator[Reading]:
    """Joints whose zero in the log is not that of the model."""
    columns, joints = case.columns, case.robot.joints
    if case.robot.constrained:
        return
    for j, joint in enumerate(joints):

        def moved(x: float, j: int = j) -> dict[str, Any]:
            return {"zeros": _put(columns.zeros, j, columns.zeros[j] + x)}

        turns = QUARTERS if joint.kind == "revolute" and case.worst > SETTINGS.poor else ()
        better = (x for x in turns if case.after([_reading("", [], "", **moved(x))]).misfit < case.misfit)
        for start in (0.0, *better):
            by = _best(case, moved, 0.1 if joint.kind == "revolute" else 0.05, start)
            yield _reading("zero of position", [joint.name], "", len(joints) * (1 + len(turns)), 1, **moved(by))


@hypothesis("log", effort=2)
def gains(case: LogCase) -> Iterator[Reading]:
    """The gain of one joint, or of all: currents instead of torques."""
    columns, joints = case.columns, case.robot.joints
    for j, joint in enumerate(joints):

        def scaled(x: float, j: int = j) -> dict[str, Any]:
            return {"gains": _put(columns.gains, j, columns.gains[j] * math.exp(x))}

        yield _reading("gain of one joint", [joint.name], "", len(joints), 1, **scaled(_best(case, scaled, 0.3)))
    for factor in (1 / 12, 1 / 4, 4.0, 12.0):
        yield _reading("unit of effort", ["effort"], "", 4, 1, gains=tuple(g * factor for g in columns.gains))


@hypothesis("log", effort=2)
def delay(case: LogCase) -> Iterator[Reading]:
    """Torques that are stamped too early or too late."""

    def late(x: float) -> dict[str, Any]:
        return {"delay": case.columns.delay + x}

    for start in (0.0, *((-0.06, 0.06) if case.worst > SETTINGS.poor else ())):
        yield _reading("delay", ["time"], "", 1, 1, **late(_best(case, late, 0.015, start)))
