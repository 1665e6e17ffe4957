"""Looped kernels: machine code for robots of any size, and the tables that make it one robot's.

The code depends on the recipe alone; a robot's numbers are data. It is compiled once per machine and recipe, then
taken from the disk for every robot.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armdyn.graph import Operations, count_operations
from armdyn.graph.count import together
from armdyn.graph.structure import Port
from armdyn.kernels import cache as disk
from armdyn.kernels import jit
from armdyn.kernels.call.arrays import Extents
from armdyn.kernels.call.single import SLOTS
from armdyn.kernels.kernel import Kernel, bound
from armdyn.kernels.loop_writer import LANES
from armdyn.kernels.looped import module
from armdyn.kernels.looped.memory import scratch_bytes, transfers
from armdyn.kernels.looped.recursion import FREE, SIZES, Recipe
from armdyn.kernels.looped.tiles import BOTH, EMPTY, FEW, KINDS, LEFT, RIGHT, SOME_LEFT, SOME_RIGHT
from armdyn.kernels.ports import KernelRecord, Ports
from armdyn.kernels.streaming import STREAMED
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
    """

    parents: tuple[int, ...]
    links: Array
    robot: tuple[float, ...]

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
        """Numbers of the links in blocks of four: [block][number][link]; pairs of blocks, as angles are taken."""
        n, size = self.links.shape
        blocks = 2 * -(-n // (2 * LANES))
        padded = np.zeros((blocks * LANES, size))
        padded[:n] = self.links
        return _aligned(padded.reshape(blocks, LANES, size).transpose(0, 2, 1))

    def tiles(self, wide: int) -> Array:
        """Tiles of a matrix over pairs, four rows and `wide` columns each, in the order in which they are computed."""
        n = len(self.parents)
        rows, columns = (-(-n // size) for size in (LANES, wide))
        right = np.zeros((LANES * rows, wide * columns), dtype=bool)
        right[:n, :n] = self.carries
        left = np.zeros_like(right)
        left[:n, :n] = self.carries.T & ~np.eye(n, dtype=bool)
        there = np.zeros_like(right)
        there[:n, :n] = True
        found = []
        for i in range(rows):
            for j in (columns - 1, *range(columns - 1)):
                place = slice(LANES * i, LANES * (i + 1)), slice(wide * j, wide * (j + 1))
                kind = _kind(right[place], left[place], there[place])
                found.append((KINDS * j + kind, _bits(right[place]) | _bits(left[place]) << 8 * LANES))
        return np.array(found, dtype=np.uint64).astype(np.int64)


def _kind(right: Array, left: Array, there: Array) -> int:
    """Of a tile, by which of its entries are pairs, and which there are at all."""
    if right.any() and left.any():
        return BOTH
    for pairs, all_, some in ((right, RIGHT, SOME_RIGHT), (left, LEFT, SOME_LEFT)):
        if pairs.any():
            return all_ if pairs[there].all() else some
    return EMPTY


def _bits(pairs: Array) -> int:
    """Bits of pairs, a byte for every row."""
    return sum(1 << 8 * int(row) + int(lane) for row, lane in zip(*np.nonzero(pairs), strict=True))


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
    start, ports = time.perf_counter(), ports_of(recipe, len(tables.parents))
    samples = samples or jit.register_lanes()
    key = disk.key("looped", version, recipe.name, str(samples), jit.machine_description())

    def images() -> list[bytes]:
        return [jit.compiled(_text(recipe, ports, samples), effort=1 if recipe.matrices else 2)]

    def loaded(images: Sequence[bytes]) -> jit.Code:
        names = ("loop", "fast", "sequence", "slots", "extents", *module.GLOBALS)
        return jit.Code(images, names, slots=SLOTS * len(ports.outputs))

    code, found = disk.obtained(key, images, loaded, keep=cache and version is not None)
    _fill(code, recipe, tables, ports, samples)
    record = KernelRecord(key, samples, operations_of(recipe, tables), ports)
    return bound(name, record, code, lambda: code, lambda: _text(recipe, ports, samples), start, from_cache=found)


def _text(recipe: Recipe, ports: Ports, samples: int) -> str:
    return module.module(recipe, ports, samples, jit.has_fma())


def ports_of(recipe: Recipe, n: int) -> Ports:
    """Arguments and results of a recipe for n joints."""
    inputs = tuple(Port(name, (n + max(recipe.base.get(name, 0) - FREE, 0),)) for name in recipe.inputs)
    vectors = tuple(Port(name, (n,)) for name in recipe.results[: recipe.outputs])
    matrices = tuple(Port(f"out{k + 1}", (n, n)) for k in range(len(recipe.products)))
    strips = (Port("out", (n, recipe.strip.width * n)),) if recipe.strip else ()
    return Ports(inputs, (*vectors, *matrices, *strips))


def _fill(code: jit.Code, recipe: Recipe, tables: Tables, ports: Ports, samples: int) -> None:
    """What a robot is to the code; the arrays live as long as the code."""
    n = len(tables.parents)
    passing, passed = transfers(recipe, tables.parents, samples)
    arrays = {
        "links": tables.blocked(),
        "parents": np.array(tables.parents, dtype=np.int64),
        "robot": np.array([*tables.robot, 0.0]),
        "transfers": np.array(passing, dtype=np.int64),
        "scratch": _aligned(np.zeros(scratch_bytes(recipe, n, 1, samples) // 8)),
        "tiles": tables.tiles(samples) if recipe.products else np.zeros(0),
        "carries": np.pad(tables.carries.astype(np.uint8), ((0, 0), (0, -n % FEW))),
    }
    needed = -(-scratch_bytes(recipe, n, samples, samples, passed) // ALIGNED) * ALIGNED
    numbers = {"n": n, "batch_bytes": needed, "streamed": STREAMED}
    for name, array in arrays.items():
        ctypes.c_int64.from_address(code.address(name)).value = array.ctypes.data
    for name, number in numbers.items():
        ctypes.c_int64.from_address(code.address(name)).value = number
    Extents(ports).tell(code.address("extents"))
    code.kept = arrays


def operations_of(recipe: Recipe, tables: Tables) -> Operations:
    """Operations of one call for a robot: those of a link for all links, those of a pair for all pairs."""
    links, pairs = len(tables.parents), int(tables.carries.sum())
    loops = [count_operations(tuple(node for _, node in loop.body.outputs)) for loop in recipe.stored[0]]
    sides = [side for product in recipe.products for side in (product.upper, product.lower) if side]
    terms = sum(SIZES[recipe.pairs[a]] for side in sides for a, _ in side)
    pair = Operations(multiplications=terms, additions=terms - len(sides))
    if recipe.strip is not None:
        pair = Operations(multiplications=recipe.strip.size, additions=recipe.strip.size - recipe.strip.width)
    return together([*((loop, links) for loop in loops), (Operations(trigonometric=2), links), (pair, pairs)])
