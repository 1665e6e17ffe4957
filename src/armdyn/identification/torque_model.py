"""A model of the torques with friction terms that the data support, and a band that holds on other data.

The coefficients of `friction_terms` have normal priors of mean zero. Their scale, one per joint and group of terms, is
what the data make most probable (evidence; MacKay 1992): terms that the torques do not need shrink to nothing. The
inertial parameters, viscous and Coulomb friction and offsets are free. Errors have one standard deviation per joint and
class of speed and a Student distribution, so that neither standstill nor outliers decide. Blocks of time held out one
after the other (cross-validation) choose the joints whose terms are kept, and scale the band.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln

from armdyn.identification.estimation import Estimate, autocorrelation_time
from armdyn.identification.friction_terms import GROUPS, Bank
from armdyn.identification.observation import base_regressor, observe
from armdyn.identification.processing import decimated
from armdyn.identification.samples import Samples, excerpts
from armdyn.parameters import BaseParameters
from armdyn.robot import Robot
from armdyn.robot.features import ROUNDED
from armdyn.robot.parts import Friction, Motor
from armdyn.tables import Column, Section
from armdyn.typing import Array

DECIMATED_RATE = 25.0
"""Rate to which torque and columns are decimated, Hz; they are low-passed at 10 Hz."""
MOST = 6000
"""Decimated samples (4 min) that are used at most: of a longer log an excerpt for each block of cross-validation."""
WARM_UP = 1.0
"""Time at both ends of an excerpt that does not count, s."""
FREEDOM = (3.0, 4.0, 6.0, 9.0, 15.0, 40.0)
"""Degrees of freedom of the Student distribution of the errors: for each joint the most probable of these."""
DISCOUNT = 3.0
"""Largest autocorrelation time, in decimated samples, by which the information is divided: correlation beyond it comes
from effects that the terms are there to model."""
LOAD = 0.2
"""Prior standard deviation of the load term; that of the others is the joint's Coulomb friction."""
PASSES, FEWER, REFRESHED = 12, 4, 2
"""Iterations of weights and scales, from the start and from a solution of nearly the same data; repetitions with the
load of the solution before."""
BLOCKS, GUARD = 8, 0.3
"""Blocks of the cross-validation, and the time left out beside the held-out one, s."""
GAIN = 0.98
"""Cross-validated error over that without the terms, below which the terms of a joint clearly help."""
SIMPLER = 1.005
"""Cross-validated error without presliding, or without load, over that with it, below which it is left out."""
CERTAIN = 2.0
"""Standard errors over the blocks by which they must do so."""
HARM = 2.0
"""Standard errors over the blocks. Evidence decides on terms; where they help one joint of a robot, they are left out
of another only if they certainly raise its cross-validated error: held-out blocks of a short log take away so many of
its reversals that they are too severe with friction terms (of a real log, the first half estimating and the next fifth
judging, a limit of 1 raised the error from 6.8 to 7.6 %)."""
RANK = 1e-10
"""Eigenvalues of the scaled information below this share of the largest count as zero."""
FEWEST = 100
"""Decimated samples (4 s) below which no friction terms are looked for."""
CHUNK = 20_000
"""Samples whose regressor is held at a time."""
SPEEDS = 3
"""Classes of speed."""
METHOD = "evidence, with friction terms"
"""Name of the estimator."""


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """Parameters of a robot with the friction terms of [FT-1], and the standard deviation of its torques.

    base: the base parameters of the plain law
    bank: the friction terms
    values: (p,) of the base parameters; those of `places` are in `own`
    own: (n + s, 2 + k) viscous and Coulomb friction and coefficients of the terms, of joints and shared motors
    covariance: of values and own, one after the other
    sigma: (n, 3) standard deviation of residuals by class of speed
    scale: (n,) factor with which 95 % of the held-out torques are within two standard deviations
    autocorrelation_time: (n,) of the residuals, in decimated samples
    samples: (n,) how many were used
    cutoff: of the low-pass of positions, Hz
    errors: (n,) cross-validated relative error; (n,) the same without the terms
    """

    base: BaseParameters
    bank: Bank
    values: Array
    own: Array
    covariance: Array
    sigma: Array
    scale: Array
    autocorrelation_time: Array
    samples: Array
    cutoff: float
    errors: tuple[Array, Array]

    @property
    def terms(self) -> Array:
        """(n + s, k) coefficients of the bank, zero for joints that do without."""
        return self.own[:, 2:]

    @cached_property
    def used(self) -> Array:
        """(n,) bool: joints with terms beyond viscous and Coulomb friction."""
        n = self.bank.n
        return np.asarray((np.abs(self.bank.rows.T) @ np.abs(self.terms).sum(axis=1)[:, None])[:n, 0] > 0)

    @cached_property
    def estimate(self) -> Estimate:
        """The base parameters of the plain law, with their covariance."""
        p, k = len(self.values), self.own.shape[1]
        pick = np.eye(p, len(self.covariance))
        for place, (a, i, factor) in replaced(self.base, self.bank).items():
            pick[place] = 0.0
            pick[place, p + a * k + i] = factor
        values = pick @ np.concatenate([self.values, self.own.ravel()])
        within = np.sqrt((self.sigma[:, 1:] ** 2).mean(axis=1))
        return Estimate(self.base.names, values, pick @ self.covariance @ pick.T, within, self.autocorrelation_time,
                        self.samples, METHOD)  # fmt: skip

    def shifted(self, values: Array) -> TorqueModel:
        """The model for other base parameters, (p,), as of a physically consistent robot; the rest follows them.

        What moves with the base parameters moves by its regression on them.
        """
        found, p, k = self.estimate, len(self.values), self.own.shape[1]
        theta = np.concatenate([self.values, self.own.ravel()])
        taken = replaced(self.base, self.bank)
        index = np.arange(p)
        factors = np.ones(p)
        for place, (a, i, factor) in taken.items():
            index[place], factors[place] = p + a * k + i, factor
        inverse = np.linalg.pinv(found.covariance, rcond=1e-12, hermitian=True)
        theta = theta + self.covariance[:, index] * factors @ inverse @ (values - found.values)
        theta[index] = values / factors
        theta[list(taken)] = 0.0
        own = np.where(self.own == 0, 0.0, theta[p:].reshape(self.own.shape))
        return replace(self, values=theta[:p], own=own)

    def robot(self, identified: Robot) -> Robot:
        """A robot of the identified base parameters with the friction of this model."""
        laws = {joint.name: self._friction(j) for j, joint in enumerate(identified.joints)}
        motors = {identified.joints[j].name: self._friction(self.bank.n + k) for k, j in enumerate(self.bank.motors)}
        grouped = set(replaced(self.base, self.bank))
        names = [joint.name for joint in identified.opened.joints]
        tree = []
        for joint in identified.tree:
            if joint.name in laws:
                law, motor = laws[joint.name], joint.motor
                offset = 0 if joint.friction is None else joint.friction.offset
                if joint.name in motors:
                    own = motors[joint.name]
                    motor = replace(motor or Motor(), viscous=own.viscous, coulomb=own.coulomb, width=own.width,
                                    values=own.values)  # fmt: skip
                elif motor is not None:  # its friction is counted with that of the joint
                    motor = replace(motor, viscous=0, coulomb=0)
                joint = replace(joint, friction=replace(law, offset=offset), motor=motor)
            elif joint.friction is not None and joint.name in names and grouped & self._rows(names.index(joint.name)):
                joint = replace(joint, friction=replace(joint.friction, viscous=0, coulomb=0))
            tree.append(joint)
        return replace(identified, tree=tuple(tree), expressions=None)

    def _rows(self, i: int) -> set[int]:
        """The base parameters that contain the friction of joint i of all joints."""
        return {place for kind in ("Fv", "Fc") for place in _places(self.base, f"{kind}{i + 1}")}

    def _friction(self, a: int) -> Friction:
        viscous, coulomb, *terms = self.own[a].tolist()
        return Friction(viscous, coulomb, width=float(self.bank.widths[a, 0]), law=ROUNDED,
                        values=self.bank.values(a, np.array(terms)))  # fmt: skip

    def std(self, q: Array, qd: Array, qdd: Array, every: int = 1) -> Array:
        """(N, n) standard deviation of torques, low-passed at 10 Hz, about the prediction; twice it is a 95 % band.

        every: how many samples are between two for which it is wanted
        """
        Y_of, carries, (N, n) = base_regressor(self.base), carried(self.base), q.shape
        std = np.zeros((-(-N // every), n))
        out = list(replaced(self.base, self.bank))
        p, k = len(self.values), self.own.shape[1]
        surfaces = [np.flatnonzero(self.bank.rows[:, j]) for j in range(n)]
        places = [np.concatenate([np.arange(p), *(p + a * k + np.arange(k) for a in each)]) for each in surfaces]
        roots = [_root(self.covariance[np.ix_(x, x)]) for x in places]
        columns = [self.bank.columns(q, qd, a)[::every] for a in range(len(self.own))]
        step = CHUNK * every
        for start in range(0, N, step):
            fine, part = slice(start, start + step, every), slice(start // every, start // every + CHUNK)
            Y = Y_of(q[fine], qd[fine], qdd[fine])
            load, sign = np.abs(Y[:, :, carries] @ self.values[carries]), self.bank.sign(qd[fine])
            Y[:, :, out] = 0.0
            speed = self.bank.classes(qd[fine])
            for j in range(n):
                X = [self.bank.rows[a, j] * columns[a][part] for a in surfaces[j]]
                X[0][:, -1] = load[:, j] * sign[:, j]
                unsure = ((np.hstack([Y[:, j], *X]) @ roots[j]) ** 2).sum(axis=1)
                std[part, j] = self.scale[j] * np.sqrt(unsure + self.sigma[j, speed[:, j]] ** 2)
        return std

    def section(self, joints: Sequence[str]) -> Section:
        """The terms of every joint, and what they bring, as a table."""
        columns = (Column("joint"), Column("without terms", "%"), Column("with terms", "%"), Column("terms"))
        before, after = self.errors[1], self.errors[0]
        rows = [
            (name, f"{100 * before[j]:.3g}", f"{100 * after[j]:.3g}" if self.used[j] else "-", self._text(j))
            for j, name in enumerate(joints)
        ]
        note = (
            "Cross-validated relative errors on blocks of time held out. Widths and presliding (N m or N) sum the "
            "absolute coefficients of their bank; load is Coulomb friction per torque carried."
        )
        return Section("Friction terms", columns, tuple(rows), note)

    def _text(self, j: int) -> str:
        if not self.used[j]:
            return "none: viscous and Coulomb friction predict as well"
        parts = [self._sums(j)]
        for a in range(self.bank.n, len(self.own)):
            if self.bank.rows[a, j] and (sums := self._sums(a)):
                parts.append(f"{sums} of motor {self.bank.motors[a - self.bank.n] + 1}")
        return ", ".join(filter(None, parts)) or "very small"

    def _sums(self, a: int) -> str:
        groups = np.array(GROUPS)
        sums = {g: float(np.abs(self.terms[a, groups == g]).sum()) for g in dict.fromkeys(GROUPS)}
        largest = 1e-3 * max(float(np.abs(self.own[a, :2]).max()), 1e-300)
        shown = {g: x for g, x in sums.items() if x > (1e-3 if g == "load" else largest)}
        return ", ".join(f"{g} {x:.3g}" for g, x in shown.items())

    def record(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "base": dict(zip(self.base.names, self.estimate.values.tolist(), strict=True)),
            "groups": list(GROUPS),
            "viscous": self.own[:, 0].tolist(),
            "coulomb": self.own[:, 1].tolist(),
            "terms": self.terms.tolist(),
            "motors": list(self.bank.motors),
            "cutoff": self.cutoff,
            "cross_validated": self.errors[0].tolist(),
            "cross_validated_without": self.errors[1].tolist(),
        }


def _root(covariance: Array) -> Array:
    """(p, r) whose product with its transpose is a covariance of rank r."""
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    good = values > 1e-12 * values[-1]
    root: Array = scale[:, None] * vectors[:, good] * np.sqrt(values[good])
    return root


def carried(base: BaseParameters) -> Array:
    """(p,) bool: parameters of the torques that a joint carries: all but friction and offsets."""
    return np.array([not place.startswith(("off", "Fv", "Fc")) for place in base.places])


def replaced(base: BaseParameters, bank: Bank) -> dict[int, tuple[int, int, float]]:
    """Base parameters that are plain friction of the bank: (joint or motor, 0 viscous or 1 Coulomb, factor)."""
    robot = base.robot
    all_names = [joint.name for joint in robot.opened.joints]
    numbers = [all_names.index(joint.name) + 1 for joint in robot.joints]
    found = {}
    for a, number in enumerate((*numbers, *(numbers[j] for j in bank.motors))):
        kinds = ("Fv", "Fc") if a < bank.n else ("Fvm", "Fcm")
        ratio = 1.0 if a < bank.n else float(bank.scale[a])  # Fvm and Fcm are seen at the joint
        for i, (kind, factor) in enumerate(zip(kinds, (ratio**2, ratio), strict=True)):
            for place, share in _places(base, f"{kind}{number}").items():
                found[place] = (a, i, factor * share)
    return found


def _places(base: BaseParameters, name: str) -> Mapping[int, float]:
    """The base parameters, with their shares, that contain a standard parameter."""
    if name not in base.standard:
        return {}
    column = base.matrix[:, base.standard.index(name)]
    return {int(place): float(column[place]) for place in np.flatnonzero(np.abs(column) > 1e-9)}


# Data ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Data:
    """Decimated torques, regressor and friction columns of a log.

    t: (m,) s
    Y: (m, n, p) regressor, zero for plain friction of the bank; tau: (m, n)
    columns: (m, n + s, 2 + k) viscous, Coulomb and terms of the bank, those of load zero
    keep: (m,) bool, samples in which the robot moves
    speed: (m, n) class of speed; moving: (m, n) bool
    """

    base: BaseParameters
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
    def of(robot: Robot, base: BaseParameters, samples: Samples) -> _Data:
        rate = (len(samples) - 1) / float(samples.t[-1] - samples.t[0])
        factor = max(1, round(rate / DECIMATED_RATE))
        samples = excerpts(samples, BLOCKS, MOST * factor // BLOCKS, round(WARM_UP * rate))
        whole = replace(samples, keep=np.ones(samples.q.shape, dtype=bool), decimation=factor)
        rows = list(observe(robot, whole, base).rows())
        t, Y, tau = (np.concatenate([getattr(part, name) for part in rows]) for name in ("t", "Y", "tau"))
        bank = Bank.of(robot, samples.qd)
        Y[:, :, list(replaced(base, bank))] = 0.0
        columns = [decimated(bank.columns(samples.q, samples.qd, a), factor) for a in range(len(bank.rows))]
        qd = samples.qd[::factor]
        moving = bank.moving(qd)
        keep: Array = np.asarray(moving.any(axis=1) & samples.keep[::factor].any(axis=1))
        return _Data(base, whole, bank, t, Y, np.stack(columns, axis=1), tau, keep, bank.classes(qd), moving)

    def loaded(self, values: Array) -> Array:
        """(m, n + s, 2 + k) the columns, those of load with base parameters."""
        if self.base.robot.constrained:
            return self.columns
        s, carries, n = self.samples, carried(self.base), self.bank.n
        load = np.abs(self.Y[:, :, carries] @ values[carries])
        fine = np.column_stack([np.interp(s.t, self.t, column) for column in load.T])
        columns = self.columns.copy()
        columns[:, :n, -1] = decimated(fine * self.bank.sign(s.qd), s.decimation)
        return columns

    @cached_property
    def active(self) -> list[Array]:
        """By joint: the parameters on which its torque depends."""
        return [np.flatnonzero(self.Y[:, j].any(axis=0)) for j in range(self.tau.shape[1])]

    @cached_property
    def surfaces(self) -> list[Array]:
        """By joint: the joint and the motors whose friction acts on it."""
        return [np.flatnonzero(self.bank.rows[:, j]) for j in range(self.bank.n)]

    @cached_property
    def blocks(self) -> list[tuple[float, float]]:
        """Begin and end of the blocks of time of the cross-validation."""
        ends = np.linspace(self.t[0], self.t[-1], BLOCKS + 1)
        ends[-1] += 1.0
        return list(pairwise(ends.tolist()))

    def design(self, X: Array, use: Array, j: int) -> tuple[Array, Array]:
        """(columns of joint j at some samples, their places among values and own)."""
        p, k, active, surfaces = self.Y.shape[2], X.shape[2], self.active[j], self.surfaces[j]
        own = [self.bank.rows[a, j] * X[use, a] for a in surfaces]
        places = np.concatenate([active, *(p + a * k + np.arange(k) for a in surfaces)])
        return np.hstack([self.Y[use, j][:, active], *own]), places


# Estimation ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Solution:
    """values: (p,); own: (n + s, 2 + k); covariance of both; residuals: (m, n).

    sigma: (n, 3) by class of speed; alpha: (n + s, 2 + k) scales of the priors; penalty: of own, flat
    """

    values: Array
    own: Array
    covariance: Array
    residuals: Array
    sigma: Array
    alpha: Array
    information: tuple[Array, ...]
    penalty: Array


def _solved(
    data: _Data, X: Array, use: Array, discount: Array, prior: Array, groups: Sequence[str],
    near: _Solution | None = None,
) -> _Solution:  # fmt: skip
    """Parameters and terms of largest posterior probability, iterated with weights and scales.

    X: (m, n + s, 2 + k) viscous, Coulomb and terms
    use: (m,) bool
    discount: (n,) by which information is divided
    prior: (n + s, 2 + k) standard deviations; infinite: free, 0: left out
    near: a solution to start from
    """
    tau, speed = data.tau[use], data.speed[use]
    (m, n), p, (surfaces, k) = tau.shape, data.Y.shape[2], prior.shape
    labels = np.array([*groups])
    kinds = [labels == g for g in dict.fromkeys(groups)]
    columns, places = zip(*(data.design(X, use, j) for j in range(n)), strict=True)
    spread = np.sqrt((tau**2).mean(axis=0))
    least = 1e-9 * max(float(spread.max()), 1e-300)
    alpha = np.ones((surfaces, k)) if near is None else near.alpha
    sigma = np.tile(np.maximum(spread, 1e-9)[:, None], (1, SPEEDS)) if near is None else near.sigma
    weight = np.ones((m, n))
    if near is not None:
        theta = np.concatenate([near.values, near.own.ravel()])
        weight = _weights(tau - _predicted(columns, places, theta), sigma, speed)
    finite = (prior > 0) & np.isfinite(prior)
    out = np.concatenate([np.zeros(p, dtype=bool), (prior == 0).ravel()])
    for _ in range(PASSES if near is None else FEWER):
        H, b, information = np.zeros((len(out), len(out))), np.zeros(len(out)), []
        for j, (place, A) in enumerate(zip(places, columns, strict=True)):
            root = np.sqrt(weight[:, j] / discount[j]) / sigma[j, speed[:, j]]
            rows = A * root[:, None]
            information.append(rows.T @ rows)  # a symmetric product: half the work
            H[np.ix_(place, place)] += information[j]
            b[place] += rows.T @ (root * tau[:, j])
        penalty = np.where(finite, alpha / np.where(finite, prior, 1.0) ** 2, 0.0)
        H[np.arange(p, len(H)), np.arange(p, len(H))] += penalty.ravel()
        C = _inverse(H, out)
        theta = C @ b
        own = theta[p:].reshape(surfaces, k)
        residuals = tau - _predicted(columns, places, theta)
        sigma = np.maximum(_by_speed(np.sqrt(weight) * residuals, speed), least)
        weight = _weights(residuals, sigma, speed)
        variance = np.diag(C)[p:].reshape(surfaces, k)
        alpha = alpha.copy()
        for kind in kinds:
            some = finite[:, kind]
            sd = np.where(some, prior[:, kind], 1.0)
            known = (some * (1 - alpha[:, kind] * variance[:, kind] / sd**2)).sum(axis=1)
            size = (some * (own[:, kind] / sd) ** 2).sum(axis=1)
            alpha[:, kind] = np.clip(np.maximum(known, 0) / np.maximum(size, 1e-12), 1, 1e4)[:, None]
    return _Solution(theta[:p], own, C, residuals, sigma, alpha, tuple(information), penalty.ravel())


def _predicted(columns: Sequence[Array], places: Sequence[Array], theta: Array) -> Array:
    return np.column_stack([A @ theta[place] for A, place in zip(columns, places, strict=True)])


def _weights(residuals: Array, sigma: Array, speed: Array) -> Array:
    """(m, n) weights of a Student distribution, of the degrees of freedom that make each joint's most probable."""
    squares = (residuals / np.take_along_axis(sigma.T, speed, 0)) ** 2
    nu = np.array(FREEDOM)[:, None]
    norm = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu) / 2
    likelihood = [
        n - (f + 1) / 2 * np.log1p(squares / f).mean(axis=0) for n, f in zip(norm[:, 0], FREEDOM, strict=True)
    ]
    best = nu[np.argmax(likelihood, axis=0), 0]
    weight: Array = (best + 1) / (best + squares)
    return weight


def _inverse(H: Array, out: Array) -> Array:
    """Inverse of the information; what is left out or not determined has zeros."""
    scale = np.sqrt(np.diag(H))
    scale = np.where((scale > 0) & ~out, scale, np.inf)
    values, vectors = np.linalg.eigh(H / np.outer(scale, scale))
    good = values > RANK * values[-1]
    root = vectors[:, good] / np.sqrt(values[good]) / scale[:, None]
    inverse: Array = root @ root.T
    return inverse


def _by_speed(residuals: Array, speed: Array) -> Array:
    """(n, 3) rms of residuals, (m, n), by class of speed; that of all where a class has few samples."""
    n = residuals.shape[1]
    sigma = np.tile(np.sqrt((residuals**2).mean(axis=0))[:, None], (1, SPEEDS))
    for j in range(n):
        for s in range(SPEEDS):
            inside = speed[:, j] == s
            if inside.sum() > 10:
                sigma[j, s] = math.sqrt(float((residuals[inside, j] ** 2).mean()))
    return sigma


@dataclass(frozen=True, eq=False)
class _Problem:
    """One processing of a log with its columns, discounts and priors."""

    data: _Data
    X: Array
    discount: Array
    prior: Array

    groups = ("free", "free", *GROUPS)

    @staticmethod
    def of(data: _Data) -> _Problem:
        n, (_, surfaces, k) = data.tau.shape[1], data.columns.shape
        free = np.full((surfaces, 2), np.inf)
        plain = _solved(data, data.columns[:, :, :2], data.keep, np.ones(n), free, ("free", "free"))
        discount = np.minimum(_times(data, plain.residuals), DISCOUNT)
        size = np.sqrt((data.tau**2).mean(axis=0)) @ np.abs(np.linalg.pinv(data.bank.rows))
        prior = np.tile(np.maximum(np.abs(plain.own[:, 1]), 1e-3 * size)[:, None], (1, k - 2))
        prior[:, -1] = np.where(np.arange(surfaces) < n, LOAD, 0.0)
        values, prior = plain.values, np.hstack([free, np.where(prior > 0, np.maximum(prior, 1e-12), 0.0)])
        for _ in range(REFRESHED):
            values = _solved(data, data.loaded(values), data.keep, discount, prior, _Problem.groups).values
        return _Problem(data, data.loaded(values), discount, prior)

    @cached_property
    def solution(self) -> _Solution:
        return _solved(self.data, self.X, self.data.keep, self.discount, self.prior, self.groups)

    def without(self, joints: Array | None = None, groups: Sequence[str] = GROUPS) -> _Problem:
        """The problem in which some joints (and motors), (n + s,) bool (default: all), have no terms of some groups."""
        prior, left_out = self.prior.copy(), np.isin(self.groups, groups)
        prior[np.outer(np.ones(len(prior), dtype=bool) if joints is None else joints, left_out)] = 0.0
        return replace(self, prior=prior)

    @property
    def sharp(self) -> _Problem:
        """The problem with the narrowest width alone: viscous and Coulomb friction whose sign changes at once."""
        prior = self.prior.copy()
        prior[:, 3:] = 0.0
        return replace(self, prior=prior)

    @cached_property
    def held_out(self) -> Array:
        """(m, n) residuals of blocks of time that were held out; NaN for samples that are not used."""
        data, left = self.data, np.full(self.data.tau.shape, np.nan)
        for low, high in data.blocks:
            block = (data.t >= low) & (data.t < high) & data.keep
            others = data.keep & ~((data.t >= low - GUARD) & (data.t < high + GUARD))
            found = _solved(data, self.X, others, self.discount, self.prior, self.groups, self.solution)
            theta = np.concatenate([found.values, found.own.ravel()])
            for j in range(self.data.bank.n):
                phi, places = data.design(self.X, block, j)
                left[block, j] = data.tau[block, j] - phi @ theta[places]
        return left

    def harm(self, plain: _Problem) -> Array:
        """(n,) increase of held-out squares against those of `plain`, in standard errors over the blocks."""
        left = self.held_out
        more = np.where(np.isfinite(left) & self.data.moving, left**2 - plain.held_out**2, 0.0)
        t = self.data.t
        sums = np.array([more[(t >= low) & (t < high)].sum(axis=0) for low, high in self.data.blocks])
        spread = sums.std(axis=0, ddof=1) / math.sqrt(len(sums))
        harm: Array = sums.mean(axis=0) / np.maximum(spread, 1e-300)
        return harm

    @cached_property
    def errors(self) -> Array:
        """(n,) relative error of held-out residuals over the samples in which the joint moves."""
        left = self.held_out
        counts = np.isfinite(left) & self.data.moving
        some = np.maximum(counts.sum(axis=0), 1)
        squares = np.where(counts, left, 0.0) ** 2, np.where(counts, self.data.tau, 0.0) ** 2
        error: Array = np.sqrt(squares[0].sum(axis=0) / some) / np.sqrt(
            np.maximum(squares[1].sum(axis=0) / some, 1e-300)
        )
        return error

    @property
    def error(self) -> float:
        """Geometric mean of the errors of the joints."""
        return float(np.exp(np.log(np.maximum(self.errors, 1e-12)).mean()))

    def covariance(self, found: _Solution, times: Array) -> Array:
        """Covariance of the solution for residuals with these autocorrelation times, (n,).

        C (sum_j H_j time_j / discount_j + penalty) C,   H_j the discounted information of joint j
        """
        data, C = self.data, found.covariance
        middle = np.zeros_like(C)
        p = len(found.values)
        middle[np.arange(p, len(C)), np.arange(p, len(C))] = found.penalty
        for j, H in enumerate(found.information):
            places = data.design(self.X, np.zeros(len(data.t), dtype=bool), j)[1]
            middle[np.ix_(places, places)] += H * max(times[j] / self.discount[j], 1.0)
        covariance: Array = C @ middle @ C
        return covariance


def _times(data: _Data, residuals: Array) -> Array:
    """(n,) autocorrelation times, in decimated samples, of residuals at the samples used."""
    times = np.full(data.tau.shape, np.nan)
    times[data.keep] = residuals
    return autocorrelation_time(times)


def torque_model(robot: Robot, base: BaseParameters, samples: Samples) -> TorqueModel | None:
    """The model with the terms that cross-validation keeps; None if no joint needs any beyond viscous and Coulomb.

    Args:    robot: with plain friction
             base: its base parameters
             samples: of a log, consecutive in time
    """
    data = _Data.of(robot, base, samples)
    if data.keep.sum() < FEWEST:
        return None
    problem = _Problem.of(data)
    n, surfaces = robot.n, len(problem.prior)
    plain = problem.without()
    simplest = min(plain, problem.sharp, key=lambda each: each.error)
    gains = (problem.errors < GAIN * simplest.errors) & (problem.harm(simplest) < -CERTAIN)
    if not gains.any():
        return None
    for group in ("presliding", "load"):  # a simpler law that predicts as well is preferred
        simpler = problem.without(groups=(group,))
        problem = simpler if simpler.error < SIMPLER * problem.error else problem
    harmful = problem.harm(plain) > HARM
    if harmful.any():
        problem = problem.without(np.append(harmful, np.zeros(surfaces - n, dtype=bool)))
    found = problem.solution
    times = _times(data, found.residuals)
    covariance = problem.covariance(found, times)
    sigma, scale = _band(problem, covariance)
    return TorqueModel(base, data.bank, found.values, found.own, covariance, sigma, scale, times,
                       np.full(n, data.keep.sum()), samples.cutoff, (problem.errors, plain.errors))  # fmt: skip


def _band(problem: _Problem, covariance: Array) -> tuple[Array, Array]:
    """(sigma by class of speed, factor by joint) so that 95 % of the held-out residuals are within two deviations."""
    data = problem.data
    use, left = data.keep, problem.held_out[data.keep]
    sigma = _by_speed(left, data.speed[use])
    scale = np.ones(len(sigma))
    for j in range(len(sigma)):
        phi, places = data.design(problem.X, use, j)
        unsure = ((phi @ _root(covariance[np.ix_(places, places)])) ** 2).sum(axis=1)
        std = np.sqrt(unsure + sigma[j, data.speed[use, j]] ** 2)
        scale[j] = float(np.quantile(np.abs(left[:, j]) / std, 0.95)) / 2
    return sigma, scale


__all__ = ["TorqueModel", "torque_model"]
