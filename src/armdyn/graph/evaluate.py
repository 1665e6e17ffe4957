"""Values of expressions over any numbers: float, complex, NumPy arrays, dual numbers, exact rationals.

The kind of the given values decides. With Fraction, flint's fmpq or RationalAngle everything stays exact, and
float constants count as the rationals they are (with flint's arb as the decimals they are written with, and pi is a
value to give); otherwise exact constants become floats and integers stay integers.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from armdyn.errors import ArmdynError
from armdyn.graph.node import (
    ABS,
    ADD,
    ATAN2,
    CONST,
    COS,
    DIV,
    EXP,
    MUL,
    NEG,
    PI_OP,
    SELECT,
    SIGN,
    SIN,
    SQRT,
    SUB,
    SYMBOL,
    Node,
)
from armdyn.graph.rational import RationalAngle
from armdyn.graph.structure import nodes_of, ordered, rebuilt

Values = Mapping[Any, Any]
"""Symbol values by name or by node."""


def evaluate(outputs: Any, values: Values) -> Any:
    """The outputs with symbols replaced by values; keys of `values` are names or symbol nodes.

    >>> from armdyn.graph import symbols
    >>> x, q = symbols("x q")
    >>> evaluate((x * q.sin(), x / 3), {"x": 2.0, "q": 0.5})
    (0.958851077208406, 0.6666666666666666)
    >>> evaluate(x * q.sin(), {"x": Fraction(1, 3), "q": RationalAngle(Fraction(1, 2))})
    Fraction(4, 15)
    """
    nodes = nodes_of(outputs)
    results = run(ordered(nodes), values)
    return rebuilt(nodes, results.__getitem__)


def run(nodes: Iterable[Node], values: Values) -> dict[Node, Any]:
    """Values of all nodes, given in topological order."""
    exact, convert = _arithmetic(values.values())
    results: dict[Node, Any] = {}
    for node in nodes:
        try:
            results[node] = _value(node, results, values, convert, exact)
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            raise ArmdynError(f"cannot evaluate {node!r}: {error}") from error
    return results


def _value(node: Node, results: dict[Node, Any], values: Values, convert: Callable[[Any], Any], exact: bool) -> Any:
    op = node.op
    if op == SYMBOL:
        return _lookup(node, values)
    if op == CONST:
        return convert(node.value)
    if op == PI_OP:
        if node in values:
            return values[node]
        if exact:
            raise ArmdynError("pi is not rational: this expression has no exact value", advice="Evaluate with floats")
        return math.pi
    if op == ATAN2:
        return arctangent_value(results[node.args[0]], results[node.args[1]], exact)
    if len(node.args) == 2:
        a, b = results[node.args[0]], results[node.args[1]]
        return a * b if op == MUL else a + b if op == ADD else a - b if op == SUB else _quotient(a, b, exact)
    if op == SELECT:
        return select_value(*(results[arg] for arg in node.args))
    x = results[node.args[0]]
    return -x if op == NEG else function_value(op, x, exact)


def _lookup(node: Node, values: Values) -> Any:
    if node in values:
        return values[node]
    if node.value not in values:
        known = ", ".join(str(key) for key in values) or "none"
        raise ArmdynError(f"no value for symbol {node.value!r}", expected=f"values for all symbols; given: {known}")
    return values[node.value]


def _quotient(a: Any, b: Any, exact: bool) -> Any:
    return Fraction(a) / b if exact and isinstance(a, int) and isinstance(b, int | Fraction) else a / b


def _arithmetic(values: Iterable[Any]) -> tuple[bool, Callable[[Any], Any]]:
    """(exact?, conversion of constants) that suit these values."""
    kinds = {type(value.cos()) if isinstance(value, RationalAngle) else type(value) for value in values}
    if any(issubclass(kind, float | complex | np.ndarray | np.generic) for kind in kinds):
        return False, _to_float
    if any(kind.__module__.startswith("flint") for kind in kinds):
        from flint import arb, fmpq

        if arb in kinds:
            return True, lambda value: arb(fmpq(*Fraction(str(value)).as_integer_ratio()))
        return True, lambda value: fmpq(*Fraction(value).as_integer_ratio())
    if Fraction in kinds:
        return True, lambda value: value if isinstance(value, int) else Fraction(value)
    return False, (lambda value: value) if Node in kinds else _to_float


def _to_float(value: Any) -> Any:
    return float(value) if isinstance(value, Fraction) else value


def function_value(op: str, x: Any, exact: bool = False) -> Any:
    """sin, cos, sqrt, sign, abs or exp of any scalar; a scalar with a method of that name decides itself."""
    method = getattr(x, op, None)
    if method is not None:
        return method()
    if op == SIGN:
        real = x.real if hasattr(x, "real") else x
        return np.sign(real) if isinstance(x, np.ndarray | np.generic) else (real > 0) - (real < 0)
    if op == ABS:
        return x * function_value(SIGN, x) if np.iscomplexobj(x) else abs(x)
    if exact:
        raise ArmdynError(
            f"{op} of the rational number {x} has no exact value",
            advice="Give angles as RationalAngle" if op in (SIN, COS) else "Evaluate with floats",
        )
    if isinstance(x, np.ndarray | np.generic):
        return getattr(np, op)(x)
    return getattr(cmath if isinstance(x, complex) else math, op)(x)


def arctangent_value(y: Any, x: Any, exact: bool = False) -> Any:
    """The angle of the point (x, y) for any scalars; exact numbers have one on the positive x axis only."""
    if hasattr(x, "atan2"):
        return (y if hasattr(y, "atan2") else y + 0 * x).atan2(x)
    if not exact:
        return np.arctan2(y, x) if isinstance(y, np.ndarray) or isinstance(x, np.ndarray) else math.atan2(y, x)
    if y == 0 and x > 0:
        return 0
    raise ArmdynError(f"atan2({y}, {x}) has no exact value", advice="Evaluate with floats")


def select_value(condition: Any, if_not_negative: Any, if_negative: Any) -> Any:
    """The branch chosen by the sign of the condition (of its real part, for complex-step derivatives)."""
    if hasattr(condition, "select"):
        return condition.select(if_not_negative, if_negative)
    real = condition.real if hasattr(condition, "real") else condition
    if isinstance(real, np.ndarray):
        return np.where(real >= 0, if_not_negative, if_negative)
    return if_not_negative if real >= 0 else if_negative


def to_float(expression: Any, values: Values | None = None) -> Any:
    """The plain Python number of an expression: an int if it is whole and exact, else a float.

    >>> from armdyn.graph import PI, symbol
    >>> to_float(symbol("l1") * 0), to_float(PI / 3) == math.pi / 3, to_float(symbol("a") / 4, {"a": 2})
    (0, True, 0.5)
    """
    given = {} if values is None else values
    node = nodes_of(expression)
    results: dict[Node, Any] = {}
    for part in ordered(node):
        try:
            results[part] = _plain_value(part, results, given)
        except (ZeroDivisionError, ValueError, OverflowError) as error:
            raise ArmdynError(f"cannot evaluate {part!r}: {error}") from error
    result = results[node]
    if isinstance(result, Fraction):
        return int(result) if result.denominator == 1 else float(result)
    if isinstance(result, float) and not math.isfinite(result):
        raise ArmdynError(f"the value of {node!r} is not finite: {result}")
    return result


def _plain_value(node: Node, results: dict[Node, Any], values: Values) -> Any:
    """Like `_value`, but exact as long as the operands are, and x/3 rounded once."""
    if node.op in (DIV, MUL):
        a, b = (results[arg] for arg in node.args)
        if node.op == MUL and isinstance(a, Fraction) and isinstance(b, float):
            return b * a.numerator / a.denominator
        return a * b if node.op == MUL else _quotient(a, b, exact=True)
    if node.op in (SIN, COS, SQRT, EXP):
        return function_value(node.op, float(results[node.args[0]]))
    if node.op == ATAN2:
        return math.atan2(*(results[arg] for arg in node.args))
    return _value(node, results, values, lambda value: value, exact=False)
