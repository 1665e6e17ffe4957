"""Motions sampled over time: where they are evaluated, their states there, integrals over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.errors import ArmdynError, ShapeError
from armdyn.robot.limits import MotionLimits, joint_names, joint_units
from armdyn.robot.robot import Robot
from armdyn.trajectory.trajectory import grid
from armdyn.typing import Array

STEPS = 2000
"""Number of steps at which a motion is sampled if no `dt` is given."""
ROUNDING = 1e-12
"""Fraction of its largest velocity below which a joint counts as standing still."""
JUMP = 1e-6
"""Change of acceleration beside a break, as a fraction of the largest acceleration, that is a jump."""
SIDE = 1e-9
"""Distance of the two samples beside a jump, as a fraction of the duration."""


class Infeasible(ArmdynError):
    """A motion that no timing brings within the limits.

    joint:  name of the joint that is too weak; None if no single joint is.
    amount: by how much its torque exceeds the limit, N m or N; None if that is not known.
    """

    joint: str | None = None
    amount: float | None = None


def too_weak(
    robot: Robot, joint: int, what: str, where: str, *, amount: float = 0.0, expected: str | None = None
) -> Infeasible:
    """Return the error that a joint is too weak for a motion."""
    advice = "Raise the limit, lighten the load, or change the path."
    name = joint_names(robot)[joint]
    error = Infeasible(f"joint {name!r} {what}", where=where, expected=expected, advice=advice)
    error.joint, error.amount = name, amount
    return error


def too_heavy(robot: Robot, joint: int, torque: float, limits: MotionLimits, dry: bool, where: str) -> Infeasible:
    """Return the error that a joint cannot hold the robot against gravity (and dry friction)."""
    unit = joint_units(robot)[joint].torque
    low, high = float(limits.tau_min[joint]), float(limits.tau_max[joint])
    limit, over = (high, torque - high) if torque > high else (low, low - torque)
    cause = "gravity with dry friction" if dry else "gravity"
    what = f"needs {torque:.5g} {unit} against {cause} alone, {over:.5g} {unit} beyond its limit of {limit:.5g} {unit}"
    expected = "a path whose weight the actuators can hold: no change of speed helps"
    return too_weak(robot, joint, what, where, amount=over, expected=expected)


def dynamics_of(model: Robot | Dynamics) -> Dynamics:
    """Return the compiled dynamics of a robot; what is compiled already is returned as it is."""
    return compiled(model) if isinstance(model, Robot) else model


def checked_motion(dyn: Dynamics, motion: Any) -> None:
    """Raise ShapeError if a motion has another number of joints than the robot."""
    n = np.shape(motion(0.0))[-1]
    if n != dyn.n:
        raise ShapeError(
            f"a motion of {n} joints", where=f"robot {dyn.robot.name!r}", expected=f"one of {dyn.n} joints"
        )


def sample_times(motion: Any, dt: float | None = None) -> Array:
    """Return times (k,) from 0 to the end, dt apart, with both sides of every time at which a derivative may jump."""
    duration = float(motion.duration)
    if duration == 0:
        return np.zeros(1)
    t = grid(duration, duration / STEPS if dt is None else dt)
    breaks = np.asarray(getattr(motion, "breaks", np.array([0.0, duration])))
    side = SIDE * duration
    return np.unique(np.clip(np.concatenate([t, breaks - side, breaks, breaks + side]), 0.0, duration))


def states(motion: Any, t: Array) -> tuple[Array, Array, Array]:
    """Return positions, velocities and accelerations, (k, n) each, at times t (k,).

    A velocity that is only rounding is set to zero: the sign of friction would be that of the rounding.
    """
    q, qd, qdd = (np.ascontiguousarray(motion(t, order)) for order in range(3))
    moving = np.abs(qd) > ROUNDING * np.abs(qd).max(axis=0, initial=0.0)
    return q, np.where(moving, qd, 0.0), qdd


def jerk_at(motion: Any, t: Array, qdd: Array, limit: Array) -> Array:
    """Return jerk (k, n) at times t (k,) of `sample_times`, infinite beside a jump of the acceleration qdd (k, n).

    A jump is a change beside a break that ten times the limit (n,) does not explain. The joints rest before and after
    the motion, so an acceleration at its ends is a jump as well. Motions without a third derivative: by differences.
    """
    highest = getattr(motion, "highest", 2)
    if highest is None or highest >= 3:
        jerk = np.array(motion(t, 3))
    else:
        jerk = np.gradient(qdd, t, axis=0) if len(t) > 2 else np.zeros_like(qdd)
    size, close = JUMP * np.abs(qdd).max(initial=0.0), 2.5 * SIDE * float(motion.duration)
    beside = np.flatnonzero(np.diff(t) <= close)
    jumps = np.abs(np.diff(qdd, axis=0))[beside] > size + 10 * close * limit
    jerk[beside] = np.where(jumps, np.inf, jerk[beside])
    ends = [0, -1]
    jerk[ends] = np.where(np.abs(qdd[ends]) > size, np.inf, jerk[ends])
    return jerk


def integral(t: Array, y: Array) -> Array:
    """Return the integral of y (k, ...) over t (k,) by the trapezoidal rule; a jump lies between adjacent times."""
    total: Array = np.tensordot(np.diff(t), 0.5 * (y[1:] + y[:-1]), axes=1)
    return total
