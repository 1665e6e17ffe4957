"""Symmetric matrices over pairs of links: one half is computed, by tiles of four rows and columns, and written twice.

A table of the robot lists the tiles that have pairs. All other entries are zero for every sample, so they are written
once, before the first: of robots with branches most. A matrix is made in a buffer and copied out from end to end, as
in `tiles`.
"""

from __future__ import annotations

from armdyn.kernels.looped.recursion import Recipe
from armdyn.kernels.looped.tiles import added_diagonal, arguments, blocks_of, chosen, stored, sums_of
from armdyn.kernels.looped.writer import LANES, LoopWriter, transposed
from armdyn.kernels.streaming import LINE, Order, fetched

TILE = 6
"""Numbers of a tile in the table, after a first row with their count: its kind; in bytes, where quantities of its rows
and columns are, where it stands in the matrix, and where turned; bits of its pairs, a byte for every row, those right
of the diagonal before those left of it."""
ALL, SOME, DIAGONAL = range(3)
"""Kinds of tiles: right of the diagonal, where all entries are pairs or some; on the diagonal."""


def symmetric_pairs(recipe: Recipe, wide: int) -> str:
    """`@pairs` as in `tiles`, with memory for whole matrices, which is zero at first."""
    w, sizes = LoopWriter(), (LANES, wide)
    w.label("entry")
    n, tiles = w.fixed("n"), w.table("tiles")
    row_bytes, size = w.times(n, 8), matrix_bytes(w, n)
    buffers = [w.offset("%rows", w.plus(w.times(size, k), 8 * LINE)) for k in range(len(recipe.products))]
    count = w.load("i64", tiles)
    lines = w.plus(w.put(f"udiv i64 {blocks_of(w, w.times(n, n), LINE)}, {count}"), 1)
    near_by = w.put("xor i1 %nontemporal, true")
    with w.counting("t", count) as t:
        tile = w.offset(tiles, w.times(w.plus(t, 1), 8 * TILE))
        kind, row, column, place, turned, bits = (w.load("i64", w.offset(tile, 8 * k)) for k in range(TILE))
        near, far = (w.offset("%quantities", at) for at in (row, column))
        here, there = ([w.offset(buffer, at) for buffer in buffers] for at in (place, turned))
        with w.when(near_by, "ahead"):  # stores are committed in order: one whose line is waited for holds up all
            for k in range(len(buffers)):
                with w.counting(f"line{k}", lines) as line:
                    fetched(w, w.offset(f"%out{k}", w.times(w.plus(w.times(t, lines), line), 8 * LINE)), 8 * LINE)
        zeros = [["zeroinitializer"] * LANES for _ in buffers]
        w.do(f"switch i64 {kind}, label %k{ALL} [ i64 {SOME}, label %k{SOME} i64 {DIAGONAL}, label %k{DIAGONAL} ]")
        for each in (ALL, SOME, DIAGONAL):
            w.label(f"k{each}")
            sums = sums_of(w, recipe, near, far, sizes)
            if each == DIAGONAL:
                lower = chosen(w, bits, LANES, LANES, [transposed(w, rows) for rows in sums], zeros)
                stored(w, here, chosen(w, bits, 0, LANES, sums, lower), LANES, row_bytes)
            else:
                found = sums if each == ALL else chosen(w, bits, 0, LANES, sums, zeros)
                stored(w, here, found, LANES, row_bytes)
                stored(w, there, [transposed(w, rows) for rows in found], LANES, row_bytes)
            w.do("br label %tiled")
        w.label("tiled")
    for k, product in enumerate(recipe.products):
        if product.diagonal is not None:
            added_diagonal(w, buffers[k], k, "0", n, row_bytes)
        made = f"ptr {buffers[k]}, i64 {n}, i64 {n}, {', '.join(f'i1 %{name}' for name in Order._fields)}"
        w.do(f"call void @put_rows(ptr %out{k}, i64 %down{k}, i64 %along{k}, {made})")
    w.do("ret void")
    head = f"define internal void @pairs({', '.join(arguments(recipe))})"
    return f'{head} noinline "stackrealign" {{\n{w.text}\n}}\n'


def matrix_bytes(w: LoopWriter, n: str) -> str:
    """Memory for a matrix and what its last tiles have below it, with a line before and one after them."""
    lines = blocks_of(w, w.times(n, w.plus(n, LANES)), LINE)
    return w.plus(w.times(lines, 8 * LINE), 2 * 8 * LINE)
