"""Robot -> URDF -> Robot: frames, bodies and torques stay, and what is lost is named."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import catalog
from armdyn.algebra import CentralInertia, Inertia, Mat3, Vec3
from armdyn.errors import FeatureError, NotApplicable, RobotError
from armdyn.formats import urdf
from armdyn.mechanics import newton_euler
from armdyn.robot import (
    Body,
    FreeTransform,
    Friction,
    Joint,
    Limits,
    Loop,
    ModifiedDH,
    Placement,
    Robot,
    Rotor,
    StandardDH,
)
from armdyn.robot.parts import Motor
from armdyn.robot.random import random_robot

TOLERANCE = 1e-12
SEEDS = range(24)


def sample(seed: int) -> Robot:
    """Random robots of all conventions: chains and trees, fixed bodies, tilted bases, tools."""
    branching = 0.4 if seed % 2 else 0.0
    return random_robot(seed, branching=branching, fixed=0.3, friction=seed % 3 == 0, limits=seed % 4 == 0,
                        tilted_base=seed % 5 != 0, tool=seed % 7 != 0, skew=seed % 3 != 1)  # fmt: skip


def written(robot: Robot) -> str:
    """The text; what it loses is checked elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        return urdf.dumps(sayable(robot))


def sayable(robot: Robot) -> Robot:
    """The robot without the parts of which URDF knows nothing."""
    robot = robot.without("rotors", "static_friction")
    plain = [joint.friction and replace(joint.friction, static=0, stribeck=0) for joint in robot.tree]
    return replace(robot, tree=tuple(replace(j, friction=f) for j, f in zip(robot.tree, plain, strict=True)))


def by_name(robot: Robot, values: dict[str, float]) -> list[float]:
    return [values[joint.name] for joint in robot.joints]


