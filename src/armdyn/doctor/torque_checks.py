"""Checks of torques against the motion: order of columns, signs, units, gravity, zeros, gains, delay.

Readings of the log that fit better (`evidence`) and deviations that explain the residual (`deviations`) become findings
in plain words. One cause is named where one explains the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from armdyn.doctor.deviations import Deviations
from armdyn.doctor.log_evidence import BETTER, FEWEST, INCLUDE, Evidence, Reading, resolved, with_gravity
from armdyn.findings import Finding, listed
from armdyn.identification.log.log import Log
from armdyn.identification.log.samples import Samples
from armdyn.parameters.standard import parameter_names, standard_parameters
from armdyn.robot import Robot
from armdyn.robot.limits import UNITS
from armdyn.typing import Array

LARGE = 0.6
"""Relative error of a torque, fitted freely, above which something is wrong with it."""
SURE = 6.0
"""Standard deviations above which a sign is certain."""
MATERIAL = {"tilt": math.radians(4), "zero": math.radians(4), "gain": 0.15, "scale": 0.15}
"""Tilt of gravity (rad), zero of a joint (rad or m), gain of one joint and of all (shares beyond 1) from which on they
are reported, if they are certain."""
EXPLAINED = {"tilt": 0.01, "zero": 0.01, "gain": 0.01, "delay": 0.05}
"""Share of the residual's power that they must explain."""
MOST_OF_IT = 0.5
"""Share of the residual's power from which on a deviation is the cause of friction of the wrong sign, too."""
LEAST_DELAY = 0.75
"""Delay, in samples, from which on it is reported: half a sample comes from sampling itself."""
TRUSTED, BY_MASSES = 4.0, 0.15
"""Residual by the model's own masses, over that of free parameters, up to which zeros are judged by those masses too,
and the share of it that a zero must explain then."""
EARTH = 9.81
"""m/s^2."""
DIRECTION, ZERO = "direction of gravity", "zero of position"
COLUMN = {"torques": "tau", "positions": "q"}
"""Names of columns."""
MISREAD = ("order of torques", "order of positions", "unit of position", "sign of position")
"""Findings after which nothing else about the torques can be judged."""


def torque_findings(robot: Robot, log: Log, samples: Samples, *, sound: bool = True) -> list[Finding]:
    """Findings on the torques of a log, by the motion that should cause them.

    sound: whether the signals by themselves are good enough to look for small deviations
    """
    samples = resolved(samples)
    missing = _gravity_of_the_model(robot, samples)
    if missing:
        return missing
    evidence = Evidence(robot, samples)
    readings = evidence.readings()
    found = []
    for before, after in pairwise(readings):
        found += _changed(robot, evidence, before, after)
    last = readings[-1]
    found = _merged(robot, found)
    if not any(f.rule in MISREAD for f in found):
        found += _smaller(robot, evidence, last, log, found, sound)
    return [*found, *_large_residuals(robot, evidence, last)]


def _smaller(
    robot: Robot, evidence: Evidence, reading: Reading, log: Log, before: Sequence[Finding], sound: bool
) -> list[Finding]:
    """What a reading leaves to be found: friction of the wrong sign, the weight, small deviations."""
    reversed_ = _reversed(robot, evidence, reading)
    weight = _gravity(robot, evidence, reading, log) if reading.gravity else []
    if any(f.rule == DIRECTION for f in weight):
        if len(reversed_) <= robot.n / 2:  # with the weight reversed, the fit bends friction too
            return weight
        weight = []
    signs = [f for f in reversed_ if all(f.where != g.where or g.rule != f.rule for g in before)]
    small = sound and not robot.constrained and all(f.rule == "weight share" for f in weight)
    if not small or not Deviations.judged(evidence, reading):
        return signs if reversed_ else weight
    deviations = Deviations(evidence, reading)
    if reversed_:  # or parameters were bent by something else, which then explains most of the residual
        return _deviations(robot, deviations, log, MOST_OF_IT) or signs
    return _deviations(robot, deviations, log) or _zero_by_masses(robot, deviations) or _scale(deviations) or weight


