"""Rows of matrices on their way to the caller, large results with non-temporal stores."""

from __future__ import annotations

from typing import NamedTuple

from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LoopWriter

LINE = 8
"""Doubles of a line of the caches."""


STREAMED = 2**23
"""Bytes of matrices from which they are written with non-temporal stores. Below it, their lines are fetched ahead."""
FETCHED = 2**16
"""Bytes of vectors from which lines of them and of arguments are fetched ahead: smaller ones are in a near cache."""


class Order(NamedTuple):
    """How results are written: with non-temporal stores; right after other rows; without rows that follow."""

    nontemporal: str = "false"
    after: str = "false"
    last: str = "true"


ORDERED = ", ".join(f"i1 %{name}" for name in Order._fields)
"""Its numbers as arguments of a function."""


def fetched(w: LoopWriter, following: str, size: int, *, written: bool = True) -> None:
    """So many bytes of the caller's memory are fetched, while others are computed, in order to be overwritten."""
    for place in range(0, size, 8 * LINE):
        w.do(f"call void @llvm.prefetch.p0(ptr {w.offset(following, place)}, i32 {int(written)}, i32 3, i32 1)")


def ordered(w: LoopWriter, nontemporal: str) -> None:
    """What non-temporal stores have written is there before anything that is written later, as other threads see it."""
    with w.when(nontemporal, "ordered"):
        w.do("fence seq_cst")


def put_rows() -> str:
    """`@put_rows`: so many doubles from a buffer to the caller's memory, with an `Order`."""
    w = LoopWriter()
    w.do("br i1 %nontemporal, label %beyond, label %near")
    w.label("near")
    w.do(f"br i1 {w.put(f'icmp slt i64 %count, {LINE}')}, label %few, label %many")
    w.label("few")
    _one_by_one(w, "short", "0", "%count")
    w.do("ret void")
    w.label("many")
    with w.counting("vector", w.put("lshr i64 %count, 3")) as k:
        _moved(w, w.times(k, 8 * LINE))
    _moved(w, w.times(w.plus("%count", -LINE), 8))
    w.do("ret void")
    w.label("beyond")
    w.do("call void @put_lines(ptr %to, ptr %from, i64 %count, i1 %after, i1 %last)")
    return w.function(f"internal void @put_rows(ptr %to, ptr %from, i64 %count, {ORDERED}) noinline")


def put_lines() -> str:
    """`@put_lines`: so many doubles with non-temporal stores, right after others or not, the last ones or not.

    Non-temporal stores write whole lines alone: a part of a line would have to be fetched, and whatever is stored later
    would wait for it. The beginning of a line, at the end of these doubles, is kept before their buffer, for those that
    come right after them.
    """
    w = LoopWriter()
    address = w.put("ptrtoint ptr %to to i64")
    begun = w.put(f"and i64 {w.put(f'lshr i64 {address}, 3')}, {LINE - 1}")
    bare = w.put(f"and i64 {w.put(f'sub i64 0, {begun}')}, {LINE - 1}")
    head = w.put(f"call i64 @llvm.smin.i64(i64 {bare}, i64 %count)")
    start = w.put(f"select i1 %after, i64 {w.put(f'sub i64 0, {begun}')}, i64 {head}")
    lines = w.put(f"lshr i64 {w.put(f'sub i64 %count, {start}')}, 3")
    _one_by_one(w, "head", "0", w.put(f"select i1 %after, i64 0, i64 {head}"))
    source, target = (w.offset(pointer, w.times(start, 8)) for pointer in ("%from", "%to"))
    with w.counting("line", lines) as line:
        place = w.times(line, 8 * LINE)
        value = w.load(vector(LINE), w.offset(source, place))
        w.do(f"store {vector(LINE)} {value}, ptr {w.offset(target, place)}, align {8 * LINE}, !nontemporal !2")
    w.do("br i1 %last, label %end, label %keep")
    w.label("keep")
    ending = w.load(vector(LINE), w.offset("%from", w.times(w.plus("%count", -LINE), 8)))
    w.store(vector(LINE), ending, w.offset("%from", -8 * LINE))
    w.do("ret void")
    w.label("end")
    _one_by_one(w, "tail", w.plus(start, w.times(lines, LINE)), "%count")
    arguments = "ptr %to, ptr %from, i64 %count, i1 %after, i1 %last"
    return w.function(f"internal void @put_lines({arguments}) noinline")


def _moved(w: LoopWriter, place: str) -> None:
    w.store(vector(LINE), w.load(vector(LINE), w.offset("%from", place)), w.offset("%to", place))


def _one_by_one(w: LoopWriter, name: str, start: str, stop: str) -> None:
    with w.counting(name, stop, start) as k:
        place = w.times(k, 8)
        w.store("double", w.load("double", w.offset("%from", place)), w.offset("%to", place))
