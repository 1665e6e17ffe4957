"""Torques are linear in the standard parameters: Y pi = tau, by an independent recursion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.graph import RationalAngle, identical, symbols, to_float, trace
from armdyn.mechanics import newton_euler
from armdyn.parameters import parameter_names, regressor, standard_parameters
from armdyn.robot import Robot
from armdyn.robot.exact import exact
from support import pinocchio_model
from support.laws import SHAPES, assert_close, sample


def with_linear_friction(robot: Robot) -> Robot:
    """Without the static part, which is not linear."""
    tree = [replace(j, friction=j.friction and replace(j.friction, static=0, stribeck=0)) for j in robot.tree]
    return replace(robot, tree=tuple(tree))


@pytest.mark.parametrize("shape", SHAPES)
def test_inertial_part_against_pinocchio(shape: str) -> None:
    robot, q, qd, qdd, _ = sample(shape)
    Y = regressor(robot, q, qd, qdd, ("inertial",))
    assert Y.shape == (robot.n, 10 * robot.n)
    pi = standard_parameters(robot, ("inertial",)).array()
    assert_close(Y @ pi, pinocchio_model.inverse_dynamics(robot, q, qd, qdd))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("convention", ["standard", "modified", "free"])
def test_all_parts_in_batches(shape: str, convention: str) -> None:
    robot = armdyn.random_robot(7, **{**SHAPES[shape], "convention": convention}, rotors=True, friction=True)
    robot = with_linear_friction(robot)
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 5, robot.n))
    Y = regressor(robot, q, qd, qdd)
    assert Y.shape == (5, robot.n, 14 * robot.n)
    assert_close(Y @ standard_parameters(robot).array(), newton_euler.inverse_dynamics(robot, q, qd, qdd))


@pytest.mark.parametrize("shape", ["tree", "sliding", "standard"])
def test_exactly_over_rationals(shape: str) -> None:
    robot = exact(armdyn.random_robot(11, **SHAPES[shape], rotors=True))
    rng = np.random.default_rng(2)

    def draw() -> fmpq:
        return fmpq(int(rng.integers(-20, 20)), int(rng.integers(1, 10)))

    q = [RationalAngle(draw()) if link.revolute else draw() for link in robot.links]
    qd, qdd = ([draw() for _ in robot.links] for _ in range(2))
    families = ("inertial", "rotor", "offset")
    pi = standard_parameters(robot, families)
    Y = regressor(robot, q, qd, qdd, families)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert tuple(sum(y * x for y, x in zip(row, pi, strict=True)) for row in Y) == tau


def test_symbols_and_full_rotors() -> None:
    """With symbols for everything: Y pi = tau at values that have nothing to do with one another."""
    robot = armdyn.load("planar2r").symbolic
    q, qd, qdd = (symbols(f"{name}1 {name}2") for name in ("q", "qd", "qdd"))
    families = ("inertial", "rotor")
    Y, pi = regressor(robot, q, qd, qdd, families), standard_parameters(robot, families)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    rng = np.random.default_rng(0)
    values = {name: float(x) for name, x in zip(robot.parameters, rng.uniform(0.5, 3, 99), strict=False)}
    values |= {node.value: float(x) for node, x in zip((*q, *qd, *qdd), rng.uniform(-2, 2, 6), strict=True)}
    for row, torque in zip(Y, tau, strict=True):
        total = sum(y * x for y, x in zip(row, pi, strict=True))
        assert to_float(total, values) == pytest.approx(to_float(torque, values), rel=1e-13)


def test_planar_arm_of_siciliano() -> None:
    """Siciliano (7.84): the columns of ZZ2, MX2 and the rotor, multiplied out by hand, z out of the plane."""
    robot = armdyn.load("planar2r").symbolic
    q, qd, qdd = (symbols(f"{name}1 {name}2") for name in ("q", "qd", "qdd"))
    a1, g = symbols("a1 g", "parameter")
    Y = regressor(robot, q, qd, qdd, ("inertial", "rotor"))
    names = list(parameter_names(robot, ("inertial", "rotor")))
    c2, s2, c12 = q[1].cos(), q[1].sin(), (q[0] + q[1]).cos()
    assert identical(Y[0][names.index("ZZ2")], qdd[0] + qdd[1])
    assert identical(Y[1][names.index("ZZ2")], qdd[0] + qdd[1])
    column = names.index("MX2")
    y = 2 * a1 * c2 * qdd[0] + a1 * c2 * qdd[1] - 2 * a1 * s2 * qd[0] * qd[1] - a1 * s2 * qd[1] * qd[1] + g * c12
    assert identical(Y[0][column], y)
    assert identical(Y[1][column], a1 * c2 * qdd[0] + a1 * s2 * qd[0] * qd[0] + g * c12)
    column = names.index("Ia2")  # the source's column of Im2 is kr2^2 times ours: Ia2 = kr2^2 Im2
    values = {"kr2": 70.0, "qdd1": 2.0, "qdd2": 3.0}
    assert to_float(Y[0][column], values) == pytest.approx(70 * 3.0 / 70**2, rel=1e-15)
    assert to_float(Y[1][column], values) == pytest.approx((70 * 2.0 + 70**2 * 3.0) / 70**2, rel=1e-15)
    assert Y[0][names.index("M1")] == 0


def test_columns_of_joints_that_do_not_carry_a_link_are_literal_zeros() -> None:
    robot = armdyn.load("panda")
    graph = trace(lambda q, qd, qdd: regressor(robot, q, qd, qdd, include=("inertial",)), {"q": 7, "qd": 7, "qdd": 7})
    assert all(str(y) == "0" for i, row in enumerate(graph.outputs["out"]) for y in row[: 10 * i])
