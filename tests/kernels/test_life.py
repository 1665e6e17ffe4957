"""Machine code lives as long as something can call it, on any number of threads."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph, trace
from armdyn.kernels import build, jit
from armdyn.kernels.call.functions import MethodRecord
from armdyn.kernels.machine import Machine
from armdyn.mechanics import newton_euler


def graph() -> Graph:
    return trace(lambda q: [q[0].sin() * q[1], q[1] + q[0]], {"q": 2})


@pytest.fixture
def codes(monkeypatch: pytest.MonkeyPatch) -> list[weakref.ref[Any]]:
    """Weak references to the code made during a test."""
    seen: list[weakref.ref[Any]] = []
    original = jit.Code.__init__

    def noted(self: Any, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        seen.append(weakref.ref(self))

    monkeypatch.setattr(jit.Code, "__init__", noted)
    return seen


def test_dropping_a_kernel_frees_its_code(codes: list[weakref.ref[Any]]) -> None:
    kernel = build(graph())
    result = kernel([0.5, 2.0])
    (code,) = codes
    assert code() is not None
    del kernel
    gc.collect()
    assert code() is None
    np.testing.assert_allclose(result, [2 * np.sin(0.5), 2.5])


def test_the_cycle_collector_does_not_look_into_arrays() -> None:
    """The end of code rests on it: what an array of objects holds goes when nobody refers to the array, not before."""

    class Held:
        pass

    held = Held()
    reference, array = weakref.ref(held), np.array([None], dtype=object)
    array[0] = held
    held.array = array  # type: ignore[attr-defined]
    assert not gc.is_tracked(array) and gc.get_referents(array) == []
    del held, array
    gc.collect()
    kept = reference()
    assert kept is not None, "a cycle through an array is not found"
    kept.array[0] = None  # type: ignore[attr-defined]
    del kept
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("part", ["call", "ufunc", "fast"])
def test_any_function_keeps_the_code(part: str, codes: list[weakref.ref[Any]]) -> None:
    function = getattr(build(graph()), part)
    gc.collect()
    code = codes[-1]  # the code for batches comes after that for one sample
    assert code() is not None
    for _ in range(3):
        np.testing.assert_allclose(function(np.array([0.5, 2.0])), [2 * np.sin(0.5), 2.5])
    np.testing.assert_allclose(function([[0.5, 2.0]] * 9), [[2 * np.sin(0.5), 2.5]] * 9)
    del function
    gc.collect()
    assert [each() for each in codes] == [None, None]


def test_code_for_batches_is_made_when_one_comes(codes: list[weakref.ref[Any]], tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("ARMDYN_CACHE", str(tmp_path))
    kernel = build(graph())
    expected = [2 * np.sin(0.5), 2.5]
    for one in (np.array([0.5, 2.0]), [0.5, 2.0], (0.5, 2), np.array([0.5, 2.0], dtype=np.float32)):
        np.testing.assert_array_equal(kernel(one), kernel(np.array(one, dtype=float)))
    assert len(codes) == len(list(tmp_path.glob("*.o"))) == 1
    results: list[Any] = []
    threads = [threading.Thread(target=lambda: results.append(kernel(np.array([[0.5, 2.0]] * 9)))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(results, [[expected] * 9] * 4)
    assert len(codes) == len(list(tmp_path.glob("*.o"))) == 2
    again = build(graph())
    np.testing.assert_array_equal(again([[0.5, 2.0]] * 9), results[0])
    assert again.from_cache and len(list(tmp_path.glob("*.o"))) == 2


def test_results_outlive_their_kernel() -> None:
    results = []
    for i in range(20):
        kernel = build(graph())
        results.append(kernel(np.array([0.5, float(i)])))
        kernel(np.array([0.0, 0.0]))
        del kernel
    gc.collect()
    np.testing.assert_allclose(results, [[i * np.sin(0.5), i + 0.5] for i in range(20)])


def test_many_kernels_come_and_go() -> None:
    kernels = [build(graph()) for _ in range(60)]
    for kernel in kernels[::2]:
        np.testing.assert_allclose(kernel([0.5, 2.0]), [2 * np.sin(0.5), 2.5])
    del kernels[::2]
    gc.collect()
    for kernel in kernels:
        np.testing.assert_allclose(kernel([0.5, 2.0]), [2 * np.sin(0.5), 2.5])


def test_nothing_stays_of_kernels_that_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines of LLVM, which keep some memory of every kernel, and the records of builtin functions."""
    from llvmlite.binding.orcjit import LLJIT

    monkeypatch.setattr(jit, "LIBRARIES", 24)

    def come_and_go(count: int) -> None:
        for _ in range(count):
            kernel = build(graph())
            np.testing.assert_allclose(kernel(np.array([0.5, 2.0])), [2 * np.sin(0.5), 2.5])
            del kernel
        gc.collect()

    def left() -> tuple[int, int]:
        objects = gc.get_objects()
        return sum(isinstance(each, LLJIT) for each in objects), sum(isinstance(e, MethodRecord) for e in objects)

    gc.collect()
    come_and_go(jit.LIBRARIES)
    engines, records = left()
    come_and_go(3 * jit.LIBRARIES)
    assert left() == (engines, records)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="needs the allocator of glibc")
