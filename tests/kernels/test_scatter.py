"""Large results of straight-line code: every entry in its place, and nothing written beside the result."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from armdyn.graph import Node, symbol, trace
from armdyn.graph.node import ZERO, constant
from armdyn.kernels import Kernel, build, jit
from armdyn.kernels.straight.emit import completed
from armdyn.kernels.straight.scatter import FEWEST, NUMBERS, TOGETHER, places, scatter_results
from armdyn.kernels.streaming import LINE, STREAMED, put_lines

pytestmark = pytest.mark.skipif(not jit.available(), reason="no machine code")
PART = LINE * TOGETHER
SIZES = [FEWEST, PART + 1, PART + 3, 2 * PART - 1, 2 * PART + LINE + 5, 3 * PART + 4]


def entries(size: int, seed: int) -> list[Node]:
    """Some of few numbers, in runs of different lengths, zeros among them."""
    rng, pool = np.random.default_rng(seed), [symbol(f"x{k}") for k in range(11)]
    found: list[Node] = []
    while len(found) < size:
        length = int(rng.integers(1, 40))
        found += [ZERO] * length if rng.random() < 0.5 else [pool[k] for k in rng.integers(0, len(pool), length)]
    return found[:size]


ROUND = [symbol("x")] * 560 + [ZERO] * 208 + [symbol("y")] * 40
"""Zeros up to entry 768, whose number in the table has a byte of zeros."""


@pytest.mark.parametrize("past", [0, 1])
@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("nodes", [*(entries(size, size) for size in SIZES), ROUND], ids=len)
def test_entries_are_in_their_places(nodes: list[Node], lanes: int, past: int) -> None:
    size = len(nodes)
    numbers = {node: k for k, node in enumerate(dict.fromkeys(nodes))}
    code = jit.Code([jit.compiled(completed([scatter_results(lanes), put_lines()]))], ("scatter_results",))
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 2)(code.address("scatter_results"))
    raw = np.empty(8 * lanes * (len(numbers) + 8), dtype=np.uint8)
    start = -raw.ctypes.data % 64
    values = raw[start : start + 8 * lanes * len(numbers)].view(float).reshape(len(numbers), lanes)
    values[:] = np.random.default_rng(1).normal(size=values.shape)
    if ZERO in numbers:
        values[numbers[ZERO]] = 0.0
    expected = values[[numbers[node] for node in nodes]].T
    table = np.array(places(nodes, numbers, lanes), dtype=np.uint16)
    for shift in range(LINE):
        around = np.full(lanes * size + 4 * LINE, np.pi)
        first = LINE + (-around.ctypes.data % 64) // 8 + shift
        function(around[first:].ctypes.data, values.ctypes.data, table.ctypes.data, size, past)
        np.testing.assert_array_equal(around[first : first + lanes * size].reshape(lanes, size), expected)
        assert (around[:first] == np.pi).all()
        assert (around[first + lanes * size :] == np.pi).all()


def wide(outputs: Sequence[int]) -> Kernel:
    """A kernel with so many entries in its results: numbers known now, arguments, products, many of them repeated."""

    def formula(q: Any, r: Any) -> dict[str, list[Node]]:
        pool = [ZERO, constant(1), constant(-2.5), q[0], r[1], -q[0]]
        pool += [q[k % 3].sin() * r[k % 2] + k for k in range(40)] + [q[k % 3] * r[k % 2] - k for k in range(9)]
        chosen = [
            np.random.default_rng(size).integers(0, len(pool), size // 9 + 1).repeat(9)[:size] for size in outputs
        ]
        return {f"y{i}": [pool[k] for k in each] for i, each in enumerate(chosen)}

    return build(trace(formula, {"q": 3, "r": 2}), cache=False)


@pytest.mark.parametrize("outputs", [[FEWEST + 7, 1], [FEWEST, 12], [7, FEWEST + 90, FEWEST + 1]])
@pytest.mark.parametrize("large", [False, True])
def test_kernels_with_large_results(outputs: list[int], large: bool) -> None:
    kernel = wide(outputs)
    samples = STREAMED // (8 * sum(outputs)) + 30 if large else 30
    rng = np.random.default_rng(0)
    q, r = rng.normal(size=(samples, 3)), rng.normal(size=(samples, 2))
    found = kernel(q, r)
    for k in (*range(5), *range(samples - 5, samples)):
        for one, many in zip(kernel(q[k], r[k]), found, strict=True):
            np.testing.assert_array_equal(one, many[k])
    given = tuple(np.full((samples, size), np.nan) for size in outputs)
    kernel(q, r, out=given)
    turned = kernel(q[::-1], r[::-1])  # with gaps: block by block through other memory
    for one, other, back in zip(found, given, turned, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(one, back[::-1])


def test_results_of_very_many_numbers_are_written_directly() -> None:
    kernel = build(trace(lambda q: [q[0] * k for k in range(NUMBERS + 9)], {"q": 2}), cache=False)
    q = np.random.default_rng(0).normal(size=(11, 2))
    np.testing.assert_array_equal(kernel(q), q[:, :1] * np.arange(NUMBERS + 9))
    assert "scatter_results" not in kernel.source()
