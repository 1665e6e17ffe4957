"""Laws that learn, stand errors of the model, or watch for contact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import (
    ComputedTorque,
    Desired,
    MomentumObserver,
    PDGravity,
    RobustPassivity,
    SlidingMode,
    SlotineLi,
    first_contact,
)
from armdyn.errors import ArmdynError, ShapeError
from armdyn.mechanics.friction import friction_torques
from armdyn.simulation import Plant, Solver, simulate
from armdyn.simulation.studies import scaled_masses
from simulation.arms import Wave, dynamics, random_dynamics


@pytest.mark.parametrize("seed", [0, 4])
def test_regressor_of_two_velocities(seed: int) -> None:
    """Y(q, qd, v, a) p = A a + C(q, qd) v + g + friction(qd), with C of Christoffel symbols."""
    dyn = random_dynamics(seed, 4, friction=True)
    law = SlotineLi(dyn, 5, 10)
    q, qd, v, a = np.random.default_rng(seed).standard_normal((4, 4))
    expected = dyn.mass_matrix(q) @ a + dyn.coriolis_matrix(q, qd) @ v + dyn.gravity(q)
    assert "static_friction" in dyn.robot.features
    rub = friction_torques(dyn.robot, qd)
    assert np.allclose(law.regressor(q, qd, v, a) @ dyn.parameters, expected + rub, rtol=0, atol=1e-9)


def test_adaptation_reduces_the_error_of_a_wrong_payload() -> None:
    """The same law with and without learning; the arm carries what the model does not know."""
    dyn = dynamics("three_link")
    heavy = armdyn.compile(dyn.robot.with_payload(0.8))
    runs = [
        simulate(heavy, SlotineLi(dyn, 8, 4, gain), Wave(3), 12.0, solver=Solver(dt=2e-3, compiled=True))
        for gain in (0.0, 0.5)
    ]
    fixed, learning = (run.rms_error(after=10.0).max() for run in runs)
    assert fixed > 5e-3
    assert learning < 0.1 * fixed


def test_adaptation_follows_its_lyapunov_function() -> None:
    """s^T A s / 2 + (p - p_true)^T (p - p_true) / (2 gain) never grows."""
    dyn = dynamics("three_link")
    heavy = armdyn.compile(dyn.robot.with_payload(0.8))
    gain, law = 0.5, SlotineLi(dyn, 8, 4, 0.5)
    run = simulate(heavy, law, Wave(3), 2.0, q0=[0.2, -0.1, 0.3], solver=Solver(dt=1e-3, integrator="rk4"))
    s = run.desired.qd - run.qd + 8 * run.error
    kinetic = np.einsum("ki,kij,kj->k", s, heavy.mass_matrix(run.q), s) / 2
    off = run.memory - heavy.parameters
    V = kinetic + np.sum(off**2, axis=1) / (2 * gain)
    assert (np.diff(V) <= 1e-9 * V[0]).all()
    assert V[-1] < V[0]


def test_damping_follows_the_inertia() -> None:
    """kd = 2 rate M of a model, symmetric and positive definite for any rates; by default heavier than the arm."""
    dyn, rate = random_dynamics(1, 4), np.array([5.0, 40.0, 8.0, 20.0])
    q = np.random.default_rng(0).standard_normal(4)
    matrix = np.stack([SlotineLi(dyn, 5.0, dyn).damping(q, s) for s in np.eye(4)])
    assert np.allclose(matrix, 10.0 * dyn.mass_matrix(q), rtol=1e-12)
    law = SlotineLi(dyn, rate)
    matrix = np.stack([law.damping(q, s) for s in np.eye(4)])
    assert np.allclose(matrix, matrix.T)
    root = np.sqrt(2 * rate)
    assert np.linalg.eigvalsh(matrix - root[:, None] * dyn.mass_matrix(q) * root).min() > -1e-9
    assert np.linalg.eigvalsh(matrix).min() > 0


@pytest.mark.parametrize("kind", [SlotineLi, RobustPassivity])
def test_laws_that_choose_their_damping_run_compiled_and_in_batches(kind: Any) -> None:
    dyn = random_dynamics(1, 3)
    laws = [kind(dyn, rate) for rate in (5.0, 8.0)]
    runs = [simulate(dyn, law, Wave(3), 0.2, solver=Solver(dt=1e-3, compiled=way))
            for law in laws for way in (False, True)]  # fmt: skip
    for python, machine in (runs[:2], runs[2:]):
        assert np.allclose(python.q, machine.q, rtol=0, atol=1e-9)
    both: Any = simulate(dyn, laws, Wave(3), 0.2, solver=Solver(dt=1e-3))
    for run, one in zip((runs[1], runs[3]), both, strict=True):
        assert np.allclose(run.q, one.q, rtol=0, atol=1e-9)


def test_adaptation_gains_are_checked() -> None:
    with pytest.raises(ShapeError, match="one number or 42"):
        SlotineLi(dynamics("three_link"), 5, 5, np.ones(3))


def test_sliding_mode_reaches_its_layer_in_time_and_stays() -> None:
    """s' = d - gain sat(s / layer): |s| < layer after |s(0)| / (gain - |d|), and |e| < layer / rate in the end."""
    dyn = dynamics("three_link")
    wrong = armdyn.compile(scaled_masses(dyn.robot, 0.8))
    law = SlidingMode(wrong, rate=10.0, gain=25.0, layer=0.1)
    run = simulate(dyn, law, Wave(3), 3.0, q0=[0.1, -0.1, 0.1], solver=Solver(dt=1e-3, integrator="rk4"))
    s = run.desired.qd - run.qd + 10.0 * run.error
    w = run.desired.qdd + 10.0 * (run.desired.qd - run.qd) + 25.0 * np.clip(s / 0.1, -1, 1)
    qdd = dyn.forward_dynamics(run.q, run.qd, run.tau)
    d = np.abs(w - qdd).max()  # the acceleration error of the model, as it was
    assert 1.0 < d < 25.0
    reached = np.abs(s[0]).max() / (25.0 - d)
    late = run.t > reached
    assert late.any()
    assert np.abs(s[late]).max() < 0.1 * (1 + 1e-6)
    assert run.largest_error(after=reached + 1.0).max() < 0.1 / 10.0
    plain = simulate(dyn, ComputedTorque(wrong, 100, 20), Wave(3), 3.0, solver=Solver(dt=1e-3, integrator="rk4"))
    assert run.largest_error(after=2.0).max() < plain.largest_error(after=2.0).max()


