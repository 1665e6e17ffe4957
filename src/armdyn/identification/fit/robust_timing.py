"""The fastest timing of a path that an identified robot keeps with a given probability.

The parameters of an identified robot are uncertain, and so are its torques: with errors e of covariance S they differ
by Y e from those expected, with standard deviations sigma = sqrt(diag(Y S Y^T)) along the motion. The timing keeps the
distance k sigma from the torque limits, and k is the smallest factor with which the chosen share of robots, drawn from
the covariance, keeps all limits along the whole motion. It is at most that of the simultaneous confidence band, the
quantile of max |Y e| / sigma over all joints and times, from which the search starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d

from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError
from armdyn.identification.fit.identify import Fit
from armdyn.identification.fit.observation import base_regressor
from armdyn.motion import Infeasible
from armdyn.motion.resistance import none_reserved
from armdyn.motion.timed_path import TimeOptimal
from armdyn.motion.timing import POINTS, fastest_timing, path_of
from armdyn.motion.verdict import TOUCHING
from armdyn.robot.limits import joint_names, motion_limits, required_torque_limits
from armdyn.tables import Column, Section
from armdyn.typing import Array

ROUNDS = 6
"""Halvings of the interval in which k lies."""
MOST_DEVIATIONS = 20.0
NEAR = 13
"""Neighbouring samples whose largest deviation counts: switching times move a little from one timing to the next."""
SAMPLES = 600
"""Points of the motion at which torques are compared with their limits."""


@dataclass(frozen=True, eq=False)
class RobustTiming:
    """A motion that keeps the torque limits with a given probability.

    motion:     the fastest timing that keeps a distance from the torque limits.
    nominal:    the fastest timing under the limits themselves, for the estimated parameters.
    margin:     (n,) largest distance from the limits that is kept along the motion, N m or N.
    deviations: that distance in standard deviations of the torque, the same everywhere.
    kept:       share of draws, other than those of the design, that keep the limits along `motion`.
    nominal_kept: the same along `nominal`.
    confidence: what was asked for.
    joints:     names.
    """

    motion: TimeOptimal
    nominal: TimeOptimal
    margin: Array
    deviations: float
    kept: float
    nominal_kept: float
    confidence: float
    joints: tuple[str, ...]

    def section(self) -> Section:
        """Margins by joint, as a table."""
        rows = tuple((name, f"{x:.4g}") for name, x in zip(self.joints, self.margin, strict=True))
        note = (
            f"{self.motion.duration:.4g} s instead of {self.nominal.duration:.4g} s. Of parameters drawn from their "
            f"covariance, {100 * self.kept:.3g} % keep the torque limits, with the nominal timing "
            f"{100 * self.nominal_kept:.3g} %."
        )
        return Section("Robust timing", (Column("joint"), Column("torque margin", "N m or N")), rows, note)


def robust_timing(
    path: Any,
    fit: Fit,
    confidence: float = 0.95,
    *,
    tau_max: Any = None,
    v_max: Any = None,
    a_max: Any = None,
    j_max: Any = None,
    draws: int = 2000,
    seed: int = 0,
) -> RobustTiming:
    """Return the fastest timing of a path whose torques stay within limits with a given probability.

    Args:
        path:       as in `time_optimal`.
        fit:        the identified robot, with the covariance of its parameters.
        confidence: share of robots, drawn from the covariance, that keep the limits along the whole motion.
        tau_max:    torque limits, (n,) or one number, N m or N (default: those of the robot).
        v_max:      velocity limits (default: those of the robot).
        a_max:      acceleration limits (default: those of the robot).
        j_max:      jerk limits (default: those of the robot).
        draws:      number of draws from the covariance (default: 2000).
        seed:       of the random numbers (default: 0).

    Raises: Infeasible if the limits, less the distance, do not even hold the weights of the arm.
    """
    if not 0 < confidence < 1 or draws < 50:
        raise ArmdynError(
            f"confidence = {confidence}, draws = {draws}",
            where="robust_timing",
            expected="a probability between 0 and 1, and at least 50 draws",
        )
    if not np.isfinite(fit.covariance_root).all():
        raise ArmdynError(
            "parameters that the log does not determine",
            where="robust_timing",
            expected="finite variances of all parameters",
        )
    chance = _Chance(
        path,
        fit,
        required_torque_limits(fit.robot, tau_max)[1],
        {"v_max": v_max, "a_max": a_max, "j_max": j_max},
        np.random.default_rng(seed),
        draws,
    )
    nominal = chance.timed(0.0)
    # Three standard deviations of a share of finitely many draws are kept in reserve.
    share = min(confidence + 3 * np.sqrt(confidence * (1 - confidence) / draws), 1 - 1 / draws)
    motion, k = nominal, 0.0
    if chance.kept(nominal, chance.design) < share:
        motion, k = chance.smallest(nominal, share)
    kept, before = (chance.kept(each, chance.check) for each in (motion, nominal))
    margin = k * chance.deviations(motion)[1].max(axis=0)
    return RobustTiming(motion, nominal, margin, k, kept, before, confidence, tuple(joint_names(fit.robot)))


class _Chance:
    """Timings with a reserve of torque, and the share of robots that keeps the limits along them."""

    def __init__(self, path: Any, fit: Fit, limit: Array, options: dict[str, Any], random: Any, draws: int) -> None:
        self.dyn = compiled(fit.robot)
        self.curve, self.limit = path_of(path, self.dyn), limit
        self.limits = motion_limits(fit.robot, tau_max=limit, **options)
        self.regressor, self.values = base_regressor(fit.base), fit.estimate.values
        self.root = fit.covariance_root
        self.design, self.check = random.standard_normal((2, self.root.shape[1], draws))

    def timed(self, k: float, *before: TimeOptimal) -> TimeOptimal:
        """The fastest timing that keeps k standard deviations, the largest along timings before it, in reserve."""
        known = [self.deviations(each) for each in before]

        def reserve(at: Array) -> Array:
            s = np.ravel(at)
            each = [[np.interp(s, place, k * column) for column in sigma.T] for place, sigma in known]
            return np.asarray(np.max(each, axis=0).T.reshape(*np.shape(at), -1))

        return fastest_timing(self.dyn, self.curve, self.limits, POINTS, reserve=reserve if before else none_reserved)

    def deviations(self, motion: TimeOptimal) -> tuple[Array, Array]:
        """Path parameters (K,) and standard deviations of the torques there, (K, n)."""
        Y, s = self._along(motion)
        sigma = np.linalg.norm(Y @ self.root, axis=2)
        return s, maximum_filter1d(sigma, NEAR, axis=0)

    def _along(self, motion: TimeOptimal) -> tuple[Array, Array]:
        """Regressors (K, n, p), and path parameters (K,)."""
        t = np.linspace(0.0, motion.duration, SAMPLES)
        Y: Array = self.regressor(motion(t), motion(t, 1), motion(t, 2))
        return Y, motion.clock(t)[:, 0]

    def kept(self, motion: TimeOptimal, draws: Array) -> float:
        """Share of robots whose torques keep the limits at all times."""
        Y, _ = self._along(motion)
        within = np.ones(draws.shape[1], dtype=bool)
        for j, limit in enumerate(self.limit):  # joint by joint: K x draws at a time
            tau = (Y[:, j] @ self.values)[:, None] + (Y[:, j] @ self.root) @ draws
            within &= (np.abs(tau) <= limit * (1 + TOUCHING)).all(axis=0)
        return float(within.mean())

    def simultaneous(self, motion: TimeOptimal, share: float) -> float:
        """Quantile of the largest deviation over all joints and times, in standard deviations."""
        Y, _ = self._along(motion)
        spread = Y @ self.root
        sigma = np.linalg.norm(spread, axis=2, keepdims=True)
        unit = spread / np.where(sigma > 0, sigma, 1.0)
        largest = np.max([np.abs(unit[:, j] @ self.design).max(axis=0) for j in range(len(self.limit))], axis=0)
        return float(np.quantile(largest, share))

    def smallest(self, motion: TimeOptimal, share: float) -> tuple[TimeOptimal, float]:
        """The fastest timing that the share of robots keeps, and its k, by bisection from the simultaneous band."""
        low, high = 0.0, self.simultaneous(motion, share)
        best = self._settled(motion, high)
        while self.kept(best, self.design) < share and high < MOST_DEVIATIONS:  # sigma grew with the new timing
            low, high = high, 1.2 * high
            best = self._settled(best, high)
        if high >= MOST_DEVIATIONS:
            raise Infeasible(
                f"{MOST_DEVIATIONS:g} standard deviations do not suffice to keep the torque limits",
                where=f"robot {self.dyn.robot.name!r}",
                expected=f"{100 * share:.3g} % of the robots",
                advice="Identify with a longer log, raise the limits, or ask for less.",
            )
        k = high
        for _ in range(ROUNDS):
            middle = 0.5 * (low + high)
            trial = self._settled(best, middle)
            if self.kept(trial, self.design) < share:
                low = middle
            else:
                high = k = middle
                best = trial
        return best, k

    def _settled(self, motion: TimeOptimal, k: float) -> TimeOptimal:
        """Two timings after one another: where a joint speeds up in one and brakes in the other, the larger counts."""
        return self.timed(k, motion, self.timed(k, motion))
