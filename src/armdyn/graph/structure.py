"""Nested tuples, lists, dicts and arrays of scalars: their leaves, their shape rebuilt, their graph in order."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph.node import Node, as_node


def leaves(structure: Any) -> Iterator[Any]:
    """All scalars of a nested structure, in order.

    >>> list(leaves((1, [2, {"a": 3}])))
    [1, 2, 3]
    """
    if isinstance(structure, Mapping):
        structure = structure.values()
    if is_scalar(structure):
        yield structure
        return
    for part in structure:
        if type(part) is Node:
            yield part
        else:
            yield from leaves(part)


def rebuilt(structure: Any, function: Callable[[Any], Any]) -> Any:
    """The same nesting with the function applied to each scalar; sequences become tuples.

    >>> rebuilt((1, [2, {"a": 3}]), lambda x: 10 * x)
    (10, (20, {'a': 30}))
    """
    if type(structure) is Node:
        return function(structure)
    if isinstance(structure, Mapping):
        return {name: rebuilt(part, function) for name, part in structure.items()}
    if is_scalar(structure):
        return function(structure)
    return tuple(rebuilt(part, function) for part in structure)


def is_scalar(value: Any) -> bool:
    """True for what has no parts: nodes, numbers, and texts too (their letters are no scalars)."""
    return isinstance(value, Node | str) or not isinstance(value, Iterable) or getattr(value, "ndim", None) == 0


@dataclass(frozen=True)
class Port:
    """An argument or a result: its shape without batch axes, and its nodes in row-major order (none if reloaded)."""

    name: str
    shape: tuple[int, ...]
    nodes: tuple[Node, ...] = ()

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def places(self) -> Iterator[tuple[tuple[int, ...], Node]]:
        """(indices from 0, node) of each entry."""
        return zip(product(*map(range, self.shape)), self.nodes, strict=True)


def ports(structures: Mapping[str, Any], side: str) -> tuple[Port, ...]:
    """The inputs or outputs of a graph; side: "input" or "output"."""
    return tuple(Port(name, _shape(part, f"{side} {name!r}"), tuple(leaves(part))) for name, part in structures.items())


def _shape(structure: Any, where: str) -> tuple[int, ...]:
    if isinstance(structure, Node):
        return ()
    parts = list(structure.values() if isinstance(structure, Mapping) else structure)
    shapes = {_shape(part, where) for part in parts}
    if len(shapes) != 1:
        what = f"it is ragged: parts of shapes {sorted(shapes)}" if parts else "it has no entries"
        raise ShapeError(what, where=where, expected="a full array with at least one entry")
    return (len(parts), *shapes.pop())


def nodes_of(structure: Any) -> Any:
    """The structure with every number turned into a node."""

    def convert(value: Any) -> Node:
        node = as_node(value.item() if getattr(value, "ndim", None) == 0 else value)
        if node is None:
            raise ArmdynError(f"expected numbers and expression nodes, found {type(value).__name__}: {value!r}")
        return node

    return rebuilt(structure, convert)


def ordered(outputs: Any) -> tuple[Node, ...]:
    """Every node the outputs need, operands before their users. What no output needs is not there.

    >>> from armdyn.graph import symbols
    >>> x, y = symbols("x y")
    >>> [node.op for node in ordered(x * y + x)]
    ['symbol', 'symbol', 'mul', 'add']
    """
    order: dict[Node, None] = {}
    for output in leaves(outputs):
        stack = [output]
        while stack:
            node = stack.pop()
            if node in order:
                continue
            for arg in node.args:
                if arg not in order:
                    stack += (node, *node.args[::-1])
                    break
            else:
                order[node] = None
    return tuple(order)
