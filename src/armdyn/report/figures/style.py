"""The look of all figures: colours, axes, and how a figure becomes part of a page."""

from __future__ import annotations

import io
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.errors import unknown_name
from armdyn.files import writing
from armdyn.typing import Array

COLORS = ("#3b6fd4", "#e58a3c", "#2a9d8f", "#d64545", "#8a5cc2", "#6b7280", "#b8860b", "#1f9bd1", "#c2528b", "#4d7c0f")
"""Colours of joints and of curves, in order."""
GREY, DARK, FAINT = "#8a93a3", "#2b3038", "#c9ced6"
INK = "#010203"
"""Stands for the colour of the page's text while a figure for a page is drawn."""


def new_figure(**options: Any) -> Any:
    """A figure by itself, without window system and global state, which a notebook shows when it ends a cell.

    options: of Matplotlib's Figure.
    """
    return _figure_class()(**options)


@cache
def _figure_class() -> Any:
    from matplotlib.figure import Figure

    class ShownFigure(Figure):
        """A figure that needs no pyplot to appear in a notebook."""

        def _repr_png_(self) -> bytes:
            picture = io.BytesIO()
            self.savefig(picture, format="png", dpi=110, facecolor="white")
            return picture.getvalue()

    return ShownFigure


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


# Paper --------------------------------------------------------------------------------------------------------------

JOURNAL = {"column": 3.5, "page": 7.16}
"""Widths of a figure in a journal, inches: one column, or both."""
_LETTERS_PER_INCH = 17
_SMALL, _CAPTION = 7.0, 8.0


def journal(figure: Any, size: str = "column") -> Any:
    """The figure at the width of a journal's column (3.5 in) or page (7.16 in), its letters 7 to 8 pt, without a title.

    size: "column" or "page".
    """
    from matplotlib.text import Text

    if size not in JOURNAL:
        raise unknown_name("size of a figure", size, JOURNAL)
    old_width, old_height = figure.get_size_inches()
    factor = JOURNAL[size] / old_width
    figure.suptitle("")
    for text in figure.findobj(Text):
        text.set_fontsize(min(_CAPTION if text.get_fontsize() > 9.5 else _SMALL, text.get_fontsize()))
    for axes in figure.axes:
        axes.tick_params(labelsize=_SMALL, width=0.5, length=2.5, pad=2)
        for line in axes.lines:
            line.set_linewidth(max(0.6, line.get_linewidth() * 0.65))
    for legend in list(figure.legends):
        handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        fitting = int(JOURNAL[size] * _LETTERS_PER_INCH // (max(map(len, labels)) + 6))
        figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=max(1, min(len(labels), fitting)),
            frameon=False,
            fontsize=_SMALL,
            handlelength=1.5,
            columnspacing=1.2,
        )
    figure.set_layout_engine("constrained")
    figure.set_size_inches(JOURNAL[size], old_height * (0.35 + 0.65 * factor))
    return figure


def save_figure(figure: Any, path: str | Path, size: str | None = None) -> Path:
    """Write a figure completely or not at all and return its path; see `write`."""
    with writing(path) as part:
        write(figure, part, size)
    return Path(path)


def write(figure: Any, path: Path, size: str | None = None) -> None:
    """Write a figure as .png, .svg or .pdf with its letters as text; size: of a journal, see `journal`."""
    import matplotlib

    shown = figure if size is None else journal(figure, size)
    with matplotlib.rc_context({"pdf.fonttype": 42, "svg.fonttype": "none"}):
        shown.savefig(path, dpi=150 if size is None else 300, facecolor="white")
