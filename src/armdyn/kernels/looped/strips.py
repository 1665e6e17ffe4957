"""Matrices with a strip of columns per link: the regressor.

A row belongs to a joint. The strip of a link that it carries is a sum of products: quantities of the joint, broadcast,
with numbers of the link, four columns at a time. A row is made from left to right in a buffer, since the last four
columns of a strip may reach beyond it, then copied out: non-temporal stores write long pieces faster.
"""

from __future__ import annotations

from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter
from armdyn.kernels.looped.recursion import Recipe, Strip
from armdyn.kernels.looped.tiles import at_link, blocks_of
from armdyn.kernels.streaming import LINE, ORDERED, fetched

FEW = 8
"""Strips of a row that are zero or not together."""


def strips(recipe: Recipe, strip: Strip, wide: int) -> str:
    """`void @strips(ptr quantities, ptr numbers, ptr row, i1..., i64 step, ptr out, ptr...)`.

    quantities: of joints, in blocks of `wide`. numbers: of links. row: memory for strips. i1...: an `Order`.
    out: where the matrix goes. Then follow numbers of the diagonal, `step` bytes apart.
    """
    w = LoopWriter()
    width, places = strip.width, recipe.pair_places
    n, carries = w.fixed("n"), w.table("carries")
    blocks, made = blocks_of(w, n, FEW), w.offset("%row", 8 * LINE)
    w.do(f"%used = alloca i1, i64 {blocks}")
    with w.counting("any", blocks) as few:
        w.do(f"store i1 true, ptr {w.offset('%used', few)}")
    row_bytes = w.times(n, 8 * width)
    with w.counting("i", n) as i:
        joint = at_link(w, "%quantities", i, wide, recipe.pair_size)
        names = dict.fromkeys(name for vector in strip.vectors for name in vector)
        known = {
            name: [w.splat(w.load("double", w.offset(joint, 8 * wide * (places[name] + k))), LANES) for k in range(3)]
            for name in names
        }
        own = _diagonal(w, strip, i)
        row = w.offset("%out", w.times(i, row_bytes))
        begun = w.put(f"or i1 %after, {_is(w, i, 'sgt', '0')}")
        final = w.put(f"and i1 %last, {_is(w, w.plus(i, 1), 'eq', n)}")
        with w.counting("few", blocks) as few:
            first = w.times(few, FEW)
            stop = w.put(f"call i64 @llvm.smin.i64(i64 {w.plus(first, FEW)}, i64 {n})")
            with w.when(w.put("xor i1 %nontemporal, true"), "near"):
                following = w.offset(row, w.plus(row_bytes, w.times(first, 8 * width)))
                fetched(w, following, FEW * 8 * width)
            related = w.offset(carries, w.times(w.plus(w.times(i, blocks), few), FEW))
            some, used = _is(w, w.load("i64", related), "ne", "0"), w.offset("%used", few)
            changes = w.put(f"or i1 {some}, {w.put(f'load i1, ptr {used}')}")  # else there are zeros already
            w.do(f"store i1 {some}, ptr {used}")
            with w.when(changes, "made"), w.counting("k", w.put(f"sub i64 {stop}, {first}")) as k:
                j = w.plus(first, k)
                carried = w.put(f"load i8, ptr {w.offset(related, k)}, align 1")
                numbers = w.offset("%numbers", w.times(j, 8 * strip.size))
                target = w.offset(made, w.times(j, 8 * width))
                _strip(w, strip, known, own, (carried, _is(w, i, "eq", j)), numbers, target)
        order = f"i1 %nontemporal, i1 {begun}, i1 {final}"
        w.do(f"call void @put_rows(ptr {row}, ptr {made}, i64 {w.times(n, width)}, {order})")
    sources = "".join(f", ptr %diagonal{k}" for k in range(len(strip.diagonal)))
    target = f"{ORDERED}, i64 %step, ptr %out{sources}"
    head = f"internal void @strips(ptr %quantities, ptr %numbers, ptr %row, {target})"
    return w.function(f'{head} noinline "stackrealign"')


def _is(w: LoopWriter, a: str, relation: str, b: str) -> str:
    return w.put(f"icmp {relation} i64 {a}, {b}")


def _strip(
    w: LoopWriter,
    strip: Strip,
    known: dict[str, list[str]],
    own: list[str | None],
    pair: tuple[str, str],
    numbers: str,
    target: str,
) -> None:
    """The strip of one link. pair: whether the joint carries it, and whether it is the joint's own."""
    w.do(f"br i1 {w.put(f'icmp ne i8 {pair[0]}, 0')}, label %some, label %none")
    w.label("some")
    place = 0
    for v, added in enumerate(own):
        total = "" if added is None else w.put(f"select i1 {pair[1]}, {V4} {added}, {V4} zeroinitializer")
        names = strip.vectors[v] if v < len(strip.vectors) else ()
        for factor in (factor for name in names for factor in known[name]):
            number = w.load(V4, w.offset(numbers, place), WIDE)
            total = _added(w, total, factor, number)
            place += WIDE
        w.store(V4, total or "zeroinitializer", w.offset(target, WIDE * v))
    w.do("br label %next")
    w.label("none")
    for column in range(0, strip.width, LANES):
        w.store(V4, "zeroinitializer", w.offset(target, 8 * column))
    w.do("br label %next")
    w.label("next")


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
