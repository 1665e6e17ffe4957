"""Stiff arms: strong damping and springs on small inertias, and what the status says when a step is too long."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import NoControl, PDGravity
from armdyn.robot import Robot
from armdyn.simulation import Actuation, Hold, Plant, Solver, Status, simulate

GRAVITY = (0, -9.81, 0)


def arm(wrist_damping: float = 0.0, first: dict[str, Any] | None = None, **wrist: Any) -> Robot:
    """Three links, the last one light."""
    rows: list[dict[str, Any]] = [
        {"type": "revolute", "a": 0.4, "mass": 2.0, "com": (-0.2, 0, 0), "inertia": (0.01, 0, 0, 0.02, 0, 0.03)},
        {"type": "revolute", "a": 0.3, "mass": 1.0, "com": (-0.1, 0, 0), "inertia": (0.01, 0, 0, 0.01, 0, 0.01)},
        {"type": "revolute", "a": 0.0, "mass": 0.05, "inertia": (1e-4, 0, 0, 1e-4, 0, 1e-4), **wrist},
    ]
    if wrist_damping:
        rows[2]["friction"] = {"viscous": wrist_damping}
    rows[0] |= first or {}
    return Robot.from_dh(rows, gravity=GRAVITY)


def end(robot: Robot, steps: int, integrator: str, duration: float = 0.4) -> np.ndarray:
    dyn = armdyn.compile(robot)
    run = simulate(
        dyn,
        NoControl(3),
        Hold([0.3, 0.4, 0.2]),
        duration,
        qd0=[0.5, -1.0, 2.0],
        solver=Solver(dt=duration / steps, integrator=integrator, rtol=1e-11, atol=1e-13),
    )
    assert run.ok, run.detail
    return np.concatenate([run.q[-1], run.qd[-1]])


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_order_four_on_a_smooth_arm(integrator: str) -> None:
    exact = end(arm(), 100, "dop853")
    coarse, fine = (np.abs(end(arm(), steps, integrator) - exact).max() for steps in (160, 320))
    assert 3.5 < math.log2(coarse / fine) < 4.6


def test_the_order_stays_high_where_explicit_steps_blow_up() -> None:
    """Damping with a time constant of 0.1 ms, steps of 5 and 2.5 ms. Stiff components reduce the order a little."""
    stiff = arm(wrist_damping=1.0)
    exact = end(stiff, 100, "radau")
    coarse, fine = (np.abs(end(stiff, steps, "implicit") - exact).max() for steps in (80, 160))
    assert fine < 1e-4
    assert math.log2(coarse / fine) > 2.5


@cache
def resolved() -> np.ndarray:
    """The stiff arm after 5 ms."""
    return end(arm(wrist_damping=1.0), 5, "radau", 5e-3)


@pytest.mark.parametrize(
    ("integrator", "order", "steps"),
    [
        ("euler_taylor", 1, 160),
        ("semi_implicit", 1, 160),
        ("rk4", 4, 80),
        ("variational", 2, 160),
        ("implicit", 4, 640),
    ],
)  # fmt: skip
def test_orders_where_a_stiff_problem_is_resolved(integrator: str, order: int, steps: int) -> None:
    """The same arm with steps below its fast time constant of 0.1 ms, where explicit steps are stable too.

    The transient of the wrist is part of the motion: 5 ms, with steps of 31 us (rk4 62, implicit 8) and half of them.
    """
    stiff = arm(wrist_damping=1.0)
    coarse, fine = (np.abs(end(stiff, n, integrator, 5e-3) - resolved()).max() for n in (steps, 2 * steps))
    assert order - 0.4 < math.log2(coarse / fine) < order + 0.6


@pytest.mark.parametrize("integrator", ["euler_taylor", "semi_implicit", "rk4", "variational"])
def test_explicit_steps_beyond_the_stable_range_are_ended(integrator: str) -> None:
    """Steps of 1 ms on the same arm: no result is given as if it were physics."""
    dyn = armdyn.compile(arm(wrist_damping=1.0))
    run = simulate(
        dyn, NoControl(3), Hold([0.3, 0.4, 0.2]), 1.0, qd0=[0.5, -1.0, 2.0], solver=Solver(integrator=integrator)
    )
    assert run.status is Status.STIFF and "joint3" in run.detail


def test_a_stiff_damper_against_its_solution() -> None:
    """A rotor without gravity: qd = qd0 exp(-t d/I), q -> qd0 I/d, in steps 50 times the time constant."""
    robot = Robot.from_dh([{"type": "revolute", "mass": 1.0, "inertia": (1e-3, 0, 0, 1e-3, 0, 1e-3),
                            "friction": {"viscous": 10.0}}], gravity=(0, 0, 0))  # fmt: skip
    run = simulate(robot, NoControl(1), Hold([0.0]), 0.5, qd0=[3.0], solver=Solver(dt=5e-3))
    assert run.integrator == "implicit"
    assert run.ok
    assert abs(run.q[-1, 0] - 3.0 * 1e-3 / 10.0) < 0.1 * 3.0 * 1e-3 / 10.0  # the transient lies inside the first step
    assert abs(run.qd[-1, 0]) < 1e-12


def test_machine_code_and_python_agree() -> None:
    dyn = armdyn.compile(arm(wrist_damping=1.0))
    law = PDGravity(dyn, 50.0, 5.0)
    runs = [
        simulate(
            dyn,
            law,
            Hold([0.5, 0.2, 0.1]),
            0.1,
            q0=[0.3, 0.4, 0.2],
            solver=Solver(integrator="implicit", compiled=compiled),
        )
        for compiled in (False, True)
    ]
    assert [run.compiled for run in runs] == [False, True]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9  # the law's slopes are differences in Python, exact in the code
    assert np.abs(runs[0].tau - runs[1].tau).max() < 1e-6


def test_auto_takes_rk4_unless_something_is_stiff() -> None:
    held = Hold([0.3, 0.4, 0.2])
    easy, stiff = armdyn.compile(arm()), armdyn.compile(arm(wrist_damping=1.0))
    assert simulate(easy, NoControl(3), held, 0.01).integrator == "rk4"
    assert simulate(stiff, NoControl(3), held, 0.01).integrator == "implicit"
    assert simulate(stiff, NoControl(3), held, 0.001, solver=Solver(dt=1e-5)).integrator == "rk4"
    assert simulate(easy, PDGravity(easy, 100.0, 20.0), held, 0.01).integrator == "implicit"  # 20 on 1e-4 kg m^2
    spring = armdyn.compile(arm(spring={"stiffness": 1e4}))
    assert simulate(spring, NoControl(3), held, 0.01).integrator == "implicit"


@pytest.mark.parametrize("integrator", ["euler_taylor", "semi_implicit", "rk4"])
def test_the_status_names_the_joint_and_the_true_cause(integrator: str) -> None:
    dyn = armdyn.compile(arm(wrist_damping=1.0))
    run = simulate(
        dyn,
        PDGravity(dyn, 10.0, 0.001),
        Hold([0.3, 0.4, 0.2]),
        2.0,
        qd0=[0.1] * 3,
        solver=Solver(integrator=integrator),
    )
    assert run.status is Status.STIFF
    assert "damping of the arm at 'joint3', 1 on an inertia of" in run.detail
    assert "implicit" in run.status.value


def test_gains_too_high_for_the_control_period() -> None:
    dyn = armdyn.compile(arm())
    run = simulate(dyn, PDGravity(dyn, 100.0, 20.0), Hold([0.4, 0.4, 0.2]), 2.0, q0=[0.3, 0.4, 0.2],
                   actuation=Actuation(control_period=1e-3))  # fmt: skip
    assert run.status is Status.UNSTABLE
    assert "damping of arm and law at 'joint3'" in run.detail
    assert "a control period of 0.001 s is too long" in run.detail


# Adaptive steps -------------------------------------------------------------------------------------------------------


def test_radau_takes_long_steps_where_dop853_crawls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damping with a time constant of 1e-7 s: the status of dop853 names the joint; radau ends on the slow motion."""
    stiff = arm(wrist_damping=1e3)
    monkeypatch.setattr("armdyn.simulation.adaptive_step.MOST", 3_000)
    start = Hold([0.3, 0.4, 0.2])
    exact, qd0 = Solver(dt=1e-2, rtol=1e-8, atol=1e-10), [0.5, -1.0, 0.0]
    crawling = simulate(stiff, NoControl(3), start, 0.4, qd0=qd0, solver=replace(exact, integrator="dop853"))
    assert crawling.status is Status.CRAWLING and not crawling.ok
    assert "damping of the arm at 'joint3', 1e+03 on an inertia of" in crawling.detail
    assert "after 5000 evaluations" in crawling.detail and "radau" in crawling.status.value
    assert len(crawling.t) == 1
    run = simulate(stiff, NoControl(3), start, 0.4, qd0=qd0, solver=replace(exact, integrator="radau"))
    assert run.ok
    # The wrist that cannot turn: the same arm of two joints, its last link welded on.
    welded = armdyn.compile(arm().locked({"joint3": 0.2}))
    two = simulate(
        welded, NoControl(2), Hold([0.3, 0.4]), 0.4, qd0=[0.5, -1.0], solver=Solver(dt=1e-2, integrator="dop853")
    )
    assert np.abs(run.q[-1, :2] - two.q[-1]).max() < 1e-4  # it creeps at torque / 1e3


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_radau_keeps_its_tolerance(damping: float) -> None:
    """Under a law, with and without stiff damping: the error follows rtol, in the ratio of two tolerances."""
    dyn = armdyn.compile(arm(wrist_damping=damping))
    law, start = PDGravity(dyn, 20.0, [2.0, 2.0, 0.02]), [0.3, 0.4, 0.2]

    def motion(name: str, rtol: float) -> np.ndarray:
        run = simulate(
            dyn,
            law,
            Hold([0.5, 0.2, 0.1]),
            0.05,
            q0=start,
            solver=Solver(dt=0.05, integrator=name, rtol=rtol, atol=rtol / 100),
        )
        assert run.ok, run.detail
        return run.q[-1]

    exact = motion("dop853", 1e-12)
    loose, tight = (np.abs(motion("radau", rtol) - exact).max() for rtol in (1e-4, 1e-8))
    assert loose < 1e-3 and tight < 1e-7 and tight < 1e-2 * loose


