"""What each law promises, on a robot of Pinocchio, integrated by SciPy, with an error in every parameter.

The laws know `MODEL`; the plant is `TRUTH`, whose masses, centres of mass, inertias, rotors and viscous friction all
differ from it. Promises that need the exact model are checked with the exact model on the same engine.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
import pytest

import armdyn
from armdyn.control import (
    PID,
    Admittance,
    ComputedTorque,
    Desired,
    Feedforward,
    Formulated,
    FunctionLaw,
    Impedance,
    MomentumObserver,
    NoControl,
    OperationalSpace,
    PDGravity,
    ResolvedAcceleration,
    RobustPassivity,
    SlidingMode,
    SlotineLi,
    TaskPID,
    VelocityObserver,
    largest_inertias,
    parameter_errors,
)
from armdyn.errors import UnknownName
from armdyn.parameters import standard_parameters, with_standard_parameters
from armdyn.simulation import Actuation, Solver, simulate
from simulation.arms import Wave

plants = pytest.importorskip("support.pinocchio_plant")
N, GOAL = 3, np.array([-1.0, 0.8, 0.5])
START = np.array([-1.3, 1.2, 0.2])  # far from singular configurations


@cache
def model() -> armdyn.Dynamics:
    """A random arm with skew axes, a tilted base, rotors and viscous friction."""
    robot = armdyn.random_robot(3, N, rotors=True, prismatic=0.0)
    return armdyn.compile(with_standard_parameters(robot, {"Fv1": 0.8, "Fv2": 0.5, "Fv3": 0.3}))


@cache
def truth() -> armdyn.Robot:
    return plants.with_errors(model().robot, 0.15, seed=5)


@cache
def plant(exact: bool = False) -> Any:
    return plants.PinocchioPlant(model().robot if exact else truth())


def test_every_parameter_of_the_plant_differs() -> None:
    known, true = (standard_parameters(robot).as_dict() for robot in (model().robot, truth()))
    apart = [abs(float(true[k]) / float(x) - 1) for k, x in known.items() if float(x)]
    assert len(apart) == 12 * N and min(apart) > 1e-4 and max(apart) > 0.1
    q, qd, tau = np.random.default_rng(0).standard_normal((3, N))
    for robot, engine in ((model().robot, plant(exact=True)), (truth(), plant())):
        ours = armdyn.compile(robot).forward_dynamics(q, qd, tau)
        assert engine.acceleration(q, qd, tau) == pytest.approx(ours, rel=1e-10, abs=1e-10)
    assert not np.allclose(plant().acceleration(q, qd, tau), plant(exact=True).acceleration(q, qd, tau), rtol=1e-2)


# Joint space ----------------------------------------------------------------------------------------------------------


def test_pid_reaches_its_reference_whatever_the_model() -> None:
    """Khalil, notes on (9.10): with integral action no error stays; without it, kp e = g(q)."""
    law = PID.designed(model(), 10.0)
    run = plant().run(law, GOAL, 6.0, START)
    assert np.abs(run.e[-1]).max() < 1e-5 < 0.1 < np.abs(run.e[0]).max()
    run = plant().run(PID(law.kp, law.kd), GOAL, 6.0, START)
    assert run.e[-1] * law.kp == pytest.approx(plant().gravity(run.q[-1]), rel=1e-4)


@pytest.mark.parametrize("at", ["actual", "desired"])
def test_pd_with_gravity_comes_to_rest_where_springs_and_weights_balance(at: Literal["actual", "desired"]) -> None:
    """Exactly on the target with the right model; with a wrong one kp e = g - model's g, and V falls all the way."""
    kp, kd = 60 * largest_inertias(model()), 15 * largest_inertias(model())
    law = PDGravity(model(), kp, kd, at=at)
    right = plant(exact=True).run(law, GOAL, 8.0, START)
    assert np.abs(right.e[-1]).max() < 1e-6
    if at == "actual":
        kinetic = [qd @ plant(exact=True).mass_matrix(q) @ qd / 2 for q, qd in zip(right.q, right.qd, strict=True)]
        V = np.array(kinetic) + (right.e**2 @ kp) / 2
        assert (np.diff(V) < 1e-7 * V[0]).all()
    wrong = plant().run(law, GOAL, 8.0, START)
    where = wrong.q[-1] if at == "actual" else GOAL
    assert np.abs(wrong.qd[-1]).max() < 1e-5 and np.abs(wrong.e[-1]).max() > 1e-4
    left = plant().gravity(wrong.q[-1]) - model().gravity(where)
    assert wrong.e[-1] * kp == pytest.approx(left, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("predictive", [False, True])
def test_computed_torque_leaves_the_error_of_its_model_over_kp(predictive: bool) -> None:
    """e'' + kd e' + kp e = d, d = w - qdd: zero with the right model, else |e| <= max |d| / kp from zero error on."""
    law, wave = ComputedTorque(model(), 100.0, 20.0, predictive=predictive), Wave(N)
    q0, qd0 = wave(0.0), wave(0.0, 1)
    if not predictive:
        run = plant(exact=True).run(law, wave, 1.5, q0 + 0.1, qd0)
        t = run.t[:, None]
        assert np.abs(run.e + 0.1 * np.exp(-10 * t) * (1 + 10 * t)).max() < 1e-6
    run = plant().run(law, wave, 3.0, q0, qd0)
    d = np.abs(run.desired.qdd + 20 * run.ed + 100 * run.e - run.qdd).max(axis=0)
    assert (d > 0.05).all()
    assert (np.abs(run.e).max(axis=0) <= 1.001 * d / 100).all()
    still = plant().run(ComputedTorque(model(), 100.0, 20.0, ki=150.0, predictive=predictive), GOAL, 8.0, START)
    assert np.abs(still.e[-1]).max() < 1e-5


def test_feedforward_keeps_a_reference_with_the_right_model_and_needs_feedback_with_a_wrong_one() -> None:
    wave = Wave(N)
    q0, qd0 = wave(0.0), wave(0.0, 1)
    assert np.abs(plant(exact=True).run(Feedforward(model()), wave, 1.0, q0, qd0, rtol=1e-10).e).max() < 1e-6
    bare = np.abs(plant().run(Feedforward(model()), wave, 1.0, q0, qd0).e).max()
    kp, kd = 100 * largest_inertias(model()), 20 * largest_inertias(model())
    held = np.abs(plant().run(Feedforward(model(), kp, kd), wave, 1.0, q0, qd0).e).max()
    assert held < 0.2 * bare


def test_sliding_mode_stays_in_its_layer() -> None:
    """|s| < layer after |s(0)| / (gain - |d|), and |e| < layer / rate, with the acceleration error d as it was."""
    wave, gain, layer = Wave(N), 25.0, 0.1
    law = SlidingMode(model(), rate=10.0, gain=gain, layer=layer)
    run = plant().run(law, wave, 3.0, wave(0.0) + 0.1, wave(0.0, 1))
    s = run.ed + 10 * run.e
    w = run.desired.qdd + 10 * run.ed + gain * np.clip(s / layer, -1, 1)
    d = np.abs(w - run.qdd).max()
    assert 1.0 < d < gain
    reached = np.abs(s[0]).max() / (gain - d)
    assert reached < 1.5
    assert np.abs(s[run.t > reached]).max() < layer * (1 + 1e-6)
    assert np.abs(run.e[run.t > reached + 1.0]).max() < layer / 10


def test_robust_gains_from_bounds_on_every_parameter() -> None:
    """rho bounds the torque error of the true robot; V falls while s^T kd s > rho layer / 4; s stays in its bound.

    The true robot is that of `with_errors(..., 0.15)`: masses within 15 %, centres within 15 mm in each direction,
    second moments A S A^T with |A_ij - 1_ij| <= 0.075 (at most 0.25 of the largest moments), friction within 15 %.
    """
    wave, layer, kd = Wave(N), 0.02, 5 * largest_inertias(model())
    E = parameter_errors(model(), mass=0.15, com=0.015, inertia=0.5, rotor=0.15, friction=0.15)
    law = RobustPassivity(model(), 10.0, kd, E, layer)
    run = plant().run(law, wave, 3.0, wave(0.0) + 0.1, wave(0.0, 1))
    true, s = np.asarray(armdyn.compile(truth()).parameters), run.ed + 10 * run.e
    parts = [law.terms(q, qd, Desired(*d)) for q, qd, *d in zip(run.q, run.qd, *run.desired, strict=True)]
    rho = np.array([law.torque_errors(Y) for Y, _ in parts])
    error = np.array([Y @ (true - model().parameters) for Y, _ in parts])
    assert (np.abs(error) <= rho).all()
    assert (np.abs(error).max(axis=0) > 0.1 * rho.max(axis=0)).all()  # and not by far too large
    M = np.array([plant().mass_matrix(q) for q in run.q])
    V = np.einsum("ki,kij,kj->k", s, M, s) / 2
    outside = s**2 @ law.kd > rho @ law.layer / 4
    both = outside[:-1] & outside[1:]
    assert both.sum() > 3 and (np.diff(V)[both] < 0).all()
    sizes = np.linalg.eigvalsh(M)
    bound = law.ultimate_bound(rho.max(axis=0), sizes.min(), sizes.max())
    assert np.linalg.norm(s[0]) > bound
    reached = int((np.linalg.norm(s, axis=1) < bound).argmax())
    assert reached > 0 and np.linalg.norm(s[reached:], axis=1).max() < bound
    assert np.abs(run.e[run.t > 2]).max() < bound / 10
    plain = plant().run(RobustPassivity(model(), 10.0, kd, 0 * E, layer), wave, 3.0, wave(0.0), wave(0.0, 1))
    assert np.abs(run.e[run.t > 2]).max() < 0.2 * np.abs(plain.e[plain.t > 2]).max()


def test_adaptation_removes_the_error_of_all_parameters() -> None:
    """The Lyapunov function with the true parameters falls; the error goes where without adaptation it stays."""
    robot, wave = plants.with_errors(model().robot, 0.4, seed=5).with_payload(2.0), Wave(N)
    true, engine = armdyn.compile(robot).parameters, plants.PinocchioPlant(robot)
    law = SlotineLi(model(), 8.0)
    run = engine.run(law, wave, 6.0, wave(0.0), wave(0.0, 1), rtol=1e-7)
    s = run.ed + 8.0 * run.e
    kinetic = np.array([x @ engine.mass_matrix(q) @ x / 2 for x, q in zip(s, run.q, strict=True)])
    learning = law.adaptation > 0
    V = kinetic + ((run.memory - true)[:, learning] ** 2 / law.adaptation[learning]).sum(axis=1) / 2
    fixed = engine.run(SlotineLi(model(), 8.0, adaptation=0.0), wave, 6.0, wave(0.0), wave(0.0, 1), rtol=1e-7)
    assert np.abs(run.e[run.t > 4]).max() < 0.1 * np.abs(fixed.e[fixed.t > 4]).max()
    assert V[-1] < V[0]
    assert (np.diff(V) < 1e-6 * V[0]).all()


@pytest.mark.parametrize("light", [False, True])
def test_adaptation_is_stable_when_sampled_on_arms_with_light_wrists(light: bool) -> None:
    """UR5 without rotors: 1e-4 kg m^2 at the wrist, a hundred times more with 2 kg; 1 kHz, all parameters wrong."""
    robot = armdyn.load("ur5").bound().without("friction")
    true, dt = plants.with_errors(robot, 0.2, seed=3), 1e-3
    engine = plants.PinocchioPlant(true if light else true.with_payload(2.0, (0.02, 0.01, 0.08)))
    middle, w = np.array([0.0, -1.2, 1.4, -0.4, 0.8, 0.2]), 2.5 * (1 + 0.13 * np.arange(6))
    errors = []
    for adaptation in (0.0, None):
        law = SlotineLi(armdyn.compile(robot), 10.0, adaptation=adaptation)
        q, qd = middle, np.zeros(6)
        z, late = law.start(q, qd), 0.0
        for t in dt * np.arange(3000):
            move = 0.4 * np.array([1 - np.cos(w * t), w * np.sin(w * t), w**2 * np.cos(w * t)])
            desired = Desired(middle + move[0], move[1], move[2])
            tau, zd = law(t, q, qd, desired, z), law.change(t, q, qd, desired, z)
            half = qd + dt / 2 * engine.acceleration(q, qd, tau)
            q, qd, z = q + dt * half, qd + dt * engine.acceleration(q + dt / 2 * qd, half, tau), z + dt * zd
            late = max(late, np.abs(desired.q - q).max()) if t > 2.0 else 0.0
        errors.append(late)
    assert errors[1] < 0.5 * errors[0]


def test_torques_as_functions_move_the_engine_as_they_move_our_plant() -> None:
    """Without feedback every error of the plant shows: on the true robot ours and Pinocchio's motion are one."""

    def push(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:  # fmt: skip
        return np.array([np.sin(3 * t), 0.5, -0.4]) - 0.3 * qd

    for law in (NoControl(N), FunctionLaw(push, N)):
        theirs = plant().run(law, START, 0.5, START, rtol=1e-10, samples=51)
        for integrator in ("rk4", "dop853", "radau"):
            ours = simulate(truth(), law, START, 0.5, q0=START, solver=Solver(integrator=integrator))
            assert np.abs(ours.q[-1] - theirs.q[-1]).max() < 1e-8
    held = simulate(truth(), push, START, 0.5, q0=START, actuation=Actuation(control_period=1e-3))
    assert np.abs(held.q[-1] - theirs.q[-1]).max() > 1e-5  # torques held over a period are those of another controller


@pytest.mark.parametrize("name", [each.name for each in armdyn.formulations() if "inverse_dynamics" in each.gives])
def test_every_formulation_is_a_model_of_laws(name: str) -> None:
    """Term by term, as El Baji (41): with the exact model Pinocchio's robot accelerates as the law commands."""
    numeric: Any = Formulated(model().robot, name)
    law = ComputedTorque(numeric, 100.0, 20.0, through="matrices")
    q, qd, *wanted = np.random.default_rng(1).standard_normal((5, N))
    desired = Desired(*wanted)
    engine = plant(exact=True)
    found = engine.acceleration(q, qd, law(0.0, q, qd, desired))
    assert found == pytest.approx(law.acceleration(q, qd, desired), rel=1e-9, abs=1e-9)
    C, h = numeric.coriolis_matrix(q, qd), 1e-5
    assert C @ qd == pytest.approx(numeric.coriolis(q, qd), rel=1e-10, abs=1e-10)
    rate = (engine.mass_matrix(q + h * qd) - engine.mass_matrix(q - h * qd)) / (2 * h)
    assert np.abs(rate - C - C.T).max() < 1e-7 * np.abs(rate).max()  # Christoffel; the step costs 1e-9 to 1e-8


def test_a_formulation_of_forward_dynamics_alone_is_no_model_of_a_law() -> None:
    with pytest.raises(UnknownName, match="articulated_body"):
        Formulated(model().robot, "articulated_body")


# Task space -----------------------------------------------------------------------------------------------------------


def tool(q: np.ndarray) -> np.ndarray:
    return np.array([model().pose(each)[:3, 3] for each in np.atleast_2d(q)])


def goal() -> np.ndarray:
    return tool(START + 0.1)[0]


def test_task_pid_reaches_a_point_by_its_integral() -> None:
    law = TaskPID.designed(model(), 6.0, rows="x y z")
    run = plant().run(law, goal(), 25.0, START)
    assert np.linalg.norm(tool(run.q[-1])[0] - goal()) < 1e-4 < 1e-2 < np.linalg.norm(tool(START)[0] - goal())


@pytest.mark.parametrize("kind", [ResolvedAcceleration, OperationalSpace])
def test_the_tool_follows_its_linear_equation(kind: type[ResolvedAcceleration]) -> None:
    """Khalil (9.36) with the right model; with a wrong one the error of the tool is at most max |d| / kp in the end."""
    law = kind(model(), 100.0, 20.0, rows="x y z")
    run = plant(exact=True).run(law, goal(), 1.5, START)
    e = goal() - tool(run.q)
    t = run.t[:, None]
    assert np.abs(e - e[0] * np.exp(-10 * t) * (1 + 10 * t)).max() < 1e-6
    run = plant().run(law, goal(), 3.0, START)
    J = np.array([plant().jacobian(q)[:3] for q in run.q])
    v = np.einsum("kij,kj->ki", J, run.qd)
    bias = np.array([model().jacobian_dot_qd(q, qd)[:3] for q, qd in zip(run.q, run.qd, strict=True)])
    e = goal() - tool(run.q)
    d = 100 * e - 20 * v - (np.einsum("kij,kj->ki", J, run.qdd) + bias)
    assert np.abs(d).max() > 0.1
    assert (np.abs(e[run.t > 2]).max(axis=0) <= np.abs(d).max(axis=0) / 100 + np.abs(e[0]) * 1e-4).all()


def test_the_null_space_does_not_move_the_tool() -> None:
    """Two laws that differ in the posture they prefer: with the right model the tool moves alike, the joints do not."""
    laws = [OperationalSpace(model(), 100.0, 20.0, rows="x y", posture=START + x, posture_kp=20.0) for x in (0.0, 0.5)]
    runs = [plant(exact=True).run(law, goal(), 1.0, START) for law in laws]
    assert np.abs(tool(runs[0].q)[:, :2] - tool(runs[1].q)[:, :2]).max() < 1e-6
    assert np.abs(runs[0].q[-1] - runs[1].q[-1]).max() > 0.05


def test_impedance_balances_force_stiffness_and_the_error_of_the_weights() -> None:
    """At rest J^T (K e - w) = g - model's g: with the right model e = w / K."""
    w = np.array([6.0, -4.0, 5.0, 0, 0, 0])
    law = Impedance(model(), stiffness=[400, 500, 600], damping=120, rows="x y z", joint_damping=3.0)
    hold = tool(START)[0]
    for exact in (True, False):
        run = plant(exact).run(law, hold, 15.0, START, wrench=lambda t: w)
        q = run.q[-1]
        off = plant(exact).gravity(q) - model().gravity(q)
        e = hold - tool(q)[0]
        assert np.abs(run.qd[-1]).max() < 1e-4
        assert plant(exact).jacobian(q)[:3].T @ ([400, 500, 600] * e - w[:3]) == pytest.approx(off, abs=5e-3)
        assert (np.abs(off).max() < 1e-9) == exact


def test_admittance_is_a_mass_on_a_spring_for_another_engine() -> None:
    """The wrench is measured and acts: with the right model the step response; with a wrong one near it in the end."""
    w, (m, d, k) = np.array([0.0, -9.0, 0.0, 0, 0, 0]), (4.0, 40.0, 300.0)
    law, hold = Admittance(model(), m, d, k, lambda t, q, qd: w), tool(START)[0]
    a, f = d / (2 * m), np.sqrt(k / m - (d / (2 * m)) ** 2)
    run = plant(exact=True).run(law, hold, 2.0, START)
    step = 9.0 / k * (1 - np.exp(-a * run.t) * (np.cos(f * run.t) + a / f * np.sin(f * run.t)))
    assert np.abs(tool(run.q)[:, 1] - hold[1] - step).max() < 1e-6
    run = plant().run(law, hold, 4.0, START)
    assert np.abs(tool(run.q[-1])[0] - hold - [0, 9.0 / k, 0]).max() < 0.02


# Observers ------------------------------------------------------------------------------------------------------------


def test_momentum_observer_shows_contact_and_the_error_of_the_model() -> None:
    """dr/dt = gain (contact - model's error - r): |r| stays below the largest error of the torques without contact."""
    wave, w = Wave(N, 0.2), np.array([0.0, 12.0, -10.0, 0, 0, 0])
    law = MomentumObserver(ComputedTorque(model(), 100, 20), model(), gain=40.0)
    exact = plant(exact=True).run(law, wave, 1.0, wave(0.0), wave(0.0, 1), wrench=lambda t: w)
    r = law.residual(exact.q, exact.qd, exact.memory)
    contact = np.array([-plant().jacobian(q).T @ w for q in exact.q])
    assert np.abs(r[-1] - contact[-1]).max() < 0.1 * np.abs(contact[-1]).max()  # a lag of 1/40 s
    free = plant().run(law, wave, 2.0, wave(0.0), wave(0.0, 1))
    r = law.residual(free.q, free.qd, free.memory)
    torque_error = np.abs(model().inverse_dynamics(free.q, free.qd, free.qdd) - free.tau).max(axis=0)
    assert (torque_error > 0.03).all() and (np.abs(r).max(axis=0) <= torque_error).all()


def test_velocity_observer_replaces_the_velocity_sensor() -> None:
    """From positions alone: |qd - estimate| <= 2 max |d| / frequency, d the error of the model's acceleration."""
    wave, w = Wave(N), 60.0
    law = VelocityObserver(ComputedTorque(model(), 100.0, 20.0), model(), w)
    for exact in (True, False):
        run = plant(exact).run(law, wave, 3.0, wave(0.0), wave(0.0, 1))
        v = law.velocity(run.memory)
        d = run.qdd - model().forward_dynamics(run.q, v, run.tau)
        late = run.t > 0.3  # the estimate starts at rest
        bound = 2 * np.abs(d[run.t > 0.15]).max(axis=0) / w + 1e-3
        assert (np.abs(run.qd - v)[late].max(axis=0) <= bound).all()
        assert np.abs(run.e[run.t > 2]).max() < (1e-5 if exact else 0.05)


def test_a_law_behind_the_observer_never_sees_the_velocity() -> None:
    law = VelocityObserver(ComputedTorque(model(), 100.0, 20.0), model(), 60.0)
    desired, z = Desired(GOAL, np.zeros(N), np.zeros(N)), law.start(START, np.zeros(N))
    for qd in (np.zeros(N), np.full(N, 7.0)):
        assert np.array_equal(law(0.0, START, qd, desired, z), law(0.0, START, np.zeros(N), desired, z))
        assert np.array_equal(law.change(0.0, START, qd, desired, z), law.change(0.0, START, 0 * qd, desired, z))
        assert np.array_equal(law.start(START, qd), z)
