"""A fitted model of the torques: its robot, its parameters with their covariance, and the band of its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from armdyn.identification.fit.estimation import Estimate, narrowed
from armdyn.identification.fit.posterior import NOISE, ROBOT_TERMS, SIGNAL_TERMS, Problem, noise_by_speed, predicted
from armdyn.identification.fit.rows import ROW, TERMS, Design, TorqueRows, plain_friction
from armdyn.identification.log.samples import Samples
from armdyn.parameters import BaseParameters, with_standard_parameters
from armdyn.robot import Robot
from armdyn.robot.features import ROUNDED
from armdyn.robot.parts import Friction, Motor
from armdyn.typing import Array

METHOD = "physically consistent, convex"
"""Name of the estimator."""


@dataclass(frozen=True)
class BandSettings:
    """When a band is promised.

    within: share of the torques that the band is to hold.
    shortest: time in motion, s, below which no rule covered another motion.
    one_way: share of a joint's motion in one direction above which its friction in the other is a guess.
    """

    within: float = 0.95
    shortest: float = 5.0
    one_way: float = 0.98


BAND = BandSettings()


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """The solution of a problem.

    problem: with its rows
    """

    problem: Problem

    @property
    def rows(self) -> TorqueRows:
        return self.problem.rows

    @cached_property
    def own(self) -> Array:
        """(n + s, k) coefficients of the columns of joints and shared motors."""
        return self.problem.solution.x[len(self.rows.names) :].reshape(self.rows.shape)

    @cached_property
    def _pick(self) -> Array:
        """(p, size) from the unknowns to the standard parameters: plain friction is among the bank's unknowns."""
        rows, k = self.rows, len(TERMS)
        pick = np.eye(len(rows.names), rows.size)
        if not self.problem.plain:
            for (a, i), (place, factor) in plain_friction(rows.robot, rows.names, rows.bank).items():
                pick[place] = 0.0
                pick[place, len(rows.names) + a * k + i] = factor
        return pick

    @cached_property
    def standard(self) -> dict[str, float]:
        """The standard parameters that were estimated."""
        return dict(zip(self.rows.names, (self._pick @ self.problem.solution.x).tolist(), strict=True))

    @cached_property
    def standard_root(self) -> Array:
        """(p, r) root of their covariance, that of what a lag of the torques does to them included."""
        found = self.problem.solution
        root = self._pick @ self.problem.covariance_root(found)
        if self.lag:
            root = np.column_stack([root, self._pick @ (self._lagging.solution.x - found.x)])
        return np.asarray(root)

    @cached_property
    def _lagging(self) -> Problem:
        """The same problem with a lag of every joint's torque, solved from the solution of this one."""
        prior = self.problem.prior.copy()
        prior[: self.rows.bank.n, TERMS.index("lag")] = NOISE.lag
        return replace(self.problem, prior=prior)

    @cached_property
    def lag(self) -> dict[int, float]:
        """Joint -> time, s, by which its torque signal lags, where that is certain."""
        rows, problem = self.rows, self._lagging
        places = len(rows.names) + len(TERMS) * np.arange(rows.bank.n) + TERMS.index("lag")
        times = problem.solution.x[places]
        std = np.linalg.norm(problem.covariance_root(problem.solution)[places], axis=1)
        return {j: float(times[j]) for j in range(rows.bank.n) if abs(times[j]) > NOISE.certain * std[j]}

    @cached_property
    def informed(self) -> dict[str, float]:
        """Standard parameter -> share of its variance before the log that is left; near 1: the log does not tell it."""
        found, problem = self.problem.solution, self.problem
        data = np.zeros_like(found.hessian)
        for H, (_, places) in zip(found.information, problem.designs, strict=True):
            data[np.ix_(places, places)] += H
        before = replace(found, hessian=found.hessian - data)
        variances = [np.einsum("ij,jk,ik->i", self._pick, each.covariance, self._pick) for each in (found, before)]
        share = variances[0] / np.maximum(variances[1], 1e-300)
        return dict(zip(self.rows.names, np.where(variances[1] > 0, share, 0.0).tolist(), strict=True))

    def estimate(self, base: BaseParameters) -> Estimate:
        """The base parameters of the model with their covariance."""
        problem, found = self.problem, self.problem.solution
        place = [self.rows.names.index(name) for name in base.standard]
        values = base.matrix @ np.array(list(self.standard.values()))[place]
        root = narrowed(base.matrix @ self.standard_root[place])
        sigma = np.sqrt((found.residuals**2).mean(axis=0))
        counts = np.full(self.rows.bank.n, len(found.residuals))
        return Estimate(base.names, values, root, sigma, problem.times(found), counts, METHOD)

    # The robot ------------------------------------------------------------------------------------------------------

    @property
    def has_terms(self) -> bool:
        """Whether friction has terms beyond viscous and Coulomb friction."""
        return bool((self.problem.prior[:, 2:] > 0).any())

    @cached_property
    def robot(self) -> Robot:
        """The robot with the estimated parameters and friction; terms of the signal are not part of it."""
        found = with_standard_parameters(self.rows.robot, self.standard)
        if self.problem.plain:
            return found
        bank = self.rows.bank
        laws = {joint.name: self._friction(j) for j, joint in enumerate(found.joints)}
        motors = {found.joints[j].name: self._friction(bank.n + k) for k, j in enumerate(bank.motors)}
        tree = []
        for joint in found.tree:
            if joint.name in laws:
                law, motor, offset = laws[joint.name], joint.motor, joint.friction.offset if joint.friction else 0
                if joint.name in motors:
                    own = motors[joint.name]
                    motor = replace(
                        motor or Motor(), viscous=own.viscous, coulomb=own.coulomb, width=own.width, values=own.values
                    )
                elif motor is not None:  # its friction is counted with that of the joint
                    motor = replace(motor, viscous=0, coulomb=0)
                joint = replace(joint, friction=replace(law, offset=offset), motor=motor)
            tree.append(joint)
        return replace(found, tree=tuple(tree), expressions=None)

    def _friction(self, a: int) -> Friction:
        bank = self.rows.bank
        viscous, coulomb, *terms = self.own[a].tolist()
        return Friction(
            viscous,
            coulomb,
            width=float(bank.widths[a, 0]),
            law=ROUNDED,
            values=bank.values(a, np.array(terms[: bank.count])),
        )

    # Predictions ----------------------------------------------------------------------------------------------------

    def along(self, samples: Samples) -> tuple[Array, Array, Array]:
        """(t, torques, standard deviations) at the rows of samples, (m,), (m, n), (m, n), with all terms."""
        rows, found, p = self.rows, self.problem.solution, len(self.rows.names)
        here = TorqueRows.of(rows.robot, rows.include, samples, rows.bank)
        columns, lag = here.loaded(found.x[:p]), TERMS.index("lag")
        columns[:, :, lag] = 0.0  # that of the prediction, as a prediction knows no measurement
        for _ in range(2):
            designs = here.designs(columns, self.problem.prior > 0, plain=self.problem.plain)
            torques = predicted([d.columns for d in designs], [d.places for d in designs], found.x)
            if not self.problem.prior[:, lag].any():
                break
            columns[:, : rows.bank.n, lag] = -CubicSpline(here.t, torques).derivative()(here.t)
        std = self.band.kappa * np.sqrt(self._variance(designs) + _of_class(self.band.sigma, here.speed) ** 2)
        return here.t, torques, std

    def _variance(self, designs: Sequence[Design]) -> Array:
        """(m, n) variance of the torques by the errors of the unknowns."""
        C, found = self.problem.solution.covariance, []
        for columns, places in designs:
            found.append(np.einsum("mi,ij,mj->m", columns, C[np.ix_(places, places)], columns, optimize=True))
        return np.asarray(np.maximum(np.column_stack(found), 0.0))

    @cached_property
    def band(self) -> Band:
        """The band of the torques, from blocks of time that were held out.

        A block is drawn from blocks that differ: the quantile over all of them is too small by their spread. kappa is
        therefore the larger of it and of the mean over blocks plus their standard deviation.
        """
        problem, rows, n = self.problem, self.rows, self.rows.bank.n
        if (seconds := rows.keep.sum() / ROW.rate) < BAND.shortest:
            why = f"the robot moves for {seconds:.2g} s only"
            return Band(problem.solution.sigma, np.ones(n), dict.fromkeys(range(n), why))
        held_out = np.isfinite(problem.held_out[:, 0])
        left, speed, t = problem.held_out[held_out], rows.speed[held_out], rows.t[held_out]
        sigma = noise_by_speed(left**2, speed)
        designs = [design._replace(columns=design.columns[held_out]) for design in problem.designs]
        b = np.sqrt(self._variance(designs) + _of_class(sigma, speed) ** 2)
        ratio = np.abs(left) / np.maximum(b, 1e-300) / 2
        blocks = [ratio[(t >= low) & (t < high)] for low, high in rows.blocks]
        by_block = np.array([np.quantile(block, BAND.within, axis=0) for block in blocks if len(block)])
        pooled = np.quantile(ratio, BAND.within, axis=0)
        kappa = np.maximum(pooled, by_block.mean(axis=0) + by_block.std(axis=0, ddof=1))
        missing = {}
        for j in range(n):
            forwards = (rows.samples.qd[:: rows.samples.decimation, j] > 0)[rows.keep & rows.moving[:, j]]
            if not len(forwards):
                missing[j] = "the joint does not move"
            elif not 1 - BAND.one_way < forwards.mean() < BAND.one_way:
                missing[j] = "the joint moves one way only"
        return Band(sigma, kappa, missing)

    def shares(self) -> dict[str, Array]:
        """Group of terms -> (n + s,) sum of the sizes of their coefficients."""
        groups = np.array(TERMS)
        return {g: np.abs(self.own[:, groups == g]).sum(axis=1) for g in dict.fromkeys(TERMS[2:])}


