"""Copies of rows of doubles between samples one after the other and samples side by side."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed


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
