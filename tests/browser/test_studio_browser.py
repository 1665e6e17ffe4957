"""The studio answers nobody else, and a browser drives every panel.

The browser is Debian's Chromium, driven by Playwright; both may be absent.
"""

from __future__ import annotations

import http.client
import itertools
import os
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.browser import Studio
from armdyn.browser import studio as open_studio
from armdyn.browser.access_control import COOKIE, MOST_CONNECTIONS, AccessControl
from armdyn.browser.saved_state import read_address
from armdyn.errors import ArmdynError, MissingExtra

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--disable-background-networking", "--disable-component-update"]  # fmt: skip
"""Software rendering, and no contact with other machines."""
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def test_the_gate() -> None:
    gate = AccessControl(token="secret", port=8000)
    here, cookie = "127.0.0.1:8000", f"a=b; {COOKIE}=secret"
    assert gate.refusal("/?token=secret", here, None, None) == ""
    assert gate.refusal("/", here, f"http://{here}", cookie) == ""
    assert gate.refusal("/", "evil.example:8000", None, cookie)
    assert gate.refusal("/", here, "http://evil.example", cookie)
    assert gate.refusal("/", here, "null", cookie)
    assert gate.refusal("/", here, None, None) and gate.refusal("/?token=guess", here, None, f"{COOKIE}=guess")
    assert gate.refusal("/?token=gehéim", here, None, f"{COOKIE}=gehéim")


def test_without_viser_the_message_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingExtra, match="armdyn\\[studio\\]"):
        open_studio(armdyn.load("pendulum"))


@pytest.fixture(scope="module")
def studio() -> Iterator[Studio]:
    pytest.importorskip("viser", reason="viser is not installed: pip install armdyn[studio]")
    running = open_studio(armdyn.load("planar2r"))
    yield running
    running.stop()


