"""Gibbs-Appell equations against Pinocchio, exact arithmetic, and the definition of the energy of acceleration."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.algebra import CentralInertia, Inertia, Mat3, Vec3
from armdyn.mechanics import gibbs_appell, kinematics, newton_euler
from support import pinocchio_model as engine
from support.laws import assert_close, sample, without_mass


def test_energy_of_acceleration_by_its_definition():
    """S = 1/2 sum m a.a over point masses: a cloud of points, taken one by one and as one rigid body."""
    rng = np.random.default_rng(2)
    w, wd, a = rng.uniform(-1, 1, (3, 3))
    points, masses = rng.uniform(-1, 1, (7, 3)), rng.uniform(1, 2, 7)
    body, energy = Inertia.zero(), 0.0
    for r, m in zip(points, masses, strict=True):
        body = body + CentralInertia(m, Vec3(*r), Mat3.zero()).at_origin()
        acceleration = a + np.cross(wd, r) + np.cross(w, np.cross(w, r))
        energy += m * acceleration @ acceleration / 2
    assert gibbs_appell.gibbs_function(body, Vec3(*w), Vec3(*wd), Vec3(*a)) == pytest.approx(energy, rel=1e-13)


def test_energy_at_rest_is_the_quadratic_form_of_the_inertia_matrix():
    robot, q, _, qdd, _ = sample("tree")
    expected = qdd @ engine.mass_matrix(robot, q) @ qdd / 2
    assert_close(gibbs_appell.acceleration_energy(robot, q, np.zeros(robot.n), qdd), expected)


def test_free_robot_minimizes_appells_function():
    """Gauss: with no torque qdd = -M^-1 h, and any other acceleration has a larger Appell function."""
    robot, q, qd, _, wrench = sample("modified")
    bias = engine.inverse_dynamics(robot, q, qd, np.zeros(robot.n), wrench)
    free = -np.linalg.solve(engine.mass_matrix(robot, q), bias)
    least = gibbs_appell.appell_function(robot, q, qd, free, wrench)
    for step in np.random.default_rng(3).uniform(-1, 1, (20, robot.n)):
        assert gibbs_appell.appell_function(robot, q, qd, free + step, wrench) > least


def test_the_part_of_a_wrench_is_its_product_with_the_acceleration_of_the_tool():
    robot, q, qd, qdd, wrench = sample("modified")
    acceleration = kinematics.jacobian(robot, q) @ qdd + kinematics.jacobian_dot_qd(robot, q, qd)
    part = gibbs_appell.appell_function(robot, q, qd, qdd, wrench) - gibbs_appell.appell_function(robot, q, qd, qdd)
    assert part == pytest.approx(wrench @ acceleration, rel=1e-10)


@pytest.mark.parametrize("keep_moment", [False, True])
def test_bodies_without_mass(keep_moment):
    robot, *motion = sample("standard")
    light = without_mass(robot, keep_moment)
    expected = newton_euler.inverse_dynamics(light, *motion)
    assert_close(gibbs_appell.inverse_dynamics(light, *motion), expected)
    assert np.abs(expected - newton_euler.inverse_dynamics(robot, *motion)).max() > 1e-3
