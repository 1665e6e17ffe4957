"""Khalil, chapter 9: every control scheme in simulation, and the remarks of the text on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import Any, cast

import numpy as np

from armdyn.control import PID, ComputedTorque, Desired, PDGravity, ResolvedAcceleration, TaskPID
from armdyn.control.base import Law
from armdyn.control.extremes import largest_gravity_slope, largest_inertias
from armdyn.control.gains import analyse_gains
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.formats import load
from armdyn.mechanics import coupling, lagrange
from armdyn.report.figures.charts import Axes, Line, chart, series
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Motor, Rotor
from armdyn.simulation.run import Run
from armdyn.simulation.settings import Actuation, Solver
from armdyn.simulation.simulator import simulate
from armdyn.simulation.studies import scaled_masses
from armdyn.texts.item import Chapter, Check, Outcome, below, distance
from armdyn.texts.khalil.chapter_7_3 import state
from armdyn.texts.other_model import OtherModel, computed_torque_by_hand
from armdyn.trajectory.cartesian import TaskTrajectory, line
from armdyn.trajectory.follow import follow
from armdyn.trajectory.joint import point_to_point
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

chapter = Chapter("khalil")

VISCOUS = (20.0, 25.0, 12.0, 4.0, 3.0, 2.0)
START, GOAL = np.array([0.0, 0.9, -1.4, 0.0, 0.6, 0.0]), np.array([1.0, 0.3, -0.6, 0.8, -0.5, 1.2])
W = 20.0
"""Natural frequency of the control loops, rad/s."""
JOINTS = [f"joint {j}" for j in range(1, 7)]
CHOSEN = (
    "The text has no data: the RX-90 of the catalog with viscous friction, a quintic motion, and gains for 20 rad/s."
)
PLANAR = "The text has no data: the planar arm of Siciliano, its motion and the gains."


# Arms, motions, pictures --------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def arm() -> Dynamics:
    """The RX-90 with viscous friction."""
    robot = load("rx90").bound()
    tree = tuple(replace(j, friction=Friction(v)) for j, v in zip(robot.tree, VISCOUS, strict=True))
    return compiled_dynamics(replace(robot, tree=tree, expressions=None, parameters={}))


@lru_cache(maxsize=1)
def known() -> Any:
    """What the laws know of the arm: the same by Kane's equations, which the simulated arm does not use."""
    return OtherModel(arm().robot, viscous=VISCOUS)


def move(duration: float) -> Trajectory:
    return point_to_point(START, GOAL, "quintic", duration=duration)


def motion(
    law: Law,
    reference: Any,
    duration: float,
    plant: Dynamics | None = None,
    *,
    q0: Any = None,
    dt: float = 1e-3,
    control_period: float | None = None,
) -> Run:
    """The arm under a control law, integrated by the Runge-Kutta method in steps of 1 ms."""
    solver, actuation = Solver(integrator="rk4", dt=dt, compiled=False), Actuation(control_period=control_period)
    return simulate(plant or arm(), law, reference, duration, q0=q0, solver=solver, actuation=actuation)


def critically_damped(t: Array, e0: Any, w: float) -> Array:
    """e'' + 2 w e' + w^2 e = 0 from e0 at rest. (9.25) with (9.26), xi = 1"""
    shape: Array = (1 + w * t[:, None]) * np.exp(-w * t[:, None]) * np.asarray(e0)
    return shape


def errors_figure(runs: Mapping[str, Run], labels: Sequence[str], unit: str = "rad") -> str:
    panels = [Axes(name, "time, s", f"error, {unit}", series(run.t, run.error, labels)) for name, run in runs.items()]
    return chart(*panels)


@dataclass(frozen=True)
class Positions:
    """A reference whose derivatives are hidden from the control law."""

    moving: Trajectory

    def __call__(self, t: Any, order: int = 0) -> Array:
        value: Array = self.moving(t, 0)
        return value if order == 0 else np.zeros_like(value)


# Sec. 9.2 -----------------------------------------------------------------------------------------------------------