def test_slopes_of_the_closed_loop_are_those_of_differences() -> None:
    """The Jacobian that radau gets: plant, stops that push, law."""
    from armdyn.simulation.adaptive_step import _Adaptive
    from armdyn.simulation.problem import SimulationProblem

    caught: list[SimulationProblem] = []

    def catch(problem: SimulationProblem) -> None:
        caught.append(problem)
        raise InterruptedError

    limited = arm(wrist_damping=1.0, first={"limits": {"lower": -0.8, "upper": 0.8}})
    dyn = armdyn.compile(limited)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr("armdyn.simulation.simulator.execute", catch)
        simulate(
            Plant(dyn, stops=True),
            PDGravity(dyn, 20.0, 2.0),
            Hold([0.5, 0.2, 0.1]),
            0.3,
            solver=Solver(integrator="radau"),
        )
    loop = _Adaptive(caught[0])
    jacobian = loop.slopes(dyn)
    assert jacobian is not None
    x = np.array([0.9, 0.4, -0.2, 0.5, -1.0, 2.0])  # the first joint is past its limit of 0.8

    def rates(x: np.ndarray) -> np.ndarray:
        q, qd = x[:3].copy(), x[3:].copy()
        return np.concatenate([qd, dyn.forward_dynamics(q, qd, caught[0].acting(loop.torque(0.0, x), q, qd))])

    step = 1e-6
    differences = np.column_stack([(rates(x + e) - rates(x - e)) / (2 * step) for e in step * np.eye(6)])
    assert jacobian(0.0, x) == pytest.approx(differences, rel=1e-5, abs=1e-3)