def _gravity_of_the_model(robot: Robot, samples: Samples) -> list[Finding]:
    """A model without gravity whose torques fit far better with it."""
    if any(float(x) for x in robot.gravity):
        return []
    evidence = Evidence(robot, samples)
    reading = Reading.declared(robot.n)
    before = evidence.errors(reading)
    tried = {axis: Evidence(with_gravity(robot, -EARTH * np.eye(3)[k]), samples).errors(reading)
             for k, axis in enumerate("xyz")}  # fmt: skip
    axis = max(tried, key=lambda each: evidence.improvement(before, tried[each]))
    if evidence.improvement(before, tried[axis]) < BETTER:
        return []
    worst = int(np.nanargmax(before - tried[axis]))
    return [Finding("gravity of the model", "suspicious", "model",
                    f"the model has no gravity, but the torques fit with gravity along {axis} "
                    f"({_residual(robot, worst, before, tried[axis])})",
                    condition="the gravity of the place", value=100 * float(before[worst]), unit="%",
                    cause="gravity = (0, 0, 0)",
                    advice="Give the robot its gravity, (0, 0, -9.81) for a base that stands.")]  # fmt: skip


def _residual(robot: Robot, j: int, before: Array, after: Array) -> str:
    return f"residual of {robot.joints[j].name}: {after[j]:.0%} of the torque instead of {before[j]:.0%}"


def _deviations(robot: Robot, deviations: Deviations, log: Log, least: float = 0.0) -> list[Finding]:
    """The deviation that explains most of the residual: delay, tilt, gain or zero, if it is certain and material.

    least: share of the residual's power that it must explain
    """
    found, late = dict(deviations.found), deviations.delay()
    material = {key for key, each in found.items() if float(np.linalg.norm(each.values)) > MATERIAL[key[0]]}
    if abs(float(late.values[0])) > LEAST_DELAY * log.period:
        material.add(("delay", 0))
    found["delay", 0] = late
    certain = [key for key in material if found[key].certainty > deviations.certain]
    shares = {key: share for key in certain if (share := found[key].share) > max(EXPLAINED[key[0]], least)}
    if not shares:
        return []
    kind, j = max(shares, key=lambda key: shares[key])
    best = found[kind, j]
    value, std = float(best.values[0]), float(best.std[0])
    if kind == "delay":
        return [_late(value)]
    if kind == "tilt":
        angle = float(np.degrees(np.linalg.norm(best.values)))
        return [_direction(f"the torques fit gravity at about {angle:.0f} degrees to the model's", angle)]
    if kind == "zero":
        return [_zero(robot, j, value, f"the torques fit if its position is {value:+.2g} +- {std:.1g} ")]
    return [_gain(robot.joints[j].name, 1 + value)]


def _direction(what: str, angle: float) -> Finding:
    return Finding(DIRECTION, "suspicious", "model", what, condition="gravity as in the model",
                   value=angle, unit="degrees", cause="the base is mounted differently from the model",
                   advice="Correct gravity in the model, or the pose of the base.")  # fmt: skip


def _gain(joint: str, gain: float) -> Finding:
    return Finding("gain of one joint", "suspicious", joint,
                   f"the torque is about {gain:.2f} times what the motion of the whole robot asks for",
                   condition="gains that agree between the joints", value=gain,
                   cause="torque constant or gear ratio of this drive, or of its neighbour",
                   advice="Check the drive gain of the joint, and declare it by `gains`.")  # fmt: skip


def _late(delay: float) -> Finding:
    shift = f"{abs(delay) * 1e3:.4g} ms {'later' if delay > 0 else 'earlier'}"
    return Finding("delay", "suspicious", "time",
                   f"the torques fit the motion best if they are taken {shift} than stamped",
                   condition="positions and torques of the same instant", value=delay, unit="s",
                   cause="unsynchronised clocks of positions and torques, or a filter on one of them",
                   advice="Shift one against the other, or log both with one clock.")  # fmt: skip


