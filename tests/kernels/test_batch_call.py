"""Batches that go straight to machine code: the numbers and refusals of the ufunc, no reference lost or kept."""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.looped.tables import looped
from armdyn.errors import ArmdynError, ShapeError
from armdyn.kernels import Kernel, jit
from armdyn.kernels.call import arrays
from armdyn.kernels.call.batch import total
from armdyn.robot.random import random_robot

pytestmark = pytest.mark.skipif(not arrays.layout_holds(), reason="no fast path on this interpreter")


def _looped(name: str) -> Kernel:
    kernel = looped(random_robot(8, 6, branching=0.3), name)
    assert kernel is not None
    return kernel


STRAIGHT = armdyn.compile(armdyn.load("ur5").without("friction"))
KERNELS: dict[str, Any] = {
    f"{name}, {kind}": (lambda name=name, make=make: make(name))
    for name in ("inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives")
    for kind, make in (("straight-line", STRAIGHT.program), ("looped", _looped))
}


@pytest.fixture(params=KERNELS)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    made: Kernel = KERNELS[request.param]()
    return made


def batch(kernel: Kernel, samples: int) -> list[np.ndarray]:
    rng = np.random.default_rng(samples)
    return [rng.uniform(-2, 2, (samples, *port.shape)) for port in kernel.ports.inputs]


