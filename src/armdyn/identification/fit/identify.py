"""`identify`: from a log to a robot with identified parameters, judged as it is delivered."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from armdyn.doctor.torque_checks import DIRECTION
from armdyn.dynamics import compile as compiled
from armdyn.dynamics.presliding import torques_along
from armdyn.errors import ArmdynError, FeatureError, ShapeError, unknown_name
from armdyn.files import write_text
from armdyn.findings import Finding, listed, sorted_by_severity
from armdyn.identification.fit.calibration import Calibrated, Calibration, calibrate
from armdyn.identification.fit.delivery import Delivery, delivered, fitted_for, inexpressible
from armdyn.identification.fit.essential_parameters import essential_parameters
from armdyn.identification.fit.estimation import Estimate, Estimator
from armdyn.identification.fit.findings import findings_on_fit
from armdyn.identification.fit.identifiability import Identifiability, group, identifiability
from armdyn.identification.fit.observation import distinct_parameters, observe
from armdyn.identification.fit.posterior import Problem
from armdyn.identification.fit.rows import ROW, TorqueRows, row_samples
from armdyn.identification.fit.tables import (
    base_section,
    body_section,
    calibration_notes,
    drive_section,
    error_section,
    headline,
    steps_section,
    term_section,
)
from armdyn.identification.fit.torque_model import TorqueModel, fitted_model
from armdyn.identification.fit.training_data import Preparation, split_log
from armdyn.identification.fit.validation import Judged, Validation, validate
from armdyn.identification.log.joint_side import with_coupling
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.logger_file import declared
from armdyn.identification.log.processing import Processing
from armdyn.identification.log.samples import Samples
from armdyn.notebook_view import View
from armdyn.parameters import BaseParameters, parameter_names, standard_parameters, with_standard_parameters
from armdyn.parameters.standard import FAMILIES
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FRICTIONLESS, ROUNDED, model_line, takes
from armdyn.robot.parts import Friction, Joint
from armdyn.typing import Array, Progress, quiet

FrictionChoice = Literal["auto", "plain"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit(Result):
    """Identified parameters, how well they are known, and the robot that has them, judged as it is delivered.

    start: the robot before identification
    robot: the identified robot, as a .toml file holds it
    base: base parameters; estimate: their values, covariance, and residuals by joint
    model: the fit behind the robot; None: base parameters were estimated freely, without physical consistency
    signal: the fit with terms of the torque signal and of joints at rest too; None: it predicts no better
    validation: torques of the robot on held-out data, or on the data used for estimation
    files: what a .toml and a .urdf file of the robot give back, and how well that predicts
    training: the samples used for estimation
    include: families of parameters that were identified
    steps: how the log was processed
    findings: what was noticed, the worst first
    source: name of the log
    calibrated: zeros of joints and direction of gravity, if they were estimated; the robot includes them
    verbose: show everything, not only what decides
    """

    start: Robot
    robot: Robot
    base: BaseParameters
    estimate: Estimate
    model: TorqueModel | None
    signal: TorqueModel | None
    validation: Validation
    files: tuple[Delivery, ...]
    training: Samples
    include: tuple[str, ...]
    steps: Mapping[str, str]
    findings: tuple[Finding, ...]
    source: str
    calibrated: Calibrated | None = None
    verbose: bool = field(default=False, repr=False)

    # Torques ----------------------------------------------------------------------------------------------------------

    def predict(self, t: Any, q: Any, qd: Any, qdd: Any) -> Array:
        """(N, n) torques of the identified robot along a motion, N m or N, friction with a state included.

        Presliding states are zero at the first sample, because a motion does not tell them. They forget this over the
        distances of the friction law; until a joint has moved so far, its torque is off by up to the presliding part.

        t: (N,) s, increasing: consecutive samples, because presliding friction depends on the motion before
        q, qd, qdd: (N, n) rad or m, per s, per s^2
        """
        samples = self._motion(t, q, qd, qdd)
        return torques_along(self.robot, samples.q, samples.qd, samples.qdd)

    def predict_std(self, t: Any, q: Any, qd: Any, qdd: Any) -> Array:
        """(N, n) standard deviation of measured torques about `predict`, both low-passed at 10 Hz; arguments alike.

        Two standard deviations are a 95 % band that includes the errors of the model, calibrated on data held out; NaN
        for joints of which the log does not tell one (see `findings`). A free fit has those of its residuals, which
        are smaller than on other data.
        """
        return self._at(self.model, self._motion(t, q, qd, qdd))[1]

    def predict_signal(self, t: Any, q: Any, qd: Any, qdd: Any) -> Array:
        """(N, n) torques as the log would report them, with lag and gain of the signal; low-passed at 10 Hz.

        Arguments as for `predict`. The torques of the robot, low-passed, where there are no such terms.
        """
        return self._at(self.signal or self.model, self._motion(t, q, qd, qdd))[0]

    def _at(self, model: TorqueModel | None, samples: Samples) -> tuple[Array, Array]:
        """Torques and standard deviations of a model at all samples, from its rows."""
        if model is None:
            torques = torques_along(self.robot, samples.q, samples.qd, samples.qdd)
            return torques, np.broadcast_to(self.estimate.sigma, torques.shape).copy()
        rows, torques, std = model.along(samples)
        std[:, list(model.band.missing)] = np.nan
        found = [np.column_stack([np.interp(samples.t, rows, column) for column in x.T]) for x in (torques, std)]
        return found[0], found[1]

    def _motion(self, t: Any, q: Any, qd: Any, qdd: Any) -> Samples:
        stamps = np.asarray(t, dtype=float)
        arrays = [np.asarray(x, dtype=float) for x in (q, qd, qdd)]
        for name, x in zip(("q", "qd", "qdd"), arrays, strict=True):
            if x.shape != (len(stamps), self.robot.n):
                raise ShapeError(
                    f"{name} of shape {x.shape}",
                    where="predict",
                    expected=f"({len(stamps)}, {self.robot.n}), a row per time stamp",
                )
        if not (np.diff(stamps) > 0).all():
            raise ArmdynError("time does not increase", where="predict", expected="consecutive samples of one motion")
        positions, rates, accelerations = arrays
        still, every = np.zeros(positions.shape), np.ones(positions.shape, dtype=bool)
        return Samples(stamps, positions, rates, accelerations, still, every)

    # Parameters -------------------------------------------------------------------------------------------------------

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Base parameters by name."""
        return dict(zip(self.base.names, self.estimate.values.tolist(), strict=True))

    @cached_property
    def std(self) -> dict[str, float]:
        """Their standard deviations; infinite for those that the motion does not determine."""
        return dict(zip(self.base.names, self.estimate.std.tolist(), strict=True))

    @cached_property
    def relative_std(self) -> dict[str, float]:
        """Standard deviations over values."""
        return dict(zip(self.base.names, self.estimate.relative_std.tolist(), strict=True))

    @property
    def covariance(self) -> Array:
        """(p, p) of the base parameters."""
        return self.estimate.covariance

    @property
    def covariance_root(self) -> Array:
        """(p, r) whose product with its transpose is the covariance: errors are drawn as its product with normals."""
        return self.estimate.root

    @cached_property
    def standard_std(self) -> dict[str, float]:
        """Standard parameter -> standard deviation, the model's share included; empty for a free fit."""
        if self.model is None:
            return {}
        return dict(zip(self.model.rows.names, np.linalg.norm(self.model.standard_root, axis=1).tolist(), strict=True))

    @property
    def blocked_error(self) -> Array:
        """(n,) relative error on blocks of time held out of the estimation; NaN where none were."""
        if self.model is None or self.model.rows.keep.sum() < ROW.fewest:
            return np.full(self.robot.n, np.nan)
        return self.model.problem.errors

    @cached_property
    def identifiability(self) -> dict[str, Identifiability]:
        """Of every standard parameter: identifiable individually, only in combination with others, or not at all."""
        return identifiability(self.base)

    # The result -------------------------------------------------------------------------------------------------------

    @property
    def fine(self) -> bool:
        """Whether nothing is suspicious about the log or the fit, and nothing is invalid about the delivered robot."""
        return all(finding.severity == "note" for finding in self.findings)

    def _view(self) -> View:
        words = "no issues found" if self.fine else f"{sum(f.severity != 'note' for f in self.findings)} findings"
        sections = [error_section(self), body_section(self), drive_section(self)]
        details = [base_section(self), term_section(self), steps_section(self)] if self.verbose else []
        notes = [
            f"{f.severity}, {f.where}: {f.what}. {f.advice}".rstrip()
            for f in self.findings
            if self.verbose or f.severity != "note"
        ]
        return View(
            headline(self),
            (words, self.fine),
            [("log", self.source)],
            (),
            [section for section in sections if section is not None],
            [section for section in details if section is not None],
            [*notes, *calibration_notes(self)],
        )

    def record(self) -> dict[str, Any]:
        """The fit as plain data, without the torques over time.

        robot, source, method: names
        model: what the identified model includes
        files: format -> held-out errors of the file, moving and at rest, and what the format has no place for
        parameters: base parameter -> value, std (None: not determined), group (combination of standard parameters)
        left_out: base parameters set to zero
        covariance: of the base parameters
        sigma, samples, autocorrelation_time: of the residuals, by joint
        standard: standard parameters of the robot; standard_std: their standard deviations
        identifiability: standard parameter -> individually identifiable, identifiable in combination, not identifiable
        validation: see `Validation.record`
        calibrated: zeros and gravity, see `Calibrated.record`; None: not asked for
        steps, notes, findings: processing of the log, reports of the estimator, what was noticed
        """
        parameters = {
            name: {"value": self.parameters[name], "std": _finite(self.std[name]), "group": group(self.base, name)}
            for name in self.base.names
        }
        return {
            "robot": self.robot.name,
            "model": model_line(self.robot),
            "source": self.source,
            "method": self.estimate.method,
            "files": {each.suffix: each.record() for each in self.files},
            "parameters": parameters,
            "left_out": list(self.estimate.left_out),
            "covariance": self.covariance.tolist(),
            "sigma": self.estimate.sigma.tolist(),
            "samples": self.estimate.samples.tolist(),
            "autocorrelation_time": self.estimate.autocorrelation_time.tolist(),
            "standard": standard_parameters(self.robot, self.base.include).as_dict(),
            "standard_std": self.standard_std,
            "identifiability": self.identifiability,
            "validation": self.validation.record(),
            "calibrated": None if self.calibrated is None else self.calibrated.record(),
            "steps": dict(self.steps),
            "notes": list(self.estimate.notes),
            "findings": [finding.record() for finding in self.findings],
        }

    def save(self, path: str | Path) -> Delivery | Path:
        """Write the identified robot (.toml, .urdf, .xml) and read it back, or write the fit (.json).

        What a format has no place for is in a comment of the file that `load` reads back and other programs do not.
        """
        path = Path(path)
        if path.suffix == ".json":
            return write_text(path, json.dumps(self.record(), indent=1, ensure_ascii=False, allow_nan=False))
        return self.as_file(path.suffix.lower(), path)

    def as_file(self, suffix: str, path: Path | None = None) -> Delivery:
        """What a file of a format gives back, and how well it predicts; path: where it stays (default: nowhere)."""
        robot, left_out = self.robot, inexpressible(self.robot, suffix)
        if left_out and self.model is not None:
            bare = self.start.without(*left_out)
            robot = fitted_for(self.model, bare, left_out, known_torques(bare, self.include)(self.training))
        return delivered(robot, suffix, left_out, self.validation.judged, path)

    @cached_property
    def robot_without_terms(self) -> Robot:
        """The best robot with viscous and Coulomb friction alone, fitted to the same samples."""
        if self.model is None or not self.model.has_terms:
            return self.robot
        return TorqueModel(Problem.simple(self.model.rows, plain=True, robust=False)).robot

    def report(self, path: str | Path) -> Path:
        """Write the report as one self-contained HTML file."""
        from armdyn.report.pages.fit_page import write_report

        return write_report(self, path)


