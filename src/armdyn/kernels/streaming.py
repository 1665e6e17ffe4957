"""Large results written past the caches, a few lines at a time while the next sample is computed.

Such stores wait for the memory, and a processor that has nothing else to do waits with them: a matrix is first made in
a buffer, which is written out between the tiles of the following one.
"""

from __future__ import annotations

from armdyn.kernels.loop_writer import V4, WIDE, LoopWriter

BEHIND = 24
"""Bytes of what is still to be written of one matrix: number of lines of 64 bytes, where from, where to."""


def leave() -> str:
    """`@leave`: remember a block of doubles for `@trickle`; what does not fill a line of the target is written here."""
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
    w.store("i64", lines, "%state")
    first = w.times(before, 8)
    for field, pointer in ((8, "%from"), (16, "%to")):
        w.store("ptr", w.offset(pointer, first), w.offset("%state", field))
    w.do("ret void")
    return f"define internal void @leave(ptr %state, ptr %to, ptr %from, i64 %count) noinline {{\n{w.text}\n}}\n"


def trickle() -> str:
    """`@trickle`: write some of the lines that were left, at most `%most`."""
    w = LoopWriter()
    w.label("entry")
    left, source, target = w.load("i64", "%state"), *(w.load("ptr", w.offset("%state", field)) for field in (8, 16))
    taken = w.put(f"call i64 @llvm.smin.i64(i64 {left}, i64 %most)")
    with w.when(w.put(f"icmp sgt i64 {taken}, 0"), "some"):
        with w.counting("line", taken) as line:
            place = w.times(line, 2 * WIDE)
            halves = [w.load(V4, w.offset(w.offset(source, place), WIDE * k)) for k in range(2)]
            for k, half in enumerate(halves):
                there = w.offset(w.offset(target, place), WIDE * k)
                w.do(f"store {V4} {half}, ptr {there}, align {WIDE}, !nontemporal !2")
        done = w.times(taken, 2 * WIDE)
        w.store("i64", w.put(f"sub i64 {left}, {taken}"), "%state")
        for field, pointer in ((8, source), (16, target)):
            w.store("ptr", w.offset(pointer, done), w.offset("%state", field))
    w.do("ret void")
    return f"define internal void @trickle(ptr %state, i64 %most) noinline {{\n{w.text}\n}}\n"