def _zero_by_masses(robot: Robot, deviations: Deviations) -> list[Finding]:
    """A joint whose zero in the log is not that of the model, where the model's own masses explain the torques."""
    zeros, rest = deviations.zeros()
    j = max(range(robot.n), key=lambda j: zeros[j].share)
    value = float(zeros[j].values[0])
    trusted = rest * math.sqrt(1 - zeros[j].share) < TRUSTED
    certain = zeros[j].certainty > deviations.certain and zeros[j].share > BY_MASSES
    if not trusted or not certain or abs(value) < MATERIAL["zero"]:
        return []
    return [_zero(robot, j, value, f"by the masses of the model, its position is {value:+.2g} ")]


def _zero(robot: Robot, j: int, value: float, what: str) -> Finding:
    joint = robot.joints[j]
    unit = UNITS[joint.kind].position
    return Finding(ZERO, "suspicious", joint.name, f"{what}{unit} at the zero of the log",
                   condition="the joint's zero where the model has it", value=value, unit=unit,
                   cause="encoder offset, another zero in the controller, or wrong centres of mass in the model",
                   advice="Compare the pose at the joint's zero with the model, and declare `offsets`, or estimate "
                   "zeros with the parameters (`--zeros`).")  # fmt: skip


def _scale(deviations: Deviations) -> list[Finding]:
    """All torques larger or smaller than the model's bodies need, in weight and inertia together."""
    scale = deviations.scale
    share = 1 + float(scale.values[0])
    if abs(share - 1) < MATERIAL["scale"] or scale.certainty < deviations.certain or share < MATERIAL["scale"]:
        return []
    return [_weight(f"the torques are {share:.0%} of what weight and inertia of the model's links need", share)]


def _weight(what: str, share: float) -> Finding:
    return Finding("weight share", "note", "effort", what, value=100 * share, unit="%",
                   condition="about 100 % if the model's masses and the drive gains are right",
                   cause="drive gains (torque per current), a payload, or masses of the model",
                   advice="Masses are found in proportion to the gains: calibrate them with a known load.",
                   )  # fmt: skip


def _changed(robot: Robot, evidence: Evidence, before: Reading, after: Reading) -> list[Finding]:
    """The findings of one change of reading."""
    errors = evidence.errors(before), evidence.errors(after)
    worst = int(np.nanargmax(errors[0] - errors[1]))
    names = [joint.name for joint in robot.joints]
    gain, share = f"({_residual(robot, worst, *errors)})", 100 * float(errors[0][worst])
    if before.torques != after.torques or before.positions != after.positions:
        what = "torques" if before.torques != after.torques else "positions"
        order = getattr(after, what)
        moved = [names[j] for j in range(robot.n) if order[j] != j]
        given = [names[order[j]] for j in range(robot.n) if order[j] != j]
        return [Finding(f"order of {what}", "suspicious", ", ".join(moved),
                        f"the {what} of {listed(moved)} fit if taken from the columns of {listed(given)} {gain}",
                        condition="columns in the order of the joints", value=share, unit="%",
                        cause=f"columns of {what} are swapped",
                        advice=f"Give their order: `columns`, --column {COLUMN[what]}=...")]  # fmt: skip
    if before.scales != after.scales:
        j = next(j for j in range(robot.n) if before.scales[j] != after.scales[j])
        unit = {True: ("degrees", "deg"), False: ("millimetres", "mm")}[robot.joints[j].kind == "revolute"]
        factor = after.scales[j] / before.scales[j]
        if factor == -1:
            return [Finding("sign of position", "suspicious", names[j],
                            f"the torques fit with the opposite sign of the position {gain}",
                            condition="positions that grow as in the model", value=share, unit="%",
                            cause="the joint's axis is reversed in the log or in the model",
                            advice="Give the joint a negative ratio, or reverse its axis in the model.")]  # fmt: skip
        are = f"are in {unit[0]}" if factor < 1 else f"were converted from {unit[0]} although they were in SI units"
        advice = f'Declare units={{"q": "{unit[1]}"}}.' if factor < 1 else "Declare no unit of q."
        return [Finding("unit of position", "suspicious", "positions",
                        f"the positions {are}, judging by the torques {gain}",
                        condition="the declared unit", value=factor, cause="a wrong unit of positions",
                        advice=advice)]  # fmt: skip
    if before.gravity != after.gravity:
        if after.gravity == -1:
            return [_direction(f"the torques fit a robot mounted upside down {gain}", 180.0)]
        return [_no_gravity(f"the torques fit a robot without gravity {gain}", share)]
    j = next(j for j in range(robot.n) if before.signs[j] != after.signs[j])
    return [_sign(names[j], f"the torque fits with the opposite sign {gain}", share, "%")]


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


