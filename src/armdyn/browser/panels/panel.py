"""What all panels share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.browser.panel_pages import error_page
from armdyn.errors import ArmdynError
from armdyn.typing import Array

if TYPE_CHECKING:
    from armdyn.browser.serving import Studio

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442")
"""Okabe and Ito's colours, which colour-blind people tell apart."""


class Panel:
    """A tab of the studio. It is built anew for each robot."""

    title = ""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.gui = studio, studio.server.gui
        self.message: Any = None

    def build(self) -> None:
        """Add the controls."""

    def moved(self) -> None:
        """The arm is at another configuration."""

    @property
    def gone(self) -> bool:
        """Whether another robot was opened, and the controls of this one were removed."""
        return self not in self.studio.panels

    def say(self, page: str) -> None:
        """Show a message below the controls."""
        if self.message is not None and not self.gone:
            self.message.content = page

    def guarded(self, action: Callable[[Any], None]) -> Callable[[Any], None]:
        """An action of the user whose errors are shown in the panel."""

        def run(event: Any) -> None:
            if getattr(event, "client", None) is None or self.gone:  # set by the studio itself
                return
            try:
                action(event)
            except ArmdynError as error:
                self.say(error_page(error))
            except RuntimeError:  # viser's, of a control that was removed meanwhile
                if not self.gone:
                    raise

        return run


class Curves:
    """Charts in a folder that are replaced by the next ones."""

    def __init__(self, gui: Any, title: str = "Curves") -> None:
        self.gui, self.folder = gui, gui.add_folder(title)
        self.charts: list[Any] = []

    def clear(self) -> None:
        """Remove all charts."""
        for chart in self.charts:
            chart.remove()
        self.charts = []

    def add(self, title: str, t: Array, curves: dict[str, Array], *, dashed: tuple[str, ...] = ()) -> Any:
        """Draw curves over time, s; those named in `dashed` are limits."""
        series: list[dict[str, Any]] = [{"label": "t, s"}]
        for k, name in enumerate(curves):
            line: dict[str, Any] = {"label": name, "stroke": COLORS[k % len(COLORS)], "width": 1.6}
            if name in dashed:
                line |= {"dash": (6, 4), "width": 1.0, "stroke": "#d1495b"}
            series.append(line)
        grid = {"stroke": "#888", "grid": {"stroke": "rgba(128,128,128,.2)"}}  # seen on light and on dark
        axes = ({**grid, "label": "t, s", "labelSize": 18, "size": 34}, {**grid, "size": 52})
        data = tuple(np.ascontiguousarray(values, dtype=float) for values in (t, *curves.values()))
        with self.folder:
            chart = self.gui.add_uplot(
                data,
                tuple(series),
                title=title,
                scales={"x": {"time": False}},
                aspect=1.5,
                axes=axes,
                legend={"show": True},
                padding=(10, 12, 0, 0),
            )
        self.charts.append(chart)
        return chart
