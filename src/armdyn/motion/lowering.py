"""Accelerations of a motion lowered until its torques keep their limits."""

from __future__ import annotations

from collections.abc import Callable

from armdyn.dynamics import Dynamics
from armdyn.motion.verdict import feasibility
from armdyn.robot.limits import MotionLimits
from armdyn.trajectory.trajectory import Trajectory

LESS = 0.8
"""Factor between two trials."""
LEAST_SHARE = 0.01


def lowered(
    dyn: Dynamics, planned: Callable[[float], Trajectory], limits: MotionLimits, least: float = LEAST_SHARE
) -> tuple[Trajectory, float]:
    """Return the motion with the largest accelerations that keep the torque limits, and their share.

    Accelerations that follow from torque limits over inertias leave no torque for weight and velocities.

    Args:
        dyn:     dynamics of the robot.
        planned: motion with a share, from 1 down, of its accelerations.
        limits:  of the joints.
        least:   smallest share that is tried; torques may exceed their limits then (default: 0.01).
    """
    share = 1.0
    motion = planned(share)
    while share > least and (feasibility(dyn, motion, limits=limits).use["torque"] > 1).any():
        share *= LESS
        motion = planned(share)
    return motion, share
