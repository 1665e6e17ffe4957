"""Derivatives by the inputs, as frameworks take them: against differences of the function and of its slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.differentials import Differential, arguments_of, check_shapes, definition_of
from armdyn.errors import ShapeError, UnknownName
from armdyn.typing import Array

STEP, SAME = 1e-5, 2e-7
"""Step of central differences, and their error against the largest entry: about the square of the step."""


@pytest.fixture(scope="module")
def dyn() -> armdyn.Dynamics:
    return armdyn.compile(armdyn.load("three_link"))


def results(part: Any, values: list[Array], *weights: Array) -> tuple[Array, ...]:
    found = part.program(*(([*values, *weights])[i] for i in part.takes))
    return found if isinstance(found, tuple) else (found,)


def slopes(differential: Differential, values: list[Array]) -> dict[int, Array]:
    """By place of the input, (size, size of the input)."""
    found: dict[int, Array] = {}
    for part in differential.slopes:
        found |= dict(zip(part.gives, results(part, values), strict=True))
    return found


def moved(values: list[Array], place: int, k: int, by: float) -> list[Array]:
    return [value + by * np.eye(len(value))[k] if i == place else value for i, value in enumerate(values)]


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis"])
def test_slopes_and_curvature(dyn: armdyn.Dynamics, name: str) -> None:
    differential, rng = Differential(dyn, name), np.random.default_rng(3)
    values = [rng.uniform(-1, 1, size) for size in differential.sizes]
    weights = rng.uniform(-1, 1, differential.size)

    def value(at: list[Array]) -> Array:
        return np.concatenate([part.ravel() for part in results(differential.value, at)])

    first = slopes(differential, values)
    assert sorted(first) == list(range(len(values)))
    for place, slope in first.items():
        for k in range(differential.sizes[place]):
            there, back = (value(moved(values, place, k, by)) for by in (STEP, -STEP))
            np.testing.assert_allclose(slope[:, k], (there - back) / (2 * STEP), atol=SAME * np.abs(slope).max())
    part = differential.curvature
    second = dict(zip(part.gives, results(part, values, weights), strict=True))
    scale = max(np.abs(each).max() for each in second.values())
    for a in range(len(values)):
        for b in range(a, len(values)):
            expected = np.zeros((differential.sizes[a], differential.sizes[b]))
            for k in range(differential.sizes[b]):
                there, back = (weights @ slopes(differential, moved(values, b, k, by))[a] for by in (STEP, -STEP))
                expected[:, k] = (there - back) / (2 * STEP)
            found = second.get((a, b), np.zeros_like(expected))
            np.testing.assert_allclose(found, expected, atol=SAME * max(scale, 1.0))


def test_arguments_in_order_and_by_name(dyn: armdyn.Dynamics) -> None:
    definition = definition_of(dyn, "jacobian_dot_qd")
    assert arguments_of(definition, [1], {"qd": 2}, "here") == ([1, 2], None)
    assert arguments_of(definition, [1, 2], {"frame": "tool"}, "here") == ([1, 2], None)
    assert arguments_of(definition, [], {"qd": 2, "q": 1, "frame": "wrist"}, "here") == ([1, 2], "wrist")
    assert arguments_of(definition, [1, 2, "wrist"], {}, "here") == ([1, 2], "wrist")
    for given, problem in (([1], "missing arguments: qd"), ([1, 2, "wrist", 3], "4 arguments")):
        with pytest.raises(ShapeError, match=problem):
            arguments_of(definition, given, {}, "here")
    with pytest.raises(ShapeError, match="q is given twice"):
        arguments_of(definition, [1], {"q": 1}, "here")
    with pytest.raises(UnknownName, match="speed"):
        arguments_of(definition, [1], {"speed": 1}, "here")
    with pytest.raises(UnknownName, match="wrench"):  # which frameworks do not differentiate
        arguments_of(definition_of(dyn, "inverse_dynamics"), [1, 2, 3], {"wrench": 4}, "here")


def test_the_last_axis_is_that_of_the_input() -> None:
    check_shapes(("q", "qd"), (3, 2), (np.zeros((5, 3)), np.zeros(2)), "here")
    for array in (np.zeros((3, 5)), np.array(1.0), np.zeros(2)):
        with pytest.raises(ShapeError, match="q has shape"):
            check_shapes(("q",), (3,), (array,), "here")
