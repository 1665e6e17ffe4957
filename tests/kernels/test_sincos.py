"""Sine and cosine of kernels against arithmetic with many digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from armdyn.graph import trace
from armdyn.kernels import build

mpmath = pytest.importorskip("mpmath")

ULPS = 1.5
"""Half a unit for the last rounding, half for the reduced angle, some for the polynomial."""


@pytest.fixture(scope="module")
def sincos() -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    kernel = build(trace(lambda x: [x[0].sin(), x[0].cos()], {"x": 1}))

    def call(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        batch = kernel(x[:, None])
        singles = np.array([kernel(x[i : i + 1]) for i in range(0, len(x), 7)])
        np.testing.assert_array_equal(batch[::7], singles)
        return batch[:, 0], batch[:, 1]

    return call


def errors(x: np.ndarray, found: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    """Largest error, absolute and in units in the last place."""
    absolute = relative = 0.0
    with mpmath.workprec(1200):
        for i, angle in enumerate(map(float, x)):
            for value, right in zip((found[0][i], found[1][i]), (mpmath.sin(angle), mpmath.cos(angle)), strict=True):
                error = abs(mpmath.mpf(float(value)) - right)
                absolute = max(absolute, float(error))
                relative = max(relative, float(error / math.ulp(float(right))))
    return absolute, relative


RANGES = {
    "one turn": lambda rng: rng.uniform(-math.pi, math.pi, 400),
    "tiny": lambda rng: rng.choice([-1, 1], 200) * 10.0 ** rng.uniform(-300, -3, 200),
    "denormal": lambda rng: rng.integers(1, 2**40, 100) * 5e-324,
    "many turns": lambda rng: rng.uniform(-1e4, 1e4, 300),
    "to the limit": lambda rng: rng.uniform(-(2.0**30), 2.0**30, 400),
    "beside the limit": lambda rng: 2.0**30 + np.arange(-50, 50) * 2.0**-22,
    "beside quarter turns": lambda rng: np.concatenate(
        [np.nextafter(k * (math.pi / 2), side) for k in [rng.integers(1, 6e8, 100).astype(float)] for side in (0, 1e12)]
    ),
    "on quarter turns": lambda rng: rng.integers(-1000, 1000, 200) * (math.pi / 2),
    "huge": lambda rng: rng.choice([-1, 1], 200) * 10.0 ** rng.uniform(9, 300, 200),
    "largest": lambda rng: np.array([1.7976931348623157e308, 2.0**1023, 6381956970095103 * 2.0**797]),
}


@pytest.mark.parametrize("name", RANGES)
def test_error_is_about_one_unit_in_the_last_place(
    name: str, sincos: Callable[..., tuple[np.ndarray, np.ndarray]]
) -> None:
    x = RANGES[name](np.random.default_rng(0))
    absolute, relative = errors(x, sincos(x))
    assert absolute <= 2.3e-16
    if name != "largest":  # there the C library decides, and beside a multiple of pi/2 some are a few units off
        assert relative <= ULPS


def test_zero_keeps_its_sign(sincos: Callable[..., tuple[np.ndarray, np.ndarray]]) -> None:
    sine, cosine = sincos(np.array([0.0, -0.0] * 4))
    assert not sine.any() and (cosine == 1).all()
    np.testing.assert_array_equal(np.copysign(1.0, sine), [1.0, -1.0] * 4)


def test_infinity_and_nan_give_nan(sincos: Callable[..., tuple[np.ndarray, np.ndarray]]) -> None:
    with np.errstate(invalid="ignore"):
        sine, cosine = sincos(np.array([np.inf, -np.inf, np.nan, 0.5, np.inf, 1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(np.isnan(sine), [1, 1, 1, 0, 1, 0, 0, 0])
    np.testing.assert_array_equal(np.isnan(cosine), [1, 1, 1, 0, 1, 0, 0, 0])
    assert sine[3] == pytest.approx(math.sin(0.5), abs=1e-16)


def test_infinity_is_an_invalid_value_as_for_numpy() -> None:
    kernel = build(trace(lambda x: [x[0].sin()], {"x": 1}))
    with pytest.warns(RuntimeWarning, match="invalid value"):
        kernel(np.full((3, 1), np.inf))
    assert np.isnan(kernel(np.full((3, 1), np.nan))).all()


@pytest.mark.parametrize("joint", range(5))
def test_huge_angles_of_one_joint_leave_the_others_alone(joint: int) -> None:
    kernel = build(trace(lambda q: [q[i].sin() for i in range(5)], {"q": 5}))
    q = np.random.default_rng(1).uniform(-3, 3, (40, 5))
    wild = q.copy()
    wild[::3, joint] = 1e200
    expected = kernel(q)
    expected[::3, joint] = math.sin(1e200)
    np.testing.assert_array_equal(kernel(wild), expected)


def test_angles_that_depend_on_angles() -> None:
    kernel = build(trace(lambda x: [(3 * x[0].sin() + x[1]).cos(), ((x[0] * x[1]).cos() * 2e9).sin()], {"x": 2}))
    x = np.random.default_rng(2).uniform(-3, 3, (30, 2))
    expected = np.stack([np.cos(3 * np.sin(x[:, 0]) + x[:, 1]), np.sin(np.cos(x[:, 0] * x[:, 1]) * 2e9)], -1)
    np.testing.assert_allclose(kernel(x)[:, 0], expected[:, 0], atol=1e-14)
    np.testing.assert_allclose(kernel(x)[:, 1], expected[:, 1], atol=1e-6)  # 2e9 times the rounding of the cosine
    np.testing.assert_array_equal([kernel(row) for row in x], kernel(x))
