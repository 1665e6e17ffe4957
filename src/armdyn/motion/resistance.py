"""What speed takes from the torques: friction, and what actuators lose."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.robot.limits import MotionLimits
from armdyn.typing import Array

Reserve = Callable[[Array], Array]
"""Torques, (..., n) or one number, to stay away from the limits at path parameters (...)."""


def none_reserved(s: Array) -> Array:
    """Return no reserve."""
    return np.zeros(())


def rubs(dyn: Dynamics) -> bool:
    """Return whether a joint or its motor has friction."""
    return any(joint.friction is not None or joint.motor is not None for joint in dyn.robot.tree)


def resistance_of(dyn: Dynamics, limits: MotionLimits) -> Callable[[Array], Array]:
    """Return what speed takes from the torques, (2, ..., n) of velocities (..., n): on the upper and the lower limit.

    Friction, and what the actuators lose: tau <= T share(qd) is tau + T (1 - share(qd)) <= T.
    """
    rubbing = rubs(dyn)

    def both(qd: Array) -> Array:
        friction = dyn.friction(qd) if rubbing else np.zeros(qd.shape)
        if limits.curve is None:
            return np.broadcast_to(friction, (2, *friction.shape))
        low, high = limits.torques(qd)
        with np.errstate(invalid="ignore"):
            lost = np.nan_to_num(limits.tau_max - high), np.nan_to_num(limits.tau_min - low)  # inf - inf: no limit
        return np.stack([friction + lost[0], friction + lost[1]])

    return both


def torque_scale(limits: MotionLimits) -> Array:
    """Return half of the range of every torque, (n,), or its only limit; infinite without limits."""
    half = 0.5 * (limits.tau_max - limits.tau_min)
    largest = np.maximum(np.abs(limits.tau_max), np.abs(limits.tau_min))
    return np.where(np.isfinite(half), half, np.where(np.isfinite(largest), largest, np.inf))
