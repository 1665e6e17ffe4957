"""Many runs: imperfect models and Monte Carlo."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, Desired, NoControl, ResolvedAcceleration
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.simulation import Plant, Push, Solver, simulate
from armdyn.simulation.run_view import comparison
from armdyn.simulation.studies import imperfect_models, monte_carlo, scaled_masses
from simulation.arms import Wave, dynamics
from support import pinocchio_model

ARM = "three_link"


@pytest.mark.parametrize("integrator", ["euler_taylor", "rk4"])
def test_arms_like_the_model_do_as_the_model(integrator: str) -> None:
    dyn = dynamics(ARM)
    law = ComputedTorque(dyn, 100, 20, ki=10)
    study = monte_carlo(
        dyn.robot,
        law,
        Wave(3),
        0.3,
        samples=3,
        mass=0,
        com=0,
        friction=0,
        q0=[0.2, 0, 0.1],
        solver=Solver(dt=2e-3, integrator=integrator),
    )
    run = simulate(dyn, law, Wave(3), 0.3, q0=[0.2, 0, 0.1], solver=Solver(dt=2e-3, integrator=integrator))
    assert np.abs(study.largest_error - run.largest_error()).max() < 1e-12
    assert np.abs(study.rms_error - run.rms_error()).max() < 1e-12
    assert np.abs(study.largest_torque - np.abs(run.tau).max(axis=0)).max() < 1e-10


def test_each_sample_is_an_arm_of_its_own() -> None:
    """A slider under computed torque: the final error is g (f - 1) / kp for a mass f times the model's."""
    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}])
    law = ComputedTorque(armdyn.compile(robot), 100, 20)
    study = monte_carlo(robot, law, [0.0], 3.0, samples=40, mass=0.2, after=2.9)
    expected = 9.81 * np.abs(study.masses - 1) / 100
    assert study.masses.std() > 0.1
    assert np.abs(study.largest_error - expected).max() < 1e-6
    assert np.allclose(study.quantiles(at=[0.5])[0], np.quantile(expected, 0.5, axis=0), rtol=0, atol=1e-6)
    again = monte_carlo(robot, law, [0.0], 3.0, samples=40, mass=0.2, after=2.9)
    assert np.array_equal(study.masses, again.masses)
    assert "40 arms" in str(study)
    assert "95 %" in str(study)


@pytest.mark.parametrize("integrator", ["auto", "dop853"])
def test_payload_and_push_act_on_every_arm(integrator: str) -> None:
    """A slider of 2 kg under computed torque sags by (g (f m - 2) + push) / (2 kp), m with the payload.

    A push cannot be compiled, nor can dop853: these arms are simulated one by one.
    """
    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}])
    law = ComputedTorque(armdyn.compile(robot), 100, 20)
    solver = Solver(dt=1e-2, integrator=integrator)
    for plant, carried, push in (
        (Plant(robot, payload=1.5), 1.5, 0.0),
        (Plant(robot, pushes=(Push(force=(0, 0, -30.0)),)), 0.0, 30.0),
        (Plant(robot, payload=1.5, pushes=(Push(force=(0, 0, -30.0), end=1.0),)), 1.5, 0.0),
    ):
        study = monte_carlo(plant, law, [0.0], 3.0, samples=4, mass=0.2, after=2.9, solver=solver)
        expected = np.abs(9.81 * ((2 + carried) * study.masses - 2) + push) / 200
        assert np.abs(study.largest_error - expected).max() < 1e-5


def test_sizes_of_the_random_errors_are_told() -> None:
    robot = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 2.0}])
    study = monte_carlo(robot, PID(100, 20), [0.0], 0.1, samples=2, mass=0.25, com=0.015, friction=0.35)
    told = " ".join(str(study).split())
    assert "mass and inertia 0.25" in told and "centre of mass 0.015 m" in told and "friction 0.35" in told
    assert study.record()["spread"] == {"mass": 0.25, "com": 0.015, "friction": 0.35}


def test_lost_arms_are_counted() -> None:
    robot = armdyn.load(ARM)
    law = ComputedTorque(armdyn.compile(robot), 1e7, 0)
    study = monte_carlo(robot, law, Wave(3), 0.5, samples=4, solver=Solver(integrator="rk4"), q0=[0.1, 0, 0])
    assert study.lost.all()
    assert np.isinf(study.largest_error).all()
    assert "4 not completed" in str(study)
    assert not study.fine


def test_what_a_study_does_not_take() -> None:
    robot = armdyn.load("planar2r")
    law = ResolvedAcceleration(armdyn.compile(robot), 100, 20, rows="x y")
    with pytest.raises(NotApplicable, match="ResolvedAcceleration"):
        monte_carlo(robot, law, [0.0, 0.0], 1.0)
    with pytest.raises(NotApplicable, match="one nominal arm"):
        monte_carlo(Plant(robot, parameters={"M2": [1.0, 2.0]}), NoControl(2), [0.0, 0.0], 1.0)
    with pytest.raises(ArmdynError, match="no end"):
        monte_carlo(robot, ComputedTorque(armdyn.compile(robot), 1, 1), [0.0, 0.0])


def test_scaled_masses_scale_the_mass_matrix() -> None:
    robot = armdyn.load("puma560").without("rotors", "friction")
    q = np.linspace(-1, 1, 6)
    M, heavier = (armdyn.compile(r).mass_matrix(q) for r in (robot, scaled_masses(robot, 1.3)))
    assert np.allclose(heavier, 1.3 * M, rtol=1e-12)
    with pytest.raises(ArmdynError, match="positive factor"):
        scaled_masses(robot, 0.0)


def test_a_model_without_coupling_has_the_diagonal_of_pinocchios_mass_matrix() -> None:
    robot = armdyn.load("puma560").without("rotors", "friction")
    dyn = armdyn.compile(robot)
    q, qd, goal = np.random.default_rng(10).uniform(-1, 1, (3, 6))
    law = ComputedTorque(dyn, 100, 20, leave_out=("coupling",))
    w = 100 * (goal - q) - 20 * qd
    M = pinocchio_model.mass_matrix(robot, q)
    expected = pinocchio_model.inverse_dynamics(robot, q, qd, w) - M @ w + np.diag(M) * w
    np.testing.assert_allclose(law(0.0, q, qd, Desired(goal, np.zeros(6), np.zeros(6))), expected, rtol=1e-10)


def test_imperfect_models_include_friction_where_there_is_some() -> None:
    dyn = dynamics("puma560")
    law = ComputedTorque(dyn, 100, 20)
    runs = imperfect_models(dyn, law, Wave(6), duration=0.2)
    assert list(runs) == [
        "full model",
        "coupling ignored",
        "without Coriolis",
        "without gravity",
        "without friction",
        "masses times 1.2",
    ]
    best = runs["full model"].largest_error().max()
    assert all(run.largest_error().max() > 3 * best for name, run in runs.items() if name != "full model")
    table = comparison(runs, after=0.1)
    assert [row[0] for row in table.rows] == list(runs)
    with pytest.raises(NotApplicable, match="only its model has terms"):
        imperfect_models(dyn, PID(1, 1), Wave(6), duration=0.2)
