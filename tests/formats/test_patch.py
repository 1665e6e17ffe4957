"""Texts changed in place: nothing else moves, and the changed text reads back as the robot that was written."""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import CentralInertia, Mat3, Vec3
from armdyn.errors import ModelWarning
from armdyn.formats import urdf
from armdyn.formats.patch import Page, difference
from armdyn.mechanics import newton_euler
from armdyn.robot import Friction, Limits, Robot
from armdyn.robot.parts import FreeTransform, Placement, Rotor

ARM = """\ufeff
<?xml version="1.0"?>
<!-- links: <link name="fake"/> -->
<robot name="arm"\txmlns:drake="http://drake.mit.edu">
  <material name="grey"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name='base'/>
  <ros2_control name="c" type="system"><joint name="shoulder"/><joint name="elbow"/></ros2_control>
  <link name="upper">
    <visual><origin xyz="0 0 .10"/><geometry><mesh filename="package://arm/meshes/upper.stl"/></geometry></visual>
    <inertial>
      <!-- measured > once -->
      <mass value="2.50"/>
      <origin xyz="0.10 0 1e-1" rpy="0.3 -0.2 0.1" />
      <inertia ixx="0.020" ixy="0" ixz="0" iyy="0.030" iyz="0" izz="0.040"/>
    </inertial>
    <collision><geometry><box size="1 1 1"/></geometry></collision>
  </link>
  <link name="fore"><inertial><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit effort="10" velocity='2.0' lower="-1" upper="1"/>
    <dynamics damping="0.5"/>
  </joint>
  <joint name="elbow" type="continuous">
    <origin xyz="0 0 1"/><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/></joint>
  <transmission name="t"><joint name="shoulder"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <gazebo reference="upper"><kp>1e6</kp><![CDATA[ <link name="x"> ]]></gazebo>
</robot>
"""  # noqa: E501


