"""The report of an identification: processing, parameters with their uncertainty, predicted torques, residuals."""

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
from armdyn.identification.fit.validation import Validation
from armdyn.identification.log.filters import decimated
from armdyn.parameters import physical_consistency
from armdyn.parameters.consistency import LinkConsistency
from armdyn.report.figures.charts import Line, Panel, chart
from armdyn.report.figures.style import COLORS, GREY
from armdyn.report.pages import html
from armdyn.robot.limits import UNITS
from armdyn.tables import Column, Section

POINTS = 800
"""Residuals drawn at most in one panel."""
GOOD = 0.1
"""Relative error of the torques up to which the verdict is good: what published identifications reach."""
WHITE = 0.01
"""Probability below which residuals count as correlated."""
LEAST = 1e-6
"""Probability that is printed; smaller ones say no more."""


def write_report(fit: Fit, path: str | Path) -> Path:
    """Write the report as one self-contained HTML file."""
    return write_text(path, identification_page(fit))


def identification_page(fit: Fit) -> str:
    """The report as the text of an HTML page."""
    chapters = {
        "Findings": [html.findings(Checkup(fit.robot.name, fit.findings))],
        "Processing of the log": [html.definitions(list(fit.steps.items()))],
        "Base parameters": _parameters(fit),
        "Identifiability of the standard parameters": _identifiability(fit),
        "Measured and predicted torques": _torques(fit),
        "Friction": _friction(fit),
        "Residuals": _residuals(fit),
        "Physical consistency": _physics(fit),
    }
    blocks = [html.cards(_summary(fit))]
    blocks += [html.chapter(k, title, inside) for k, (title, inside) in enumerate(chapters.items(), 1)]
    samples = fit.observation.samples
    data = b"".join(np.ascontiguousarray(x).tobytes() for x in (samples.t, samples.q, samples.tau))
    return html.page(
        f"{fit.robot.name}: identification", f"Identified from {fit.source}.", blocks, contents=list(chapters),
        made=html.provenance(**{"processed log": data}),
    )  # fmt: skip


def _summary(fit: Fit) -> list[tuple[str, str, str, bool | None]]:
    tried = fit.validation
    issues = sum(finding.severity != "note" for finding in fit.findings)
    known = fit.base.count - len(fit.estimate.left_out)
    share = tried.relative_error_of_all
    where = f"on {tried.source}" if tried.held_out else "on the data used for estimation; pass a validation log"
    return [
        (
            "Base parameters",
            str(known),
            f"of {fit.base.count}" if known < fit.base.count else fit.estimate.method,
            None,
        ),
        ("Samples", f"{int(fit.estimate.samples.sum())}", f"of {fit.robot.n} joints, after decimation", None),
        ("Relative error of the torques", f"{share:.2%}", where, _light(share < GOOD, issues)),
        ("Issues", str(issues), "see Findings" if fit.findings else "no issues found", issues == 0),
    ]


def _light(good: bool, issues: int) -> bool | None:
    """Green, red, or neither: nothing is green beside an issue that it may hide."""
    return None if good and issues else good


def _parameters(fit: Fit) -> list[str]:
    section = fit.sections()[0]
    prior = dict(zip(fit.base.names, fit.base.values.tolist(), strict=True))
    groups = {name: "" if one["group"] == name else one["group"] for name, one in fit.record()["parameters"].items()}
    *first, unit, _ = section.columns
    columns = (*first, Column("before"), unit, Column("contains", folds=True))
    rows = tuple((*row[:-2], f"{prior[row[0]]:.5g}", row[-2], groups[row[0]]) for row in section.rows)
    note = "Before: the value in the robot's description. Relative: standard deviation over value. " + section.note
    return [html.table(Section(section.title, columns, rows, note.strip()))]


def _identifiability(fit: Fit) -> list[str]:
    pairs = []
    for kind in get_args(Identifiability):
        names = [name for name, found in fit.identifiability.items() if found == kind]
        pairs.append((f"{kind.capitalize()} ({len(names)})", ", ".join(names) or "none"))
    return [html.definitions(pairs)]


def _torques(fit: Fit) -> list[str]:
    tried = fit.validation
    text = f"{_data(tried)} Predictions and residuals are shown only where the joint moves faster than its dead band."
    key = [("measured", GREY, False), ("predicted", COLORS[0], False), ("residual", COLORS[3], False)]
    return [html.panels(_panels(fit, tried), text, key), html.table(tried.section())]


def _data(tried: Validation) -> str:
    if tried.held_out:
        return f"Torques on held-out data: {tried.source}."
    return "Torques on the data used for estimation."


