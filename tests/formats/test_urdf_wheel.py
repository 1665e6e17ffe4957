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
from armdyn.mechanics import closed_chain, kinematics
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


def _model(path: Path) -> tuple[Any, dict[str, tuple[str, float, float]]]:
    """Pinocchio's model, and the laws (leader, ratio, offset) of mimic joints that it does not know itself.

    It refuses a follower that comes before its leader; those files are projected by the laws of the file.
    """
    pin = pytest.importorskip("pinocchio")
    try:
        return pin.buildModelFromUrdf(str(path), mimic=True), {}
    except ValueError:
        model = pin.buildModelFromUrdf(str(path))
    joints = {joint.attrib["name"]: joint for joint in ElementTree.parse(path).getroot().findall("joint")}
    laws = {}
    for name, joint in joints.items():
        law = joint.find("mimic")
        if law is not None and model.existJointName(name) and model.existJointName(law.attrib["joint"]):
            ratio, offset = (float(law.get(key, usual)) for key, usual in (("multiplier", "1"), ("offset", "0")))
            laws[name] = law.attrib["joint"], ratio, offset
    return model, laws


def test_mimic_joints_agree_with_pinocchio(wheel_file: Path) -> None:
    """Torques and mass matrix of the independent joints, against Pinocchio's own model of mimic joints."""
    robot = robot_of(wheel_file).without("friction")
    if not robot.dependent:
        pytest.skip("without mimic joints")
    pin = pytest.importorskip("pinocchio")
    model, laws = _model(wheel_file)
    assert model.nv == robot.n + len(laws)
    names = [joint.name for joint in robot.joints]
    G, offset = np.zeros((model.nv, robot.n)), np.zeros(model.nv)
    for name in (*names, *laws):
        leader, ratio, offset[model.joints[model.getJointId(name)].idx_v] = laws.get(name, (name, 1.0, 0.0))
        G[model.joints[model.getJointId(name)].idx_v, names.index(leader)] = ratio
    rng = np.random.default_rng(0)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-0.5, 0.5, (3, robot.n))
        place = pin.integrate(model, pin.neutral(model), G @ q + offset)
        expected = G.T @ pin.rnea(model, model.createData(), place, G @ qd, G @ qdd)
        q_all = np.array(closed_chain.all_positions(robot, q), dtype=float)
        tau = closed_chain.inverse_dynamics(robot, q_all, qd, qdd)
        assert np.abs(tau - expected).max() < 1e-12 * (1 + np.abs(expected).max())
        M = pin.crba(model, model.createData(), place)
        M = G.T @ (np.triu(M) + np.triu(M, 1).T) @ G
        found = closed_chain.mass_matrix(robot, q_all)
        assert np.abs(found - M).max() < 1e-12 * (1 + np.abs(M).max())
    if robot.n < 20:
        assert armdyn.compile(robot).inverse_dynamics(q, qd, qdd) == pytest.approx(expected, rel=1e-12, abs=1e-12)
