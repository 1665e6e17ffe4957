"""The check-up: what in a robot's description is invalid or probably not meant.

Each rule is a generator of findings. Rules on masses and tensors: `armdyn.doctor.inertia_checks`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from armdyn.algebra import Scalar, Vec3
from armdyn.doctor import description_hypotheses
from armdyn.doctor.inertia_checks import inertia_findings, travel
from armdyn.doctor.plausibility import slips
from armdyn.doctor.reading import Reading
from armdyn.errors import RobotError
from armdyn.findings import FILE_NOTE, Checkup, Finding, Severity, listed, sorted_by_severity
from armdyn.formats import read
from armdyn.robot.describe import pi_fraction
from armdyn.robot.limits import UNITS, torque_limits, velocity_limits
from armdyn.robot.links import WORLD
from armdyn.robot.parts import MAGNITUDES, Elastic, FreeTransform, Friction, Joint, Limits, Loop, Placement, Rotor
from armdyn.robot.physical import invalid_drive
from armdyn.robot.right_angles import snap
from armdyn.robot.robot import Robot

STRONGEST_GRAVITY = 30.0
"""m/s^2. More than on any planet with a surface: a unit other than m/s^2 (981 cm/s^2, 386 in/s^2)."""
MANY_TURNS = 6 * math.pi
"""rad. A joint range beyond three turns to one side is more often given in degrees."""
assert description_hypotheses  # they register themselves
CLOSURE = 1e-6
"""Part of the longest side by which a loop may fail to close: files give lengths to six digits."""


def check(robot: Robot | str | Path) -> Checkup:
    """Report what is invalid or suspicious in a robot's description; the findings come with the most severe first.

    robot: a Robot, a file of any format, or a catalog name
    """
    try:
        robot = as_robot(robot)
    except RobotError as error:
        return _contradiction(robot, error)
    known = robot.__dict__.get("_checkup")  # robots are immutable: their findings are kept with them
    if not isinstance(known, Checkup):
        known = robot.__dict__["_checkup"] = examine(robot)
    return known


def as_robot(robot: Robot | str | Path) -> Robot:
    """The robot, read without judging its physics if it is a file or a catalog name."""
    return robot if isinstance(robot, Robot) else read(robot)


def _contradiction(file: object, error: RobotError) -> Checkup:
    """A description that contradicts itself, as the only finding."""
    where = (error.where or "robot").removeprefix(f"{file}, ").removeprefix(str(file)) or "robot"
    expected = f"Expected: {error.expected.rstrip('.')}." if error.expected else ""
    finding = Finding(
        "description",
        "invalid",
        where,
        error.what,
        error.expected or "",
        cause="The description contradicts itself",
        advice=f"{expected} {error.advice or ''}".strip(),
    )
    return Checkup(Path(str(file)).stem, (finding,))


def examine(robot: Robot) -> Checkup:
    """All rules, applied to one robot."""
    robot = robot.bound()
    rules = (_gravity, _tool, _angles, _drives, _limits, _missing_limits, _notes)
    with np.errstate(all="ignore"):  # absurd numbers overflow to infinity, and are reported as such
        findings = [finding for rule in rules for finding in rule(robot.opened)]
        findings += [*_slips_and_bodies(robot), *_loops(robot)]
        return Checkup(robot.name, sorted_by_severity(findings))


# Units, columns and bodies -----------------------------------------------------------------------------------------


def _slips_and_bodies(robot: Robot) -> Iterator[Finding]:
    """Slips of a whole description, and of bodies what these do not explain.

    Bodies are judged under the readings found, because a wrong unit makes all of them odd; a slip of one body is the
    cause of the finding on that body.
    """
    found = slips(robot)
    bodies = {f"body {joint.body.name!r}" for joint in robot.tree}
    single: dict[str, Reading] = {
        f"body {reading.where[0]!r}": reading for reading in found if f"body {reading.where[0]!r}" in bodies
    }
    read_so = robot
    for reading in found:
        if reading not in single.values():
            yield Finding(
                reading.kind.replace("_", "-"),
                "suspicious",
                ", ".join(reading.where),
                reading.what,
                "sizes, masses and densities of a real robot",
                cause=CAUSES.get(reading.kind, "a slip"),
                advice="Correct the file, or let `armdyn fix` do it",
            )
            read_so = reading.apply(read_so)
    for finding in inertia_findings(read_so.opened):
        own = single.pop(finding.where, None) if finding.severity != "note" else None
        yield finding if own is None else replace(finding, cause=own.what)
    for where, reading in single.items():
        yield Finding(
            reading.kind.replace("_", "-"),
            "suspicious",
            where,
            reading.what,
            "the body fits the other links",
            cause="another unit in one place",
            advice="Correct the file, or let `armdyn fix` do it",
        )


CAUSES = {
    "units_length": "a table or drawing in another unit",
    "units_angle": "degrees instead of radians",
    "swapped_columns": "another order of the columns in the source",
    "com_frame": "centres of mass in the frames of another convention",
    "angle_sign": "another direction of the axis in the source",
}


# Gravity and tool --------------------------------------------------------------------------------------------------


def _gravity(robot: Robot) -> Iterator[Finding]:
    x, y, z = (float(component) for component in robot.gravity)
    size = math.hypot(x, y, z)
    condition = "gravity is the acceleration of free fall in world axes, (0, 0, -9.81) m/s^2 by default"
    if size == 0:
        yield Finding(
            "zero-gravity",
            "note",
            "gravity",
            "there is no gravity",
            condition,
            advice="Right for a robot in space or one that moves in a horizontal plane.",
        )
    elif z > math.hypot(x, y):
        yield Finding(
            "gravity-up",
            "suspicious",
            "gravity",
            f"gravity points up ({z:g} m/s^2 along z)",
            condition,
            z,
            "m/s^2",
            "the opposite vector was given: the acceleration of the base that stands for gravity",
            f"Give ({_g(-x)}, {_g(-y)}, {_g(-z)}); the base of a robot on the ceiling is rotated, not gravity",
        )
    if size > STRONGEST_GRAVITY:
        yield Finding(
            "gravity-size",
            "suspicious",
            "gravity",
            f"gravity is {size:g} m/s^2",
            condition,
            size,
            "m/s^2",
            "another unit, such as cm/s^2 or in/s^2",
            "Give it in m/s^2",
        )


def _tool(robot: Robot) -> Iterator[Finding]:
    if robot.n == 0:
        yield Finding(
            "no-joints",
            "suspicious",
            "robot",
            "no joint is movable",
            "at least one revolute or prismatic joint",
            cause="all joints are fixed or locked",
            advice="Check the joint types",
        )
    elif robot.frame("tool").link == WORLD:
        carrier = robot.tool_body
        severity: Severity = "note" if robot.tool_on is None else "suspicious"
        yield Finding(
            "tool-stands-still",
            severity,
            "tool",
            f"the tool frame, on {carrier!r}, is not moved by any joint",
            "the tool is on a moving body",
            cause="the tool is on the last body of the file by default, or a name is wrong",
            advice="Name the body that carries the tool (tool.on, or tip=)",
        )


def _g(x: float) -> str:
    return f"{x:g}" if x else "0"


# Angles that narrowly miss a multiple of pi/2 ----------------------------------------------------------------------


def _angles(robot: Robot) -> Iterator[Finding]:
    beyond = _beyond(robot)
    for joint in robot.tree:
        lever = _length(joint.pose().p) + beyond[joint.body.name]
        yield from _off(f"joint {joint.name!r}", _angles_of(joint), lever)
    yield from _off("base", _named_rpy(robot.base), beyond[robot.root.name])
    yield from _off("tool", _named_rpy(robot.tool), 0.0)


def _angles_of(joint: Joint) -> list[tuple[str, Scalar]]:
    geometry = joint.geometry
    if isinstance(geometry, FreeTransform):
        zero = [("offset", geometry.zero)] if joint.kind == "revolute" else []
        return [*_named_rpy(geometry.placement), *zero]
    return [(key, getattr(geometry, key)) for key in ("theta", "alpha", "gamma") if hasattr(geometry, key)]


def _named_rpy(placement: Placement) -> list[tuple[str, Scalar]]:
    return list(zip(("roll", "pitch", "yaw"), placement.rpy, strict=True))


def _off(where: str, angles: list[tuple[str, Scalar]], lever: float) -> Iterator[Finding]:
    """One finding for all angles of a joint that nearly are multiples of pi/2. lever: farthest point moved, m."""
    near = [(name, angle, snapped) for name, angle in angles if (snapped := snap(angle)) is not None]
    if not near:
        return
    shown = [
        f"the angle {name} = {angle!r} differs from {_shown(snapped)} by {angle - snapped:.2g} rad"
        for name, angle, snapped in near
    ]
    off = sum(abs(angle - snapped) for _, angle, snapped in near)
    value, unit = (off * lever, "m at the tool, at most") if lever > 0 else (off, "rad")
    yield Finding(
        "angle-off",
        "note",
        where,
        "; ".join(shown),
        "an exact multiple of pi/2 makes exact zeros and shorter equations",
        value,
        unit,
        "an angle that was rounded (or a calibrated angle)",
        f"Write {' and '.join(dict.fromkeys(_shown(s) for _, _, s in near))}, if that is meant",
    )


def _shown(angle: float) -> str:
    return pi_fraction(angle) or f"{angle!r}"


def _beyond(robot: Robot) -> dict[str, float]:
    """Largest distance, m, between the frame of each body and the frames of its descendants."""
    beyond = {robot.root.name: 0.0} | {joint.body.name: 0.0 for joint in robot.tree}
    carrier = robot.tool_body
    beyond[carrier] = _length(robot.tool.xyz)
    for joint in reversed(robot.tree):
        far = beyond[joint.body.name] + _length(joint.pose().p) + travel(joint)
        beyond[joint.parent] = max(beyond[joint.parent], far)
    return beyond


def _length(v: Vec3) -> float:
    return math.hypot(*(float(x) for x in v))


# Drives ------------------------------------------------------------------------------------------------------------


def _drives(robot: Robot) -> Iterator[Finding]:
    for joint in robot.tree:
        yield from invalid_drive(joint)
        if joint.friction is not None:
            yield from _friction(joint, joint.friction)
        if joint.rotor is not None:
            yield from _rotor(joint, joint.rotor)
        if joint.elastic is not None:
            yield from _elastic(joint, joint.elastic)


def _friction(joint: Joint, friction: Friction) -> Iterator[Finding]:
    where = f"joint {joint.name!r}, friction"
    own = UNITS["prismatic" if joint.kind == "prismatic" else "revolute"]  # even a fixed joint may have friction
    rate, force = own.position, own.torque
    units = {"viscous": f"{force} s/{rate}", "coulomb": force, "static": force, "stribeck": f"{rate}/s"}
    for key, unit in units.items():
        value = float(getattr(friction, key))
        if value < 0:
            yield Finding(
                "negative-friction",
                "suspicious",
                where,
                f"{key} friction is {value:g} {unit}",
                "friction dissipates energy: not negative",
                value,
                unit,
                "a wrong sign, or a value identified from too little motion",
                "Give its magnitude; the model opposes the motion",
            )
    static, coulomb = float(friction.static), float(friction.coulomb)
    if 0 < static < coulomb:
        yield Finding(
            "static-below-coulomb",
            "suspicious",
            where,
            f"static friction ({static:g} {force}) is below Coulomb friction ({coulomb:g} {force})",
            "static >= coulomb",
            coulomb - static,
            force,
            "the two were swapped",
            "Swap them, or omit static",
        )
    if static > coulomb and float(friction.stribeck) == 0:
        yield Finding(
            "stribeck-missing",
            "suspicious",
            where,
            "static friction is given without a Stribeck velocity",
            "stribeck > 0 where static > coulomb",
            static - coulomb,
            force,
            "the velocity is missing",
            "Give stribeck, or omit static",
        )


def _elastic(joint: Joint, spring: Elastic) -> Iterator[Finding]:
    where = f"joint {joint.name!r}, elastic"
    damping = float(spring.damping)
    if damping < 0:
        yield Finding(
            "negative-damping",
            "suspicious",
            where,
            f"the spring's damping is {damping:g}",
            "damping >= 0",
            damping,
            "",
            "a wrong sign",
            "Give its magnitude",
        )


def _rotor(joint: Joint, rotor: Rotor) -> Iterator[Finding]:
    where = f"joint {joint.name!r}, rotor"
    if float(rotor.ratio) == 0:
        yield Finding(
            "zero-ratio",
            "suspicious",
            where,
            "the gear ratio is 0, so the rotor never turns",
            "ratio = motor speed over joint speed, not 0",
            0.0,
            "",
            "the ratio is missing or inverted",
            "Give the ratio, 1 for a direct drive",
        )


# Limits ------------------------------------------------------------------------------------------------------------


def _limits(robot: Robot) -> Iterator[Finding]:
    for joint in robot.movable:
        if joint.limits is not None:
            yield from _range(joint, joint.limits)
            yield from _largest_values(joint, joint.limits)


def _range(joint: Joint, limits: Limits) -> Iterator[Finding]:
    if limits.lower is None or limits.upper is None:
        return
    where, unit = f"joint {joint.name!r}, limits", UNITS[joint.kind].position
    lower, upper = float(limits.lower), float(limits.upper)
    if lower >= upper:
        same = lower == upper
        yield Finding(
            "range-empty" if same else "range-inverted",
            "suspicious",
            where,
            f"the range of position is {'empty' if same else 'inverted'}: from {lower:g} to {upper:g} {unit}",
            "lower < upper",
            lower - upper,
            unit,
            "limits that were never filled in" if same else "the two were swapped",
            "Give the range, or make the joint fixed" if same else "Swap lower and upper",
        )
    elif joint.kind == "revolute" and max(abs(lower), abs(upper)) > MANY_TURNS:
        yield Finding(
            "range-in-degrees",
            "note",
            where,
            f"the range goes from {lower:g} to {upper:g} rad: {(upper - lower) / (2 * math.pi):.0f} turns",
            "limits in rad",
            max(abs(lower), abs(upper)),
            "rad",
            "degrees instead of radians, or a joint without end stops",
            "Convert degrees to radians; omit lower and upper if it turns freely",
        )


def _largest_values(joint: Joint, limits: Limits) -> Iterator[Finding]:
    for key in MAGNITUDES:
        value, unit = getattr(limits, key), getattr(UNITS[joint.kind], "torque" if key == "continuous" else key)
        if value is not None and float(value) <= 0:
            yield Finding(
                "zero-limit" if value == 0 else "negative-limit",
                "suspicious",
                f"joint {joint.name!r}, limits",
                f"the {key} limit is {float(value):g} {unit}: the joint cannot move"
                if value == 0
                else f"the {key} limit is negative",
                f"{key} > 0",
                float(value),
                unit,
                "a limit never filled in" if value == 0 else "limits are magnitudes, in both directions",
                "Give the limit, or omit it",
            )


def _missing_limits(robot: Robot) -> Iterator[Finding]:
    """One note for all joints: dynamics needs no limits, planning does."""
    missing: dict[str, list[str]] = {}
    for joint in robot.movable:
        limits = joint.limits or Limits()
        unbounded = limits.lower is None and limits.upper is None
        if unbounded and (joint.limits is None or joint.kind == "prismatic"):
            missing.setdefault("position", []).append(joint.name)
    for key, values in (("velocity", velocity_limits(robot)), ("torque", torque_limits(robot))):  # of motors too
        names = [joint.name for joint, value in zip(robot.joints, values, strict=True) if not np.isfinite(value)]
        if names:
            missing[key] = names
    if not missing:
        return
    together: dict[tuple[str, ...], list[str]] = {}
    for key, names in missing.items():
        together.setdefault(tuple(names), []).append(key)
    texts = [
        f"no limits of {', '.join(keys)} for {'any joint' if len(names) == robot.n else listed(names)}"
        for names, keys in together.items()
    ]
    count = len(set().union(*missing.values()))
    yield Finding(
        "missing-limits",
        "note",
        "limits",
        "; ".join(texts),
        "limits of position, velocity and torque",
        count,
        f"of {robot.n} joints",
        "the source gives none",
        "Add limits to the joints if motions are to be planned or actuators sized",
    )


# Loops and notes ---------------------------------------------------------------------------------------------------


def _loops(robot: Robot) -> Iterator[Finding]:
    for loop in robot.loops:
        where = f"loop {loop.name!r}"
        first, second = robot.opened.frames[loop.first], robot.opened.frames[loop.second]
        if first.link == second.link:
            yield Finding(
                "loop-in-one-link",
                "suspicious",
                where,
                f"{loop.first!r} and {loop.second!r} do not move relative to each other",
                "a loop closes between two moving links",
                cause="a wrong body name",
                advice="Name the two bodies that the loop connects",
            )
            continue
        gap = _gap(robot.opened, loop)
        if gap > 0:
            yield Finding(
                "loop-out-of-reach",
                "suspicious",
                where,
                "its two ends cannot meet in any configuration: one side is longer than all the others together",
                "the longest side is at most the sum of the others",
                gap,
                "m",
                "a wrong length or end placement",
                "Check first_at and second_at",
            )


def _gap(robot: Robot, loop: Loop) -> float:
    """Smallest gap of the polygon of joint origins around a loop, m; 0 if one of its joints is prismatic."""
    ends = [robot.frames[name] for name in (loop.first, loop.second)]
    placements = (loop.first_placement, loop.second_placement)
    points = [frame.pose.apply(placement.xyz) for frame, placement in zip(ends, placements, strict=True)]
    paths = [robot.path(frame.link) for frame in ends]
    shared = sum(1 for a, b in zip(*paths, strict=False) if a == b)
    branches = [path[shared:] for path in paths]
    if any(not robot.links[i].revolute for branch in branches for i in branch):
        return 0.0
    sides, roots = [], []
    for branch, point in zip(branches, points, strict=True):
        inner = [robot.links[i].placement.p for i in branch[1:]] + [point]
        roots.append(robot.links[branch[0]].placement.p if branch else point)
        sides += [_length(p) for p in (inner if branch else [])]
    sides.append(_length(roots[0] - roots[1]))
    longest = max(sides)
    gap = 2 * longest - sum(sides)
    return gap if gap > CLOSURE * longest else 0.0


def _notes(robot: Robot) -> Iterator[Finding]:
    for note in robot.notes:
        yield Finding(FILE_NOTE, "note", "robot", note)
    for joint in robot.tree:
        for note in joint.notes:
            yield Finding(FILE_NOTE, "note", f"joint {joint.name!r}", note)


__all__ = ["Checkup", "Finding", "check"]
