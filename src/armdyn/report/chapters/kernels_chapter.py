"""The chapter about compiled functions: operations, time of a call, time of a sample in a batch."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.dynamics.graphs import RECIPES
from armdyn.errors import ArmdynError
from armdyn.report.chapters.chapter import Chapter, Fact, Subject
from armdyn.report.pages import html
from armdyn.tables import Column, Section
from armdyn.typing import Array

BATCH = 4096
"""Samples of a batch: its arrays stay in the caches."""
MANY = 12
"""Joints beyond which only the functions that most users call are compiled."""
USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "pose", "jacobian")
TURN, TURNS = 0.004, 5
"""Seconds of one measurement, and how many are made; the best counts."""


def kernels(subject: Subject) -> Chapter:
    """Every function, compiled and timed on this machine."""
    dyn, n = subject.dyn, subject.robot.n
    names = [name for name in RECIPES if n <= MANY or name in USUAL]
    random = np.random.default_rng(0)
    rows, blocked = [], []
    times: dict[str, tuple[float, float]] = {}
    for name in names:
        subject.say(f"compiling and timing {name}")
        try:
            times[name], row = _measured(dyn, name, random)
        except ArmdynError as error:
            blocked.append(f"{name}: {error}")
            continue
        rows.append(row)
    columns = (Column("function"), Column("x"), Column("+"), Column("sin, cos"), Column("other"),
               Column("one call", "µs"), Column("in a batch", "ns/sample"), Column("made in", "ms"))  # fmt: skip
    note = (
        f"Processor time of one thread on this machine ({platform.machine()}, {platform.system()}): a call from Python "
        f"with arrays of one sample, and a sample in a batch of {BATCH}. Made in: compiling, or reading the machine "
        "code back from the cache."
    )
    section = Section("", columns, tuple(rows), note)
    words = "Each function is machine code made for this robot, called like a NumPy function: armdyn.compile(robot)."
    left = f"Not compiled here, because there are more than {MANY} joints: the remaining functions." if n > MANY else ""
    blocks = [html.remark(subject.opened), html.paragraph(words), html.table(section) if rows else "",
              html.bullets("Functions that cannot be made", blocked), html.remark(left)]  # fmt: skip
    file = subject.table("functions.csv", section, "operations and times of the compiled functions")
    facts, numbers = [], {name: {"call_s": call, "sample_s": sample} for name, (call, sample) in times.items()}
    if "inverse_dynamics" in times:
        count = dyn.program("inverse_dynamics").operations
        call, sample = times["inverse_dynamics"]
        said = f"{count.multiplications} x, {count.additions} +"
        facts.append(Fact("inverse dynamics", said, "operations, compiled"))
        facts.append(Fact("one call", f"{1e6 * call:.2f} µs", f"{1e9 * sample:.0f} ns per sample in a batch"))
    return Chapter(blocks, facts, [file], numbers={"functions": numbers})


def _measured(dyn: Any, name: str, random: np.random.Generator) -> tuple[tuple[float, float], tuple[str, ...]]:
    """(seconds of a call, seconds of a sample), and a row of the table."""
    function = getattr(dyn, name)
    many = [random.uniform(-1, 1, (BATCH, dyn.n)) for _ in RECIPES[name].inputs]
    one = [np.ascontiguousarray(array[0]) for array in many]
    call, sample = _fastest(function, one), _fastest(function, many) / BATCH
    made = dyn.program(name)
    count = made.operations
    other = count.divisions + count.square_roots + count.others
    numbers = (count.multiplications, count.additions, count.trigonometric, other)
    times = (f"{1e6 * call:.2f}", f"{1e9 * sample:.1f}", f"{1e3 * made.compile_seconds:.0f}")
    return (call, sample), (name, *map(str, numbers), *times)


def _fastest(function: Callable[..., Any], arguments: list[Array]) -> float:
    """Seconds of one call: the best of some measurements, each long enough for the clock."""
    function(*arguments)
    repeats, seconds = 1, _seconds(function, arguments, 1)
    while seconds < TURN / 4 and repeats < 1 << 20:
        repeats *= 4
        seconds = _seconds(function, arguments, repeats)
    repeats = max(1, round(repeats * TURN / max(seconds, 1e-9)))
    return min(_seconds(function, arguments, repeats) for _ in range(TURNS)) / repeats


def _seconds(function: Callable[..., Any], arguments: list[Array], repeats: int) -> float:
    start = time.process_time()
    for _ in range(repeats):
        function(*arguments)
    return time.process_time() - start