@takes(*CLOSED, *FRICTIONLESS)
def identify(
    robot: Robot,
    log: Any,
    *,
    validation: Any = None,
    include: tuple[str, ...] = tuple(FAMILIES),
    friction: FrictionChoice = "auto",
    free: Estimator | None = None,
    essential: bool = False,
    calibration: Calibration | None = None,
    log_format: LogFormat | str | Path | None = None,
    processing: Processing | None = None,
    check: bool = True,
    progress: Progress = quiet,
) -> Fit:
    """Identify a robot's parameters from a log of its motion. Khalil sec. 7.3.3 f, Siciliano sec. 7.4

    The robot that comes out is physically consistent; what the motion does not excite keeps the model's values.

    Args:    robot: its geometry, and the parameters it had before
             log: a file, a mapping of arrays (t, q, tau, ...), a `Log`, or processed `Samples`
             validation: a log of another motion, or the share of this log's end (0.3) to hold out (default: none)
             include: families of parameters to identify; torques of the others are computed and subtracted
             friction: "auto" looks for friction terms beyond viscous and Coulomb friction where no joint names its law;
                       "plain" does not
             free: an estimator of the base parameters alone, such as Weighted() (the textbook's estimate): bodies may
                   then be impossible (default: none)
             essential: with `free`, set parameters that the torques do not need to zero
             calibration: zeros of joints and direction of gravity to estimate beside the parameters (default: the
                          direction of gravity if the torques ask for another)
             log_format: columns, units, side of the gears, kind of effort, or a TOML file with these; a coupling given
                         here becomes the robot's
             processing: filter, derivatives, dead band, decimation (default: chosen from the log)
             check: look for gaps, swapped columns, wrong units and signs
             progress: called with what is being done and the share of the work done
    Returns: a Fit; print it, save it.
    """
    if friction not in get_args(FrictionChoice):
        raise unknown_name("friction", friction, get_args(FrictionChoice), where="identify")
    if essential and free is None:
        raise ArmdynError(
            "essential parameters of a physically consistent robot",
            where="identify",
            expected="a free estimate of base parameters",
            advice="Pass free=Weighted(), or --estimate free on the command line.",
        )
    log_format, processing = declared(log_format, processing)
    robot, notes = _linear(with_coupling(robot.bound(), log_format.coupling), include)
    data = split_log(robot, log, validation, Preparation(log_format, processing, check), progress)
    given, calibrated, asked = robot, None, calibration is not None
    tilted = any(finding.rule == DIRECTION for finding in data.training.findings)
    if not asked and tilted and "inertial" in include and not robot.constrained:
        calibration = Calibration(gravity=True)
    if calibration is not None:
        progress("zeros and gravity", 0.3)
        calibrated = calibrate(robot, known_torques(robot, include)(data.training), include, calibration)
        robot = calibrated.robot
    progress("base parameters", 0.4)
    base = distinct_parameters(robot, include)
    training = known_torques(robot, include)(data.training)
    progress("estimation", 0.5)
    model, signal = None, None
    if free is None:
        named = any(joint.friction is not None and joint.friction.law is not None for joint in robot.tree)
        terms = friction == "auto" and not named and {"inertial", "friction"} <= set(include)
        model, signal = fitted_model(TorqueRows.of(robot, include, training), terms=terms)
        identified, estimate = model.robot, model.estimate(base)
    else:
        estimate = _free_estimate(robot, base, training, free, essential)
        identified = with_standard_parameters(robot, nearest(base, estimate))
    if calibrated is not None:  # errors of zeros and gravity are errors of the parameters too
        estimate = replace(estimate, root=np.hstack([estimate.root, calibrated.passed_on(base.count)]))
    progress("validation", 0.8)
    held_out = data.held_out is not None
    judged = Judged.of(
        robot, data.held_out or row_samples(data.training), held_out=held_out, source=data.held_out_source
    )
    before = given if np.abs(base.values).any() else None
    tried = validate(judged, identified, before=before, std=_band(model, estimate, judged))
    fit = Fit(
        start=robot,
        robot=identified,
        base=base,
        estimate=estimate,
        model=model,
        signal=signal,
        validation=tried,
        files=(),
        training=data.training,
        include=include,
        steps=training.steps,
        findings=(),
        source=data.source,
        calibrated=calibrated,
    )
    progress("files", 0.9)
    fit = replace(fit, files=tuple(_expressible(fit, (".toml", ".urdf"))))
    answered = [f for f in training.findings if calibrated is not None and calibrated.answers(f)]
    on_log = [f for f in training.findings if f not in answered]
    if not asked:
        advice = "It was estimated with the parameters: the robot that is written has it."
        notes += [replace(finding, advice=advice) for finding in answered]
    return replace(fit, findings=sorted_by_severity((*on_log, *notes, *findings_on_fit(fit, on_log))))


