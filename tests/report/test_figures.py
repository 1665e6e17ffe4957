"""Figures of robots: what Matplotlib is given, and that it draws every kind of robot."""

from __future__ import annotations

import re

import numpy as np

import armdyn
from armdyn.report.figures.robot_figures import _even, _tube, robot_figure


def test_faces_have_equally_many_corners_and_keep_their_planes() -> None:
    faces = _tube(np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.1)
    even = _even(faces)
    assert len({len(face) for face in even}) == 1 < len({len(face) for face in faces})
    for before, after in zip(faces, even, strict=True):
        assert {tuple(corner) for corner in after} == {tuple(corner) for corner in before}
        third = len(after) // 3  # the corners from which shading takes the normal
        a, b, c = after[0], after[third], after[2 * third]
        assert np.linalg.norm(np.cross(b - a, c - b)) > 0


def test_every_kind_of_robot_is_drawn() -> None:
    for robot in (armdyn.load("cartesian2"), armdyn.load("parallelogram"), armdyn.random_robot(4, 5, branching=0.5)):
        svg = robot_figure(robot, {"here": np.full(robot.n, 0.3)})
        assert svg.count("<path") > 20  # faces, axes, floor
        assert not re.search(r"\bnan\b|\binf\b", svg)