def motorised() -> Robot:
    """The RX-90 with gears, amplifiers and motors."""
    robot = load("rx90").without("rotors").bound()
    tree = tuple(
        replace(j, rotor=Rotor(inertia=1e-4, ratio=40.0 + 10 * k), motor=Motor(0.3 + 0.1 * k, 1.5))
        for k, j in enumerate(robot.tree)
    )
    return replace(robot, tree=tree, expressions=None, parameters={})


@chapter.item(
    "(9.1)-(9.4)",
    "Equations of motion and of the actuators",
    vouches=(
        coupling.torques_from_inputs,
        coupling.control_inputs,
        coupling.currents,
        coupling.torques_from_currents,
    ),
)
def equations_of_motion() -> Outcome:
    dyn, (q, qd, qdd) = arm(), state(6, 21)
    tau = lagrange.inverse_dynamics(dyn.robot, q, qd, qdd)
    parts = dyn.mass_matrix(q) @ qdd + dyn.coriolis_matrix(q, qd) @ qd + dyn.gravity(q) + np.diag(qd) @ VISCOUS
    robot, u = motorised(), state(6, 22, 1)[0]
    N, K_T = 40.0 + 10 * np.arange(6), 0.3 + 0.1 * np.arange(6)
    checks = (
        below("(9.1): the sum of the terms against Lagrange", distance(parts, tau), 1e-12),
        below(
            "(9.3): linear in the parameters, against Lagrange",
            distance(dyn.regressor(q, qd, qdd) @ dyn.parameters, tau),
            1e-12,
        ),
        below(
            "(9.4): torques from the amplifier inputs",
            distance(coupling.torques_from_inputs(robot, u), N * 1.5 * K_T * u),
            1e-12,
        ),
        below(
            "(9.4): amplifier inputs from the torques",
            distance(coupling.control_inputs(robot, u), u / (N * 1.5 * K_T)),
            1e-12,
        ),
        below("(9.4): currents from the torques", distance(coupling.currents(robot, u), u / (N * K_T)), 1e-12),
        below(
            "(9.4): torques from the currents",
            distance(coupling.torques_from_currents(robot, u), N * K_T * u),
            1e-12,
        ),
    )
    return Outcome("The equations on which the control schemes rest are checked on the RX-90.", checks, chosen=CHOSEN)


# Sec. 9.3, PID ------------------------------------------------------------------------------------------------------


def pole_error(law: PID, a: Array) -> float:
    """(9.8) against a (s + w)^3, (9.9): coefficients, relative."""
    printed = np.stack([a, law.kd + VISCOUS, law.kp, law.ki], axis=-1)
    wanted = a[:, None] * np.array([1.0, 3 * W, 3 * W**2, W**3])
    return float(np.abs(printed / wanted - 1).max())


def integral_in_its_band(law: PID) -> tuple[Array, Array]:
    """What the integrals of the joints grow by, for errors below, in and above a band; and by the notes on (9.10)."""
    banded = replace(law, integrate_above=0.02, integrate_below=0.3)
    e = np.array([0.01, -0.01, 0.1, -0.2, 0.5, -0.4])
    still = np.zeros(6)
    return banded.change(0.0, still, still, Desired(e, still, still), still), np.where(
        (abs(e) > 0.02) & (abs(e) < 0.3), e, 0
    )


def pid_by_hand(law: PID) -> float:
    """Difference of the torques from (9.5) at a random state, relative."""
    (q, qd, integral), desired = state(6, 91), Desired(*state(6, 92))
    printed = law.kp * (desired.q - q) + law.kd * (desired.qd - qd) + law.ki * integral
    return distance(law(0.0, q, qd, desired, integral), printed)


