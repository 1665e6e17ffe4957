"""Checks of a log: findings in plain words for whoever has to correct it.

The log by itself: clock, motion, limits, saturation, resolution, velocities. The torques against the motion
(`torque_checks`): order of columns, signs, units, gravity, zeros, gains, delay. A good log gives no findings.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import signal

from armdyn.doctor.torque_checks import torque_findings
from armdyn.errors import ShapeError
from armdyn.findings import Finding, sorted_by_severity
from armdyn.identification.clock.stamps import clock_findings
from armdyn.identification.log.filters import central_differences
from armdyn.identification.log.log import Log
from armdyn.identification.log.processing import process
from armdyn.identification.log.samples import Samples
from armdyn.robot import Robot
from armdyn.robot.limits import UNITS, position_limits, torque_limits
from armdyn.typing import Array

STILL = 1e-3
"""Range of positions, rad or m, below which a joint does not move."""
FARTHEST = {"revolute": 6 * math.pi, "prismatic": 20.0}
"""Largest plausible |q| of a joint without limits, rad or m: three turns; 20 m."""
COARSE = {"q": 1000, "tau": 100}
"""Number of levels within its range below which a signal is coarse."""
SATURATED = 0.002
"""Share of samples at the extreme of a torque, while moving, above which it is saturated."""
BEYOND = 1.02
"""Torque over its limit beyond which the limit does not hold it: it is not saturated there."""
SPIKE, TALL, RARE = 12.0, 0.15, 0.05
"""A torque is a spike if it is this many typical deviations, of the log and of its neighbourhood, and this share of the
torque's usual range from the median of its neighbours, and if at most this share of the torques are."""
NEIGHBOURHOOD = 51
"""Samples of a neighbourhood."""
PROBED = 20_000
"""About as many samples tell that a signal has thousands of levels."""
FEWEST = 50
"""Samples of a joint below which its torques are not judged."""
FEWEST_SPIKES = 3
"""Spikes of a joint from which on they are reported."""
MIXED_UP = {
    math.pi / 180: "rad against deg",
    180 / math.pi: "deg against rad",
    60 / (2 * math.pi): "rpm against rad/s",
    2 * math.pi / 60: "rad/s against rpm",
    1e3: "ms against s, or mm against m",
    1e-3: "s against ms, or m against mm",
    -1.0: "a reversed sign",
}
"""Ratios of velocity to the derivative of position, and the mix-up that each indicates."""


def check_log(log: Log, robot: Robot, samples: Samples | None = None) -> tuple[Finding, ...]:
    """Findings on a log, the worst first: those of the reader and those of the checks.

    log: joint side, SI units
    robot: whose joints were logged
    samples: the log, processed (default: processed here)
    """
    if log.n != robot.n:
        raise ShapeError(f"{log.n} joints", where=f"log {log.source}", expected=f"{robot.n}, those of {robot.name!r}")
    clock = clock_findings(log)
    if any(finding.rule == "unit of time" for finding in clock):  # nothing derived from such a time can be judged
        return sorted_by_severity((*log.findings, *clock))
    samples = process(log, robot) if samples is None else samples
    still = _still(log, samples)
    spikes = np.column_stack([_spikes(tau) for tau in log.tau.T])
    inner = np.searchsorted(log.t, samples.t).clip(0, len(log) - 1)
    added = any(finding.rule == "gravity added" for finding in log.findings)
    found = [  # causes before what may follow from them
        *clock,
        *still_findings(robot, still),
        *_spike_findings(robot, spikes),
        *torque_findings(robot, samples, spikes[inner], added=added),
        *range_findings(robot, log),
        *_velocities(robot, log, samples, still),
        *_saturation(robot, log, samples, spikes),
        *_resolution(robot, log, still),
    ]
    return sorted_by_severity((*log.findings, *found))


# The log by itself --------------------------------------------------------------------------------------------------


def _still(log: Log, samples: Samples) -> Array:
    """(n,) joints that do not move: within a milliradian, or hardly ever faster than their velocity noise."""
    still: Array = (np.ptp(samples.q, axis=0) < STILL) | (samples.keep.mean(axis=0) < 0.02)
    return still


