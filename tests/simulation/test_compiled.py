"""The compiled loop computes what the Python loop computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import (
    PID,
    ComputedTorque,
    Feedforward,
    Formulated,
    Impedance,
    Law,
    MomentumObserver,
    NoControl,
    PDGravity,
    SlidingMode,
    SlotineLi,
    TaskPID,
)
from armdyn.errors import NotApplicable
from armdyn.kernels import build
from armdyn.simulation import Actuation, Plant, Sensors, Solver, Status, simulate
from armdyn.simulation import compiled_loop as compiled_module
from armdyn.trajectory import line
from simulation.arms import Wave, dynamics

ARM = "three_link"
SAME = 1e-11
"""Relative to the largest entry: the same operations, fused differently, over 200 steps of a stable loop."""


SOLVERS = (Solver(compiled=False), Solver(compiled=True))


def laws() -> dict[str, Law]:
    dyn = dynamics(ARM)
    tracking = ComputedTorque(dyn, 100, 20)
    return {
        "computed torque": tracking,
        "predictive": ComputedTorque(dyn, 100, 20, predictive=True),
        "position, integral": ComputedTorque(dyn, 100, 20, ki=30, scheme="position", through="matrices"),
        "without gravity": ComputedTorque(dyn, 100, 20, leave_out=("gravity", "coriolis", "friction")),
        "pid": PID(kp=200, kd=20, ki=100, integrate_above=0.01, integrate_below=0.3, torque_limits=30),
        "pd gravity": PDGravity(dyn, 200, 20),
        "pd gravity desired": PDGravity(dyn, 200, 20, at="desired", follow=True),
        "feedforward": Feedforward(dyn, 50, 5),
        "sliding mode": SlidingMode(dyn, 10, 20),
        "adaptive": SlotineLi(dyn, 5, 10, 0.05),
        "observer": MomentumObserver(tracking, dyn),
        "none": NoControl(3),
    }


def both(
    law: Law, plant: Plant | None = None, integrator: str = "auto", **options: Any
) -> tuple[armdyn.Run, armdyn.Run]:
    plant = Plant(dynamics(ARM)) if plant is None else plant
    solvers = (replace(solver, integrator=integrator) for solver in SOLVERS)
    runs = [simulate(plant, law, Wave(3), q0=[0.2, 0.1, -0.3], solver=solver, **options) for solver in solvers]
    assert [run.compiled for run in runs] == [False, True]
    return runs[0], runs[1]


def assert_same(a: armdyn.Run, b: armdyn.Run) -> None:
    assert a.status is b.status
    assert a.detail == b.detail
    for name in ("t", "q", "qd", "tau", "error", "memory"):
        x, y = getattr(a, name), getattr(b, name)
        assert x.shape == y.shape, name
        assert np.abs(x - y).max(initial=0.0) <= SAME * max(1.0, np.abs(x).max(initial=0.0)), name


@pytest.mark.parametrize("name", laws())
def test_every_law(name: str) -> None:
    assert_same(*both(laws()[name], duration=0.2))


@pytest.mark.parametrize("name", ["pose", "position", "redundant"])
def test_laws_in_the_task_space(name: str) -> None:
    """References are poses or positions; the rotation turns by 2 rad, so that every branch of its vector is used."""
    dyn = dynamics("panda" if name == "redundant" else "ur5")
    q = np.array([0.1, -0.9, 1.2, -1.7, 0.8, 1.4, 0.3][: dyn.n])
    start, goal = dyn.pose(q), dyn.pose(q + np.array([0.3, -0.2, 0.2, 0.1, -0.3, 2.0, 2.0][: dyn.n]))
    if name == "position":
        law: Law = TaskPID.designed(dyn, 6.0, rows="x z")
        reference: Any = goal[:3, 3]
    else:
        law = Impedance.designed(dyn, 300.0) if name == "redundant" else TaskPID.designed(dyn, 6.0)
        reference = line(start, goal, duration=0.05)
    solvers = [replace(solver, integrator="implicit" if name == "pose" else "rk4") for solver in SOLVERS]
    runs = [simulate(dyn, law, reference, 0.1, q0=q, solver=solver) for solver in solvers]
    assert [run.compiled for run in runs] == [False, True]
    assert runs[1].error.shape == (101, 2 if name == "position" else 6)
    # The Python loop takes the slopes of the law, for the implicit method, at 1e-3 rad/s where joints are at rest.
    same = 1e-5 if name == "pose" else SAME
    for part in ("q", "qd", "tau", "error", "memory"):
        x, y = getattr(runs[0], part), getattr(runs[1], part)
        assert np.abs(x - y).max(initial=0.0) <= same * max(1.0, np.abs(x).max(initial=0.0)), part


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
@pytest.mark.parametrize("period", [None, 1e-3])
def test_every_method(integrator: str, period: float | None) -> None:
    assert_same(*both(laws()["pid"], duration=0.1, actuation=Actuation(control_period=period), integrator=integrator))


def test_limits_changes_and_more_steps_than_a_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "CHUNK", 64)
    plant = Plant(dynamics(ARM), changes={0.1: dynamics(ARM).robot.with_payload(0.5)})
    a, b = both(laws()["computed torque"], plant, duration=0.2, actuation=Actuation(torque_limits=[2.0, 5.0, 1.0]))
    assert_same(a, b)
    assert (np.abs(b.tau) <= [2.0, 5.0, 1.0]).all()
    assert (np.abs(b.tau) == [2.0, 5.0, 1.0]).any()


@pytest.mark.parametrize("chunk", [7, 4096])
def test_blow_ups_end_at_the_same_step(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(compiled_module, "CHUNK", chunk)
    runs = [
        simulate(
            dynamics(ARM),
            ComputedTorque(dynamics(ARM), 1e7, 0),
            Wave(3),
            q0=[0.1, 0, 0],
            solver=replace(solver, integrator="euler_taylor"),
        )
        for solver in SOLVERS
    ]
    assert [run.status for run in runs] == [Status.UNSTABLE] * 2
    assert runs[0].detail == runs[1].detail
    assert all(np.isfinite(run.q).all() and np.isfinite(run.tau).all() for run in runs)


@pytest.mark.parametrize("chunk", [5, 4096])
def test_joint_ranges_end_at_the_same_step(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    monkeypatch.setattr(compiled_module, "CHUNK", chunk)
    rows = [{"type": "revolute", "a": 0.5, "mass": 1.0, "limits": {"lower": -0.2, "upper": 0.2}}]
    robot = armdyn.Robot.from_dh(rows, gravity=(0, -9.81, 0))
    runs = [simulate(robot, NoControl(1), [0.0], 2.0, stop_at_limits=True, solver=solver) for solver in SOLVERS]
    assert [run.status for run in runs] == [Status.LIMIT] * 2
    assert_same(*runs)


def test_without_a_loop_in_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where kernels are no machine code, they are called step by step."""
    law = laws()["computed torque"]
    _, b = both(law, duration=0.05)
    compiled_module.march_of.cache_clear()
    monkeypatch.setattr(compiled_module, "build", lambda graph, name: replace(build(graph, name), sequence=None))
    _, c = both(law, duration=0.05)
    compiled_module.march_of.cache_clear()
    assert np.array_equal(b.q, c.q)
    assert np.array_equal(b.tau, c.tau)


