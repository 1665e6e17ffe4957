"""Repairs of a robot's description, where there is one and only one: `armdyn.fix`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.algebra import Vec3
from armdyn.doctor.body_repairs import body_repair, missing_mass
from armdyn.doctor.checkup import as_robot, check
from armdyn.doctor.plausibility import slips
from armdyn.doctor.proposals import Confidence, Proposal, Repair, edit, named, shown
from armdyn.doctor.reading import Reading
from armdyn.doctor.shapes import Shapes, shapes_of
from armdyn.doctor.variant import random_states, robot_torques, uniform
from armdyn.errors import ArmdynError, FileError
from armdyn.findings import Checkup, Finding, sentence
from armdyn.formats import read, save
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.features import CLOSED, FREE, FRICTIONLESS, takes
from armdyn.robot.parts import MAGNITUDES, FreeTransform, Limits, Placement
from armdyn.robot.right_angles import snap, unrounded
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section

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
class Fixed(Result):
    """The repaired robot and how it came about.

    robot: the repaired robot. repairs: what was repaired. left: findings that are left alone. before, after: the
    check-ups.
    """

    robot: Robot
    repairs: tuple[Repair, ...]
    left: tuple[Unrepaired, ...]
    before: Checkup
    after: Checkup

    @property
    def fine(self) -> bool:
        """Whether there was nothing to repair and nothing that should be."""
        return not self.repairs and not self.left

    @property
    def summary(self) -> str:
        """One sentence."""
        if self.fine:
            return f"nothing to repair in {self.robot.name}"
        return f"{len(self.repairs)} repaired, {len(self.left)} left alone; {self.after.summary} after the repairs"

    def record(self) -> dict[str, Any]:
        return {
            "robot": self.robot.name,
            "repairs": [dict(vars(repair)) for repair in self.repairs],
            "left": [dict(vars(left)) for left in self.left],
            "before": self.before.summary,
            "after": self.after.summary,
        }

    def sections(self) -> list[Section]:
        """The tables: repairs, and what is left alone."""
        heads = (
            Column("where", folds=True),
            Column("repair", folds=True),
            Column("evidence", folds=True),
            Column("confidence"),
            Column("torques change", "% rms"),
        )
        rows = tuple(
            (
                r.where,
                sentence(r.what),
                sentence(r.evidence),
                r.confidence,
                "" if r.effect is None else f"{100 * r.effect:.2g}",
            )
            for r in self.repairs
        )
        rest = tuple((x.where, x.rule, sentence(x.reason)) for x in self.left)
        columns = (Column("where", folds=True), Column("finding"), Column("why it is left alone", folds=True))
        tables = (Section("Repairs", heads, rows), Section("Left alone", columns, rest))
        return [table for table in tables if table.rows]

    def _view(self) -> View:
        verdict = (sentence(self.summary), self.fine)
        return View(f"Repairs of {self.robot.name}", verdict, sections=self.sections())

    def save(self, path: str | Path) -> Path:
        """Write the file with the repaired values, read it back and check it again.

        The rest of a URDF or MJCF file stays as it is, byte for byte; a TOML file is written anew.
        """
        path = save(self.robot, path)
        again = check(read(path))
        if again.summary != self.after.summary:
            raise FileError(
                f"the check-up of the written file says {again.summary}",
                where=str(path),
                expected=self.after.summary,
                advice="Save to .toml, which has a place for all.",
            )
        return path


@takes(*FRICTIONLESS, *CLOSED, *FREE, "elastic")
def fix(robot: Robot | str | Path) -> Fixed:
    """Repair what has one and only one likely repair; nothing is written.

    robot: a Robot, a file of any format, or a catalog name. Its check-up gives the findings. Bodies with meshes (of a
        URDF or MJCF file) are compared with their shapes.
    Returns: the repaired robot, the repairs with their evidence and effect, and the findings left alone with reasons.
    """
    robot = as_robot(robot)
    before, shapes = check(robot), shapes_of(robot)
    repaired = robot
    repairs: list[Repair] = []
    left: list[Unrepaired] = []
    found = slips(robot)
    general = [reading for reading in found if not _of_one_body(reading, robot)]
    for reading in general:  # units and columns first: most other findings are their consequences
        changed = repaired.edited(reading.apply)
        repairs.append(_slip_repair(reading, _effect(repaired, changed)))
        repaired = changed
    single = {reading.where[0]: reading for reading in found if reading not in general}
    for finding in (check(repaired) if general else before).findings:
        propose = RULES.get(finding.rule)
        if propose is None:
            if finding.severity != "note":
                left.append(Unrepaired(finding.rule, finding.where, NO_REPAIR.get(finding.rule, NOTHING_FOLLOWS)))
            continue
        proposal = propose(repaired, finding, shapes)
        if isinstance(proposal, str) and (own := single.get(named(finding))) is not None:
            proposal = Proposal(
                replace(_slip_repair(own, None), rule=finding.rule, where=finding.where), _edit(own.apply)
            )
        if isinstance(proposal, str):
            left.append(Unrepaired(finding.rule, finding.where, proposal))
        elif proposal is not None:
            changed = proposal.apply(repaired)
            repairs.append(replace(proposal.repair, effect=_effect(repaired, changed)))
            repaired = changed
    return Fixed(repaired, tuple(repairs), tuple(left), before, check(repaired))


def _of_one_body(reading: Reading, robot: Robot) -> bool:
    return reading.where[0] in {joint.body.name for joint in robot.tree} and "body" in reading.what


def _edit(apply: Callable[[Robot], Robot]) -> Callable[[Robot], Robot]:
    return lambda robot: robot.edited(apply)


MISTAKES = {
    "units_length": "lengths in another unit",
    "units_mass": "masses in another unit",
    "units_tensor": "inertia tensors in another unit",
    "units_angle": "angles in degrees",
    "swapped_columns": "swapped columns",
    "angle_sign": "an angle of the opposite sign",
    "com_frame": "centres of mass in another frame",
}
"""Slips of a whole description in words."""


def _slip_repair(reading: Reading, effect: float | None) -> Repair:
    return Repair(
        reading.kind.replace("_", "-"),
        ", ".join(reading.where),
        MISTAKES[reading.kind],
        reading.what,
        "with it, sizes, masses and densities are those of real robots, and the links fit each other",
        "high" if effect is not None else "medium",
        effect,
    )


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


def _repair(
    finding: Finding,
    mistake: str,
    what: str,
    evidence: str,
    apply: Callable[[Robot], Robot],
    confidence: Confidence = "high",
) -> Proposal:
    return Proposal(Repair(finding.rule, finding.where, mistake, what, evidence, confidence), apply)


def _gravity_up(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal:
    flipped = Vec3(*(-float(x) if x else 0.0 for x in robot.gravity))
    return _repair(
        finding,
        "gravity that points up",
        f"gravity is {shown(flipped)} m/s^2 instead of the opposite",
        "gravity is the acceleration of free fall; a robot on the ceiling has a turned base",
        lambda r: r.edited(lambda s: replace(s, gravity=flipped)),
    )


def _gravity_size(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str:
    g = np.array([float(x) for x in robot.gravity])
    size = float(np.linalg.norm(g))
    fitting = [(unit, f) for unit, f in GRAVITY_UNITS.items() if STANDARD_GRAVITY[0] < f * size < STANDARD_GRAVITY[1]]
    if len(fitting) != 1:
        return "no unit makes it the gravity of the earth"
    unit, factor = fitting[0]
    new = Vec3(*(float(f"{factor * x:.12g}") for x in g))
    return _repair(
        finding,
        "gravity in another unit",
        f"gravity is {shown(new)} m/s^2",
        f"the value is in {unit}",
        lambda r: r.edited(lambda s: replace(s, gravity=new)),
    )


def _swapped_range(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str:
    joint = robot.joint(named(finding))
    limits = joint.limits or Limits()
    low, high = limits.upper, limits.lower
    return _repair(
        finding,
        "swapped limits",
        f"lower is {float(low):g} and upper {float(high):g}",
        "the two are swapped: in this order the range is not empty",
        edit(joint.name, lambda j: replace(j, limits=replace(limits, lower=low, upper=high))),
    )


def _magnitude(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal:
    joint = robot.joint(named(finding))
    limits = joint.limits or Limits()
    values = {key: getattr(limits, key) for key in MAGNITUDES}
    positive = {key: -value for key, value in values.items() if value is not None and float(value) < 0}
    words = ", ".join(f"{key} is {float(value):g}" for key, value in positive.items())
    return _repair(
        finding,
        "negative limits",
        words,
        "limits are magnitudes that hold in both directions",
        edit(joint.name, lambda j: replace(j, limits=replace(limits, **positive))),
    )


def _swapped_friction(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal:
    joint = robot.joint(named(finding))
    friction = joint.friction
    assert friction is not None
    new = replace(friction, static=friction.coulomb, coulomb=friction.static)
    words = f"coulomb is {float(new.coulomb):g} and static {float(new.static):g}"
    return _repair(
        finding,
        "swapped friction",
        words,
        "static friction is at least Coulomb friction: the two are swapped",
        edit(joint.name, lambda j: replace(j, friction=new)),
        "medium",
    )


def _right_angles(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str | None:
    """Angles that are the rounding of a multiple of pi/2 to some decimals become that multiple."""
    name = named(finding)
    if not finding.where.startswith("joint"):
        return None
    joint = robot.joint(name)
    geometry = joint.geometry
    if isinstance(geometry, FreeTransform):
        given = [*geometry.placement.rpy, *([geometry.zero] if joint.kind != "prismatic" else [])]
        rpy = Vec3(*(unrounded(x) for x in geometry.placement.rpy))
        zero = geometry.zero if joint.kind == "prismatic" else unrounded(geometry.zero)
        new: Any = replace(geometry, placement=Placement(geometry.placement.xyz, rpy), zero=zero)
    else:
        keys = [key for key in ("theta", "alpha", "gamma") if hasattr(geometry, key)]
        given = [getattr(geometry, key) for key in keys]
        new = replace(geometry, **{key: unrounded(angle) for key, angle in zip(keys, given, strict=True)})
    if new == geometry:
        return "the angle is not a rounded multiple of pi/2: it may be calibrated"
    if any(snap(unrounded(x)) is not None for x in given):
        return "one of its angles is a rounded multiple of pi/2, another is not: it may be calibrated"
    return _repair(
        finding,
        "rounded angles",
        "angles are exact multiples of pi/2",
        "each is a multiple of pi/2 rounded to the decimals that the file gives, or off by the rounding of arithmetic",
        edit(name, lambda j: replace(j, geometry=new)),
    )


NOTHING_FOLLOWS = "the right value does not follow from the file"
NO_REPAIR = {
    "range-empty": "lower and upper limit are equal, as exporters write them where they know none: the range does not "
    "follow from the file",
    "massless-end": "its mass does not follow from the file: neither tensor nor mesh tells it",
    "no-joints": "a single body: nothing moves, and nothing is to be repaired",
}
"""Why findings of other rules are left alone."""
Propose = Callable[[Robot, Finding, Shapes], "Proposal | str | None"]
RULES: dict[str, Propose] = {
    "gravity-up": _gravity_up,
    "gravity-size": _gravity_size,
    "range-inverted": _swapped_range,
    "negative-limit": _magnitude,
    "static-below-coulomb": _swapped_friction,
    "angle-off": _right_angles,
    **dict.fromkeys(("triangle", "not-positive", "gyration-large", "gyration-small", "com-far"), body_repair),
    "inertia-without-mass": missing_mass,
}
"""Rules of the check-up that have repairs."""
