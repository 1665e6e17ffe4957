"""Grouping changes the parameters and nothing else; and it shortens the generated program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.graph import Operations, identical, symbols, to_float, trace
from armdyn.mechanics import newton_euler
from armdyn.parameters import grouped, with_links
from armdyn.parameters.grouping import rounded, without_axes
from armdyn.parameters.standard import with_exact_links
from armdyn.robot import Robot
from support import pinocchio_model
from support.laws import SHAPES, assert_close, sample

TRIALS: dict[str, dict[str, Any]] = {
    "skew tree": {"branching": 0.4, "prismatic": 0.3},
    "right angles": {"skew": False, "prismatic": 0.3},
    "right angles, sliding": {"skew": False, "prismatic": 0.7},
    "right angles, tree, rotors": {"skew": False, "prismatic": 0.5, "branching": 0.4, "rotors": True},
    "upright": {"skew": False, "prismatic": 0.4, "tilted_base": False, "rotors": True},
    "weight across": {"skew": False, "prismatic": 0.4, "tilted_base": False, "any_gravity": True, "fixed": 0.3},
}


def operations(robot: Robot) -> Operations:
    n = robot.n
    function = lambda *state: newton_euler.inverse_dynamics(robot, *state)  # noqa: E731
    return trace(function, {"q": n, "qd": n, "qdd": n}).operations


def with_general_links(robot: Robot) -> Robot:
    """Ten parameters per link, from random bodies."""
    bodies = armdyn.random_robot(100, robot.n, prismatic=0)
    return with_links(robot.without("friction"), [link.inertia for link in bodies.links])


@pytest.mark.parametrize("shape", SHAPES)
def test_torques_stay_against_pinocchio(shape: str) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    tau = newton_euler.inverse_dynamics(grouped(robot), q, qd, qdd, wrench)
    assert_close(tau, pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench), 1e-12)


@pytest.mark.parametrize("trial", TRIALS)
@pytest.mark.parametrize("seed", range(6))
def test_torques_stay_on_random_robots(trial: str, seed: int) -> None:
    robot = armdyn.random_robot(seed, 2 + seed, **TRIALS[trial])
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, 4, robot.n))
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    less = grouped(robot)
    assert_close(newton_euler.inverse_dynamics(less, q, qd, qdd), tau, 1e-12)
    assert_close(newton_euler.inverse_dynamics(less.without("limits"), q, qd, qdd), tau, 1e-12)  # by its bodies
    assert_close(newton_euler.inverse_dynamics(grouped(robot, rotors=False), q, qd, qdd), tau, 1e-12)


def test_forward_quantities_stay_too() -> None:
    robot, q, qd, _, _ = sample("tree")
    assert_close(newton_euler.mass_matrix(grouped(robot), q), pinocchio_model.mass_matrix(robot, q))
    assert_close(newton_euler.coriolis(grouped(robot), q, qd), newton_euler.coriolis(robot, q, qd))


def test_what_a_revolute_link_keeps() -> None:
    """YY, MZ and M of every revolute link, and all but ZZ of the first one (Khalil sec. 7.5)."""
    for link in grouped(with_general_links(armdyn.load("rx90"))).links:
        XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M = link.inertia.parameters()
        assert YY == MZ == M == 0 and all(type(x) is int for x in (YY, MZ, M))
        if link.index == 0:
            assert XX == XY == XZ == YZ == MX == MY == 0
        assert ZZ != 0


def test_expressions_are_kept() -> None:
    """The torques of the grouped symbolic arm are the same expressions."""
    robot = armdyn.load("scara5").symbolic
    state = [symbols(" ".join(f"{name}{j}" for j in range(1, 6))) for name in ("q", "qd", "qdd")]
    assert identical(
        newton_euler.inverse_dynamics(grouped(robot), *state), newton_euler.inverse_dynamics(robot, *state)
    )
    assert to_float(grouped(robot).links[0].inertia.mass, robot.parameters) == pytest.approx(1.228 + 3 * 1.023)


# Operation counts: multiplications and additions at most ------------------------------------------------------------


@pytest.mark.parametrize(("name", "most"), [("panda", (314, 291)), ("ur5", (175, 146)), ("rx90", (160, 113))])
def test_operations_of_grouped_arms(name: str, most: tuple[int, int]) -> None:
    count = operations(grouped(armdyn.load(name)))
    assert (count.multiplications, count.additions) <= most and count.additions <= most[1]


def test_operations_of_the_general_rx90() -> None:
    robot = with_general_links(armdyn.load("rx90"))
    before, after = operations(robot), operations(grouped(robot))
    assert after.multiplications <= 244 and after.additions <= 225
    assert after.total < 0.88 * before.total


@pytest.mark.parametrize("seed", range(5))
def test_masses_on_the_axes_move_to_the_parents(seed: int) -> None:
    robot = armdyn.random_robot(seed, 6, prismatic=0.0)
    bodies = without_axes(robot.links)
    for body in bodies:
        _, _, _, YY, _, _, _, _, MZ, M = body.parameters()
        assert (YY, MZ, M) == (0, 0, 0)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, 6))
    less = newton_euler.inverse_dynamics(with_exact_links(robot, bodies), q, qd, qdd)
    assert_close(less, newton_euler.inverse_dynamics(robot, q, qd, qdd), 1e-12)


def test_axes_next_to_those_of_the_frame_become_exactly_these() -> None:
    """Literal integers, which vanish from products; anything else stays as it is."""
    found = [*rounded(Vec3(1e-13, 1 - 1e-13, -1 + 1e-13)), *rounded(Vec3(0.6, -0.8, 0.0))]
    assert found == [0, 1, -1, 0.6, -0.8, 0]
    assert [type(x) for x in found] == [int, int, int, float, float, int]
