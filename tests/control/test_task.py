"""Laws in the task space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import Admittance, Impedance, ResolvedAcceleration, TaskPID
from armdyn.errors import ArmdynError, UnknownName
from armdyn.simulation import Hold, Plant, Solver, simulate
from simulation.arms import dynamics, slider

ELBOW = np.array([0.1, -0.6, 0.2, -2.0, 0.1, 1.6, 0.3])
"""A position of the panda arm away from singular ones."""


class Loop3:
    """A point on a circle in space."""

    duration = 1.0

    def __init__(self, centre: np.ndarray, r: float = 0.05, w: float = 4.0) -> None:
        self.centre, self.r, self.w = centre, r, w

    def __call__(self, t: Any, order: int = 0) -> np.ndarray:
        phase = self.w * np.asarray(t, dtype=float) + order * np.pi / 2
        circle = np.stack([np.cos(phase), np.sin(phase), 0.5 * np.sin(phase)], axis=-1)
        return self.r * self.w**order * circle + (self.centre if order == 0 else 0.0)


def critically(e0: np.ndarray, v0: np.ndarray, w: float, t: np.ndarray) -> np.ndarray:
    """The solution of e'' + 2 w e' + w^2 e = 0."""
    return np.exp(-w * t) * (e0 + (v0 + w * e0) * t)


def rotated(axis: list[float], angle: float) -> np.ndarray:
    u = np.array(axis) / np.linalg.norm(axis)
    K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@pytest.mark.parametrize("name", ["puma560", "panda"])
def test_error_of_the_task_decays_exponentially(name: str) -> None:
    """Khalil (9.36), for a six-joint arm and for a redundant one, from off the reference."""
    dyn = dynamics(name)
    q0 = ELBOW[: dyn.n]
    start = dyn.pose(q0)[:3, 3]
    loop = Loop3(start - [0.05, 0.02, 0.01])
    law = ResolvedAcceleration(dyn, 100, 20, rows="x y z")
    run = simulate(dyn, law, loop, 1.0, q0=q0, solver=Solver(dt=2e-3, integrator="rk4"))
    assert run.ok
    v0 = loop(0.0, 1)
    exact = critically(run.error[0], v0, 10.0, run.t[:, None])
    # Joints of the Puma that reverse rest until the end of the step: an error of first order in dt.
    assert np.abs(run.error - exact).max() < (1e-4 if name == "puma560" else 1e-5)


def test_position_and_rotation_together() -> None:
    dyn = dynamics("puma560")
    q0 = np.array([0.1, -0.6, 0.2, 0.4, 0.7, 0.3])
    goal = dyn.pose(q0).copy()
    goal[:3, 3] += [0.05, -0.03, 0.04]
    goal[:3, :3] = rotated([1, 2, 3], 0.6) @ goal[:3, :3]
    run = simulate(dyn, ResolvedAcceleration(dyn, 100, 20), goal, 1.5, q0=q0, solver=Solver(dt=2e-3))
    assert run.ok
    assert np.linalg.norm(run.error[0, 3:]) == pytest.approx(0.6, rel=1e-6)
    assert np.abs(run.error[-1]).max() < 1e-4
    assert np.allclose(dyn.pose(run.q[-1]), goal, rtol=0, atol=1e-4)


def test_a_redundant_arm_does_not_move_within_itself() -> None:
    """Khalil, note after (9.37): the null space is damped; without that it would drift on."""
    dyn = dynamics("panda")
    hold = dyn.pose(ELBOW)[:3, 3]
    kick = np.linalg.svd(dyn.jacobian(ELBOW)[:3])[2][-1]  # a motion that the tool does not feel
    for damping, rest in ((10.0, True), (0.0, False)):
        law = ResolvedAcceleration(dyn, 100, 20, rows="x y z", posture_kd=damping)
        run = simulate(dyn, law, Hold(hold), 1.0, q0=ELBOW, qd0=kick, solver=Solver(dt=2e-3, integrator="rk4"))
        assert np.abs(run.error).max() < 1e-4
        assert (np.abs(run.qd[-1]).max() < 1e-3) == rest


def test_a_trajectory_of_the_tool_is_a_reference() -> None:
    from armdyn.trajectory import line

    dyn = dynamics("puma560")
    q0 = np.array([0.1, -0.6, 0.2, 0.4, 0.7, 0.3])
    start = dyn.pose(q0)
    goal = start.copy()
    goal[:3, 3] += [0.1, 0.05, -0.1]
    path = line(start, goal, "quintic", duration=1.0)
    run = simulate(dyn, ResolvedAcceleration(dyn, 400, 40), path, q0=q0, solver=Solver(dt=2e-3))
    assert run.duration == pytest.approx(1.0)
    assert np.abs(run.error).max() < 2e-4


def test_task_pid_reaches_a_point() -> None:
    """Khalil (9.17) with gravity compensated, and with the integral doing it."""
    dyn = dynamics("planar2r")
    goal = dyn.pose(np.array([0.6, -0.9]))[:3, 3]
    law = TaskPID(dyn, 2000, 1500, rows="x y", gravity=True)
    run = simulate(dyn, law, Hold(goal), 8.0, q0=[0.3, -0.6], solver=Solver(dt=2e-3))
    assert np.abs(run.error[-1]).max() < 1e-4
    bare = simulate(dyn, TaskPID(dyn, 2000, 1500, rows="x y"), Hold(goal), 8.0, q0=[0.3, -0.6], solver=Solver(dt=2e-3))
    assert np.abs(bare.error[-1]).max() > 0.05  # it sags
    integral = TaskPID(dyn, 6000, 3500, 3000, rows="x y")
    run = simulate(dyn, integral, Hold(goal), 15.0, q0=[0.6, -0.9], solver=Solver(dt=2e-3))
    assert np.abs(run.error[-1]).max() < 1e-3


