"""Without machine code: the same results, shapes and refusals as with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from armdyn.errors import ArmdynError, PerformanceWarning, ShapeError
from armdyn.graph import Graph, trace
from armdyn.kernels import Kernel, build, jit


def two_results() -> Graph:
    return trace(lambda q, x: {"v": [q[0].sin() * x[0], q[1] / 3], "M": [[q[0], 2], [q[1] * x[0], q[0].sqrt()]]},
                 {"q": 2, "x": 1})  # fmt: skip


@pytest.fixture
def kernels(monkeypatch: pytest.MonkeyPatch) -> tuple[Kernel, Kernel]:
    compiled = build(two_results(), cache=False)
    monkeypatch.setattr(jit, "available", lambda: False)
    return build(two_results()), compiled


@pytest.mark.parametrize("shapes", [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((), (4,)), ((0,), (0,)), ((5, 1), (1, 2))])
def test_same_results_as_machine_code(kernels: tuple[Kernel, Kernel], shapes: Any) -> None:
    rng = np.random.default_rng(0)
    arguments = [rng.uniform(0.1, 2, (*shape, size)) for shape, size in zip(shapes, (2, 1), strict=True)]
    expected = kernels[1](*arguments)
    for found in (kernels[0](*arguments), kernels[0].ufunc(*arguments)):
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.shape == theirs.shape
            np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    assert (kernels[0].source(), "@single" in kernels[1].source()) == ("", True)
    out = tuple(np.full_like(array, 7.0) for array in expected)
    assert all(a is b for a, b in zip(kernels[0](*arguments, out=out), out, strict=True))
    behind = tuple(np.full_like(array, 7.0) for array in expected)
    kernels[0].ufunc(*arguments, *behind)
    for ours, theirs in zip((*out, *behind), (*expected, *expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14)


def test_same_refusals_as_machine_code(kernels: tuple[Kernel, Kernel]) -> None:
    q, x = np.ones((4, 2)), np.ones((4, 1))
    v, M = np.zeros((4, 2)), np.zeros((4, 2, 2))
    frozen = M.copy()
    frozen.flags.writeable = False
    for kernel in kernels:
        for arguments, out in (((q,), None), ((q, x, v, M, M), None), ((q, np.ones((3, 1))), None), ((x, x), None),
                               ((q, x * 1j), None), ((q, x), v), ((q, x), (v, v)), ((q, x), (v, M.astype(int))),
                               ((q, x), (v, frozen)), ((q, x), (v, M[:3])), ((q, x), ([0.0], M))):  # fmt: skip
            with pytest.raises((ArmdynError, ShapeError)):
                kernel(*arguments, **({} if out is None else {"out": out}))


@pytest.fixture
def asked_anew() -> Iterator[None]:
    jit.available.cache_clear()
    yield
    jit.available.cache_clear()


def test_llvm_can_be_switched_off(asked_anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(jit.VARIABLE, "off")
    with pytest.warns(PerformanceWarning, match="ARMDYN_LLVM is off"):
        assert not jit.available()
    monkeypatch.setenv(jit.VARIABLE, "on")
    jit.available.cache_clear()
    assert jit.available()


def test_llvm_that_cannot_be_initialised(asked_anew: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise RuntimeError("no such target")

    monkeypatch.setattr(jit, "_engines", broken)
    with pytest.warns(PerformanceWarning, match="cannot be initialised: no such target"):
        assert not jit.available()
