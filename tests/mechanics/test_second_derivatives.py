"""Second derivatives of the torques: composite bodies against complex steps of first derivatives of the recursion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import newton_euler
from armdyn.mechanics.second_derivatives import inverse_dynamics_hessian
from armdyn.robot import Robot
from armdyn.robot.parts import Friction

STEP, SMALL = 1e-4, 1e-30


def with_full_rotors(robot: Robot) -> Robot:
    tree = [replace(j, rotor=j.rotor and replace(j.rotor, model="full", transverse=2e-4)) for j in robot.tree]
    return replace(robot, tree=tuple(tree))


def with_weights_carried(robot: Robot) -> Robot:
    return replace(robot, tree=tuple(replace(j, body=replace(j.body, gravity_compensation=0.6)) for j in robot.tree))


def with_smooth_friction(robot: Robot) -> Robot:
    law = Friction(viscous=0.3, coulomb=0.7, law="smooth", width=0.5)
    return replace(robot, tree=tuple(replace(joint, friction=law) for joint in robot.tree))


ROBOTS = {
    "one joint": armdyn.random_robot(1, 1),
    "chain": armdyn.random_robot(2, 4, prismatic=0.4, any_gravity=True),
    "tree": armdyn.random_robot(5, 5, branching=0.6, fixed=0.2),
    "full rotors": with_full_rotors(armdyn.random_robot(3, 4, rotors=True)),
    "weights carried": with_weights_carried(armdyn.random_robot(4, 3)),
    "both": with_weights_carried(with_full_rotors(armdyn.random_robot(3, 3, rotors=True))),
    "friction": with_smooth_friction(armdyn.random_robot(6, 3)),
}


def slopes(robot: Robot, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """First derivatives of the weighted torques by q, qd and qdd: (..., 3 n), by complex steps."""
    moved = x[..., None, :] + 1j * SMALL * np.eye(x.shape[-1])
    return np.asarray((newton_euler.inverse_dynamics(robot, *np.split(moved, 3, axis=-1)).imag / SMALL) @ weights)


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_every_second_derivative(robot: Robot) -> None:
    n = robot.n
    x, weights = np.random.default_rng(n).normal(size=3 * n), np.random.default_rng(7).normal(size=n)
    moves = STEP * np.eye(3 * n)
    near, far = (slopes(robot, x + h * moves, weights) - slopes(robot, x - h * moves, weights) for h in (1, 2))
    expected = ((8 * near - far) / (12 * STEP)).reshape(3, n, 3, n)  # of fourth order
    q, qd, qdd = np.split(x, 3)
    q_q, q_qd, qd_qd, q_qdd = np.asarray(inverse_dynamics_hessian(robot, q, qd, qdd, weights))
    scale = 1e-9 * max(1.0, np.abs(expected).max())  # rounding of differences of slopes, over 1e-4
    for found, (a, b) in ((q_q, (0, 0)), (q_qd, (0, 1)), (qd_qd, (1, 1)), (q_qdd, (0, 2))):
        np.testing.assert_allclose(found, expected[a, :, b], atol=scale)
    assert np.abs(expected[1, :, 2]).max() < scale and np.abs(expected[2, :, 2]).max() < scale
