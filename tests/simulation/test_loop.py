"""What stands between law and arm: sampling, measurement, references; and what a run can do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.control import PID, ComputedTorque, NoControl, ResolvedAcceleration
from armdyn.errors import ArmdynError, FileError, MissingExtra
from armdyn.simulation import Actuation, Hold, Sensors, Solver, simulate
from simulation.arms import Wave, dynamics
from support.pictures import colors_in

SPY = PID(kp=1.0, kd=0.0)
"""About the reference 0 its torque is minus the position it sees."""


def spied(**options: Any) -> armdyn.Run:
    return simulate(dynamics("planar2r"), SPY, [0.0, 0.0], 0.3, q0=[0.3, -0.2], **options)


def test_torques_are_held_over_the_control_period() -> None:
    run = spied(actuation=Actuation(control_period=5e-3))
    tau = run.tau[:300].reshape(60, 5, 2)
    assert np.array_equal(tau, np.broadcast_to(tau[:, :1], tau.shape))
    assert np.array_equal(tau[:, 0], -run.q[:300:5])


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_holding_does_not_depend_on_the_method(integrator: str) -> None:
    """A held law sees samples only: both methods integrate the same piecewise constant torques."""
    dyn = dynamics("planar2r")
    law = PID(kp=80, kd=8, ki=40)
    held = Actuation(control_period=4e-3)
    one = simulate(dyn, law, Wave(2), 0.2, actuation=held, solver=Solver(dt=1e-3, integrator="rk4"))
    other = simulate(dyn, law, Wave(2), 0.2, actuation=held, solver=Solver(dt=1e-3, integrator=integrator))
    assert np.abs(one.q - other.q).max() < 1e-8
    assert np.abs(one.tau - other.tau).max() < 1e-5


def test_resolution_of_the_sensors() -> None:
    run = spied(sensors=Sensors(resolution=0.01))
    seen = -run.tau
    assert np.abs(seen / 0.01 - np.round(seen / 0.01)).max() < 1e-9
    assert np.abs(seen - run.q).max() <= 0.005 + 1e-12


def test_delay() -> None:
    run = spied(sensors=Sensors(delay=7e-3))
    assert np.array_equal(-run.tau[7:], run.q[:-7])
    assert np.array_equal(-run.tau[:7], np.broadcast_to(run.q[0], (7, 2)))


def test_noise_has_its_size_and_its_seed() -> None:
    one, same, other = (spied(sensors=Sensors(noise_q=0.02, seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(one.tau, same.tau)
    assert not np.array_equal(one.tau, other.tau)
    noise = -one.tau - one.q
    assert noise.std() == pytest.approx(0.02, rel=0.1)  # 602 samples: 3 % expected
    assert abs(noise.mean()) < 0.004


def test_velocities_by_differences() -> None:
    damper = PID(kp=0.0, kd=1.0)
    dyn = dynamics("planar2r")
    run = simulate(dyn, damper, Hold([0.0, 0.0]), 0.1, qd0=[0.5, -0.4], sensors=Sensors(differentiate=True))
    assert np.allclose(-run.tau[1:], np.diff(run.q, axis=0) / 1e-3, rtol=0, atol=1e-12)


def test_references_for_single_times() -> None:
    """A reference that cannot take arrays of times is asked time by time."""
    wave = Wave(2)

    def alone(t: float, order: int = 0) -> list[float]:
        return [float(x) for x in wave(float(t), order)]

    dyn = dynamics("planar2r")
    runs = [simulate(dyn, ComputedTorque(dyn, 100, 20), ref, 0.1) for ref in (wave, alone)]
    assert np.array_equal(runs[0].q, runs[1].q)


def test_start_is_on_the_reference_by_default() -> None:
    dyn = dynamics("planar2r")
    run = simulate(dyn, ComputedTorque(dyn, 100, 20), Wave(2), 0.1)
    assert np.array_equal(run.q[0], Wave(2)(0.0))
    assert np.array_equal(run.qd[0], Wave(2)(0.0, 1))
    assert run.duration == pytest.approx(0.1)
    assert simulate(dyn, ComputedTorque(dyn, 100, 20), Wave(2)).duration == pytest.approx(Wave.duration)


def test_a_planned_motion_is_a_reference() -> None:
    dyn = dynamics("planar2r")
    motion = armdyn.point_to_point([0.0, 0.0], [0.5, -0.3], "quintic", duration=0.5)
    run = simulate(dyn, ComputedTorque(dyn, 400, 40), motion, solver=Solver(integrator="rk4"))
    assert run.largest_error().max() < 1e-9
    assert np.allclose(run.q[-1], [0.5, -0.3], rtol=0, atol=1e-9)


def test_power_is_the_rate_of_energy() -> None:
    """Without friction d(T + U)/dt = tau . qd."""
    dyn = dynamics("planar2r")
    run = simulate(dyn, ComputedTorque(dyn, 100, 20), Wave(2), 1.0, solver=Solver(dt=1e-3, integrator="rk4"))
    work = np.concatenate([[0.0], np.cumsum((run.power[1:] + run.power[:-1]) / 2 * 1e-3)])
    assert np.abs(run.energy - run.energy[0] - work).max() < 1e-6 * np.ptp(run.energy)  # trapezoids: dt^2 w^2 / 12


# Files and pictures ---------------------------------------------------------------------------------------------------


def test_runs_are_frozen() -> None:
    run = spied()
    with pytest.raises(ValueError, match="read-only"):
        run.q[0, 0] = 1.0
    with pytest.raises(AttributeError):
        run.dt = 1.0  # type: ignore[misc]
    assert "planar2r" in repr(run)


def test_csv_and_npz_hold_every_sample(tmp_path: Path) -> None:
    run = simulate(dynamics("planar2r"), PID(kp=80, kd=8, ki=40), Wave(2), 0.05)
    columns = run.columns()
    names = ["t", "q1", "q2", "qd1", "qd2", "tau1", "tau2", "e1", "e2"]
    assert list(columns)[:9] == names
    assert "z1" in columns
    path = run.save(tmp_path / "run.csv")
    table = np.genfromtxt(path, delimiter=",", names=True)
    for name, column in columns.items():
        assert np.array_equal(table[name], column), name  # 17 digits: to the last bit
    with np.load(run.save(tmp_path / "run.npz")) as saved:
        assert all(np.array_equal(saved[name], column) for name, column in columns.items())
        assert saved["status"] == "FINISHED"
        assert saved["robot"] == "planar2r"


def test_parquet_needs_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match="pip install pyarrow"):
        spied().save(tmp_path / "run.parquet")
    with pytest.raises(FileError, match=r"\.csv, \.npz, \.parquet"):
        spied().save(tmp_path / "run.xlsx")


@pytest.mark.parametrize("name", ["scara5", "planar2r"])
def test_figures_are_drawn(tmp_path: Path, name: str) -> None:
    dyn = dynamics(name)
    run = simulate(dyn, ComputedTorque(dyn, 100, 20), Wave(dyn.n, 0.1), 0.3, solver=Solver(dt=1e-2))
    figure = run.plot(tmp_path / "run.png")
    assert {"#3b6fd4", "#e58a3c"} <= colors_in(tmp_path / "run.png"), "a curve for each joint"
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert {"Tool path", "Tracking error", "Actuator torques", "Energy"} <= set(titles)


def test_figures_of_tasks_and_of_cut_off_runs(tmp_path: Path) -> None:
    dyn = dynamics("planar2r")
    law = ResolvedAcceleration(dyn, 100, 20, rows="x y")
    task = simulate(dyn, law, Hold([1.2, 0.5, 0.0]), 0.3, q0=[0.4, -0.8], solver=Solver(dt=1e-2))
    assert "row 2" in [line.get_label() for line in task.plot().axes[2].lines]
    lost = simulate(dyn, ComputedTorque(dyn, 1e7, 0), Wave(2), 1.0, q0=[0.1, 0], solver=Solver(integrator="rk4"))
    assert "UNSTABLE" in lost.plot(tmp_path / "lost.svg").get_suptitle()


def test_sensors_must_be_possible() -> None:
    with pytest.raises(ArmdynError, match="noise_q = -1"):
        Sensors(noise_q=-1)


def test_no_control_is_no_torque() -> None:
    run = simulate(dynamics("planar2r"), NoControl(2), [0.0, 0.0], 0.1)
    assert not run.tau.any()
