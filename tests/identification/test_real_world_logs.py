"""Logs as they come: broken cells, too short, at rest, spikes, other names, wrong gains; each gets a clear answer."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn.errors import ArmdynError, FileError
from armdyn.identification import Fit, Log, LogFormat, identify, read_log
from armdyn.identification.fit.estimation import Weighted
from armdyn.parameters import physical_consistency, standard_parameters
from armdyn.robot.parts import Friction, Rotor


def _arm() -> armdyn.Robot:
    robot = armdyn.load("planar2r").bound()
    tree = tuple(replace(j, friction=Friction(1.5, 2.0, offset=0.5), rotor=Rotor(inertia=0.3)) for j in robot.tree)
    return replace(robot, tree=tree, expressions=None)


ROBOT = _arm()


def _recorded() -> Log:
    """Sums of sines at 500 Hz, with noise of encoders and torques."""
    rng = np.random.default_rng(0)
    t = np.arange(0, 20, 0.002)
    w = 2 * np.pi * 0.1 * np.arange(1, 11)
    a, b = rng.uniform(-1, 1, (2, 10, 2)) / np.arange(1, 11)[:, None] ** 0.7
    angle = np.multiply.outer(t, w)
    q = np.sin(angle) @ a + np.cos(angle) @ b
    qd = (np.cos(angle) * w) @ a - (np.sin(angle) * w) @ b
    qdd = -(np.sin(angle) * w**2) @ a - (np.cos(angle) * w**2) @ b
    tau = armdyn.compile(ROBOT).inverse_dynamics(q, qd, qdd) + 0.3 * rng.standard_normal(q.shape)
    return Log(t, q + 1e-5 * rng.standard_normal(q.shape), tau)


LOG = _recorded()


def _rules(fit: Fit) -> set[str]:
    return {finding.rule for finding in fit.findings}


def test_nan_cells_on_the_motor_side_are_left_out() -> None:
    q = 50 * LOG.q
    q[100, 0] = np.nan
    log = read_log({"t": LOG.t, "q": q, "tau": LOG.tau / 50}, ROBOT, LogFormat(side="motor", coupling=[50, 50]))
    assert len(log) == len(LOG) - 1
    assert {finding.rule for finding in log.findings} == {"broken samples"}


@pytest.mark.parametrize("count", [25, 30, 60, 100])
def test_short_logs_are_refused_with_a_reason_or_identified(count: int) -> None:
    with pytest.raises(ArmdynError):
        identify(ROBOT, Log(LOG.t[:count], LOG.q[:count], LOG.tau[:count]))


@pytest.mark.parametrize("q, tau", [(0.0, 0.0), (0.0, 1.0)])
def test_a_robot_at_rest_is_refused_with_a_reason(q: float, tau: float) -> None:
    with pytest.raises(ArmdynError, match="the robot moves for 0 s"):
        identify(ROBOT, Log(LOG.t, q * LOG.q + 0.3, tau * LOG.tau))


def test_spikes_are_found_and_least_squares_advised_against() -> None:
    rng = np.random.default_rng(0)
    tau = LOG.tau.copy()
    struck = rng.choice(len(tau), 60, replace=False)
    tau[struck, 0] += 0.2 * np.ptp(tau[:, 0]) * rng.choice([-1, 1], 60)
    spikes = [f for f in identify(ROBOT, Log(LOG.t, LOG.q, tau), friction="plain").findings if f.rule == "spikes"]
    assert [finding.where for finding in spikes] == [ROBOT.joints[0].name]
    assert "spoil least squares (--estimate free)" in spikes[0].advice


def test_the_share_of_the_weight_is_shown_where_gains_are_off() -> None:
    wrong = identify(ROBOT, Log(LOG.t, LOG.q, 1.22 * LOG.tau), friction="plain")
    (share,) = [finding for finding in wrong.findings if finding.rule == "weight share"]
    assert share.value == pytest.approx(122, abs=3) and share.unit == "%"
    assert "weight share" not in _rules(identify(ROBOT, LOG, friction="plain"))


def test_names_of_the_log_are_renamed(tmp_path: Path) -> None:
    names = [joint.name for joint in ROBOT.joints]
    head = ["t", *(f"x_{name}_position" for name in names), *(f"x_{name}_effort" for name in names)]
    file = tmp_path / "log.csv"
    np.savetxt(file, np.hstack([LOG.t[:, None], LOG.q, LOG.tau]), delimiter=",", header=",".join(head), comments="")
    with pytest.raises(FileError):
        read_log(file, ROBOT)
    found = read_log(file, ROBOT, LogFormat(rename={"x_": ""}))
    np.testing.assert_allclose(found.q, LOG.q, atol=1e-12)


def test_one_value_per_line_and_missing_time_get_a_hint(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    np.savetxt(file, LOG.q.ravel()[:300])
    with pytest.raises(FileError, match="one line per sample"):
        read_log(file, ROBOT)
    with pytest.raises(FileError, match="rate = HZ"):
        read_log({"q": LOG.q, "qd": LOG.q, "tau": LOG.tau}, ROBOT)


def test_very_noisy_torques_give_a_physically_consistent_robot_all_the_same() -> None:
    """Noise far above the torques of the light arm: the free estimate is impossible, the delivered robot is not."""
    rng = np.random.default_rng(5)
    log = Log(LOG.t[:2000], LOG.q[:2000], LOG.tau[:2000] + 3000 * rng.standard_normal((2000, 2)))
    fit = identify(ROBOT, log, check=False)
    assert physical_consistency(fit.robot).solid
    assert all(not finding.invalid for each in fit.files for finding in each.checkup.findings)
    free = identify(ROBOT, log, free=Weighted(), check=False)
    assert not physical_consistency(free.robot).consistent
    assert not free.fine and any(finding.invalid for finding in free.findings)


def test_only_friction_keeps_the_inertial_parameters() -> None:
    warm = identify(ROBOT, LOG, include=("friction", "offset"))
    before, after = (standard_parameters(robot, ("inertial",)).array() for robot in (ROBOT, warm.robot))
    np.testing.assert_array_equal(before, after)
    assert all(name.startswith(("Fv", "Fc", "off")) for name in warm.parameters)
    assert armdyn.compile(warm.robot).friction(np.ones(2)).shape == (2,)
