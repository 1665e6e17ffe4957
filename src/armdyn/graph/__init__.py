"""The expression graph: symbols, traces, derivatives, operation counts, exact values, readable forms."""

from armdyn.graph.angle import angle_folding, quarter_turns
from armdyn.graph.count import Operations, count_operations
from armdyn.graph.evaluate import evaluate, to_float
from armdyn.graph.exact import RationalAngle
from armdyn.graph.fold import select
from armdyn.graph.node import PI, Node, constant, symbol, symbols
from armdyn.graph.structure import ordered
from armdyn.graph.trace import Graph, named, trace

__all__ = [
    "PI",
    "Graph",
    "Node",
    "Operations",
    "RationalAngle",
    "angle_folding",
    "constant",
    "count_operations",
    "evaluate",
    "named",
    "ordered",
    "quarter_turns",
    "select",
    "symbol",
    "symbols",
    "to_float",
    "trace",
]
