"""The look of all figures: colours, axes, and how a figure becomes part of a page."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from armdyn.typing import Array

COLORS = ("#3b6fd4", "#e58a3c", "#2a9d8f", "#d64545", "#8a5cc2", "#6b7280", "#b8860b", "#1f9bd1", "#c2528b", "#4d7c0f")
"""Colours of joints and of curves, in order."""
GREY, DARK, FAINT = "#8a93a3", "#2b3038", "#c9ced6"
INK = "#010203"
"""Stands for the colour of the page's text while a figure for a page is drawn."""


def color(k: int) -> str:
    """The colour of the k-th joint or curve; they repeat after the last one."""
    return COLORS[k % len(COLORS)]


def decimated(count: int, most: int) -> Array:
    """Indices of at most `most` samples out of `count`, the first and the last among them."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(int))


def open_axes(axes: Any, label_size: float = 9.0) -> None:
    """Axes without a frame, on a faint grid."""
    axes.grid(color=FAINT, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(colors=DARK, labelsize=label_size)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)


def framed_axes(axes: Any) -> None:
    """Axes in a thin frame, in the colour of the page's text."""
    axes.tick_params(labelsize=8.5, colors=INK)
    for spine in axes.spines.values():
        spine.set(color=INK, alpha=0.35)
    axes.grid(color=INK, alpha=0.13, linewidth=0.6)


def as_svg(figure: Any) -> str:
    """The figure as an <svg> element without metadata, transparent, its ink the colour of the surrounding text."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "armdyn", "font.family": "sans-serif"}):
        metadata = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(text, format="svg", transparent=True, metadata=metadata)
    svg = text.getvalue()
    return svg[svg.index("<svg") :].replace(INK, "currentColor")
