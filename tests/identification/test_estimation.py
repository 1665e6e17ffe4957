"""Estimators on synthetic data with a known truth."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.fit.essential_parameters import essential_parameters
from armdyn.identification.fit.estimation import Damped, Ordinary, Weighted, autocorrelation_time
from armdyn.identification.fit.instrumental import Instrumental
from armdyn.identification.fit.observation import observe
from armdyn.identification.log.samples import Samples
from armdyn.parameters import base_parameters

EVERYTHING = ("inertial", "rotor", "friction", "offset")


def linear(robot):
    """The robot without what is not linear in its parameters."""
    joints = [replace(j, friction=replace(j.friction, static=0, stribeck=0, offset=0.2)) for j in robot.joints]
    by_name = {joint.name: joint for joint in joints}
    return replace(robot, tree=tuple(by_name.get(j.name, j) for j in robot.tree), expressions=None)


ROBOT = linear(armdyn.random_robot(4, 3, rotors=True, friction=True, prismatic=0.2).bound())
BASE = base_parameters(ROBOT, EVERYTHING)
TRUTH = BASE.values
COMPILED = armdyn.compile(ROBOT)
SIGMA = np.array([0.5, 0.1, 0.02])


def motion(count, n=3, seed=0):
    """Sums of sines, and their derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(count) * 0.005
    w = np.arange(1, 6) * 2 * np.pi * 0.23
    a, phase = rng.uniform(-1, 1, (5, n)) / np.arange(1, 6)[:, None], rng.uniform(0, 6, (5, n))
    angle = w[:, None] * t[:, None, None] + phase
    q = (a * np.sin(angle)).sum(axis=1)
    qd = (a * w[:, None] * np.cos(angle)).sum(axis=1)
    qdd = (-a * w[:, None] ** 2 * np.sin(angle)).sum(axis=1)
    return t, q, qd, qdd


def samples(count=1500, noise=SIGMA, seed=0, decimation=1, dyn=COMPILED):
    t, q, qd, qdd = motion(count, dyn.n)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    tau = tau + np.random.default_rng(100 + seed).standard_normal(tau.shape) * noise
    return Samples(t, q, qd, qdd, tau, np.ones_like(q, dtype=bool), decimation)


def seen(**options):
    return observe(ROBOT, samples(**options), BASE)


def test_factors_hold_all_that_least_squares_needs(monkeypatch):
    """Chunks, decimation with margins and the mask change nothing but rounding."""
    from armdyn.identification.fit import observation as module
    from armdyn.identification.log.filters import decimated, decimated_keep

    data = samples(decimation=5)
    keep = np.abs(data.qd) > 0.2
    data = Samples(data.t, data.q, data.qd, data.qdd, data.tau, keep, 5)
    monkeypatch.setattr(module, "CHUNK", 350)
    chunked = observe(ROBOT, data, BASE)
    Y = decimated(BASE.regressor(data.q, data.qd, data.qdd), 5)
    tau, keep = decimated(data.tau, 5), decimated_keep(keep, 5)
    assert chunked.length == len(tau) and list(chunked.counts) == list(keep.sum(axis=0))
    for j in range(3):
        rows = np.column_stack([Y[keep[:, j], j], tau[keep[:, j], j]])
        np.testing.assert_allclose(chunked.factors[j].T @ chunked.factors[j], rows.T @ rows, rtol=1e-9, atol=1e-9)
    monkeypatch.setattr(module, "KEPT", 0)
    again = observe(ROBOT, data, BASE)
    np.testing.assert_allclose(again.residuals(TRUTH), chunked.residuals(TRUTH), rtol=1e-9, atol=1e-9)


def test_without_noise_every_method_finds_the_truth():
    exact = seen(noise=0.0)
    for estimator in (Ordinary(), Weighted(), Damped()):
        np.testing.assert_allclose(estimator(exact).values, TRUTH, rtol=1e-5, atol=1e-6, err_msg=str(estimator))