def _expressible(fit: Fit, suffixes: Iterable[str]) -> Iterator[Delivery]:
    """What files give back, in the formats that have a place for the robot."""
    for suffix in suffixes:
        with suppress(FeatureError):
            yield fit.as_file(suffix)


def _free_estimate(robot: Robot, base: BaseParameters, training: Samples, free: Estimator, essential: bool) -> Estimate:
    """The textbook's estimate of the base parameters."""
    observation = observe(robot, training, base)
    estimate = free(observation)
    return essential_parameters(observation, estimate) if essential else estimate


def _band(model: TorqueModel | None, estimate: Estimate, judged: Judged) -> Array:
    """(m, n) standard deviations of the judged torques; NaN for joints without one."""
    if model is None:
        return np.broadcast_to(estimate.sigma, judged.measured.shape)
    std = model.along(judged.samples)[2]
    std[:, list(model.band.missing)] = np.nan
    return std


def _linear(robot: Robot, include: tuple[str, ...]) -> tuple[Robot, list[Finding]]:
    """The robot with friction that is linear in its coefficients, if friction is to be identified."""
    if "friction" not in include:
        return robot, []
    notes = []
    static = robot.features.get("static_friction")
    if static:
        notes.append(
            Finding(
                "stribeck-left-out",
                "note",
                listed(static),
                "static friction is left out, because logs rarely determine it",
                advice="Viscous and Coulomb friction are identified.",
            )
        )
        robot = robot.without("static_friction")
    rounded = [joint.name for joint in robot.tree if _is_rounded(joint)]
    if rounded:
        notes.append(
            Finding(
                "friction-terms-anew",
                "note",
                listed(rounded),
                "the friction terms of the robot's file are not used",
                advice="They are looked for anew.",
            )
        )
        robot = replace(robot, tree=tuple(map(_unrounded, robot.tree)), expressions=None)
    return robot, notes


