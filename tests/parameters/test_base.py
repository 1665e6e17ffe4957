"""Base parameters: counts, groups and maps; rules against ranks."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError, UnknownName
from armdyn.graph import identical, symbols, text, trace
from armdyn.mechanics import newton_euler
from armdyn.parameters import base_parameters, regressor, standard_parameters
from armdyn.robot import Robot
from support import pinocchio_model
from support.laws import assert_close
from support.ranks import numeric_rank, stacked_regressor

INERTIAL = ("inertial",)
WITH_ROTORS = ("inertial", "rotor")

COUNTS: list[tuple[str, tuple[str, ...], Any, int]] = [
    ("planar2r", WITH_ROTORS, "zeros", 5),  # Siciliano sec. 7.3.2, footnote 6
    ("puma560", INERTIAL, (), 36),
    ("rx90", INERTIAL, (), 36),
    ("ur5", INERTIAL, (), 36),
    ("panda", INERTIAL, (), 43),
    ("rx90", WITH_ROTORS, (), 40),
    ("panda", WITH_ROTORS, (), 48),
    ("scara5", INERTIAL, (), 9),
]

RX90 = """
    ZZR1 = Ia1 + ZZ1 + YY2 + YY3 + d3*d3*(M3 + M4 + M5 + M6)
    XXR2 = XX2 - YY2 - d3*d3*(M3 + M4 + M5 + M6)
    ZZR2 = Ia2 + ZZ2 + d3*d3*(M3 + M4 + M5 + M6)
    MXR2 = MX2 + d3*(M3 + M4 + M5 + M6)
    MY2 = MY2
    XXR3 = XX3 - YY3 + YY4 + 2*RL4*MZ4 + RL4*RL4*(M4 + M5 + M6)
    ZZR3 = ZZ3 + YY4 + 2*RL4*MZ4 + RL4*RL4*(M4 + M5 + M6)
    MYR3 = MY3 + MZ4 + RL4*(M4 + M5 + M6)
    XXR4 = XX4 - YY4 + YY5
    ZZR4 = ZZ4 + YY5
    XXR5 = XX5 - YY5 + YY6
    ZZR5 = ZZ5 + YY6
    MYR5 = MY5 + MZ6
    XXR6 = XX6 - YY6
    ZZ6 = ZZ6
    Ia3 = Ia3
    Ia4 = Ia4
    Ia5 = Ia5
    Ia6 = Ia6
"""
"""Khalil's base parameters of the RX-90 with symmetric links, by the grouping relations that its appendix implies."""


@pytest.mark.parametrize(("name", "include", "absent", "count"), COUNTS)
def test_counts(name: str, include: tuple[str, ...], absent: Any, count: int) -> None:
    base = base_parameters(armdyn.load(name), include, absent=absent)
    assert base.count == count == len(base.groups) == len(base.columns)
    assert base.proved
    assert base.matrix.shape == (count, len(base.standard))


@pytest.mark.parametrize(("name", "include", "absent", "count"), COUNTS)
def test_counts_by_singular_values(name: str, include: tuple[str, ...], absent: Any, count: int) -> None:
    robot = armdyn.load(name)
    known = base_parameters(robot, include, absent=absent).standard
    names = standard_parameters(robot, include).names
    W = stacked_regressor(robot, include)[:, [names.index(name) for name in known]]
    assert numeric_rank(W) == count


def test_groups_of_the_symmetric_rx90() -> None:
    base = base_parameters(armdyn.load("rx90"), WITH_ROTORS, absent="zeros")
    relations = dict(line.strip().split(" = ") for line in RX90.strip().splitlines())
    assert set(base.names) == set(relations)
    letters = {node.value: node for node in symbols(" ".join((*base.standard, "d3", "RL4")), "parameter")}
    for name, relation in relations.items():
        assert identical(base.groups[name], eval(relation, {}, letters)), name  # our own text above


def test_groups_of_the_scara_arm() -> None:
    """By hand: what the lift bears, three vertical axes without first moment of the first, and the quill's mass."""
    base = base_parameters(armdyn.load("scara5"))
    assert set(base.names) == {"MR1", "ZZR2", "ZZR3", "MXR3", "MY3", "ZZR4", "MXR4", "MYR4", "M5"}
    M1, M2, M3, M4, MX4, MX5, MY4, MY5 = symbols("M1 M2 M3 M4 MX4 MX5 MY4 MY5", "parameter")
    assert identical(base.groups["MR1"], M1 + M2 + M3 + M4)
    assert identical(base.groups["MXR4"], MX4 + MX5)
    assert identical(base.groups["MYR4"], MY4 - MY5)  # the quill's frame is turned over