@chapter.item(
    "fig. 9.1",
    "PID control in the joint space, (9.5)-(9.10)",
    vouches=(PID, PID.change, PID.designed, largest_inertias, analyse_gains),
)
def figure_9_1() -> Outcome:
    dyn = arm()
    law = PID.designed(dyn, W)
    a = largest_inertias(dyn)
    level = compiled_dynamics(
        dyn.robot.without("gravity")
    )  # otherwise the transient of the integral term hides the effect of speed
    runs = {f"motion of {T:g} s": motion(law, move(T), T, level, dt=1e-3 * T) for T in (4.0, 1.0)}
    slow, fast = (float(run.largest_error().max()) for run in runs.values())
    blind = float(motion(law, Positions(move(1.0)), 1.0, level).largest_error().max())
    sagging, held = (motion(replace(law, ki=ki), GOAL, 1.5, q0=GOAL).error[-1] for ki in (0.0, law.ki))
    expected = known().gravity(GOAL) / law.kp
    grown, wanted = integral_in_its_band(law)
    grid = np.random.default_rng(96).uniform(-np.pi, np.pi, (4000, 6))
    found = np.diagonal(known().mass_matrix(grid), axis1=-2, axis2=-1).max(axis=0)
    rates = W * np.linspace(0.8, 1.3, 6)
    loops = analyse_gains(PID.designed(dyn, rates), dyn=dyn).loops
    poles = np.array([np.sort_complex(np.asarray(loop.poles)) for loop in loops])
    checks = (
        below("(9.5) at a random state", pid_by_hand(law), 1e-14),
        below("integral frozen outside of its band, notes on (9.10)", distance(grown, wanted), 0.0),
        Check(
            "(9.6): the largest inertias, at 4000 random configurations by Kane",
            bool((found <= a * (1 + 1e-9)).all() and (found > 0.9 * a).all()),
            f"{(found / a).min():.3f} to {(found / a).max():.3f} of them",
        ),
        below("(9.9): analysed poles against -w, three times", float(np.abs(poles / -rates[:, None] - 1).max()), 1e-3),
        below("(9.10): characteristic equation against a (s + w)^3", pole_error(law, a), 1e-12),
        Check("faster motion, larger error", fast > 4 * slow, f"{fast:.2g} rad in 1 s, {slow:.2g} rad in 4 s"),
        Check("K_d qd_d reduces the tracking error", fast < blind / 2, f"{fast:.2g} rad, without it {blind:.2g} rad"),
        below(
            "without integral action the steady error is about Q/K_p, rad",
            float(np.abs(sagging - expected).max()),
            1e-3,
        ),
        Check("this error is visible", float(np.abs(sagging).max()) > 1e-3, f"{np.abs(sagging).max():.2g} rad"),
        below("steady error with integral action, rad", float(np.abs(held).max()), 1e-6),
    )
    figure = (errors_figure(runs, JOINTS), "Tracking errors of PID control, slow and fast, without gravity")
    says = (
        "The gains give a triple pole; simulation confirms the remarks of the text on speed, gravity and velocity "
        "feedforward."
    )
    return Outcome(says, checks, chosen=CHOSEN, figures=(figure,))


def pd_by_hand(model: Any, kp: Array, kd: Array) -> float:
    """Largest difference of PDGravity, in all forms, from (9.12) with gravity by another model, relative."""
    (q, qd, _), desired, worst = state(6, 93), Desired(*state(6, 94)), 0.0
    for at, moving in product(("actual", "desired"), (False, True)):
        law = PDGravity(model, kp, kd, at=cast(Any, at), follow=moving)
        printed = (
            kp * (desired.q - q) - kd * (qd - moving * desired.qd) + known().gravity(q if at == "actual" else desired.q)
        )
        worst = max(worst, distance(law(0.0, q, qd, desired), printed))
    return worst


def steepest_gravity(rows: Array, step: float = 1e-5) -> float:
    """Largest 2-norm of dQ/dq at given configurations, by differences of Kane's gravity torques."""
    units = step * np.eye(6)
    moved = [known().gravity(rows + unit) - known().gravity(rows - unit) for unit in units]
    return float(np.linalg.norm(np.stack(moved, axis=-1) / (2 * step), 2, axis=(-2, -1)).max())