def test_impedance_yields_by_force_over_stiffness() -> None:
    dyn = dynamics("planar2r")
    q0 = np.array([0.5, -1.1])
    hold = dyn.pose(q0)[:3, 3]
    law = Impedance(dyn, stiffness=[4000, 6000], damping=2500, rows="x y")
    w = np.array([200.0, -120.0, 0, 0, 0, 0])  # what the robot exerts; the environment pushes back
    run = simulate(
        Plant(dyn, wrench=lambda t, q, qd: w * (t > 0.1)), law, Hold(hold), 8.0, q0=q0, solver=Solver(dt=4e-3)
    )
    assert run.ok
    assert np.abs(run.error[run.t <= 0.1]).max() < 1e-12
    assert run.error[-1] == pytest.approx(w[:2] / [4000, 6000], rel=1e-4)


def test_admittance_is_a_mass_on_a_spring() -> None:
    """A steady push: the tool's path is the step response of mass, damper and spring."""
    dyn = dynamics("panda")
    hold = dyn.pose(ELBOW)[:3, 3]
    w = np.array([0.0, -9.0, 0.0, 0, 0, 0])

    def push(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return w

    m, d, k = 4.0, 40.0, 300.0
    law = Admittance(dyn, m, d, k, push)
    run = simulate(dyn, law, Hold(hold), 2.0, q0=ELBOW, solver=Solver(dt=4e-3, integrator="rk4"))
    free = simulate(Plant(dyn, wrench=push), law, Hold(hold), 2.0, q0=ELBOW, solver=Solver(dt=4e-3, integrator="rk4"))
    a, f = d / (2 * m), np.sqrt(k / m - (d / (2 * m)) ** 2)
    step = 9.0 / k * (1 - np.exp(-a * run.t) * (np.cos(f * run.t) + a / f * np.sin(f * run.t)))
    assert np.abs(-run.error[:, 1] - step).max() < 1e-6
    assert free.ok


def test_rows_are_checked() -> None:
    dyn = dynamics("planar2r")
    with pytest.raises(UnknownName, match="rx"):
        ResolvedAcceleration(dyn, 1, 1, rows="x y w")
    with pytest.raises(ArmdynError, match="each once"):
        ResolvedAcceleration(dyn, 1, 1, rows="x x")
    with pytest.raises(ArmdynError, match="some of x y z"):
        Admittance(dyn, 1, 1, 1, lambda t, q, qd: np.zeros(6), rows="rx")
    with pytest.raises(ArmdynError, match="no initial configuration"):
        simulate(dyn, ResolvedAcceleration(dyn, 1, 1, rows="x y"), Hold([1.0, 0, 0]), 1.0)
    assert isinstance(armdyn.control.Law, type)


def test_closed_chains_in_the_task_space() -> None:
    """A five-bar linkage, whose tool moves as Khalil (9.36) says, and yields as its impedance says."""
    robot = armdyn.load("five_bar")
    dyn, q0 = armdyn.compile(robot), np.array([2.0, 1.1])
    start = dyn.pose(q0)[:3, 3]
    law = ResolvedAcceleration(dyn, 100, 20, rows="x y")
    run = simulate(dyn, law, Hold(start - [0.02, 0.03, 0]), 1.0, q0=q0, solver=Solver(dt=2e-3, integrator="rk4"))
    exact = critically(run.error[0], np.zeros(2), 10.0, run.t[:, None])
    assert run.ok and np.abs(run.error - exact).max() < 1e-8
    soft = Impedance(dyn, stiffness=[400, 600], damping=60, rows="x y")
    w = np.array([4.0, -3.0, 0, 0, 0, 0])
    run = simulate(Plant(dyn, wrench=lambda t, q, qd: w), soft, Hold(start), 4.0, q0=q0, solver=Solver(dt=4e-3))
    assert run.error[-1] == pytest.approx(w[:2] / [400, 600], rel=1e-3)


def test_designed_gains_are_those_of_the_inertias_of_the_task() -> None:
    """A mass that slides along x: kp = m w^2, and none for rows in which it cannot move; the tool of an arm settles."""
    dyn = armdyn.compile(slider())
    axis = int(np.abs(dyn.jacobian(np.zeros(1))[:3, 0]).argmax())
    law = TaskPID.designed(dyn, 5.0, 0.7)
    assert law.kp.tolist() == pytest.approx([2 * 25.0 * (k == axis) for k in range(6)])
    assert law.kd[axis] == pytest.approx(2 * 0.7 * 2 * 5)
    spring = Impedance.designed(dyn, 80.0)
    assert (spring.stiffness[axis], spring.damping[axis]) == pytest.approx((80.0, 2 * np.sqrt(80.0 * 2.0)))
    arm = dynamics("panda")
    goal = arm.pose(ELBOW + 0.1)
    for each in (TaskPID.designed(arm, 8.0), Impedance.designed(arm, 500.0)):
        run = simulate(arm, each, goal, 2.0, q0=ELBOW, solver=Solver(dt=2e-3))
        assert run.ok and np.abs(run.error[-1]).max() < 0.1 * np.abs(run.error[0]).max()
        assert np.abs(run.qd[-1]).max() < 0.05
