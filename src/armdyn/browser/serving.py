"""The studio in the browser: one robot on a stage, five panels, on the loopback address only."""

from __future__ import annotations

import io
import threading
import time
import webbrowser
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from armdyn import catalog
from armdyn.browser.access_control import HOST, AccessControl, guarded
from armdyn.browser.panel_pages import STYLE, error_page, text_page
from armdyn.browser.panels import EquationsPanel, ModelPanel, MovePanel, PlanPanel, SimulatePanel
from armdyn.browser.panels.panel import Panel
from armdyn.browser.playback import MOST_POINTS, Film
from armdyn.browser.robot_queries import HEAVIEST, RobotQueries
from armdyn.browser.saved_state import SavedState, read_address
from armdyn.browser.solids import rotation
from armdyn.browser.stage import RobotStage
from armdyn.errors import ArmdynError, MissingExtra
from armdyn.formats import load
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, require, takes
from armdyn.typing import Array

FRAME = 1 / 40
"""Time between two frames of a motion, s."""
TEXTS_FIRST = 4e-3
"""Pause between sending new texts and the scene that belongs to them, s; viser sends the two separately."""
PANELS: tuple[type[Panel], ...] = (MovePanel, ModelPanel, EquationsPanel, PlanPanel, SimulatePanel)
"""The panels, in the order of their tabs."""
ROOTS = ("/robot", "/next")
"""Prefixes of the names in the scene; robots use them in turn."""
REST = 0.3
"""The arm is at rest if nothing moved it for this time, s."""