@chapter.item(
    "sec. 9.3.2",
    "Stability of PD control with gravity compensation, (9.11)-(9.16)",
    vouches=(PDGravity, largest_gravity_slope),
)
def lyapunov() -> Outcome:
    dyn = compiled_dynamics(load("rx90"))
    kp, kd = np.array([900.0, 900, 500, 60, 40, 20]), np.array([90.0, 90, 50, 8, 6, 3])
    other: Any = OtherModel(dyn.robot)
    run = motion(PDGravity(other, kp, kd), GOAL, 3.0, dyn, q0=START)
    kinetic = np.einsum("ki,kij,kj->k", run.qd, other.mass_matrix(run.q), run.qd) / 2
    V = kinetic + 0.5 * np.sum(kp * run.error**2, axis=1)  # (9.11)
    lost = np.sum(kd * run.qd**2, axis=1)  # (9.16)
    drop = np.concatenate([[0], np.cumsum((lost[:-1] + lost[1:]) / 2 * np.diff(run.t))])
    least = largest_gravity_slope(dyn)
    stiff = np.maximum(kp, 1.2 * least)
    stiffer = motion(PDGravity(other, stiff, kd, at="desired"), GOAL, 6.0, dyn, q0=START, dt=2e-3)
    steepest = steepest_gravity(np.random.default_rng(95).uniform(-np.pi, np.pi, (4000, 6)))
    checks = (
        below("(9.12) at a random state, also with Q(q_d) and with the velocity error", pd_by_hand(dyn, kp, kd), 1e-12),
        Check(
            "the largest gradient of gravity, at 4000 random configurations by Kane",
            0.9 * least < steepest <= least * (1 + 1e-6),
            f"{steepest / least:.4f} of it",
        ),
        Check("V never rises", bool((np.diff(V) <= 1e-9 * V[0]).all()), f"from {V[0]:.3g} J to {V[-1]:.2g} J"),
        below(
            "(9.16): V lost against the integral of qd^T K_d qd, relative",
            float(np.abs(V[0] - V - drop).max() / V[0]),
            1e-4,
        ),
        below("the goal is reached, rad", float(np.abs(run.error[-1]).max()), 1e-3),
        below(
            "the same with Q(q_d) and K_p above the gravity gradient, rad", float(np.abs(stiffer.error[-1]).max()), 1e-2
        ),
    )
    panels = (
        Axes("errors", "time, s", "rad", series(run.t, run.error, JOINTS)),
        Axes(
            "V, and V(0) minus the dissipated energy",
            "time, s",
            "J",
            [Line(run.t, V, "V", wide=True), Line(run.t, V[0] - drop, "V(0) - integral of qdᵀ K_d qd", "--")],
        ),
    )
    says = "The RX-90 is brought to rest at a goal; the Lyapunov function and its rate are evaluated along the motion."
    chosen = f"The RX-90 of the catalog without friction, and the gains; largest gravity gradient {least:.4g} N m/rad."
    return Outcome(says, checks, chosen=chosen, figures=((chart(*panels), "PD control with gravity compensation"),))


@lru_cache(maxsize=1)
def planar() -> Dynamics:
    return compiled_dynamics(load("planar2r"))


def tip_by_hand(q: Array, qd: Array, qdd: Array) -> list[Array]:
    """Position, velocity, acceleration (..., 2) of the tip of the planar arm, whose links measure 1 m."""
    angle, rate, growth = (np.cumsum(x, axis=-1) for x in (q, qd, qdd))
    turned = np.exp(1j * angle)  # x + i y of each link
    orders = (turned, 1j * rate * turned, (1j * growth - rate**2) * turned)
    return [np.stack([z.real, z.imag], axis=-1) for z in (each.sum(axis=-1) for each in orders)]


def planar_line(duration: float) -> tuple[TaskTrajectory, Array]:
    """A straight line for the tip, and the configuration at its start."""
    start = np.array([-0.6, 1.9])
    tip = planar().pose(start)[:3, 3]
    return line(tip, tip + np.array([0.5, 0.4, 0.0]), "quintic", duration=duration), start


def task_pid_by_hand() -> float:
    """Largest difference of TaskPID from (9.17) of the planar arm, with and without gravity, relative."""
    q, qd, integral = state(2, 97)
    x, v, _ = tip_by_hand(q, qd, qd)
    J = np.stack([tip_by_hand(q, unit, unit)[1] for unit in np.eye(2)], axis=-1)
    goal, aside = np.eye(4), np.array([0.3, -0.2])
    goal[:2, 3] = x + aside
    desired = Desired(goal, np.array([0.5, -0.4, 0, 0, 0, 0]), np.zeros(6))
    force = 30.0 * aside + 4.0 * (desired.qd[:2] - v) + 7.0 * integral
    weight = OtherModel(load("planar2r")).gravity(q)
    found = [TaskPID(planar(), 30.0, 4.0, 7.0, "x y", g, 0.6)(0.0, q, qd, desired, integral) for g in (False, True)]
    return max(distance(tau, J.T @ force - 0.6 * qd + g * weight) for g, tau in enumerate(found))


