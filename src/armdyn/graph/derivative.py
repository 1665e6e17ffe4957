"""Derivatives and substitution on the graph: results are folded nodes that share with the original."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from armdyn.errors import ArmdynError
from armdyn.graph import fold
from armdyn.graph.angle import cosine, sine
from armdyn.graph.node import (
    ABS,
    ADD,
    ATAN2,
    CONST,
    COS,
    DIV,
    EXP,
    MINUS_ONE,
    MUL,
    NEG,
    ONE,
    PI_OP,
    SELECT,
    SIGN,
    SIN,
    SQRT,
    SUB,
    SYMBOL,
    ZERO,
    Node,
    as_node,
    constant,
)
from armdyn.graph.structure import leaves, nodes_of, ordered, rebuilt


def derivative(outputs: Any, symbols: Any) -> Any:
    """The Jacobian by forward mode: each scalar output becomes its derivatives, nested like `symbols`.

    >>> from armdyn.graph import symbols
    >>> x, q = symbols("x q")
    >>> derivative((x * q.sin(), x * x), (x, q))
    ((sin(q), x*cos(q)), (2*x, 0))
    >>> derivative(x * x, x)
    2*x
    """
    nodes, wanted = nodes_of(outputs), nodes_of(symbols)
    order = ordered(nodes)
    columns = {each: _tangents(order, each) for each in _checked(wanted)}
    return rebuilt(nodes, lambda output: rebuilt(wanted, lambda each: columns[each].get(output, ZERO)))


def _checked(symbols: Any) -> list[Node]:
    found = list(leaves(symbols))
    for each in found:
        if each.op != SYMBOL:
            raise ArmdynError(f"cannot differentiate with respect to {each!r}", expected="a symbol")
    return found


def _tangents(order: Iterable[Node], variable: Node) -> dict[Node, Node]:
    """Derivatives of all nodes that depend on the variable."""
    tangents = {variable: ONE}
    for node in order:
        if not node.args or tangents.keys().isdisjoint(node.args):
            continue
        if node.op == SELECT:
            test, first, second = node.args
            tangents[node] = fold.select(test, tangents.get(first, ZERO), tangents.get(second, ZERO))
            continue
        total = ZERO
        for arg, partial in zip(node.args, partials(node), strict=True):
            if arg in tangents:
                total = fold.add(total, fold.mul(partial, tangents[arg]))
        tangents[node] = total
    return tangents


def partials(node: Node) -> tuple[Node, ...]:
    """Derivatives of an operation with respect to its operands (not for select, whose test has none)."""
    op, a = node.op, node.args[0]
    if op == ADD:
        return ONE, ONE
    if op == SUB:
        return ONE, MINUS_ONE
    if op == MUL:
        return node.args[1], a
    if op == DIV:
        inverse = fold.div(ONE, node.args[1])
        return inverse, fold.neg(fold.mul(node, inverse))
    if op == NEG:
        return (MINUS_ONE,)
    if op == SIN:
        return (cosine(a),)
    if op == COS:
        return (fold.neg(sine(a)),)
    if op == SQRT:
        return (fold.div(constant(1) / 2, node),)
    if op == ATAN2:
        x = node.args[1]
        square = fold.add(fold.mul(a, a), fold.mul(x, x))
        return fold.div(x, square), fold.neg(fold.div(a, square))
    return (node if op == EXP else fold.sign_of(a) if op == ABS else ZERO,)


def gradient(output: Any, symbols: Any) -> Any:
    """Derivatives of one scalar by reverse mode, nested like `symbols`: cheap for many symbols.

    >>> from armdyn.graph import symbols
    >>> x, y, z = symbols("x y z")
    >>> gradient(x * y + y * z, (x, (y, z)))
    (y, (x + z, y))
    """
    node, wanted = nodes_of(output), nodes_of(symbols)
    if not isinstance(node, Node):
        raise ArmdynError("the gradient needs one scalar output", advice="Use derivative for several outputs")
    targets = set(_checked(wanted))
    adjoints = {node: ONE}
    for part in reversed(ordered(node)):
        if part.args and part in adjoints:
            _spread(part, adjoints)
    return rebuilt(wanted, lambda each: adjoints.get(each, ZERO) if each in targets else ZERO)


def _spread(node: Node, adjoints: dict[Node, Node]) -> None:
    """Add the share of this node's adjoint to each of its operands."""
    weight = adjoints[node]
    if node.op == SELECT:
        test, first, second = node.args
        shares = [(first, fold.select(test, weight, ZERO)), (second, fold.select(test, ZERO, weight))]
    else:
        shares = [(arg, fold.mul(weight, each)) for arg, each in zip(node.args, partials(node), strict=True)]
    for arg, share in shares:
        adjoints[arg] = fold.add(adjoints.get(arg, ZERO), share)


