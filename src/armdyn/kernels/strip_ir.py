"""Matrices with a strip of columns per link: the regressor.

A row belongs to a joint. The strip of a link that it carries is a sum of products: quantities of the joint, broadcast,
with numbers of the link, four columns at a time. Rows are written from left to right.
"""

from __future__ import annotations

from armdyn.kernels.link_loops import Recipe, Strip
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter


def strips(recipe: Recipe, strip: Strip) -> str:
    """`void @strips(ptr quantities, ptr numbers, ptr out, i64 step, ptr diagonal...)`."""
    w = LoopWriter()
    width, places = strip.width, recipe.pair_places
    w.label("entry")
    n, carries = w.fixed("n"), w.table("carries")
    row_bytes = w.times(n, 8 * width)
    with w.counting("i", n) as i:
        block = w.offset("%quantities", w.times(w.put(f"lshr i64 {i}, 2"), WIDE * recipe.pair_size))
        joint = w.offset(block, w.times(w.put(f"and i64 {i}, 3"), 8))
        names = dict.fromkeys(name for vector in strip.vectors for name in vector)
        known = {
            name: [w.splat(w.load("double", w.offset(joint, WIDE * (places[name] + k)))) for k in range(3)]
            for name in names
        }
        row = w.offset("%out", w.times(i, row_bytes))
        related = w.offset(carries, w.times(i, n))
        with w.counting("j", n) as j:
            target = w.offset(row, w.times(j, 8 * width))
            carried = w.put(f"load i8, ptr {w.offset(related, j)}, align 1")
            w.do(f"br i1 {w.put(f'icmp ne i8 {carried}, 0')}, label %some, label %none")
            w.label("some")
            numbers = w.offset("%numbers", w.times(j, 8 * strip.size))
            place = 0
            for v, vector in enumerate(strip.vectors):
                total = ""
                for factor in (factor for name in vector for factor in known[name]):
                    number = w.load(V4, w.offset(numbers, place), WIDE)
                    total = _added(w, total, factor, number)
                    place += WIDE
                w.store(V4, total, w.offset(target, WIDE * v))
            _zeros(w, target, LANES * len(strip.vectors), width)
            w.do("br label %next")
            w.label("none")
            _zeros(w, target, 0, width)
            w.do("br label %next")
            w.label("next")
        own = w.offset(row, w.times(i, 8 * width))
        for k in range(len(strip.diagonal)):
            value = w.load("double", w.offset(f"%diagonal{k}", w.times(i, "%step")))
            w.store("double", value, w.offset(own, 8 * (width - len(strip.diagonal) + k)))
    w.do("ret void")
    sources = "".join(f", ptr %diagonal{k}" for k in range(len(strip.diagonal)))
    head = f"define internal void @strips(ptr %quantities, ptr %numbers, ptr %out, i64 %step{sources})"
    return f'{head} noinline "stackrealign" {{\n{w.text}\n}}\n'


def _added(w: LoopWriter, total: str, factor: str, number: str) -> str:
    if not total:
        return w.put(f"fmul {V4} {factor}, {number}")
    return w.put(f"call {V4} @llvm.fmuladd.v{LANES}f64({V4} {factor}, {V4} {number}, {V4} {total})")


def _zeros(w: LoopWriter, target: str, start: int, stop: int) -> None:
    """Zeros in the columns of a strip; vectors may overlap."""
    while start < stop:
        lanes = next(size for size in (4, 2, 1) if size <= stop - start)
        kind = f"<{lanes} x double>" if lanes > 1 else "double"
        w.store(kind, "zeroinitializer" if lanes > 1 else "0.0", w.offset(target, 8 * start))
        start += lanes
