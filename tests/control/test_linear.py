"""Laws whose closed loop is linear, and what their gains mean."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control import (
    PID,
    ComputedTorque,
    Feedforward,
    PDGravity,
    analyse_gains,
    largest_gravity_slope,
    largest_inertias,
)
from armdyn.errors import ArmdynError, ShapeError, UnknownName
from armdyn.simulation import Actuation, Plant, Solver, simulate
from simulation.arms import Wave, dynamics, random_dynamics


def decay(run: armdyn.Run, kp: float, kd: float) -> np.ndarray:
    """The solution of e'' + kd e' + kp e = 0 from the run's first error, for kd^2 < 4 kp."""
    e0, v0 = run.error[0], run.desired.qd[0] - run.qd[0]
    a, w = kd / 2, np.sqrt(kp - kd**2 / 4)
    t = run.t[:, None]
    return np.exp(-a * t) * (e0 * np.cos(w * t) + (v0 + a * e0) / w * np.sin(w * t))


@pytest.mark.parametrize("seed", range(3))
def test_computed_torque_decays_exponentially_on_any_arm(seed: int) -> None:
    """Khalil (9.25) on random arms with friction, from far off the reference."""
    dyn = random_dynamics(seed, 4, friction=True)
    law = ComputedTorque(dyn, 90.0, 14.0)
    random = np.random.default_rng(seed)
    q0, qd0 = random.uniform(-1, 1, 4), random.uniform(-1, 1, 4)
    # Sticking joints stop where they reverse, at the end of a time step: the law cancels Fc sign(qd) alone.
    run = simulate(
        Plant(dyn, stiction=False), law, Wave(4), 1.0, q0=q0, qd0=qd0, solver=Solver(dt=1e-3, integrator="rk4")
    )
    exact = decay(run, 90.0, 14.0)
    assert np.abs(run.error - exact).max() < 1e-6  # signs of friction change within a step


def test_position_scheme_is_a_filter_of_the_target() -> None:
    """Khalil (9.30): q'' + kd q' + kp q = kp q_d from rest: critically damped, without overshoot."""
    dyn = dynamics("three_link")
    law = ComputedTorque.designed(dyn, 8.0, scheme="position")
    assert law.kp.tolist() == [64.0] * 3
    assert law.kd.tolist() == [16.0] * 3
    target = np.array([0.5, -0.4, 0.3])
    run = simulate(dyn, law, target, 2.0, q0=np.zeros(3), solver=Solver(dt=1e-3, integrator="rk4"))
    t = run.t[:, None]
    assert np.abs(run.q - target * (1 - np.exp(-8 * t) * (1 + 8 * t))).max() < 1e-9


def test_integral_action_removes_a_constant_error() -> None:
    """Khalil, footnote of sec. 9.4.2.2: a payload the model does not know."""
    dyn = dynamics("three_link")
    heavy = dyn.robot.with_payload(0.3)
    runs = [
        simulate(heavy, ComputedTorque(dyn, 100, 20, ki=ki), np.zeros(3), 5.0, solver=Solver(dt=2e-3))
        for ki in (0, 200)
    ]
    assert np.abs(runs[0].error[-1]).max() > 1e-2
    assert np.abs(runs[1].error[-1]).max() < 1e-6


def test_predictive_control_does_not_see_noise_in_its_model() -> None:
    """Khalil sec. 9.4.2.4: (9.31) on the reference is (9.22); torques of the model stay put when q is off."""
    dyn = dynamics("puma560")
    still = armdyn.control.Desired(np.full(6, 0.3), np.zeros(6), np.zeros(6))
    at, off = np.full(6, 0.3), np.full(6, 0.3) + 1e-3
    for scheme in ("tracking", "position"):
        laws = [ComputedTorque(dyn, 0, 0, scheme=scheme, predictive=p) for p in (False, True)]
        assert np.array_equal(laws[0](0, at, np.zeros(6), still), laws[1](0, at, np.zeros(6), still))
        assert np.array_equal(laws[1](0, off, np.zeros(6), still), laws[1](0, at, np.zeros(6), still))
        assert not np.array_equal(laws[0](0, off, np.zeros(6), still), laws[0](0, at, np.zeros(6), still))


def test_both_ways_to_compute_are_one() -> None:
    dyn = random_dynamics(7, 5, friction=True)
    random = np.random.default_rng(0)
    for _ in range(20):
        q, qd = random.standard_normal((2, 5))
        desired = armdyn.control.Desired(*random.standard_normal((3, 5)))
        one, two = (ComputedTorque(dyn, 50, 9, through=way)(0, q, qd, desired) for way in ("newton_euler", "matrices"))
        assert np.abs(one - two).max() < 1e-10 * np.abs(one).max()