@pytest.mark.parametrize("estimator", [Ordinary, Weighted])
def test_standard_deviations_are_those_of_repeated_trials(estimator):
    """Over 60 trials the scatter of the estimates is the standard deviation that each trial tells of itself.

    A standard deviation from 60 trials is itself known to 9 %; the worst of 28 parameters is allowed 4 times that,
    their mean square (28 values that are far from independent, each known to 9 %) 12 %.
    """
    trials = [estimator(white=True)(seen(seed=k, count=500)) for k in range(60)]
    z = np.array([(e.values - TRUTH) / e.std for e in trials])
    spread = np.sqrt((z**2).mean(axis=0))
    assert spread.min() > 0.64 and spread.max() < 1.36
    assert np.sqrt((z**2).mean()) == pytest.approx(1, abs=0.12)


@pytest.mark.parametrize("estimator", [Ordinary, Weighted, Damped])
def test_parameters_that_are_hardly_told_apart(estimator):
    """A column nearly equal to another: the covariance is one, and the sum of both parameters is known as before.

    With c + 1e-5 d in place of the column d, the sum of the parameters of both is what that of c was.
    """
    one = seen()
    c, d = (BASE.names.index(name) for name in ("Fv3", "Fc3"))
    factors = one.factors.copy()
    factors[:, :, d] = factors[:, :, c] + 1e-5 * factors[:, :, d]
    alone, both = estimator(white=True)(one), estimator(white=True)(replace(one, factors=factors))
    assert both.std[[c, d]].min() > 1e4 * alone.std[c]
    assert (both.covariance == both.covariance.T).all()
    eigenvalues = np.linalg.eigvalsh(both.correlations)
    assert eigenvalues[0] > -1e-15 * len(eigenvalues) * eigenvalues[-1]  # rounding of the eigenvalues themselves
    if estimator is not Damped:  # which damps the difference
        together = np.linalg.norm(both.root[c] + both.root[d])
        assert together == pytest.approx(alone.std[c], rel=1e-8)  # the condition 1e5 times rounding is far below


def test_weights_are_those_of_the_joints_and_pay():
    one = seen()
    weighted, ordinary = Weighted()(one), Ordinary()(one)
    assert weighted.sigma == pytest.approx(SIGMA, rel=0.1)
    assert (weighted.std < ordinary.std * 1.05).all() and weighted.std.sum() < 0.7 * ordinary.std.sum()


def test_correlated_errors_make_estimates_worse_and_say_so():
    """Errors of a low-passed noise: the plain formula is too sure, the one with the correlation is not."""
    plain: list[Any] = []
    honest: list[Any] = []
    data = samples(noise=0.0, count=2000)
    for k in range(12):
        white = np.random.default_rng(k).standard_normal((2000 + 30, 3))
        smooth = np.stack([np.convolve(column, np.ones(30) / 30, "valid")[:2000] for column in white.T], axis=1)
        noisy = Samples(data.t, data.q, data.qd, data.qdd, data.tau + 30 * SIGMA * smooth, data.keep)
        observation = observe(ROBOT, noisy, BASE)
        for white_noise, out in ((True, plain), (False, honest)):
            estimate = Weighted(white=white_noise)(observation)
            out.append((estimate.values - TRUTH) / estimate.std)
    assert np.sqrt(np.mean(np.square(plain))) > 2
    assert 0.5 < np.sqrt(np.mean(np.square(honest))) < 1.25


def test_the_correlation_of_known_sequences():
    """First-order sequences: 1 + 2 sum rho = (1 + a) / (1 - a); missing rows change little."""
    rng = np.random.default_rng(1)
    e = rng.standard_normal((40000, 2))
    for k in range(1, len(e)):
        e[k] += np.array([0.0, 0.8]) * e[k - 1]
    assert autocorrelation_time(e) == pytest.approx([1, 9], rel=0.15)
    e[rng.random(e.shape) < 0.2] = np.nan
    assert autocorrelation_time(e) == pytest.approx([1, 9], rel=0.2)


