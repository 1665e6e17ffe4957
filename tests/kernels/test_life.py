"""Machine code lives as long as something can call it, on any number of threads."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph, trace
from armdyn.kernels import build, jit
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


@pytest.mark.parametrize("part", ["call", "ufunc", "fast"])
def test_any_function_keeps_the_code(part: str, codes: list[weakref.ref[Any]]) -> None:
    function = getattr(build(graph()), part)
    gc.collect()
    (code,) = codes
    assert code() is not None
    for _ in range(3):
        np.testing.assert_allclose(function(np.array([0.5, 2.0])), [2 * np.sin(0.5), 2.5])
    np.testing.assert_allclose(function([[0.5, 2.0]] * 9), [[2 * np.sin(0.5), 2.5]] * 9)
    del function
    gc.collect()
    assert code() is None


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
