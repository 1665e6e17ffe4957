"""Clocks rebuilt from the positions: samples written twice, samples lost, stamps that do not tell."""

import numpy as np
import pytest

from armdyn.identification import Log
from armdyn.identification.clock.stamps import rebuilt
from armdyn.typing import Array

STEP = 0.002


def _log(seed: int = 0) -> Log:
    rng = np.random.default_rng(seed)
    t = np.arange(0, 20, STEP)
    w = 2 * np.pi * 0.1 * np.arange(1, 8)
    q = np.sin(np.multiply.outer(t, w)) @ (rng.uniform(-1, 1, (7, 3)) / np.arange(1, 8)[:, None])
    return Log(t, q + 1e-6 * rng.standard_normal(q.shape), q.copy())


def _imperfect(log: Log, seed: int = 1) -> tuple[Log, Array]:
    """A log with samples lost and written twice, stamped evenly; and the samples that it holds."""
    copies = np.random.default_rng(seed).choice([0, 1, 2], len(log), p=[0.04, 0.92, 0.04])
    index = np.repeat(np.arange(len(log)), copies)
    return Log(STEP * np.arange(len(index)), log.q[index], log.tau[index]), np.unique(index)


def test_lost_and_doubled_samples_get_their_time_back() -> None:
    whole = _log()
    log, held = _imperfect(whole)
    found = rebuilt(log)
    (finding,) = found.findings
    assert finding.rule == "clock rebuilt" and "written twice" in finding.what
    assert len(found) == pytest.approx(len(held), abs=20)  # where the robot hardly moves nothing tells
    period = np.median(np.diff(found.t))
    ticks = (found.t - found.t[0]) / period
    expected = [int(np.argmin(np.abs(whole.q - q).sum(axis=1))) for q in found.q[::400]]
    off = ticks[::400] - np.array(expected)
    assert np.abs(off - off[0]).max() <= 12  # of 10,000; by the stamps as they are: hundreds


def test_samples_sent_again_by_a_faster_publisher_are_found_in_a_slow_log() -> None:
    """A source of 29 Hz published at 30 Hz: one sample in thirty is sent twice, and the stamps are even."""
    sent = np.arange(0.02, 25, 1 / 30)
    index = np.floor(sent * 29).astype(int)
    measured = index / 29
    phases = 2 * np.pi * np.arange(3) / 3  # some joint moves at every moment
    q = np.sin(2 * np.pi * 0.3 * measured[:, None] + phases) + 0.2 * np.sin(
        2 * np.pi * 0.9 * measured[:, None] - phases
    )
    found = rebuilt(Log(sent, q, q.copy()))
    assert [finding.rule for finding in found.findings] == ["clock rebuilt"]
    assert len(found) == len(np.unique(index))
    rows = [int(np.argmin(np.abs(q - each).sum(axis=1))) for each in found.q]

    def uneven(t: Array, true: Array) -> float:
        return float((t - np.polyval(np.polyfit(true, t, 1), true)).std())

    assert uneven(found.t, measured[rows]) < 0.1 / 29 < 0.25 / 29 < uneven(sent, measured)


def test_a_good_clock_is_kept() -> None:
    log = _log()
    assert rebuilt(log) is log


def test_joints_at_rest_tell_no_time() -> None:
    """One joint moves; the others show the steps of their encoders, which are no periods of the clock."""
    log = _log()
    rng = np.random.default_rng(3)
    resting = 1e-5 * np.round(rng.standard_normal((len(log), 5)).cumsum(axis=0) / 40)
    one = Log(log.t, np.column_stack([0.3 * log.q[:, :1], resting]), np.zeros((len(log), 6)))
    assert np.ptp(resting, axis=0).max() < 1e-3
    assert rebuilt(one) is one
    doubled = rebuilt(_imperfect(one)[0])
    assert [finding.rule for finding in doubled.findings] == ["clock rebuilt"]


def test_stamps_that_tell_the_steps_are_kept() -> None:
    """Uneven sampling with true stamps is no fault of the clock."""
    whole = _log()
    keep = np.random.default_rng(2).random(len(whole)) > 0.1
    log = Log(whole.t[keep], whole.q[keep], whole.tau[keep])
    assert rebuilt(log) is log
