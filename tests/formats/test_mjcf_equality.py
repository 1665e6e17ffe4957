"""<equality> of MJCF: mimic joints and loops against MuJoCo, whose soft constraints are made hard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.formats import mjcf
from armdyn.mechanics import closed_chain
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.robot import Robot
from support.assembly_modes import STARTS, another_mode
from support.limits import FULL
from support.mujoco_constrained import Constrained

INERTIAL = '<inertial pos="0.1 0.02 0.03" mass="1.3" fullinertia="0.02 0.03 0.04 0.001 0.002 0.003"/>'
CHAIN = (
    f'<body name="a"><joint name="i" axis="1 0.3 0" ref="0.3" armature="0.1" damping="0.2"/>{INERTIAL}'
    f'<body name="b" pos="0.3 0 0.1" euler="0.2 0.4 0.1"><joint name="j" axis="0 1 0" ref="-0.2" stiffness="3"/>'
    f'{INERTIAL}<body name="c" pos="0.2 0.1 0"><joint name="k" type="slide" axis="0.2 0 1" ref="0.05"/>{INERTIAL}'
    f'<body name="d" pos="0 0.2 0.1"><joint name="l" axis="0 0.5 1" armature="0.05"/>{INERTIAL}</body></body></body>'
    f"</body>"
)


def text(equality: str, world: str = CHAIN, more: str = "") -> str:
    parts = f"{more}<worldbody>{world}</worldbody><equality>{equality}</equality>"
    return f'<mujoco><compiler angle="radian"/>{parts}</mujoco>'


def agrees(text: str, robot: Robot, spread: float = 0.3, count: int = 5, tolerance: float = 1e-9, **mode: Any) -> None:
    """Accelerations under random torques on the independent joints, friction and springs included; mode: near="""
    dyn: Any = armdyn.compile(robot)
    chain, engine = dependent_joints(robot), Constrained(text, robot)
    home = np.array([chain.assembly[k] for k in chain.independent])
    rng = np.random.default_rng(1)
    q = home + rng.uniform(-spread, spread, (count, robot.n))
    qd, tau = rng.uniform(-1, 1, (2, count, robot.n))
    q_all, expected = dyn.closed(q, **mode), dyn.forward_dynamics(q, qd, tau, **mode)
    accelerations = np.empty_like(tau)
    for k, place in enumerate(q_all):
        forces = np.zeros(len(place))
        forces[chain.independent] = tau[k]
        rates = np.asarray(chain.projection(place.tolist()), dtype=float) @ qd[k]
        found = engine.accelerations(place, rates, forces)[chain.independent]
        scale = 1 + np.abs(expected[k]).max()
        assert np.abs(found - expected[k]).max() < tolerance * scale
        accelerations[k] = found
    torques = dyn.inverse_dynamics(q, qd, accelerations, **mode)
    scale = (1 + np.abs(expected).max()) * (1 + np.abs(dyn.mass_matrix(q, **mode)).max())
    assert np.abs(torques - tau).max() < tolerance * scale


@pytest.mark.parametrize("equality", [
    '<joint joint1="i" joint2="j"/>',
    '<joint joint1="j" joint2="i" polycoef="0.1 -1.5 0 0 0"/>',
    '<joint joint1="k" joint2="l" polycoef="0.02 0.1"/>',
    '<joint joint1="i" joint2="j"/><joint joint1="j" joint2="l" polycoef="0 2"/>',
    '<joint joint1="i" joint2="j"/><joint joint1="i" joint2="l" polycoef="0.3 0.5"/>',
])  # fmt: skip
def test_joints_that_follow(equality: str) -> None:
    robot = mjcf.loads(text(equality))
    assert not robot.notes
    assert robot.n == 4 - equality.count("<joint")
    agrees(text(equality), robot)


def test_a_joint_that_is_held() -> None:
    """MuJoCo keeps its degree of freedom, at 0.1 beyond the position of the file."""
    content = text('<joint joint1="j" polycoef="0.1 0 0 0 0"/>')
    robot = mjcf.loads(content)
    assert [joint.name for joint in robot.joints] == ["i", "k", "l"]
    dyn, engine = armdyn.compile(robot), Constrained(content, robot)
    q, qd, tau = np.random.default_rng(2).uniform(-1, 1, (3, 3))
    engine.data.qpos[engine.model.joint("j").qposadr[0]] = -0.1
    assert dyn.forward_dynamics(q, qd, tau) == pytest.approx(engine.accelerations(q, qd, tau), rel=1e-9, abs=1e-9)


ROCKER = (
    f'<body name="rocker" pos="0.5 -0.1 0"><joint name="free2" axis="0 0 1" ref="0.2" springref="0.1" stiffness="2"/>'
    f'{INERTIAL}<site name="r" pos="0 0.3 0"/></body>'
)
PLANE = (
    f'<body name="frame" pos="0.1 0.2 0.3" euler="0.3 0.2 0.4"><body name="crank"><joint name="drive" axis="0 0 1"/>'
    f'{INERTIAL}<body name="rod" pos="0.1 0.2 0"><joint name="free1" axis="0 0 1"/>{INERTIAL}<site name="p" '
    f'pos="0.4 0 0"/></body></body>{ROCKER}</body>'
)
DRIVEN = '<actuator><motor joint="drive"/></actuator>'


@pytest.mark.parametrize("equality", [
    '<connect body1="rod" body2="rocker" anchor="0.4 0 0"/>',
    '<connect name="pin" body1="rocker" body2="rod" anchor="0 0.3 0"/>',
    '<connect site1="p" site2="r"/>',
])  # fmt: skip
def test_a_planar_four_bar(equality: str) -> None:
    content = text(equality, PLANE, DRIVEN)
    robot = mjcf.loads(content)
    assert [joint.name for joint in robot.joints] == ["drive"]
    assert dict(robot.features).keys() == {"loops", "springs"}
    agrees(content, robot)


def test_a_spatial_loop() -> None:
    """A connect on three joints of a chain of four: one is left to move."""
    content = text('<connect body1="d" anchor="0.1 0.2 0.3"/>', more='<actuator><motor joint="i"/></actuator>')
    robot = mjcf.loads(content)
    assert [joint.name for joint in robot.joints] == ["i"]
    agrees(content, robot, 0.1)


def test_a_weld() -> None:
    """Two chains of four joints, held together rigidly: two are left to move."""
    other = CHAIN
    for letter in "abcd":
        other = other.replace(f'name="{letter}"', f'name="{letter}2" gravcomp="0"')
    for letter in "ijkl":
        other = other.replace(f'joint name="{letter}"', f'joint name="{letter}2"')
    other = other.replace('<body name="a2" gravcomp="0">', '<body name="a2" pos="0.4 0.1 0" euler="0.4 0.1 0.6">')
    content = text('<weld body1="d" body2="d2"/>', CHAIN + other)
    robot = mjcf.loads(content)
    assert robot.n == 2
    agrees(content, robot, 0.05, tolerance=1e-8)  # the condition number of the loop is near 100


def test_what_is_switched_off_counts_for_nothing() -> None:
    for content in (
        text('<joint joint1="i" joint2="j" active="false"/>'),
        text('<joint joint1="i" joint2="j"/>', more='<option><flag equality="disable"/></option>'),
        text('<joint joint1="i" joint2="j"/>', more='<default><equality active="false"/></default>'),
    ):
        robot = mjcf.loads(content)
        assert not robot.constrained and not robot.notes


@pytest.mark.parametrize("equality", [
    '<joint joint1="i" joint2="nobody"/>', '<connect body1="a" body2="b"/>', '<connect body1="z" anchor="0 0 0"/>',
    '<weld body1="a" relpose="1 2 3"/>',
])  # fmt: skip
def test_errors(equality: str) -> None:
    with pytest.raises(ArmdynError):
        mjcf.loads(text(equality))


CATALOG = {"parallelogram": 1.0, "palletiser": 0.5, "five_bar": 0.3, "bricard": 0.8, "delta": 0.4, "stewart": 0.06}
"""How far from the assembly the independent joints go, rad or m."""


def count_of(name: str) -> int:
    """Configurations; MuJoCo's force is fed back so often for a Stewart platform that few are the default."""
    return 100 if FULL else 3 if name == "stewart" else 20


