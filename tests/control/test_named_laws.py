"""Control laws by name: what builds them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import control
from armdyn.control import LAWS, Desired, law
from armdyn.errors import ArmdynError, UnknownName
from armdyn.simulation import Solver, simulate

GIVEN: dict[str, Any] = {
    "admittance": {"force": lambda t, q, qd: np.zeros(6)},
    "torques": {"t": [0.0, 1.0], "tau": np.zeros((2, 3))},
}


@pytest.fixture(scope="module")
def dyn() -> armdyn.Dynamics:
    return armdyn.compile(armdyn.load("planar3r"))


@pytest.mark.parametrize("name", LAWS)
def test_every_law_can_be_built_and_gives_torques(name: str, dyn: armdyn.Dynamics) -> None:
    made = law(name, dyn, **GIVEN.get(name, {}))
    q, qd = np.array([0.3, 0.5, -0.4]), np.array([0.1, 0.2, -0.1])
    desired = Desired(dyn.pose(q + 0.1), np.zeros(6), np.zeros(6)) if made.in_task_space else Desired(q + 0.1, qd, qd)
    tau = made(0.0, q, qd, desired, made.start(q, qd))
    assert tau.shape == (3,) and np.isfinite(tau).all()
    assert tau.any() == (name not in ("none", "torques"))


def test_gains_and_designs(dyn: armdyn.Dynamics) -> None:
    """Words of the class, words of the design, and both: those given replace those designed."""
    a = control.largest_inertias(dyn)
    assert law("computed_torque", dyn, kp=200, kd=10).summary == "ComputedTorque(kp=200, kd=10)"
    by_frequency: Any = law("computed_torque", dyn, frequency=10, damping_ratio=0.7, predictive=True)
    assert by_frequency.kd == pytest.approx([14.0] * 3) and by_frequency.predictive
    pid: Any = law("pid", dyn, frequency=5.0, ki=0.0, torque_limits=7.0)
    assert pid.kp == pytest.approx(75 * a) and not pid.integrates and (pid.torque_limits == 7.0).all()
    plain: Any = law("pid", dyn, kp=30.0, kd=3.0)
    assert plain.summary == "PID(kp=30, kd=3)"
    soft: Any = law("impedance", dyn, stiffness=200.0)
    assert soft.stiffness.max() == pytest.approx(200.0) and soft.rows == "x y rz"
    assert law("impedance", dyn, stiffness=200.0, damping=30.0).stiffness.tolist() == [200.0] * 3  # type: ignore[attr-defined]
    robust: Any = law("robust", dyn, errors={"mass": 0.2})
    assert robust.errors == pytest.approx(control.parameter_errors(dyn, mass=0.2))
    assert law("pd_gravity", dyn).follow  # type: ignore[attr-defined]


def test_torques_of_a_file_are_a_law(dyn: armdyn.Dynamics, tmp_path: Path) -> None:
    run = simulate(dyn, law("none", dyn), duration=0.1, q0=[0.1, 0.2, 0.3], solver=Solver(dt=1e-2))
    table: Any = law("torques", dyn, file=str(run.save(tmp_path / "run.csv")))
    assert table.duration == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("name", "gains", "kind", "words"),
    [
        ("computed_torqe", {}, UnknownName, "Did you mean 'computed_torque'?"),
        ("computed_torque", {"kpp": 3}, UnknownName, "control law 'computed_torque': unknown gain 'kpp'"),
        ("computed_torque", {"frequncy": 3}, UnknownName, "Did you mean 'frequency'?"),
        ("none", {"kp": 3}, UnknownName, "there is no gain here"),
        ("pid", {"kp": 3, "frequency": 2}, ArmdynError, "both frequency and kp"),
        ("pid", {"kp": "much", "kd": 3}, ArmdynError, "kp = 'much'. Expected: one number"),
        ("robust", {"errors": {"weight": 0.1}}, UnknownName, "unknown error of the model 'weight'"),
        ("admittance", {}, ArmdynError, "force is missing"),
        ("torques", {}, ArmdynError, "file is missing"),
    ],
)
def test_what_is_refused(
    dyn: armdyn.Dynamics, name: str, gains: dict[str, Any], kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as caught:
        law(name, dyn, **gains)
    assert words in str(caught.value)
