"""Free and ball joints through the file formats, and what cannot be written."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.mechanics import newton_euler
from armdyn.robot import FreeTransform, Friction, Robot
from armdyn.robot.random import random_robot
from support.feature_robots import floating


def torques(robot: Robot) -> np.ndarray:
    rng = np.random.default_rng(0)
    q = robot.integrate(robot.neutral, rng.normal(size=robot.n))
    return newton_euler.inverse_dynamics(robot, q, *rng.normal(size=(2, robot.n)))


def rubbing(robot: Robot) -> Robot:
    tree = tuple(replace(j, friction=Friction(viscous=0.3)) if j.compound else j for j in robot.tree)
    return replace(robot, tree=tree)


@pytest.mark.parametrize("ending", ["toml", "urdf", "xml"])
@pytest.mark.parametrize("seed", range(4))
def test_a_floating_tree_comes_back(tmp_path: Path, ending: str, seed: int) -> None:
    ball = 0.0 if ending == "urdf" else 0.4
    robot = random_robot(seed, 4, free_root=True, ball=ball, branching=0.2, tilted_base=False, tool=False)
    at_origin = replace(robot.tree[0], geometry=FreeTransform(axis=armdyn.algebra.Vec3(1, 0, 0)))
    robot = rubbing(replace(robot, tree=(at_origin, *robot.tree[1:])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", armdyn.ModelWarning)  # the order of branches
        again = armdyn.load(robot.save(tmp_path / f"robot.{ending}"))
    assert (again.n, again.nq) == (robot.n, robot.nq)
    if [joint.name for joint in again.joints] == [joint.name for joint in robot.joints]:
        np.testing.assert_allclose(torques(again), torques(robot), atol=1e-10)
    if ending == "toml":
        assert again.tree == robot.tree


def test_what_a_format_has_no_word_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotApplicable, match="no ball joint"):
        floating().save(tmp_path / "a.urdf")
    turned = replace(floating(), base=armdyn.robot.Placement(rpy=armdyn.algebra.Vec3(0, 0, 1.0)))
    with pytest.raises(NotApplicable, match="world's origin"):
        turned.save(tmp_path / "a.xml")
    robot = floating()
    uneven = (replace(robot.tree[0], friction=Friction(viscous=1.0)), *robot.tree[1:])
    with pytest.raises(ArmdynError, match="friction that differs"):
        replace(robot, tree=uneven).save(tmp_path / "a.toml")


def test_a_part_of_a_free_joint_cannot_be_locked() -> None:
    with pytest.raises(ArmdynError, match="degrees of freedom are missing"):
        floating().locked({"root x": 0.0})


def test_the_free_joint_gives_its_name_to_the_frame_it_moves() -> None:
    robot = floating()
    assert robot.frame("root") == robot.frame("root rz")
    assert robot.position_names[:7] == tuple(f"root {x}" for x in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    assert [joint.name for joint in robot.joints[:6]] == [f"root {x}" for x in ("x", "y", "z", "rx", "ry", "rz")]