def test_what_a_motion_does_not_tell_is_refused_or_damped():
    """The first joint is at rest: what only its motion shows is not told, and stays as it was."""
    data = samples(noise=1e-6)
    q, qd, qdd = (np.array(x) for x in (data.q, data.qd, data.qdd))
    q[:, 0], qd[:, 0], qdd[:, 0] = 0.3, 0.0, 0.0
    tau = COMPILED.inverse_dynamics(q, qd, qdd)
    observation = observe(ROBOT, Samples(data.t, q, qd, qdd, tau, data.keep), BASE)
    with pytest.raises(ArmdynError, match="Fv1"):
        Weighted()(observation)
    prior = TRUTH * 1.5
    estimate = Damped(prior=prior)(observation)
    untold = np.isinf(estimate.std)
    assert {"Fv1", "Fc1"} <= {BASE.names[i] for i in np.flatnonzero(untold)}
    v = BASE.names.index("Fv1")
    assert estimate.values[v] == pytest.approx(prior[v])
    np.testing.assert_allclose(estimate.values[~untold], TRUTH[~untold], rtol=1e-3, atol=1e-4)
    assert np.nanmax(np.abs(observation.residuals(estimate.values))) < 1e-3


def test_essential_parameters_are_those_that_matter():
    """Parameters that are zero in truth go; those that the torques need stay, and fit as well."""
    robot = armdyn.load("planar2r")
    base = base_parameters(robot, EVERYTHING)
    data = samples(noise=0.05, dyn=armdyn.compile(robot), count=2000)
    observation = observe(robot, data, base)
    full = Weighted(white=True)(observation)
    short = essential_parameters(observation, full)
    zero = {name for name, value in zip(base.names, base.values, strict=True) if abs(value) < 1e-12}
    assert zero and len(set(short.left_out) & zero) >= len(zero) - 1
    told = {name for name, v, s in zip(base.names, base.values, full.std, strict=True) if abs(v) > 6 * s}
    assert not told & set(short.left_out)
    assert short.sigma == pytest.approx(full.sigma, rel=0.01)


def test_instruments_take_the_bias_of_a_noisy_motion_away():
    """Noise of positions, twice differentiated: least squares is biased, instruments are not."""
    data = samples(noise=0.05, count=4000)
    rng = np.random.default_rng(5)
    q, qd, qdd = (x + s * rng.standard_normal(x.shape) for x, s in ((data.q, 0.01), (data.qd, 0.1), (data.qdd, 15.0)))
    observation = observe(ROBOT, Samples(data.t, q, qd, qdd, data.tau, data.keep), BASE)
    clean = Samples(data.t, data.q, data.qd, data.qdd, data.tau, data.keep)
    by_ls, by_iv = Weighted()(observation), Instrumental(reference=clean)(observation)
    z_ls, z_iv = ((e.values - TRUTH) / e.std for e in (by_ls, by_iv))
    assert np.abs(z_ls).max() > 5  # biased: no longer a matter of chance
    assert np.abs(z_iv).max() < 4


def rows_of(observation):
    """All rows of all joints in one matrix, straight from the formulas."""
    data = observation.samples
    Y = BASE.regressor(data.q, data.qd, data.qdd)
    return Y.transpose(1, 0, 2).reshape(-1, BASE.count), data.tau.T.ravel()


def test_least_squares_as_others_compute_it():
    """Ordinary and weighted estimates by NumPy on all rows at once."""
    observation = seen(count=400)
    Y, tau = rows_of(observation)
    np.testing.assert_allclose(Ordinary()(observation).values, np.linalg.lstsq(Y, tau)[0], rtol=1e-7, atol=1e-9)
    weighted = Weighted()(observation)
    w = np.repeat(1 / weighted.sigma, 400)
    np.testing.assert_allclose(weighted.values, np.linalg.lstsq(Y * w[:, None], tau * w)[0], rtol=1e-6, atol=1e-8)
