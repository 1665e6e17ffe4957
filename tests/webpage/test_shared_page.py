"""The page to share: opened from disk in a browser, its numbers are the library's."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.codegen.reference_vectors import states
from armdyn.dynamics.holding import holding_torques
from armdyn.errors import ArmdynError, FeatureError
from armdyn.files import protecting_existing
from armdyn.report.figures.style import COLORS
from armdyn.robot import Robot
from armdyn.webpage import share
from support.feature_robots import ROBOTS

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome") or ""
needs_browser = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--virtual-time-budget=20000",
         "--disable-features=IsolateSandboxedIframes")  # fmt: skip


def answered(page: Path, program: str, folder: Path) -> dict:
    """What a program gives that runs at the end of the page's own script."""
    text = page.read_text(encoding="utf-8")
    shown = f'document.body.innerHTML = "<pre>" + JSON.stringify((() => {{ {program} }})()) + "</pre>";'
    ending = f"\n{shown}\n</script>\n</body>"
    probe = folder / "probe.html"
    probe.write_text(text.replace("</script>\n</body>", ending), encoding="utf-8")
    shown_text = dumped(probe, folder)
    found = re.search(r"<pre>(.*?)</pre>", shown_text, flags=re.DOTALL)
    assert found, shown_text[-2000:]
    return json.loads(html.unescape(found[1]))


def dumped(page: Path, folder: Path) -> str:
    """The document that a page of the disk has become."""
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout


