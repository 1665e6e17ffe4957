"""Simulate: a law holds the arm or follows a motion, the mouse pulls at the tool, the model is wrong on purpose."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from armdyn.browser.live_simulation import LAWS, RELEASED, LiveSimulation, Setting
from armdyn.browser.panel_pages import error_page, phase_page, text_page, torque_page, words_page
from armdyn.browser.panels.panel import Curves, Panel
from armdyn.browser.playback import Film, track
from armdyn.errors import ArmdynError
from armdyn.typing import Array

FRAME = 1 / 30
"""Time between two frames, s."""
EVERY = 10
"""Frames between two updates of the charts."""
LONGEST = 600.0
"""A simulation that nobody stops ends after this time, s."""


class SimulatePanel(Panel):
    """A live simulation, and a motion that is tracked."""

    title = "Simulate"
    live: LiveSimulation | None = None

    def build(self) -> None:
        gui = self.gui
        self.live = None
        self.film: Film | None = None
        self.goal: Array | None = None
        self.number = 0
        self.run = gui.add_button("Start")
        self.message = gui.add_html(
            text_page("The law holds the arm where it is. Pull at the tool with the mouse; release it to let go.")
        )
        self.torques = gui.add_html("")
        self.law = gui.add_dropdown("Control law", LAWS, initial_value=LAWS[0])
        self.frequency = gui.add_slider("Frequency (rad/s)", 0.0, 40.0, 0.5, 10.0)
        self.damping = gui.add_slider("Damping ratio", 0.0, 2.0, 0.05, 1.0)
        with gui.add_folder("What the law does not know"):
            self.payload = gui.add_slider("Payload (kg)", 0.0, 10.0, 0.1, 0.0)
            self.heavier = gui.add_slider("Heavier by (%)", -50.0, 100.0, 1.0, 0.0)
        self.slow = gui.add_slider("Slow motion", 1.0, 10.0, 1.0, 1.0)
        names = tuple(joint.name for joint in self.studio.answers.joints)
        self.phase = gui.add_dropdown("Phase plot of", names, initial_value=names[0])
        self.curves = Curves(gui)
        self.portrait = gui.add_html("")
        with gui.add_folder("Track a motion", expand_by_default=False):
            gui.add_html(text_page("From the start to where the arm is, under the law and the errors above."))
            self.duration = gui.add_slider("Duration (s)", 0.2, 10.0, 0.1, 2.0)
            self.follow = gui.add_button("Track and play")
            self.save = gui.add_button("Save as CSV", disabled=True)
        self.run.on_click(self.guarded(self._start_or_stop))
        for control in (self.law, self.frequency, self.damping, self.payload, self.heavier):
            control.on_update(self.guarded(self._change))
        self.follow.on_click(self.guarded(self._track))
        self.save.on_click(self.guarded(self._save))

    def setting(self) -> Setting:
        """The settings that the controls show."""
        gains = self.frequency.value, self.damping.value
        return Setting(self.law.value, *gains, self.payload.value, self.heavier.value / 100)

    # Live -----------------------------------------------------------------------------------------------------------

    def _start_or_stop(self, event: Any) -> None:
        if self.live is not None:
            self.live = None
            return
        studio = self.studio
        self.say(text_page("Compiling ..."))
        live = LiveSimulation(studio.answers, self.setting(), studio.q.copy(), np.zeros_like(studio.q), studio.q.copy())
        with studio.lock:
            studio.shown += 1
            self.number = studio.shown
            self.live = live
        self.run.label = "Stop"
        threading.Thread(target=self._play, args=(live,), daemon=True).start()

    def _change(self, event: Any) -> None:
        live = self.live
        self.frequency.disabled = self.damping.disabled = self.law.value == RELEASED
        if live is not None:
            fresh = self.setting()
            with self.studio.lock:
                live.change(fresh)

    def pulled(self, phase: str, position: Array) -> bool:
        """Whether a drag of the gizmo pulls at the simulated arm."""
        live = self.live
        if live is None:
            return False
        with self.studio.lock:
            live.pull = None if phase == "end" else position
        return True

    def _play(self, live: LiveSimulation) -> None:
        """Advance in real time, or slower, until something else is shown."""
        studio, last, frame = self.studio, time.monotonic(), 0
        words = f"Running: {self.law.value}. Pull at the tool with the mouse."
        with studio.lock:
            if not self.gone:
                self.say(words_page(True, [words]))
                self.curves.clear()
        try:
            while live is self.live and self.number == studio.shown and live.t < LONGEST:
                now = time.monotonic()
                passed, last = min(now - last, 2 * FRAME) / max(float(self.slow.value), 1.0), now
                with studio.lock:
                    if self.number != studio.shown or live is not self.live:
                        break
                    if not live.advance(passed):
                        self.say(
                            words_page(
                                False,
                                ["The motion grew without bound and was stopped.", "Lower the gains, or pull less."],
                            )
                        )
                        break
                    self._show(live, frame)
                frame += 1
                time.sleep(max(0.0, FRAME - (time.monotonic() - now)))
        except ArmdynError as error:
            self.say(error_page(error))
        finally:
            if self.live is live:
                self.live = None
            with studio.lock:
                if not self.gone:
                    self.run.label = "Start"
                    self.torques.content = ""
            if self.number == studio.shown:
                studio.move(studio.answers.wrapped(live.q))

    def _show(self, live: LiveSimulation, frame: int) -> None:
        """The arm, the torques, and now and then the curves."""
        studio, joints = self.studio, self.studio.answers.joints
        q = studio.answers.wrapped(live.q)
        studio.show_live(q, live.pull)
        self.torques.content = torque_page("Torques of the law", joints, live.tau, q, studio.degrees)
        if frame % EVERY != EVERY - 1:
            return
        curves, k = live.curves(), [joint.name for joint in joints].index(self.phase.value)
        kinetic, potential, unit = curves["kinetic"], curves["potential"], joints[k].unit_shown(studio.degrees)
        factor = joints[k].shown(1.0, studio.degrees)
        title = f"{joints[k].name}: velocity ({unit}/s) over position ({unit})"
        self.portrait.content = phase_page(title, factor * curves["q"][:, k], factor * curves["qd"][:, k])
        energies = {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
        if not self.curves.charts:
            self.curves.add("energy, J", curves["t"], energies)
        else:
            self.curves.charts[0].data = tuple(map(np.ascontiguousarray, (curves["t"], *energies.values())))

    # A motion -------------------------------------------------------------------------------------------------------

    def _track(self, event: Any) -> None:
        studio = self.studio
        self.live = None
        if self.goal is None or self.film is None or not np.allclose(studio.q, self._last(self.film)):
            self.goal = studio.q.copy()  # else the arm is where the last one left it: the same again
        self.say(text_page("Simulating ..."))
        film = track(studio.answers, studio.answers.start, self.goal, self.setting(), self.duration.value)
        self.film, self.save.disabled = film, False
        self.say(words_page(film.fine, film.words))
        self.curves.clear()
        self.portrait.content = ""
        energies = {name.removesuffix(" energy, J"): x for name, x in film.curves.items() if name.endswith(", J")}
        self.curves.add("energy, J", film.t, energies)
        for name, curve in film.curves.items():
            if not name.endswith(", J"):
                self.curves.add(name, film.t, {name.partition(",")[0]: curve})
        studio.play(film, float(self.slow.value))

    def _last(self, film: Film) -> Array:
        last: Array = np.clip(film.q[-1], *self.studio.answers.bounds)
        return last

    def _save(self, event: Any) -> None:
        if self.film is not None:
            text = self.film.csv(self.studio.answers)
            event.client.send_file_download(f"{self.studio.answers.robot.name}_run.csv", text.encode())
