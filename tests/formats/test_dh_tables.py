"""DH tables of robots in general frames: same torques, zeros and tool; known tables come out."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ArmdynError, NotApplicable, UnknownName
from armdyn.formats import load_save, urdf
from armdyn.mechanics import closed_chain, kinematics, newton_euler
from armdyn.robot.parts import ModifiedDH, StandardDH
from support.wheel import MISSING, wheel_files

WHEEL_FILES = wheel_files()

CONVENTIONS = ("modified", "standard")
ROWS = {"modified": ModifiedDH, "standard": StandardDH}


def multiplied(robot: Robot, q: Any) -> np.ndarray[Any, Any]:
    """The last body of a chain from the numbers of its table alone, by matrices written out here."""

    def turn(axis: int, angle: float, move: float) -> np.ndarray[Any, Any]:
        c, s = math.cos(angle), math.sin(angle)
        i, j = [k for k in range(3) if k != axis]
        T = np.eye(4)
        T[i, i] = T[j, j] = c
        T[i, j], T[j, i] = (-s, s) if axis != 1 else (s, -s)
        T[axis, 3] = move
        return T

    T = np.eye(4)
    for joint, value in zip(robot.tree, q, strict=True):
        row = joint.geometry
        assert isinstance(row, ModifiedDH | StandardDH)
        angle = float(row.theta) + value * (joint.kind == "revolute")
        along = float(row.d) + value * (joint.kind == "prismatic")
        about_z, about_x = turn(2, angle, along), turn(0, float(row.alpha), float(row.a))
        if isinstance(row, ModifiedDH):
            T = T @ turn(2, float(row.gamma), float(row.b)) @ about_x @ about_z
        else:
            T = T @ about_z @ about_x
    return T


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("seed", range(12))
def test_random_trees_keep_torques_and_tool(seed: int, convention: Any) -> None:
    robot = armdyn.random_robot(seed, 6, rotors=True, friction=True, branching=0.3, any_gravity=True)
    made = robot.to_dh(convention)
    assert not made.parameters
    assert {type(joint.geometry) for joint in made.joints} == {ROWS[convention]}
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    wrench = np.arange(6.0)
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    found = newton_euler.inverse_dynamics(made, q, qd, qdd, wrench)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(kinematics.pose(made, q), kinematics.pose(robot, q), atol=1e-12)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", ["panda", "ur5", "puma560", "rx90"])
def test_the_table_is_what_it_says(name: str, convention: Any) -> None:
    robot = armdyn.load(name)
    made = robot.to_dh(convention)
    assert len(made.tree) == robot.n
    assert (made is robot) == all(isinstance(joint.geometry, ROWS[convention]) for joint in robot.joints)
    assert made.base == robot.base
    q = np.random.default_rng(1).uniform(-2, 2, robot.n)
    base = kinematics.pose(robot, q, frame=robot.root.name)
    last = base @ multiplied(made, q)
    tool = last @ np.asarray(made.tool.pose().array(), dtype=float)
    np.testing.assert_allclose(tool, kinematics.pose(robot, q), atol=1e-12)


def test_the_table_of_a_panda_urdf_is_the_published_one() -> None:
    """Franka's own table (modified DH) against the URDF file of the wheel, whose joints stand in general frames."""
    files = [path for path in WHEEL_FILES if path.name == "panda.urdf"]
    if not files:
        pytest.skip(MISSING)
    robot = load_save.read(files[0]).chain(tip="panda_link8")
    rows = [joint.geometry for joint in robot.to_dh().joints]
    half = math.pi / 2
    assert [row.a for row in rows] == pytest.approx([0, 0, 0, 0.0825, -0.0825, 0, 0.088])
    assert [row.d for row in rows] == pytest.approx([0.333, 0, 0.316, 0, 0.384, 0, 0])
    assert [row.alpha for row in rows] == pytest.approx([0, -half, half, half, -half, half, half])
    assert [row.theta for row in rows] == pytest.approx([0] * 7)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("path", WHEEL_FILES[::9], ids=lambda path: path.stem)
def test_files_of_the_wheel_against_pinocchio(path: Path, convention: Any, helpers: Any) -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the independent engine of this test")
    try:
        robot = load_save.read(path).opened.without("friction", "rotors")
        made = robot.to_dh(convention)
    except ArmdynError:
        pytest.skip("not a robot of revolute and prismatic joints")
    engine = helpers.PinModel(path.read_text(encoding="utf-8"))
    data, names = engine.model.createData(), [joint.name for joint in robot.joints]
    order = [engine.model.joints[engine.model.getJointId(name)].idx_v for name in names]
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, robot.n))
    at = engine.positions(dict(zip(names, q, strict=True)))
    rates = (engine.velocities(dict(zip(names, x, strict=True))) for x in (qd, qdd))
    expected = pin.rnea(engine.model, data, at, *rates)[order]
    found = newton_euler.inverse_dynamics(made, q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * (1 + np.abs(expected).max()))


def test_axes_that_are_nearly_parallel_get_a_frame_of_their_own() -> None:
    """Their common normal is 5 km away: a DH row would lose digits."""
    moments = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    inertial = f'<inertial><origin xyz="0.1 0.2 0"/><mass value="1"/>{moments}</inertial>'
    links = f'<link name="a"/><link name="b">{inertial}</link><link name="c">{inertial}</link>'
    joints = "".join(
        f'<joint name="{child}" type="continuous"><parent link="{parent}"/><child link="{child}"/>{origin}</joint>'
        for parent, child, origin in (("a", "b", ""), ("b", "c", '<origin xyz="0.5 0 0" rpy="0 1e-4 0"/>'))
    )
    joints = joints.replace("</joint>", '<axis xyz="0 0 1"/></joint>')
    robot = urdf.loads(f'<robot name="skew">{links}{joints}</robot>')
    shifted = robot.to_dh("modified")
    assert [joint.kind for joint in shifted.tree].count("fixed") == 1
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 2))
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert newton_euler.inverse_dynamics(shifted, q, qd, qdd) == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("name", ["parallelogram", "five_bar", "delta"])
def test_loops_move_with_their_bodies(name: str, convention: Any) -> None:
    robot = armdyn.load(name)
    made = robot.to_dh(convention)
    q = np.array([float(joint.home) for joint in robot.joints]) + 0.05
    q_all = np.asarray(closed_chain.all_positions(robot, q))
    np.testing.assert_allclose(closed_chain.all_positions(made, q), q_all, atol=1e-12)
    expected = closed_chain.inverse_dynamics(robot, q_all, q, q)
    np.testing.assert_allclose(closed_chain.inverse_dynamics(made, q_all, q, q), expected, rtol=1e-10, atol=1e-10)


def test_the_table_can_be_saved(tmp_path: Path) -> None:
    made = armdyn.load("panda").to_dh("standard")
    back = armdyn.load(made.save(tmp_path / "panda.toml"))
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, made.n))
    expected = newton_euler.inverse_dynamics(made, q, qd, qdd)
    np.testing.assert_allclose(newton_euler.inverse_dynamics(back, q, qd, qdd), expected, rtol=1e-13, atol=1e-13)


def test_what_has_no_table_is_refused() -> None:
    with pytest.raises(UnknownName, match="modified"):
        armdyn.load("ur5").to_dh("khalil")  # type: ignore[arg-type]
    from armdyn.robot.edit import floated

    with pytest.raises(NotApplicable, match="no DH row"):
        armdyn.load("ur5").edited(floated).to_dh()
