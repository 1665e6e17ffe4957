"""Time stamps: broken samples are dropped from a log, and gaps, jitter and wrong units of time are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armdyn.errors import ShapeError
from armdyn.findings import Finding
from armdyn.identification.log import Log
from armdyn.typing import Array

GAP = 2.5
"""A time step this many times the median is a gap."""
JITTER = 0.1
"""Standard deviation of the time steps over their median beyond which a clock is uneven."""
LONG_STEP, SHORT_STEP = 0.2, 2e-5
"""Time steps, s, outside of which torques are hardly ever logged: 5 Hz and 50 kHz."""
FEWEST = 20
"""Smallest number of samples that can be processed."""


def cleaned(log: Log) -> Log:
    """The log without samples that hold NaN or infinity, or whose time stamp is not later than all before."""
    quantities = [log.q, log.tau, *(x for x in (log.qd, log.qdd) if x is not None)]
    finite = np.isfinite(log.t)
    for x in quantities:
        finite &= np.isfinite(x).all(axis=1)
    found = list(_broken(finite))
    kept = np.flatnonzero(finite)
    t = log.t[kept]
    latest = np.maximum.accumulate(t) if len(t) else t
    later = np.concatenate([[True], t[1:] > latest[:-1]]) if len(t) else np.zeros(0, dtype=bool)
    found += _stamps(t, later)
    kept = kept[later]
    if len(kept) < FEWEST:
        raise ShapeError(f"{len(kept)} usable samples of {len(log)}", where=f"log {log.source}",
                         expected=f"at least {FEWEST}", advice="Check for NaN and repeated time stamps.")  # fmt: skip
    if len(kept) == len(log):
        return log

    def taken(x: Array | None) -> Array | None:
        return None if x is None else x[kept]

    return replace(log, t=log.t[kept], q=log.q[kept], tau=log.tau[kept], qd=taken(log.qd), qdd=taken(log.qdd),
                   findings=(*log.findings, *found))  # fmt: skip


def _broken(finite: Array) -> list[Finding]:
    count = int((~finite).sum())
    if not count:
        return []
    return [Finding("broken samples", "suspicious" if count > 0.01 * len(finite) else "note", "samples",
                    f"{count} of {len(finite)} samples hold NaN, infinity or an empty cell and were left out",
                    condition="finite numbers", value=float(count), unit="samples",
                    cause="a sensor or a message was missing", advice="Look at the log around them.")]  # fmt: skip


def _stamps(t: Array, later: Array) -> list[Finding]:
    """Repeated and backward stamps among the finite samples."""
    found = []
    steps = np.diff(t)
    repeated, back = int((steps == 0).sum()), int((steps < 0).sum())
    dropped = int((~later).sum())
    if repeated:
        found.append(Finding("repeated stamps", "suspicious", "time",
                             f"{repeated} samples have the same time stamp as the one before and were left out",
                             condition="increasing time stamps", value=float(repeated), unit="samples",
                             cause="the clock is coarser than the logger, or samples were written twice",
                             advice="Log with a finer clock, or declare the rate by `rate`."))  # fmt: skip
    if back:
        worst = float(-steps.min())
        found.append(Finding("backward stamps", "suspicious", "time",
                             f"time runs backwards {back} times, by up to {worst:.4g} s; "
                             f"{dropped - repeated} samples that are not later than all before were left out",
                             condition="increasing time stamps", value=worst, unit="s",
                             cause="samples in the wrong order, or a clock that was set while logging",
                             advice="Sort the samples, or split the log where the clock was set."))  # fmt: skip
    return found


def clock_findings(log: Log) -> list[Finding]:
    """Gaps, jitter, and an implausible time step (a wrong unit of time)."""
    steps = np.diff(log.t)
    h = float(np.median(steps))
    return [*_gaps(log.t, steps, h), *_jitter(steps, h), *_unit(h)]


def _gaps(t: Array, steps: Array, h: float) -> list[Finding]:
    gaps = np.flatnonzero(steps > GAP * h)
    if not len(gaps):
        return []
    longest = gaps[np.argmax(steps[gaps])]
    missing = float(steps[gaps].sum()) - h * len(gaps)
    return [Finding("gaps", "suspicious" if missing > 0.001 * (t[-1] - t[0]) else "note", "time",
                    f"{len(gaps)} gaps in time, the longest {steps[longest]:.4g} s at t = {t[longest]:.6g} s, "
                    f"where the usual step is {h:.4g} s",
                    condition="samples at a constant rate", value=float(steps[longest]), unit="s",
                    cause="samples were lost while logging",
                    advice="Interpolated samples are left out; log again if there are many gaps.")]  # fmt: skip


def _jitter(steps: Array, h: float) -> list[Finding]:
    usual = steps[steps <= GAP * h]
    spread = float(usual.std()) / h
    if spread <= JITTER:
        return []
    return [Finding("jitter", "suspicious", "time",
                    f"time steps vary by {spread:.0%} of their median {h:.4g} s (standard deviation)",
                    condition=f"at most {JITTER:.0%}", value=spread,
                    cause="time stamps of arrival instead of measurement",
                    advice="Log the time of measurement; if the rate is constant, declare it by `rate`.")]  # fmt: skip


def _unit(h: float) -> list[Finding]:
    if SHORT_STEP <= h <= LONG_STEP:
        return []
    what = "long" if h > LONG_STEP else "short"
    return [Finding("unit of time", "suspicious", "time",
                    f"the time step would be {h:.4g} s, which is too {what} for a log of torques",
                    condition=f"{SHORT_STEP:g} s to {LONG_STEP:g} s", value=h, unit="s",
                    cause="time stamps in " + ("ms, us or ns" if h > LONG_STEP else "another unit than seconds"),
                    advice='Declare the unit: units={"t": "ms"}, or --unit t=ms.')]  # fmt: skip


__all__ = ["cleaned", "clock_findings"]
