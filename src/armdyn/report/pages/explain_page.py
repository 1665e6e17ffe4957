"""The report of a comparison of two models: causes, their torques joint by joint, and the two models drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.doctor.explanation import ComparedTorques, Explanation
from armdyn.files import write_text
from armdyn.findings import sentence
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.report.figures.robot_figures import draw_robot
from armdyn.report.figures.style import COLORS, GREY, INK, as_svg, color, framed_axes, new_figure
from armdyn.report.pages import html
from armdyn.robot.limits import UNITS
from armdyn.robot.robot import Robot
from armdyn.tables import Section
from armdyn.typing import Floats

MOST_JOINTS = 12
"""Joints with a panel of their own: those that differ most."""
ROUNDING = 1e-7
"""Share of the difference below which a part is shown as zero."""
LONGEST = 32
"""Most letters of a name in a figure."""
VERDICTS = {"equal": "agree", "explained": "explained", "unexplained": "not explained"}


def write_report(found: Explanation, path: str | Path) -> Path:
    """Write the report as one self-contained HTML file."""
    return write_text(path, explanation_page(found))


def explanation_page(found: Explanation) -> str:
    """The report as the text of an HTML page."""
    *causes, torques = (replace(section, title="") for section in found.sections() or [Section("", (), ())])
    chapters = {
        "Causes": [*map(html.table, causes), *_shares(found), html.bullets("Beside the causes", found.remarks())],
        "Torques": [*_scatter(found), html.table(torques)],
        "The two models": _drawn(found),
    }
    if found.status == "equal":
        text = "The two models give the same torques: there is nothing to explain."
        chapters["Causes"] = [html.paragraph(text), html.bullets("", found.remarks())]
    chapters = {title: blocks for title, blocks in chapters.items() if any(blocks)}
    blocks = [html.paragraph(sentence(found.summary)), html.cards(_facts(found))]
    blocks += [html.chapter(k, title, inside) for k, (title, inside) in enumerate(chapters.items(), 1)]
    table = found.torques
    data = b"" if table is None else b"".join(np.ascontiguousarray(x).tobytes() for x in (table.first, table.second))
    return html.page(
        f"{found.first} and {found.second}",
        "Why two models disagree.",
        blocks,
        contents=list(chapters),
        made=html.provenance(**{"the torques": data}),
    )


def _facts(found: Explanation) -> list[tuple[str, str, str, bool | None]]:
    left = found.left / found.difference if found.status != "equal" and found.difference else 0.0
    share = f"{100 * left:.2g} %" if left > ROUNDING else "0 %"
    return [
        ("Difference", f"{100 * found.difference:.3g} %", "of the torques (rms)", None),
        ("Causes", str(len(found.causes)), "named", None),
        ("Not explained", share, "of the difference", None),
        ("Verdict", VERDICTS[found.status], f"at {found.samples} states", found.status != "unexplained"),
    ]


# Torques -------------------------------------------------------------------------------------------------------------


def _shares(found: Explanation) -> list[str]:
    """What each cause makes of the difference at each joint."""
    table = found.torques
    if table is None or not any(part is not None for part in table.parts):
        return []
    size = _rms(table.second)
    scale = np.maximum(size, 1e-12 * float(size.max(initial=0.0)) + 1e-300)
    names = [f"{cause.words}: {', '.join(cause.where[:2])}" for cause in found.causes]
    causes = [(_short(name), part) for name, part in zip(names, table.parts, strict=True) if part is not None]
    bars = [(name, 100 * _rms(part) / scale) for name, part in (*causes, ("left", table.second - table.corrected))]
    shown = [j for j in range(len(found.joints)) if any(lengths[j] > ROUNDING for _, lengths in bars)]
    text = (
        "Rms of the torque difference that each cause makes alone, joint by joint, and what is left when all are "
        "corrected, each as a part of the torque of that joint. Bars of several causes may add up to more than the "
        "difference, because causes can cancel each other."
    )
    bars = [(name, lengths[shown]) for name, lengths in bars]
    return [html.figure(_drawn_bars([found.joints[j].joint for j in shown], bars), text)]


def _drawn_bars(names: list[str], bars: list[tuple[str, Floats]]) -> str:
    figure = new_figure(figsize=(7.5, 1.1 + 0.12 * len(names) * (1 + len(bars))), layout="constrained")
    axes: Any = figure.subplots()
    height = 0.8 / len(bars)
    for k, (label, lengths) in enumerate(bars):
        places = np.arange(len(names)) + (k - (len(bars) - 1) / 2) * height
        axes.barh(places, lengths, height, label=label, color=GREY if label == "left" else color(k))
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlabel("% of the joint's torque (rms)", fontsize=9.5, color=INK)
    framed_axes(axes)
    axes.legend(fontsize=8.5, frameon=False, labelcolor=INK)
    return as_svg(figure)


def _scatter(found: Explanation) -> list[str]:
    """Torques of the second model over those of the first, before and after the causes are corrected."""
    table = found.torques
    if table is None:
        return []
    differing = [j for j in range(len(found.joints)) if _relative(found, j) > ROUNDING]
    order = sorted(differing, key=lambda j: -_relative(found, j))[:MOST_JOINTS]
    if not order:
        return []
    panels = [_panel(found, table, j) for j in sorted(order)]
    fewer = {len(differing): " Joints that agree are left out."}.get(len(order), " Joints that differ most are shown.")
    fewer = fewer if len(order) < len(found.joints) else ""
    text = (
        f"Torques of {found.second} over those of {found.first}, one point per state: grey as they are, blue with the "
        f"causes corrected in {found.first}. Points on the line are equal torques.{fewer}"
    )
    return [html.figure(chart(*panels, columns=3), text)]


def _panel(found: Explanation, table: ComparedTorques, j: int) -> Axes:
    first, second, corrected = table.first[:, j], table.second[:, j], table.corrected[:, j]
    ends = np.array([min(second.min(), first.min()), max(second.max(), first.max())])
    lines = [Line(ends, ends, color=INK), Line(first, second, "as they are", "o", GREY)]
    if found.causes:
        lines.append(Line(corrected, second, "causes corrected", "o", COLORS[0]))
    unit = _unit(found, j)
    return Axes(found.joints[j].joint, f"{_short(found.first)} ({unit})", f"{_short(found.second)} ({unit})", lines)


def _unit(found: Explanation, j: int) -> str:
    robot, name = found.robots[0], found.joints[j].joint
    kinds = {joint.name: joint.kind for joint in robot.joints} if robot is not None else {}
    return UNITS[kinds[name]].torque if name in kinds else "N m"


def _relative(found: Explanation, j: int) -> float:
    row = found.joints[j]
    return row.difference / row.torque if row.torque else 0.0


def _rms(x: Floats) -> Floats:
    return np.asarray(np.sqrt(np.mean(x**2, axis=0)))


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


# The models ----------------------------------------------------------------------------------------------------------


def _drawn(found: Explanation) -> list[str]:
    """Both models at the same joint positions, if their parameters are known."""
    robots = [(name, robot) for name, robot in zip((found.first, found.second), found.robots, strict=True) if robot]
    drawn: Sequence[tuple[str, Robot]] = [(name, robot) for name, robot in robots if not robot.compounds]
    if not drawn:
        return []
    figure = new_figure(figsize=(5.2 * len(drawn), 4.6))
    for k, (name, robot) in enumerate(drawn):
        axes: Any = figure.add_subplot(1, len(drawn), k + 1, projection="3d")
        draw_robot(axes, robot, np.array([float(joint.home) for joint in robot.joints]))
        axes.set_title(name, color=INK, fontsize=11)
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.94, wspace=0)
    return [html.figure(as_svg(figure), "The models at the home positions of their joints.")]
