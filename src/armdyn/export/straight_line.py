"""A graph as a straight-line program: which nodes get a line of their own, in which order, under which names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from armdyn.export.naming import fresh, identifier
from armdyn.graph import Graph, Node, Operations
from armdyn.graph.node import NEG, SUB, SYMBOL
from armdyn.graph.structure import is_scalar, leaves

LONGEST = 20
"""Names and numbers in one assignment; what would be longer is cut into several."""


@dataclass(frozen=True)
class Port:
    """An argument or a result: its name, its shape, its nodes in row-major order."""

    name: str
    shape: tuple[int, ...]
    nodes: tuple[Node, ...]

    def places(self) -> Iterator[tuple[tuple[int, ...], Node]]:
        """(indices from 0, node) of each entry."""
        columns = self.shape[1] if len(self.shape) == 2 else 1
        for k, node in enumerate(self.nodes):
            yield ((), (k,), divmod(k, columns))[len(self.shape)], node


@dataclass(frozen=True)
class Program:
    """Assignments in order of execution.

    names: of every symbol and every node with a line of its own. lines: those nodes, operands before users.
    """

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    names: Mapping[Node, str]
    lines: tuple[Node, ...]
    operations: Operations

    def used(self, port: Port) -> tuple[tuple[int, Node], ...]:
        """(place, symbol) of the entries of an input that anything needs."""
        return tuple((k, node) for k, node in enumerate(port.nodes) if node in self.names)


def straight_line(graph: Graph, labels: Mapping[Node, str], reserved: frozenset[str]) -> Program:
    """The program of a graph. labels: wishes for names of nodes. reserved: names that no variable may have."""
    inputs, outputs = ports(graph.inputs), ports(graph.outputs)
    taken = {*reserved, *(port.name for port in (*inputs, *outputs))}
    names: dict[Node, str] = {}
    live = [node for node in graph.nodes if node.op == SYMBOL]
    for node in sorted(live, key=lambda node: not node.online):  # variables keep their names, parameters give way
        names[node] = fresh(identifier(node.value, reserved), taken)
    uses = Counter(arg for node in graph.nodes for arg in node.args)
    uses.update(leaves(dict(graph.outputs)))
    turned = {node.args[0] for node in graph.nodes if node.op == NEG and node.args[0].op == SUB}
    count, lines = 0, []
    length: dict[Node, int] = {}
    for node in graph.nodes:
        length[node] = sum(length[arg] for arg in node.args) or 1
        own = uses[node] > 1 or ((node in labels or length[node] > LONGEST) and node not in turned)
        if not node.args or not own:
            continue
        length[node] = 1
        if node in labels:
            names[node] = fresh(identifier(labels[node], reserved), taken)
        else:
            count += 1
            while f"t{count}" in taken:
                count += 1
            names[node] = fresh(f"t{count}", taken)
        lines.append(node)
    return Program(inputs, outputs, names, tuple(lines), graph.operations)


def ports(structures: Mapping[str, Any]) -> tuple[Port, ...]:
    """Inputs or outputs of a graph."""
    return tuple(Port(name, _shape(part), tuple(leaves(part))) for name, part in structures.items())


def _shape(structure: Any) -> tuple[int, ...]:
    return () if is_scalar(structure) else (len(structure), *_shape(structure[0]))
