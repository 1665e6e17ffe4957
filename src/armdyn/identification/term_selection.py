"""Selection of the friction terms that the data support, and the band of their torques.

Blocks of time held out one after the other (cross-validation) choose the joints whose terms are kept, and scale the
band, so that it holds on other data.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import stdtrit

from armdyn.identification.estimation import autocorrelation_time, narrowed, root_of
from armdyn.identification.friction_terms import GROUPS
from armdyn.identification.samples import Samples
from armdyn.identification.term_estimation import BLOCKS, FREEDOM, SPEEDS, Design, Solution, TermData, solved
from armdyn.identification.torque_model import TorqueModel
from armdyn.parameters import BaseParameters
from armdyn.robot import Robot
from armdyn.typing import Array

DISCOUNT = 3.0
"""Largest autocorrelation time, in decimated samples, by which the information is divided: correlation beyond it comes
from effects that the terms are there to model."""
LOAD = 0.2
"""Prior standard deviation of the load term; that of the others is the joint's Coulomb friction."""
REFRESHED = 2
"""Repetitions with the load of the solution before."""
GUARD = 0.3
"""Time left out beside the held-out block, s."""
GAIN = 0.98
"""Cross-validated error over that without the terms, below which the terms clearly help a joint, or all of them."""
SIMPLER = 1.005
"""Cross-validated error without presliding, or without load, over that with it, below which it is left out."""
FALSE_ALARM = 0.05
"""Chance that terms are called certain for a robot whose friction is viscous and Coulomb."""
HARM = 2.0
"""Standard errors over the blocks. Evidence decides on terms; where they help one joint of a robot, they are left out
of another only if they certainly raise its cross-validated error: held-out blocks of a short log take away so many of
its reversals that they are too severe with friction terms (of a real log, the first half estimating and the next fifth
judging, a limit of 1 raised the error from 6.8 to 7.6 %)."""
FEW, ENOUGH = 11, 40
"""Decimated samples of a class of speed from which it has its own deviation, and its own scale."""
FEWEST, SHORTEST = 100, 50
"""Decimated samples (4 s) below which no friction terms are looked for; (2 s) below which no blocks are held out."""


