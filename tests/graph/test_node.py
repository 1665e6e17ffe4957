"""Birth, identity and folding of expression nodes."""

from __future__ import annotations

import copy
import gc
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from armdyn.errors import ArmdynError
from armdyn.graph import PI, Node, constant, quarter_turns, select, symbol, symbols
from armdyn.graph.node import _TABLE

x, y, z = symbols("x y z")


def test_equal_expressions_are_one_object() -> None:
    assert x * y + z is z + y * x
    assert (x + y).sin() is (y + x).sin()
    assert symbol("x") is x
    assert symbol("x", "parameter") is not x


def test_nodes_are_immutable() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        x.op = "add"
    with pytest.raises(AttributeError, match="immutable"):
        del x.op


def test_zeros_and_ones_vanish() -> None:
    assert x + 0 is x and 0 + x is x and x - 0 is x and x + 0.0 is x
    assert x * 1 is x and 1.0 * x is x and x / 1 is x
    assert x * 0 is constant(0) and x - x is constant(0) and 0 / x is constant(0)
    negative = -x
    assert x * -1 is negative and -negative is x and x / x is constant(1)
    assert x + x is 2 * x and x + 2 * x is 3 * x and 3 * x - 3 * x is constant(0)


def test_differences_have_one_orientation() -> None:
    assert -(x - y) is y - x
    assert {(x - y).op, (y - x).op} == {"sub", "neg"}
    assert (x - y) + y is x and (x + y) - x is y and x - (x - y) is y and (x - y) - x is -y
    assert x - (x + y) is -y


def test_signs_leave_products() -> None:
    assert (-x) * y is -(x * y) and (-x) * (-y) is x * y and (-x) / y is -(x / y)
    assert x + (-2) * y is x - 2 * y and (-x) + (-y) is -(x + y)


def test_constants_gather() -> None:
    assert 2 * (3 * x) is 6 * x and (x + 2) + 3 is x + 5 and (x - 2) + 3 is x + 1 and 1 - (x + 1) is -x
    assert (x / 3) * 3 is x
    assert constant(1) / 3 is constant(Fraction(1, 3))
    assert (constant(1) / 3 + constant(0.5)).value == pytest.approx(5 / 6)


def test_off_line_divisors_become_factors() -> None:
    m = symbol("m", "parameter")
    assert (x / m).op == "mul" and (x * m) / m is x and (m / x).op == "div"


def test_powers_are_products() -> None:
    assert x**2 is x * x and x**4 is (x * x) * (x * x) and x**0 is constant(1) and x**-2 is 1 / (x * x)
    with pytest.raises(TypeError):
        x**0.5


def test_numpy_scalars_are_numbers() -> None:
    assert np.float64(2) * x is 2 * x and x * np.int64(3) is 3 * x and np.float32(0.5) + x is x + 0.5
    assert type(np.float64(2) * x) is Node


def test_arrays_work_element_by_element() -> None:
    objects = np.array([x, y], dtype=object)
    for product in (objects * z, z * objects, np.array([2.0, 3.0]) * z, z * np.array([2.0, 3.0])):
        assert product.dtype == object and product.shape == (2,)
    assert (objects * z)[1] is y * z and (np.array([2.0, 3.0]) * z)[1] is 3 * z
    assert objects @ objects is x * x + y * y
    assert np.sin(objects)[0] is x.sin()


def test_no_truth_value() -> None:
    with pytest.raises(ArmdynError, match="select"):
        bool(x)
    assert (x == y) is False and x != y


def test_refused_operands() -> None:
    with pytest.raises(TypeError):
        x + "a"
    with pytest.raises(TypeError):
        x * 1j
    with pytest.raises(ArmdynError, match="finite"):
        x * math.nan
    with pytest.raises(ArmdynError, match="division by zero"):
        x / 0
    with pytest.raises(ArmdynError, match="kind"):
        symbol("a", "thing")
    with pytest.raises(ArmdynError, match="negative"):
        constant(-1).sqrt()


def test_functions_fold() -> None:
    assert constant(Fraction(4, 9)).sqrt() is constant(Fraction(2, 3)) and constant(2).sqrt().op == "sqrt"
    assert (-x).sign() is -x.sign() and (-x).abs() is x.abs() and abs(x) is x.abs()
    assert select(constant(-1), x, y) is y and select(x, y, y) is y and x.select(1, 2).op == "select"
    assert constant(0).exp() is constant(1)


def test_quarter_turns() -> None:
    assert (x + PI / 2).sin() is x.cos() and (x + PI).cos() is -x.cos() and (x - PI / 2).cos() is x.sin()
    assert (x + math.pi / 2).sin() is x.cos() and (x - 3 * math.pi / 2).sin() is x.cos()
    assert (PI / 2).cos() is constant(0) and constant(math.pi).cos() is constant(-1)
    assert (-x).sin() is -x.sin() and (-x).cos() is x.cos()
    assert (PI / 6).sin() is constant(Fraction(1, 2)) and (PI / 4).sin().op == "sin"
    assert constant(1.5708).cos() is not constant(0)
    assert quarter_turns(x) is None


def test_an_angle_has_one_form() -> None:
    built = [(x + y - z).cos(), (x - (z - y)).cos(), (z - y - x).cos(), (y - z + 2 * x - x).cos()]
    assert len(set(built)) == 1
    assert (2 * (x + y)).sin() is (2 * x + 2 * y).sin() and (0.5 * x).sin() is (x / 2).sin()


def test_memory_is_freed() -> None:
    gc.collect()
    before = len(_TABLE)
    kept = [(x + i).sin() * (y + i) for i in range(2, 50)]
    assert len(_TABLE) > before + 100
    del kept
    gc.collect()
    assert len(_TABLE) <= before


def test_copies_and_pickles_are_the_same_object() -> None:
    expression = (x * y + 2).sin() / (z - Fraction(1, 3)) + PI * symbol("m", "parameter")
    assert copy.deepcopy([expression])[0] is expression
    assert pickle.loads(pickle.dumps(expression)) is expression


def test_deep_expressions_do_not_recurse() -> None:
    deep = x
    for i in range(5000):
        deep = (deep * y + z * (i + 2)).sin() if i % 2 else deep * z - y
    assert "nodes" in repr(deep)
    assert pickle.loads(pickle.dumps(deep)) is deep
