"""Composites: results of several programs made into one, called like a kernel."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import Operations, trace
from armdyn.graph.structure import Port
from armdyn.kernels import Composite, build, interpreted
from armdyn.kernels.call.general import SMALLEST_SHARE, general_call
from armdyn.kernels.ports import Ports

SINES = trace(lambda q: [[q[0].sin(), q[1]], [q[0] * q[1], 2 * q[0]]], {"q": 2})
CUBES = trace(lambda q: [[q[0] * q[0] * q[0]], [q[1]]], {"q": 2})


def composite(**options: Any) -> Composite:
    parts = build(SINES, "sines"), interpreted(CUBES, "cubes")
    return Composite(
        parts, lambda parts, q, **more: [np.concatenate([part(q, **more) for part in parts], -1)], **options
    )


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
def test_results_are_those_of_the_parts(batch: tuple[int, ...]) -> None:
    q = np.random.default_rng(1).normal(size=(*batch, 2))
    x, y = q[..., 0], q[..., 1]
    expected = np.stack([np.stack([np.sin(x), y, x**3], -1), np.stack([x * y, 2 * x, y], -1)], -2)
    np.testing.assert_allclose(composite()(q), expected, rtol=1e-14)
    out = np.zeros((*batch, 2, 3))
    assert composite()(q, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-14)


def test_options_reach_the_parts() -> None:
    q = np.random.default_rng(2).normal(size=(600, 2))
    np.testing.assert_array_equal(composite()(q, threads=2), composite()(q))
    with pytest.raises(ArmdynError, match="threads=-1"):
        composite()(q, threads=-1)


def test_wrong_results_are_refused() -> None:
    with pytest.raises(ShapeError, match="got shape"):
        composite()([0.5, 1.0], out=np.zeros((3, 2)))
    with pytest.raises(ShapeError, match="2 arrays given"):
        composite()([0.5, 1.0], out=(np.zeros((2, 3)), np.zeros(2)))


def test_facts_are_those_of_the_parts_together() -> None:
    made = composite()
    first, second = made.parts
    total = first.operations.total + second.operations.total
    assert made.operations.total == total > first.operations.total > 0
    assert made.compile_seconds == first.compile_seconds + second.compile_seconds
    assert not made.from_cache, "the second part is no machine code"
    assert Composite((build(SINES),), lambda parts, q: [parts[0](q)]).from_cache == build(SINES).from_cache
    known = Operations(multiplications=7)
    assert composite(counted=known).operations == known


@pytest.mark.parametrize(("threads", "workers"), [(None, 1), (1, 1), (2, 2)])
def test_a_batch_is_shared_among_as_many_threads_as_asked_for(threads: int | None, workers: int) -> None:
    seen: set[int] = set()

    def noted(*arguments: Any, **options: Any) -> Any:
        seen.add(threading.get_ident())
        return np.add(*arguments, **options)

    ports = Ports((Port("a", ()), Port("b", ())), (Port("sum", ()),))
    a, b = np.random.default_rng(1).normal(size=(2, 4 * SMALLEST_SHARE))
    found = general_call("added", ports, noted)(a, b, **({} if threads is None else {"threads": threads}))
    np.testing.assert_array_equal(found, a + b)
    assert len(seen) == workers
