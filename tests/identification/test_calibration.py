"""Zeros of joints and direction of gravity, estimated with the parameters: simulated robots whose model is wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

import armdyn
from armdyn.doctor.log_case import with_gravity
from armdyn.doctor.torque_checks import DIRECTION
from armdyn.errors import ArmdynError
from armdyn.findings import Finding
from armdyn.identification import Calibration, Fit, identify
from armdyn.identification.fit.calibration import with_zeros
from armdyn.robot import Robot
from armdyn.typing import Array
from support.logs import rubbing, simulated

FAR = 3.5
"""Standard deviations within which the truth lies: 11 unknowns, one false alarm in 200 runs."""


def tilted(robot: Robot, degrees: float, about: float) -> Robot:
    angle, axis = math.radians(degrees), np.array([math.cos(about), math.sin(about), 0.0])
    g = np.array([float(x) for x in robot.gravity])
    return with_gravity(robot, g * math.cos(angle) + np.cross(axis, g) * math.sin(angle))


def found(name: str, seed: int, degrees: float, zeros: Array, calibration: Calibration) -> tuple[Robot, Fit]:
    """(the robot that made the log, the fit of a model with other zeros and gravity along -z)."""
    model = rubbing(name)
    true = with_zeros(tilted(model, degrees, seed), zeros)
    log = simulated(true, seed)
    return true, identify(model, log, calibration=calibration, friction="plain", check=False)


def off(fit: Fit, zeros: Array) -> list[float]:
    """Errors of the zeros in standard deviations."""
    assert fit.calibrated is not None
    true = dict(zip((joint.name for joint in fit.robot.joints), zeros.tolist(), strict=True))
    return [abs(x - true[name]) / std for name, (x, std) in fit.calibrated.zeros.items()]


def test_zeros_and_gravity_lie_within_their_bars() -> None:
    zeros = np.array([0.0, 0.06, -0.08, 0.03, 0.05, 0.0])
    true, fit = found("ur5", 2, 3.0, zeros, Calibration(zeros="all", gravity=True))
    calibrated = fit.calibrated
    assert calibrated is not None and calibrated.tilt is not None
    assert max(off(fit, zeros)) < FAR
    assert max(std for _, std in calibrated.zeros.values()) < 0.02
    assert abs(calibrated.tilt[0] - math.radians(3)) < FAR * calibrated.tilt[1] < 0.005
    assert set(calibrated.not_identifiable) == {"shoulder_pan_joint", "wrist_3_joint"}
    assert "not identifiable" in str(fit) and "Tilt of gravity" in str(fit)
    # The robot that is delivered speaks the log's positions: its torques are those of the robot that made the log.
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 50, 6))
    tau, expected = (armdyn.compile(robot).inverse_dynamics(q, qd, qdd) for robot in (fit.robot, true))
    assert np.abs(tau - expected).max() < 0.03 * np.abs(expected).max()
    record = fit.record()["calibrated"]
    assert record["not_identifiable"] and record["tilt"]["kept"] is False


def test_gravity_of_a_robot_that_stands_is_kept() -> None:
    _, fit = found("puma560", 1, 0.0, np.zeros(6), Calibration(gravity=True))
    assert fit.calibrated is not None and fit.calibrated.kept
    assert not fit.calibrated.answers(Finding(DIRECTION, "suspicious", "model", ""))
    assert tuple(fit.robot.gravity) == (0, 0, -9.81)


def test_a_zero_that_torques_do_not_tell_is_refused_by_name() -> None:
    with pytest.raises(ArmdynError, match=r"(?s)zero of waist.*axis is along gravity"):
        found("puma560", 1, 0.0, np.zeros(6), Calibration(zeros=["waist"]))
    with pytest.raises(ArmdynError, match="'wasit'"):
        found("puma560", 1, 0.0, np.zeros(6), Calibration(zeros=["wasit"]))
    with pytest.raises(ArmdynError, match="inertial"):
        identify(rubbing("puma560"), simulated(rubbing("puma560")), include=("friction",),
                 calibration=Calibration(gravity=True), check=False)  # fmt: skip


@pytest.mark.parametrize("name", ["scara5", "puma560", "panda"])
def test_moved_zeros(name: str) -> None:
    robot = armdyn.load(name)
    shift = np.linspace(0.1, 0.3, robot.n)
    moved = with_zeros(robot, shift)
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, robot.n))
    dynamics, other = armdyn.compile(robot), armdyn.compile(moved)
    assert other.inverse_dynamics(q, qd, qdd) == pytest.approx(dynamics.inverse_dynamics(q + shift, qd, qdd), abs=1e-10)
    assert other.pose(q) == pytest.approx(dynamics.pose(q + shift), abs=1e-12)
    limits = [(joint.limits, new.limits) for joint, new in zip(robot.joints, moved.joints, strict=True)]
    for (before, after), x in zip(limits, shift, strict=True):
        if before is not None and before.lower is not None:
            assert after is not None and after.lower == pytest.approx(float(before.lower) - x)


def test_bars_of_parameters_include_those_of_zeros() -> None:
    """Parameters of a model with unknown zeros are known less well than those of one with known zeros."""
    model = rubbing("ur5")
    log = simulated(model, 3)
    plain, fit = (identify(model, log, calibration=each, friction="plain", check=False)
                  for each in (None, Calibration(zeros=["elbow_joint"])))  # fmt: skip
    ratio = fit.estimate.std / plain.estimate.std
    assert ratio.min() > 0.9 and ratio.max() > 1.5


def test_gravity_is_not_taken_for_its_opposite() -> None:
    """By least squares alone a robot that hangs is one that stands, with negative masses."""
    true, fit = found("ur5", 1, 180.0, np.zeros(6), Calibration(gravity=True))
    assert fit.calibrated is not None and fit.calibrated.tilt is not None
    expected, estimated = (np.array([float(x) for x in each.gravity]) for each in (true, fit.robot))
    assert estimated == pytest.approx(expected, abs=0.05)


def test_a_tilt_of_which_nobody_told_is_estimated_and_reported() -> None:
    model = rubbing("ur5")
    true = tilted(model, 8.0, 0.7)
    fit = identify(model, simulated(true, 2), validation=0.3, friction="plain")
    (finding,) = (f for f in fit.findings if f.rule == DIRECTION)
    assert finding.severity == "suspicious" and "robot that is written" in finding.advice
    expected, estimated = (np.array([float(x) for x in each.gravity]) for each in (true, fit.robot))
    assert estimated == pytest.approx(expected, abs=0.05)
    before = fit.validation.relative_error_before
    assert before is not None and before[0] > 0.5 and fit.validation.relative_error[0] < 0.02
