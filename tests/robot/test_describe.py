"""The printed robot."""

from __future__ import annotations

import pytest

import armdyn
from armdyn import catalog
from armdyn.formats import toml
from armdyn.robot import describe
from armdyn.tables import Column, Section, render

ARM = """
name = "arm"
source = "a book"
gravity = [0, 0, "-g"]
notes = ["one remark"]
tool = {xyz = [0, 0, 0.1], rpy = [0, "pi/2", 0]}
[parameters]
g = 9.81
l = 0.5
[[joint]]
name = "lift"
type = "prismatic"
d = "l"
alpha = "pi/2"
mass = 2
[[joint]]
name = "turn"
link = "hand"
theta = "-pi/2"
a = "2*l"
mass = 1
inertia = [0.1, 0.01, 0, 0.1, 0, 0.1]
rotor = {inertia = 1e-4, ratio = 50}
friction = {viscous = 0.2}
limits = {lower = -1, upper = 2, torque = 30}
notes = ["turns"]
"""


def test_head_and_tables() -> None:
    text = str(toml.loads(ARM))
    assert text.startswith("arm: 2 joints, P R\n")
    for words in ("a book", "(0, 0, -g) = (0, 0, -9.81) m/s^2", "3 kg", "l = 0.5", "rpy (0, pi/2, 0) rad, on hand",
                  "q1 + l (0.5)", "q2 - pi/2", "2*l (1)", "- one remark", "- turn: turns", "gear ratio", "N m s/rad",
                  "Limits", "Ixy", "hand"):  # fmt: skip
        assert words in text, words
    assert "Iyz" not in text  # a column of zeros


def test_symbolic_robot_prints_alike() -> None:
    robot = toml.loads(ARM)
    assert str(robot.symbolic) == str(robot)


@pytest.mark.parametrize("name", catalog.names())
def test_catalog_robots_print_within_the_page(name: str) -> None:
    lines = str(armdyn.load(name)).splitlines()
    assert all(line == line.rstrip() for line in lines)
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("seed", range(12))
def test_any_robot_prints(seed: int) -> None:
    robot = armdyn.random_robot(seed, 1 + seed % 6)
    text = str(robot)
    for i, joint in enumerate(robot.joints):
        assert joint.name in text
        assert f"q{i + 1}" in text or "axis" in text


def test_degrees_where_an_angle_is_no_fraction_of_pi() -> None:
    robot = toml.loads(ARM.replace('alpha = "pi/2"', "alpha = 1.5708"))
    (geometry,) = (s for s in describe.sections(robot) if s.title.startswith("Geometry"))
    assert [row[-1] for row in geometry.rows] == ["90.0002", "0"]
    assert geometry.columns[-1].unit == "deg"


@pytest.mark.parametrize(
    ("angle", "text"), [(0, "0"), (3.141592653589793, "pi"), (-2.356194490192345, "-3*pi/4"), (1.5708, None)]
)
def test_pi_fraction(angle: float, text: str | None) -> None:
    assert describe.pi_fraction(angle) == text


def test_free_joints_show_axis_and_parent() -> None:
    robot = armdyn.Robot.from_dh(
        [{"type": "revolute", "xyz": [0, 0, 1], "axis": [0, -1, 0], "offset": 0.5, "mass": 1}], convention="free"
    )
    text = str(robot)
    assert "-y" in text
    assert "q1 + 28.6479" in text


def test_grouped_parameters_keep_their_form() -> None:
    robot = armdyn.Robot.from_dh([{"mass": 0, "moment": [1, 0, 0], "inertia_origin": [0, 0, 0, 0, 0, 2]}])
    (inertia,) = (s for s in describe.sections(robot) if s.title.startswith("Inertia"))
    assert [column.head for column in inertia.columns] == ["body", "M", "MX", "MY", "MZ", "XX", "YY", "ZZ"]


def test_numbers_stand_below_one_another_and_texts_fold() -> None:
    section = Section(
        "T", (Column("n"), Column("words", folds=True)), (("1.25", "a " * 40), ("-10", "b"), ("1e-05", "c"))
    )
    lines = render(section, 40).splitlines()
    assert max(map(len, lines)) <= 40
    rows = [line for line in lines if line.strip()[:1].isdigit() or line.strip().startswith("-1")]
    assert [row[:8] for row in rows] == ["  1.25  ", "-10     ", "  1e-05 "]


def test_a_tree_shows_parents() -> None:
    robot = armdyn.load("parallelogram")
    (geometry,) = (s for s in describe.sections(robot) if s.title.startswith("Geometry"))
    assert "parent" in [column.head for column in geometry.columns]
    assert any(section.title == "Loops" for section in describe.sections(robot))


def test_rounding_of_a_rotated_body_is_shown_as_zero() -> None:
    row = {"a": 0.5, "mass": 3.0, "com": [0.1, -1e-18, 0], "inertia": [0.02, 3e-18, 1e-9, 0.03, -2e-18, 0.03]}
    shown = str(armdyn.Robot.from_dh([row]))
    assert "e-18" not in shown and "1e-09" in shown
