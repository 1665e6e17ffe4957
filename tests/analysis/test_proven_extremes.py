"""Proven bounds over the working range: never exceeded by another formulation, within a fifth of what is found."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.analysis import proven_extremes
from armdyn.analysis.proven_extremes import _coriolis_bound
from armdyn.control import resonance_range
from armdyn.errors import NotApplicable
from armdyn.mechanics import composite_body, gim_christoffel, newton_euler_base
from armdyn.robot import Robot
from armdyn.robot.limits import working_range
from armdyn.robot.random import random_robot
from support import feature_robots

ROBOTS = {
    "rotors on links": lambda: armdyn.load("planar2r"),
    "six joints": lambda: armdyn.load("puma560"),
    "prismatic joints": lambda: armdyn.load("scara5"),
    "tree": lambda: random_robot(3, 4, branching=0.4),
    "chain": lambda: random_robot(8, 4),
}


def sampled(robot: Robot, count: int = 3000) -> dict[str, float]:
    """Largest norms at random configurations, by formulations that share no code with the bounds."""
    rng, (low, high) = np.random.default_rng(11), working_range(robot)
    q = rng.uniform(low, high, (count, robot.n))
    qd = rng.normal(size=(count, robot.n))
    qd /= np.linalg.norm(qd, axis=1, keepdims=True)
    step = 1e-6
    slopes = [
        (newton_euler_base.gravity(robot, q + step * e) - newton_euler_base.gravity(robot, q - step * e)) / (2 * step)
        for e in np.eye(robot.n)
    ]
    M = composite_body.mass_matrix(robot, q)
    return {
        "||M||": np.linalg.norm(M, 2, axis=(-2, -1)).max(),
        "||C|| / ||qd||": np.linalg.norm(gim_christoffel.coriolis_matrix(robot, q, qd), 2, axis=(-2, -1)).max(),
        "||g||": np.linalg.norm(newton_euler_base.gravity(robot, q), axis=-1).max(),
        "||dg/dq||": np.linalg.norm(np.stack(slopes, axis=-1), 2, axis=(-2, -1)).max(),
        **{f"M{j}": M[:, j, j].max() for j in range(robot.n)},
    }


@pytest.mark.parametrize("name", ROBOTS)
def test_bounds_hold_and_are_close(name: str) -> None:
    robot = ROBOTS[name]().without("friction")
    bounds = proven_extremes(robot)
    pairs = {**bounds.norms, **{f"M{j}": tuple(row) for j, row in enumerate(bounds.inertia)}}
    for quantity, largest in sampled(robot).items():
        proven, found = pairs[quantity]
        assert largest <= proven * (1 + 1e-6), quantity  # slopes are differences
        assert found <= proven <= 1.2 * found + 1e-9, quantity
    k_a = armdyn.control.acceleration_constants(armdyn.compile(robot))
    finite = np.isfinite(k_a)
    assert (bounds.acceleration[finite, 0] <= k_a[finite] * (1 + 1e-12)).all()


def test_parallelograms_are_covered_and_other_loops_refused() -> None:
    robot = armdyn.load("parallelogram")
    bounds, dyn = proven_extremes(robot), armdyn.compile(robot)
    q = np.random.default_rng(1).uniform(*working_range(robot), (2000, robot.n))
    largest = np.linalg.norm(dyn.mass_matrix(q), 2, axis=(-2, -1)).max()
    proven, found = bounds.norms["||M||"]
    assert largest <= proven and found <= proven <= 1.2 * found
    with pytest.raises(NotApplicable, match="no polynomials"):
        proven_extremes(armdyn.load("five_bar"))


def test_the_lowest_resonance_is_no_lower_than_proven() -> None:
    robot = feature_robots.ROBOTS["elastic"]()
    bounds = proven_extremes(robot)
    assert bounds.resonance is not None
    proven, found = bounds.resonance
    assert found / 1.1 <= proven <= found == pytest.approx(resonance_range(armdyn.compile(robot)).first, rel=1e-3)
    assert "lowest resonance" in str(armdyn.tables.render(bounds.section()))


def test_the_bound_on_quadratic_forms_is_none_of_one_side() -> None:
    """[PE-2] against the largest of many directions; the forms have no structure."""
    rng = np.random.default_rng(2)
    c = rng.normal(size=(20, 4, 4, 4))
    c = (c + c.transpose(0, 1, 3, 2)) / 2
    z = rng.normal(size=(20_000, 4))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    largest = np.linalg.norm(np.einsum("aijk,sj,sk->asi", c, z, z), axis=-1).max(axis=1)
    bound = _coriolis_bound(c)
    assert (largest <= bound).all() and (bound < 1.25 * largest).all()
