"""The law of friction of every joint, told by its torques."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, UnknownName
from armdyn.identification.friction_choice import LAWS, select_friction
from armdyn.identification.samples import Samples
from armdyn.robot.parts import Friction
from armdyn.trajectory import fourier

TRUTH = {
    "viscous": Friction(viscous=3.0),
    "coulomb": Friction(coulomb=2.0),
    "coulomb and viscous": Friction(viscous=2.5, coulomb=3.0),
    "coulomb, viscous, offset": Friction(viscous=2.5, coulomb=3.0, offset=-0.8),
    "stribeck": Friction(viscous=2.0, coulomb=2.0, static=4.0, stribeck=0.15),
    "smooth": Friction(viscous=2.0, coulomb=4.0, width=0.2, law="smooth"),
}


def rubbing(laws: list[Friction | None]) -> armdyn.Robot:
    robot = armdyn.load("puma560").without("friction")
    joints = {joint.name: replace(joint, friction=law) for joint, law in zip(robot.joints, laws, strict=True)}
    return replace(robot, tree=tuple(joints.get(j.name, j) for j in robot.tree), expressions=None)


def samples(robot: armdyn.Robot, noise: float, seed: int, count: int = 3000, decimation: int = 1) -> Samples:
    rng = np.random.default_rng(7)
    course = fourier(np.zeros(6), rng.normal(size=(6, 5)) * 0.4, rng.normal(size=(6, 5)) * 0.4, 10.0)
    t = np.arange(count) * 10.0 / count
    q, qd, qdd = course(t), course(t, 1), course(t, 2)
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    tau = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return Samples(t, q, qd, qdd, tau, np.ones(q.shape, dtype=bool), decimation)


def test_every_law_is_recognised_with_its_numbers() -> None:
    robot = rubbing(list(TRUTH.values()))
    study = select_friction(robot.without("friction"), samples(robot, 0.1, 0), white=True)
    for found, (name, law) in zip(study.joints, TRUTH.items(), strict=True):
        assert found.best.law == name, str(study)
        # A law that contains the true one pays log(3000) = 8 per parameter, less what chance gives back (chi squared).
        assert found.evidence > 3
        assert found.best.sigma == pytest.approx(0.1, rel=0.05)
        for field in ("viscous", "coulomb", "static", "stribeck", "width", "offset"):
            assert getattr(found.best.friction, field) == pytest.approx(getattr(law, field), abs=0.1), (name, field)


def test_found_friction_gives_the_torques_back() -> None:
    robot = rubbing(list(TRUTH.values()))
    study = select_friction(robot.without("friction"), samples(robot, 0.02, 1), white=True)
    qd = np.random.default_rng(2).uniform(-1, 1, (200, 6))
    expected, given = (armdyn.compile(each).friction(qd) for each in (robot, study.robot))
    np.testing.assert_allclose(given, expected, atol=0.1)
    assert "BIC" in str(study) and "stribeck" in str(study)


def test_no_friction_is_found_where_there_is_none() -> None:
    robot = rubbing([None] * 6)
    study = select_friction(robot, samples(robot, 0.1, 3), white=True)
    assert [each.best.law for each in study.joints] == ["none"] * 6


def test_decimated_rows_tell_the_same() -> None:
    """Torque and columns go through one filter, so the law is that of the undecimated rows."""
    robot = rubbing([TRUTH["coulomb and viscous"]] * 6)
    study = select_friction(robot, samples(robot, 0.02, 4, decimation=5), laws=("viscous", "coulomb and viscous"))
    for each in study.joints:
        assert each.best.law == "coulomb and viscous" and each.samples == 600
        assert each.best.friction.coulomb == pytest.approx(3.0, abs=0.02)


def test_errors() -> None:
    robot = rubbing([None] * 6)
    with pytest.raises(UnknownName, match="friction law"):
        select_friction(robot, samples(robot, 0.1, 0), laws=("sticky",))
    with pytest.raises(ArmdynError, match="samples for"):
        select_friction(robot, samples(robot, 0.1, 0, count=40))
    assert "none" in LAWS
