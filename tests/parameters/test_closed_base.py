"""Base parameters of closed chains: fewer than the tree's, found by elimination in many digits."""

from __future__ import annotations

import random

import numpy as np
import pytest
from flint import arb, arb_mat, ctx

import armdyn
from armdyn.graph.evaluate import evaluate
from armdyn.mechanics import closed_chain
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.parameters import BaseParameters, base_parameters, digits, parameter_names
from armdyn.robot import Robot
from support.feature_robots import gripper
from support.ranks import numeric_rank, stacked_regressor

COUNTS = {"parallelogram": 8, "palletiser": 18, "five_bar": 11, "delta": 39, "stewart": 98}
"""Numeric ranks of the regressor over random closed motions."""


def torques_of_closed_motions(robot: Robot, base: BaseParameters, seed: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """(torques of random standard parameters, of those with the same base parameters), without the regressor."""
    rng = np.random.default_rng(seed)
    standard = rng.normal(size=len(base.standard))
    same = base.to_standard(base.from_standard(standard))
    places = np.array(dependent_joints(robot).drawn(random.Random(seed), 12, 0.4))
    qd, qdd = rng.uniform(-2, 2, (2, 12, robot.n))
    found = []
    for values in (standard, same):
        other = armdyn.parameters.with_standard_parameters(robot, dict(zip(base.standard, values, strict=True)))
        found.append(closed_chain.inverse_dynamics(other, places, qd, qdd))
    return found[0], found[1]


@pytest.mark.parametrize("name", COUNTS)
def test_the_count_is_the_rank_over_closed_motions(name: str) -> None:
    robot = armdyn.load(name)
    base = base_parameters(robot)
    assert base.count == COUNTS[name] == numeric_rank(stacked_regressor(robot, ("inertial",)))
    assert base.count < base_parameters(robot.opened).count
    tau, same = torques_of_closed_motions(robot, base)
    assert np.abs(tau - same).max() < 1e-10 * np.abs(tau).max()


def test_a_parallelogram_is_counted_exactly() -> None:
    """With the products that its description gives as zero five groups are left, and their number is proved."""
    robot = armdyn.load("parallelogram")
    base = base_parameters(robot, ("inertial",), absent="zeros")
    places = [parameter_names(robot, ("inertial",)).index(name) for name in base.standard]
    W = stacked_regressor(robot, ("inertial",))[:, places]
    assert base.count == 5 == numeric_rank(W) and base.proved
    tau, same = torques_of_closed_motions(robot, base)
    assert np.abs(tau - same).max() < 1e-10 * np.abs(tau).max()
    assert base_parameters(robot).proved and base_parameters(armdyn.load("palletiser")).proved
    assert not base_parameters(armdyn.load("five_bar")).proved  # its joints follow by square roots


def test_equations_of_a_closed_chain_use_its_own_base_parameters() -> None:
    robot = armdyn.load("parallelogram")
    equations = armdyn.derive(robot, symbols="base")
    used = {str(node.value) for node in equations.graph.parameters}
    assert len([name for name in used if name[:2] in ("XX", "YY", "ZZ", "MX", "MY", "MZ")]) == 5
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    expected = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    assert equations.lambdify()(q, qd, qdd) == pytest.approx(expected, rel=1e-11)


def test_where_double_precision_cannot_tell() -> None:
    """The Bricard linkage, one degree of freedom: near the assembly its functions of time are much alike.

    Over its whole range double precision agrees. Link 5 only turns about the cut's axis: its YY alone has an effect.
    """
    robot = armdyn.load("bricard")
    base = base_parameters(robot)
    assert base.count == 19 > numeric_rank(stacked_regressor(robot, ("inertial",)))
    rng = np.random.default_rng(2)
    wide = armdyn.compile(robot).regressor(np.linspace(-2, 2, 60)[:, None], *rng.uniform(-1, 1, (2, 60, 1)))
    inertial = [k for k, name in enumerate(parameter_names(robot)) if name in base.standard]
    assert numeric_rank(wide[:, 0, inertial]) == 19
    assert {"XX5", "XY5", "XZ5", "YZ5", "ZZ5", "MY5"} <= set(base.no_effect)
    names = parameter_names(robot, ("inertial",))
    W = digits.stacked(robot, ("inertial",), [names.index(name) for name in base.columns], 19, seed=9)
    ctx.prec = digits.BITS
    scaled = [[x / max(abs(row[j]) for row in W) for j, x in enumerate(row)] for row in W]
    determinant = arb_mat(19, 19, [x for row in scaled for x in row]).det()
    ctx.prec = 53
    assert not determinant.contains(arb(0))
    tau, same = torques_of_closed_motions(robot, base)
    assert np.abs(tau - same).max() < 1e-9 * np.abs(tau).max()


def test_parallelogram_by_hand() -> None:
    """Siciliano sec. 7.3.3: link 3 turns like link 1, link 4 like link 2, so that their moments of inertia add."""
    base = base_parameters(armdyn.load("parallelogram"))
    row = dict(zip(base.standard, base.matrix[base.names.index("ZZR2")], strict=True))
    assert {name: value for name, value in row.items() if value} == {"ZZ2": 1, "ZZ4": 1, "M3": 1}
    assert not {"ZZ3", "ZZ4", "MX4", "MY4", "M3"} & set(base.no_effect)


def test_friction_of_joints_that_turn_alike() -> None:
    """The rates of passive joints of a parallelogram are equal and opposite: their friction is one."""
    base = base_parameters(armdyn.load("parallelogram"), ("friction",))
    assert base.count == 6
    row = dict(zip(base.standard, base.matrix[base.names.index("FvR2")], strict=True))
    assert {name: value for name, value in row.items() if value} == {"Fv2": 1, "Fv3": 1}


def test_mimic_joints() -> None:
    """Links of a joint and of its follower: the torque about the leader sees both."""
    robot = gripper()
    base = base_parameters(robot)
    assert base.count == numeric_rank(stacked_regressor(robot, ("inertial",))) <= base_parameters(robot.opened).count
    tau, same = torques_of_closed_motions(robot, base)
    assert np.abs(tau - same).max() < 1e-11 * np.abs(tau).max()


def test_a_robot_with_other_base_parameters_keeps_its_loops() -> None:
    robot = armdyn.load("palletiser")
    base = base_parameters(robot)
    again = base.robot_with(base.values)
    assert again.loops == robot.loops
    q, qd, qdd = np.array([[0.1, 1.2, -0.2], [0.3, -0.2, 0.5], [1.0, 2.0, -1.0]])
    expected = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    assert armdyn.compile(again).inverse_dynamics(q, qd, qdd) == pytest.approx(expected, rel=1e-10)
    assert base.regressor(q, qd, qdd) @ base.values == pytest.approx(expected, rel=1e-10)
    symbolic = armdyn.compile(base.symbolic_robot.bound())
    assert symbolic.inverse_dynamics(q, qd, qdd) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", ["parallelogram", "five_bar", "palletiser"])
def test_the_written_groups_are_the_matrix(name: str) -> None:
    """As expressions in the standard parameters and the robot's lengths, for values of no meaning."""
    robot = armdyn.load(name)
    base = base_parameters(robot)
    values = np.random.default_rng(3).normal(size=len(base.standard))
    known = dict(zip(base.standard, values.tolist(), strict=True))
    written = [evaluate(base.groups[each], {**robot.parameters, **known}) for each in base.names]
    np.testing.assert_allclose(np.array(written, dtype=float), base.matrix @ values, rtol=1e-9, atol=1e-9)  # 12 digits


@pytest.mark.parametrize("name", ["five_bar", "bricard"])
def test_a_rank_that_is_not_proved_is_stated_with_its_gap(name: str) -> None:
    """Pivots that count and those that do not are fifty digits apart."""
    base = base_parameters(armdyn.load(name))
    assert not base.proved and base.gap is not None
    smallest, largest = base.gap
    assert smallest > 1e-25 and largest < 1e-70
    assert f"pivots from {smallest:.0e} count" in str(base)
