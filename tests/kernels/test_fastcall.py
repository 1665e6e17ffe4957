"""The quick way in: same numbers, same refusals, results that belong to whoever holds them."""

from __future__ import annotations

import ctypes
import gc
import sys
import weakref
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import trace
from armdyn.kernels import Kernel, build
from armdyn.kernels.call import arrays
from armdyn.mechanics import newton_euler

pytestmark = pytest.mark.skipif(not arrays.layout_holds(), reason="no fast path on this interpreter")


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    robot = armdyn.load("ur5")
    return build(
        trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), {"q": 6, "qd": 6, "qdd": 6}), "tau"
    )


def state(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-2, 2, (3, 6))


def test_it_is_a_builtin(kernel: Kernel) -> None:
    assert kernel.fast is kernel.call
    assert type(kernel.call) is type(len)
    assert kernel.call.__name__ == "tau"


def test_same_numbers_as_the_ufunc(kernel: Kernel) -> None:
    for seed in range(50):
        q, qd, qdd = state(seed)
        np.testing.assert_array_equal(kernel.call(q, qd, qdd), kernel.ufunc(q, qd, qdd))


@pytest.mark.parametrize("argument", range(3))
def test_every_other_argument_takes_the_slow_way(kernel: Kernel, argument: int) -> None:
    arrays = list(state())
    expected = kernel.ufunc(*arrays)
    plain = arrays[argument]

    class Own(np.ndarray):
        pass

    for other in (
        plain.tolist(),
        tuple(plain),
        plain[::-1].copy()[::-1],
        np.repeat(plain, 2)[::2],
        plain.astype(">f8"),
        np.frombuffer(b"." + plain.tobytes(), np.uint8)[1:].view("f8"),
        plain[None],
        np.broadcast_to(plain, (3, 6)),
        plain.view(Own),
    ):
        arrays[argument] = other
        np.testing.assert_array_equal(np.broadcast_to(np.asarray(kernel.call(*arrays)), (3, 6)), [expected] * 3)
    for bad in (plain[:5], np.zeros(7), np.zeros((6, 1)), np.array(1.0)):
        arrays[argument] = bad
        with pytest.raises(ShapeError):
            kernel.call(*arrays)


def test_given_output(kernel: Kernel) -> None:
    q, qd, qdd = state()
    expected = kernel.ufunc(q, qd, qdd)
    out = np.empty(6)
    assert kernel.call(q, qd, qdd, out=out) is out
    np.testing.assert_array_equal(out, expected)
    assert kernel.call(q, qd, qdd, out=qd) is qd
    np.testing.assert_array_equal(qd, expected)
    frozen = np.empty(6)
    frozen.flags.writeable = False
    with pytest.raises(ArmdynError, match="output.*read-only"):
        kernel.call(q, qd, qdd, out=frozen)
    other = [np.empty(6, dtype=kind) for kind in (int, bool, np.float16, np.float32, np.longdouble, complex)]
    for wrong in (*other, [0.0] * 6, (np.empty(6), np.empty(6))):
        with pytest.raises(ArmdynError, match="out"):
            kernel.call(q, qd, qdd, out=wrong)
        with pytest.raises(ArmdynError, match="out"):
            kernel.call(np.tile(q, (600, 1)), qd, qdd, out=wrong, threads=2)
    with pytest.raises(ShapeError):
        kernel.call(q, qd, qdd, out=np.empty(5))
    with pytest.raises(TypeError):
        kernel.call(q, qd, qdd, other=out)


def test_overlapping_output(kernel: Kernel) -> None:
    buffer = np.arange(24.0)
    arrays = [buffer[0:6], buffer[3:9], buffer[6:12]]
    expected = kernel.ufunc(*[a.copy() for a in arrays])
    np.testing.assert_array_equal(kernel.call(*arrays, out=buffer[4:10]), expected)


def test_results_that_are_kept_stay(kernel: Kernel) -> None:
    kept = [kernel.call(*state(seed)) for seed in range(100)]
    for seed, result in enumerate(kept):
        np.testing.assert_array_equal(result, kernel.ufunc(*state(seed)))


