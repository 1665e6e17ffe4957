"""Expressions as SymPy objects, for users who want to go on by hand. SymPy is imported only when this is called."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from armdyn.graph.expression_writer import is_decimal
from armdyn.graph.node import ADD, ATAN2, CONST, DIV, MUL, NEG, PI_OP, SELECT, SUB, SYMBOL, Node
from armdyn.graph.structure import is_scalar, nodes_of, ordered


def to_sympy(expressions: Any) -> Any:
    """A scalar as a SymPy expression, a sequence as a column matrix, nested sequences as a matrix.

    Symbols are plain `sympy.Symbol(name)`, so that substitution by name finds them; fractions and pi stay exact.

    >>> from armdyn.graph import symbols
    >>> x, q = symbols("x q")
    >>> to_sympy(x * q.sin() / 3 - x * x)
    -x**2 + x*sin(q)/3
    >>> to_sympy([[x, 0], [1, q]]).det()
    q*x
    """
    import sympy

    nodes = nodes_of(expressions)
    views: dict[Node, Any] = {}
    for node in ordered(nodes):
        views[node] = _view(sympy, node, [views[arg] for arg in node.args])
    if is_scalar(nodes):
        return views[nodes]
    if isinstance(nodes, dict):
        return {name: to_sympy(part) for name, part in nodes.items()}
    rows = [[views[row]] if is_scalar(row) else [views[entry] for entry in row] for row in nodes]
    return sympy.Matrix(rows)


def lambdified(arguments: Any, view: Any, modules: str = "numpy") -> Callable[..., Any]:
    """A Python function of the arguments for SymPy expressions, common subexpressions shared.

    arguments: symbols, names, or lists of them. view: expression, list or matrix. modules: "numpy" or "math".
    """
    import sympy

    made: Callable[..., Any] = sympy.lambdify(arguments, view, modules, cse=True)
    return made


def _view(sympy: Any, node: Node, args: list[Any]) -> Any:
    op = node.op
    if op == SYMBOL:
        return sympy.Symbol(node.value)
    if op == CONST:
        number = node.value
        return sympy.Float(float(number)) if is_decimal(number) else sympy.Rational(*number.as_integer_ratio())
    if op == PI_OP:
        return sympy.pi
    if op in (ADD, SUB):
        return args[0] + args[1] if op == ADD else args[0] - args[1]
    if op in (MUL, DIV):
        return args[0] * args[1] if op == MUL else args[0] / args[1]
    if op == NEG:
        return -args[0]
    if op == ATAN2:
        return sympy.atan2(*args)
    if op == SELECT:
        return sympy.Piecewise((args[1], args[0] >= 0), (args[2], True))
    return getattr(sympy, "Abs" if op == "abs" else op)(args[0])


class SympyScalar:
    """A SymPy expression as a scalar of the formulations: SymPy does the algebra, as written, without simplification.

    >>> from sympy import Symbol
    >>> (2 * SympyScalar(Symbol("x")).sin() - 1).view
    2*sin(x) - 1
    """

    __slots__ = ("view",)
    __array_ufunc__ = None

    def __init__(self, view: Any) -> None:
        self.view = view

    def __add__(self, other: Any) -> SympyScalar:
        return _combined(operator.add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> SympyScalar:
        return _combined(operator.sub, self, other)

    def __rsub__(self, other: Any) -> SympyScalar:
        return _combined(operator.sub, other, self)

    def __mul__(self, other: Any) -> SympyScalar:
        return _combined(operator.mul, self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SympyScalar:
        return _combined(operator.truediv, self, other)

    def __neg__(self) -> SympyScalar:
        return SympyScalar(-self.view)

    def sin(self) -> SympyScalar:
        import sympy

        return SympyScalar(sympy.sin(self.view))

    def cos(self) -> SympyScalar:
        import sympy

        return SympyScalar(sympy.cos(self.view))

    def simplified(self) -> SympyScalar:
        """The expression by sympy.simplify."""
        import sympy

        return SympyScalar(sympy.simplify(self.view))


def _combined(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> SympyScalar:
    """The operation on two scalars or numbers; vectors and dual numbers have rules of their own."""
    if not all(isinstance(each, SympyScalar | int | float) for each in (a, b)):
        return NotImplemented  # type: ignore[no-any-return]  # Python then asks the other operand
    return SympyScalar(operation(*(each.view if isinstance(each, SympyScalar) else each for each in (a, b))))


def scalar_of(x: Any) -> SympyScalar:
    """A scalar of a name, a node, a number or a scalar."""
    import sympy

    if isinstance(x, SympyScalar):
        return x
    if isinstance(x, Node):
        return SympyScalar(to_sympy(x))
    return SympyScalar(sympy.Symbol(x) if isinstance(x, str) else sympy.sympify(x))


def forget() -> None:
    """Empty SymPy's cache, so that what is timed next starts anew."""
    from sympy.core.cache import clear_cache

    clear_cache()
