"""Every URDF file of the example-robot-data wheel, against Pinocchio: frames, merged inertias, limits."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formats import urdf
from armdyn.mechanics import kinematics
from armdyn.robot import Robot

TOLERANCE = 1e-10
WITHOUT_LINKS = {"ur3"}
"""The one file of the wheel with an empty <robot>: neither we nor Pinocchio make a robot of it."""


def robot_of(path: Path) -> Robot:
    if path.stem in WITHOUT_LINKS:
        with pytest.raises(ArmdynError, match="the robot has no link"):
            urdf.read(path)
        pytest.skip("an empty <robot>")
    return _read(path)


@cache
def _read(path: Path) -> Robot:
    return urdf.read(path)


def test_same_joints_and_frames_as_pinocchio(wheel_file: Path, helpers: Any) -> None:
    robot = robot_of(wheel_file).opened
    pin = helpers.PinModel(wheel_file.read_text(encoding="utf-8"))
    assert {joint.name for joint in robot.joints} == set(pin.names)
    for seed in range(2):
        q = helpers.random_positions(robot, seed)
        ours, theirs = helpers.frame_poses(robot, q), pin.frame_poses(q)
        assert theirs.keys() <= ours.keys()
        for name, pose in theirs.items():
            assert np.abs(ours[name] - pose).max() < TOLERANCE, name


def test_same_pose_and_jacobian_as_pinocchio(wheel_file: Path, helpers: Any) -> None:
    """Of the last body, which is the tip of an arm and of some branch of a tree."""
    robot = robot_of(wheel_file).opened
    if robot.n == 0:
        pytest.skip("nothing moves")
    model = helpers.PinModel(wheel_file.read_text(encoding="utf-8"))
    q = helpers.random_positions(robot, 3)
    frame = robot.tool_body
    ours = [q[joint.name] for joint in robot.joints]
    assert np.abs(kinematics.pose(robot, ours, frame) - model.frame_poses(q)[frame]).max() < TOLERANCE
    pin = model.pin
    theirs = pin.computeFrameJacobian(
        model.model,
        model.model.createData(),
        model.positions(q),
        model.model.getFrameId(frame),
        pin.LOCAL_WORLD_ALIGNED,
    )
    at = [model.model.joints[model.model.getJointId(joint.name)].idx_v for joint in robot.joints]
    assert np.abs(kinematics.jacobian(robot, ours, frame) - theirs.reshape(6, -1)[:, at]).max() < TOLERANCE


def test_same_merged_inertias_as_pinocchio(wheel_file: Path, helpers: Any) -> None:
    robot = robot_of(wheel_file).opened
    pin = helpers.PinModel(wheel_file.read_text(encoding="utf-8"))
    ours = helpers.body_inertias(robot, {joint.name: joint.body.name for joint in robot.joints})
    theirs = pin.inertias()
    for name in pin.names:
        scale = np.abs(theirs[name]).max() + 1e-3
        assert np.abs(ours[name] - theirs[name]).max() < TOLERANCE * scale, name


def test_same_limits_as_pinocchio(wheel_file: Path, helpers: Any) -> None:
    robot = robot_of(wheel_file).opened
    pin = helpers.PinModel(wheel_file.read_text(encoding="utf-8"))
    for joint in robot.joints:
        theirs = pin.model.joints[pin.model.getJointId(joint.name)]
        if joint.limits is None or theirs.nq == 2:
            continue
        at = theirs.idx_q
        if joint.limits.lower is not None:
            assert joint.limits.lower == pin.model.lowerPositionLimit[at]
            assert joint.limits.upper == pin.model.upperPositionLimit[at]
        given = {joint.limits.velocity: pin.model.velocityLimit, joint.limits.torque: pin.model.upperEffortLimit}
        for value, values in given.items():
            assert value is None or value == values[theirs.idx_v]


def test_depth_first_in_document_order(wheel_file: Path) -> None:
    robot = robot_of(wheel_file).opened
    for before, after in zip(robot.tree, robot.tree[1:], strict=False):
        way = {before.body.name}
        body = before.body.name
        while body != robot.root.name:
            body = next(joint.parent for joint in robot.tree if joint.body.name == body)
            way.add(body)
        assert after.parent in way


@pytest.mark.filterwarnings("ignore::armdyn.ModelWarning")
def test_written_and_read_back(wheel_file: Path, helpers: Any) -> None:
    robot = robot_of(wheel_file).opened
    again = urdf.loads(urdf.dumps(robot))
    assert [joint.name for joint in again.joints] == [joint.name for joint in robot.joints]
    assert [joint.geometry for joint in again.tree] == [joint.geometry for joint in robot.tree]
    assert [joint.body for joint in again.tree] == [joint.body for joint in robot.tree]
    assert [joint.friction for joint in again.joints] == [joint.friction for joint in robot.joints]
    assert [joint.limits for joint in again.joints] == [joint.limits for joint in robot.joints]


def test_mimic_joints_follow_and_can_be_locked(wheel_file: Path) -> None:
    moving = [
        joint for joint in ElementTree.parse(wheel_file).getroot().findall("joint") if joint.get("type") != "fixed"
    ]
    names = {joint.attrib["name"] for joint in moving}
    laws = {joint.attrib["name"]: joint.find("mimic") for joint in moving}
    followers = {name: 0.0 for name, law in laws.items() if law is not None and law.attrib["joint"] in names}
    robot = robot_of(wheel_file)
    assert robot.dependent == set(followers)
    assert robot.locked(followers).n == robot.n == robot.opened.n - len(followers)


def test_mimic_joints_agree_with_pinocchio(wheel_file: Path) -> None:
    """Torques of the independent joints, against Pinocchio's own model of mimic joints."""
    robot = robot_of(wheel_file).without("friction")
    if not robot.dependent or robot.n > 20:
        pytest.skip("without mimic joints, or large")
    pinocchio = pytest.importorskip("pinocchio")
    model = pinocchio.buildModelFromUrdf(str(wheel_file), mimic=True)
    if model.nq != model.nv:
        pytest.skip("Pinocchio has joints of several coordinates here")
    at = [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.joints]
    assert model.nv == robot.n
    dyn = armdyn.compile(robot)
    motion = np.random.default_rng(0).uniform(-0.5, 0.5, (3, robot.n))
    theirs = np.zeros_like(motion)
    theirs[:, at] = motion
    expected = pinocchio.rnea(model, model.createData(), *theirs)[at]
    assert np.abs(dyn.inverse_dynamics(*motion) - expected).max() < 1e-12 * (1 + np.abs(expected).max())
