"""`identify`: from a log to a robot with identified parameters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.dynamics.presliding import torques_along
from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.files import write_text
from armdyn.findings import Finding, listed, sorted_by_severity
from armdyn.identification.advice import findings_on
from armdyn.identification.body_prior import WIDE, body_prior
from armdyn.identification.calibration import Calibrated, Calibration, calibrate
from armdyn.identification.essential_parameters import essential_parameters
from armdyn.identification.estimation import Estimate, Estimator, Weighted
from armdyn.identification.identifiability import Identifiability, contained, group, identifiability
from armdyn.identification.joint_side import with_coupling
from armdyn.identification.log_format import LogFormat
from armdyn.identification.methods import Method, estimator_of
from armdyn.identification.observation import Observation, distinct_parameters, observe
from armdyn.identification.processing import Processing
from armdyn.identification.samples import Samples
from armdyn.identification.term_selection import torque_model
from armdyn.identification.torque_model import TorqueModel
from armdyn.identification.training_data import Preparation, split_log
from armdyn.identification.validation import Validation, validate, validate_model
from armdyn.notebook_view import Shown, View
from armdyn.parameters import (
    BaseParameters,
    parameter_names,
    standard_parameters,
    with_standard_parameters,
)
from armdyn.parameters.standard import FAMILIES
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, FRICTIONLESS, ROUNDED, model_line, takes
from armdyn.robot.parts import Friction, Joint
from armdyn.tables import Column, Section, paragraph, render
from armdyn.typing import Array, Progress, quiet

FrictionChoice = Literal["auto", "plain"]
PRIOR = (
    f"inertial parameters are assumed to lie around those of the model, with a standard deviation of {WIDE:g} times "
    "their size; this matters only where the log hardly determines them"
)


@dataclass(frozen=True, eq=False)
class Fit(Shown):
    """Identified parameters, how well they are known, and the robot that has them.

    base: the base parameters that were estimated
    estimate: their values, covariance, and residuals by joint
    robot: with these parameters and friction; what no torque depends on is as near to the robot before as they allow
    validation: torques of this robot on held-out data, or on the data used for estimation
    observation: the data used for estimation
    steps: how the log was processed
    findings: what was noticed, the worst first
    source: name of the log
    torques: further friction terms of the robot and why they are there; None: viscous and Coulomb friction predict as
             well
    plain: the robot of viscous and Coulomb friction alone, for formats and functions that know no other: `robot` itself
             if there are no further terms
    plain_estimate: its base parameters
    calibrated: zeros of joints and direction of gravity, if they were estimated; the robot includes them
    consistent: (p,) base parameters of the robot, if it had to be physically consistent: other than `estimate` then
    band: the model, `torques` or that of viscous and Coulomb friction, whose errors on held-out blocks give the band of
          the torques; None: none was held out, because another method or law was asked for or the log is too short
    """

    base: BaseParameters
    estimate: Estimate
    robot: Robot
    validation: Validation
    observation: Observation
    steps: Mapping[str, str]
    findings: tuple[Finding, ...]
    source: str
    plain: Robot
    plain_estimate: Estimate
    torques: TorqueModel | None = None
    calibrated: Calibrated | None = None
    consistent: Array | None = None
    band: TorqueModel | None = None

    def predict(self, t: Any, q: Any, qd: Any, qdd: Any) -> Array:
        """(N, n) torques of the identified robot along a motion, N m or N, friction with a state included.

        Presliding states are zero at the first sample, because a motion does not tell them. They forget this over the
        distances of the friction law; until a joint has moved so far, its torque is off by up to the presliding part.

        t: (N,) s, increasing: consecutive samples, because presliding friction depends on the motion before
        q, qd, qdd: (N, n) rad or m, per s, per s^2
        """
        return torques_along(self.robot, *self._motion(t, q, qd, qdd))

    def predict_std(self, t: Any, q: Any, qd: Any, qdd: Any) -> Array:
        """(N, n) standard deviation of measured torques about `predict`, both low-passed at 10 Hz; arguments alike.

        Two standard deviations are a 95 % band that includes the errors of the model, calibrated on data held out.
        Without `band` they are those of the residuals of the fit, which are smaller than on other data.
        """
        motion = self._motion(t, q, qd, qdd)
        if self.band is not None:
            return self.band.std(*motion)
        return np.broadcast_to(self.estimate.sigma, motion[0].shape).copy()

    def _motion(self, t: Any, q: Any, qd: Any, qdd: Any) -> tuple[Array, Array, Array]:
        stamps = np.asarray(t, dtype=float)
        arrays = [np.asarray(x, dtype=float) for x in (q, qd, qdd)]
        for name, x in zip(("q", "qd", "qdd"), arrays, strict=True):
            if x.shape != (len(stamps), self.robot.n):
                raise ShapeError(f"{name} of shape {x.shape}", where="predict",
                                 expected=f"({len(stamps)}, {self.robot.n}), a row per time stamp")  # fmt: skip
        if len(stamps) > 1 and not (np.diff(stamps) > 0).all():
            raise ArmdynError("time does not increase", where="predict", expected="consecutive samples of one motion")
        return arrays[0], arrays[1], arrays[2]

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
    def identifiability(self) -> dict[str, Identifiability]:
        """Of every standard parameter: identifiable individually, only in combination with others, or not at all."""
        return identifiability(self.base)

    def sections(self) -> tuple[Section, ...]:
        """The parameters and the validation as tables."""
        found, physical = self.estimate, self.consistent
        delivered = () if physical is None else (Column("consistent"),)
        columns = (Column("parameter"), Column("value"), *delivered, Column("std"), Column("relative std", "%"),
                   Column("unit"), Column("contains"))  # fmt: skip
        rows = [
            (name, f"{found.values[i]:.5g}", *(() if physical is None else (f"{physical[i]:.5g}",)),
             f"{found.std[i]:.2g}", _percent(found.relative_std[i]), unit, contained(self.base, name))
            for i, (name, unit) in enumerate(zip(self.base.names, self.base.units, strict=True))
            if name not in found.left_out
        ]  # fmt: skip
        title = f"{self.robot.name}: {len(rows)} base parameters (method: {found.method})"
        count = Counter(self.identifiability.values())
        kinds = ", ".join(f"{count[kind]} {kind}" for kind in get_args(Identifiability))
        note = (
            f"{int(found.samples.sum())} samples of all joints, from {self.source}. Standard parameters: {kinds}. "
            "Link frames have z on the joint axis."
        )
        note += f" Set to zero: {', '.join(found.left_out)}." if found.left_out else ""
        if physical is not None:
            note += (" Value: what the torques tell best. Consistent: of the robot that is delivered, the nearest that "
                     "is physically consistent.")  # fmt: skip
        tables = [Section(title, columns, tuple(rows), note), self.validation.section()]
        tables += [] if self.calibrated is None else [self.calibrated.section()]
        if self.torques is not None:
            tables.append(self.torques.section(self.validation.joints))
        return tuple(tables)

    def _view(self) -> View:
        parameters, *others = self.sections()
        worst = self.findings[0].severity if self.findings else "note"
        verdict = ("no issues found" if worst == "note" else f"{len(self.findings)} findings", worst == "note")
        facts = [
            ("parameters", f"{len(parameters.rows)} base parameters, {self.estimate.method}"),
            ("log", self.source),
        ]
        notes = [f"{finding.where}: {finding.what}. {finding.advice}" for finding in self.findings]
        title = f"Identified model of {self.robot.name}"
        return View(title, verdict, facts, (), others[:1], (parameters, *others[1:]), notes)

    def __str__(self) -> str:
        parts = [render(section) for section in self.sections()]
        parts += ["\n".join(paragraph("-", f"{f.where}: {f.what}. {f.advice}", 2) for f in self.findings)]
        return "\n\n".join(part for part in parts if part)

    def record(self) -> dict[str, Any]:
        """The fit as plain data, without the torques over time.

        robot, source, method: names
        model: what the identified model includes
        parameters: base parameter -> value, std (None: not determined), group (combination of standard parameters)
        consistent: base parameter -> value of the physically consistent robot; None: not asked for
        left_out: base parameters set to zero
        covariance: of the base parameters
        sigma, samples, autocorrelation_time: of the residuals, by joint
        standard: standard parameters of the robot
        identifiability: standard parameter -> individually identifiable, identifiable in combination, not identifiable
        validation: see `Validation.record`
        torques: the friction terms; None: none are needed
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
            "parameters": parameters,
            "consistent": None
            if self.consistent is None
            else dict(zip(self.base.names, self.consistent.tolist(), strict=True)),
            "left_out": list(self.estimate.left_out),
            "covariance": self.covariance.tolist(),
            "sigma": self.estimate.sigma.tolist(),
            "samples": self.estimate.samples.tolist(),
            "autocorrelation_time": self.estimate.autocorrelation_time.tolist(),
            "standard": standard_parameters(self.robot, self.base.include).as_dict(),
            "identifiability": self.identifiability,
            "validation": self.validation.record(),
            "torques": None if self.torques is None else self.torques.record(),
            "calibrated": None if self.calibrated is None else self.calibrated.record(),
            "steps": dict(self.steps),
            "notes": list(self.estimate.notes),
            "findings": [finding.record() for finding in self.findings],
        }

    def save(self, path: str | Path) -> None:
        """Write the fit (.json), the identified robot (.toml), or `plain` in formats with plain friction alone."""
        path = Path(path)
        if path.suffix == ".json":
            write_text(path, json.dumps(self.record(), indent=1, ensure_ascii=False, allow_nan=False))
            return
        (self.robot if path.suffix == ".toml" else self.plain).save(path)


