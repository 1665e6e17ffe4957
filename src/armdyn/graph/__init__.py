"""The expression graph: symbols, traces, derivatives, operation counts, exact values, readable forms."""

from armdyn.graph.angle import angle_folding, quarter_turns
from armdyn.graph.closed_form import closed_form
from armdyn.graph.count import Operations, count_operations, span
from armdyn.graph.derivative import derivative, gradient, numeric, substitute
from armdyn.graph.evaluate import evaluate, to_float
from armdyn.graph.fold import select
from armdyn.graph.mathml import mathml
from armdyn.graph.node import PI, Node, constant, symbol, symbols
from armdyn.graph.passes import factored, folded_angles, simplified_parameters, split_angles
from armdyn.graph.polynomial import NormalForm, identical, normal_form
from armdyn.graph.rational import RationalAngle
from armdyn.graph.render import latex, text
from armdyn.graph.structure import ordered
from armdyn.graph.sympy_view import lambdified, to_sympy
from armdyn.graph.trace import Graph, named, trace

__all__ = [
    "PI",
    "Graph",
    "Node",
    "NormalForm",
    "Operations",
    "RationalAngle",
    "angle_folding",
    "closed_form",
    "constant",
    "count_operations",
    "derivative",
    "evaluate",
    "factored",
    "folded_angles",
    "gradient",
    "identical",
    "lambdified",
    "latex",
    "mathml",
    "named",
    "normal_form",
    "numeric",
    "ordered",
    "quarter_turns",
    "select",
    "simplified_parameters",
    "span",
    "split_angles",
    "substitute",
    "symbol",
    "symbols",
    "text",
    "to_float",
    "to_sympy",
    "trace",
]