def test_compiling_keeps_no_constants() -> None:
    class Used(ctypes.Structure):
        _fields_ = tuple((name, ctypes.c_size_t) for name in "abcdefghij")

    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Used

    def used() -> int:
        found = library.mallinfo2()
        return int(found.h + found.e)  # in use, and mapped

    def compile_one(seed: int) -> None:
        numbers = np.random.default_rng(seed).uniform(size=2000).view(np.uint64)
        stores = "".join(f"store volatile double 0x{number:016X}, ptr %p\n" for number in numbers)
        jit.compiled(f"define void @f(ptr %p) {{\n{stores}ret void\n}}\n")

    for seed in range(3):
        compile_one(seed)
    before = used()
    for seed in range(3, 9):
        compile_one(seed)
    assert used() - before < 200_000  # in a context that lives on, 100 bytes a number stay: 1.2 MB


def test_finalisers_in_a_cycle_may_call_and_save_a_function() -> None:
    """The order in which the cycle collector finalises objects is nobody's business."""
    found: list[Any] = []
    x = np.array([0.5, 2.0])

    class Last:
        function: Any

        def __del__(self) -> None:
            found.extend((self.function, self.function(x)))

    for early in (True, False):
        last: Any = Last() if early else None
        kernel = build(graph())
        last = last or Last()
        call: Any = kernel.call
        last.cycle, last.function, call.__self__.__dict__["back"] = last, call, last
        del kernel, call, last
        gc.collect()
        for _ in range(4):
            build(trace(lambda q: [q[0] + q[1], q[0]], {"q": 2}))(x)
        function, result = found[-2:]
        np.testing.assert_allclose(result, [2 * np.sin(0.5), 2.5])
        np.testing.assert_allclose(function(x), [2 * np.sin(0.5), 2.5])


