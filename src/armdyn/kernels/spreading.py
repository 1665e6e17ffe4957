"""Large results of straight-line code: from one vector for every number to the rows of samples.

Straight-line code leaves each number of a large result once, samples side by side, in the nearest cache. A table says
which of them stands where; by it rows are made and written in order, line by line, past the caches if there are many.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.graph import Node
from armdyn.graph.node import ZERO
from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.ports import Ports
from armdyn.kernels.streaming import LINE, fetched

FEWEST, MOST = 256, 4096
"""Entries of a result from which it is written this way, and numbers in it up to which."""
TOGETHER = 32
"""Lines of each sample that are made before they are written."""


def spread_results(ports: Ports) -> dict[int, dict[Node, int]]:
    """Results that are written this way, by their place among all arrays: their numbers, each once."""
    found = {}
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        numbers = {node: k for k, node in enumerate(dict.fromkeys(port.nodes))}
        if port.size >= FEWEST and len(numbers) <= MOST:
            found[i] = numbers
    return found


def places(nodes: Sequence[Node], numbers: dict[Node, int], lanes: int) -> list[int]:
    """Which number stands where: the table that `@spread` reads.

    Whole lines come in parts of `TOGETHER`. A part begins with its number of runs, a run with its numbers of lines of
    zeros and of other lines, for which the places of all entries follow, in doubles. At the end come those of the
    entries that are left, in vectors of four; the last of these may overlap what is before it.
    """
    listed = [lanes * numbers[node] for node in nodes]
    starts = range(0, len(nodes) // LINE * LINE, LINE)
    found = []
    for part in (starts[k : k + TOGETHER] for k in range(0, len(starts), TOGETHER)):
        runs: list[tuple[list[int], list[int]]] = []
        for start in part:
            other = any(node is not ZERO for node in nodes[start : start + LINE])
            if not runs or (runs[-1][1] and not other):
                runs.append(([], []))
            runs[-1][other].append(start)
        found.append(len(runs))
        for zeros, others in runs:
            found += [len(zeros), len(others), *(listed[start + k] for start in others for k in range(LINE))]
    for start in range(len(starts) * LINE, len(nodes), LANES):
        first = min(start, len(nodes) - LANES)
        found += listed[first : first + LANES]
    return found


def spread(lanes: int) -> str:
    """`void @spread(ptr to, ptr values, ptr places, i64 count, i64 past)`: one result of a block of samples.

    to: `count` entries of each sample. values: numbers, samples side by side. places: a table. past: not 0 for past the
    caches.
    """
    w = LoopWriter()
    w.label("entry")
    room = 8 * LINE * (TOGETHER + 2)
    w.do(f"%made = alloca [{lanes * room} x i8], align 64")
    w.do("%next = alloca ptr, align 8")
    w.do("%size = alloca i64, align 8")
    w.store("ptr", "%places", "%next")
    past, row, lines = w.put("icmp ne i64 %past, 0"), w.times("%count", 8), w.put("lshr i64 %count, 3")
    rows = [w.offset("%to", w.times(row, k)) for k in range(lanes)]
    buffers = [w.offset("%made", room * k + 8 * LINE) for k in range(lanes)]
    for each in rows:  # lines that samples share, of the next block: only whole ones go past the caches
        fetched(w, w.offset(each, w.times(row, lanes)), 8 * LINE)
    parts = w.put(f"udiv i64 {w.plus(lines, TOGETHER - 1)}, {TOGETHER}")
    with w.counting("part", parts) as part:
        here = [w.offset(each, w.times(part, 8 * LINE * TOGETHER)) for each in rows]
        _made(w, [w.put(f"select i1 {past}, ptr {a}, ptr {b}") for a, b in zip(buffers, here, strict=True)])
        begun, ended = w.put(f"icmp sgt i64 {part}, 0"), w.put(f"icmp eq i64 {w.plus(part, 1)}, {parts}")
        with w.when(past, "written"):
            size = w.put(f"lshr i64 {w.load('i64', '%size')}, 3")
            for to, made in zip(here, buffers, strict=True):
                w.do(f"call void @put_lines(ptr {to}, ptr {made}, i64 {size}, i1 {begun}, i1 {ended})")
    done, listed = w.times(lines, LINE), w.load("ptr", "%next")
    left = w.put(f"lshr i64 {w.plus(w.put(f'sub i64 %count, {done}'), LANES - 1)}, {LANES.bit_length() - 1}")
    with w.counting("left", left) as four:
        last, start = w.plus("%count", -LANES), w.plus(done, w.times(four, LANES))
        place = w.times(w.put(f"call i64 @llvm.smin.i64(i64 {start}, i64 {last})"), 8)
        _four(w, w.offset(listed, w.times(four, 2 * LANES)), [w.offset(each, place) for each in rows])
    w.do("ret void")
    arguments = "ptr %to, ptr %values, ptr %places, i64 %count, i64 %past"
    return f'define void @spread({arguments}) noinline "stackrealign" {{\n{w.text}\n}}\n'


def _made(w: LoopWriter, targets: Sequence[str]) -> None:
    """A part of the rows of all samples, at these places; `%size`: its bytes."""
    w.store("i64", "0", "%size")
    with w.counting("run", _number(w)):
        zeros, others = _number(w), _number(w)
        start = w.load("i64", "%size")
        with w.counting("zero", zeros) as k:
            place = w.plus(start, w.times(k, 8 * LINE))
            for target in (w.offset(each, place) for each in targets):
                for at in range(0, 8 * LINE, WIDE):
                    w.store(V4, "zeroinitializer", w.offset(target, at))
        start, listed = w.plus(start, w.times(zeros, 8 * LINE)), w.load("ptr", "%next")
        with w.counting("other", others) as k:
            table, place = w.offset(listed, w.times(k, 2 * LINE)), w.plus(start, w.times(k, 8 * LINE))
            for at in range(0, LINE, LANES):
                _four(w, w.offset(table, 2 * at), [w.offset(w.offset(each, place), 8 * at) for each in targets])
        w.store("ptr", w.offset(listed, w.times(others, 2 * LINE)), "%next")
        w.store("i64", w.plus(start, w.times(others, 8 * LINE)), "%size")


def _number(w: LoopWriter) -> str:
    """The next number of the table."""
    at = w.load("ptr", "%next")
    w.store("ptr", w.offset(at, 2), "%next")
    return _small(w, at)


def _small(w: LoopWriter, at: str) -> str:
    return w.put(f"zext i16 {w.put(f'load i16, ptr {at}, align 2')} to i64")


def _four(w: LoopWriter, at: str, targets: Sequence[str]) -> None:
    """Four neighbouring entries of all samples, whose places are in the table there."""
    lanes = len(targets)
    entries = [w.put(f"getelementptr double, ptr %values, i64 {_small(w, w.offset(at, 2 * k))}") for k in range(LANES)]
    values = [w.load(vector(lanes), entry, 8 * lanes) for entry in entries]
    for target, row in zip(targets, transposed(w, values, lanes), strict=True):
        w.store(V4, row, target)
