"""What is wrong with a robot's description, and the repair, where there is one and only one: `armdyn.fix`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armdyn.algebra import Vec3
from armdyn.doctor.body_repairs import body_repair, missing_mass
from armdyn.doctor.checkup import check
from armdyn.doctor.proposals import Proposal, Repair, edit, named, shown
from armdyn.doctor.readings import random_states, robot_torques, uniform
from armdyn.doctor.shapes import Shapes, shapes_of
from armdyn.errors import ArmdynError
from armdyn.findings import Checkup, Finding, sentence
from armdyn.robot.features import CLOSED, FREE, FRICTIONLESS, takes
from armdyn.robot.parts import MAGNITUDES, FreeTransform, Limits, Placement
from armdyn.robot.right_angles import snap, unrounded
from armdyn.robot.robot import Robot
from armdyn.tables import WIDTH, Column, Section, render

STANDARD_GRAVITY = (9.7, 9.9)
"""m/s^2: between these lies free fall anywhere on the earth."""
GRAVITY_UNITS = {"cm/s^2": 0.01, "mm/s^2": 0.001, "in/s^2": 0.0254, "ft/s^2": 0.3048}


@dataclass(frozen=True)
class Unrepaired:
    """A finding that is left alone, and the reason."""

    rule: str
    where: str
    reason: str


@dataclass(frozen=True, eq=False)
class Fixed:
    """The repaired robot and how it came about.

    robot: the repaired robot; `robot.save(path)` writes its file with the repaired values, the rest byte for byte.
    repairs: what was repaired. left: findings that are left alone. before, after: the check-ups.
    """

    robot: Robot
    repairs: tuple[Repair, ...]
    left: tuple[Unrepaired, ...]
    before: Checkup
    after: Checkup

    def record(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "robot": self.robot.name,
            "repairs": [{key: getattr(r, key) for key in Repair.__dataclass_fields__} for r in self.repairs],
            "left": [{"rule": x.rule, "where": x.where, "reason": x.reason} for x in self.left],
            "before": self.before.summary,
            "after": self.after.summary,
        }

    def json(self) -> str:
        return json.dumps(self.record(), indent=2, ensure_ascii=False)

    def sections(self) -> list[Section]:
        """The tables: repairs, and what is left alone."""
        heads = (Column("where", folds=True), Column("repair", folds=True),
                 Column("evidence", folds=True), Column("confidence"), Column("torques change", "% rms"))  # fmt: skip
        rows = tuple((r.where, sentence(r.what), sentence(r.evidence), r.confidence,
                      "" if r.effect is None else f"{100 * r.effect:.2g}") for r in self.repairs)  # fmt: skip
        rest = tuple((x.where, x.rule, sentence(x.reason)) for x in self.left)
        columns = (Column("where", folds=True), Column("finding"), Column("why it is left alone", folds=True))
        title = f"Repairs of {self.robot.name}: {self.before.summary} before, {self.after.summary} after"
        tables = [Section(title, heads, rows)] if rows else []
        return [*tables, *([Section("Left alone", columns, rest)] if rest else [])]

    def __str__(self) -> str:
        if not self.repairs and not self.left:
            return f"Nothing to repair in {self.robot.name}."
        return "\n\n".join(render(section, WIDTH) for section in self.sections())


@takes(*FRICTIONLESS, *CLOSED, *FREE, "elastic")
def fix(robot: Robot) -> Fixed:
    """Repair what has one and only one likely repair; nothing is written.

    robot: its check-up gives the findings. Bodies with meshes (of a URDF or MJCF file) are compared with their shapes.
    Returns: the repaired robot, the repairs with their evidence and effect, and the findings left alone with reasons.
    """
    before, shapes = check(robot), shapes_of(robot)
    repaired = robot
    repairs: list[Repair] = []
    left: list[Unrepaired] = []
    for finding in before.findings:
        propose = RULES.get(finding.rule)
        if propose is None:
            if finding.severity != "note":
                left.append(Unrepaired(finding.rule, finding.where, NO_REPAIR.get(finding.rule, NOTHING_FOLLOWS)))
            continue
        found = propose(repaired, finding, shapes)
        if isinstance(found, str):
            left.append(Unrepaired(finding.rule, finding.where, found))
        elif found is not None:
            changed = found.apply(repaired)
            repairs.append(replace(found.repair, effect=_effect(repaired, changed)))
            repaired = changed
    return Fixed(repaired, tuple(repairs), tuple(left), before, check(repaired))


def _effect(before: Robot, after: Robot) -> float | None:
    """Rms change of the torques over random states, as a part of the torques."""
    try:
        a, b = uniform(before.without("elastic")), uniform(after.without("elastic"))
        states = random_states(a, 20)
        tau, other = robot_torques(a, states), robot_torques(b, states)
    except ArmdynError:
        return None
    size = float(np.sqrt(np.mean(other**2)))
    return float(np.sqrt(np.mean((tau - other) ** 2))) / size if size else 0.0


# Gravity, limits, friction, angles -----------------------------------------------------------------------------------


def _gravity_up(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal:
    flipped = Vec3(*(-float(x) if x else 0.0 for x in robot.gravity))
    what = f"gravity is {shown(flipped)} m/s^2 instead of the opposite"
    evidence = "gravity is the acceleration of free fall; a robot on the ceiling has a turned base"
    repair = Repair(finding.rule, finding.where, "gravity that points up", what, evidence, "high")
    return Proposal(repair, lambda r: r.edited(lambda s: replace(s, gravity=flipped)))


def _gravity_size(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str:
    g = np.array([float(x) for x in robot.gravity])
    size = float(np.linalg.norm(g))
    fitting = [(unit, f) for unit, f in GRAVITY_UNITS.items() if STANDARD_GRAVITY[0] < f * size < STANDARD_GRAVITY[1]]
    if len(fitting) != 1:
        return "no unit makes it the gravity of the earth"
    unit, factor = fitting[0]
    new = Vec3(*(float(f"{factor * x:.12g}") for x in g))
    repair = Repair(finding.rule, finding.where, "gravity in another unit", f"gravity is {shown(new)} m/s^2",
                    f"the value is in {unit}", "high")  # fmt: skip
    return Proposal(repair, lambda r: r.edited(lambda s: replace(s, gravity=new)))


def _swapped_range(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str:
    joint = robot.joint(named(finding))
    limits = joint.limits or Limits()
    low, high = limits.upper, limits.lower
    repair = Repair(finding.rule, finding.where, "swapped limits", f"lower is {float(low):g} and upper {float(high):g}",
                    "the two are swapped: in this order the range is not empty", "high")  # fmt: skip
    return Proposal(repair, edit(joint.name, lambda j: replace(j, limits=replace(limits, lower=low, upper=high))))


def _magnitude(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal:
    joint = robot.joint(named(finding))
    limits = joint.limits or Limits()
    positive = {
        k: -getattr(limits, k) for k in MAGNITUDES if getattr(limits, k) is not None and float(getattr(limits, k)) < 0
    }
    words = ", ".join(f"{key} is {float(value):g}" for key, value in positive.items())
    repair = Repair(
        finding.rule,
        finding.where,
        "negative limits",
        words,
        "limits are magnitudes that hold in both directions",
        "high",
    )
    return Proposal(repair, edit(joint.name, lambda j: replace(j, limits=replace(limits, **positive))))


def _swapped_friction(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal:
    joint = robot.joint(named(finding))
    friction = joint.friction
    assert friction is not None
    new = replace(friction, static=friction.coulomb, coulomb=friction.static)
    words = f"coulomb is {float(new.coulomb):g} and static {float(new.static):g}"
    repair = Repair(finding.rule, finding.where, "swapped friction", words,
                    "static friction is at least Coulomb friction: the two are swapped", "medium")  # fmt: skip
    return Proposal(repair, edit(joint.name, lambda j: replace(j, friction=new)))


def _right_angles(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str | None:
    """Angles that are the rounding of a multiple of pi/2 to some decimals become that multiple."""
    name = named(finding)
    if not finding.where.startswith("joint"):
        return None
    joint = robot.joint(name)
    geometry = joint.geometry
    if isinstance(geometry, FreeTransform):
        given = [*geometry.placement.rpy, *([geometry.zero] if joint.kind != "prismatic" else [])]
        rpy = [unrounded(x) for x in geometry.placement.rpy]
        turned = replace(
            geometry, placement=Placement(geometry.placement.xyz, Vec3(*rpy)), zero=unrounded(geometry.zero)
        )
        new: Any = turned if joint.kind != "prismatic" else replace(turned, zero=geometry.zero)
    else:
        angles = {
            key: unrounded(getattr(geometry, key)) for key in ("theta", "alpha", "gamma") if hasattr(geometry, key)
        }
        given = [getattr(geometry, key) for key in angles]
        new = replace(geometry, **angles)
    if new != geometry and any(snap(unrounded(x)) is not None for x in given):
        return "one of its angles is a rounded multiple of pi/2, another is not: it may be calibrated"
    if new == geometry:
        return "the angle is not a rounded multiple of pi/2: it may be calibrated"
    repair = Repair(finding.rule, finding.where, "rounded angles", "angles are exact multiples of pi/2",
                    "each is a multiple of pi/2 rounded to the decimals that the file gives, or off by the rounding of "
                    "arithmetic", "high")  # fmt: skip
    return Proposal(repair, edit(name, lambda j: replace(j, geometry=new)))


Propose = Callable[[Robot, Finding, Shapes], "Proposal | str | None"]
RULES: dict[str, Propose] = {
    "gravity-up": _gravity_up,
    "gravity-size": _gravity_size,
    "range-inverted": _swapped_range,
    "negative-limit": _magnitude,
    "static-below-coulomb": _swapped_friction,
    "angle-off": _right_angles,
    "triangle": body_repair,
    "not-positive": body_repair,
    "gyration-large": body_repair,
    "gyration-small": body_repair,
    "com-far": body_repair,
    "inertia-without-mass": missing_mass,
}
"""Rules of the check-up that have repairs."""
NOTHING_FOLLOWS = "the right value does not follow from the file"
NO_REPAIR = {
    "range-empty": "lower and upper limit are equal, as exporters write them where they know none: the range does not "
    "follow from the file",
    "massless-end": "its mass does not follow from the file: neither tensor nor mesh tells it",
    "no-joints": "a single body: nothing moves, and nothing is to be repaired",
}
"""Why findings of other rules are left alone."""
