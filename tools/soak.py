"""Long runs: kernels on many threads, robots compiled and dropped, a large sweep. Memory and results stay the same.

    python tools/soak.py                                                  all of it: about an hour on a quiet machine
    python tools/soak.py threads --minutes 2 --calls 1e7 --threads 4      one part, shorter

Each part prints what it did, the memory of the process after the first tenth and at the end, and the number of results
that differ from the first ones in any bit. The exit status is 1 if memory grew by more than LARGEST_GROWTH or a result
changed.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import armdyn

ROBOTS = ("planar2r", "scara5", "ur5", "panda")
SINGLE, BATCH = 2000, 512
"""Calls with one sample between two comparisons, and samples of a batch."""
LARGEST_GROWTH = 32.0
"""MB; the allocator and the interpreter keep some memory for themselves."""


def memory() -> float:
    """Memory of this process now, MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


class Watch:
    """Memory after the first tenth of the work, and progress once a minute."""

    def __init__(self, title: str) -> None:
        self.title, self.begin, self.told = title, time.monotonic(), time.monotonic()
        self.warm: float | None = None

    def at(self, share: float, done: str) -> None:
        if self.warm is None and share >= 0.1:
            self.warm = memory()
        if time.monotonic() - self.told > 60:
            self.told = time.monotonic()
            print(f"  {100 * share:3.0f} %  {done}, {memory():.1f} MB", flush=True)

    def end(self, done: str, changed: int) -> bool:
        final, warm = memory(), self.warm or memory()
        seconds = time.monotonic() - self.begin
        figures = f"memory {warm:.1f} MB after a tenth, {final:.1f} MB at the end; {changed} results changed"
        print(f"{self.title}: {done} in {seconds:.0f} s; {figures}", flush=True)
        return changed == 0 and final - warm < LARGEST_GROWTH


# Kernels on many threads ----------------------------------------------------------------------------------------------


def functions() -> list[tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...], Any, Any]]:
    """(function, arguments of a call, arguments of a batch, result of the call, results of the batch)."""
    found = []
    for seed, name in enumerate(ROBOTS):
        dyn = armdyn.compile(armdyn.load(name))
        arrays = np.random.default_rng(seed).uniform(-1, 1, (3, BATCH, dyn.robot.n))
        for function, count in ((dyn.inverse_dynamics, 3), (dyn.forward_dynamics, 3), (dyn.mass_matrix, 1),
                                (dyn.coriolis_matrix, 2), (dyn.gravity, 1), (dyn.pose, 1)):  # fmt: skip
            one, many = tuple(a[0].copy() for a in arrays[:count]), tuple(arrays[:count])
            found.append((function, one, many, np.array(function(*one)), np.array(function(*many))))
    return found


def threads(given: argparse.Namespace) -> bool:
    """All threads call the same functions; each compares what it gets with the first results."""
    work, stop = functions(), threading.Event()
    counts, changed = [0] * given.threads, [0] * given.threads

    def worker(number: int) -> None:
        for function, one, many, result, results in itertools.cycle(work[number:] + work[:number]):
            for _ in range(SINGLE):
                found = function(*one)
            batch = function(*many)
            changed[number] += not (np.array_equal(found, result) and np.array_equal(batch, results))
            counts[number] += SINGLE + 1
            if stop.is_set():
                return

    watch = Watch(f"{given.threads} threads")
    workers = [threading.Thread(target=worker, args=(number,)) for number in range(given.threads)]
    for each in workers:
        each.start()
    share = 0.0
    while share < 1.0:
        time.sleep(0.2)
        share = min((time.monotonic() - watch.begin) / (60 * given.minutes), sum(counts) / given.calls)
        watch.at(share, f"{sum(counts):.3g} calls")
    stop.set()
    for each in workers:
        each.join()
    return watch.end(f"{sum(counts):.4g} calls, a comparison after each {SINGLE}", sum(changed))


# Robots that come and go ----------------------------------------------------------------------------------------------


def robots(given: argparse.Namespace) -> bool:
    """Random robots compiled without the cache, used once, compared with the recursion itself, dropped."""
    watch, changed = Watch("robots"), 0
    for seed in range(given.robots):
        robot = armdyn.random_robot(seed, 2 + seed % 4)
        state = np.random.default_rng(seed).uniform(-1, 1, (3, robot.n))
        found = armdyn.compile(robot, cache=False).inverse_dynamics(*state)
        expected = armdyn.mechanics.newton_euler.inverse_dynamics(robot, *state)
        changed += not np.allclose(found, expected, rtol=1e-10, atol=1e-10)
        watch.at(seed / given.robots, f"{seed} robots")
    return watch.end(f"{given.robots} robots compiled and dropped", changed)


# A large sweep --------------------------------------------------------------------------------------------------------


def sweep(given: argparse.Namespace) -> bool:
    """Variants whose result is known: the moving mass. Chunks are kept in a folder, then read again."""
    side = max(2, round(given.variants**0.5))
    vary = {"ml1": np.linspace(1.0, 2.0, side), "ml2": np.linspace(0.5, 1.5, side)}
    robot = armdyn.load("planar2r")
    watch = Watch("sweep")
    with tempfile.TemporaryDirectory() as place:
        settings: dict[str, Any] = {"measures": ["mass"], "chunk": 1000, "folder": place}
        found = armdyn.sweep(robot, vary, progress=lambda step, done: watch.at(done, step), **settings)
        again = armdyn.sweep(robot, vary, **settings)
    expected = found["ml1"] + found["ml2"] + robot.parameters["mm2"]  # the second motor sits on the first link
    changed = np.sum(abs(found["mass"] - expected) > 1e-12) + np.sum(again["mass"] != found["mass"])
    return watch.end(f"{len(found.points)} variants, {again.taken} chunks taken again", int(changed))


PARTS: dict[str, Callable[[argparse.Namespace], bool]] = {"threads": threads, "robots": robots, "sweep": sweep}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)} (default: all)")
    options.add_argument("--threads", type=int, default=8)
    options.add_argument("--minutes", type=float, default=20.0, help="shortest time of the threads")
    options.add_argument("--calls", type=float, default=1e8, help="smallest number of calls of the threads")
    options.add_argument("--robots", type=int, default=1000)
    options.add_argument("--variants", type=int, default=1_000_000)
    given = options.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        options.error(f"unknown part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    passed = [PARTS[name](given) for name in given.parts or PARTS]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
