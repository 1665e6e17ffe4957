"""Matrices C(q, qd) of many kinds: all of them give the torques of velocities, some are skew beside the mass matrix."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.mechanics import composite_body, newton_euler
from armdyn.mechanics.coriolis_matrices import MATRICES
from armdyn.robot.random import random_robot

SKEW = ("Christoffel symbols", "Kronecker products", "beta and zeta", "recursive, composite bodies",
        "Newton-Euler, made skew")  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("seed", range(2))
def test_laws(name: str, seed: int) -> None:
    robot = random_robot(seed, 4, prismatic=0.4, branching=0.3).without("friction", "gravity")
    q, qd = np.random.default_rng(seed).uniform(-2, 2, (2, 4))
    C = np.asarray(MATRICES[name][1](robot, q, qd), dtype=float)
    assert C @ qd == pytest.approx(np.asarray(newton_euler.inverse_dynamics(robot, q, qd, 0 * q)), abs=1e-11)
    Md = np.imag(composite_body.mass_matrix(robot, q + 1e-30j * qd)) / 1e-30
    S = Md - 2 * C
    assert np.abs(S + S.T).max() < 1e-11 or name not in SKEW
