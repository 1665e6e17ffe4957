"""Random use of the studio in a browser: clicks, keys, drags, wrong numbers, pages that vanish.

    python tools/random_clicks.py --minutes 15 --seed 1

Prints memory once a minute and, at the end, how many actions were done and every error of the page's console. Exit
status 1 if there was one. Needs Playwright and Chromium.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import armdyn
from armdyn.browser import Studio
from armdyn.browser import studio as open_studio

FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
         "--disable-background-networking", "--disable-component-update"]  # fmt: skip
ROBOTS = ("planar2r", "pendulum", "scara5", "panda", "planar3r", "five_bar")
WRONG = ("9" * 400, "-" + "9" * 400, "1e999", "nan", "0", "-3", "<img src=x onerror=alert(1)>", "½", "")
"""What is typed into fields."""
KEYS = ("ArrowRight", "ArrowLeft", "Home", "End", "PageUp", "Tab", "Enter", "Escape")


class Visitor:
    """Somebody who tries everything at random."""

    def __init__(self, studio: Studio, browser: Any, seed: int, gone: type[Exception]) -> None:
        self.studio, self.browser, self.choice, self.gone = studio, browser, random.Random(seed), gone
        self.errors: list[str] = []
        self.done: dict[str, int] = {}
        self.refused = 0
        self.page = self.opened()

    def opened(self) -> Any:
        page = self.browser.new_page(viewport={"width": 1024, "height": 700})
        page.set_default_timeout(30_000)
        page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", lambda dialog: self.errors.append(f"dialog: {dialog.message}") or dialog.dismiss())
        page.on("download", lambda download: download.cancel())
        page.add_init_script("delete window.showSaveFilePicker")  # a dialog that nobody here can answer
        page.goto(self.studio.address)
        page.wait_for_selector("[data-torques]", state="attached")
        return page

    def act(self) -> None:
        """One action; an element that went away meanwhile is no error."""
        name = self.choice.choices(("tab", "button", "slider", "field", "dropdown", "checkbox", "drag", "robot",
                                    "vanish", "reload"), (8, 14, 14, 6, 6, 4, 10, 2, 0.5, 0.5))[0]  # fmt: skip
        try:
            getattr(self, name)()
            self.done[name] = self.done.get(name, 0) + 1
        except (IndexError, self.gone):
            self.refused += 1

    def one(self, selector: str) -> Any:
        """One of the visible elements."""
        found = self.page.locator(f"{selector} >> visible=true").element_handles()
        return self.choice.choice(found)

    def tab(self) -> None:
        self.one("[role=tab]").click(timeout=2000)

    def button(self) -> None:
        self.one("button:not([aria-label])").click(timeout=2000)

    def slider(self) -> None:
        self.one("[role=slider]").focus()
        for _ in range(self.choice.randrange(1, 8)):
            self.page.keyboard.press(self.choice.choice(KEYS))

    def field(self) -> None:
        field = self.one("input[type=text]")
        field.fill(self.choice.choice(WRONG), timeout=2000)
        field.press("Enter", timeout=2000)

    def dropdown(self) -> None:
        self.one("input[readonly], input[aria-haspopup=listbox]").click(timeout=2000)
        options = self.page.locator("[role=option] >> visible=true")
        names = options.all_inner_texts()
        wanted = [k for k, name in enumerate(names) if name not in set(armdyn.catalog.names())]
        if wanted:
            options.nth(self.choice.choice(wanted)).click(timeout=2000)
        self.page.keyboard.press("Escape")

    def robot(self) -> None:
        self.page.locator("xpath=//label[normalize-space()='Robot']/following::input[1]").first.click(timeout=2000)
        name = self.choice.choice(ROBOTS)
        self.page.get_by_role("option", name=name, exact=True).click(timeout=2000)

    def checkbox(self) -> None:
        self.one("input[type=checkbox]").click(timeout=2000, force=True)

    def drag(self) -> None:
        x, y = self.choice.uniform(50, 600), self.choice.uniform(100, 650)
        mouse = self.page.mouse
        mouse.move(x, y)
        mouse.down()
        mouse.move(x + self.choice.uniform(-80, 80), y + self.choice.uniform(-80, 80), steps=4)
        mouse.up()

    def vanish(self) -> None:
        """Another page that is closed while it loads."""
        other = self.browser.new_page()
        other.goto(self.studio.address, wait_until="commit")
        other.close()

    def reload(self) -> None:
        self.page.close()
        self.page = self.opened()


def memory() -> float:
    """Of this process, MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    from playwright.sync_api import Error, sync_playwright

    studio = open_studio(armdyn.load("planar2r"))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        visitor, begin = Visitor(studio, browser, options.seed, Error), time.monotonic()
        said = 0
        while (passed := time.monotonic() - begin) < 60 * options.minutes:
            if passed >= 60 * said:
                heap = visitor.page.evaluate("() => performance.memory.usedJSHeapSize / 1e6")
                count, name = sum(visitor.done.values()), studio.answers.robot.name
                sys.stdout.write(f"{said:3d} min: {count} actions, studio {memory():.0f} MB, page {heap:.0f} MB, "
                                 f"{len(visitor.errors)} errors, {name}\n")  # fmt: skip
                sys.stdout.flush()
                said += 1
            visitor.act()
        count = sum(visitor.done.values())
        sys.stdout.write(f"{count} actions {visitor.done}, {visitor.refused} elements gone; studio {memory():.0f} MB; "
                         f"{len(visitor.errors)} console errors\n")  # fmt: skip
        for error in dict.fromkeys(visitor.errors):
            sys.stdout.write(f"  {error[:300]}\n")
        browser.close()
    studio.stop()
    sys.exit(bool(visitor.errors))


if __name__ == "__main__":
    main()
