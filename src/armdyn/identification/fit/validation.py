"""Validation: measured torques beside those of a robot, low-passed alike; joints in motion and at rest apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armdyn.dynamics.presliding import torques_along
from armdyn.identification.fit.rows import row_step
from armdyn.identification.friction.terms import Bank
from armdyn.identification.log.filters import decimated
from armdyn.identification.log.samples import Samples
from armdyn.robot import Robot
from armdyn.robot.limits import common_units
from armdyn.tables import Column, Section, render
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class Judged:
    """Measured torques of a log at the rows of a comparison.

    samples: the log; t: (m,) s; measured: (m, n) N m or N
    used: (m,) bool, rows in which the robot moves; moving: (m, n) bool, rows in which the joint does
    held_out: the log was not used for estimation; source: its name
    """

    samples: Samples
    t: Array
    measured: Array
    used: Array
    moving: Array
    held_out: bool
    source: str

    @staticmethod
    def of(robot: Robot, samples: Samples, *, held_out: bool, source: str) -> Judged:
        """The rows of a log by which a robot is judged."""
        step = row_step(samples)
        moving = Bank.of(robot, samples.qd).moving(samples.qd[::step])
        used = np.asarray(moving.any(axis=1) & samples.keep[::step].any(axis=1))
        return Judged(samples, samples.t[::step], decimated(samples.tau, step), used, moving, held_out, source)

    def torques(self, robot: Robot) -> Array:
        """(m, n) torques of a robot along the log, low-passed as the measured ones."""
        s = self.samples
        return decimated(torques_along(robot, s.q, s.qd, s.qdd), row_step(s))

    def errors(self, torques: Array) -> Errors:
        """The errors of torques, (m, n)."""
        parts, found = (self.used[:, None] & self.moving, self.used[:, None] & ~self.moving), []
        for part in parts:
            left, right = (
                np.sqrt(_mean(np.where(part, x, np.nan) ** 2)) for x in (self.measured - torques, self.measured)
            )
            found.append(left / np.maximum(right, 1e-300))
        return Errors(found[0], found[1], np.asarray(parts[1].sum(axis=0) / max(int(self.used.sum()), 1)))


@dataclass(frozen=True, eq=False)
class Errors:
    """Relative errors of torques, rms of the residual over rms of the torque.

    moving, rest: (n,) over rows in which the joint moves, and in which it rests while others move; NaN: there are none
    resting: (n,) share of the rows in which it rests
    """

    moving: Array
    rest: Array
    resting: Array

    @property
    def mean(self) -> float:
        """Geometric mean over the joints that move."""
        known = self.moving[np.isfinite(self.moving)]
        return float(np.exp(np.log(np.maximum(known, 1e-12)).mean())) if len(known) else float("nan")


@dataclass(frozen=True, eq=False)
class Validation:
    """Measured and predicted torques of the delivered robot.

    joints: (n,) names
    judged: the measured torques
    predicted: (m, n) N m or N
    before: (m, n) torques of the robot before identification; None: it had no parameters
    std: (m, n) standard deviation of a measurement about its prediction; NaN where none can be given
    unit: of the torques, all joints together
    """

    joints: tuple[str, ...]
    judged: Judged
    predicted: Array
    before: Array | None
    std: Array
    unit: str = "N m or N"

    @property
    def held_out(self) -> bool:
        return self.judged.held_out

    @property
    def source(self) -> str:
        return self.judged.source

    @property
    def t(self) -> Array:
        return self.judged.t

    @property
    def measured(self) -> Array:
        return self.judged.measured

    @cached_property
    def residuals(self) -> Array:
        """(m, n) measured - predicted; NaN in rows in which the robot rests."""
        return np.where(self.judged.used[:, None], self.measured - self.predicted, np.nan)

    @cached_property
    def errors(self) -> Errors:
        return self.judged.errors(self.predicted)

    @property
    def relative_error(self) -> Array:
        """(n,) rms of the residual over rms of the torque, over rows in which the joint moves."""
        return self.errors.moving

    @property
    def relative_error_of_all(self) -> float:
        """The same for all joints together."""
        inside = self.judged.used[:, None] & self.judged.moving
        left, torque = (np.where(inside, x, 0.0) for x in (self.measured - self.predicted, self.measured))
        return float(np.sqrt((left**2).sum() / max((torque**2).sum(), 1e-300)))

    @property
    def relative_error_before(self) -> Array | None:
        """(n,) relative error of the robot before identification."""
        return None if self.before is None else self.judged.errors(self.before).moving

    @cached_property
    def rms(self) -> Array:
        """(n,) root mean square of the residuals of moving joints, N m or N."""
        return np.asarray(np.sqrt(_mean(np.where(self.judged.moving, self.residuals, np.nan) ** 2)))

    @cached_property
    def torque(self) -> Array:
        """(n,) root mean square of the measured torques of moving joints, N m or N."""
        inside = self.judged.used[:, None] & self.judged.moving
        return np.asarray(np.sqrt(_mean(np.where(inside, self.measured, np.nan) ** 2)))

    @cached_property
    def covered(self) -> Array:
        """(n,) share of the rows within two standard deviations of their prediction; 0.95 is expected."""
        known = np.isfinite(self.residuals) & np.isfinite(self.std)
        return _mean(np.where(known, np.abs(self.residuals) <= 2 * self.std, np.nan))

    @cached_property
    def durbin_watson(self) -> Array:
        """(n,) Durbin-Watson statistic: 2 for white residuals, near 0 for strongly correlated ones."""
        steps = _mean(np.diff(self.residuals, axis=0) ** 2)
        return np.asarray(steps / np.maximum(_mean(self.residuals**2), 1e-300))

    def section(self) -> Section:
        """The joints as a table."""
        errors, before = self.errors, self.relative_error_before
        heads = ("before", "error", "error at rest", "rows at rest", "within the band")
        columns = [Column("joint"), Column("torque, rms", self.unit), *(Column(head, "%") for head in heads)]
        cells = [
            list(self.joints),
            [f"{x:.3g}" for x in self.torque],
            [""] * len(self.joints) if before is None else percents(before),
            percents(errors.moving),
            percents(errors.rest),
            [f"{100 * x:.0f}" for x in errors.resting],
            percents(self.covered),
        ]
        data = "held-out data" if self.held_out else "the data used for estimation"
        title = f"Torques on {data}: residual is {100 * self.relative_error_of_all:.3g} % of the torque (rms)"
        note = "Error: rms of the residual over rms of the torque, joint in motion; both low-passed at 10 Hz."
        return Section(title, tuple(columns), tuple(zip(*cells, strict=True)), note).filled()

    def record(self) -> dict[str, Any]:
        """The figures as plain data, without the torques over time; keys as the properties of this class."""
        figures = {name: _plain(getattr(self, name)) for name in ("rms", "torque", "relative_error", "covered")}
        return {
            "held_out": self.held_out,
            "source": self.source,
            "joints": list(self.joints),
            "relative_error_of_all": self.relative_error_of_all,
            "error_at_rest": _plain(self.errors.rest),
            "rows_at_rest": self.errors.resting.tolist(),
        } | figures

    def __str__(self) -> str:
        return render(self.section())


def validate(judged: Judged, robot: Robot, *, before: Robot | None = None, std: Array | None = None) -> Validation:
    """Compare measured torques with those of a robot.

    Args:    judged: the measured torques
             robot: that is judged
             before: the robot before identification, for comparison
             std: (m, n) standard deviations (default: none)
    """
    joints = tuple(joint.name for joint in robot.joints)
    known = np.full(judged.measured.shape, np.nan) if std is None else std
    return Validation(
        joints,
        judged,
        judged.torques(robot),
        None if before is None else judged.torques(before),
        known,
        common_units(robot).torque,
    )


def percents(shares: Array) -> list[str]:
    """Shares as texts in percent; empty where there is none."""
    return [f"{100 * x:.3g}" if np.isfinite(x) else "" for x in shares]


def _plain(values: Array) -> list[float | None]:
    return [float(x) if np.isfinite(x) else None for x in values]


def _mean(x: Array) -> Array:
    """Mean over the rows that are not NaN; NaN where there is none."""
    there = ~np.isnan(x)
    count = there.sum(axis=0)
    result: Array = np.where(count > 0, np.nansum(x, axis=0) / np.maximum(count, 1), np.nan)
    return result


__all__ = ["Errors", "Judged", "Validation", "percents", "validate"]
