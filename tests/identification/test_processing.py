"""Processing: derivatives of known motion in noise, no delay, no bias by decimation, what is left out."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from armdyn.errors import ArmdynError, ShapeError, UnknownName
from armdyn.identification.log.filters import averaged, decimated, decimated_keep, low_passed
from armdyn.identification.log.log import Log
from armdyn.identification.log.processing import Processing, process
from armdyn.trajectory.fourier import Fourier, fourier
from support.logs import excitation, rubbing

METHODS = ("central", "spline", "savgol")
N = 3


def motion(seed: int = 0, harmonics: int = 5, period: float = 10.0) -> Fourier:
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-0.6, 0.6, (2, N, harmonics))
    return fourier(np.zeros(N), a, b, period)


def logged(course: Fourier, rate: float, noise: float, seed: int = 0) -> Log:
    t = np.arange(0, course.duration, 1 / rate)
    q = course(t)
    q = q + noise * np.random.default_rng(seed).standard_normal(q.shape)
    return Log(t, q, np.zeros_like(q))


def relative(x: Any, exact: Any) -> float:
    return float(np.sqrt(np.mean((x - exact) ** 2) / np.mean(exact**2)))


@pytest.mark.parametrize("derivative", METHODS)
@pytest.mark.parametrize(
    ("rate", "noise", "velocity", "acceleration"),
    # Without noise: what is left of the ends of the filter (0.1 %, on a share of the samples) and the degree of the
    # local polynomials. An encoder of 14 bits errs by 1e-4 rad; plain differences would make that an acceleration of
    # 1e-4 rad * sqrt(6) * rate^2 = 245 rad/s^2 on a motion of 1 rad/s^2.
    [(1000, 0.0, 1e-5, 1e-4), (1000, 1e-5, 1e-3, 2e-3), (1000, 1e-4, 2e-3, 5e-3), (250, 1e-4, 3e-3, 1e-2)],
)
def test_derivatives_of_a_known_motion(
    derivative: Any, rate: float, noise: float, velocity: float, acceleration: float
) -> None:
    course = motion()
    samples = process(logged(course, rate, noise), processing=Processing(derivative=derivative))
    assert relative(samples.q, course(samples.t)) < max(2 * noise, 1e-5)
    assert relative(samples.qd, course(samples.t, 1)) < velocity
    assert relative(samples.qdd, course(samples.t, 2)) < acceleration


def test_the_chosen_cutoff_is_near_the_best_one() -> None:
    course = motion(3)
    log = logged(course, 500, 5e-5)

    def error(cutoff: float | None) -> float:
        samples = process(log, processing=Processing(cutoff=cutoff, edges=1.0))
        return relative(samples.qdd, course(samples.t, 2))

    best = min(error(cutoff) for cutoff in np.geomspace(0.5, 50, 25))
    assert error(None) < 2.5 * best


def test_no_delay() -> None:
    """The filtered position correlates best with the true one at no shift at all."""
    course = motion(1)
    samples = process(logged(course, 1000, 1e-4))
    exact = course(samples.t)
    inner = slice(50, -50)
    misfit = [
        np.sum((np.roll(samples.q, shift, axis=0)[inner] - exact[inner]) ** 2) for shift in range(-20, 21)
    ]  # fmt: skip
    assert int(np.argmin(misfit)) == 20


def test_low_pass_gain() -> None:
    rate, cutoff = 1000.0, 20.0
    t = np.arange(4000) / rate
    for frequency, gain in ((2.0, 1.0), (20.0, 0.5), (80.0, 0.0)):
        x = np.sin(2 * np.pi * frequency * t)
        y, inner = low_passed(x, cutoff, rate)[1000:3000], x[1000:3000]
        assert (y @ inner) / (inner @ inner) == pytest.approx(gain, abs=1e-4)


def test_edges_are_left_out() -> None:
    """A motion cut off at full speed: with the edges the error is many times larger than without."""
    course = motion(2)
    log = logged(course, 1000, 1e-5)
    chosen = process(log)
    everything = process(log, processing=Processing(edges=0.0, rate=1000.0))
    assert len(everything) == len(log)
    assert chosen.t[0] > log.t[0] and chosen.t[-1] < log.t[-1]
    error = np.abs(everything.qdd - course(everything.t, 2)).max()
    assert np.abs(chosen.qdd - course(chosen.t, 2)).max() < error / 20


@pytest.mark.parametrize("factor", [2, 3, 7, 10, 60])
def test_decimation_is_linear_and_without_delay(factor: int) -> None:
    rng = np.random.default_rng(factor)
    Y = rng.standard_normal((1003, 2, 4)).cumsum(axis=0)
    pi = rng.standard_normal(4)
    np.testing.assert_allclose(decimated(Y @ pi, factor), decimated(Y, factor) @ pi, atol=1e-10 * np.abs(Y).max())
    line = np.linspace(-1, 2, 1003)[:, None]
    np.testing.assert_allclose(decimated(line, factor), line[::factor], atol=1e-12)


@pytest.mark.parametrize(("count", "width", "step"), [(200, 21, 1), (205, 21, 4), (50, 50, 3), (30, 7, 40), (65, 2, 1)])
def test_averages_are_those_of_a_moving_window(count: int, width: int, step: int) -> None:
    rng = np.random.default_rng(count)
    x, window = rng.standard_normal((count, 2, 3)), rng.standard_normal(width)
    places = range(0, count - width + 1, step)
    expected = [sum(window[i] * x[k + i] for i in range(width)) for k in places]
    np.testing.assert_allclose(averaged(x, window, step), expected, rtol=0, atol=1e-13 * width)


def test_decimation_removes_what_would_alias() -> None:
    t = np.arange(5000) / 1000
    slow, fast = np.sin(2 * np.pi * 2 * t), np.sin(2 * np.pi * 99 * t)
    x = decimated((slow + fast)[:, None], 10)[:, 0]
    assert np.abs(x - slow[::10])[20:-20].max() < 2e-3
    assert np.abs((slow + fast)[::10] - slow[::10]).max() > 0.5


def test_decimation_of_few_rows() -> None:
    x = np.linspace(0, 1, 25)[:, None] ** 2
    assert decimated(x, 4).shape == (7, 1)
    assert decimated(x, 1) is x


def test_slow_rows_are_left_out_joint_by_joint() -> None:
    course = motion(4)
    log = logged(course, 500, 1e-4)
    q = log.q.copy()
    q[:, 1] = 0.3 + 1e-4 * np.random.default_rng(9).standard_normal(len(q))
    samples = process(dataclasses.replace(log, q=q))
    assert not samples.keep[:, 1].any()
    assert samples.keep[:, [0, 2]].mean() > 0.9
    signs = np.sign(samples.qd) == np.sign(course(samples.t, 1))
    assert signs[samples.keep].all(), "a sign of friction is wrong outside the dead band"
    given = process(log, processing=Processing(dead_band=[0.0, 0.5, 1e9], rate=500.0))
    assert given.keep[:, 0].all() and not given.keep[:, 2].any()
    assert (given.keep[:, 1] == (np.abs(given.qd[:, 1]) >= 0.5)).all()


def test_kept_rows_after_decimation() -> None:
    keep = np.ones((100, 2), dtype=bool)
    keep[50, 0] = False
    thinned = decimated_keep(keep, 5)
    assert thinned.shape == (20, 2)
    assert np.flatnonzero(~thinned[:, 0]).tolist() == [9, 10, 11]
    assert thinned[:, 1].all()


def test_gaps_and_jitter() -> None:
    course = motion(5)
    rng = np.random.default_rng(0)
    t = np.arange(0, 10, 0.002) + 0.0004 * rng.random(5000)
    t = np.delete(t, slice(2000, 2100))
    q = course(t) + 1e-5 * rng.standard_normal((len(t), N))
    samples = process(Log(t, q, np.zeros_like(q)))
    assert "even grid" in samples.steps["samples"] and "1 too long" in samples.steps["gaps"]
    inside = (samples.t > 4.01) & (samples.t < 4.19)
    assert not samples.keep[inside].any()
    moving = samples.keep.all(axis=1)
    assert relative(samples.qdd[moving], course(samples.t[moving], 2)) < 0.01


def test_short_gaps_are_bridged() -> None:
    """Four gaps of 9 ms in a log of 1 kHz cost no samples, and the motion stays as accurate as without gaps."""
    course, rng = motion(5), np.random.default_rng(0)
    t = np.arange(0, 10, 0.001)
    q = course(t) + 1e-5 * rng.standard_normal((len(t), N))
    there = np.ones(len(t), dtype=bool)
    for start in (1200, 3300, 6100, 8000):
        there[start : start + 8] = False
    whole, holed = (process(Log(t[k], q[k], np.zeros_like(q[k]))) for k in (slice(None), there))
    assert "4 bridged" in holed.steps["gaps"]
    assert holed.keep.mean() > 0.99 * whole.keep.mean()
    assert holed.cutoff == pytest.approx(whole.cutoff, rel=0.3)
    errors = [relative(s.qdd, course(s.t, 2)) for s in (whole, holed)]
    assert errors[1] < 1.5 * errors[0]


def test_a_log_that_starts_and_ends_in_motion_keeps_its_acceleration_there() -> None:
    course = motion(5)
    log = logged(course, 1000, 1e-6)
    samples = process(log, processing=Processing(cutoff=10.0, edges=0.0))
    near = np.r_[0:50, len(samples) - 50 : len(samples)]
    scale = np.abs(course(samples.t, 2)).max(axis=0)
    assert (np.abs(samples.qdd - course(samples.t, 2))[near] / scale).max() < 0.25  # by reflection: about 1


def test_measured_velocities() -> None:
    course = motion(6)
    t = np.arange(0, 10, 0.001)
    log = Log(t, course(t) + 1e-3 * np.random.default_rng(0).standard_normal((len(t), N)), course(t), qd=course(t, 1))
    samples = process(log, processing=Processing(measured=True))
    assert relative(samples.qd, course(samples.t, 1)) < 1e-3
    assert "measured velocities" in samples.steps["derivatives"]


def test_steps_say_what_was_done() -> None:
    samples = process(logged(motion(), 1000, 1e-4))
    assert set(samples.steps) == {"samples", "low-pass", "derivatives", "edges", "dead band", "thinning", "decimation"}
    assert samples.decimation > 1 and len(decimated(samples.tau, samples.decimation)) >= 500


def test_wrong_settings_and_logs() -> None:
    log = logged(motion(), 1000, 1e-4)
    with pytest.raises(UnknownName, match="Did you mean 'spline'"):
        Processing(derivative="splines")  # type: ignore[arg-type]
    with pytest.raises(ArmdynError, match="less than half the sampling rate"):
        process(log, processing=Processing(cutoff=600))
    with pytest.raises(ArmdynError, match="cutoff = -1"):
        Processing(cutoff=-1)
    with pytest.raises(ShapeError, match="5 samples"):
        process(Log(log.t[:5], log.q[:5], log.tau[:5]))
    for unit in (1e154, 1e-154):
        with pytest.raises(ArmdynError, match="time steps of"):
            process(Log(unit * log.t, log.q, log.tau))
    late = np.append(log.t[:-1], 1e154)
    with pytest.raises(ArmdynError, match="Split the log at its gaps, or correct its time stamps"):
        process(Log(late, log.q, log.tau))


def test_a_motion_repeated_for_minutes_is_not_taken_for_noise() -> None:
    """Its spectrum is lines with noise between them: the cut-off is that of one period of it, and all joints count."""
    robot = rubbing("rx90")
    course = excitation(robot, 3)
    rng = np.random.default_rng(0)
    t = np.arange(0, 300, 0.004)
    once = np.arange(0, course.duration, 0.004)
    q = np.tile(course(once, 0), (30, 1)) + 2e-5 * rng.standard_normal((len(t), robot.n))
    alone, repeated = (process(Log(t[:N], q[:N], q[:N]), robot) for N in (len(once), len(t)))
    assert 0.5 < repeated.cutoff / alone.cutoff < 1.5
    assert (repeated.keep.mean(axis=0) > 0.95).all()


def test_a_fast_log_is_thinned_to_what_its_motion_needs() -> None:
    """Motion as filtered at the rate of the log; torques with everything that such a motion can cause."""
    t = np.arange(0, 10, 1e-4)
    q = np.sin(2 * np.pi * 0.7 * t)[:, None]
    log = Log(t, q, np.cos(2 * np.pi * 3 * t)[:, None])
    fine, thin = (
        process(log, processing=Processing(cutoff=5.0, decimation=1)),
        process(log, None, Processing(cutoff=5.0)),
    )
    step = round((thin.t[1] - thin.t[0]) / 1e-4)
    assert step == 50 and "thinning" in thin.steps and "thinning" not in fine.steps
    for name in ("t", "q", "qd", "qdd"):
        assert np.array_equal(getattr(thin, name), getattr(fine, name)[::step])
    assert np.abs(thin.tau - fine.tau[::step])[5:-5].max() < 2e-3
