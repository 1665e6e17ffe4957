"""Shapes of bodies, from both formats: where they are, how large, which file and colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.formats.mesh_files import find_mesh
from armdyn.formats.visuals import visuals
from armdyn.mechanics import kinematics

URDF = """<robot name="r"><material name="red"><color rgba="1 0 0 1"/></material>
<link name="a"><visual><origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>
<geometry><mesh filename="package://arm/meshes/a.STL" scale="0.001 0.001 0.002"/></geometry>
<material name="red"/></visual>
<visual><geometry><cylinder radius="0.1" length="0.5"/></geometry></visual>
<collision><geometry><box size="1 2 3"/></geometry></collision></link>
<link name="b"><visual><geometry><sphere radius="2"/></geometry>
<material name="own"><color rgba="0 0 1 0.5"/></material></visual></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    package = tmp_path / "ws" / "arm"
    for folder in ("urdf", "meshes"):
        (package / folder).mkdir(parents=True)
    (package / "meshes" / "a.STL").write_bytes(b"")
    (package / "urdf" / "arm.urdf").write_text(URDF, encoding="utf-8")
    return package / "urdf" / "arm.urdf"


def test_urdf(arm: Path) -> None:
    robot = armdyn.load(arm)
    mesh, cylinder, sphere = visuals(robot)
    assert (mesh.body, mesh.kind, mesh.size, mesh.color) == ("a", "mesh", (0.001, 0.001, 0.002), (1, 0, 0, 1))
    assert mesh.mesh is not None and mesh.mesh.name == "a.STL" and mesh.mesh.is_file()
    np.testing.assert_allclose(mesh.pose.array()[:3, [0, 3]], [[0, 0], [1, 0], [0, 1]], atol=1e-15)
    assert (cylinder.kind, cylinder.size, cylinder.color) == ("cylinder", (0.1, 0.5), None)
    assert (sphere.body, sphere.size, sphere.color) == ("b", (2.0,), (0, 0, 1, 0.5))
    (box,) = visuals(robot, collision=True)
    assert (box.kind, box.size) == ("box", (1, 2, 3))
    assert [shape.body for shape in visuals(robot.chain(base="b"))] == ["b"]
    assert visuals(armdyn.load("ur5")) == ()


def test_mjcf_against_mujoco(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "m.xml"
    path.write_text(
        """<mujoco><compiler meshdir="assets"/><asset><material name="m" rgba=".1 .2 .3 1"/>
        <mesh name="t" scale="2 2 2" refpos="1 2 3" refquat="1 1 0 0"
         vertex="0 0 0  1 0 0  0 1 0  0 0 1" face="0 2 1  0 1 3  0 3 2  1 2 3"/></asset>
        <default><geom rgba="0 1 0 1"/></default>
        <worldbody><geom name="floor" type="plane" size="1 2 .1"/>
        <body name="a" pos="1 0 0" euler="10 20 30"><joint/><frame pos="0 1 0" euler="0 0 90">
          <geom name="g1" type="capsule" size=".1" fromto="0 0 0 1 1 1"/></frame>
          <geom name="g2" type="box" size=".1 .2 .3" material="m" contype="0" conaffinity="0" euler="30 0 0"/>
          <geom name="g3" type="sphere" size=".1" group="3"/></body></worldbody></mujoco>""",
        encoding="utf-8",
    )
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    robot = armdyn.load(path)
    plane, capsule, box = visuals(robot)
    for name, shape in (("floor", plane), ("g1", capsule), ("g2", box)):
        base = np.eye(4) if shape.body == "world" else kinematics.pose(robot, [0.0], shape.body)
        T = base @ shape.pose.array()
        np.testing.assert_allclose(T[:3, 3], data.geom(name).xpos, atol=1e-12)
        np.testing.assert_allclose(T[:3, :3], data.geom(name).xmat.reshape(3, 3), atol=1e-12)
    np.testing.assert_allclose(capsule.size, np.array([1, 2]) * model.geom("g1").size[:2])
    np.testing.assert_allclose(box.size, 2 * model.geom("g2").size)
    assert box.color == (0, 1, 0, 1) and capsule.color == (0, 1, 0, 1)
    assert [shape.kind for shape in visuals(robot, collision=True)] == ["plane", "capsule", "sphere"]


@pytest.mark.parametrize("name", ["package://arm/meshes/a.STL", "model://arm/meshes/a.STL", "../meshes/a.STL",
                                  "meshes/a.STL"])  # fmt: skip
def test_meshes_are_found(arm: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_mesh(name, arm.parent) is not None
    if "://" in name:
        monkeypatch.setenv("ROS_PACKAGE_PATH", str(arm.parents[2]))
        assert find_mesh(name, Path("/")) is not None
        monkeypatch.delenv("ROS_PACKAGE_PATH")
        assert find_mesh(name, Path("/")) is None


@pytest.mark.parametrize("name", ["", "/etc/passwd", "package://", "package://arm/../../../../etc/passwd",
                                  "http://example.org/a.stl", "file:///etc/passwd", "a\0.stl"])  # fmt: skip
def test_what_is_not_a_mesh_is_not_found(arm: Path, name: str) -> None:
    assert find_mesh(name, arm.parent) is None