def test_feedforward_is_the_inverse_dynamics_of_the_reference() -> None:
    dyn = dynamics("puma560")
    q, qd, qdd = np.random.default_rng(1).standard_normal((3, 6))
    desired = armdyn.control.Desired(q, qd, qdd)
    assert np.array_equal(Feedforward(dyn)(0, q + 1, qd + 1, desired), dyn.inverse_dynamics(q, qd, qdd))


# PID ------------------------------------------------------------------------------------------------------------------


def test_designed_gains_give_the_triple_pole() -> None:
    """Khalil (9.9), (9.10) at the largest inertia of each joint."""
    dyn = dynamics("puma560")
    law = PID.designed(dyn, 20.0)
    a = largest_inertias(dyn)
    assert np.allclose(law.kp, 3 * a * 400)
    assert np.allclose(law.ki, a * 8000)
    Fv = np.array([float(joint.friction.viscous) for joint in dyn.robot.joints])
    assert np.allclose(law.kd, 3 * a * 20 - Fv)
    for loop in analyse_gains(law, dyn=dyn).loops:
        assert np.allclose(loop.poles, -20, rtol=1e-3)  # a triple root is known to the cube root of rounding
        assert loop.damping == pytest.approx(1.0, abs=1e-3)
    assert np.allclose(PID.designed(dyn, resonance=40.0).kp, law.kp)  # w = w_r / 2


def test_largest_inertia_of_a_planar_arm() -> None:
    """Stretched out: a11 = I1 + I2 + m1 l1^2 + m2 (a1 + l2)^2 and the rotors; the second joint's is constant."""
    dyn = dynamics("planar2r")
    at = [np.diag(dyn.mass_matrix(np.array([0.3, x]))) for x in (0.0, 1.0)]
    assert largest_inertias(dyn) == pytest.approx(at[0], rel=1e-6)
    assert at[1][0] < at[0][0]


def test_pid_of_a_single_joint_has_the_transfer_function_of_the_text() -> None:
    """Khalil (9.7) for a mass without friction: the response to a step equals that of the linear system."""
    from scipy.signal import TransferFunction, step

    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}], gravity=(0, 0, 0))
    law = PID(kp=50, kd=12, ki=20)
    run = simulate(robot, law, [1.0], 3.0, q0=[0.0], solver=Solver(dt=1e-3, integrator="rk4"))
    _, y = step(TransferFunction([50, 20], [2, 12, 50, 20]), T=run.t)  # kd acts on qd_d, which is zero after the step
    assert np.abs(run.q[:, 0] - y).max() < 1e-6


def test_the_integral_rests_outside_its_band() -> None:
    law = PID(kp=1, kd=1, ki=1, integrate_above=0.01, integrate_below=0.5)
    q, qd = np.zeros(4), np.zeros(4)
    desired = armdyn.control.Desired(np.array([0.005, 0.1, -0.3, 0.6]), qd, qd)
    assert law.change(0, q, qd, desired, law.start(q, qd)).tolist() == [0.0, 0.1, -0.3, 0.0]


def test_anti_windup_shortens_the_overshoot() -> None:
    """A long way under a torque limit: an integral that grows meanwhile overshoots."""
    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}], gravity=(0, 0, 0))
    wound = simulate(
        robot,
        PID(kp=60, kd=25, ki=60),
        [1.0],
        6.0,
        q0=[0.0],
        actuation=Actuation(torque_limits=4.0),
        solver=Solver(dt=2e-3),
    )
    guarded = simulate(robot, PID(kp=60, kd=25, ki=60, torque_limits=4.0), [1.0], 6.0, q0=[0.0], solver=Solver(dt=2e-3))
    assert np.abs(guarded.tau).max() <= 4.0
    assert guarded.q.max() - 1 < 0.5 * (wound.q.max() - 1)
    assert abs(guarded.error[-1, 0]) < 1e-3


def test_integral_action_holds_against_gravity() -> None:
    """Khalil, notes on (9.10): without it a static error g/kp stays."""
    dyn = dynamics("three_link")
    law = PID.designed(dyn, 15.0)
    run = simulate(dyn, law, np.zeros(3), 4.0, solver=Solver(dt=1e-3))
    assert np.abs(run.error[-1]).max() < 1e-6
    without = simulate(dyn, PID(law.kp, law.kd), np.zeros(3), 4.0, solver=Solver(dt=1e-3))
    expected = dyn.gravity(without.q[-1]) / law.kp
    assert without.error[-1] == pytest.approx(expected, rel=1e-6, abs=1e-12)


