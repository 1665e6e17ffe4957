"""Where things are in the memory of a looped kernel.

Records of links lie in blocks of four, [block][quantity][link], for one sample, and one after the other,
[link][quantity][sample], for a vector of samples. Tables of links lie in blocks of four in both cases, what matrices
over pairs of links read in blocks of as many links as a vector has. The world's record precedes those of the links: a
link whose parent is -1 finds it there. What links only pass on to their neighbours, in batches, lies in few places that
are used again and again; which, a table of the robot says (`transfers`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, WIDE, LoopWriter
from armdyn.kernels.looped.recursion import Place, Recipe
from armdyn.kernels.looped.tiles import at_link, blocks_of, rows_bytes, rows_made
from armdyn.kernels.streaming import LINE

BASE = 64
"""Bytes for the numbers of a free joint in one input."""
SPARE = 2
"""Blocks of records more than links need: the world's, and one into which the last pair of angles may reach."""
TRANSFER = 5
"""Numbers of a link in the table of transfers."""
NOWHERE = -1


class Transfer(NamedTuple):
    """Where a link finds and leaves what is passed on, in bytes.

    own, parent: what it passes outwards, and its parent.
    inbox: the sum of what comes from links further out; outbox: where it leaves its own.
    sum: where that is added to what other children of its parent have left; NOWHERE for the first of them.
    """

    own: int
    parent: int
    inbox: int
    outbox: int
    sum: int


def transfers(recipe: Recipe, parents: Sequence[int], samples: int) -> tuple[list[Transfer], int]:
    """The table of a robot, and the bytes of the memory it speaks of. Places that are free again are taken first."""
    _, outward, inward = recipe.stored[1]
    last = {parent: link for link, parent in enumerate(parents)}
    outer = Places(1)  # the first is the world's
    own = {-1: 0}
    for link, parent in enumerate(parents):
        own[link] = outer.take()
        if link not in last:
            outer.free(own[link])
        if last[parent] == link and parent >= 0:
            outer.free(own[parent])
    inner = Places(1)  # the first is always zero
    inbox: dict[int, int] = {}
    boxes = {}
    for link, parent in reversed([*enumerate(parents)]):
        outbox = inner.take()
        first = parent not in inbox
        boxes[link] = inbox.get(link, 0), outbox, NOWHERE if first else inbox[parent]
        if first:
            inbox[parent] = outbox
        else:
            inner.free(outbox)
        if link in inbox:
            inner.free(inbox[link])
    sizes = [8 * samples * len(outward), 8 * samples * len(inward)]
    before = sizes[0] * outer.count
    table = []
    for link, parent in enumerate(parents):
        inside, outside, total = (at if at == NOWHERE else before + sizes[1] * at for at in boxes[link])
        table.append(Transfer(sizes[0] * own[link], sizes[0] * own[parent], inside, outside, total))
    return table, before + sizes[1] * inner.count


