"""Pieces of HTML in the studio's panels; every text that comes from a file is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from armdyn.browser.equation_inspector import EquationEntry
from armdyn.browser.robot_queries import Load, StudioJoint
from armdyn.errors import ArmdynError
from armdyn.findings import Checkup
from armdyn.markup import html_table, html_text
from armdyn.report.pages import html
from armdyn.tables import Section
from armdyn.typing import Array

GOOD, CLOSE, BAD = "#3b7dd8", "#e08214", "#d1495b"
"""Blue, orange, red: told apart by people who confuse red and green; the words say the same."""
NEARLY = 0.8
"""Share of a limit from which a torque is shown in orange."""
STYLE = (
    "<style>:root { --mantine-color-dimmed: #5b626b !important; } "
    ":root[data-mantine-color-scheme=dark] { --mantine-color-dimmed: #b3b8bf !important; } "
    ".mantine-ScrollArea-content { padding-right: .4em; } "
    "@media (max-width: 48em) { [style*='width: 20em'] { width: 100% !important; } "
    ".mantine-Tabs-tab { padding: .5em .6em; } .mantine-Tabs-list { flex-wrap: nowrap; overflow-x: auto; } }</style>"
)
"""Labels that are read from the last row, controls beside the scroll bar, panels as wide as a narrow page."""
_SMALL = "font-size:0.8em;padding:0 .7em .4em;line-height:1.4;overflow-wrap:anywhere"
_FORMULA = "font-size:1.15em;line-height:2;padding-left:1.6em;text-indent:-1.6em"
_NUMBER = "text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums"
_CUT = "max-width:9em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap"


def torque_page(title: str, joints: Sequence[StudioJoint], tau: Iterable[float], q: Array, degrees: bool) -> str:
    """Torques as bars against their limits. tau: (n,) N m or N. q: (n,) rad or m."""
    rows, over = [], []
    for joint, torque, x in zip(joints, tau, q, strict=True):
        rows.append(_torque_row(joint, float(torque), float(x), degrees))
        over += [joint.name] if abs(torque) > joint.torque else []
    head = f"<b>{escape(title)}</b>"
    if over:
        head += f" <b style='color:{BAD}'>✗ {escape(', '.join(over))}: too large</b>"
    table = f"<table style='width:100%;border-collapse:collapse'>{''.join(rows)}</table>"
    return f"<div style='{_SMALL}' data-torques>{head}{table}</div>"


def _torque_row(joint: StudioJoint, torque: float, x: float, degrees: bool) -> str:
    share = abs(torque) / joint.torque  # 0 without a limit
    limit = f"/ {joint.torque:.4g} {joint.torque_unit}" if math.isfinite(joint.torque) else joint.torque_unit
    color = BAD if share > 1 else CLOSE if share > NEARLY else GOOD
    bar = (
        f"<div style='height:5px;border-radius:3px;background:rgba(128,128,128,.25)'><div style='height:5px;"
        f"border-radius:3px;width:{min(100.0, 100 * share):.1f}%;background:{color}'></div></div>"
        if math.isfinite(joint.torque)
        else "<span style='opacity:.6;white-space:nowrap'>no limit</span>"
    )
    value = f"<b style='color:{BAD if share > 1 else 'inherit'}'>{_even(torque, 2):.2f}</b> {limit}"
    return (
        f"<tr><td style='{_CUT}' title='{escape(joint.name)}'>{escape(joint.name)}</td>"
        f"<td style='{_NUMBER};opacity:.75;padding:0 .5em'>{joint.words(x, degrees)}</td>"
        f"<td style='{_NUMBER}'>{value}</td>"
        f"<td style='width:26%;padding-left:.5em'>{bar}</td></tr>"
    )


def _even(x: float, digits: int) -> float:
    """Rounded, without the sign of zero."""
    return round(x, digits) + 0.0


def bodies_page(loads: Sequence[Load]) -> str:
    """What of the torques each link and the payload ask for."""
    names = list(loads[0].bodies) if loads else []
    carried = any(load.payload for load in loads)
    head = "".join(f"<th style='{_NUMBER};padding-left:.6em'>{escape(name)}</th>" for name in names)
    head += f"<th style='{_NUMBER};padding-left:.6em'>payload</th>" if carried else ""
    rows = "".join(
        f"<tr><td style='{_CUT}'>{escape(load.joint.name)}</td>"
        + "".join(f"<td style='{_NUMBER};padding-left:.6em'>{_plain(load.bodies[name])}</td>" for name in names)
        + (f"<td style='{_NUMBER};padding-left:.6em'>{_plain(load.payload)}</td>" if carried else "")
        + "</tr>"
        for load in loads
    )
    return (
        f"<div style='{_SMALL};overflow-x:auto' data-bodies><table><tr><th style='text-align:left'>weight of</th>{head}"
        f"</tr>{rows}</table></div>"
    )


def _plain(x: float) -> str:
    return "0" if abs(x) < 5e-3 else f"{x:.2f}"


def words_page(fine: bool, words: Iterable[str]) -> str:
    """A verdict in words: the first line with a mark."""
    lines = [html_text(line) for line in words]
    if not lines:
        return ""
    mark, color = ("✓", GOOD) if fine else ("✗", BAD)
    verdict, first, *rest = "fine" if fine else "wrong", f"<b style='color:{color}'>{mark}</b> {lines[0]}", *lines[1:]
    text = "".join(f"<p style='margin:.3em 0'>{line}</p>" for line in (first, *rest))
    return f"<div style='{_SMALL}' role='status' data-verdict='{verdict}'>{text}</div>"


def error_page(error: ArmdynError) -> str:
    """An error: what, where, what was expected, what to do."""
    expected = f"Expected: {error.expected}." if error.expected else ""
    return words_page(False, [part for part in (error.what, expected, error.advice) if part])


def model_page(title: str, facts: Sequence[tuple[str, str]], checkup: Checkup, tables: Sequence[Section]) -> str:
    """The robot in words: facts, check-up, geometry."""
    found = "".join(
        f"<tr><td style='opacity:.7;padding-right:.8em;vertical-align:top;white-space:nowrap'>{escape(a)}</td>"
        f"<td>{html_text(b)}</td></tr>"
        for a, b in facts
    )
    mark, color = ("✓", GOOD) if checkup.fine else ("✗", BAD)
    issues = "".join(
        f"<li><b>{escape(kind)}</b> {html_text(where)}: {html_text(what)}</li>"
        for kind, where, what, *_ in checkup.section().rows[:12]
    )
    shown = "".join(
        f"<details><summary>{escape(t.title)}</summary><div style='overflow-x:auto'>{html_table(t)}</div></details>"
        for t in tables
    )
    if checkup.notes:
        words = "".join(f"<li>{html_text(note)}</li>" for note in checkup.notes)
        shown += (
            f"<details><summary>Notes of the description</summary><ul style='padding-left:1.2em'>{words}</ul></details>"
        )
    verdict = f"<p style='margin:.5em 0'><b style='color:{color}'>{mark}</b> Check-up: {html_text(checkup.summary)}</p>"
    return (
        f"<div style='{_SMALL}' data-model><b>{escape(title)}</b><table>{found}</table>{verdict}"
        f"<ul style='margin:.2em 0;padding-left:1.2em'>{issues}</ul>{shown}</div>"
    )


def entry_page(entry: EquationEntry) -> str:
    """One entry of the equations: formula, cost, code."""
    formula = (
        f"<div style='{_FORMULA}'>{html.formula(entry.mathml)}</div>"
        if entry.mathml
        else f"<p>{len(entry.python):,} characters: too long to be typeset; LaTeX and code are below.</p>"
    )
    if entry.rounding:
        formula = "<p>It vanishes; its formula is what rounding of the numbers in the robot's file leaves.</p>"
    codes = "".join(
        f"<details><summary>{label}</summary><pre style='white-space:pre-wrap;user-select:all;max-height:16em;"
        f"overflow:auto'>{escape(text[:40_000])}</pre></details>"
        for label, text in (("LaTeX", entry.latex), ("C", entry.c), ("Python", entry.python))
    )
    return (
        f"<div style='{_SMALL}' data-entry='{escape(entry.name)}'><b>{escape(entry.title)}</b>"
        f"<div style='overflow-x:auto;padding:.6em 0;max-height:22em'>{formula}</div>"
        f"<p style='margin:.3em 0'>Cost: {escape(entry.operations)}</p>{codes}</div>"
    )


def value_page(name: str, value: float, lowest: float, highest: float, unit: str) -> str:
    """The value of an entry now, and where it lies in its range."""
    span = highest - lowest
    if span <= 1e-9 * max(abs(highest), abs(lowest)):
        return (
            f"<div style='{_SMALL}' data-value><b>{escape(name)} = {value:.5g} {unit}</b>, at every configuration</div>"
        )
    place = 100 * min(max((value - lowest) / span, 0.0), 1.0)
    return (
        f"<div style='{_SMALL}' data-value><b>{escape(name)} = {value:.5g} {unit}</b> at this configuration"
        f"<div style='position:relative;height:6px;margin:.5em 0;border-radius:3px;background:rgba(128,128,128,.25)'>"
        f"<div style='position:absolute;left:calc({place:.1f}% - 4px);top:-3px;width:8px;height:12px;border-radius:3px;"
        f"background:{GOOD}'></div></div><div style='display:flex;justify-content:space-between'>"
        f"<span>{lowest:.4g}</span><span style='opacity:.7'>range over the workspace</span><span>{highest:.4g}</span>"
        "</div></div>"
    )


def table_page(section: Section) -> str:
    """A table in a panel."""
    return f"<div style='{_SMALL};overflow-x:auto'>{html_table(section)}</div>"


def text_page(text: str) -> str:
    """A paragraph in the panels' type."""
    return f"<div style='{_SMALL}'><p style='margin:.3em 0'>{html_text(text)}</p></div>"


