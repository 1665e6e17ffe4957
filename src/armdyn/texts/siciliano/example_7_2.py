"""The three motions of Example 7.2 in Siciliano: the torques of a two-link arm and their contributions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from armdyn.errors import unknown_name
from armdyn.formats import load
from armdyn.motion.torques import TorqueBreakdown, torque_breakdown
from armdyn.trajectory.cartesian import line
from armdyn.trajectory.follow import follow
from armdyn.trajectory.joint import point_to_point
from armdyn.trajectory.piecewise import PiecewisePolynomial
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

NEAR, FAR = 0.2, 1.8
"""Distance of the tip from the base at the start and at the end, m; both on the horizontal axis."""
ACCELERATION_TIME, LARGEST_VELOCITY = 0.15, 5.0


def posture(distance: float) -> Array:
    """Joint positions with the tip at (distance, 0) and the elbow below, for two links of 1 m."""
    half = float(np.arccos(distance / 2))
    return np.array([-half, 2 * half])


def equal_durations() -> PiecewisePolynomial:
    """Both joints rotate by pi/2 in 0.5 s with triangular velocities. Siciliano fig. 7.5"""
    start = posture(NEAR)
    return point_to_point(start, start + np.pi / 2, "bang_bang", duration=0.5)


def different_durations() -> PiecewisePolynomial:
    """Trapezoidal velocities up to 5 rad/s after 0.15 s; each joint stops when it arrives. Siciliano fig. 7.7"""
    moves = []
    for q0, q1 in zip(posture(NEAR), posture(FAR), strict=True):
        duration = abs(q1 - q0) / LARGEST_VELOCITY + ACCELERATION_TIME
        moves.append(point_to_point([q0], [q1], "trapezoid", duration=duration, acceleration_time=ACCELERATION_TIME))
    return side_by_side(*moves)


def straight_line() -> Trajectory:
    """The tip moves 1.6 m along the horizontal axis, up to 5 m/s after 0.15 s. Siciliano fig. 7.9, 7.10"""
    a_max = LARGEST_VELOCITY / ACCELERATION_TIME
    path = line([NEAR, 0.0, 0.0], [FAR, 0.0, 0.0], "trapezoid", v_max=LARGEST_VELOCITY, a_max=a_max)
    return follow(load("planar2r"), path, posture(NEAR), rows="x y")


def side_by_side(*parts: PiecewisePolynomial) -> PiecewisePolynomial:
    """Motions of different joints at the same time; a joint that arrives early stands still."""
    knots = np.unique(np.concatenate([part.knots for part in parts]))
    knots = knots[np.concatenate([[True], np.diff(knots) > 1e-12 * knots[-1]])]
    degree = max(part.coefficients.shape[1] for part in parts) - 1
    h = np.diff(knots)
    middle, terms = 0.5 * (knots[1:] + knots[:-1]), []
    factorial = np.cumprod([1.0, *range(1, degree + 1)])
    values = [np.concatenate([part(middle, k) for part in parts], axis=1) for k in range(degree + 1)]
    for k in range(degree + 1):  # Taylor's series from the middle of a piece to its start
        ahead = [values[k + m] * (-h[:, None] / 2) ** m / factorial[m] for m in range(degree + 1 - k)]
        terms.append(sum(ahead) / factorial[k])
    return PiecewisePolynomial(knots, np.stack(terms, axis=1))


MOTIONS: dict[str, Callable[[], Trajectory]] = {
    "equal durations": equal_durations,
    "different durations": different_durations,
    "straight line": straight_line,
}


def example_7_2(motion: str, dt: float | None = None) -> TorqueBreakdown:
    """Torques of one of the three motions; its `plot` draws fig. 7.5 to 7.11.

    >>> example_7_2("equal durations").tau.shape[1]
    2
    """
    if motion not in MOTIONS:
        raise unknown_name("motion", motion, MOTIONS, where="example 7.2")
    return torque_breakdown(load("planar2r"), MOTIONS[motion](), dt)
