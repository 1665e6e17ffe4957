"""Springs and counterbalances as parameters: regressor, base parameters, robots with other parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.formats import toml
from armdyn.mechanics import newton_euler
from armdyn.parameters import (
    base_parameters,
    grouped,
    parameter_names,
    regressor,
    standard_parameters,
    with_links,
    with_standard_parameters,
)
from armdyn.parameters.standard import FAMILIES
from armdyn.robot import Robot
from armdyn.robot.parts import Motor
from support.feature_robots import LINK, arm
from support.ranks import numeric_rank, stacked_regressor

SLIDING = LINK | {"type": "prismatic", "spring": {"stiffness": 80.0, "rest": 0.1}}


def loaded() -> Robot:
    """Springs on a revolute and a prismatic joint, counterbalances on two bodies of one link and on a payload."""
    rows: list[dict[str, Any]] = [
        LINK | {"gravity_compensation": 0.4},
        LINK | {"spring": {"stiffness": 12.0, "rest": 0.4}, "gravity_compensation": 0.7},
        SLIDING | {"alpha": -1.1},
        {"name": "hook", "type": "fixed", "parent": "joint2", "mass": 0.8, "com": [0.1, 0.2, 0.0],
         "gravity_compensation": 0.9, "a": 0.1},
    ]  # fmt: skip
    return Robot.from_dh([dict(row) for row in rows], name="loaded")


def motion(n: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(3, 20, n))


def test_the_regressor_holds_springs_and_counterbalances() -> None:
    robot = loaded()
    dyn = armdyn.compile(robot)
    q, qd, qdd = motion(3)
    assert dyn.parameter_names[42:] == ("Mc1", "Ks2", "Mc2", "Ks3")
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert dyn.regressor(q, qd, qdd) @ dyn.parameters == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("friction", [{"viscous": 0.3}, {"coulomb": 0.2}, {"viscous": 0.3, "coulomb": 0.2}])
def test_the_regressor_holds_friction_of_motors(friction: dict[str, float]) -> None:
    """Of one kind alone too, and only of the motors that have any."""
    robot = Robot.from_dh([dict(LINK), LINK | {"rotor": {"inertia": 0.02, "ratio": 7.0}, "motor": friction}])
    q, qd, qdd = motion(2)
    names = parameter_names(robot)
    assert [name for name in names if name[:3] in ("Fvm", "Fcm")] == ["Fvm2", "Fcm2"]
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    found = np.asarray(regressor(robot, q, qd, qdd)) @ np.array(standard_parameters(robot).values, dtype=float)
    assert found == pytest.approx(expected, abs=1e-11)


LAWS: dict[str, dict[str, Any]] = {
    "of one value": {"viscous": 0.4, "coulomb": 0.5},
    "of each direction": {"law": "asymmetric", "viscous": 0.4, "coulomb": 0.5,
                          "values": {"viscous_negative": 0.7, "coulomb_negative": 0.2}},
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_friction_of_a_motor_cannot_be_told_from_its_joints(law: str) -> None:
    """So both are one parameter, per direction where the joint has two; the torques are the same."""
    motor = {"rotor": {"inertia": 0.02, "ratio": 7.0}, "motor": {"viscous": 0.3, "coulomb": 0.2}}
    robot = Robot.from_dh([dict(LINK), LINK | motor | {"friction": LAWS[law]}])
    base = base_parameters(robot, tuple(FAMILIES))
    assert base.count == numeric_rank(stacked_regressor(robot, tuple(FAMILIES)))
    q, qd, qdd = motion(2)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert base.regressor(q, qd, qdd) @ base.values == pytest.approx(tau, abs=1e-10)


def test_other_parameters_leave_counterbalances_as_they_are() -> None:
    """A counterbalance carries the same weight, whatever the link weighs; files keep it."""
    robot = loaded()
    names = armdyn.parameters.parameter_names(robot)
    values = dict(zip(names, np.random.default_rng(1).uniform(0.5, 2.0, len(names)), strict=True))
    for given in ({"M2": 7.0, "MX2": 0.3}, {"Mc2": 3.0}, values):
        other = with_standard_parameters(robot, given)
        dyn = armdyn.compile(other)
        found = dict(zip(dyn.parameter_names, dyn.parameters, strict=True))
        before = armdyn.parameters.standard_parameters(robot).as_dict()
        assert found == pytest.approx({**before, **given}, rel=1e-9, abs=1e-9)
        q, qd, qdd = motion(3, 2)
        assert dyn.regressor(q, qd, qdd) @ dyn.parameters == pytest.approx(dyn.inverse_dynamics(q, qd, qdd), abs=1e-10)
        twice = with_standard_parameters(other, given)
        assert len(twice.tree) == len(other.tree)
        again = armdyn.compile(toml.loads(toml.dumps(other)))
        assert again.inverse_dynamics(q, qd, qdd) == pytest.approx(dyn.inverse_dynamics(q, qd, qdd), abs=1e-9)
        assert dyn.pose(q) == pytest.approx(armdyn.compile(robot).pose(q), abs=1e-12)


def test_grouped_parameters_have_the_same_torques() -> None:
    robot = loaded()
    q, qd, qdd = motion(3)
    expected = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert newton_euler.inverse_dynamics(grouped(robot), q, qd, qdd) == pytest.approx(expected, abs=1e-11)
    assert armdyn.compile(robot).inverse_dynamics(q, qd, qdd) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize(
    "include", [("inertial", "spring"), ("inertial", "rotor", "offset", "spring"), tuple(FAMILIES)]
)
def test_base_parameters_hold_springs_and_counterbalances(include: tuple[str, ...]) -> None:
    for robot in (loaded(), arm(spring={"stiffness": 12.0}, gravity_compensation=1.0)):
        base = base_parameters(robot, include)
        assert base.count == numeric_rank(stacked_regressor(robot, include))
        assert {"Ks2"} <= set(base.names)
        if "offset" in include:
            q, qd, qdd = motion(3)
            tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
            assert base.regressor(q, qd, qdd) @ base.values == pytest.approx(tau, abs=1e-9)


def test_a_vertical_slider_cannot_tell_rotor_and_counterbalance_apart() -> None:
    """Rotor and mass accelerate alike; offset and carried weight are both constant."""
    row = {"type": "prismatic", "mass": 2.0, "rotor": {"inertia": 0.5}, "gravity_compensation": 0.5}
    robot = Robot.from_dh([row])
    base = base_parameters(robot, ("inertial", "rotor", "offset", "spring"))
    assert base.count == 2 == numeric_rank(stacked_regressor(robot, base.include))
    q, qd, qdd = motion(1)
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert base.regressor(q, qd, qdd) @ base.values == pytest.approx(tau, abs=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.6])
def test_the_tool_stays_where_it_is(share: float) -> None:
    """Counterbalances become bodies behind the last one, which carries the tool."""
    robot = Robot.from_dh([dict(LINK), LINK | {"gravity_compensation": share}], name="balanced")
    again = with_links(robot, [link.inertia for link in robot.links])
    assert again.tool_body == robot.tool_body
    assert len(again.tree) == len(robot.tree) + (share > 0)
    q, qd, qdd = motion(2)
    expected = newton_euler.inverse_dynamics(robot.with_payload(2.0, (0.1, 0, 0)), q, qd, qdd)
    assert newton_euler.inverse_dynamics(again.with_payload(2.0, (0.1, 0, 0)), q, qd, qdd) == pytest.approx(expected)


@pytest.mark.parametrize("ratio", [7.0, -7.0, 1])
def test_friction_of_motors_is_a_parameter_as_the_joint_feels_it(ratio: float) -> None:
    """Fvm = k^2 viscous and Fcm = |k| coulomb of a motor that turns k times as fast; given again, the motor's."""
    motor = {"viscous": 0.3, "coulomb": 0.2}
    robot = Robot.from_dh([dict(LINK), LINK | {"rotor": {"inertia": 0.02, "ratio": ratio}, "motor": motor}])
    found = standard_parameters(robot)
    assert (found["Fvm2"], found["Fcm2"]) == pytest.approx((0.3 * ratio**2, 0.2 * abs(ratio)))
    other = with_standard_parameters(robot, {"Fvm2": 9.8, "Fcm2": 3.5})
    changed = other.joints[1].motor
    assert changed is not None
    assert (changed.viscous, changed.coulomb) == pytest.approx((9.8 / ratio**2, 3.5 / abs(ratio)))
    q, qd, qdd = motion(2)
    values = np.array(standard_parameters(other).values, dtype=float)
    expected = newton_euler.inverse_dynamics(other, q, qd, qdd)
    assert np.asarray(regressor(other, q, qd, qdd)) @ values == pytest.approx(expected, abs=1e-11)


def test_a_motor_that_several_joints_turn_has_friction_to_give() -> None:
    """Even if its robot has no word on it: motor 1 turns 2 qd_1 - 0.8 qd_2."""
    coupled = replace(Robot.from_dh([dict(LINK), dict(LINK)]), coupling=((0.5, 0.1), (0.0, 0.25)))
    assert standard_parameters(coupled)["Fvm1"] == standard_parameters(coupled)["Fcm1"] == 0
    other = with_standard_parameters(coupled, {"Fvm1": 6.0, "Fcm1": 3.0})
    assert other.joints[0].motor == Motor(viscous=1.5, coulomb=1.5)
    q, qd, qdd = motion(2)
    rate = qd @ (2.0, -0.8)
    added = (1.5 * rate + 1.5 * np.sign(rate))[:, None] * (2.0, -0.8)
    expected = np.asarray(newton_euler.inverse_dynamics(coupled, q, qd, qdd)) + added
    assert newton_euler.inverse_dynamics(other, q, qd, qdd) == pytest.approx(expected, abs=1e-11)
