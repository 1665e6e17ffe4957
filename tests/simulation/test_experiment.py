"""Experiments as data: what they build, how they are written and read, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import LAWS, ComputedTorque, MomentumObserver, VelocityObserver, law
from armdyn.errors import ArmdynError, UnknownName
from armdyn.result import Result
from armdyn.simulation import (
    Actuation,
    Comparisons,
    Experiment,
    LawChoice,
    Observers,
    Plant,
    Push,
    ReferenceMotion,
    Sensors,
    Solver,
    Stops,
)
from armdyn.trajectory import point_to_point

FULL = Experiment(
    law=LawChoice(name="robust", gains={"rate": 8.0, "errors": {"mass": 0.05}}),
    reference=ReferenceMotion(motion=[0.4, -0.2], start=[0.0, 0.1], duration=0.3),
    plant=Plant(payload=2.0, payload_com=(0.0, 0.0, 0.1), pushes=(Push(force=(0.0, 5.0, 0.0), start=0.1, end=0.2),),
                stops=Stops(time_constant=0.01), parameters={"Fv1": 3.0}),
    actuation=Actuation(torque_limits=[5000.0, 3000.0], control_period=2e-3),
    sensors=Sensors(noise_q=1e-5, delay=2e-3, seed=4),
    observers=Observers(velocity=60.0, contact=30.0, errors={"mass": 0.02}),
    solver=Solver(integrator="rk4", dt=1e-3),
    study=Comparisons(monte_carlo=3, mass=0.05),
)  # fmt: skip
"""Something in every section."""


@pytest.fixture(scope="module")
def robot() -> armdyn.Robot:
    return armdyn.load("planar2r")


def test_a_saved_experiment_is_read_back(tmp_path: Path) -> None:
    path = FULL.save(tmp_path / "full.toml")
    again = Experiment.read(path)
    assert again.record() == FULL.record()
    assert again.save(tmp_path / "again.toml").read_text() == path.read_text()
    assert set(FULL.record()) == {"law", "reference", "plant", "actuation", "sensors", "observers", "solver", "study"}
    assert Experiment().record() == {"law": {"name": "computed_torque"}}
    perfect = Experiment(sensors=Sensors()).save(tmp_path / "perfect.toml")
    assert Experiment.read(perfect).sensors is not None  # the law is sampled, unlike without sensors


def test_every_section_reaches_the_simulation(robot: armdyn.Robot) -> None:
    given = FULL.arguments(robot)
    contact = given["law"]
    assert isinstance(contact, MomentumObserver) and isinstance(contact.law, VelocityObserver)
    assert contact.innermost.summary == law("robust", contact.dyn, rate=8.0, errors={"mass": 0.05}).summary
    assert contact.errors == pytest.approx(armdyn.control.parameter_errors(contact.dyn, mass=0.02))
    assert contact.dyn.robot is robot  # the law knows neither payload nor parameters
    run = armdyn.simulate(robot, FULL)
    assert run.ok and run.duration == pytest.approx(0.3) and run.integrator == "rk4"
    assert np.array_equal(run.tau[0:300:2], run.tau[1:300:2])  # held over two steps
    heavier = robot.with_payload(2.0, (0.0, 0.0, 0.1))
    plant = armdyn.compile(heavier)
    M = run.dynamics.mass_matrix(np.array([0.3, 0.4]))
    assert pytest.approx(plant.mass_matrix(np.array([0.3, 0.4]))) == M
    assert run.dynamics.friction(np.ones(2))[0] - plant.friction(np.ones(2))[0] == pytest.approx(3.0)
    assert run.monte_carlo is not None and run.monte_carlo.samples == 3
    assert run.q[0] == pytest.approx([0.0, 0.1]) and run.desired.q[-1] == pytest.approx([0.4, -0.2])


def test_the_same_words_in_python_and_in_a_file(robot: armdyn.Robot, tmp_path: Path) -> None:
    """An experiment of a file moves as the arguments of simulate do."""
    file = tmp_path / "experiment.toml"
    file.write_text('[law]\nkp = 90\nkd = [12, 14]\n[reference]\nmotion = [0.4, -0.2]\nduration = 0.5\n'
                    '[plant]\npayload = 4.0\npushes = [{force = [0, -50, 0], start = 0.2}]\n')  # fmt: skip
    run = armdyn.simulate(robot, Experiment.read(file))
    dyn = armdyn.compile(robot)

    def pushed(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return np.array([0, 50.0 * (t >= 0.2), 0, 0, 0, 0])  # what the robot exerts

    start = armdyn.simulate(robot, Experiment(reference=ReferenceMotion(duration=0.01))).q[0]
    same = armdyn.simulate(
        Plant(robot.with_payload(4.0), wrench=pushed), ComputedTorque(dyn, 90, [12, 14]),
        point_to_point(start, [0.4, -0.2], "quintic", duration=0.5), 0.5, q0=start,
    )  # fmt: skip
    assert np.abs(run.q - same.q).max() < 1e-12  # rounding: a wrench by frame is computed by another program
    assert np.abs(run.tau - same.tau).max() < 1e-9 * np.abs(same.tau).max()


def test_curves_of_the_texts() -> None:
    run = armdyn.simulate(armdyn.load("scara5"), Experiment(reference=ReferenceMotion(motion="curve40", duration=0.02)))
    assert run.q[0] == pytest.approx([0.1, -0.8, 1.9, -0.1, 0.284])  # El Baji sec. 5.3
    assert run.desired.q[0, 0] == pytest.approx(0.1)
    swing = armdyn.simulate(
        armdyn.load("three_link"), Experiment(reference=ReferenceMotion(motion="swing", duration=0.02))
    )
    assert swing.q[0] == pytest.approx([0.0, 0.0, 0.0])  # Truc (73)


@pytest.mark.parametrize("name", [name for name in LAWS if name not in ("elastic_pd", "torques", "admittance")])
def test_every_law_runs_with_its_defaults(name: str) -> None:
    reference = ReferenceMotion(
        motion=None if name == "none" else [0.5, -0.7, 1.2], start=[0.3, -0.9, 1.1], duration=0.1
    )
    experiment = Experiment(law=LawChoice(name=name), reference=reference, solver=Solver(dt=2e-3))
    assert armdyn.simulate(armdyn.load("three_link"), experiment).ok


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sensor]\ndelay = 1", "unknown section 'sensor'. Expected: one of: law, reference"),
        ("[sensors]\ndely = 1", "[sensors]: unknown key 'dely'"),
        ("[sensors]\ndelay = -1", "[sensors] delay, Sensors: delay = -1"),
        ("[sensors]\ndelay = 'long'", "[sensors] delay: 'long'. Expected: a number"),
        ("[solver]\ndt = true", "[solver] dt: True. Expected: a number"),
        ("[solver]\nintegrator = 'rk5'", "Did you mean 'rk4'?"),
        ("[plant]\nmeasure = 'moter'", "[plant] measure: unknown value 'moter'. Expected: one of: motor, link"),
        ("[plant]\nstops = {time_constat = 1}", "[plant] stops: unknown key 'time_constat'"),
        ("[plant]\nwrench = 3", "unknown key 'wrench'"),
        ("[plant]\npayload = -1", "a mass of at least 0 kg"),
        ("[law]\nname = 'pdi'", "[law] name: unknown control law 'pdi'"),
        ("[law]\nkq = 3", "[law]: unknown gain of computed_torque 'kq'"),
        ("[law]\nname = 3", "[law] name: 3. Expected: a text in quotes"),
        ("law = 3", "[law]: 3 in place of a table"),
        ("[law\n", "not TOML"),
    ],
)
def test_mistakes_in_a_file_name_file_and_key(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "experiment.toml"
    file.write_text(text)
    with pytest.raises(ArmdynError) as caught:
        Experiment.read(file)
    assert str(caught.value).startswith(str(file)) and words in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reference.motion": [1.0]}, "reference, motion: 1 numbers. Expected: 2"),
        ({"reference.motion": "curve40"}, "scara5, which the curve is for"),
        ({"reference.motion": "hom"}, "unknown motion 'hom'"),
        ({"reference.start": "hom"}, "unknown configuration 'hom'"),
        ({"law.name": "none", "reference.motion": [0.0, 0.0]}, "follows no reference"),
        ({"law.name": "admittance"}, "a push at the frame tool"),
        ({"observers.errors": {"mass": 0.1}}, "contact = 50"),
        ({"plant.pushes": [{"frame": "elbw", "force": [0, 0, 1]}]}, "Did you mean 'elbow'?"),
    ],
)
def test_what_does_not_fit_the_robot_is_refused(robot: armdyn.Robot, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ArmdynError) as caught:
        armdyn.simulate(robot, Experiment().changed(change))
    assert words in str(caught.value)


def test_changes_by_key() -> None:
    assert FULL.changed({"law.name": "pid"}).law.gains == {}  # gains of another law
    assert FULL.changed({"law.rate": 3.0}).law.gains["rate"] == 3.0
    with pytest.raises(UnknownName, match="Did you mean 'solver.dt'"):
        FULL.changed({"solvr.dt": 1.0})


def test_functions_have_no_place_in_a_file(tmp_path: Path) -> None:
    with pytest.raises(ArmdynError, match="wrench is a function"):
        Experiment(plant=Plant(wrench=lambda t, q, qd: np.zeros(6))).save(tmp_path / "x.toml")


def test_an_experiment_holds_all_arguments(robot: armdyn.Robot) -> None:
    with pytest.raises(ArmdynError, match="the experiment holds them"):
        armdyn.simulate(robot, Experiment(), duration=1.0)


def test_the_run_judges_and_records_itself(robot: armdyn.Robot) -> None:
    good = armdyn.simulate(
        robot, Experiment(reference=ReferenceMotion(duration=0.1), study=Comparisons(imperfect=True))
    )
    assert isinstance(good, Result) and good.fine and "Simulation completed." in str(good)
    record = good.record()
    assert record["joints"]["elbow"]["peak_torque"] == pytest.approx(np.abs(good.tau[:, 1]).max())
    assert set(record["comparisons"]) == {
        "coupling ignored",
        "without Coriolis",
        "without gravity",
        "masses times 1.2",
    }
    wild = Experiment(law=LawChoice(gains={"kp": 1e8, "kd": 0.0}), solver=Solver(integrator="rk4"))
    bad = armdyn.simulate(robot, wild)
    assert not bad.fine and bad.record()["status"] == "unstable" and "lower the gains" in str(bad)
