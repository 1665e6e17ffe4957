"""The fastest timing of a path that an identified robot keeps with a given probability.

The parameters of an identified robot are uncertain; so are its torques. Parameters are drawn from their covariance, the
torque limits are lowered joint by joint until the chosen share of the draws keeps the true limits along the whole
motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.identification.fit import Fit
from armdyn.identification.observation import base_regressor
from armdyn.motion.timing import TimeOptimal, time_optimal
from armdyn.robot.limits import joint_names, required_torque_limits
from armdyn.tables import Column, Section
from armdyn.typing import Array

ROUNDS = 12
SAMPLES = 300
"""Points of the motion at which torques are compared with their limits."""


@dataclass(frozen=True, eq=False)
class RobustTiming:
    """A motion that keeps the torque limits with a given probability.

    motion:     the fastest timing under lowered torque limits.
    nominal:    the fastest timing under the limits themselves, for the estimated parameters.
    margin:     (n,) by which the limits were lowered, N m or N.
    kept:       share of draws, other than those of the design, that keep the limits along `motion`.
    nominal_kept: the same along `nominal`.
    confidence: what was asked for.
    joints:     names.
    """

    motion: TimeOptimal
    nominal: TimeOptimal
    margin: Array
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
        draws:      number of draws from the covariance (default: 2000).
        seed:       of the random numbers (default: 0).

    Raises: Infeasible if the lowered limits do not even hold the weights of the arm.
    """
    if not 0 < confidence < 1 or draws < 50:
        raise ArmdynError(f"confidence = {confidence}, draws = {draws}", where="robust_timing",
                          expected="a probability between 0 and 1, and at least 50 draws")  # fmt: skip
    if not np.isfinite(fit.covariance).all():
        raise ArmdynError("parameters that the log does not determine", where="robust_timing",
                          expected="finite variances of all parameters")  # fmt: skip
    robot = fit.robot
    _, limit = required_torque_limits(robot, tau_max)
    random = np.random.default_rng(seed)
    errors = random.multivariate_normal(np.zeros(len(fit.covariance)), fit.covariance, (2, draws), method="eigh")
    options = {"v_max": v_max, "a_max": a_max}
    nominal = motion = time_optimal(path, robot, tau_max=limit, **options)
    margin = np.zeros(robot.n)
    # Three standard deviations of a share of finitely many draws are kept in reserve.
    share = min(confidence + 3 * np.sqrt(confidence * (1 - confidence) / draws), 1.0)
    for _ in range(ROUNDS):
        peaks = _peaks(fit, motion, errors[0])
        over = peaks - limit
        if (over <= 0).all(axis=1).mean() >= share:
            break
        # The largest excesses of the draws that shall be kept, judged by their worst joint.
        worst = (over / limit).max(axis=1)
        shall = worst <= np.quantile(worst, share)
        margin = margin + np.maximum(over[shall].max(axis=0), 0.0)
        motion = time_optimal(path, robot, tau_max=limit - margin, **options)
    kept, before = (float((_peaks(fit, each, errors[1]) <= limit).all(axis=1).mean()) for each in (motion, nominal))
    return RobustTiming(motion, nominal, margin, kept, before, confidence, tuple(joint_names(robot)))


def _peaks(fit: Fit, motion: TimeOptimal, errors: Array) -> Array:
    """(draws, n) largest torques along a motion, of the estimated parameters with each of the errors."""
    t = np.linspace(0.0, motion.duration, SAMPLES)
    Y = base_regressor(fit.base)(motion(t), motion(t, 1), motion(t, 2))
    tau = np.einsum("tnp,dp->dtn", Y, fit.estimate.values + errors, optimize=True)
    return np.asarray(np.abs(tau).max(axis=1))
