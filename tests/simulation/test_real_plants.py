"""Functions as control laws, stops at joint limits, torque-speed curves, wrenches at any frame, compiled stiction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, NoControl, PDGravity, TorqueTable, read_torques
from armdyn.errors import ArmdynError, FileError
from armdyn.simulation import Actuation, Hold, Plant, Solver, Status, Stops, simulate
from simulation.arms import dynamics, pendulum, random_dynamics, slider
from support.limits import calls

KP, KD = np.array([60.0, 40.0]), np.array([6.0, 4.0])


def spring_damper(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return np.asarray(KP * (0.3 - q) - KD * qd)


# Functions and tables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [True, False])
def test_a_function_with_a_control_period_is_a_digital_controller(compiled: bool) -> None:
    dyn, times = dynamics("planar2r"), []

    def law(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        times.append(t)
        return spring_damper(t, q, qd)

    run = simulate(
        dyn,
        law,
        duration=0.5,
        q0=[0.0, 0.1],
        actuation=Actuation(control_period=1e-3),
        solver=Solver(integrator="rk4", compiled=compiled),
    )
    same = simulate(
        dyn,
        PID(KP, KD),
        [0.3, 0.3],
        0.5,
        q0=[0.0, 0.1],
        actuation=Actuation(control_period=1e-3),
        solver=Solver(integrator="rk4", compiled=True),
    )
    assert run.ok
    assert run.compiled is compiled
    assert np.abs(run.q - same.q).max() < 1e-12
    assert np.abs(run.tau - same.tau).max() < 1e-9
    probes = len(times) - len(run.t)  # `auto` and the diagnosis may look at the law; the loop calls it once per step
    assert np.allclose(times[probes:], run.t)
    assert np.abs(run.error - (run.q[0] - run.q)).max() == 0


def test_few_calls_a_step_with_a_law_in_python() -> None:
    """Thousands of steps in a second: little may stand between the law and the compiled step."""
    dyn = dynamics("panda")
    gains = np.array([100, 100, 100, 100, 10, 10, 5.0])

    def run(duration: float) -> None:
        digital = Actuation(control_period=1e-3)
        law = lambda t, q, qd: gains * (0.3 - q - 0.1 * qd)  # noqa: E731
        assert simulate(dyn, law, duration=duration, q0=np.zeros(7), actuation=digital).ok

    for duration in (1.0, 2.0):
        run(duration)  # compiles
    assert calls(lambda: run(2.0)) - calls(lambda: run(1.0)) < 30 * 1000


def test_torques_of_a_run_drive_the_same_run_again(tmp_path: Path) -> None:
    dyn = dynamics("planar2r")
    actuation = Actuation(control_period=1e-3)
    first = simulate(dyn, spring_damper, duration=0.4, q0=[0.1, 0.2], actuation=actuation)
    table = read_torques(first.save(tmp_path / "run.csv"))
    assert table.duration == pytest.approx(0.4)
    again = simulate(dyn, table, q0=[0.1, 0.2], actuation=actuation)
    assert again.ok
    assert np.abs(again.q - first.q).max() < 1e-12


def test_a_table_is_linear_in_time() -> None:
    """A ramp of force on a mass: q = a t^3 / 6."""
    table = TorqueTable([0.0, 2.0], [[0.0], [8.0]])  # 4 N/s on 2 kg
    run = simulate(slider(), table, 1.0 * np.zeros(1), 1.5)
    assert run.q[-1, 0] == pytest.approx(2 * 1.5**3 / 6, rel=1e-12)
    assert simulate(slider(), table).duration == 2.0


def test_wrong_torques_are_explained(tmp_path: Path) -> None:
    with pytest.raises(ArmdynError, match="increasing times"):
        TorqueTable([0.0, 0.0], [[1.0], [2.0]])
    (tmp_path / "no.csv").write_text("t,q1\n0,1\n1,2\n")
    with pytest.raises(FileError, match="columns of torques"):
        read_torques(tmp_path / "no.csv")


def test_events_by_functions() -> None:
    """A bob released at 0.3 rad from its lowest point passes it every half period."""
    robot = pendulum()
    run = simulate(robot, NoControl(1), duration=6.0, q0=[-np.pi / 2 + 0.3], solver=Solver(dt=5e-3, integrator="rk4"))
    passes = run.crossings(lambda t, q, qd: q[0] + np.pi / 2)
    half = np.pi * np.sqrt(0.5 / 9.81) * (1 + 0.3**2 / 16 + 11 * 0.3**4 / 3072 + 173 * 0.3**6 / 737280)
    assert passes == pytest.approx(half * (0.5 + np.arange(len(passes))), abs=1e-6)
    assert len(passes) == 8


# Stops ----------------------------------------------------------------------------------------------------------------


def limited_pendulum(**more: Any) -> armdyn.Robot:
    return pendulum(limits={"lower": -0.5, "upper": 0.5}, **more)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("integrator", ["rk4", "implicit", "semi_implicit"])
def test_a_pendulum_comes_to_rest_on_its_stop(integrator: str, compiled: bool) -> None:
    """It hangs past the lower limit by weight over stiffness."""
    plant = Plant(limited_pendulum(), stops=Stops(stiffness=2000.0, damping=30.0))
    run = simulate(plant, NoControl(1), duration=2.0, q0=[0.2], solver=Solver(integrator=integrator, compiled=compiled))
    assert run.ok
    torque = 9.81 * 0.5 * np.cos(run.q[-1, 0])
    assert abs(run.qd[-1, 0]) < 1e-6
    assert run.q[-1, 0] == pytest.approx(-0.5 - torque / 2000, abs=1e-7)


def test_a_stop_never_pulls() -> None:
    """A mass is pushed back by a stop with damping; the force never changes its sign, so that it leaves the stop."""
    robot = slider(limits={"lower": -1.0, "upper": 0.1})
    run = simulate(
        Plant(robot, stops=Stops(stiffness=5e3, damping=150.0)),
        NoControl(1),
        duration=1.0,
        q0=[0.0],
        qd0=[2.0],
        solver=Solver(dt=1e-4),
    )
    force = 2.0 * np.gradient(run.qd[:, 0], run.t)
    assert force.max() < 1e-6 * abs(force).max()
    assert run.qd[-1, 0] < -0.1


def test_stops_of_a_compiled_loop_are_those_of_python() -> None:
    robot = armdyn.load("panda")
    dyn = armdyn.compile(robot)
    law = PDGravity(dyn, np.array([200, 200, 200, 200, 20, 20, 10.0]), np.array([20, 20, 20, 20, 2, 2, 0.5]))
    goal = [2.5, 2.3, 2.5, -3.0, 2.5, 4.5, 2.5]  # joints 2 and 6 hit their stops on the way
    start: dict[str, Any] = {"q0": [2.0, 1.6, 0, -2.0, 0, 3.6, 0], "qd0": [0, 2, 0, 0, 0, 2, 0]}
    runs = [
        simulate(Plant(dyn, stops=True), law, goal, 0.25, **start, solver=Solver(integrator="rk4", compiled=compiled))
        for compiled in (False, True)
    ]
    assert [run.compiled for run in runs] == [False, True]
    high = np.array([joint.limits.upper for joint in robot.joints])
    assert 1e-4 < (runs[0].q - high).max() < 0.05
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9


# Actuators ------------------------------------------------------------------------------------------------------------


def test_a_motor_at_constant_voltage_reaches_its_no_load_speed() -> None:
    """m v' = T (1 - v / v0): v = v0 (1 - exp(-T t / (m v0)))."""
    actuation = Actuation(torque_limits=6.0, no_load_speed=1.5)
    run = simulate(
        slider(), PID(kp=1e6, kd=0.0), [1e3], 2.0, q0=[0.0], actuation=actuation, solver=Solver(integrator="rk4")
    )
    exact = 1.5 * (1 - np.exp(-6.0 * run.t / (2.0 * 1.5)))
    assert np.abs(run.qd[:, 0] - exact).max() < 1e-9
    assert np.abs(run.tau[:, 0] - 6.0 * (1 - exact / 1.5)).max() < 1e-7


