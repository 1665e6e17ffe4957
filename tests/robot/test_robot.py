"""The Robot: trees, views, edits, and what it refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import Robot
from armdyn.errors import ArmdynError, RobotError, UnknownName
from armdyn.graph import Node
from armdyn.mechanics import kinematics, newton_euler
from armdyn.robot.links import WORLD

ROWS: list[dict[str, Any]] = [
    {"name": "turn", "d": "h", "alpha": "pi/2", "mass": "m", "com": [0, "-h/2", 0], "inertia": [1, 0, 0, 1, 0, 1]},
    {"name": "reach", "type": "prismatic", "theta": "pi/2", "d": 0.2, "mass": 2, "inertia": [0.1, 0, 0, 0.1, 0, 0.1]},
    {"name": "wrist", "a": 0.3, "mass": 1.5, "com": [-0.1, 0, 0], "inertia": [0.01, 0, 0, 0.02, 0, 0.02]},
]
PARAMETERS = {"h": 0.5, "m": "8*h"}
rng = np.random.default_rng(1)


def arm() -> Robot:
    return Robot.from_dh(ROWS, parameters=PARAMETERS, name="arm")


def torques(robot: Robot, seed: int = 0) -> np.ndarray:
    return newton_euler.inverse_dynamics(robot, *np.random.default_rng(seed).standard_normal((3, robot.n)))


def test_numbers_and_expressions_are_both_kept() -> None:
    robot = arm()
    first = robot.joints[0]
    assert first.geometry.d == 0.5 and first.body.inertia.mass == 4.0
    assert isinstance(robot.symbolic.joints[0].body.inertia.mass, Node)
    assert robot.symbolic.bound().joints == robot.joints
    assert robot.parameters == {"h": 0.5, "m": 4.0}


def test_other_parameter_values_follow_through() -> None:
    taller = arm().with_parameters(h=1.0)
    assert taller.joints[0].geometry.d == 1 and taller.parameters["m"] == 8.0
    assert taller.joints[0].body.inertia.com.y == -0.5
    with pytest.raises(UnknownName, match="'hh'.*Did you mean 'h'"):
        arm().with_parameters(hh=1.0)


def test_quarter_turns_from_expressions_are_exact() -> None:
    R = arm().links[1].placement.R
    assert all(type(entry) is int for row in R.rows for entry in row)


def test_printed_short_form() -> None:
    assert repr(arm()) == "<Robot 'arm': 3 joints, R P R>"


def test_payload_is_merged_where_the_tool_is() -> None:
    tool = np.eye(4)
    tool[:3, 3] = (0.1, 0.2, 0.3)
    robot = Robot.from_dh(ROWS, parameters=PARAMETERS, tool=tool)
    loaded = robot.with_payload(2.0, (0, 0, 0.1), [0.1, 0, 0, 0.2, 0, 0.3])
    q = [0.3, 0.1, -0.4]
    assert np.allclose(kinematics.pose(loaded, q), kinematics.pose(robot, q), atol=1e-15)
    weight = kinematics.pose(robot, q) @ (0, 0, 0.1, 1)
    J = kinematics.jacobian(robot, q)
    arm_to_load = weight[:3] - kinematics.pose(robot, q)[:3, 3]
    force, moment = np.array([0, 0, 2 * 9.81]), np.cross(arm_to_load, [0, 0, 2 * 9.81])
    more = newton_euler.gravity(loaded, q) - newton_euler.gravity(robot, q)
    assert np.allclose(more, J.T @ np.concatenate([force, moment]), atol=1e-12)
    twice = loaded.with_payload(1.0)
    assert [joint.name for joint in twice.tree[-2:]] == ["payload", "payload2"]


def test_without_takes_parts_away() -> None:
    rows = [dict(ROWS[0], friction={"viscous": 2, "coulomb": 1}, rotor={"inertia": 0.01, "ratio": 10})]
    robot = Robot.from_dh(rows, parameters=PARAMETERS)
    bare = robot.without("friction", "rotors")
    difference = torques(robot) - torques(bare)
    _, qd, qdd = np.random.default_rng(0).standard_normal((3, 1))
    assert difference == pytest.approx(2 * qd + np.sign(qd) + 100 * 0.01 * qdd)
    assert np.all(newton_euler.gravity(robot.without("gravity"), [0.1]) == 0)
    with pytest.raises(UnknownName, match="friction, rotors, gravity, limits, motors, offsets, loops, mimic, elastic"):
        robot.without("mass")


@pytest.mark.parametrize("seed", range(6))
def test_locking_a_joint_equals_holding_it(seed: int) -> None:
    robot = armdyn.random_robot(
        seed, 5, branching=0.3 * (seed % 2), convention=("standard", "modified", "free")[seed % 3]
    )
    held = robot.joints[2].name
    rigid = robot.locked({held: 0.3})
    keep = [0, 1, 3, 4]
    q, qd, qdd = np.random.default_rng(seed).standard_normal((3, 5))
    q[2], qd[2], qdd[2] = 0.3, 0, 0
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)[keep]
    found = newton_euler.inverse_dynamics(rigid, q[keep], qd[keep], qdd[keep])
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_locking_an_unknown_joint() -> None:
    with pytest.raises(UnknownName, match="'wrst'.*Did you mean 'wrist'"):
        arm().locked({"wrst": 0})


def test_chain_between_base_and_tip_names_what_it_leaves_out() -> None:
    rows = [*ROWS, {"name": "side", "parent": "turn", "mass": 1}, {"name": "plate", "type": "fixed", "parent": "reach"}]
    robot = Robot.from_dh(rows, parameters=PARAMETERS)
    chain = robot.chain(base="turn", tip="wrist")
    assert [joint.name for joint in chain.tree] == ["reach", "wrist", "plate"]
    assert "side" in chain.notes[-1]
    side = robot.chain(tip="side")
    assert side.tool_on == "side" and [j.name for j in side.joints] == [
        j.name for j in robot.chain("base", "side").joints
    ]
    with pytest.raises(RobotError, match="is not a descendant of"):
        robot.chain(base="side", tip="wrist")
    with pytest.raises(UnknownName, match="Did you mean"):
        robot.chain(tip="wrst")


def test_the_frame_of_a_chain_starts_at_its_base() -> None:
    robot = Robot.from_dh(ROWS, parameters=PARAMETERS)
    chain = robot.chain(base="turn", tip="wrist")
    q = [0.4, 0.1, -0.2]
    whole = np.linalg.inv(kinematics.pose(robot, q, "turn")) @ kinematics.pose(robot, q, "wrist")
    assert np.allclose(kinematics.pose(chain, q[1:]), whole, atol=1e-14)


def test_trees_know_their_paths() -> None:
    robot = Robot.from_dh([{"name": "a"}, {"name": "b"}, {"name": "c", "parent": "a"}, {"name": "d", "parent": "base"}])
    assert [link.parent for link in robot.links] == [WORLD, 0, 0, WORLD]
    assert (robot.path(2), robot.path(3), robot.path(WORLD)) == ([0, 2], [3], [])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no joint"),
        ([{"name": "a"}, {"name": "a"}], "two joints are called 'a'"),
        ([{"name": "a", "parent": "b"}, {"name": "b"}], "comes later in the tree"),
        ([{"name": "a", "parent": "a"}], "is a descendant of the joint"),
        ([{"name": "a", "parent": "z"}], "unknown parent body 'z'"),
        ([{"type": "hinge"}], "unknown joint type 'hinge'.*revolute, prismatic, fixed, free, ball"),
        ([{"type": "ball", "axis": [0, 0, 1]}], "unknown key 'axis'"),
        ([{"type": "free", "spring": {"stiffness": 3}}], "unknown key 'spring'"),
        ([{"mas": 1}], "unknown key 'mas'.*Did you mean 'mass'"),
        ([{"mass": "m1"}], "unknown parameter 'm1'"),
        ([{"mass": True}], "True is not a number"),
        ([{"mass": math.nan}], "not a finite number"),
        ([{"mass": 1e200}], "sensible size"),
        ([{"com": [1, 2]}], r"joint1'.com.*a list of 3 numbers"),
        ([{"inertia": 3}], "a list of 6 numbers"),
        ([{"com": [0, 0, 0], "moment": [0, 0, 0]}], "'moment' and 'com' together"),
        ([{"axis": [0, 0, 0]}], "not zero"),
        ([{"rotor": {"inertia": 1, "model": "x"}}], "unknown rotor model"),
        ([{"rotor": 5}], "is not a table"),
        ([{"a": "1 +"}], "ends too early"),
        ([{"a": "1/0"}], "division by zero"),
        ([{"a": "__import__('os')"}], "'__import__'|has no meaning"),
        ([{"a": "9**9**9**9"}], "not expected|exponent"),
        ([{"a": "2**1000000"}], "exponent"),
        ([{"a": "(" * 200 + "1" + ")" * 200}], "nesting"),
        ([{"a": "x.y"}], "unknown parameter|no meaning"),
        ([{"a": "open('f')"}], "unknown function|no meaning"),
        ([{"a": "sqrt(-1)"}], "sqrt|square root|domain"),
    ],
)
def test_bad_rows_are_refused_with_reasons(rows: list[dict], message: str) -> None:
    with pytest.raises(ArmdynError, match=message):
        Robot.from_dh(rows)


def test_base_must_be_rigid() -> None:
    with pytest.raises(RobotError, match="rigid displacement"):
        Robot.from_dh(ROWS, parameters=PARAMETERS, base=2 * np.eye(4))
    with pytest.raises(RobotError, match="4x4"):
        Robot.from_dh(ROWS, parameters=PARAMETERS, base=np.eye(3))


def test_parameters_may_use_earlier_ones_only() -> None:
    with pytest.raises(UnknownName, match="'b'"):
        Robot.from_dh([{}], parameters={"a": "b", "b": 1})
    with pytest.raises(RobotError, match="'pi' cannot be the name"):
        Robot.from_dh([{}], parameters={"pi": 3})


def test_the_first_moment_form_is_the_same_body() -> None:
    com = Robot.from_dh([{"mass": 2, "com": [0.1, 0.2, 0.3], "inertia": [1, 0.1, 0.2, 1.5, 0.3, 2]}])
    body = com.joints[0].body.inertia.at_origin()
    row = {"mass": 2, "moment": list(body.moment), "inertia_origin": list(body.tensor.upper())}
    origin = Robot.from_dh([row])
    assert torques(origin) == pytest.approx(torques(com), rel=1e-13)


def test_turning_the_whole_cell_changes_nothing() -> None:
    """Base and gravity turned together: the torques stay."""
    robot = armdyn.random_robot(3, 5, tilted_base=False)
    T = np.eye(4)
    T[:3, :3] = kinematics.pose(armdyn.random_robot(9, 3), [0.3, 0.2, 0.1])[:3, :3]
    from dataclasses import replace

    from armdyn.algebra import Mat3, Pose, Vec3
    from armdyn.robot.edit import numeric_placement

    cell = Pose(Mat3(T[:3, :3].tolist()), Vec3(0.5, -1.0, 2.0))
    turned = replace(
        robot,
        base=numeric_placement(cell @ robot.base.pose()),
        gravity=cell.R @ robot.gravity,
        expressions=None,
    )
    assert torques(turned) == pytest.approx(torques(robot), rel=1e-11, abs=1e-11)


def test_a_joint_may_be_called_base() -> None:
    """Bodies without a name have that of their joint; the body that stands makes room, unless a row stands on it."""
    rows = [{"name": "base", "d": 0.3}, {"name": "elbow", "a": 0.5}]
    robot = Robot.from_dh(rows)
    assert robot.root.name == "ground" and robot.tree[0].parent == "ground" and robot.tree[1].parent == "base"
    assert Robot.from_dh([rows[1]]).root.name == "base"
    with pytest.raises(RobotError, match="two bodies are called 'base'"):
        Robot.from_dh([rows[0], {**rows[1], "parent": "base"}])
