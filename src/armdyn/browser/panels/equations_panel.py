"""Equations: one entry at a time, with its value, range, cost and code."""

from __future__ import annotations

from typing import Any

from armdyn.browser.equation_inspector import EquationEntry, entry, entry_names, value_now
from armdyn.browser.panel_pages import entry_page, text_page, value_page
from armdyn.browser.panels.panel import Panel

MATRICES = {"M": "mass matrix M", "C": "Coriolis matrix C", "g": "gravity torques g"}


class EquationsPanel(Panel):
    """M, C and g entry by entry."""

    title = "Equations"

    def build(self) -> None:
        self.names = entry_names(self.studio.answers.robot)
        self.entry: EquationEntry | None = None
        self.matrix = self.gui.add_dropdown("Matrix", tuple(MATRICES.values()), initial_value=MATRICES["M"])
        self.choice = self.gui.add_dropdown("EquationEntry", self.names["M"], initial_value=self.names["M"][0])
        self.rate = self.gui.add_slider(
            "Joint velocities for C", -2.0, 2.0, 0.1, 1.0, visible=False, hint="rad/s or m/s, the same of every joint"
        )
        self.read = self.gui.add_button("Read this entry", hint="Later ones follow as they are chosen.")
        self.value = self.gui.add_html("")
        self.page = self.gui.add_html("")
        self.message = self.gui.add_html(
            text_page("tau = M(q) qdd + C(q, qd) qd + g(q). c2 = cos(q2), s23 = sin(q2 + q3), and so on.")
        )
        self.matrix.on_update(self.guarded(self._choose_matrix))
        self.choice.on_update(self.guarded(self._look))
        self.rate.on_update(self.guarded(lambda event: self.moved()))
        self.read.on_click(self.guarded(self._look))

    def _choose_matrix(self, event: Any) -> None:
        symbol = next(symbol for symbol, words in MATRICES.items() if words == self.matrix.value)
        self.choice.options = self.names[symbol]
        self.choice.value = self.names[symbol][0]
        self.rate.visible = symbol == "C"
        self._look(event)

    def _look(self, event: Any) -> None:
        self.say("")
        self.page.content = text_page("Deriving ...")
        try:
            self.entry = entry(self.studio.answers, self.choice.value)
        except Exception:
            self.page.content = ""
            raise
        self.page.content = entry_page(self.entry)
        self.read.visible = False  # from now on entries are read as they are chosen
        self.moved()

    def _rates(self) -> Any:
        return [float(self.rate.value)] * self.studio.answers.robot.n

    def moved(self) -> None:
        if self.entry is not None:
            now = value_now(self.studio.answers, self.entry, self.studio.q, self._rates())
            e = self.entry
            self.value.content = value_page(e.name, now, min(e.lowest, now), max(e.highest, now), e.unit)