def _panels(fit: Fit, tried: Validation) -> list[str]:
    """Measured and predicted torque of every joint."""
    panels = []
    for j, joint in enumerate(fit.robot.joints):
        unit = UNITS[joint.kind].torque
        # In the dead band the sign of the rate, and with it friction, is noise.
        predicted = np.where(np.isnan(tried.residuals[:, j]), np.nan, tried.predicted[:, j])
        lines = [
            Line(tried.t, tried.measured[:, j], color=GREY, wide=True),
            Line(tried.t, predicted, color=COLORS[0]),
            Line(tried.t, tried.residuals[:, j], color=COLORS[3]),
        ]
        title = f"{joint.name}: relative error {tried.relative_error[j]:.1%}"
        panels.append(chart(Panel(title, "t (s)", f"torque ({unit})" if unit == "N m" else "force (N)", lines)))
    return panels


def _friction(fit: Fit) -> list[str]:
    """The friction terms of every joint, what they bring, and why: residuals of the joint that gains most."""
    model = fit.torques
    if model is None:
        return [html.paragraph("Viscous and Coulomb friction: no further terms are needed, or none were looked for.")]
    j = int(np.argmin(model.errors[0] / np.maximum(model.errors[1], 1e-300)))
    why = (
        f"Residuals of {fit.robot.joints[j].name}, the joint that gains most, on the data used for estimation. "
        "Friction that grows with the load fans out over the load; presliding and a wide change of "
        "sign bend the residual at low velocity; drift shows over time."
    )
    return [
        html.table(model.section(fit.validation.joints)),
        html.panels(_causes(fit, j), why, [("without terms", GREY, False), ("with terms", COLORS[0], False)]),
    ]


def _causes(fit: Fit, j: int) -> list[str]:
    """Residuals of joint j against velocity, load, position and time."""
    s = fit.observation.samples
    step = s.decimation
    plain = fit.observation.residuals(fit.plain_estimate.values)[:, j]
    rich = decimated(s.tau - fit.predict(s.t, s.q, s.qd, s.qdd), step)[:, j]
    load = compiled(fit.robot.without("friction")).inverse_dynamics(s.q, s.qd, s.qdd)
    shown = np.flatnonzero(np.isfinite(plain))
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
        chart(Panel("", name, f"residual ({torque})", [
            Line(x[shown], plain[shown], style=".", color=GREY),
            Line(x[shown], rich[shown], style=".", color=COLORS[0]),
        ]))
        for name, x in at.items()
    ]  # fmt: skip


def _residuals(fit: Fit) -> list[str]:
    tried = fit.validation
    columns = (Column("joint"), Column("sigma", tried.unit), Column("samples"),
               Column("autocorrelation time", "samples"), Column("Durbin-Watson"),
               Column("whiteness"), Column("verdict"))  # fmt: skip
    rows = []
    for j, name in enumerate(tried.joints):
        p = tried.whiteness[j]
        learnt = (
            f"{fit.estimate.sigma[j]:.3g}",
            f"{fit.estimate.samples[j]}",
            f"{fit.estimate.autocorrelation_time[j]:.1f}",
        )
        chance, verdict = f"{p:.2g}" if p >= LEAST else f"below {LEAST:g}", "white" if p >= WHITE else "correlated"
        rows.append((name, *learnt, f"{tried.durbin_watson[j]:.2f}", chance, verdict))
    note = ("Whiteness: probability of such autocorrelations in white noise (Ljung-Box test, 20 lags). The standard "
            "deviations of the parameters allow for the autocorrelation of the residuals.")  # fmt: skip
    return [html.table(Section("", columns, tuple(rows), note)), html.bullets("Notes", list(fit.estimate.notes))]


def _physics(fit: Fit) -> list[str]:
    found = physical_consistency(fit.robot)
    columns = (
        Column("link"),
        Column("mass", "kg"),
        Column("smallest second moment", "kg m^2"),
        Column("verdict", folds=True),
    )
    rows = tuple((link.name, f"{link.mass:.4g}", f"{link.moments[0]:.3g}", _verdict(link)) for link in found.links)
    text = (
        "All links are physically consistent."
        if found.consistent
        else "Some links are not physically consistent. Torques determine only the base parameters; how these are "
        "distributed among the links is a choice, and noise moves them. The option `--physical` (in Python: "
        "`physical=True`) gives the nearest physically consistent robot."
    )
    return [html.paragraph(text), html.table(Section("", columns, rows))]


def _verdict(link: LinkConsistency) -> str:
    if link.consistent:
        return "consistent" if link.solid else "consistent, without extent in some direction"
    return "inconsistent"


__all__: Sequence[str] = ["identification_page", "write_report"]
