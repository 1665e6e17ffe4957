"""Rewrites that a whole program profits from; a single node at its birth cannot know who else will use it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from armdyn.graph import fold
from armdyn.graph.angle import angle_folding, linear_form, natural_order
from armdyn.graph.derivative import born_again
from armdyn.graph.node import ADD, COS, MUL, SIN, SUB, Node, constant, interned
from armdyn.graph.structure import leaves, nodes_of, ordered, rebuilt


def split_angles(outputs: Any) -> Any:
    """Replace sin(a + b) by sines and cosines of a and b: two products and a sum cost less than a new function.

    >>> from armdyn.graph import symbols
    >>> a, b = symbols("a b")
    >>> split_angles((a + b).cos())
    cos(a)*cos(b) - sin(a)*sin(b)
    """
    nodes = nodes_of(outputs)
    new: dict[Node, Node] = {}
    with angle_folding(False):
        for node in ordered(nodes):
            if node.op in (SIN, COS):
                cos, sin = _split(node.args[0])
                new[node] = sin if node.op == SIN else cos
            else:
                new[node] = born_again(node, tuple(new[arg] for arg in node.args)) if node.args else node
    return rebuilt(nodes, new.__getitem__)


def _split(angle: Node) -> tuple[Node, Node]:
    """(cos, sin) of a linear combination, one angle after the other, so that c23 and s23 are shared by c234."""
    terms, quarters, offset = linear_form(angle)
    if len(terms) < 2 or offset or quarters or any(abs(factor) != 1 for factor in terms.values()):
        return interned(COS, (angle,)), interned(SIN, (angle,))
    cos, sin = constant(1), constant(0)
    for atom, factor in sorted(terms.items(), key=lambda item: natural_order(item[0])):
        c, s = atom.cos(), atom.sin() if factor > 0 else -atom.sin()
        cos, sin = cos * c - sin * s, sin * c + cos * s
    return cos, sin


def factored(outputs: Any) -> Any:
    """Replace a*x + b*x by (a + b)*x where neither product is needed elsewhere: one multiplication less each.

    Repeats until nothing changes; the number of additions stays.

    >>> from armdyn.graph import symbols
    >>> a, b, x, y = symbols("a b x y")
    >>> factored(a * x - b * x + y)
    y + x*(a - b)
    """
    nodes = nodes_of(outputs)
    while True:
        better = _factored_once(nodes)
        if all(old is new for old, new in zip(leaves(nodes), leaves(better), strict=True)):
            return nodes
        nodes = better


def _factored_once(nodes: Any) -> Any:
    order = ordered(nodes)
    uses = Counter(arg for node in order for arg in node.args)
    uses.update(leaves(nodes))
    new: dict[Node, Node] = {}
    for node in order:
        found = _common_factor(node, uses)
        if found is None:
            new[node] = born_again(node, tuple(new[arg] for arg in node.args)) if node.args else node
        else:
            common, a, b = (new[part] for part in found)
            new[node] = fold.mul(common, fold.add(a, b) if node.op == ADD else fold.sub(a, b))
    return rebuilt(nodes, new.__getitem__)


def _common_factor(node: Node, uses: Counter[Node]) -> tuple[Node, Node, Node] | None:
    """(x, a, b) of a node a*x + b*x or a*x - b*x whose products are used only here."""
    if node.op not in (ADD, SUB) or any(arg.op != MUL or uses[arg] > 1 for arg in node.args):
        return None
    (p, q), (r, s) = node.args[0].args, node.args[1].args
    for common, a in ((p, q), (q, p)):
        if common in (r, s):
            return common, a, s if common is r else r
    return None
