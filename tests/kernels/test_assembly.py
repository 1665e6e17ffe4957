"""Assembly that is written here against LLVM's code for the same programs: the same to the last bit."""

from __future__ import annotations

import re

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph, trace
from armdyn.kernels import Kernel, assembly, build, jit
from armdyn.kernels.addresses import BASES
from armdyn.kernels.ir_writer import literal
from armdyn.kernels.kernel import program as planned
from armdyn.kernels.ports import ports_of
from armdyn.kernels.straight.schedule import plan
from support.random_programs import inputs, program

pytestmark = pytest.mark.skipif(not jit.available() or not jit.vector_registers(), reason="no assembly for it")

COUNTS = [count for count in (16, 32) if jit.available() and count <= jit.vector_registers()]


def built(graph: Graph, registers: int, lanes: int, monkeypatch: pytest.MonkeyPatch) -> Kernel:
    with monkeypatch.context() as patch:
        patch.setattr(jit, "vector_registers", lambda: registers)
        kernel = build(graph, cache=False, lanes=lanes)
        assert kernel.code is not None
        assert ("module asm" in kernel.source()) == (registers > 0)
        return kernel


def assert_same(found: object, expected: object) -> None:
    for one, other in zip(found, expected, strict=True):  # type: ignore[call-overload]
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(*(np.signbit(each) | np.isnan(each) for each in (one, other)))