def _is_rounded(joint: Joint) -> bool:
    law, motor = joint.friction, joint.motor
    return (law is not None and law.law == ROUNDED) or (motor is not None and motor.width != 0)


def _unrounded(joint: Joint) -> Joint:
    """The joint with viscous and Coulomb friction only, where its law is "rounded"."""
    if not _is_rounded(joint):
        return joint
    law, motor = joint.friction, joint.motor
    if law is not None and law.law == ROUNDED:
        law = Friction(law.viscous, law.coulomb, offset=law.offset)
    return replace(joint, friction=law, motor=motor and replace(motor, width=0, values={}))


def known_torques(robot: Robot, include: tuple[str, ...]) -> Callable[[Samples], Samples]:
    """A function that subtracts the torques of what is not identified, such as rotors and friction already known."""
    others = [family for family in FAMILIES if family not in include]
    known = [family for family in others if any(standard_parameters(robot, (family,)).values)]
    if not known:
        return lambda samples: samples
    rest = compiled(with_standard_parameters(robot, dict.fromkeys(parameter_names(robot, include), 0.0)))
    step = {"known torques": f"torques of the robot's {listed(known)} parameters were subtracted"}

    def subtract(samples: Samples) -> Samples:
        tau = samples.tau - rest.inverse_dynamics(samples.q, samples.qd, samples.qdd)
        return replace(samples, tau=tau, steps={**samples.steps, **step})

    return subtract


def nearest(base: BaseParameters, estimate: Estimate) -> dict[str, float]:
    """The standard parameters nearest to the robot's that have the estimated base parameters.

    Distances are relative to the size of the parameter, at least a tenth of the largest of its kind.
    """
    known = standard_parameters(base.robot, base.include).as_dict()
    pi0 = np.array([float(known[name]) for name in base.standard])
    kinds = np.array([name.rstrip("0123456789") for name in base.standard])
    largest = {kind: np.abs(pi0[kinds == kind]).max() or 1.0 for kind in set(kinds)}
    size = np.maximum(np.abs(pi0), [0.1 * largest[kind] for kind in kinds])
    B = base.matrix * size
    scale = np.linalg.norm(B, axis=1)
    step = np.linalg.lstsq(B / scale[:, None], (estimate.values - base.matrix @ pi0) / scale, rcond=None)[0]
    return known | dict(zip(base.standard, (pi0 + size * step).tolist(), strict=True))


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None


__all__ = ["Fit", "identify", "nearest"]
