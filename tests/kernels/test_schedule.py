"""The order of operations: nothing before its operands, few values alive, a value and its first use apart."""

from __future__ import annotations

from collections import Counter

import pytest

import armdyn
from armdyn.graph import Graph
from armdyn.graph.node import Node
from armdyn.graph.structure import leaves
from armdyn.kernels.straight.schedule import DISTANT, LATENCY, LONG, Plan, _ordered, plan
from armdyn.robot.random import random_robot
from support.random_programs import program


def planned(graph: Graph, ahead: int = LATENCY) -> Plan:
    return plan(graph.nodes, [*leaves(dict(graph.outputs))], ahead)


def alive(order: tuple[Node, ...], reads: dict[Node, tuple[Node, ...]]) -> int:
    """Values that are needed later, summed over the program."""
    last = {arg: time for time, node in enumerate(order) for arg in reads[node]}
    return sum(last[node] - time for time, node in enumerate(order) if node in last)


def distances(found: Plan) -> list[int]:
    """Operations from each value to its first use."""
    place = {node: time for time, node in enumerate(found.order)}
    first: dict[Node, int] = {}
    for time, node in enumerate(found.order):
        for arg in found.reads[node]:
            if arg in place:
                first.setdefault(arg, time - place[arg])
    return list(first.values())


@pytest.mark.parametrize("ahead", [0, LATENCY])
@pytest.mark.parametrize("seed", range(5))
def test_operands_come_first(seed: int, ahead: int) -> None:
    found = planned(program(seed, 45 + 250 * seed), ahead)
    assert len({*found.order}) == len(found.order) == len(found.reads)
    done: set[object] = set()
    for node in found.order:
        assert done.issuperset(arg for arg in found.reads[node] if arg in found.reads)
        done.add(node)


def test_few_values_are_alive() -> None:
    """In a short program far fewer than in the order of the graph."""
    graph = armdyn.compile(armdyn.load("panda"), cache=False).graph("inverse_dynamics")
    found = planned(graph)
    traced = tuple(node for node in graph.nodes if node in found.reads)
    assert len(found.order) < LONG
    assert alive(found.order, found.reads) < 0.7 * alive(traced, found.reads)


@pytest.mark.parametrize(("robot", "name", "kept"), [("chain", "inverse_dynamics", False),
                                                     ("panda", "inverse_dynamics_derivatives", True)])  # fmt: skip
def test_a_long_program_has_the_better_of_two_orders(robot: str, name: str, kept: bool) -> None:
    """That of its graph, or one that is found for it."""
    made = armdyn.load("panda") if robot == "panda" else random_robot(30, 20, prismatic=0.0)
    graph = armdyn.compile(made, cache=False).graph(name)
    found = planned(graph)
    orders = [tuple(node for node in graph.nodes if node in found.reads), _ordered(found.reads, LATENCY)]
    assert len(found.order) >= LONG
    assert found.order == orders[not kept] != orders[kept]
    loads = [Counter(arg for k, node in enumerate(order) for arg in found.reads[node]
                     if arg in found.reads and recent(order, found, k).isdisjoint([arg])).total()
             for order in orders]  # fmt: skip
    assert loads[not kept] < loads[kept]


def recent(order: tuple[Node, ...], found: Plan, k: int) -> set[Node]:
    """What the operations before number k have computed or read."""
    last = order[max(0, k - DISTANT) : k]
    return {*last, *(arg for node in last for arg in found.reads[node])}


def test_a_value_and_its_first_use_are_apart() -> None:
    graph = armdyn.compile(armdyn.load("panda"), cache=False).graph("inverse_dynamics")
    near = [sum(distance < LATENCY for distance in distances(planned(graph, ahead))) for ahead in (0, LATENCY)]
    assert near[1] < 0.3 * near[0]