def phase_page(title: str, x: Array, y: Array) -> str:
    """A curve of y over x as SVG, the last point marked; the axes cross at zero where it lies within."""
    if len(x) < 2:
        return ""
    width, height, edge = 320.0, 200.0, 34.0
    (low_x, high_x), (low_y, high_y) = (_ends(values) for values in (x, y))
    px = edge + (x - low_x) / (high_x - low_x) * (width - 2 * edge)
    py = height - 20 - (y - low_y) / (high_y - low_y) * (height - 40)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(px, py, strict=True))
    marks = (
        f"<text x='{edge}' y='{height - 4}'>{low_x:.3g}</text>"
        f"<text x='{width - edge}' y='{height - 4}' text-anchor='end'>{high_x:.3g}</text>"
        f"<text x='{edge - 4}' y='{height - 20}' text-anchor='end'>{low_y:.3g}</text>"
        f"<text x='{edge - 4}' y='28' text-anchor='end'>{high_y:.3g}</text>"
    )
    return (
        f"<div style='{_SMALL}' data-phase><b>{escape(title)}</b><svg viewBox='0 0 {width:g} {height:g}' width='100%' "
        f"fill='currentColor' font-size='9'><rect x='{edge}' y='20' width='{width - 2 * edge}' height='{height - 40}' "
        f"fill='none' stroke='currentColor' opacity='.3'/>{marks}<polyline points='{line}' fill='none' stroke='{GOOD}' "
        f"stroke-width='1.5'/><circle cx='{px[-1]:.1f}' cy='{py[-1]:.1f}' r='4' fill='{CLOSE}'/></svg></div>"
    )


def _ends(values: Array) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = max(0.05 * (high - low), 1e-3)
    return low - room, high + room
