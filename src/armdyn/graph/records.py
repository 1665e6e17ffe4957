"""Expressions as flat records: for pickling and for files, without recursion."""

from __future__ import annotations

from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph.node import (
    _CODE,
    CONST,
    PI,
    PI_OP,
    SYMBOL,
    Node,
    constant,
    interned,
    symbol,
)
from armdyn.graph.structure import leaves, ordered

Record = tuple[Any, ...]


def records(outputs: Any) -> tuple[tuple[Record, ...], tuple[int, ...]]:
    """(records, positions of the outputs); a record is (op, positions of operands or leaf data).

    >>> from armdyn.graph import symbol
    >>> records(2 * symbol("x"))
    ((('const', 2), ('symbol', 'x', 'variable'), ('mul', 0, 1)), (2,))
    """
    order = ordered(outputs)
    place = {node: i for i, node in enumerate(order)}
    rows = tuple(_record(node, place) for node in order)
    return rows, tuple(place[node] for node in leaves(outputs))


def _record(node: Node, place: dict[Node, int]) -> Record:
    if node.op == SYMBOL:
        return SYMBOL, node.value, "variable" if node.online else "parameter"
    return (CONST, node.value) if node.op == CONST else (node.op, *(place[arg] for arg in node.args))


def restored(stored: tuple[tuple[Record, ...], tuple[int, ...]]) -> tuple[Node, ...]:
    """The output nodes of `records`."""
    rows, positions = stored
    nodes: list[Node] = []
    for op, *rest in rows:
        if op not in _CODE:
            raise ArmdynError(f"unknown operation {op!r} in a stored expression", expected=", ".join(_CODE))
        if op == SYMBOL:
            nodes.append(symbol(*rest))
        elif op == CONST:
            nodes.append(constant(rest[0]))
        else:
            nodes.append(PI if op == PI_OP else interned(op, tuple(nodes[i] for i in rest)))
    return tuple(nodes[i] for i in positions)


def rebuild(stored: tuple[tuple[Record, ...], tuple[int, ...]], which: int) -> Node:
    """One output of `records`; this is what unpickling a node calls."""
    return restored(stored)[which]