def random_arm(seed: int) -> tuple[Robot, tuple[str, ...]]:
    options: dict[str, Any] = {
        "n": 3 + seed % 4,
        "prismatic": (0.2, 0.5, 0.8)[seed % 3],
        "branching": (0, 0.4)[seed % 2],
        "skew": seed % 5 == 0,
        "rotors": seed % 3 == 0,
        "any_gravity": seed % 7 < 3,
        "tilted_base": seed % 6 < 4,
        "fixed": 0.2,
    }
    include = (INERTIAL, WITH_ROTORS, ("inertial", "rotor", "offset"), ("inertial", "rotor", "friction", "offset"))
    return armdyn.random_robot(seed, **options), include[seed % 4]


@pytest.mark.parametrize("seed", range(40))
def test_rules_and_ranks_agree_on_random_arms(seed: int) -> None:
    """Right angles and sliding joints, where the special rules live; trees; full rotors."""
    robot, include = random_arm(seed)
    base = base_parameters(robot, include)
    W = stacked_regressor(robot, include)
    assert base.proved
    assert base.count == numeric_rank(W)
    names = list(base.standard)
    chosen = [names.index(name) for name in base.columns]
    assert numeric_rank(W[:, chosen]) == base.count
    assert_close(W[:, chosen] @ np.linalg.solve(base.matrix[:, chosen], base.matrix), W, 1e-11)
    idle = [names.index(name) for name in base.no_effect]
    assert not idle or np.abs(W[:, idle]).max() < 1e-12 * np.abs(W).max()


@pytest.mark.parametrize("seed", [0, 1, 4, 5, 8])
def test_maps(seed: int) -> None:
    robot, include = random_arm(seed)
    base = base_parameters(robot, include)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, 6, robot.n))
    pi = standard_parameters(robot, include)
    tau = regressor(robot, q, qd, qdd, include) @ pi.array()
    assert_close(base.regressor(q, qd, qdd) @ base.values, tau, 1e-12)
    assert_close(base.from_standard(base.to_standard(base.values)), base.values, 1e-12)
    assert_close(base.from_standard(pi.as_dict()), base.values, 1e-15)
    assert_close(regressor(robot, q, qd, qdd, include) @ base.to_standard(base.values), tau, 1e-11)


def test_a_robot_with_identified_base_parameters() -> None:
    robot = armdyn.load("panda").without("friction")
    base = base_parameters(robot)
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, robot.n))
    again = base.robot_with(base.values)
    assert_close(newton_euler.inverse_dynamics(again, q, qd, qdd), pinocchio_model.inverse_dynamics(robot, q, qd, qdd))
    doubled = base.robot_with(2 * base.values)
    assert_close(newton_euler.inverse_dynamics(doubled, q, qd, qdd),
                 2 * pinocchio_model.inverse_dynamics(robot, q, qd, qdd))  # fmt: skip


def test_the_model_in_symbols_of_base_parameters() -> None:
    """Khalil's customised RX-90: at most 160 multiplications and 113 additions, and the same torques."""
    robot = armdyn.load("rx90")
    base = base_parameters(robot, WITH_ROTORS, absent="zeros")
    model = base.symbolic_robot
    graph = trace(lambda *state: newton_euler.inverse_dynamics(model, *state), {"q": 6, "qd": 6, "qdd": 6})
    assert {node.value for node in graph.parameters} == {*base.names, "g", "d3", "RL4"}
    assert graph.operations.multiplications <= 160 and graph.operations.additions <= 113
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, 6))
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert_close(newton_euler.inverse_dynamics(model.bound(), q, qd, qdd), tau, 1e-12)


def planar_arm(**rotor: Any) -> Robot:
    """Two parallel joints; the second has a rotor with its axis parallel to them."""
    row = {"type": "revolute", "a": 0.5, "mass": 2, "com": [-0.2, 0, 0], "inertia": [0.1, 0, 0, 0.1, 0, 0.1]}
    rows = [{**row, "link": "one"}, {**row, "link": "two", "rotor": {"model": "full", "inertia": 0.02, **rotor}}]
    return Robot.from_dh(rows, gravity=(0, -9.81, 0))


def test_direct_drive() -> None:
    """A rotor without gear turns as link 2 does, about link 1: one parameter fewer than with a gear."""
    assert base_parameters(planar_arm(ratio=1), WITH_ROTORS).count == 6
    assert base_parameters(planar_arm(ratio=50), WITH_ROTORS).count == 7


