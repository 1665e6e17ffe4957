"""The report of an identification: what was done, what was found, how well it is known, and what it explains."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from armdyn.errors import FileError
from armdyn.findings import Checkup
from armdyn.identification.fit import Fit
from armdyn.parameters import physical_consistency
from armdyn.report.figures.charts import COLORS, GREY, Line, Panel, chart
from armdyn.report.pages import html
from armdyn.tables import Column, Section

GOOD = 0.1
"""Share of the torques left unexplained up to which the verdict is good: what published identifications reach."""
WHITE = 0.01
"""Probability below which residuals are not taken for white."""


def write_report(fit: Fit, path: str | Path) -> Path:
    """The report as one HTML file that needs nothing else."""
    target = Path(path)
    try:
        target.write_text(identification_page(fit), encoding="utf-8")
    except OSError as error:
        raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
    return target


def identification_page(fit: Fit) -> str:
    """The whole page."""
    chapters = {
        "What was noticed": [html.findings(Checkup(fit.robot.name, fit.findings))],
        "How the log was processed": [html.definitions(list(fit.steps.items()))],
        "Base parameters": _parameters(fit),
        "What torques tell of the standard parameters": _told(fit),
        "Torques, measured and predicted": _torques(fit),
        "Residuals": _residuals(fit),
        "Physical consistency": _physics(fit),
    }
    blocks = [html.cards(_summary(fit))]
    blocks += [html.chapter(k, title, inside) for k, (title, inside) in enumerate(chapters.items(), 1)]
    return html.page(f"{fit.robot.name}: identification", f"From {fit.source}.", blocks, contents=list(chapters))


def _summary(fit: Fit) -> list[tuple[str, str, str, bool | None]]:
    tried = fit.validation
    doubts = sum(finding.severity != "note" for finding in fit.findings)
    known = fit.base.count - len(fit.estimate.left_out)
    share = tried.relative_error_of_all
    where = f"on {tried.source}" if tried.held_out else "on the log itself: give a validation log for a fair figure"
    return [
        (
            "Base parameters",
            str(known),
            f"of {fit.base.count}" if known < fit.base.count else fit.estimate.method,
            None,
        ),
        ("Rows", f"{int(fit.estimate.rows.sum())}", f"of {fit.robot.n} joints, after decimation", None),
        ("Unexplained torque", f"{share:.2%}", where, share < GOOD),
        ("Doubts", str(doubts), "see what was noticed" if doubts else "nothing to doubt", doubts == 0),
    ]


def _parameters(fit: Fit) -> list[str]:
    section = fit.sections()[0]
    prior = dict(zip(fit.base.names, fit.base.values.tolist(), strict=True))
    known = fit.record()["parameters"]
    columns = (*section.columns[:4], Column("before"), section.columns[4], Column("contains", folds=True))
    rows = tuple((*row[:4], f"{prior[row[0]]:.5g}", row[4], known[row[0]]["group"]) for row in section.rows)
    note = "Before: the value in the robot's description. Relative: standard deviation over value. " + section.note
    return [html.table(Section(section.title, columns, rows, note.strip()))]


def _told(fit: Fit) -> list[str]:
    words = {"alone": "Identifiable alone", "combination": "Only in combination with others",
             "no": "Without effect on any torque"}  # fmt: skip
    pairs = []
    for kind, title in words.items():
        names = [name for name, told in fit.identifiability.items() if told == kind]
        pairs.append((f"{title} ({len(names)})", ", ".join(names) or "none"))
    return [html.definitions(pairs)]


def _torques(fit: Fit) -> list[str]:
    tried = fit.validation
    panels = []
    for j, joint in enumerate(fit.robot.joints):
        unit = "N m" if joint.kind == "revolute" else "N"
        # In the dead band the sign of the rate, and with it friction, is noise.
        predicted = np.where(np.isnan(tried.residuals[:, j]), np.nan, tried.predicted[:, j])
        lines = [
            Line(tried.t, tried.measured[:, j], "measured", color=GREY, wide=True),
            Line(tried.t, predicted, "predicted", color=COLORS[0]),
            Line(tried.t, tried.residuals[:, j], "residual", color=COLORS[3]),
        ]
        title = f"{joint.name}: {tried.relative_error[j]:.1%} unexplained"
        panels.append(Panel(title, "t (s)", f"torque ({unit})" if unit == "N m" else "force (N)", lines))
    what = f"Held-out motion: {tried.source}." if tried.held_out else "The motion of the estimation itself."
    text = f"{what} Predictions and residuals are shown where the joint is faster than its dead band."
    return [html.figure(chart(*panels), text, wide=False), html.table(tried.section())]


def _residuals(fit: Fit) -> list[str]:
    tried = fit.validation
    columns = (Column("joint"), Column("sigma", "N m or N"), Column("rows"), Column("rows worth one"),
               Column("Durbin-Watson"), Column("whiteness"), Column("verdict"))  # fmt: skip
    rows = []
    for j, name in enumerate(tried.joints):
        p = tried.whiteness[j]
        learnt = (f"{fit.estimate.sigma[j]:.3g}", f"{fit.estimate.rows[j]}", f"{fit.estimate.correlation[j]:.1f}")
        verdict = "white" if p >= WHITE else "correlated"
        rows.append((name, *learnt, f"{tried.durbin_watson[j]:.2f}", f"{p:.2g}", verdict))
    note = ("Whiteness: probability of such autocorrelations in white noise (Ljung-Box, 20 rows). Standard deviations "
            "of the parameters allow for correlated residuals: so many rows are worth one.")  # fmt: skip
    return [html.table(Section("", columns, tuple(rows), note)), html.bullets("Remarks", list(fit.estimate.remarks))]


def _physics(fit: Fit) -> list[str]:
    found = physical_consistency(fit.robot)
    columns = (
        Column("link"),
        Column("mass", "kg"),
        Column("smallest second moment", "kg m^2"),
        Column("verdict", folds=True),
    )
    rows = tuple(
        (link.name, f"{link.mass:.4g}", f"{link.moments[0]:.3g}", str(link).partition(": ")[2]) for link in found.links
    )
    text = (
        "All links are possible bodies."
        if found.possible
        else "Some links are no possible bodies. Torques determine base parameters alone; how these are shared out "
        "among links is a choice, and noise moves them. The option `physical` gives the nearest possible robot."
    )
    return [html.paragraph(text), html.table(Section("", columns, rows))]


__all__: Sequence[str] = ["identification_page", "write_report"]
