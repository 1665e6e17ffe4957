"""Clearance: distances by brute force, slopes by differences, an exciting motion above a floor and clear of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.identification import Harmonics, Search, Surroundings, excite
from armdyn.identification.excitation.clearance import Clearance


def brute(clear: Clearance, q: np.ndarray) -> np.ndarray:
    """Distances of `pairs` from 60 points on each line."""
    points, share = clear.points(q), np.linspace(0, 1, 60)[:, None]
    lines = [points[:, [a]] * (1 - share) + points[:, [b]] * share for a, b in clear.capsules]
    return np.stack([
        np.linalg.norm(lines[i][:, :, None] - lines[j][:, None], axis=3).min(axis=(1, 2)) for i, j in clear.pairs
    ], axis=1) - 2 * clear.radius  # fmt: skip


def test_points_are_the_frames_of_the_joints() -> None:
    """Of a robot in modified DH, whose frames are at the joints."""
    robot = armdyn.load("panda")
    dyn, q = armdyn.compile(robot), np.random.default_rng(2).uniform(-2, 2, (20, 7))
    points = Clearance(robot, Surroundings()).points(q)
    expected = [dyn.pose(q, name)[:, :3, 3] for name in (*(joint.name for joint in robot.joints), "tool")]
    np.testing.assert_allclose(points[:, 1:], np.stack(expected, axis=1), atol=1e-12)


@pytest.mark.parametrize("name", ["ur5", "panda"])
def test_distances_are_those_of_many_points_on_the_lines(name: str) -> None:
    robot = armdyn.load(name)
    clear = Clearance(robot, Surroundings(floor=-0.1, radius=0.05))
    q = np.random.default_rng(0).uniform(-2, 2, (40, robot.n))
    found = clear.distances(q)[:, : len(clear.pairs)]
    by_points = brute(clear, q)
    assert len(clear.pairs) > 5
    assert (found <= by_points + 1e-9).all() and np.abs(found - by_points).max() < 0.02  # 60 points on up to 0.4 m


@pytest.mark.parametrize("name", ["ur5", "panda", "scara5"])
def test_slopes_are_those_of_differences(name: str) -> None:
    robot = armdyn.load(name).bound()
    clear = Clearance(robot, Surroundings(floor=0.0))
    rng = np.random.default_rng(1)
    q = rng.uniform(-1, 1, (20, robot.n))
    shares, by_q = clear.shares(q)
    weights = rng.standard_normal(shares.shape)
    step = 1e-6 * np.eye(robot.n)
    weigh: Any = by_q
    moved = [((clear.shares(q + e)[0] - clear.shares(q - e)[0]) * weights).sum(axis=1) / 2e-6 for e in step]
    assert shares.max() > 0.1
    np.testing.assert_allclose(weigh(weights), np.column_stack(moved), atol=1e-6)


def test_an_exciting_motion_above_the_floor_and_clear_of_itself() -> None:
    """Without surroundings the same search goes below the floor."""
    robot = armdyn.load("ur5")
    about: dict[str, Any] = {
        "include": ("inertial",),
        "harmonics": Harmonics(count=3),
        "search": Search(starts=1, iterations=20),
    }
    free, kept = excite(robot, **about), excite(robot, surroundings=Surroundings(floor=0.0), **about)
    clear = kept.design.clearance
    assert clear is not None and kept.clearance >= 0 and kept.feasibility.holds
    t = np.linspace(0, 10, 500)
    assert clear.distances(free.motion(t)).min() < 0
    assert brute(clear, kept.motion(t)).min() > -1e-3
    assert clear.points(kept.motion(t))[:, 3:, 2].min() > clear.radius - 1e-3
    assert "floor" in free.notes[-1] and not any("floor" in note for note in kept.notes)


def test_wrong_surroundings() -> None:
    with pytest.raises(ArmdynError, match="radius"):
        Surroundings(radius=-1.0)
    with pytest.raises(NotApplicable, match="closed chain"):
        Clearance(armdyn.load("five_bar"), Surroundings())
