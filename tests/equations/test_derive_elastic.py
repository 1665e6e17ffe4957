"""Equations of robots with elastic joints: by hand for one joint, by the compiled doubled model for random robots."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import armdyn
from armdyn.errors import FeatureError, NotApplicable
from armdyn.formats import toml
from armdyn.graph import identical, symbols
from armdyn.robot import Robot
from armdyn.robot.parts import Elastic
from armdyn.robot.random import random_robot

PENDULUM = """
name = "pendulum"
gravity = [0, "-g", 0]
[parameters]
g = 9.81
l = 0.5
m = 2.0
I = 0.1
J = 0.02
k = 400.0
[[joint]]
a = "l"
mass = "m"
inertia = [0, 0, 0, 0, 0, "I"]
rotor = {inertia = "J"}
elastic = {stiffness = "k", damping = 0.5, viscous = 0.1}
"""


def test_one_joint_by_hand() -> None:
    """(I + m l^2) qdd + m g l cos q + k (q - theta) + d (qd - thetad) = 0, J thetadd + ... = tau. Khalil (7.35)"""
    equations = armdyn.derive(toml.loads(PENDULUM))
    g, length, m, inertia, J, k = symbols("g l m I J k", "parameter")
    q, theta, qd, thetad, qdd, thetadd = symbols("q1 theta1 qd1 thetad1 qdd1 thetadd1")
    assert identical(equations.nodes("M"), [[inertia + m * length**2, 0 * q], [0 * q, J]])
    assert identical(equations.nodes("g"), [g * m * length * q.cos(), 0 * q])
    assert identical(equations.nodes("k"), [k * (q - theta), k * (theta - q)])
    links = (inertia + m * length**2) * qdd + g * m * length * q.cos() + k * (q - theta)
    damping = [0.5 * (qd - thetad), 0.5 * (thetad - qd) + Fraction(1, 10) * thetad]
    assert identical(equations.nodes("friction"), damping)
    assert identical(equations.raw["tau"], [links + damping[0], J * thetadd + k * (theta - q) + damping[1]])
    assert [str(each) for each in equations.q] == ["q1", "theta1"]
    assert "theta1: joints, then motors" in str(equations)


def springy(seed: int) -> Robot:
    robot = random_robot(seed, 3, rotors=True, any_gravity=True, branching=0.3 * (seed % 2))
    tree = []
    for i, joint in enumerate(robot.tree):
        spring = Elastic(300.0 + 100 * i, damping=0.7, viscous=0.2) if i != 1 else None
        rotor = replace(joint.rotor, model="full" if seed % 2 else "reflected", transverse=2e-4)
        tree.append(replace(joint, elastic=spring, rotor=rotor))
    return replace(robot, tree=tuple(tree))


@pytest.mark.parametrize(
    ("seed", "formulation", "coriolis"),
    [(0, "newton_euler", "christoffel"), (0, "newton_euler", "own"), (0, "lagrange_euler", "christoffel"),
     (0, "lagrange_euler", "own"), (1, "newton_euler", "christoffel"), (1, "lagrange_euler", "own")],
)  # fmt: skip
def test_against_the_doubled_model(seed: int, formulation: str, coriolis: str) -> None:
    robot = springy(seed)
    equations, dyn = armdyn.derive(robot, formulation, coriolis=coriolis), armdyn.compile(robot)
    assert [str(each) for each in equations.q] == ["q1", "q2", "q3", "theta1", "theta3"]
    x, xd, xdd = np.random.default_rng(seed).uniform(-1, 1, (3, dyn.n))
    tau = dyn.inverse_dynamics(x, xd, xdd)
    expected = {"M": dyn.mass_matrix(x), "C": dyn.coriolis_matrix(x, xd), "g": dyn.gravity(x), "k": dyn.springs(x)}
    expected["friction"] = dyn.friction(xd)
    arguments = {"M": (x,), "C": (x, xd), "g": (x,), "k": (x,), "friction": (xd,)}
    for name, value in expected.items():
        found = equations.lambdify(name)(*arguments[name])
        assert np.abs(found - value).max() < 1e-9 * (1 + np.abs(value).max()), name
    assert equations.lambdify()(x, xd, xdd) == pytest.approx(tau, rel=1e-9, abs=1e-9)


def test_terms_add_up() -> None:
    equations = armdyn.derive(toml.loads(PENDULUM))
    terms = equations.terms()
    whole = [sum((terms[name][i] for name in terms if name != "external"), start=0 * symbols("q1")[0]) for i in (0, 1)]
    assert identical(whole, equations.raw["tau"])


def test_refusals() -> None:
    with pytest.raises(FeatureError, match="elastic"):
        armdyn.derive(toml.loads(PENDULUM), symbols="base")
    gripper = [{"a": 0.4, "mass": 1.0, "rotor": {"inertia": 0.1}, "elastic": {"stiffness": 100.0}},
               {"a": 0.4, "mass": 1.0, "mimic": {"joint": "joint1"}}]  # fmt: skip
    with pytest.raises(NotApplicable, match="together with"):
        armdyn.derive(Robot.from_dh(gripper))
