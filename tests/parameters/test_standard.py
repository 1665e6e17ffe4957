"""Standard parameters: names, values, and robots made from them."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.conventions import STANDARD_PARAMETERS
from armdyn.errors import ShapeError, UnknownName
from armdyn.mechanics import newton_euler
from armdyn.parameters import parameter_names, standard_parameters, with_links, with_standard_parameters
from armdyn.parameters.standard import parameter_unit
from support import pinocchio_model
from support.laws import SHAPES, assert_close, sample


def test_names_follow_the_conventions() -> None:
    names = parameter_names(armdyn.load("planar2r"))
    assert names == tuple(f"{kind}{j}" for j in (1, 2) for kind in STANDARD_PARAMETERS)
    assert parameter_names(armdyn.load("planar2r"), "rotor") == ("Ia1", "Ia2")
    with pytest.raises(UnknownName, match="inertial"):
        parameter_names(armdyn.load("planar2r"), ("inertia",))


def test_values_of_rx90_are_those_of_its_file() -> None:
    robot = armdyn.load("rx90")
    parameters = standard_parameters(robot)
    for name in ("XX2", "YY3", "ZZ1", "MX2", "MZ4", "M6", "Ia5"):
        assert parameters[name] == robot.parameters[name]
        assert str(standard_parameters(robot.symbolic)[name]) == name
    assert parameters["XY1"] == 0


def test_augmented_links_of_the_planar_arm() -> None:
    """Siciliano (7.83): m1 = ml1 + mm2, m1 lC1 measured from the joint here, Ia = kr^2 Im."""
    robot = armdyn.load("planar2r")
    p, pi = robot.parameters, standard_parameters(robot)
    assert pi["M1"] == p["ml1"] + p["mm2"]
    assert pi["MX1"] == p["ml1"] * p["l1"] + p["mm2"] * p["a1"]
    assert pi["ZZ2"] == pytest.approx(p["Il2"] + p["ml2"] * p["l2"] ** 2, rel=1e-15)
    assert pi["Ia1"] == p["kr1"] ** 2 * p["Im1"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_robot_rebuilt_from_its_parameters(shape: str) -> None:
    robot, q, qd, qdd, _ = sample(shape)
    again = with_standard_parameters(robot, standard_parameters(robot))
    expected = pinocchio_model.inverse_dynamics(robot, q, qd, qdd)
    assert_close(newton_euler.inverse_dynamics(again, q, qd, qdd), expected)
    bodies_only = again.without("limits")  # links assembled anew from the bodies in their own frames
    assert_close(newton_euler.inverse_dynamics(bodies_only, q, qd, qdd), expected)
    assert_close(newton_euler.inverse_dynamics(again.with_payload(2.0, (0.1, 0, 0)), q, qd, qdd),
                 newton_euler.inverse_dynamics(robot.with_payload(2.0, (0.1, 0, 0)), q, qd, qdd))  # fmt: skip


def test_rotors_and_friction_are_parameters_too() -> None:
    robot = armdyn.random_robot(3, 4, rotors=True)
    rng = np.random.default_rng(0)
    wanted = {f"{kind}{j}": float(x) for kind in ("Ia", "Fv", "Fc", "M", "XY") for j, x in enumerate(rng.random(4), 1)}
    changed = standard_parameters(with_standard_parameters(robot, wanted))
    for name, value in wanted.items():
        assert changed[name] == pytest.approx(value, rel=1e-14)
    untouched = standard_parameters(robot)
    for name in set(untouched.names) - set(wanted):
        assert changed[name] == pytest.approx(untouched[name], rel=1e-14, abs=1e-15)


def test_joint_numbers_above_nine() -> None:
    robot = armdyn.random_robot(1, 12)
    changed = with_standard_parameters(robot, {"Fv12": 3.0, "Ia2": 0.5})
    assert [joint.friction is None for joint in changed.joints] == [True] * 11 + [False]
    assert [joint.rotor is None for joint in changed.joints] == [True, False] + [True] * 10


def test_what_a_robot_cannot_have() -> None:
    robot = armdyn.load("pendulum")
    assert standard_parameters(with_standard_parameters(robot, {"off1": 1.0}))["off1"] == 1.0
    with pytest.raises(UnknownName, match="XX2"):
        with_standard_parameters(robot, {"XX2": 1.0})
    with pytest.raises(ShapeError, match="one per link"):
        with_links(robot, [])
    with pytest.raises(UnknownName):
        standard_parameters(robot)["XX9"]


def test_the_table_prints() -> None:
    table = str(standard_parameters(armdyn.load("rx90").symbolic, ("rotor",)))
    assert table == "\n".join(f"Ia{j}  Ia{j}" for j in range(1, 7))


def test_units() -> None:
    """Of rotors, friction and springs they depend on the joint: the second one is prismatic."""
    robot = armdyn.Robot.from_dh([{"mass": 1.0}, {"mass": 1.0, "type": "prismatic"}])
    inertial = {"XX": "kg m^2", "YZ": "kg m^2", "MX": "kg m", "MZ": "kg m", "M": "kg"}
    revolute = {"Ia": "kg m^2", "Fv": "N m s/rad", "Fvn": "N m s/rad", "Fvm": "N m s/rad", "Fc": "N m", "Fcn": "N m",
                "Fcm": "N m", "off": "N m", "Ks": "N m/rad", "Mc": "kg"}  # fmt: skip
    prismatic = {"Ia": "kg", "Fv": "N s/m", "Fvn": "N s/m", "Fvm": "N s/m", "Fc": "N", "Fcn": "N", "Fcm": "N",
                 "off": "N", "Ks": "N/m", "Mc": "kg"}  # fmt: skip
    for number, units in ((1, inertial | revolute), (2, inertial | prismatic)):
        assert {kind: parameter_unit(robot, f"{kind}{number}") for kind in units} == units


def test_axes_of_a_ball_joint_have_one_body_and_no_rotor() -> None:
    """Its chain of joints has bodies without mass between them: their parameters are none."""
    robot = armdyn.random_robot(4, 6, ball=0.3, branching=0.4)
    names = parameter_names(robot)
    bodies = [j for j, joint in enumerate(robot.joints, 1) if joint.body.inertia.mass > 0]
    alone = [j for j, joint in enumerate(robot.joints, 1) if joint.compound is None]
    assert 0 < len(alone) < len(bodies) < robot.n
    for kind in ("XX", "MZ", "M"):
        assert [name for name in names if name.rstrip("0123456789") == kind] == [f"{kind}{j}" for j in bodies]
    assert [name for name in names if name.startswith("Ia")] == [f"Ia{j}" for j in alone]
    assert [name for name in names if name.startswith("Fv")] == [f"Fv{j}" for j in range(1, robot.n + 1)]


def test_robots_with_ball_joints_are_rebuilt_from_their_parameters() -> None:
    """The bodies between the axes of a joint stay without mass."""
    robot = armdyn.random_robot(4, 6, ball=0.3, branching=0.4)
    again = with_standard_parameters(robot, standard_parameters(robot))
    assert [joint.body.inertia.mass > 0 for joint in again.joints] == [
        joint.body.inertia.mass > 0 for joint in robot.joints
    ]
    qd, qdd = np.random.default_rng(2).normal(size=(2, robot.n))
    q = robot.integrate(robot.neutral, qd)
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert newton_euler.inverse_dynamics(again, q, qd, qdd) == pytest.approx(expected, rel=1e-11, abs=1e-11)