class Studio(Result):
    """A running studio: one robot at a time, one configuration, any number of pages that show it.

    answers: the robot. q: (n,) its configuration. payload: kg. degrees: whether angles are shown in degrees.
    points: via points of the plan. lock: held while the state changes.
    """

    def __init__(self, robot: Robot, port: int = 0, *, dark: bool = False) -> None:
        viser = _viser()
        self.gate = AccessControl()
        with guarded(self.gate), redirect_stdout(io.StringIO()):  # viser prints an address without token
            self.server = viser.ViserServer(host=HOST, port=port, label="armdyn studio", verbose=False)
        self.gate.port = self.server.get_port()
        if port and self.gate.port != port:  # viser takes the next one
            with redirect_stdout(io.StringIO()):
                self.server.stop()
            raise ArmdynError(
                f"port {port} is in use", where="studio", advice="Choose another one; --port 0 takes any free port"
            )
        self.server.request_share_url = lambda verbose=True: None  # nothing leaves this machine
        self.gate.opened = lambda letters: self.server._thread_executor.submit(self._open_address, letters) and None
        self.lock = threading.RLock()
        self.due, self.ended = threading.Event(), False
        self.shown = 0
        """Counts what is played; a motion goes on while it is the last one."""
        self.files: dict[str, Robot] = {}
        """Robots that were opened from files, by name."""
        self.dark, self.degrees = dark, True
        self.stage: Any = None
        self.themed(dark)
        self.server.gui.main_panel.dock_right()
        self.chooser = self.server.gui.add_dropdown("Robot", self._names(robot), initial_value=robot.name)
        self.chooser.on_update(self._chosen)
        self.problem = self.server.gui.add_html("")
        self.server.gui.add_html(STYLE)
        tabs = self.server.gui.add_tab_group()
        self.tabs = [(tabs.add_tab(panel.title), panel) for panel in PANELS]
        self.open(robot)
        self.server.on_client_connect(self._look)
        self.drawer = threading.Thread(target=self._keep_drawing, daemon=True)
        self.drawer.start()

    def _look(self, client: Any) -> None:
        client.camera.on_update(lambda camera: self.stage.look_again(client))
        self.stage.look(client)

    @property
    def address(self) -> str:
        """The address of the page, with the token."""
        return f"http://{HOST}:{self.gate.port}/?token={self.gate.token}"

    def _view(self) -> View:
        facts = [("address", self.address), ("stop", "Ctrl-C, or stop() from Python")]
        return View(f"Studio of {self.answers.robot.name}", facts=facts)

    def record(self) -> dict[str, Any]:
        """The robot that is open and the address of its page."""
        return {"robot": self.answers.robot.name, "address": self.address}

    def wait(self) -> None:
        """Return when the user presses Ctrl-C; the studio has then ended."""
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        """End the studio."""
        self.shown += 1
        self.ended = True
        self.due.set()
        self.drawer.join(timeout=10)  # nothing is drawn on a server that has stopped
        with redirect_stdout(io.StringIO()):
            self.server.stop()

    def themed(self, dark: bool) -> None:
        """Use light or dark colours."""
        self.dark = dark
        self.server.gui.configure_theme(
            dark_mode=dark, show_share_button=False, show_logo=False, control_width="large", brand_color=(59, 125, 216)
        )
        if self.stage is not None:
            self.stage.themed(dark)

    # The robot ------------------------------------------------------------------------------------------------------

    def open(self, robot: Robot, q: Any = None, payload: float = 0.0, points: tuple[Any, ...] = ()) -> None:
        """Put a robot on the stage; what was shown before goes."""
        require(robot, "browser.studio", frozenset((*CLOSED, *TREE)))
        answers = RobotQueries(robot)
        begin = answers.start if q is None else answers.kept(q)
        kept = [answers.kept(point) for point in points[:MOST_POINTS]]
        with self.lock:
            self.shown += 1
            self.answers, self.q, self.payload, self.points = answers, begin, payload, kept
            if robot.name not in catalog.names() or robot != load(robot.name):
                self.files[robot.name] = robot
            self.chooser.options = self._names(robot)
            if self.chooser.value != robot.name:
                self.chooser.value = robot.name
            root = ROOTS[self.stage is not None and self.stage.root == ROOTS[0]]
            self.stage = RobotStage(self.server, answers, begin, self._dragged, root)
            self.stage.themed(self.dark)
            self._build_panels()
            self.move(begin)
        for client in self.server.get_clients().values():
            self.stage.look(client)

    def _names(self, robot: Robot) -> tuple[str, ...]:
        return tuple(dict.fromkeys((robot.name, *self.files, *catalog.names())))

    def named(self, name: str) -> Robot:
        """A robot that is open, was opened, or is in the catalog."""
        if name in self.files:
            return self.files[name]
        if name not in catalog.names():
            raise ArmdynError(
                f"the robot {name[:60]!r} is not open",
                where="studio",
                advice="Open its file first, in the panel Model.",
            )
        return load(name)

    def _chosen(self, event: Any) -> None:
        if event.client is not None and self.chooser.value != self.answers.robot.name:
            self.problem.content = text_page(f"Compiling {self.chooser.value} ...")
            self.attempt(lambda: self.open(self.named(self.chooser.value)))

    def attempt(self, action: Callable[[], None]) -> None:
        """Do something whose errors are shown above the panels."""
        try:
            action()
            self.problem.content = ""
        except ArmdynError as error:
            self.chooser.value = self.answers.robot.name
            self.problem.content = error_page(error)

    def _build_panels(self) -> None:
        """Build all panels anew, in their tabs: the tab that is open stays open."""
        self.panels = tuple(panel(self) for _, panel in self.tabs)
        for (tab, _), panel in zip(self.tabs, self.panels, strict=True):
            for control in tuple(tab._children.values()):
                control.remove()
            with tab:
                panel.build()

    @property
    def move_panel(self) -> MovePanel:
        return next(panel for panel in self.panels if isinstance(panel, MovePanel))

    @property
    def simulate_panel(self) -> SimulatePanel:
        return next(panel for panel in self.panels if isinstance(panel, SimulatePanel))

    # State ----------------------------------------------------------------------------------------------------------

    def move(self, q: Any, *, sliders: bool = True, gizmo: bool = True) -> None:
        """Show the arm at q, within its ranges, with its torques; a motion that is played ends.

        sliders, gizmo: whether they follow; not the one that the user holds.
        """
        with self.lock:
            self.shown += 1
            self._show(self.answers.kept(q), sliders=sliders, gizmo=gizmo)

    def _show(self, q: Array, *, sliders: bool = True, gizmo: bool = True) -> None:
        self.q = q
        with self.server.atomic():
            for panel in self.panels:
                panel.moved()
            if sliders:
                self.move_panel.set_sliders(q)
        self.server.flush()
        self._draw(q, gizmo=gizmo)

    def show_live(self, q: Array, pull: Array | None) -> None:
        """Show the arm during a live simulation, and the force that the user applies to its tool."""
        self.move_panel.set_sliders(q)
        self.server.flush()
        self._draw(q, gizmo=pull is None, pull=pull)

    def _draw(self, q: Array, *, gizmo: bool, pull: Array | None = None) -> None:
        """Draw the arm in a moment. The page shows texts at once if no change of the scene comes with them."""
        self.drawing = (q, gizmo, pull)
        self.due.set()

    def _keep_drawing(self) -> None:
        """Draw the last configuration that was asked for, again and again until the studio ends."""
        at_rest = False
        while True:
            if not self.due.wait(None if at_rest else REST):
                self.move_panel.settled()
                at_rest = True
                continue
            at_rest = False
            time.sleep(TEXTS_FIRST)
            self.due.clear()
            if self.ended:
                return
            with self.lock, self.server.atomic():
                q, gizmo, pull = self.drawing
                if len(q) == self.answers.robot.n:
                    self.stage.place(q, gizmo=gizmo, pull=pull)
                    self.move_panel.draw(q)
            self.server.flush()
            time.sleep(FRAME - TEXTS_FIRST)

    def _dragged(self, phase: str, position: Array, wxyz: Array) -> None:
        if self.simulate_panel.pulled(phase, position):
            return
        with self.lock:
            turn = rotation(wxyz) if self.move_panel.turn.value else None
            try:
                q = self.answers.dragged(self.q, position, turn)
                self.move(q, gizmo=phase == "end")
            except ArmdynError as error:
                self.move_panel.say(error_page(error))

    def state(self) -> SavedState:
        """What is shown, to be saved."""
        robot = self.answers.robot
        changed = tuple((name, float(value)) for name, value in robot.parameters.items()) if self._is_changed() else ()
        points = tuple(tuple(map(float, point)) for point in self.points)
        return SavedState(robot.name, tuple(map(float, self.q)), self.payload, self.degrees, points, changed)

    def _is_changed(self) -> bool:
        return self.answers.robot.name in catalog.names() and self.answers.robot != load(self.answers.robot.name)

    def restore(self, state: SavedState) -> None:
        """Show a state that was saved."""
        robot = self.answers.robot if state.robot == self.answers.robot.name else self.named(state.robot)
        if state.robot in catalog.names():
            robot = load(state.robot)
        if state.parameters:
            robot = robot.with_parameters(**dict(state.parameters))
        self.degrees = state.degrees
        self.open(robot, state.q, min(max(state.payload, 0.0), HEAVIEST), state.points)

    def link(self) -> str:
        """The address of the page with the state."""
        return f"{self.address}&state={self.state().address()}"

    def _open_address(self, letters: str) -> None:
        self.attempt(lambda: self.restore(read_address(letters)))

    # Motions --------------------------------------------------------------------------------------------------------

    def play(self, film: Film, slow: float = 1.0) -> None:
        """Show a motion from its begin to its end, at a fraction of its speed; anything else ends it."""
        with self.lock:
            self.shown += 1
            number = self.shown
            tools = self.answers.dyn.pose(film.q)[:, :3, 3]
            self.stage.show_path(tools)
        begin = time.monotonic()
        while number == self.shown:
            at = (time.monotonic() - begin) / slow
            with self.lock:
                if number == self.shown:
                    self._show(np.clip(film.at(at), *self.answers.bounds))
            if at >= film.t[-1]:
                break
            time.sleep(FRAME)


@takes(*CLOSED, *TREE)
def studio(robot: Robot, port: int = 0, *, dark: bool = False, browser: bool = False) -> Studio:
    """Start the studio of a robot in the background; `stop()` ends it, `wait()` waits for Ctrl-C.

    port: on this machine; 0 takes any free one.
    dark: dark colours.
    browser: open a browser window.
    """
    running = Studio(robot, port, dark=dark)
    if browser:
        webbrowser.open(running.address)
    return running


def _viser() -> Any:
    try:
        import viser
    except ImportError:
        raise MissingExtra(
            "viser, which shows the studio in the browser, is not installed",
            where="studio",
            expected="the extra `studio`",
            advice="pip install 'armdyn[studio]'",
        ) from None
    return viser
