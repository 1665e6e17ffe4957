"""`identify`: from a log to a robot with identified parameters."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, FileError, unknown_name
from armdyn.findings import Finding, listed, sorted_by_severity
from armdyn.identification import estimation
from armdyn.identification.advice import remarks_on
from armdyn.identification.checks import check_log
from armdyn.identification.columns import with_coupling
from armdyn.identification.estimation import Estimate
from armdyn.identification.instrumental import instrumental
from armdyn.identification.log import Log
from armdyn.identification.observation import Observation, Progress, observe
from armdyn.identification.processing import Settings, process
from armdyn.identification.readers import read_log
from armdyn.identification.samples import Samples
from armdyn.identification.validation import Validation, validate
from armdyn.parameters import (
    BaseParameters,
    base_parameters,
    parameter_names,
    standard_parameters,
    with_standard_parameters,
)
from armdyn.parameters.standard import FAMILIES
from armdyn.robot import Robot
from armdyn.tables import Column, Section, paragraph, render
from armdyn.typing import Array

Method = Literal["ordinary", "weighted", "robust", "sequential", "damped", "total", "instrumental"]
Told = Literal["alone", "combination", "no"]

UNITS = {"XX": "kg m^2", "XY": "kg m^2", "XZ": "kg m^2", "YY": "kg m^2", "YZ": "kg m^2", "ZZ": "kg m^2",
         "MX": "kg m", "MY": "kg m", "MZ": "kg m", "M": "kg"}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Fit:
    """Identified parameters, how well they are known, and the robot that has them.

    base: the base parameters that were estimated. estimate: values, covariance, residuals by joint. robot: with these
    parameters; what no torque depends on is as near to the robot before as they allow. validation: on the held-out
    motion if there was one. steps: what was done to the log. findings: what was noticed.
    """

    base: BaseParameters
    estimate: Estimate
    robot: Robot
    validation: Validation
    observation: Observation
    steps: Mapping[str, str]
    findings: tuple[Finding, ...]
    source: str

    @cached_property
    def parameters(self) -> dict[str, float]:
        """Base parameters by name."""
        return dict(zip(self.base.names, self.estimate.values.tolist(), strict=True))

    @cached_property
    def std(self) -> dict[str, float]:
        """Their standard deviations; infinite for those that the motion does not tell."""
        return dict(zip(self.base.names, self.estimate.std.tolist(), strict=True))

    @cached_property
    def relative_std(self) -> dict[str, float]:
        """Standard deviations over values."""
        return dict(zip(self.base.names, self.estimate.relative_std.tolist(), strict=True))

    @property
    def covariance(self) -> Array:
        """(p, p) of the base parameters."""
        return self.estimate.covariance

    @cached_property
    def identifiability(self) -> dict[str, Told]:
        """Of every standard parameter: told alone, only in a combination with others, or by no torque at all."""
        return identifiability(self.base)

    def sections(self) -> tuple[Section, ...]:
        """The parameters and the validation as tables."""
        columns = (Column("parameter"), Column("value"), Column("std"), Column("relative", "%"), Column("unit"),
                   Column("contains"))  # fmt: skip
        found = self.estimate
        rows = [
            (name, f"{value:.5g}", f"{std:.2g}", _percent(share), self._unit(place), _contained(self.base, name))
            for name, place, value, std, share in zip(
                self.base.names, self.base.places, found.values, found.std, found.relative_std, strict=True
            )
            if name not in found.left_out
        ]
        of = f"{int(found.rows.sum())} rows of {self.source}"
        title = f"{self.robot.name}: {len(rows)} base parameters, {found.method}; {of}"
        told = Counter(self.identifiability.values())
        note = (
            f"Of {len(self.identifiability)} standard parameters torques tell {told['alone']} alone, "
            f"{told['combination']} in combinations, {told['no']} not at all. "
            "Links are seen in frames with z on their joint's axis."
        )
        note += f" Taken for zero: {', '.join(found.left_out)}." if found.left_out else ""
        return Section(title, columns, tuple(rows), note), self.validation.section()

    def _unit(self, place: str) -> str:
        kind = place.rstrip("0123456789")
        revolute = self.base.robot.links[int(place[len(kind) :]) - 1].revolute
        force, rate = ("N m", "rad") if revolute else ("N", "m")
        inertia = "kg m^2" if revolute else "kg"
        others = {"Ia": inertia, "Fv": f"{force} s/{rate}", "Fvm": f"{force} s/{rate}"}
        return UNITS.get(kind) or others.get(kind, force)

    def __str__(self) -> str:
        parts = [render(section) for section in self.sections()]
        parts += ["\n".join(paragraph("-", f"{f.where}: {f.what}. {f.advice}", 2) for f in self.findings)]
        return "\n\n".join(part for part in parts if part)

    def record(self) -> dict[str, Any]:
        """All but the courses of torques, as plain data."""
        parameters = {
            name: {"value": self.parameters[name], "std": _finite(self.std[name]), "group": _group(self.base, name)}
            for name in self.base.names
        }
        return {
            "robot": self.robot.name,
            "source": self.source,
            "method": self.estimate.method,
            "parameters": parameters,
            "left_out": list(self.estimate.left_out),
            "covariance": self.covariance.tolist(),
            "sigma": self.estimate.sigma.tolist(),
            "rows": self.estimate.rows.tolist(),
            "rows_worth_one": self.estimate.correlation.tolist(),
            "standard": standard_parameters(self.robot, self.base.include).as_dict(),
            "identifiability": self.identifiability,
            "validation": self.validation.record(),
            "steps": dict(self.steps),
            "remarks": list(self.estimate.remarks),
            "findings": [finding.record() for finding in self.findings],
        }

    def save(self, path: str | Path) -> None:
        """Write the fit (.json) or the identified robot (.toml, or any other format of robots)."""
        path = Path(path)
        if path.suffix != ".json":
            self.robot.save(path)
            return
        try:
            path.write_text(json.dumps(self.record(), indent=1, ensure_ascii=False, allow_nan=False), encoding="utf-8")
        except OSError as error:
            raise FileError(f"cannot be written: {error}", where=str(path)) from None


def identify(
    robot: Robot,
    log: Any,
    *,
    validation: Any = None,
    include: tuple[str, ...] = tuple(FAMILIES),
    method: Method = "weighted",
    essential: bool = False,
    physical: bool = False,
    processing: Settings | None = None,
    check: bool = True,
    white: bool = False,
    options: Mapping[str, Any] | None = None,
    reading: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Identify a robot's parameters from a log of its motion. Khalil sec. 7.3.3 f, Siciliano sec. 7.4

    Args:    log: a file, a mapping of arrays (t, q, tau, ...), a `Log`, or processed `Samples`. validation: a log of
             another motion, or a share of this log's end (0.3), on which the parameters are tried; None: tried on the
             log itself, and said so. include: families of parameters; the others keep their values, and their torques
             are taken off. method: see `identification.estimation`.
             essential: leave out parameters that the torques do not need. physical: the robot is the nearest one with
             possible masses and inertias (needs the extra `physical`); what is not essential counts there. processing:
             of the log, chosen from it where nothing is given. check: look for gaps, swapped columns, wrong units and
             the like first. white: take residuals for white, see `identification.estimation`. options: of the
             method (loss of "robust", prior and damping of "damped", noise of "total", reference of "instrumental").
             reading: of files and arrays, see `read_log`; a coupling declared there becomes the robot's. progress: told
             what is being done.
    Returns: a Fit; print it.
    Raises:  ArmdynError if the motion does not tell the parameters; it names them.
    """
    if method not in get_args(Method):
        raise unknown_name("method", method, get_args(Method), where="identify")
    say: Progress = progress or (lambda _: None)
    reading = dict(reading or {})
    robot, remarks = _linear(with_coupling(robot.bound(), reading.get("coupling")), include)
    say("base parameters")
    base = base_parameters(robot, include)
    training, trial, source = _parted(robot, log, validation, _Preparation(processing, check, reading), say)
    taken_off = known_torques(robot, include)
    training = taken_off(training)
    observation = observe(robot, training, base, progress=progress)
    say(f"estimation: {method}")
    estimate = _estimator(method)(observation, white=white, **(options or {}))
    full = estimate  # what is left out below is only told to be small: a possible robot is sought near all of it
    if essential:
        estimate = estimation.essential(observation, estimate)
    identified = _physical(base, full) if physical else with_standard_parameters(robot, nearest(base, estimate))
    say("validation")
    judged = observation if trial is None else observe(robot, taken_off(trial[0]), base, progress=progress)
    prior = base.values if np.abs(base.values).any() else None
    tried = validate(judged, estimate, prior=prior, held_out=trial is not None,
                     source=source if trial is None else trial[1])  # fmt: skip
    findings = (*training.findings, *remarks, *remarks_on(observation, estimate, tried))
    return Fit(base, estimate, identified, tried, observation, training.steps, sorted_by_severity(findings), source)