@dataclass(frozen=True, eq=False)
class _Problem:
    """One processing of a log with its columns, discounts and priors."""

    data: TermData
    X: Array
    discount: Array
    prior: Array

    groups = ("free", "free", *GROUPS)

    @staticmethod
    def of(data: TermData) -> _Problem:
        n, (_, surfaces, k) = data.tau.shape[1], data.columns.shape
        free = np.full((surfaces, 2), np.inf)
        few = data.designs(data.columns[:, :, :2], free > 0)
        plain = solved(data, few, data.keep, np.ones(n), free, ("free", "free"))
        discount = np.minimum(_times(data, plain.residuals), DISCOUNT)
        size = np.sqrt((data.tau**2).mean(axis=0)) @ np.abs(np.linalg.pinv(data.bank.rows))
        prior = np.tile(np.maximum(np.abs(plain.own[:, 1]), 1e-3 * size)[:, None], (1, k - 2))
        prior[:, -1] = np.where(np.arange(surfaces) < n, LOAD, 0.0)
        values, prior = plain.values, np.hstack([free, np.where(prior > 0, np.maximum(prior, 1e-12), 0.0)])
        for _ in range(REFRESHED):
            designs = data.designs(data.loaded(values), prior > 0)
            found = solved(data, designs, data.keep, discount, prior, _Problem.groups)
            values, discount = found.values, np.minimum(_times(data, found.residuals), DISCOUNT)
        return _Problem(data, data.loaded(values), discount, prior)

    @cached_property
    def designs(self) -> list[Design]:
        return self.data.designs(self.X, self.prior > 0)

    @cached_property
    def solution(self) -> Solution:
        return solved(self.data, self.designs, self.data.keep, self.discount, self.prior, self.groups)

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
    def folds(self) -> list[tuple[Array, Solution]]:
        """By block of time: its samples, (m,) bool, and the solution of the others."""
        data, t, folds = self.data, self.data.t, []
        for low, high in data.blocks:
            others = data.keep & ~((t >= low - GUARD) & (t < high + GUARD))
            found = solved(data, self.designs, others, self.discount, self.prior, self.groups, self.solution)
            folds.append(((t >= low) & (t < high) & data.keep, found))
        return folds

    @cached_property
    def held_out(self) -> Array:
        """(m, n) residuals of blocks of time that were held out; NaN for samples that are not used."""
        data, left = self.data, np.full(self.data.tau.shape, np.nan)
        for block, found in self.folds:
            theta = np.concatenate([found.values, found.own.ravel()])
            for j, (columns, places) in enumerate(self.designs):
                left[block, j] = data.tau[block, j] - columns[block] @ theta[places]
        return left

    def held_out_variance(self, times: Array) -> Array:
        """(m, n) variance of the torques of a block by the errors of the parameters that the others gave.

        times: (n,) autocorrelation times of the residuals
        """
        variance = np.full(self.data.tau.shape, np.nan)
        for block, found in self.folds:
            root = self.root(found, times)
            for j, (columns, places) in enumerate(self.designs):
                variance[block, j] = ((columns[block] @ narrowed(root[places])) ** 2).sum(axis=1)
        return variance

    @cached_property
    def _squares(self) -> Array:
        """(blocks, n) sums of squares of held-out residuals of moving joints."""
        left, t = self.held_out, self.data.t
        squares = np.where(np.isfinite(left) & self.data.moving, left**2, 0.0)
        return np.array([squares[(t >= low) & (t < high)].sum(axis=0) for low, high in self.data.blocks])

    def harm(self, plain: _Problem) -> Array:
        """(n,) increase of held-out squares against those of `plain`, in standard errors over the blocks."""
        return _in_standard_errors(self._squares - plain._squares)

    def gains(self, plain: _Problem) -> bool:
        """Whether terms certainly lower the held-out error of a joint, or that of all joints together, against `plain`.

        Judged by logarithms, because squares of a wrong law differ much between blocks: their sum is decided by a few.
        All joints together are certain where each gains a little.
        """
        gain = np.log(np.maximum(plain._squares, 1e-300) / np.maximum(self._squares, 1e-300))
        ratio = self.errors / np.maximum(plain.errors, 1e-300)
        gain, ratio = np.column_stack([gain, gain.mean(axis=1)]), np.append(ratio, self.error / plain.error)
        certain = stdtrit(BLOCKS - 1, 1 - FALSE_ALARM / len(ratio))  # any of them may raise the alarm (Bonferroni)
        return bool(((ratio < GAIN) & (_in_standard_errors(gain) > certain)).any())

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

    def root(self, found: Solution, times: Array) -> Array:
        """Root of the covariance of the solution for residuals with these autocorrelation times, (n,).

        C (sum_j f_j H_j + priors) C,   f_j = time_j / discount_j (nu_j + 3) / (nu_j + 1) m / (m - tr(C H_j))

        with H_j the discounted information of joint j: a Student distribution has (nu + 1) / (nu + 3) of the weights'
        information (Lange, Little, Taylor 1989), and of m residuals m - tr(C H_j) degrees of freedom are left.
        """
        C = found.covariance
        middle = np.zeros_like(C)
        p = len(found.values)
        middle[np.arange(p, len(C)), np.arange(p, len(C))] = found.penalty
        middle[:p, :p] = found.expected
        for j, ((_, places), H) in enumerate(zip(self.designs, found.information, strict=True)):
            m = len(found.residuals)
            left = max(m - (C[np.ix_(places, places)] * H).sum(), 1) / m
            student = (found.freedom[j] + 3) / (found.freedom[j] + 1)
            middle[np.ix_(places, places)] += H * (times[j] / self.discount[j] * student / left)
        return np.asarray(C @ root_of(middle))


def _in_standard_errors(x: Array) -> Array:
    """(n,) means over blocks of x, (blocks, n), over their standard errors."""
    spread = x.std(axis=0, ddof=1) / math.sqrt(len(x))
    ratio: Array = x.mean(axis=0) / np.maximum(spread, 1e-300)
    return ratio


def _times(data: TermData, residuals: Array) -> Array:
    """(n,) autocorrelation times, in decimated samples, of residuals at the samples used."""
    times = np.full(data.tau.shape, np.nan)
    times[data.keep] = residuals
    return autocorrelation_time(times)


