"""Angles as pairs of cosine and sine."""

from __future__ import annotations

import math

import numpy as np
import pytest

from armdyn.mechanics.angle_pair import AnglePair


@pytest.mark.parametrize("angle", np.linspace(-3.1, 3.1, 14))
def test_the_angle_itself(angle: float) -> None:
    pair = AnglePair(math.cos(angle), math.sin(angle))
    assert pair.value() == pytest.approx(angle, abs=1e-15 * 8)  # units in the last place of pi
    assert pair * 2.5 == 2.5 * pair == pytest.approx(2.5 * angle, abs=1e-14)
    other = AnglePair(math.cos(0.7), math.sin(0.7))
    for found, expected in ((pair + other, angle + 0.7), (pair - other, angle - 0.7)):
        np.testing.assert_allclose([found.cos(), found.sin()], [math.cos(expected), math.sin(expected)], atol=1e-15)
