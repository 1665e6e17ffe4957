"""Excitation: the motion that best identifies a robot's base parameters, within its limits.

Fourier series, or closed motions of polynomials (Siciliano sec. 7.4), are optimised, from several random starts, for

    "condition"   the condition number of the observation matrix W of the base parameters, in SI units
    "D"           the determinant of W^T W: the volume of the confidence ellipsoid

under limits of position, velocity, acceleration and torque. A start goes through `STAGES`: from a smooth criterion far
from the limits to a sharp one close to them, each by L-BFGS with exact gradients (`design`). Finally the motion is
scaled down, by a percent or so, until it keeps its limits on a fine grid too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize

from armdyn.errors import ArmdynError
from armdyn.findings import listed
from armdyn.identification.excitation.clearance import Clearance, Surroundings
from armdyn.identification.excitation.criteria import condition_number, criterion_named, scaled_condition_number
from armdyn.identification.excitation.design import Design
from armdyn.identification.excitation.harmonics import Harmonics
from armdyn.identification.excitation.polynomials import Polynomials
from armdyn.identification.excitation.progress_file import ProgressFile
from armdyn.identification.fit.observation import base_regressor, distinct_parameters
from armdyn.motion.sampling import states
from armdyn.motion.verdict import Feasibility, feasibility
from armdyn.notebook_view import View
from armdyn.parameters import BaseParameters
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.robot.limits import LimitOptions, MotionLimits, careful_rates, common_units, motion_limits, working_range
from armdyn.tables import Column, Section
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array, Progress, quiet

STAGES = ((1.0, 1e-2), (4.0, 3e-3), (8.0, 1e-3), (16.0, 3e-4))
"""(sharpness of the criterion, weight of the barrier). The sum of the barrier's terms, four per joint, times the last
weight is what keeping clear of the limits costs in log(condition): a percent."""
PER_HARMONIC = 20
"""Samples per period of the highest harmonic during the search."""


@dataclass(frozen=True, eq=False)
class Excitation(Result):
    """An optimised motion and how well it excites the parameters.

    design: robot, base parameters, kind of motion and limits
    motion: one period
    criterion: what was optimised
    starts: its value (the condition number, or -log det(W^T W) / 2p) after every finished start
    notes: limits that were assumed because none are known
    measurement: how the motion is to be logged
    """

    design: Design
    motion: Trajectory
    criterion: str
    starts: tuple[float, ...]
    notes: tuple[str, ...]
    measurement: Measurement

    @property
    def robot(self) -> Robot:
        return self.design.robot

    @property
    def base(self) -> BaseParameters:
        return self.design.base

    @cached_property
    def observation(self) -> Array:
        """(N n, p) W over one period."""
        return self.design.observation(self.motion)

    @cached_property
    def condition(self) -> float:
        """Condition number of W, columns in SI units."""
        return condition_number(self.observation)

    @cached_property
    def scaled_condition(self) -> float:
        """Condition number of W with columns of length 1."""
        return scaled_condition_number(self.observation)

    @cached_property
    def clearance(self) -> float:
        """Smallest distance between links, and of links from the floor, m; infinite if neither was asked for."""
        if self.design.clearance is None:
            return float("inf")
        t = np.linspace(0, self.motion.duration, 2000)
        return float(self.design.clearance.distances(self.motion(t)).min(initial=np.inf))

    @cached_property
    def feasibility(self) -> Feasibility:
        """The motion against its limits."""
        limits = self.design.limits
        kept: LimitOptions = {
            "v_max": limits.velocity,
            "a_max": limits.acceleration,
            "tau_max": limits.tau_max,
            "tau_min": limits.tau_min,
        }
        return feasibility(self.design.dynamics, self.motion, limits=kept)

    def repeated(self, periods: float) -> Trajectory:
        """The motion over several periods."""
        return self.design.harmonics.repeated(self.motion, periods)

    @cached_property
    def prediction(self) -> Prediction:
        """The standard deviations that an identification from the logged motion will have."""
        limit, noise = self.design.limits.tau_max, self.measurement.noise
        assumed: Any = noise
        if noise is None:
            peak = np.abs(self.feasibility.peak["torque"])
            assumed = NOISE * np.maximum(np.where(np.isfinite(limit), limit, peak), 1e-6)
        return predicted_std(self.base, self.repeated(self.measurement.periods), assumed, rate=self.measurement.rate)

    def _view(self) -> View:
        facts = [
            ("motion", str(self.design.harmonics)),
            ("parameters", f"{self.base.count} base parameters ({', '.join(self.base.include)})"),
            ("condition number", f"{self.condition:.2f} ({self.scaled_condition:.2f} with columns scaled to length 1)"),
        ]
        if np.isfinite(self.clearance):
            facts.append(("clearance", f"{1e3 * self.clearance:.0f} mm, the smallest between links and from the floor"))
        assumed = f"Assumed torque noise: {NOISE:.0%} of the torque limit, or of the peak torque."
        notes = [*self.notes, *([assumed] if self.measurement.noise is None else [])]
        return View(
            f"Exciting motion of {self.robot.name}",
            None,
            facts,
            (),
            [self._use_section(), self.prediction.section()],
            (),
            notes,
        )

    def _use_section(self) -> Section:
        quantities, use = ("position", "velocity", "acceleration", "torque"), self.feasibility.use
        rows = [
            (joint.name, *(f"{use[name][j]:.1%}" if use[name][j] > 0 else "-" for name in quantities))
            for j, joint in enumerate(self.robot.joints)
        ]
        return Section(
            "Share of the limits used by the motion",
            tuple(map(Column, ("joint", *quantities))),
            tuple(rows),
            "Position: distance from mid-range as a share of half the range.",
        )

    def record(self) -> dict[str, Any]:
        """Condition numbers, values of all starts, shares of the limits, expected standard deviations, notes."""
        return {
            "robot": self.robot.name,
            "motion": str(self.design.harmonics),
            "criterion": self.criterion,
            "condition": self.condition,
            "scaled_condition": self.scaled_condition,
            "starts": list(self.starts),
            "use": {name: np.asarray(x).tolist() for name, x in self.feasibility.use.items()},
            "expected_std": dict(zip(self.base.names, self.prediction.std.tolist(), strict=True)),
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> Path:
        """Write the motion, as many periods as are logged, as samples of t, q, qd, qdd (.csv)."""
        self.repeated(self.measurement.periods).save(path, self.measurement.step)
        return Path(path)

    def plot(self, path: str | Path | None = None, size: str | None = None) -> Any:
        """Matplotlib figure of the motion.

        path: .png, .svg or .pdf file to write (default: none). size: "column" or "page" of a journal.
        """
        from armdyn.report.figures.excitation_figures import excitation_figure
        from armdyn.report.figures.style import save_figure

        drawn = excitation_figure(self)
        if path is not None:
            save_figure(drawn, path, size)
        return drawn


@dataclass(frozen=True, kw_only=True)
class Search:
    """How long and from where to search for a motion.

    starts: random motions to start from (default 2)
    iterations: at most, per stage of a start (default 300)
    seconds: stop after this time with the best so far; the result then depends on the machine (default: no limit)
    seed: of the random motions; the same seed gives the same result (default 0)
    """

    starts: int = 2
    iterations: int = 300
    seconds: float | None = None
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class ExcitationLimits:
    """ExcitationLimits of the motion, one for all joints or one each.

    v_max: largest velocity, rad/s or m/s (default: the robot's)
    a_max: largest acceleration, rad/s^2 or m/s^2 (default: the robot's)
    tau_max: largest torque, N m or N (default: the robot's)
    share: of every limit that may be used, at most 1 (default 1)
    """

    v_max: float | list[float] | None = None
    a_max: float | list[float] | None = None
    tau_max: float | list[float] | None = None
    share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """How the motion is logged.

    noise: standard deviation of the measured torques, one for all joints or one each, N m or N (default: 1 % of the
           torque limit, or of the peak torque)
    rate: sampling rate, Hz (default 100)
    periods: of the motion that are logged and written (default 1)
    step: time step of the samples that are written, s (default 0.001)
    """

    noise: float | list[float] | None = None
    rate: float = 100.0
    periods: float = 1.0
    step: float = 1e-3


NOISE = 0.01
"""Torque noise that is assumed, as a share of the torque limit: what current sensors of drives have."""


@takes(*CLOSED, *TREE)
def excite(
    robot: Robot,
    *,
    include: Iterable[str] = ("inertial", "friction"),
    criterion: str = "condition",
    harmonics: Harmonics | Polynomials | None = None,
    search: Search | None = None,
    limits: ExcitationLimits | None = None,
    surroundings: Surroundings | None = None,
    measurement: Measurement | None = None,
    resume: str | Path | None = None,
    progress: Progress = quiet,
) -> Excitation:
    """Optimise a motion for identification.

    Args:    robot: with limits, where they are known
             include: families of parameters to be identified
             criterion: "condition" (condition number of W) or "D" (determinant of W^T W)
             harmonics: `Harmonics` or `Polynomials`: their number, period, start at rest (default: 10 harmonics of
                        10 s, at rest)
             search: starts, iterations, time, seed (default: 2 starts)
             limits: of velocity, acceleration and torque, and the share that may be used (default: the robot's)
             surroundings: floor and links to keep clear of (default: neither)
             measurement: noise, rate and length of the log, for the expected error bars (default: one period, 100 Hz)
             resume: file in which finished work is kept; if it exists, the search continues from it
             progress: called with what is being done and the share of the work done
    Raises:  ArmdynError if no motion keeps the limits, or the file belongs to another problem.
    """
    base = distinct_parameters(robot, include)
    bounds, notes = excitation_limits(robot, limits or ExcitationLimits())
    kind, search = harmonics or Harmonics(), search or Search()
    clearance = None if surroundings is None else Clearance(base.robot, surroundings)
    notes += () if clearance is not None else ("Collisions with a floor or between links are not checked.",)
    design = Design(base.robot, base, kind, bounds, max(PER_HARMONIC * kind.count, base.count), clearance)
    criterion_named(criterion)
    run = _Run(design, criterion, search, progress)
    record = ProgressFile.opened(resume, run.problem())
    for start in range(len(record.done), search.starts):
        x = run.start(start, record)
        if x is None:
            break
        record.finished(x)
    found = [*record.done, *([record.current] if record.current is not None else [])]
    return _best(design, criterion, found, notes, measurement or Measurement())


def excitation_limits(robot: Robot, given: ExcitationLimits) -> tuple[MotionLimits, tuple[str, ...]]:
    """ExcitationLimits of a robot for excitation, and notes on those that had to be assumed."""
    share = given.share
    if not 0 < share <= 1:
        raise ArmdynError(f"share = {share}", expected="above 0, at most 1: the share of every limit that may be used")
    known = motion_limits(robot, v_max=given.v_max, a_max=given.a_max, tau_max=given.tau_max)
    careful, units = careful_rates(robot), common_units(robot)
    notes = []

    def named(chosen: Array) -> str:
        return listed([robot.joints[i].name for i in np.flatnonzero(chosen)])

    missing = ~(np.isfinite(known.lower) & np.isfinite(known.upper))
    low, high = working_range(robot)
    if missing.any():
        half = (high - low)[missing] / 2
        notes.append(f"No position limits of {named(missing)}: +-{_values(half)} {units.position} is assumed.")
    velocity, acceleration = known.velocity.copy(), known.acceleration.copy()
    rates = (("velocity", velocity, units.velocity), ("acceleration", acceleration, units.acceleration))
    for (name, values, unit), usual in zip(rates, careful, strict=True):
        unknown = ~np.isfinite(values)
        if unknown.any():
            values[unknown] = usual[unknown]
            notes.append(f"No {name} limit of {named(unknown)}: {_values(values[unknown])} {unit} is assumed.")
    if not np.isfinite(known.tau_max).all():
        notes.append(f"No torque limit of {named(~np.isfinite(known.tau_max))}.")
    middle, half = (low + high) / 2, share * (high - low) / 2
    limits = replace(
        known,
        lower=middle - half,
        upper=middle + half,
        velocity=share * velocity,
        acceleration=share * acceleration,
        tau_min=share * known.tau_min,
        tau_max=share * known.tau_max,
    )
    return limits, tuple(notes)


def _values(values: Array) -> str:
    return ", ".join(f"{value:.4g}" for value in np.unique(values))


# The search -----------------------------------------------------------------------------------------------------------


class _Run:
    """Starts, stage by stage, until they are done or time is over."""

    def __init__(self, design: Design, criterion: str, search: Search, progress: Progress) -> None:
        self.design, self.criterion, self.search, self.progress = design, criterion, search, progress
        self.end = np.inf if search.seconds is None else time.monotonic() + search.seconds
        reach, velocity = design.bands[0][1], design.bands[1][1]
        swing = np.repeat(velocity[:, None], design.harmonics.size - 1, axis=1)
        self.scale = np.column_stack([reach, swing])  # numbers of size 1 for the optimiser

    def problem(self) -> dict[str, Any]:
        """What must be the same for work to be continued (the number of starts may grow)."""
        d, kind = self.design, self.design.harmonics
        return {
            "robot": d.robot.name,
            "include": list(d.base.include),
            "criterion": self.criterion,
            type(kind).__name__.lower(): kind.count,
            "period": kind.period,
            "rest": kind.rest,
            "seed": self.search.seed,
            "iterations": self.search.iterations,
            "parameters": [round(x, 12) for x in d.base.values.tolist()],
            "surroundings": None if d.clearance is None else asdict(d.clearance.surroundings),
            "limits": [[round(x, 12) if np.isfinite(x) else None for x in (*m, *h)] for m, h in d.bands],
        }

    def start(self, start: int, record: ProgressFile) -> Array | None:
        """One start; None if time is over: the record then holds the current motion."""
        x = record.current
        if x is None:
            rng = np.random.default_rng([self.search.seed, start])
            x = self.design.random(rng, 0.9)  # clear of the limits: inside the barrier
        for stage in range(record.stage, len(STAGES)):
            x = self._descended(x, start, stage)
            over = time.monotonic() > self.end
            record.reached(stage if over else stage + 1, x)
            if over:
                return None
        return x

    def _descended(self, x: Array, start: int, stage: int) -> Array:
        sharpness, weight = STAGES[stage]
        shape, scale = x.shape, self.scale
        count = 0

        def objective(z: Array) -> tuple[float, Array]:
            value, slope = self.design.objective(z.reshape(shape) * scale, self.criterion, sharpness, weight)
            return value, (slope * scale).ravel()

        def watch(intermediate_result: Any) -> None:
            nonlocal count
            count += 1
            if count % 10 == 0:
                what = f"start {start + 1}, stage {stage + 1} of {len(STAGES)}, iteration {count}"
                done = start + (stage + count / self.search.iterations) / len(STAGES)
                self.progress(f"{what}: objective {intermediate_result.fun:.4f}", done / self.search.starts)
            if time.monotonic() > self.end:
                raise StopIteration

        options = {"maxiter": self.search.iterations, "maxcor": 30}
        found = minimize(objective, (x / scale).ravel(), jac=True, method="L-BFGS-B", callback=watch, options=options)
        best: Array = np.asarray(found.x).reshape(shape) * scale
        return best


def _best(
    design: Design, criterion: str, found: Sequence[Array], notes: tuple[str, ...], measurement: Measurement
) -> Excitation:
    kept = [x for x in (design.shrunk(x) for x in found) if x is not None]
    if not kept:
        raise ArmdynError(
            "no motion was found that keeps the limits",
            where=f"robot {design.robot.name!r}",
            expected="limits in which the arm can move",
            advice="Give it more time, or larger torque limits.",
        )
    motions = [design.harmonics.motion(x) for x in kept]
    values = [_worth(design.observation(motion), criterion) for motion in motions]
    return Excitation(design, motions[int(np.argmin(values))], criterion, tuple(values), notes, measurement)


def _worth(W: Array, criterion: str) -> float:
    if criterion == "condition":
        return condition_number(W)
    return criterion_named(criterion)(np.linalg.svd(W, compute_uv=False) ** 2, 1.0)[0]


# Expected standard deviations -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Prediction:
    """Expected standard deviations of an identification from a motion.

    base: the base parameters
    std: (p,) their standard deviations, in their units
    covariance: (p, p)
    noise: (n,) standard deviation of the measured torques, N m or N
    samples: number of samples, assumed independent
    """

    base: BaseParameters
    std: Array
    covariance: Array
    noise: Array
    samples: int

    @cached_property
    def relative(self) -> Array:
        """(p,) std over the robot's own value; infinite where that is zero."""
        size = np.abs(self.base.values)
        share: Array = np.divide(self.std, size, out=np.full(len(size), np.inf), where=size > 0)
        return share

    def section(self) -> Section:
        """Table: name, value of the model, predicted standard deviation, and its share of the value."""
        heads = ("parameter", "model value", "predicted std", "relative")
        rows = []
        for name, value, std, share in zip(self.base.names, self.base.values, self.std, self.relative, strict=True):
            rows.append((name, f"{value:.6g}", f"{std:.3g}", f"{share:.2%}" if np.isfinite(share) else "-"))
        noise = ", ".join(f"{x:.3g}" for x in self.noise)
        unit = common_units(self.base.robot).torque
        note = f"{self.samples} independent samples; torque noise by joint: {noise} {unit}. SI units."
        return Section(
            f"{self.base.robot.name}: expected standard deviations", tuple(map(Column, heads)), tuple(rows), note
        )


@takes(*CLOSED, *TREE)
def predicted_std(
    robot: Robot | BaseParameters,
    motion: Trajectory,
    noise: Any,
    *,
    include: Iterable[str] = ("inertial", "friction"),
    rate: float = 100.0,
) -> Prediction:
    """Standard deviations of the base parameters that weighted least squares will find from a motion. Siciliano (7.86)

        covariance = (W^T S^-1 W)^-1,    S = diag(noise^2), joint by joint

    Args:    robot: or its base parameters
             motion: to be measured
             noise: standard deviation of the measured torques, (n,) or one for all, N m or N, white
             include: families of parameters, if a robot is given
             rate: samples per second, Hz (default 100)
    Raises:  ArmdynError if the motion does not determine all of them.
    """
    base = robot if isinstance(robot, BaseParameters) else distinct_parameters(robot, include)
    n = base.robot.n
    sigma = np.broadcast_to(np.asarray(noise, dtype=float), (n,)).copy()
    if not (np.isfinite(sigma) & (sigma > 0)).all():
        raise ArmdynError(f"noise = {noise}", expected=f"a positive number, or {n} of them, N m or N")
    t = np.arange(max(round(motion.duration * rate), 1)) / rate
    Y = base_regressor(base)(*states(motion, t))
    R = np.linalg.qr((Y / sigma[:, None]).reshape(-1, base.count), mode="r")
    lengths = np.linalg.norm(R, axis=0)
    if len(R) < base.count or not lengths.all() or np.linalg.cond(R / lengths) > 1e9:
        raise ArmdynError(
            "the motion does not determine all base parameters",
            where=f"robot {base.robot.name!r}",
            advice="Optimise a motion with `excite`, or include fewer families.",
        )
    inverse = np.linalg.inv(R)
    covariance = inverse @ inverse.T
    return Prediction(base, np.sqrt(np.diag(covariance)), covariance, sigma, len(t))


__all__ = ["Excitation", "Prediction", "Search", "excitation_limits", "excite", "predicted_std"]
