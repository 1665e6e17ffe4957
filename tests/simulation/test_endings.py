"""How motions end: a status with advice, never NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, NoControl, ResolvedAcceleration
from armdyn.errors import ArmdynError, NotApplicable, ShapeError, UnknownName
from armdyn.simulation import Actuation, Hold, Plant, Sensors, SimulationError, Solver, Status, simulate
from simulation.arms import Wave, dynamics, pendulum

UNSTABLE = PID(kp=1e6, kd=0)


def all_finite(run: armdyn.Run) -> bool:
    arrays = (run.t, run.q, run.qd, run.tau, run.error, run.memory, run.energy)
    return all(np.isfinite(array).all() for array in arrays)


@pytest.mark.parametrize("integrator", ["euler_taylor", "semi_implicit", "rk4", "dop853"])
def test_unstable_gains(integrator: str) -> None:
    """Negative damping by a delay of one long control period."""
    dyn = dynamics("planar2r")
    law = ComputedTorque(dyn, kp=4e4, kd=0)
    run = simulate(
        dyn,
        law,
        Wave(2),
        2.0,
        q0=[0.2, 0.1],
        actuation=Actuation(control_period=2e-2),
        solver=Solver(dt=1e-2, integrator=integrator),
    )
    assert run.status is Status.UNSTABLE
    assert "lower the gains" in run.status.value
    assert run.detail.startswith(("at t = ", "after t = "))
    assert not run.ok
    assert all_finite(run)
    assert 0 < run.t[-1] < 2.0


def test_a_singular_task_ends_with_advice() -> None:
    """The reference pulls the tool of a stretched arm outwards, where its Jacobian has no inverse."""
    dyn = dynamics("planar2r")
    law = ResolvedAcceleration(dyn, 100, 20, rows="x y")
    for integrator in ("euler_taylor", "rk4", "dop853"):
        run = simulate(
            dyn, law, Hold([2.0, 0.0, 0.0]), 3.0, q0=[0.4, -0.8], solver=Solver(dt=1e-2, integrator=integrator)
        )
        assert run.status is Status.SINGULAR, integrator
        assert "damping" in run.status.value
        assert all_finite(run)
    start = simulate(dyn, law, Hold([1.9, 0.0, 0.0]), 1.0, q0=[0.0, 0.0], solver=Solver(dt=1e-2))
    assert start.status is Status.SINGULAR
    assert len(start.t) == 1
    damped = ResolvedAcceleration(dyn, 100, 20, rows="x y", damping=0.1)
    run = simulate(dyn, damped, Hold([2.0, 0.0, 0.0]), 3.0, q0=[0.4, -0.8], solver=Solver(dt=1e-2))
    assert run.ok


def test_throw_makes_it_an_error() -> None:
    dyn = dynamics("planar2r")
    with pytest.raises(SimulationError, match="grew without bound") as caught:
        simulate(
            dyn, ComputedTorque(dyn, 1e7, 0), Wave(2), 1.0, q0=[0.1, 0], throw=True, solver=Solver(integrator="rk4")
        )
    assert caught.value.advice is not None
    assert "Lower the gains" in caught.value.advice


def test_stop_condition_is_met_where_it_is() -> None:
    """A pendulum released at rest 4.905 N m from below: the stop is its lowest point, found to rounding by dop853."""
    robot = pendulum()

    def lowest(t: float, q: np.ndarray, qd: np.ndarray) -> float:
        return float(q[0] + np.pi / 2)

    exact = simulate(robot, NoControl(1), [0.0], 3.0, stop=lowest, solver=Solver(dt=0.01, integrator="dop853"))
    assert exact.status is Status.STOPPED
    assert exact.q[-1, 0] == pytest.approx(-np.pi / 2, abs=1e-9)
    speed = np.sqrt(2 * 9.81 / 0.5)  # m v^2/2 = m g r for a point mass, v = r qd
    assert exact.qd[-1, 0] == pytest.approx(-speed, rel=1e-8)
    coarse = simulate(robot, NoControl(1), [0.0], 3.0, stop=lowest, solver=Solver(dt=1e-3, integrator="rk4"))
    assert coarse.status is Status.STOPPED
    assert 0 <= coarse.t[-1] - exact.t[-1] < 1e-3
    assert coarse.ok


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_joint_that_reaches_the_end_of_its_range(integrator: str) -> None:
    robot = pendulum(limits={"lower": -1.0, "upper": 1.0})
    run = simulate(robot, NoControl(1), [0.0], 3.0, stop_at_limits=True, solver=Solver(dt=1e-3, integrator=integrator))
    assert run.status is Status.LIMIT
    assert robot.joints[0].name in run.detail
    assert run.q[-1, 0] == pytest.approx(-1.0, abs=1e-9 if integrator == "dop853" else 1e-2)
    on = simulate(robot, NoControl(1), [0.0], 1.0, solver=Solver(dt=1e-3, integrator=integrator))
    assert on.q.min() < -1.5


def test_dop853_at_a_wall_of_infinite_stiffness_stalls() -> None:
    """A law that jumps at every crossing leaves no step that keeps the tolerance; the run says so or ends."""
    robot = pendulum({"coulomb": 2.0})
    run = simulate(robot, NoControl(1), [0.0], 0.2, solver=Solver(dt=0.01, integrator="dop853"))
    assert run.status in (Status.FINISHED, Status.STALLED)
    assert all_finite(run)


# The door -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"duration": -1.0}, ArmdynError, "duration = -1.0"),
        ({"duration": None, "reference": [0.0, 0.0]}, ArmdynError, "no end"),
        ({"q0": [0.0]}, ShapeError, "2 finite numbers"),
        ({"q0": [0.0, np.inf]}, ArmdynError, "2 finite numbers"),
        ({"q0": "home"}, ArmdynError, "'home'. Expected: 2 finite numbers"),
        ({"reference": [0.0, 0.0, 0.0]}, ShapeError, r"one value per joint: \(2,\)"),
        ({"reference": lambda t: np.zeros(2)}, ArmdynError, "does not take an order"),
        ({"reference": lambda t, k=0: np.full(2, np.nan if t > 0.05 else 0.0)}, ArmdynError, "not finite at t ="),
        ({"plant": 3}, ArmdynError, "a Robot or its Dynamics"),
        ({"plant": ["planar2r"]}, ArmdynError, "makes a batch"),
        ({"law": 3}, ArmdynError, "a law of armdyn.control, or a function"),
        ({"law": lambda *x: 0}, ShapeError, r"0 at t = 0 s. Expected: one finite torque per joint: \(2,\)"),
        ({"law": lambda *x: [0, np.nan]}, ShapeError, "nan] at t = 0 s"),
        ({"law": lambda *x: "x"}, ShapeError, "'x' at t = 0 s"),
        ({"law": lambda q, qd: [0, 0]}, ArmdynError, r"takes \(q, qd\)"),
        ({"law": np.zeros((9, 2))}, ArmdynError, "TorqueTable"),
        ({"stop": lambda q: 0}, ArmdynError, r"stop takes \(q\). Expected: a function \(t, q, qd\)"),
        ({"stop": [UNSTABLE]}, ArmdynError, "stop is a list"),
        ({"stop": lambda t, q, qd: q}, ArmdynError, "a number or a truth value"),
        ({"sensors": Sensors(resolution=[1, 2, 3])}, ShapeError, "one number or 2"),
        ({"plant": Plant(dynamics("planar2r"), wrench=lambda *x: [0, 0, 1])}, ShapeError, r"wrench of shape \(3,\)"),
        ({"plant": Plant(dynamics("planar2r"), parameters={"M9": 1})}, UnknownName, "unknown parameter 'M9'"),
        ({"plant": Plant(dynamics("planar2r"), parameters=[1, 2])}, ShapeError, "in the order of dyn.parameter_names"),
        ({"law": NoControl(3)}, ShapeError, "law is for 3 joints"),
        ({"reference": None}, ArmdynError, "no reference"),
        ({"actuation": Actuation(control_period=1.5e-3)}, ArmdynError, "whole number"),
        ({"actuation": Actuation(torque_limits="robot")}, ArmdynError, "no torque limits"),
        ({"actuation": Actuation(torque_limits=-1.0)}, ArmdynError, "positive"),
        ({"plant": Plant(dynamics("planar2r"), changes={0.1: armdyn.load("scara5")})}, ShapeError, "5 joints"),
        (
            {"solver": Solver(integrator="dop853"), "plant": Plant(dynamics("planar2r"), stiction=True)},
            NotApplicable,
            "fixed steps",
        ),
    ],
)
def test_bad_input_is_explained(change: dict[str, object], kind: type[Exception], text: str) -> None:
    good: dict[str, object] = {"plant": dynamics("planar2r"), "law": UNSTABLE, "reference": Wave(2),
                               "duration": 0.1}  # fmt: skip
    with pytest.raises(kind, match=text):
        simulate(**(good | change))  # type: ignore[arg-type]


def test_a_model_of_another_arm_is_refused() -> None:
    with pytest.raises(ShapeError, match="5 joints"):
        simulate(dynamics("planar2r"), ComputedTorque(dynamics("scara5"), 1, 1), Wave(2), 0.1)


def test_motors_limit_the_torque_of_their_joints() -> None:
    """2 N m at the motor through a gear of 10 are 20 N m at the joint, where 15 are allowed; one has no limit."""
    row = {"type": "revolute", "a": 0.5, "mass": 1.0, "rotor": {"inertia": 1e-4, "ratio": 10.0}}
    first = row | {"motor": {"torque": 2.0}, "limits": {"torque": 15.0}}
    robot = armdyn.Robot.from_dh([first, row, row | {"motor": {"torque": 0.3}}])
    run = simulate(robot, PID(kp=1000, kd=0), np.ones(3), 0.01, q0=np.zeros(3),
                   actuation=Actuation(torque_limits="robot"))  # fmt: skip
    assert run.tau[0].tolist() == [15.0, 1000.0, 3.0]


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"dt": 0.0}, ArmdynError, "dt = 0.0"),
        ({"dt": np.nan}, ArmdynError, "dt = nan"),
        ({"integrator": "euler"}, UnknownName, "euler_taylor"),
        ({"keep": 0}, ArmdynError, "at least 1"),
    ],
)
def test_bad_solvers_are_explained(given: dict[str, Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        Solver(**given)


def test_the_run_tells_its_solver() -> None:
    plain = simulate(dynamics("planar2r"), NoControl(2), [0.1, 0.2], 0.1, solver=Solver(integrator="rk4", dt=2e-3))
    assert (plain.integrator, plain.dt) == ("rk4", 2e-3)


def test_absurd_time_steps() -> None:
    with pytest.raises(ArmdynError, match="at most 1e\\+07 steps"):
        simulate(dynamics("pendulum"), NoControl(1), [0.0], duration=1.0, solver=Solver(dt=1e-12))
