"""Torques that fall with the speed (Khalil sec. 8.5): timing against closed forms and the simulated actuators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import armdyn
from armdyn.errors import ArmdynError
from armdyn.motion import feasibility, scale_to_torque, time_optimal
from armdyn.robot.limits import motion_limits, torque_limits, torque_speed
from armdyn.simulation.saturation import Saturation

END = np.array([1.0, -0.8, 0.7, 0.5, 0.6, 0.4])
FREE: dict[str, Any] = {"v_max": np.inf, "a_max": np.inf}


def saturated(robot: Any, motion: Any, no_load: float, corner: float) -> float:
    """Largest share of a torque limit that the simulated actuators take from the torques of a motion."""
    dyn, limit = armdyn.compile(robot), torque_limits(robot)
    t = np.linspace(0, motion.duration, 4001)[1:-1]
    q, qd, qdd = (motion(t, k) for k in range(3))
    tau = dyn.inverse_dynamics(q, qd, qdd)
    actuators = Saturation(tuple(limit), (corner,) * 6, (no_load,) * 6)
    given = np.array([actuators(*each) for each in zip(tau, qd, strict=True)])
    return float((np.abs(given - tau) / limit).max())


@pytest.mark.parametrize("corner", [0.0, 0.6])
def test_fastest_motion_of_one_joint_is_the_closed_form(corner: float) -> None:
    """I qdd = T share(qd) until the switch, then -T: an exponential approach to the no-load speed, then a parabola."""
    inertia, torque, no_load, way = 0.5, 2.0, 1.5, 2.0
    rows = [{"theta": 0, "d": 0, "a": 0, "alpha": 0, "mass": 1.0, "com": (0, 0, 0),
             "inertia": (0.1, 0, 0, 0.1, 0, inertia)}]  # fmt: skip
    robot = armdyn.Robot.from_dh(rows, gravity=(0, 0, 0))
    robot_inertia = float(armdyn.compile(robot).mass_matrix([0.0])[0, 0])
    a = torque / robot_inertia
    k = a / (no_load - corner)

    def reached(t: float) -> tuple[float, float]:
        """Position and velocity after time t of full drive."""
        first = corner / a
        if t <= first:
            return a * t * t / 2, a * t
        s, drop = t - first, no_load - corner
        return corner * first / 2 + no_load * s - drop / k * (1 - np.exp(-k * s)), no_load - drop * np.exp(-k * s)

    switch = brentq(lambda t: reached(t)[0] + reached(t)[1] ** 2 / (2 * a) - way, 1e-6, 50)
    expected = switch + reached(switch)[1] / a
    found = time_optimal(
        [[0.0], [way]], robot, limits={"tau_max": torque, "no_load_speed": no_load, "corner_speed": corner}, points=800
    )
    assert found.status.name == "OPTIMAL"
    assert expected * (1 - 1e-6) <= found.duration <= expected * (1 + 1e-3)  # limits hold at both ends of 800 cells


@pytest.mark.parametrize("corner", [0.0, 1.0])
@pytest.mark.parametrize("friction", [True, False])
def test_fastest_timing_stays_within_the_simulated_actuators(corner: float, friction: bool) -> None:
    robot = armdyn.load("puma560") if friction else armdyn.load("puma560").without("friction")
    found = time_optimal([np.zeros(6), END], robot, limits={**FREE, "no_load_speed": 2.0, "corner_speed": corner})
    without = time_optimal([np.zeros(6), END], robot, limits=FREE)
    assert found.status.name == "OPTIMAL" and found.duration > 1.1 * without.duration
    assert saturated(robot, found, 2.0, corner) < 1e-3  # between the places where limits are kept
    assert saturated(robot, without, 2.0, corner) > 0.1
    verdict = feasibility(robot, found, limits={**FREE, "no_load_speed": 2.0, "corner_speed": corner})
    assert verdict.use["torque"].max() == pytest.approx(1, abs=1e-3)
    assert verdict.use["velocity"].max() <= 1 + 1e-6  # the no-load speed is a velocity limit


@pytest.mark.parametrize("no_load", [1.0, 3.0])
def test_scaled_motion_is_the_fastest_that_the_simulated_actuators_follow(no_load: float) -> None:
    robot = armdyn.load("puma560")
    ref = armdyn.point_to_point(np.zeros(6), END, "quintic", duration=2.0)
    scaled = scale_to_torque(ref, robot, limits={"no_load_speed": no_load})
    assert saturated(robot, scaled, no_load, 0.0) < 1e-6
    faster = armdyn.point_to_point(np.zeros(6), END, "quintic", duration=scaled.duration / 1.01)
    assert saturated(robot, faster, no_load, 0.0) > 1e-3
    unlimited = scale_to_torque(ref, robot, limits={"no_load_speed": 1e9})
    assert unlimited.c == pytest.approx(scale_to_torque(ref, robot).c, rel=1e-5)  # sampled against refined


def test_braking_has_the_whole_torque() -> None:
    robot = armdyn.load("puma560")
    limits = motion_limits(robot, no_load_speed=2.0, corner_speed=1.0)
    low, high = limits.torques(np.full(6, 1.5))
    np.testing.assert_allclose(high, 0.5 * limits.tau_max)
    np.testing.assert_allclose(low, limits.tau_min)
    low, high = limits.torques(np.full(6, -3.0))
    np.testing.assert_allclose((low, high), (np.zeros(6), limits.tau_max))


def test_bad_curves() -> None:
    robot = armdyn.load("puma560")
    with pytest.raises(ArmdynError, match="no_load_speed"):
        torque_speed(robot, 1.0, 2.0, where="test")
    with pytest.raises(ArmdynError, match="no_load_speed"):
        scale_to_torque(armdyn.point_to_point(np.zeros(6), END, duration=1.0), robot, limits={"no_load_speed": "robot"})