# The observer ---------------------------------------------------------------------------------------------------------

FORCE = np.array([0.0, 6.0, -8.0, 0.0, 0.0, 0.0])


def touched(at: float, gain: float = 40.0) -> tuple[armdyn.Run, MomentumObserver]:
    """An arm at rest that is pushed at the tool from a time on."""
    dyn = dynamics("three_link")
    law = MomentumObserver(PDGravity(dyn, 100, 4), dyn, gain)
    plant = Plant(dyn, wrench=lambda t, q, qd: FORCE * (t >= at))
    run = simulate(plant, law, np.array([0.4, -0.5, 0.6]), 1.0, solver=Solver(dt=1e-3, integrator="rk4"))
    return run, law


def test_residual_is_the_filtered_contact_torque() -> None:
    """dr/dt = gain (tau_contact - r), tau_contact = -J^T w, along the whole motion."""
    run, law = touched(0.3)
    r = law.residual(run.q, run.qd, run.memory)
    contact = -np.einsum("kji,j->ki", dynamics("three_link").jacobian(run.q), FORCE) * (run.t >= 0.3)[:, None]
    r_exact, worst, keep = np.zeros(3), 0.0, np.exp(-40.0 * 1e-3)
    for k in range(1, len(run.t)):
        mean = (contact[k] + contact[k - 1]) / 2
        r_exact = mean + keep * (r_exact - mean)
        worst = max(worst, float(np.abs(r_exact - r[k]).max()))
    assert run.ok
    assert worst < 0.03 * np.abs(contact).max()  # where within its step the force begins is not said: gain dt / 2
    assert np.abs(r[run.t < 0.3]).max() < 1e-9
    assert np.abs(r[-1] - contact[-1]).max() < 1e-3 * np.abs(contact[-1]).max()


def test_contact_is_detected_within_the_stated_time() -> None:
    run, law = touched(0.3)
    r = law.residual(run.q, run.qd, run.memory)
    contact = np.abs(dynamics("three_link").jacobian(run.q[299]).T @ FORCE)
    joint, threshold = int(contact.argmax()), 0.5
    promised = law.detection_time(contact[joint], threshold, joint)
    assert promised < 0.02
    seen = first_contact(r, run.t, threshold)
    assert seen is not None
    assert 0.3 < seen < 0.3 + promised + 2e-3  # sampling, and the first step of the force
    assert first_contact(r, run.t, 100.0) is None
    with pytest.raises(ArmdynError, match="below the torque"):
        law.detection_time(0.3, 0.5)


def test_the_observer_is_silent_in_free_motion() -> None:
    """Any motion without contact, with friction: r stays at rounding (of the integration)."""
    dyn = dynamics("puma560")
    law = MomentumObserver(ComputedTorque(dyn, 100, 20), dyn, 30.0)
    run = simulate(Plant(dyn, stiction=False), law, Wave(6, 0.2), 1.0, solver=Solver(dt=1e-3, integrator="rk4"))
    r = law.residual(run.q, run.qd, run.memory)
    assert np.abs(r).max() < 2e-3 * np.abs(run.tau).max()  # Coulomb friction changes sign within steps
    smooth = armdyn.compile(dyn.robot.without("friction"))
    law = MomentumObserver(ComputedTorque(smooth, 100, 20), smooth, 30.0)
    run = simulate(smooth, law, Wave(6, 0.2), 1.0, solver=Solver(dt=1e-3, integrator="rk4"))
    assert np.abs(law.residual(run.q, run.qd, run.memory)).max() < 1e-8 * np.abs(run.tau).max()


def test_a_law_can_be_asked_without_a_simulation() -> None:
    dyn = dynamics("three_link")
    desired = Desired(np.zeros(3), np.zeros(3), np.zeros(3))
    assert SlotineLi(dyn, 5, 5)(0.0, np.zeros(3), np.zeros(3), desired) == pytest.approx(dyn.gravity(np.zeros(3)))
