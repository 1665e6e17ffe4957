"""Customised models (Khalil sec. 7.5): base parameters, symmetric links, printed as the programs of the appendix."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Inertia
from armdyn.graph import Graph, trace
from armdyn.mechanics import composite_body, newton_euler
from armdyn.parameters import base_parameters, grouped, with_links
from armdyn.robot import Robot

STATE = {"q": 6, "qd": 6, "qdd": 6}


@pytest.fixture(scope="module")
def rx90() -> Robot:
    return armdyn.load("rx90").without("friction")


def general(robot: Robot) -> Robot:
    """The same arm with ten nonzero inertial parameters on every link."""
    rng = np.random.default_rng(2)
    return with_links(robot, [Inertia.from_parameters(*map(float, rng.uniform(0.5, 2, 10))) for _ in robot.links])


def inverse(robot: Robot) -> Graph:
    return trace(lambda q, qd, qdd: {"GAM": newton_euler.inverse_dynamics(robot, q, qd, qdd)}, STATE)


def direct(robot: Robot) -> Graph:
    return trace(lambda q, qd, tau: composite_body.forward_dynamics(robot, q, qd, tau), STATE)


def test_symmetric_links_need_fewer_operations_than_symoro(rx90: Robot) -> None:
    """Khalil counts 160 multiplications and 113 additions for this model; off-line constants apart."""
    operations = armdyn.derive(rx90, symbols="base").operations
    assert operations.multiplications <= 160 and operations.additions <= 113


def test_general_inertias_grouped(rx90: Robot) -> None:
    operations = inverse(grouped(general(rx90))).operations
    assert operations.multiplications <= 244 and operations.additions <= 225


def test_direct_dynamics(rx90: Robot) -> None:
    """SYMORO+ needed 889/653 in general and 637/423 for symmetric links (Khalil, table 7.6 and sec. 7.6)."""
    everything = direct(grouped(general(rx90))).operations
    assert everything.multiplications <= 451 and everything.additions <= 390
    symmetric = direct(base_parameters(rx90, ("inertial", "rotor"), absent="zeros").symbolic_robot).operations
    assert symmetric.multiplications < 400 and symmetric.additions < 300


def test_the_customised_model_is_the_general_one(rx90: Robot) -> None:
    customised = base_parameters(rx90, ("inertial", "rotor"), absent="zeros").symbolic_robot.bound()
    state = np.random.default_rng(0).uniform(-2, 2, (3, 20, 6))
    expected = newton_euler.inverse_dynamics(rx90, *state)
    found = newton_euler.inverse_dynamics(customised, *state)
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_the_printed_program_runs_and_reads_like_the_appendix(rx90: Robot) -> None:
    model = base_parameters(rx90, ("inertial", "rotor"), absent="zeros").symbolic_robot
    graph = inverse(model)
    names = set(re.findall(r"^(\w+) = ", graph.program(), re.M))
    assert {"WI13", "WI23", "W33", "WP13", "WI14", "W34", "VSP13", "VP13", "No33", "C4", "S5", "GAM6"} <= names
    space: dict[str, Any] = {}
    exec(graph.program("python"), space)
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-2, 2, (3, 6))
    values = {node.value: float(model.parameters[node.value]) for node in graph.parameters}
    expected = newton_euler.inverse_dynamics(rx90, q, qd, qdd)
    assert space["function"](q=q, qd=qd, qdd=qdd, **values)["GAM"] == pytest.approx(expected, rel=1e-12)
