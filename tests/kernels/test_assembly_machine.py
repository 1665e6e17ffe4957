"""Code for AVX2 and AVX-512, executed instruction by instruction: what no processor at hand may be able to run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import Graph, trace
from armdyn.kernels import assembly
from armdyn.kernels.call.interpreted import Interpreter
from armdyn.kernels.kernel import program as planned
from armdyn.kernels.ports import ports_of
from support.assembly_machine import Machine
from support.random_programs import program

BLOCKS = 2
CHUNKS = 35
"""Blocks that are more than twice those whose sines are computed together."""
PROGRAMS = {
    "short": program(41, 40),
    "long": program(700, 700),
    "zeros": trace(lambda q: [q[0], *[0] * 19, q[1] * q[2], 1, 1], {"q": 3}),
    "torques of panda": armdyn.compile(armdyn.load("panda"), cache=False).graph("inverse_dynamics"),
    "regressor of scara5": armdyn.compile(armdyn.load("scara5"), cache=False).graph("regressor"),
    "derivatives of panda": armdyn.compile(armdyn.load("panda"), cache=False).graph("inverse_dynamics_derivatives"),
}


def computed(graph: Graph, values: list[Any], lanes: int, wide: bool) -> list[Any]:
    """Results of the assembly for a block of samples each."""
    ports = ports_of(graph)
    machine = Machine(assembly.core(*planned(graph), lanes, wide=wide), lanes)
    samples = len(values[0])
    sizes = [port.size for port in ports.outputs]
    places = [machine.placed(each) for each in (*values, *(np.zeros(samples * size) for size in sizes))]
    if lanes == 1:
        machine.call(*places)
    else:
        machine.call(machine.placed(np.array(places, dtype=np.int64).view(float)), samples // lanes, 0)
    found = places[len(values) :]
    return [machine.doubles(at, samples * size).reshape(samples, size) for at, size in zip(found, sizes, strict=True)]


@pytest.mark.parametrize(("lanes", "wide"), [(1, False), (4, False), (1, True), (8, True)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, lanes: int, wide: bool) -> None:
    """Those of the graph, evaluated by NumPy. Products are not fused here, so the last digits differ."""
    agrees(PROGRAMS[name], 1 if lanes == 1 else BLOCKS * lanes, lanes, wide)


@pytest.mark.parametrize(("lanes", "wide"), [(4, False), (8, True)])
def test_sines_of_several_blocks_at_a_time(lanes: int, wide: bool) -> None:
    """With an angle that is a sum, whose terms are needed again, and an odd number of angles."""

    def some(q: Any, x: Any) -> list[Any]:
        both = q[0] + q[1]
        return [q[0].sin() * x[0], both.cos() * x[1] + both * q[1], q[2].sin() + q[2].cos() * q[0].cos(), x[2]]

    graph = trace(some, {"q": 3, "x": 3})
    assert ".Lchunk" in assembly.core(*planned(graph), lanes, wide=wide)
    agrees(graph, CHUNKS * lanes, lanes, wide)


@pytest.mark.parametrize(("lanes", "wide"), [(4, False), (8, True)])
def test_angles_that_need_sines(lanes: int, wide: bool) -> None:
    graph = trace(lambda q: [(q[0].sin() + q[1]).cos(), q[1].cos()], {"q": 2})
    assert ".Lchunk" not in assembly.core(*planned(graph), lanes, wide=wide)
    agrees(graph, BLOCKS * lanes, lanes, wide)


@pytest.mark.parametrize(("lanes", "wide"), [(4, False), (8, True)])
def test_large_and_small_results(lanes: int, wide: bool) -> None:
    """Of a large one each number is stored once; several blocks, after each of which a function is called."""

    def some(q: Any) -> dict[str, list[Any]]:
        numbers = [q[0].sin() * q[1], q[2].cos() + 1, q[1], 0, 2.5]
        return {"large": [numbers[k // 7 % 5] for k in range(300)], "small": numbers[:3]}

    graph = trace(some, {"q": 3})
    assert "call spread" in assembly.core(*planned(graph), lanes, wide=wide)
    agrees(graph, 5 * lanes, lanes, wide)


def agrees(graph: Graph, samples: int, lanes: int, wide: bool) -> None:
    ports = ports_of(graph)
    rng = np.random.default_rng(3)
    values = [rng.uniform(-1, 1, (samples, *port.shape)) for port in ports.inputs]
    results = Interpreter(graph, ports)(*values)
    expected = [np.asarray(each).reshape(samples, -1) for each in (results if len(ports.outputs) > 1 else [results])]
    for ours, theirs in zip(computed(graph, values, lanes, wide), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())