def test_torque_falls_from_the_corner_speed_on_and_braking_keeps_it() -> None:
    actuation = Actuation(torque_limits=6.0, no_load_speed=2.0, corner_speed=1.0)
    law = PID(kp=1e6, kd=0.0)
    drive = simulate(slider(), law, [1e3], 0.5, q0=[0.0], qd0=[0.5], actuation=actuation)
    assert np.allclose(drive.tau[drive.qd <= 1.0], 6.0)
    assert (drive.tau[drive.qd > 1.0] < 6.0).all()
    brake = simulate(slider(), law, [-1e3], 0.1, q0=[0.0], qd0=[1.8], actuation=actuation)
    assert np.allclose(brake.tau, -6.0)
    with pytest.raises(ArmdynError, match="without torque_limits"):
        simulate(slider(), law, [1.0], 0.1, actuation=Actuation(no_load_speed=2.0))


def test_a_disturbance_at_any_frame() -> None:
    """A force on the elbow of an arm, from t = 0.1 s on, is the joint torque -J^T f."""
    dyn = dynamics("planar2r")
    frame, force = "link1", np.array([300.0, -400.0, 0, 0, 0, 0])

    def wrench(t: float, q: np.ndarray, qd: np.ndarray) -> dict[str, np.ndarray]:
        return {frame: force * (t >= 0.1)}

    def torques(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return -np.asarray(dyn.jacobian(q, frame)).T @ force * (t >= 0.1)

    fine = Solver(dt=2.5e-4, integrator="rk4")
    pushed = simulate(Plant(dyn, wrench=wrench), NoControl(2), duration=0.3, q0=[0.2, 0.4], solver=fine)
    same = simulate(dyn, torques, duration=0.3, q0=[0.2, 0.4], solver=fine)
    free = simulate(dyn, NoControl(2), duration=0.3, q0=[0.2, 0.4], solver=fine)
    assert np.abs(pushed.q - free.q).max() > 1e-2
    # The function's torques are held over a step: they differ in the first order of dt.
    assert np.abs(pushed.q - same.q).max() < 5e-3 * np.abs(pushed.q - free.q).max()


# Dry friction ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_stiction_in_machine_code_is_that_of_python(integrator: str) -> None:
    dyn = random_dynamics(3, 4, friction=True)
    law = PDGravity(dyn, 30.0, 3.0)
    runs = [
        simulate(
            dyn,
            law,
            Hold(np.full(4, 0.2)),
            0.6,
            q0=np.zeros(4),
            solver=Solver(integrator=integrator, compiled=compiled),
        )
        for compiled in (False, True)
    ]
    assert [run.compiled for run in runs] == [False, True]
    assert (runs[0].qd[1:] == 0).any()
    assert ((runs[0].qd == 0) == (runs[1].qd == 0)).mean() > 0.99
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-6  # the law's slopes are differences in Python, exact in the code


def test_dry_friction_holds_by_default_and_says_so() -> None:
    robot = pendulum({"coulomb": 6.0})
    dyn = armdyn.compile(robot)
    run = simulate(dyn, PDGravity(dyn, 10.0, 1.0), [0.4], 1.0, q0=[0.0])
    assert run.status is Status.FINISHED
    assert (run.q == 0).all()
    assert "dry friction holds" in run.detail
    assert "at 0.4" in run.detail
    chatter = simulate(Plant(dyn, stiction=False), PDGravity(dyn, 10.0, 1.0), [0.4], 0.1, q0=[0.0], qd0=[1e-3])
    assert abs(chatter.qd).max() > 1e-3


@pytest.mark.parametrize("compiled", [False, True])
def test_compensated_dry_friction_is_cancelled_through_reversals(compiled: bool) -> None:
    """Friction of 1 N m on 4e-6 kg m^2, cancelled by computed torque: the error is that of a linear oscillation.

    Friction keeps its direction during a step, and so must its compensation. A joint that reverses rests until the end
    of the step: one step of 1 ms out of every half period.
    """
    rows: list[dict[str, Any]] = [
        {"type": "revolute", "a": 0.3, "mass": 1.0},
        {"type": "revolute", "mass": 0.02, "inertia": (4e-6, 0, 0, 4e-6, 0, 4e-6),
         "friction": {"viscous": 1.0, "coulomb": 1.0}},
    ]  # fmt: skip
    dyn = armdyn.compile(armdyn.Robot.from_dh(rows, gravity=(0, -9.81, 0)))
    run = simulate(
        dyn, ComputedTorque(dyn, 100.0, 4.0), [0.3, 0.5], 1.0, q0=[0.0, 0.0], solver=Solver(compiled=compiled)
    )
    assert run.integrator == "implicit" and run.compiled == compiled
    w, t = np.sqrt(96.0), run.t
    exact = np.exp(-2 * t) * (np.cos(w * t) + 2 / w * np.sin(w * t))
    assert (np.diff(np.sign(run.qd[:, 1])) != 0).sum() > 3
    assert np.abs(run.error / [0.3, 0.5] - exact[:, None]).max() < 2e-3


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_steps_in_parts_of_machine_code_are_those_of_python(integrator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """For steps that are too long to be compiled whole, with dry friction, stops and an integral."""
    from armdyn.simulation import executors, fixed_step

    robot = armdyn.random_robot(5, 4, friction=True, prismatic=0.0)
    dyn = armdyn.compile(robot)
    law = PID.designed(dyn, 8.0)
    monkeypatch.setattr(executors, "EXECUTORS", executors.EXECUTORS[2:])
    runs = []
    for long in (10**9, 0):
        monkeypatch.setattr(fixed_step, "LONG", long)
        runs.append(
            simulate(
                Plant(dyn, stops=True),
                law,
                Hold(np.full(4, 0.3)),
                0.3,
                q0=np.zeros(4),
                solver=Solver(integrator=integrator),
            )
        )
    assert (runs[0].qd[1:] == 0).any()
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-6  # the law's slopes are differences in Python, exact in the code
    assert np.abs(runs[0].memory - runs[1].memory).max() < 1e-6
    assert not np.array_equal(runs[0].q, runs[1].q)  # the parts were used
