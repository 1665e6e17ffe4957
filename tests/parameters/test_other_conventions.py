"""Inertial parameters in the conventions of other tools: exact round trips, and the numbers of the tools themselves."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

import armdyn
from armdyn import convert_parameters
from armdyn.errors import PhysicsError, ShapeError, UnknownName
from armdyn.parameters import PARAMETER_CONVENTIONS

NAMES = list(PARAMETER_CONVENTIONS)
ratio = st.fractions(min_value=-5, max_value=5, max_denominator=97)


def body(seed: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre of mass, tensor about it."""
    rng = np.random.default_rng(seed)
    A = rng.uniform(-1, 1, (3, 3))
    return rng.uniform(0.5, 3), rng.uniform(-1, 1, 3), A @ A.T + np.eye(3)


@given(st.lists(ratio, min_size=9, max_size=9), st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=97))
@settings(max_examples=15)  # rational functions: one that is wrong is wrong nearly everywhere
def test_round_trips_are_exact(entries: list[Fraction], mass: Fraction) -> None:
    ours = [*entries, mass]
    start = {name: convert_parameters(ours, "armdyn", name) for name in NAMES}
    for source, target in permutations(NAMES, 2):
        there = convert_parameters(start[source], source, target)
        assert all(isinstance(x, Fraction | int) for x in there)
        assert list(convert_parameters(there, target, "armdyn")) == ours


def test_pinocchios_numbers() -> None:
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the other tool of this test")
    m, c, I = body(1)
    theirs = pin.Inertia(m, c, I).toDynamicParameters()
    given_ = [m, *c, I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]]
    np.testing.assert_allclose(convert_parameters(given_, "urdf", "pinocchio"), theirs, rtol=1e-14)
    R = pin.rpy.rpyToMatrix(0.3, -0.5, 1.1)
    placement = pin.SE3(R, np.array([0.2, -0.4, 0.7]))
    moved = placement.act(pin.Inertia(m, c, I)).toDynamicParameters()
    ours = convert_parameters(theirs, "pinocchio", "pinocchio", frame=placement.homogeneous)
    np.testing.assert_allclose(ours, moved, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("name", ["armdyn", "khalil", "sympybotics"])
def test_first_moments_and_the_tensor_about_the_origin(name: str) -> None:
    """By definition: I - m [c]x [c]x, m c, m; the same for Khalil and Dombre and for SymPyBotics (L, l, m)."""
    m, c, tensor = body(5)
    skew = np.cross(np.eye(3), c)
    about_origin = tensor - m * skew @ skew
    expected = [*about_origin[np.triu_indices(3)], *(m * c), m]
    urdf = [m, *c, *tensor[np.triu_indices(3)]]
    np.testing.assert_allclose(convert_parameters(urdf, "urdf", name), expected, rtol=1e-13)
    np.testing.assert_allclose(convert_parameters(expected, name, "urdf"), urdf, rtol=1e-12)


def test_mujocos_numbers() -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the other tool of this test")
    m, c, I = body(2)
    mjcf = convert_parameters([m, *c, I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]], "urdf", "mujoco")
    texts = [repr(float(x)) for x in mjcf]
    inertial = f'<inertial mass="{texts[0]}" pos="{" ".join(texts[1:4])}" fullinertia="{" ".join(texts[4:])}"/>'
    world = f'<worldbody><body><joint name="j"/>{inertial}</body></worldbody>'
    model = mujoco.MjModel.from_xml_string(f"<mujoco>{world}</mujoco>")
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, model.body_iquat[1])
    axes = R.reshape(3, 3)
    np.testing.assert_allclose(axes @ np.diag(model.body_inertia[1]) @ axes.T, I, rtol=1e-10)
    np.testing.assert_allclose([model.body_mass[1], *model.body_ipos[1]], [m, *c], rtol=1e-14)


def test_the_robotics_toolboxs_numbers() -> None:
    rtb = pytest.importorskip("roboticstoolbox", reason="the Robotics Toolbox is the other tool of this test")
    m, c, I = body(3)
    theirs = convert_parameters([m, *c, I[0, 0], I[0, 1], I[0, 2], I[1, 1], I[1, 2], I[2, 2]], "urdf", "rtb")
    link = rtb.RevoluteDH(m=theirs[0], r=theirs[1:4], I=theirs[4:])
    np.testing.assert_allclose(link.I, I, rtol=1e-14)


def test_links_of_a_robot_are_those_of_pinocchio(tmp_path: Path) -> None:
    """Our joint frames have z on the axis; Pinocchio's are the file's, in which the axis may be any."""
    pin = pytest.importorskip("pinocchio", reason="Pinocchio is the other tool of this test")
    robot = armdyn.random_robot(5, 5).without("friction", "rotors", "limits")
    model = pin.buildModelFromUrdf(str(robot.save(tmp_path / "robot.urdf")))
    data = model.createData()
    again = armdyn.load(tmp_path / "robot.urdf")
    pin.forwardKinematics(model, data, pin.neutral(model))
    for link in again.links:
        joint = again.joints[link.index]
        theirs = model.inertias[model.getJointId(joint.name)].toDynamicParameters()
        frame = np.eye(4)
        frame[:3, :3] = np.asarray(joint.geometry.after().R.array(), dtype=float)
        ours = convert_parameters(theirs, "pinocchio", "armdyn", frame=frame)
        np.testing.assert_allclose([float(x) for x in link.inertia.parameters()], ours, rtol=1e-10, atol=1e-12)


def test_symbols_and_batches() -> None:
    m, x = sympy.symbols("m x", positive=True)
    point = np.array([m, m * x, 0, 0, 0, 0, m * x**2, 0, 0, m * x**2], dtype=object)
    assert [sympy.simplify(y) for y in convert_parameters(point, "pinocchio", "rtb")] == [m, x, *[0] * 8]
    rng = np.random.default_rng(4)
    many = rng.uniform(1, 2, (3, 2, 30))
    there = convert_parameters(many, "pinocchio", "drake")
    assert there.shape == many.shape
    np.testing.assert_allclose(convert_parameters(there, "drake", "pinocchio"), many, rtol=1e-12)
    np.testing.assert_allclose(there[1, 1, 10:20], convert_parameters(many[1, 1, 10:20], "pinocchio", "drake"))


def test_errors() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'pinocchio'"):
        convert_parameters([0] * 10, "pinochio", "rtb")
    with pytest.raises(ShapeError, match="ten numbers"):
        convert_parameters([0] * 9, "pinocchio", "rtb")
    with pytest.raises(PhysicsError, match="without mass"):
        convert_parameters([0, 1, 0, 0, 0, 0, 0, 0, 0, 0], "pinocchio", "rtb")
    assert not convert_parameters(np.zeros(10), "pinocchio", "drake").any()
