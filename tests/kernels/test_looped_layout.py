"""Memory of looped kernels: every part has room for what is written there, and none lies over another."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from armdyn.dynamics.looped.links import Shape
from armdyn.dynamics.looped.tables import RECIPES
from armdyn.kernels.looped.memory import BASE, Layout, scratch_bytes, transfers, unturned_bytes

LINKS, DOUBLE, LINE = 4, 8, 8


class Numbers:
    """In the place of a writer of code: addresses as numbers."""

    def __init__(self, n: int) -> None:
        self.n = n

    def fixed(self, name: str) -> int:
        return {"n": self.n}[name]

    def table(self, name: str) -> int:
        return 0

    def put(self, text: str) -> int:
        (what, _, value), shift = text.split(",")[0].split(), int(text.split(",")[1])
        return {"lshr": int(value) >> shift, "and": int(value) & shift}[what]

    def offset(self, base: int, displacement: int) -> int:
        return base + displacement

    times = staticmethod(lambda value, factor: value * factor)
    plus = staticmethod(lambda value, other: value + other)


@pytest.mark.parametrize("samples", [1, 4, 8])
@pytest.mark.parametrize("n", [4, 5, 8, 30])
@pytest.mark.parametrize("name", RECIPES)
def test_parts_of_memory_fill_it_without_overlap(name: str, n: int, samples: int) -> None:
    recipe = RECIPES[name](Shape(mixed=True, terms=True))
    writer: Any = Numbers(n)
    wide = max(samples, LINKS)
    layout: Any = Layout(writer, recipe, samples, 0, wide)  # type: ignore[arg-type]
    full = -(-n // LINKS) * LINKS  # links, whole blocks of them
    entries = recipe.own_size if samples == 1 else len(recipe.stored[1].record)
    passed = 0 if samples == 1 else transfers(recipe, range(-1, n - 1), samples)[1]
    vector, one = DOUBLE * samples * full, DOUBLE * samples
    parts = [
        (layout.turned, one * -(-n // wide) * wide * recipe.pair_size),
        *((start, BASE * samples) for start in layout.base),
        *((start, vector) for start in (*layout.inputs, *layout.results)),
        (layout.state, one * entries * (full + 2 * LINKS)),  # and those of the world and beyond the last
        (layout.strips_turned, vector * recipe.strip_size),
    ]
    if samples > 1:  # before samples are told apart: pairs of a block of links, the strip of one
        parts += [(layout.pairs, one * wide * recipe.pair_size), (layout.strips, one * recipe.strip_size)]
        assert unturned_bytes(recipe, samples, wide) == parts[-1][1] + parts[-2][1]
    eights = -(-n // LINE) * LINE
    rows = DOUBLE * (eights * max(recipe.columns, 4 * LINKS) + 2 * LINE)  # sixteen, or strips of all links
    parts += [(layout.rows, rows * recipe.matrices), (layout.passed, passed)]
    assert parts[0][0] == 0
    for (start, size), (following, _) in itertools.pairwise(parts):
        assert start + size == following
    assert scratch_bytes(recipe, n, samples, wide, passed) == sum(parts[-1])


@pytest.mark.parametrize("samples", [1, 4])
def test_records_of_links_follow_that_of_the_world(samples: int) -> None:
    """In blocks of four for one sample, one after the other for several."""
    n, recipe = 9, RECIPES["inverse_dynamics"](Shape(mixed=True, terms=False))
    layout: Any = Layout(Numbers(n), recipe, samples, 0, LINKS)  # type: ignore[arg-type]
    records = [layout.record(k) for k in range(-1, n)]
    assert records[0] == layout.world
    if samples > 1:
        assert records == [layout.state + DOUBLE * samples * layout.size * k for k in range(n + 1)]
        return
    for k, place in enumerate(records[1:], LINKS):
        block, lane = divmod(k, LINKS)
        assert place == layout.state + DOUBLE * (LINKS * layout.size * block + lane)
