"""Friction laws: by name, smooth ones, a user's own; in torques, kernels and derivatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import ops
from armdyn.formats import toml
from armdyn.graph import trace
from armdyn.mechanics import articulated_body, composite_body, derivatives, friction, newton_euler
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.parameters import regressor, standard_parameters
from armdyn.robot import Robot
from armdyn.robot.parts import Friction
from armdyn.robot.random import random_robot

RATES = np.array([-2.0, -0.3, -0.01, 0.0, 0.02, 0.4, 3.0])
ALL = Friction(viscous=0.7, coulomb=1.1, static=1.9, stribeck=0.2, width=0.05)


def law(name: str | None) -> np.ndarray:
    return np.array([friction.friction_torque(replace(ALL, law=name), float(rate)) for rate in RATES])


def test_the_laws_of_khalil() -> None:
    viscous, dry = 0.7 * RATES, 1.1 * np.sign(RATES)
    falling = 0.8 * np.exp(-np.abs(RATES) / 0.2) * np.sign(RATES)
    assert law("viscous") == pytest.approx(viscous, abs=1e-15)
    assert law("coulomb") == pytest.approx(viscous + dry, abs=1e-15)
    assert law("stribeck") == pytest.approx(viscous + dry + falling, abs=1e-15)
    assert np.array_equal(law(None), law("stribeck"))
    assert friction.friction_torque(replace(ALL, static=0), 0.3) == pytest.approx(0.7 * 0.3 + 1.1)
    assert friction.friction_torque(None, 0.3) == 0


def test_the_smooth_law_tends_to_the_general_one() -> None:
    """First order in the width, through the Stribeck part; second order without it."""
    rates = RATES[RATES != 0]
    for static, order in ((1.9, 1), (0, 2)):
        errors = []
        for width in (1e-5, 1e-6):
            narrow = replace(ALL, law="smooth", width=width, static=static)
            both = [(friction.friction_torque(narrow, r), friction.friction_torque(replace(ALL, static=static), r))
                    for r in rates]  # fmt: skip
            errors.append(max(abs(a - b) for a, b in both))
        assert np.log10(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


def robot_with(name: str, **values: float) -> Robot:
    robot = random_robot(5, 4, friction=True, rotors=True)
    tree = [replace(j, friction=replace(j.friction, law=name, width=0.1, values=values)) for j in robot.tree]
    return replace(robot, tree=tuple(tree))


def quadratic(law: Friction, rate: Any) -> Any:
    return law.viscous * rate + law.values["air"] * rate * rate * ops.sign(rate)


@pytest.fixture
def own_law() -> Any:
    friction.register_friction("with air", quadratic)
    yield "with air"
    del friction.LAWS["with air"]


@pytest.mark.parametrize("name", ["viscous", "coulomb", "stribeck", "smooth", "with air"])
def test_a_law_reaches_every_formula(name: str, own_law: str) -> None:
    robot = robot_with(name, air=0.25)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, robot.n))
    expected = [friction.friction_torque(j.friction, r) for j, r in zip(robot.joints, qd, strict=True)]
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert tau - newton_euler.inverse_dynamics(robot.without("friction"), q, qd, qdd) == pytest.approx(expected)
    for formulation in FORMULATIONS:
        if "inverse_dynamics" in formulation.gives:
            assert formulation.function("inverse_dynamics")(robot, q, qd, qdd) == pytest.approx(tau, rel=1e-10)
    assert composite_body.forward_dynamics(robot, q, qd, tau) == pytest.approx(qdd, abs=1e-7)
    reflected = replace(robot, tree=tuple(replace(j, rotor=None) for j in robot.tree))
    tau_bare = newton_euler.inverse_dynamics(reflected, q, qd, qdd)
    assert articulated_body.forward_dynamics(reflected, q, qd, tau_bare) == pytest.approx(qdd, abs=1e-7)

    graph = trace(lambda *state: newton_euler.inverse_dynamics(robot, *state), {"q": 4, "qd": 4, "qdd": 4})
    assert graph(q=q, qd=qd, qdd=qdd) == pytest.approx(tau, rel=1e-12)
    batch = newton_euler.inverse_dynamics(robot, q, np.stack([qd, -qd, 0 * qd]), qdd)
    assert batch[0] == pytest.approx(tau, rel=1e-12)

    step = 1e-30
    slopes = derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd)[1]
    for j, unit in enumerate(np.eye(4)):
        column = newton_euler.inverse_dynamics(robot, q, qd + 1j * step * unit, qdd).imag / step
        assert slopes[:, j] == pytest.approx(column, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("name", ["viscous", "coulomb", "smooth"])
def test_the_regressor_follows_the_law(name: str) -> None:
    robot = robot_with(name)
    robot = replace(robot, tree=tuple(replace(j, friction=replace(j.friction, static=0)) for j in robot.tree))
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, robot.n))
    values = np.array(standard_parameters(robot).values, float)
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert regressor(robot, q, qd, qdd) @ values == pytest.approx(expected, rel=1e-10)


def test_the_smooth_law_has_its_slope_at_rest() -> None:
    robot = robot_with("smooth")
    slopes = derivatives.inverse_dynamics_derivatives(robot, [0.3] * 4, [0.0] * 4, [0.0] * 4)[1]
    bare = derivatives.inverse_dynamics_derivatives(robot.without("friction"), [0.3] * 4, [0.0] * 4, [0.0] * 4)[1]
    expected = [j.friction.viscous + j.friction.static / 0.1 for j in robot.joints]
    assert np.diag(slopes - bare) == pytest.approx(expected)


def test_a_law_in_a_robot_file() -> None:
    text = """
name = "a"
[parameters]
c = 0.2
[[joint]]
a = 1
mass = 1
friction = {law = "with air", viscous = 0.1, values = {air = "2*c"}}
"""
    robot = toml.loads(text)
    assert robot.joints[0].friction == Friction(viscous=0.1, law="with air", values={"air": 0.4})
    again = toml.loads(toml.dumps(robot))
    assert again.joints[0].friction == robot.joints[0].friction
    assert "2*c" in toml.dumps(robot)
    with pytest.raises(armdyn.ArmdynError, match="joint 'joint1': unknown friction law 'with air'"):
        newton_euler.inverse_dynamics(robot, [0.0], [1.0], [0.0])


def test_errors() -> None:
    with pytest.raises(armdyn.ArmdynError, match="exists already"):
        friction.register_friction("coulomb", quadratic)
    with pytest.raises(armdyn.ArmdynError, match="needs a width"):
        friction.friction_torque(Friction(coulomb=1, law="smooth"), 0.1)
    with pytest.raises(armdyn.ArmdynError, match="leave static out"):
        friction.friction_torque(Friction(coulomb=1, static=2), 0.1)
    assert set(friction.friction_laws()) >= {"viscous", "coulomb", "stribeck", "smooth"}
