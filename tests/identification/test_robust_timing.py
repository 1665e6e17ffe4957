"""Timing that an identified robot keeps in 95 % of the draws from its covariance, where the nominal timing does not."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError
from armdyn.identification import Log, identify
from armdyn.identification.robust_timing import robust_timing
from armdyn.parameters import with_standard_parameters
from armdyn.trajectory import via_points

LIMITS = np.array([3000.0, 1100.0])


def test_95_percent_of_the_robots_keep_their_torque_limits() -> None:
    truth = with_standard_parameters(armdyn.load("planar2r"), {"Fv1": 2.0, "Fc1": 3.0, "Fv2": 1.0, "Fc2": 2.0})
    dyn, rng = armdyn.compile(truth), np.random.default_rng(0)
    t = np.arange(0, 6, 0.005)
    w = 2 * np.pi * 0.3 * np.arange(1, 5)
    a, b = rng.uniform(-1, 1, (2, 4, 2)) / np.arange(1, 5)[:, None]
    angle = np.multiply.outer(t, w)
    q, qd = np.sin(angle) @ a + np.cos(angle) @ b, (np.cos(angle) * w) @ a - (np.sin(angle) * w) @ b
    qdd = -(np.sin(angle) * w**2) @ a - (np.cos(angle) * w**2) @ b
    tau = dyn.inverse_dynamics(q, qd, qdd)
    fit = identify(truth, Log(t, q, tau + 0.05 * np.abs(tau).max(axis=0) * rng.standard_normal(tau.shape)))
    path = via_points([[0.0, 0.0], [0.9, -0.6], [1.4, 0.8]], times=[0.0, 1.0, 2.0])
    found = robust_timing(path, fit, tau_max=LIMITS)
    assert found.nominal_kept < 0.5
    assert found.kept >= 0.95
    assert found.nominal.duration < found.motion.duration < 1.2 * found.nominal.duration
    assert (found.margin >= 0).all()
    assert "keep the torque limits" in found.section().note
    # Robots of their own, built from drawn parameters; their torques by inverse dynamics, not by the regressor.
    times = np.linspace(0, found.motion.duration, 400)
    move = [found.motion(times, order) for order in range(3)]
    kept = []
    for error in rng.multivariate_normal(np.zeros(len(fit.covariance)), fit.covariance, 60):
        drawn = armdyn.compile(fit.base.robot_with(fit.estimate.values + error))
        kept.append((np.abs(drawn.inverse_dynamics(*move)) <= LIMITS).all())
    assert np.mean(kept) > 0.9  # of 60 draws, whose mean scatters by 0.03
    with pytest.raises(ArmdynError, match="probability"):
        robust_timing(path, fit, 1.5)
