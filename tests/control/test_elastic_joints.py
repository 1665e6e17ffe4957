"""Control of elastic joints: resonances by formulas and by vibration, PD control from the motor side on an engine."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, Desired, ElasticPD, Law, resonance_range, resonances
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.simulation import Hold, Solver, simulate
from support.elastic_mujoco import ElasticArm


def arm(stiffness: float = 400.0, **spring: float) -> armdyn.Robot:
    row = {"type": "revolute", "a": 0.4, "mass": 1.0, "inertia": [0.01, 0, 0, 0.02, 0, 0.02],
           "rotor": {"inertia": 0.02}, "elastic": {"stiffness": stiffness, **spring}}  # fmt: skip
    return armdyn.Robot.from_dh([dict(row), dict(row)], gravity=(0, -9.81, 0))


# Resonances -----------------------------------------------------------------------------------------------------------


def test_resonances_of_one_joint() -> None:
    """Locked motor: sqrt(k / I); free motor: sqrt(k (1/I + 1/J))."""
    I, J, k = 0.1, 0.05, 50.0
    row = {"type": "revolute", "mass": 0.0, "inertia": [I, 0, 0, I, 0, I], "rotor": {"inertia": J}}
    dyn = armdyn.compile(armdyn.Robot.from_dh([row | {"elastic": {"stiffness": k}}]))
    assert resonances(dyn, [[0.3], [0.8]]) == pytest.approx(np.full((2, 1), np.sqrt(k / I)))
    assert resonances(dyn, [0.3], motors="free") == pytest.approx([np.sqrt(k * (1 / I + 1 / J))])
    with pytest.raises(NotApplicable, match="no elastic joint"):
        resonances(armdyn.compile(armdyn.load("planar2r")), [0, 0])


def test_an_engine_vibrates_at_the_resonances() -> None:
    """Free motors, no gravity: the spectrum of MuJoCo's motion has its two peaks there."""
    robot = arm().without("gravity")
    q = np.array([0.2, 1.0])
    engine = ElasticArm(robot, timestep=1e-3)
    engine.set_state(np.concatenate([q, q + np.array([1e-5, -3e-5])]), np.zeros(4))  # small: the configuration stays
    stretch = []
    for _ in range(2**15):
        x, _ = engine.state()
        stretch.append(x[2:] - x[:2])
        engine.step(np.zeros(2))
    spectrum = np.abs(np.fft.rfft(np.array(stretch) * np.hanning(2**15)[:, None], axis=0)).sum(axis=1)
    peaks = np.flatnonzero((spectrum[1:-1] > spectrum[:-2]) & (spectrum[1:-1] > spectrum[2:])) + 1
    found = np.sort(peaks[np.argsort(spectrum[peaks])[-2:]]) * 2 * np.pi / (2**15 * 1e-3)
    assert found == pytest.approx(resonances(armdyn.compile(robot), q, motors="free"), abs=0.2)  # one line is 0.19


def test_range_over_the_workspace_and_a_pid_designed_for_it() -> None:
    dyn = armdyn.compile(arm())
    found = resonance_range(dyn)
    many = resonances(dyn, np.random.default_rng(1).uniform(-np.pi, np.pi, (5000, 2)))
    assert (found.lowest <= many.min(axis=0) + 1e-9).all() and (found.highest >= many.max(axis=0) - 1e-9).all()
    assert found.lowest == pytest.approx(many.min(axis=0), rel=1e-3)
    rigid = armdyn.compile(arm().without("elastic"))
    law = PID.designed(rigid, resonance=found.first)
    slow = simulate(arm(damping=0.5), law, Hold([0.3, 0.2]), 8.0, q0=[0.2, 0.1], solver=Solver(integrator="rk4"))
    fast = simulate(
        arm(damping=0.5),
        PID.designed(rigid, found.first * 4),
        Hold([0.3, 0.2]),
        8.0,
        q0=[0.2, 0.1],
        solver=Solver(integrator="rk4"),
    )
    assert slow.ok and np.abs(slow.qd[-1]).max() < 1e-3
    assert not fast.ok or np.abs(fast.qd[-1000:]).max() > 0.1  # eight times the advised frequency rings on


