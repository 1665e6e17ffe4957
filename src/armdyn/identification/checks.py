"""Checks of a log: findings in plain words for whoever has to correct it.

The log by itself: clock, motion, limits, saturation, resolution, velocities. The torques against the motion
(`evidence`): order of columns, signs, units, gravity, delay. A good log gives no findings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from scipy import signal

from armdyn.errors import ShapeError
from armdyn.findings import Finding, listed, sorted_by_severity
from armdyn.identification.evidence import FEWEST, INCLUDE, Evidence, Reading
from armdyn.identification.log import Log
from armdyn.identification.processing import central_differences, process
from armdyn.identification.samples import Samples
from armdyn.identification.stamps import clock_findings
from armdyn.parameters.standard import parameter_names, standard_parameters
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
LARGE = 0.6
"""Relative error of a torque, fitted freely, above which something is wrong with it."""
DELAY = 0.1
"""Largest delay that is searched, s."""
LEAST_DELAY = 1.5
"""Delays up to this many samples come from sampling itself."""
SHARE = 0.15
"""Deviation of the supported weight from the model's, as a share, above which it is reported."""
SPIKE, RARE = 12.0, 0.05
"""A torque this many typical deviations from the median of its neighbours is a spike, if at most this share are."""
SURE = 6.0
"""Standard deviations above which a sign is certain."""
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
    found = [
        *clock,
        *still_findings(robot, still),
        *range_findings(robot, log),
        *_velocities(robot, log, samples, still),
    ]
    found += [*_saturation(robot, log, samples), *_resolution(robot, log, still), *_spikes(robot, log)]
    found += _torque_findings(robot, log, samples)
    return sorted_by_severity((*log.findings, *found))


# The log by itself --------------------------------------------------------------------------------------------------


def _still(log: Log, samples: Samples) -> Array:
    """(n,) joints that do not move: within a milliradian, or hardly ever faster than their velocity noise."""
    still: Array = (np.ptp(samples.q, axis=0) < STILL) | (samples.keep.mean(axis=0) < 0.02)
    return still


def still_findings(robot: Robot, still: Array) -> list[Finding]:
    return [
        Finding("joint at rest", "suspicious", joint.name, "the joint does not move in this log",
                condition="motion of every joint", cause="it was held, or its position was not recorded",
                advice="Its friction and inertia cannot be identified: move it, or lock it in the model.")
        for joint, rests in zip(robot.joints, still, strict=True) if rests
    ]  # fmt: skip


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
            found.append(Finding("range of position", "suspicious", joint.name,
                                 f"positions reach from {low:.4g} to {high:.4g} {unit}, but {allowed}",
                                 condition="positions within the limits", value=beyond, unit=unit,
                                 cause=_far(joint.kind, beyond), advice="Declare unit or side of q."))  # fmt: skip
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
    derived = central_differences(samples.q, log.period)[0]  # samples.qd may be the velocity of the log itself
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
        what = f"the velocity is {ratio:.4g} times the derivative of the position" if rest < 0.5 else (
            "the velocity does not follow the derivative of the position")  # fmt: skip
        found.append(Finding("velocity against position", "suspicious", joint.name, what, condition="a ratio of 1",
                             value=ratio, cause=MIXED_UP[near] if like else "wrong columns, units or time stamps",
                             advice="Correct the units or columns of q, qd and t."))  # fmt: skip
    return found


