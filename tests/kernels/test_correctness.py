"""Kernels against the graph they come from, and against an engine that shares no code with us."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.graph import Graph, select, symbols, trace
from armdyn.kernels import Kernel, build
from armdyn.mechanics import composite_body, newton_euler
from armdyn.robot.random import random_robot

ROBOTS: dict[str, Any] = {
    "panda": lambda: armdyn.load("panda"),
    "ur5": lambda: armdyn.load("ur5"),
    "puma560": lambda: armdyn.load("puma560"),
    "scara5": lambda: armdyn.load("scara5"),
    "pendulum": lambda: armdyn.load("pendulum"),
    "tree": lambda: random_robot(8, 8, branching=0.5, prismatic=0.3, any_gravity=True),
    "skew": lambda: random_robot(9, 5, convention="free", fixed=0.3),
    "sliding": lambda: random_robot(6, 3, prismatic=1),
}
TOLERANCE = 1e-12


def inverse_dynamics(robot: Any) -> Graph:
    n = robot.n
    return trace(lambda q, qd, qdd: newton_euler.inverse_dynamics(robot, q, qd, qdd), {"q": n, "qd": n, "qdd": n})


def evaluated(graph: Graph, **values: np.ndarray) -> np.ndarray:
    """The graph's own values of a batch, component axes last."""
    batch = next(iter(values.values())).shape[0]
    return stacked(graph(**values), batch)


def stacked(result: Any, batch: int) -> np.ndarray:
    if isinstance(result, tuple):
        return np.moveaxis(np.array([np.moveaxis(stacked(part, batch), 0, -1) for part in result]), -1, 0)
    return np.broadcast_to(result, (batch,))


def assert_close(found: Any, expected: Any, tolerance: float = TOLERANCE) -> None:
    assert np.shape(found) == np.shape(expected)
    assert np.abs(found - expected).max() <= tolerance * max(np.abs(expected).max(), 1e-300)


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics_equals_the_graph(name: str) -> None:
    robot = ROBOTS[name]()
    graph = inverse_dynamics(robot)
    kernel = build(graph, name)
    q, qd, qdd = np.random.default_rng(1).uniform(-4, 4, (3, 23, robot.n))
    assert_close(kernel(q, qd, qdd), evaluated(graph, q=q, qd=qd, qdd=qdd))


@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics_equals_pinocchio(name: str) -> None:
    from support import pinocchio_model as engine

    robot = ROBOTS[name]().without("friction").without("rotors")
    kernel = build(inverse_dynamics(robot), name)
    for q, qd, qdd in np.random.default_rng(2).uniform(-2, 2, (3, 3, robot.n)):
        assert_close(kernel(q, qd, qdd), engine.inverse_dynamics(robot, q, qd, qdd))


@pytest.mark.parametrize("name", ["panda", "tree"])
def test_mass_matrix_equals_the_graph(name: str) -> None:
    robot = ROBOTS[name]()
    graph = trace(lambda q: composite_body.mass_matrix(robot, q), {"q": robot.n})
    kernel = build(graph, "mass_matrix")
    assert kernel.signature == f"({robot.n})->({robot.n},{robot.n})"
    q = np.random.default_rng(3).uniform(-3, 3, (9, robot.n))
    M = kernel(q)
    assert_close(M, evaluated(graph, q=q))
    assert_close(kernel(q[4]), M[4], 0)


@pytest.mark.parametrize("lanes", [4, 8])
def test_a_sample_does_not_depend_on_its_batch(lanes: int) -> None:
    robot = ROBOTS["panda"]()
    kernel = build(inverse_dynamics(robot), lanes=lanes)
    assert kernel.lanes == lanes
    batch = np.random.default_rng(4).uniform(-3, 3, (3, 37, robot.n))
    whole = kernel(*batch)
    for size in (1, 2, 3, 5, 8, 9, 16, 17):
        np.testing.assert_array_equal(kernel(*batch[:, :size]), whole[:size])
    for i in range(37):
        np.testing.assert_array_equal(kernel(*batch[:, i]), whole[i])


def every_operation() -> Graph:
    def function(x: Any, y: Any, s: Any) -> dict[str, Any]:
        a, b, c = x
        return {
            "vector": [a + b, a - b, a * b, a / b, -(a * c), (a * a + 1).sqrt(), abs(b), b.sign(), c.exp()],
            "scalar": select(a - b, (a + s).sin(), (b * c).cos()),
            "matrix": [[y[0][0] * y[1][1] - y[0][1] * y[1][0], a * b - c], [c - a * b, (a.sin() * b).cos()]],
            "constant": [1, math.pi / 3, a],
        }

    return trace(function, {"x": 3, "y": (2, 2), "s": None})


