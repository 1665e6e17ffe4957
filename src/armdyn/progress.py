"""A progress bar for work that takes a while, in a notebook or in a terminal."""

from __future__ import annotations

import sys
import time
from html import escape
from importlib import import_module
from typing import Any

WIDTH = 30
EVERY = 0.1
"""Seconds between two drawings."""


class ProgressBar:
    """Shows how far long work has come; pass it as `progress=`.

    In a notebook it is one line that is updated in place, in a terminal one line on stderr; elsewhere it is silent.

    >>> import armdyn
    >>> certificate = armdyn.certify(armdyn.load("pendulum"), points=1, progress=armdyn.ProgressBar())
    """

    def __init__(self) -> None:
        self._handle: Any = None
        self._begin = time.perf_counter()
        self._drawn = 0.0

    def __call__(self, step: str, done: float | None = None) -> None:
        """Show the step, and the share of the work that is done, from 0 to 1."""
        now = time.perf_counter()
        if now - self._drawn < EVERY and (done is None or done < 1):
            return
        self._drawn = now
        seconds = now - self._begin
        if _in_notebook():
            self._draw_html(step, done, seconds)
        elif sys.stderr.isatty():
            filled = round(WIDTH * (done or 0.0))
            line = f"\r{step:<32.32} [{'#' * filled}{' ' * (WIDTH - filled)}] {seconds:.1f} s"
            sys.stderr.write(line + ("\n" if done is not None and done >= 1 else ""))
            sys.stderr.flush()

    def _draw_html(self, step: str, done: float | None, seconds: float) -> None:
        shell: Any = import_module("IPython.display")  # untyped, and there only in a notebook
        value = "" if done is None else f' value="{min(max(done, 0.0), 1.0):.3f}"'
        shown = shell.HTML(f"<progress max=1{value}></progress> <small>{escape(step)}, {seconds:.1f} s</small>")
        if self._handle is None:
            self._handle = shell.display(shown, display_id=True)
        else:
            self._handle.update(shown)


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this; IPython is not imported to find out."""
    shell = sys.modules.get("IPython")
    running = shell.get_ipython() if shell is not None else None
    return running is not None and hasattr(running, "kernel")
