"""From a key on a slider to the torques in the page of the studio, stage by stage, and the time of a frame.

    python benchmarks/studio.py

Chromium without a window, 1024 x 768 pixels, draws in software; with the 3D view hidden, what is left is the way of the
value to the studio and of the text back. All times on the same clock, medians. Needs Playwright and Chromium.
"""

from __future__ import annotations

import shutil
import sys
import time
from typing import Any

import numpy as np

import armdyn
from armdyn.browser import Studio
from armdyn.browser import studio as open_studio
from armdyn.robot import Robot

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
STEPS = 60
ONE_BY_ONE, DRAGGED = 150, 0
"""Pause between two steps, ms: steps apart, or as fast as the answers arrive."""

SLIDER = """async ([steps, pause]) => {
    const place = document.querySelector('[data-torques]').parentElement, times = [];
    const now = () => performance.timeOrigin + performance.now();
    let done = null;
    new MutationObserver(() => done && done(now())).observe(place, {childList: true, subtree: true});
    const slider = document.querySelector('[role=slider]');
    slider.focus();
    for (let k = 0; k < steps; k++) {
        const waiting = new Promise((resolve) => { done = resolve; setTimeout(() => resolve(NaN), 5000); });
        const begin = now();
        slider.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', code: 'ArrowRight', bubbles: true}));
        times.push([begin, await waiting]);
        done = null;
        await new Promise((resolve) => setTimeout(resolve, pause));
    }
    return times;
}"""
FRAMES = """async (count) => {
    const times = []; let last = performance.now();
    for (let k = 0; k < count; k++) {
        await new Promise(requestAnimationFrame);
        const now = performance.now(); times.push(now - last); last = now;
    }
    return times;
}"""


def stages(studio: Studio, page: Any, pause: float) -> dict[str, float]:
    """Medians, ms: to the studio, in the studio, back to the page, in all."""
    inside: list[tuple[float, float]] = []
    original = studio.move

    def timed(*arguments: Any, **options: Any) -> None:
        begin = time.time()
        original(*arguments, **options)
        inside.append((1e3 * begin, 1e3 * time.time()))

    vars(studio)["move"] = timed
    seen = np.array(page.evaluate(SLIDER, [STEPS, pause]), dtype=float)
    del vars(studio)["move"]
    begins, ends = np.array(inside).T
    at = np.minimum(np.searchsorted(begins, seen[:, 0]), len(begins) - 1)  # the first that began after the key
    arrived, sent = begins[at], ends[at]
    parts = {
        "to the studio": arrived - seen[:, 0],
        "torques and scene": sent - arrived,
        "in all": seen[:, 1] - seen[:, 0],
    }
    return {name: float(np.nanmedian(x)) for name, x in parts.items()}


def frame(studio: Studio, page: Any) -> float:
    """Median time between frames while the arm moves, ms."""
    import threading

    ends = threading.Event()

    def swing() -> None:
        begin, q0 = time.monotonic(), studio.q.copy()
        while not ends.is_set():
            studio.move(q0 + 0.3 * np.sin(2 * (time.monotonic() - begin)))
            time.sleep(1 / 40)

    thread = threading.Thread(target=swing)
    thread.start()
    times = page.evaluate(FRAMES, 40)
    ends.set()
    thread.join()
    page.wait_for_timeout(1000)
    return float(np.median(times))


def with_meshes() -> Robot | None:
    """Franka's panda from a wheel that brings its meshes, if it is installed."""
    from importlib.metadata import PackageNotFoundError, files

    try:
        found = [f for f in files("example-robot-data") or [] if str(f).endswith("panda_description/urdf/panda.urdf")]
    except PackageNotFoundError:
        return None
    return armdyn.load(str(found[0].locate())) if found else None


def main() -> None:
    from playwright.sync_api import sync_playwright

    robots = {name: armdyn.load(name) for name in ("planar2r", "panda")}
    meshes = with_meshes()
    if meshes is not None:
        robots["panda with meshes"] = meshes
    sys.stdout.write(
        f"{'ms, median':20}{'3D view':>10}{'steps':>10}{'to studio':>11}{'inside':>9}{'in all':>9}{'frame':>9}\n"
    )
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, robot in robots.items():
            studio = open_studio(robot)
            page = browser.new_page(viewport={"width": 1024, "height": 768})
            page.set_default_timeout(120_000)
            for view, more in (("drawn", ""), ("1 % of it", "&fixedDpr=0.1")):
                page.goto(studio.address + more)
                page.wait_for_selector("[data-torques]", state="attached")
                page.wait_for_timeout(4000)
                for words, pause in (("apart", ONE_BY_ONE), ("at once", DRAGGED)):
                    found = stages(studio, page, pause)
                    sys.stdout.write(f"{name:20}{view:>10}{words:>10}{found['to the studio']:11.1f}"
                                     f"{found['torques and scene']:9.1f}{found['in all']:9.1f}")  # fmt: skip
                    sys.stdout.write(f"{frame(studio, page):9.1f}\n")
                    sys.stdout.flush()
            page.close()
            studio.stop()
        browser.close()


if __name__ == "__main__":
    main()
