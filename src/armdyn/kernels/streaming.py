"""Large results written past the caches: a matrix is first made in a buffer, then copied out line by line."""

from __future__ import annotations

from armdyn.kernels.loop_writer import V4, WIDE, LoopWriter


def copy_past() -> str:
    """`@copy_past`: a block of doubles, whole lines of 64 bytes of the target past the caches."""
    w = LoopWriter()
    w.label("entry")
    address = w.put("ptrtoint ptr %to to i64")
    to_line = w.put(f"and i64 {w.put(f'sub i64 0, {address}')}, 63")
    bare = w.put(f"lshr i64 {to_line}, 3")
    before = w.put(f"call i64 @llvm.smin.i64(i64 {bare}, i64 %count)")
    lines = w.put(f"lshr i64 {w.put(f'sub i64 %count, {before}')}, 3")
    after = w.plus(before, w.times(lines, 8))
    for name, start, stop in (("head", "0", before), ("tail", after, "%count")):
        with w.counting(name, stop, start) as k:
            place = w.times(k, 8)
            w.store("double", w.load("double", w.offset("%from", place)), w.offset("%to", place))
    source, target = (w.offset(pointer, w.times(before, 8)) for pointer in ("%from", "%to"))
    with w.counting("line", lines) as line:
        place = w.times(line, 2 * WIDE)
        halves = [w.load(V4, w.offset(w.offset(source, place), WIDE * side)) for side in range(2)]
        for side, half in enumerate(halves):
            there = w.offset(w.offset(target, place), WIDE * side)
            w.do(f"store {V4} {half}, ptr {there}, align {WIDE}, !nontemporal !2")
    w.do("ret void")
    return f"define internal void @copy_past(ptr %to, ptr %from, i64 %count) noinline {{\n{w.text}\n}}\n"
