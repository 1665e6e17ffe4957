"""Large results of straight-line code: from one vector for every number to the rows of samples.

Straight-line code leaves each number of a large result once, samples side by side, in the nearest cache; a table says
which of them stands where. Here entries are brought into the order of memory and written line by line, large results
past the caches.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.graph import Node
from armdyn.graph.node import ZERO
from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.streaming import LINE, fetched

FEWEST = 256
"""Entries of a result from which it is written this way."""
TOGETHER = 32
"""Lines of entries that are made before they are written."""


def distinct(nodes: Sequence[Node]) -> dict[Node, int]:
    """The numbers of a result, in order, each once."""
    found: dict[Node, int] = {}
    for node in nodes:
        found.setdefault(node, len(found))
    return found


def places(nodes: Sequence[Node], lanes: int) -> list[int]:
    """Which number stands where: the table that `@spread` reads.

    Lines of entries come in parts of `TOGETHER`. A part begins with its number of runs, a run with the numbers of its
    lines of zeros and of its other lines, of which the places of all numbers follow, in doubles from the first one on.
    Then come, if there are entries left, those of the last line and a half or less in vectors of four, the last of
    which may overlap the one before it.
    """
    known = distinct(nodes)
    listed = [lanes * known[node] for node in nodes]
    lines = [range(k, k + LINE) for k in range(0, len(nodes) // LINE * LINE, LINE)]
    found = []
    for first in range(0, len(lines), TOGETHER):
        runs: list[tuple[list[range], list[range]]] = []
        for line in lines[first : first + TOGETHER]:
            zero = all(nodes[k] is ZERO for k in line)
            if not runs or (zero and runs[-1][1]):
                runs.append(([], []))
            runs[-1][not zero].append(line)
        found.append(len(runs))
        for zeros, others in runs:
            found += [len(zeros), len(others), *(listed[k] for line in others for k in line)]
    rest = len(nodes) % LINE
    fours = [len(nodes) - rest, len(nodes) - LANES][: -(-rest // LANES)] if rest >= LANES else [len(nodes) - LANES]
    return found + [listed[start + k] for start in (fours if rest else []) for k in range(LANES)]


def spread(lanes: int) -> str:
    """`void @spread(ptr to, ptr values, ptr places, i64 count, i64 past)`: one result of a block of samples.

    values: numbers, samples side by side. places: of `count` entries in `values`. past: not 0 for past the caches.
    """
    w = LoopWriter()
    w.label("entry")
    room = 8 * LINE * (TOGETHER + 4)
    w.do(f"%made = alloca [{lanes * room} x i8], align 64")
    w.do("%next = alloca ptr, align 8")
    w.store("ptr", "%places", "%next")
    row = w.times("%count", 8)
    rows = [w.offset("%to", w.times(row, k)) for k in range(lanes)]
    buffers = [w.offset("%made", room * k + 8 * LINE) for k in range(lanes)]
    past = w.put("icmp ne i64 %past, 0")
    lines = w.put("lshr i64 %count, 3")
    parts = w.put(f"udiv i64 {w.plus(lines, TOGETHER - 1)}, {TOGETHER}")
    for k in range(lanes):  # lines that two samples share, of the next block
        fetched(w, w.offset(rows[k], w.times(row, lanes)), 8 * LINE)
    with w.counting("part", parts) as part:
        place = w.times(part, 8 * LINE * TOGETHER)
        here = [w.offset(each, place) for each in rows]
        targets = [w.put(f"select i1 {past}, ptr {a}, ptr {b}") for a, b in zip(buffers, here, strict=True)]
        runs = _number(w)
        w.store("i64", "0", "%made")
        with w.counting("run", runs) as run:
            zeros, others = _number(w), _number(w)
            start = w.load("i64", "%made")
            with w.counting("zero", zeros) as k:
                at = w.plus(start, w.times(k, 8 * LINE))
                for target in targets:
                    for half in range(2):
                        w.store(V4, "zeroinitializer", w.offset(w.offset(target, at), WIDE * half))
            start = w.plus(start, w.times(zeros, 8 * LINE))
            listed = w.load("ptr", "%next")
            with w.counting("other", others) as k:
                at, table = w.plus(start, w.times(k, 8 * LINE)), w.offset(listed, w.times(k, 2 * LINE))
                for half in range(2):
                    _four(w, w.offset(table, 2 * LANES * half), [w.offset(w.offset(t, at), WIDE * half) for t in targets])
            w.store("ptr", w.offset(listed, w.times(others, 2 * LINE)), "%next")
            w.store("i64", w.plus(start, w.times(others, 8 * LINE)), "%made")
        begun, ended = w.put(f"icmp sgt i64 {part}, 0"), w.put(f"icmp eq i64 {w.plus(part, 1)}, {parts}")
        with w.when(past, "written"):
            size = w.put(f"lshr i64 {w.load('i64', '%made')}, 3")
            order = f"i1 true, i1 {begun}, i1 {ended}"
            for k in range(lanes):
                w.do(f"call void @put_rows(ptr {here[k]}, i64 0, i64 8, ptr {buffers[k]}, i64 1, i64 {size}, {order})")
    done, rest = w.times(lines, LINE), w.put(f"and i64 %count, {LINE - 1}")
    listed = w.load("ptr", "%next")
    with w.counting("last", w.put(f"lshr i64 {w.plus(rest, LANES - 1)}, 2")) as four:
        start = w.plus(done, w.times(four, LANES))
        at = w.put(f"call i64 @llvm.smin.i64(i64 {start}, i64 {w.plus('%count', -LANES)})")
        _four(w, w.offset(listed, w.times(four, 2 * LANES)), [w.offset(each, w.times(at, 8)) for each in rows])
    w.do("ret void")
    arguments = "ptr %to, ptr %values, ptr %places, i64 %count, i64 %past"
    return f'define void @spread({arguments}) noinline "stackrealign" {{\n{w.text}\n}}\n'


def _number(w: LoopWriter) -> str:
    """The next number of the table."""
    at = w.load("ptr", "%next")
    w.store("ptr", w.offset(at, 2), "%next")
    return w.put(f"zext i16 {w.put(f'load i16, ptr {at}, align 2')} to i64")


def _four(w: LoopWriter, at: str, targets: Sequence[str]) -> None:
    """Four neighbouring entries of all samples."""
    lanes, values = len(targets), []
    for k in range(LANES):
        place = w.put(f"zext i16 {w.put(f'load i16, ptr {w.offset(at, 2 * k)}, align 2')} to i64")
        values.append(w.load(vector(lanes), w.put(f"getelementptr double, ptr %values, i64 {place}"), 8 * lanes))
    for target, entries in zip(targets, transposed(w, values, lanes), strict=True):
        w.store(V4, entries, target)
