"""Checks of logs: each way a log can be wrong gives its finding, and a good log gives none."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.doctor.log_checks import check_log
from armdyn.errors import ShapeError
from armdyn.identification.log.log import Log
from armdyn.identification.log.log_format import LogFormat
from armdyn.identification.log.readers import read_log
from armdyn.robot import Robot
from armdyn.robot.parts import Limits
from support.limits import FULL
from support.logs import excitation, rubbing, simulated

ROBOTS = ("puma560", "panda", "ur5", "random") if FULL else ("ur5", "random")


def rules(log: Log, robot: Robot) -> dict[str, list[str]]:
    """{rule: places} of the findings; every finding says what, what should hold, why and what to do."""
    found: dict[str, list[str]] = {}
    for finding in check_log(log, robot):
        assert finding.what and finding.cause and finding.advice, finding
        found.setdefault(finding.rule, []).append(finding.where)
    return found


def change(log: Log, **fields: Any) -> Log:
    return dataclasses.replace(log, **fields)


def name(robot: Robot, j: int) -> str:
    return robot.joints[j].name


# Good logs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.2])
def test_a_good_log_gives_no_finding(robot: str, noise: float) -> None:
    arm = rubbing(robot)
    log = simulated(arm, seed=round(10 * noise), torque_noise=noise, position_noise=1e-4 * (noise > 0))
    assert rules(log, arm) == {}


def test_a_good_log_with_velocities_pauses_and_wrong_masses() -> None:
    """The robot stands still before and after, its model is 30 % too light, and friction is not quite the model's."""
    arm = rubbing("ur5")
    log = simulated(arm, 3)
    course = excitation(arm, 103)
    rest = np.arange(250) / 250
    standing = armdyn.compile(arm).gravity(course(np.array([0.0, 10.0])))
    q = np.concatenate([np.tile(course(0.0), (250, 1)), log.q, np.tile(course(10.0), (250, 1))])
    qd = np.concatenate([np.zeros((250, 6)), course(log.t, 1), np.zeros((250, 6))])
    tau = np.concatenate([np.tile(standing[0], (250, 1)), log.tau, np.tile(standing[1], (250, 1))])
    t = np.concatenate([rest, log.t + 1, rest + 11])
    names = armdyn.parameters.parameter_names(arm, ("inertial",))
    masses = armdyn.parameters.standard_parameters(arm, ("inertial",)).array()
    light = armdyn.parameters.with_standard_parameters(arm, dict(zip(names, 0.7 * masses, strict=True)))
    assert rules(Log(t, q, tau, qd=qd), arm) == {}
    assert rules(Log(t, q, tau, qd=qd), light) == {"weight share": ["effort"]}  # a note: 1 / 0.7 of the model's weight


# What the torques tell ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ROBOTS)
def test_swapped_columns(robot: str) -> None:
    arm = rubbing(robot)
    log = simulated(arm)
    order = [0, 2, 1, *range(3, arm.n)]
    pair = f"{name(arm, 1)}, {name(arm, 2)}"
    assert rules(change(log, tau=log.tau[:, order]), arm) == {"order of torques": [pair]}
    found = rules(change(log, q=log.q[:, order]), arm)
    found.pop("range of position", None)  # the other joint's limits
    assert found == {"order of positions": [pair]}


def test_three_columns_in_a_circle() -> None:
    arm = rubbing("ur5")
    log = simulated(arm, 1)
    found = rules(change(log, tau=log.tau[:, [1, 2, 0, 3, 4, 5]]), arm)
    assert found == {"order of torques": [f"{name(arm, 0)}, {name(arm, 1)}, {name(arm, 2)}"]}


@pytest.mark.parametrize("robot", ROBOTS)
def test_reversed_sign(robot: str) -> None:
    arm = rubbing(robot)
    log = simulated(arm)
    for j in (1, arm.n - 1):
        sign = np.where(np.arange(arm.n) == j, -1, 1)
        assert rules(change(log, tau=log.tau * sign), arm) == {"sign of torque": [name(arm, j)]}
    every = rules(change(log, tau=-log.tau), arm)
    assert set(every) == {"sign of torque"} and set(every["sign of torque"]) == {j.name for j in arm.joints}


def test_of_two_signs_that_explain_the_torques_the_better_one_is_named() -> None:
    """Shoulder and elbow agree with each other if the sign of either is changed, but only the right one fits all."""
    arm = rubbing("puma560")
    log = simulated(arm)
    sign = np.where(np.arange(arm.n) == 2, -1, 1)
    assert rules(change(log, tau=log.tau * sign), arm) == {"sign of torque": [name(arm, 2)]}


@pytest.mark.parametrize("robot", ROBOTS)
def test_degrees(robot: str) -> None:
    arm = rubbing(robot)
    log = simulated(arm)
    revolute = np.array([joint.kind == "revolute" for joint in arm.joints])
    found = rules(change(log, q=np.where(revolute, np.degrees(log.q), log.q)), arm)
    assert found.pop("unit of position") == ["positions"]
    assert set(found) <= {"range of position"}
    small = rules(change(log, q=np.where(revolute, np.radians(log.q), log.q)), arm)
    small.pop("range of position", None)  # ranges that do not contain 0
    assert set(small) == {"unit of position"}


def test_millimetres() -> None:
    arm = rubbing("random")
    log = simulated(arm)
    sliding = np.array([joint.kind == "prismatic" for joint in arm.joints])
    assert sliding.any() and not sliding.all()
    found = rules(change(log, q=np.where(sliding, 1e3 * log.q, log.q)), arm)
    assert "range of position" in found or "unit of position" in found