@dataclass(frozen=True, eq=False)
class Band:
    """Standard deviation kappa sqrt(sigma^2 + phi' C phi) of a torque; twice it is a 95 % band.

    sigma: (n, 3) error of the model by class of speed, N m or N
    kappa: (n,) factor for the spread of blocks of time
    missing: joint -> why there is none to be trusted
    """

    sigma: Array
    kappa: Array
    missing: dict[int, str]


def _of_class(sigma: Array, speed: Array) -> Array:
    """(m, n) values by class of speed, (n, 3), at classes (m, n)."""
    return np.take_along_axis(sigma.T, speed, 0)


def fitted_model(rows: TorqueRows, *, terms: bool) -> tuple[TorqueModel, TorqueModel | None]:
    """(model of the robot, the same with terms of the signal and of rest), the simpler where it predicts as well.

    Blocks of time that were held out decide between viscous and Coulomb friction and friction with terms.

    terms: look for friction terms
    """
    plain = Problem.simple(rows, plain=True)
    if not terms or rows.keep.sum() < ROW.fewest:
        return TorqueModel(plain), None
    start = Problem.simple(rows)
    rich = start.with_terms(ROBOT_TERMS)
    best = rich if rich.beats(plain) else plain
    signal = start.with_terms((*ROBOT_TERMS, *SIGNAL_TERMS))
    return TorqueModel(best), TorqueModel(signal) if signal.beats(best) else None


__all__ = ["BAND", "Band", "BandSettings", "TorqueModel", "fitted_model"]
