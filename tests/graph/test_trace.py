"""Traces, operation counts and evaluation on hand-made examples."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import (
    PI,
    Operations,
    RationalAngle,
    angle_folding,
    constant,
    count_operations,
    evaluate,
    folded_angles,
    named,
    numeric,
    select,
    split_angles,
    symbol,
    symbols,
    to_float,
    trace,
)
from armdyn.mechanics import kinematics

x, y, a, b = symbols("x y a b")


def test_shared_parts_count_once() -> None:
    shared = x * y
    counts = count_operations((shared + a, shared - b, -shared))
    assert counts == Operations(multiplications=1, additions=2, negations=1, offline=Operations())
    assert counts.total == 3


def test_both_orientations_of_a_difference_cost_one_addition() -> None:
    assert count_operations(((x - y) * a, (y - x) * b)).additions == 1
    assert count_operations(x - y).negations == count_operations(y - x).negations == 0
    assert count_operations((x - y, y - x)).negations == 1


def test_operations_on_parameters_are_apart() -> None:
    m, length = symbols("m l", "parameter")
    counts = count_operations(m * length * length * x + y / m)
    assert (counts.multiplications, counts.additions, counts.divisions) == (2, 1, 0)
    assert counts.offline == Operations(multiplications=2, divisions=1)
    assert "off-line: 2 multiplications, 1 division" in str(counts)


def test_every_kind_of_operation_is_counted() -> None:
    counts = count_operations(x.sin() + x.cos() + x.sqrt() + select(x, x.sign(), x.abs()) / y)
    assert (counts.trigonometric, counts.square_roots, counts.others, counts.divisions) == (2, 1, 3, 1)


def test_dead_code_is_not_there() -> None:
    graph = trace(lambda x, y: (x * y, x.sin())[0], {"x": None, "y": None})
    assert [node.op for node in graph.nodes] == ["symbol", "symbol", "mul"]


def test_rotations_about_parallel_axes_collapse() -> None:
    c, s, d, t = x.cos(), x.sin(), y.cos(), y.sin()
    assert c * d - s * t is (x + y).cos() and s * d + c * t is (x + y).sin()
    assert s * t - c * d is -(x + y).cos() and s * t + c * d is (x - y).cos() and s * d - c * t is (x - y).sin()
    assert a * c * c + s * (a * s) is a and 2 * c * c + 2 * s * s is constant(2)
    assert (a * c) * d - t * (a * s) is a * (x + y).cos()
    angle = x + y
    assert angle.cos() * d + angle.sin() * t is c, "the difference of sums is found too"
    assert (c * c - s * s).op in ("sub", "neg"), "no double angles"
    assert (c * angle.sin() + s * angle.cos()).op == "add", "nor any other multiple"
    assert (a * c * d - b * s * t).trig == 0, "different factors stay apart"


def test_angle_folding_can_be_switched_off() -> None:
    def product(u, v):  # type: ignore[no-untyped-def]
        return u.cos() * v.cos() - u.sin() * v.sin()

    inputs = {"u": None, "v": None}
    assert trace(product, inputs).operations.multiplications == 0
    assert trace(product, inputs, fold_angles=False).operations.multiplications == 2
    with angle_folding(False):
        assert (x.cos() * x.cos() + x.sin() * x.sin()).op == "add"


def test_inputs_and_outputs() -> None:
    graph = trace(
        lambda q, A, m: {"s": m * q[0], "v": np.array([[A[0][1], 1], [q[1], 0.5]])}, {"q": 2, "A": (2, 2), "m": None}
    )
    result = graph(q=[1.0, 2.0], A=np.arange(4.0).reshape(2, 2), m=3)
    assert result == {"s": 3.0, "v": ((1.0, 1), (2.0, 0.5))}
    batch = graph(q=np.ones((5, 2)), A=np.ones((5, 2, 2)), m=np.arange(5.0))
    np.testing.assert_allclose(batch["s"], np.arange(5.0))
    assert "q, A, m -> s, v" in repr(graph)


def test_wrong_inputs_are_named() -> None:
    graph = trace(lambda q: q[0] * symbol("m", "parameter"), {"q": 2})
    assert [node.value for node in graph.parameters] == ["m"]
    assert graph(q=(2, 0), m=3) == 6
    with pytest.raises(ArmdynError, match="missing inputs \\['m'\\], unknown inputs \\['p'\\]"):
        graph(q=(1, 2), p=1)
    with pytest.raises(ShapeError, match=r"input 'q'.*Expected: 2 components"):
        graph(q=(1, 2, 3), m=1)
    with pytest.raises(ArmdynError, match="twice"):
        trace(lambda u, v: u, {"u": x, "v": x})
    with pytest.raises(ArmdynError, match="found str"):
        trace(lambda u: [u, "a"], {"u": None})
    with pytest.raises(ArmdynError, match="no value for symbol 'y'"):
        evaluate(x + y, {"x": 1})


def test_evaluation_over_many_scalars() -> None:
    expression = x * y.sin() - y.cos() / x + (x * x).sqrt() + select(x - 1, x, -x) + Fraction(1, 3)
    at = {"x": 0.7, "y": 0.3}
    value = 0.7 * math.sin(0.3) - math.cos(0.3) / 0.7 + 0.7 - 0.7 + 1 / 3
    assert evaluate(expression, at) == pytest.approx(value, rel=1e-14)
    arrays = evaluate(expression, {"x": np.array([0.7, 1.7]), "y": np.array([0.3, 0.3])})
    assert arrays[0] == pytest.approx(value, rel=1e-14) and arrays.shape == (2,)
    step = evaluate(expression, {"x": 0.7 + 1e-30j, "y": 0.3})
    assert step.imag / 1e-30 == pytest.approx(math.sin(0.3) + math.cos(0.3) / 0.49 + 1 - 1, rel=1e-12)


@pytest.mark.parametrize("rational", [Fraction, fmpq])
def test_exact_evaluation(rational) -> None:  # type: ignore[no-untyped-def]
    q, r = RationalAngle(rational(1, 2)), RationalAngle(rational(-2, 3))
    values = {"x": q, "y": r, "a": rational(3, 7)}
    folded = a * (x + y + PI / 2).sin() + a / 4 + 0.5
    by_hand = rational(3, 7) * (q.cos() * r.cos() - q.sin() * r.sin()) + rational(3, 28) + rational(1, 2)
    result = evaluate(folded, values)
    assert result == by_hand and type(result) is rational
    assert evaluate((2 * x - y).cos(), values) == (2 * q - r).cos()
    with pytest.raises(ArmdynError, match="exact angle"):
        evaluate(a * x, values)
    with pytest.raises(ArmdynError, match="no exact value"):
        evaluate(a.sin(), values)
    with pytest.raises(ArmdynError, match="not rational"):
        evaluate((x + PI / 5).sin(), values)


def test_rational_angles() -> None:
    q = RationalAngle(Fraction(1, 3))
    assert q.cos() ** 2 + q.sin() ** 2 == 1
    assert (q + math.pi / 2).cos() == -q.sin() and (math.pi - q).sin() == q.sin() and (q + PI).cos() == -q.cos()
    assert q + 0 == q and q - q == RationalAngle(0) and -q + q == RationalAngle(0)
    assert hash(q + 0) == hash(q) and "cos=4/5" in repr(q)
    for bad in (lambda: q + 0.3, lambda: q + 1, lambda: q * 0.5, lambda: RationalAngle(0.5)):
        with pytest.raises(ArmdynError):
            bad()


def test_plain_numbers_of_parameter_expressions() -> None:
    length = symbol("l1", "parameter")
    values = [
        to_float(e, {"l1": 2}) for e in (length - 2, length / 2, length / 4, length * 0.1, -PI / 2, length / length)
    ]
    assert values == [0, 1, 0.5, 0.2, -math.pi / 2, 1]
    assert [type(v) for v in values] == [int, int, float, float, float, int]
    assert (
        to_float(2 * PI / 3) == 2 * math.pi / 3
        and to_float(0.25) == 0.25
        and to_float((PI / 5).cos()) == math.cos(math.pi / 5)
    )
    with pytest.raises(ArmdynError, match="cannot evaluate"):
        to_float(1 / (length - 2), {"l1": 2})
    with pytest.raises(ArmdynError, match="cannot evaluate"):
        to_float((length - 3).sqrt(), {"l1": 2})
    with pytest.raises(ArmdynError, match="no value"):
        to_float(length)


def test_names_stay_with_their_trace() -> None:
    graph = trace(lambda u: named(u * u, "W", 1, 2) + named(u * u * u, "a b", 10, 2) + named(3, "n"), {"u": None})
    assert sorted(graph.names.values()) == ["W12", "a_b_10_2"]
    assert not trace(lambda u: u * u, {"u": None}).names
    assert named(x * x, "W") is x * x


def test_programs_read_and_run() -> None:
    m = symbol("m", "parameter")

    def function(q, v):  # type: ignore[no-untyped-def]
        c, s = q[1].cos(), (q[1] + q[0]).sin()
        w = named(m * c * v[0] - s, "W", 1)
        return {"tau": (w * w + s * c, -(w - c) / 3), "e": select(w, w.sign(), abs(s)) + (v[1] * v[1]).sqrt().exp()}

    graph = trace(function, {"q": 2, "v": 2})
    text = graph.program()
    assert (
        "C2 = cos(q2)" in text and "S12 = sin(q1 + q2)" in text and "W1 = C2*m*v1 - S12" in text.replace("m*C2", "C2*m")
    )
    scope: dict[str, object] = {}
    exec(graph.program("python"), scope)
    values = {"q": (0.3, 0.4), "v": (1.5, -2.0), "m": 0.7}
    ran, expected = scope["function"](**values), graph(**values)  # type: ignore[operator]
    assert ran["e"] == pytest.approx(expected["e"], rel=1e-14)
    assert ran["tau"] == pytest.approx(expected["tau"], rel=1e-14)
    with pytest.raises(ArmdynError, match="unknown program style"):
        graph.program("fortran")


def test_passes_apply_to_graphs() -> None:
    graph = trace(lambda u, v: {"w": (named((u + v).sin() * v, "W", 1), u)}, {"u": None, "v": None})
    split = graph.mapped(split_angles)
    assert split.operations.trigonometric == 4 and split.inputs == graph.inputs and list(split.outputs) == ["w"]
    assert split(u=0.3, v=0.4)["w"] == pytest.approx(graph(u=0.3, v=0.4)["w"], rel=1e-15)
    fixed = graph.mapped(lambda outputs: numeric(outputs, {"u": 0.3}))
    assert fixed(u=0.0, v=0.4)["w"] == pytest.approx(graph(u=0.3, v=0.4)["w"], rel=1e-15)


@pytest.mark.parametrize("name", ["scara5", "planar3r", "puma560", "ur5"])
def test_folding_a_graph_gives_what_a_folding_trace_gives(name: str) -> None:
    robot = armdyn.load(name)

    def pose(q: Any) -> Any:
        return kinematics.pose.formula(robot, q).array()

    plain, folded = (trace(pose, {"q": robot.n}, fold_angles=fold) for fold in (False, True))
    assert dict(plain.outputs) != dict(folded.outputs)  # there is something to fold
    assert dict(plain.mapped(folded_angles).outputs) == dict(folded.outputs)  # the very same nodes
