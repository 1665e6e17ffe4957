"""Regressors of energies, momenta and link ends, the rate of the Jacobian, and what a wrench adds to derivatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import derivatives, kinematics
from armdyn.parameters import (
    energy_regressor,
    link_end_parameters,
    momentum_regressor,
    regressor,
    standard_parameters,
)
from armdyn.robot.parts import Friction, Rotor, Spring
from support import pinocchio_model as engine

SEEDS = (2, 5, 11)


def arm(seed: int) -> tuple[armdyn.Robot, np.ndarray, np.ndarray, np.ndarray]:
    """A random tree with mixed joints, skew axes and a tilted base, and a state."""
    robot = armdyn.random_robot(seed, 5, branching=0.3, any_gravity=True).bound()
    return robot, *np.random.default_rng(seed).uniform(-1.5, 1.5, (3, robot.n))


@pytest.mark.parametrize("seed", SEEDS)
def test_momenta_and_kinetic_energy_of_pinocchio(seed: int) -> None:
    robot, q, qd, _ = arm(seed)
    pi, M = standard_parameters(robot).array(), engine.mass_matrix(robot, q)
    assert momentum_regressor(robot, q, qd) @ pi == pytest.approx(M @ qd, rel=1e-10, abs=1e-10)
    assert (energy_regressor(robot, q, qd) @ pi)[0] == pytest.approx(qd @ M @ qd / 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slope_of_the_potential_energy_is_gravity(seed: int) -> None:
    robot, q, qd, _ = arm(seed)
    pi, step, rest = standard_parameters(robot).array(), 1e-5, np.zeros(robot.n)
    ends = [[(energy_regressor(robot, q + s * step * u, qd) @ pi)[1] for s in (1, -1)] for u in np.eye(robot.n)]
    slope = np.array([(a - b) / (2 * step) for a, b in ends])
    assert slope == pytest.approx(engine.inverse_dynamics(robot, q, rest, rest), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_energies_change_by_the_power_of_the_torques(seed: int) -> None:
    """With rotors and springs: d/dt (Y_T + Y_U) pi = qd . Y pi, along a motion, for every parameter by itself."""
    robot, q, qd, qdd = arm(seed)
    parts: dict[str, Any] = {
        "rotor": Rotor(inertia=1e-3, ratio=50.0),
        "spring": Spring(30.0, 0.2),
        "friction": Friction(0.0, 0.0),
    }
    tree = tuple(replace(j, **parts) if j.kind != "fixed" else j for j in robot.tree)
    robot = replace(robot, tree=tree, expressions=None, parameters={})
    step = 1e-4
    ahead, behind = (
        energy_regressor(robot, q + s * step * qd + step**2 / 2 * qdd, qd + s * step * qdd).sum(axis=0) for s in (1, -1)
    )
    names = standard_parameters(robot).names
    stored = np.array([not name.startswith(("F", "off")) for name in names])
    power = (qd @ regressor(robot, q, qd, qdd))[stored]
    assert ((ahead - behind) / (2 * step))[stored] == pytest.approx(power, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", SEEDS)
def test_link_ends(seed: int) -> None:
    robot = armdyn.random_robot(seed, 4, convention="standard", rotors=True).bound()
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (3, 4))
    dyn = armdyn.compile(robot)
    tau = armdyn.compile(robot.without("friction")).inverse_dynamics(q, qd, qdd)
    assert dyn.link_end_regressor(q, qd, qdd) @ link_end_parameters(robot) == pytest.approx(tau, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_rate_of_the_jacobian_and_wrenches(seed: int) -> None:
    robot, q, qd, _ = arm(seed)
    dyn, step, wrench = armdyn.compile(robot), 1e-6, np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])
    rate = (kinematics.jacobian(robot, q + step * qd) - kinematics.jacobian(robot, q - step * qd)) / (2 * step)
    assert dyn.jacobian_dot(q, qd) == pytest.approx(rate, abs=1e-7)
    turned = [engine.jacobian(robot, q + s * step * u).T @ wrench for u in np.eye(robot.n) for s in (1, -1)]
    slopes = np.array([(a - b) / (2 * step) for a, b in zip(turned[::2], turned[1::2], strict=True)]).T
    assert derivatives.wrench_derivatives(robot, q, wrench) == pytest.approx(slopes, abs=1e-6)
