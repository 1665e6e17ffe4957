"""Estimators: base parameters, and how well they are known, from an observation.

Sources: Siciliano (7.86) and sec. 7.4, Khalil sec. 7.3.3 f; weights by joint after Gautier.

    Ordinary      least squares, all samples weighted alike                                      Siciliano (7.86)
    Weighted      samples of joint j divided by the standard deviation sigma_j of its residuals, iterated
    Robust        weighted, and outliers count less, sample by sample (Huber, Tukey)
    Sequential    joint by joint from the outermost to the base                                  Siciliano sec. 7.4
    Damped        for a motion that does not excite all parameters: the others stay at the prior  Siciliano sec. 7.4
    Total         total least squares: the regressor is noisy as the torque is
    Instrumental  instruments from a noise-free motion (`identification.instrumental`)

An estimator is a frozen object with its settings; called with an `Observation` it returns an `Estimate`.

Standard deviations. Errors of the torque are taken to be stationary in time, and independent between joints and of the
regressor. They need not be white: filters and unmodelled effects correlate the residuals of neighbouring samples. The
integrated autocorrelation time 1 + 2 (rho_1 + rho_2 + ...) says how many samples carry the information of one
independent sample; variances are multiplied by it, joint by joint. That is exact for columns of the regressor that
change slowly compared with the residuals, and conservative for others. `white=True` assumes white residuals, as most
publications do.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from scipy import stats

from armdyn.errors import ArmdynError, unknown_name
from armdyn.identification.observation import Observation, extended, stacked
from armdyn.typing import Array

Loss = Literal["huber", "tukey"]

RANK = 1e-9
"""Smallest singular value that counts, relative to the largest, columns scaled to length 1: rounding is below it."""
SETTLED = 1e-6
"""Relative change of the weights at which iterations end."""
MOST = 50
"""Iterations at most."""
UNDETERMINED = 0.1
"""Share of a parameter in directions that the data do not determine, above which it counts as undetermined."""
DAMPING = 1e-6
"""Damping relative to the largest singular value."""
BLOCK = 4.0
"""Autocorrelation times in a block of the sandwich covariance."""
HUBER, TUKEY = 1.345, 4.685
"""Residuals over sigma where the losses leave the square; 95 % efficient for normal errors."""


@dataclass(frozen=True, eq=False)
class Estimate:
    """Base parameters with their accuracy.

    names: (p,) of the base parameters
    values: (p,) in SI units
    covariance: (p, p) of the values
    sigma: (n,) standard deviation of the residuals by joint, N m or N
    autocorrelation_time: (n,) of the residuals by joint, in samples: so many carry the information of one
    samples: (n,) how many samples were used, by joint
    method: name of the estimator
    damped: (k, p) directions, scaled by the columns' lengths, that the data do not determine, kept at the prior
    left_out: parameters set to zero because the torques do not need them
    notes: what the estimator reports, in sentences
    """

    names: tuple[str, ...]
    values: Array
    covariance: Array
    sigma: Array
    autocorrelation_time: Array
    samples: Array
    method: str
    damped: Array = field(default_factory=lambda: np.zeros((0, 0)))
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def std(self) -> Array:
        """(p,) standard deviations; infinite for parameters that the data do not determine."""
        deviations: Array = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        if len(self.damped):
            deviations[np.sqrt((self.damped**2).sum(axis=0)) > UNDETERMINED] = np.inf
        return deviations

    @cached_property
    def relative_std(self) -> Array:
        """(p,) standard deviations over values."""
        size = np.abs(self.values)
        relative: Array = np.divide(self.std, size, out=np.full(len(size), np.inf), where=size > 0)
        return relative

    @cached_property
    def correlations(self) -> Array:
        """(p, p) correlation matrix of the parameters."""
        deviations = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        scale = np.where(deviations > 0, deviations, 1.0)
        correlations: Array = self.covariance / np.outer(scale, scale)
        return correlations


@dataclass(frozen=True, kw_only=True)
class Estimator(ABC):
    """A method of estimation with its settings.

    white: assume white residuals for the standard deviations (default: measure their autocorrelation)
    """

    white: bool = False

    @abstractmethod
    def __call__(self, observation: Observation) -> Estimate:
        """The estimate of the base parameters from an observation."""

    def _times(self, residuals: Array) -> Array:
        """(n,) autocorrelation times of residuals (N, n)."""
        return np.ones(residuals.shape[1]) if self.white else autocorrelation_time(residuals)

    def _estimate(
        self, observation: Observation, values: Array, weights: Array, method: str, damping: float = 0.0
    ) -> Estimate:
        """Values of least squares with these weights, and their accuracy."""
        sigma = _sigma(observation, values, weights, damping)
        times = self._times(observation.residuals(values))
        covariance = _covariance(observation, weights, sigma**2 * times, damping)
        return Estimate(observation.base.names, values, covariance, sigma, times, observation.counts, method)


# Least squares ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Ordinary(Estimator):
    """Least squares with all samples weighted alike. Siciliano (7.86)"""

    def __call__(self, observation: Observation) -> Estimate:
        weights = np.ones(observation.n)
        return self._estimate(observation, _solved(observation, weights), weights, "ordinary")


@dataclass(frozen=True, kw_only=True)
class Weighted(Estimator):
    """Least squares with the samples of each joint weighted by their residuals, until the weights settle.

    The weight of a joint whose torque is fitted exactly would grow without bound: sigma is kept above 1e-9 of the
    largest torque.
    """

    def __call__(self, observation: Observation) -> Estimate:
        weights, notes = _settled(observation, lambda weights: _solved(observation, weights))
        estimate = self._estimate(observation, _solved(observation, weights), weights, "weighted")
        return replace(estimate, notes=tuple(notes))


@dataclass(frozen=True, kw_only=True, eq=False)
class Damped(Estimator):
    """Weighted least squares for motions that do not excite all parameters. Siciliano sec. 7.4

    Minimises |Y pi - tau|^2 + lambda^2 |D (pi - prior)|^2 with D the lengths of the columns of Y and lambda = damping
    times the largest singular value of Y D^-1. What was damped by more than half is reported in `Estimate.damped`;
    such parameters have an infinite standard deviation.

    prior: (p,) base parameters (default: those of the robot)
    damping: relative to the largest singular value (default 1e-6)
    """

    prior: Any = None
    damping: float = DAMPING

    def __call__(self, observation: Observation) -> Estimate:
        start = observation.base.values if self.prior is None else np.asarray(self.prior, dtype=float)
        shifted = replace(observation, factors=_less(observation.factors, start))

        def solve(weights: Array) -> Array:
            inverse, y, _ = _inverse(shifted, weights, self.damping)
            return inverse @ y

        weights, notes = _settled(shifted, solve, self.damping)
        estimate = self._estimate(observation, start + solve(weights), weights, "damped", self.damping)
        return replace(estimate, damped=_inverse(observation, weights, self.damping)[2], notes=tuple(notes))


def _less(factors: Array, values: Array) -> Array:
    """The factors of tau - Y values."""
    less = factors.copy()
    less[:, :, -1] -= factors[:, :, :-1] @ values
    return less


def _settled(
    observation: Observation, solve: Callable[[Array], Array], damping: float = 0.0
) -> tuple[Array, list[str]]:
    """Weights 1/sigma_j at which the residuals have these sigma_j."""
    least = 1e-9 * _largest_torque(observation)
    sigma = np.full(observation.n, 1.0)
    for _ in range(MOST):
        new = np.maximum(_sigma(observation, solve(1 / sigma), 1 / sigma, damping), least)
        change = np.abs(new / sigma - 1).max()
        sigma = new
        if change < SETTLED:
            return 1 / sigma, []
    return 1 / sigma, [f"The weights had not settled after {MOST} iterations (last change {change:.1e})."]


def _solved(observation: Observation, weights: Array) -> Array:
    """The parameters of least residual; an error names those that the data do not determine."""
    inverse, y, lost = _inverse(observation, weights)
    if len(lost):
        raise ArmdynError(
            f"the motion does not determine all {observation.count} base parameters", where="identification",
            expected="a motion that excites all base parameters",
            advice=f"{_undetermined(observation.base.names, lost)} Log a motion that excites them, or use "
            "method='damped'.",
        )  # fmt: skip
    return inverse @ y


def _inverse(observation: Observation, weights: Array, damping: float = 0.0) -> tuple[Array, Array, Array]:
    """(B, y, lost): parameters B y of least weighted residual, B B^T being the inverse of the information matrix.

    Columns are scaled to length 1 first. lost: undetermined directions, of singular values below RANK, or that
    damping halves at least.
    """
    rows = stacked(observation, weights)
    lengths = np.linalg.norm(rows[:, :-1], axis=0)
    empty = lengths == 0
    lengths[empty] = 1.0
    fewer = max(len(lengths) - len(rows), 0)  # than parameters: rows of zeros are added
    scaled = np.pad(rows, ((0, fewer), (0, 0)))
    U, s, Vt = np.linalg.svd(scaled[:, :-1] / lengths, full_matrices=False)
    level = max(RANK, damping) * s[0]
    determined = s > level
    gains = np.divide(s, s**2 + (damping * s[0]) ** 2, out=np.zeros_like(s), where=s > RANK * s[0])
    inverse = (Vt.T * gains) / lengths[:, None]
    inverse[empty] = 0.0  # not only to rounding
    return inverse, U.T @ scaled[:, -1], Vt[~determined]


def _undetermined(names: Sequence[str], lost: Array) -> str:
    """A sentence with the parameters in the undetermined directions."""
    share = np.sqrt((lost**2).sum(axis=0))
    order = [i for i in np.argsort(-share) if share[i] > UNDETERMINED]
    return f"Not determined: {', '.join(names[i] for i in order[:12])}{' ...' if len(order) > 12 else ''}."


# How well they are known --------------------------------------------------------------------------------------------


def _information(observation: Observation, weights: Array) -> Array:
    """Sum of w_j^2 Y_j^T Y_j."""
    A = observation.factors[:, :, :-1] * weights[:, None, None]
    information: Array = np.einsum("jki,jkl->il", A, A)
    return information


def _covariance(observation: Observation, weights: Array, variance: Array, damping: float = 0.0) -> Array:
    """P (sum of w_j^4 v_j Y_j^T Y_j) P with P the inverse of the sum of w_j^2 Y_j^T Y_j: right for any weights."""
    inverse = _inverse(observation, weights, damping)[0]
    P = inverse @ inverse.T
    noisy = weights**2 * np.sqrt(variance)
    covariance: Array = P @ _information(observation, noisy) @ P
    return covariance


def _sigma(observation: Observation, values: Array, weights: Array, damping: float = 0.0) -> Array:
    """(n,) standard deviation of the residuals, each joint's degrees of freedom counted.

    A joint loses as many as its rows fit parameters: the trace of its part of the hat matrix.
    """
    x = np.append(values, -1.0)
    squares = ((observation.factors @ x) ** 2).sum(axis=1)
    inverse = _inverse(observation, weights, damping)[0]
    A = observation.factors[:, :, :-1] * weights[:, None, None]
    fitted = ((A @ inverse) ** 2).sum(axis=(1, 2))
    free = np.maximum(observation.counts - fitted, 1.0)
    sigma: Array = np.sqrt(squares / free)
    return sigma


def _largest_torque(observation: Observation) -> float:
    per_row = (observation.factors[:, :, -1] ** 2).sum(axis=1) / np.maximum(observation.counts, 1)
    return float(np.sqrt(per_row.max())) or 1.0


def autocorrelation_time(residuals: Array) -> Array:
    """(n,) integrated autocorrelation time in samples, 1 + 2 (rho_1 + rho_2 + ...), at least 1.

    residuals: (N, n), NaN where a sample does not count; pairs with such a sample are left out. The sum ends where two
    neighbouring autocorrelations together are no longer positive (Geyer's initial positive sequence).
    """
    result = np.ones(residuals.shape[1])
    for j, column in enumerate(residuals.T):
        counts = ~np.isnan(column)
        e = np.where(counts, column, 0.0)
        if counts.sum() < 3 or not e.any():
            continue
        size = 2 * len(e)
        power, there = np.abs(np.fft.rfft(e, size)) ** 2, np.abs(np.fft.rfft(counts.astype(float), size)) ** 2
        pairs = np.maximum(np.round(np.fft.irfft(there, size)[: len(e)]), 1.0)
        rho = np.fft.irfft(power, size)[: len(e)] / pairs
        rho = rho[: len(e) // 4 * 2] / rho[0]
        couples = rho[0::2] + rho[1::2]  # rho_0 + rho_1, rho_2 + rho_3, ...
        negative = np.flatnonzero(couples <= 0)
        end = negative[0] if len(negative) else len(couples)
        result[j] = max(1.0, 2 * couples[:end].sum() - 1)
    return result


# Outliers -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Robust(Estimator):
    """Weighted least squares in which a sample counts the less the larger its residual is.

    sigma is 1.4826 times the median of the absolute residuals, which a few outliers do not move.

    loss: "huber" (beyond 1.345 sigma the influence is constant) or "tukey" (beyond 4.685 sigma it is zero)
    """

    loss: Loss = "huber"

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise unknown_name("loss", self.loss, get_args(Loss), where="robust")

    def __call__(self, observation: Observation) -> Estimate:
        values = Weighted(white=True)(observation).values
        for weigh in (_huber, _tukey) if self.loss == "tukey" else (_huber,):  # Tukey's loss needs a good start
            for _ in range(MOST):
                sigma = _median_sigma(observation, values)
                seen = _reweighted(observation, values, sigma, weigh)
                new = _solved(seen, 1 / sigma)
                change = np.abs(new - values).max() / max(np.abs(new).max(), 1e-300)
                values = new
                if change < SETTLED:
                    break
        u = observation.residuals(values) / sigma
        pull = u * weigh(u)
        times = self._times(pull)
        slope = _slope(u, weigh)
        # The variance of an estimate that solves sum of pull = 0: E pull^2 / (E slope)^2 (Huber).
        variance = sigma**2 * np.nanmean(pull**2, axis=0) / np.nanmean(slope, axis=0) ** 2
        stationary = _covariance(observation, 1 / sigma, variance * times)
        covariance = _at_least(_sandwich(observation, values, sigma, times, weigh), stationary)
        light = (np.nansum(weigh(u) < 0.5, axis=0) / np.maximum(observation.counts, 1)).tolist()
        note = "Outliers (samples with less than half weight) by joint: " + ", ".join(f"{x:.2%}" for x in light) + "."
        return Estimate(observation.base.names, values, covariance, sigma, times, observation.counts,
                        f"robust ({self.loss})", notes=(note,))  # fmt: skip


def _sandwich(
    observation: Observation, values: Array, sigma: Array, times: Array, weigh: Callable[[Array], Array]
) -> Array:
    """Covariance of an estimate that solves sum of Y^T psi(u) / sigma = 0, psi(u) = u w(u): H^-1 B H^-1 (Huber).

    H is the sum of slopes of psi. B is measured: the sum of squares of the scores, added up over blocks of time that
    are longer than the residuals are correlated, so that errors may depend on the motion and on each other.
    """
    p = observation.count
    H, scores = np.zeros((p, p)), []
    for rows in observation.rows():
        u = np.where(rows.keep, (rows.tau - rows.Y @ values) / sigma, 0.0)
        slope = _slope(u, weigh)
        scaled = np.where(rows.keep[:, :, None], rows.Y / sigma[:, None], 0.0)
        H += np.einsum("mja,mj,mjb->ab", scaled, slope, scaled, optimize=True)
        scores.append(np.einsum("mja,mj->ma", scaled, u * weigh(u)))
    pulls = np.concatenate(scores)
    block = max(1, min(math.ceil(BLOCK * float(times.max())), len(pulls) // (2 * p) or 1))
    sums = np.add.reduceat(pulls, np.arange(0, len(pulls), block), axis=0)
    samples = float(observation.counts.sum())
    few = len(sums) / max(len(sums) - 1, 1) * samples / max(samples - p, 1.0)
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    inverse = np.linalg.pinv(H / np.outer(scale, scale), rcond=RANK, hermitian=True) / np.outer(scale, scale)
    covariance: Array = few * inverse @ (sums.T @ sums) @ inverse
    return covariance


def _slope(u: Array, weigh: Callable[[Array], Array], step: float = 1e-4) -> Array:
    """d psi / du by central differences."""
    slope: Array = ((u + step) * weigh(u + step) - (u - step) * weigh(u - step)) / (2 * step)
    return slope


def _at_least(covariance: Array, other: Array) -> Array:
    """A covariance with its standard deviations raised to those of another one where these are larger.

    The sandwich is right for errors that depend on the motion, but it comes from few blocks; the other one knows the
    autocorrelation, but takes the errors to be stationary.
    """
    ratio = np.sqrt(np.maximum(np.diag(other) / np.maximum(np.diag(covariance), 1e-300), 1.0))
    raised: Array = covariance * np.outer(ratio, ratio)
    return raised


def _huber(u: Array) -> Array:
    """Weights of samples by residual over sigma."""
    weights: Array = np.minimum(1.0, HUBER / np.maximum(np.abs(u), 1e-300))
    return weights


def _tukey(u: Array) -> Array:
    return np.where(np.abs(u) < TUKEY, (1 - (u / TUKEY) ** 2) ** 2, 0.0)


def _median_sigma(observation: Observation, values: Array) -> Array:
    middle = np.nanmedian(np.abs(observation.residuals(values)), axis=0)
    sigma: Array = np.maximum(1.4826 * middle, 1e-9 * _largest_torque(observation))
    return sigma


def _reweighted(observation: Observation, values: Array, sigma: Array, weigh: Callable[[Array], Array]) -> Observation:
    """The observation with every sample multiplied by the root of its weight."""
    factors = np.zeros_like(observation.factors)
    for rows in observation.rows():
        roots = np.sqrt(weigh((rows.tau - rows.Y @ values) / sigma))
        for j in range(observation.n):
            chosen, w = rows.keep[:, j], roots[:, j]
            block = np.column_stack([rows.Y[:, j], rows.tau[:, j]]) * w[:, None]
            factors[j] = extended(factors[j], block[chosen])
    return replace(observation, factors=factors)


# Joint by joint -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Sequential(Estimator):
    """Joint by joint, from the outermost to the base. Siciliano sec. 7.4

    The torques of a joint give the parameters that no joint further out gave; those already known are subtracted.
    Where one joint does not determine its parameters, the next joint's torques are added. Errors pass on to the joints
    further in and are part of the covariance. A global estimate is better; this one needs motion of few joints at a
    time.
    """

    def __call__(self, observation: Observation) -> Estimate:
        p, sigma = observation.count, np.zeros(observation.n)
        values, covariance = np.zeros(p), np.zeros((p, p))
        known, pool, steps = np.zeros(p, dtype=bool), [], []
        times = np.ones(observation.n)
        for j in reversed(range(observation.n)):
            pool.append(j)
            new = observation.active[pool].any(axis=0) & ~known
            part = observation.factors[pool].reshape(-1, p + 1)
            A, y = part[:, :-1][:, new], part[:, -1] - part[:, :-1][:, known] @ values[known]
            lengths = np.linalg.norm(A, axis=0)
            singular = np.linalg.svd(A / lengths, compute_uv=False)
            determined = not new.any() or (len(singular) == new.sum() and singular[-1] > RANK * singular[0])
            if not determined and j > 0:
                continue
            if not determined:
                raise ArmdynError(f"the torques of joints {_numbers(pool)} do not determine their {int(new.sum())} "
                                  "parameters", where="sequential", advice="Use method='weighted'.")  # fmt: skip
            inverse = np.linalg.pinv(A / lengths) / lengths[:, None] if new.any() else A.T
            values[new] = inverse @ y
            free = max(int(observation.counts[pool].sum()) - int(new.sum()), 1)
            sigma[pool] = np.linalg.norm(y - A @ values[new]) / np.sqrt(free)
            times[pool] = self._times(observation.residuals(values)[:, pool]).max()
            passing = -inverse @ part[:, :-1][:, known]  # d new / d known
            cross = passing @ covariance[np.ix_(known, known)]
            noise = sigma[j] ** 2 * times[j] * inverse @ inverse.T
            covariance[np.ix_(new, new)] = noise + cross @ passing.T
            covariance[np.ix_(new, known)], covariance[np.ix_(known, new)] = cross, cross.T
            steps.append(f"joint {_numbers(pool)}: {int(new.sum())} parameters")
            known, pool = known | new, []
        return Estimate(observation.base.names, values, covariance, sigma, times, observation.counts, "sequential",
                        notes=(f"Order of estimation: {'; '.join(steps)}.",))  # fmt: skip


def _numbers(joints: Sequence[int]) -> str:
    return ", ".join(str(j + 1) for j in joints)


# A noisy regressor --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True, eq=False)
class Total(Estimator):
    """Total least squares: columns of the regressor are noisy as the torque is.

    Columns without noise are eliminated first (mixed total least squares); offsets, columns of ones, always are.
    Weights by joint as in `Weighted`. Variances are those of the linearisation,
    sigma^2 (1 + |D pi|^2) (Y^T Y - s^2 D^2)^-1, D = diag(noise).

    noise: (p,) standard deviation of the errors in each column over that of the torque, in the units of the column;
           0: exact (default: the same share of every column's length as of the torque's)
    """

    noise: Any = None

    def __call__(self, observation: Observation) -> Estimate:
        weights = _settled(observation, lambda weights: _solved(observation, weights))[0]
        rows = stacked(observation, weights)
        p = observation.count
        lengths = np.linalg.norm(rows, axis=0)
        D = lengths[:-1] / lengths[-1] if self.noise is None else np.asarray(self.noise, dtype=float).copy()
        D[[name.startswith("off") for name in observation.base.names]] = 0.0
        exact, noisy = np.flatnonzero(D == 0), np.flatnonzero(D > 0)
        R: Array = np.linalg.qr(np.column_stack([rows[:, exact], rows[:, noisy] / D[noisy], rows[:, -1]]))[1]
        e = len(exact)
        _, singular, Vt = np.linalg.svd(R[e:, e:])
        null = Vt[-1]
        if abs(null[-1]) < 1e-8:
            raise ArmdynError("total least squares has no solution", where="identification",
                              expected="a motion that excites all base parameters",
                              advice="Use method='weighted' or 'damped'.")  # fmt: skip
        values = np.zeros(p)
        scaled = -null[:-1] / null[-1]
        values[noisy] = scaled / D[noisy]
        if e:
            values[exact] = np.linalg.solve(R[:e, :e], R[:e, -1] - R[:e, e:-1] @ scaled)
        sigma = _sigma(observation, values, weights)
        times = self._times(observation.residuals(values))
        information = _information(observation, weights) - singular[-1] ** 2 * np.diag(D**2)
        P = np.linalg.inv(information)
        noise = weights**2 * sigma * np.sqrt(times)
        covariance = P @ _information(observation, noise) @ P
        return Estimate(observation.base.names, values, covariance, sigma, times, observation.counts, "total")


# Essential parameters ------------------------------------------------------------------------------------------------


def essential_parameters(
    observation: Observation, estimate: Estimate, *, level: float = 0.01, growth: float | None = None
) -> Estimate:
    """The estimate with only the parameters that the torques need; the others are set to zero.

    Backward elimination: the parameter of largest relative standard deviation is left out and the rest estimated again,
    with the weights of `estimate`, until the residual grows more than by chance.

    level: significance of the F-test against all parameters (default 0.01)
    growth: also stop when the norm of the residual has grown by this share (default: no such limit)
    """
    weights = 1 / np.maximum(estimate.sigma * np.sqrt(estimate.autocorrelation_time), 1e-300)
    rows = stacked(observation, weights)
    p = observation.count
    free = float((observation.counts / estimate.autocorrelation_time).sum()) - p
    if free < 1:
        raise ArmdynError("fewer independent samples than parameters", where="identify(essential=True)",
                          advice="Use a longer log.")  # fmt: skip
    kept = list(range(p))
    full = _fitted(rows, kept)
    best = full
    while len(kept) > 1:
        values, inverse = best[:2]
        relative = np.sqrt((inverse**2).sum(axis=1)) / np.maximum(np.abs(values), 1e-300)
        trial = [k for i, k in enumerate(kept) if i != int(np.argmax(relative))]
        fitted = _fitted(rows, trial)
        left_out = p - len(trial)
        F = (fitted[2] - full[2]) / left_out / max(full[2] / free, 1e-300)
        if stats.f.sf(F, left_out, free) < level or (growth is not None and fitted[2] > (1 + growth) ** 2 * full[2]):
            break
        kept, best = trial, fitted
    values, covariance = np.zeros(p), np.zeros((p, p))
    values[kept] = best[0]
    covariance[np.ix_(kept, kept)] = best[1] @ best[1].T * max(full[2] / free, 0.0)
    left = tuple(name for i, name in enumerate(observation.base.names) if i not in kept)
    sigma = _sigma(observation, values, weights)
    return replace(estimate, values=values, covariance=covariance, sigma=sigma, left_out=left,
                   method=f"{estimate.method}, essential")  # fmt: skip


def _fitted(rows: Array, kept: Sequence[int]) -> tuple[Array, Array, float]:
    """(values, B with B B^T the inverse of the information, sum of squared residuals) with some columns only."""
    A, y = rows[:, kept], rows[:, -1]
    lengths = np.linalg.norm(A, axis=0)
    inverse = np.linalg.pinv(A / lengths) / lengths[:, None]
    values = inverse @ y
    return values, inverse, float(((y - A @ values) ** 2).sum())


__all__ = [
    "Damped",
    "Estimate",
    "Estimator",
    "Ordinary",
    "Robust",
    "Sequential",
    "Total",
    "Weighted",
    "autocorrelation_time",
    "essential_parameters",
]
