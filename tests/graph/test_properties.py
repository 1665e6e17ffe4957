"""Laws that hold for every expression: folding changes nothing, derivatives derive, normal forms agree."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from armdyn.graph import (
    RationalAngle,
    angle_folding,
    closed_form,
    constant,
    count_operations,
    derivative,
    evaluate,
    factored,
    gradient,
    identical,
    normal_form,
    numeric,
    select,
    split_angles,
    substitute,
    symbols,
    to_sympy,
    trace,
)

NAMES = ("q1", "q2", "q3", "x", "y")
ANGLES, PLAIN = NAMES[:3], NAMES[3:]
SYMBOLS = dict(zip(NAMES, symbols(" ".join(NAMES)), strict=True))

# A tree is a nested tuple: it can be evaluated with nodes, floats, complex numbers or exact rationals alike.
_exact = st.sampled_from([0, 1, -1, 2, 3, Fraction(1, 3), -2, Fraction(-7, 2)])
_floats = st.sampled_from([0.5, 0.1, -1.0, 2.0, 0.0])
_angle = st.tuples(st.just("angle"), *(st.integers(-2, 2) for _ in ANGLES), st.integers(-3, 3))
_trig = st.tuples(st.sampled_from(["sin", "cos"]), _angle)
_leaf = st.one_of(st.sampled_from(PLAIN), _exact, _trig, _trig)


def _nested(operations: list[str], leaf: Any = _leaf, leaves: int = 12) -> st.SearchStrategy[Any]:
    def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.tuples(st.sampled_from(operations), inner, inner),
            st.tuples(st.just("neg"), inner),
            # the products that rotations leave behind
            st.tuples(st.sampled_from(["rotate_sum", "rotate_difference"]), _trig, _trig, _trig, _trig, inner),
        )

    return st.recursive(leaf, grown, max_leaves=leaves)


polynomials = _nested(["add", "sub", "mul"])
small_polynomials = _nested(["add", "sub", "mul"], leaves=6)
expressions = _nested(["add", "sub", "mul", "div", "select"], st.one_of(_leaf, _floats))


def computed(
    tree: Any, values: dict[str, Any], quarter: Any, choose: Callable[..., Any], function: Callable[..., Any]
) -> Any:
    def again(part: Any) -> Any:
        return computed(part, values, quarter, choose, function)

    if isinstance(tree, str):
        return values[tree]
    if not isinstance(tree, tuple):
        return Fraction(tree) if isinstance(values["x"], Fraction) else tree
    name, *parts = tree
    if name == "angle":
        *multiples, turns = parts
        return sum((k * values[each] for k, each in zip(multiples, ANGLES, strict=True)), turns * quarter)
    if name in ("sin", "cos"):
        return function(name, again(parts[0]))
    if name.startswith("rotate"):
        u, v, w, z, x = map(again, parts)
        return x * u * v + w * x * z if name == "rotate_sum" else x * u * v - w * (x * z)
    args = [again(part) for part in parts]
    if name == "neg":
        return -args[0]
    if name == "select":
        return choose(args[0], args[1], args[0])
    a, b = args
    return a + b if name == "add" else a - b if name == "sub" else a * b if name == "mul" else a / (2 + b * b)


def as_node(tree: Any) -> Any:
    from armdyn.graph import PI

    value = computed(tree, SYMBOLS, PI / 2, select, lambda name, x: getattr(constant(0) + x, name)())
    return constant(0) + value


def as_number(tree: Any, values: dict[str, Any]) -> Any:
    def function(name: str, x: Any) -> Any:
        return getattr(cmath if isinstance(x, complex) else math, name)(x)

    def choose(test: Any, a: Any, b: Any) -> Any:
        real = test.real if isinstance(test, complex) else test
        assume(abs(real) > 1e-9)  # rounding may not decide the branch
        return a if real >= 0 else b

    return computed(tree, values, math.pi / 2, choose, function)


POINT = {"q1": 0.3, "q2": -1.1, "q3": 2.2, "x": 0.7, "y": -1.3}
HALF_TANGENTS = {"q1": (1, 3), "q2": (-2, 5), "q3": (3, 2)}


def exact_point(rational: Any) -> dict[str, Any]:
    angles = {name: RationalAngle(rational(*t)) for name, t in HALF_TANGENTS.items()}
    return {**angles, "x": rational(2, 7), "y": rational(-5, 3)}


def close(a: Any, b: Any) -> bool:
    # Folding reorders sums, so results agree to rounding of the largest intermediate, here below about 1e4.
    return abs(a - b) <= 1e-9 * (1 + abs(a) + abs(b))


@given(expressions)
@settings(max_examples=150, deadline=None)
def test_folding_changes_no_value(tree: Any) -> None:
    expected = as_number(tree, POINT)
    node = as_node(tree)
    assert close(evaluate(node, POINT), expected)
    with angle_folding(False):
        unfolded = as_node(tree)
    assert close(evaluate(unfolded, POINT), expected)
    arrays = {name: np.array([value, value]) for name, value in POINT.items()}
    assert close(np.broadcast_to(evaluate(node, arrays), 2)[1], expected)


@given(polynomials)
@settings(max_examples=100, deadline=None)
def test_exact_values(tree: Any) -> None:
    node = as_node(tree)
    values = exact_point(Fraction)
    direct = computed(tree, values, math.pi / 2, select, lambda name, x: getattr(x, name)())
    direct = Fraction(direct)
    assert evaluate(node, values) == direct
    over_flint = evaluate(node, exact_point(fmpq))
    assert Fraction(int(fmpq(over_flint).p), int(fmpq(over_flint).q)) == direct


@given(small_polynomials)
@settings(max_examples=50, deadline=None)
def test_normal_and_closed_forms_keep_the_value(tree: Any) -> None:
    node = as_node(tree)
    values = exact_point(Fraction)
    closed = closed_form(node)
    assert evaluate(closed, values) == evaluate(node, values)
    assert identical(closed, node)
    assert not identical(closed + SYMBOLS["x"], node)
    assert normal_form(node - closed).is_zero


@given(polynomials)
@settings(max_examples=60, deadline=None)
def test_angle_folding_is_an_identity(tree: Any) -> None:
    with angle_folding(False):
        plain = as_node(tree)
    assert identical(plain, as_node(tree))


@given(expressions)
@settings(max_examples=100, deadline=None)
def test_derivatives(tree: Any) -> None:
    node = as_node(tree)
    names = list(SYMBOLS.values())
    forward, reverse = derivative(node, names), gradient(node, names)
    for i, name in enumerate(NAMES):
        step = as_number(tree, {**POINT, name: POINT[name] + 1e-30j})
        expected = step.imag / 1e-30 if isinstance(step, complex) else 0.0
        assert close(evaluate(forward[i], POINT), expected)
        assert close(evaluate(reverse[i], POINT), expected)


@given(expressions, expressions)
@settings(max_examples=60, deadline=None)
def test_substitution(tree: Any, inner: Any) -> None:
    replaced = substitute(as_node(tree), {SYMBOLS["x"]: as_node(inner)})
    expected = as_number(tree, {**POINT, "x": as_number(inner, POINT)})
    assume(abs(expected) < 1e6)
    assert close(evaluate(replaced, POINT), expected)
    number = numeric(as_node(tree), POINT)
    assert number.op == "const" and close(number.value, as_number(tree, POINT))


@given(st.lists(expressions, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_passes_keep_values_and_save_operations(trees: list[Any]) -> None:
    nodes = [as_node(tree) for tree in trees]
    before, better = count_operations(nodes), factored(nodes)
    after = count_operations(better)
    assert after.multiplications + after.additions <= before.multiplications + before.additions
    for old, new, split in zip(nodes, better, split_angles(nodes), strict=True):
        assert close(evaluate(new, POINT), evaluate(old, POINT))
        assert close(evaluate(split, POINT), evaluate(old, POINT))


@given(expressions)
@settings(max_examples=40, deadline=None)
def test_programs_run(tree: Any) -> None:
    graph = trace(
        lambda *inputs: substitute(as_node(tree), dict(zip(NAMES, inputs, strict=True))), dict.fromkeys(NAMES)
    )
    scope: dict[str, Any] = {}
    exec(graph.program("python"), scope)
    assert close(scope["function"](**POINT), as_number(tree, POINT))
    assert close(graph(**POINT), as_number(tree, POINT))


@given(polynomials)
@settings(max_examples=25, deadline=None)
def test_sympy_view(tree: Any) -> None:
    import sympy

    view = to_sympy(as_node(tree))
    value = view.subs({symbol: POINT[symbol.name] for symbol in view.free_symbols})
    assert close(complex(value), as_number(tree, POINT))
    assert all(symbol == sympy.Symbol(symbol.name) for symbol in view.free_symbols)  # substitution by name finds it


def test_sympy_shapes() -> None:
    import sympy

    x, q1 = SYMBOLS["x"], SYMBOLS["q1"]
    assert to_sympy([x, 1]).shape == (2, 1) and to_sympy([[x, 1], [0, x]]).shape == (2, 2)
    assert to_sympy({"a": x})["a"] == sympy.Symbol("x")
    assert to_sympy(x / 3).args[0] == sympy.Rational(1, 3) and to_sympy(x * 0.1).args[0] == sympy.Float(0.1)
    pieces = to_sympy(select(x, q1.sign(), abs(x)))
    assert pieces.subs({"x": 1}) is not None and isinstance(pieces, sympy.Piecewise)


def test_gradient_refuses_what_it_cannot() -> None:
    from armdyn.errors import ArmdynError

    x, y = SYMBOLS["x"], SYMBOLS["y"]
    with pytest.raises(ArmdynError, match="one scalar"):
        gradient([x, y], x)
    with pytest.raises(ArmdynError, match="with respect to"):
        derivative(x * y, x * y)
    with pytest.raises(ArmdynError, match="cannot substitute"):
        substitute(x, {x: "y"})


def test_other_derivatives() -> None:
    x = SYMBOLS["x"]
    node = x.exp() * (x * x + 1).sqrt() * abs(x) + x.sign()
    value = evaluate(derivative(node, x), {"x": -0.4})
    step = evaluate(node, {"x": -0.4 + 1e-30j}).imag / 1e-30
    assert value == pytest.approx(step, rel=1e-13)


def test_common_factors_are_found_across_a_sum() -> None:
    (m1, m2, m3), (x, y, z) = symbols("m1 m2 m3", "parameter"), symbols("x y z")
    total = ((m1 * x + y * z) + m2 * x) - (z - m3 * x)
    counts = count_operations(factored(total))
    assert (counts.multiplications, counts.additions) == (2, 2)
    assert identical(factored(total), total)
    shared = [total, m1 * x]
    assert count_operations(factored(shared)).total < count_operations(shared).total
    assert identical(factored(shared), shared)