def test_runs_are_compiled_where_that_pays() -> None:
    """The run of the command line, 2.5 s in steps of 1 ms, is; a tenth of a second is not; Python where asked for."""
    dyn = dynamics("panda")
    law, hold = ComputedTorque(dyn, 100, 20), np.zeros(7)
    assert simulate(dyn, law, hold, 2.5).compiled
    assert not simulate(dyn, law, hold, 0.1).compiled
    assert not simulate(dyn, law, hold, 2.5, solver=Solver(compiled=False)).compiled


def test_a_short_run_of_a_long_step_is_not_worth_building(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer evaluations than the step has operations: Python, unless the code is there already."""
    monkeypatch.setattr(compiled_module, "SHORT", 10)
    dyn = dynamics(ARM)
    law = ComputedTorque(dyn, 102, 20)
    assert not simulate(dyn, law, Wave(3), 0.05).compiled
    assert simulate(dyn, law, Wave(3), 0.05, solver=Solver(compiled=True)).compiled
    assert simulate(dyn, law, Wave(3), 0.05).compiled


def test_a_step_is_not_traced_if_its_plant_alone_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tracing the step of a hexapod takes a hundred times as long as half a second of its motion in Python."""
    monkeypatch.setattr(compiled_module, "SHORT", 10)
    monkeypatch.setattr(compiled_module, "step_graph", lambda loop: pytest.fail("traced"))
    dyn = dynamics(ARM)
    assert not simulate(dyn, ComputedTorque(dyn, 103, 20), Wave(3), 0.02).compiled


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"plant": Plant(dynamics(ARM), wrench=lambda t, q, qd: np.zeros(6))}, "a wrench at the tool"),
        ({"stop": lambda t, q, qd: 1.0}, "a stop condition"),
        ({"integrator": "variational"}, "the integrator variational"),
    ],
)
def test_what_cannot_be_compiled_says_why(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
        both(laws()["pd gravity"], duration=0.1, **options)


@pytest.mark.parametrize(
    "options",
    [
        {"sensors": Sensors(noise_q=1e-4, noise_qd=1e-3, resolution=1e-3, delay=2e-3, differentiate=True, seed=4)},
        {"actuation": Actuation(control_period=4e-3)},
        {"actuation": Actuation(control_period=2e-3), "stop": lambda t, q, qd: q[0] - 0.05},
    ],
)
@pytest.mark.parametrize("law", ["pid", "pd gravity"])
def test_the_plant_of_a_digital_controller_is_compiled(law: str, options: dict[str, Any]) -> None:
    """The law runs in Python, the plant in machine code."""
    slow, fast = both(laws()[law], duration=0.3, **options)
    assert slow.status is fast.status
    assert len(slow.t) == len(fast.t)
    for a, b in ((slow.q, fast.q), (slow.qd, fast.qd), (slow.tau, fast.tau), (slow.memory, fast.memory)):
        assert np.abs(a - b).max(initial=0.0) < 1e-6 * max(1.0, np.abs(a).max(initial=0.0))  # delays amplify rounding


def test_a_model_without_graphs_cannot_be_compiled() -> None:
    law = ComputedTorque(Formulated(dynamics(ARM).robot), 100, 20)  # type: ignore[arg-type]
    with pytest.raises(NotApplicable, match="the law ComputedTorque"):
        both(law, duration=0.1)


def test_a_step_too_long_for_machine_code_is_driven_by_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_module, "LARGEST", 50)
    monkeypatch.setattr(compiled_module, "SHORT", 1)
    dyn = dynamics(ARM)
    law = ComputedTorque(dyn, 101, 20)
    assert not simulate(dyn, law, Wave(3), 0.3).compiled
    with pytest.raises(NotApplicable, match="at most 50"):
        simulate(dyn, law, Wave(3), 0.3, solver=Solver(compiled=True))


