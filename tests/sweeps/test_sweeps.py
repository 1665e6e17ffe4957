"""Sweeps: the numbers are those of each robot alone, wherever the work is done, and nothing finished is done twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import analysis
from armdyn.algebra import Vec3
from armdyn.errors import ArmdynError, FileError, NotApplicable, UnknownName
from armdyn.mechanics import newton_euler
from armdyn.motion.sampling import sample_times
from armdyn.parameters import with_standard_parameters
from armdyn.robot.parts import Placement
from armdyn.sweeps import MEASURES, sweep
from armdyn.sweeps import variants as plans

VARY: dict[str, Any] = {"l2": np.linspace(0.2, 0.5, 4), "payload": [0.0, 1.0, 2.0]}


def test_every_row_is_that_robot_alone() -> None:
    robot = armdyn.load("planar2r")
    motion = armdyn.point_to_point([0, 0], [1, -1], duration=1.0)
    found = sweep(robot, VARY, measures=["peak_torque"], motion=motion, chunk=5)
    t = sample_times(motion, 1 / 400)  # the times of a sweep
    for l2, load, *peaks in np.column_stack([found.points, found.results]):
        made = armdyn.compile(robot.with_parameters(l2=l2).with_payload(load))
        expected = np.abs(made.inverse_dynamics(motion(t), motion(t, 1), motion(t, 2))).max(axis=0)
        np.testing.assert_allclose(peaks, expected, rtol=1e-10)


def test_standard_parameters_vary_too() -> None:
    robot = armdyn.load("puma560")
    rest = np.random.default_rng(0).uniform(-1, 1, (5, 6))
    found = sweep(robot, {"M3": [4.0, 8.0]}, measures=["holding_torque", "mass"], rest=rest)
    for value, row in zip((4.0, 8.0), found.results, strict=True):
        other = with_standard_parameters(robot, {"M3": value})
        expected = np.abs(newton_euler.gravity(other, rest)).max(axis=0)
        np.testing.assert_allclose(
            row[:6], expected, rtol=1e-10, atol=1e-12
        )  # joint 1 is vertical: zero up to rounding
    assert found["mass"][1] - found["mass"][0] == pytest.approx(4.0)


@pytest.mark.parametrize("name", ["pendulum", "scara5", "ur5", "panda"])
def test_all_measures_on_robots_of_all_kinds(name: str) -> None:
    robot = armdyn.load(name)
    drives = [
        key for key in MEASURES if key.startswith(("cycle", "largest", "torque_", "speed_", "motor_heat", "rms_use"))
    ]
    unknown = [*drives, "inertia_ratio"]  # they need limits and rotors, see test_design.py
    found = sweep(robot, {"payload": [0.5, 1.0]}, measures=[key for key in MEASURES if key not in unknown])
    assert np.isfinite(found.results).all()
    assert (found["mass"][1] - found["mass"][0]) == pytest.approx(0.5)


@pytest.mark.parametrize("name", ["pendulum", "planar2r", "scara5", "ur5", "panda"])
def test_manipulability_is_that_of_the_analysis_however_the_arm_stands(name: str) -> None:
    robot = armdyn.load(name)
    rest = np.random.default_rng(0).uniform(0.2, 1.2, (20, robot.n))
    tilted = replace(robot, base=Placement(rpy=Vec3(0.3, 0.5, -0.7)))
    expected = analysis.manipulability(robot, rest).mean()
    assert analysis.manipulability(tilted, rest).mean() == pytest.approx(expected, rel=1e-12)
    for each in (robot, tilted):
        found = sweep(each, {"payload": [0.0]}, measures=["manipulability"], rest=rest)
        assert found["manipulability"] == pytest.approx(expected)


def test_chunks_do_not_change_results() -> None:
    robot = armdyn.load("planar2r")
    one, many = (sweep(robot, VARY, chunk=size).results for size in (100, 5))
    np.testing.assert_array_equal(one, many)


def test_an_interrupted_sweep_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = armdyn.load("planar2r")
    whole = sweep(robot, VARY, chunk=2)

    def stop(step: str, done: float) -> None:
        if step.startswith("4 of"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(robot, VARY, chunk=2, folder=tmp_path, progress=stop)
    (tmp_path / "chunk_000001.sealed").write_bytes(b"cut off")  # a file damaged in between is computed again
    computed: list[int] = []
    original = plans.evaluate
    monkeypatch.setattr("armdyn.sweeps.workers.evaluate", lambda plan, k: computed.append(k) or original(plan, k))
    resumed = sweep(robot, VARY, chunk=2, folder=tmp_path)
    assert computed == [1, 4, 5] and resumed.taken == 3
    np.testing.assert_array_equal(resumed.results, whole.results)


def test_results_of_another_sweep_are_not_taken(tmp_path: Path) -> None:
    robot = armdyn.load("planar2r")
    sweep(robot, VARY, folder=tmp_path)
    with pytest.raises(FileError, match="another sweep"):
        sweep(robot.with_parameters(l2=0.9), VARY, folder=tmp_path)


def test_dask_gives_the_same() -> None:
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    robot = armdyn.load("planar2r")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        found = sweep(robot, VARY, chunk=3, scheduler=cluster.scheduler_address)
    np.testing.assert_array_equal(found.results, sweep(robot, VARY, chunk=3).results)


def test_samples_fill_their_ranges_and_influence_has_the_right_signs() -> None:
    robot = armdyn.load("planar2r")
    found = sweep(robot, {"l2": (0.2, 0.5), "payload": (0, 3)}, samples=40, measures=["holding_torque", "mass"])
    assert found.points.min(axis=0) == pytest.approx([0.2, 0], abs=0.1)
    assert found.points.max(axis=0) == pytest.approx([0.5, 3], abs=0.1)
    influence = dict(zip(found.labels, found.influence().T, strict=True))
    assert influence["mass"][1] == pytest.approx(1.0)
    assert influence[found.labels[1]][0] > 0.9  # its links weigh 50 kg: their length matters more than the load
    assert influence[found.labels[1]][1] > 0
    assert found.best("mass")["payload"] == found.points[:, 1].min()


def test_table_is_written(tmp_path: Path) -> None:
    found = sweep(armdyn.load("planar2r"), VARY)
    path = found.save(tmp_path / "table.csv")
    read: Any = np.genfromtxt(path, delimiter=",", names=True)
    np.testing.assert_allclose(read["l2"], found.points[:, 0])
    np.testing.assert_allclose(read[found.labels[0]], found.results[:, 0])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"vary": {"l9": [1]}}, UnknownName),
        ({"vary": {}}, ArmdynError),
        ({"vary": {"l2": [np.nan]}}, ArmdynError),
        ({"vary": {"l2": [0.3]}, "measures": ["beauty"]}, UnknownName),
        ({"vary": {"l2": (0.5, 0.3)}, "samples": 4}, ArmdynError),
        ({"vary": {"l2": [0.3]}, "chunk": 0}, ArmdynError),
        ({"vary": {"l2": [0.3]}, "rest": [0.0, 0.0]}, ArmdynError),
        ({"vary": {"elbow.rotor.ration": [3]}}, UnknownName),
        ({"vary": {"l2": [0.3]}, "measures": ["motor_heat"]}, NotApplicable),
        ({"vary": {"l2": [0.3]}, "limits": {"beauty": 1.0}}, UnknownName),
    ],
)
def test_what_is_refused(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        sweep(armdyn.load("planar2r"), **options)
