"""Robot -> TOML -> Robot: the same robot, in numbers and in symbols."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import catalog
from armdyn.formats import toml, urdf
from armdyn.mechanics import newton_euler
from armdyn.robot import Robot
from armdyn.robot.random import random_robot
from armdyn.robot.scalars import scalars


def same(a: Robot, b: Robot) -> None:
    """Field by field; floats are written so that they read back exactly."""
    for key in ("name", "tree", "gravity", "base", "tool", "tool_on", "loops", "source", "notes"):
        assert getattr(a, key) == getattr(b, key), key
    assert dict(a.parameters) == dict(b.parameters)


@pytest.mark.parametrize("seed", range(20))
def test_random_robots(seed: int, helpers: Any) -> None:
    robot = random_robot(seed, branching=0.3, fixed=0.2, rotors=True, friction=True, limits=True, any_gravity=True)
    again = toml.loads(toml.dumps(robot))
    same(robot, again)
    q, qd, qdd = (list(helpers.random_positions(robot, seed + i).values()) for i in range(3))
    tau, tau_again = (newton_euler.inverse_dynamics(r, q, qd, qdd) for r in (robot, again))
    assert (tau == tau_again).all()


@pytest.mark.parametrize("name", catalog.names())
def test_catalog_robots_in_numbers_and_symbols(name: str) -> None:
    """Expressions are written as they print; a product of three may come back grouped otherwise, a rounding apart."""
    robot = toml.read(catalog.path(name))
    again = toml.loads(toml.dumps(robot))
    for joint, other in zip(robot.tree, again.tree, strict=True):
        pairs = [(x, y) for x, y in zip(scalars(joint), scalars(other), strict=True) if x is not None]
        assert all(x == pytest.approx(y, rel=1e-15) for x, y in pairs)
    assert toml.dumps(again) == toml.dumps(robot)


def test_urdf_robots_of_the_wheel(wheel_file: Path, helpers: Any) -> None:
    try:
        robot = urdf.read(wheel_file)
    except armdyn.ArmdynError as error:
        pytest.skip(str(error))
    if not robot.tree:
        pytest.skip("a single link: a robot file in TOML needs a joint")
    again = toml.loads(toml.dumps(robot))
    same(robot, again)
    q = helpers.random_positions(robot.opened, 0)  # mimic joints: all joints of the tree
    before, after = helpers.frame_poses(robot.opened, q), helpers.frame_poses(again.opened, q)
    assert all((before[name] == after[name]).all() for name in before)


@pytest.mark.parametrize("seed", range(6))
def test_toml_to_urdf_and_back(seed: int, helpers: Any) -> None:
    robot = random_robot(seed, fixed=0.3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        there_and_back = toml.loads(toml.dumps(urdf.loads(urdf.dumps(robot))))
    q = helpers.random_positions(robot, seed)
    poses, back = helpers.frame_poses(robot, q), helpers.frame_poses(there_and_back, q)
    assert all(np.abs(poses[joint.body.name] - back[joint.body.name]).max() < 1e-12 for joint in robot.tree)
    assert np.abs(poses["tool"] - back["tool"]).max() < 1e-12


def test_a_folder_called_as_a_catalog_robot_does_not_hide_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rx90").mkdir()
    monkeypatch.chdir(tmp_path)
    assert armdyn.load("rx90").n == 6
