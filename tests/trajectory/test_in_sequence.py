"""Motions of a frame one after the other, and periodic motions beyond their duration."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.kinematics.rotations import rot
from armdyn.trajectory import concatenate, fourier, line, point_to_point


def pose(p: list[float], angle: float = 0.0) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rot(np.array([0.0, 0.0, 1.0]), angle), p
    return T


def test_lines_one_after_the_other() -> None:
    a, b, c = pose([0.3, 0, 0.2]), pose([0.3, 0.4, 0.2], 0.5), pose([0.5, 0.4, 0.3], -0.8)
    first, second = line(a, b, duration=2.0), line(b, c, duration=1.0)
    both = concatenate(first, second)
    assert both.duration == 3.0
    t = np.linspace(0, 3, 61)
    early = t < 2
    for quantity in ("pose", "velocity", "acceleration"):
        found = getattr(both, quantity)(t)
        np.testing.assert_allclose(found[early], getattr(first, quantity)(t[early]), atol=1e-13)
        np.testing.assert_allclose(found[~early], getattr(second, quantity)(t[~early] - 2), atol=1e-13)
    np.testing.assert_allclose(both.pose(3.0), c, atol=1e-13)
    assert set(first.breaks) <= set(both.breaks)


def test_rates_are_those_of_the_poses() -> None:
    both = concatenate(line(pose([0.3, 0, 0.2]), pose([0.3, 0.4, 0.2]), duration=2.0),
                       line(pose([0.3, 0.4, 0.2]), pose([0.5, 0.4, 0.3]), duration=1.0))  # fmt: skip
    t, h = np.array([0.7, 1.3, 2.4]), 1e-6
    slope = (both.pose(t + h)[:, :3, 3] - both.pose(t - h)[:, :3, 3]) / (2 * h)
    np.testing.assert_allclose(both.velocity(t)[:, :3], slope, atol=1e-8)


def test_the_arm_follows() -> None:
    robot = armdyn.load("ur5")
    start = np.asarray(armdyn.compile(robot).pose([0.1, -1.2, 1.5, -0.4, 1.2, 0.3]))
    corner, end = start.copy(), start.copy()
    corner[:3, 3] += [0.05, 0.0, 0.1]
    end[:3, 3] += [0.1, 0.1, 0.1]
    path = concatenate(line(start, corner, duration=1.0), line(corner, end, duration=1.0))
    motion = armdyn.trajectory.follow(robot, path, q0=[0.1, -1.2, 1.5, -0.4, 1.2, 0.3])
    np.testing.assert_allclose(armdyn.compile(robot).pose(motion(2.0)), end, atol=1e-6)


def test_what_does_not_fit_is_refused() -> None:
    a, b, c = pose([0, 0, 0]), pose([1, 0, 0]), pose([1, 1, 0])
    with pytest.raises(ArmdynError, match="jumps by 1 between parts 1 and 2"):
        concatenate(line(a, b, duration=1.0), line(c, a, duration=1.0))
    with pytest.raises(ArmdynError, match="TaskTrajectory, "):
        concatenate(line(a, b, duration=1.0), point_to_point([0.0], [1.0], duration=1.0))  # type: ignore[call-overload]
    with pytest.raises(ArmdynError, match="leave it free"):
        concatenate(line(a, b, duration=1.0), line([1, 0, 0], [2, 0, 0], duration=1.0))


def test_a_periodic_motion_goes_on() -> None:
    motion = fourier([0.5, 0.0], [[1.0, 0.2], [0.3, 0.0]], [[0.0, 0.4], [0.1, 0.2]], period=2.0)
    t = np.linspace(0, 2, 21)
    for order in (0, 1, 2):
        np.testing.assert_allclose(motion(t + 4.0, order), motion(t, order), atol=1e-12)
        np.testing.assert_allclose(motion(t - 2.0, order), motion(t, order), atol=1e-12)
    h = 1e-6
    np.testing.assert_allclose((motion(2 + h) - motion(2 - h)) / (2 * h), motion(2.0, 1), atol=1e-8)
