"""Straight-line code with a budget of registers, on every kind of processor: the same to the last bit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph, trace
from armdyn.kernels import Kernel, build, jit
from armdyn.kernels.call.interpreted import Interpreter
from armdyn.kernels.machine import Machine
from armdyn.kernels.ports import ports_of
from armdyn.kernels.straight import budget, emit, single
from armdyn.kernels.straight.blocks import rows
from armdyn.kernels.straight.emit import program as planned
from armdyn.kernels.straight.events import Result, angle_stages, events, reads_of
from support.random_programs import inputs, program

pytestmark = pytest.mark.skipif(not jit.available(), reason="no machine code")

AVX2 = Machine(16, 4, fused=True, broadcasts=False, short_addresses=True)
AVX512 = Machine(32, 8, fused=True, broadcasts=True, short_addresses=True)
NEON = Machine(32, 2, fused=True, broadcasts=False, short_addresses=False)
MACHINES = {"AVX2": AVX2, "AVX-512": AVX512, "NEON": NEON, "few": replace(AVX2, registers=8)}
"""Code for each of them runs on every processor that LLVM knows, only not as fast."""


def built(graph: Graph, machine: Machine, lanes: int, monkeypatch: pytest.MonkeyPatch, *, long: bool = True) -> Kernel:
    """The kernel with its code for batches; long: the code for one sample has a budget too."""
    with monkeypatch.context() as patch:
        patch.setattr(jit, "machine", lambda: replace(machine, fused=jit.has_fma()))
        patch.setattr(single, "LONG", 0 if long else 10**9)
        patch.setattr(single, "MANY", 0 if long else 10**9)
        kernel = build(graph, cache=False, lanes=lanes)
        assert kernel.code is not None
        return kernel


def listed(results: Any) -> Sequence[Any]:
    return results if isinstance(results, tuple) else (results,)


def assert_same(found: Any, expected: Any) -> None:
    for one, other in zip(listed(found), listed(expected), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(*(np.signbit(each) | np.isnan(each) for each in (one, other)))


@pytest.mark.parametrize("length", [40, 700])
@pytest.mark.parametrize("lanes", [4, 8])
@pytest.mark.parametrize("machine", MACHINES)
def test_random_programs(machine: str, lanes: int, length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All operations, angles that depend on sines, zeros of both signs, infinity, NaN: as code without a budget."""
    graph = program(length + lanes, length)
    ours = built(graph, MACHINES[machine], lanes, monkeypatch)
    theirs = built(graph, AVX2, 4, monkeypatch, long=False)
    given = inputs(45, lanes)
    with np.errstate(all="ignore"):
        batch = ours.ufunc(*given)
        for k in range(45):
            sample = [float(array[k]) if array.ndim == 1 else array[k].copy() for array in given]
            expected = theirs.call(*sample)
            assert_same(ours.call(*sample), expected)
            assert_same(tuple(result[k] for result in batch), expected)


@pytest.mark.parametrize("length", [40, 700])
def test_random_programs_are_what_numpy_computes(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = program(length, length)
    kernel = built(graph, AVX2, 4, monkeypatch)
    given = [array.clip(-2, 2) for array in map(np.nan_to_num, inputs(45, length))]
    for found, expected in zip(kernel(*given), Interpreter(graph, ports_of(graph))(*given), strict=True):
        close = np.isclose(found, expected, rtol=1e-6, atol=1e-6)  # some programs magnify rounding, or jump
        assert close.mean() > 0.95


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "inverse_dynamics_derivatives", "regressor"])
@pytest.mark.parametrize("robot", ["panda", "scara5"])
def test_robots(robot: str, name: str, machine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dynamics = armdyn.compile(armdyn.load(robot), cache=False)
    graph = dynamics.graph(name)
    ours = built(graph, MACHINES[machine], max(4, MACHINES[machine].doubles), monkeypatch)
    theirs = built(graph, AVX2, 4, monkeypatch, long=False)
    given = np.random.default_rng(1).uniform(-3, 3, (len(ours.ports.inputs), 29, dynamics.n))
    for k, results in enumerate(zip(*listed(ours(*given)), strict=True)):
        expected = theirs.call(*given[:, k])
        assert_same(tuple(results), tuple(listed(expected)))
        assert_same(ours.call(*given[:, k]), expected)


@pytest.mark.parametrize("long", [True, False])
def test_results_over_arguments(long: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = trace(lambda q, x: [q[1].sin() + x[0], q[0] * x[1], q[2] - x[0], q[0] + q[3], q[4]], {"q": 5, "x": 3})
    kernel = built(graph, AVX2, 4, monkeypatch, long=long)
    q, x = np.random.default_rng(1).normal(size=(2, 5))
    expected = kernel.call(q.copy(), x[:3])
    kernel.call(q, x[:3], out=q)
    np.testing.assert_array_equal(q, expected)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 8, 9, 17])