@pytest.mark.parametrize("kind", [armdyn.ResolvedAcceleration, armdyn.OperationalSpace])
def test_laws_that_lose_rank_are_compiled_and_watched(kind: Any) -> None:
    """Machine code gives the motion of the Python loop, and where the Jacobian loses rank the run ends likewise."""
    dyn = armdyn.compile(armdyn.load("panda"))
    q0 = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.6, 0.8])
    goal = dyn.pose(q0)[:3, 3] + [0.05, 0.05, -0.05]
    law = kind(dyn, 100, 20, rows="x y z")
    reference = line(dyn.pose(q0)[:3, 3], goal, duration=0.2)
    runs = [simulate(dyn, law, reference, 0.2, q0=q0, solver=Solver(compiled=way)) for way in (True, False)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs[0].tau, runs[1].tau, rtol=0, atol=1e-9)
    planar = armdyn.compile(armdyn.load("planar2r"))
    law, outwards = kind(planar, 100, 20, rows="x y"), line([1.99, 0.0, 0.0], [2.0, 0.0, 0.0], duration=0.1)
    ends = [
        simulate(planar, law, outwards, 3.0, q0=[0.4, -0.8], solver=Solver(dt=1e-2, compiled=way, integrator="rk4"))
        for way in (True, False)
    ]
    assert ends[0].status is ends[1].status
    assert ends[0].status is Status.SINGULAR
    np.testing.assert_array_equal(ends[0].t, ends[1].t)
