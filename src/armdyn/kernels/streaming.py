"""Rows of matrices on their way to the caller, large results with non-temporal stores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed

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


# Rows between samples one after the other and samples side by side ----------------------------------------------------


def row_copies(samples: int) -> str:
    """`@copy_row`, and `@gather` and `@scatter` of so many samples side by side, a multiple of four."""
    return _copy_row() + _gather(samples) + _scatter(samples)


@contextmanager
def _in_fours(w: LoopWriter) -> Iterator[str]:
    """Starts of fours of %n entries, at least 4; the last four overlap those before where n is no multiple."""
    last = w.plus("%n", -LANES)
    blocks = w.put(f"lshr i64 {w.plus('%n', LANES - 1)}, 2")
    with w.counting("b", blocks) as block:
        yield w.put(f"call i64 @llvm.smin.i64(i64 {w.times(block, LANES)}, i64 {last})")


def _fast_where_full(w: LoopWriter, samples: int) -> None:
    """Go to `fast` for all samples, to `slow` for fewer; `fast` follows."""
    w.do(f"br i1 {w.put(f'icmp eq i64 %taken, {samples}')}, label %fast, label %slow")
    w.label("fast")


def _copy_row() -> str:
    """`@copy_row`: n doubles, n at least 4, the last four perhaps twice."""
    w = LoopWriter()
    with _in_fours(w) as start:
        place = w.times(start, 8)
        w.store(V4, w.load(V4, w.offset("%from", place)), w.offset("%to", place))
    return w.function("internal void @copy_row(ptr %to, ptr %from, i64 %n)")


def _gather(samples: int) -> str:
    """`@gather`: rows of samples to [joint][sample]; samples that are missing repeat the last."""
    w, step = LoopWriter(), 8 * samples
    _fast_where_full(w, samples)
    with _in_fours(w) as start:
        source, target = w.offset("%from", w.times(start, 8)), w.offset("%to", w.times(start, step))
        for first in range(0, samples, LANES):
            rows = [w.load(V4, w.offset(source, w.times("%step", first + k))) for k in range(LANES)]
            for joint, column in enumerate(transposed(w, rows)):
                w.store(V4, column, w.offset(target, step * joint + 8 * first), WIDE)
    w.do("ret void")
    w.label("slow")
    final = w.plus("%taken", -1)
    with w.counting("j", "%n") as j, w.counting("s", str(samples)) as s:
        given = w.put(f"call i64 @llvm.smin.i64(i64 {s}, i64 {final})")
        source = w.offset(w.offset("%from", w.times(given, "%step")), w.times(j, 8))
        target = w.offset(w.offset("%to", w.times(j, step)), w.times(s, 8))
        w.store("double", w.load("double", source), target)
    return w.function("internal void @gather(ptr %to, ptr %from, i64 %step, i64 %n, i64 %taken) noinline")


def _scatter(samples: int) -> str:
    """`@scatter`: [joint][sample] to rows of samples."""
    w, step = LoopWriter(), 8 * samples
    _fast_where_full(w, samples)
    with _in_fours(w) as start:
        source, target = w.offset("%from", w.times(start, step)), w.offset("%to", w.times(start, 8))
        for first in range(0, samples, LANES):
            rows = [w.load(V4, w.offset(source, step * joint + 8 * first), WIDE) for joint in range(LANES)]
            for k, column in enumerate(transposed(w, rows)):
                w.store(V4, column, w.offset(target, w.times("%step", first + k)))
    w.do("ret void")
    w.label("slow")
    with w.counting("s", "%taken") as s, w.counting("j", "%n") as j:
        source = w.offset(w.offset("%from", w.times(j, step)), w.times(s, 8))
        target = w.offset(w.offset("%to", w.times(s, "%step")), w.times(j, 8))
        w.store("double", w.load("double", source), target)
    return w.function("internal void @scatter(ptr %to, ptr %from, i64 %step, i64 %n, i64 %taken) noinline")