@pytest.fixture(params=["\n", "\r\n"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "arm.urdf"
    made.write_bytes(ARM.replace("\n", request.param).encode())
    return made


def changed(robot: Robot, **bodies: CentralInertia) -> Robot:
    tree = tuple(replace(j, body=replace(j.body, inertia=bodies.get(j.body.name, j.body.inertia))) for j in robot.tree)
    return replace(robot, tree=tree)


def lines(path: Path, new: Path) -> list[tuple[str, str]]:
    pair = (p.read_bytes().decode().split("\n") for p in (path, new))
    return [(a.strip(), b.strip()) for a, b in zip(*pair, strict=True) if a != b]


def test_unchanged_is_byte_for_byte(path: Path, tmp_path: Path) -> None:
    armdyn.load(path).save(tmp_path / "new.urdf")
    assert (tmp_path / "new.urdf").read_bytes() == path.read_bytes()


def test_one_mass_is_one_value(path: Path, tmp_path: Path) -> None:
    robot = armdyn.load(path)
    inertia = robot.joint("shoulder").body.inertia.about_com()
    changed(robot, upper=replace(inertia, mass=2.75)).save(tmp_path / "new.urdf")
    assert lines(path, tmp_path / "new.urdf") == [('<mass value="2.50"/>', '<mass value="2.75"/>')]


def test_one_coordinate_keeps_the_digits_of_the_others(path: Path, tmp_path: Path) -> None:
    robot = armdyn.load(path)
    inertia = robot.joint("shoulder").body.inertia.about_com()
    changed(robot, upper=replace(inertia, com=Vec3(0.1, 0.5, 0.1))).save(tmp_path / "new.urdf")
    ((_, new),) = lines(path, tmp_path / "new.urdf")
    assert new == '<origin xyz="0.10 0.5 1e-1" rpy="0.3 -0.2 0.1" />'


def test_tensors_are_written_in_the_axes_of_the_file(path: Path, tmp_path: Path) -> None:
    robot = armdyn.load(path)
    tensor = Mat3.symmetric(0.05, 0.001, -0.002, 0.06, 0.003, 0.07)
    new = changed(robot, upper=CentralInertia(2.5, Vec3(0.1, 0, 0.1), tensor))
    again = armdyn.load(new.save(tmp_path / "new.urdf"))
    assert len(lines(path, tmp_path / "new.urdf")) == 1  # the line of <inertia>
    np.testing.assert_allclose(again.joint("shoulder").body.inertia.about_com().tensor.array(), tensor.array(), 1e-13)


def test_friction_limits_and_missing_parts(path: Path, tmp_path: Path) -> None:
    robot = armdyn.load(path)
    shoulder, elbow = robot.tree
    tree = (replace(shoulder, friction=Friction(0.75), limits=replace(shoulder.limits, torque=20)),
            replace(elbow, friction=Friction(0.1, 0.2), limits=Limits(-2, 2)))  # fmt: skip
    new = replace(robot, tree=tree)
    again = armdyn.load(new.save(tmp_path / "new.urdf"))
    assert [j.friction for j in again.tree] == [Friction(0.75), Friction(0.1, 0.2)]
    assert [j.limits for j in again.tree] == [replace(shoulder.limits, torque=20), Limits(-2, 2)]
    text = (tmp_path / "new.urdf").read_text(encoding="utf-8")
    assert 'damping="0.75"' in text and "effort=\"20.0\" velocity='2.0'" in text and "<kp>1e6</kp>" in text
    assert text.count("\n") <= ARM.count("\n") + 4


def test_other_trees_keep_the_rest_of_the_file(path: Path, tmp_path: Path) -> None:
    robot = armdyn.load(path)
    loaded = robot.with_payload(3.0, (0, 0, 0.1)).locked({"shoulder": 0.5})
    again = armdyn.load(loaded.save(tmp_path / "new.urdf"))
    text = (tmp_path / "new.urdf").read_text(encoding="utf-8")
    assert again.n == 1 and "upper.stl" in text and "mechanicalReduction" in text
    np.testing.assert_allclose(
        newton_euler.inverse_dynamics(again, [0.3], [0.2], [0.1]),
        newton_euler.inverse_dynamics(loaded, [0.3], [0.2], [0.1]),
        rtol=1e-12,
    )
    short = robot.chain(base="upper")
    again = armdyn.load(short.save(tmp_path / "short.urdf"))
    assert [j.name for j in again.tree] == ["elbow"] and again.root.name == "upper"


def test_files_of_the_wheel(wheel_file: Path, tmp_path: Path) -> None:
    """Unchanged they are byte for byte the same; heavier bodies change the lines of their masses alone."""
    if wheel_file.stat().st_size > 50_000 and not os.environ.get("ARMDYN_FULL"):
        pytest.skip("a large file: with ARMDYN_FULL=1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            robot = armdyn.load(wheel_file)
        except armdyn.ArmdynError:
            pytest.skip("not a complete robot")
        assert robot.save(tmp_path / "same.urdf").read_bytes() == wheel_file.read_bytes()
        tree = list(robot.tree)
        given = [k for k, joint in enumerate(tree) if joint.body.inertia.about_com().mass]
        for k in given[::3]:
            inertia = tree[k].body.inertia.about_com()
            tree[k] = replace(tree[k], body=replace(tree[k].body, inertia=replace(inertia, mass=inertia.mass + 1)))
        heavier = replace(robot, tree=tuple(tree))
        again = armdyn.load(heavier.save(tmp_path / "new.urdf"))
    masses = [[float(j.body.inertia.mass) for j in r.tree] for r in (again, heavier)]
    assert masses[0] == masses[1]
    before, after = (path.read_text(encoding="utf-8") for path in (wheel_file, tmp_path / "new.urdf"))
    assert sum(line[:1] == "-" for line in difference(before, after, "x").splitlines()) <= len(given[::3]) + 1


def test_a_page_refuses_what_is_not_closed() -> None:
    with pytest.raises(armdyn.ArmdynError, match="closes nothing"):
        Page("<a></b>")
    with pytest.raises(armdyn.ArmdynError, match="not closed"):
        Page("<a>")


def test_page_operations() -> None:
    page = Page('<a>\n  <b name="x" k="1"  m = \'2\'/>\n  <c/>\n</a>')
    b = page.find("b", "x")
    page.unset(b, "k")
    page.set(b, "n", 'a"b<')
    page.add(b, "<d/>")
    page.add(b, "<e/>")
    page.remove(page.root.children[1])
    expected = """<a>\n  <b name="x"  m = '2' n="a&quot;b&lt;">\n    <d/>\n    <e/>\n  </b>\n</a>"""
    assert page.text == expected
    with pytest.raises(armdyn.ArmdynError, match="Did you mean 'x'"):
        page.find("b", "xx")


def test_texts_without_a_file_are_written_plainly() -> None:
    with pytest.warns(armdyn.ModelWarning, match="gear ratios"):  # the reduction of the transmission
        assert urdf.dumps(urdf.loads(ARM)).count("<visual>") == 0


# MJCF ---------------------------------------------------------------------------------------------------------------

SCENE = """<mujoco model="m">  <!-- kept -->
  <default><joint damping="0.5"/><default class="soft"><joint damping="2" range="-90 45"/></default></default>
  <worldbody><light pos="0 0 3"/>
    <body name="a" pos="0 0 1"><freejoint name="root"/>
      <inertial pos=".1 0 0" mass="3" diaginertia=".1 .2 .25" euler="10 0 0"/>
      <body name="b"><joint name="j" class="soft" axis="0 1 0"/><geom size=".1 .2" type="capsule" rgba="1 0 0 1"/>
        <body name="c"><joint name="k" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="j" gear="2" armature="0.1" damping="0.3"/></actuator>
  <sensor><jointpos joint="j"/></sensor>
</mujoco>
"""


def scene(tmp_path: Path) -> Robot:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE, encoding="utf-8")
    return armdyn.load(path)


def replaced(robot: Robot, name: str, **parts: Any) -> Robot:
    return replace(robot, tree=tuple(replace(j, **parts) if j.name == name else j for j in robot.tree))


def test_an_mjcf_file_stays_but_for_the_values_that_changed(tmp_path: Path) -> None:
    robot = scene(tmp_path)
    out = robot.save(tmp_path / "same.xml")
    assert out.read_bytes() == SCENE.encode()
    j, k = robot.joint("j"), robot.joint("k")
    assert j.friction is not None and j.friction.viscous == pytest.approx(2 + 4 * 0.3)
    inertia = robot.joint("root rz").body.inertia.about_com()
    turned = replace(inertia, tensor=2 * inertia.tensor)
    shape = replace(j.body, inertia=replace(j.body.inertia.about_com(), mass=7.0))
    new = replaced(robot, "j", friction=Friction(viscous=5.0, coulomb=0.25), rotor=Rotor(inertia=0.7), body=shape)
    new = replaced(new, "k", body=replace(k.body, inertia=replace(k.body.inertia.about_com(), mass=1.5)))
    new = replaced(new, "root rz", body=replace(robot.joint("root rz").body, inertia=turned))
    path = new.save(tmp_path / "new.xml")
    old, text = SCENE.splitlines(), path.read_text(encoding="utf-8").splitlines()
    assert [row for row in old if row not in text] == [old[4], old[5], old[6]]
    assert 'mass="1.5" diaginertia="1 1 1"' in text[6] and "kept" in text[0]
    again = armdyn.load(path)
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_path(str(path))
    assert model.dof_damping[6] + 4 * 0.3 == pytest.approx(5)
    assert model.body("b").mass[0] == pytest.approx(7)
    state = robot.integrate(robot.neutral, np.linspace(-1, 1, robot.n)), np.ones(robot.n), np.ones(robot.n)
    found, wanted = (newton_euler.inverse_dynamics(each, *state) for each in (again, new))
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


def test_angles_are_written_in_the_units_of_the_file(tmp_path: Path) -> None:
    robot = scene(tmp_path)
    new = replaced(robot, "j", limits=Limits(lower=-1.0, upper=np.pi / 6))
    text = new.save(tmp_path / "new.xml").read_text(encoding="utf-8")
    found = re.search(r'class="soft" axis="0 1 0" range="(\S+) (\S+)"', text)
    assert found is not None and [float(x) for x in found.groups()] == pytest.approx([-57.29577951308232, 30])


def test_other_places_are_written_anew(tmp_path: Path) -> None:
    robot = scene(tmp_path)
    geometry = robot.joint("k").geometry
    assert isinstance(geometry, FreeTransform)
    geometry = replace(geometry, placement=Placement(Vec3(0, 0, 0.3)))
    with pytest.warns(ModelWarning, match="bodies, joints or places have changed"):
        path = replaced(robot, "k", geometry=geometry).save(tmp_path / "new.xml")
    assert "<light" not in path.read_text(encoding="utf-8")
