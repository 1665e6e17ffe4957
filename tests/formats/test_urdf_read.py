"""What the reader makes of a URDF text: defaults, limits, notes, order, tool."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Mat3, Vec3
from armdyn.errors import ArmdynError
from armdyn.formats import urdf
from armdyn.mechanics import composite_body, kinematics
from armdyn.robot import Friction, Joint, Limits, Placement, Robot
from support.limits import calls


def robot_with(inside: str, kind: str = "revolute", link: str = "") -> Robot:
    """Two links and a joint between them."""
    return urdf.loads(
        f'<robot name="r"><link name="base"/><link name="arm">{link}</link>'
        f'<joint name="j" type="{kind}"><parent link="base"/><child link="arm"/>{inside}</joint></robot>'
    )


def joint_with(inside: str, kind: str = "revolute") -> Joint:
    return robot_with(inside, kind).tree[0]


def test_defaults_of_urdf() -> None:
    joint = joint_with("")
    assert joint.geometry.axis == Vec3(1, 0, 0)
    assert joint.geometry.placement == Placement()
    assert (joint.limits, joint.friction, joint.notes) == (None, None, ())


@pytest.mark.parametrize(
    ("stated", "kind"),
    [("revolute", "revolute"), ("continuous", "revolute"), ("prismatic", "prismatic"), ("fixed", "fixed")],
)
def test_types(stated: str, kind: str) -> None:
    assert joint_with("", stated).kind == kind


def test_an_axis_is_made_a_direction() -> None:
    assert joint_with('<axis xyz="0 3 4"/>').geometry.axis == Vec3(0, 0.6, 0.8)
    axis = joint_with('<axis xyz="0 0 -1.0"/>').geometry.axis
    assert [type(x) for x in axis] == [int, int, int]


def test_the_axis_of_a_fixed_joint_does_not_matter() -> None:
    assert joint_with('<axis xyz="0 0 0"/>', "fixed").kind == "fixed"


def test_an_exact_quarter_turn_is_exact_and_a_rounded_one_is_not_snapped() -> None:
    exact = joint_with(f'<origin rpy="{math.pi / 2!r} 0 0"/>').geometry.placement.pose().R
    rounded = joint_with('<origin rpy="1.5708 0 0"/>').geometry.placement.pose().R
    assert exact == Mat3(((1, 0, 0), (0, 0, -1), (0, 1, 0)))
    assert rounded.rows[1][1] == math.cos(1.5708) != 0


INERTIAL = """<inertial><origin xyz="0.1 0.2 0.3" rpy="0.4 -0.5 0.6"/><mass value="2"/>
<inertia ixx="0.3" ixy="0.01" ixz="0.02" iyy="0.2" iyz="-0.03" izz="0.1"/></inertial>"""


def test_the_tensor_is_turned_into_the_axes_of_the_link() -> None:
    inertia = robot_with("", link=INERTIAL).tree[0].body.inertia.about_com()
    given = np.array([[0.3, 0.01, 0.02], [0.01, 0.2, -0.03], [0.02, -0.03, 0.1]])
    R = Placement(rpy=Vec3(0.4, -0.5, 0.6)).pose().R.array()
    tensor = inertia.tensor.array()
    assert np.abs(tensor - R @ given @ R.T).max() < 1e-15
    assert (tensor == tensor.T).all()
    assert (inertia.mass, inertia.com) == (2.0, Vec3(0.1, 0.2, 0.3))


def test_damping_and_friction() -> None:
    assert joint_with('<dynamics damping="0.7" friction="0.2"/>').friction == Friction(viscous=0.7, coulomb=0.2)
    assert joint_with('<dynamics damping="0.7"/>').friction == Friction(viscous=0.7)
    assert joint_with('<dynamics damping="0" friction="0.0"/>').friction is None


@pytest.mark.parametrize(
    ("kind", "attributes", "limits"),
    [
        ("revolute", 'lower="-2" upper="3" velocity="4" effort="5"', Limits(-2, 3, 4, None, 5)),
        ("prismatic", 'lower="-2" upper="3" velocity="4" effort="5"', Limits(-2, 3, 4, None, 5)),
        ("revolute", 'velocity="4" effort="5"', Limits(None, None, 4, None, 5)),
        ("revolute", 'upper="3"', Limits(0, 3)),
        ("revolute", 'lower="-3"', Limits(-3, 0)),
        ("revolute", 'lower="-1e30" upper="2" velocity="1e31" effort="9"', Limits(None, 2, None, None, 9)),
        ("continuous", 'velocity="4" effort="5"', Limits(None, None, 4, None, 5)),
        ("continuous", 'lower="-3" upper="3" velocity="4" effort="5"', Limits(None, None, 4, None, 5)),
        ("revolute", 'velocity="0" effort="0"', None),
    ],
)
def test_limits(kind: str, attributes: str, limits: Limits | None) -> None:
    assert joint_with(f"<limit {attributes}/>", kind).limits == limits


def test_what_is_not_taken_as_it_stands_leaves_a_note() -> None:
    (note,) = joint_with('<limit velocity="0" effort="2"/>').notes
    assert note == "velocity limit is 0 in the file: treated as not given"
    assert joint_with('<limit lower="-1" upper="1"/>', "continuous").notes == (
        "range in the file is ignored: a continuous joint has none",
    )
    assert "which is not in the file" in joint_with('<mimic joint="k"/>').notes[0]


def test_order_is_depth_first_and_children_in_document_order() -> None:
    pairs = [("d", "b"), ("b", "base"), ("c", "base"), ("e", "b"), ("f", "d")]
    links = "".join(f'<link name="{name}"/>' for name in ("f", "base", "c", "b", "d", "e"))
    joints = "".join(
        f'<joint name="{child}" type="revolute"><parent link="{parent}"/><child link="{child}"/></joint>'
        for child, parent in pairs
    )
    robot = urdf.loads(f'<robot name="r">{joints}{links}</robot>')
    assert [joint.name for joint in robot.joints] == ["b", "d", "f", "e", "c"]
    assert robot.root.name == "base"


def test_a_link_called_tool_is_the_tool() -> None:
    text = (
        '<robot name="r"><link name="base"/><link name="tool"/><link name="z"/>'
        '<joint name="a" type="revolute"><parent link="base"/><child link="tool"/></joint>'
        '<joint name="b" type="revolute"><parent link="tool"/><child link="z"/></joint></robot>'
    )
    assert urdf.loads(text).tool_on == "tool"


def test_a_default_namespace_and_foreign_elements_are_passed_over() -> None:
    text = (
        '<robot xmlns="http://example.org" xmlns:x="http://example.org/x" name="r"><x:extra/><link name="base">'
        '<visual/></link><transmission><joint name="nothing"/></transmission>'
        '<gazebo><link name="base"/></gazebo></robot>'
    )
    robot = urdf.loads(text)
    assert (robot.name, robot.n, robot.root.name) == ("r", 0, "base")


def test_a_long_chain_needs_no_recursion() -> None:
    count = 3000
    links = "".join(f'<link name="l{i}"/>' for i in range(count + 1))
    joints = "".join(
        f'<joint name="j{i}" type="prismatic"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in reversed(range(count))
    )
    robot = urdf.loads(f'<robot name="long">{links}{joints}</robot>')
    assert [joint.name for joint in robot.joints] == [f"j{i}" for i in range(count)]


MIMICKING = """<robot name="gripper"><link name="base"/><link name="left"/><link name="right"/>
<joint name="a" type="prismatic"><parent link="base"/><child link="left"/><limit lower="0" upper="1"/></joint>
<joint name="b" type="prismatic"><parent link="base"/><child link="right"/><mimic joint="a"/></joint></robot>"""


@pytest.mark.parametrize(
    "parent", [lambda i: i - 1, lambda i: (i - 1) // 2, lambda i: 0], ids=["chain", "tree", "star"]
)
def test_work_grows_as_the_file(parent: Any) -> None:
    """900 links, every third joint movable, beside a third of them."""
    third, whole = (long_text(parent, count) for count in (301, 901))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)
        assert urdf.loads(whole).n == 300
        assert calls(lambda: urdf.loads(whole)) < 3.2 * calls(lambda: urdf.loads(third))


def long_text(parent: Any, count: int) -> str:
    inertial = ('<inertial><origin xyz="0.1 0.02 0.03" rpy="0 0.1 0"/><mass value="1.5"/>'
                '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>')  # fmt: skip
    parts = [
        f'<link name="l{i}">{inertial}</link><joint name="j{i}" type="{"fixed" if i % 3 else "continuous"}"><origin '
        f'xyz="0.1 0 0.1" rpy="0.1 0 0"/><parent link="l{parent(i)}"/><child link="l{i}"/><axis xyz="0 1 0"/></joint>'
        for i in range(1, count)
    ]
    return f'<robot name="long"><link name="l0"/>{"".join(parts)}</robot>'


def test_mimic_joints_follow_their_leader(tmp_path: Path) -> None:
    path = tmp_path / "gripper.urdf"
    path.write_text(MIMICKING.replace('joint="a"', 'joint="a" multiplier="-2" offset="0.5"'), encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        robot = armdyn.load(path)
    assert (robot.n, robot.opened.n) == (1, 2)
    assert armdyn.compile(robot).closed([0.3]) == pytest.approx([0.3, -0.1])
    again = urdf.loads(urdf.dumps(robot))
    assert [joint.mimic for joint in again.tree] == [joint.mimic for joint in robot.tree]
    assert armdyn.load(path, lock={"b": 0.0}).n == 1
    held = armdyn.load(path, lock={"a": 0.3})
    assert held.n == 0
    assert (
        np.abs(kinematics.pose(held, [], "right") - kinematics.pose(robot.opened, [0.3, -0.1], "right")).max() < 1e-15
    )
    with pytest.raises(armdyn.ArmdynError, match="follow one another: a -> b -> a"):
        urdf.loads(MIMICKING.replace("</joint>", '<mimic joint="b"/></joint>', 1))
    with pytest.warns(armdyn.ModelWarning, match="mimics 'c', which is not in the file"):
        path.write_text(MIMICKING.replace('joint="a"', 'joint="c"'), encoding="utf-8")
        assert armdyn.load(path).n == 2


def test_the_checkup_shows_the_notes() -> None:
    shown = [finding.what for finding in armdyn.check(urdf.loads(MIMICKING.replace('joint="a"', 'joint="c"'))).findings]
    assert any(what.startswith("mimics 'c'") for what in shown)


def test_chain_and_lock_through_load(tmp_path: Path, helpers: Any) -> None:
    """Poses of the cut and locked robot against those of the whole one."""
    text = (
        '<robot name="r">'
        + "".join(f'<link name="l{i}"/>' for i in range(5))
        + "".join(
            f'<joint name="j{i}" type="revolute"><origin xyz="0.1 0.2 {i}" rpy="0.3 {i} 0.1"/><parent link="l{i}"/>'
            f'<child link="l{i + 1}"/><axis xyz="1 {i} 2"/></joint>'
            for i in range(4)
        )
        + "</robot>"
    )
    path = tmp_path / "r.urdf"
    path.write_text(text, encoding="utf-8")
    q = {"j0": 0.3, "j1": 0.5, "j2": -0.7, "j3": 1.1}
    whole = helpers.frame_poses(urdf.loads(text), q)
    part = armdyn.load(path, base="l1", tip="l3", lock={"j1": 0.5})
    assert [joint.name for joint in part.joints] == ["j2"]
    poses = helpers.frame_poses(part, q)
    assert np.abs(np.linalg.inv(whole["l1"]) @ whole["l3"] - poses["tool"]).max() < 1e-14


# Files as they are found ------------------------------------------------------------------------------------------

LINK = (
    '<link name="{}"><inertial><origin xyz="0.1 0 0"/><mass value="2"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" '
    'iyz="0" izz="0.1"/></inertial></link>'
)
JOINT = '<joint name="j" type="continuous"><parent link="{}"/><child link="b"/><axis xyz="0 1 0"/></joint>'
ARM = LINK.format("a") + LINK.format("b") + JOINT.format("a")


def test_white_space_before_the_declaration() -> None:
    text = f'\n\n  <?xml version="1.0"?>\n<robot name="r">{ARM}</robot>'
    assert urdf.loads(text).n == 1
    with pytest.raises(ArmdynError, match=":4"):  # lines are those of the file
        urdf.loads(text.replace('type="continuous"', 'type="helical"'), "file")


def test_prefixes_that_are_not_declared() -> None:
    robot = urdf.loads(
        f'<robot name="r">{ARM}<sensor:camera name="c" sensor:mode="3"/><gazebo><xi:x/></gazebo></robot>'
    )
    assert robot.n == 1


def test_the_world_need_not_be_declared() -> None:
    robot = urdf.loads(f'<robot name="r">{LINK.format("b")}{JOINT.format("world")}</robot>')
    assert robot.root.name == "world" and robot.n == 1
    with pytest.raises(ArmdynError, match="unknown parent link 'word'"):
        urdf.loads(f'<robot name="r">{LINK.format("b")}{JOINT.format("word")}</robot>')


XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'


def test_leftover_xacro_tags_are_reported_if_the_robot_is_complete() -> None:
    robot = urdf.loads(f'<robot name="r" {XACRO}><xacro:property name="x" value="3"/>{ARM}</robot>')
    assert robot.n == 1 and any("<xacro:property>" in note for note in robot.notes)


@pytest.mark.parametrize("inside", [
    f'{LINK.format("b")}{JOINT.format("a")}<xacro:base name="a"/>',  # a link is missing
    ARM.replace("<axis", "<xacro:origin/><axis"),  # something inside a joint is missing
])  # fmt: skip
def test_xacro_tags_that_stand_for_parts_are_refused(inside: str) -> None:
    with pytest.raises(ArmdynError, match="not yet a URDF file"):
        urdf.loads(f'<robot name="r" {XACRO}>{inside}</robot>')


def test_a_mass_without_a_tensor_is_reported() -> None:
    bare = ARM.replace(LINK.format("b"), '<link name="b"><inertial><mass value="2"/></inertial></link>')
    robot = urdf.loads(f'<robot name="r">{bare}</robot>')
    assert any("link 'b'" in note and "no <inertia>" in note for note in robot.notes)


def test_rotors_of_drake() -> None:
    given = '<drake:rotor_inertia value="0.002"/><drake:gear_ratio value="30"/>'
    drive = f'<transmission><joint name="j"/><actuator name="m">{given}</actuator></transmission>'
    text = f'<robot name="r">{ARM}{drive}</robot>'
    with_rotor, without = urdf.loads(text), urdf.loads(text.replace(given, ""))
    added = composite_body.mass_matrix(with_rotor, [0.3]) - composite_body.mass_matrix(without, [0.3])
    np.testing.assert_allclose(added, [[30**2 * 0.002]], rtol=1e-12)


def test_a_floating_joint_can_be_welded() -> None:
    free = '<link name="w"/><joint name="f" type="floating"><parent link="w"/><child link="a"/></joint>'
    text = f'<robot name="r">{free}{ARM}</robot>'
    assert (urdf.loads(text).n, urdf.loads(text).nq) == (7, 8)
    assert urdf.loads(text, free_root=False).n == 1


def test_a_planar_joint_is_three_joints() -> None:
    plane = (
        '<link name="w"/><joint name="f" type="planar"><parent link="w"/><child link="a"/><axis xyz="0 1 0"/></joint>'
    )
    robot = urdf.loads(f'<robot name="r">{plane}{ARM}</robot>')
    assert [joint.kind for joint in robot.joints] == ["prismatic", "prismatic", "revolute", "revolute"]
    T = kinematics.pose(robot, [0.3, 0.4, 0.5, 0], frame="a")
    assert T[1, 3] == 0 and np.hypot(T[0, 3], T[2, 3]) == pytest.approx(0.5)
    np.testing.assert_allclose(T[:3, 1], [0, 1, 0], atol=1e-15)
    assert np.trace(T[:3, :3]) == pytest.approx(1 + 2 * np.cos(0.5))


def test_a_spherical_joint_is_a_ball_joint() -> None:
    """Of Bullet's dialect."""
    ball = '<link name="w"/><joint name="f" type="spherical"><parent link="w"/><child link="a"/></joint>'
    robot = urdf.loads(f'<robot name="r">{ball}{ARM}</robot>')
    assert (robot.n, robot.nq, robot.features["free_joints"]) == (4, 5, ("f",))