@chapter.item("fig. 9.2", "PID control in the task space, (9.17)-(9.21)", vouches=(TaskPID, follow))
def figure_9_2() -> Outcome:
    dyn = planar()
    task, start = planar_line(2.0)
    law = TaskPID(dyn, kp=4e4, kd=4e3, ki=1e5, rows="x y")
    run = motion(law, task, 6.0, dyn, q0=start, dt=2e-3)
    joint = follow(dyn.robot, task, start, rows="x y")
    t = np.linspace(0.1, 1.9, 19)
    tip = tip_by_hand(*(joint(t, k) for k in range(3)))
    wanted = task.pose(t)[:, :2, 3], task.velocity(t)[:, :2], task.acceleration(t)[:, :2]
    off = [distance(ours, text) for ours, text in zip(tip, wanted, strict=True)]
    checks = (
        below("(9.17) at a random state, also with gravity and damping", task_pid_by_hand(), 1e-12),
        below("(9.17): final error of the tip, m", float(np.abs(run.error[-1]).max()), 1e-3),
        Check(
            "error during the motion", 1e-4 < float(np.abs(run.error).max()) < 0.1, f"{np.abs(run.error).max():.2g} m"
        ),
        below("(9.18): the positions of the joints give those of the line", off[0], 1e-9),
        below("(9.19): their velocities give its velocity", off[1], 1e-9),
        below("(9.20): their accelerations give its acceleration", off[2], 1e-8),
    )
    figure = (errors_figure({"error of the tip": run}, ["x", "y"], "m"), "PID control in the task space")
    says = (
        "The law follows a straight line; the same line is converted to a joint motion by (9.18)-(9.20), and the tip's "
        "motion is computed from it by hand."
    )
    return Outcome(says, checks, chosen=PLANAR, figures=(figure,))


# Sec. 9.4.2, computed torque in the joint space ---------------------------------------------------------------------


def printed_disturbance(model: Any, q: Any, qd: Any, qdd: Any) -> Array:
    """Right side of (9.28)."""
    H, H_model = (each.inverse_dynamics(q, qd, np.zeros(6)) for each in (known(), model))
    A, A_model = known().mass_matrix(q), model.mass_matrix(q)
    return np.linalg.solve(A_model, (A - A_model) @ qdd + H - H_model)


@chapter.item("fig. 9.3", "Computed torque, tracking, (9.22)-(9.28)", vouches=(ComputedTorque,))
def figure_9_3() -> Outcome:
    dyn = arm()
    law = ComputedTorque.designed(known(), W)
    e0 = np.array([0.0, -0.1, 0.0, 0.0, 0.0, 0.0])
    runs = {"exact model": motion(law, move(1.0), 1.0, q0=START - e0)}
    first, exact = runs["exact model"].error, critically_damped(runs["exact model"].t, e0, W)
    alone = first[:, [0, 2, 3, 4, 5]]
    model: Any = OtherModel(scaled_masses(dyn.robot, 1.2), viscous=VISCOUS)
    for w in (W, 2 * W):
        wrong = ComputedTorque.designed(model, w)
        runs[f"masses 20 % wrong, {w:g} rad/s"] = motion(wrong, move(1.0), 1.0, q0=START)
    poor, better = (float(run.largest_error().max()) for run in list(runs.values())[1:])
    q, qd = state(6, 23, 2)
    desired = Desired(*state(6, 24))
    wrong = ComputedTorque.designed(model, W)
    acceleration = dyn.forward_dynamics(q, qd, wrong(0.0, q, qd, desired))
    left = desired.qdd - acceleration + 2 * W * (desired.qd - qd) + W**2 * (desired.q - q)
    pid = float(motion(PID.designed(dyn, W), move(1.0), 1.0).largest_error().max())
    checks = (
        computed_torque_by_hand(dyn, known()),
        below("(9.25), (9.26): the error is (1 + w t) e^(-w t) e(0), rad", float(np.abs(first - exact).max()), 1e-6),
        below("decoupled: errors of the joints that start on the reference, rad", float(np.abs(alone).max()), 1e-8),
        below("(9.28) at a random state", distance(left, printed_disturbance(model, q, qd, acceleration)), 1e-9),
        Check(
            "higher gains, smaller errors",
            better < 0.5 * poor,
            f"{poor:.2g} rad, with twice the frequency {better:.2g} rad",
        ),
        Check(
            "with masses 20 % wrong, still better than PID of the same frequency",
            poor < pid,
            f"{poor:.2g} rad, PID {pid:.2g} rad",
        ),
    )
    figure = (errors_figure(runs, JOINTS), "Computed torque: tracking errors")
    says = (
        "The arm tracks with the exact model from an initial error, and with wrong masses from the exact start. The "
        "law's model, here and below, is by Kane's equations, which the simulated arm does not use."
    )
    return Outcome(says, checks, chosen=CHOSEN, figures=(figure,))


