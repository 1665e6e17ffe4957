"""Panda, UR5 and Puma 560 against sources that are not ours: robot files of others, an engine, printed numbers."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from armdyn.formats import read
from armdyn.robot import Robot
from catalog.by_hand import gravity, mass_matrix, placed, tool

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")
RNG = np.random.default_rng(11)


def urdf(path: str) -> Any:
    root = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
    if not (root / path).exists():
        pytest.skip("example-robot-data is not installed")
    return ET.parse(root / path)


def model_of(tree: Any, without: tuple[str, ...] = ()) -> Any:
    """Pinocchio's model; links and joints whose name holds one of the words are left out."""
    root = tree.getroot()
    for element in list(root):
        if element.tag == "joint" and any(word in element.get("name", "") for word in without):
            root.remove(element)
        if element.tag == "link" and any(word in element.get("name", "") for word in without):
            root.remove(element)
        for child in [c for c in element if c.tag in ("visual", "collision")]:
            element.remove(child)
    return pin.buildModelFromXML(ET.tostring(root, encoding="unicode"))


@pytest.fixture(scope="module")
def panda_model() -> Any:
    return model_of(urdf("panda_description/urdf/panda.urdf"), without=("hand", "finger"))


@pytest.fixture(scope="module")
def ur5_model() -> Any:
    return model_of(urdf("ur_description/urdf/ur5_robot.urdf"))


def frame(model: Any, data: Any, name: str) -> np.ndarray:
    return data.oMf[model.getFrameId(name)].homogeneous


def test_panda_frames_and_flange(panda_model: Any) -> None:
    robot = read("panda")
    data = panda_model.createData()
    for _ in range(5):
        q = RNG.uniform(-3, 3, 7)
        pin.framesForwardKinematics(panda_model, data, q)
        bodies = placed(robot, q)
        for i in range(1, 8):
            assert np.allclose(
                bodies[f"panda_link{i}"].T, frame(panda_model, data, f"panda_link{i}"), rtol=0, atol=1e-12
            )
        assert np.allclose(tool(robot, q), frame(panda_model, data, "panda_link8"), rtol=0, atol=1e-12)


def test_panda_mass_matrix_and_gravity(panda_model: Any) -> None:
    robot = read("panda")
    panda_model.gravity.linear = np.array([0, 0, -9.81])
    data = panda_model.createData()
    for _ in range(5):
        q = RNG.uniform(-3, 3, 7)
        M = np.triu(pin.crba(panda_model, data, q))
        assert np.allclose(mass_matrix(robot, q), M + np.triu(M, 1).T, rtol=0, atol=1e-12)
        tau = pin.computeGeneralizedGravity(panda_model, data, q)
        assert np.allclose(gravity(robot, q), tau, rtol=0, atol=1e-11)


def test_limits_are_those_of_the_urdf(panda_model: Any, ur5_model: Any) -> None:
    for name, model in (("panda", panda_model), ("ur5", ur5_model)):
        limits = [joint.limits for joint in read(name).joints]
        assert np.allclose([l.lower for l in limits], model.lowerPositionLimit, atol=1e-9)
        assert np.allclose([l.upper for l in limits], model.upperPositionLimit, atol=1e-9)
        assert np.allclose([l.velocity for l in limits], model.velocityLimit)
        assert np.allclose([l.torque for l in limits], model.effortLimit)


def test_ur5_flange_from_the_controllers_base(ur5_model: Any) -> None:
    """The URDF's `base` and `tool0` are the controller's frames: the same angles give the same pose."""
    robot = read("ur5")
    data = ur5_model.createData()
    for _ in range(5):
        q = RNG.uniform(-3, 3, 6)
        pin.framesForwardKinematics(ur5_model, data, q)
        T = np.linalg.inv(frame(ur5_model, data, "base")) @ frame(ur5_model, data, "tool0")
        assert np.allclose(tool(robot, q), T, rtol=0, atol=1e-10)


def test_ur5_masses_and_cylinders(ur5_model: Any) -> None:
    """Masses but the forearm's, and the moments of the arm's three cylinders (radius 0.06 m), as in the URDF."""
    robot = read("ur5")
    bodies = [joint.body.inertia.about_com() for joint in robot.joints]
    theirs = [ur5_model.inertias[i] for i in range(1, 7)]
    for i in (0, 1, 3, 4, 5):
        assert float(bodies[i].mass) == pytest.approx(theirs[i].mass, rel=1e-12)
    assert float(bodies[2].mass) == 2.33
    for i in (0, 1, 2):
        moments = np.linalg.eigvalsh(bodies[i].tensor.array().astype(float)) / float(bodies[i].mass)
        assert np.allclose(moments, np.linalg.eigvalsh(theirs[i].inertia) / theirs[i].mass, rtol=1e-6)