def torque_model(robot: Robot, base: BaseParameters, samples: Samples) -> TorqueModel | None:
    """The model with the terms that cross-validation keeps: `used` by no joint if viscous and Coulomb friction suffice.

    None for a log that is too short to tell.

    Args:    robot: with plain friction
             base: its base parameters
             samples: of a log, consecutive in time
    """
    data = TermData.of(robot, base, samples)
    if data.keep.sum() < SHORTEST:
        return None
    problem = _Problem.of(data)
    n, surfaces = robot.n, len(problem.prior)
    plain = problem.without()
    if data.keep.sum() >= FEWEST and problem.gains(min(plain, problem.sharp, key=lambda each: each.error)):
        for group in ("presliding", "load"):  # a simpler law that predicts as well is preferred
            simpler = problem.without(groups=(group,))
            problem = simpler if simpler.error < SIMPLER * problem.error else problem
        harmful = problem.harm(plain) > HARM
        if harmful.any():
            problem = problem.without(np.append(harmful, np.zeros(surfaces - n, dtype=bool)))
    else:
        problem = plain
    found = problem.solution
    times = _times(data, found.residuals)
    root = problem.root(found, times)
    sigma, scale = _band(problem, times)
    return TorqueModel(base, data.bank, found.values, found.own, root, sigma, scale, times,
                       np.full(n, data.keep.sum()), samples.cutoff, (problem.errors, plain.errors))  # fmt: skip


def _band(problem: _Problem, times: Array) -> tuple[Array, Array]:
    """(sigma, scale), (n, 3), by class of speed, of the deviation scale sqrt(phi' C phi + sigma^2) of a torque.

    Residuals of a held-out block have the variance phi' C_b phi + sigma^2, with C_b the covariance of the parameters
    that the other blocks give: larger than C, that of all blocks. sigma is the value for which normal residuals are
    most probable, at least that of the fit; with the scale, 95 % of the residuals' Student distribution are within two
    deviations.
    A class with few samples has the figures of all.
    """
    data, found = problem.data, problem.solution
    use = data.keep
    left, unsure, speed = problem.held_out[use], problem.held_out_variance(times)[use], data.speed[use]
    sigma, scale = np.zeros((2, *found.sigma.shape))
    for j in range(len(sigma)):
        classes = [speed[:, j] == s for s in range(SPEEDS)]
        for s, inside in enumerate(classes):
            some = inside if inside.sum() >= FEW else slice(None)
            sigma[j, s] = model_error(left[some, j], unsure[some, j], float(found.sigma[j, s]))
        z = left[:, j] / np.sqrt(unsure[:, j] + sigma[j, speed[:, j]] ** 2)
        for s, inside in enumerate(classes):
            scale[j, s] = student_limit(z[inside] if inside.sum() >= ENOUGH else z) / 2
    return sigma, scale


def model_error(residuals: Array, variance: Array, least: float) -> float:
    """sigma, not below `least`, for which normal residuals of variances `variance` + sigma^2 are most probable."""

    def slope(logarithm: float) -> float:
        total = variance + math.exp(2 * logarithm)
        return float((residuals**2 / total**2 - 1 / total).sum())

    low, high = math.log(least), math.log(max(float(np.abs(residuals).max()), 2 * least))
    return math.exp(brentq(slope, low, high, xtol=1e-3)) if slope(low) > 0 else least


def student_limit(z: Array) -> float:
    """The limit that 95 % of the most probable Student distribution, of degrees of freedom `FREEDOM`, are within."""
    nu, scale = np.array(FREEDOM)[:, None], np.full((len(FREEDOM), 1), math.sqrt(float((z**2).mean())))
    for _ in range(30):
        scale = np.sqrt(((nu + 1) / (nu + (z / scale) ** 2) * z**2).mean(axis=1, keepdims=True))
    best = int(np.argmax((stats.t.logpdf(z / scale, nu) - np.log(scale)).sum(axis=1)))
    return float(scale[best, 0] * stats.t.ppf(0.975, FREEDOM[best]))


__all__ = ["torque_model"]
