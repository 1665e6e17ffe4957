"""The motion of a study: all joints through their ranges and back, within the robot's limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion import Infeasible, feasibility, motion_limits, scale_to_torque
from armdyn.robot.limits import careful_rates, working_range
from armdyn.trajectory import concatenate, point_to_point
from armdyn.trajectory.trajectory import Trajectory

GOLDEN = (5**0.5 - 1) / 2
SHARE = 0.5
"""Share of the limits of velocity and acceleration that the motion uses."""


@dataclass(frozen=True, eq=False)
class UsualMotion:
    """The motion, and how its speed was chosen."""

    trajectory: Trajectory
    speed: str


def usual_motion(dyn: Dynamics) -> UsualMotion:
    """All joints around the middle of their ranges and back, neighbours in opposite directions.

    At half of the robot's limits of velocity and acceleration; slower where the torques would exceed their limits.
    """
    robot = dyn.robot
    low, high = working_range(robot, one_turn=True)
    numbers = np.arange(robot.n)
    turn = np.where(numbers % 2, -1.0, 1.0)
    swing = (high - low) / 4 * (1 - (numbers * GOLDEN % 1) / 2)  # no two joints by the same amount
    middle = (low + high) / 2
    begin, end = middle - turn * swing, middle + turn * swing
    limits = motion_limits(robot)
    careful = careful_rates(robot)
    v_max = np.where(np.isfinite(limits.velocity), SHARE * limits.velocity, careful[0])
    a_max = np.where(np.isfinite(limits.acceleration), SHARE * limits.acceleration, careful[1])
    there = point_to_point(begin, end, "quintic", v_max=v_max, a_max=a_max)
    back = point_to_point(end, begin, "quintic", duration=there.duration)
    cycle: Trajectory = concatenate(there, back)
    given = np.isfinite(limits.velocity).any() or np.isfinite(limits.acceleration).any()
    speed = "at half of the velocity and acceleration limits" if given else "at a moderate speed"
    if not np.isfinite(limits.tau_max).any() or feasibility(dyn, cycle).use["torque"].max() <= 1:
        return UsualMotion(cycle, speed)
    try:
        slower = scale_to_torque(cycle, dyn)
    except Infeasible as error:
        return UsualMotion(cycle, f"{speed}, although the torques exceed their limits ({error.what})")
    return UsualMotion(slower, f"slowed down so that the torque of {slower.joint} stays within its limit")