@chapter.item("fig. 9.4", "Computed torque, position, (9.29), (9.30)", vouches=(ComputedTorque,))
def figure_9_4() -> Outcome:
    run = motion(ComputedTorque.designed(known(), W / 2, scheme="position"), GOAL, 1.5, q0=START)
    exact = critically_damped(run.t, GOAL - START, W / 2)
    over = np.max(-run.error * np.sign(GOAL - START), axis=0)
    checks = (
        computed_torque_by_hand(arm(), known()),
        below("(9.30): each joint responds as a linear filter, rad", float(np.abs(run.error - exact).max()), 1e-6),
        below("no overshoot, rad", float(over.max()), 1e-6),
    )
    panels = (
        Axes("positions", "time, s", "rad", series(run.t, run.q, JOINTS)),
        Axes("errors", "time, s", "rad", series(run.t, run.error, JOINTS)),
    )
    figure = (chart(*panels), "Position scheme: all joints with 10 rad/s, critically damped")
    return Outcome("The arm moves to a fixed goal.", checks, chosen=CHOSEN, figures=(figure,))


@chapter.item("sec. 9.4.2.4", "Predictive control, (9.31)", vouches=(ComputedTorque,))
def predictive() -> Outcome:
    laws = [ComputedTorque.designed(known(), W, predictive=p) for p in (False, True)]
    runs = {name: motion(law, move(1.0), 1.0) for name, law in zip(("(9.22)", "(9.31)"), laws, strict=True)}
    off = motion(laws[1], move(1.0), 1.5, q0=START + 0.02)
    (q, qd, qdd), noise = state(6, 25), 1e-3 * state(6, 26, 2)
    still = Desired(q, qd, qdd)
    bare = [replace(law, kp=0.0, kd=0.0) for law in laws]
    shaken = [
        float(np.abs(law(0.0, q + noise[0], qd + noise[1], still) - law(0.0, q, qd, still)).max()) for law in bare
    ]
    checks = (
        computed_torque_by_hand(arm(), known()),
        below(
            "equal torques on the reference",
            distance(runs["(9.31)"].tau, runs["(9.22)"].tau),
            1e-6,
        ),
        below("final error after an initial error, rad", float(np.abs(off.error[-1]).max()), 1e-4),
        Check(
            "noise affects the model terms of (9.22)", shaken[0] > 1e-3, f"{shaken[0]:.2g} N m for 1e-3 rad and rad/s"
        ),
        below("noise does not affect those of (9.31), N m", shaken[1], 0.0),
    )
    return Outcome("Both laws track the same motion; then noise is added to the measured state.", checks, chosen=CHOSEN)


@chapter.item("sec. 9.4.2.5", "The control laws by one inverse dynamics", vouches=(ComputedTorque,))
def practical_computation() -> Outcome:
    worst = 0.0
    for scheme in ("tracking", "position"):
        for ahead in (False, True):
            q, qd, _ = state(6, 27)
            desired = Desired(*state(6, 28))
            options: dict[str, Any] = {"scheme": scheme, "predictive": ahead}
            one = ComputedTorque.designed(arm(), W, through="newton_euler", **options)(0.0, q, qd, desired)
            two = ComputedTorque.designed(known(), W, through="matrices", **options)(0.0, q, qd, desired)
            worst = max(worst, distance(one, two))
    checks = (
        below("(9.22) and (9.31), both schemes, against A w + H", worst, 1e-12),
        computed_torque_by_hand(arm(), known()),
    )
    says = "Newton-Euler with w as the acceleration is compared with A and H by Kane's equations."
    return Outcome(says, checks, chosen=CHOSEN)