@pytest.mark.parametrize("length", [40, 700])
@pytest.mark.parametrize("lanes", [1, 4, 8])
@pytest.mark.parametrize("registers", COUNTS)
def test_random_programs(registers: int, lanes: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = program(length + lanes, length)
    ours = built(graph, registers if lanes < 8 or registers > 16 else 0, lanes, monkeypatch)
    theirs = built(graph, 0, lanes, monkeypatch)
    given = inputs(45, lanes)
    with np.errstate(all="ignore"):
        assert_same(ours.ufunc(*given), theirs.ufunc(*given))
        for k in range(6):
            sample = [float(array[k]) if array.ndim == 1 else array[k].copy() for array in given]
            assert_same(ours.call(*sample), theirs.call(*sample))


@pytest.mark.parametrize("registers", COUNTS)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "regressor"])
@pytest.mark.parametrize("robot", ["panda", "scara5"])
def test_robots(robot: str, name: str, registers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dynamics = armdyn.compile(armdyn.load(robot), cache=False)
    graph = dynamics.graph(name)
    ours = built(graph, registers, 8 if registers > 16 else 4, monkeypatch)
    theirs = built(graph, 0, 4, monkeypatch)
    given = np.random.default_rng(1).uniform(-3, 3, (3, 29, dynamics.n))
    both = [np.atleast_1d(kernel(*given)) if len(kernel.ports.outputs) > 1 else [kernel(*given)]
            for kernel in (ours, theirs)]  # fmt: skip
    assert_same(*both)


@pytest.mark.parametrize("registers", COUNTS)
def test_results_over_arguments(registers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = trace(lambda q, x: [q[1].sin() + x[0], q[0] * x[1], q[2] - x[0]], {"q": 3, "x": 3})
    kernel = built(graph, registers, 4, monkeypatch)
    q, x = np.random.default_rng(1).normal(size=(2, 3))
    expected = kernel.call(q.copy(), x)
    kernel.call(q, x, out=q)
    np.testing.assert_array_equal(q, expected)


@pytest.mark.parametrize("registers", COUNTS)
@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 9, 17])
def test_nothing_beyond_an_array_is_read(count: int, registers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sines of numbers behind the array would be those of NaN, at the price of a call of the C library each."""
    graph = trace(lambda q: [sum((angle.sin() for angle in q), 0 * q[0])], {"q": count})
    kernel = built(graph, registers, 4, monkeypatch)
    memory = np.full(count + 16, np.inf)
    memory[:count] = np.linspace(0.1, 3.0, count)
    with np.errstate(all="raise"):
        found = kernel.call(memory[:count])
    np.testing.assert_allclose(found[0], np.sin(memory[:count]).sum(), rtol=1e-14)


@pytest.mark.parametrize("results", [1, len(BASES) - 1, len(BASES)])
def test_every_array_needs_a_register(results: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the caller are restored, and arguments are found on the stack."""
    graph = trace(lambda q: {f"r{k}": [q[k % 3].sin() + k, q[1] * k] for k in range(results)}, {"q": 3})
    fits = results < len(BASES)
    assert assembly.possible(ports_of(graph), plan(graph.nodes, [])) == fits
    q = np.random.default_rng(results).normal(size=(9, 3))
    expected = [np.stack([np.sin(q[:, k % 3]) + k, q[:, 1] * k], axis=1) for k in range(results)]
    kernel = built(graph, COUNTS[-1] if fits else 0, 4, monkeypatch)
    for found, right in ((kernel(q), expected), (kernel.call(q[0]), [each[0] for each in expected])):
        for one, other in zip(found if results > 1 else [found], right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def test_exponentials_are_left_to_llvm() -> None:
    graph = trace(lambda q: [q[0].exp()], {"q": 1})
    assert not assembly.possible(ports_of(graph), plan(graph.nodes, []))


@pytest.mark.parametrize("lanes", [1, 4])
def test_values_that_fit_into_registers_stay_there(lanes: int) -> None:
    """Of a long program with few values at a time nothing goes to memory, and an argument is loaded once."""

    def formula(q):  # type: ignore[no-untyped-def]
        x, y = q[0], q[1]
        for k in range(60):
            x, y = x * y - q[2], (x + y * q[3]).abs() if k % 9 == 0 else x / y
        return [x, y]

    graph = trace(formula, {"q": 4})
    text = assembly.core(ports_of(graph), plan(graph.nodes, []), lanes, wide=False)
    lines = text.split("\\0A")
    pointers = {line.rpartition(" ")[2] for line in lines if line.startswith("lea") and "(%rsp)" in line}
    moves = [line for line in lines if line.startswith("vmov") and any(f"({each})" in line for each in pointers)]
    assert not [line for line in moves if line.endswith(")")]
    assert len(moves) == (4 if lanes == 1 else 0)


@pytest.mark.parametrize("lanes", [1, 4])
def test_values_and_constants_that_are_used_most_are_addressed_with_one_byte(lanes: int) -> None:
    """A program that needs far more values at a time than there are registers, one of its constants most of all."""

    def formula(q):  # type: ignore[no-untyped-def]
        kept = [q[0] * k + q[1] for k in range(2, 90)]
        return [sum((x * 1.5 + y) * y for x, y in zip(kept, reversed(kept), strict=True)) * sum(kept)]

    graph = trace(formula, {"q": 2})
    text = assembly.core(*planned(graph), lanes, wide=False)
    code, _, data = text.partition(".Lconstants:")
    used = re.findall(r" (?:\.Lconstants\+)?(-?\d+)\((%r\w+)\)", code[code.index("lea") :])
    near = [base for number, base in used if -128 <= int(number) < 128 and base not in ("%rsp", "%rbp")]
    assert len(near) > (0.95 if lanes == 1 else 0.6) * len(used)
    first = data.split("\\0A")[1].removeprefix(".quad ").split(", ")[0]
    assert first == literal(1.5)


@pytest.mark.parametrize("lanes", [4, 8])
def test_entries_that_are_one_number_are_stored_together(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of zeros and ones of all lengths, between other entries, and at the end of an odd number of them."""
    runs = [0, 5, 3, 11, 4, 8, 1, 9]

    def formula(q):  # type: ignore[no-untyped-def]
        entries = [entry for k, run in enumerate(runs) for entry in [q[k % 3] * q[1], *[k % 2] * run]]
        return [*entries, q[0]] if len(entries) % 2 == 0 else entries

    graph = trace(formula, {"q": 3})
    ours, theirs = (
        built(graph, count if lanes == 4 or count > 16 else 0, lanes, monkeypatch) for count in (COUNTS[-1], 0)
    )
    q = np.random.default_rng(1).normal(size=(3 * lanes + 1, 3))
    np.testing.assert_array_equal(ours(q), theirs(q))
    text = assembly.core(*planned(graph), 4, wide=False)
    fours = 1 + 2 + 1 + 1 + 2  # of the runs of 5, 11, 4, 8 and 9; others are stored in pairs with what is beside them
    assert len(re.findall(r"vmovupd %ymm\d+, ", text)) == 4 * fours