@takes(*CLOSED, *FRICTIONLESS)
def identify(
    robot: Robot,
    log: Any,
    *,
    validation: Any = None,
    include: tuple[str, ...] = tuple(FAMILIES),
    method: Method | Estimator = "weighted",
    friction: FrictionChoice = "auto",
    essential: bool = False,
    physical: bool = False,
    calibration: Calibration | None = None,
    log_format: LogFormat | None = None,
    processing: Processing | None = None,
    check: bool = True,
    progress: Progress = quiet,
) -> Fit:
    """Identify a robot's parameters from a log of its motion. Khalil sec. 7.3.3 f, Siciliano sec. 7.4

    Args:    robot: its geometry, and the parameters it had before
             log: a file, a mapping of arrays (t, q, tau, ...), a `Log`, or processed `Samples`
             validation: a log of another motion, or the share of this log's end (0.3) to hold out (default: none)
             include: families of parameters to identify; torques of the others are computed and subtracted
             method: name of an estimator, or an estimator with its settings, as in Robust(loss="tukey")
             friction: "auto" looks for friction terms beyond viscous and Coulomb friction, with the default method
                       and where no joint names its law; "plain" does not
             essential: set parameters that the torques do not need to zero
             physical: return the nearest physically consistent robot (needs the extra `physical`)
             calibration: zeros of joints and direction of gravity to estimate beside the parameters (default: none)
             log_format: columns, units, side of the gears, kind of effort; a coupling given here becomes the robot's
             processing: filter, derivatives, dead band, decimation (default: chosen from the log)
             check: look for gaps, swapped columns, wrong units and signs
             progress: called with what is being done and the share of the work done
    Returns: a Fit; print it.
    Raises:  ArmdynError if the motion does not determine the parameters; it names them.
    """
    estimator = estimator_of(method)
    if friction not in get_args(FrictionChoice):
        raise unknown_name("friction", friction, get_args(FrictionChoice), where="identify")
    log_format = log_format or LogFormat()
    robot, notes = _linear(with_coupling(robot.bound(), log_format.coupling), include)
    data = split_log(robot, log, validation, Preparation(log_format, processing, check), progress)
    calibrated = None
    if calibration is not None:
        progress("zeros and gravity", 0.25)
        calibrated = calibrate(robot, known_torques(robot, include)(data.training), include, calibration)
        robot = calibrated.robot
    progress("base parameters", 0.3)
    base = distinct_parameters(robot, include)
    subtract = known_torques(robot, include)
    training = subtract(data.training)
    observation = observe(robot, training, base, progress=lambda step, done: progress(step, 0.3 + 0.4 * done))
    progress("estimation", 0.7)
    informed = _informed(observation, estimator)
    full = estimate = estimator(informed)
    more = np.zeros((base.count, 0))  # errors of zeros and gravity are errors of the parameters too
    if calibrated is not None:
        more = calibrated.passed_on(base.count)
        full = estimate = replace(estimate, root=np.hstack([estimate.root, more]))
    if essential:
        estimate = essential_parameters(observation, full)
    # Parameters that are not essential are small, not zero: a physically consistent robot is sought near all of them.
    plain = identified = _delivered(robot, base, full if physical else estimate, physical)
    delivered = _values_of(estimate, base, identified) if physical else estimate
    progress("validation", 0.8)
    held_out = data.held_out is not None
    judged = observe(robot, subtract(data.held_out), base) if data.held_out is not None else observation
    prior = base.values if np.abs(base.values).any() else None
    tried = validate(judged, delivered, prior=prior, held_out=held_out, source=data.held_out_source)
    band, plain_estimate = None, estimate
    if friction == "auto" and training is data.training and _open_to_terms(robot, include, estimator, essential):
        progress("friction terms", 0.85)
        band = torque_model(robot, base, data.training)
    model = band if band is not None and band.used.any() else None
    if model is not None:
        estimate = replace(model.estimate, root=np.hstack([model.estimate.root, more]))
        identified = _delivered(robot, base, estimate, physical)
        delivered = _values_of(estimate, base, identified) if physical else estimate
        if physical:
            band = model = model.shifted(delivered.values)
        identified = model.robot(identified)
        tried = validate_model(identified, model, judged.samples, held_out=held_out, source=data.held_out_source,
                               prior=None if prior is None else robot)  # fmt: skip
    on_log = [f for f in training.findings if calibrated is None or not calibrated.answers(f)]
    findings = sorted_by_severity((*on_log, *notes, *findings_on(observation, delivered, tried, on_log)))
    steps = training.steps if informed is observation else training.steps | {"prior": PRIOR}
    return Fit(base, estimate, identified, tried, observation, steps, findings, data.source, plain,
               plain_estimate, model, calibrated, delivered.values if physical else None, band)  # fmt: skip