# Sec. 9.4.3, computed torque in the task space ----------------------------------------------------------------------


@chapter.item("fig. 9.5", "Computed torque in the task space, (9.32)-(9.37)", vouches=(ResolvedAcceleration,))
def figure_9_5() -> Outcome:
    dyn = planar()
    task, start = planar_line(1.0)
    aside = np.array([0.05, -0.08])
    two, three = (cast(Any, OtherModel(load(name))) for name in ("planar2r", "planar3r"))
    run = motion(ResolvedAcceleration(two, W**2, 2 * W, rows="x y"), task, 1.0, dyn, q0=start + aside)
    exact = critically_damped(run.t, run.error[0], W)
    redundant = compiled_dynamics(load("planar3r"))
    at = np.array([-0.6, 1.2, 0.7])
    tip = redundant.pose(at)[:3, 3]
    way = line(tip, tip + np.array([-0.3, 0.2, 0.0]), "quintic", duration=1.0)
    third = np.array([0.05, -0.08, 0.06])
    other = motion(ResolvedAcceleration(three, W**2, 2 * W, rows="x y"), way, 1.0, redundant, q0=at + third)
    alike = critically_damped(other.t, other.error[0], W)
    q, qd, qdd = state(2, 29)
    J, drift = dyn.jacobian(q)[:2], dyn.jacobian_dot_qd(q, qd)[:2]
    pull = np.linalg.solve(J, tip_by_hand(q, qd, qdd)[2] - drift)
    tau = two.mass_matrix(q) @ pull + two.coriolis(q, qd) + two.gravity(q)
    checks = (
        below(
            "(9.32), the tip's acceleration by hand, against the inverse dynamics",
            distance(tau, dyn.inverse_dynamics(q, qd, qdd)),
            1e-11,
        ),
        below(
            "(9.36): the error of the tip is (1 + w t) e^(-w t) e(0), m", float(np.abs(run.error - exact).max()), 1e-5
        ),
        below(
            "the same for a redundant arm with the generalised inverse, m",
            float(np.abs(other.error - alike).max()),
            1e-5,
        ),
    )
    panels = [
        Axes(
            name,
            "time, s",
            "error of the tip, m",
            [*series(r.t, r.error, ["x", "y"], wide=True), *series(r.t, e, ["x by (9.36)", "y by (9.36)"], "--")],
        )
        for name, r, e in (("two joints", run, exact), ("three joints", other, alike))
    ]
    figure = (chart(*panels), "Resolved acceleration control from an initial error")
    says = "The tip starts off its line; the error follows the printed equation, also for a redundant arm."
    return Outcome(says, checks, chosen=PLANAR, figures=(figure,))


@chapter.item("sec. 9.7", "Sampling: a high frequency allows high gains")
def sampling() -> Outcome:
    law = ComputedTorque.designed(known(), 80.0)
    runs = {
        f"{1 / period:g} Hz": motion(law, move(1.0), 1.0, q0=START + 0.02, control_period=period)
        for period in (1e-3, 2e-2)
    }
    quick, coarse = runs.values()
    gentle = motion(ComputedTorque.designed(known(), 8.0), move(1.0), 1.0, q0=START + 0.02, control_period=2e-2)
    left = [float(np.abs(run.error[-1]).max()) for run in (quick, coarse, gentle)]
    checks = (
        Check("1000 Hz: the motion is tracked", quick.ok and left[0] < 1e-3, f"error at the end {left[0]:.2g} rad"),
        Check("50 Hz: the same gains fail", not coarse.ok or left[1] > 0.1, f"error at the end {left[1]:.2g} rad"),
        Check("50 Hz: lower gains work", gentle.ok and left[2] < 0.01, f"error at the end {left[2]:.2g} rad"),
    )
    says = "The torques of computed torque control are held between samples."
    return Outcome(says, checks, chosen=f"{CHOSEN} Gains for 80 and 8 rad/s, samples at 1000 and 50 Hz.")