def test_eight_threads_hammering_one_kernel() -> None:
    robot = armdyn.load("panda")
    kernel = build(
        trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), {"q": 7, "qd": 7, "qdd": 7})
    )
    batch = np.random.default_rng(0).uniform(-3, 3, (3, 200, 7))
    expected = kernel(*batch)
    wrong: list[int] = []
    start = threading.Barrier(8)

    def hammer(seed: int) -> None:
        start.wait()
        rng = np.random.default_rng(seed)
        for _ in range(150):
            i = int(rng.integers(200))
            alone = kernel.call(*(x[i] for x in batch))
            if not np.array_equal(kernel(*batch[:, i:]), expected[i:]) or not np.array_equal(alone, expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=hammer, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_building_at_the_same_time() -> None:
    kernels: list[Any] = []

    def work(i: int) -> None:
        kernels.append(build(trace(lambda q: [q[0] * (i + 0.5), q[1].cos()], {"q": 2}), str(i)))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for kernel in kernels:
        np.testing.assert_allclose(kernel([2.0, 0.5]), [2 * (int(kernel.name) + 0.5), np.cos(0.5)], rtol=1e-15)


ENDINGS = {
    "a global": "kernel = make()",
    "in a cycle": "box = [make()]; box.append(box)",
    "in a module": "import sys; sys.kernel = make()",
    "called at the end": "import atexit; kernel = make(); atexit.register(lambda: kernel(x))",
    "called by a finaliser": "class A:\n def __del__(self): self.kernel(x)\na = A(); a.kernel = make(); a.loop = a",
    "only the ufunc": "f = make().ufunc",
    "only the builtin": "f = make().call",
    "in a running thread": (
        "import threading\nkernel = make()\ndef run():\n while True: kernel(x)\n"
        "threading.Thread(target=run, daemon=True).start()"
    ),
}


@pytest.mark.parametrize("name", ENDINGS)
def test_the_interpreter_ends_quietly(name: str) -> None:
    script = f"""
import numpy as np
from armdyn.graph import trace
from armdyn.kernels import build
x = np.array([0.5, 2.0])
def make():
    kernel = build(trace(lambda q: [q[0].sin() * q[1], q[1] + q[0]], {{"q": 2}}))
    kernel(x)
    return kernel
{ENDINGS[name]}
"""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", script], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")


class _Library:
    """What the linker gives, without code."""

    def __init__(self, closed: bool) -> None:
        self.closed, self.times = closed, 0

    def close(self) -> None:
        self.times += 1


def test_code_is_unloaded_once() -> None:
    """Not if it is gone already, and not if the table of code is gone, as at the end of the process."""
    number = jit._Loaded(7)
    for closed in (False, True):
        library = _Library(closed)
        parts: Any = {7: (None, library, (), [])}
        number.__del__(parts)
        assert library.times == (not closed) and not parts
    number.__del__({})


def test_results_that_code_remembers_go_with_it() -> None:
    array = np.zeros(3)
    before = sys.getrefcount(array)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
    jit._Loaded(7).__del__({7: (None, _Library(False), (None, id(array)), [])})
    assert sys.getrefcount(array) == before


PROCESSORS = [
    ("x86_64-unknown-linux-gnu", "avx2 fma avx512f avx512vl", 8, Machine(32, 8, True, True, True)),
    ("x86_64-unknown-linux-gnu", "avx2 fma avx512f", 8, Machine(16, 4, True, False, True)),
    ("x86_64-unknown-linux-gnu", "avx2 fma", 4, Machine(16, 4, True, False, True)),
    ("x86_64-unknown-linux-gnu", "avx512f avx512vl avx2", 8, Machine(32, 8, False, True, True)),
    ("x86_64-unknown-linux-gnu", "avx", 4, Machine(16, 2, False, False, True)),
    ("x86_64-pc-windows-msvc", "avx2 fma", 4, Machine(16, 4, True, False, True)),
    ("aarch64-unknown-linux-gnu", "neon", 4, Machine(32, 2, True, False, False)),
    ("i686-unknown-linux-gnu", "sse2", 4, Machine(16, 2, False, False, False)),
]


@pytest.mark.skipif(not jit.available(), reason="no LLVM")
@pytest.mark.parametrize(("triple", "features", "lanes", "expected"), PROCESSORS)
def test_other_processors(
    triple: str, features: str, lanes: int, expected: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Registers and their doubles, fused multiplication (always on 64-bit ARM), broadcast operands, short addresses."""
    monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: triple)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", lambda: dict.fromkeys(features.split(), True))
    monkeypatch.setattr(jit, "has_fma", jit.has_fma.__wrapped__)
    assert (jit.register_lanes.__wrapped__(), jit.machine.__wrapped__()) == (lanes, expected)
    assert 6 <= expected.budget(lanes) <= expected.budget(1) == expected.registers - 4
