"""Simulated arms with elastic joints: frequency, energy, the rigid limit, both loops, and an engine beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, Law, NoControl
from armdyn.errors import ArmdynError
from armdyn.simulation import Hold, Plant, Sensors, Solver, simulate
from support.elastic_mujoco import ElasticArm


class Constant(Law):
    """A constant torque."""

    def __init__(self, tau: float) -> None:
        self.tau = np.array([tau])

    def __call__(self, t: Any, q: Any, qd: Any, desired: Any, memory: Any = None) -> np.ndarray:
        return self.tau


def two_links(stiffness: tuple[float, float] = (40.0, 25.0), **spring: float) -> armdyn.Robot:
    rows = [
        {"type": "revolute", "a": 0.4, "mass": 1.0, "inertia": [0.01, 0, 0, 0.02, 0, 0.02], "rotor": {"inertia": 0.02},
         "elastic": {"stiffness": k, **spring}} for k in stiffness
    ]  # fmt: skip
    return armdyn.Robot.from_dh(rows, gravity=(0, -9.81, 0))


def test_a_joint_rings_at_its_frequency() -> None:
    """Two inertias on a spring, a torque on one: stretch tau/(J w^2)(1 - cos wt) with w^2 = k (1/I + 1/J)."""
    I, J, k, tau = 0.1, 0.05, 50.0, 0.8
    row = {"type": "revolute", "mass": 0.0, "inertia": [I, 0, 0, I, 0, I], "rotor": {"inertia": J}}
    robot = armdyn.Robot.from_dh([row | {"elastic": {"stiffness": k}}], gravity=(0, 0, 0))
    run = simulate(robot, Constant(tau), Hold([0.0]), 1.0, solver=Solver(dt=1e-3, integrator="rk4"))
    assert run.motors is not None
    w = np.sqrt(k * (1 / I + 1 / J))
    stretch = run.motors[0] - run.q
    assert np.abs(stretch[:, 0] - tau / (J * w**2) * (1 - np.cos(w * run.t))).max() < 1e-6  # RK4: (w dt)^4 a radian


@pytest.mark.parametrize("integrator, share", [("rk4", 1e-7), ("dop853", 1e-8), ("variational", 1e-3)])
def test_energy_is_kept(integrator: str, share: float) -> None:
    """Weights, motion and springs exchange it; share: error of the method at this step, of the energy exchanged."""
    run = simulate(two_links(), NoControl(2), Hold([0.3, 0.2]), 2.0, solver=Solver(dt=1e-3, integrator=integrator))
    assert run.motors is not None and np.abs(run.q - run.motors[0]).max() > 0.01  # springs do give way
    assert np.ptp(run.energy) < share * np.ptp(run.potential_energy)


def test_stiff_springs_approach_the_rigid_arm() -> None:
    """The difference falls like 1/k: order 1."""
    rigid = simulate(
        two_links().without("elastic"), NoControl(2), Hold([0.3, 0.2]), 0.3, solver=Solver(dt=2e-5, integrator="rk4")
    )
    off = []
    for k in (1e4, 4e4, 16e4):
        soft = simulate(
            two_links((k, k)), NoControl(2), Hold([0.3, 0.2]), 0.3, solver=Solver(dt=2e-5, integrator="rk4")
        )
        off.append(np.abs(soft.q - rigid.q).max())
    orders = np.log(np.divide(off[:-1], off[1:])) / np.log(4)
    assert orders == pytest.approx([1, 1], abs=0.1)


@pytest.mark.parametrize("measure", ["motor", "link"])
@pytest.mark.parametrize("integrator", ["euler_taylor", "rk4"])
def test_machine_code_and_python_agree(integrator: str, measure: Any) -> None:
    robot = two_links((400.0, 250.0), damping=0.4, viscous=0.1)
    law = PID(kp=30.0, kd=4.0, ki=5.0)
    solvers = [Solver(integrator=integrator, compiled=compiled) for compiled in (True, False)]
    plant = Plant(robot, measure=measure)
    runs = [simulate(plant, law, Hold([0.3, 0.2]), 0.5, q0=[0.2, 0.0], solver=solver) for solver in solvers]
    assert runs[0].compiled and not runs[1].compiled
    for first, second in zip(runs[0].columns().values(), runs[1].columns().values(), strict=True):
        assert np.abs(first - second).max() < 1e-10


def test_the_law_sees_the_side_that_it_measures() -> None:
    """At rest, integral action puts the measured side on the reference; the other is off by g / k."""
    robot = two_links((400.0, 250.0), damping=4.0)
    for measure in ("motor", "link"):
        run = simulate(
            Plant(robot, measure=measure),
            PID(60.0, 12.0, 60.0),
            Hold([0.3, 0.2]),
            20.0,
            solver=Solver(integrator="rk4"),
        )
        assert run.motors is not None
        seen, other = (run.motors[0][-1], run.q[-1]) if measure == "motor" else (run.q[-1], run.motors[0][-1])
        assert seen == pytest.approx([0.3, 0.2], abs=1e-6)
        assert abs(other - seen) == pytest.approx(abs(run.tau[-1]) / [400.0, 250.0], rel=1e-6)
    with pytest.raises(ArmdynError, match="'motors'"):
        Plant(robot, measure="motors")  # type: ignore[arg-type]


def test_an_engine_moves_the_same_way() -> None:
    """A control law held between steps, on our model and on MuJoCo's: RK4 in both."""
    robot = two_links((400.0, 250.0), damping=0.2)
    law = ComputedTorque(armdyn.compile(robot.without("elastic")), kp=100.0, kd=20.0)
    run = simulate(
        robot, law, Hold([0.5, -0.3]), 1.0, q0=[0.2, 0.1], sensors=Sensors(), solver=Solver(integrator="rk4")
    )
    assert run.motors is not None
    engine = ElasticArm(robot)
    engine.set_state(np.concatenate([run.q[0], run.motors[0][0]]), np.zeros(4))
    worst = 0.0
    for k, tau in enumerate(run.tau):
        expected = np.concatenate([run.q[k], run.motors[0][k]])
        worst = max(worst, float(np.abs(engine.state()[0] - expected).max()))
        engine.step(tau)
    assert worst < 1e-9


def test_a_wrench_acts_on_the_links() -> None:
    """Accelerations by differences of the run leave no torque on the link side, and the law's on the motors."""
    robot = two_links((400.0, 250.0), damping=4.0)
    push = np.array([3.0, -2.0, 0.0, 0.0, 0.0, 0.5])
    plant = Plant(robot, wrench=lambda t, q, qd: push)
    run = simulate(plant, PID(60.0, 12.0), Hold([0.3, 0.2]), 0.2, solver=Solver(integrator="rk4"))
    x, xd = run.coordinates
    torques = armdyn.compile(robot).inverse_dynamics(x, xd, np.gradient(xd, run.dt, axis=0), push)[50:-1]
    size = np.abs(armdyn.compile(robot).jacobian(x[0]).T @ push).max()
    assert np.abs(torques[:, :2]).max() < 1e-3 * size  # central differences, after the first transient
    assert np.abs(torques[:, 2:] - run.tau[50:-1]).max() < 1e-3 * size