def listed(result: Any) -> tuple[np.ndarray, ...]:
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("samples", [1, 2, 4, 7, 33])
def test_same_numbers_as_the_ufunc(kernel: Kernel, samples: int) -> None:
    arrays = batch(kernel, samples)
    expected = listed(kernel.ufunc(*arrays))
    out = tuple(np.full_like(array, 7.0) for array in expected)
    given = out if len(out) > 1 else out[0]
    assert kernel.call(*arrays, out=given) is given
    for ours, written, theirs in zip(listed(kernel.call(*arrays)), out, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(written, theirs)


@pytest.mark.parametrize("name", ["mass_matrix", "inverse_dynamics_derivatives"])
def test_large_results_at_any_place_in_memory(name: str) -> None:
    """Matrices of large batches are written past the caches, in lines of 64 bytes; nothing before or behind."""
    kernel = looped(random_robot(8, 9, branching=0.3), name)
    assert kernel is not None
    arrays = batch(kernel, 2**23 // (8 * 9 * 9) + 3)
    small = range(0, len(arrays[0]), 4000)
    pieces = [listed(kernel.call(*(array[k : k + 4000] for array in arrays))) for k in small]
    expected = [np.concatenate(part) for part in zip(*pieces, strict=True)]
    for shift in (0, 3, 7):
        memory = [np.full(array.size + 16, 7.0) for array in expected]
        out = tuple(m[shift : shift + e.size].reshape(e.shape) for m, e in zip(memory, expected, strict=True))
        kernel.call(*arrays, out=out if len(out) > 1 else out[0])
        for theirs, array, whole in zip(expected, out, memory, strict=True):
            np.testing.assert_array_equal(array, theirs)
            assert (whole[:shift] == 7.0).all() and (whole[shift + array.size :] == 7.0).all()


def test_results_that_share_memory_with_inputs() -> None:
    kernel = _looped("inverse_dynamics")
    q, qd, qdd = batch(kernel, 40)
    expected = kernel.ufunc(q[:36], qd[:36], qdd[:36])
    for shift in (0, 1, 4):  # of rows: samples would be read after they were overwritten
        memory = qdd.copy()
        kernel.call(q[:36], qd[:36], memory[:36], out=memory[shift : 36 + shift])
        np.testing.assert_array_equal(memory[shift : 36 + shift], expected)


def test_other_batches_take_the_slow_way(kernel: Kernel) -> None:
    arrays = batch(kernel, 5)
    expected = listed(kernel.ufunc(*arrays))
    wider = np.repeat(arrays[0], 2, axis=1)[:, ::2]
    for first in (wider, arrays[0].tolist(), arrays[0][None][0][::-1].copy()[::-1], np.asfortranarray(arrays[0])):
        for ours, theirs in zip(listed(kernel.call(first, *arrays[1:])), expected, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for wrong in (arrays[0][:, :-1], arrays[0][:0, :-1], np.zeros((5, 7))):
        with pytest.raises(ShapeError):
            kernel.call(wrong, *arrays[1:])
    if len(arrays) > 1:
        with pytest.raises(ShapeError):
            kernel.call(arrays[0], *(array[:4] for array in arrays[1:]))


def test_read_only_output() -> None:
    kernel = _looped("mass_matrix")
    (q,) = batch(kernel, 5)
    out = np.zeros((5, 6, 6))
    out.flags.writeable = False
    with pytest.raises(ArmdynError, match="read-only"):
        kernel.call(q, out=out)
    assert not out.any()


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix"])
def test_a_sample_that_is_not_finite_is_named(name: str) -> None:
    arrays = batch(STRAIGHT.program(name), 9)  # type: ignore[arg-type]
    arrays[0][4, 2] = np.nan
    with pytest.raises(ShapeError, match=r"q\[4\]\[2\] is NaN"):
        getattr(STRAIGHT, name)(*arrays)


def test_large_numbers_are_finite() -> None:
    """Their sum overflows, none of them does."""
    kernel = build_negative()
    values = np.full((8, 2), -1e308)
    np.testing.assert_array_equal(kernel.call(values), -values)


def build_negative() -> Kernel:
    from armdyn.graph import trace
    from armdyn.kernels import build

    return build(trace(lambda q: [-q[0], -q[1]], {"q": 2}))


def test_references(kernel: Kernel) -> None:
    arrays = batch(kernel, 6)
    double = np.dtype(float)
    kernel.call(*arrays)
    before = sys.getrefcount(double), [sys.getrefcount(array) for array in arrays]
    for _ in range(100):
        result = kernel.call(*arrays)
    plain = tuple(np.zeros(1) for _ in result) if isinstance(result, tuple) else np.zeros(1)
    assert [sys.getrefcount(part) for part in listed(result)] == [sys.getrefcount(part) for part in listed(plain)]
    del result
    after = sys.getrefcount(double), [sys.getrefcount(array) for array in arrays]
    assert after[1] == before[1]
    assert abs(after[0] - before[0]) < 10


def test_threads_at_once(kernel: Kernel) -> None:
    arrays = batch(kernel, 600)
    expected = listed(kernel.ufunc(*arrays))
    wrong: list[int] = []

    def work() -> None:
        for _ in range(10):
            for ours, theirs in zip(listed(kernel.call(*arrays)), expected, strict=True):
                wrong.append(int((ours != theirs).sum()))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(wrong) == 0
    assert len(wrong) == 40 * len(expected)


def test_a_sum_has_every_number_once() -> None:
    """Powers of two: the sum says which were counted, and how often; what lies behind them is not a number."""
    code = jit.Code([jit.compiled(total())], ("total",))
    found = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_int64)(code.address("total"))
    for count in range(50):
        memory = np.full(count + 64, np.nan)
        memory[:count] = 2.0 ** np.arange(count)
        assert found(memory.ctypes.data, count) == 2.0**count - 1


@pytest.mark.parametrize("name", ["mass_matrix", "regressor", "coriolis_matrix"])
def test_results_with_gaps_between_samples_rows_and_columns(name: str) -> None:
    """Written where they belong, and nothing else is."""
    kernel = _looped(name)
    arrays = batch(kernel, 11)
    expected = kernel.ufunc(*arrays)
    _, rows, columns = expected.shape
    for order in (slice(None), slice(None, None, -1)):
        memory = np.full((22, 3 * rows, 5 * columns), 7.0)
        out = memory[1::2, 2::3, 4::5][:, order, order]
        kernel(*arrays, out=out)
        np.testing.assert_array_equal(out, expected)
        out[...] = 7.0
        assert (memory == 7.0).all()
    turned = np.empty((11, columns, rows)).transpose(0, 2, 1)
    kernel(*arrays, out=turned)
    np.testing.assert_array_equal(turned, expected)