def test_what_rules_do_not_know_is_found_in_numbers() -> None:
    """A rotor on the link that it drives, turning back as fast: energy I (q2d (-1) (q1d + q2d) + q2d^2/2), that of -I
    about the axis of link 2 and +I about that of link 1. No rule asks for this.
    """
    robot = planar_arm(ratio=-1, on="two")
    base = base_parameters(robot, WITH_ROTORS)
    assert base.count == 6 == numeric_rank(stacked_regressor(robot, WITH_ROTORS))
    assert not base.proved and "60 digits" in str(base)
    q, qd, qdd = np.random.default_rng(5).uniform(-2, 2, (3, 4, 2))
    assert_close(base.regressor(q, qd, qdd) @ base.values, newton_euler.inverse_dynamics(robot, q, qd, qdd))


def test_known_zeros_that_leave_groups_alike() -> None:
    """Two groups that are multiples of one another count once."""
    robot = armdyn.load("planar2r")
    all_but = [name for name in standard_parameters(robot, INERTIAL).names if name != "M2"]
    base = base_parameters(robot, absent=all_but)  # M2 alone gives ZZR1 = a1^2 M2 and MXR1 = a1 M2
    assert base.count == 1 and base.columns == ("M2",)
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, 2))
    column = regressor(robot, q, qd, qdd, INERTIAL)[:, standard_parameters(robot, INERTIAL).names.index("M2")]
    assert_close(base.regressor(q, qd, qdd) @ base.from_standard([3.0]), 3 * column)


def test_printed() -> None:
    text = str(base_parameters(armdyn.load("rx90"), WITH_ROTORS, absent="zeros"))
    assert text.startswith("rx90: 19 base parameters (inertial, rotor) of 37; proved over exact rationals")
    assert "  MXR2 = MX2 + d3*(M3 + M4 + M5 + M6)" in text
    assert "no effect: XX1, YY1, MZ1, M1, M2" in text


def test_wrong_input() -> None:
    base = base_parameters(armdyn.load("planar2r"))
    with pytest.raises(ShapeError, match="20"):
        base.from_standard([1.0, 2.0])
    with pytest.raises(ShapeError, match="6"):
        base.to_standard([1.0])
    with pytest.raises(UnknownName, match="XX1"):
        base_parameters(armdyn.load("planar2r"), absent=("XX",))


def test_a_rounded_right_angle_is_a_right_angle() -> None:
    """-1.57079632679 in a URDF file differs from a right angle by 5e-12: no log tells parameters apart by that."""
    exact = armdyn.load("rx90").bound()
    tree = [
        dataclasses.replace(joint, geometry=dataclasses.replace(joint.geometry, alpha=joint.geometry.alpha + 5e-12))
        for joint in exact.tree
    ]
    rounded = dataclasses.replace(exact, tree=tuple(tree), expressions=None)
    assert base_parameters(rounded, WITH_ROTORS).count == base_parameters(exact, WITH_ROTORS).count == 40


@pytest.mark.parametrize("d", [0.3, -1.1])
@pytest.mark.parametrize("angles", [(-1.5708, 1.5708, 0.0), (0.0, -1.5708, 1.5708, 0.3)])
def test_combinations_of_rounded_angles_can_be_read(angles: tuple[float, ...], d: float) -> None:
    """An angle of -1.5708 instead of -pi/2: terms of 1e-11 and sixteen digits are for the file, not for reading.

    The second robot has factors that several parameters share: 0.3 (M3 + M4).
    """
    rows = [{"type": "revolute", "alpha": a, "a": 0.0525, "d": d, "mass": 1.0} for a in angles]
    found = base_parameters(Robot.from_dh(rows))
    assert any("e-" in text(group) for group in found.groups.values())
    known = dict(zip(found.standard, np.random.default_rng(0).uniform(0.5, 1.0, len(found.standard)), strict=True))
    exact = dict(zip(found.names, found.from_standard(known), strict=True))
    for name in found.names:
        written = found.rounded(name)
        assert "e-" not in written and len(written) < 150
        python = re.sub(r"(\d) ([A-Z(])", r"\1 * \2", written)
        assert eval(python, {}, known) == pytest.approx(exact[name], abs=1e-3)
    named = base_parameters(armdyn.load("planar2r"))
    assert all(named.rounded(name) == text(named.groups[name]) for name in named.names)


@pytest.mark.parametrize("W", [np.zeros((4, 3)), np.zeros((4, 0)), np.diag([1.0, 0.0, 2.0]), np.ones((5, 2))])
def test_numeric_rank_is_that_of_the_singular_values(W: np.ndarray) -> None:
    """Of nothing, too."""
    assert numeric_rank(W) == (np.linalg.matrix_rank(W) if W.size else 0)
