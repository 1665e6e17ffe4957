"""Time stamps and broken rows: what is dropped from a log, and what its clock says about itself."""

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
"""Time steps, s, outside of which nobody logs torques: 5 Hz and 50 kHz."""
FEWEST = 20


def cleaned(log: Log) -> Log:
    """The log without rows that hold NaN or infinity and without stamps that are not later than those before."""
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
                         expected=f"at least {FEWEST}", advice="Look for NaN and for the time stamps.")  # fmt: skip
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
    return [Finding("broken rows", "suspicious" if count > 0.01 * len(finite) else "note", "rows",
                    f"{count} of {len(finite)} rows hold NaN, infinity or an empty cell and were left out",
                    condition="numbers in every row", value=float(count), unit="rows",
                    cause="a sensor or a message was missing", advice="Look at the log around them.")]  # fmt: skip


def _stamps(t: Array, later: Array) -> list[Finding]:
    """Repeated and backward stamps among the rows that are numbers."""
    found = []
    steps = np.diff(t)
    repeated, back = int((steps == 0).sum()), int((steps < 0).sum())
    dropped = int((~later).sum())
    if repeated:
        found.append(Finding("repeated stamps", "suspicious", "time",
                             f"{repeated} rows have the same time stamp as the row before and were left out",
                             condition="increasing time stamps", value=float(repeated), unit="rows",
                             cause="the clock is coarser than the logger, or rows were written twice",
                             advice="Log with a finer clock, or give the true `rate`."))  # fmt: skip
    if back:
        worst = float(-steps.min())
        found.append(Finding("backward stamps", "suspicious", "time",
                             f"time runs backwards {back} times, by up to {worst:.4g} s; "
                             f"{dropped - repeated} rows that are not later than all before were left out",
                             condition="increasing time stamps", value=worst, unit="s",
                             cause="rows in the wrong order, or a clock that was set while logging",
                             advice="Sort the rows, or cut the log where the clock was set."))  # fmt: skip
    return found


def clock_findings(log: Log) -> list[Finding]:
    """Gaps, jitter, and a time step that nobody logs with (a wrong unit of time)."""
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
                    f"where samples usually are {h:.4g} s apart",
                    condition="samples at a constant rate", value=float(steps[longest]), unit="s",
                    cause="samples were lost while logging",
                    advice="What is interpolated there is left out; log again if there are many.")]  # fmt: skip


def _jitter(steps: Array, h: float) -> list[Finding]:
    usual = steps[steps <= GAP * h]
    spread = float(usual.std()) / h
    if spread <= JITTER:
        return []
    return [Finding("jitter", "suspicious", "time",
                    f"time steps vary by {spread:.0%} of their median {h:.4g} s (standard deviation)",
                    condition=f"at most {JITTER:.0%}", value=spread, cause="stamps of arrival instead of measurement",
                    advice="Log the time of measurement; if the rate is constant, give it by `rate`.")]  # fmt: skip


def _unit(h: float) -> list[Finding]:
    if SHORT_STEP <= h <= LONG_STEP:
        return []
    what = "longer" if h > LONG_STEP else "shorter"
    return [Finding("unit of time", "suspicious", "time",
                    f"samples would be {h:.4g} s apart, which is {what} than anybody logs torques with",
                    condition=f"{SHORT_STEP:g} s to {LONG_STEP:g} s", value=h, unit="s",
                    cause="time stamps in " + ("ms, us or ns" if h > LONG_STEP else "another unit than seconds"),
                    advice='Declare the unit, as in units={"t": "ms"}.')]  # fmt: skip


__all__ = ["cleaned", "clock_findings"]
