"""Rewrites that a whole program profits from; a node that is being made cannot know who else will use it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence, Set
from typing import Any

from armdyn.graph import fold
from armdyn.graph.angle import angle_folding, linear_form, natural_order
from armdyn.graph.count import count_operations, uses_of
from armdyn.graph.derivative import built, with_operands
from armdyn.graph.node import ADD, COS, MUL, SIN, SUB, ZERO, Node, constant, interned
from armdyn.graph.structure import nodes_of, ordered, rebuilt


def folded_angles(outputs: Any) -> Any:
    """Replace products of sines and cosines by those of sums of angles, as a trace with folding writes them.

    >>> from armdyn.graph import symbols
    >>> a, b = symbols("a b")
    >>> with angle_folding(False):
    ...     product = a.cos() * b.cos() - a.sin() * b.sin()
    >>> folded_angles(product)
    cos(a + b)
    """
    nodes = nodes_of(outputs)
    new: dict[Node, Node] = {}
    with angle_folding(True):
        for node in ordered(nodes):
            new[node] = built(node.op, tuple([new[arg] for arg in node.args])) if node.args else node
    return rebuilt(nodes, new.__getitem__)


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
                new[node] = with_operands(node, tuple([new[arg] for arg in node.args])) if node.args else node
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
    """Replace a*x + ... + b*x by (a + b)*x + ... where the products are needed nowhere else.

    Each time one multiplication is saved, and an addition too if a and b are known off-line. Whole sums are searched,
    not only neighbours; the pass repeats as long as it saves something.

    >>> from armdyn.graph import symbols
    >>> a, b, x, y = symbols("a b x y")
    >>> factored(a * x + y - b * x)
    y + x*(a - b)
    """
    nodes = nodes_of(outputs)
    order = ordered(nodes)
    cost = _cost(nodes, order)
    while True:
        better = _factored_once(nodes, order)
        order = ordered(better)
        new_cost = _cost(better, order)
        if new_cost >= cost:
            return nodes
        nodes, cost = better, new_cost


def _cost(nodes: Any, order: Sequence[Node]) -> tuple[int, int]:
    """Operations at run time, then off-line."""
    counts = count_operations(nodes, order)
    return counts.total, counts.offline.total if counts.offline else 0


def _factored_once(nodes: Any, order: Sequence[Node]) -> Any:
    uses = uses_of(nodes, order)
    inner = {arg for node in order if node.op in (ADD, SUB) for arg in node.args if _is_inner(arg, uses)}
    new: dict[Node, Node] = {}
    for node in order:
        if node.op in (ADD, SUB) and node not in inner:
            new[node] = _regrouped(terms_of_sum(node, inner), uses, new)
        else:
            new[node] = with_operands(node, tuple([new[arg] for arg in node.args])) if node.args else node
    return rebuilt(nodes, new.__getitem__)


def _is_inner(node: Node, uses: Counter[Node]) -> bool:
    """True for a sum that is only a part of one larger sum."""
    return node.op in (ADD, SUB) and uses[node] == 1


def terms_of_sum(node: Node, inner: Set[Node]) -> list[tuple[int, Node]]:
    """(sign, term) of a sum with the sums inside it spelled out. inner: those that are parts of other sums."""
    terms, stack = [], [(1, node)]
    while stack:
        sign, part = stack.pop()
        if part is node or part in inner:
            stack += [(sign if part.op == ADD else -sign, part.args[1]), (sign, part.args[0])]
        else:
            terms.append((sign, part))
    return terms


def _regrouped(terms: list[tuple[int, Node]], uses: Counter[Node], new: dict[Node, Node]) -> Node:
    """The sum with common factors taken out, the most frequent first."""
    products = [term for _, term in terms if term.op == MUL and term.online]
    times = Counter(products if len(products) > 1 else ())
    # Only products that nothing outside this sum needs may be taken apart.
    loose = {term for term, count in times.items() if uses[term] == count}
    total = ZERO
    while loose:
        # In the order of the operands: a set would decide ties by addresses, another way in every process.
        counts = Counter(factor for _, term in terms if term in loose for factor in dict.fromkeys(term.args))
        factor, count = counts.most_common(1)[0] if counts else (ZERO, 0)
        if count < 2:
            break
        bracket, rest = ZERO, []
        for sign, term in terms:
            if term in loose and factor in term.args:
                a, b = term.args
                bracket = _signed_sum(bracket, sign, new[b if a is factor else a])
            else:
                rest.append((sign, term))
        total, terms = fold.add(total, fold.mul(new[factor], bracket)), rest
    for sign, term in terms:
        total = _signed_sum(total, sign, new[term])
    return total


def _signed_sum(total: Node, sign: int, term: Node) -> Node:
    return fold.add(total, term) if sign > 0 else fold.sub(total, term)