def _estimator(method: Method) -> Callable[..., Estimate]:
    if method != "instrumental":
        return getattr(estimation, method)  # type: ignore[no-any-return]

    def by_instruments(observation: Observation, *, white: bool, reference: Any = None) -> Estimate:
        if reference is None:
            raise ArmdynError("instruments need the commanded motion", where="identify",
                              expected='options={"reference": trajectory or function}')  # fmt: skip
        return instrumental(observation, reference, white=white)

    return by_instruments


def _linear(robot: Robot, include: tuple[str, ...]) -> tuple[Robot, list[Finding]]:
    """The robot without friction that is not linear in its parameters, if friction is to be identified."""
    if "friction" not in include:
        return robot, []
    curved = [j.name for j in robot.joints if j.friction is not None and j.friction.static != 0]
    if not curved:
        return robot, []
    plain = {j.name: replace(j.friction, static=0, stribeck=0) for j in robot.joints if j.friction is not None}
    tree = tuple(replace(j, friction=plain[j.name]) if j.name in plain else j for j in robot.tree)
    note = Finding("stribeck-left-out", "note", listed(curved), "static friction is left out: it is not linear in its "
                   "parameters", advice="Viscous and Coulomb friction take its place.")  # fmt: skip
    return replace(robot, tree=tree, expressions=None), [note]


