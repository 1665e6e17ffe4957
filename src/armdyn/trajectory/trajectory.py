"""Trajectories: joint positions and their derivatives as functions of time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.notebook_view import Shown, View, rows_of
from armdyn.tables import Column, Section
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.robot.robot import Robot


MOST_SAMPLES = 10**7
FILM_SAMPLES = 1001
"""Samples from which the pictures of a film are chosen."""
GRID = 2001
"""Samples in which a peak is searched if there is no formula for it."""


class MotionSamples(NamedTuple):
    """A sampled trajectory.

    t:   (k,) s.
    q:   (k, n) rad or m.
    qd:  (k, n) rad/s or m/s.
    qdd: (k, n) rad/s^2 or m/s^2.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array


class Trajectory(Shown, ABC):
    """A motion of n joints from time 0 to `duration`, s.

    `traj(t)` is the position, `traj(t, 1)` the velocity, `traj(t, 2)` the acceleration and `traj(t, 3)` the jerk where
    it is defined, in rad or m and s. t is a number or an array of any shape; the result has shape (*t.shape, n). Before
    0 and after `duration` the joints stand still: positions are those of the nearer end, derivatives are zero. At 0 and
    at `duration` derivatives are those of the motion. A periodic motion goes on instead.
    """

    periodic: ClassVar[bool] = False
    """Whether the motion repeats before 0 and after `duration`."""

    @property
    def highest(self) -> int | None:
        """Highest order of derivative; None: all."""
        return None

    @property
    @abstractmethod
    def duration(self) -> float:
        """Duration, s."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of joints."""

    @property
    def breaks(self) -> Array:
        """Times at which some derivative may jump, both ends included, s."""
        return np.array([0.0, self.duration])

    @abstractmethod
    def inside(self, t: Array, order: int) -> Array:
        """(*t.shape, n) derivative of that order at times within [0, duration]."""

    def __call__(self, t: Any, order: int = 0) -> Array:
        times = np.asarray(t)
        if not np.issubdtype(times.dtype, np.inexact):
            times = times.astype(float)
        if np.isnan(times).any():
            raise ShapeError("t contains NaN", where=type(self).__name__, expected="times in s")
        if order < 0 or (self.highest is not None and order > self.highest):
            raise NotApplicable(
                f"derivative of order {order}", where=type(self).__name__, expected=f"0 to {self.highest or 'any'}"
            )
        if self.periodic:
            return self.inside(times, order)
        real = times.real
        clipped = np.clip(real, 0.0, self.duration)
        if np.iscomplexobj(times):  # for derivatives by complex step
            clipped = clipped + 1j * times.imag
        value = self.inside(clipped, order)
        if order:
            value = np.where(((real < 0) | (real > self.duration))[..., None], 0.0, value)
        return value

    def derivatives(self, t: Array, highest: int = 2) -> tuple[Array, ...]:
        """Position and derivatives up to that order at the same times, (*t.shape, n) each."""
        return tuple(self(t, order) for order in range(highest + 1))

    def sample(self, dt: float) -> MotionSamples:
        """Position, velocity and acceleration at 0, dt, 2 dt, ... and at the end."""
        t = grid(self.duration, dt)
        return MotionSamples(t, *self.derivatives(t))

    def peak(self, order: int = 0) -> Array:
        """(n,) largest magnitude of the derivative of that order, searched on a grid and refined."""
        t = np.union1d(np.linspace(0.0, self.duration, GRID), self.breaks)
        values = np.abs(self(t, order))
        best = values.argmax(axis=0)
        low, high = t[np.maximum(best - 1, 0)], t[np.minimum(best + 1, len(t) - 1)]
        joints = np.arange(self.n)
        peak: Array = values[best, joints]
        for _ in range(3):  # each pass narrows the bracket eightfold
            inner = np.linspace(low, high, 17)
            values = np.abs(self(inner, order))[:, joints, joints]
            best = values.argmax(axis=0)
            peak = np.maximum(peak, values[best, joints])
            low, high = inner[np.maximum(best - 1, 0), joints], inner[np.minimum(best + 1, 16), joints]
        return peak

    # New trajectories from this one ---------------------------------------------------------------------------------

    def slower(self, factor: float) -> Trajectory:
        """The same path in `factor` times the duration (below 1: faster). Siciliano sec. 7.7 with c = 1/factor"""
        from armdyn.trajectory.compose import slowed

        return slowed(self, factor)

    def retimed(self, clock: float | Trajectory) -> Trajectory:
        """The same path with another timing: a duration, s, or a time law s(t), a trajectory of one joint."""
        from armdyn.trajectory.compose import retimed

        return retimed(self, clock)

    def reversed(self) -> Trajectory:
        """The same path backwards."""
        from armdyn.trajectory.compose import backwards

        return backwards(self)

    def then(self, *others: Trajectory) -> Trajectory:
        """This motion followed by others, each of which starts where the one before it ends."""
        from armdyn.trajectory.compose import concatenate

        return concatenate(self, *others)

    # Out ------------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, dt: float = 1e-3) -> Path:
        """Write samples every dt, s, to a CSV file (t, q1.., qd1.., qdd1..) that `read_trajectory` reads."""
        from armdyn.trajectory.trajectory_files import write

        return write(self, path, dt)

    def animate(self, path: str | Path, robot: Robot) -> Path:
        """Write a film of a robot: .gif, .html (a page with a player), or .mp4 where ffmpeg is installed."""
        from armdyn.report.figures.animation import write_film

        t = np.linspace(0.0, self.duration, FILM_SAMPLES)
        return write_film(robot, t, self(t), path)

    def plot(
        self,
        path: str | Path | None = None,
        robot: Robot | None = None,
        *,
        names: Sequence[str] | None = None,
        tau_max: Array | None = None,
        size: str | None = None,
    ) -> Any:
        """Matplotlib figure of position, velocity and acceleration of every joint.

        path:    .png, .svg or .pdf file to write (default: none).
        robot:   adds the names, units and limits of its joints.
        names:   of the joints (default: those of the robot).
        tau_max: (n,) torque limits, to draw the robot's torques as well; infinite for none.
        size:    "column" or "page" of a journal (default: for the screen).
        """
        from armdyn.report.figures.motion_figures import trajectory_figure
        from armdyn.report.figures.style import save_figure

        figure = trajectory_figure(self, robot, names, tau_max)
        if path is not None:
            save_figure(figure, path, size)
        return figure

    def _view(self) -> View:
        t = grid(self.duration, self.duration / 500) if self.duration else np.zeros(1)
        q, rates, accelerations = (self(t, order) for order in range(3))
        columns = (
            Column("#"),
            Column("start"),
            Column("end"),
            Column("largest velocity"),
            Column("largest acceleration"),
        )
        rows = rows_of(
            (
                j + 1,
                f"{q[0, j]:.4g}",
                f"{q[-1, j]:.4g}",
                f"{abs(rates[:, j]).max():.4g}",
                f"{abs(accelerations[:, j]).max():.4g}",
            )
            for j in range(self.n)
        )
        facts = [("kind", type(self).__name__), ("to draw it", ".plot()")]
        note = "rad or m, per s, per s^2; from 501 samples"
        return View(f"Motion of {self.duration:.6g} s", None, facts, sections=(Section("Joints", columns, rows, note),))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.n} joint{'s' * (self.n != 1)}, {self.duration:.6g} s>"


def columns_of(quantities: Mapping[str, Array]) -> dict[str, Array]:
    """Return the columns of quantities (k, n), numbered from 1: q1, q2, ..., qd1, ..."""
    return {f"{name}{j + 1}": column for name, values in quantities.items() for j, column in enumerate(values.T)}


def grid(duration: float, dt: float) -> Array:
    """Return the times 0, dt, 2 dt, ... and the end, s."""
    if not (dt > 0 and math.isfinite(dt)):
        raise ArmdynError(f"dt = {dt}", expected="a positive time step in s")
    if not duration / dt <= MOST_SAMPLES:
        raise ArmdynError(f"{duration:.6g} s in steps of {dt:.6g} s", expected=f"at most {MOST_SAMPLES:.0e} samples")
    steps = math.ceil(duration / dt - 1e-9)
    return np.append(np.arange(steps) * dt, duration)
