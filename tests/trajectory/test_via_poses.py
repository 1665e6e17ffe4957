"""Motion of a frame past several poses: rates by differences, lines and rotations by SciPy, limits, corners."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import armdyn
from armdyn.errors import ArmdynError, ShapeError
from armdyn.trajectory import follow, via_poses

LIMITS: dict[str, Any] = {"v_max": 0.8, "a_max": 3.0, "w_max": 2.0, "wd_max": 6.0}

WAYPOINTS = np.array([
    [0.3, -1.2, 1.4, -1.8, -1.5, 0.2], [0.6, -1.0, 1.2, -1.6, -1.3, 0.5], [0.2, -0.9, 1.3, -1.7, -1.4, 0.0],
])  # fmt: skip


def random_poses(seed: int, count: int = 5) -> list[Any]:
    dice = np.random.default_rng(seed)
    poses = np.tile(np.eye(4), (count, 1, 1))
    poses[:, :3, :3] = Rotation.random(count, random_state=seed).as_matrix()
    poses[:, :3, 3] = dice.uniform(-1, 1, (count, 3))
    return list(poses)


@pytest.mark.parametrize("seed", range(3))
def test_rates_are_derivatives(seed: int) -> None:
    path = via_poses(random_poses(seed), blend=0.6, **LIMITS)
    h = 1e-5
    t = np.random.default_rng(seed).uniform(h, path.duration - h, 200)
    t = t[np.abs(t[:, None] - path.breaks).min(axis=1) > 2 * h]
    before, after = path.pose(t - h), path.pose(t + h)
    linear = (after[:, :3, 3] - before[:, :3, 3]) / (2 * h)
    angular = Rotation.from_matrix(after[:, :3, :3] @ before[:, :3, :3].swapaxes(1, 2)).as_rotvec() / (2 * h)
    np.testing.assert_allclose(path.velocity(t), np.hstack([linear, angular]), atol=1e-8)
    np.testing.assert_allclose(path.acceleration(t), (path.velocity(t + h) - path.velocity(t - h)) / (2 * h), atol=1e-6)


def test_acceleration_is_continuous_and_the_ends_are_at_rest() -> None:
    path = via_poses(random_poses(4), corner=0.05, **LIMITS)
    inner = path.breaks[1:-1]
    for rates in (path.velocity, path.acceleration):
        np.testing.assert_allclose(rates(inner - 1e-12), rates(inner + 1e-12), atol=1e-8)
        np.testing.assert_allclose(rates(np.array([0.0, path.duration])), 0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_between_blends_the_frame_moves_as_on_a_line_of_its_own(seed: int) -> None:
    """Interpolation of positions and of quaternions by SciPy, at constant rates."""
    poses = random_poses(seed)
    path = via_poses(poses, blend=0.5, **LIMITS)
    tau = np.diff(path.breaks)[::2] / 2  # of the blends, which alternate with the lines
    passed = path.breaks[::2] + tau
    for k, (first, last) in enumerate(pairwise(poses)):
        t = np.linspace(path.breaks[2 * k + 1], path.breaks[2 * k + 2], 7)
        share = (t - passed[k]) / (passed[k + 1] - passed[k])
        turn = Slerp([0, 1], Rotation.from_matrix([first[:3, :3], last[:3, :3]]))
        np.testing.assert_allclose(path.pose(t)[:, :3, :3], turn(share).as_matrix(), atol=1e-12)
        along = first[:3, 3] + share[:, None] * (last - first)[:3, 3]
        np.testing.assert_allclose(path.pose(t)[:, :3, 3], along, atol=1e-12)
        np.testing.assert_allclose(path.acceleration(t), 0, atol=1e-9)
    np.testing.assert_allclose(path.pose([0.0, path.duration]), [poses[0], poses[-1]], atol=1e-12)


@pytest.mark.parametrize("corner", [None, 0.01, 1e-4])
@pytest.mark.parametrize("seed", range(4))
def test_limits_hold_and_one_is_reached(seed: int, corner: float | None) -> None:
    poses = random_poses(seed, 4)
    path = via_poses(poses, corner=corner, **LIMITS)
    t = np.unique(np.concatenate([np.linspace(a, b, 401) for a, b in pairwise(path.breaks)]))
    v, a = path.velocity(t), path.acceleration(t)
    used = [np.linalg.norm(x[:, rows], axis=1).max() / LIMITS[name]
            for x, rows, name in ((v, slice(3), "v_max"), (v, slice(3, 6), "w_max"),
                                  (a, slice(3), "a_max"), (a, slice(3, 6), "wd_max"))]  # fmt: skip
    assert max(used) <= 1 + 1e-6
    assert max(used) > 0.99
    if corner is not None:
        away = np.linalg.norm(path.pose(t)[:, None, :3, 3] - np.array(poses)[:, :3, 3], axis=-1).min(axis=0)
        assert away.max() <= corner * (1 + 1e-6)


def test_positions_alone_and_a_given_duration() -> None:
    points = [(0, 0, 0), (1, 0, 0), (1, 2, 0)]
    path = via_poses(points, duration=3.0)
    assert path.rotation is None and path.duration == pytest.approx(3.0)
    np.testing.assert_allclose(path.pose(3.0)[:3, 3], points[-1])
    turning = via_poses([np.eye(4), np.diag([-1.0, -1, 1, 1]), np.eye(4)], duration=2.0)
    np.testing.assert_allclose(turning.pose([0.0, 2.0]), [np.eye(4)] * 2, atol=1e-12)
    slow = via_poses(points, duration=30.0, **LIMITS)
    assert slow.duration == pytest.approx(30.0)


@pytest.mark.parametrize(("poses", "options", "message"), [
    ([(0, 0, 0)], {"duration": 1.0}, "at least two"),
    ([(0, 0, 0), np.eye(4)], {"duration": 1.0}, "at least two"),
    ([(0, 0, 0), (1, 0, 0), (1, 0, 0)], {"duration": 1.0}, "poses 2 and 3 are the same"),
    ([(0, 0, 0), (1, 0, 0)], {}, "no velocity limit"),
    ([(0, 0, 0), (1, 0, 0)], {"a_max": 1.0}, "no velocity limit"),
    ([(0, 0, 0), (1, 0, 0)], {"w_max": 1.0}, "Expected: v_max"),
    ([(0, 0, 0), (1, 0, 0)], {"v_max": -1.0}, "v_max = -1"),
    ([(0, 0, 0), (1, 0, 0)], {"duration": 1.0, "blend": 0.0}, "blend = 0"),
    ([(0, 0, 0), (1, 0, 0)], {"duration": 1.0, "corner": 0.0}, "concatenate"),
    ([(0, 0, 0), (1, 0, 0)], {"duration": 0.5, "v_max": 1.0}, "exceeds the limits"),
    ([(0, 0, 0), (1, 0)], {"duration": 0.5}, "shape"),
])  # fmt: skip
def test_what_is_refused(poses: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises((ArmdynError, ShapeError), match=message):
        via_poses(poses, **options)


def test_an_arm_follows_it() -> None:
    """The tool of a UR5 by Pinocchio, along the joint motion."""
    engine = pytest.importorskip("support.pinocchio_model", reason="Pinocchio is the independent engine of this test")
    robot = armdyn.load("ur5")
    poses = [engine.tool_pose(robot, q) for q in WAYPOINTS]
    path = via_poses(poses, corner=0.02, v_max=0.5, a_max=2.0, w_max=1.0, wd_max=4.0)
    motion = follow(robot, path, WAYPOINTS[0])
    for t in np.linspace(0, path.duration, 9):
        np.testing.assert_allclose(engine.tool_pose(robot, motion(t)), path.pose(t), atol=1e-9)
        np.testing.assert_allclose(engine.jacobian(robot, motion(t)) @ motion(t, 1), path.velocity(t), atol=1e-8)
