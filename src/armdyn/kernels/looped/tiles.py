"""Matrices over pairs of links, four rows at a time: rows broadcast, columns in the lanes of vectors.

Right of the diagonal a row belongs to the link that carries, left of it to the carried one, so every tile of four rows
is computed as it is written: nothing is turned. What a tile has is a matter of a table of the robot, with bits for its
pairs. A few rows are made in a buffer in the nearest cache, then copied out from end to end: the caller's memory is
written in order, which is what fetches its lines ahead. Tiles reach beyond the ends of rows; the last ones are computed
first, so that the beginnings of the next rows come after them.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.kernels.ir_writer import Writer, flags, vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter
from armdyn.kernels.looped.recursion import SIZES, Recipe, Strip
from armdyn.kernels.streaming import LINE, ORDERED, fetched

TILE = 2
"""Numbers of a tile in the table: KINDS * block of columns + kind; bits of its pairs, a byte for every row, those
right of the diagonal (row carries column) before those left of it."""
KINDS = 8
EMPTY, RIGHT, LEFT, SOME_RIGHT, SOME_LEFT, BOTH = range(6)
"""Kinds of tiles: no pairs, all right or left of the diagonal, some of them, both."""

TOGETHER = 4
"""Tiles below each other whose rows are made before non-temporal stores, which write long pieces faster."""

Terms = list[tuple[int, int]]
Rows = list[str]


def pairs(recipe: Recipe, wide: int) -> str:
    """`void @pairs(ptr quantities, ptr rows, i1..., i64 step, {ptr out[, ptr diagonal]}...)`.

    quantities: of links, [block][quantity][link]. rows: memory for rows of every matrix. i1...: an `Order`.
    out: where the matrix goes. diagonal: numbers to add, `step` bytes apart.
    """
    w = LoopWriter()
    count = len(recipe.products)
    n, tiles = w.fixed("n"), w.table("tiles")
    row_bytes = w.times(n, 8)
    buffers = [w.offset("%rows", w.plus(w.times(rows_bytes(w, n, 1), k), 8 * LINE)) for k in range(count)]
    blocks = blocks_of(w, n, wide)
    several = w.put(f"select i1 %nontemporal, i64 {TOGETHER - 1}, i64 0")
    with w.counting("i", blocks_of(w, n, LANES)) as i:
        first, waiting = w.times(i, LANES), w.put(f"and i64 {i}, {several}")
        places = [w.offset(buffer, w.times(w.times(waiting, LANES), row_bytes)) for buffer in buffers]
        near = at_link(w, "%quantities", first, wide, recipe.pair_size)
        with w.counting("j", blocks) as j:
            tile = w.offset(tiles, w.times(w.plus(w.times(i, blocks), j), 8 * TILE))
            what, bits = (w.load("i64", w.offset(tile, 8 * k)) for k in range(TILE))
            column = w.times(w.put(f"udiv i64 {what}, {KINDS}"), wide)
            far = at_link(w, "%quantities", column, wide, recipe.pair_size)
            targets = [w.offset(place, w.times(column, 8)) for place in places]
            with w.when(w.put("xor i1 %nontemporal, true"), "near"):
                for k in range(count):
                    following = w.offset(f"%out{k}", w.times(w.plus(first, LANES), row_bytes))
                    fetched(w, w.offset(following, w.times(j, LANES * 8 * wide)), LANES * 8 * wide)
            kind = w.put(f"and i64 {what}, {KINDS - 1}")
            w.do(f"switch i64 {kind}, label %k{EMPTY} [ {' '.join(f'i64 {k}, label %k{k}' for k in range(1, 6))} ]")
            for k in range(6):
                w.label(f"k{k}")
                stored(w, targets, _tile(w, recipe, wide, k, near, far, bits), wide, row_bytes)
                w.do("br label %tiled")
            w.label("tiled")
        left = w.put(f"call i64 @llvm.smin.i64(i64 {LANES}, i64 {w.put(f'sub i64 {n}, {first}')})")
        for k, product in enumerate(recipe.products):
            if product.diagonal is not None:
                added_diagonal(w, places[k], k, first, left, row_bytes)
        end = w.put(f"icmp sge i64 {w.plus(first, LANES)}, {n}")
        with w.when(w.put(f"or i1 {end}, {w.put(f'icmp eq i64 {waiting}, {several}')}"), "put"):
            made = w.times(waiting, LANES)
            start, rows = w.put(f"sub i64 {first}, {made}"), w.plus(made, left)
            after = w.put(f"or i1 %after, {w.put(f'icmp sgt i64 {start}, 0')}")
            order = f"i1 %nontemporal, i1 {after}, i1 {w.put(f'and i1 %last, {end}')}"
            for k, buffer in enumerate(buffers):
                out = w.offset(f"%out{k}", w.times(start, row_bytes))
                w.do(f"call void @put_rows(ptr {out}, ptr {buffer}, i64 {w.times(rows, n)}, {order})")
    return w.function(f'internal void @pairs({", ".join(arguments(recipe))}) noinline "stackrealign"')


def arguments(recipe: Recipe) -> list[str]:
    """Of `@pairs`."""
    found = ["ptr %quantities", "ptr %rows", ORDERED, "i64 %step"]
    for k, product in enumerate(recipe.products):
        found.append(f"ptr %out{k}")
        found += [f"ptr %diagonal{k}"] if product.diagonal else []
    return found


def at_link(w: LoopWriter, base: str, link: str, wide: int, size: int) -> str:
    """The first quantity of a link, in blocks [quantity][link] of `wide` links."""
    block = w.put(f"lshr i64 {link}, {wide.bit_length() - 1}")
    lane = w.put(f"and i64 {link}, {wide - 1}")
    return w.offset(w.offset(base, w.times(block, 8 * wide * size)), w.times(lane, 8))


def blocks_of(w: LoopWriter, n: str, size: int) -> str:
    """How many blocks of so many links there are; size: a power of two."""
    return w.put(f"lshr i64 {w.plus(n, size - 1)}, {size.bit_length() - 1}")


def rows_bytes(w: LoopWriter, n: str, columns: int) -> str:
    """Memory for rows of n entries, or one with more columns per joint, with a line before and one after them."""
    return w.plus(w.times(blocks_of(w, n, LINE), 8 * LINE * rows_made(columns)), 2 * 8 * LINE)


def rows_made(columns: int) -> int:
    """Rows of n entries that are made before they are written; columns: per joint."""
    return max(TOGETHER * LANES, columns)


def _tile(w: LoopWriter, recipe: Recipe, wide: int, kind: int, near: str, far: str, bits: str) -> list[Rows]:
    """Rows of a tile, by matrix."""
    zeros = [["zeroinitializer"] * LANES for _ in recipe.products]
    found = zeros
    if kind in (RIGHT, SOME_RIGHT, BOTH):
        sums = sums_of(w, recipe, near, far, (wide, wide))
        found = sums if kind == RIGHT else chosen(w, bits, 0, wide, sums, zeros)
    if kind in (LEFT, SOME_LEFT, BOTH):
        forms = [_terms(recipe, product.lower) for product in recipe.products]
        sums = _sums(w, [[(b, a) for a, b in form] for form in forms], near, far, (wide, wide))
        found = sums if kind == LEFT else chosen(w, bits, LANES, wide, sums, found)
    return found


def _terms(recipe: Recipe, quantities: tuple[tuple[str, str], ...]) -> Terms:
    """Places of the factors: of the carrier, of the carried link."""
    places = recipe.pair_places
    return [(places[a] + k, places[b] + k) for a, b in quantities for k in range(SIZES[recipe.pairs[a]])]


def sums_of(w: LoopWriter, recipe: Recipe, near: str, far: str, sizes: tuple[int, int]) -> list[Rows]:
    """Entries [carrier, carried] of all products; sizes: columns of a tile, links of a block."""
    return _sums(w, [_terms(recipe, product.upper) for product in recipe.products], near, far, sizes)


def _sums(w: LoopWriter, forms: list[Terms], near: str, far: str, sizes: tuple[int, int]) -> list[Rows]:
    """Sums of products, four rows each; forms that share factors in the same places load them once."""
    lanes, kind, step = sizes[0], vector(sizes[0]), 8 * sizes[1]
    sums: list[Rows] = [[] for _ in forms]
    for k in range(max(map(len, forms), default=0)):
        rows: dict[int, Rows] = {}
        columns: dict[int, str] = {}
        for form, total in zip(forms, sums, strict=True):
            if k >= len(form):
                continue
            a, b = form[k]
            if b not in columns:
                columns[b] = w.load(kind, w.offset(far, step * b), 8 * lanes)
            if a not in rows:
                rows[a] = [w.splat(w.load("double", w.offset(near, step * a + 8 * r)), lanes) for r in range(LANES)]
            for r in range(LANES):
                if k == 0:
                    total.append(w.put(f"fmul {kind} {rows[a][r]}, {columns[b]}"))
                else:
                    total[r] = w.fma(lanes, rows[a][r], columns[b], total[r])
    return sums


def chosen(w: Writer, bits: str, first: int, wide: int, sums: list[Rows], others: list[Rows]) -> list[Rows]:
    """Sums where there are pairs, whose bits begin with byte `first`, and the other rows elsewhere."""
    masks = []
    for r in range(LANES):
        byte = w.put(f"lshr i64 {bits}, {8 * (first + r)}")
        narrow = w.put(f"trunc i64 {byte} to i{wide}")
        masks.append(w.put(f"bitcast i{wide} {narrow} to {flags(wide)}"))
    kind = vector(wide)
    return [
        [w.put(f"select {flags(wide)} {masks[r]}, {kind} {rows[r]}, {kind} {other[r]}") for r in range(LANES)]
        for rows, other in zip(sums, others, strict=True)
    ]


def stored(w: LoopWriter, targets: Sequence[str], tiles: Sequence[Rows], wide: int, row_bytes: str) -> None:
    """Rows of tiles, `row_bytes` apart."""
    for target, rows in zip(targets, tiles, strict=True):
        place = target
        for value in rows:
            w.store(vector(wide), value, place)
            place = w.offset(place, row_bytes)


def added_diagonal(w: LoopWriter, rows: str, k: int, first: str, left: str, row_bytes: str) -> None:
    """What stands on the diagonal of product k besides, in so many rows from the first one on."""
    with w.counting(f"d{k}", left) as r:
        j = w.plus(first, r)
        place = w.offset(w.offset(rows, w.times(r, row_bytes)), w.times(j, 8))
        added = w.load("double", w.offset(f"%diagonal{k}", w.times(j, "%step")))
        w.store("double", w.put(f"fadd double {w.load('double', place)}, {added}"), place)


# Strips ---------------------------------------------------------------------------------------------------------------
#
# The regressor has a strip of columns per link. A row belongs to a joint. The strip of a link that it carries is a sum
# of products: quantities of the joint, broadcast, with numbers of the link, four columns at a time. A row is made from
# left to right in a buffer, since the last four columns of a strip may reach beyond it, then copied out: non-temporal
# stores write long pieces faster.

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
    return w.fma(LANES, factor, number, total)