# PD control from the motor side ---------------------------------------------------------------------------------------


def settled(
    robot: armdyn.Robot, law: Law, target: np.ndarray, duration: float = 15.0, measure: str = "motor"
) -> tuple[float, float]:
    """(largest error of the links, largest velocity) over the last tenth of a motion of MuJoCo's arm."""
    seen = slice(2, 4) if measure == "motor" else slice(0, 2)
    engine = ElasticArm(robot, timestep=1e-3)
    engine.set_state(np.zeros(4), np.zeros(4))
    steps = round(duration / 1e-3)
    errors, rates = [0.0], [0.0]
    for k in range(steps):
        x, xd = engine.state()
        engine.step(law(k * 1e-3, x[seen], xd[seen], Desired(target, np.zeros(2), np.zeros(2))))
        if k > 0.9 * steps:
            errors.append(float(np.abs(x[:2] - target).max()))
            rates.append(float(np.abs(xd).max()))
    return max(errors), max(rates)


def test_the_links_settle_where_a_rigid_design_rings() -> None:
    """Computed torque designed for rigid joints: rings on if it measures the links, misses by g / k at the motors."""
    robot, target = arm(damping=0.3), np.array([0.6, -0.4])
    dyn, rigid = armdyn.compile(robot), armdyn.compile(robot.without("elastic"))
    law = ElasticPD(dyn, kp=150.0, kd=8.0)
    assert law.condition.holds
    error, rate = settled(robot, law, target)
    assert error < 1e-4 and rate < 1e-3
    design = ComputedTorque(rigid, 100.0, 20.0)
    _, rigid_rate = settled(robot, design, target, 2.0, measure="link")
    assert not rigid_rate < 0.1
    rigid_error, _ = settled(robot, design, target)
    assert rigid_error > 0.01


@pytest.mark.parametrize("kp", [100.0, 400.0])
def test_the_condition_is_that_of_the_potential(kp: float) -> None:
    """The smallest eigenvalue in closed form, and the Hessian of the potential is positive definite everywhere."""
    dyn = armdyn.compile(arm(200.0))
    law = ElasticPD(dyn, kp, 5.0)
    K, P = 200.0 * np.eye(2), kp * np.eye(2)
    assert law.condition.stiffness == pytest.approx(np.linalg.eigvalsh(np.block([[K, -K], [-K, K + P]]))[0])
    x = np.random.default_rng(0).uniform(-np.pi, np.pi, (500, 4))
    hessian = dyn.inverse_dynamics_derivatives(x, 0 * x, 0 * x)[0] + np.diag([0, 0, kp, kp])
    assert np.linalg.eigvalsh(hessian).min() > 0


def test_the_least_gain() -> None:
    dyn = armdyn.compile(arm(200.0))
    least = ElasticPD.least_kp(dyn)
    assert ElasticPD(dyn, least * 1.001, 5.0).condition.holds
    with pytest.raises(ArmdynError, match="may not hold the arm against gravity"):
        ElasticPD(dyn, least * 0.999, 5.0)
    assert not ElasticPD(dyn, least * 0.999, 5.0, check=False).condition.holds
    assert np.isinf(ElasticPD.least_kp(armdyn.compile(arm(5.0)))).all()  # softer than gravity


def test_machine_code_and_python_agree() -> None:
    robot = arm(damping=0.2)
    law = ElasticPD(armdyn.compile(robot), 150.0, 8.0)
    runs = [
        simulate(robot, law, Hold([0.3, 0.2]), 0.5, q0=[0.0, 0.0], solver=Solver(integrator="rk4", compiled=compiled))
        for compiled in (True, False)
    ]
    assert runs[0].compiled and np.abs(runs[0].q - runs[1].q).max() < 1e-10