def known_torques(robot: Robot, include: tuple[str, ...]) -> Callable[[Samples], Samples]:
    """A function that takes off the torques of what is not identified, such as rotors and friction already known."""
    others = [family for family in FAMILIES if family not in include]
    known = [family for family in others if any(standard_parameters(robot, (family,)).values)]
    if not known:
        return lambda samples: samples
    rest = compiled(with_standard_parameters(robot, dict.fromkeys(parameter_names(robot, include), 0.0)))
    told = {"known torques": f"those of {listed(known)} as the robot has them, taken off"}

    def taken_off(samples: Samples) -> Samples:
        tau = samples.tau - rest.inverse_dynamics(samples.q, samples.qd, samples.qdd)
        return replace(samples, tau=tau, steps={**samples.steps, **told})

    return taken_off


# Logs ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Preparation:
    """How logs become samples."""

    processing: Settings | None
    check: bool
    reading: Mapping[str, Any]

    def samples(self, robot: Robot, log: Any, say: Progress) -> tuple[Samples, str]:
        """(samples, source of the log)."""
        if isinstance(log, Samples):
            return log, "samples"
        say("reading the log")
        read = log if isinstance(log, Log) and not self.reading else read_log(log, robot, **self.reading)
        if self.check:
            say("checking the log")
            read = replace(read, findings=check_log(read, robot))
        say("processing the log")
        return process(read, robot, self.processing), read.source


def _parted(
    robot: Robot, log: Any, validation: Any, prepared: _Preparation, say: Progress
) -> tuple[Samples, tuple[Samples, str] | None, str]:
    """(samples to learn from, samples to be tried on with their source, source)."""
    samples, source = prepared.samples(robot, log, say)
    if validation is None:
        return samples, None, source
    if isinstance(validation, float):
        if not 0 < validation < 1:
            raise ArmdynError(
                f"validation = {validation}", where="identify", expected="a share between 0 and 1, or a log"
            )
        cut = round(len(samples) * (1 - validation)) // samples.decimation * samples.decimation
        late = (_cut(samples, slice(cut, None)), f"the last {validation:.0%} of {source}")
        return _cut(samples, slice(0, cut)), late, f"the first {1 - validation:.0%} of {source}"
    return samples, replace(prepared, check=False).samples(robot, validation, say), source


def _cut(samples: Samples, part: slice) -> Samples:
    arrays = {name: getattr(samples, name)[part] for name in ("t", "q", "qd", "qdd", "tau", "keep")}
    return replace(samples, **arrays)


# A robot for the parameters -----------------------------------------------------------------------------------------


def nearest(base: BaseParameters, estimate: Estimate) -> dict[str, float]:
    """The standard parameters nearest to the robot's that have the estimated base parameters.

    Near is measured in sizes: of the parameter itself, or a tenth of the largest of its kind.
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


def _physical(base: BaseParameters, estimate: Estimate) -> Robot:
    from armdyn.identification.physical_fit import consistent

    found = consistent(base, estimate.values, estimate.covariance)
    offsets = {f"off{j + 1}": float(x) for j, x in enumerate(found.offsets) if "offset" in base.include}
    return with_standard_parameters(found.robot, offsets)


def identifiability(base: BaseParameters) -> dict[str, Told]:
    """Of every standard parameter: whether torques tell it alone, only with others, or not at all.

    Alone: its unit vector is a combination of the base parameters' rows, so any change of it changes the torques in
    a way that no change of the others can undo.
    """
    B = base.matrix / np.linalg.norm(base.matrix, axis=1, keepdims=True)
    share = np.einsum("ij,ji->i", np.linalg.pinv(B), B)
    told: dict[str, Told] = {}
    for name, x in zip(base.standard, share, strict=True):
        told[name] = "no" if x < 1e-9 else "alone" if x > 1 - 1e-9 else "combination"
    return told


def _group(base: BaseParameters, name: str) -> str:
    """The combination of standard parameters, coefficients to 5 digits, in the order of the standard ones."""
    row, terms = base.matrix[base.names.index(name)], []
    for i in np.flatnonzero(np.abs(row) > 1e-9 * np.abs(row).max()):
        factor = f"{abs(row[i]):.5g}"
        sign = "-" if row[i] < 0 else "+"
        terms.append(f"{sign} {base.standard[i]}" if factor == "1" else f"{sign} {factor} {base.standard[i]}")
    return " ".join(terms).removeprefix("+ ")


def _contained(base: BaseParameters, name: str, most: int = 56) -> str:
    """The combination, cut between two terms where it is long; one parameter alone needs no words."""
    group = _group(base, name)
    if " " not in group:
        return ""
    if len(group) <= most:
        return group
    return re.sub(r" [+-] ?[^+-]*$", "", group[:most]) + " ..."


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 1 else f"{100 * share:.0f}" if share < 100 else "over 10000"


def _finite(x: float) -> float | None:
    return x if np.isfinite(x) else None


__all__ = ["Fit", "Method", "identifiability", "identify", "nearest"]
