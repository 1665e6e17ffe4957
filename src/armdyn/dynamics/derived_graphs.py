"""Derivatives of any function of Dynamics by its inputs, from its graph.

Results of the function are taken as one vector y, row by row, one after the other. With inputs a, b, ...:

order 1: dy/da, dy/db, ..., each (size of y, size of the input);
order 2: with one more input, weights of the size of y, the second derivatives of weights.y by each pair of inputs, a a,
    a b, ..., b b, ..., each (size of the first, size of the second).

The derivatives of inverse and forward dynamics, which are used most, are quantities of their own with fewer operations.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any, Literal

from armdyn.graph import Graph, Node, derivative, gradient, symbols
from armdyn.graph.node import ZERO
from armdyn.graph.structure import leaves

WEIGHTS = "weights"
"""The input that second derivatives are contracted with."""


def derived(graph: Graph, order: Literal[1, 2]) -> Graph:
    """The graph of the derivatives of a graph."""
    results = [node for part in graph.outputs.values() for node in leaves(part)]
    return _slopes(graph, results) if order == 1 else _curvature(graph, results)


def _slopes(graph: Graph, results: list[Node]) -> Graph:
    outputs = {f"d_{name}": derivative(tuple(results), tuple(leaves(part))) for name, part in graph.inputs.items()}
    return Graph(graph.inputs, outputs, graph.names)


def _curvature(graph: Graph, results: list[Node]) -> Graph:
    weights = symbols(" ".join(f"{WEIGHTS}{i + 1}" for i in range(len(results))))
    weighted: Any = ZERO
    for weight, result in zip(weights, results, strict=True):
        weighted = weighted + weight * result
    inputs = {name: tuple(leaves(part)) for name, part in graph.inputs.items()}
    slopes = {name: gradient(weighted, part) for name, part in inputs.items()}
    pairs = combinations_with_replacement(inputs, 2)
    outputs = {f"H_{a}_{b}": derivative(slopes[a], inputs[b]) for a, b in pairs}
    return Graph({**graph.inputs, WEIGHTS: tuple(weights)}, outputs, graph.names)
