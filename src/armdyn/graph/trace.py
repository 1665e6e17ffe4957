"""From a function over scalars to a graph: call it once with symbols and keep what it returns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph.angle import angle_folding, natural_order
from armdyn.graph.count import Operations, count_operations
from armdyn.graph.evaluate import run
from armdyn.graph.node import SYMBOL, Node, symbol
from armdyn.graph.structure import leaves, nodes_of, ordered, rebuilt

_T = TypeVar("_T")
_names: ContextVar[dict[Node, str] | None] = ContextVar("names", default=None)


def named(value: _T, name: str, *indices: object) -> _T:
    """Give an intermediate result a readable name for the printed program; the value itself comes back unchanged.

    Names are kept by the trace that is under way, and ignored outside of one or for plain numbers.

    >>> graph = trace(lambda x: named(x * x, "W", 2, 3) * (x * x + 1), {"x": None})
    >>> print(graph.program())
    W23 = x*x
    out = W23*(W23 + 1)
    """
    table = _names.get()
    if table is not None and isinstance(value, Node) and value.args:
        text = "_".join([name, *map(str, indices)]) if _crowded(indices) else name + "".join(map(str, indices))
        table.setdefault(value, re.sub(r"\W", "_", text))
    return value


def _crowded(indices: tuple[object, ...]) -> bool:
    return len(indices) > 1 and any(len(str(index)) > 1 for index in indices)


@dataclass(frozen=True, eq=False)
class Graph:
    """A traced function: named inputs and outputs (nested tuples of nodes) and names of intermediates."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
    names: Mapping[Node, str] = field(default_factory=dict)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The live nodes, operands before users; inputs that nothing needs are not among them."""
        return ordered(tuple(self.outputs.values()))

    @cached_property
    def parameters(self) -> tuple[Node, ...]:
        """Symbols that the outputs need and that are not inputs, sorted by name."""
        inputs = set(leaves(dict(self.inputs)))
        free = (node for node in self.nodes if node.op == SYMBOL and node not in inputs)
        return tuple(sorted(free, key=natural_order))

    @cached_property
    def operations(self) -> Operations:
        """What the straight-line program of this graph executes."""
        return count_operations(tuple(self.outputs.values()), self.nodes)

    def __call__(self, **values: Any) -> Any:
        """Outputs for given inputs: numbers, sequences, or arrays whose last axes are the components."""
        wanted = set(self.inputs) | {node.value for node in self.parameters}
        if set(values) != wanted:
            missing, extra = sorted(wanted - set(values)), sorted(set(values) - wanted)
            raise ArmdynError(f"missing inputs {missing}, unknown inputs {extra}", expected=f"{sorted(wanted)}")
        bound: dict[Any, Any] = {node: values[node.value] for node in self.parameters}
        for name, structure in self.inputs.items():
            bound.update(_bound(name, structure, values[name]))
        results = run(self.nodes, bound)
        outputs = rebuilt(dict(self.outputs), results.__getitem__)
        return outputs["out"] if list(outputs) == ["out"] else outputs

    def mapped(self, rewrite: Callable[[Any], Any]) -> Graph:
        """The graph with a pass applied to its outputs, such as `split_angles`, `factored` or `numeric`.

        >>> graph = trace(lambda a, b: (a + b).cos(), {"a": None, "b": None})
        >>> from armdyn.graph import split_angles
        >>> graph.mapped(split_angles).operations.trigonometric
        4
        """
        outputs = rewrite(dict(self.outputs))
        return self if outputs == self.outputs else Graph(self.inputs, MappingProxyType(outputs), self.names)

    def renamed(self, results: Iterable[str]) -> Graph:
        """The graph with other names for its outputs."""
        outputs = dict(zip(results, self.outputs.values(), strict=True))
        made = Graph(self.inputs, MappingProxyType(outputs), self.names)
        known = {name: value for name, value in vars(self).items() if name in ("nodes", "parameters", "operations")}
        vars(made).update(known)
        return made

    def program(self, style: str = "text") -> str:
        """The graph as readable assignments; style "python" gives a function that runs."""
        from armdyn.graph.program import program  # only printing needs it

        return program(self, style)

    def __repr__(self) -> str:
        return f"Graph({', '.join(self.inputs)} -> {', '.join(self.outputs)}: {self.operations})"


def trace(function: Callable[..., Any], inputs: Mapping[str, Any], *, fold_angles: bool = True) -> Graph:
    """Call the function once with symbols, one positional argument per input in the given order.

    An input is None (a scalar), a number n (symbols x1..xn), a shape (m, n) (symbols x11..xmn), or nested nodes.
    A returned dict names the outputs; anything else is the single output "out".

    >>> graph = trace(lambda q, m: {"tau": [m * q[0].cos(), q[1] - q[0]]}, {"q": 2, "m": None})
    >>> graph
    Graph(q, m -> tau: 1 multiplication, 1 addition, 1 sine or cosine)
    >>> graph(q=(0.0, 1.0), m=2.0)
    {'tau': (2.0, 1.0)}
    """
    arguments = {name: input_symbols(name, shape) for name, shape in inputs.items()}
    _require_distinct(arguments)
    with _collecting_names() as names, angle_folding(fold_angles):
        result = function(*arguments.values())
    outputs = nodes_of(dict(result) if isinstance(result, Mapping) else {"out": result})
    return Graph(MappingProxyType(arguments), MappingProxyType(outputs), MappingProxyType(names))


def input_symbols(name: str, shape: Any) -> Any:
    """Symbols for one input of a trace.

    >>> input_symbols("q", 2), input_symbols("g", None)
    ((q1, q2), g)
    """
    if shape is None:
        return symbol(name)
    if isinstance(shape, int):
        return tuple(symbol(f"{name}{i + 1}") for i in range(shape))
    if isinstance(shape, tuple) and shape and all(isinstance(size, int) for size in shape):
        between = "" if all(size < 10 for size in shape) else "_"
        indices = np.ndindex(*shape)
        entries = [symbol(name + between.join(str(i + 1) for i in index)) for index in indices]
        return nodes_of(np.array(entries, dtype=object).reshape(shape))
    structure = nodes_of(shape)
    if any(node.op != SYMBOL for node in leaves(structure)):
        raise ArmdynError(f"input {name!r} holds an expression", expected="None, a size, a shape, or symbols")
    return structure


def _require_distinct(arguments: Mapping[str, Any]) -> None:
    seen: set[Node] = set()
    for name, structure in arguments.items():
        for node in leaves(structure):
            if node in seen:
                raise ArmdynError(f"symbol {node.value!r} appears twice among the inputs", where=f"input {name!r}")
            seen.add(node)


@contextmanager
def _collecting_names() -> Iterator[dict[Node, str]]:
    names: dict[Node, str] = {}
    token = _names.set(names)
    try:
        yield names
    finally:
        _names.reset(token)


def _bound(name: str, structure: Any, value: Any) -> Iterator[tuple[Node, Any]]:
    """Pairs of symbol and value; the components of an array lie along its last axes."""
    if isinstance(structure, Node):
        yield structure, value
        return
    depth = _depth(structure)
    is_array = isinstance(value, np.ndarray)
    size = (value.shape[-depth] if value.ndim >= depth else 0) if is_array else len(value)
    if size != len(structure):
        raise ShapeError(f"wrong size {size}", where=f"input {name!r}", expected=f"{len(structure)} components")
    for i, part in enumerate(structure):
        yield from _bound(name, part, value.take(i, axis=-depth) if is_array else value[i])


def _depth(structure: Any) -> int:
    return 0 if isinstance(structure, Node) else 1 + _depth(structure[0])
