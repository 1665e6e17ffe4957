"""The arm as it is drawn agrees with its kinematics, for trees and closed chains."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.kinematics.scene import scene, skeleton
from armdyn.robot.limits import start_position

CLOSED = ("parallelogram", "stewart")


@pytest.mark.parametrize("seed", range(4))
def test_the_tool_is_where_the_compiled_pose_says(seed: int) -> None:
    robot = armdyn.random_robot(seed, n=5)
    q = np.random.default_rng(seed).uniform(-1, 1, robot.n)
    np.testing.assert_allclose(skeleton(robot, q).tool, armdyn.compile(robot).pose(q), atol=1e-12)


@pytest.mark.parametrize("name", ["planar2r", "scara5", "panda", *CLOSED])
def test_every_part_hangs_together(name: str) -> None:
    """The ends of all segments, joints and the tool are one connected drawing that contains the base."""
    robot = armdyn.load(name)
    arm = skeleton(robot, start_position(robot))
    reached = {_rounded(scene(robot).base)}
    left = list(arm.segments)
    while found := [s for s in left if _rounded(s[0]) in reached or _rounded(s[1]) in reached]:
        reached |= {_rounded(end) for segment in found for end in segment}
        left = [segment for segment in left if not any(segment is other for other in found)]
    assert left == []
    assert {_rounded(p) for _, p, _ in arm.joints} | {_rounded(arm.tool[:3, 3])} <= reached


@pytest.mark.parametrize("name", CLOSED)
def test_loops_are_drawn_closed(name: str) -> None:
    """Both bodies of a loop reach the joint that closes it: the last two segments of each loop end in one point."""
    robot = armdyn.load(name)
    arm = skeleton(robot, start_position(robot))
    closing = [p for _, p, _ in arm.joints[-len(robot.loops) :]]
    for p in closing:
        assert sum(np.linalg.norm(end - p) < 1e-9 for _, end in arm.segments) >= 2


def test_prismatic_joints_are_drawn_along_their_travel() -> None:
    robot = armdyn.load("scara5")
    moving = [segment for segment in scene(robot).segments if segment.first != segment.second]
    kinds = [link.kind for link in robot.links]
    assert [kinds[segment.second] for segment in moving] == ["prismatic"] * kinds.count("prismatic")


def _rounded(p: np.ndarray) -> tuple[float, ...]:
    return tuple(np.round(p + 0.0, 7) + 0.0)
