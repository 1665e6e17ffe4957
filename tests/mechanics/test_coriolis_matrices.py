"""Matrices C(q, qd) of many kinds: all of them give the torques of velocities, some are skew beside the mass matrix."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.mechanics import composite_body, newton_euler
from armdyn.mechanics.coriolis_matrices import MATRICES, central_newton_euler_matrix
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.random import random_robot
from armdyn.robot.robot import Robot

SKEW = ("Christoffel symbols", "Kronecker products", "beta and zeta", "recursive, composite bodies",
        "Newton-Euler in link frames, made skew", "Newton-Euler at centres of mass",
        "symmetric part alone, Mdot/2")  # fmt: skip


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("seed", range(2))
def test_laws(name: str, seed: int) -> None:
    robot = random_robot(seed, 4, prismatic=0.4, branching=0.3).without("friction", "gravity")
    q, qd = np.random.default_rng(seed).uniform(-2, 2, (2, 4))
    C = np.asarray(MATRICES[name][1](robot, q, qd), dtype=float)
    torques = np.asarray(newton_euler.inverse_dynamics(robot, q, qd, 0 * q))
    assert (np.abs(C @ qd - torques).max() < 1e-11) == (name != "symmetric part alone, Mdot/2")
    Md = np.imag(composite_body.mass_matrix(robot, q + 1e-30j * qd)) / 1e-30
    S = Md - 2 * C
    assert np.abs(S + S.T).max() < 1e-11 or name not in SKEW


def at_centres(robot: Robot, q: np.ndarray, step: float = 1e-30) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(R, Jv, Jw) of the links in world axes, Jv at the centre of mass: poses differentiated by complex steps."""

    def placed(x: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        poses = zip(link_poses(robot, x), robot.links, strict=True)
        pairs = [(pose.R.array(), [*pose.apply(link.inertia.about_com().com)]) for pose, link in poses]
        return [(np.asarray(R, dtype=complex), np.asarray(c, dtype=complex)) for R, c in pairs]

    columns = [placed(q + 1j * step * e) for e in np.eye(robot.n)]
    found = []
    for l, (R, _) in enumerate(placed(q)):
        spins = [column[l][0].imag / step @ R.real.T for column in columns]
        Jw = np.array([[S[2, 1], S[0, 2], S[1, 0]] for S in spins]).T
        found.append((R.real, np.array([column[l][1].imag / step for column in columns]).T, Jw))
    return found


@pytest.mark.parametrize("seed", range(1, 4))
def test_newton_euler_at_centres_of_mass_entry_by_entry(seed: int) -> None:
    """[CM-3] as it is written, in world axes; the rates of Jacobians by central differences along qd."""
    robot = random_robot(seed, 4, prismatic=0.4, branching=0.3).without("friction", "rotors")
    q, qd = np.random.default_rng(seed).uniform(-2, 2, (2, 4))
    h = 1e-5
    C = np.zeros((4, 4))
    states = [at_centres(robot, q + s * h * qd) for s in (0, 1, -1)]
    for link, (R, Jv, Jw), (_, *ahead), (_, *behind) in zip(robot.links, *states, strict=True):
        body = link.inertia.about_com()
        inertia = R @ np.asarray(body.tensor.array(), dtype=float) @ R.T
        Jvdot, Jwdot = ((a - b) / (2 * h) for a, b in zip(ahead, behind, strict=True))
        gyroscopic = np.cross(Jw @ qd, inertia @ Jw, axis=0)
        C += float(body.mass) * Jv.T @ Jvdot + Jw.T @ (inertia @ Jwdot + gyroscopic)
    ours = central_newton_euler_matrix(robot, q, qd)
    np.testing.assert_allclose(ours, C, rtol=0, atol=1e-8 * np.abs(C).max())  # differences with steps of 1e-5
