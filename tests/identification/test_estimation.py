"""Estimators on synthetic data with a known truth."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification.essential_parameters import essential_parameters
from armdyn.identification.estimation import Damped, Ordinary, Weighted, autocorrelation_time
from armdyn.identification.instrumental import Instrumental
from armdyn.identification.observation import observe
from armdyn.identification.robust_estimation import HUBER, Robust
from armdyn.identification.samples import Samples
from armdyn.identification.sequential_estimation import Sequential
from armdyn.identification.total_estimation import Total
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
    from armdyn.identification import observation as module
    from armdyn.identification.filters import decimated, decimated_keep

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
    for estimator in (Ordinary(), Weighted(), Robust(), Sequential(), Total(), Damped()):
        np.testing.assert_allclose(estimator(exact).values, TRUTH, rtol=1e-5, atol=1e-6, err_msg=str(estimator))


@pytest.mark.parametrize("estimator", [Ordinary, Weighted, Robust, Sequential])
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


@pytest.mark.parametrize("estimator", [Ordinary, Weighted, Damped, Sequential, Total])
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
    if estimator not in (Damped, Total):  # these damp the difference, or take the columns to be noisy
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


@pytest.mark.parametrize("loss", ["huber", "tukey"])
def test_outliers_do_not_bend_the_robust_estimate(loss):
    data = samples()
    rng = np.random.default_rng(0)
    hit = rng.random(data.tau.shape) < 0.05
    bent = Samples(data.t, data.q, data.qd, data.qdd, data.tau + hit * 60 * SIGMA, data.keep)
    observation = observe(ROBOT, bent, BASE)
    robust, plain = Robust(loss=loss)(observation), Weighted()(observation)
    clean = Weighted()(observe(ROBOT, data, BASE))
    error = np.abs((robust.values - TRUTH) / clean.std)
    assert error.max() < (8 if loss == "huber" else 4.5)
    assert np.abs((plain.values - TRUTH) / clean.std).max() > 2 * error.max()


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


def test_sequential_goes_from_the_tip_to_the_base():
    estimate = Sequential()(seen())
    assert estimate.notes[0].startswith("Order of estimation: joint 3")
    assert np.abs((estimate.values - TRUTH) / estimate.std).max() < 5
    better = Weighted()(seen())
    assert estimate.std.sum() > better.std.sum()


def test_total_least_squares_is_least_squares_with_errors_in_columns():
    """Errors of equal, known size in every entry of a random problem: TLS is right where LS is shrunk."""
    rng = np.random.default_rng(0)
    observation = seen(noise=0.0)
    p = BASE.count
    A = rng.standard_normal((4000, p))
    x = rng.standard_normal(p)
    noisy = np.column_stack([A + 0.5 * rng.standard_normal(A.shape), A @ x + 0.5 * rng.standard_normal(4000)])
    factors = np.zeros_like(observation.factors)
    factors[0] = np.linalg.qr(noisy, mode="r")
    names = tuple(f"p{i}" for i in range(p))
    made = replace(observation, factors=factors, counts=np.array([4000, 0, 0]), base=replace(BASE, names=names))
    tls = Total(noise=np.ones(p), white=True)(made)
    ols = Ordinary(white=True)(made)
    assert np.linalg.norm(tls.values - x) < 0.3 * np.linalg.norm(ols.values - x)
    assert np.linalg.norm(ols.values) < 0.85 * np.linalg.norm(x)


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
    """Ordinary and weighted estimates by NumPy on all rows at once; Huber's by SciPy's trust-region solver."""
    from scipy.optimize import least_squares

    observation = seen(count=400)
    Y, tau = rows_of(observation)
    np.testing.assert_allclose(Ordinary()(observation).values, np.linalg.lstsq(Y, tau)[0], rtol=1e-7, atol=1e-9)
    weighted = Weighted()(observation)
    w = np.repeat(1 / weighted.sigma, 400)
    np.testing.assert_allclose(weighted.values, np.linalg.lstsq(Y * w[:, None], tau * w)[0], rtol=1e-6, atol=1e-8)
    robust = Robust()(observation)
    w = np.repeat(1 / robust.sigma, 400)
    lengths = np.linalg.norm(Y * w[:, None], axis=0)
    A = Y * w[:, None] / lengths
    solved = least_squares(lambda x: A @ x - tau * w, TRUTH * lengths, jac=lambda x: A, loss="huber",
                           f_scale=HUBER, xtol=1e-15, ftol=1e-15, gtol=1e-12)  # fmt: skip
    assert np.abs((robust.values - solved.x / lengths) / robust.std).max() < 1e-3


def test_total_least_squares_by_one_singular_vector():
    """Without exact columns the solution is the last right singular vector of all weighted rows."""
    observation = replace(seen(count=400), base=replace(BASE, names=tuple(f"p{i}" for i in range(BASE.count))))
    Y, tau = rows_of(observation)
    w = np.repeat(1 / Weighted()(observation).sigma, 400)
    rows = np.column_stack([Y, tau]) * w[:, None]
    lengths = np.linalg.norm(rows, axis=0)
    vector = np.linalg.svd(rows / lengths, full_matrices=False)[2][-1]
    expected = -vector[:-1] / vector[-1] * lengths[-1] / lengths[:-1]
    np.testing.assert_allclose(Total()(observation).values, expected, rtol=1e-5, atol=1e-7)


def test_robust_bars_hold_for_errors_that_grow_with_the_velocity():
    """Sandwich covariance: with errors in proportion to the velocity 95 % bars hold the truth."""
    inside = []
    data = samples(600, noise=np.zeros(3), seed=0)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        errors = SIGMA * (0.2 + np.abs(data.qd)) * rng.standard_normal(data.tau.shape)
        found = Robust()(observe(ROBOT, replace(data, tau=data.tau + errors), BASE))
        inside.append(np.abs(found.values - TRUTH) < 1.96 * found.std)
    assert np.mean(inside) > 0.9
