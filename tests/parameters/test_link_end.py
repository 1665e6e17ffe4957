"""Siciliano's parameters in link-end frames: their meaning, and torques from them."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import NotApplicable
from armdyn.parameters import link_end_names, link_end_parameters, link_end_regressor


@pytest.mark.parametrize("seed", [1, 4, 9])
def test_regressor_times_parameters_are_the_torques(seed: int) -> None:
    robot = armdyn.random_robot(seed, n=5, rotors=True, branching=0.3).without("friction")
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (3, 20, robot.n))
    tau = armdyn.mechanics.lagrange.inverse_dynamics(robot, q, qd, qdd)
    Y = link_end_regressor(robot, q, qd, qdd)
    assert Y.shape == (20, robot.n, 11 * robot.n) and len(link_end_names(robot)) == 11 * robot.n
    np.testing.assert_allclose(Y @ link_end_parameters(robot), tau, rtol=1e-9, atol=1e-9 * np.abs(tau).max())


def test_parameters_are_those_of_the_bodies_in_their_own_frames() -> None:
    """Standard DH: m l and the tensor about frame i, which lies at the end of link i; I_m of the rotors themselves."""
    robot = armdyn.load("puma560").without("friction")
    values = dict(zip(link_end_names(robot), link_end_parameters(robot), strict=True))
    for j, joint in enumerate(robot.joints, 1):
        body = joint.body.inertia.about_com()
        mass, com = float(body.mass), np.array(body.com.array(), dtype=float)
        tensor = np.array(body.tensor.array(), dtype=float) + mass * (com @ com * np.eye(3) - np.outer(com, com))
        assert values[f"M{j}_end"] == pytest.approx(mass, abs=1e-12)
        np.testing.assert_allclose([values[f"M{x}{j}_end"] for x in "XYZ"], mass * com, atol=1e-12)
        upper = [values[f"{x}{j}_end"] for x in ("XX", "XY", "XZ", "YY", "YZ", "ZZ")]
        np.testing.assert_allclose(upper, tensor[np.triu_indices(3)], atol=1e-9)
        assert joint.rotor is not None
        assert values[f"Im{j}"] == pytest.approx(float(joint.rotor.inertia), rel=1e-9)


def test_columns_of_the_two_link_planar_arm() -> None:
    """Siciliano (7.84): y_11 multiplies the mass of link 1 with its frame at the end: a1^2 qdd1 + a1 g c1."""
    robot = armdyn.load("planar2r").without("friction")
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    Y, a1 = link_end_regressor(robot, q, qd, qdd), robot.parameters["a1"]
    column = Y[:, link_end_names(robot).index("M1_end")]
    np.testing.assert_allclose(column, [a1**2 * qdd[0] + a1 * 9.81 * np.cos(q[0]), 0], rtol=1e-12)


def test_closed_chains_are_refused() -> None:
    with pytest.raises(NotApplicable, match="body frames"):
        link_end_parameters(armdyn.load("parallelogram"))
