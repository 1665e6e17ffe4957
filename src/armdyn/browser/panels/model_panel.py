"""Model: the file, the check-up on the bodies, frames, centres of mass, the parameters, what a change of one does."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.browser.changes import compared, parameter_names, with_changed
from armdyn.browser.panel_pages import model_page, table_page, text_page
from armdyn.browser.panels.panel import Panel
from armdyn.browser.saved_state import read_state
from armdyn.doctor import check
from armdyn.errors import ArmdynError
from armdyn.formats import load
from armdyn.robot.describe import head, sections, title


class ModelPanel(Panel):
    """The panel that describes the robot: its file, its check-up, its parameters."""

    title = "Model"

    def build(self) -> None:
        gui, robot = self.gui, self.studio.answers.robot
        self.message = gui.add_html("")
        self.checkup = check(robot)
        gui.add_html(model_page(title(robot), head(robot), self.checkup, sections(robot)))
        self.frames = gui.add_checkbox("Frames of the links", False)
        self.masses = gui.add_checkbox("Centres of mass", False)
        self.inertias = gui.add_checkbox("Inertia ellipsoids", False)
        self.frames.on_update(self.guarded(lambda event: self.studio.stage.show_frames(self.frames.value)))
        for control in (self.masses, self.inertias):
            control.on_update(self.guarded(lambda event: self._mark()))
        self._mark()
        with gui.add_folder("Change a parameter", expand_by_default=False):
            self._add_change()
        with gui.add_folder("Open a file", expand_by_default=False):
            self.path = gui.add_text("Path", "", hint="A URDF, MJCF, xacro or TOML file on this machine.")
            gui.add_button("Open").on_click(self.guarded(self._open))
        with gui.add_folder("Save and share", expand_by_default=False):
            self._add_saving()
        self.dark = gui.add_checkbox("Dark colours", self.studio.dark)
        self.dark.on_update(self.guarded(lambda event: self.studio.themed(self.dark.value)))

    def _mark(self) -> None:
        """Centres of mass and ellipsoids; bodies with a finding in red."""
        wrong = {finding.where for finding in self.checkup.findings if finding.severity != "note"}
        bodies = {joint.body.name for joint in self.studio.answers.robot.opened.tree}
        named = {body for body in bodies if any(f"'{body}'" in where or where.split()[-1] == body for where in wrong)}
        with self.studio.lock:  # one after the other: they draw the same bodies
            self.studio.stage.show_weights(self.masses.value, self.inertias.value, named)

    # A change -------------------------------------------------------------------------------------------------------

    def _add_change(self) -> None:
        gui, names = self.gui, parameter_names(self.studio.answers.robot)
        self.parameter = gui.add_dropdown("Parameter", names, initial_value=names[0])
        self.factor = gui.add_slider("Times", 0.1, 3.0, 0.05, 1.0)
        self.effect = gui.add_html(text_page("Choose a factor: what changes at this configuration is listed here."))
        self.keep = gui.add_button("Keep this change")
        self.factor.on_update(self.guarded(self._compare))
        self.parameter.on_update(self.guarded(self._compare))
        self.keep.on_click(self.guarded(self._keep))

    def _compare(self, event: Any) -> None:
        answers = self.studio.answers
        changed = with_changed(answers.robot, self.parameter.value, float(self.factor.value))
        self.effect.content = table_page(compared(answers.robot, changed, self.studio.q))

    def _keep(self, event: Any) -> None:
        studio = self.studio
        changed = with_changed(studio.answers.robot, self.parameter.value, float(self.factor.value))
        studio.open(changed, studio.q, studio.payload, tuple(studio.points))

    # Files ----------------------------------------------------------------------------------------------------------

    def _open(self, event: Any) -> None:
        path = self.path.value.strip().strip("\"'")
        if not path:
            raise ArmdynError("no path is given", where="Open a file", expected="the path of a robot's file")
        self.say(text_page("Reading ..."))
        robot = load(path)
        self.studio.open(robot)

    def _add_saving(self) -> None:
        gui, studio = self.gui, self.studio
        link = gui.add_button("Address of this state")
        self.address = gui.add_html("")
        state, picture = gui.add_button("Save the state to a file"), gui.add_button("Save a picture")
        restore = gui.add_upload_button("Load a state", mime_type="application/json")
        link.on_click(self.guarded(self._link))
        name = studio.answers.robot.name
        state.on_click(
            self.guarded(
                lambda event: event.client.send_file_download(f"{name}.studio.json", studio.state().json().encode())
            )
        )
        picture.on_click(
            self.guarded(lambda event: event.client.send_file_download(f"{name}.png", _picture(event.client)))
        )
        restore.on_upload(self.guarded(lambda event: studio.restore(read_state(restore.value.content))))

    def _link(self, event: Any) -> None:
        link = self.studio.link()
        style = "font-size:.75em;padding:0 .9em;overflow-wrap:anywhere"
        self.address.content = f"<div style='{style}'><a data-link href='{link}'>{link}</a></div>"


def _picture(client: Any) -> bytes:
    """The view as PNG, 1600 pixels wide."""
    from imageio.v3 import imwrite

    pixels = np.ascontiguousarray(client.get_render(height=1000, width=1600, transport_format="png"))
    picture: bytes = imwrite("<bytes>", pixels, extension=".png")
    return picture