@pytest.mark.parametrize(
    "keep",
    [
        lambda x: x[2:],
        memoryview,
        lambda x: x.reshape(2, 3),
        lambda x: {"a": [x]},
        lambda x: x.ctypes,
        lambda x: np.frombuffer(x),
        lambda x: x.flat,
    ],
)
def test_whatever_holds_a_result_keeps_it(kernel: Kernel, keep: Any) -> None:
    for _ in range(4):
        result = kernel.call(*state(1))
        address, expected = result.ctypes.data, result.copy()
        held = keep(result)
        del result
        for seed in range(2, 8):
            assert kernel.call(*state(seed)).ctypes.data != address
        again = np.ctypeslib.as_array((ctypes.c_double * 6).from_address(address))
        np.testing.assert_array_equal(again, expected)
        del held


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # NumPy 2.5 discourages to set a shape
def test_results_that_were_changed_are_not_given_out_again(kernel: Kernel) -> None:
    def reshape(x: np.ndarray) -> None:
        x.shape = (2, 3)

    def freeze(x: np.ndarray) -> None:
        x.flags.writeable = False

    def resize(x: np.ndarray) -> None:
        x.resize(4, refcheck=False)

    changes = [reshape, freeze, resize]
    for change in changes:
        for _ in range(6):
            for k in range(3):  # results are remembered in turn: an odd number of calls meets every one of them
                fresh = kernel.call(*state(k))
                assert fresh.shape == (6,) and fresh.flags.writeable and fresh.flags.owndata and fresh.dtype == float
                np.testing.assert_array_equal(fresh, kernel.ufunc(*state(k)))
                if k == 0:
                    change(fresh)
                del fresh


def test_weak_references_see_results_go(kernel: Kernel) -> None:
    result = kernel.call(*state())
    reference = weakref.ref(result)
    del result
    for _ in range(3):
        kernel.call(*state(1))
    assert reference() is None


def test_reference_counts_do_not_grow(kernel: Kernel) -> None:
    q, qd, qdd = state()
    out = np.empty(6)
    float64 = np.dtype(float)
    objects = [q, qd, qdd, out, float64, kernel.call]
    kernel.call(q, qd, qdd)
    gc.collect()
    before = [sys.getrefcount(x) for x in objects]
    results = [kernel.call(q, qd, qdd) for _ in range(500)]
    del results
    for _ in range(500):
        kernel.call(q, qd, qdd, out=out)
        kernel.call(q, qd, qdd)
        kernel.call(q.tolist(), qd, qdd)
    gc.collect()
    after = [sys.getrefcount(x) for x in objects]
    assert all(a - b <= 8 for a, b in zip(after, before, strict=True)), (before, after)


def test_without_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "layout_holds", lambda: False)
    kernel = build(trace(lambda q: [q[0].sin(), q[1]], {"q": 2}))
    assert kernel.fast is None
    np.testing.assert_allclose(kernel([0.5, 2]), [np.sin(0.5), 2])
    with pytest.raises(ShapeError, match="input 'q'"):
        kernel([1, 2, 3])


def test_one_array_in_a_tuple_is_given_back_as_the_array() -> None:
    """As by NumPy's own functions, for single calls and for batches."""
    one = build(trace(lambda q: [q[0].sin(), q[1]], {"q": 2}), cache=False)
    for q in (np.array([0.5, 2.0]), np.array([[0.5, 2.0], [1.0, 3.0]])):
        out = np.zeros_like(q)
        assert one.call(q, out=(out,)) is out
        np.testing.assert_allclose(out, np.stack([np.sin(q[..., 0]), q[..., 1]], -1), rtol=1e-15)


OTHERS = [("sys.byteorder", "big"), ("sys.implementation", SimpleNamespace(name="pypy")),
          ("ctypes.sizeof", lambda kind: 4), ("sysconfig.get_config_var", lambda name: 1)]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), OTHERS)
def test_no_fast_path_where_objects_look_otherwise(name: str, value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order of bytes, another interpreter, pointers of four bytes, reference counts without a global lock."""
    with monkeypatch.context() as patch:
        patch.setattr(name, value)
        holds = arrays.layout_holds.__wrapped__()
    assert not holds


def test_the_check_of_the_layout_notices_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "NDIM", "DIMS", "STRIDES", "DESCR", "FLAGS", "BASE", "WEAK"):
        with monkeypatch.context() as patch:
            patch.setattr(arrays, name, getattr(arrays, name) + 8)
            assert not arrays.layout_holds.__wrapped__(), name


def test_without_the_lock_of_python_there_is_no_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """A free-threaded build counts references elsewhere, and two threads might be given one remembered result."""
    flags = {"Py_GIL_DISABLED": 1}
    monkeypatch.setattr("sysconfig.get_config_var", flags.get)
    monkeypatch.setattr(arrays, "layout_holds", arrays.layout_holds.__wrapped__)
    assert not arrays.layout_holds()
    dynamics = armdyn.compile(armdyn.load("ur5"), cache=False)
    program = dynamics.program("gravity")
    assert isinstance(program, Kernel) and program.fast is None
    assert program.before(print, "name", "(q)", "doc") is print
    q = np.random.default_rng(4).uniform(-3, 3, (9, 6))
    batch = dynamics.gravity(q)
    for k in range(9):
        np.testing.assert_array_equal(dynamics.gravity(q[k]), batch[k])
    flags["Py_GIL_DISABLED"] = 0
    assert arrays.layout_holds()
