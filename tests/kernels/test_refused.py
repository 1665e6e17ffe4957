"""What kernels refuse, and what they say; a cache that cannot be written is nobody's error."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import trace
from armdyn.kernels import build, cache
from armdyn.kernels.call.general import SMALLEST_SHARE


def test_too_many_arrays() -> None:
    names = {f"x{i}": 1 for i in range(32)}
    graph = trace(lambda *values: [sum((v[0] for v in values[1:]), values[0][0])], names)
    with pytest.raises(ArmdynError, match="32 inputs and 1 outputs are too many"):
        build(graph, cache=False)


def test_the_wrong_number_of_results() -> None:
    kernel = build(trace(lambda q: [q[0] * 2, q[1] + 1], {"q": 2}), cache=False)
    with pytest.raises(ShapeError, match="2 arrays given"):
        kernel(np.ones((3, 2)), out=(np.empty((3, 2)), np.empty((3, 2))))


def test_threads_with_arguments_of_numpy() -> None:
    """Keywords of NumPy's own go to the ufunc, with or without threads."""
    kernel = build(trace(lambda q: [q[0] * 2, q[1] + 1], {"q": 2}), cache=False)
    x = np.arange(8.0).reshape(4, 2)
    plain = kernel(x)
    np.testing.assert_array_equal(kernel(x, threads=2, axes=[(-1,), (-1,)]), plain)
    many = np.random.default_rng(0).normal(size=(2 * SMALLEST_SHARE, 2, 3))
    expected = np.stack([2 * many[:, 0], many[:, 1] + 1], axis=1)
    np.testing.assert_array_equal(kernel(many, threads=2, axes=[(1,), (1,)]), expected)


def test_a_full_disk_leaves_no_rubbish_and_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path))

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    kernel = build(trace(lambda q: [q[0].sin()], {"q": 1}))
    np.testing.assert_allclose(kernel([0.5]), [np.sin(0.5)], rtol=1e-15)
    assert list(tmp_path.iterdir()) == []


def test_no_home_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache.folder() is None