def substitute(outputs: Any, replacements: Mapping[Any, Any]) -> Any:
    """The outputs with nodes (or symbols given by name) replaced by nodes or numbers, folded anew.

    >>> from armdyn.graph import symbols
    >>> x, y = symbols("x y")
    >>> substitute((x * y.sin() + x * y.cos(), x + 1), {x: 2 * y, y.sin(): 0, "none": 3})
    (2*y*cos(y), 2*y + 1)
    """
    nodes = nodes_of(outputs)
    by_node: dict[Node, Node] = {}
    by_name: dict[str, Node] = {}
    for key, value in replacements.items():
        node = as_node(value)
        if node is None:
            raise ArmdynError(f"cannot substitute {value!r} for {key}", expected="a number or an expression node")
        if isinstance(key, Node):
            by_node[key] = node
        else:
            by_name[str(key)] = node
    new: dict[Node, Node] = {}
    for node in ordered(nodes):
        if node in by_node:
            new[node] = by_node[node]
        elif node.op == SYMBOL:
            new[node] = by_name.get(node.value, node)
        else:
            new[node] = with_operands(node, tuple([new[arg] for arg in node.args]))
    return rebuilt(nodes, new.__getitem__)


def with_operands(node: Node, args: tuple[Node, ...]) -> Node:
    """The operation of a node applied to other operands, with folding; the node itself if they are the same."""
    return node if args == node.args else built(node.op, args)


def built(operation: str, args: tuple[Node, ...]) -> Node:
    """The node of an operation on its operands, folded by the rules in force."""
    node: Node = _BUILD[operation](*args)
    return node


_BUILD: dict[str, Any] = {
    ADD: fold.add,
    SUB: fold.sub,
    MUL: fold.mul,
    DIV: fold.div,
    NEG: fold.neg,
    SIN: sine,
    COS: cosine,
    SQRT: fold.square_root,
    SIGN: fold.sign_of,
    ABS: fold.absolute,
    EXP: fold.exponential,
    SELECT: fold.select,
    ATAN2: fold.arctangent,
}


def numeric(outputs: Any, values: Mapping[Any, Any] | None = None) -> Any:
    """Substitute numbers, then turn every part without symbols (pi/3, sqrt(2), sin(1)) into one float constant.

    >>> from armdyn.graph import PI, symbols
    >>> x, y = symbols("x y")
    >>> numeric(x * (PI / 6).cos() + y, {"y": 2})
    0.8660254037844387*x + 2
    """
    from armdyn.graph.evaluate import to_float  # evaluation is not needed for derivatives

    nodes = substitute(outputs, {} if values is None else values)
    new: dict[Node, Node] = {}
    for node in ordered(nodes):
        args = tuple(new[arg] for arg in node.args)
        again = with_operands(node, args) if args else node
        is_number = again.op == PI_OP or (again.args and all(arg.op in (CONST, PI_OP) for arg in again.args))
        new[node] = constant(to_float(again)) if is_number else again
    return rebuilt(nodes, new.__getitem__)
