"""Looped kernels: machine code for robots of any size, and the tables that make it one robot's.

The code depends on the recipe alone; a robot's numbers are data. It is compiled once per machine and recipe, then
taken from the disk for every robot.
"""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from armdyn.graph import Operations, count_operations
from armdyn.graph.structure import Port
from armdyn.kernels import cache as disk
from armdyn.kernels import jit, looped_ir
from armdyn.kernels.batches import Batches
from armdyn.kernels.fastcall import Loaded
from armdyn.kernels.kernel import Kernel, bound, slots
from armdyn.kernels.kernel_record import KernelRecord, counted, shapes
from armdyn.kernels.link_loops import FREE, SIZES, Recipe
from armdyn.kernels.loop_writer import LANES
from armdyn.kernels.looped_memory import scratch_bytes, transfers
from armdyn.kernels.pair_ir import CROSS, DIAGONAL, EMPTY, FULL, TILE
from armdyn.kernels.ports import Ports
from armdyn.typing import Array

SMALLEST = LANES
"""Links below which vectors of four find too little to load."""
ALIGNED = 64


@dataclass(frozen=True, eq=False)
class Tables:
    """A robot as numbers.

    parents: of every link, -1 for the world; parents before children.
    links: (n, k) numbers of the links, in the order of the recipe.
    robot: its own numbers.
    chosen: the link of a frame; -1: the world.
    """

    parents: tuple[int, ...]
    links: Array
    robot: tuple[float, ...]
    chosen: int = -1

    @cached_property
    def carries(self) -> Array:
        """(n, n) whether link i carries link j, or is it."""
        n = len(self.parents)
        found = np.eye(n, dtype=bool)
        for j, parent in enumerate(self.parents):
            if parent >= 0:
                found[:, j] |= found[:, parent]
        return found

    def blocked(self) -> Array:
        """Numbers of the links in blocks of four: [block][number][link]."""
        n, size = self.links.shape
        blocks = -(-n // LANES)
        padded = np.zeros((blocks * LANES, size))
        padded[:n] = self.links
        return _aligned(padded.reshape(blocks, LANES, size).transpose(0, 2, 1))

    def tiles(self) -> tuple[Array, Array]:
        """(tiles, masks): which blocks of a matrix over pairs have which entries."""
        n = len(self.parents)
        starts = [min(start, n - LANES) for start in range(0, n, LANES)]
        rows: list[tuple[int, int, int, int]] = []
        masks: dict[bytes, int] = {}
        for i, top in enumerate(starts):
            for j, left in enumerate(starts[i:], i):
                part = self.carries[top : top + LANES, left : left + LANES]
                place = masks.setdefault(part.tobytes(), len(masks))
                kind = DIAGONAL if i == j else FULL if part.all() else CROSS if part.any() else EMPTY
                rows.append((i, j, place * LANES * LANES * 8, kind))
        bits = np.array([np.frombuffer(mask, dtype=bool) for mask in masks]).astype(np.int64)
        return np.array(rows, dtype=np.int64).reshape(-1, TILE), _aligned(-bits)


def _aligned(values: Array) -> Array:
    """A copy without gaps that begins at a multiple of 64 bytes."""
    memory = np.zeros(values.nbytes + ALIGNED, dtype=np.uint8)
    start = -memory.ctypes.data % ALIGNED
    copy = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def build_looped(
    recipe: Recipe, tables: Tables, name: str, version: str | None, *, cache: bool = True, samples: int | None = None
) -> Kernel:
    """The kernel of a recipe for one robot.

    tables: the robot, with at least four links.
    name: shown in errors and `help`.
    version: what the recipe depends on besides this package's code for kernels; None: not kept on disk.
    samples: of a batch, side by side, a multiple of four (default: as many as a register holds).
    """
    start = time.perf_counter()
    n = len(tables.parents)
    ports = ports_of(recipe, n)
    keep = cache and version is not None
    samples = samples or jit.register_lanes()
    key = disk.key("looped", version, recipe.name, str(samples), jit.machine_description())
    image, note = (disk.load(key), disk.load(key, "note")) if keep else (None, None)
    per_link = _noted(note)
    found = image is not None and per_link is not None
    if image is None or per_link is None:
        image = jit.compiled(_text(recipe, ports, samples))
        per_link = _operations(recipe)
        if keep:
            disk.save(key, image)
            disk.save(key, json.dumps([asdict(count) for count in per_link]).encode(), "note")
    operations = _scaled(per_link, n, tables)
    record = KernelRecord(key, samples, operations, shapes(ports.inputs), shapes(ports.outputs))
    code = jit.Code(image, ("loop", "fast", "slots", "extents", *looped_ir.GLOBALS), slots=slots(record))
    _fill(code, recipe, tables, ports, samples)
    batches = Batches(made=lambda: code)
    return bound(name, record, ports, code, batches, lambda: _text(recipe, ports, samples), start, from_cache=found)


def _text(recipe: Recipe, ports: Ports, samples: int) -> str:
    return looped_ir.module(recipe, ports, samples, jit.has_fma())


def ports_of(recipe: Recipe, n: int) -> Ports:
    """Arguments and results of a recipe for n joints."""
    inputs = tuple(Port(name, (n + max(recipe.base.get(name, 0) - FREE, 0),)) for name in recipe.inputs)
    vectors = tuple(Port(name, (n,)) for name in recipe.results[: recipe.outputs])
    matrices = tuple(Port(f"out{k + 1}", (n, n)) for k in range(len(recipe.products)))
    if recipe.ending:
        return Ports(inputs, (Port("out", recipe.ending.shape),))
    if recipe.grid:
        count = len(recipe.results)
        return Ports(inputs, (Port("out", (count, n) if recipe.grid == "rows" else (n, count)),))
    strips = (Port("out", (n, recipe.strip.width * n)),) if recipe.strip else ()
    return Ports(inputs, (*vectors, *matrices, *strips))


def _fill(code: jit.Code, recipe: Recipe, tables: Tables, ports: Ports, samples: int) -> None:
    """What a robot is to the code; the arrays live as long as the code."""
    n = len(tables.parents)
    passing, passed = transfers(recipe, tables.parents, samples)
    tiles, masks = tables.tiles() if recipe.products else (np.zeros((0, TILE), np.int64), np.zeros(1))
    arrays = {
        "links": tables.blocked(),
        "parents": np.array(tables.parents, dtype=np.int64),
        "robot": np.array([*tables.robot, 0.0]),
        "transfers": np.array(passing, dtype=np.int64),
        "scratch": _aligned(np.zeros(scratch_bytes(recipe, n, 1) // 8)),
        "tiles": tiles,
        "masks": masks,
        "carries": tables.carries.astype(np.uint8),
    }
    needed = scratch_bytes(recipe, n, samples, passed)
    numbers = {"n": n, "chosen": tables.chosen, "tile_count": len(tiles), "batch_bytes": needed}
    for name, array in arrays.items():
        ctypes.c_int64.from_address(code.address(name)).value = array.ctypes.data
    for name, number in numbers.items():
        ctypes.c_int64.from_address(code.address(name)).value = number
    Loaded(ports).tell(code.address("extents"))
    code.kept = arrays


def _operations(recipe: Recipe) -> tuple[Operations, Operations]:
    """(of a link, of a pair)."""
    nodes = [tuple(node for _, node in loop.body.outputs) for loop in recipe.stored[0]]
    counts = [count_operations(group) for group in nodes]
    link = _sum([*((count, 1) for count in counts), (Operations(trigonometric=2), 1)])
    sides = [side for product in recipe.products for side in (product.upper, product.lower) if side]
    terms = sum(SIZES[recipe.pairs[a]] for side in sides for a, _ in side)
    if recipe.strip is not None:
        return link, Operations(multiplications=recipe.strip.size, additions=recipe.strip.size - recipe.strip.width)
    return link, Operations(multiplications=terms, additions=terms - len(sides))


def _scaled(counts: Sequence[Operations], links: int, tables: Tables) -> Operations:
    return _sum([(counts[0], links), (counts[1], int(tables.carries.sum()))])


def operations_of(recipe: Recipe, tables: Tables) -> Operations:
    """Operations of one call for a robot."""
    return _scaled(_operations(recipe), len(tables.parents), tables)


def _sum(parts: Sequence[tuple[Operations, int]]) -> Operations:
    names = [name for name in Operations.__dataclass_fields__ if name != "offline"]
    return Operations(*(sum(getattr(count, name) * times for count, times in parts) for name in names))


def _noted(note: bytes | None) -> tuple[Operations, Operations] | None:
    """What a note says of the operations; None if there is none, or none that is sound."""
    try:
        link, pair = json.loads(note or b"")
        return counted(link), counted(pair)
    except (KeyError, TypeError, ValueError):
        return None


__all__ = ["SMALLEST", "Tables", "build_looped", "operations_of", "ports_of"]