class Places:
    """Numbers that are in use, from `count` on, and those that are free again."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._free: list[int] = []

    def take(self) -> int:
        if self._free:
            return self._free.pop()
        self.count += 1
        return self.count - 1

    def free(self, number: int) -> None:
        self._free.append(number)


class Layout:
    """Addresses in scratch memory.

    samples: how many at a time. wide: links of a block of what pairs read.
    step: bytes from one entry of a record to the next.
    """

    def __init__(self, w: LoopWriter, recipe: Recipe, samples: int, scratch: str, wide: int) -> None:
        self.w, self.recipe, self.samples, self.wide = w, recipe, samples, wide
        self.step = WIDE if samples == 1 else 8 * samples
        self.n = w.fixed("n")
        self.blocks = blocks_of(w, self.n, LANES)
        row = self.row = w.times(self.blocks, WIDE * samples)
        self.turned = scratch  # first, for its vectors may be longer than those of the rest
        self.pair_bytes = w.times(blocks_of(w, self.n, wide), 8 * wide * recipe.pair_size)
        scratch = w.offset(scratch, w.times(self.pair_bytes, samples))
        self.base = [w.offset(scratch, BASE * samples * i) for i in range(len(recipe.inputs))]
        scratch = w.offset(scratch, BASE * samples * len(recipe.inputs))
        self.inputs = [w.offset(scratch, w.times(row, i)) for i in range(len(recipe.inputs))]
        place = w.offset(scratch, w.times(row, len(recipe.inputs)))
        self.results = [w.offset(place, w.times(row, i)) for i in range(len(recipe.results))]
        place = w.offset(place, w.times(row, len(recipe.results)))
        self.state = place
        self.world = w.offset(place, 0 if samples > 1 else 8 * (LANES - 1))
        self.size = recipe.own_size if samples == 1 else len(recipe.stored[1].record)
        place = w.offset(place, w.times(w.plus(self.blocks, SPARE), WIDE * samples * self.size))
        self.strips_turned = place
        self.strip_bytes = w.times(self.blocks, WIDE * recipe.strip_size)
        place = w.offset(self.strips_turned, w.times(self.strip_bytes, samples))
        self.pairs = self.turned if samples == 1 else place
        self.strips = self.strips_turned if samples == 1 else w.offset(place, self.step * wide * recipe.pair_size)
        self.rows = w.offset(place, unturned_bytes(recipe, samples, wide))
        self.passed = w.offset(self.rows, w.times(rows_bytes(w, self.n, recipe.columns), recipe.matrices))
        self.links, self.parents, self.robot = w.table("links"), w.table("parents"), w.table("robot")
        self.transfers = w.table("transfers")

    def record(self, link: str) -> str:
        """The record of a link by its index, -1 for the world's."""
        w, size = self.w, self.size
        if self.samples > 1:
            return w.offset(self.state, w.times(w.plus(link, 1), self.step * size))
        place = w.plus(link, LANES)
        lane = w.times(w.put(f"and i64 {place}, 3"), 8)
        return self.in_block(self.state, w.put(f"lshr i64 {place}, 2"), lane, size)

    def of_world(self, at: int) -> str | None:
        """The place of an entry of the world's; None if nobody reads it."""
        if self.samples == 1:
            return self.w.offset(self.world, WIDE * at)
        record, outward, _ = self.recipe.stored[1]
        if at in outward:
            return self.w.offset(self.passed, self.step * outward[at])
        return self.w.offset(self.world, self.step * record[at]) if at in record else None

    def in_block(self, base: str, block: str, lane: str | None, size: int) -> str:
        place = self.w.offset(base, self.w.times(block, WIDE * size))
        return place if lane is None else self.w.offset(place, lane)


