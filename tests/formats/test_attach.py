"""Models attached to models: names, default classes, units of angles and actuators, against MuJoCo."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from armdyn.errors import ArmdynError, FileError
from armdyn.formats import mjcf
from support.mujoco_model import assert_same_model

PARENT = """<mujoco><compiler angle="radian" eulerseq="zyx" autolimits="false"/>
<default><joint damping="5" armature="7"/><geom density="50"/></default>
<asset><model name="arm" file="arm.xml"/></asset>
<worldbody><body name="table" pos="0 0 1" euler=".1 .2 .3"><joint name="turn" axis="1 0 1"/><geom size=".2"/>
  <frame pos="1 0 0" euler=".3 .1 0">{inside}</frame></body>{outside}</worldbody></mujoco>"""
ARM = """<mujoco model="arm"><compiler angle="degree" meshdir="assets"/>
<default><joint damping="1"/><geom density="300"/><default class="light"><geom density="10"/><joint axis="0 1 0"/>
</default><motor gear="3"/></default>
<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/></asset>
<worldbody><frame name="stand" pos="0 0 .5"><body name="upper" pos=".1 0 0" euler="10 20 30" childclass="light">
  <joint name="shoulder" range="-90 45" ref="10"/><geom type="box" size=".1 .2 .3" euler="0 0 45"/>
  <body name="fore" pos="0 0 1"><joint name="elbow" type="slide" class="main" range="-1 2"/>
  <geom type="mesh" mesh="m" axisangle="1 1 0 30"/></body></body></frame>
  <body name="other"><joint name="loose" axis="1 0 0"/><geom size=".1"/></body></worldbody>
<actuator><motor joint="shoulder" armature=".2"/><motor joint="loose" armature=".3"/></actuator></mujoco>"""
CASES = {
    "body": ('<attach model="arm" body="upper" prefix="a_"/>', ""),
    "frame": ('<attach model="arm" frame="stand" prefix="a_"/>', ""),
    "whole": ("", '<attach model="arm" prefix="a_"/>'),
    "twice": ('<attach model="arm" body="other" prefix="a_"/>', '<attach model="arm" body="upper" prefix="b_"/>'),
}


@pytest.mark.parametrize("case", CASES)
def test_against_mujoco(tmp_path: Path, case: str) -> None:
    inside, outside = CASES[case]
    (tmp_path / "arm.xml").write_text(ARM, encoding="utf-8")
    path = tmp_path / "scene.xml"
    path.write_text(PARENT.format(inside=inside, outside=outside), encoding="utf-8")
    model = mujoco.MjModel.from_xml_path(str(path))
    robot = mjcf.read(path)
    assert not robot.notes
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, k) for k in range(model.njnt)]
    assert [joint.name for joint in robot.joints] == names
    assert_same_model(model, robot)
    for joint in robot.joints:
        theirs = model.joint(joint.name)
        limits = joint.limits and (joint.limits.lower, joint.limits.upper)
        assert limits == (pytest.approx(tuple(theirs.range)) if model.jnt_limited[theirs.id] else None)


def test_what_cannot_be_attached(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    (tmp_path / "arm.xml").write_text(ARM, encoding="utf-8")
    for inside, message in (
        ('<attach model="amr" prefix="a_"/>', "Did you mean 'arm'"),
        ('<attach model="arm" body="uper" prefix="a_"/>', "has no 'uper'"),
        ('<attach body="table" prefix="a_"/>', "same model is not supported"),
    ):
        path.write_text(PARENT.format(inside=inside, outside=""), encoding="utf-8")
        with pytest.raises(ArmdynError, match=message):
            mjcf.read(path)
    (tmp_path / "arm.xml").write_text(PARENT.format(inside='<attach model="arm"/>', outside=""), encoding="utf-8")
    path.write_text(PARENT.format(inside='<attach model="arm"/>', outside=""), encoding="utf-8")
    with pytest.raises(FileError, match="more than 8 deep"):
        mjcf.read(path)
