"""Bounds on torque errors: other models stay within them, they are close to what is found, broken ones are noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.analysis import torque_bound
from armdyn.analysis.error_bound import by_rates
from armdyn.errors import ArmdynError
from armdyn.robot.random import random_robot


def largest_errors(robot: armdyn.Robot, mass: float, payload: tuple[float, float], motions: Any) -> Any:
    """(n,) the largest errors at motions, (N, n) each, by Pinocchio: one body after the other is made heavier."""
    pinocchio = pytest.importorskip("pinocchio", reason="the second engine is not installed")
    from support.pinocchio_model import build

    bare = robot.without("friction")
    models = [build(bare)]
    for i in range(1, models[0].njoints):
        models.append(build(bare))
        own = models[-1].inertias[i]
        models[-1].inertias[i] = pinocchio.Inertia(own.mass * (1 + mass), own.lever, own.inertia * (1 + mass))
    models.append(build(bare.with_payload(1.0)))
    data = [model.createData() for model in models]
    highest = np.zeros(robot.n)
    for motion in zip(*motions, strict=True):
        tau, *others = (pinocchio.rnea(model, each, *motion) for model, each in zip(models, data, strict=True))
        bodies = np.abs(np.array(others[:-1]) - tau).sum(axis=0)
        loads = [np.abs(kg * (others[-1] - tau)) for kg in payload]
        highest = np.maximum(highest, bodies + np.maximum(*loads))
    return highest


def assert_holds(robot: armdyn.Robot, payload: tuple[float, float], closeness: float, **options: Any) -> None:
    found = armdyn.bound(robot, mass=0.1, payload=payload, **options)
    motions = found.box.samples(1000, np.random.default_rng(7))
    assert (largest_errors(robot, 0.1, payload, motions) <= found.error * (1 + 1e-12)).all()
    at_worst = largest_errors(robot, 0.1, payload, found.worst)
    assert (at_worst >= found.found * (1 - 1e-9) - 1e-12).all(), "what is found is not reached"
    assert (found.error <= closeness * found.found + 1e-9).all()


@pytest.mark.parametrize(("name", "closeness"), [("ur5", 1.3), ("puma560", 1.3), ("planar3r", 1.1)])
def test_pinocchio_with_other_masses_stays_within_the_bound(name: str, closeness: float) -> None:
    assert_holds(armdyn.load(name).without("rotors_on_links", "rotors"), (0.0, 5.0), closeness)


@pytest.mark.parametrize("seed", range(4))
def test_random_arms(seed: int) -> None:
    """Mixed joints, skew axes, a tilted base."""
    robot = random_robot(seed, 4, prismatic=0.4).without("friction", "rotors")
    assert_holds(robot, (1.0, 2.0), 1.4, v_max=1.5, a_max=4.0)


@pytest.mark.parametrize("broken", ["half", "middle", "rest"])
def test_a_broken_proof_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a cause too small, without the known part of a payload, or without gravity, the bound no longer holds."""
    whole = torque_bound._Causes.__init__

    def damaged(self: Any, *arguments: Any) -> None:
        whole(self, *arguments)
        if broken == "rest":
            self.torques = [[x - x for x in row] for row in self.torques]
            self._parts = [by_rates(row, self.inputs) for row in self.torques]
        else:
            setattr(self, broken, 0.5 * getattr(self, broken))
        self.errors = [self._error(row) for row in self.torques]

    monkeypatch.setattr(torque_bound._Causes, "__init__", damaged)
    with pytest.raises(AssertionError):
        assert_holds(armdyn.load("planar3r"), (0.0, 5.0), 1.2)


def test_friction_is_added_joint_by_joint() -> None:
    robot = armdyn.load("puma560")
    alone, rubbing = (armdyn.bound(robot, friction=share, points=10_000) for share in (0.0, 0.5))
    friction = armdyn.compile(robot).friction(alone.box.velocity) - armdyn.compile(robot.without("friction")).friction(
        alone.box.velocity
    )
    if not set(robot.features) & {"asymmetric_friction"}:
        np.testing.assert_allclose(rubbing.error - alone.error, 0.5 * np.abs(friction), rtol=1e-9)


def test_bad_requests() -> None:
    robot = armdyn.load("planar2r")
    for wrong in ({"mass": 1.5}, {"mass": 0.0}, {"payload": (3.0, 1.0)}, {"friction": -0.1}):
        with pytest.raises(ArmdynError, match="expected|Expected"):
            armdyn.bound(robot, **wrong)  # type: ignore[arg-type]