def _saturation(robot: Robot, log: Log, samples: Samples) -> list[Finding]:
    """Torques that stay at their extreme, or at the joint's limit, while the joint moves."""
    inner = np.searchsorted(log.t, samples.t).clip(0, len(log) - 1)
    found = []
    # Limits joint by joint are too strict for coupled motors, so only the joints' own count there.
    limits = torque_limits(robot.without("coupling", "motors") if robot.coupling else robot)
    for j, (joint, limit) in enumerate(zip(robot.joints, limits, strict=True)):
        tau = log.tau[inner, j][samples.keep[:, j]]
        if len(tau) < FEWEST or not np.ptp(tau):
            continue
        share = max(_at_extreme(tau), _at_extreme(-tau), float((abs(tau) > 0.995 * limit).mean()))
        if share > SATURATED:
            most, unit = float(abs(tau).max()), UNITS[joint.kind].torque
            found.append(Finding("saturated torque", "suspicious", joint.name,
                                 f"{share:.1%} of the torques are at the extreme, {most:.4g} {unit}",
                                 condition="torques below their limit", value=100 * share, unit="%",
                                 cause="the drive or the sensor is at its limit, so the true torque is unknown there",
                                 advice="Log a slower motion, or leave these parts out."))  # fmt: skip
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
    """The step of a quantised signal; 0 if it is not quantised."""
    levels = np.unique(x)
    if len(levels) > len(x) / 5 or len(levels) < 2:
        return 0.0
    return float(np.median(np.diff(levels)))


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
            found.append(Finding("resolution", "suspicious", joint.name,
                                 f"the {word} has only about {levels:.0f} steps of {step:.3g} within its range",
                                 condition=f"at least {COARSE[name]} steps", value=levels, unit="steps",
                                 cause="a coarse sensor, or too few digits in the log",
                                 advice="Log more digits, or a larger motion."))  # fmt: skip
    return found


def _spikes(robot: Robot, log: Log) -> list[Finding]:
    """Single torques far from those before and after."""
    found = []
    for j, joint in enumerate(robot.joints):
        tau = log.tau[:, j]
        off = np.abs(tau - signal.medfilt(tau, 5))[2:-2]
        typical = float(np.median(off[off > 0])) if (off > 0).any() else 0.0
        count = int((off > max(SPIKE * typical, SPIKE * _step(tau), 0.02 * float(np.ptp(tau)))).sum())
        if typical and 3 <= count <= RARE * len(tau):
            found.append(Finding("spikes", "suspicious", joint.name, f"{count} torques are far from their neighbours",
                                 condition="torques that change gradually", value=float(count), unit="samples",
                                 cause="disturbed transmission or outliers of the sensor",
                                 advice='Use method="robust" (--method robust).'))  # fmt: skip
    return found


# Torques and motion -------------------------------------------------------------------------------------------------


def _torque_findings(robot: Robot, log: Log, samples: Samples) -> list[Finding]:
    evidence = Evidence(robot, samples)
    readings = evidence.readings()
    found = []
    for before, after in pairwise(readings):
        found += _changed(robot, evidence, before, after)
    last = readings[-1]
    found = _merged(robot, found)
    if not any(f.rule in ("order of torques", "order of positions", "unit of position") for f in found):
        reversed_ = _reversed(robot, evidence, last)
        found += [f for f in reversed_ if all(f.where != g.where or g.rule != f.rule for g in found)]
        if last.gravity and not reversed_:
            found += _gravity(robot, evidence, last, log)
        found += _delay(evidence, last, 1 / log.period)
    return [*found, *_large_residuals(robot, evidence, last)]


