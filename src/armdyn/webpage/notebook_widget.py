"""The page to share as a widget of notebooks: the same file in a frame, its configuration tied to Python."""

from __future__ import annotations

from functools import cache
from importlib import import_module, resources
from typing import Any

from armdyn.errors import MissingExtra
from armdyn.markup import safe_text
from armdyn.robot import Robot
from armdyn.robot.features import CLOSED, TREE, takes
from armdyn.webpage.shared_page import page, start

HEIGHT = 640


@takes(*CLOSED, *TREE)
def view(robot: Robot, height: int = HEIGHT) -> Any:
    """The robot in a notebook: move its joints, read torques and equations, simulate. No server, no network.

    Returns a widget. `widget.q` is the configuration, rad or m, as a list: it follows the sliders, and the arm follows
    it when it is set. `widget.observe(function, "q")` calls a function whenever it changes.

    robot: an arm, a tree or a closed chain of one-degree joints.
    height: of the widget, in pixels.

    Raises MissingExtra if anywidget is not installed.
    """
    return _widget()(page=page(robot), q=start(robot), name=safe_text(robot.name), height=height)


@cache
def _widget() -> type[Any]:
    """The class of widgets; anywidget is imported here."""
    try:
        anywidget, traitlets = import_module("anywidget"), import_module("traitlets")
    except ImportError:
        raise MissingExtra(
            "anywidget is not installed", where="armdyn.view", advice="Install it: pip install 'armdyn[widget]'"
        ) from None
    script = (resources.files("armdyn.webpage") / "page" / "widget.js").read_text(encoding="utf-8")

    def checked(self: Any, proposal: Any) -> list[float]:
        values = [float(x) for x in proposal["value"]]
        if self.q and len(values) != len(self.q):
            raise traitlets.TraitError(f"q has {len(values)} entries, expected {len(self.q)}: one per joint")
        return values

    members = {
        "__doc__": "A robot in a notebook; made by `armdyn.view`.",
        "_esm": script,
        "page": traitlets.Unicode().tag(sync=True),
        "name": traitlets.Unicode().tag(sync=True),
        "height": traitlets.Int(HEIGHT).tag(sync=True),
        "q": traitlets.List(traitlets.Float()).tag(sync=True),
        "_checked": traitlets.validate("q")(checked),
    }
    return type("RobotView", (anywidget.AnyWidget,), members)
