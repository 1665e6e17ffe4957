"""Named configurations: tables of TOML files, keyframes of MJCF against MuJoCo, names on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, UnknownName
from armdyn.formats import mjcf, toml
from support.command import command

SCENE = """<mujoco><worldbody>
<body name="base"><freejoint name="f"/><geom size=".1"/>
  <body name="upper"><joint name="shoulder" axis="0 1 0" ref="0.2"/><joint name="twist" axis="1 0 0"/><geom size=".1"/>
    <body name="fore" pos="0 0 .5"><joint name="wrist" type="ball"/><geom size=".1"/></body></body>
  <body name="other" pos="1 0 0"><joint name="slide" type="slide"/><geom size=".1"/></body></body>
</worldbody><keyframe><key name="home" time="1" qpos="1 2 3 1 0 0 0 .1 .2 .6 0 .8 0 .5"/><key time="2"/>
<key qpos="0 0 0 0 1 0 0 .3 .4 1 0 0 0 .6" qvel="0 0 0 0 0 0 0 0 0 0 0 0"/></keyframe></mujoco>"""
ARM = """name = "arm"
[parameters]
up = 0.7
[configurations.home]
elbow = "pi/2"
[configurations."arms up"]
shoulder = "up"
elbow = 0.1
[[joint]]
name = "shoulder"
a = 1
mass = 1
[[joint]]
name = "elbow"
a = 1
mass = 1
"""


def test_keyframes_are_mujocos() -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the independent engine of this test")
    model, robot = mujoco.MjModel.from_xml_string(SCENE), mjcf.loads(SCENE)
    assert list(robot.configurations) == ["home", "key3"]
    for name, row in (("home", 0), ("key3", 2)):
        np.testing.assert_allclose(robot.configuration(name), model.key_qpos[row], atol=1e-15)


def test_a_welded_root_leaves_its_entries_out() -> None:
    robot = mjcf.loads(SCENE, free_root=False)
    np.testing.assert_allclose(robot.configuration("home"), [0.1, 0.2, 0.6, 0, 0.8, 0, 0.5])


def test_keyframes_are_written(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the independent engine of this test")
    path = tmp_path / "scene.xml"
    path.write_text(mjcf.dumps(mjcf.loads(SCENE)), encoding="utf-8")
    model = mujoco.MjModel.from_xml_path(str(path))
    np.testing.assert_allclose(model.key("home").qpos, mjcf.loads(SCENE).configuration("home"), atol=1e-15)


@pytest.mark.parametrize("qpos", ["1 2 3", "a b c d"])
def test_a_keyframe_of_the_wrong_size(qpos: str) -> None:
    with pytest.raises(ArmdynError, match="qpos"):
        mjcf.loads(SCENE.replace("1 2 3 1 0 0 0 .1 .2 .6 0 .8 0 .5", qpos))


def test_tables_of_a_robot_file() -> None:
    robot = toml.loads(ARM)
    assert robot.configuration("home") == pytest.approx([0, np.pi / 2])
    assert robot.configuration("arms up") == pytest.approx([0.7, 0.1])
    assert robot.with_parameters(up=0.9).configuration("arms up") == pytest.approx([0.9, 0.1])
    assert robot.locked({"shoulder": 0.3}).configuration("arms up") == pytest.approx([0.1])
    again = toml.loads(toml.dumps(robot))
    assert again.configurations == robot.configurations
    with pytest.raises(UnknownName, match="Did you mean 'home'"):
        robot.configuration("hime")
    with pytest.raises(UnknownName, match="Did you mean 'elbow'"):
        toml.loads(ARM.replace("elbow = 0.1", "elbwo = 0.1"))


def test_names_on_the_command_line(tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run = command(capsys, monkeypatch)
    path = tmp_path / "arm.toml"
    path.write_text(ARM, encoding="utf-8")
    named, given = tmp_path / "named.csv", tmp_path / "given.csv"
    limits = ("--limits", "v=1,a=1")
    assert run("plan", path, "--from", "home", "--to", "arms up", *limits, "--out", named).status == 0
    assert run("plan", path, "--from", "0,90deg", "--to", "0.7,0.1", *limits, "--out", given).status == 0
    np.testing.assert_allclose(np.loadtxt(named, delimiter=",", skiprows=1),
                               np.loadtxt(given, delimiter=",", skiprows=1), atol=1e-12)  # fmt: skip
    status, _, error = run("plan", path, "--from", "hime", "--to", "home")
    assert status == 2
    assert "Did you mean 'home'" in error
    assert "home, arms up" in str(armdyn.load(path))