# PD with gravity ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("at", ["actual", "desired"])
@pytest.mark.parametrize("seed", range(3))
def test_pd_with_gravity_is_stable_from_anywhere(at: str, seed: int) -> None:
    """Khalil (9.11)-(9.16): from random states of random arms V falls all the way, to the target."""
    dyn = random_dynamics(seed, 3)
    random = np.random.default_rng(seed)
    inertia = largest_inertias(dyn)
    kp = np.maximum(25 * inertia, 1.2 * PDGravity.least_kp(dyn) if at == "desired" else 0.0)
    kd = 2 * np.sqrt(kp * inertia)
    law = PDGravity(dyn, kp, kd, at=at)  # type: ignore[arg-type]
    goal = random.uniform(-2, 2, 3)
    run = simulate(
        dyn, law, goal, 20.0, q0=random.uniform(-3, 3, 3), qd0=random.uniform(-3, 3, 3), solver=Solver(integrator="rk4")
    )
    assert run.ok
    assert np.abs(run.error[-1]).max() < 1e-4
    assert np.abs(run.qd[-1]).max() < 1e-3
    if at == "actual":
        V = run.kinetic_energy + 0.5 * run.error**2 @ kp  # Khalil (9.11)
        assert (np.diff(V) <= 1e-9 * V[0]).all()


def test_kp_below_the_slope_of_gravity_may_fail() -> None:
    """Q(q_d) with a kp too small: the pendulum finds another equilibrium."""
    dyn = armdyn.compile(armdyn.Robot.from_dh([{"type": "revolute", "a": 0.5, "mass": 1.0}], gravity=(0, -9.81, 0)))
    assert largest_gravity_slope(dyn) == pytest.approx(0.5 * 9.81, rel=1e-4)  # m g r sin q has slope m g r at most
    weak = simulate(
        dyn, PDGravity(dyn, 0.3, 1.0, at="desired"), [np.pi / 2], 30.0, q0=[-2.0], qd0=[0.0], solver=Solver(dt=1e-2)
    )
    strong = simulate(
        dyn, PDGravity(dyn, 12.0, 4.0, at="desired"), [np.pi / 2], 30.0, q0=[-2.0], qd0=[0.0], solver=Solver(dt=1e-2)
    )
    assert abs(weak.error[-1, 0]) > 0.5
    assert abs(strong.error[-1, 0]) < 1e-6


# What gains mean ------------------------------------------------------------------------------------------------------


def test_poles_damping_and_bandwidth() -> None:
    (loop,) = analyse_gains(200.0, 10.0).loops  # the gains of El Baji sec. 5.3
    assert loop.frequency == pytest.approx(np.sqrt(200))
    assert loop.damping == pytest.approx(10 / (2 * np.sqrt(200)))
    assert sorted(pole.imag for pole in loop.poles) == pytest.approx([-np.sqrt(175), np.sqrt(175)])
    s = 1j * loop.bandwidth
    assert abs((10 * s + 200) / (s * s + 10 * s + 200)) == pytest.approx(1 / np.sqrt(2))
    assert loop.stable
    assert "raise kd" in loop.advice
    assert analyse_gains(400, 40).loops[0].advice == ""


def test_routh_tells_unstable_integral_action() -> None:
    """Stable if and only if kp (kd + Fv) > a ki."""
    assert analyse_gains(10, 2, 9.9, inertia=2.0).stable
    assert not analyse_gains(10, 2, 10.1, inertia=2.0).stable
    assert analyse_gains(10, 2, 10.1, inertia=2.0, viscous=0.1).stable
    assert "unstable" in str(analyse_gains(10, 2, 30, inertia=2.0))


def test_resonance_rule() -> None:
    """Khalil, notes on (9.10): w_j at most half the structure's resonance."""
    near, far = (analyse_gains(400, 40, resonance=w).loops[0] for w in (30.0, 40.0))
    assert near.below_resonance is False
    assert "15 rad/s" in near.advice
    assert far.below_resonance is True
    assert analyse_gains(400, 40).loops[0].below_resonance is None


def test_gains_that_cannot_be() -> None:
    dyn = dynamics("planar2r")
    with pytest.raises(ArmdynError, match="wrong sign"):
        ComputedTorque(dyn, -1, 1)
    with pytest.raises(ShapeError, match="one number or 2"):
        ComputedTorque(dyn, [1, 2, 3], 1)
    with pytest.raises(UnknownName, match="tracking, position"):
        ComputedTorque(dyn, 1, 1, scheme="other")  # type: ignore[arg-type]
    with pytest.raises(UnknownName, match="coriolis"):
        ComputedTorque(dyn, 1, 1, leave_out=("coriolus",))
    with pytest.raises(ArmdynError, match="one of the two"):
        PID.designed(dyn, 20.0, resonance=40.0)
    with pytest.raises(ArmdynError, match="kd is missing"):
        analyse_gains(100)
    with pytest.raises(ArmdynError, match="not linear"):
        analyse_gains(Feedforward(dyn, 1, 1))
    with pytest.raises(AttributeError):
        ComputedTorque(dyn, 1, 1).kp = 2  # type: ignore[misc]
