"""Robots and paths that the tests of motion share."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import armdyn


@lru_cache
def compiled(name: str) -> armdyn.Dynamics:
    return armdyn.compile(armdyn.load(name))


def slider(friction: dict[str, Any] | None = None, gravity: float = 0.0, mass: float = 2.0) -> armdyn.Robot:
    """A mass on a vertical slide: the double integrator, with a weight and friction if wanted."""
    row: dict[str, Any] = {"name": "slide", "type": "prismatic", "mass": mass, "com": [0, 0, 0], "inertia": [0] * 6}
    row |= {"theta": 0, "d": 0, "a": 0, "alpha": 0} | ({"friction": friction} if friction else {})
    return armdyn.Robot.from_dh([row], gravity=(0, 0, -gravity))


def waypoints(name: str, seed: int, count: int = 5) -> np.ndarray:
    """Random joint positions, in the middle of the joints' ranges (of five radians at most)."""
    limits = armdyn.motion.motion_limits(armdyn.load(name))
    low, high = np.maximum(limits.lower, -2.5), np.minimum(limits.upper, 2.5)
    return low + (high - low) * (0.2 + 0.6 * np.random.default_rng(seed).random((count, len(low))))