def _informed(observation: Observation, estimator: Estimator) -> Observation:
    """The observation with what is known of bodies, for the default method; others use the log alone."""
    prior = body_prior(observation.base) if isinstance(estimator, Weighted) else np.zeros((0, 0))
    return replace(observation, prior=prior) if len(prior) else observation


def _delivered(robot: Robot, base: BaseParameters, estimate: Estimate, physical: bool) -> Robot:
    """The robot with estimated base parameters."""
    return with_standard_parameters(robot, (_physical if physical else nearest)(base, estimate))


def _values_of(estimate: Estimate, base: BaseParameters, robot: Robot) -> Estimate:
    """The estimate with the base parameters that a robot has."""
    return replace(estimate, values=base.matrix @ standard_parameters(robot, base.include).array())


def _open_to_terms(robot: Robot, include: tuple[str, ...], estimator: Estimator, essential: bool) -> bool:
    """Whether friction terms are looked for: all is estimated, by the default method, and no joint names its law."""
    named = any(joint.friction is not None and joint.friction.law is not None for joint in robot.tree)
    everything = {"inertial", "friction"} <= set(include)
    return everything and isinstance(estimator, Weighted) and not (essential or named)


def _linear(robot: Robot, include: tuple[str, ...]) -> tuple[Robot, list[Finding]]:
    """The robot with friction that is linear in its coefficients, if friction is to be identified."""
    if "friction" not in include:
        return robot, []
    notes = []
    static = robot.features.get("static_friction")
    if static:
        notes.append(Finding("stribeck-left-out", "note", listed(static), "static friction is left out, because logs "
                             "rarely determine it", advice="Viscous and Coulomb friction are identified."))  # fmt: skip
        robot = robot.without("static_friction")
    rounded = [joint.name for joint in robot.tree if _is_rounded(joint)]
    if rounded:
        notes.append(Finding("friction-terms-anew", "note", listed(rounded), "the friction terms of the robot's file "
                             "are not used", advice="They are looked for anew."))  # fmt: skip
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


