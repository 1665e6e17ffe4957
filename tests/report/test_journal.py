"""Figures in the sizes of a journal."""

from __future__ import annotations

import pytest

import armdyn
from armdyn.errors import UnknownName
from armdyn.report.figures.style import JOURNAL, journal


@pytest.mark.parametrize("size", JOURNAL)
def test_size_letters_and_title(size: str) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    robot = armdyn.load("panda")
    motion = armdyn.point_to_point([0.0] * 7, [0.5] * 7, "quintic", duration=1.0)
    figure = journal(motion.plot(robot=robot), size)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    assert figure.get_size_inches()[0] == JOURNAL[size]
    assert not figure.get_suptitle()
    shown = [text for text in figure.findobj(Text) if text.get_text().strip() and text.get_visible()]
    assert {7.0, 8.0} >= {text.get_fontsize() for text in shown}
    width, height = canvas.get_width_height()
    for legend in figure.legends:  # nothing is cut off
        box = legend.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= width and box.y0 >= 0
    for axes in figure.axes:
        box = axes.get_tightbbox()
        assert box.x0 >= 0 and box.x1 <= width and box.y1 <= height


def test_unknown_size() -> None:
    with pytest.raises(UnknownName, match="poster"):
        journal(armdyn.point_to_point([0.0], [1.0], "quintic", duration=1.0).plot(), "poster")
