"""Free and ball joints: one rigid body by the equations of Newton and Euler in its own axes, and chains by laws."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from armdyn.mechanics import composite_body, derivatives, kane, lagrange, newton_euler
from armdyn.mechanics.moving_axes import coordinates_of, positions_of
from armdyn.robot import Robot
from armdyn.robot.random import random_robot
from support.feature_robots import floating


def moved(robot: Robot, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return robot.integrate(robot.neutral, rng.normal(size=robot.n)), *rng.normal(size=(2, robot.n))


@pytest.mark.parametrize("method", [newton_euler, lagrange, kane])
def test_one_free_body(method: ModuleType) -> None:
    m, c, inertia = 1.7, np.array([0.1, -0.2, 0.3]), [0.5, 0.02, -0.03, 0.6, 0.01, 0.4]
    robot = Robot.from_dh([{"type": "free", "mass": m, "com": c.tolist(), "inertia": inertia}])
    q, v, a = moved(robot, 1)
    R = np.asarray(robot.compounds[0].pose(q).array(), dtype=float)[:3, :3]
    xx, xy, xz, yy, yz, zz = inertia
    J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + m * (c @ c * np.eye(3) - np.outer(c, c))
    s = m * c
    (lin, w), (ld, wd) = (v[:3], v[3:6]), (a[:3], a[3:6])
    acceleration = ld + np.cross(w, lin) + R.T @ [0, 0, 9.81]
    force = m * acceleration + np.cross(wd, s) + np.cross(w, np.cross(w, s))
    moment = np.cross(s, acceleration) + J @ wd + np.cross(w, J @ w)
    found = np.asarray(method.inverse_dynamics(robot, q, v, a))
    assert robot.n == 6 and found == pytest.approx(np.concatenate([force, moment]), abs=1e-10)


@pytest.mark.parametrize("robot", [random_robot(5, 3, ball=0.7, branching=0.3), floating()], ids=["balls", "floating"])
def test_power_is_the_rate_of_energy(robot: Robot) -> None:
    """And the Coriolis matrix of v goes with the mass matrix: Mdot - 2 C is skew."""
    q, v, a = moved(robot, 6)
    h = 1e-6

    def at(t: float) -> Any:
        return robot.integrate(q, t * v)

    def energy(t: float) -> float:
        rates = v + t * a
        return float(lagrange.kinetic_energy(robot, at(t), rates) + lagrange.potential_energy(robot, at(t)))

    robot = robot.without("friction")
    power = (energy(h) - energy(-h)) / (2 * h)
    assert v @ newton_euler.inverse_dynamics(robot, q, v, a) == pytest.approx(power, rel=1e-6, abs=1e-6)  # differences
    Md = (np.asarray(composite_body.mass_matrix(robot, at(h))) - composite_body.mass_matrix(robot, at(-h))) / (2 * h)
    S = Md - 2 * np.asarray(derivatives.coriolis_matrix(robot, q, v))
    assert np.abs(S + S.T).max() < 1e-6  # differences


@pytest.mark.parametrize("robot", [random_robot(5, 3, ball=0.7, branching=0.3), floating()], ids=["balls", "floating"])
def test_derivatives_along_velocities(robot: Robot) -> None:
    """By differences of the torques, positions changed along one velocity at a time."""
    robot = robot.without("friction")
    q, v, a = moved(robot, 7)
    by_q, by_v = np.asarray(derivatives.inverse_dynamics_derivatives(robot, q, v, a))
    h, scale = 1e-5, np.abs(by_q).max()
    for j, d in enumerate(np.eye(robot.n)):
        places = [(robot.integrate(q, t * d), v) for t in (h, -h)]
        for found, ends in ((by_q, places), (by_v, [(q, v + t * d) for t in (h, -h)])):
            up, down = (np.asarray(newton_euler.inverse_dynamics(robot, x, rate, a)) for x, rate in ends)
            assert found[:, j] == pytest.approx((up - down) / (2 * h), abs=1e-7 * scale)  # differences


def test_coordinates_between_ball_joints() -> None:
    """One-degree joints before, between and after ball joints keep their own positions."""
    kinds = ("revolute", "ball", "revolute", "prismatic", "ball", "revolute")
    robot = Robot.from_dh([{"type": kind, "mass": 1} for kind in kinds])
    quaternion = [0.5, 0.5, -0.5, 0.5]
    q = [0.1, *quaternion, 0.2, 0.3, *quaternion, 0.4]
    coordinates = coordinates_of(robot, q)
    assert coordinates == [0.1, 0, 0, 0, 0.2, 0.3, 0, 0, 0, 0.4]
    assert positions_of(robot, coordinates, robot, q) == q
