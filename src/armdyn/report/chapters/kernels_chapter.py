"""The chapter on compiled functions: operations, time per call, time per sample in a batch."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from armdyn.dynamics.quantities import QUANTITIES, RARE
from armdyn.errors import ArmdynError
from armdyn.report.chapters.chapter import Fact, ReportChapter
from armdyn.report.chapters.subject import Subject
from armdyn.report.pages import html
from armdyn.tables import Column, Section
from armdyn.typing import Array

BATCH = 4096
"""Samples of a batch; its arrays fit into the processor's cache."""
MANY = 12
"""Joints beyond which only the usual functions are compiled."""
USUAL = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "gravity", "pose", "jacobian")
TURN, TURNS = 0.004, 5
"""Seconds of one measurement, and their number; the shortest counts."""


def kernels(subject: Subject) -> ReportChapter:
    """Every function, compiled and timed on this machine."""
    dyn, n = subject.dyn, subject.robot.n
    names = [name for name in QUANTITIES if name in USUAL or (n <= MANY and name not in RARE)]
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
    columns = (
        Column("function"),
        Column("x"),
        Column("+"),
        Column("sin, cos"),
        Column("other"),
        Column("one call", "µs"),
        Column("in a batch", "ns/sample"),
        Column("compile time", "ms"),
    )
    note = (
        f"CPU time of one thread on this machine ({platform.machine()}, {platform.system()}) for one call from Python, "
        f"and per sample in a batch of {BATCH}. Compile time: of machine code, or its loading from the cache."
    )
    section = Section("", columns, tuple(rows), note)
    words = "`armdyn.compile(robot)` gives functions in machine code for this robot, called like NumPy functions."
    left = f"Beyond {MANY} joints, the report leaves the remaining functions uncompiled." if n > MANY else ""
    blocks = [
        html.paragraph(words),
        html.table(section) if rows else "",
        html.bullets("Functions that cannot be compiled", blocked),
        html.remark(left),
    ]
    file = subject.table("functions.csv", section, "operations and times of the compiled functions")
    facts, numbers = [], {name: {"call_s": call, "sample_s": sample} for name, (call, sample) in times.items()}
    if "inverse_dynamics" in times:
        count = dyn.program("inverse_dynamics").operations
        call, sample = times["inverse_dynamics"]
        said = f"{count.multiplications} x, {count.additions} +"
        facts.append(Fact("inverse dynamics", said, "operations, compiled"))
        facts.append(Fact("one call", f"{1e6 * call:.2f} µs", f"{1e9 * sample:.0f} ns per sample in a batch"))
    return ReportChapter(blocks, facts, [file], numbers={"functions": numbers})


def _measured(dyn: Any, name: str, random: np.random.Generator) -> tuple[tuple[float, float], tuple[str, ...]]:
    """(seconds per call, seconds per sample), and a row of the table."""
    function = getattr(dyn, name)
    many = [random.uniform(-1, 1, (BATCH, dyn.n)) for _ in QUANTITIES[name].inputs]
    one = [np.ascontiguousarray(array[0]) for array in many]
    call, sample = _fastest(function, one), _fastest(function, many) / BATCH
    made = dyn.program(name)
    count = made.operations
    other = count.divisions + count.square_roots + count.others
    numbers = (count.multiplications, count.additions, count.trigonometric, other)
    times = (f"{1e6 * call:.2f}", f"{1e9 * sample:.1f}", f"{1e3 * made.compile_seconds:.0f}")
    return (call, sample), (name, *map(str, numbers), *times)


def _fastest(function: Callable[..., Any], arguments: list[Array]) -> float:
    """Seconds per call: the shortest of a few measurements, each long enough for the clock."""
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
