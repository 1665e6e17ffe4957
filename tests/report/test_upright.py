"""Robots are drawn with gravity pointing down."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.report.figures.robot_figures import draw_gravity, draw_robot, upright, upright_plane
from armdyn.report.figures.style import new_figure


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 0, -9.81), (0, 0, 1.62), (3.0, -2.0, 5.0), (0, 0, 0)])
def test_gravity_points_down(gravity: tuple[float, float, float]) -> None:
    rows = [{"a": 1.0, "mass": 1.0, "com": [-0.5, 0, 0], "inertia": [0.1, 0, 0, 0.1, 0, 0.1]}]
    R = upright(armdyn.Robot.from_dh(rows, gravity=gravity))
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1.0)
    np.testing.assert_allclose(R @ np.array(gravity), [0.0, 0.0, -float(np.linalg.norm(gravity))], atol=1e-12)


def test_planar2r_stands_in_its_plane() -> None:
    axes = new_figure().add_subplot(projection="3d")
    draw_robot(axes, armdyn.load("planar2r"), np.array([np.pi / 2, 0.0]))  # both links along +y: straight up
    assert axes.get_zlim()[1] > 1.9
    assert any(text.get_text() == "g" for text in axes.texts)


@pytest.mark.parametrize("gravity", [(0, -9.81, 0), (0, 9.81, 0), (-1.62, 0, 0), (9.81, 0, 0)])
def test_gravity_points_down_in_a_drawing_of_a_plane(gravity: tuple[float, float, float]) -> None:
    robot = armdyn.Robot.from_dh([{"a": 1.0, "mass": 1.0}], gravity=gravity)
    plane = upright_plane(robot, [0, 1])
    axes = new_figure().add_subplot()
    axes.plot([0, 1], [0, 1])
    draw_gravity(axes, robot, plane)
    down = axes.transData.transform(np.array(gravity, dtype=float)[plane]) - axes.transData.transform([0.0, 0.0])
    assert down[1] < 0 and down[0] == pytest.approx(0.0, abs=1e-9)
    (arrow,) = axes.texts
    assert arrow.get_text() == "g" and arrow.xyann[1] > 0, "from the letter down to the corner's point"


def test_gravity_across_the_plane_has_no_arrow() -> None:
    axes = new_figure().add_subplot()
    draw_gravity(axes, armdyn.load("scara5"), (0, 1))
    assert not axes.texts