def _changed(robot: Robot, evidence: Evidence, before: Reading, after: Reading) -> list[Finding]:
    """The findings of one change of reading."""
    errors = evidence.errors(before), evidence.errors(after)
    worst = int(np.nanargmax(errors[0] - errors[1]))
    names = [joint.name for joint in robot.joints]
    gain = f"(residual of {names[worst]}: {errors[1][worst]:.0%} of the torque instead of {errors[0][worst]:.0%})"
    if before.torques != after.torques or before.positions != after.positions:
        what = "torques" if before.torques != after.torques else "positions"
        order = getattr(after, what)
        moved = [names[j] for j in range(robot.n) if order[j] != j]
        given = [names[order[j]] for j in range(robot.n) if order[j] != j]
        return [Finding(f"order of {what}", "suspicious", ", ".join(moved),
                        f"the {what} of {listed(moved)} fit if taken from the columns of {listed(given)} {gain}",
                        condition="columns in the order of the joints", value=errors[0][worst],
                        cause=f"columns of {what} are swapped", advice="Correct `columns`.")]  # fmt: skip
    if before.scales != after.scales:
        j = next(j for j in range(robot.n) if before.scales[j] != after.scales[j])
        unit = {True: ("degrees", "deg"), False: ("millimetres", "mm")}[robot.joints[j].kind == "revolute"]
        factor = after.scales[j] / before.scales[j]
        are = f"are in {unit[0]}" if factor < 1 else f"were converted from {unit[0]} although they were in SI units"
        advice = f'Declare units={{"q": "{unit[1]}"}}.' if factor < 1 else "Declare no unit of q."
        return [Finding("unit of position", "suspicious", "positions",
                        f"the positions {are}, judging by the torques {gain}",
                        condition="the declared unit", value=factor, cause="a wrong unit of positions",
                        advice=advice)]  # fmt: skip
    if before.gravity != after.gravity:
        return [_no_gravity(f"the torques fit a robot without gravity {gain}", errors[0][worst])]
    j = next(j for j in range(robot.n) if before.signs[j] != after.signs[j])
    return [_sign(names[j], f"the torque fits with the opposite sign {gain}", errors[0][worst])]


def _merged(robot: Robot, found: Sequence[Finding]) -> list[Finding]:
    """One finding per rule and place: of several orders the last counts, two reversals of a sign are none."""
    kept: dict[tuple[str, str], Finding] = {}
    for finding in found:
        key = (finding.rule, "" if finding.rule.startswith("order") else finding.where)
        if finding.rule == "sign of torque" and key in kept:
            del kept[key]
        else:
            kept[key] = finding
    return list(kept.values())


def _sign(joint: str, what: str, value: float) -> Finding:
    return Finding("sign of torque", "suspicious", joint, what, condition="torque that acts on +q", value=value,
                   cause="the effort has the opposite sign convention, or the joint's axis is reversed in the model",
                   advice="Give the joint a negative gain, or reverse its axis in the model.")  # fmt: skip


def _no_gravity(what: str, value: float) -> Finding:
    return Finding("gravity missing", "suspicious", "effort", what, condition="torques that support the robot's weight",
                   value=value, cause="the controller reports efforts without its gravity compensation",
                   advice='Declare effort="gravity_compensated", or log the full torque.')  # fmt: skip


def _reversed(robot: Robot, evidence: Evidence, reading: Reading) -> list[Finding]:
    """Joints whose friction would drive them: Fv qd^2 + Fc |qd|, on average, is certainly negative."""
    parameters, root = evidence.fit(reading)
    names = parameter_names(robot, INCLUDE)
    rate = np.abs(evidence.samples.qd)
    found = []
    for j, joint in enumerate(robot.joints):
        number = robot.movable.index(joint) + 1
        own = [names.index(f"{kind}{number}") for kind in ("Fv", "Fc")]
        weight = np.array([float((rate[:, j] ** 2).mean()), float(rate[:, j].mean())])
        deviation = float(np.linalg.norm(weight @ root[own]))
        power = float(weight @ parameters[own])
        if power < -SURE * deviation:
            found.append(_sign(joint.name, "friction would drive the joint instead of braking it", power))
    return found


def _gravity(robot: Robot, evidence: Evidence, reading: Reading, log: Log) -> list[Finding]:
    """Share of the model's gravity in the torques: about 1 if they support the robot, 0 or 2 if wrongly declared."""
    share, deviation = _held(robot, evidence, reading)
    if not deviation < 0.1:  # gravity hardly acts on this robot, or its model has no masses
        return []
    if share < 0.25:
        return [_no_gravity(f"the torques support {share:.0%} of the weight of the model's links", share)]
    if share > 1.75 and any(finding.rule == "gravity added" for finding in log.findings):
        return [Finding("gravity twice", "suspicious", "effort",
                        f"with the gravity that was added, the torques support {share:.0%} of the model's weight",
                        condition="about 100 %", value=share, cause="the efforts contained gravity already",
                        advice='Declare effort="torque".')]  # fmt: skip
    if abs(share - 1) > max(SHARE, SURE * deviation):
        return [Finding("weight share", "note", "effort",
                        f"the torques support {share:.0%} of the weight of the model's links",
                        condition="about 100 % if the model's masses and the drive gains are right", value=share,
                        cause="drive gains (torque per current), a payload, or masses of the model",
                        advice="Masses are found in proportion to the gains: calibrate them with a known load.",
                        )]  # fmt: skip
    return []


