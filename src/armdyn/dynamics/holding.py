"""The torques that hold a robot at rest."""

from __future__ import annotations

from armdyn.dynamics.facade import Dynamics
from armdyn.robot.features import PASSIVE
from armdyn.typing import Array


def holding_torques(dyn: Dynamics, q: Array) -> Array:
    """Return the torques that hold the robot at rest, (..., n) N m or N: gravity, springs and counterbalances.

    dyn: of the robot.
    q:   (..., n) joint positions, rad or m.
    """
    gravity: Array = dyn.gravity(q)
    return gravity + dyn.springs(q) if dyn.robot.features.keys() & PASSIVE else gravity
