"""Motion of robots with free and ball joints: closed solutions, conserved quantities, orders of the integrators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ellipj

import armdyn
from armdyn.algebra import ZERO
from armdyn.control import NoControl
from armdyn.control.base import Desired, Law
from armdyn.errors import NotApplicable
from armdyn.robot import Robot
from armdyn.robot.compounds import turned
from armdyn.robot.random import random_robot
from armdyn.simulation import Solver
from support.feature_robots import floating


def body(kind: str = "free", inertia: tuple[float, ...] = (0.1, 0.2, 0.35)) -> Robot:
    a, b, c = inertia
    row = {"type": kind, "name": "root", "mass": 2.0, "inertia": [a, 0, 0, b, 0, c]}
    return Robot.from_dh([row], gravity=(0, 0, 0))


def freely(robot: Robot, qd0: Any, duration: float, dt: float, **solver: Any) -> armdyn.Run:
    q0 = robot.integrate(robot.neutral, np.linspace(-1, 1, robot.n))
    return armdyn.simulate(robot, NoControl(robot.n), q0, duration, qd0=qd0, throw=True, solver=Solver(dt=dt, **solver))


EXACT: dict[str, Any] = {"integrator": "dop853", "rtol": 1e-13, "atol": 1e-13}


@pytest.mark.parametrize("kind", ["free", "ball"])
def test_a_tumbling_body_follows_its_closed_solution(kind: str) -> None:
    """Euler's equations of an asymmetric body: Jacobi's elliptic functions; and the momentum stays where it is."""
    A, B, C = inertia = np.array([0.1, 0.2, 0.35])
    w0 = np.array([1.1, 0.0, 1.9])  # the middle axis starts at rest
    robot = body(kind, tuple(inertia))
    run = freely(robot, np.concatenate([[0.3, -0.2, 0.1] * (kind == "free"), w0]), 10.0, 0.05, **EXACT)
    energy2, momentum2 = float(inertia @ w0**2), float((inertia * w0) @ (inertia * w0))
    assert momentum2 > energy2 * B
    rate = np.sqrt((C - B) * (momentum2 - energy2 * A) / (A * B * C))
    m = (B - A) * (energy2 * C - momentum2) / ((C - B) * (momentum2 - energy2 * A))
    sn, cn, dn, _ = ellipj(rate * run.t, m)
    size = np.sqrt((energy2 * C - momentum2) / (B * (C - B)))
    w = run.qd[:, -3:]
    np.testing.assert_allclose(w[:, 0], w0[0] * cn, atol=1e-9)
    np.testing.assert_allclose(np.abs(w[:, 1]), np.abs(size * sn), atol=1e-9)
    np.testing.assert_allclose(w[:, 2], w0[2] * dn, atol=1e-9)
    momentum = turned(run.q[:, -4:], inertia * w)
    np.testing.assert_allclose(momentum, np.broadcast_to(momentum[0], momentum.shape), atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, -4:], axis=1), 1, atol=1e-15)


def test_a_thrown_body_falls_on_a_parabola() -> None:
    robot = replace(body(), gravity=armdyn.algebra.Vec3(0, 0, -9.81))
    v0, w0 = np.array([1.0, 2.0, 3.0]), np.array([0.4, -2.0, 1.0])
    run = freely(robot, np.concatenate([v0, w0]), 2.0, 0.1, **EXACT)
    start = turned(run.q[0, 3:], v0)
    expected = run.q[0, :3] + run.t[:, None] * start + 0.5 * run.t[:, None] ** 2 * [0, 0, -9.81]
    np.testing.assert_allclose(run.q[:, :3], expected, atol=1e-9)


@pytest.mark.parametrize("make", [floating, lambda: random_robot(4, 6, free_root=True, ball=0.3, branching=0.3)])
def test_a_floating_arm_keeps_energy_and_momentum(make: Any) -> None:
    robot = replace(make(), gravity=ZERO)
    dyn = armdyn.compile(robot)
    run = freely(robot, np.linspace(-1, 1.5, robot.n), 10.0, 0.05, **EXACT)
    assert abs(run.energy / run.energy[0] - 1).max() < 1e-9
    momentum = dyn.centroidal_momentum(run.q, run.qd)
    assert abs(momentum - momentum[0]).max() < 1e-9 * abs(momentum[0]).max()
    com = dyn.center_of_mass(run.q)
    mass = dyn.mass_matrix(run.q[0])[0, 0]
    np.testing.assert_allclose(com, com[0] + run.t[:, None] * momentum[0, :3] / mass, atol=1e-8)  # grows with t


@pytest.mark.parametrize(
    ("integrator", "order"), [("euler_taylor", 1), ("semi_implicit", 1), ("rk4", 4), ("implicit", 4)]
)
def test_integrators_keep_their_order(integrator: str, order: int) -> None:
    robot = floating()
    v0 = np.linspace(-1, 1.5, robot.n)
    exact = freely(robot, v0, 0.5, 0.5, **EXACT)
    errors, quaternions = [], []
    for dt in (0.01, 0.005):
        run = freely(robot, v0, 0.5, dt, integrator=integrator)
        errors.append(np.linalg.norm(robot.difference(exact.q[-1], run.q[-1])))
        quaternions += [run.q[:, 3:7], run.q[:, 7:11]]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
    assert all(abs(np.linalg.norm(each, axis=1) - 1).max() < 1e-15 for each in quaternions)


class Attitude(Law):
    """Turns a free body to the identity, by the shorter way."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def __call__(self, t: Any, q: Any, qd: Any, desired: Desired, memory: Any = None) -> Any:
        return 2.0 * self.robot.difference(q, desired.q) - 1.5 * qd


def test_a_law_of_ones_own_gets_the_positions() -> None:
    robot = body()
    q0 = robot.integrate(robot.neutral, [0.1, 0.2, 0.3, 2.0, 1.0, -0.5])
    run = armdyn.simulate(
        robot, Attitude(robot), robot.neutral, 30.0, q0=q0, solver=armdyn.Solver(dt=0.01, integrator="rk4")
    )
    assert run.error.shape == (len(run.t), 6)
    np.testing.assert_allclose(run.error[-1], 0, atol=1e-5)


def test_what_needs_coordinates_is_refused() -> None:
    robot = floating()
    start: dict[str, Any] = {"reference": robot.neutral, "duration": 0.1}
    with pytest.raises(NotApplicable, match="variational"):
        armdyn.simulate(robot, NoControl(robot.n), **start, solver=armdyn.Solver(integrator="variational"))
    with pytest.raises(NotApplicable, match="the law PID"):
        armdyn.simulate(robot, armdyn.control.PID(np.ones(robot.n), np.ones(robot.n), np.ones(robot.n)), **start)
    with pytest.raises(NotApplicable, match="stop_at_limits"):
        armdyn.simulate(robot, NoControl(robot.n), stop_at_limits=True, **start)
