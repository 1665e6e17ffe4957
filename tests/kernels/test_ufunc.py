"""Kernels behave like NumPy's own generalised ufuncs."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import trace
from armdyn.kernels import Kernel, build, jit
from armdyn.kernels.straight.emit import _texts

N = 5


def formula(a: Any, b: Any) -> Any:
    """(..., 5), (..., 5) -> (..., 5): every output needs every input, so that mixed-up data shows."""
    total = a.sum(-1, keepdims=True)
    return total * b - np.flip(a, -1) * (b @ np.arange(1.0, N + 1))[..., None]


@pytest.fixture(scope="module", params=[4, 8], ids="lanes {}".format)
def kernel(request: pytest.FixtureRequest) -> Kernel:
    def function(a: Any, b: Any) -> Any:
        total = sum(a[1:], a[0])
        weighted = sum(((i + 1) * b[i] for i in range(1, N)), b[0])
        return [total * b[i] - a[N - 1 - i] * weighted for i in range(N)]

    return build(trace(function, {"a": N, "b": N}), "mixing", lanes=request.param)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def check(found: Any, a: Any, b: Any) -> None:
    expected = formula(np.asarray(a, float), np.asarray(b, float))
    assert found.dtype == float and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((), ()),
        ((1,), ()),
        ((7,), (7,)),
        ((19,), ()),
        ((), (19,)),
        ((3, 1), (1, 11)),
        ((2, 3, 4), (4,)),
        ((5, 1, 2), (3, 1)),
    ],
)
def test_broadcasting(kernel: Kernel, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    a, b = draw(*first, N), draw(*second, N, seed=1)
    check(kernel(a, b), a, b)


def test_numpy_sees_one_loop_of_doubles(kernel: Kernel) -> None:
    assert kernel.ufunc.types == ["dd->d"]
    assert (kernel.ufunc.nin, kernel.ufunc.nout, kernel.ufunc.identity) == (2, 1, None)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_batches(kernel: Kernel, shape: tuple[int, ...]) -> None:
    assert kernel(draw(*shape, N), draw(N)).shape == (*shape, N)


STRIDED = {
    "fortran": lambda x: np.asfortranarray(x),
    "every second row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every second entry": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "rows reversed": lambda x: x[::-1].copy()[::-1],
    "entries reversed": lambda x: x[:, ::-1].copy()[:, ::-1],
    "both reversed": lambda x: x[::-1, ::-1].copy()[::-1, ::-1],
    "in a wider array": lambda x: np.pad(x, ((0, 0), (2, 1)))[:, 2:-1],
    "repeated": lambda x: np.broadcast_to(x[0], x.shape),
    "one entry": lambda x: np.broadcast_to(x[:, :1], x.shape),
    "misaligned": lambda x: np.frombuffer(b"." + x.tobytes(), np.uint8)[1:].view("f8").reshape(x.shape),
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: np.frombuffer(x.tobytes()).reshape(x.shape),
    "float32": lambda x: x.astype(np.float32),
    "integers": lambda x: (9 * x).astype(int),
    "booleans": lambda x: x > 0,
    "list": lambda x: x.tolist(),
    "masked subclass": lambda x: x.view(np.matrix),
    "half": lambda x: x.astype(np.float16),
}


@pytest.mark.parametrize("name", STRIDED)
@pytest.mark.parametrize("size", [1, 8, 21])
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_any_array(kernel: Kernel, name: str, size: int) -> None:
    change = STRIDED[name]
    plain, changed = draw(size, N), change(draw(size, N, seed=1))
    check(np.asarray(kernel(plain, changed)), plain, np.asarray(changed))
    check(np.asarray(kernel(changed, plain)), np.asarray(changed), plain)
    check(np.asarray(kernel(changed, changed)), np.asarray(changed), np.asarray(changed))


OUT = {
    "plain": lambda size: np.empty((size, N)),
    "fortran": lambda size: np.empty((size, N), order="F"),
    "strided": lambda size: np.empty((2 * size, 2 * N))[::2, ::2],
    "reversed": lambda size: np.empty((size, N))[::-1, ::-1],
    "byte-swapped": lambda size: np.empty((size, N), ">f8"),
    "float32": lambda size: np.empty((size, N), "f4"),
    "misaligned": lambda size: np.empty(size * N * 8 + 1, np.uint8)[1:].view("f8").reshape(size, N),
}


@pytest.mark.parametrize("name", OUT)
@pytest.mark.parametrize("size", [1, 8, 21])
def test_given_output(kernel: Kernel, name: str, size: int) -> None:
    a, b, out = draw(size, N), draw(size, N, seed=1), OUT[name](size)
    options = {"casting": "same_kind"} if name == "float32" else {}
    assert kernel(a, b, out=out, **options) is out
    np.testing.assert_allclose(out, formula(a, b), rtol=1e-5 if name == "float32" else 1e-12, atol=1e-5)
    np.testing.assert_array_equal(out, kernel(a, b).astype(out.dtype))


@pytest.mark.parametrize("side", [2, 40, 60])
def test_matrices_with_gaps(side: int) -> None:
    """Blocks of the larger ones, copied together, would take more of the stack than they may."""
    kernel = build(trace(lambda q: [[q[i] + (j + 1) * q[j] for j in range(side)] for i in range(side)], {"q": side}))
    q = draw(11, 2 * side)[:, ::2]
    out = np.zeros((11, side, 2 * side))[:, :, 1::2]
    kernel(q, out=out)
    np.testing.assert_array_equal(out, kernel(q.copy()))
    np.testing.assert_allclose(out, q[:, :, None] + q[:, None, :] * np.arange(1, side + 1), rtol=1e-12, atol=1e-12)


def test_strides_of_axes_with_one_entry_do_not_matter() -> None:
    kernel = build(trace(lambda q: [2 * q[0]], {"q": 1}))
    q = draw(9, 5)
    np.testing.assert_array_equal(kernel(q[:, 2:3]), 2 * q[:, 2:3])
    np.testing.assert_array_equal(kernel(np.lib.stride_tricks.as_strided(q, (9, 1), (40, 8888))), 2 * q[:, :1])


@pytest.mark.parametrize("size", [1, 5, 8, 21])
def test_aliasing(kernel: Kernel, size: int) -> None:
    a, b = draw(size, N), draw(size, N, seed=1)
    expected = kernel(a, b)
    for place in (0, 1):
        pair = [a.copy(), b.copy()]
        kernel(*pair, out=pair[place])
        np.testing.assert_array_equal(pair[place], expected)
    both = draw(size + 1, N, seed=2)
    shifted = kernel(both[:-1].copy(), both[1:].copy())
    kernel(both[:-1], both[1:], out=both[1:])
    np.testing.assert_array_equal(both[1:], shifted)


def test_output_in_a_tuple_and_by_position(kernel: Kernel) -> None:
    a, b, out = draw(3, N), draw(3, N, seed=1), np.empty((3, N))
    assert kernel(a, b, out=(out,)) is out
    check(out.copy(), a, b)
    out[:] = 0
    assert kernel(a, b, out) is out
    check(out, a, b)


def test_where_the_batch_lies(kernel: Kernel) -> None:
    a, b = draw(N, 13), draw(N, 13, seed=1)
    check(kernel(a, b, axes=[0, 0, -1]), a.T, b.T)


@pytest.mark.parametrize("bad", [draw(4), draw(6), draw(3, 4), draw(5, 1), np.array(1.0), draw(0)])
def test_wrong_shapes_are_errors(kernel: Kernel, bad: np.ndarray) -> None:
    with pytest.raises(
        ShapeError, match=rf"mixing, input 'b': got shape \({bad.shape[0] if bad.ndim else ''}"
    ) as caught:
        kernel(draw(N), bad)
    assert "(..., 5)" in str(caught.value)


def test_other_errors(kernel: Kernel) -> None:
    good = draw(3, N)
    with pytest.raises(ShapeError, match="1 arguments given"):
        kernel(good)
    with pytest.raises(ShapeError, match="4 arguments given"):
        kernel(good, good, good, good)
    with pytest.raises(ShapeError, match="batch shapes do not broadcast"):
        kernel(good, draw(4, N))
    with pytest.raises(ShapeError, match="output 'out': got shape"):
        kernel(good, good, out=np.empty((3, 4)))
    with pytest.raises(ShapeError, match="batch shape"):
        kernel(good, good, out=np.empty((2, N)))
    with pytest.raises(ShapeError, match="do not make an array"):
        kernel(good, [[1, 2], [3]])
    with pytest.raises(ArmdynError, match="real numbers"):
        kernel(good, good * 1j)
    with pytest.raises(ArmdynError, match="real numbers"):
        kernel(good, "text")
    with pytest.raises(ArmdynError, match="real numbers"):
        kernel(None, good)
    with pytest.raises(ArmdynError, match="at most 64 bits"):
        kernel(good.astype(np.longdouble), good)
    with pytest.raises(TypeError):
        kernel(good, good, unknown=1)
    frozen = good.copy()
    frozen.flags.writeable = False
    with pytest.raises(ArmdynError, match="read-only"):
        kernel(good, good, out=frozen)


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 0])
@pytest.mark.parametrize("shape", [(), (10,), (5000,), (3, 2000), (2000, 3), (0,)])
def test_threads_change_nothing(kernel: Kernel, threads: int, shape: tuple[int, ...]) -> None:
    a, b = draw(*shape, N), draw(*shape[-1:], N, seed=1)
    expected = kernel(a, b)
    np.testing.assert_array_equal(kernel(a, b, threads=threads), expected)
    out = np.empty_like(expected)
    assert kernel(a, b, threads=threads, out=out) is out
    np.testing.assert_array_equal(out, expected)
    if a.shape == expected.shape:
        alias = a.copy()
        np.testing.assert_array_equal(kernel(alias, b, threads=threads, out=alias), expected)


def test_threads_report_errors(kernel: Kernel) -> None:
    with pytest.raises(ShapeError, match="input 'b'"):
        kernel(draw(5000, N), draw(5000, 4), threads=2)
    with pytest.raises(ShapeError, match="batch shape"):
        kernel(draw(5000, N), draw(5000, N), threads=2, out=np.empty((4000, N)))
    with pytest.raises(ArmdynError, match="threads=-1"):
        kernel(draw(5000, N), draw(5000, N), threads=-1)


def test_a_real_ufunc(kernel: Kernel) -> None:
    assert isinstance(kernel.ufunc, np.ufunc)
    assert (kernel.ufunc.nin, kernel.ufunc.nout, kernel.ufunc.signature) == (2, 1, "(5),(5)->(5)")
    assert kernel.ufunc.types == ["dd->d"]


def test_numpy_knows_one_loop_of_doubles() -> None:
    ufunc = build(trace(lambda a, s: {"x": [a[0] * s, a[1]], "y": s}, {"a": 2, "s": None}), cache=False).ufunc
    assert (ufunc.nin, ufunc.nout, ufunc.ntypes, ufunc.types) == (2, 2, 1, ["dd->dd"])
    assert ufunc.identity is None and ufunc.signature == "(2),()->(2),()"


@pytest.mark.skipif(not jit.available(), reason="machine code only")
@pytest.mark.parametrize("batches", [False, True])
def test_functions_with_as_many_axes_share_the_code_that_calls_them(batches: bool) -> None:
    graphs = [
        trace(lambda a, b, n=n: [[a[i].sin() * b[j] for j in range(n)] for i in range(n)], {"a": n, "b": n})
        for n in (2, 3)
    ]
    texts = [_texts(graph, 4, batches=batches) for graph in graphs]
    assert texts[0][0] != texts[1][0] and texts[0][1:] == texts[1][1:]


@pytest.mark.skipif(not jit.available(), reason="machine code only")
def test_a_sequence_of_samples_is_computed_in_order() -> None:
    """Each sample reads what the one before it has written; arrays may have other gaps than their samples have."""
    kernel = build(trace(lambda x, u: {"y": [x[0] + x[1] * u[0], x[1] - u[1]]}, {"x": 2, "u": 2}))
    assert kernel.sequence is not None
    count, inputs = 11, np.random.default_rng(1).uniform(-1, 1, (11, 5))
    states = np.full((count + 1, 3), np.nan)
    states[0] = 0.5, -0.25, 7.0
    starts = (ctypes.c_void_p * 3)(states.ctypes.data, inputs.ctypes.data, states.ctypes.data + 24)
    steps = (ctypes.c_int64 * 3)(24, 40, 24)
    kernel.sequence(ctypes.addressof(starts), ctypes.addressof(steps), count)
    expected = states[0, :2]
    for k in range(count):
        expected = kernel(expected, inputs[k, :2])
        np.testing.assert_array_equal(states[k + 1, :2], expected)
    assert np.isnan(states[1:, 2]).all()


def test_masked_arrays_and_parts_of_threads_are_refused(kernel: Kernel) -> None:
    """Masked entries would be computed with; half a thread would divide a batch into uneven parts."""
    a = np.ones((4, N))
    with pytest.raises(ArmdynError, match="masked array"):
        kernel(np.ma.array(a, mask=a > 0), a)
    with pytest.raises(ArmdynError, match="masked array"):
        kernel(a[0], np.ma.array(a[0]))
    with pytest.raises(ArmdynError, match="whole number"):
        kernel(a, a, threads=1.5)  # type: ignore[call-arg, unused-ignore]
