"""Stiffness of elastic joints from logs with both encoders; the plant is MuJoCo with springs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import armdyn
from armdyn.cli import application
from armdyn.errors import ArmdynError, FeatureError
from armdyn.identification import identify, stiffness
from armdyn.robot import Robot
from support.elastic_mujoco import ElasticArm

ROW: dict[str, Any] = {
    "type": "revolute",
    "a": 0.35,
    "com": [-0.15, 0.01, 0.0],
    "inertia": [0.004, 0, 0, 0.02, 0, 0.02],
}
HELD = 5e-4
"""Torques are held for a sample of 1 ms: on average they act this much later than their stamps, s."""
TRUTH = {"stiffness": (900.0, 350.0), "damping": (1.2, 0.4), "inertia": (0.08, 0.03)}


def arm() -> Robot:
    rows = [
        ROW | {"mass": mass, "rotor": {"inertia": Ia / 2500, "ratio": 50.0}, "elastic": {"stiffness": k, "damping": d},
               "alpha": alpha}
        for mass, Ia, k, d, alpha in zip((2.5, 1.5), TRUTH["inertia"], TRUTH["stiffness"], TRUTH["damping"],
                                         (1.2, 0.0), strict=True)
    ]  # fmt: skip
    return Robot.from_dh(rows, name="soft", gravity=(0.0, -9.81, 0.0))


def logged(robot: Robot, noise: float, seconds: float = 10.0) -> dict[str, Any]:
    """What encoders and current sensors tell of a motion under PD control of the motors, at 1 kHz."""
    plant, rng = ElasticArm(robot, 2e-4), np.random.default_rng(0)
    plant.set_state(np.zeros(4), np.zeros(4))
    t = np.arange(0, seconds, 1e-3)
    q, theta, tau = np.zeros((3, len(t), 2))
    for i, now in enumerate(t):
        x, xd = plant.state()
        goal = np.array(
            [0.6 * np.sin(2.1 * now) + 0.2 * np.sin(11 * now), 0.7 * np.sin(3.3 * now + 1) + 0.1 * np.sin(17 * now)]
        )
        q[i], theta[i] = x[:2], x[2:]
        tau[i] = 60 * (goal - theta[i]) - 4 * xd[2:]
        for _ in range(5):
            plant.step(tau[i])
    return {"t": t, "q": q + noise * rng.normal(size=q.shape), "theta": theta + noise * rng.normal(size=q.shape),
            "tau": tau + 2e3 * noise * rng.normal(size=q.shape)}  # fmt: skip


def guess() -> Robot:
    """What the user knows: masses, and that the joints are soft."""
    rows = [
        ROW | {"mass": mass, "alpha": alpha, "elastic": {"stiffness": 100.0}} for mass, alpha in ((2.5, 1.2), (1.5, 0))
    ]
    return Robot.from_dh(rows, name="soft", gravity=(0.0, -9.81, 0.0))


@pytest.fixture(scope="module")
def log() -> dict[str, Any]:
    return logged(arm(), 1e-5)


def test_truth_is_inside_the_bars(log: dict[str, Any]) -> None:
    found = stiffness(guess(), log, delay=HELD)
    for j, joint in enumerate(found.joints):
        for part, values in TRUTH.items():
            assert abs(getattr(joint, part) - values[j]) < 3 * joint.std[part], (joint.name, part)
        assert joint.std["stiffness"] < 0.01 * joint.stiffness and joint.noise_share < 0.05
        assert abs(joint.viscous) < 3 * joint.std["viscous"] and abs(joint.coulomb) < 3 * joint.std["coulomb"]
    again = found.robot
    assert [joint.elastic.stiffness for joint in again.joints if joint.elastic] == [j.stiffness for j in found.joints]
    assert "stiffness" in str(found)
    undelayed = stiffness(guess(), log)
    for with_delay, without in zip(found.joints, undelayed.joints, strict=True):  # as documented: k times the delay
        assert without.damping - with_delay.damping == pytest.approx(HELD * with_delay.stiffness, rel=0.2)


def test_links_follow_from_the_springs(log: dict[str, Any]) -> None:
    """The rigid robot's parameters from the torques of the springs: torques of the true links."""
    found = stiffness(guess(), log)
    links = arm().without("elastic", "rotors")
    fit = identify(links, found.links_log, friction="plain")
    q, qd, qdd = np.random.default_rng(1).uniform(-1, 1, (3, 20, 2))
    expected = armdyn.compile(links).inverse_dynamics(q, qd, qdd)
    assert np.abs(fit.predict(np.arange(20.0), q, qd, qdd) - expected).max() < 0.02 * np.abs(expected).max()


def test_files_and_errors(log: dict[str, Any], tmp_path: Path) -> None:
    table = np.column_stack([log["t"], log["q"], log["theta"], log["tau"]])
    path = tmp_path / "log.csv"
    np.savetxt(path, table, delimiter=",", header="t,q1,q2,theta1,theta2,tau1,tau2", comments="")
    found = stiffness(guess(), path)
    expected = stiffness(guess(), log)
    assert [j.stiffness for j in found.joints] == pytest.approx([j.stiffness for j in expected.joints], rel=1e-9)
    saved, out = guess().save(tmp_path / "soft.toml"), tmp_path / "found.toml"
    done = CliRunner().invoke(application(), ["stiffness", str(saved), str(path), "--out", str(out)])
    assert done.exit_code == 0 and "Elastic joints" in done.output
    assert [joint.elastic.stiffness for joint in armdyn.load(out).joints if joint.elastic] == pytest.approx(
        [j.stiffness for j in expected.joints]
    )
    with pytest.raises(ArmdynError, match="no joint is elastic"):
        stiffness(guess().without("elastic"), log)
    with pytest.raises(FeatureError, match="loops"):
        stiffness(armdyn.load("parallelogram"), log)
    with pytest.raises(FeatureError, match="dynamics.regressor does not take into account: elastic"):
        _ = armdyn.compile(arm()).regressor
    with pytest.raises(FeatureError, match="parameters.base_parameters does not take into account: elastic"):
        armdyn.base_parameters(arm())
