"""Time stamps: broken samples are dropped, imperfect clocks rebuilt; gaps, jitter and wrong units of time are found."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from armdyn.errors import ShapeError
from armdyn.findings import Finding, listed
from armdyn.identification.log.filters import averaged
from armdyn.identification.log.log import Log
from armdyn.typing import Array

GAP = 2.5
"""A time step this many times the median is a gap."""
JITTER = 0.1
"""Standard deviation of the time steps over their median beyond which a clock is uneven."""
LONG_STEP, SHORT_STEP = 0.1, 2e-5
"""Time steps, s, outside of which torques are hardly ever logged: 10 Hz and 50 kHz."""
FEWEST_REBUILT = 200
"""Samples below which a clock is not rebuilt."""
WHOLE, CLEARER = 0.15, 0.5
"""A clock is rebuilt if the positions advance by whole periods to this rms error, in periods, and to this share of the
error of the stamps,"""
OFF, USUAL = 0.3, 0.01
"""and otherwise than the stamps, by more than OFF periods, in at least the share USUAL of the steps: a few disturbed
positions are no wrong clock."""
SPIKE = 12.0
"""A position is a spike if it is this many times as far from the mean of its neighbours as 95 % of the positions, and
if these neighbours are off by half as much, to within a quarter, as the neighbours of one wrong number are."""
MOVES, SLOWER = 0.01, 4.0
"""Share of the largest squared velocity above which the positions tell the time. Slower motion tells it down to where
its periods are no longer whole, which is tried in steps of this factor."""
STILL = 1e-3
"""Range of positions, rad or m, below which a joint does not move: what it shows is noise, which tells no time."""
SMOOTHED, SMOOTHED_TIME = 3, 0.05
"""Samples on either side over which the velocity is smoothed, at least, and time, s, at most beyond that: over a longer
time the velocity itself changes, and slow logs would seem to advance unevenly."""
REBUILT = "clock rebuilt"
FEWEST = 20
"""Smallest number of samples that can be processed."""
FAR, RARE = 10.0, 0.05
"""Numbers are broken if they are this many times as far from the median as all others, and this rare at most."""
PROBED = 10_000
"""About as many samples tell the median."""


def cleaned(log: Log) -> Log:
    """The log without samples that hold NaN, infinity or a number far beyond all others, or that are not in time.

    A time stamp has to be later than all before: a single broken one would end the log there.
    """
    quantities = [log.t[:, None], log.q, log.tau, *(x for x in (log.qd, log.qdd) if x is not None)]
    sound = np.ones(len(log), dtype=bool)
    for x in quantities:
        sound &= np.isfinite(x).all(axis=1)
    finite = sound.copy()
    for x in quantities:
        sound[finite] &= ~_far(x if finite.all() else x[finite])
    found = list(_broken(sound))
    kept = np.flatnonzero(sound)
    t = log.t[kept]
    latest = np.maximum.accumulate(t) if len(t) else t
    later = np.concatenate([[True], t[1:] > latest[:-1]]) if len(t) else np.zeros(0, dtype=bool)
    found += _stamps(t, later)
    kept = kept[later]
    if len(kept) < FEWEST:
        raise ShapeError(
            f"{len(kept)} usable samples of {len(log)}",
            where=f"log {log.source}",
            expected=f"at least {FEWEST}",
            advice="Check for NaN and repeated time stamps.",
        )
    if len(kept) == len(log):
        return log

    return replace(_rows(log, kept), findings=(*log.findings, *found))


def _rows(log: Log, kept: Array) -> Log:
    """Some samples of a log."""

    def taken(x: Array | None) -> Array | None:
        return None if x is None else x[kept]

    return replace(log, t=log.t[kept], q=log.q[kept], tau=log.tau[kept], qd=taken(log.qd), qdd=taken(log.qdd))


def _without_spikes(log: Log) -> Log:
    """The log without samples in which a single position is wrong; they would look like a wrong clock."""
    if len(log) < FEWEST:
        return log
    away = log.q[1:-1] - (log.q[:-2] + log.q[2:]) / 2
    before, z, after = away[1:-3], away[2:-2], away[3:-1]
    size = np.abs(z)
    usual, step = (np.quantile(np.abs(x), 0.95, axis=0) for x in (away, np.diff(log.q, axis=0)))
    spike = size > np.maximum(np.maximum(SPIKE * usual, 2 * step), STILL)  # a wrong clock displaces by a step
    for beside in (before, after):
        spike &= np.abs(beside + z / 2) < size / 4
    for beyond in (away[:-4], away[4:]):
        spike &= np.abs(beyond) < size / 4
    if not spike.any():
        return log
    rows, kept = np.flatnonzero(spike.any(axis=1)) + 3, np.ones(len(log), dtype=bool)
    kept[rows] = False
    joints = [log.joints[j] if log.joints else f"joint {j + 1}" for j in np.flatnonzero(spike.any(axis=0))]
    found = Finding(
        "spikes",
        "suspicious",
        listed(joints),
        f"{len(rows)} {'position is' if len(rows) == 1 else 'positions are'} far from those before and after, by up to "
        f"{float(size[spike].max()):.3g} rad or m, the first at t = {log.t[rows[0]]:.6g} s; left out",
        condition="positions that change gradually",
        value=float(len(rows)),
        unit="samples",
        cause="disturbed transmission, or a turn of an encoder counted twice",
        advice="Check the wiring and the counters of the encoders.",
    )
    return replace(_rows(log, kept), findings=(*log.findings, found))


def _far(x: Array) -> Array:
    """(N,) bool: samples of finite x, (N, k), with a number far beyond all others, as damaged files and messages have.

    Distances from the median grow gradually, also where a robot moves at the end only; broken numbers leave a gap.
    """
    if not len(x):
        return np.zeros(0, dtype=bool)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers may be as large as they can be
        away = np.zeros(len(x))
        for column, middle in zip(x.T, np.median(x[:: max(1, len(x) // PROBED)], axis=0), strict=True):
            np.maximum(away, np.abs(column - middle), out=away)
    last = max(math.ceil((1 - RARE) * len(x)) - 1, 0)
    if away.max() / FAR <= np.partition(away, last)[last]:
        return np.zeros(len(x), dtype=bool)
    upper = np.sort(away)[last:]
    gaps = np.flatnonzero((upper[1:] / FAR > upper[:-1]) & (upper[:-1] > 0))
    return np.asarray(away > (upper[gaps[0]] if len(gaps) else np.inf))


def _broken(sound: Array) -> list[Finding]:
    count = int((~sound).sum())
    if not count:
        return []
    return [
        Finding(
            "broken samples",
            "suspicious" if count > 0.01 * len(sound) else "note",
            "samples",
            f"{count} of {len(sound)} samples hold NaN, infinity, an empty cell or a number far beyond all "
            "others and were left out",
            condition="plausible numbers",
            value=float(count),
            unit="samples",
            cause="a sensor or a message was missing",
            advice="Look at the log around them.",
        )
    ]


def _stamps(t: Array, later: Array) -> list[Finding]:
    """Repeated and backward stamps among the finite samples."""
    found = []
    steps = np.diff(t)
    repeated, back = int((steps == 0).sum()), int((steps < 0).sum())
    dropped = int((~later).sum())
    if repeated:
        found.append(
            Finding(
                "repeated stamps",
                "suspicious",
                "time",
                f"{repeated} samples have the same time stamp as the one before and were left out",
                condition="increasing time stamps",
                value=float(repeated),
                unit="samples",
                cause="the clock is coarser than the logger, or samples were written twice",
                advice="Log with a finer clock, or declare the rate by `rate`.",
            )
        )
    if back:
        worst = float(-steps.min())
        found.append(
            Finding(
                "backward stamps",
                "suspicious",
                "time",
                f"time runs backwards {back} times, by up to {worst:.4g} s; "
                f"{dropped - repeated} samples that are not later than all before were left out",
                condition="increasing time stamps",
                value=worst,
                unit="s",
                cause="samples in the wrong order, or a clock that was set while logging",
                advice="Sort the samples, or split the log where the clock was set.",
            )
        )
    return found


def clock_findings(log: Log) -> list[Finding]:
    """Gaps, jitter, and an implausible time step (a wrong unit of time)."""
    steps = np.diff(log.t)
    h = float(np.median(steps))
    stamped = all(finding.rule != REBUILT for finding in log.findings)
    return [*_gaps(log.t, steps, h), *(_jitter(steps, h) if stamped else ()), *_unit(h)]


def _gaps(t: Array, steps: Array, h: float) -> list[Finding]:
    gaps = np.flatnonzero(steps > GAP * h)
    if not len(gaps):
        return []
    longest = gaps[np.argmax(steps[gaps])]
    missing = float(steps[gaps].sum()) - h * len(gaps)
    return [
        Finding(
            "gaps",
            "suspicious" if missing > 0.001 * (t[-1] - t[0]) else "note",
            "time",
            f"{len(gaps)} {'gap' if len(gaps) == 1 else 'gaps'} in time, the longest {steps[longest]:.4g} s at "
            f"t = {t[longest]:.6g} s, where the usual step is {h:.4g} s",
            condition="samples at a constant rate",
            value=float(steps[longest]),
            unit="s",
            cause="samples were lost while logging",
            advice="Interpolated samples are left out; log again if there are many gaps.",
        )
    ]


def _jitter(steps: Array, h: float) -> list[Finding]:
    usual = steps[steps <= GAP * h]
    spread = float(usual.std()) / h
    if spread <= JITTER:
        return []
    return [
        Finding(
            "jitter",
            "suspicious",
            "time",
            f"time steps vary by {spread:.0%} of their median {h:.4g} s (standard deviation)",
            condition=f"at most {JITTER:.0%}",
            value=spread,
            cause="time stamps of arrival instead of measurement",
            advice="Log the time of measurement; if the rate is constant, declare it by `rate`.",
        )
    ]


def _unit(h: float) -> list[Finding]:
    if SHORT_STEP <= h <= LONG_STEP:
        return []
    what = "long" if h > LONG_STEP else "short"
    return [
        Finding(
            "unit of time",
            "suspicious",
            "time",
            f"the time step would be {h:.4g} s, which is too {what} for a log of torques",
            condition=f"{SHORT_STEP:g} s to {LONG_STEP:g} s",
            value=h,
            unit="s",
            cause="time stamps in " + ("ms, us or ns" if h > LONG_STEP else "another unit than seconds"),
            advice="Declare the unit: units = {t = 'ms'} in [log] of a logger's file (--logger).",
        )
    ]


# The clock, rebuilt from the positions ------------------------------------------------------------------------------


def rebuilt(log: Log) -> Log:
    """The log with its clock rebuilt, if the positions advance by whole periods and not as the stamps tell.

    The increments of the positions over the smoothed velocity tell how many periods k passed between two samples:
    0 for a sample that was written twice, 2 or more where samples were lost. Time is then the sum of round(k); where
    the robot hardly moves it follows the stamps. Jitter of a full period defeats this: the stamps are kept then.
    """
    log = _without_spikes(log)
    if len(log) < FEWEST_REBUILT:
        return log
    h = log.period
    stamps = np.diff(log.t) / h
    ticks = stamps
    for _ in range(3):
        width = max(SMOOTHED, min(len(log) // 400, round(SMOOTHED_TIME / h)))
        k, power = _periods(log.q, np.concatenate([[0.0], np.cumsum(ticks)]), width)
        fast = power > MOVES
        if fast.sum() < FEWEST:
            return log
        by_stamps, by_ticks = _spread(k - stamps, fast), _spread(k - np.round(k), fast)
        off = fast & (np.abs(k - stamps) > OFF)
        if by_ticks > min(WHOLE, CLEARER * by_stamps) or off.sum() < USUAL * fast.sum():
            return log
        fast = power > _slowest(k, power)
        ticks = np.where(fast, np.maximum(np.round(k), 0.0), np.maximum(np.round(stamps), 1.0))
    repeated, lost = int((ticks == 0).sum()), int((ticks > 1).sum())
    # Of a robot at rest no repeated or lost sample is seen: the period is that of the steps in motion. That of all
    # steps was 0.5 % too short for point-to-point motion, and inertias 1 % too small.
    period = h * float(stamps[fast].sum()) / float(ticks[fast].sum())
    t = log.t[0] + period * np.concatenate([[0.0], np.cumsum(ticks)])
    kept = np.concatenate([[True], ticks > 0])
    found = Finding(
        REBUILT,
        "note",
        "time",
        f"time stamps were replaced: {repeated} samples were written twice and left out, and samples are "
        f"missing in {lost} steps of the period {period:.6g} s",
        condition="positions that advance with the time stamps",
        value=by_stamps,
        cause=f"the positions advance by whole periods (to {by_ticks:.1%} of one) and differ from the "
        f"stamps by {by_stamps:.0%} of a period",
        advice="Log the time of measurement.",
    )

    return replace(_rows(log, kept), t=t[kept], findings=(*log.findings, found))


def _periods(q: Array, ticks: Array, width: int) -> tuple[Array, Array]:
    """Periods between neighbouring samples by their positions, and squared velocities as shares of the largest.

    ticks: (N,) times of the samples, in periods
    width: samples on either side over which the velocity is smoothed
    """
    scale = np.where(np.ptp(q, axis=0) > STILL, np.ptp(q, axis=0), np.inf)
    there = np.concatenate([[True], np.diff(ticks) > 0])
    grid, middle, known = np.arange(ticks[0], ticks[-1] + 1), (ticks[1:] + ticks[:-1]) / 2, ticks[there]
    window = np.hanning(2 * width + 1)
    slope = np.convolve(window / window.sum(), (-0.5, 0.0, 0.5))  # of the smoothed positions
    power, advance = np.zeros((2, len(middle)))
    for j in range(q.shape[1]):
        x = q[:, j] / scale[j]
        even = np.interp(grid, known, x[there])
        padded = np.pad(even, width + 1, mode="reflect", reflect_type="odd")
        v = np.interp(middle, grid, averaged(padded, slope))
        power += v**2
        advance += np.diff(x) * v
    k, share = advance / np.maximum(power, 1e-300), power / max(float(power.max()), 1e-300)
    share[:SMOOTHED] = share[len(share) - SMOOTHED :] = 0.0  # the velocity at the ends leans on one side
    return k, share


def _slowest(k: Array, power: Array) -> float:
    """The share of the largest squared velocity down to which periods k are whole."""
    least = MOVES
    while True:
        slower = (power <= least) & (power > least / SLOWER)
        if slower.sum() < FEWEST or _spread(k - np.round(k), slower) > WHOLE:
            return least
        least /= SLOWER


def _spread(x: Array, fast: Array) -> float:
    return float(np.sqrt((x[fast] ** 2).mean()))


__all__ = ["cleaned", "clock_findings", "rebuilt"]
