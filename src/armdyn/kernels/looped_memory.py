"""Where things are in the memory of a looped kernel.

Records of links lie in blocks of four, [block][quantity][link], for one sample, and one after the other,
[link][quantity][sample], for four samples. Tables of links lie in blocks of four in both cases. The world's record
precedes those of the links: a link whose parent is -1 finds it there.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.kernels.link_loops import Place, Recipe
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter

BASE = 64
"""Bytes for the numbers of a free joint in one input."""
ENDING = 16
"""Entries of an ending, at most."""


class Layout:
    """Addresses in scratch memory; samples: how many at a time, 1 or 4."""

    def __init__(self, w: LoopWriter, recipe: Recipe, samples: int, scratch: str) -> None:
        self.w, self.recipe, self.samples = w, recipe, samples
        self.n = w.fixed("n")
        self.blocks = w.put(f"lshr i64 {w.plus(self.n, LANES - 1)}, 2")
        row = self.row = w.times(self.blocks, WIDE * samples)
        self.base = [w.offset(scratch, BASE * samples * i) for i in range(len(recipe.inputs))]
        scratch = w.offset(scratch, BASE * samples * len(recipe.inputs))
        self.ending = scratch
        scratch = w.offset(scratch, 8 * ENDING * samples)
        self.inputs = [w.offset(scratch, w.times(row, i)) for i in range(len(recipe.inputs))]
        place = w.offset(scratch, w.times(row, len(recipe.inputs)))
        self.results = [w.offset(place, w.times(row, i)) for i in range(len(recipe.results))]
        place = w.offset(place, w.times(row, len(recipe.results)))
        self.state = place
        self.world = w.offset(place, 0 if samples > 1 else 8 * (LANES - 1))
        place = w.offset(place, w.times(w.plus(self.blocks, 1), WIDE * samples * recipe.own_size))
        self.pairs = place
        pair_bytes = w.times(self.blocks, WIDE * samples * recipe.pair_size)
        self.turned = w.offset(place, pair_bytes) if samples > 1 else place
        self.pair_bytes = w.times(self.blocks, WIDE * recipe.pair_size)
        self.strips = w.offset(place, w.times(pair_bytes, 1 if samples == 1 else 2))
        strip_bytes = w.times(self.blocks, WIDE * samples * recipe.strip_size)
        self.strips_turned = w.offset(self.strips, strip_bytes) if samples > 1 else self.strips
        self.strip_bytes = w.times(self.blocks, WIDE * recipe.strip_size)
        self.links, self.parents, self.robot = w.table("links"), w.table("parents"), w.table("robot")
        self.chosen = self.record(w.fixed("chosen"))

    def record(self, link: str) -> str:
        """The record of a link by its index, -1 for the world's."""
        w, size = self.w, self.recipe.own_size
        if self.samples > 1:
            return w.offset(self.state, w.times(w.plus(link, 1), WIDE * size))
        place = w.plus(link, LANES)
        lane = w.times(w.put(f"and i64 {place}, 3"), 8)
        return self.in_block(self.state, w.put(f"lshr i64 {place}, 2"), lane, size)

    def in_block(self, base: str, block: str, lane: str | None, size: int) -> str:
        place = self.w.offset(base, self.w.times(block, WIDE * size))
        return place if lane is None else self.w.offset(place, lane)


def scratch_bytes(recipe_sizes: Sequence[int], n: int, samples: int) -> int:
    """Memory that a Layout needs; recipe_sizes: inputs, results, own quantities, those of pairs and strips."""
    inputs, results, own, pair, strip = recipe_sizes
    blocks = -(-n // LANES)
    copies = 1 if samples == 1 else 2
    records = WIDE * samples * (blocks * (inputs + results + copies * (pair + strip)) + (blocks + 1) * own)
    return BASE * samples * inputs + 8 * ENDING * samples + records


class Cursor:
    """Addresses of one link (or of four), and what a body reads and writes there."""

    def __init__(self, layout: Layout, index: str, four_links: bool) -> None:
        w, recipe = layout.w, layout.recipe
        self.w, self.layout, self.four = w, layout, four_links
        self.samples = layout.samples
        self.vector = four_links or self.samples > 1
        if four_links:
            block, lane = index, None
        else:
            block, lane = w.put(f"lshr i64 {index}, 2"), w.times(w.put(f"and i64 {index}, 3"), 8)
        self.link = layout.in_block(layout.links, block, lane, len(recipe.numbers))
        if self.samples > 1:
            self.own = w.offset(layout.state, w.times(w.plus(index, 1), WIDE * recipe.own_size))
            self.pair = w.offset(layout.pairs, w.times(index, WIDE * recipe.pair_size))
        else:
            self.own = layout.in_block(layout.state, w.plus(block, 1), lane, recipe.own_size)
            self.pair = layout.in_block(layout.pairs, block, lane, recipe.pair_size)
        self.row = w.times(index, WIDE if self.vector else 8)
        self.strip_step = WIDE if self.samples > 1 else 8
        self.strip = w.offset(layout.strips, w.times(index, self.strip_step * recipe.strip_size))
        if not four_links:
            parent = w.put(f"load i64, ptr {w.offset(layout.parents, w.times(index, 8))}, align 8, !invariant.load !1")
            self.parent = layout.record(parent)

    def renew(self) -> None:
        """The same addresses, but LLVM does not know it: what is loaded from them is not what was loaded before.

        Without it LLVM keeps what it has loaded or stored in registers of which there are too few, and spends more
        stores on the stack than the loop has of its own.
        """
        self.link, self.own, self.parent, self.pair = (
            self.w.put(f'call ptr asm "", "=r,0"(ptr {address})')
            for address in (self.link, self.own, self.parent, self.pair)
        )

    def read(self, place: Place) -> str:
        w, where, k = self.w, place.where, place.at
        if where in ("link", "robot"):
            constant = ", !invariant.load !1"
            if where == "link" and self.four:
                return w.put(f"load {V4}, ptr {w.offset(self.link, WIDE * k)}, align {WIDE}{constant}")
            address = w.offset(self.link, WIDE * k) if where == "link" else w.offset(self.layout.robot, 8 * k)
            value = w.put(f"load double, ptr {address}, align 8{constant}")
            return w.splat(value) if self.vector else value
        if where in ("world", "chosen") and self.four:
            return w.splat(w.load("double", self._address(place)))
        return w.load(V4, self._address(place), WIDE) if self.vector else w.load("double", self._address(place))

    def write(self, place: Place, value: str) -> None:
        kind, align = (V4, WIDE) if self.vector else ("double", 8)
        self.w.store(kind, value, self._address(place), align)

    def _address(self, place: Place) -> str:
        w, where, k = self.w, place.where, place.at
        if where == "joint":
            return w.offset(self.layout.inputs[k], self.row)
        if where == "result":
            return w.offset(self.layout.results[k], self.row)
        if where == "strip":
            assert not self.four, "strips are made one link at a time"
            return w.offset(self.strip, self.strip_step * k)
        if where in ("world", "chosen"):
            return w.offset(self.layout.world if where == "world" else self.layout.chosen, WIDE * k)
        base = {"own": lambda: self.own, "parent": lambda: self.parent, "pair": lambda: self.pair}[where]()
        return w.offset(base, WIDE * k)
