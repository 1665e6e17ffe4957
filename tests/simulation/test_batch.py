"""Batches of simulations: the same runs as one by one."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, PDGravity, ResolvedAcceleration, TaskPID
from armdyn.errors import ArmdynError, NotApplicable, ShapeError
from armdyn.parameters import with_standard_parameters
from armdyn.simulation import Plant, Runs, Solver, Status, simulate
from simulation.arms import Wave, dynamics, pendulum, random_dynamics


def batch(*arguments: object, **options: object) -> Runs:
    runs = simulate(*arguments, **options)  # type: ignore[arg-type]
    assert isinstance(runs, Runs)
    return runs


@pytest.mark.parametrize("integrator", ["rk4", "implicit"])
def test_initial_states_and_goals(integrator: str) -> None:
    dyn = random_dynamics(5, 3, friction=True)
    law, random = PDGravity(dyn, 30.0, 4.0), np.random.default_rng(1)
    q0, goals, kick = random.uniform(-1, 1, (2, 150, 3)), random.uniform(-1, 1, (150, 3)), np.array([0.1, -0.2, 0.3])
    runs = batch(dyn, law, goals, 0.2, q0=q0, qd0=kick, solver=Solver(integrator=integrator, keep=10))
    assert runs.ok
    assert runs.q.shape == (2, 150, 21, 3)
    assert runs.energy.shape == (2, 150, 21)
    assert runs.largest_error().shape == (2, 150, 3)
    for index in ((0, 0), (1, 149), (1, 7)):
        one = simulate(
            dyn, law, goals[index[1]], 0.2, q0=q0[index], qd0=kick, solver=Solver(integrator=integrator, compiled=True)
        )
        own = runs[index]
        assert np.abs(one.q[::10] - own.q).max() < 1e-12
        assert np.abs(one.tau[::10] - own.tau).max() < 1e-9
        assert np.abs(one.error[::10] - own.error).max() < 1e-12
        assert np.abs(one.energy[::10] - own.energy).max() < 1e-9


def test_gains_and_internal_states() -> None:
    """Laws of one kind that differ in kp and kd, with integrals, along one moving reference."""
    dyn, random = dynamics("three_link"), np.random.default_rng(2)
    laws = [PID(kp, kd, 20.0) for kp, kd in random.uniform(20, 60, (12, 2))]
    runs = batch(dyn, laws, Wave(3), 0.3, q0=[0.2, 0.1, -0.3])
    for k in (0, 11):
        one = simulate(dyn, laws[k], Wave(3), 0.3, q0=[0.2, 0.1, -0.3], solver=Solver(compiled=True))
        assert runs.integrator == one.integrator
        assert np.abs(one.q - runs[k].q).max() < 1e-11
        assert np.abs(one.memory - runs[k].memory).max() < 1e-11


def test_an_unstable_sample_leaves_the_others_alone() -> None:
    robot = pendulum()
    runs = batch(robot, [PID(40.0, kd) for kd in (5.0, 1e4)], [0.3], 0.3, q0=[0.0], solver=Solver(integrator="rk4"))
    assert not runs.ok
    assert runs.statuses.tolist() == [Status.FINISHED, Status.UNSTABLE]
    assert np.isfinite(runs[0].q).all()
    assert np.isfinite(runs[1].q).all()
    assert len(runs[1].t) < len(runs[0].t) == 301
    assert runs[0].ok
    assert "1 unstable" in repr(runs)
    with pytest.raises(armdyn.simulation.SimulationError):
        simulate(robot, [PID(40.0, 1e4)], [0.3], 0.3, q0=[0.0], throw=True, solver=Solver(integrator="rk4"))


def test_laws_in_the_task_space_in_a_batch() -> None:
    """Each sample is the run of its own initial state, with the errors of its tool."""
    dyn = dynamics("planar2r")
    law, goal = TaskPID(dyn, 300, 60, 200, rows="x y", gravity=True), dyn.pose([0.5, 0.8])
    q0 = np.array([[0.4, 0.9], [0.6, 0.6], [0.3, 1.0]])
    runs = batch(dyn, law, goal, 0.3, q0=q0, solver=Solver(integrator="rk4"))
    assert runs.error.shape == (3, 301, 2) and runs.ok
    for start, run in zip(q0, (runs[i] for i in range(3)), strict=True):
        alone = simulate(dyn, law, goal, 0.3, q0=start, solver=Solver(integrator="rk4"))
        for name in ("q", "qd", "tau", "error", "memory"):
            assert getattr(run, name) == pytest.approx(getattr(alone, name), abs=1e-9)  # 300 steps of rounding
        assert run.desired.q.shape == alone.desired.q.shape
    assert runs[1:].desired.q.shape == (2, 301, 4, 4)


def test_what_a_batch_cannot_do_is_explained() -> None:
    dyn = dynamics("planar2r")
    law = PID(10.0, 1.0)
    with pytest.raises(ShapeError, match="leading axes"):
        simulate(dyn, law, np.zeros((3, 2)), 0.1, q0=np.zeros((4, 2)))
    with pytest.raises(ArmdynError, match="laws that differ in scheme"):
        laws = [ComputedTorque(dyn, 1, 1), ComputedTorque(dyn, 1, 1, scheme="position")]
        simulate(dyn, laws, [0.0, 0.0], 0.1)
    with pytest.raises(NotApplicable, match="in a batch"):
        simulate(Plant(dyn, wrench=lambda t, q, qd: np.zeros(6)), law, [0.0, 0.0], 0.1, q0=np.zeros((4, 2)))
    with pytest.raises(NotApplicable, match="in a batch"):
        simulate(dyn, ResolvedAcceleration(dyn, 1, 1), np.eye(4), 0.1, q0=np.zeros((4, 2)))
    with pytest.raises(NotApplicable, match=r"runs\[i\].save"):
        simulate(dyn, law, [0.0, 0.0], 0.01, q0=np.zeros((4, 2))).save("x.csv")


# Parameters of the plant ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "integrator"),
    [("random", "rk4"), ("puma560", "semi_implicit"), ("parallelogram", "implicit")],
)
def test_parameters_of_the_plant_differ(name: str, integrator: str) -> None:
    """Each sample moves as a robot made with these parameters: masses, products, rotors, friction with stiction."""
    dyn, random = random_dynamics(5, 3, friction=True) if name == "random" else dynamics(name), np.random.default_rng(3)
    robot = dyn.robot
    table = dyn.parameters * np.exp(0.1 * random.standard_normal((3, len(dyn.parameters))))
    law, goal, q0 = PDGravity(dyn, 30, 4), np.full(robot.n, 0.3), 0.1 * random.standard_normal((2, 1, robot.n))
    runs = batch(Plant(dyn, parameters=table), law, goal, 0.2, q0=q0, solver=Solver(dt=2e-3, integrator=integrator))
    assert runs.q.shape == (2, 3, 101, robot.n)
    for k in range(3):
        own = with_standard_parameters(robot, dict(zip(dyn.parameter_names, table[k], strict=True)))
        run = simulate(own, law, goal, 0.2, q0=q0[1, 0], solver=Solver(dt=2e-3, integrator=integrator))
        assert np.abs(runs.q[1, k] - run.q).max() < 1e-9
        assert np.abs(runs[1, k].energy - run.energy).max() < 1e-8 * np.abs(run.energy).max()
    with pytest.raises(NotApplicable, match=r"runs\[i\]"):
        _ = runs.energy


def test_one_set_of_parameters_is_one_run() -> None:
    robot = armdyn.load("planar2r")
    run = simulate(Plant(robot, parameters={"M2": 70.0}), PID(900, 300), [0.1, 0.2], 0.1, q0=[0, 0])
    heavier = simulate(with_standard_parameters(robot, {"M2": 70.0}), PID(900, 300), [0.1, 0.2], 0.1, q0=[0, 0])
    assert not isinstance(run, Runs)
    assert np.array_equal(run.q, heavier.q)


def test_parts_of_a_batch() -> None:
    dyn = armdyn.compile(armdyn.load("planar2r"))
    q0 = np.random.default_rng(0).standard_normal((2, 3, 2))
    runs = batch(Plant(dyn, parameters={"M2": [40.0, 50, 60]}), PID(900, 300), [0.1, 0.2], 0.1, q0=q0)
    part = runs[1]
    assert isinstance(part, Runs)
    assert part.q.shape == (3, 101, 2)
    assert np.array_equal(part[1:][1].q, runs[1, 2].q)
    assert part[1:][1].dynamics.parameters[dyn.parameter_names.index("M2")] == 60


def test_a_batch_shows_and_records_itself() -> None:
    dyn = pendulum()
    runs = batch(dyn, PID(1.0, 1.0), [0.1], 0.05, q0=[[0.1], [0.2], [0.3]])
    assert "3 runs of" in str(runs) and runs.fine
    assert runs.record()["samples"] == 3