# A robot for the parameters -----------------------------------------------------------------------------------------


def nearest(base: BaseParameters, estimate: Estimate) -> dict[str, float]:
    """The standard parameters nearest to the robot's that have the estimated base parameters.

    Distances are relative to the size of the parameter, at least a tenth of the largest of its kind.
    """
    before = np.array([float(x) for x in standard_parameters(base.robot, base.include).values])
    names = standard_parameters(base.robot, base.include).names
    known = dict(zip(names, before, strict=True))
    pi0 = np.array([known[name] for name in base.standard])
    kinds = np.array([name.rstrip("0123456789") for name in base.standard])
    largest = {kind: np.abs(pi0[kinds == kind]).max() or 1.0 for kind in set(kinds)}
    size = np.maximum(np.abs(pi0), [0.1 * largest[kind] for kind in kinds])
    B = base.matrix * size
    scale = np.linalg.norm(B, axis=1)
    step = np.linalg.lstsq(B / scale[:, None], (estimate.values - base.matrix @ pi0) / scale, rcond=None)[0]
    return known | dict(zip(base.standard, (pi0 + size * step).tolist(), strict=True))


def _physical(base: BaseParameters, estimate: Estimate) -> dict[str, Any]:
    """The standard parameters of the nearest physically consistent robot."""
    from armdyn.identification.physical_fit import consistent

    found = consistent(base, estimate.values, estimate.covariance)
    offsets = {f"off{j + 1}": float(x) for j, x in enumerate(found.offsets) if "offset" in base.include}
    return standard_parameters(found.robot, base.include).as_dict() | offsets


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.995 else f"{100 * share:.0f}" if share < 100 else "over 10000"


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None


__all__ = ["Fit", "identify", "nearest"]