def test_every_operation_and_several_outputs() -> None:
    graph = every_operation()
    kernel = build(graph, "everything")
    assert kernel.signature == "(3),(2,2),()->(9),(),(2,2),(3)"
    rng = np.random.default_rng(5)
    x, y, s = rng.normal(size=(11, 3)), rng.normal(size=(11, 2, 2)), rng.normal(size=11)
    expected = [stacked(part, 11) for part in graph(x=x, y=y, s=s).values()]
    found = kernel(x, y, s)
    assert isinstance(found, tuple) and len(found) == 4
    for part, right in zip(found, expected, strict=True):
        assert_close(part, right)
    one = kernel(x[2], y[2], float(s[2]))
    assert isinstance(one[1], np.float64)
    for part, right in zip(one, found, strict=True):
        np.testing.assert_array_equal(part, right[2])


def test_sign_and_select_at_the_edges() -> None:
    kernel = build(trace(lambda x: [x[0].sign(), select(x[0], 1, 2)], {"x": 1}))
    found = kernel(np.array([[2.0], [-3.0], [0.0], [-0.0], [np.nan], [np.inf], [-np.inf]]))
    np.testing.assert_array_equal(found[:, 0], [1, -1, 0, 0, np.nan, 1, -1])
    np.testing.assert_array_equal(found[:, 1], [1, 2, 1, 1, 2, 1, 2])


def test_only_scalars() -> None:
    kernel = build(trace(lambda a, b: a.sin() * b, {"a": None, "b": None}))
    a, b = np.random.default_rng(6).normal(size=(2, 5, 13))
    assert kernel.signature == "(),()->()"
    assert_close(kernel(a, b), np.sin(a) * b)
    assert_close(kernel(a, 2), np.sin(a) * 2)
    assert isinstance(kernel(0.5, 2.0), np.float64)
    values = a.copy()
    np.testing.assert_array_equal(kernel(values, b, out=values), kernel(a, b))


def test_outputs_that_are_inputs_or_constants() -> None:
    kernel = build(trace(lambda q: [q[1], 3, q[1], q[0]], {"q": 2}))
    np.testing.assert_array_equal(kernel([[1, 2], [3, 4]] * 5), [[2, 3, 2, 1], [4, 3, 4, 3]] * 5)


def test_large_matrices() -> None:
    size = 40  # too large to be copied together a block at a time
    kernel = build(trace(lambda q: [[q[i] * q[j] for j in range(size)] for i in range(size)], {"q": size}))
    q = np.random.default_rng(7).normal(size=(11, size))
    expected = q[:, :, None] * q[:, None, :]
    np.testing.assert_array_equal(kernel(q), expected)
    np.testing.assert_array_equal(kernel(np.asfortranarray(q)), expected)


def test_without_fused_operations(monkeypatch: pytest.MonkeyPatch) -> None:
    from armdyn.kernels import jit

    monkeypatch.setattr(jit, "has_fma", lambda: False)
    graph = trace(lambda x: [x[0].sin(), x[0].cos()], {"x": 1})
    x = np.random.default_rng(8).uniform(-1e6, 1e6, (1000, 1))
    found = build(graph, cache=False)(x)
    np.testing.assert_allclose(found, np.hstack([np.sin(x), np.cos(x)]), rtol=0, atol=2.3e-16)


def test_free_parameters_are_refused() -> None:
    (m,) = symbols("m1", "parameter")
    with pytest.raises(ArmdynError, match="free parameters: m1"):
        build(trace(lambda q: [m * q[0]], {"q": 1}))


def test_too_many_operations_are_refused() -> None:
    def long(x: Any) -> Any:
        total = x
        for i in range(26_000):
            total = total * x + (i + 0.5)
        return total

    with pytest.raises(ArmdynError, match="too many for straight-line code"):
        build(trace(long, {"x": None}))


@pytest.mark.parametrize("outputs", [[], [[1, 2], [3]], {"a": 1, "b": [1, 2]}])
def test_ragged_and_empty_outputs_are_refused(outputs: Any) -> None:
    graph = trace(lambda x: {"out": outputs}, {"x": 2})
    with pytest.raises(ShapeError, match="output 'out'"):
        build(graph)


@pytest.mark.parametrize("lanes", [0, 3, 16])
def test_unknown_lanes_are_refused(lanes: int) -> None:
    with pytest.raises(ArmdynError, match="lanes"):
        build(trace(lambda x: [x[0]], {"x": 2}), lanes=lanes)


def test_what_a_kernel_says_of_itself() -> None:
    kernel = build(inverse_dynamics(ROBOTS["ur5"]()), "ur5 tau")
    assert isinstance(kernel, Kernel)
    assert kernel.operations.multiplications > 100
    assert "ur5 tau (6),(6),(6)->(6)" in repr(kernel)
    assert "define void @loop" in kernel.source()
    assert kernel.call.__name__ == "ur5_tau"