def scratch_bytes(recipe: Recipe, n: int, samples: int, wide: int, passed: int = 0) -> int:
    """Memory that a Layout needs; passed: for what links pass on."""
    blocks = -(-n // LANES)
    own = recipe.own_size if samples == 1 else len(recipe.stored[1].record)
    vectors = len(recipe.inputs) + len(recipe.results) + recipe.strip_size
    records = WIDE * samples * (blocks * vectors + (blocks + SPARE) * own)
    pairs = 8 * samples * recipe.pair_size * wide * -(-n // wide)
    first = BASE * samples * len(recipe.inputs)
    rows = 8 * LINE * (-(-n // LINE) * rows_made(recipe.columns) + 2) * recipe.matrices
    return pairs + first + records + unturned_bytes(recipe, samples, wide) + rows + passed


def unturned_bytes(recipe: Recipe, samples: int, wide: int) -> int:
    """Memory for what pairs and strips read, of a block of links and of one: as it is before samples are told apart."""
    return 0 if samples == 1 else 8 * samples * (wide * recipe.pair_size + recipe.strip_size)


class Cursor:
    """Addresses of one link (or of four), and what a body reads and writes there."""

    def __init__(self, layout: Layout, index: str, four_links: bool) -> None:
        w, recipe = layout.w, layout.recipe
        self.w, self.layout, self.four = w, layout, four_links
        self.samples = layout.samples
        self.received: dict[Place, str] = {}
        self.index = index
        self.lanes = LANES if four_links else self.samples
        step = layout.step
        if four_links:
            block, lane = index, None
        else:
            block, lane = w.put(f"lshr i64 {index}, 2"), w.times(w.put(f"and i64 {index}, 3"), 8)
        self.link = layout.in_block(layout.links, block, lane, len(recipe.numbers))
        if self.samples > 1:
            self.own = w.offset(layout.state, w.times(w.plus(index, 1), step * layout.size))
            row = w.offset(layout.transfers, w.times(index, 8 * TRANSFER))
            offsets = [
                w.put(f"load i64, ptr {w.offset(row, 8 * k)}, align 8, !invariant.load !1") for k in range(TRANSFER)
            ]
            self.inbox_at, self.outbox_at, self.sum_at = offsets[2:]
            self.given, self.taken, self.inbox, self.outbox = (w.offset(layout.passed, at) for at in offsets[:-1])
            place = w.put(f"and i64 {index}, {layout.wide - 1}")
            self.pair = w.offset(layout.pairs, w.times(place, step * recipe.pair_size))
        else:
            self.own = layout.in_block(layout.state, w.plus(block, 1), lane, recipe.own_size)
            first = w.times(index, LANES) if four_links else index
            self.pair = at_link(w, layout.pairs, first, layout.wide, recipe.pair_size)
        self.row = w.times(index, 8 * self.lanes)
        self.strip_step = 8 * self.samples
        self.strip = layout.strips
        if self.samples == 1:
            self.strip = w.offset(self.strip, w.times(index, self.strip_step * recipe.strip_size))
        if not four_links:
            row = w.offset(layout.parents, w.times(index, 8))
            self.above = w.put(f"load i64, ptr {row}, align 8, !invariant.load !1")
            self.parent = layout.record(self.above)

    def renew(self) -> None:
        """The same addresses, but LLVM does not know it: what is loaded from them is not what was loaded before.

        Without it LLVM keeps what it has loaded or stored in registers of which there are too few, and spends more
        stores on the stack than the loop has of its own.
        """
        names = ("link", "own", "parent", "pair")
        for name in (*names, "given", "taken", "inbox", "outbox") if self.samples > 1 else names:
            setattr(self, name, self.w.put(f'call ptr asm "", "=r,0"(ptr {getattr(self, name)})'))

    def read(self, place: Place) -> str:
        w, where, k, kind = self.w, place.where, place.at, vector(self.lanes)
        if place in self.received:
            return self.received[place]
        if where == "link":
            address, constant = w.offset(self.link, WIDE * k), ", !invariant.load !1"
            if self.four:
                return w.put(f"load {kind}, ptr {address}, align {WIDE}{constant}")
            return w.splat(w.put(f"load double, ptr {address}, align 8{constant}"), self.lanes)
        if where == "world" and self.four:
            return w.splat(w.load("double", self.address(place)), self.lanes)
        return w.load(kind, self.address(place), 8 * self.lanes)

    def write(self, place: Place, value: str) -> None:
        self.w.store(vector(self.lanes), value, self.address(place), 8 * self.lanes)

    def address(self, place: Place) -> str:
        w, where, k = self.w, place.where, place.at
        if where == "joint":
            return w.offset(self.layout.inputs[k], self.row)
        if where == "result":
            return w.offset(self.layout.results[k], self.row)
        if where == "strip":
            assert not self.four, "strips are made one link at a time"
            return w.offset(self.strip, self.strip_step * k)
        if self.samples == 1:
            if where == "pair":
                return w.offset(self.pair, 8 * self.layout.wide * k)
            return w.offset(self._record(where), WIDE * k)
        step = self.layout.step
        if where == "pair":
            return w.offset(self.pair, step * k)
        record, outward, inward = self.layout.recipe.stored[1]
        if where in ("inbox", "outbox"):
            return w.offset(self.inbox if where == "inbox" else self.outbox, step * inward[k])
        if where in ("own", "parent") and k in outward:
            return w.offset(self.given if where == "own" else self.taken, step * outward[k])
        return w.offset(self._record(where), step * record[k])

    def _record(self, where: str) -> str:
        return self.layout.world if where == "world" else self.own if where == "own" else self.parent
