"""The tables of an identification: errors of what is delivered, bodies, drives; then the details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.identification.fit.identifiability import contained
from armdyn.identification.fit.posterior import SIGNAL_TERMS
from armdyn.identification.fit.validation import percents
from armdyn.parameters.standard import parameter_unit, standard_parameters
from armdyn.robot.limits import UNITS
from armdyn.tables import Column, Section
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.identification.fit.identify import Fit

CHANGED = 3
"""Changes that are named in a sentence."""


def headline(fit: Fit) -> str:
    """What was reached, in one sentence: the error of what is delivered comes first."""
    tried = fit.validation
    where = (
        "on held-out data" if tried.held_out else "on the data used for estimation (hold some out with `validation`)"
    )
    shown = ", ".join(f"{100 * each.errors.mean:.3g} % as {each.suffix}" for each in fit.files)
    before = "" if tried.before is None else f"; before: {100 * tried.judged.errors(tried.before).mean:.3g} %"
    return f"{fit.robot.name}: torque error of the delivered file {where}: {shown}{before}"


def error_section(fit: Fit) -> Section:
    """Errors by joint: before, of every file, of the model with terms of the signal; at rest; the band."""
    tried, judged = fit.validation, fit.validation.judged
    before = None if tried.before is None else judged.errors(tried.before)
    columns, cells = [Column("joint")], [list(tried.joints)]
    if before is not None:
        columns, cells = [*columns, Column("before", "%")], [*cells, percents(before.moving)]
    for each in fit.files:
        columns, cells = [*columns, Column(each.suffix, "%")], [*cells, percents(each.errors.moving)]
        if each.alone is not None:
            columns, cells = [*columns, Column("elsewhere", "%")], [*cells, percents(each.alone.moving)]
    if fit.signal is not None:
        signal = judged.errors(fit.signal.along(judged.samples)[1])
        columns, cells = [*columns, Column("signal", "%")], [*cells, percents(signal.moving)]
    errors = tried.errors
    columns += [Column("at rest", "%"), Column("rows at rest", "%"), Column("in band", "%")]
    cells += [percents(errors.rest), [f"{100 * x:.0f}" for x in errors.resting], percents(tried.covered)]
    note = (
        "Rms of the residual over rms of the torque, low-passed at 10 Hz, joint in motion; at rest: .toml file, joint "
        "at rest while others move. Files are read back and judged."
    )
    for each in fit.files:
        if each.alone is not None:
            note += (
                f" {each.suffix} has no place for {each.lacking}: they are in a comment that armdyn reads back. "
                f"Elsewhere: in programs that do not ({100 * each.alone.mean:.3g} % in the mean)."
            )
    if fit.signal is not None:
        note += " Signal: with gain and lag of the measured torque and terms at rest, which are no part of the robot."
    return Section("Torque errors by joint", tuple(columns), tuple(zip(*cells, strict=True)), note)


def body_section(fit: Fit) -> Section | None:
    """Masses and centres of mass, before and after, with standard deviations."""
    if "inertial" not in fit.include:
        return None
    rows = []
    old, new = (each.opened.links for each in (fit.start, fit.robot))
    for j, (before, after) in enumerate(zip(old, new, strict=True)):
        m = [float(each.inertia.mass) for each in (before, after)]
        c = [_centre(each) for each in (before, after)]
        std, spread = _body_std(fit, j)
        rows.append(
            (fit.robot.opened.joints[j].body.name, f"{m[0]:.4g}", f"{m[1]:.4g}", std, _mm(c[0]), _mm(c[1]), spread)
        )
    heads = (
        Column("body"),
        Column("mass before", "kg"),
        Column("mass", "kg"),
        Column("std"),
        Column("centre before", "mm"),
        Column("centre", "mm"),
        Column("std"),
    )
    note = f"In link frames, z on the joint axis. {_changed_most(fit)}"
    return Section("Bodies", heads, tuple(rows), note.strip()).filled()


def drive_section(fit: Fit) -> Section | None:
    """Friction, rotor inertia and offset of every joint, before and after, with standard deviations."""
    kinds = [("Ia", "rotor inertia"), ("Fv", "viscous"), ("Fc", "Coulomb"), ("off", "offset")]
    known, found = (standard_parameters(each, fit.include).as_dict() for each in (fit.start, fit.robot))
    columns, rows = [Column("joint")], [[joint.name] for joint in fit.robot.opened.joints]
    for kind, words in kinds:
        names = [f"{kind}{j + 1}" for j in range(len(rows))]
        if not all(name in found for name in names):
            continue
        columns += [Column(f"{words} before"), Column(words)]
        for row, name in zip(rows, names, strict=True):
            std, before = fit.standard_std.get(name), float(known[name])
            bar = "" if std is None else f" +- {std:.1g}"
            row += [f"{before:.3g}" if before else "", f"{float(found[name]):.3g}{bar}"]
    if len(columns) == 1:
        return None
    note = "SI units, at the joint."
    if fit.model is not None and fit.model.has_terms:
        note += " Viscous and Coulomb friction are what remains at high speed; further terms: --verbose, or the report."
    return Section("Drives", tuple(columns), tuple(map(tuple, rows)), note).filled()


def base_section(fit: Fit) -> Section:
    """The base parameters with their accuracy."""
    found = fit.estimate
    columns = (
        Column("parameter"),
        Column("value"),
        Column("std"),
        Column("relative std", "%"),
        Column("before"),
        Column("unit"),
        Column("contains"),
    )
    rows = [
        (
            name,
            f"{found.values[i]:.5g}",
            f"{found.std[i]:.2g}",
            _percent(found.relative_std[i]),
            f"{fit.base.values[i]:.5g}",
            unit,
            contained(fit.base, name),
        )
        for i, (name, unit) in enumerate(zip(fit.base.names, fit.base.units, strict=True))
        if name not in found.left_out
    ]
    note = f"{int(found.samples.sum())} samples of all joints, {found.method}. Link frames have z on the joint axis."
    note += f" Set to zero: {', '.join(found.left_out)}." if found.left_out else ""
    return Section(f"{len(rows)} base parameters", columns, tuple(rows), note)


def term_section(fit: Fit) -> Section | None:
    """Terms of friction and of the signal, and the errors of blocks of time held out."""
    if fit.model is None or not fit.model.has_terms:
        return None
    shares, signal = fit.model.shares(), None if fit.signal is None else fit.signal.shares()
    groups = {"width": "further widths", "presliding": "presliding", "load": "load"}
    others = SIGNAL_TERMS if signal is not None else ()
    rows = []
    for j, (joint, error) in enumerate(zip(fit.robot.joints, fit.blocked_error, strict=True)):
        cells = [shares[group][j] for group in groups] + [signal[group][j] for group in others if signal is not None]
        rows.append((joint.name, *(f"{x:.2g}" for x in cells), *percents(np.array([error]))))
    heads = ("joint", *groups.values(), *others)
    note = (
        "Sums of the sizes of the coefficients, in the unit of the torque; load, gain and rest load are shares of the "
        "torque carried, inertia is one, lag is in s. From gain on, those of the model with terms of the signal."
    )
    columns = (*map(Column, heads), Column("blocks held out", "%"))
    return Section("Terms of friction and of the torque signal", columns, tuple(rows), note)


def steps_section(fit: Fit) -> Section:
    """How the log was processed."""
    return Section(
        "Processing of the log", (Column("step"), Column("what was done", folds=True)), tuple(fit.steps.items())
    )


def calibration_notes(fit: Fit) -> list[str]:
    """Zeros and gravity in sentences."""
    found = fit.calibrated
    if found is None:
        return []
    units = {joint.name: UNITS[joint.kind].position for joint in fit.robot.joints}
    notes = [
        f"Zero of {name}: {x:+.4g} +- {std:.2g} {units[name]}, included in the robot."
        for name, (x, std) in found.zeros.items()
    ]
    notes += [f"Zero of {name} not identifiable: {why}." for name, why in found.not_identifiable.items()]
    if found.tilt is not None:
        kept = ", not significant: the declared direction is kept" if found.kept else ", included in the robot"
        notes.append(f"Tilt of gravity: {found.tilt[0]:.4g} +- {found.tilt[1]:.2g} rad{kept}.")
    return notes


# Cells ----------------------------------------------------------------------------------------------------------------


def _centre(link: Any) -> Array:
    mass = float(link.inertia.mass)
    moment = np.array([float(x) for x in link.inertia.moment])
    return moment / mass if mass else np.full(3, np.nan)


def _mm(centre: Array) -> str:
    return " ".join(f"{1e3 * x:.0f}" for x in centre) if np.isfinite(centre).all() else "-"


def _body_std(fit: Fit, j: int) -> tuple[str, str]:
    """Standard deviations of mass, kg, and of the centre of mass, mm, to first order."""
    if fit.model is None:
        return "", ""
    names, root, values = fit.model.rows.names, fit.model.standard_root, fit.model.standard
    mass, place = values[f"M{j + 1}"], names.index(f"M{j + 1}")
    spread = []
    for kind in ("MX", "MY", "MZ"):
        moment = values[f"{kind}{j + 1}"]
        spread.append(np.linalg.norm(root[names.index(f"{kind}{j + 1}")] / mass - root[place] * moment / mass**2))
    return f"{np.linalg.norm(root[place]):.2g}", _mm(np.array(spread))


def _changed_most(fit: Fit) -> str:
    """The bodies whose mass or centre changed most, compared with their standard deviations."""
    if fit.model is None:
        return ""
    changes = []
    before = standard_parameters(fit.start, ("inertial",)).as_dict()
    for name, after in fit.model.standard.items():
        if name.rstrip("0123456789") in ("M", "MX", "MY", "MZ") and fit.standard_std[name] > 0:
            changes.append(
                (abs(after - float(before[name])) / fit.standard_std[name], name, float(before[name]), after)
            )
    largest = [each for each in sorted(changes, reverse=True)[:CHANGED] if each[0] > 2]
    if not largest:
        return "No mass or first moment changed by more than two standard deviations."
    words = [f"{name} {old:.3g} -> {new:.3g} {parameter_unit(fit.robot, name)}" for _, name, old, new in largest]
    return f"Changed most, by their standard deviations: {', '.join(words)}."


def _percent(share: float) -> str:
    return f"{100 * share:.2g}" if share < 0.995 else f"{100 * share:.0f}" if share < 100 else "over 10000"


__all__ = [
    "base_section",
    "body_section",
    "calibration_notes",
    "drive_section",
    "error_section",
    "headline",
    "steps_section",
    "term_section",
]
