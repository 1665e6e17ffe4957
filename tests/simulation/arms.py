"""Arms and references that the tests of control and simulation share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import armdyn
from armdyn.robot import Robot

SLIDER = {"type": "prismatic", "alpha": 0, "mass": 2.0}


@cache
def dynamics(name: str) -> armdyn.Dynamics:
    return armdyn.compile(armdyn.load(name))


@cache
def random_dynamics(seed: int, n: int, friction: bool = False, prismatic: float = 0.3) -> armdyn.Dynamics:
    """A random arm: skew axes, tilted base, full inertias."""
    return armdyn.compile(armdyn.random_robot(seed, n, friction=friction, prismatic=prismatic))


def slider(friction: dict[str, float] | None = None, **more: Any) -> Robot:
    """A mass of 2 kg that slides along a horizontal line."""
    row = SLIDER | ({} if friction is None else {"friction": friction}) | more
    return Robot.from_dh([row], gravity=(-9.81, 0, 0), name="slider")


def pendulum(friction: dict[str, float] | None = None, **more: Any) -> Robot:
    """A point mass of 1 kg, 0.5 m from a horizontal axis; at q = 0 gravity pulls with 4.905 N m about -q."""
    row = {"type": "revolute", "a": 0.5, "mass": 1.0, "inertia": [0, 0, 0, 0, 0, 0]}
    row |= ({} if friction is None else {"friction": friction}) | more
    return Robot.from_dh([row], gravity=(0, -9.81, 0), name="bob")


class Wave:
    """Every joint on a sine of its own."""

    duration = 2.0

    def __init__(self, n: int, size: float = 0.4) -> None:
        self.w = 1.0 + 0.5 * np.arange(n)
        self.size = size

    def __call__(self, t: Any, order: int = 0) -> np.ndarray:
        phase = np.asarray(t, dtype=float)[..., None] * self.w + order * np.pi / 2
        return self.size * self.w**order * np.sin(phase)
