"""atan2 as a node: values, derivative, spelling, and the arithmetic that machine code executes instead of it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy

from armdyn.algebra import ops
from armdyn.algebra.dual import Dual
from armdyn.errors import ArmdynError
from armdyn.graph import (
    constant,
    derivative,
    evaluate,
    gradient,
    latex,
    numeric,
    symbols,
    to_float,
    to_sympy,
    trace,
    without_arctangents,
)
from armdyn.kernels import build

Y, X = symbols("y x")


def points(count=20_000):  # type: ignore[no-untyped-def]
    """Points in all directions and of all sizes, some on the axes, the diagonals and the ends of the reductions."""
    rng = np.random.default_rng(0)
    angle, size = rng.uniform(-np.pi, np.pi, count), 10.0 ** rng.uniform(-200, 200, count)
    some = np.stack([size * np.sin(angle), size * np.cos(angle)])
    special = np.arange(-8, 9) * np.pi / 8
    exact = np.array([[0, 0, 1, -1, 1, 1, -1, -1, 0], [1, -1, 0, 0, 1, -1, 1, -1, 0]], dtype=float)
    near = np.stack([np.sin(special), np.cos(special)])
    return np.concatenate([some, near, near * (1 + 1e-15), exact], axis=1)


def test_arithmetic_is_atan2_to_rounding() -> None:
    kernel = build(trace(lambda y, x: [a.atan2(b) for a, b in zip(y, x, strict=True)], {"y": 1, "x": 1}))
    y, x = points()
    found = kernel(y[:, None], x[:, None])[:, 0]
    assert np.abs(found - np.arctan2(y, x)).max() < 4.5e-16
    singles = [kernel([a], [b])[0] for a, b in zip(y[-40:], x[-40:], strict=True)]
    np.testing.assert_array_equal(singles, found[-40:])
    assert without_arctangents(trace(lambda y: y.sin(), {"y": None})).operations.trigonometric == 1


@pytest.mark.parametrize("broken", range(12))
def test_each_coefficient_counts(broken, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from armdyn.graph import arctangent

    wrong = list(arctangent.COEFFICIENTS)
    wrong[broken] *= 1 + 1e-4
    monkeypatch.setattr(arctangent, "COEFFICIENTS", tuple(wrong))
    expression = arctangent.arctangent_by_arithmetic(Y, X)
    y, x = points(2000)
    assert np.abs(evaluate(expression, {"y": y, "x": x}) - np.arctan2(y, x)).max() > 4.5e-16


def test_values_of_all_scalars() -> None:
    node = Y.atan2(X)
    assert evaluate(node, {"y": 1.0, "x": -1.0}) == math.atan2(1, -1)
    np.testing.assert_array_equal(evaluate(node, {"y": np.ones(2), "x": 2.0}), np.arctan2([1, 1], 2))
    assert evaluate(node, {"y": Fraction(0), "x": Fraction(3)}) == 0
    with pytest.raises(ArmdynError, match="no exact value"):
        evaluate(node, {"y": Fraction(1), "x": Fraction(3)})
    assert constant(0).atan2(1) is constant(0)
    assert to_float(numeric(node, {"y": 2, "x": 3})) == math.atan2(2, 3)
    assert ops.atan2(1.0, 2) == math.atan2(1, 2)
    assert ops.atan2(1, X) is constant(1).atan2(X)


def test_derivatives() -> None:
    node = (Y * Y).atan2(X.sin())
    at, h = {"y": 0.7, "x": 0.4}, 1e-6
    slopes = evaluate(derivative(node, (Y, X)), at)
    for name, slope, back in zip("yx", slopes, evaluate(gradient(node, (Y, X)), at), strict=True):
        ends = [evaluate(node, {**at, name: at[name] + sign * h}) for sign in (1, -1)]
        assert slope == pytest.approx((ends[0] - ends[1]) / (2 * h), abs=1e-9)
        assert back == pytest.approx(slope, abs=1e-15)
    dual = ops.atan2(Dual(0.49, 1.4, 1), Dual(math.sin(0.4), 0.0, 1))
    assert dual.dot == pytest.approx(slopes[0] * 1.4 / 1.4, abs=1e-12)


def test_spelling() -> None:
    node = Y.atan2(X) + 1
    assert str(node) == "atan2(y, x) + 1"
    assert latex(node) == r"\operatorname{atan2}\left(y,\, x\right) + 1"
    assert to_sympy(node) == sympy.atan2(*sympy.symbols("y x")) + 1