def _held(robot: Robot, evidence: Evidence, reading: Reading) -> tuple[float, float]:
    """The share of the model's gravity torques in the torques, and its standard deviation.

    Fitted beside the regressor of the robot without gravity, so that inertia, friction and offsets are free.
    """
    with_gravity, without = evidence.rows(reading), evidence.rows(replace(reading, gravity=False))
    model = standard_parameters(robot, INCLUDE).array()
    weight = np.sqrt(evidence.weights(without, reading))
    tau = evidence.tau[:, list(reading.torques)] * np.array(reading.signs)
    keep = without.keep & (weight > 0)
    Y, g, x = (part[keep] for part in (without.Y * weight[:, None], (with_gravity.Y - without.Y) @ model * weight,
                                       tau * weight))  # fmt: skip
    if len(x) < FEWEST:
        return 1.0, math.inf
    lengths = np.linalg.norm(Y, axis=0)
    used = lengths > 1e-9 * lengths.max(initial=1e-300)
    U, s, _ = np.linalg.svd(Y[:, used] / lengths[used], full_matrices=False)
    Q = U[:, s > 1e-6 * s[0]]
    g_left, x_left = g - Q @ (Q.T @ g), x - Q @ (Q.T @ x)
    size = float(g_left @ g_left)
    if size <= 1e-8 * len(x):  # rows are scaled to torques of size 1
        return 1.0, math.inf
    share = float(g_left @ x_left) / size
    rest = x_left - share * g_left
    return share, math.sqrt(float(rest @ rest) / max(len(x) - Q.shape[1], 1) / size)


def _delay(evidence: Evidence, reading: Reading, rate: float) -> list[Finding]:
    """Torques that fit better some samples later or earlier: clocks that are not synchronised."""
    most = max(2, math.ceil(DELAY * rate))
    step = max(1, most // 20)
    lags = np.unique([*range(-most, most + 1, step), 0])
    squares = np.array([float(np.nansum(evidence.errors_at(int(lag), reading) ** 2)) for lag in lags])
    best = int(np.argmin(squares))
    fine = (
        range(int(lags[best]) - step, int(lags[best]) + step + 1)
        if step > 1
        else range(int(lags[best]), int(lags[best]) + 1)
    )
    values = {lag: float(np.nansum(evidence.errors_at(lag, reading) ** 2)) for lag in fine}
    lag = min(values, key=lambda k: values[k])
    now = float(squares[list(lags).index(0)])
    if abs(lag) <= LEAST_DELAY or values[lag] > 0.7 * now:
        return []
    shift = f"{abs(lag) / rate * 1e3:.4g} ms {'later' if lag > 0 else 'earlier'}"
    return [Finding("delay", "suspicious", "time",
                    f"the torques fit the motion best if they are taken {shift} than stamped",
                    condition="positions and torques of the same instant", value=lag / rate, unit="s",
                    cause="unsynchronised clocks of positions and torques, or a filter on one of them",
                    advice="Shift one against the other, or log both with one clock.")]  # fmt: skip


def _large_residuals(robot: Robot, evidence: Evidence, reading: Reading) -> list[Finding]:
    return [
        Finding("large residual", "suspicious", joint.name,
                f"the residual is {error:.0%} of the torque (rms), whatever the parameters",
                condition=f"at most {LARGE:.0%}", value=100 * float(error), unit="%",
                cause="noise, a wrong column or unit, contact, or another robot",
                advice="Plot torque and velocity of the joint.")
        for joint, error in zip(robot.joints, evidence.errors(reading), strict=True) if error > LARGE
    ]  # fmt: skip


__all__ = ["check_log"]