@needs_browser
@pytest.mark.parametrize("name", ["panda", "parallelogram"])
def test_numbers_of_the_page_are_those_of_the_library(name: str, tmp_path: Path) -> None:
    robot = armdyn.load(name)
    dyn = armdyn.compile(robot)
    page = share(robot).save(tmp_path / "arm.html")
    assert page.stat().st_size < 2e6
    state = states(robot, 100, seed=3)
    rows = json.dumps({key: values.tolist() for key, values in state.items()})
    program = f"""
        const s = {rows};
        const tau = s.q.map((q, k) => [...arm.inverse_dynamics(q, s.qd[k], s.qdd[k])]);
        const qdd = s.q.map((q, k) => [...arm.forward_dynamics(q, s.qd[k], s.tau[k])]);
        const places = s.q.slice(0, 5).map((q) => scene(q).arm.tool);
        const drift = [2e-3, 1e-3].map((dt) => {{
          const total = simulate("none", s.q[0], s.q[0], {{ duration: 1, dt }}).energy.map((row) => row[2]);
          return Math.abs(total[total.length - 1] - total[0]);
        }});
        return {{ tau, qdd, places, upright, drift }};"""
    found = answered(page, program, tmp_path)
    for key, expected in (
        ("tau", dyn.inverse_dynamics(state["q"], state["qd"], state["qdd"])),
        ("qdd", dyn.forward_dynamics(state["q"], state["qd"], state["tau"])),
        ("places", found["upright"] @ dyn.pose(state["q"][:5])[:, :3]),
    ):
        np.testing.assert_allclose(found[key], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    coarse, fine = found["drift"]  # neither robot has friction; order 4: a sixteenth of the error, or rounding
    assert fine < coarse / 8 or coarse < 1e-9


@needs_browser
def test_laws_of_the_page(tmp_path: Path) -> None:
    page = share(armdyn.load("scara5")).save(tmp_path / "arm.html")
    program = """
        const goal = ROBOT.start.map((x, k) => x + 0.1 * (k + 1)), last = (run) => run.q[run.q.length - 1];
        const ran = (law) => last(simulate(law, ROBOT.start, goal, { duration: 3 }));
        const text = document.getElementById("joints").textContent;
        return { goal, runs: ["computed", "pd", "gravity"].map(ran), start: ROBOT.start, text };"""
    found = answered(page, program, tmp_path)
    computed, pd, held = found["runs"]
    np.testing.assert_allclose(computed, found["goal"], atol=1e-6)
    np.testing.assert_allclose(pd, found["goal"], atol=1e-3)
    np.testing.assert_allclose(held, found["start"], atol=1e-9)
    assert "shoulder" in found["text"]
    assert "N m" in found["text"]


@needs_browser
def test_the_table_shows_holding_torques(tmp_path: Path) -> None:
    robot = armdyn.load("planar2r")
    cells = "return [...document.querySelectorAll('#joints td:last-child')].map((cell) => cell.textContent);"
    found = answered(share(robot).save(tmp_path / "arm.html"), cells, tmp_path)
    hold = holding_torques(armdyn.compile(robot), np.zeros(2))
    assert [float(text.split()[0]) for text in found] == pytest.approx(hold, rel=1e-3)


@needs_browser
def test_the_arm_fills_the_view_and_stays_inside(tmp_path: Path) -> None:
    program = """
        view.canvas.getBoundingClientRect = () => ({ width: 400, height: 440 });
        const spread = () => {
          view.draw();
          const points = view.scene.arm.segments.flat().map((p) => view.project(p));
          return [0, 1].map((i) => [Math.min(...points.map((p) => p[i])), Math.max(...points.map((p) => p[i]))]);
        };
        const first = spread();
        show(q.map(() => 0));
        return { first, later: spread(), gravity: find("down").textContent };"""
    found = answered(share(armdyn.load("panda")).save(tmp_path / "arm.html"), program, tmp_path)
    low, high = found["first"][1]
    assert high - low > 0.5 * 440
    for (left, right), (top, bottom) in (found["first"], found["later"]):
        assert 0 < left < right < 400 and 0 < top < bottom < 440
    assert found["gravity"].endswith("gravity 9.81 m/s²")


@needs_browser
def test_a_planar_arm_stands_upright_on_its_base_above_the_floor(tmp_path: Path) -> None:
    page = share(armdyn.load("planar2r")).save(tmp_path / "arm.html")
    program = """
    const shown = scene([-1.2, -0.5]), heights = shown.arm.segments.flat().map((p) => p[2]);
    view.elevation = 1.2;
    view.show(shown);
    const { width, height } = view.canvas, { data } = view.canvas.getContext("2d").getImageData(0, 0, width, height);
    const base = [1, 3, 5].map((k) => parseInt(shown.palette.base.slice(k, k + 2), 16));
    let grey = 0;
    for (let k = 0; k < data.length; k += 4) grey += base.every((x, i) => data[k + i] === x);
    return { axes: shown.arm.joints.map((joint) => joint.axis[2]), heights, floor: shown.floor, grey,
             curves: new Chart(document.createElement("canvas"), null).colors };"""
    found = answered(page, program, tmp_path)
    np.testing.assert_allclose(found["axes"], 0.0, atol=1e-9)  # they are level: the plane of motion is upright
    assert min(found["heights"]) == pytest.approx(-np.sin(1.2) - np.sin(1.7))
    assert found["floor"] <= min(found["heights"])
    assert found["grey"] > 30  # pixels of the disc around the joint, seen from above
    assert tuple(found["curves"]) == COLORS  # curves of the page and of a report look alike


def test_names_cannot_break_the_page(tmp_path: Path) -> None:
    rows = [
        {
            "name": "j</script><script>alert(1)</script>",
            "a": 0.3,
            "mass": 1,
            "com": [0.1, 0, 0],
            "inertia": [0.1, 0, 0, 0.1, 0, 0.1],
        }
    ]
    robot = Robot.from_dh(rows, name="<img src=x onerror=alert(1)>")
    text = share(robot).save(tmp_path / "arm.html").read_text()
    assert text.count("<script") == 1
    assert "<img" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "https://" not in text


def test_what_the_page_does_not_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FeatureError, match="elastic"):
        share(ROBOTS["elastic"]())
    path = tmp_path / "there.html"
    path.write_text("mine")
    with pytest.raises(ArmdynError, match="exists"), protecting_existing():
        share(armdyn.load("planar2r")).save(path)
    assert path.read_text() == "mine"


def test_a_platform_on_struts_has_a_page(tmp_path: Path) -> None:
    """Angles of its struts are whole programs: named after their text, they would be written without end."""
    robot = armdyn.load("stewart")
    text = share(robot).save(tmp_path / "stewart.html").read_text(encoding="utf-8")
    drawn = re.search(r'"joints": (\[\[.*?\]\]\]), "segments"', text)
    assert drawn is not None
    assert [kind for kind, *_ in json.loads(drawn[1])][-len(robot.loops) :] == [loop.kind for loop in robot.loops]
