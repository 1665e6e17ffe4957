"""Which operations are executed, in which order, and which multiplications disappear into fused multiply-adds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from armdyn.graph import Node
from armdyn.graph.node import ADD, COS, MUL, SIN, SUB


@dataclass(frozen=True)
class Plan:
    """A program: nodes to execute in order, and for each sum the operand whose product it takes in."""

    order: tuple[Node, ...]
    fused: dict[Node, int]

    @cached_property
    def angles(self) -> tuple[Node, ...]:
        """Arguments of sines and cosines, in order of need."""
        return tuple(dict.fromkeys(node.args[0] for node in self.order if node.op in (SIN, COS)))


def plan(nodes: Sequence[Node], outputs: Sequence[Node]) -> Plan:
    """Fuse and order the live nodes of a graph, which come operands first."""
    live = [node for node in nodes if node.args and node.online]
    fused, gone = _fusions(live, outputs)
    return Plan(tuple(node for node in live if node not in gone), fused)


def operands(node: Node, fused: dict[Node, int]) -> tuple[Node, ...]:
    """What a node reads when it is executed: a sum that takes in a product reads its factors."""
    if node not in fused:
        return node.args
    product, other = node.args[fused[node]], node.args[1 - fused[node]]
    return (*product.args, other)


def _fusions(live: Sequence[Node], outputs: Sequence[Node]) -> tuple[dict[Node, int], set[Node]]:
    """A sum can take in one product; a product is gone when all sums that use it take it in.

    Products used once come first, so a sum goes where it surely saves an instruction.
    """
    users: dict[Node, list[Node]] = {node: [] for node in live if node.op == MUL}
    for node in live:
        for arg in node.args:
            if arg in users:
                users[arg].append(node)
    kept = set(outputs)
    fused: dict[Node, int] = {}
    gone: set[Node] = set()
    for product in sorted(users, key=lambda node: len(users[node])):
        sums = users[product]
        if product in kept or len(set(sums)) < len(sums):
            continue
        if all(node.op in (ADD, SUB) and node not in fused for node in sums):
            gone.add(product)
            fused.update((node, node.args.index(product)) for node in sums)
    return fused, gone


def instructions(plan: Plan) -> Counter[str]:
    """Floating-point instructions by kind, a fused multiply-add counted once."""
    return Counter("fma" if node in plan.fused else node.op for node in plan.order)
