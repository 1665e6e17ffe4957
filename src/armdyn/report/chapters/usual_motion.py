"""The motion of a study: all joints through their ranges and back, within the robot's limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.motion import Infeasible, motion_limits, scale_to_torque
from armdyn.robot.limits import careful_rates, working_range
from armdyn.trajectory import concatenate, point_to_point
from armdyn.trajectory.trajectory import Trajectory

GOLDEN = (5**0.5 - 1) / 2
SHARE = 0.9
"""Speed of the motion over the largest at which it keeps the limits of velocity, acceleration and torque."""


@dataclass(frozen=True, eq=False)
class UsualMotion:
    """The motion, and how its speed was chosen."""

    trajectory: Trajectory
    speed: str


def usual_motion(dyn: Dynamics) -> UsualMotion:
    """All joints around the middle of their ranges and back, neighbours in opposite directions.

    Near the limits of the robot: the fastest speed at which one of its limits of velocity, acceleration or torque is
    reached, times SHARE. Without limits, at a moderate speed.
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
    rates = (limits.velocity, limits.acceleration)
    v_max, a_max = (np.where(np.isfinite(x), x, own) for x, own in zip(rates, careful, strict=True))
    there = point_to_point(begin, end, "quintic", v_max=v_max, a_max=a_max)
    back = point_to_point(end, begin, "quintic", duration=there.duration)
    cycle: Trajectory = concatenate(there, back)
    if not any(np.isfinite(x).any() for x in (*rates, limits.tau_max)):
        return UsualMotion(cycle, "at a moderate speed")
    try:
        fastest = scale_to_torque(cycle, dyn, limits=replace(limits, jerk=np.full(robot.n, np.inf)))
    except Infeasible as error:
        return UsualMotion(cycle, f"at a moderate speed, although the torques exceed their limits ({error.what})")
    return UsualMotion(
        fastest.slower(1 / SHARE), f"at {SHARE:.0%} of the speed at which {fastest.joint} reaches a limit"
    )
