"""Validation: measured torques beside those that the identified parameters predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from armdyn.dynamics.presliding import torques_along
from armdyn.identification.estimation import Estimate
from armdyn.identification.filters import decimated
from armdyn.identification.observation import Observation
from armdyn.identification.samples import Samples
from armdyn.identification.torque_model import DECIMATED_RATE, TorqueModel
from armdyn.robot import Robot
from armdyn.robot.limits import common_units
from armdyn.tables import Column, Section, render
from armdyn.typing import Array

LAGS = 20
"""Lags of the Ljung-Box test."""


@dataclass(frozen=True, eq=False)
class Validation:
    """Measured and predicted torques at the decimated samples of an observation.

    joints: (n,) names
    t: (m,) s
    measured, predicted: (m, n) N m or N
    std: (m, n) standard deviation of a measurement about its prediction, from parameters and residuals
    keep: (m, n) bool, samples that count
    before: (m, n) torques of the robot before identification (None: it had no parameters)
    held_out: the data were not used for estimation
    source: name of the log
    what: what the torques are, in the title of the table
    unit: of the torques, all joints together
    """

    joints: tuple[str, ...]
    t: Array
    measured: Array
    predicted: Array
    std: Array
    keep: Array
    before: Array | None
    held_out: bool
    source: str = ""
    what: str = ""
    unit: str = "N m or N"

    @cached_property
    def residuals(self) -> Array:
        """(m, n) measured - predicted; NaN where a sample does not count."""
        return np.where(self.keep, self.measured - self.predicted, np.nan)

    @cached_property
    def rms(self) -> Array:
        """(n,) root mean square of the residuals, N m or N."""
        return _rms(self.residuals)

    @cached_property
    def torque(self) -> Array:
        """(n,) root mean square of the measured torques, N m or N."""
        return _rms(np.where(self.keep, self.measured, np.nan))

    @cached_property
    def relative_error(self) -> Array:
        """(n,) rms of the residuals over rms of the torques."""
        return self.rms / np.maximum(self.torque, 1e-300)

    @property
    def relative_error_of_all(self) -> float:
        """The same for all joints together."""
        torque = np.where(self.keep, self.measured, np.nan)
        return float(np.sqrt(np.nansum(self.residuals**2) / max(np.nansum(torque**2), 1e-300)))

    @cached_property
    def relative_error_before(self) -> Array | None:
        """(n,) relative error of the robot before identification."""
        if self.before is None:
            return None
        return _rms(np.where(self.keep, self.measured - self.before, np.nan)) / np.maximum(self.torque, 1e-300)

    @cached_property
    def covered(self) -> Array:
        """(n,) share of the samples within two standard deviations of their prediction; 0.95 is expected."""
        within = np.where(self.keep, np.abs(self.measured - self.predicted) <= 2 * self.std, np.nan)
        return _mean(within)

    @cached_property
    def durbin_watson(self) -> Array:
        """(n,) Durbin-Watson statistic: 2 for white residuals, near 0 for strongly correlated ones."""
        steps = np.diff(self.residuals, axis=0)
        squares: Array = _rms(steps) ** 2 / np.maximum(self.rms, 1e-300) ** 2
        return squares

    @cached_property
    def whiteness(self) -> Array:
        """(n,) Ljung-Box test: probability of autocorrelations this large, over 20 lags, if residuals were white."""
        return np.array([_ljung_box(column) for column in self.residuals.T])

    def section(self) -> Section:
        """The joints as a table."""
        columns = [Column("joint"), Column("torque, rms", self.unit), Column("residual, rms", self.unit),
                   Column("relative error", "%"), Column("within 2 std", "%"), Column("Durbin-Watson")]  # fmt: skip
        cells = [list(self.joints), _cells(self.torque), _cells(self.rms), _cells(100 * self.relative_error),
                 [f"{100 * x:.1f}" for x in self.covered], [f"{x:.2f}" for x in self.durbin_watson]]  # fmt: skip
        if self.relative_error_before is not None:
            columns.append(Column("error before", "%"))
            cells.append(_cells(100 * self.relative_error_before))
        data = "held-out data" if self.held_out else "the data used for estimation"
        about = f", {self.what}" if self.what else ""
        title = f"Torques on {data}{about}: residual is {100 * self.relative_error_of_all:.3g} % of the torque (rms)"
        return Section(title, tuple(columns), tuple(zip(*cells, strict=True)))

    def record(self) -> dict[str, Any]:
        """The figures as plain data, without the torques over time; keys as the properties of this class."""
        figures = ("rms", "torque", "relative_error", "covered", "durbin_watson", "whiteness")
        whole = {"held_out": self.held_out, "source": self.source, "relative_error_of_all": self.relative_error_of_all}
        return whole | {"joints": list(self.joints)} | {name: getattr(self, name).tolist() for name in figures}

    def __str__(self) -> str:
        return render(self.section())


def validate(
    observation: Observation, estimate: Estimate, *, prior: Array | None = None, held_out: bool = True, source: str = ""
) -> Validation:
    """Compare the torques of an observation with those that an estimate predicts.

    Args:    observation: torques and regressor
             estimate: base parameters with their covariance
             prior: (p,) base parameters of the robot before identification, for comparison
             held_out: the observation was not used for estimation
             source: name of the log
    """
    t, measured, predicted, std, keep, before = [], [], [], [], [], []
    for rows in observation.rows():
        t.append(rows.t)
        measured.append(rows.tau)
        keep.append(rows.keep)
        predicted.append(rows.Y @ estimate.values)
        unsure = ((rows.Y @ estimate.root) ** 2).sum(axis=2)
        std.append(np.sqrt(unsure + estimate.sigma**2))
        if prior is not None:
            before.append(rows.Y @ prior)
    joints = tuple(joint.name for joint in observation.base.robot.joints)
    whole = np.concatenate
    return Validation(joints, whole(t), whole(measured), whole(predicted), whole(std), whole(keep),
                      whole(before) if before else None, held_out, source,
                      unit=common_units(observation.base.robot).torque)  # fmt: skip


def validate_model(
    robot: Robot, model: TorqueModel, samples: Samples, *, held_out: bool, source: str, prior: Robot | None = None
) -> Validation:
    """Compare measured torques with those of a robot with friction terms, both low-passed at 10 Hz.

    Args:    robot: with the friction terms
             model: which they come from
             samples: a processed log; samples in which the joint moves count
             held_out: the samples were not used for estimation
             source: name of the log
             prior: the robot before identification, for comparison
    """
    rate = (len(samples) - 1) / float(samples.t[-1] - samples.t[0])
    factor = max(1, round(rate / DECIMATED_RATE))
    motion = samples.q, samples.qd, samples.qdd
    keep = model.bank.moving(samples.qd[::factor])
    predicted, measured = decimated(torques_along(robot, *motion), factor), decimated(samples.tau, factor)
    before = None if prior is None else decimated(torques_along(prior, *motion), factor)
    joints = tuple(joint.name for joint in robot.joints)
    return Validation(joints, samples.t[::factor], measured, predicted, model.std(*motion, factor), keep, before,
                      held_out, source, "with the friction terms, low-passed at 10 Hz",
                      common_units(robot).torque)  # fmt: skip


def _rms(x: Array) -> Array:
    return np.sqrt(_mean(x**2))


def _mean(x: Array) -> Array:
    """Mean over the samples that are not NaN; NaN where there is none."""
    there = ~np.isnan(x)
    count = there.sum(axis=0)
    result: Array = np.where(count > 0, np.nansum(x, axis=0) / np.maximum(count, 1), np.nan)
    return result


def _ljung_box(residuals: Array) -> float:
    there = ~np.isnan(residuals)
    e = np.where(there, residuals, 0.0)
    count = int(there.sum())
    lags = min(LAGS, count // 4)
    if lags < 1 or not e.any():
        return float("nan")
    mean_square = float((e**2).sum()) / count
    statistic = 0.0
    for k in range(1, lags + 1):
        pairs = int((there[k:] & there[:-k]).sum())
        if pairs:
            rho = float((e[k:] * e[:-k]).sum()) / pairs / mean_square
            statistic += rho**2 * pairs
    return float(stats.chi2.sf(statistic, lags))


def _cells(values: Array) -> list[str]:
    return [f"{x:.3g}" for x in values]


__all__ = ["Validation", "validate", "validate_model"]
