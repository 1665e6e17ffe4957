"""The report of an identification: what is delivered and how well it predicts, then how it was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import numpy as np

from armdyn.dynamics import compile as compiled
from armdyn.files import write_text
from armdyn.findings import Checkup
from armdyn.identification.fit.identifiability import Identifiability
from armdyn.identification.fit.identify import Fit
from armdyn.identification.fit.rows import row_step
from armdyn.identification.fit.tables import (
    base_section,
    body_section,
    calibration_notes,
    drive_section,
    error_section,
    headline,
    term_section,
)
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.report.figures.style import COLORS, GREY
from armdyn.report.pages import html
from armdyn.robot.limits import UNITS
from armdyn.tables import Column, Section
from armdyn.typing import Array

POINTS = 800
"""Residuals drawn at most in one panel."""


def write_report(fit: Fit, path: str | Path) -> Path:
    """Write the report as one self-contained HTML file."""
    return write_text(path, identification_page(fit))


def identification_page(fit: Fit) -> str:
    """The report as the text of an HTML page."""
    chapters = {
        "Errors of what is delivered": [html.table(error_section(fit)), *_files(fit)],
        "What changed": [*_tables(body_section(fit), drive_section(fit)), html.bullets("", calibration_notes(fit))],
        "Findings": [html.findings(Checkup(fit.robot.name, fit.findings))],
        "Measured and predicted torques": _torques(fit),
        "Friction": _friction(fit),
        "Base parameters": _tables(base_section(fit)),
        "Identifiability of the standard parameters": _identifiability(fit),
        "Residuals": _residuals(fit),
        "Processing of the log": [html.definitions(list(fit.steps.items()))],
    }
    blocks = [html.paragraph(f"{headline(fit)}."), html.cards(_summary(fit))]
    blocks += [html.chapter(k, title, inside) for k, (title, inside) in enumerate(chapters.items(), 1)]
    samples = fit.training
    data = b"".join(np.ascontiguousarray(x).tobytes() for x in (samples.t, samples.q, samples.tau))
    return html.page(
        f"{fit.robot.name}: identification",
        f"Identified from {fit.source}.",
        blocks,
        contents=list(chapters),
        made=html.provenance(**{"processed log": data}),
    )


def _tables(*sections: Section | None) -> list[str]:
    return [html.table(section) for section in sections if section is not None]


def _summary(fit: Fit) -> list[tuple[str, str, str, bool | None]]:
    """Figures of the files as they are read back. Green needs held-out data and no issue that it may hide."""
    tried, issues = fit.validation, sum(finding.severity != "note" for finding in fit.findings)
    where = "on held-out data" if tried.held_out else "on the data used for estimation"
    better = tried.before is None or fit.files[0].errors.mean < tried.judged.errors(tried.before).mean
    light = (better or False) if tried.held_out and not issues else None if better else False
    cards: list[tuple[str, str, str, bool | None]] = [
        (f"Torque error, {each.suffix} file", f"{100 * each.errors.mean:.3g} %", where, light if k == 0 else None)
        for k, each in enumerate(fit.files)
    ]
    valid = all(each.fine for each in fit.files)
    consistent = "all physically consistent" if valid else "invalid values: see Findings"
    return [
        *cards,
        ("Bodies", str(len(fit.robot.opened.links)), consistent, valid),
        ("Issues", str(issues), "see Findings" if fit.findings else "no issues found", issues == 0),
    ]


def _files(fit: Fit) -> list[str]:
    """What each format holds."""
    rows = [
        (
            each.suffix,
            f"{100 * each.errors.mean:.3g}",
            f"{100 * (each.alone or each.errors).mean:.3g}",
            each.lacking or "nothing",
            each.checkup.summary,
        )
        for each in fit.files
    ]
    heads = (
        Column("file"),
        Column("error", "%"),
        Column("in other programs", "%"),
        Column("has no place for", folds=True),
        Column("check-up", folds=True),
    )
    note = (
        "Error: geometric mean of the joints, in motion. What a format has no place for is in a comment of the file "
        "that armdyn reads back and other programs do not; the robot was fitted to predict well for both."
    )
    return [html.table(Section("Files, read back", heads, tuple(rows), note))]


def _identifiability(fit: Fit) -> list[str]:
    pairs = []
    for kind in get_args(Identifiability):
        names = [name for name, found in fit.identifiability.items() if found == kind]
        pairs.append((f"{kind.capitalize()} ({len(names)})", ", ".join(names) or "none"))
    return [html.definitions(pairs)]


def _torques(fit: Fit) -> list[str]:
    tried = fit.validation
    data = f"Held-out data: {tried.source}." if tried.held_out else "The data used for estimation."
    text = f"{data} Torques of the .toml file. The band holds 95 % of the measured torques."
    key = [
        ("measured", GREY, False),
        ("predicted", COLORS[0], False),
        ("residual", COLORS[3], False),
        ("band of the residual", COLORS[1], False),
    ]
    panels = []
    for j, joint in enumerate(fit.robot.joints):
        unit = UNITS[joint.kind].torque
        lines = [
            Line(tried.t, tried.measured[:, j], color=GREY, wide=True),
            Line(tried.t, tried.predicted[:, j], color=COLORS[0]),
            Line(tried.t, tried.residuals[:, j], color=COLORS[3]),
            *(
                Line(tried.t, sign * 2 * tried.std[:, j], color=COLORS[1])
                for sign in (1, -1)
                if np.isfinite(tried.std[:, j]).all()
            ),
        ]
        title = f"{joint.name}: error {tried.relative_error[j]:.1%}"
        panels.append(chart(Axes(title, "t (s)", f"torque ({unit})" if unit == "N m" else "force (N)", lines)))
    return [html.panels(panels, text, key)]


def _friction(fit: Fit) -> list[str]:
    """The terms, and why they are there: residuals of the joint that gains most by them."""
    if fit.model is None or not fit.model.has_terms:
        return [html.paragraph("Viscous and Coulomb friction: no further terms are needed, or none were looked for.")]
    j, plain, rich = _gaining(fit)
    why = (
        f"Residuals of {fit.robot.joints[j].name}, the joint that gains most by friction terms, on the judged data. "
        "Friction that grows with the load fans out over the load; presliding and a wide change of "
        "sign bend the residual at low velocity; drift shows over time."
    )
    key = [("viscous and Coulomb friction alone", GREY, False), ("with terms", COLORS[0], False)]
    return [*_tables(term_section(fit)), html.panels(_causes(fit, j, plain, rich), why, key)]


def _gaining(fit: Fit) -> tuple[int, Array, Array]:
    """(joint, its residuals without terms, with terms) of the joint that terms help most."""
    tried = fit.validation
    left = tried.measured - tried.judged.torques(fit.robot_without_terms)
    without = tried.judged.errors(tried.measured - left).moving
    j = int(np.nanargmin(tried.relative_error / np.maximum(without, 1e-300)))
    return j, left[:, j], tried.measured[:, j] - tried.predicted[:, j]


def _causes(fit: Fit, j: int, plain: Array, rich: Array) -> list[str]:
    """Residuals of joint j against velocity, load, position and time."""
    judged = fit.validation.judged
    s, step = judged.samples, row_step(judged.samples)
    load = compiled(fit.robot.without("friction")).inverse_dynamics(s.q, s.qd, s.qdd)
    shown = np.flatnonzero(judged.used)
    shown = shown[:: max(1, len(shown) // POINTS)]
    kind = fit.robot.joints[j].kind
    position, torque = UNITS[kind].position, UNITS[kind].torque
    at = {
        f"velocity ({UNITS[kind].velocity})": s.qd[::step, j],
        f"load: torque without friction ({torque})": load[::step, j],
        f"position ({position})": s.q[::step, j],
        "t (s)": s.t[::step],
    }
    return [
        chart(
            Axes(
                "",
                name,
                f"residual ({torque})",
                [
                    Line(x[shown], plain[shown], style=".", color=GREY),
                    Line(x[shown], rich[shown], style=".", color=COLORS[0]),
                ],
            )
        )
        for name, x in at.items()
    ]


def _residuals(fit: Fit) -> list[str]:
    tried = fit.validation
    columns = (
        Column("joint"),
        Column("sigma", tried.unit),
        Column("samples"),
        Column("autocorrelation time", "samples"),
        Column("Durbin-Watson"),
    )
    found = fit.estimate
    rows = [
        (
            name,
            f"{found.sigma[j]:.3g}",
            f"{found.samples[j]}",
            f"{found.autocorrelation_time[j]:.1f}",
            f"{tried.durbin_watson[j]:.2f}",
        )
        for j, name in enumerate(tried.joints)
    ]
    note = "The standard deviations of the parameters allow for the autocorrelation of the residuals."
    return [html.table(Section("", columns, tuple(rows), note)), html.bullets("Notes", list(found.notes))]


__all__: Sequence[str] = ["identification_page", "write_report"]
