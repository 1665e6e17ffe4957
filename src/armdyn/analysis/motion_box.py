"""A box of motions: ranges of positions, velocities and accelerations of all joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.errors import ShapeError
from armdyn.robot import Robot
from armdyn.robot.limits import careful_rates, motion_limits, working_range
from armdyn.typing import Array


@dataclass(frozen=True, eq=False)
class MotionBox:
    """All q within [lower, upper], |qd| <= velocity, |qdd| <= acceleration; (n,) each, rad or m."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    revolute: Array
    """(n,) True for angles."""
    assumed: tuple[str, ...] = ()
    """Limits that the robot does not have: the rates of a careful motion are used instead."""

    def samples(self, count: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
        """Return random q, and qd and qdd at corners of the box, where torques are largest; (count, n) each."""
        shape = count, len(self.lower)
        signs = rng.choice((-1.0, 1.0), (2, *shape))
        return rng.uniform(self.lower, self.upper, shape), self.velocity * signs[0], self.acceleration * signs[1]


def motion_box(robot: Robot, *, q_range: Any = None, v_max: Any = None, a_max: Any = None) -> MotionBox:
    """Return the box of a robot's motions.

    q_range: (lower, upper), (n,) each, rad or m (default: the joint limits, else `working_range`).
    v_max:   largest velocity, (n,) or one for all, rad/s or m/s (default: the robot's limits, else a careful motion's).
    a_max:   largest acceleration, the same, rad/s^2 or m/s^2.
    """
    lower, upper = working_range(robot) if q_range is None else np.asarray(q_range, dtype=float)
    if np.shape(lower) != (robot.n,) or np.shape(upper) != (robot.n,) or not np.all(lower <= upper):
        raise ShapeError(
            "q_range does not fit the robot",
            where=f"robot {robot.name!r}",
            expected=f"two rows of {robot.n} numbers, lower then upper",
        )
    limits = motion_limits(robot, v_max=v_max, a_max=a_max)
    given = zip((limits.velocity, limits.acceleration), careful_rates(robot), strict=True)
    velocity, acceleration = (np.where(np.isfinite(own), own, usual) for own, usual in given)
    assumed = tuple(
        f"{word} limits of {', '.join(joint.name for joint in free) if len(free) < robot.n else 'all joints'}"
        for word, own in (("velocity", limits.velocity), ("acceleration", limits.acceleration))
        if (free := [joint for joint, limit in zip(robot.joints, own, strict=True) if not np.isfinite(limit)])
    )
    return MotionBox(lower, upper, velocity, acceleration, _revolute(robot), assumed)


def box_around(robot: Robot, q: Array, qd: Array, qdd: Array) -> MotionBox:
    """Return the smallest box that holds a motion, given by its samples, (..., n) each."""
    rows = [np.asarray(each, dtype=float).reshape(-1, robot.n) for each in (q, qd, qdd)]
    fastest, hardest = (np.abs(each).max(axis=0) for each in rows[1:])
    return MotionBox(rows[0].min(axis=0), rows[0].max(axis=0), fastest, hardest, _revolute(robot))


def _revolute(robot: Robot) -> Array:
    return np.array([joint.kind == "revolute" for joint in robot.joints])
