"""Sums in the order in which their terms are ready.

A sum of many terms may be added up in any order. Here it becomes a chain that begins with the term that is there first
and ends with the one that comes last, so what depends on it waits least. Every product after the first is taken into
a fused multiply-add, which in a tree of sums is not so: the inverse dynamics of Panda lose 41 of 441 instructions and
their longest chain 10 of 46.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armdyn.graph import Graph, Node
from armdyn.graph.node import ADD, MUL, SUB, interned
from armdyn.graph.passes import terms_of_sum
from armdyn.graph.structure import leaves, rebuilt
from armdyn.kernels.schedule import AHEAD, CYCLES


def by_arrival(graph: Graph) -> Graph:
    """The same graph with as many operations, its sums in another order."""
    nodes = graph.nodes
    uses = _uses(graph)
    parts = {arg for node in nodes if _adds(node) for arg in node.args if _adds(arg) and uses[arg] == 1}
    new: dict[Node, Node] = {}
    ready: dict[Node, int] = {}
    for node in nodes:
        if node in parts:
            continue
        if _adds(node):
            terms = [(sign, new[term], uses[term] == 1) for sign, term in terms_of_sum(node, parts)]
            new[node] = _chain(terms, ready)
        else:
            new[node] = made = _renewed(node, new)
            started = max([ready[arg] for arg in made.args], default=0)
            ready[made] = started + CYCLES.get(node.op, AHEAD) if node.args and node.online else 0
    return graph.mapped(lambda outputs: rebuilt(outputs, new.__getitem__))


def _adds(node: Node) -> bool:
    return node.op in (ADD, SUB) and node.online


def _uses(graph: Graph) -> dict[Node, int]:
    """How often nodes are used; a result counts twice, as it must be there by itself."""
    uses = dict.fromkeys(graph.nodes, 0)
    for node in graph.nodes:
        for arg in node.args:
            uses[arg] += 1
    for output in leaves(dict(graph.outputs)):
        uses[output] += 2
    return uses


def _chain(terms: Sequence[tuple[int, Node, bool]], ready: dict[Node, int]) -> Node:
    """The sum of (sign, term, used here only), what is ready first added first; `ready` is completed."""
    arrivals = [ready[term] - AHEAD * (alone and term.op == MUL and term.online) for _, term, alone in terms]
    first, *others = sorted(range(len(terms)), key=arrivals.__getitem__)
    sign, total, _ = terms[first]
    for i in others:
        own, term, _ = terms[i]
        time = max(ready[total], arrivals[i]) + AHEAD
        if own == sign:
            total = interned(ADD, (total, term) if total.key <= term.key else (term, total))
        elif own > 0:
            sign, total = 1, interned(SUB, (term, total))
        else:
            total = interned(SUB, (total, term))
        ready[total] = min(time, ready.get(total, time))
    assert sign > 0, "a sum without a positive term"
    return total


def _renewed(node: Node, new: Mapping[Node, Node]) -> Node:
    """The node with renewed operands."""
    args = tuple(new[arg] for arg in node.args)
    if args == node.args:
        return node
    return interned(node.op, tuple(sorted(args, key=lambda arg: arg.key)) if node.op == MUL else args)
