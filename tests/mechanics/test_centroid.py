"""Centre of mass, momentum and rates of Euler angles by their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armdyn.algebra import Mat3
from armdyn.errors import PhysicsError
from armdyn.mechanics import centroid, composite_body, kinematics
from armdyn.robot import Robot
from armdyn.robot.random import random_robot
from support.feature_robots import LINK

STEP = 1e-30


def driven(spin: float = 0.4) -> Robot:
    """Three joints, the first about the world's z axis; motors of the other two sit on the links before them."""
    rotor = {"inertia": spin, "ratio": 9.0, "model": "full", "mass": 0.3, "position": [0.1, 0.2, 0.3]}
    return Robot.from_dh([dict(LINK), LINK | {"rotor": rotor}, LINK | {"rotor": rotor | {"ratio": -5.0}}])


@pytest.mark.parametrize("robot", [random_robot(1, 4, prismatic=0.4, branching=0.3), driven()], ids=["tree", "motors"])
def test_momentum_is_mass_times_the_velocity_of_the_centre(robot: Robot) -> None:
    q, qd = np.random.default_rng(2).uniform(-2, 2, (2, robot.n))
    velocity = np.asarray(centroid.center_of_mass(robot, q + 1j * STEP * qd)).imag / STEP
    mass = sum(float(link.inertia.mass) for link in robot.links)
    assert centroid.centroidal_momentum(robot, q, qd)[:3] == pytest.approx(mass * velocity, abs=1e-12)


def test_angular_momentum_about_the_first_axis_is_that_of_its_joint() -> None:
    """Motors that spin on links included: (M qd)_1 = z . (L + c x p) if the first axis is the world's z."""
    robot = driven()
    rng = np.random.default_rng(3)
    for q, qd in rng.uniform(-2, 2, (5, 2, robot.n)):
        momentum = np.asarray(centroid.centroidal_momentum(robot, q, qd))
        about_origin = momentum[3:] + np.cross(centroid.center_of_mass(robot, q), momentum[:3])
        assert about_origin[2] == pytest.approx((composite_body.mass_matrix(robot, q) @ qd)[0], abs=1e-12)


def test_nothing_that_moves_has_no_centre_of_mass() -> None:
    with pytest.raises(PhysicsError, match="no centre of mass"):
        centroid.center_of_mass(Robot.from_dh([{"a": 1.0}]), [0.0])


def _turn(axis: int, angle: Any) -> Any:
    c, s, R = np.cos(angle), np.sin(angle), np.eye(3, dtype=complex)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


@pytest.mark.parametrize(("angles", "axes"), [("zyz", (2, 1, 2)), ("rpy", (2, 1, 0))])
def test_rates_of_euler_angles(angles: str, axes: tuple[int, int, int]) -> None:
    """R turns with the derivative of its own factors; roll, pitch, yaw are about x, y, z in this order."""
    rng = np.random.default_rng(4)
    for first, rates in rng.uniform(0.2, 1.2, (5, 2, 3)):
        values = first + 1j * STEP * rates
        turned = values if angles == "zyz" else values[::-1]
        R = _turn(axes[0], turned[0]) @ _turn(axes[1], turned[1]) @ _turn(axes[2], turned[2])
        spin = R.imag / STEP @ R.real.T
        w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
        found = np.array(kinematics.euler_rates(Mat3(R.real.tolist()), angles).rows, dtype=float) @ w
        assert found == pytest.approx(rates, abs=1e-12)
