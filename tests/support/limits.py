"""Limits of the process that runs the tests, and how much they draw."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FULL = bool(os.environ.get("ARMDYN_FULL"))
"""Whether the long versions run."""
STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@contextlib.contextmanager
def waiting_is_a_failure(seconds: int = 60) -> Iterator[None]:
    """What waits for a pipe or a device fails after a time, instead of waiting for ever; on POSIX only."""

    def fail(*_: Any) -> None:
        raise AssertionError(f"it waited for {seconds} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def calls(function: Callable[[], object]) -> int:
    """How many functions `function` calls, in Python and in C: a measure of its work that no other process disturbs.

    The cycle collector rests: what tests before have left behind is none of its work.
    """
    number = 0

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal number
        number += event in ("call", "c_call")

    before = sys.getprofile()
    gc.collect()
    gc.disable()
    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(before)
        gc.enable()
    return number


def memory_growth() -> Callable[[], float]:
    """A function that tells by how much the memory of this process has grown at most since now, GB.

    What other tests of the process took before does not count. Where the system keeps no peak that can be reset, only
    growth beyond the old peak is seen.
    """
    try:
        CLEAR.write_text("5")  # the peak is what is in use now
        start = _status("VmRSS")
    except OSError:
        highest = _highest()
        return lambda: _highest() - highest
    return lambda: _status("VmHWM") - start


def _status(name: str) -> float:
    """A line of the process's status, GB."""
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    return int(found[1]) / 2**20 if found else 0.0


def _highest() -> float:
    """Largest memory of this process so far, GB; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**30 if sys.platform == "darwin" else 2**20)
