"""The most probable robot for the rows of a log: one convex problem, solved again as its weights settle.

    minimise  1/2 sum over rows of w r^2 / (sigma^2 rho)  +  1/2 sum_k alpha_k (c_k / s_k)^2  +  barriers      [PO-1]

r: residuals of [RO-1]. sigma: noise by joint and class of speed, because standstill is predicted worse than motion.
w: Student weights, so that outliers do not decide. rho: rows that carry the information of one independent row. c_k:
coefficients of the friction bank with prior standard deviation s_k; alpha, one per joint and group of terms, is what
the torques make most probable (evidence; MacKay 1992), so that terms which the torques do not need shrink to nothing.
Barriers: `barrier`. With w, sigma and alpha fixed the problem is convex and has one solution; they are renewed from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armdyn.identification.fit.estimation import autocorrelation_time, root_of
from armdyn.identification.fit.rows import ROW, TERMS, Design, TorqueRows, plain_friction
from armdyn.parameters.barrier import (
    BARRIER,
    Barrier,
    BarrierSettings,
    inverse_of,
    minimised,
    prior_bodies,
    prior_number,
)
from armdyn.parameters.standard import INERTIAL, standard_parameters
from armdyn.typing import Array


@dataclass(frozen=True)
class NoiseSettings:
    """Noise and priors of [PO-1].

    freedom: of the Student distribution of residuals; 4 has the tails of residuals of real arms.
    passes, fewer: renewals of weights and scales, from the start and from the solution of nearly the same rows.
    shared: rows of the joint's mean that are added to every class of speed, so that a class of few rows has a noise.
    independent: largest rho in rows; correlation beyond it comes from effects that the terms are there to model.
    refreshed: repetitions with the load l of the solution before.
    load, gain, rest: prior standard deviations of c, g and r_1; gears lose some 10 to 30 % of their load. Those of the
          other terms are the joint's Coulomb friction, of h its likely rotor inertia.
    lag: prior standard deviation of T, s: drives that report a smoothed torque pass some 10 Hz.
    least: smallest prior Coulomb friction over the rms torque, so that a joint without friction has a scale.
    free: prior standard deviation of an offset over the rms torque: wide, so that only its absence is noticed.
    shrunk: largest alpha; a term a hundred times smaller than its prior is gone.
    plain_bodies: weight of [BA-1] for a format that lacks rotor inertia or terms: bodies must take what it lacks.
    sure: standard errors over the blocks by which terms must lower the held-out errors of a simpler law, to be kept.
    certain: standard deviations of a lag beyond which it is there.
    """

    freedom: float = 4.0
    passes: int = 12
    fewer: int = 4
    shared: float = 20.0
    independent: float = 3.0
    refreshed: int = 2
    load: float = 0.2
    gain: float = 0.1
    rest: float = 0.3
    lag: float = 0.02
    least: float = 1e-3
    free: float = 100.0
    shrunk: float = 1e4
    plain_bodies: float = 0.03
    sure: float = 2.0
    certain: float = 3.0


NOISE = NoiseSettings()
SPEEDS = 3
"""Classes of speed: at rest, slow, fast."""
POSITIVE = ("Ia", "Fv", "Fc", "Ks")
"""First letters of standard parameters that are never negative, beside bodies."""
ROBOT_TERMS, SIGNAL_TERMS = ("width", "presliding", "load"), ("gain", "inertia", "lag", "rest load", "rest")
"""Groups of terms that a robot's file can hold; groups that belong to the measurement or to rest."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The minimum of [PO-1].

    x: (size,) unknowns: standard parameters, then the columns of joints and motors
    hessian: of the objective there; covariance: its inverse
    information: by joint, that of its rows on the columns of its design
    residuals: (m', n) of the rows used; weight: (m', n) theirs; sigma: (n, 3); alpha: (n + s, k)
    """

    x: Array
    hessian: Array
    information: tuple[Array, ...]
    residuals: Array
    weight: Array
    sigma: Array
    alpha: Array

    @cached_property
    def covariance(self) -> Array:
        return inverse_of(self.hessian)


@dataclass(frozen=True, eq=False)
class Problem:
    """[PO-1] for some groups of terms.

    rows: of the log
    columns: (m, n + s, k) with the load of a solution
    prior: (n + s, k) standard deviations of the terms; 0: left out, infinite: without one (viscous, Coulomb)
    discount: (n,) rho
    plain: friction is that of the regressor, Fv qd + Fc sign(qd) as a rule, instead of that of the bank
    robust: noise by class of speed, with Student weights; else one number per joint, for the smallest rms error
    held: rows of the robot that a file format holds by itself, if the unknowns are to explain the torques both with
          what the format lacks and, as well as they can, without it
    """

    rows: TorqueRows
    columns: Array
    prior: Array
    discount: Array
    plain: bool = False
    robust: bool = True
    held: TorqueRows | None = None

    @staticmethod
    def simple(rows: TorqueRows, *, plain: bool = False, robust: bool = True) -> Problem:
        """The problem without terms: viscous and Coulomb friction."""
        prior = np.zeros(rows.shape)
        prior[:, :2] = 0.0 if plain else np.inf
        start = Problem(rows, rows.columns, prior, np.ones(rows.bank.n), plain, robust)
        return replace(start, discount=start._rho(start.solved()))

    def with_terms(self, groups: Sequence[str]) -> Problem:
        """The problem with some groups of terms, which this one, without terms, gives a scale."""
        rows, found = self.rows, self.solved()
        p, shape = len(rows.names), rows.shape
        own = found.x[p:].reshape(shape)
        least = NOISE.least * rows_rms(rows) @ np.abs(np.linalg.pinv(rows.bank.rows))
        prior = np.tile(np.maximum(own[:, 1], least)[:, None], (1, shape[1]))
        numbers = {"load": NOISE.load, "gain": NOISE.gain, "rest load": NOISE.rest, "lag": NOISE.lag}
        for group, sd in numbers.items():
            prior[:, TERMS.index(group)] = sd
        prior[: rows.bank.n, TERMS.index("inertia")] = scales_of(rows)["Ia"]
        joints = np.arange(shape[0]) < rows.bank.n
        for k, group in enumerate(TERMS[2:], 2):
            if group not in groups or (rows.robot.constrained and "load" in group):
                prior[:, k] = 0.0
            elif group not in ("width", "presliding"):
                prior[~joints, k] = 0.0
        prior[:, :2] = np.inf
        problem = replace(self, prior=prior)
        for _ in range(NOISE.refreshed):
            problem = replace(problem, columns=rows.loaded(found.x[:p]))
            found = problem.solved()
            problem = replace(problem, discount=problem._rho(found))
        return replace(problem, columns=rows.loaded(found.x[:p]))

    @cached_property
    def designs(self) -> list[Design]:
        return self.rows.designs(self.columns, self.prior > 0, plain=self.plain)

    @cached_property
    def solution(self) -> Solution:
        return self.solved()

    @cached_property
    def barrier(self) -> Barrier:
        """The barriers of bodies and of positive numbers, those of plain friction where they are unknown."""
        rows, p, k = self.rows, len(self.rows.names), len(TERMS)
        names = np.array(rows.names)
        first = [i for i, name in enumerate(names) if name.startswith(INERTIAL[0]) and name[2:].isdigit()]
        bodies = np.array([np.arange(i, i + 10) for i in first], dtype=int).reshape(-1, 10)
        model = standard_parameters(rows.robot).as_dict()
        values = np.array([float(model[name]) for name in rows.names])
        taken = plain_friction(rows.robot, rows.names, rows.bank)
        scales, unused = scales_of(rows), set() if self.plain else {place for place, _ in taken.values()}
        numbers, sizes = [], []
        for i, name in enumerate(rows.names):
            kind = name.rstrip("0123456789")
            if kind.startswith(POSITIVE) and i not in unused:
                j = rows.joint_of(int(name[len(kind) :]) - 1)
                numbers.append(i)
                guess = scales[kind[:2]][j] if j is not None else np.mean(scales[kind[:2]])
                sizes.append(prior_number(values[i], float(guess)))
        if not self.plain:
            for (a, i), (place, factor) in taken.items():
                j = a if a < rows.bank.n else rows.bank.motors[a - rows.bank.n]
                numbers.append(p + a * k + i)
                sizes.append(prior_number(values[place], float(scales[("Fv", "Fc")[i]][j])) / factor)
        weight = BARRIER.bodies if self.robust else NOISE.plain_bodies
        return Barrier(
            bodies,
            prior_bodies(values[bodies]),
            np.array(numbers, dtype=int),
            np.array(sizes),
            BarrierSettings(bodies=weight),
        )

    # Solution -------------------------------------------------------------------------------------------------------

    @cached_property
    def _held_designs(self) -> list[Design]:
        """Columns of the robot that a format holds by itself, at the places of the same unknowns; by joint."""
        if self.held is None:
            return []
        rows, held, p, k = self.rows, self.held, len(self.rows.names), len(TERMS)
        place = {name: (i, 1.0) for i, name in enumerate(rows.names)}
        if not self.plain:
            for (a, i), (standard, factor) in plain_friction(rows.robot, rows.names, rows.bank).items():
                place[rows.names[standard]] = p + a * k + i, factor
        to, factors = (np.array(x) for x in zip(*(place[name] for name in held.names), strict=True))
        none = held.designs(held.columns, np.zeros(held.shape, dtype=bool), plain=True)
        return [Design(columns * factors[places], to[places]) for columns, places in none]

    def solved(self, use: Array | None = None, near: Solution | None = None) -> Solution:
        """The minimum, with weights and scales renewed. use: (m,) bool, of the rows in motion; near: to start from."""
        rows, n, p = self.rows, self.rows.bank.n, len(self.rows.names)
        use = rows.keep if use is None else use
        tau, speed = rows.tau[use], rows.speed[use] if self.robust else np.zeros_like(rows.speed[use])
        rms, discount = np.maximum(rows_rms(rows), 1e-9), self.discount
        if self.held is not None:  # the same torques once more
            tau, speed = np.hstack([tau, self.held.tau[use]]), np.hstack([speed, np.zeros_like(speed)])
            rms, discount = np.tile(rms, 2), np.tile(discount, 2)
        columns = [design.columns[use] for design in (*self.designs, *self._held_designs)]
        places = [design.places for design in (*self.designs, *self._held_designs)]
        least = 1e-9 * float(rms.max())
        finite = (self.prior > 0) & np.isfinite(self.prior)
        s = np.where(finite, self.prior, 1.0)
        wide = np.zeros(rows.size)
        wide[:p] = [0.0 if i in self._bounded else 1.0 for i in range(p)]
        wide[:p] *= 1 / (NOISE.free * float(rms.max())) ** 2
        x = self.barrier.start(rows.size) if near is None else near.x
        alpha = np.ones(rows.shape) if near is None else near.alpha
        sigma = np.tile(rms[:, None], (1, SPEEDS)) if near is None else near.sigma
        weight = np.ones(tau.shape)
        if near is not None:
            weight = self._student(tau - predicted(columns, places, x), sigma, speed)
        for _ in range(NOISE.passes if near is None else NOISE.fewer):
            H, b, information = np.diag(wide), np.zeros(rows.size), []
            H[np.arange(p, rows.size), np.arange(p, rows.size)] += np.where(finite, alpha / s**2, 0.0).ravel()
            for j, (place, A) in enumerate(zip(places, columns, strict=True)):
                root = np.sqrt(weight[:, j] / discount[j]) / sigma[j, speed[:, j]]
                weighted = A * root[:, None]
                information.append(weighted.T @ weighted)
                H[np.ix_(place, place)] += information[j]
                b[place] += weighted.T @ (root * tau[:, j])
            x, hessian = minimised(H, b, self.barrier, x)
            residuals = tau - predicted(columns, places, x)
            sigma = np.maximum(noise_by_speed(weight * residuals**2, speed), least)
            weight = self._student(residuals, sigma, speed)
            if finite.any():
                variance = np.diag(inverse_of(hessian))[p:].reshape(rows.shape)
                alpha = renewed(alpha, x[p:].reshape(rows.shape) / s, variance / s**2, finite)
        return Solution(x, hessian, tuple(information[:n]), residuals[:, :n], weight[:, :n], sigma[:n], alpha)

    @cached_property
    def _bounded(self) -> set[int]:
        return {*self.barrier.bodies.ravel().tolist(), *self.barrier.numbers.tolist()}

    def _student(self, residuals: Array, sigma: Array, speed: Array) -> Array:
        if not self.robust:
            return np.ones(residuals.shape)
        squares = (residuals / np.take_along_axis(sigma.T, speed, 0)) ** 2
        squares[:, self.rows.bank.n :] = 1.0  # a format that lacks something is judged by its rms error
        return np.asarray((NOISE.freedom + 1) / (NOISE.freedom + squares))

    def _rho(self, found: Solution) -> Array:
        return np.minimum(self.times(found), NOISE.independent)

    def times(self, found: Solution) -> Array:
        """(n,) autocorrelation times of the residuals, in rows."""
        series = np.full(self.rows.tau.shape, np.nan)
        series[self.rows.keep] = found.residuals
        return autocorrelation_time(series)

    # How well the unknowns are known --------------------------------------------------------------------------------

    def covariance_root(self, found: Solution) -> Array:
        """(size, r) root of the covariance of the solution, whatever the residuals' distribution and correlation.

            C (prior + sum_j f_j H_j) C,    f_j = time_j / rho_j  E[w] E[psi^2] / E[psi']^2  m / (m - tr(C H_j))

        with H_j the information of joint j, psi = w z the influence of a residual z = r / sigma (Huber), and m rows of
        which m - tr(C H_j) degrees of freedom are left.
        """
        C, middle, times = found.covariance, found.hessian.copy(), self.times(found)
        nu, m = NOISE.freedom, len(found.residuals)
        speed = self.rows.speed[self.rows.keep] if self.robust else np.zeros(found.residuals.shape, dtype=int)
        squares = (found.residuals / np.take_along_axis(found.sigma.T, speed, 0)) ** 2
        slope = (nu + 1) * (nu - squares) / (nu + squares) ** 2 if self.robust else np.ones(squares.shape)
        for j, (H, (_, places)) in enumerate(zip(found.information, self.designs, strict=True)):
            w, z2 = found.weight[:, j], squares[:, j]
            shape = w.mean() * (w**2 * z2).mean() / slope[:, j].mean() ** 2
            inside = np.ix_(places, places)
            left = max(m - float((C[inside] * H).sum()), 1.0) / m
            middle[inside] += (times[j] / self.discount[j] * shape / left - 1) * H
        return np.asarray(C @ root_of(middle))

    # Held-out blocks ------------------------------------------------------------------------------------------------

    @cached_property
    def folds(self) -> list[tuple[Array, Solution]]:
        """By block of time: its rows, (m,) bool, and the solution of the others."""
        rows, found = self.rows, []
        for low, high in rows.blocks:
            others = rows.keep & ~((rows.t >= low - ROW.guard) & (rows.t < high + ROW.guard))
            inside = (rows.t >= low) & (rows.t < high) & rows.keep
            found.append((inside, self.solved(others, self.solution)))
        return found

    @cached_property
    def held_out(self) -> Array:
        """(m, n) residuals of rows in blocks that were held out; NaN for rows that are not used."""
        left = np.full(self.rows.tau.shape, np.nan)
        for block, found in self.folds:
            for j, (columns, places) in enumerate(self.designs):
                left[block, j] = self.rows.tau[block, j] - columns[block] @ found.x[places]
        return left

    @cached_property
    def errors(self) -> Array:
        """(n,) relative error of held-out blocks over the rows in which the joint moves; NaN where it never does."""
        left, rows = self.held_out, self.rows
        inside = np.isfinite(left) & rows.moving
        squares = np.where(inside, left, 0.0) ** 2, np.where(inside, rows.tau, 0.0) ** 2
        some = inside.any(axis=0)
        ratio = squares[0].sum(axis=0) / np.maximum(squares[1].sum(axis=0), 1e-300)
        return np.where(some, np.sqrt(ratio), np.nan)

    def beats(self, simpler: Problem) -> bool:
        """Whether the held-out errors are certainly lower than those of a simpler law, over the blocks of time.

        Judged by logarithms, the mean over the joints that move: squares of a wrong law differ much between blocks, and
        their sum is decided by a few.
        """
        gains, t = [], self.rows.t
        for low, high in self.rows.blocks:
            inside = ((t >= low) & (t < high) & self.rows.keep)[:, None] & self.rows.moving
            mine, others = (np.where(inside, x.held_out, 0.0) ** 2 for x in (self, simpler))
            some = inside.any(axis=0)
            ratio = np.maximum(others.sum(axis=0), 1e-300) / np.maximum(mine.sum(axis=0), 1e-300)
            gains.append(np.log(ratio[some]).mean() if some.any() else 0.0)
        spread = np.std(gains, ddof=1) / np.sqrt(len(gains))
        return bool(np.mean(gains) > NOISE.sure * spread)


def predicted(columns: Sequence[Array], places: Sequence[Array], x: Array) -> Array:
    """(m, n) torques of unknowns x."""
    return np.column_stack([A @ x[place] for A, place in zip(columns, places, strict=True)])


def noise_by_speed(squares: Array, speed: Array) -> Array:
    """(n, 3) roots of the means of squares, (m, n), by class of speed, drawn to the joint's mean where rows are few."""
    mean, found = squares.mean(axis=0), []
    for kind in range(SPEEDS):
        inside = speed == kind
        total = np.where(inside, squares, 0.0).sum(axis=0) + NOISE.shared * mean
        found.append(np.sqrt(total / (inside.sum(axis=0) + NOISE.shared)))
    return np.column_stack(found)


def renewed(alpha: Array, c: Array, variance: Array, finite: Array) -> Array:
    """(n + s, k) scales of the terms' priors that the solution makes most probable. MacKay (1992)

    c, variance: coefficients over their prior standard deviation, and their variances
    """
    alpha = alpha.copy()
    for group in dict.fromkeys(TERMS[2:]):
        kind = np.array([name == group for name in TERMS])
        some = finite[:, kind]
        told = (some * (1 - alpha[:, kind] * variance[:, kind])).sum(axis=1)
        size = (some * c[:, kind] ** 2).sum(axis=1)
        alpha[:, kind] = np.clip(np.maximum(told, 0) / np.maximum(size, 1e-12), 1, NOISE.shrunk)[:, None]
    return alpha


def rows_rms(rows: TorqueRows) -> Array:
    """(n,) root mean square of the torques of the rows in motion."""
    return np.asarray(np.sqrt((rows.tau[rows.keep] ** 2).mean(axis=0)))


def scales_of(rows: TorqueRows) -> dict[str, Array]:
    """Likely sizes of friction, rotor inertia and stiffness, (n,) each, from torques and motion alone.

    From the model's masses they would be hundreds of times too small where a light flange follows the joint.
    """
    s, torque = rows.samples, BARRIER.share * np.maximum(rows_rms(rows), 1e-9)

    def size(x: Array) -> Array:
        rms = np.sqrt((x**2).mean(axis=0))
        return np.asarray(np.maximum(rms, BARRIER.trusted**2 * rms.max() + 1e-300))  # a joint that hardly moves

    return {"Fc": torque, "Fv": torque / size(s.qd), "Ia": torque / size(s.qdd), "Ks": torque / size(s.q)}


__all__ = ["NOISE", "ROBOT_TERMS", "SIGNAL_TERMS", "NoiseSettings", "Problem", "Solution"]
