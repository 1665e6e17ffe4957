"""Plan: via points, profiles, the fastest timing, torques against limits, feasibility in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.browser.panel_pages import text_page, words_page
from armdyn.browser.panels.panel import Curves, Panel
from armdyn.browser.playback import FASTEST, GIVEN, MOST_POINTS, Film, plan
from armdyn.trajectory.profiles import PROFILES


class PlanPanel(Panel):
    """A motion through configurations."""

    title = "Plan"

    def build(self) -> None:
        gui = self.gui
        self.film: Film | None = None
        gui.add_html(text_page("Move the arm, then add the configuration as a point of the motion."))
        self.edit = gui.add_button_group("Points", ("add this one", "remove last", "clear"))
        self.count = gui.add_html("")
        self.timing = gui.add_dropdown("Timing", (GIVEN, FASTEST), initial_value=GIVEN)
        self.duration = gui.add_slider("Duration (s)", 0.2, 10.0, 0.1, 2.0)
        self.profile = gui.add_dropdown("Profile", tuple(PROFILES), initial_value="quintic")
        self.make = gui.add_button("Plan and play")
        self.message = gui.add_html("")
        self.curves = Curves(gui)
        self.slow = gui.add_slider("Slow motion", 1.0, 10.0, 1.0, 1.0)
        self.again = gui.add_button("Play again", disabled=True)
        self.save = gui.add_button("Save as CSV", disabled=True)
        self.edit.on_click(self.guarded(self._edit))
        self.timing.on_update(self.guarded(self._choose_timing))
        self.make.on_click(self.guarded(self._plan))
        self.again.on_click(self.guarded(self._play_again))
        self.save.on_click(self.guarded(self._save))
        self._counted()

    def _play_again(self, event: Any) -> None:
        if self.film is not None:
            self.studio.play(self.film, float(self.slow.value))

    def _edit(self, event: Any) -> None:
        studio = self.studio
        with studio.lock:
            if self.edit.value == "add this one":
                studio.points = [*studio.points, studio.q.copy()][-MOST_POINTS:]
            else:
                studio.points = studio.points[:-1] if self.edit.value == "remove last" else []
        self._counted()

    def _counted(self) -> None:
        count = len(self.studio.points)
        words = {
            0: "No point yet: the motion goes from the start to where the arm is.",
            1: "One point: the motion goes from it to where the arm is.",
        }
        self.count.content = text_page(words.get(count, f"{count} points: the motion goes through them in order."))

    def _choose_timing(self, event: Any) -> None:
        self.duration.visible = self.profile.visible = self.timing.value == GIVEN

    def _plan(self, event: Any) -> None:
        studio = self.studio
        points = list(studio.points)
        if len(points) < 2:
            points = [*(points or [studio.answers.start]), studio.q.copy()]
        self.say(text_page("Planning ..."))
        film = plan(
            studio.answers,
            points,
            profile=self.profile.value,
            duration=self.duration.value,
            payload=studio.payload,
            timing=self.timing.value,
        )
        self.film = film
        self.again.disabled = self.save.disabled = False
        self.say(words_page(film.fine, film.words))
        self._draw(film)
        studio.play(film, self.slow.value)

    def _draw(self, film: Film) -> None:
        joints = self.studio.answers.joints
        limits = np.array([joint.torque for joint in joints])
        known = np.isfinite(limits)
        self.curves.clear()
        if known.any():
            shares = {joint.name: 100 * film.tau[:, k] / limits[k] for k, joint in enumerate(joints) if known[k]}
            whole = np.full(len(film.t), 100.0)
            self.curves.add(
                "torque, % of its limit",
                film.t,
                {**shares, "limit": whole, "-limit": -whole},
                dashed=("limit", "-limit"),
            )
        for unit in ("N m", "N"):
            curves = {j.name: film.tau[:, k] for k, j in enumerate(joints) if j.torque_unit == unit and not known[k]}
            if curves:
                self.curves.add(f"torque, {unit}" if unit == "N m" else "force, N", film.t, curves)
        worst = int(np.abs(film.tau / np.where(known, limits, np.abs(film.tau).max() or 1.0)).max(axis=0).argmax())
        parts = {name: part[:, worst] for name, part in film.effects.items()}
        self.curves.add(f"{joints[worst].name} by cause, {joints[worst].torque_unit}", film.t, parts)

    def _save(self, event: Any) -> None:
        if self.film is not None:
            text = self.film.csv(self.studio.answers)
            event.client.send_file_download(f"{self.studio.answers.robot.name}_plan.csv", text.encode())