@pytest.mark.parametrize("name", [name for name in STARTS if FULL or name != "stewart"])
@pytest.mark.filterwarnings("ignore::armdyn.ModelWarning")
def test_another_assembly_mode_in_mujoco(name: str, tmp_path: Path) -> None:
    robot = armdyn.load(name).without("friction", "rotors_on_links")
    path = robot.save(tmp_path / "robot.xml")
    agrees(path.read_text(encoding="utf-8"), robot, CATALOG[name] / 2, count_of(name), near=another_mode(robot))


@pytest.mark.parametrize("name", CATALOG)
@pytest.mark.filterwarnings("ignore::armdyn.ModelWarning")
def test_the_catalog_in_mujoco(name: str, tmp_path: Path) -> None:
    """Closed chains written as MJCF: MuJoCo's accelerations are ours, and so is what is read back."""
    robot = armdyn.load(name).without("friction", "rotors_on_links")
    path = robot.save(tmp_path / "robot.xml")
    agrees(path.read_text(encoding="utf-8"), robot, CATALOG[name], count_of(name))
    again = armdyn.load(path)
    assert [joint.name for joint in again.joints] == [joint.name for joint in robot.joints]
    chain, other = dependent_joints(robot), dependent_joints(again)
    names = [joint.name for joint in robot.opened.joints]
    order = [names.index(joint.name) for joint in again.opened.joints]
    home = [chain.assembly[k] for k in chain.independent]
    q = np.array(chain.continued([x + 0.3 * CATALOG[name] for x in home]))
    assert other.continued([q[k] for k in chain.independent]) == pytest.approx(q[order], abs=1e-9)
    motion = np.random.default_rng(0).uniform(-1, 1, (2, robot.n))
    expected = closed_chain.inverse_dynamics(robot, q, *motion)
    assert closed_chain.inverse_dynamics(again, q[order], *motion) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_mimic_joints_are_written() -> None:
    robot = mjcf.loads(text('<joint joint1="j" joint2="i" polycoef="0.1 -1.5 0 0 0"/>'))
    again = mjcf.loads(mjcf.dumps(robot))
    assert [joint.mimic for joint in again.tree] == [joint.mimic for joint in robot.tree]
