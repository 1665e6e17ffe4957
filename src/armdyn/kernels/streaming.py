"""Rows of matrices on their way to the caller, large results past the caches."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LoopWriter

LINE = 8
"""Doubles of a line of the caches."""


SHARE = 8
"""The part of the last cache that results may fill: beyond it, writing past the caches is faster."""
LAST = Path("/sys/devices/system/cpu/cpu0/cache/index3/size")
"""Where Linux tells the size of the last cache, as "32768K"."""
USUAL = 2**26
"""Bytes of the last cache where the system does not tell."""


@cache
def streamed() -> int:
    """Bytes of results from which they are written past the caches."""
    try:
        size = 1024 * int(LAST.read_text().removesuffix("K\n"))
    except (OSError, ValueError):
        size = USUAL
    return size // SHARE


class Target(NamedTuple):
    """Where a matrix of one sample goes: its address, and the distances of rows and of columns."""

    to: str
    down: str
    along: str


class Order(NamedTuple):
    """How results are written: past the caches; right after rows that came before; without rows that follow."""

    past: str = "false"
    after: str = "false"
    last: str = "true"


ORDERED = ", ".join(f"i1 %{name}" for name in Order._fields)
"""Its numbers as arguments of a function."""


def fetched(w: LoopWriter, following: str, size: int) -> None:
    """So many bytes of the caller's memory are fetched, while others are computed, in order to be overwritten."""
    for place in range(0, size, 8 * LINE):
        w.do(f"call void @llvm.prefetch.p0(ptr {w.offset(following, place)}, i32 1, i32 3, i32 1)")


def put_rows() -> str:
    """`@put_rows`: rows of doubles to where the caller wants them, `down` and `along` bytes apart.

    Past the caches go whole lines alone: a part of a line would have to be fetched, and whatever is stored later would
    wait for it. The beginning of a line, at the end of these rows, is kept before their buffer, for the rows that come
    right after them.
    """
    w = LoopWriter()
    w.label("entry")
    row_bytes = w.times("%columns", 8)
    dense = w.put(f"or i1 {w.put('icmp eq i64 %rows, 1')}, {w.put(f'icmp eq i64 %down, {row_bytes}')}")
    near = w.put("icmp eq i64 %along, 8")
    w.do(f"br i1 {w.put(f'and i1 {dense}, {near}')}, label %whole, label %gaps")
    w.label("gaps")
    numbers = ("0", "%down", "%along", "0", row_bytes, "8", "1", "%rows", "%columns")
    w.do(f"call void @copy(ptr %to, ptr %from, {', '.join(f'i64 {x}' for x in numbers)})")
    w.do("ret void")
    w.label("whole")
    count = w.times("%rows", "%columns")
    address = w.put("ptrtoint ptr %to to i64")
    begun = w.put(f"and i64 {w.put(f'lshr i64 {address}, 3')}, {LINE - 1}")
    bare = w.put(f"and i64 {w.put(f'sub i64 0, {begun}')}, {LINE - 1}")
    head = w.put(f"call i64 @llvm.smin.i64(i64 {bare}, i64 {count})")
    goes_on = w.put("and i1 %past, %after")
    start = w.put(f"select i1 {goes_on}, i64 {w.put(f'sub i64 0, {begun}')}, i64 {head}")
    lines = w.put(f"sdiv i64 {w.put(f'sub i64 {count}, {start}')}, {LINE}")
    stop = w.plus(start, w.times(lines, LINE))
    _one_by_one(w, "head", "0", w.put(f"select i1 {goes_on}, i64 0, i64 {head}"))
    source, target = (w.offset(pointer, w.times(start, 8)) for pointer in ("%from", "%to"))
    w.do("br i1 %past, label %beyond, label %near")
    for name, hint in (("beyond", ", !nontemporal !2"), ("near", "")):
        w.label(name)
        with w.counting(f"{name}.line", lines) as line:
            place = w.times(line, 8 * LINE)
            value = w.load(vector(LINE), w.offset(source, place))
            w.do(f"store {vector(LINE)} {value}, ptr {w.offset(target, place)}, align {8 * LINE}{hint}")
        w.do("br label %rest")
    w.label("rest")
    kept = w.put(f"and i1 %past, {w.put('xor i1 %last, true')}")
    w.do(f"br i1 {kept}, label %keep, label %end")
    w.label("keep")
    ending = w.load(vector(LINE), w.offset(w.offset("%from", w.times(count, 8)), -8 * LINE))
    w.store(vector(LINE), ending, w.offset("%from", -8 * LINE))
    w.do("ret void")
    w.label("end")
    _one_by_one(w, "tail", stop, count)
    w.do("ret void")
    arguments = "ptr %to, i64 %down, i64 %along, ptr %from, i64 %rows, i64 %columns"
    return f"define internal void @put_rows({arguments}, {ORDERED}) noinline {{\n{w.text}\n}}\n"


def _one_by_one(w: LoopWriter, name: str, start: str, stop: str) -> None:
    with w.counting(name, stop, start) as k:
        place = w.times(k, 8)
        w.store("double", w.load("double", w.offset("%from", place)), w.offset("%to", place))