@pytest.mark.parametrize(("old", "new", "note"), [
    (' ixy="0" ixz="0" iyz="0"', "", "'b': ixy, ixz, iyz, for <inertia> does not give them"),
    ("<visual/>", "<visual><xacro:grey/></visual>", "leftover tags of xacro: <xacro:grey>"),
    (">50<", ">reduction<", "mechanicalReduction of the transmission of j: 'reduction' is not a number"),
])  # fmt: skip
def test_what_a_file_leaves_open_is_noted(old: str, new: str, note: str) -> None:
    """The rest of the file is read; a moment of inertia may not be missing."""
    text = (
        '<robot name="r" xmlns:xacro="http://ros.org/wiki/xacro"><link name="a"/><link name="b"><visual/><inertial>'
        '<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint><transmission name="t"><joint '
        'name="j"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission></robot>'
    )
    assert old in text and not urdf.loads(text).notes
    assert note in urdf.loads(text.replace(old, new)).notes[0]
    with pytest.raises(armdyn.ArmdynError, match="'ixx' is missing"):
        urdf.loads(text.replace('ixx="1"', ""))


def test_the_root_can_be_put_on_a_free_joint(tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="r">{ARM}</robot>', encoding="utf-8")
    free = armdyn.load(path, free_root=True)
    assert (free.n, free.nq, free.features["free_joints"]) == (7, 8, ("root_joint",))
    assert free.without("free_joints").n == 1


@pytest.mark.parametrize(("inside", "expected"), [
    ('<joint name="j"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator>', (0, 50)),
    ('<joint name="j"><mechanicalReduction> -2.5 </mechanicalReduction></joint><actuator name="m"/>', (0, -2.5)),
    ('<joint name="j"/><actuator name="m"><mechanicalReduction>1</mechanicalReduction></actuator>', None),
])  # fmt: skip
def test_the_reduction_of_a_transmission(inside: str, expected: tuple[float, float] | None) -> None:
    robot = urdf.loads(
        '<robot name="r"><link name="a"/><link name="b"/><joint name="j" type="continuous"><parent link="a"/>'
        f'<child link="b"/></joint><transmission name="t">{inside}</transmission></robot>'
    )
    rotor = robot.joints[0].rotor
    assert (rotor and (rotor.inertia, rotor.ratio)) == expected
