"""What pairs and strips of matrices read, from samples side by side to links side by side."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.kernels.ir_writer import vector
from armdyn.kernels.loop_writer import LANES, V4, WIDE, LoopWriter, transposed
from armdyn.kernels.looped.memory import Cursor, Layout
from armdyn.kernels.looped.recursion import Loop
from armdyn.kernels.looped.tiles import at_link


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
