"""Large results of straight-line code: from one vector for every number to the rows of samples.

Straight-line code leaves each number of a large result once, samples side by side, in the nearest cache; a table says
which of them stands where. Here entries are brought into the order of memory and written line by line, large results
past the caches.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.graph import Node
from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.streaming import LINE, fetched

FEWEST = 256
"""Entries of a result from which it is written this way."""
TOGETHER = 64
"""Vectors of four entries that are made before they are written."""


def distinct(nodes: Sequence[Node]) -> dict[Node, int]:
    """The numbers of a result, in order, each once."""
    found: dict[Node, int] = {}
    for node in nodes:
        found.setdefault(node, len(found))
    return found


def places(nodes: Sequence[Node], lanes: int) -> list[int]:
    """Which number stands where, in doubles from the first one on; the last vector of four may overlap that before."""
    known = distinct(nodes)
    listed = [lanes * known[node] for node in nodes]
    return listed[: len(listed) // LANES * LANES] + (listed[-LANES:] if len(listed) % LANES else [])


def spread(lanes: int) -> str:
    """`void @spread(ptr to, ptr values, ptr places, i64 count, i64 past)`: one result of a block of samples.

    values: numbers, samples side by side. places: of `count` entries in `values`. past: not 0 for past the caches.
    """
    w = LoopWriter()
    w.label("entry")
    room = WIDE * TOGETHER + 2 * 8 * LINE
    w.do(f"%made = alloca [{lanes * room} x i8], align 64")
    row = w.times("%count", 8)
    rows = [w.offset("%to", w.times(row, k)) for k in range(lanes)]
    w.do(f"br i1 {w.put('icmp eq i64 %past, 0')}, label %near, label %far")
    w.label("near")
    _fours(w, "direct", "0", "%count", rows, w.times(row, lanes))
    w.do("ret void")
    w.label("far")
    buffers = [w.offset("%made", room * k + 8 * LINE) for k in range(lanes)]
    blocks = w.put(f"udiv i64 {w.plus('%count', LANES * TOGETHER - 1)}, {LANES * TOGETHER}")
    for k in range(lanes):  # lines that two samples share, of the next block
        fetched(w, w.offset(rows[k], w.times(row, lanes)), 8 * LINE)
    with w.counting("block", blocks) as block:
        first = w.times(block, LANES * TOGETHER)
        size = w.put(f"call i64 @llvm.smin.i64(i64 {LANES * TOGETHER}, i64 {w.put(f'sub i64 %count, {first}')})")
        begun, ended = w.put(f"icmp sgt i64 {block}, 0"), w.put(f"icmp eq i64 {w.plus(block, 1)}, {blocks}")
        _fours(w, "made", first, size, buffers)
        order = f"i1 true, i1 {begun}, i1 {ended}"
        for k in range(lanes):
            target = w.offset(rows[k], w.times(first, 8))
            w.do(f"call void @put_rows(ptr {target}, i64 0, i64 8, ptr {buffers[k]}, i64 1, i64 {size}, {order})")
    w.do("ret void")
    arguments = "ptr %to, ptr %values, ptr %places, i64 %count, i64 %past"
    return f'define void @spread({arguments}) noinline "stackrealign" {{\n{w.text}\n}}\n'


def _fours(w: LoopWriter, name: str, first: str, size: str, rows: Sequence[str], ahead: str = "") -> None:
    """So many entries of all samples, in vectors of four, to rows.

    first: of the entries. ahead: bytes from these rows to others whose lines are fetched, if any.
    """
    listed = w.offset("%places", w.times(first, 2))
    with w.counting(f"{name}.line", w.put(f"lshr i64 {size}, 3")) as line:
        at, place = w.offset(listed, w.times(line, 4 * LANES)), w.times(line, 2 * WIDE)
        for row in rows if ahead else ():
            fetched(w, w.offset(w.offset(row, place), ahead), 8 * LINE)
        for k in range(2):
            _four(w, w.offset(at, 2 * LANES * k), [w.offset(row, w.plus(place, WIDE * k)) for row in rows])
    done, left = w.put(f"and i64 {size}, -{2 * LANES}"), w.put(f"and i64 {size}, {2 * LANES - 1}")
    with w.counting(f"{name}.four", w.put(f"lshr i64 {w.plus(left, LANES - 1)}, 2")) as four:
        start = w.plus(done, w.times(four, LANES))
        place = w.put(f"call i64 @llvm.smin.i64(i64 {start}, i64 {w.plus(size, -LANES)})")
        _four(w, w.offset(listed, w.times(start, 2)), [w.offset(row, w.times(place, 8)) for row in rows])


def _four(w: LoopWriter, at: str, targets: Sequence[str]) -> None:
    """Four neighbouring entries of all samples."""
    lanes, values = len(targets), []
    for k in range(LANES):
        place = w.put(f"zext i16 {w.put(f'load i16, ptr {w.offset(at, 2 * k)}, align 2')} to i64")
        values.append(w.load(vector(lanes), w.put(f"getelementptr double, ptr %values, i64 {place}"), 8 * lanes))
    for target, entries in zip(targets, transposed(w, values, lanes), strict=True):
        w.store(V4, entries, target)