def test_nothing_beyond_an_array_is_read(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sines of numbers behind the array would be those of infinity, which is reported."""
    graph = trace(lambda q: [sum((angle.sin() for angle in q), 0 * q[0])], {"q": count})
    kernel = built(graph, AVX2, 4, monkeypatch)
    memory = np.full(count + 16, np.inf)
    memory[:count] = np.linspace(0.1, 3.0, count)
    with np.errstate(all="raise"):
        found = kernel.call(memory[:count])
    np.testing.assert_allclose(found[0], np.sin(memory[:count]).sum(), rtol=1e-14)


@pytest.mark.parametrize("results", [1, 12, 13, 31])
def test_more_arrays_than_registers_for_addresses(results: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = trace(lambda q: {f"r{k}": [q[k % 3].sin() + k, q[1] * k] for k in range(results)}, {"q": 3})
    q = np.random.default_rng(results).normal(size=(9, 3))
    expected = [np.stack([np.sin(q[:, k % 3]) + k, q[:, 1] * k], axis=1) for k in range(results)]
    kernel = built(graph, AVX2, 4, monkeypatch)
    for found, right in ((kernel(q), expected), (kernel.call(q[0]), [each[0] for each in expected])):
        for one, other in zip(listed(found), right, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def test_exponentials_use_all_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are functions of the C library: what lives beside them goes to memory."""

    def formula(q):  # type: ignore[no-untyped-def]
        kept = [q[0] * k + q[1] for k in range(2, 20)]
        return [(q[0] + kept[3]).exp() + sum(kept), kept[5] * kept[7]]

    q = np.random.default_rng(3).normal(size=(7, 2))
    kernel = built(trace(formula, {"q": 2}), AVX2, 4, monkeypatch)
    kept = [q[:, 0] * k + q[:, 1] for k in range(2, 20)]
    expected = np.stack([np.exp(q[:, 0] + kept[3]) + sum(kept), kept[5] * kept[7]], axis=1)
    np.testing.assert_allclose(kernel(q), expected, rtol=1e-13)
    np.testing.assert_array_equal(kernel.call(q[2]), kernel(q)[2])


@pytest.mark.parametrize("lanes", [4, 8])
def test_entries_that_are_one_number_are_stored_together(lanes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of zeros and ones of all lengths, between other entries, and at the end of an odd number of them."""
    runs = [0, 5, 3, 11, 4, 8, 1, 9]

    def entries(q: Any) -> list[Any]:
        return [entry for k, run in enumerate(runs) for entry in [q[k % 3] * q[1], *[k % 2] * run]]

    graph = trace(entries, {"q": 3})
    q = np.random.default_rng(1).normal(size=(3 * lanes + 1, 3))
    kernel = built(graph, AVX512, lanes, monkeypatch)
    expected = np.array([entries(each) for each in q])
    np.testing.assert_array_equal(kernel(q), expected)
    np.testing.assert_array_equal(kernel.call(q[0]), expected[0])
    ports, plan = planned(graph)
    fours = [event for event in events(ports, plan, 1) if isinstance(event, Result) and len(event.nodes) == 4]
    assert len(fours) == 1 + 2 + 1 + 2 + 2  # of the runs of 5, 11, 4, 8 and 9


# The text -------------------------------------------------------------------------------------------------------------


def texts(graph: Graph, machine: Machine, lanes: int) -> tuple[str, str]:
    """The own modules of one sample, with a budget, and of batches."""
    ports, plan = planned(graph)
    return single._Long(ports, plan, machine.budget(1)).text(short_addresses=machine.short_addresses), rows(
        ports, plan, lanes, machine
    )


def crowded() -> Graph:
    """A program with far more values at a time than there are registers, and one constant that is used most."""

    def formula(q):  # type: ignore[no-untyped-def]
        kept = [q[0] * k + q[1] for k in range(2, 90)]
        return [sum((x * 1.5 + y) * y for x, y in zip(kept, reversed(kept), strict=True)) * sum(kept)]

    return trace(formula, {"q": 2})


@pytest.mark.parametrize("machine", ["AVX2", "AVX-512"])
def test_what_is_in_memory_is_read_where_it_is_needed(machine: str) -> None:
    """If one of these accesses were not volatile, LLVM would merge equal loads, and their values would live long."""
    for text in texts(crowded(), MACHINES[machine], MACHINES[machine].doubles):
        accesses = [line for line in text.splitlines() if re.search(r"ptr %(slot|constant)\d+,", line)
                    and " = getelementptr" not in line]  # fmt: skip
        stores = [line for line in accesses if line.lstrip().startswith("store")]
        assert len(accesses) > 200 and len(stores) > 50
        assert [line for line in accesses if " volatile " not in line] == []


@pytest.mark.parametrize("robot", ["panda", "ur5"])
@pytest.mark.parametrize("registers", [16, 32])
def test_values_in_registers_stay_within_the_budget(
    registers: int, robot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After every event. And never is a value stored that is needed before one that stays, if both cost a store."""
    found: list[int] = []
    trim = budget.BudgetedCode._trim

    def counted(self: budget.BudgetedCode) -> None:
        trim(self)
        found.append(len(self._held))

    monkeypatch.setattr(budget.BudgetedCode, "_trim", counted)
    graph = armdyn.compile(armdyn.load(robot), cache=False).graph("inverse_dynamics_derivatives")
    texts(graph, replace(AVX2, registers=registers), 4)
    assert max(found) == registers - 4


def test_values_that_fit_into_registers_stay_there() -> None:
    """Of a long program with few values at a time nothing goes to memory, and an argument is loaded once."""

    def formula(q):  # type: ignore[no-untyped-def]
        x, y = q[0], q[1]
        for k in range(60):
            x, y = x * y - q[2], (x + y * q[3]).abs() if k % 9 == 0 else x / y
        return [x, y]

    one, batch = texts(trace(formula, {"q": 4}), AVX2, 4)
    assert "%slot" not in one + batch
    assert len(re.findall(r"load volatile double, ptr %input0\.\d", one)) == 4
    assert len(re.findall(r"load <2 x double>", batch)) == 2 * 4


def test_what_is_needed_last_goes_to_memory() -> None:
    """Stores and loads of a crowded program are near the fewest that its order allows (Belady's bound, by counting)."""
    ports, plan = planned(crowded())
    order = events(ports, plan, 1)
    text = single._Long(ports, plan, 12).text(short_addresses=False)
    loads = len(re.findall(r"load volatile double, ptr %(?:slot|input)", text))
    uses = {node: [] for event in order for node in reads_of(plan, event) if node.online}  # type: ignore[var-annotated]
    for time, event in enumerate(order):
        for node in reads_of(plan, event):
            if node.online:
                uses[node].append(time)
    held: set[object] = set()
    fewest = 0
    for time, event in enumerate(order):
        now = [node for node in reads_of(plan, event) if node.online]
        fewest += sum(node not in held for node in now)
        held.update(now)
        if not isinstance(event, Result):
            held.add(event)
        later = {node: next((use for use in uses.get(node, ()) if use > time), None) for node in held}  # type: ignore[call-overload]
        alive = sorted((node for node in held if later[node] is not None), key=lambda node: later[node] or 0)
        held = set(alive[:12])
    assert loads <= 1.1 * fewest


def test_long_blocks_are_cut() -> None:
    graph = armdyn.compile(armdyn.load("panda"), cache=False).graph("inverse_dynamics_derivatives")
    for text in texts(graph, AVX2, 4):
        blocks = re.split(r"^\w[\w.]*:$", text, flags=re.M)
        assert max(len(re.findall(r"volatile", block)) for block in blocks) < 8 * budget.CUT
        assert len(blocks) > len(planned(graph)[1].order) / budget.CUT


def test_angles_of_angles_come_in_stages() -> None:
    graph = trace(lambda q: [(q[0].sin() + q[1]).cos() + q[2].sin()], {"q": 3})
    _, plan = planned(graph)
    assert [len(stage) for stage in angle_stages(plan)] == [2, 1]


def code_of(text: str) -> list[str]:
    """The instructions of the function that is long, as LLVM writes them for x86-64 with AVX2."""
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(
        cpu="haswell", opt=1, reloc="pic", codemodel="small"
    )
    with llvm.create_context() as context:
        lines = target.emit_assembly(llvm.parse_assembly(text, context)).splitlines()
    return [line for line in lines if line.startswith("\tv")]


@pytest.mark.parametrize("batches", [False, True])
def test_values_and_constants_that_are_used_most_have_short_addresses(batches: bool) -> None:
    near = []
    for machine in (AVX2, replace(AVX2, short_addresses=False)):
        text = emit.completed([texts(crowded(), machine, 4)[batches]])
        used = re.findall(r"(\S*)\((%r\w+)\)", "\n".join(code_of(text)))
        near.append(sum(base != "%rip" and -128 <= int(number or 0) < 128 for number, base in used) / len(used))
        assert re.search(r"@constants = internal constant \[\d+ x .*?\] \[[^0]*0x3FF8000000000000", text)  # 1.5 first
    assert near[0] > (0.5 if batches else 0.95)
    assert near[1] < 0.5 * near[0]