def test_ur5_centres_of_mass_lie_in_the_links() -> None:
    """Upright (elbow stretched up), the centres of mass climb from link to link; the flange ends the climb."""
    robot = read("ur5")
    q = [0, -np.pi / 2, 0, -np.pi / 2, 0, 0]
    bodies = placed(robot, q)
    heights = []
    for joint in robot.joints:
        com = joint.body.inertia.about_com().com
        heights.append((bodies[joint.body.name].T @ [*(float(x) for x in com), 1.0])[2])
    assert heights == sorted(heights)
    assert heights[1] == pytest.approx(0.089159 + 0.425 - 0.2125, abs=1e-12)


# Puma 560: numbers printed in Corke, Robotics, Vision and Control, for qn ------------------------------------------

QN = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])


def test_puma560_nominal_pose() -> None:
    T: list[list[float]] = [[0, 0, 1, 0.5963], [0, 1, 0, -0.1501], [-1, 0, 0, -0.01435], [0, 0, 0, 1]]
    assert np.allclose(tool(read("puma560"), QN), T, rtol=0, atol=6e-5)


def test_puma560_nominal_gravity() -> None:
    assert np.allclose(gravity(read("puma560"), QN), [0, 31.6399, 6.0351, 0, 0.0283, 0], rtol=0, atol=5e-5)


def test_puma560_nominal_inertia_with_rotors() -> None:
    M = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0, 0],
        [-0.4044, 4.4137, 0.3509, 0, 0.0024, 0],
        [0.1006, 0.3509, 0.9378, 0, 0.0015, 0],
        [-0.0025, 0, 0, 0.1925, 0, 0],
        [0, 0.0024, 0.0015, 0, 0.1713, 0],
        [0, 0, 0, 0, 0, 0.1941],
    ]
    assert np.allclose(mass_matrix(read("puma560"), QN), M, rtol=0, atol=6e-5)


def with_published_tensors(robot: Robot) -> Robot:
    tensors = {"trunk": (0, 0.35, 0), "upper_arm": (0.13, 0.524, 0.539), "forearm": (0.066, 0.086, 0.0125)}
    tree = []
    for joint in robot.tree:
        inertia = joint.body.inertia
        if joint.body.name in tensors:
            inertia = replace(inertia, tensor=type(inertia.tensor).diagonal(*tensors[joint.body.name]))
        tree.append(replace(joint, body=replace(joint.body, inertia=inertia)))
    return replace(robot, tree=tuple(tree), expressions=None)


def test_puma560_has_the_inertia_of_the_published_tensors_everywhere() -> None:
    """What was counted to the other side of the elbow axis, to make the tensors possible, changes nothing."""
    robot = read("puma560")
    published = with_published_tensors(robot)
    for _ in range(20):
        q = RNG.uniform(-3, 3, 6)
        assert np.allclose(mass_matrix(robot, q), mass_matrix(published, q), rtol=0, atol=1e-13)
        assert np.allclose(gravity(robot, q), gravity(published, q), rtol=0, atol=1e-13)


def test_puma560_friction_is_the_motors_seen_at_the_joint() -> None:
    """Motor figures of the toolbox: viscous B, Coulomb in the two directions, gear ratio G."""
    B = np.array([1.48e-3, 0.817e-3, 1.38e-3, 71.2e-6, 82.6e-6, 36.7e-6])
    forth = np.array([0.395, 0.126, 0.132, 11.2e-3, 9.26e-3, 3.96e-3])
    back = np.array([-0.435, -0.071, -0.105, -16.9e-3, -14.5e-3, -10.5e-3])
    G = np.array([-62.6111, 107.815, -53.7063, 76.0364, 71.923, 76.686])
    laws = [joint.friction for joint in read("puma560").joints]
    viscous = np.array([law.viscous for law in laws])
    assert np.allclose(viscous, B * G**2, rtol=1e-14)
    assert np.allclose([law.coulomb for law in laws], abs(G) * (forth - back) / 2, rtol=1e-14)
    # torque of joint 6 at qn, all rates 1 rad/s, as the toolbox tests it: 0.5196, of which about 1e-4 is Coriolis
    assert viscous[5] + abs(G[5]) * forth[5] == pytest.approx(0.5196, abs=2e-4)