def still_findings(robot: Robot, still: Array) -> list[Finding]:
    return [
        Finding(
            "joint at rest",
            "suspicious",
            joint.name,
            "the joint does not move in this log",
            condition="motion of every joint",
            cause="it was held, or its position was not recorded",
            advice="Its friction and inertia cannot be identified: move it, or lock it in the model.",
        )
        for joint, rests in zip(robot.joints, still, strict=True)
        if rests
    ]


def range_findings(robot: Robot, log: Log) -> list[Finding]:
    """Positions outside the joint limits, or implausibly far."""
    found = []
    for j, (joint, lower, upper) in enumerate(zip(robot.joints, *position_limits(robot), strict=True)):
        low, high = float(log.q[:, j].min()), float(log.q[:, j].max())
        unit = UNITS[joint.kind].position
        slack = 0.02 * (upper - lower) if np.isfinite(upper - lower) else 0.02
        beyond, allowed = max(high - upper, lower - low), f"its limits are {lower:.4g} to {upper:.4g} {unit}"
        if np.isinf(lower) and np.isinf(upper):
            beyond, slack = max(abs(low), abs(high)) - FARTHEST[joint.kind], 0.0
            allowed = "no joint goes that far"
        if beyond > slack:
            found.append(
                Finding(
                    "range of position",
                    "suspicious",
                    joint.name,
                    f"positions reach from {low:.4g} to {high:.4g} {unit}, but {allowed}",
                    condition="positions within the limits",
                    value=beyond,
                    unit=unit,
                    cause=_far(joint.kind, beyond),
                    advice="Declare unit or side of q.",
                )
            )
    return found


def _far(kind: str, beyond: float) -> str:
    if beyond < 7:
        return "the joint's zero in the log is not that of the model, or the limits are wrong"
    if kind == "revolute":
        return "degrees instead of radians, or positions of motors instead of joints"
    return "millimetres instead of metres, or positions of motors instead of joints"


def _velocities(robot: Robot, log: Log, samples: Samples, still: Array) -> list[Finding]:
    """Measured velocities against the derivative of the positions."""
    if log.qd is None:
        return []
    inner = np.searchsorted(log.t, samples.t).clip(0, len(log) - 1)
    derived = central_differences(samples.q, float(np.median(np.diff(samples.t))))[
        0
    ]  # samples.qd may be the velocity of the log itself
    found = []
    for j, joint in enumerate(robot.joints):
        x, y = derived[:, j], log.qd[inner, j]
        if still[j] or not x.any():
            continue
        ratio = float(x @ y / (x @ x))
        rest = float(np.std(y - ratio * x) / max(np.std(y), 1e-300))
        if abs(ratio - 1) < 0.1 and rest < 0.5:
            continue
        near = min(MIXED_UP, key=lambda r: abs(math.log(abs(ratio / r))) + 10 * (ratio * r < 0) if ratio else math.inf)
        like = ratio * near > 0 and abs(ratio / near - 1) < 0.1 and rest < 0.5
        what = (
            f"the velocity is {ratio:.4g} times the derivative of the position"
            if rest < 0.5
            else ("the velocity does not follow the derivative of the position")
        )
        found.append(
            Finding(
                "velocity against position",
                "suspicious",
                joint.name,
                what,
                condition="a ratio of 1",
                value=ratio,
                cause=MIXED_UP[near] if like else "wrong columns, units or time stamps",
                advice="Correct the units or columns of q, qd and t.",
            )
        )
    return found


def _saturation(robot: Robot, log: Log, samples: Samples, spikes: Array) -> list[Finding]:
    """Torques that stay at their extreme, or at the joint's limit, while the joint moves; and those beyond it.

    spikes: (N, n) bool, torques of the log that do not count
    """
    inner = np.searchsorted(log.t, samples.t).clip(0, len(log) - 1)
    found = []
    # Limits joint by joint are too strict for coupled motors, so only the joints' own count there.
    limits = torque_limits(robot.without("coupling", "motors") if robot.coupling else robot)
    for j, (joint, limit) in enumerate(zip(robot.joints, limits, strict=True)):
        tau = log.tau[inner, j][samples.keep[:, j] & ~spikes[inner, j]]
        if len(tau) < FEWEST or not np.ptp(tau):
            continue
        most, unit = float(abs(tau).max()), UNITS[joint.kind].torque
        at_limit, beyond = (float((abs(tau) > share * limit).mean()) for share in (0.995, BEYOND))
        held = at_limit if beyond < at_limit / 2 else 0.0
        share = max(_at_extreme(tau), _at_extreme(-tau), held)
        if share > SATURATED:
            found.append(
                Finding(
                    "saturated torque",
                    "suspicious",
                    joint.name,
                    f"{share:.1%} of the torques are at the extreme, {most:.4g} {unit}",
                    condition="torques below their limit",
                    value=100 * share,
                    unit="%",
                    cause="the drive or the sensor is at its limit, so the true torque is unknown there",
                    advice="Log a slower motion, or leave these parts out.",
                )
            )
        elif beyond > SATURATED:
            found.append(
                Finding(
                    "range of torque",
                    "suspicious",
                    joint.name,
                    f"torques reach {most:.4g} {unit}, but the limit of the model is {limit:.4g} {unit}",
                    condition="torques within the limits",
                    value=most,
                    unit=unit,
                    cause="drive gain or unit of the effort, or a limit that the drive does not keep",
                    advice="Check `gains` and the unit of the effort, or correct the limit.",
                )
            )
    return found


