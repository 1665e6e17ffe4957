"""MJCF against MuJoCo itself: frames, mass matrices and bias torques of the same text, read by both."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formats import mjcf
from armdyn.mechanics import composite_body, kinematics, newton_euler
from armdyn.robot.random import random_robot

mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed: MJCF files are not compared with it")

from support.mujoco_model import TOLERANCE, assert_same_dynamics, states  # noqa: E402  (after the check that MuJoCo is there)

EVERYTHING = (Path(__file__).parent / "everything.xml").read_text(encoding="utf-8")
"""A robot that uses every feature of the reader."""


def test_every_way_to_say_things() -> None:
    robot = mjcf.loads(EVERYTHING)
    assert [joint.name for joint in robot.joints] == ["shoulder_yaw", "shoulder_pitch", "slide", "roll", "flap"]
    assert_same_dynamics(EVERYTHING, robot)


def test_tool_limits_and_friction() -> None:
    robot = mjcf.loads(EVERYTHING)
    model = mujoco.MjModel.from_xml_string(EVERYTHING)
    data = mujoco.MjData(model)
    q = states(robot.n)[0, 0]
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    np.testing.assert_allclose(kinematics.pose(robot, q)[:3, 3], data.site("tool").xpos, atol=TOLERANCE)
    for k, joint in enumerate(robot.joints):
        assert joint.friction is not None and joint.rotor is not None
        assert joint.friction.viscous == pytest.approx(np.atleast_1d(model.dof_damping[k])[0])
        assert joint.friction.coulomb == pytest.approx(model.dof_frictionloss[k])
        if model.jnt_limited[k]:
            assert joint.limits is not None
            assert (joint.limits.lower, joint.limits.upper) == pytest.approx(tuple(model.jnt_range[k]))
    torques = [joint.limits.torque if joint.limits else None for joint in robot.joints]
    assert torques == [pytest.approx(75.0), None, pytest.approx(40.0), pytest.approx(3.0), None]


@pytest.mark.parametrize("seed", range(12))
def test_written_robots_are_the_same_in_mujoco(seed: int) -> None:
    robot = random_robot(seed, branching=0.4 if seed % 2 else 0.0, friction=seed % 3 == 0, limits=seed % 4 == 0,
                         tilted_base=True, tool=seed % 2 == 0).without("rotors", "static_friction")  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        text = mjcf.dumps(robot)
    assert_same_dynamics(text, robot)
    again = mjcf.loads(text)
    q, qd, qdd = states(robot.n)[0]
    order = [[j.name for j in robot.joints].index(joint.name) for joint in again.joints]
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)[order]
    found = newton_euler.inverse_dynamics(again, q[order], qd[order], qdd[order])
    np.testing.assert_allclose(found, expected, atol=1e-9 * (1 + np.abs(expected).max()))
    np.testing.assert_allclose(kinematics.pose(again, q[order]), kinematics.pose(robot, q), atol=1e-9)


@pytest.mark.parametrize("name", ["puma560", "ur5", "rx90"])
def test_catalog_goes_through_a_file(name: str, tmp_path: Path) -> None:
    robot = armdyn.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        robot.save(tmp_path / "robot.xml")
        again = armdyn.load(tmp_path / "robot.xml")
    for q, _, _ in states(robot.n):
        expected = composite_body.mass_matrix(robot, q)
        np.testing.assert_allclose(composite_body.mass_matrix(again, q), expected, atol=1e-9)


def test_what_is_not_taken_over_is_said(tmp_path: Path) -> None:
    path = tmp_path / "spring.xml"
    path.write_text(
        '<mujoco><asset><mesh name="m" file="m.stl"/></asset>'
        '<worldbody><body name="a"><joint name="j"/><geom type="mesh" mesh="m"/></body>'
        '</worldbody><equality><joint joint1="j" joint2="j" polycoef="0 1 2 0 0"/></equality></mujoco>'
    )
    with pytest.warns(armdyn.ModelWarning) as record:
        armdyn.load(path)
    said = " ".join(str(w.message) for w in record)
    assert "mesh" in said and "degree above one" in said


def test_urdf_under_the_name_xml(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        armdyn.load("ur5").save(tmp_path / "a.urdf")
        (tmp_path / "a.urdf").rename(tmp_path / "a.xml")
        assert armdyn.load(tmp_path / "a.xml").n == 6


BROKEN = {
    "a free joint": ('<worldbody><body><freejoint/><joint/></body></worldbody>', "a free joint beside"),
    "a free joint below": ('<worldbody><body><joint/><body><freejoint/></body></body></worldbody>', "or below others"),
    "an unknown type": ('<worldbody><body><joint type="hing"/></body></worldbody>', "Did you mean 'hinge'"),
    "an include in a text": ('<include file="/etc/passwd"/>', "Load the file that holds it"),
    "too many copies": ('<worldbody><replicate count="99999"><body/></replicate></worldbody>', "99999 copies"),
    "no number": ('<worldbody><body pos="0 0 x"/></worldbody>', "'x' is not a number"),
    "two orientations": ('<worldbody><body quat="1 0 0 0" euler="0 0 0"/></worldbody>', "two orientations"),
    "an unknown class": ('<worldbody><body><joint class="no"/></body></worldbody>', "unknown default class"),
    "a flat box": ('<worldbody><body><joint/><geom type="box" size="1 0 1"/></body></worldbody>', "greater than zero"),
    "a second body of a name": ('<worldbody><body name="a"/><body name="a"/></worldbody>', "a second body"),
    "a zero quaternion": ('<worldbody><body quat="0 0 0 0"/></worldbody>', "length zero"),
    "no tensor": ('<worldbody><body><joint/><inertial pos="0 0 0" mass="1"/></body></worldbody>', "without a tensor"),
    "angles": ('<compiler angle="grad"/>', "unit of angles"),
}  # fmt: skip


@pytest.mark.parametrize("case", BROKEN)
def test_broken_texts_say_what_is_wrong(case: str) -> None:
    inside, message = BROKEN[case]
    with pytest.raises(ArmdynError, match=message):
        mjcf.loads(f"<mujoco>{inside}</mujoco>")
