"""Design questions: measures against robots made one by one, gradients, the Pareto front, the optimum, and Dask."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FileError
from armdyn.formats import toml
from armdyn.robot.parts import Limits, Motor, Rotor
from armdyn.sweeps import MEASURES, Sweep, sweep
from armdyn.sweeps.measures import Variant, labels_of
from armdyn.sweeps.sweep_run import _bench
from armdyn.sweeps.variants import SweepJob

FULL = bool(os.environ.get("ARMDYN_FULL"))
SMOOTH = ("rms_torque", "peak_torque", "motor_heat", "energy", "holding_torque", "motor_speed", "peak_power", "inertia")
LIMITS = {"motor_heat": 0.8, "reach": 1.1}

TABLE = """robot; concept
parameter; l1; 400 mm
parameter; l2; 350 mm
parameter; n1; 100
joint; theta [deg]; d [mm]; a [mm]; alpha [deg]; mass [kg]; com x [mm]; com y [mm]; com z [mm]; Ixx [kg m^2]; \
Iyy [kg m^2]; Izz [kg m^2]; v max [deg/s]; gear ratio; rotor inertia [kg mm^2]; motor torque [N m]; \
motor speed [rpm]; continuous torque [N m]; viscous; coulomb [N m]
turret; 0; 300; 0; 90; 8; 0; -100; 0; 0.06; 0.03; 0.06; 180; 101; 60; 1,8; 5000; 0,8; 1; 3
shoulder; 0; 0; l1; 0; 2+10*l1; -l1/2; 0; 0; 0.01; (2+10*l1)*l1^2/12+0.01; (2+10*l1)*l1^2/12+0.01; 180; n1; 60; 1,8; \
5000; 0,8; 1; 3
elbow; 0; 0; l2; 0; 1+6*l2; -l2/2; 0; 0; 0.005; (1+6*l2)*l2^2/12+0.005; (1+6*l2)*l2^2/12+0.005; 200; 80; 20; 0,8; \
5000; 0,35; 0,5; 1,5
"""
MOVE = armdyn.point_to_point([0, 0.2, 0.6], [1.2, 0.9, -0.4], "quintic", duration=0.9)


@pytest.fixture(scope="module")
def concept(tmp_path_factory: pytest.TempPathFactory) -> armdyn.Robot:
    path = tmp_path_factory.mktemp("table") / "arm.csv"
    path.write_text(TABLE, encoding="utf-8")
    return armdyn.load(path)


@pytest.fixture(scope="module")
def best(concept: armdyn.Robot) -> Sweep:
    vary = {"l1": (0.3, 0.6), "l2": (0.25, 0.5), "n1": (60.0, 160.0), "payload": [3.0]}
    return sweep(concept, vary, motion=MOVE, limits=LIMITS, optimise="cycle_time")


def with_drives(robot: armdyn.Robot, rng: np.random.Generator) -> armdyn.Robot:
    """A random robot with motors, gears and limits; torques of any size fit."""

    def driven(joint: Any) -> Any:
        if joint.kind == "fixed":
            return joint
        return replace(
            joint,
            rotor=Rotor(inertia=rng.uniform(1e-5, 1e-3), ratio=rng.uniform(20, 150)),
            motor=Motor(torque=rng.uniform(1, 9), speed=500.0, continuous=rng.uniform(0.5, 3)),
            limits=Limits(velocity=5.0),
        )  # fmt: skip

    return robot.edited(lambda r: replace(r, tree=tuple(map(driven, r.tree))))


def test_lengths_in_a_table_move_masses_too(concept: armdyn.Robot) -> None:
    longer = concept.with_parameters(l1=0.6)
    shoulder = longer.joint("shoulder")
    assert float(shoulder.body.inertia.mass) == pytest.approx(8.0)
    assert [float(x) for x in shoulder.body.inertia.com] == pytest.approx([-0.3, 0, 0])
    assert longer.parameters["n1"] == 100


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("parameter; l1; 400 mm", "parameter; l1; 400 mn", "cell C2"),
        ("parameter; l1; 400 mm", "parameter; 1l; 400 mm", "cell B2"),
        ("parameter; l1; 400 mm", "parameter; l2; 400 mm", "given twice"),
        ("2+10*l1;", "2+10*l1*l9;", "cell F7"),
    ],
)
def test_wrong_parameters_name_their_cell(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in TABLE
    (tmp_path / "arm.csv").write_text(TABLE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ArmdynError, match=words):
        armdyn.load(tmp_path / "arm.csv")


def test_places_of_the_file_vary_without_parameters() -> None:
    robot = armdyn.load("ur5")
    found = sweep(robot, {"elbow_joint.mass": [1.0, 5.0], "elbow_joint.com.0": [0.1]}, measures=["mass"])
    assert np.diff(found["mass"]) == pytest.approx(4.0)
    text = toml.dumps(found.design(1))
    assert float(toml.loads(text).joint("elbow_joint").body.inertia.mass) == pytest.approx(5.0)


def test_measures_are_those_of_the_verbs(concept: armdyn.Robot) -> None:
    """Along the same motion, `sizing`, `shortest_cycle`, `largest_payload` and `feasibility` find the same numbers."""
    names = ["cycle_time", "largest_payload", "motor_torque", "motor_speed", "motor_heat", "torque_use", "energy"]
    values = {"l1": 0.45, "n1": 90.0, "payload": 2.0}
    found = sweep(concept, {name: [x] for name, x in values.items()}, measures=names, motion=MOVE)
    robot = concept.with_parameters(l1=0.45, n1=90.0).with_payload(2.0)
    motor, joint = armdyn.sizing(robot, MOVE, side="motor"), armdyn.sizing(robot, MOVE)
    assert found["cycle_time"] == pytest.approx(armdyn.shortest_cycle(robot, MOVE).duration, rel=3e-4)  # two grids
    assert found["largest_payload"] == pytest.approx(armdyn.largest_payload(robot, MOVE).mass, rel=1e-9)
    assert found["energy"] == pytest.approx(joint.energy_given.sum(), rel=1e-3)  # 400 samples, and 2000
    for name, expected in (
        ("motor_torque", motor.peak_torque),
        ("motor_speed", motor.peak_speed),
        ("motor_heat", joint.heat),
        ("torque_use", armdyn.feasibility(robot, MOVE).use["torque"]),
    ):
        values_found = [found[label][0] for label, measure in labels_of(robot, found.job.measures) if measure == name]
        np.testing.assert_allclose(values_found, expected, rtol=1e-3, err_msg=name)  # 400 samples, and 2000


@pytest.mark.parametrize("seed", range(20 if FULL else 6))
def test_gradients_are_those_of_differences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    robot = with_drives(armdyn.random_robot(seed, n=int(rng.integers(2, 6))), rng)
    last = robot.joints[-1].name
    names = (f"{last}.mass", f"{robot.joints[0].name}.rotor.ratio", "payload", "M1")
    motion = armdyn.point_to_point(np.zeros(robot.n), rng.uniform(-1, 1, robot.n), "quintic", duration=1.0)
    job = SweepJob(toml.dumps(robot), names, np.zeros((1, 4)), SMOOTH, _bench(robot, motion, None), 1)
    point = np.array(list(job.family.robot.parameters.values())) + np.array([0.1, 0.1, 0.5, 0.1])

    def values(x: Any, name: str) -> Any:
        return MEASURES[name].of(Variant(job.family, x, job.bench))

    for name in SMOOTH:
        slopes = MEASURES[name].slopes
        assert slopes is not None
        found = slopes(Variant(job.family, point, job.bench))
        step = 1e-5
        expected = [
            (values(point + step * e, name) - values(point - step * e, name)) / (2 * step) for e in np.eye(len(point))
        ]
        scale = np.abs(expected).max() + np.abs(values(point, name)).max()
        # Central differences of step 1e-5: their error is that of rounding, 1e-16/1e-5, and of the third derivative.
        np.testing.assert_allclose(found, np.transpose(expected), atol=1e-6 * scale, rtol=1e-6, err_msg=name)


def test_a_derivative_by_a_length_costs_less_than_three_evaluations(concept: armdyn.Robot) -> None:
    job = SweepJob(toml.dumps(concept), ("l1",), np.zeros((1, 1)), ("mass",), _bench(concept, MOVE, None), 1)
    torque, slope = (job.family.kernel("inverse_dynamics", slopes=each).operations.total for each in (False, True))
    assert slope <= 3 * torque


def test_the_front_is_what_nothing_dominates(concept: armdyn.Robot) -> None:
    vary: dict[str, Any] = {"l1": np.linspace(0.3, 0.6, 4), "n1": [60.0, 100.0, 140.0], "payload": [3.0]}
    found = sweep(concept, vary, measures=["peak_torque"], motion=MOVE, limits={"reach": 0.98})
    cost = np.column_stack([found.worst("peak_torque"), -found.worst("reach")])
    inside = np.flatnonzero(cost[:, 1] <= -0.98)
    expected = {
        int(i) for i in inside if not any((cost[j] <= cost[i]).all() and (cost[j] < cost[i]).any() for j in inside)
    }
    assert 0 < len(expected) < len(inside) < len(cost)
    assert set(found.front.tolist()) == expected


def test_the_optimum_is_at_least_as_good_as_a_grid(concept: armdyn.Robot, best: Sweep) -> None:
    size = 7 if FULL else 4
    axes = {"l1": (0.3, 0.6), "l2": (0.25, 0.5), "n1": (60.0, 160.0)}
    vary = {name: np.linspace(*ends, size) for name, ends in axes.items()} | {"payload": np.array([3.0])}
    grid = sweep(concept, vary, measures=["cycle_time"], motion=MOVE, limits=LIMITS)
    assert grid.within.any() and best.optimum is not None
    assert best.worst("cycle_time")[best.optimum] <= grid.worst("cycle_time")[grid.within].min() * (1 + 1e-4)
    robot = best.design()
    assert armdyn.shortest_cycle(robot, MOVE).duration == pytest.approx(best["cycle_time"][best.optimum], rel=3e-4)
    assert armdyn.sizing(robot, MOVE).heat.max() <= 0.8 * (1 + 1e-3)  # 400 samples, and 2000


def test_the_best_robot_is_written_and_read_back(best: Sweep, tmp_path: Path) -> None:
    robot = armdyn.load(best.save(tmp_path / "best.toml"))
    q = np.random.default_rng(0).uniform(-1, 1, (5, 3))
    expected = armdyn.compile(best.design()).inverse_dynamics(q, q, q)
    np.testing.assert_allclose(armdyn.compile(robot).inverse_dynamics(q, q, q), expected, rtol=1e-12)
    with pytest.raises(FileError, match="ending"):
        best.save(tmp_path / "best.txt")


def test_limits_that_nothing_keeps(concept: armdyn.Robot) -> None:
    found = sweep(concept, {"l1": (0.3, 0.4)}, motion=MOVE, limits={"reach": 9.0}, optimise="peak_torque", samples=3)
    assert found.optimum is None and not found.fine
    with pytest.raises(ArmdynError, match="no variant keeps the limits"):
        found.design()


def test_optimisation_is_the_same_on_a_cluster(concept: armdyn.Robot) -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    options: dict[str, Any] = {"motion": MOVE, "limits": {"reach": 1.0}, "optimise": "cycle_time", "samples": 4}
    vary = {"l1": (0.3, 0.6), "payload": [3.0]}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        far = sweep(concept, vary, chunk=2, scheduler=cluster.scheduler_address, **options)
    near = sweep(concept, vary, chunk=2, **options)
    np.testing.assert_array_equal(far.points, near.points)
    np.testing.assert_array_equal(far.results, near.results)


def test_figures_leave_out_what_is_constant(concept: armdyn.Robot, best: Sweep) -> None:
    figure = best.plot()
    titles = {text for axes in figure.axes for text in (axes.get_xlabel(), axes.get_ylabel())}
    assert "cycle time, s" in titles and "reach, m" in titles
    vary = {"n1": [60.0, 100.0]}
    one = sweep(concept, vary, measures=["reach", "motor_heat"], motion=MOVE).plot()
    assert [axes.get_ylabel() for axes in one.axes] == ["motor heat"]
