"""Elastic joints: the motion of the motors behind a motion of the links."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armdyn.errors import NotApplicable
from armdyn.mechanics import elastic
from support.feature_robots import arm

ROTOR = {"inertia": 0.01}


def polynomial(seed: int) -> Any:
    """A motion of three joints: its derivatives up to the fourth at a time."""
    coefficients = np.random.default_rng(seed).normal(size=(3, 7))
    curves = [np.polynomial.Polynomial(row) for row in coefficients]
    return lambda t: [np.array([curve.deriv(k)(t) if k else curve(t) for curve in curves]) for k in range(5)]


def test_motors_follow_from_the_links() -> None:
    """The links need no torque besides the springs, and rates of the motors are those of their positions."""
    robot = arm(rotor=ROTOR, elastic={"stiffness": 500.0})
    motion, t, h = polynomial(1), 0.2, 1e-4
    theta, rate, acceleration, tau = np.asarray(elastic.motor_motion(robot, *motion(t)))
    before, after = (np.asarray(elastic.motor_motion(robot, *motion(t + dt)))[0] for dt in (-h, h))
    assert rate == pytest.approx((after - before) / (2 * h), rel=1e-5)  # differences
    assert acceleration == pytest.approx((after - 2 * theta + before) / h**2, rel=1e-4)  # differences
    assert theta[[0, 2]] == pytest.approx(motion(t)[0][[0, 2]]) and abs(theta[1] - motion(t)[0][1]) > 1e-3
    q, qd, qdd = motion(t)[:3]
    links, motors = np.asarray(elastic.inverse_dynamics(robot, q, qd, qdd, theta, rate, acceleration))
    assert links[1] == pytest.approx(0, abs=1e-9) and motors == pytest.approx(tau)


def test_damped_springs_have_a_motion_of_their_own() -> None:
    robot = arm(rotor=ROTOR, elastic={"stiffness": 500.0, "damping": 0.1})
    with pytest.raises(NotApplicable, match="a spring with damping"):
        elastic.motor_motion(robot, *polynomial(1)(0.2))


def test_rotors_that_are_carried_have_a_motion_of_their_own() -> None:
    full = {"model": "full", "inertia": 1e-3, "ratio": 50.0, "mass": 0.4, "axis": [0.6, 0, 0.8]}
    robot = arm(rotor=full, elastic={"stiffness": 500.0})
    with pytest.raises(NotApplicable, match="a rotor of the full model on a moving link"):
        elastic.motor_motion(robot, *polynomial(1)(0.2))
