"""Sums in the order in which their terms are ready.

A sum of many terms may be added up in any order. Here it becomes a chain that begins with the term that is there first
and ends with the one that comes last, so what depends on it waits least. Every product after the first is taken into
a fused multiply-add, which in a tree of sums is not so: the inverse dynamics of Panda lose 41 of 441 instructions and
their longest chain 10 of 46.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armdyn.graph import Graph, Node
from armdyn.graph.count import uses_of
from armdyn.graph.node import ADD, MUL, SUB, interned
from armdyn.graph.passes import terms_of_sum
from armdyn.graph.structure import leaves, rebuilt
from armdyn.kernels.straight.schedule import CYCLES, LATENCY


def reassociate_by_latency(graph: Graph) -> Graph:
    """The same graph with as many operations, its sums in another order."""
    outputs = dict(graph.outputs)
    uses = uses_of(outputs, graph.nodes)
    uses.update(leaves(outputs))  # a result counts twice, as it must be there by itself
    sums = {node for node in graph.nodes if node.op in (ADD, SUB) and node.online}
    parts = {arg for node in sums for arg in node.args if arg in sums and uses[arg] == 1}
    new: dict[Node, Node] = {}
    ready: dict[Node, int] = {}
    for node in graph.nodes:
        if node in parts:
            continue
        if node in sums:
            terms = [(sign, new[term], uses[term] == 1) for sign, term in terms_of_sum(node, parts)]
            new[node] = _chain(terms, ready)
        elif node.args and node.online:
            new[node] = made = _renewed(node, new)
            ready[made] = max([ready[arg] for arg in made.args]) + CYCLES.get(node.op, LATENCY)
        else:  # given, or known before the call
            new[node] = node
            ready[node] = 0
    return graph.mapped(lambda outputs: rebuilt(outputs, new.__getitem__))


def _chain(terms: Sequence[tuple[int, Node, bool]], ready: dict[Node, int]) -> Node:
    """The sum of (sign, term, used here only), what is ready first added first; `ready` is completed."""
    arrivals = [ready[term] - LATENCY * (alone and term.op == MUL and term.online) for _, term, alone in terms]
    first, *others = sorted(range(len(terms)), key=arrivals.__getitem__)
    sign, total, _ = terms[first]
    for i in others:
        own, term, _ = terms[i]
        time = max(ready[total], arrivals[i]) + LATENCY
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
    args = tuple([new[arg] for arg in node.args])
    if args == node.args:
        return node
    return interned(node.op, args[::-1] if node.op == MUL and args[0].key > args[1].key else args)
