"""A planned program as events in order: operations, sines of several angles, results that are complete."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from armdyn.graph import Node
from armdyn.graph.node import COS, SIN
from armdyn.graph.structure import ordered
from armdyn.kernels.ports import Ports
from armdyn.kernels.straight.schedule import Plan


@dataclass(frozen=True)
class Angles:
    """Sines and cosines of some angles are computed."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Result:
    """Neighbouring entries of a result are complete and stored; the last group may overlap the one before it.

    Of a scattered result: one of its distinct numbers, whose place among them is `first`.
    """

    port: int
    first: int
    nodes: tuple[Node, ...]


FOUR = 4
"""Entries of a row that one store writes at most."""
Event = Node | Angles | Result
"""A node stands for its operation."""


def events(
    ports: Ports,
    plan: Plan,
    together: int,
    known: Collection[Node] = (),
    scattered: Mapping[int, Mapping[Node, int]] | None = None,
) -> list[Event]:
    """The program in order.

    together: entries of a result that are stored at a time, at most.
    known: angles whose sines and cosines are known before; none: they are computed first, stage by stage.
    scattered: results of which every distinct number is stored once, with the places of these numbers.
    """
    executed = _needed(ports, plan) if known else {node for node in plan.order if node.op not in (SIN, COS)}
    done: set[Node] = set()
    found: list[Event] = []
    for angles in () if known else angle_stages(plan):
        for node in ordered(tuple(angles)):
            if node in executed and node not in done:
                done.add(node)
                found.append(node)
        found.append(Angles(tuple(angles)))
    waiting: dict[Node, list[Result]] = {}
    missing: dict[Result, int] = {}
    for i, port in enumerate(ports.outputs, len(ports.inputs)):
        if scattered and i in scattered:
            results = [Result(i, k, (node,)) for node, k in scattered[i].items() if node.online]
        else:
            results = [Result(i, first, port.nodes[first:stop]) for first, stop in _groups(port.nodes, together)]
        for result in results:
            late = {node for node in result.nodes if node in executed and node not in done}
            missing[result] = len(late)
            for node in late:
                waiting.setdefault(node, []).append(result)
            if not late:
                found.append(result)
    for node in plan.order:
        if node in executed and node not in done:
            found.append(node)
            for result in waiting.get(node, ()):
                missing[result] -= 1
                if not missing[result]:
                    found.append(result)
    return found


def reads_of(plan: Plan, event: Event) -> tuple[Node, ...]:
    """What an event reads, each value once."""
    return plan.reads[event] if isinstance(event, Node) else tuple(dict.fromkeys(event.nodes))


def angle_stages(plan: Plan) -> list[list[Node]]:
    """Angles that need no other angle, then those that need only these, and so on."""
    depth: dict[Node, int] = {}
    stages: dict[int, list[Node]] = {}
    for node in ordered(plan.angles):
        below = max((depth[arg] for arg in node.args), default=0)
        depth[node] = below + (node.op in (SIN, COS))
    for angle in plan.angles:
        stages.setdefault(depth[angle], []).append(angle)
    return [stages[level] for level in sorted(stages)]


def _needed(ports: Ports, plan: Plan) -> set[Node]:
    """Operations whose results are needed where all sines and cosines are known."""
    needed = {node for port in ports.outputs for node in port.nodes}
    for node in reversed(plan.order):
        if node in needed and node.op not in (SIN, COS):
            needed.update(plan.reads[node])
    return {node for node in plan.order if node in needed and node.op not in (SIN, COS)}


def _groups(nodes: Sequence[Node], together: int) -> Iterator[tuple[int, int]]:
    """Entries of a result that are stored at a time: four of one constant, else up to `together`.

    Those are fours, pairs or single entries; the last group may overlap the one before it.
    """
    start, size = 0, len(nodes)
    while start < size:
        if same_constant(nodes[start : start + FOUR]):
            first, count = start, FOUR
        else:
            count = min(together, FOUR if size - start >= 3 and size >= FOUR else 2 if size >= 2 else 1)
            first = min(start, size - count)
        yield first, first + count
        start = first + count


def same_constant(nodes: Sequence[Node]) -> bool:
    """Whether these are four entries of one number that is known now, which one store writes to a sample's row."""
    return len(nodes) == FOUR and not nodes[0].online and len({*nodes}) == 1


def nodes_before(wanted: Sequence[Node], plan: Plan) -> list[Node]:
    """Operations, in order, that lead to some nodes without sines and cosines."""
    return [node for node in ordered(tuple(wanted)) if node in plan.reads and node.op not in (SIN, COS)]
