"""xacro files: expanded by the package, with arguments and packages around the file; without it, the error says how."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import armdyn
from armdyn.errors import FileError
from armdyn.formats.visuals import visuals

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="prefix" default=""/><xacro:arg name="hand" default="false"/>
<xacro:include filename="$(find my_arm)/urdf/link.xacro"/>
<link name="$(arg prefix)base"/>
<xacro:segment name="$(arg prefix)upper" parent="$(arg prefix)base" mass="${2 * 1.5}"/>
<xacro:if value="$(arg hand)"><xacro:segment name="hand" parent="$(arg prefix)upper" mass="1"/></xacro:if>
</robot>"""
LINK = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="segment" params="name parent mass">
<link name="${name}"><visual><geometry><mesh filename="package://my_arm/meshes/a.stl"/></geometry></visual>
<inertial><mass value="${mass}"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="${name}_joint" type="continuous"><parent link="${parent}"/><child link="${name}"/></joint>
</xacro:macro></robot>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "my_arm" / "urdf"
    folder.mkdir(parents=True)
    (tmp_path / "my_arm" / "meshes").mkdir()
    (tmp_path / "my_arm" / "meshes" / "a.stl").write_bytes(b"")
    (folder / "link.xacro").write_text(LINK, encoding="utf-8")
    (folder / "arm.urdf.xacro").write_text(ARM, encoding="utf-8")
    return folder / "arm.urdf.xacro"


def test_arguments_packages_and_shapes(path: Path, tmp_path: Path) -> None:
    pytest.importorskip("xacro", reason="expands xacro files")
    robot = armdyn.load(path)
    assert [joint.name for joint in robot.joints] == ["upper_joint"] and robot.joints[0].body.inertia.mass == 3
    assert visuals(robot)[0].mesh is not None
    full = armdyn.load(path, args={"prefix": "left_", "hand": True})
    assert [joint.body.name for joint in full.joints] == ["left_upper", "hand"]
    again = armdyn.load(full.save(tmp_path / "arm.urdf"))
    assert [joint.name for joint in again.joints] == [joint.name for joint in full.joints]
    assert "ament_index_python" not in sys.modules
    with pytest.raises(FileError, match="cannot be written"):
        full.save(tmp_path / "arm.xacro")


def test_what_xacro_cannot_expand(path: Path) -> None:
    pytest.importorskip("xacro", reason="expands xacro files")
    path.write_text(ARM.replace("my_arm", "other_arm"), encoding="utf-8")
    with pytest.raises(FileError, match="no package 'other_arm'"):
        armdyn.load(path)
    path.write_text(ARM.replace('default=""', ""), encoding="utf-8")
    with pytest.raises(FileError, match="ROBOT,arg=NAME=VALUE"):
        armdyn.load(path)


def test_without_the_package_the_error_says_how(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(FileError, match=r"pip install armdyn\[xacro\]"):
        armdyn.load(path)


def test_arguments_need_a_xacro_file(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"a \.xacro file"):
        armdyn.load("ur5", args={"a": 1})