def bodies(robot: Robot) -> list[str]:
    return [robot.root.name, *(joint.body.name for joint in robot.tree)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_body_and_the_tool_keep_their_frames(seed: int, helpers: Any) -> None:
    robot = sample(seed)
    again = urdf.loads(written(robot))
    q = helpers.random_positions(robot, seed)
    before, after = helpers.frame_poses(robot, q), helpers.frame_poses(again, q)
    for name in ("tool", *bodies(robot)):
        assert np.abs(before[name] - after[name]).max() < TOLERANCE, name


@pytest.mark.parametrize("seed", SEEDS)
def test_torques_stay(seed: int, helpers: Any) -> None:
    robot = sayable(sample(seed))
    again = urdf.loads(written(robot))
    q, qd, qdd = (helpers.random_positions(robot, 3 * seed + i) for i in range(3))
    arguments = [[by_name(r, values) for values in (q, qd, qdd)] for r in (robot, again)]
    tau, tau_again = (newton_euler.inverse_dynamics(r, *a) for r, a in zip((robot, again), arguments, strict=True))
    expected = dict(zip([joint.name for joint in robot.joints], tau, strict=True))
    scale = np.abs(tau).max() + 1
    assert np.abs(tau_again - by_name(again, expected)).max() < TOLERANCE * scale


@pytest.mark.parametrize("seed", SEEDS)
def test_pinocchio_reads_the_same_robot(seed: int, helpers: Any) -> None:
    robot = sample(seed)
    pin = helpers.PinModel(written(robot))
    q, qd, qdd = (helpers.random_positions(robot, 3 * seed + i) for i in range(3))
    ours, theirs = helpers.frame_poses(robot, q), pin.frame_poses(q)
    for name in bodies(robot):
        assert np.abs(ours[name] - theirs[name]).max() < TOLERANCE, name
    frictionless = robot.without("friction")
    tau = newton_euler.inverse_dynamics(frictionless, *(by_name(robot, values) for values in (q, qd, qdd)))
    arguments = (pin.positions(q), pin.velocities(qd), pin.velocities(qdd))
    foreign = np.atleast_1d(pin.pin.rnea(pin.model, pin.model.createData(), *arguments))
    expected = pin.velocities(dict(zip([joint.name for joint in robot.joints], tau, strict=True)))
    assert np.abs(foreign - expected).max() < TOLERANCE * (np.abs(tau).max() + 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_limits_and_friction_stay(seed: int) -> None:
    robot = sayable(sample(seed))
    again = urdf.loads(written(robot))
    for joint in robot.joints:
        other = again.joint(joint.name)
        limits = joint.limits and replace(joint.limits, acceleration=None)
        assert other.limits == limits
        assert other.friction == joint.friction
        assert other.kind == joint.kind


@pytest.mark.parametrize("name", catalog.names())
def test_catalog_robots_keep_their_frames_and_rigid_bodies(name: str, helpers: Any) -> None:
    robot = sayable(armdyn.load(name)).opened
    again = urdf.loads(written(robot))
    q = helpers.random_positions(robot, 1)
    before, after = helpers.frame_poses(robot, q), helpers.frame_poses(again, q)
    for frame in ("tool", *bodies(robot)):
        assert np.abs(before[frame] - after[frame]).max() < TOLERANCE
    frames = {joint.name: joint.body.name for joint in robot.joints}
    first, second = helpers.body_inertias(robot, frames), helpers.body_inertias(again, frames)
    for joint in first:
        assert np.abs(first[joint] - second[joint]).max() < TOLERANCE * (np.abs(first[joint]).max() + 1)


def arm(**changes: Any) -> Robot:
    """Two joints of standard DH, the first off its axis."""
    elbow = Joint("elbow", "revolute", StandardDH(theta=0.3, a=0.4, alpha=math.pi / 2), "base", Body("upper arm"))
    slide = Joint("slide", "prismatic", StandardDH(d=0.2, a=0.1), "upper arm", Body("probe"))
    return replace(Robot("arm", (elbow, slide)), **changes)


def test_a_frame_off_its_axis_hangs_on_a_link_on_the_axis() -> None:
    again = urdf.loads(urdf.dumps(arm()))
    assert [joint.body.name for joint in again.tree] == ["upper arm_axis", "upper arm", "probe"]
    assert [joint.kind for joint in again.tree] == ["revolute", "fixed", "prismatic"]


def test_names_made_up_for_links_never_clash() -> None:
    wrist = Joint("upper arm_frame", "revolute", ModifiedDH(), "probe", Body("upper arm_axis"))
    first, second = arm().tree
    tree = (replace(first, parent="world"), second, wrist)
    robot = arm(tree=tree, base=Placement(Vec3(0, 0, 1)), root=Body("world"))
    again = urdf.loads(urdf.dumps(robot))
    assert again.root.name == "world2"
    assert {"world", "upper arm", "upper arm_axis", "probe"} <= again.frames.keys()
    assert [joint.name for joint in again.joints] == ["elbow", "slide", "upper arm_frame"]


def test_quarter_turns_stay_exact() -> None:
    link = urdf.loads(urdf.dumps(arm())).links[1]
    assert all(type(entry) is int for row in link.placement.R.rows for entry in row)


def test_a_free_joint_is_written_as_it_was_given() -> None:
    geometry = FreeTransform(Placement(Vec3(0.1, 1 / 3, 1e-17), Vec3(0.1, -1.2, 2.9)), Vec3(0.6, 0, 0.8))
    inertia = CentralInertia(1 / 7, Vec3(0.1, 0.2, 0.3), Mat3.symmetric(0.1, 1e-5, 2e-5, 0.2, -3e-5, 0.3))
    joint = Joint("a", "prismatic", geometry, "base", Body("b", inertia), friction=Friction(0.1, 0.2))
    again = urdf.loads(urdf.dumps(Robot("one", (joint,))))
    assert again.tree == (joint,)


def test_a_robot_without_joints_can_be_written() -> None:
    drone = Robot("drone", (), root=Body("hull", CentralInertia(1.5, Vec3(0, 0, 0.1), Mat3.diagonal(1, 2, 3))))
    assert urdf.loads(urdf.dumps(drone)).root == drone.root


def test_the_tool_frame_of_another_body_stays(helpers: Any) -> None:
    robot = arm(tool_on="upper arm", tool=Placement(Vec3(0.1, 0.2, 0.3), Vec3(0.4, 0.5, 0.6)))
    again = urdf.loads(urdf.dumps(robot))
    q = {"elbow": 0.7, "slide": -0.2}
    assert again.tool_on == "tool"
    assert np.abs(helpers.frame_poses(robot, q)["tool"] - helpers.frame_poses(again, q)["tool"]).max() < TOLERANCE


def with_part(**parts: Any) -> Robot:
    first, second = arm().tree
    return arm(tree=(replace(first, **parts), second))


def branched() -> Robot:
    """Breadth first: a reader of URDF will go depth first."""
    rows = (("left", "base"), ("right", "base"), ("left_tip", "left"))
    return Robot("tree", tuple(Joint(name, "revolute", ModifiedDH(), on, Body(name)) for name, on in rows))


LOSSES = {
    "gear ratios (elbow)": with_part(rotor=Rotor(ratio=50)),
    "acceleration limits (elbow)": with_part(limits=Limits(acceleration=3)),
    "mimic couplings (elbow)": with_part(notes=("mimics 'other' (1 q + 0): read as an independent joint",)),
    "gravity (0 0 -3.7); readers take their own": arm(gravity=Vec3(0, 0, -3.7)),
    "the tool frame, because a body is already called 'tool'": replace(
        arm(), root=Body("tool"), tree=tuple(replace(j, parent=j.parent.replace("base", "tool")) for j in arm().tree)
    ),
    "the order of the joints, which on reading will be left, left_tip, right": branched(),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_what_urdf_cannot_say_is_named(loss: str) -> None:
    with pytest.warns(armdyn.ModelWarning) as caught:
        urdf.dumps(LOSSES[loss])
    name = LOSSES[loss].name
    assert [str(w.message) for w in caught] == [
        f"robot {name!r}: URDF cannot express, so the file does not contain: {loss}."
    ]


REFUSED = {
    "rotors": with_part(rotor=Rotor(inertia=0.01, ratio=50)),
    "static_friction": with_part(friction=Friction(1, 2, 3, 0.1)),
    "offsets": with_part(friction=Friction(1, 2, offset=0.1)),
    "motors": with_part(motor=Motor(viscous=0.1)),
    "loops": arm(loops=(Loop("bar", "upper arm", "probe"),)),
}
"""What changes the torques and has no place in URDF, by the name for `without`."""


@pytest.mark.parametrize("feature", REFUSED)
def test_what_changes_the_torques_is_refused_by_name(feature: str, tmp_path: Path) -> None:
    robot = REFUSED[feature]
    with pytest.raises(FeatureError, match=rf'formats.urdf does not .*robot.without\("{feature}"\)') as caught:
        robot.save(tmp_path / "robot.urdf")
    assert caught.value.feature == feature and "formats.toml" in str(caught.value)
    assert not (tmp_path / "robot.urdf").exists()
    again = armdyn.load(robot.without(feature).save(tmp_path / "robot.urdf"))
    assert [joint.name for joint in again.joints] == [joint.name for joint in robot.opened.joints]


def test_first_moments_without_mass_are_refused() -> None:
    with pytest.raises(NotApplicable, match=r"first moments of mass \(upper arm\)"):
        urdf.dumps(with_part(body=Body("upper arm", Inertia(0, Vec3(1, 0, 0), Mat3.zero()))))


def test_nothing_lost_nothing_said() -> None:
    robot = with_part(friction=Friction(1, 2), limits=Limits(-1, 1, 2, None, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        urdf.dumps(robot)


def test_unbound_numbers_and_names_are_refused() -> None:
    with pytest.raises(RobotError, match="nan cannot be written to a file"):
        urdf.dumps(arm(base=Placement(Vec3(math.nan, 0, 0))))
    with pytest.raises(RobotError, match="cannot be a name in URDF"):
        urdf.dumps(arm(name="two\nlines"))


def test_save_and_load_by_file_name(tmp_path: Path) -> None:
    robot = arm()
    path = robot.save(tmp_path / "arm.urdf")
    assert urdf.read(path).source == "URDF file arm.urdf"
    assert [joint.name for joint in urdf.read(path).joints] == ["elbow", "slide"]
