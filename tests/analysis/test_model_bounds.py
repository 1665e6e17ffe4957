"""Bounds of the model's norms: never exceeded, not idle, and of the right growth."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.analysis import model_bounds
from armdyn.errors import FeatureError
from armdyn.mechanics import composite_body, gim_christoffel, newton_euler_base
from armdyn.robot.random import random_robot

SPHERICAL = [
    {
        "type": "revolute",
        "d": 0.5,
        "alpha": "-pi/2",
        "mass": 2.0,
        "com": (0, 0, 0.1),
        "inertia": (0.1, 0, 0, 0.1, 0, 0.1),
    },
    {"alpha": "pi/2", "mass": 1.0, "com": (0, 0.1, 0), "inertia": (0.1, 0, 0, 0.2, 0, 0.1)},
    {"type": "prismatic", "mass": 1.5, "com": (0, 0, -0.2), "inertia": (0.3, 0, 0, 0.3, 0, 0.1)},
]


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold(seed: int) -> None:
    """At random configurations of random trees with prismatic joints, near and far, by three formulations."""
    robot = random_robot(seed, 5, branching=0.2)
    bounds, rng = model_bounds(robot), np.random.default_rng(seed)
    for size in (1, 3, 10, 100, 1000):
        q, qd = rng.normal(size=(2, 40, robot.n)) * size
        M = np.linalg.norm(composite_body.mass_matrix(robot, q), 2, axis=(-2, -1))
        C = np.linalg.norm(gim_christoffel.coriolis_matrix(robot, q, qd), 2, axis=(-2, -1))
        g = np.linalg.norm(newton_euler_base.gravity(robot, q), axis=-1)
        limits = np.array([bounds.at(x) for x in np.linalg.norm(q, axis=-1)])
        assert (limits[:, 0] >= M).all()
        assert (limits[:, 1] * np.linalg.norm(qd, axis=-1) >= C).all()
        assert (limits[:, 2] >= g).all()


def test_revolute_arms_have_constant_bounds_of_the_right_size() -> None:
    robot = armdyn.load("rx90")
    bounds, rng = model_bounds(robot), np.random.default_rng(0)
    q, qd = rng.uniform(-np.pi, np.pi, (2, 2000, 6))
    M = np.linalg.norm(composite_body.mass_matrix(robot, q), 2, axis=(-2, -1)).max()
    C = (np.linalg.norm(gim_christoffel.coriolis_matrix(robot, q, qd), 2, axis=(-2, -1))
         / np.linalg.norm(qd, axis=-1)).max()  # fmt: skip
    g = np.linalg.norm(newton_euler_base.gravity(robot, q), axis=-1).max()
    assert bounds.mass_matrix[1:] == bounds.coriolis[1:] == (0, 0) and bounds.gravity[1:] == (0,)
    for bound, largest in zip(bounds.at(1e6), (M, C, g), strict=True):
        assert largest <= bound <= 10 * largest  # lengths are added up, directions ignored: safe, and not far off


def test_coriolis_matrix_of_a_spherical_arm_grows_with_the_square() -> None:
    """The term that Khalil sec. 7.3.3.3 g does not have."""
    robot = armdyn.Robot.from_dh(SPHERICAL, "standard")
    qd = np.array([1.0, 1.0, 0.0])
    sizes = [float(np.linalg.norm(gim_christoffel.coriolis_matrix(robot, [0.3, 0.8, d], qd))) for d in (1e2, 1e3, 1e4)]
    np.testing.assert_allclose(np.diff(np.log10(sizes)), 2, atol=0.02)
    assert model_bounds(robot).coriolis[2] > 0


def test_rotors_that_spin_on_links_are_refused() -> None:
    with pytest.raises(FeatureError, match="rotors that spin on moving links"):
        model_bounds(armdyn.load("planar2r"))
