"""Matrices over pairs of links, in tiles of 4x4: rows from one block of links, columns from another.

A tile is computed for all its pairs at once, rows broadcast and columns in the lanes of vectors; a mask keeps the pairs
of a link and one that it carries. Which tiles there are, and their masks, are tables of the robot. The last block
overlaps the one before it if the number of links is no multiple of four; what its tiles write twice, the tile on the
diagonal, which comes last, writes as it should be.
"""

from __future__ import annotations

from armdyn.kernels.ir_writer import Writer
from armdyn.kernels.link_loops import SIZES, Recipe
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed

I4 = f"<{LANES} x i64>"
TILE = 4
"""Numbers of a tile in the table: block of rows, block of columns, place of its mask, kind."""
FULL, CROSS, DIAGONAL, EMPTY = 0, 1, 2, 3
"""Kinds of tiles: all pairs, some pairs of different blocks, pairs of the same block, no pairs."""

Terms = list[tuple[int, int]]


def pairs(recipe: Recipe) -> str:
    """`void @pairs(ptr quantities, i1 blank, ptr out...)`, `@overlap` and `@add_diagonal`.

    blank: there are zeros already where tiles have no pairs.
    """
    w = LoopWriter()
    outs = [f"%out{k}" for k in range(len(recipe.products))]
    w.label("entry")
    n, tiles, masks, count = w.fixed("n"), w.table("tiles"), w.table("masks"), w.fixed("tile_count")
    row_bytes, last = w.times(n, 8), w.plus(n, -LANES)
    with w.counting("t", count) as index:
        tile = w.offset(tiles, w.times(index, 8 * TILE))
        rows, columns, mask, kind = (w.load("i64", w.offset(tile, 8 * k)) for k in range(TILE))
        corner = [
            w.put(f"call i64 @llvm.smin.i64(i64 {w.times(block, LANES)}, i64 {last})") for block in (rows, columns)
        ]
        near, far = (w.offset("%quantities", w.times(block, WIDE * recipe.pair_size)) for block in (rows, columns))
        kept = w.offset(masks, mask)
        kinds = f"i64 {CROSS}, label %cross i64 {DIAGONAL}, label %diagonal i64 {EMPTY}, label %empty"
        w.do(f"switch i64 {kind}, label %full [ {kinds} ]")
        for name in ("full", "cross", "diagonal", "empty"):
            w.label(name)
            if name == "empty":
                w.do("br i1 %blank, label %tiled, label %zeros")
                w.label("zeros")
                blocks = [[["zeroinitializer"] * LANES] * 2 for _ in outs]
            else:
                keep = [w.load(I4, w.offset(kept, WIDE * r), WIDE) for r in range(LANES)] if name != "full" else []
                blocks = _tile(w, recipe, near, far, keep, name == "diagonal")
            _stored(w, outs, blocks, (corner[0], corner[1]), row_bytes)
            w.do("br label %tiled")
        w.label("tiled")
    w.do("ret void")
    arguments = ", ".join(["ptr %quantities", "i1 %blank", *(f"ptr {out}" for out in outs)])
    text = f'define internal void @pairs({arguments}) noinline "stackrealign" {{\n{w.text}\n}}\n'
    return text + _overlap(recipe) + _add_diagonal()


def _terms(recipe: Recipe, quantities: tuple[tuple[str, str], ...]) -> Terms:
    """Places of the factors: of the carrier, of the carried link."""
    places = recipe.pair_places
    return [(places[a] + k, places[b] + k) for a, b in quantities for k in range(SIZES[recipe.pairs[a]])]


def _tile(w: LoopWriter, recipe: Recipe, near: str, far: str, keep: list[str], diagonal: bool) -> list[list[list[str]]]:
    """By matrix: rows of the tile, and of the tile on the other side of the diagonal (none on the diagonal).

    The other tile has carriers as rows, and is turned, or carried links, whichever has fewer factors to broadcast.
    """
    above = [_terms(recipe, product.upper) for product in recipe.products]
    below = [_terms(recipe, product.lower) for product in recipe.products if product.lower]
    carriers = {a for form in below for a, _ in form} - {a for form in above for a, _ in form}
    turned = len(carriers) <= len({b for form in below for _, b in form})
    upper = _sums(w, above, near, far)
    swapped = [[(b, a) for a, b in form] for form in below]
    lower = _sums(w, below, near, far) if turned else _sums(w, swapped, far, near)
    beside = [_beside(w, mask, r) for r, mask in enumerate(keep)] if diagonal else keep
    across = _across(w, beside) if keep and not turned else beside
    found, rest = [], iter(lower)
    for product, rows in zip(recipe.products, upper, strict=True):
        first = _kept(w, rows, keep)
        other = next(rest) if product.lower else rows
        turn = turned or product.lower is None
        second = transposed(w, _kept(w, other, beside)) if turn else _kept(w, other, across)
        found.append([[_united(w, a, b) for a, b in zip(first, second, strict=True)]] if diagonal else [first, second])
    return found


