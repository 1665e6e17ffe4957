"""Findings on the torques of a log: the reading of its columns that the evidence prefers, in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armdyn.doctor.log_case import Columns, LogCase, LogRows
from armdyn.doctor.reading import search
from armdyn.findings import Finding, Severity, listed
from armdyn.identification.log.samples import Samples
from armdyn.robot import Robot
from armdyn.robot.limits import UNITS
from armdyn.typing import Array

DIRECTION, ZERO = "direction of gravity", "zero of position"


@dataclass(frozen=True)
class Material:
    """From which amounts on a deviation is suspicious; a smaller one that is certain is a note.

    tilt: degrees. zero: rad or m. gain: logarithm of that of one joint. share: of the weight of all links, beyond 1.
    certain: standard deviations. large: part of a torque that no parameters explain.
    """

    tilt: float = 4.0
    zero: float = 0.05
    gain: float = 0.14
    share: float = 0.15
    certain: float = 3.0
    large: float = 0.6


MATERIAL = Material()


def torque_findings(
    robot: Robot, samples: Samples, spikes: Array | None = None, *, added: bool = False
) -> list[Finding]:
    """Findings on the torques of a log, by the motion that should cause them.

    spikes: (N, n) bool, torques that do not count. added: gravity was added to the efforts when the log was read.
    """
    rows = LogRows.of(robot, samples, spikes, added=added)
    if not len(rows.q) or not rows.keep.any():
        return []
    before = LogCase(rows, Columns.declared(robot))
    after = search(before).case
    found = [*_columns(before, after), *_positions(before, after), *_gravity(before, after), *_efforts(before, after)]
    return [*found, *([] if found else _weight(after)), *_large_residuals(after)]


def _changed(first: Sequence[float], second: Sequence[float]) -> list[int]:
    return [j for j, (x, y) in enumerate(zip(first, second, strict=True)) if x != y]


def _better(before: LogCase, after: LogCase) -> str:
    """How much better the torques are explained, at the joint that gains most."""
    gain = np.nan_to_num(before.fit.errors - after.fit.errors, nan=-1.0)
    j = int(np.argmax(gain))
    return (
        f"(residual of {before.robot.joints[j].name}: {after.fit.errors[j]:.0%} of the torque instead of "
        f"{before.fit.errors[j]:.0%})"
    )


def _columns(before: LogCase, after: LogCase) -> Iterator[Finding]:
    names = [joint.name for joint in before.robot.joints]
    for what, column in (("torques", "tau"), ("positions", "q")):
        order = getattr(after.columns, what)
        moved = _changed(getattr(before.columns, what), order)
        if moved:
            there = [names[j] for j in moved]
            yield Finding(
                f"order of {what}",
                "suspicious",
                ", ".join(there),
                f"the {what} of {listed(there)} fit if taken from the columns of "
                f"{listed([names[order[j]] for j in moved])} {_better(before, after)}",
                condition="columns in the order of the joints",
                cause=f"columns of {what} are swapped",
                advice=f"Give the order of the columns of {column} in the format of the log.",
            )


def _positions(before: LogCase, after: LogCase) -> Iterator[Finding]:
    joints, columns = before.robot.joints, after.columns
    factors = [abs(scale) for scale in columns.scales]
    other = [j for j, factor in enumerate(factors) if factor != 1]
    if other:
        words, short = ("degrees", "deg") if joints[other[0]].kind == "revolute" else ("millimetres", "mm")
        small = factors[other[0]] < 1
        are = f"are in {words}" if small else f"were converted from {words} although they were in SI units"
        yield Finding(
            "unit of position",
            "suspicious",
            "positions",
            f"the positions {are}, judging by the torques {_better(before, after)}",
            condition="the declared unit",
            value=factors[other[0]],
            cause="a wrong unit of positions",
            advice=f"Declare the unit of q: {short}." if small else "Declare no unit of q.",
        )
    for j, joint in enumerate(joints):
        if columns.scales[j] < 0:
            yield Finding(
                "sign of position",
                "suspicious",
                joint.name,
                f"the torques fit with the opposite sign of the position {_better(before, after)}",
                condition="positions that grow as in the model",
                cause="the joint's axis is reversed in the log or in the model",
                advice="Give the joint a negative ratio, or reverse its axis in the model.",
            )
        if value := columns.zeros[j]:
            unit = UNITS[joint.kind].position
            yield Finding(
                ZERO,
                _severity(abs(value) > MATERIAL.zero),
                joint.name,
                f"the torques fit if its position is {value:+.2g} {unit} at the zero of the log",
                condition="the joint's zero where the model has it",
                value=value,
                unit=unit,
                cause="encoder offset, another zero in the controller, or wrong centres of mass in the model",
                advice="Compare the pose at the joint's zero with the model and declare its offset, or "
                "estimate zeros with the parameters.",
            )
    if late := columns.delay:
        yield Finding(
            "delay",
            "suspicious",
            "time",
            f"the torques fit the motion best if they are taken "
            f"{abs(late) * 1e3:.4g} ms {'later' if late > 0 else 'earlier'} than stamped",
            condition="positions and torques of the same instant",
            value=late,
            unit="s",
            cause="unsynchronised clocks of positions and torques, or a filter on one of them",
            advice="Shift one against the other, or log both with one clock.",
        )


def _severity(material: bool) -> Severity:
    return "suspicious" if material else "note"


def _gravity(before: LogCase, after: LogCase) -> Iterator[Finding]:
    declared, found = np.array(before.columns.gravity), np.array(after.columns.gravity)
    if (declared == found).all() and not after.columns.compensated:
        return
    gain = _better(before, after)
    if not declared.any():
        shown = ", ".join(f"{x:.3g}" for x in found)
        yield Finding(
            "gravity of the model",
            "suspicious",
            "model",
            f"the model has no gravity, but the torques fit with gravity ({shown}) m/s^2 {gain}",
            condition="the gravity of the place",
            cause="gravity = (0, 0, 0)",
            advice="Give the robot its gravity, (0, 0, -9.81) for a base that stands.",
        )
    elif not found.any() or after.columns.compensated:
        yield Finding(
            "gravity missing",
            "suspicious",
            "effort",
            f"the torques fit a robot without gravity {gain}",
            condition="torques that support the robot's weight",
            cause="the controller reports efforts without its gravity compensation",
            advice="Declare the effort as gravity_compensated, or log the full torque.",
        )
    elif np.linalg.norm(found) > 1.5 * np.linalg.norm(declared):
        yield Finding(
            "gravity twice",
            "suspicious",
            "effort",
            f"with the gravity that was added, the torques support twice the model's weight {gain}",
            condition="gravity once",
            cause="the efforts contained gravity already",
            advice="Declare the effort as torque.",
        )
    else:
        angle = math.degrees(math.atan2(float(np.linalg.norm(np.cross(found, declared))), float(found @ declared)))
        yield Finding(
            DIRECTION,
            _severity(angle > MATERIAL.tilt),
            "model",
            f"the torques fit gravity at about {angle:.2g} degrees to the model's {gain}",
            condition="gravity as in the model",
            value=angle,
            unit="degrees",
            cause="the base is mounted differently from the model",
            advice="Correct gravity in the model or the pose of the base, or estimate the direction with the "
            "parameters.",
        )


def _efforts(before: LogCase, after: LogCase) -> Iterator[Finding]:
    joints, gains = before.robot.joints, after.columns.gains
    for joint, gain in zip(joints, gains, strict=True):
        if gain < 0:
            yield Finding(
                "sign of torque",
                "suspicious",
                joint.name,
                f"the torque fits with the opposite sign {_better(before, after)}",
                "torque that acts on +q",
                cause="the effort has the opposite sign convention, or the joint's axis is reversed in the model",
                advice="Give the joint a negative gain, or reverse its axis in the model.",
            )
    sizes = np.abs(gains)
    if np.ptp(sizes) == 0 and sizes[0] != 1:
        yield Finding(
            "unit of effort",
            "suspicious",
            "effort",
            f"the efforts fit if multiplied by about {sizes[0]:.2g}",
            condition="torques in N m, forces in N",
            value=float(1 / sizes[0]),
            cause="currents instead of torques, or torques of the motors instead of the joints",
            advice="Declare the drive gains, N m per unit of the log.",
        )
        return
    for joint, size in zip(joints, sizes.tolist(), strict=True):
        if size != 1:
            yield Finding(
                "gain of one joint",
                _severity(abs(math.log(size)) > MATERIAL.gain),
                joint.name,
                f"the torque is about {1 / size:.2f} times what the motion of the whole robot asks for",
                condition="gains that agree between the joints",
                value=1 / size,
                cause="torque constant or gear ratio of this drive, or of its neighbour",
                advice="Check the drive gain of the joint, and declare it.",
            )


def _weight(case: LogCase) -> Iterator[Finding]:
    share, deviation = case.weight_share
    if abs(share - 1) > max(MATERIAL.share, MATERIAL.certain * deviation):
        yield Finding(
            "weight share",
            "note",
            "effort",
            f"the torques are {share:.0%} of what weight and inertia of the model's links need",
            value=100 * share,
            unit="%",
            condition="about 100 % if the model's masses and the drive gains are right",
            cause="drive gains (torque per current), a payload, or masses of the model",
            advice="Masses are found in proportion to the gains: calibrate them with a known load.",
        )


def _large_residuals(case: LogCase) -> list[Finding]:
    return [
        Finding(
            "large residual",
            "suspicious",
            joint.name,
            f"the residual is {error:.0%} of the torque (rms), whatever the parameters",
            condition=f"at most {MATERIAL.large:.0%}",
            value=100 * float(error),
            unit="%",
            cause="noise, a wrong column or unit, contact, or another robot",
            advice="Plot torque and velocity of the joint.",
        )
        for joint, error in zip(case.robot.joints, case.fit.errors, strict=True)
        if error > MATERIAL.large
    ]


__all__ = ["DIRECTION", "ZERO", "torque_findings"]