def asked(studio: Studio, path: str, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", studio.gate.port, timeout=30)
    connection.request("GET", path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_only_the_own_page_is_answered(studio: Studio) -> None:
    token, here = f"/?token={studio.gate.token}", f"http://127.0.0.1:{studio.gate.port}"
    assert asked(studio, token) == 200
    assert asked(studio, "/") == 403
    assert asked(studio, "/", Cookie=f"{COOKIE}={studio.gate.token}") == 200
    assert asked(studio, token, Host="evil.example") == 403
    assert asked(studio, token, Origin="http://evil.example") == 403
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
               "Sec-WebSocket-Key": "A" * 22 + "=="}  # fmt: skip
    cookie = {"Cookie": f"{COOKIE}={studio.gate.token}"}
    assert asked(studio, "/", **upgrade, Origin=here) == 403, "without the token"
    assert asked(studio, "/", **upgrade, **cookie) == 403, "without an origin"
    assert asked(studio, "/", **upgrade, **cookie, Origin="http://evil.example") == 403
    assert asked(studio, "/../serving.py", **cookie) == 404
    assert studio.server.request_share_url() is None
    assert studio.server.get_host() == "127.0.0.1"


def test_a_port_in_use_is_reported(studio: Studio) -> None:
    with pytest.raises(ArmdynError, match="in use"):
        open_studio(armdyn.load("pendulum"), studio.gate.port)


def test_idle_and_broken_connections_do_not_stop_it(studio: Studio) -> None:
    idle = [socket.create_connection(("127.0.0.1", studio.gate.port), timeout=5) for _ in range(200)]
    for k, connection in enumerate(idle):
        if k % 2:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: " + b"x" * 1000)
    assert asked(studio, f"/?token={studio.gate.token}") == 200
    for connection in idle:
        connection.close()
    assert asked(studio, f"/?token={studio.gate.token}") == 200
    assert 0 <= studio.gate.connections < MOST_CONNECTIONS


def test_from_slider_to_torques(studio: Studio, capsys: pytest.CaptureFixture[str]) -> None:
    """How long the studio takes from a new value to the message with the torques. Printed, not asserted."""
    times = []
    for angle in np.linspace(0.0, 1.0, 100):
        begin = time.perf_counter()
        studio.move([angle, 0.2])
        times.append(time.perf_counter() - begin)
    with capsys.disabled():
        sys.stdout.write(f"\nstudio: value to torques {1e3 * np.median(times):.1f} ms (median)\n")
    expected = studio.answers.dyn.gravity(np.array([1.0, 0.2]))
    assert f"{expected[0]:.2f}" in studio.move_panel.torques.content


def test_the_state_is_restored(studio: Studio) -> None:
    studio.payload = 2.0
    studio.move([0.5, -0.4])
    studio.points = [np.array([0.0, 0.1]), np.array([0.2, 0.3])]
    kept, link = studio.state(), studio.link()
    studio.open(armdyn.load("pendulum"))
    studio.restore(kept)
    assert studio.answers.robot.name == "planar2r" and studio.state() == kept
    assert read_address(link.partition("&state=")[2]) == kept
    with pytest.raises(ArmdynError, match="not open"):
        studio.restore(type(kept)("unheard_of", (0.0,)))
    studio.open(armdyn.load("planar2r"))


def test_a_branch_chosen_from_the_list_of_the_pose_before_leaves_the_tool_where_it_is(studio: Studio) -> None:
    panel, (begin, now) = studio.move_panel, np.array([[0.3, 0.9], [0.5, 0.6]])
    with studio.lock:  # so the list stays that of the pose before
        studio.move(begin)
        panel.settled()
        (other,) = [words for words, q in panel.branches.items() if not np.allclose(q, begin)]
        studio.move(now)
        panel.branch.value = other
        panel.guarded(panel._choose_branch)(SimpleNamespace(client="a page"))
        tool, expected = (studio.answers.dyn.pose(q)[:3, 3] for q in (studio.q, now))
        np.testing.assert_allclose(tool, expected, atol=1e-9)
        assert studio.q[1] == pytest.approx(-now[1]), "the other branch of two equal links"


def test_scenes_of_two_robots_share_no_name(studio: Studio) -> None:
    """A page that is open keeps the pose of a node whose name comes again: the next floor would lie askew."""
    known, names = studio.server.scene._handle_from_node_name, []
    for robot in ("pendulum", "planar2r", "scara5", "planar2r"):
        studio.open(armdyn.load(robot))
        names.append({name for name, node in known.items() if not node._impl.removed and name.count("/") > 1})
    assert all(a and b and not a & b for a, b in itertools.pairwise(names))


# In a browser -------------------------------------------------------------------------------------------------------


class Page:
    """The studio's page in Chromium, with the console's errors."""

    def __init__(self, page: Any, address: str) -> None:
        self.page: Any = page
        self.errors: list[str] = []
        page.set_default_timeout(120_000)
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.goto(address)
        page.wait_for_selector("[data-torques]", state="attached")

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def set_number(self, label: str, value: str) -> None:
        """Type a value into the field beside a slider."""
        field = self.page.locator(f"xpath=//label[normalize-space()='{label}']/following::input[@type='text'][1]")
        field.fill(value)
        field.press("Enter")

    def choose(self, label: str, option: str) -> None:
        """Choose from a dropdown."""
        self.page.locator(f"xpath=//label[normalize-space()='{label}']/following::input[1]").first.click()
        self.page.get_by_role("option", name=option, exact=True).click()

    def wait(self, what: Callable[[], Any]) -> None:
        """Until something holds in the studio."""
        assert self.comes(what, 120.0), "nothing happened"

    def comes(self, what: Callable[[], Any], seconds: float) -> bool:
        """Whether something holds in the studio within a time."""
        end = time.monotonic() + seconds
        while not what():
            if time.monotonic() > end:
                return False
            self.page.wait_for_timeout(50)
        return True

    def drawn(self, frames: int) -> None:
        """Until the page has drawn some frames."""
        self.page.evaluate(
            "async (n) => { for (let k = 0; k < n; k++) await new Promise(requestAnimationFrame); }", frames
        )

    def text(self, selector: str) -> str:
        found = self.page.locator(f"{selector} >> visible=true")  # other tabs are there, hidden
        return str(found.first.inner_text()) if found.count() else ""


@pytest.fixture(scope="module")
def window() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install armdyn[browser]: no page is driven")
    browser = shutil.which("chromium")
    if browser is None:
        pytest.skip("Chromium is not installed (Debian: apt-get install chromium): no page is driven")
    with playwright.sync_playwright() as driver:
        window = driver.chromium.launch(executable_path=browser, args=FLAGS)
        yield window
        window.close()


def test_a_browser_drives_every_panel(studio: Studio, window: Any) -> None:
    page = Page(window.new_page(viewport={"width": 1024, "height": 700}), studio.address)

    # Move: type, slide, exceed a range, payload, drag the tool.
    page.set_number("shoulder", "30")
    page.wait(lambda: abs(studio.q[0] - np.radians(30)) < 1e-9)
    held = studio.answers.dyn.gravity(studio.q)[0]
    page.wait(lambda: f"{held:.2f}" in page.text("[data-torques]"))
    elbow = studio.q[1]
    page.page.get_by_role("slider").nth(1).focus()
    page.page.keyboard.press("ArrowRight")
    page.wait(lambda: studio.q[1] > elbow)
    page.set_number("shoulder", "99999")
    page.wait(lambda: studio.q[0] > 3.1)
    assert studio.q[0] <= np.pi
    page.set_number("Payload (kg)", "10")
    page.wait(lambda: "with 10 kg" in page.text("[data-torques]"))
    page.press("Back to the start")
    page.set_number("elbow", "60")
    page.wait(lambda: abs(studio.q[1] - np.radians(60)) < 1e-9)
    before = studio.answers.dyn.pose(studio.q)[:3, 3]
    drag_the_tool(studio, page, lambda: bool(np.linalg.norm(studio.answers.dyn.pose(studio.q)[:3, 3] - before) > 0.02))
    page.page.mouse.up()
    branch = studio.move_panel.branch
    page.wait(
        lambda: len(branch.options) == 2 and np.array_equal(studio.move_panel.branches.get(branch.value, []), studio.q)
    )
    shown, tool = studio.q.copy(), studio.answers.dyn.pose(studio.q)[:3, 3]
    page.choose("Branch", next(words for words in branch.options if words != branch.value))
    page.wait(lambda: np.abs(studio.q - shown).max() > 0.1)
    assert np.allclose(studio.answers.dyn.pose(studio.q)[:3, 3], tool)

    # Equations: the value follows the arm.
    page.tab("Equations")
    page.press("Read this entry")
    page.page.wait_for_selector("[data-entry='M11'] math")
    now = studio.answers.dyn.mass_matrix(studio.q)[0, 0]
    page.wait(lambda: f"{now:.5g}" in page.text("[data-value]"))

    # Plan: two points, then the verdict in words.
    page.tab("Plan")
    page.press("add this one")
    page.wait(lambda: len(studio.points) == 1)
    studio.move([0.2, 0.4])
    page.press("add this one")
    page.wait(lambda: len(studio.points) == 2)
    page.press("Plan and play")
    page.wait(lambda: "Largest load" in page.text("[data-verdict]"))
    assert "N m" in page.text("[data-verdict]")
    page.wait(lambda: page.page.locator(".uplot").count() >= 2)

    # Simulate: held, pulled, stopped.
    page.tab("Simulate")
    page.press("Start")
    page.wait(lambda: studio.simulate_panel.live is not None and studio.simulate_panel.live.t > 0.05)
    goal = studio.simulate_panel.live.goal
    drag_the_tool(studio, page, lambda: studio.simulate_panel.live.pull is not None)
    page.wait(lambda: np.abs(studio.simulate_panel.live.q - goal).max() > 1e-3)
    page.page.mouse.up()
    page.wait(lambda: studio.simulate_panel.live.pull is None)
    page.wait(lambda: page.page.locator("[data-phase]").count() == 1)
    page.press("Stop")
    page.wait(lambda: studio.simulate_panel.live is None)

    # Model: another robot while the tab stays open, then the state of before by its address.
    studio.move([0.25, 0.75])
    link, kept = studio.link(), studio.q.copy()
    page.tab("Model")
    page.choose("Robot", "pendulum")
    page.wait(lambda: "pendulum" in page.text("[data-model]"))
    page.page.goto(link)
    page.wait(lambda: studio.answers.robot.name == "planar2r" and np.allclose(studio.q, kept))
    page.page.wait_for_selector("[data-torques]", state="attached")
    page.wait(lambda: "43.0°" in page.text("[data-torques]"))
    assert page.errors == []
    page.page.close()


def drag_the_tool(studio: Studio, page: Page, happened: Callable[[], bool]) -> None:
    """Drag the gizmo's middle square by 60 pixels and hold it there. Where it is on the page follows from the camera.

    Every step waits until the page has drawn what was before it. A page that was still busy may have taken the drag for
    one of the camera: then the tool is dragged again, from where it is then.
    """
    (client,) = list(studio.server.get_clients().values())[-1:]
    canvas, mouse = page.page.locator("canvas").first.bounding_box(), page.page.mouse
    for _ in range(6):
        page.wait(lambda: not studio.due.is_set())
        page.drawn(3)
        x, y = on_canvas(client, studio.stage.gizmo_pose()[0] + handle_of(studio), canvas)
        for place in ((x - 3, y - 3), (x, y)):
            mouse.move(*place)
            page.drawn(2)
        mouse.down()
        for step in range(1, 7):
            mouse.move(x - 10 * step, y - 6 * step)
            page.drawn(2)
        if page.comes(happened, 10.0):
            return
        mouse.up()
    pytest.fail("the tool was not dragged")


def handle_of(studio: Studio) -> np.ndarray:
    """From the gizmo's origin to its square between x and y, in the world."""
    from armdyn.browser.solids import rotation

    R = rotation(studio.stage.gizmo_pose()[1])
    return R @ np.array([1.0, 1.0, 0.0]) * 0.33 * studio.stage.gizmo.scale


def on_canvas(client: Any, point: np.ndarray, box: dict[str, float]) -> tuple[float, float]:
    """Pixels of a point of the world."""
    from armdyn.browser.solids import rotation

    camera = client.camera
    local = rotation(np.array(camera.wxyz)).T @ (point - np.array(camera.position))
    focal = box["height"] / 2 / np.tan(camera.fov / 2)
    u, v = focal * local[:2] / local[2]
    return float(box["x"] + box["width"] / 2 + u), float(box["y"] + box["height"] / 2 + v)


def test_slider_to_torques_in_the_browser(studio: Studio, window: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """From a key on a slider to the torques in the page, and the time of a frame: printed, not asserted."""
    page = Page(window.new_page(viewport={"width": 1024, "height": 700}), studio.address)
    page.page.get_by_role("slider").first.focus()
    times = page.page.evaluate(
        """async () => {
            const place = document.querySelector('[data-torques]').parentElement, times = [];
            let begin = 0, done = null;
            const seen = new MutationObserver(() => done && done(performance.now() - begin));
            seen.observe(place, {childList: true, subtree: true});
            const slider = document.activeElement;
            for (let k = 0; k < 30; k++) {
                const waiting = new Promise((resolve) => { done = resolve; setTimeout(() => resolve(NaN), 3000); });
                begin = performance.now();
                const key = {key: 'ArrowRight', code: 'ArrowRight', bubbles: true};
                slider.dispatchEvent(new KeyboardEvent('keydown', key));
                times.push(await waiting);
                done = null;
                await new Promise((resolve) => setTimeout(resolve, 100));  // the page sends 20 values in a second
            }
            return times;
        }"""
    )
    frames = page.page.evaluate(
        """async () => {
            const times = []; let last = performance.now();
            for (let k = 0; k < 30; k++) {
                await new Promise(requestAnimationFrame);
                const now = performance.now(); times.push(now - last); last = now;
            }
            return times;
        }"""
    )
    found = np.array([x for x in times if x is not None], dtype=float)
    with capsys.disabled():
        sys.stdout.write(f"\nstudio in Chromium, software rendering: slider to torques {np.nanmedian(found):.1f} ms "
                         f"(median of {np.isfinite(found).sum()}); frame {np.median(frames):.1f} ms\n")  # fmt: skip
    assert np.isfinite(found).sum() > 20
    assert page.errors == []
    page.page.close()


@pytest.mark.skipif("ARMDYN_PICTURES" not in os.environ, reason="pictures are drawn if ARMDYN_PICTURES names a folder")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1440, 1024, 420])
def test_pictures(studio: Studio, window: Any, width: int, dark: bool) -> None:
    """Each panel at three widths, light and dark, to be looked at."""
    folder = Path(os.environ["ARMDYN_PICTURES"])
    studio.themed(dark)
    studio.open(armdyn.load(os.environ.get("ARMDYN_PICTURES_OF", "scara5")))
    studio.move(studio.answers.start + 0.1)
    page = Page(window.new_page(viewport={"width": width, "height": 800}), studio.address)
    page.page.locator(".mantine-Notification-closeButton").click()  # "Software WebGL rendering detected"
    for name in ("Move", "Model", "Equations", "Plan", "Simulate"):
        page.tab(name)
        button = {"Equations": "Read this entry", "Plan": "Plan and play", "Simulate": "Start"}.get(name)
        if button:
            page.press(button)
        page.page.wait_for_timeout(4000)
        page.page.screenshot(path=folder / f"{name.lower()}_{width}_{'dark' if dark else 'light'}.png")
    page.press("Stop")
    assert page.errors == []
    page.page.close()
    studio.themed(False)