def _at_extreme(x: Array) -> float:
    """Share of samples at the maximum, if far more than a peak would leave there; else 0.

    A rounded peak leaves 2.4 times as many samples in the uppermost thousandth of the range as in the next one.
    """
    top = x.max()
    step = max(1e-3 * float(np.ptp(x)), _step(x))
    first, second = int((x > top - step / 2).sum()), int(((x > top - 1.5 * step) & (x <= top - step / 2)).sum())
    return first / len(x) if first >= 8 and first > 6 * max(second, 1) else 0.0


def _step(x: Array) -> float:
    """The step of a quantised signal; 0 if it is not quantised, or far finer than matters."""
    probe = x[:: max(1, len(x) // PROBED)]
    if len(np.unique(probe)) > len(probe) / 5:
        return 0.0
    levels = np.unique(x)
    return float(np.median(np.diff(levels))) if 2 <= len(levels) <= len(x) / 5 else 0.0


def _resolution(robot: Robot, log: Log, still: Array) -> list[Finding]:
    """Signals with few levels."""
    found = []
    for j, joint in enumerate(robot.joints):
        for name, x in (("q", log.q[:, j]), ("tau", log.tau[:, j])):
            step = _step(x)
            levels = float(np.ptp(x)) / step if step else math.inf
            if levels >= COARSE[name] or still[j]:
                continue
            word = "position" if name == "q" else "torque"
            found.append(
                Finding(
                    "resolution",
                    "suspicious",
                    joint.name,
                    f"the {word} has only about {levels:.0f} steps of {step:.3g} within its range",
                    condition=f"at least {COARSE[name]} steps",
                    value=levels,
                    unit="steps",
                    cause="a coarse sensor, or too few digits in the log",
                    advice="Log more digits, or a larger motion.",
                )
            )
    return found


def _spikes(tau: Array) -> Array:
    """(N,) bool, single torques far from those before and after; none where such torques are common."""
    spikes = np.zeros(len(tau), dtype=bool)
    usual = float(np.ptp(np.quantile(tau, (0.005, 0.995))))
    if np.abs(np.diff(tau)).max(initial=0.0) <= TALL * usual:  # a spike is far from the torque before or after
        return spikes
    off = np.abs(tau - signal.medfilt(tau, 5))[2:-2]
    typical = float(np.median(off[off > 0])) if (off > 0).any() else 0.0
    least = max(SPIKE * typical, SPIKE * _step(tau), TALL * usual)
    around = signal.medfilt(off, NEIGHBOURHOOD) if (off > least).any() else off
    spikes[2:-2] = off > np.maximum(least, SPIKE * around)
    return spikes if typical and spikes.sum() <= RARE * len(tau) else np.zeros_like(spikes)


def _spike_findings(robot: Robot, spikes: Array) -> list[Finding]:
    return [
        Finding(
            "spikes",
            "suspicious",
            joint.name,
            f"{count} torques are far from their neighbours",
            condition="torques that change gradually",
            value=float(count),
            unit="samples",
            cause="disturbed transmission or outliers of the sensor",
            advice="Check the wiring. Outliers hardly disturb `identify`; they spoil least squares (--estimate free).",
        )
        for joint, count in zip(robot.joints, spikes.sum(axis=0).tolist(), strict=True)
        if count >= FEWEST_SPIKES
    ]


__all__ = ["check_log"]
