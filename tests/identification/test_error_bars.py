"""Error bars where the log is not what the model says: torques that lag, joints that rest under an imperfect clock."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

import armdyn
from armdyn.dynamics.presliding import torques_along
from armdyn.identification import Fit, Log
from armdyn.parameters import standard_parameters
from armdyn.robot import Robot
from armdyn.typing import Array
from support import logs
from support.log_faults import imperfect_clock

STEP = 0.004


def _covered(fit: Fit, truth: Robot) -> float:
    """Share of the base parameters that are within two standard deviations."""
    true = fit.base.from_standard(standard_parameters(truth, fit.base.include))
    return float((np.abs(fit.estimate.values - true) <= 2 * fit.estimate.std).mean())


def _log(t: Array, q: Array, tau: Array) -> Log:
    rng = np.random.default_rng(4)
    return Log(
        t,
        q + 2e-5 * rng.standard_normal(q.shape),
        tau + 0.02 * tau.std(axis=0) * rng.standard_normal(tau.shape),
    )


@pytest.fixture(scope="module")
def lagging() -> tuple[Robot, Fit, Fit]:
    """(robot, its log with torques smoothed over 8 ms, its log as it is)"""
    arm, t = logs.rubbing("puma560"), np.arange(0, 10, STEP)
    motion = [logs.excitation(arm, 107)(t, order) for order in range(3)]
    tau = torques_along(arm, *motion)
    decay = 0.008 / (0.008 + STEP)  # delays slow signals by 8 ms
    late = lfilter([1 - decay], [1, -decay], tau - tau[0], axis=0) + tau[0]
    late_fit, fit = (armdyn.identify(arm, _log(t, motion[0], x), friction="plain", check=False) for x in (late, tau))
    return arm, late_fit, fit


def test_a_lag_of_the_torques_is_told_and_within_the_bars(lagging: tuple[Robot, Fit, Fit]) -> None:
    arm, late, _ = lagging
    assert late.model is not None
    assert list(late.model.lag) == list(range(arm.n))
    assert np.array(list(late.model.lag.values())) == pytest.approx(8e-3, abs=1.5e-3)
    (finding,) = (f for f in late.findings if f.rule == "lag")
    assert "error bars" in finding.what
    assert _covered(late, arm) > 0.9
    place = [late.model.rows.names.index(name) for name in late.base.standard]
    root = late.base.matrix @ late.model.standard_root[place, :-1]
    alone = replace(late, estimate=replace(late.estimate, root=root))
    assert _covered(alone, arm) < 0.85  # without what the lag does to them


def test_without_a_lag_there_is_none(lagging: tuple[Robot, Fit, Fit]) -> None:
    arm, _, fit = lagging
    assert fit.model is not None and not fit.model.lag
    assert _covered(fit, arm) > 0.9


def test_bars_hold_for_joints_that_rest_under_an_imperfect_clock() -> None:
    """The period of a clock that repeats and loses samples is that of the motion: rests do not tell theirs."""
    arm, t = logs.rubbing("puma560"), np.arange(0, 30, STEP)
    motion = logs.point_to_point(arm.n, t, 107)
    log = imperfect_clock(_log(t, motion[0], torques_along(arm, *motion)), 5)
    fit = armdyn.identify(arm, log, friction="plain", check=False)
    assert fit.training.t[-1] - fit.training.t[0] < 30
    assert _covered(fit, arm) > 0.85  # 58 parameters, whose errors the period of the clock correlates
