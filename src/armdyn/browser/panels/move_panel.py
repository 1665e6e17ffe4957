"""Move: sliders, the tool dragged in the view, torques against their limits, ellipsoids."""

from __future__ import annotations

import math
from typing import Any

from armdyn.browser.panel_pages import bodies_page, text_page, torque_page, words_page
from armdyn.browser.panels.panel import Panel
from armdyn.browser.robot_queries import ELLIPSOIDS, HEAVIEST
from armdyn.typing import Array

ONLY = "no other one in closed form"
"""Shown where the inverse kinematics has no other branch."""


class MovePanel(Panel):
    """The panel that moves the joints and shows the torques that hold them."""

    title = "Move"

    def build(self) -> None:
        gui, studio = self.gui, self.studio
        self.torques = gui.add_html("")
        self.message = gui.add_html("")
        self.joints = gui.add_folder("Joints", expand_by_default=True)
        self.sliders: list[Any] = []
        self._add_sliders()
        self.payload = gui.add_slider("Payload (kg)", 0.0, _most(studio), 0.1, min(studio.payload, _most(studio)))
        units = ("degrees", "radians")
        self.unit = gui.add_dropdown("Angles", units, initial_value=units[0 if studio.degrees else 1])
        hint = "What the tool can do in each direction: velocity, force or acceleration."
        self.shape = gui.add_dropdown("Ellipsoid", ("none", *ELLIPSOIDS), initial_value="none", hint=hint)
        hint = "The tool keeps its rotation, or is turned by the gizmo."
        self.turn = gui.add_checkbox("Turn the tool too", False, hint=hint)
        hint = "All configurations in closed form with the tool at the same place."
        self.branch = gui.add_dropdown("Branch", (ONLY,), disabled=True, hint=hint)
        self.branches: dict[str, Array] = {}
        self.home = gui.add_button("Back to the start")
        with gui.add_folder("Torques by link", expand_by_default=False):
            self.bodies = gui.add_html("")
        gui.add_html(text_page("Drag the arrows or squares at the tool: the joints follow within their ranges."))
        self.payload.on_update(self.guarded(self._carry))
        self.unit.on_update(self.guarded(self._change_unit))
        self.shape.on_update(self.guarded(self._choose_shape))
        self.turn.on_update(self.guarded(self._choose_turn))
        self.branch.on_update(self.guarded(self._choose_branch))
        self.home.on_click(self.guarded(lambda event: studio.move(studio.answers.start)))

    # Joints ---------------------------------------------------------------------------------------------------------

    def _add_sliders(self) -> None:
        for handle in self.sliders:
            handle.remove()
        self.sliders, degrees = [], self.studio.degrees
        with self.joints:
            for joint, x in zip(self.studio.answers.joints, self.studio.q, strict=True):
                digits = joint.digits(degrees)
                low, high = joint.range_shown(degrees)
                value = min(max(round(joint.shown(float(x), degrees), digits), low), high)
                handle = self.gui.add_slider(
                    joint.name, low, high, 10.0**-digits, value, hint=f"{low:g} to {high:g} {joint.unit_shown(degrees)}"
                )
                handle.on_update(self.guarded(self._slid))
                self.sliders.append(handle)

    def _slid(self, event: Any) -> None:
        studio = self.studio
        with studio.lock:
            k = next((k for k, handle in enumerate(self.sliders) if handle is event.target), None)
            if k is None:  # a slider of a robot that is gone
                return
            joint, q = studio.answers.joints[k], studio.q.copy()
            value = float(self.sliders[k].value)
            q[k] = math.radians(value) if joint.unit_shown(studio.degrees) == "°" else value
            self.say("")
            studio.move(q, sliders=False)

    def moved(self) -> None:
        studio = self.studio
        loads = studio.answers.loads(studio.q, studio.payload)
        title = "Torques that hold the arm" + (f" with {studio.payload:g} kg" if studio.payload else "")
        torques = (load.torque for load in loads)
        self.torques.content = torque_page(title, studio.answers.joints, torques, studio.q, studio.degrees)
        self.bodies.content = bodies_page(loads)

    def draw(self, q: Array) -> None:
        """Draw the ellipsoid that is chosen."""
        if self.shape.value != "none" and not self.studio.stage.show_ellipsoid(self.shape.value, q):
            self.say(words_page(False, [f"There is no {self.shape.value} ellipsoid at this configuration."]))

    def set_sliders(self, q: Array) -> None:
        """Show q on the sliders."""
        degrees = self.studio.degrees
        for handle, joint, x in zip(self.sliders, self.studio.answers.joints, q, strict=True):
            shown = round(joint.shown(float(x), degrees), joint.digits(degrees))
            value = min(max(shown, handle.min), handle.max)
            if abs(handle.value - value) > 1e-9:
                handle.value = value

    # Other controls -------------------------------------------------------------------------------------------------

    def _carry(self, event: Any) -> None:
        self.studio.payload = min(max(float(self.payload.value), 0.0), HEAVIEST)
        self.studio.move(self.studio.q)

    def _change_unit(self, event: Any) -> None:
        with self.studio.lock:
            self.studio.degrees = self.unit.value == "degrees"
            self._add_sliders()
        self.studio.move(self.studio.q)

    def _choose_shape(self, event: Any) -> None:
        self.say("")
        self.studio.stage.show_ellipsoid("none", self.studio.q)
        self.studio.move(self.studio.q)

    def _choose_turn(self, event: Any) -> None:
        self.studio.stage.gizmo.disable_rotations = not self.turn.value

    def _choose_branch(self, event: Any) -> None:
        """Move to the branch that is chosen. The tool stays: the list may still be the one of the pose before."""
        studio = self.studio
        with studio.lock:
            chosen = self.branches.get(self.branch.value, studio.q)
            studio.move(studio.answers.branch_near(studio.q, chosen))

    def settled(self) -> None:
        """The arm is at rest: list the branches of its inverse kinematics, the one that is shown chosen."""
        studio = self.studio
        with studio.lock:
            answers, q = studio.answers, studio.q
        found = answers.branches(q)  # the first time it takes a while, so others go on
        with studio.lock:
            if self.gone or studio.q is not q:
                return
            order = sorted(found, key=tuple)  # the same list whichever branch is shown
            self.branches = {f"{k}: {self._words(other)}": other for k, other in enumerate(order, 1)}
            several = len(order) > 1
            self.branch.options = tuple(self.branches) if several else (ONLY,)
            if several:
                self.branch.value = next(words for words, other in self.branches.items() if other is found[0])
            self.branch.disabled = not several

    def _words(self, q: Array) -> str:
        """A configuration in words."""
        joints, degrees = self.studio.answers.joints, self.studio.degrees
        return ", ".join(joint.words(float(x), degrees) for joint, x in zip(joints, q, strict=True))


def _most(studio: Any) -> float:
    """The end of the payload slider, kg: half of the moving mass, in round numbers."""
    mass = sum(float(joint.body.inertia.mass) for joint in studio.answers.robot.opened.tree)
    return float(max(1.0, min(round(mass / 2), 50.0), math.ceil(studio.payload)))
