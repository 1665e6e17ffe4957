"""Matrices with a strip of columns per link: the regressor.

A row belongs to a joint. The strip of a link that it carries is a sum of products: quantities of the joint, broadcast,
with numbers of the link, four columns at a time. Rows are written from left to right, large results past the caches.
"""

from __future__ import annotations

from armdyn.kernels.ir_writer import vector
from armdyn.kernels.link_loops import Recipe, Strip
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter

PAST = "strips_past"
"""Writes past the caches, to a multiple of `ALIGNED` bytes."""
ALIGNED = 16


def strips(recipe: Recipe, strip: Strip) -> str:
    """`void @strips(ptr quantities, ptr numbers, ptr out, i64 step, ptr diagonal...)`, and the same past the caches."""
    return _strips(recipe, strip, "strips", past=False) + _strips(recipe, strip, PAST, past=True)


def _strips(recipe: Recipe, strip: Strip, name: str, *, past: bool) -> str:
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
        own = _diagonal(w, strip, i)
        row = w.offset("%out", w.times(i, row_bytes))
        related = w.offset(carries, w.times(i, n))
        with w.counting("j", n) as j:
            target = w.offset(row, w.times(j, 8 * width))
            carried = w.put(f"load i8, ptr {w.offset(related, j)}, align 1")
            w.do(f"br i1 {w.put(f'icmp ne i8 {carried}, 0')}, label %some, label %none")
            w.label("some")
            numbers = w.offset("%numbers", w.times(j, 8 * strip.size))
            itself = w.put(f"icmp eq i64 {i}, {j}")
            place = 0
            for v, added in enumerate(own):
                total = "" if added is None else w.put(f"select i1 {itself}, {V4} {added}, {V4} zeroinitializer")
                names_of = strip.vectors[v] if v < len(strip.vectors) else ()
                for factor in (factor for name in names_of for factor in known[name]):
                    number = w.load(V4, w.offset(numbers, place), WIDE)
                    total = _added(w, total, factor, number)
                    place += WIDE
                _stored(w, total or "zeroinitializer", w.offset(target, WIDE * v), width - LANES * v, past)
            w.do("br label %next")
            w.label("none")
            for column in range(0, width, LANES):
                _stored(w, "zeroinitializer", w.offset(target, 8 * column), width - column, past)
            w.do("br label %next")
            w.label("next")
    w.do("ret void")
    sources = "".join(f", ptr %diagonal{k}" for k in range(len(strip.diagonal)))
    head = f"define internal void @{name}(ptr %quantities, ptr %numbers, ptr %out, i64 %step{sources})"
    return f'{head} noinline "stackrealign" {{\n{w.text}\n}}\n'


def _diagonal(w: LoopWriter, strip: Strip, i: str) -> list[str | None]:
    """What the strip of the joint's own link has besides, four columns at a time; None for nothing."""
    first = strip.width - len(strip.diagonal)
    found: list[str | None] = []
    for start in range(0, strip.width, LANES):
        total: str | None = None
        for column in range(max(first, start), min(start + LANES, strip.width)):
            value = w.load("double", w.offset(f"%diagonal{column - first}", w.times(i, "%step")))
            total = w.put(f"insertelement {V4} {total or 'zeroinitializer'}, double {value}, i32 {column - start}")
        found.append(total)
    return found


def _added(w: LoopWriter, total: str, factor: str, number: str) -> str:
    if not total:
        return w.put(f"fmul {V4} {factor}, {number}")
    return w.put(f"call {V4} @llvm.fmuladd.v{LANES}f64({V4} {factor}, {V4} {number}, {V4} {total})")


def _stored(w: LoopWriter, value: str, target: str, room: int, past: bool) -> None:
    """Four columns of a strip, or as many as there is room for."""
    if not past and room >= LANES:
        w.store(V4, value, target)
        return
    size = ALIGNED // 8
    for start in range(0, min(LANES, room), size):
        kind, part = vector(size), w.shuffle(LANES, value, value, range(start, start + size))
        if past:
            w.do(f"store {kind} {part}, ptr {w.offset(target, 8 * start)}, align {ALIGNED}, !nontemporal !2")
        else:
            w.store(kind, part, w.offset(target, 8 * start))