def _kept(w: Writer, rows: list[str], masks: list[str]) -> list[str]:
    """Rows as far as masks keep them; all of them if there are none."""
    return [_masked(w, row, mask) for row, mask in zip(rows, masks, strict=True)] if masks else rows


def _across(w: Writer, masks: list[str]) -> list[str]:
    """Masks of the tile on the other side of the diagonal."""
    rows = transposed(w, [w.put(f"bitcast {I4} {mask} to {V4}") for mask in masks])
    return [w.put(f"bitcast {V4} {row} to {I4}") for row in rows]


def _sums(w: LoopWriter, forms: list[Terms], near: str, far: str) -> list[list[str]]:
    """Sums of products, four rows each; forms that share factors in the same places load them once."""
    sums: list[list[str]] = [[] for _ in forms]
    for k in range(max(map(len, forms), default=0)):
        rows: dict[int, list[str]] = {}
        columns: dict[int, str] = {}
        for form, total in zip(forms, sums, strict=True):
            if k >= len(form):
                continue
            a, b = form[k]
            if b not in columns:
                columns[b] = w.load(V4, w.offset(far, WIDE * b), WIDE)
            if a not in rows:
                rows[a] = [w.splat(w.load("double", w.offset(near, WIDE * a + 8 * r))) for r in range(LANES)]
            for r in range(LANES):
                if k == 0:
                    total.append(w.put(f"fmul {V4} {rows[a][r]}, {columns[b]}"))
                else:
                    factors = f"{V4} {rows[a][r]}, {V4} {columns[b]}, {V4} {total[r]}"
                    total[r] = w.put(f"call {V4} @llvm.fmuladd.v{LANES}f64({factors})")
    return sums


def _masked(w: Writer, row: str, mask: str) -> str:
    bits = w.put(f"bitcast {V4} {row} to {I4}")
    return w.put(f"bitcast {I4} {w.put(f'and {I4} {bits}, {mask}')} to {V4}")


def _united(w: Writer, a: str, b: str) -> str:
    x, y = (w.put(f"bitcast {V4} {part} to {I4}") for part in (a, b))
    return w.put(f"bitcast {I4} {w.put(f'or {I4} {x}, {y}')} to {V4}")


def _beside(w: Writer, mask: str, r: int) -> str:
    """The mask without the diagonal."""
    others = ", ".join(f"i64 {0 if lane == r else -1}" for lane in range(LANES))
    return w.put(f"and {I4} {mask}, <{others}>")


def _stored(
    w: LoopWriter, outs: list[str], blocks: list[list[list[str]]], corner: tuple[str, str], row_bytes: str
) -> None:
    """Tiles to their places."""
    for out, sides in zip(outs, blocks, strict=True):
        for (row, column), rows in zip((corner, corner[::-1]), sides, strict=False):
            place = w.offset(w.offset(out, w.times(row, row_bytes)), w.times(column, 8))
            for value in rows:
                w.store(V4, value, place)
                place = w.offset(place, row_bytes)


def _overlap(recipe: Recipe) -> str:
    """`void @overlap(ptr quantities)`: the last block, filled up from below with links of the one before it."""
    w = LoopWriter()
    w.label("entry")
    n = w.fixed("n")
    more = w.put(f"and i64 {n}, {LANES - 1}")
    block = w.times(w.put(f"lshr i64 {n}, 2"), WIDE * recipe.pair_size)
    last = w.offset("%quantities", block)
    before = w.offset(last, -WIDE * recipe.pair_size)
    w.do(f"switch i64 {more}, label %whole [ i64 1, label %r1 i64 2, label %r2 i64 3, label %r3 ]")
    for r in range(1, LANES):
        w.label(f"r{r}")
        with w.counting(f"k{r}", str(recipe.pair_size)) as k:
            place = w.times(k, WIDE)
            a, b = (w.load(V4, w.offset(source, place), WIDE) for source in (before, last))
            w.store(V4, w.shuffle(LANES, a, b, range(r, r + LANES)), w.offset(last, place), WIDE)
        w.do("br label %whole")
    w.label("whole")
    w.do("ret void")
    return f'define internal void @overlap(ptr %quantities) noinline "stackrealign" {{\n{w.text}\n}}\n'


def _add_diagonal() -> str:
    w = LoopWriter()
    w.label("entry")
    n = w.fixed("n")
    step = w.times(w.plus(n, 1), 8)
    with w.counting("j", n) as j:
        place = w.offset("%to", w.times(j, step))
        added = w.load("double", w.offset("%from", w.times(j, "%step")))
        w.store("double", w.put(f"fadd double {w.load('double', place)}, {added}"), place)
    w.do("ret void")
    return f"define internal void @add_diagonal(ptr %to, ptr %from, i64 %step) {{\n{w.text}\n}}\n"
