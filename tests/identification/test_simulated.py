"""Identification of simulated robots whose truth is known: coverage of error bars, held-out torques, possible bodies.

Measurements are made from an analytic excitation of our own: exact torques (with friction) plus white noise, exact
positions plus noise of the encoder, quantised. Nothing else of the motion is measured. What is tested: the error bars
cover the truth as often as they say; the possible robot is possible; the torques of another motion are told to noise.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

import armdyn
from armdyn.identification import Harmonics, Log, Samples, Search, identify, observe, process
from armdyn.identification.excitation.excite import Excitation, excite, predicted_std
from armdyn.identification.fit.estimation import Weighted
from armdyn.parameters import physical_consistency, with_standard_parameters

FAMILIES = {"puma560": ("inertial", "rotor", "friction"), "panda": ("inertial", "friction")}
DRAWS = 100 if os.environ.get("ARMDYN_FULL") else 10
RATE = 200.0
STEP = 2 * np.pi / 2**17
"""Resolution of the encoders, rad; their noise is half of it, so that quantisation does not repeat itself."""
RARE = 1e-4
"""Probability that a bound is broken by a right estimator."""


class Robot(NamedTuple):
    name: str
    truth: armdyn.Robot
    excitation: Excitation
    noise: Any


@cache
def simulated(name: str) -> Robot:
    robot = armdyn.load(name)
    values = {f"{kind}{j + 1}": x for j in range(robot.n) for kind, x in (("Fv", 0.5), ("Fc", 0.8))}
    truth = with_standard_parameters(robot, values)
    found = excite(truth, include=FAMILIES[name], harmonics=Harmonics(count=5), search=Search(starts=1, iterations=30))
    peak = np.abs(found.feasibility.peak["torque"])
    return Robot(name, truth, found, 0.005 * peak + 0.02)


def exact(robot: Robot, motion: Any) -> tuple[Any, ...]:
    t = np.arange(round(motion.duration * RATE)) / RATE
    q, qd, qdd = motion(t), motion(t, 1), motion(t, 2)
    return t, q, qd, qdd, armdyn.compile(robot.truth).inverse_dynamics(q, qd, qdd)


def measured(robot: Robot, motion: Any, seed: int) -> Log:
    t, q, _, _, tau = exact(robot, motion)
    rng = np.random.default_rng(seed)
    encoder = np.round((q + 0.5 * STEP * rng.normal(size=q.shape)) / STEP) * STEP
    return Log(t, encoder, tau + robot.noise * rng.normal(size=tau.shape))


@pytest.mark.parametrize("name", FAMILIES)
def test_error_bars_cover_the_truth_as_often_as_they_say(name: str) -> None:
    """Of known motion. Errors over the root of their covariance are independent: fractions are binomial."""
    robot = simulated(name)
    base = robot.excitation.base
    t, q, qd, qdd, tau = exact(robot, robot.excitation.repeated(2))
    keep = np.abs(qd) > 1e-9  # at rest the sign of friction is rounding
    independent = []
    for seed in range(DRAWS):
        noisy = tau + robot.noise * np.random.default_rng(seed).normal(size=tau.shape)
        estimate = Weighted(white=True)(observe(robot.truth, Samples(t, q, qd, qdd, noisy, keep), base))
        independent.append(np.linalg.solve(np.linalg.cholesky(estimate.covariance), estimate.values - base.values))
        np.testing.assert_allclose(estimate.sigma, robot.noise, rtol=0.1)  # 4000 rows: 1/sqrt(8000) = 1.1 %
    for sigmas in (1, 2, 3):
        inside, count = int((np.abs(independent) < sigmas).sum()), np.size(independent)
        share = 1 - 2 * stats.norm.sf(sigmas)
        low, high = stats.binom.ppf([RARE / 2, 1 - RARE / 2], count, share)
        assert low <= inside <= high, f"{inside} of {count} within {sigmas} sigma"
    predicted = predicted_std(base, robot.excitation.repeated(2), robot.noise, rate=RATE)
    np.testing.assert_allclose(estimate.std, predicted.std, rtol=0.1)  # as it was told before the robot moved


@pytest.mark.parametrize("name", FAMILIES)
def test_error_bars_of_measured_logs_cover_the_truth(name: str) -> None:
    """Of positions that are quantised, filtered and differentiated: what `identify` does by itself.

    Bars are widened for correlated residuals and may be too wide, not too narrow. Parameters of one draw are not
    independent, draws are: the bound is that of as many draws.
    """
    robot = simulated(name)
    base = robot.excitation.base
    errors = []
    for seed in range(DRAWS):
        samples = process(measured(robot, robot.excitation.repeated(2), seed), robot.truth)
        estimate = Weighted()(observe(robot.truth, samples, base))
        errors.append((estimate.values - base.values) / estimate.std)
    z = np.array(errors)
    for sigmas in (1, 3):
        shares = (np.abs(z) < sigmas).mean(axis=1)  # by draw
        least = 1 - 2 * stats.norm.sf(sigmas)
        slack = stats.t.ppf(1 - RARE, DRAWS - 1) * max(shares.std(ddof=1), 0.5 / base.count) / np.sqrt(DRAWS)
        assert shares.mean() > least - slack, f"{shares.mean():.1%} within {sigmas} sigma"
        assert sigmas == 3 or shares.mean() < 0.85  # nor are they useless
    # Systematic errors (filter, quantisation, sign of friction near rest) stay below the random ones: the mean of z
    # over the draws has a deviation of 1/sqrt(DRAWS) by chance; what is beyond it is bias, in standard deviations.
    bias = np.sqrt(np.maximum((z.mean(axis=0) ** 2).mean() - 1 / DRAWS, 0))
    assert bias < 0.5, bias


@pytest.mark.parametrize("name", FAMILIES)
def test_another_motion_is_told_to_noise_and_the_robot_is_possible(name: str) -> None:
    robot = simulated(name)
    kind = robot.excitation.design
    other = kind.harmonics.motion(kind.random(np.random.default_rng(8)))
    logs = [measured(robot, motion, seed) for seed, motion in enumerate((robot.excitation.repeated(2), other))]
    fit = identify(robot.truth, logs[0], validation=logs[1], include=FAMILIES[name])
    assert physical_consistency(fit.robot).consistent
    assert fit.validation.held_out
    _, q, qd, qdd, tau = exact(robot, other)
    moving = np.abs(qd) > 0.02
    predicted = armdyn.compile(fit.robot).inverse_dynamics(q, qd, qdd)
    error = np.sqrt([np.mean((predicted - tau)[moving[:, j], j] ** 2) for j in range(robot.truth.n)])
    assert (error < robot.noise).all()  # against the exact torques: far below, so that noise is what is left
    blind = with_standard_parameters(robot.truth, {f"M{j + 1}": 0.5 for j in range(robot.truth.n)})
    wrong = armdyn.compile(blind).inverse_dynamics(q, qd, qdd) - tau
    assert np.sqrt((wrong**2).mean()) > 5 * np.sqrt((error**2).mean())  # a test that a wrong model fails
