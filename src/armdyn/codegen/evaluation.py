"""A graph evaluated over the arrays or symbols of another library."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from armdyn.errors import MissingExtra
from armdyn.graph import Graph, Node
from armdyn.graph.node import ADD, CONST, DIV, MUL, NEG, PI_OP, SUB
from armdyn.graph.structure import leaves

_ARITHMETIC: dict[str, Callable[..., Any]] = {
    ADD: operator.add,
    SUB: operator.sub,
    MUL: operator.mul,
    DIV: operator.truediv,
    NEG: operator.neg,
}


def evaluated(
    graph: Graph, values: Mapping[str, Any], functions: Mapping[str, Callable[..., Any]]
) -> dict[str, list[Any]]:
    """The entries of each output, row-major. values: the entries of each input. functions: sin, cos, ..., by name."""
    known = {**_ARITHMETIC, **functions}
    results: dict[Node, Any] = {}
    for name, structure in graph.inputs.items():
        results.update(zip(leaves(structure), values[name], strict=True))
    for node in graph.nodes:
        if node.op == CONST:
            results[node] = float(node.value)
        elif node.op == PI_OP:
            results[node] = math.pi
        elif node.args:
            results[node] = known[node.op](*(results[arg] for arg in node.args))
    return {name: [results[node] for node in leaves(part)] for name, part in graph.outputs.items()}


def installed(module: str, title: str) -> Any:
    """A module of an optional library; MissingExtra with the command to install it if it is not there."""
    try:
        return import_module(module)
    except ImportError:
        extra = module.partition(".")[0]
        advice = f"Install it: pip install 'armdyn[{extra}]'"
        raise MissingExtra(f"{title} is not installed", where="export", advice=advice) from None
