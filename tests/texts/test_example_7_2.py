"""Example 7.2 of Siciliano against an engine; what the text says about fig. 7.5-7.11 are items of armdyn.texts."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.texts.siciliano.example_7_2 import MOTIONS, example_7_2


@pytest.mark.parametrize("name", MOTIONS)
def test_torques_are_those_of_an_engine_with_rotors_as_bodies(name: str) -> None:
    pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
    from physics.engine import torques

    parts = example_7_2(name, dt=0.02)
    robot = armdyn.load("planar2r")
    other = np.array([torques(robot, *sample) for sample in zip(parts.q, parts.qd, parts.qdd, strict=True)])
    assert np.abs(parts.tau - other).max() < 1e-10 * np.abs(other).max()