@pytest.mark.parametrize("robot", ROBOTS)
def test_efforts_without_gravity(robot: str) -> None:
    arm = rubbing(robot)
    log = simulated(arm)
    bare = change(log, tau=log.tau - armdyn.compile(arm).gravity(log.q))
    assert rules(bare, arm) == {"gravity missing": ["effort"]}
    declared = read_log({"t": bare.t, "q": bare.q, "tau": bare.tau}, arm, LogFormat(effort="gravity_compensated"))
    assert rules(declared, arm) == {"gravity added": ["effort"]}
    wrongly = read_log({"t": log.t, "q": log.q, "tau": log.tau}, arm, LogFormat(effort="gravity_compensated"))
    found = rules(wrongly, arm)
    found.pop("saturated torque", None)  # with twice its weight the arm exceeds its torque limits
    assert found == {"gravity added": ["effort"], "gravity twice": ["effort"]}


@pytest.mark.parametrize("samples", [-8, 5, 20])
def test_delay(samples: int) -> None:
    arm = rubbing("ur5")
    log = simulated(arm, 2)
    late = np.roll(log.tau, samples, axis=0)[30:-30]
    (finding,) = check_log(change(log, t=log.t[30:-30], q=log.q[30:-30], tau=late), arm)
    assert finding.rule == "delay"
    assert finding.value == pytest.approx(samples / 250, abs=1.01 / 250)


def test_torques_of_another_motion() -> None:
    arm = rubbing("ur5")
    log, other = simulated(arm, 2), simulated(arm, 3)
    assert "large residual" in rules(change(log, tau=other.tau), arm)


# What the log tells by itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("robot", ("panda", "random"))
def test_a_joint_at_rest(robot: str) -> None:
    arm = rubbing(robot)
    held = change(simulated(arm), q=simulated(arm).q.copy())
    course = excitation(arm, 100)
    a, b = course.a.copy(), course.b.copy()
    a[2] = b[2] = 0
    course = dataclasses.replace(course, a=a, b=b)
    q, qd, qdd = (course(held.t, order) for order in range(3))
    tau = armdyn.compile(arm).inverse_dynamics(q, qd, qdd)
    noise = np.random.default_rng(0).standard_normal((2, *q.shape))
    log = change(held, q=q + 2e-5 * noise[0], tau=tau + 0.02 * tau.std(axis=0) * noise[1])
    assert rules(log, arm) == {"joint at rest": [name(arm, 2)]}


def test_torques_beyond_the_limit_are_not_saturated() -> None:
    """A limit that the torques pass does not hold them, and neither do spikes beyond it."""
    arm = rubbing("ur5")
    log = simulated(arm, 7)
    largest = float(np.abs(log.tau[:, 1]).max())
    tree = [dataclasses.replace(joint, limits=dataclasses.replace(joint.limits or Limits(), torque=0.7 * largest))
            if joint.name == name(arm, 1) else joint for joint in arm.tree]  # fmt: skip
    assert rules(log, dataclasses.replace(arm, tree=tuple(tree))) == {"range of torque": [name(arm, 1)]}
    tau = log.tau.copy()
    tau[50:-50:300, 1] += 3 * largest
    assert rules(change(log, tau=tau), arm) == {"spikes": [name(arm, 1)]}


def test_saturated_torque() -> None:
    arm = rubbing("ur5")
    log = simulated(arm)
    tau = log.tau.copy()
    most = 0.8 * np.abs(tau[:, 1]).max()
    tau[:, 1] = tau[:, 1].clip(-most, most)
    assert rules(change(log, tau=tau), arm) == {"saturated torque": [name(arm, 1)]}


def test_coarse_signals() -> None:
    arm = rubbing("ur5")
    log = simulated(arm, rate=500)
    tau, q = log.tau.copy(), log.q.copy()
    tau[:, 0] = np.round(tau[:, 0] / np.ptp(tau[:, 0]) * 40) * np.ptp(tau[:, 0]) / 40
    q[:, 3] = q[:, 3].round(2)
    found = rules(change(log, tau=tau, q=q), arm)
    assert found == {"resolution": [name(arm, 0), name(arm, 3)]}


@pytest.mark.parametrize(
    ("factor", "cause"), [(180 / np.pi, "deg against rad"), (60 / (2 * np.pi), "rpm"), (-1, "sign")]
)
def test_velocities_against_positions(factor: float, cause: str) -> None:
    arm = rubbing("ur5")
    log = simulated(arm)
    qd = excitation(arm, 100)(log.t, 1)
    found = check_log(change(log, qd=factor * qd), arm)
    assert {f.rule for f in found} == {"velocity against position"} and len(found) == arm.n
    assert all(cause in f.cause and f.value == pytest.approx(factor, rel=0.02) for f in found)


@pytest.mark.parametrize(
    ("stamps", "rule"),
    [
        (lambda t: 1e3 * t, "unit of time"),
        (lambda t: 1e-3 * t, "unit of time"),
        (lambda t: t + 0.3 * (t > 4), "gaps"),
        (lambda t: t + 0.0035 * np.random.default_rng(0).random(len(t)), "jitter"),
    ],
    ids=["ms", "ks", "gap", "jitter"],
)
def test_clock(stamps: Callable[[Any], Any], rule: str) -> None:
    arm = rubbing("ur5")
    log = simulated(arm)
    found = rules(change(log, t=stamps(log.t)), arm)
    assert rule in found
    assert set(found) <= {rule, "gaps"}


def test_a_log_of_another_robot() -> None:
    with pytest.raises(ShapeError, match="6 joints"):
        check_log(simulated(rubbing("ur5")), rubbing("panda"))
