"""atan2 by arithmetic, for machine code and WebAssembly, which have no instruction of that kind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from armdyn.graph import fold
from armdyn.graph.derivative import with_operands
from armdyn.graph.node import ATAN2, PI, Node, constant
from armdyn.graph.structure import ordered, rebuilt

if TYPE_CHECKING:
    from armdyn.graph.trace import Graph

COEFFICIENTS = (
    1.0,
    -0.3333333333333312,
    0.1999999999994089,
    -0.14285714279250192,
    0.11111110744917034,
    -0.09090896808988135,
    0.07692045329539092,
    -0.06662951797955637,
    0.05846878181892052,
    -0.05035101930016078,
    0.03796524391097195,
    -0.017805382196606493,
)
"""arctan(z) / z as a polynomial in z^2 for |z| <= tan(pi/8): Chebyshev interpolation, error 1.3e-18."""
NEVER_ZERO = 1e-300
"""Added to the divisor: atan2(0, 0) is 0, and no other result changes, unless both operands are below 1e-284."""


def without_arctangents(graph: Graph) -> Graph:
    """The graph with every atan2 written as arithmetic; the error is at most 4.5e-16 rad."""
    if not any(node.op == ATAN2 for node in graph.nodes):
        return graph
    return graph.mapped(_expanded)


def _expanded(outputs: Any) -> Any:
    new: dict[Node, Node] = {}
    for node in ordered(outputs):
        made = with_operands(node, tuple([new[arg] for arg in node.args])) if node.args else node
        new[node] = arctangent_by_arithmetic(*made.args) if made.op == ATAN2 and made.online else made
    return rebuilt(outputs, new.__getitem__)


def arctangent_by_arithmetic(y: Node, x: Node) -> Node:
    """atan2(y, x): two reductions to |z| <= tan(pi/8), one division, one polynomial."""
    high, wide = abs(y), abs(x)
    flat = wide - high  # below the diagonal
    low, long = fold.select(flat, high, wide), fold.select(flat, wide, high)
    small = math.tan(math.pi / 8) * long - low  # else arctan(low / long) = pi/4 + arctan((low - long) / (low + long))
    z = fold.select(small, low, low - long) / (fold.select(small, long, low + long) + NEVER_ZERO)
    square, series = z * z, constant(0)
    for coefficient in reversed(COEFFICIENTS):
        series = series * square + coefficient
    angle = fold.select(small, 0, PI / 4) + series * z
    angle = fold.select(flat, angle, PI / 2 - angle)
    angle = fold.select(x, angle, PI - angle)
    return y.select(angle, -angle)
