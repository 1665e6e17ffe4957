"""The notebook widget: the page to share in a frame, tied to Python, shown by a browser without a network."""

from __future__ import annotations

import html
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import FeatureError, MissingExtra
from armdyn.webpage.notebook_widget import _widget
from support.feature_robots import ROBOTS

from .test_shared_page import dumped, needs_browser

HARNESS = """<!doctype html><body><div id="here"></div><pre id="answer"></pre><script type="module">
{script}
const values = {values}, listeners = [];
const model = {{
  get: (name) => values[name],
  set: (name, value) => {{ values[name] = value; listeners.forEach((f) => f()); }},
  save_changes: () => {{ values.saved = (values.saved ?? 0) + 1; }},
  on: (name, f) => listeners.push(f), off: () => {{}},
}};
render({{ model, el: document.getElementById("here") }});
const frame = document.querySelector("iframe");
const answers = [];
window.addEventListener("message", (event) => {{ if (event.data.armdyn === "moved") answers.push(event.data.q); }});
const heard = (q) => answers.some((answer) => Math.abs(answer[0] - q[0]) < 1e-9);
const until = (test, then, left = 200) => test() || !left ? then() : setTimeout(() => until(test, then, left - 1), 50);
until(() => heard([0.1, 0.2]) && heard([0, 0]), () => {{
  const moved = {moved};
  model.set("q", moved);
  until(() => heard(moved), () => {{
    document.getElementById("answer").textContent =
      JSON.stringify({{ answers, saved: values.saved ?? 0, q: values.q, sandbox: frame.getAttribute("sandbox") }});
  }});
}});
</script></body>"""


def test_the_widget_holds_the_page_and_the_configuration() -> None:
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'armdyn[widget]'")
    import traitlets

    robot = armdyn.load("planar2r")
    widget = armdyn.view(robot, height=500)
    assert widget.page.count("<script") == 1
    assert widget.height == 500
    assert len(widget.q) == robot.n
    heard: list[list[float]] = []
    widget.observe(lambda change: heard.append(change["new"]), "q")
    widget.q = [0.5, -0.25]
    assert heard == [[0.5, -0.25]]
    with pytest.raises(traitlets.TraitError, match="q has 3 entries, expected 2"):
        widget.q = [0.0, 0.0, 0.0]


@needs_browser
def test_the_page_in_the_frame_follows_and_tells(tmp_path: Path) -> None:
    """The script of the widget as a notebook runs it: q set by Python moves the arm, the arm's own moves come back."""
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'armdyn[widget]'")
    robot = armdyn.load("planar2r")
    widget = armdyn.view(robot)
    moving = ("window.addEventListener('message', () => setTimeout(tell, 50));"
              "window.addEventListener('message', () => setTimeout(() => find('home').click(), 150), { once: true });"
              )  # fmt: skip
    page = widget.page.replace("</script>\n</body>", f"{moving}\n</script>\n</body>")  # answers what it is told
    values = {"page": page, "q": [0.1, 0.2], "name": "arm", "height": 600}
    script = str(widget._esm).replace("export default { render };", "")
    text = HARNESS.format(script=script, values=json.dumps(values).replace("</", "<\\/"), moved="[0.7, -0.4]")
    (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
    shown = dumped(tmp_path / "notebook.html", tmp_path)
    found = json.loads(html.unescape(shown.partition('<pre id="answer">')[2].partition("</pre>")[0]))
    assert found["sandbox"] == "allow-scripts"
    assert found["answers"][-1] == [0.7, -0.4]
    assert [0.1, 0.2] in found["answers"]  # what Python had before the page was there
    assert found["saved"] == len(found["answers"])
    np.testing.assert_allclose(found["q"], [0.7, -0.4])


def test_without_anywidget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    _widget.cache_clear()
    try:
        with pytest.raises(MissingExtra, match="pip install 'armdyn\\[widget\\]'"):
            armdyn.view(armdyn.load("planar2r"))
    finally:
        _widget.cache_clear()


def test_what_the_page_does_not_model_is_refused() -> None:
    with pytest.raises(FeatureError, match="elastic"):
        armdyn.view(ROBOTS["elastic"]())
