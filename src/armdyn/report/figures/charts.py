"""Line charts as inline SVG: panels of labelled lines, their axes in the colour of the page's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.report.figures.style import INK, as_svg, color, decimated, framed_axes, new_figure

MOST_POINTS = 1200
"""Samples drawn per line; more would only make pages larger."""
_FEW = 4
_WIDTH, _HEIGHT = 5.2, 3.2
_FLOW = "grid-template-columns: repeat(auto-fit, minmax(min(100%, 19rem), 1fr));"
_WIDEST = 32
"""Largest width of a panel, rem; beyond it the text would be too large."""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: x, y of equal length, its name in the legend (none if empty).

    style: "-", "--", ":" or a marker such as "o". wide: drawn pale and broad, to lie under another one.
    """

    x: Any
    y: Any
    label: str = ""
    style: str = "-"
    color: str | None = None
    wide: bool = False


@dataclass(frozen=True, eq=False)
class Axes:
    """One pair of axes. x, y: names with units. log: logarithmic y. equal: one scale for both."""

    title: str
    x: str
    y: str
    lines: Sequence[Line]
    log: bool = False
    equal: bool = False


def chart(*panels: Axes, columns: int = 2) -> str:
    """The panels as inline SVG, side by side where the page is wide enough, at most `columns` in a row."""
    drawn = [_drawn(panel) for panel in panels]
    if len(drawn) == 1:
        return drawn[0]
    widest = _WIDEST * min(columns, len(drawn))
    style = f"display: grid; gap: .5rem; max-width: {widest}rem; {_FLOW}"
    return f'<div style="{style}">{"".join(drawn)}</div>'


def _drawn(panel: Axes) -> str:
    figure = new_figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    _draw(figure.subplots(), panel)
    return as_svg(figure)


def series(t: Any, y: Any, labels: Sequence[str], style: str = "-", wide: bool = False) -> list[Line]:
    """One line per column of y (samples, k) over t, in the colours of the columns."""
    columns = np.asarray(y).T
    return [
        Line(t, column, label, style, color(k), wide)
        for k, (column, label) in enumerate(zip(columns, labels, strict=True))
    ]


def _draw(axes: Any, panel: Axes) -> None:
    for k, line in enumerate(panel.lines):
        x, y = np.asarray(line.x, dtype=float), np.asarray(line.y, dtype=float)
        keep = decimated(len(x), MOST_POINTS)
        look = {"color": line.color or color(k), "linewidth": 4 if line.wide else 1.4}
        if line.wide:
            look["alpha"] = 0.35
        axes.plot(x[keep], y[keep], line.style, label=line.label or None, **look)
    if panel.log:
        axes.set_yscale("log")
    if panel.equal:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(panel.title, fontsize=10.5, loc="left", color=INK)
    axes.set_xlabel(panel.x, fontsize=9.5, color=INK)
    axes.set_ylabel(panel.y, fontsize=9.5, color=INK)
    axes.xaxis.get_offset_text().set_color(INK)
    axes.yaxis.get_offset_text().set_color(INK)
    framed_axes(axes)
    named = [line for line in panel.lines if line.label]
    if named:
        many = len(named) > _FEW  # a long legend is placed below the curves
        below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.2), "ncols": 3} if many else {}
        axes.legend(fontsize=8.5, frameon=False, labelcolor=INK, **below)
