"""A model of the torques with friction terms that the data support, and a band that holds on other data.

The coefficients of `friction_terms` have normal priors of mean zero. Their scale, one per joint and group of terms, is
what the data make most probable (evidence; MacKay 1992): terms that the torques do not need shrink to nothing. The
inertial parameters, viscous and Coulomb friction and offsets are free. Errors have one standard deviation per joint and
class of speed and a Student distribution, so that neither standstill nor outliers decide. Blocks of time held out one
after the other (cross-validation) choose the joints whose terms are kept, and scale the band.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import gammaln

from armdyn.identification.estimation import autocorrelation_time
from armdyn.identification.friction_terms import Bank
from armdyn.identification.observation import base_regressor, observe
from armdyn.identification.processing import decimated
from armdyn.identification.samples import Samples, excerpts
from armdyn.parameters import BaseParameters
from armdyn.robot import Robot
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
PRIOR = {"load": 0.2}
"""Prior standard deviation of the load term; that of the others is the joint's Coulomb friction."""
PASSES, FEWER, REFRESHED = 12, 4, 2
"""Iterations of weights and scales, from the start and from a solution of nearly the same data; repetitions with the
load of the solution before."""
BLOCKS, GUARD = 8, 0.3
"""Blocks of the cross-validation, and the time left out beside the held-out one, s."""
GAIN = 0.98
"""Cross-validated error over that without the terms, below which the terms of a joint clearly help."""
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


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """Torques of a robot with the friction terms of [FT-1], and their standard deviation.

    base: parameters of bodies, rotors, motors and offsets
    bank: the friction terms
    values: (p,) of the base parameters
    friction: (n, 2) viscous and Coulomb friction
    terms: (n, k) coefficients of the bank, zero for joints that do without
    covariance: by joint, of (values, friction, terms) of the joint, (p + 2 + k, p + 2 + k)
    sigma: (n, 3) standard deviation of cross-validated residuals by class of speed
    scale: (n,) factor with which 95 % of the held-out torques are within two standard deviations
    cutoff: of the low-pass of positions, Hz
    errors: (n,) cross-validated relative error; (n,) the same without the terms
    """

    base: BaseParameters
    bank: Bank
    values: Array
    friction: Array
    terms: Array
    covariance: tuple[Array, ...]
    sigma: Array
    scale: Array
    cutoff: float
    errors: tuple[Array, Array]

    def predict(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) torques along consecutive samples of a motion, (N, n) each."""
        return self.predicted(q, qd, qdd, None)[0]

    def predict_std(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) standard deviation of torques, low-passed at 10 Hz, about the prediction; twice it is a 95 % band."""
        return self.predicted(q, qd, qdd, 1)[1]

    def load(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n) torques of bodies and rotors alone."""
        bodies, Y_of = _bodies(self.base), base_regressor(self.base)
        spans = [slice(start, start + CHUNK) for start in range(0, len(q), CHUNK)]
        return np.concatenate([Y_of(q[x], qd[x], qdd[x])[:, :, bodies] @ self.values[bodies] for x in spans])

    def predicted(self, q: Array, qd: Array, qdd: Array, every: int | None) -> tuple[Array, Array]:
        """Torques, and at every so many samples (None: nowhere) their standard deviation."""
        Y_of, bodies, (N, n) = base_regressor(self.base), _bodies(self.base), q.shape
        own = np.hstack([self.friction, self.terms])
        tau, std = np.zeros((N, n)), np.zeros((0 if every is None else -(-N // every), n))
        roots = [_root(C) for C in self.covariance] if every else []
        states = self.bank.states(q)
        step = CHUNK // (every or 1) * (every or 1) or every or CHUNK
        for start in range(0, N, step):
            span = slice(start, start + step)
            Y = Y_of(q[span], qd[span], qdd[span])
            load = Y[:, :, bodies] @ self.values[bodies]
            tau[span] = Y @ self.values
            for j in range(n):
                Z = self.bank.all_columns(qd[span], [z[span] for z in states], load[:, j], j)
                tau[span, j] += Z @ own[j]
                if every:
                    unsure = ((np.hstack([Y[::every, j], Z[::every]]) @ roots[j]) ** 2).sum(axis=1)
                    speed = self.bank.classes(qd[span][::every])[:, j]
                    part = slice(start // every, start // every + len(unsure))
                    std[part, j] = self.scale[j] * np.sqrt(unsure + self.sigma[j, speed] ** 2)
        return tau, std

    @cached_property
    def used(self) -> Array:
        """(n,) bool: joints with terms beyond viscous and Coulomb friction."""
        return np.asarray(self.terms.any(axis=1))

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
        groups = np.array(self.bank.groups)
        sums = {g: float(np.abs(self.terms[j, groups == g]).sum()) for g in dict.fromkeys(groups.tolist())}
        largest = 1e-3 * max(float(np.abs(self.friction[j]).max()), 1e-300)
        shown = {g: x for g, x in sums.items() if x > (1e-3 if g in PRIOR else largest)}
        return ", ".join(f"{g} {x:.3g}" for g, x in shown.items()) or "very small"

    def record(self) -> dict[str, Any]:
        """The model as plain data."""
        return {
            "base": dict(zip(self.base.names, self.values.tolist(), strict=True)),
            "viscous": self.friction[:, 0].tolist(),
            "coulomb": self.friction[:, 1].tolist(),
            "groups": list(self.bank.groups),
            "terms": self.terms.tolist(),
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


def _bodies(base: BaseParameters) -> Array:
    """(p,) bool: parameters of bodies and rotors."""
    return np.array([not place.startswith(("off", "Fv", "Fc", "Ks", "Mc")) for place in base.places])


# Data ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Data:
    """Decimated torques, regressor and friction columns of a log.

    t: (m,) s
    Y: (m, n, p) regressor; Z: (m, n, 2) viscous and Coulomb; tau: (m, n)
    keep: (m,) bool, samples in which the robot moves
    speed: (m, n) class of speed; moving: (m, n) bool
    """

    base: BaseParameters
    samples: Samples
    bank: Bank
    t: Array
    Y: Array
    Z: Array
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
        Z = np.stack([decimated(bank.plain(samples.qd, j), factor) for j in range(robot.n)], axis=1)
        qd = samples.qd[::factor]
        moving = bank.moving(qd)
        keep: Array = np.asarray(moving.any(axis=1) & samples.keep[::factor].any(axis=1))
        return _Data(base, whole, bank, t, Y, Z, tau, keep, bank.classes(qd), moving)

    @cached_property
    def shapes(self) -> Array:
        """(m, n, k) the terms of the bank without load."""
        s, unloaded = self.samples, np.zeros(len(self.samples))
        columns = [self.bank.columns(s.q, s.qd, unloaded, j) for j in range(self.tau.shape[1])]
        return np.stack([decimated(each, s.decimation) for each in columns], axis=1)

    def terms(self, values: Array) -> Array:
        """(m, n, k) the terms of the bank, with the load of base parameters."""
        s, bodies = self.samples, _bodies(self.base)
        load = np.abs(self.Y[:, :, bodies] @ values[bodies])
        fine = np.column_stack([np.interp(s.t, self.t, column) for column in load.T])
        terms = self.shapes.copy()
        terms[:, :, self.bank.groups.index("load")] = decimated(fine * self.bank.sign(s.qd), s.decimation)
        return terms

    @cached_property
    def active(self) -> list[Array]:
        """By joint: the parameters on which its torque depends."""
        return [np.flatnonzero(self.Y[:, j].any(axis=0)) for j in range(self.tau.shape[1])]

    @cached_property
    def blocks(self) -> list[tuple[float, float]]:
        """Begin and end of the blocks of time of the cross-validation."""
        ends = np.linspace(self.t[0], self.t[-1], BLOCKS + 1)
        ends[-1] += 1.0
        return list(pairwise(ends.tolist()))


# Estimation ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Solution:
    """values: (p,); own: (n, 2 + k) of each joint; covariance of both by joint; residuals: (m, n).

    sigma: (n, 3) by class of speed; alpha: (n, 2 + k) scales of the priors
    """

    values: Array
    own: Array
    covariance: tuple[Array, ...]
    residuals: Array
    sigma: Array
    alpha: Array


def _solved(
    data: _Data,
    X: Array,
    use: Array,
    discount: Array,
    prior: Array,
    groups: Sequence[str],
    near: _Solution | None = None,
) -> _Solution:
    """Parameters and terms of largest posterior probability, iterated with weights and scales.

    X: (m, n, 2 + k) viscous, Coulomb and terms
    use: (m,) bool
    discount: (n,) by which information is divided
    prior: (n, 2 + k) standard deviations; infinite: free, 0: left out
    near: a solution to start from
    """
    tau, speed = data.tau[use], data.speed[use]
    (m, n), p, k = tau.shape, data.Y.shape[2], X.shape[2]
    labels = np.array([*groups])
    kinds = [labels == g for g in dict.fromkeys(groups)]
    places = [np.r_[data.active[j], p + j * k + np.arange(k)] for j in range(n)]
    columns = [np.hstack([data.Y[use, j][:, data.active[j]], X[use, j]]) for j in range(n)]
    spread = np.sqrt((tau**2).mean(axis=0))
    least = 1e-9 * max(float(spread.max()), 1e-300)
    alpha = np.ones((n, k)) if near is None else near.alpha
    sigma = np.tile(np.maximum(spread, 1e-9)[:, None], (1, SPEEDS)) if near is None else near.sigma
    weight = np.ones((m, n))
    if near is not None:
        theta = np.concatenate([near.values, near.own.ravel()])
        weight = _weights(tau - _predicted(columns, places, theta), sigma, speed)
    finite = (prior > 0) & np.isfinite(prior)
    out = np.concatenate([np.zeros(p, dtype=bool), (prior == 0).ravel()])
    for _ in range(PASSES if near is None else FEWER):
        H, b = np.zeros((len(out), len(out))), np.zeros(len(out))
        for j, (place, A) in enumerate(zip(places, columns, strict=True)):
            root = np.sqrt(weight[:, j] / discount[j]) / sigma[j, speed[:, j]]
            rows = A * root[:, None]
            H[np.ix_(place, place)] += rows.T @ rows  # a symmetric product: half the work
            b[place] += rows.T @ (root * tau[:, j])
        penalty = np.where(finite, alpha / np.where(finite, prior, 1.0) ** 2, 0.0)
        H[np.arange(p, len(H)), np.arange(p, len(H))] += penalty.ravel()
        C = _inverse(H, out)
        theta = C @ b
        own = theta[p:].reshape(n, k)
        residuals = tau - _predicted(columns, places, theta)
        sigma = np.maximum(_by_speed(np.sqrt(weight) * residuals, speed), least)
        weight = _weights(residuals, sigma, speed)
        variance = np.diag(C)[p:].reshape(n, k)
        alpha = alpha.copy()
        for kind in kinds:
            some = finite[:, kind]
            sd = np.where(some, prior[:, kind], 1.0)
            known = (some * (1 - alpha[:, kind] * variance[:, kind] / sd**2)).sum(axis=1)
            size = (some * (own[:, kind] / sd) ** 2).sum(axis=1)
            alpha[:, kind] = np.clip(np.maximum(known, 0) / np.maximum(size, 1e-12), 1, 1e4)[:, None]
    whole = [np.r_[np.arange(p), p + j * k + np.arange(k)] for j in range(n)]
    return _Solution(theta[:p], own, tuple(C[np.ix_(x, x)] for x in whole), residuals, sigma, alpha)


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
    groups: tuple[str, ...]

    @staticmethod
    def of(data: _Data) -> _Problem:
        n = data.tau.shape[1]
        free = np.full((n, 2), np.inf)
        plain = _solved(data, data.Z, data.keep, np.ones(n), free, ("free", "free"))
        times = np.full((len(data.t), n), np.nan)
        times[data.keep] = plain.residuals
        discount = np.minimum(autocorrelation_time(times), DISCOUNT)
        coulomb = np.maximum(np.abs(plain.own[:, 1]), 1e-3 * np.sqrt((data.tau**2).mean(axis=0)))
        groups = data.bank.groups
        prior = np.stack([np.full(n, PRIOR[g]) if g in PRIOR else coulomb for g in groups], axis=1)
        labels, values = ("free", "free", *groups), plain.values
        prior = np.hstack([free, np.maximum(prior, 1e-12)])
        for _ in range(REFRESHED):
            X = np.concatenate([data.Z, data.terms(values)], axis=2)
            values = _solved(data, X, data.keep, discount, prior, labels).values
        X = np.concatenate([data.Z, data.terms(values)], axis=2)
        return _Problem(data, X, discount, prior, labels)

    @cached_property
    def solution(self) -> _Solution:
        return _solved(self.data, self.X, self.data.keep, self.discount, self.prior, self.groups)

    def without(self, joints: Array) -> _Problem:
        """The problem in which some joints, (n,) bool, have no terms."""
        prior = self.prior.copy()
        prior[joints, 2:] = 0.0
        return replace(self, prior=prior)

    def held_out(self) -> Array:
        """(m, n) residuals of blocks of time that were held out; NaN for samples that are not used."""
        data, left = self.data, np.full(self.data.tau.shape, np.nan)
        for low, high in data.blocks:
            block = (data.t >= low) & (data.t < high) & data.keep
            others = data.keep & ~((data.t >= low - GUARD) & (data.t < high + GUARD))
            found = _solved(data, self.X, others, self.discount, self.prior, self.groups, self.solution)
            predicted = data.Y[block] @ found.values + np.einsum("mnk,nk->mn", self.X[block], found.own)
            left[block] = data.tau[block] - predicted
        return left

    def harm(self, left: Array, plain: Array) -> Array:
        """(n,) increase of held-out squares against those of `plain`, in standard errors over the blocks."""
        more = np.where(np.isfinite(left) & self.data.moving, left**2 - plain**2, 0.0)
        t = self.data.t
        sums = np.array([more[(t >= low) & (t < high)].sum(axis=0) for low, high in self.data.blocks])
        spread = sums.std(axis=0, ddof=1) / math.sqrt(len(sums))
        harm: Array = sums.mean(axis=0) / np.maximum(spread, 1e-300)
        return harm

    def errors(self, left: Array) -> Array:
        """(n,) relative error of held-out residuals over the samples in which the joint moves."""
        counts = np.isfinite(left) & self.data.moving
        some = np.maximum(counts.sum(axis=0), 1)
        squares = np.where(counts, left, 0.0) ** 2, np.where(counts, self.data.tau, 0.0) ** 2
        error: Array = np.sqrt(squares[0].sum(axis=0) / some) / np.sqrt(
            np.maximum(squares[1].sum(axis=0) / some, 1e-300)
        )
        return error


def torque_model(robot: Robot, base: BaseParameters, samples: Samples) -> TorqueModel | None:
    """The model with the terms that cross-validation keeps; None if no joint needs any beyond viscous and Coulomb.

    Args:    robot: without friction
             base: its parameters of bodies, rotors, motors and offsets
             samples: of a log, consecutive in time
    """
    data = _Data.of(robot, base, samples)
    if data.keep.sum() < FEWEST:
        return None
    problem = _Problem.of(data)
    left = problem.held_out()
    everywhere = np.ones(robot.n, dtype=bool)
    plain = problem.without(everywhere).held_out()
    errors, before = problem.errors(left), problem.errors(plain)
    if not (errors < GAIN * before).any():
        return None
    harmful = problem.harm(left, plain) > HARM
    if harmful.any():
        problem = problem.without(harmful)
        left = problem.held_out()
        errors = problem.errors(left)
    found = problem.solution
    sigma, scale = _band(problem, found, left)
    return TorqueModel(base, problem.data.bank, found.values, found.own[:, :2], found.own[:, 2:], found.covariance,
                       sigma, scale, samples.cutoff, (errors, before))  # fmt: skip


def _band(problem: _Problem, found: _Solution, left: Array) -> tuple[Array, Array]:
    """(sigma by class of speed, factor by joint) so that 95 % of the held-out residuals are within two deviations."""
    data = problem.data
    use = data.keep
    sigma = _by_speed(left[use], data.speed[use])
    scale = np.ones(len(sigma))
    for j in range(len(sigma)):
        phi = np.hstack([data.Y[use, j], problem.X[use, j]])
        unsure = np.einsum("ma,ab,mb->m", phi, found.covariance[j], phi, optimize=True)
        std = np.sqrt(np.maximum(unsure, 0) + sigma[j, data.speed[use, j]] ** 2)
        scale[j] = float(np.quantile(np.abs(left[use, j]) / std, 0.95)) / 2
    return sigma, scale


__all__ = ["TorqueModel", "torque_model"]
