"""Estimation of parameters together with friction terms that shrink unless the torques need them.

The coefficients of `friction_terms` have normal priors of mean zero. Their scale, one per joint and group of terms, is
what the data make most probable (evidence; MacKay 1992): terms that the torques do not need shrink to nothing. The
inertial parameters, viscous and Coulomb friction and offsets are free. Errors have one standard deviation per joint and
class of speed and a Student distribution, so that neither standstill nor outliers decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack
from scipy.special import gammaln

from armdyn.identification.body_prior import body_prior, weight_of
from armdyn.identification.filters import decimated
from armdyn.identification.friction_terms import Bank
from armdyn.identification.observation import observe
from armdyn.identification.samples import Samples, excerpts
from armdyn.identification.torque_model import DECIMATED_RATE, carried, replaced
from armdyn.parameters import BaseParameters
from armdyn.robot import Robot
from armdyn.typing import Array

MOST = 6000
"""Decimated samples (4 min) that are used at most: of a longer log an excerpt for each block of cross-validation."""
WARM_UP = 1.0
"""Time at both ends of an excerpt that does not count, s."""
BLOCKS = 8
"""Blocks of time that cross-validation holds out one after the other."""
FREEDOM = (3.0, 4.0, 6.0, 9.0, 15.0, 40.0)
"""Degrees of freedom of the Student distribution of the errors: for each joint the most probable of these."""
PASSES, FEWER = 12, 4
"""Iterations of weights and scales, from the start and from a solution of nearly the same data."""
RANK = 1e-10
"""Eigenvalues of the scaled information below this share of the largest count as zero."""
SPEEDS = 3
"""Classes of speed."""


# Data ---------------------------------------------------------------------------------------------------------------


class Design(NamedTuple):
    """Columns, (m, c), on which the torque of a joint depends, and their places, (c,), among values and own."""

    columns: Array
    places: Array


@dataclass(frozen=True, eq=False)
class TermData:
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
    def of(robot: Robot, base: BaseParameters, samples: Samples) -> TermData:
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
        unsettled = bank.unsettled(samples.q, samples.qd)[::factor]
        keep: Array = np.asarray(moving.any(axis=1) & samples.keep[::factor].any(axis=1) & ~unsettled)
        return TermData(base, whole, bank, t, Y, np.stack(columns, axis=1), tau, keep, bank.classes(qd), moving)

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
    def prior(self) -> Array:
        """(r, p + 1) what is known of bodies."""
        return body_prior(self.base)

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
        """Begin and end of the blocks of time of the cross-validation, which hold equally many samples in motion."""
        ends = np.quantile(self.t[self.keep], np.linspace(0, 1, BLOCKS + 1))
        ends[-1] += 1.0
        return list(pairwise(ends.tolist()))

    def designs(self, X: Array, wanted: Array) -> list[Design]:
        """By joint: the columns of its torque.

        X: (m, n + s, 2 + k) viscous, Coulomb and terms
        wanted: (n + s, 2 + k) bool, those that take part
        """
        p, k = self.Y.shape[2], X.shape[2]
        designs = []
        for j, (active, surfaces) in enumerate(zip(self.active, self.surfaces, strict=True)):
            own = [self.bank.rows[a, j] * X[:, a, wanted[a]] for a in surfaces]
            places = np.concatenate([active, *(p + a * k + np.flatnonzero(wanted[a]) for a in surfaces)])
            designs.append(Design(np.hstack([self.Y[:, j, active], *own]), places))
        return designs


# Estimation ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solution:
    """values: (p,); own: (n + s, 2 + k); covariance of both; residuals: (m, n).

    sigma: (n, 3) by class of speed; freedom: (n,) degrees of the errors' Student distributions
    alpha: (n + s, 2 + k) scales of the priors; penalty: of own, flat
    share: of its information that the prior of bodies keeps; expected: (p, p) that information
    information: by joint, discounted, of the columns of its design
    """

    values: Array
    own: Array
    covariance: Array
    residuals: Array
    sigma: Array
    freedom: Array
    alpha: Array
    share: float
    information: tuple[Array, ...]
    penalty: Array
    expected: Array


def solved(
    data: TermData, designs: Sequence[Design], use: Array, discount: Array, prior: Array, groups: Sequence[str],
    near: Solution | None = None,
) -> Solution:  # fmt: skip
    """Parameters and terms of largest posterior probability, iterated with weights and scales.

    designs: by joint, without the columns whose prior is 0
    use: (m,) bool
    discount: (n,) by which information is divided
    prior: (n + s, 2 + k) standard deviations; infinite: free, 0: left out
    near: a solution to start from
    """
    tau, speed = data.tau[use], data.speed[use]
    (m, n), p, (surfaces, k) = tau.shape, data.Y.shape[2], prior.shape
    inside = np.stack([speed == s for s in range(SPEEDS)]).astype(float)
    labels = np.array([*groups])
    kinds = [labels == g for g in dict.fromkeys(groups)]
    columns, places = [design.columns[use] for design in designs], [design.places for design in designs]
    spread = np.sqrt((tau**2).mean(axis=0))
    least = 1e-9 * max(float(spread.max()), 1e-300)
    alpha = np.ones((surfaces, k)) if near is None else near.alpha
    sigma = np.tile(np.maximum(spread, 1e-9)[:, None], (1, SPEEDS)) if near is None else near.sigma
    weight = np.ones((m, n))
    if near is not None:
        theta = np.concatenate([near.values, near.own.ravel()])
        weight, _ = _weights(tau - _predicted(columns, places, theta), sigma, speed)
    finite = (prior > 0) & np.isfinite(prior)
    R, known_before, share = data.prior[:, :-1], data.prior[:, -1], 1.0 if near is None else near.share
    for _ in range(PASSES if near is None else FEWER):
        H, b, information = np.zeros((p + prior.size, p + prior.size)), np.zeros(p + prior.size), []
        for j, (place, A) in enumerate(zip(places, columns, strict=True)):
            root = np.sqrt(weight[:, j] / discount[j]) / sigma[j, speed[:, j]]
            rows = A * root[:, None]
            information.append(rows.T @ rows)  # a symmetric product: half the work
            H[np.ix_(place, place)] += information[j]
            b[place] += rows.T @ (root * tau[:, j])
        penalty = np.where(finite, alpha / np.where(finite, prior, 1.0) ** 2, 0.0)
        H[np.arange(p, len(H)), np.arange(p, len(H))] += penalty.ravel()
        H[:p, :p] += share * R.T @ R
        b[:p] += share * R.T @ known_before
        C = _inverse(H)
        theta = C @ b
        own = theta[p:].reshape(surfaces, k)
        residuals = tau - _predicted(columns, places, theta)
        sigma = np.maximum(by_speed(weight * residuals**2, inside), least)
        weight, freedom = _weights(residuals, sigma, speed)
        share, prior_share = weight_of(data.prior, share, theta[:p], C[:p, :p]), share
        variance = np.diag(C)[p:].reshape(surfaces, k)
        alpha = alpha.copy()
        for kind in kinds:
            some = finite[:, kind]
            sd = np.where(some, prior[:, kind], 1.0)
            known = (some * (1 - alpha[:, kind] * variance[:, kind] / sd**2)).sum(axis=1)
            size = (some * (own[:, kind] / sd) ** 2).sum(axis=1)
            alpha[:, kind] = np.clip(np.maximum(known, 0) / np.maximum(size, 1e-12), 1, 1e4)[:, None]
    return Solution(
        theta[:p], own, C, residuals, sigma, freedom, alpha, share, tuple(information), penalty.ravel(),
        prior_share * R.T @ R,
    )  # fmt: skip


def _predicted(columns: Sequence[Array], places: Sequence[Array], theta: Array) -> Array:
    return np.column_stack([A @ theta[place] for A, place in zip(columns, places, strict=True)])


def _weights(residuals: Array, sigma: Array, speed: Array) -> tuple[Array, Array]:
    """(m, n) weights of Student distributions, and (n,) their degrees of freedom: for each joint the most probable."""
    squares = (residuals / np.take_along_axis(sigma.T, speed, 0)) ** 2
    nu = np.array(FREEDOM)[:, None]
    norm = gammaln((nu + 1) / 2) - gammaln(nu / 2) - np.log(nu) / 2
    likelihood = [n - (f + 1) / 2 * _mean_logarithm(1 + squares / f) for n, f in zip(norm[:, 0], FREEDOM, strict=True)]
    best = nu[np.argmax(likelihood, axis=0), 0]
    return (best + 1) / (best + squares), best


def _mean_logarithm(x: Array) -> Array:
    """(n,) means of log(x), (m, n) and far from overflow, by products of eight: a logarithm takes as long as many."""
    whole = len(x) // 8 * 8
    products = x[:whole].reshape(8, -1, x.shape[1]).prod(axis=0)
    sums = np.log(products).sum(axis=0) + np.log(x[whole:]).sum(axis=0)
    return np.asarray(sums / len(x))


def _inverse(H: Array) -> Array:
    """Inverse of the information; what is left out or not determined has zeros."""
    some = np.flatnonzero(np.diag(H) > 0)
    scale = np.sqrt(np.diag(H)[some])
    scaled = H[np.ix_(some, some)] / np.outer(scale, scale)
    inverse = np.zeros_like(H)
    inverse[np.ix_(some, some)] = _pseudo_inverse(scaled) / np.outer(scale, scale)
    return inverse


def _pseudo_inverse(A: Array) -> Array:
    """Inverse of a symmetric matrix, by Cholesky factors if it is regular: a tenth of the time of eigenvalues."""
    factor, failed = lapack.dpotrf(A)
    if not failed and lapack.dpocon(factor, np.abs(A).sum(axis=0).max())[0] > len(A) * RANK:
        upper = np.triu(lapack.dpotri(factor)[0])
        return np.asarray(upper + np.triu(upper, 1).T)
    values, vectors = np.linalg.eigh(A)
    good = values > RANK * values[-1]
    root = vectors[:, good] / np.sqrt(values[good])
    inverse: Array = root @ root.T
    return inverse


def by_speed(squares: Array, inside: Array) -> Array:
    """(n, 3) roots of the means of squares, (m, n), by class of speed; that of all where a class has few samples.

    inside: (3, m, n) 1 for samples of a class, else 0
    """
    count, every = inside.sum(axis=1).T, np.sqrt(squares.mean(axis=0))[:, None]
    own = np.sqrt(np.einsum("mn,smn->ns", squares, inside) / np.maximum(count, 1))
    return np.asarray(np.where(count > 10, own, every))


__all__ = ["Solution", "TermData", "by_speed", "solved"]