def _sign(joint: str, what: str, value: float, unit: str) -> Finding:
    return Finding("sign of torque", "suspicious", joint, what, "torque that acts on +q", value, unit,
                   cause="the effort has the opposite sign convention, or the joint's axis is reversed in the model",
                   advice="Give the joint a negative gain, or reverse its axis in the model.")  # fmt: skip


def _no_gravity(what: str, percent: float) -> Finding:
    return Finding("gravity missing", "suspicious", "effort", what, condition="torques that support the robot's weight",
                   value=percent, unit="%", cause="the controller reports efforts without its gravity compensation",
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
            found.append(_sign(joint.name, "friction would drive the joint instead of braking it", power, "W"))
    return found


def _gravity(robot: Robot, evidence: Evidence, reading: Reading, log: Log) -> list[Finding]:
    """Share of the model's gravity in the torques: about 1 if they support the robot, 0 or 2 if wrongly declared."""
    share, deviation = _held(robot, evidence, reading)
    if not deviation < 0.1:  # gravity hardly acts on this robot, or its model has no masses
        return []
    if share < -0.5:
        return [_direction("the torques support the weight of a robot mounted upside down", 180.0)]
    if share < 0.25:
        return [_no_gravity(f"the torques support {share:.0%} of the weight of the model's links", 100 * share)]
    if share > 1.75 and any(finding.rule == "gravity added" for finding in log.findings):
        return [Finding("gravity twice", "suspicious", "effort",
                        f"with the gravity that was added, the torques support {share:.0%} of the model's weight",
                        condition="about 100 %", value=100 * share, unit="%",
                        cause="the efforts contained gravity already",
                        advice='Declare effort="torque".')]  # fmt: skip
    if abs(share - 1) > max(MATERIAL["scale"], SURE * deviation):
        return [_weight(f"the torques support {share:.0%} of the weight of the model's links", share)]
    return []


def _held(robot: Robot, evidence: Evidence, reading: Reading) -> tuple[float, float]:
    """The share of the model's gravity torques in the torques, and its standard deviation.

    Fitted beside the regressor of the robot without gravity, so that inertia, friction and offsets are free.
    """
    with_gravity, without = evidence.rows(reading), evidence.rows(replace(reading, gravity=0))
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


def _large_residuals(robot: Robot, evidence: Evidence, reading: Reading) -> list[Finding]:
    return [
        Finding("large residual", "suspicious", joint.name,
                f"the residual is {error:.0%} of the torque (rms), whatever the parameters",
                condition=f"at most {LARGE:.0%}", value=100 * float(error), unit="%",
                cause="noise, a wrong column or unit, contact, or another robot",
                advice="Plot torque and velocity of the joint.")
        for joint, error in zip(robot.joints, evidence.errors(reading), strict=True) if error > LARGE
    ]  # fmt: skip


__all__ = ["torque_findings"]
