"""Batches of looped kernels: the loop over blocks of samples around `@block`.

Samples come in blocks of as many as a register has lanes; what is beyond the last sample repeats it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.kernels.call.loop import sample_bytes
from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.looped.memory import Cursor, Layout
from armdyn.kernels.looped.recursion import FREE, Loop, Recipe
from armdyn.kernels.looped.tiles import at_link
from armdyn.kernels.ports import Ports
from armdyn.kernels.streaming import FETCHED, LINE, Order, fetched, ordered


def dense(recipe: Recipe, ports: Ports, side_by_side: int) -> str:
    """`void @dense(ptr args, i64 samples)`; side_by_side: samples of a vector."""
    w = LoopWriter()
    batch = _Batch(w, recipe, ports)
    memory = w.put(f"call ptr @PyMem_RawCalloc(i64 {w.plus(w.fixed('batch_bytes'), 64)}, i64 1)")
    address = w.put(f"ptrtoint ptr {memory} to i64")
    scratch = w.offset(memory, w.put(f"and i64 {w.put(f'sub i64 0, {address}')}, 63"))
    layout = Layout(w, recipe, side_by_side, scratch, side_by_side)
    blocks = w.put(f"sdiv i64 {w.plus('%samples', side_by_side - 1)}, {side_by_side}")
    with w.counting("block", blocks) as block:
        part = batch.part(w.times(block, side_by_side), side_by_side)
        batch.bring(layout, part)
        batch.fetch(part, side_by_side)
        w.do(f"call void @block(ptr {scratch})")
        batch.put_vectors(layout, part)
        if recipe.matrices:
            batch.put_matrices(layout, part)
    ordered(w, batch.nontemporal)
    w.do(f"call void @PyMem_RawFree(ptr {memory})")
    return w.function("void @dense(ptr %args, i64 %samples)")


class _Part(NamedTuple):
    """Samples of a batch: the number of the first, how many, where they are in each array."""

    first: str
    taken: str
    here: list[str]


class _Batch:
    """The arrays of a batch, and what a block needs of them.

    steps: bytes of a sample of each array. large: whether lines of vectors are fetched ahead. nontemporal: how matrices
    are stored.
    """

    def __init__(self, w: LoopWriter, recipe: Recipe, ports: Ports) -> None:
        self.w, self.recipe = w, recipe
        count, self.inputs = len(ports.all), len(ports.inputs)
        self.args = [w.load("ptr", w.offset("%args", 8 * i)) for i in range(count)]
        self.steps = [sample_bytes(w, ports, i) for i in range(count)]
        first = self.inputs + recipe.outputs
        self.matrices = range(first, first + recipe.matrices)
        n = self.n = w.fixed("n")
        everything = w.times(w.times(self.steps[-1], recipe.matrices), "%samples")
        self.nontemporal = w.put(f"icmp sgt i64 {everything}, {w.fixed('streamed')}")
        self.large = w.put(f"icmp sgt i64 {w.times(w.times(n, '%samples'), 8)}, {FETCHED}")

    def part(self, start: str, most: int) -> _Part:
        """So many samples from there on, or those that are left."""
        w = self.w
        taken = w.put(f"call i64 @llvm.smin.i64(i64 {w.put(f'sub i64 %samples, {start}')}, i64 {most})")
        here = [w.offset(array, w.times(start, step)) for array, step in zip(self.args, self.steps, strict=True)]
        return _Part(start, taken, here)

    def bring(self, layout: Layout, part: _Part) -> None:
        """Inputs, samples side by side."""
        w, recipe = self.w, self.recipe
        for i, name in enumerate(recipe.inputs):
            of_base, skipped = recipe.base.get(name, 0), FREE if name in recipe.base else 0
            rows, given, step = w.offset(layout.inputs[i], layout.step * skipped), part.here[i], f"i64 {self.steps[i]}"
            if of_base:
                w.do(f"call void @gather(ptr {layout.base[i]}, ptr {given}, {step}, i64 {of_base}, i64 {part.taken})")
            given, size = w.offset(given, 8 * of_base), w.plus(layout.n, -skipped)
            w.do(f"call void @gather(ptr {rows}, ptr {given}, {step}, i64 {size}, i64 {part.taken})")

    def fetch(self, part: _Part, together: int) -> None:
        """Lines of results, before they are computed, and of arguments of the next block."""
        w = self.w
        lines = w.put(f"udiv i64 {w.times(part.taken, self.n)}, {LINE * LINE}")
        for i in range(self.inputs + self.recipe.outputs):
            written = i >= self.inputs
            target = part.here[i] if written else w.offset(part.here[i], w.times(self.steps[i], together))
            with w.when(self.large, f"large{i}"), w.counting(f"ahead{i}", lines) as k:
                fetched(w, w.offset(target, w.times(k, 8 * LINE * LINE)), 8 * LINE * LINE, written=written)

    def put_vectors(self, layout: Layout, part: _Part) -> None:
        for i, results in enumerate(layout.results[: self.recipe.outputs], self.inputs):
            sizes = f"i64 {self.steps[i]}, i64 {self.n}, i64 {part.taken}"
            self.w.do(f"call void @scatter(ptr {part.here[i]}, ptr {results}, {sizes})")

    def put_matrices(self, layout: Layout, part: _Part) -> None:
        """Sample by sample."""
        w = self.w
        with w.counting("sample", part.taken) as sample:
            where = (
                w.offset(layout.turned, w.times(layout.pair_bytes, sample)),
                w.offset(layout.strips_turned, w.times(layout.strip_bytes, sample)),
            )
            targets = [w.offset(part.here[i], w.times(sample, self.steps[i])) for i in self.matrices]
            number = w.plus(part.first, sample)
            after = w.put(f"icmp sgt i64 {number}, 0")
            order = Order(self.nontemporal, after, w.put(f"icmp eq i64 {w.plus(number, 1)}, %samples"))
            products(w, self.recipe, layout, where, w.times(sample, 8), layout.step, targets, order)


def products(
    w: LoopWriter,
    recipe: Recipe,
    layout: Layout,
    where: tuple[str, str],
    lane: str,
    step: int,
    targets: Sequence[str],
    order: Order,
) -> None:
    """Matrices of one sample, and what stands on their diagonals: entries `step` bytes apart, from `lane` on.

    where: what pairs and strips read. targets: where the matrices go.
    """

    def result(name: str) -> str:
        return f"ptr {w.offset(layout.results[recipe.results.index(name)], lane)}"

    given = []
    for target, product in zip(targets, recipe.products, strict=False):
        given.append(f"ptr {target}")
        given += [result(product.diagonal)] if product.diagonal else []
    rest = f"ptr {layout.rows}, {', '.join(f'i1 {x}' for x in order)}, i64 {step}"
    if recipe.products:
        w.do(f"call void @pairs(ptr {where[0]}, {', '.join([rest, *given])})")
    if recipe.strip:
        given = [f"ptr {targets[-1]}", *map(result, recipe.strip.diagonal)]
        w.do(f"call void @strips(ptr {where[0]}, ptr {where[1]}, {', '.join([rest, *given])})")


# What pairs and strips read -------------------------------------------------------------------------------------------


def transpose_samples(cursor: Cursor, loop: Loop, name: str) -> None:
    """Store what pairs and strips read by samples: of a link, or of a block of links when the last of them is done.

    It is done at once, while the numbers are in the nearest cache.
    """
    w, layout, index = cursor.w, cursor.layout, cursor.index
    written = {place.where for place, _ in loop.body.outputs}
    if "pair" in written:
        lane = w.put(f"and i64 {index}, {layout.wide - 1}")
        if loop.way == "inward":
            done = w.put(f"icmp eq i64 {lane}, 0")
        else:
            final = w.put(f"icmp eq i64 {index}, {w.plus(layout.n, -1)}")
            done = w.put(f"or i1 {final}, {w.put(f'icmp eq i64 {lane}, {layout.wide - 1}')}")
        with w.when(done, f"{name}.block"):
            _transpose_pairs(w, layout, w.put(f"sub i64 {index}, {lane}"))
    if "strip" in written:
        _transpose_strip(w, layout, index)


def _transpose_pairs(w: LoopWriter, layout: Layout, first: str) -> None:
    """Quantities of a block of links from [link][quantity][sample] to [sample][block][quantity][link]."""
    size, step = layout.recipe.pair_size, layout.step
    block = at_link(w, layout.turned, first, layout.wide, size)
    with w.counting("entry4", str(size)) as k:
        source, target = w.offset(layout.pairs, w.times(k, step)), w.offset(block, w.times(k, 8 * layout.wide))
        for four in range(0, layout.wide, LANES):
            near = [w.offset(source, step * size * (four + link)) for link in range(LANES)]
            _transpose(w, near, w.offset(target, 8 * four), layout.pair_bytes, layout.samples)


def _transpose_strip(w: LoopWriter, layout: Layout, link: str) -> None:
    """Numbers of a link's strip from [number][sample] to [sample][link][number]."""
    size = layout.recipe.strip_size
    target = w.offset(layout.strips_turned, w.times(link, 8 * size))
    with w.counting("strip4", str(size // LANES)) as k:
        source = w.offset(layout.strips, w.times(k, layout.step * LANES))
        near = [w.offset(source, layout.step * r) for r in range(LANES)]
        _transpose(w, near, w.offset(target, w.times(k, WIDE)), layout.strip_bytes, layout.samples)


def _transpose(w: LoopWriter, near: Sequence[str], target: str, step: str, samples: int) -> None:
    """Four vectors of samples become vectors of four, those of samples `step` bytes apart."""
    rows = [w.load(vector(samples), place, 8 * samples) for place in near]
    for sample, column in enumerate(transposed(w, rows, samples)):
        w.store(V4, column, w.offset(target, w.times(step, sample)), WIDE)
