"""Joints that rest: point-to-point motion, in which one joint moves while others hold."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.presliding import torques_along
from armdyn.identification import Fit, Log
from armdyn.typing import Array
from support import logs


def _motion(n: int, seed: int, seconds: float = 60.0) -> tuple[Array, Array, Array, Array]:
    t = np.arange(0, seconds, 0.004)
    return t, *logs.point_to_point(n, t, seed)


def _log(seed: int) -> Log:
    """Gears of ur5 with presliding: at rest they hold part of the load, as their state says."""
    arm, tree = logs.rubbing("ur5"), []
    for joint in arm.tree:
        if joint.friction is not None:
            half = float(joint.friction.coulomb) / 2
            values = {"presliding_1": half, "distance_1": 0.004}
            joint = replace(joint, friction=replace(joint.friction, law="rounded", width=0.02, values=values))
        tree.append(joint)
    truth = replace(arm, tree=tuple(tree), expressions=None)
    t, q, qd, qdd = _motion(arm.n, seed)
    tau = torques_along(truth, q, qd, qdd)
    rng = np.random.default_rng(seed)
    noisy = tau + 0.02 * tau.std(axis=0) * rng.standard_normal(tau.shape)
    return Log(t, q + 1e-6 * rng.standard_normal(q.shape), noisy, joints=tuple(j.name for j in arm.joints))


@pytest.fixture(scope="module")
def fit() -> Fit:
    return armdyn.identify(armdyn.load("ur5"), _log(1), validation=_log(2), check=False)


def test_joints_rest_most_of_the_time_and_both_errors_are_told(fit: Fit) -> None:
    errors = fit.files[0].errors
    assert (errors.resting > 0.5).all()
    text = str(fit)
    assert "at rest" in text and "rows at rest" in text
    assert set(fit.record()["files"][".toml"]) >= {"moving", "rest", "resting"}


def test_neither_motion_nor_rest_runs_away(fit: Fit) -> None:
    """A law bent by rests, or parameters that only rests fix, would show as errors far above the noise of 2 %."""
    errors = fit.files[0].errors
    assert (errors.moving < 0.03).all(), errors.moving
    assert (errors.rest < 0.1).all(), errors.rest


def test_coulomb_friction_is_not_lost_at_rest_to_the_sign_of_the_noise() -> None:
    """The sign of a velocity that is noise would halve the friction of joints that rest most of the time."""
    truth = logs.rubbing("ur5")
    t, q, qd, qdd = _motion(truth.n, 1, 30.0)
    tau, rng = torques_along(truth, q, qd, qdd), np.random.default_rng(1)
    noisy = tau + 0.02 * tau.std(axis=0) * rng.standard_normal(tau.shape)
    log = Log(t, q + 2e-5 * rng.standard_normal(q.shape), noisy, joints=tuple(j.name for j in truth.joints))
    found = armdyn.identify(armdyn.load("ur5"), log, friction="plain", check=False).robot
    ratio = [
        float(a.friction.coulomb) / float(b.friction.coulomb)
        for a, b in zip(found.joints, truth.joints, strict=True)
        if a.friction is not None and b.friction is not None
    ]
    assert len(ratio) == truth.n and np.array(ratio) == pytest.approx(1, abs=0.1), ratio
