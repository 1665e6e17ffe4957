"""What is wrong with a robot's description, and the repair, where there is one and only one: `armdyn.fix`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from armdyn.algebra import Vec3
from armdyn.diagnosis.body_changes import Change, Entries, changes
from armdyn.diagnosis.body_hypotheses import entries_of, with_entries
from armdyn.diagnosis.mesh_evidence import Shapes, shapes_of
from armdyn.diagnosis.readings import random_states, robot_torques, uniform
from armdyn.errors import ArmdynError
from armdyn.findings import Checkup, Finding, sentence
from armdyn.robot.checkup import snap
from armdyn.robot.checkup_inertia import PUBLISHED
from armdyn.robot.features import CLOSED, FREE, TREE, takes
from armdyn.robot.parts import FreeTransform, Joint, Limits, Placement
from armdyn.robot.robot import Robot
from armdyn.tables import WIDTH, Column, Section, render

Confidence = Literal["high", "medium"]
STANDARD_GRAVITY = (9.7, 9.9)
"""m/s^2: between these lies free fall anywhere on the earth."""
GRAVITY_UNITS = {"cm/s^2": 0.01, "mm/s^2": 0.001, "in/s^2": 0.0254, "ft/s^2": 0.3048}
MOST_DECIMALS = 15
"""Decimals to which a double can give a multiple of pi/2 and still differ from the nearest one."""
WHOLE = ("product_sign", "entry_order", "inertia_point", "units_tensor", "units_mass", "units_length")
"""Mistakes that concern all entries at once; a single entry is looked at only if none of these explains the finding."""
MORE_LIKELY = 3.0
"""How much nearer to the body's shape the best repair must be than the next, as a factor of their distances."""


@dataclass(frozen=True)
class Repair:
    """One repair.

    rule, where: of the finding. what: what is changed. evidence: why this and nothing else. confidence: high where the
    mistake is known to be common and nothing else explains the finding. effect: rms change of the torques over the
    workspace as a part of the torques; None where the robot's torques cannot be computed.
    """

    rule: str
    where: str
    what: str
    evidence: str
    confidence: Confidence
    effect: float | None = None


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
        heads = (Column("where", folds=True), Column("repair", folds=True), Column("evidence", folds=True),
                 Column("confidence"), Column("torques change", "% rms"))  # fmt: skip
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


@dataclass(frozen=True, eq=False)
class _Proposal:
    repair: Repair
    apply: Callable[[Robot], Robot]


@takes(*TREE, *CLOSED, *FREE, "elastic")
def fix(robot: Robot) -> Fixed:
    """Repair what has one and only one likely repair; nothing is written.

    robot: its check-up gives the findings. Bodies with meshes (of a URDF or MJCF file) are compared with their shapes.
    Returns: the repaired robot, the repairs with their evidence and effect, and the findings left alone with reasons.
    """
    before, shapes = robot.checkup(), shapes_of(robot)
    repaired = robot
    repairs: list[Repair] = []
    left: list[Unrepaired] = []
    for finding in before.findings:
        propose = RULES.get(finding.rule)
        if propose is None:
            if finding.severity != "note":
                left.append(Unrepaired(finding.rule, finding.where, "the right value does not follow from the file"))
            continue
        found = propose(repaired, finding, shapes)
        if isinstance(found, str):
            left.append(Unrepaired(finding.rule, finding.where, found))
        elif found is not None:
            changed = found.apply(repaired)
            repairs.append(replace(found.repair, effect=_effect(repaired, changed)))
            repaired = changed
    return Fixed(repaired, tuple(repairs), tuple(left), before, repaired.checkup())


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


def _named(finding: Finding) -> str:
    found = re.search(r"'([^']*)'", finding.where)
    return found[1] if found else ""


def edit(name: str, change: Callable[[Joint], Joint]) -> Callable[[Robot], Robot]:
    """The edit of the joint of that name."""
    return lambda robot: robot.edited(
        lambda r: replace(r, tree=tuple(change(j) if j.name == name else j for j in r.tree))
    )


# Gravity, limits, friction, angles -----------------------------------------------------------------------------------


def _gravity_up(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal:
    flipped = Vec3(*(-float(x) if x else 0.0 for x in robot.gravity))
    what = f"gravity is {_list(flipped)} m/s^2 instead of the opposite"
    evidence = "gravity is the acceleration of free fall; a robot on the ceiling has a turned base"
    repair = Repair(finding.rule, finding.where, what, evidence, "high")
    return _Proposal(repair, lambda r: r.edited(lambda s: replace(s, gravity=flipped)))


def _gravity_size(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal | str:
    g = np.array([float(x) for x in robot.gravity])
    size = float(np.linalg.norm(g))
    fitting = [(unit, f) for unit, f in GRAVITY_UNITS.items() if STANDARD_GRAVITY[0] < f * size < STANDARD_GRAVITY[1]]
    if len(fitting) != 1:
        return "no unit makes it the gravity of the earth"
    unit, factor = fitting[0]
    new = Vec3(*(float(f"{factor * x:.12g}") for x in g))
    repair = Repair(finding.rule, finding.where, f"gravity is {_list(new)} m/s^2", f"the value is in {unit}", "high")
    return _Proposal(repair, lambda r: r.edited(lambda s: replace(s, gravity=new)))


def _swapped_range(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal | str:
    joint = robot.joint(_named(finding))
    limits = joint.limits or Limits()
    low, high = limits.upper, limits.lower
    repair = Repair(finding.rule, finding.where, f"lower is {float(low):g} and upper {float(high):g}",
                    "the two are swapped: in this order the range is not empty", "high")  # fmt: skip
    return _Proposal(repair, edit(joint.name, lambda j: replace(j, limits=replace(limits, lower=low, upper=high))))


def _magnitude(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal:
    joint = robot.joint(_named(finding))
    limits = joint.limits or Limits()
    keys = ("velocity", "acceleration", "torque")
    positive = {
        k: -getattr(limits, k) for k in keys if getattr(limits, k) is not None and float(getattr(limits, k)) < 0
    }
    words = ", ".join(f"{key} is {float(value):g}" for key, value in positive.items())
    repair = Repair(finding.rule, finding.where, words, "limits are magnitudes that hold in both directions", "high")
    return _Proposal(repair, edit(joint.name, lambda j: replace(j, limits=replace(limits, **positive))))


def _swapped_friction(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal:
    joint = robot.joint(_named(finding))
    friction = joint.friction
    assert friction is not None
    new = replace(friction, static=friction.coulomb, coulomb=friction.static)
    repair = Repair(finding.rule, finding.where, f"coulomb is {float(new.coulomb):g} and static {float(new.static):g}",
                    "static friction is at least Coulomb friction: the two are swapped", "medium")  # fmt: skip
    return _Proposal(repair, edit(joint.name, lambda j: replace(j, friction=new)))


def _right_angles(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal | str | None:
    """Angles that are the rounding of a multiple of pi/2 to some decimals become that multiple."""
    name = _named(finding)
    if not finding.where.startswith("joint"):
        return None
    joint = robot.joint(name)
    geometry = joint.geometry
    if isinstance(geometry, FreeTransform):
        rpy = [_exact(x) for x in geometry.placement.rpy]
        turned = replace(geometry, placement=Placement(geometry.placement.xyz, Vec3(*rpy)), zero=_exact(geometry.zero))
        new: Any = turned if joint.kind != "prismatic" else replace(turned, zero=geometry.zero)
    else:
        angles = {key: _exact(getattr(geometry, key)) for key in ("theta", "alpha", "gamma") if hasattr(geometry, key)}
        new = replace(geometry, **angles)
    if new == geometry:
        return "the angle is not a rounded multiple of pi/2: it may be calibrated"
    repair = Repair(finding.rule, finding.where, "angles are exact multiples of pi/2",
                    "each is a multiple of pi/2 rounded to the decimals that the file gives", "high")  # fmt: skip
    return _Proposal(repair, edit(name, lambda j: replace(j, geometry=new)))


def _exact(angle: Any) -> Any:
    near = snap(angle)
    if near is None:
        return angle
    cut = [d for d in range(2, MOST_DECIMALS + 1)
           if abs(float(angle)) in (round(abs(near), d), math.floor(abs(near) * 10**d) / 10**d)]  # fmt: skip
    return near if cut else angle


def _list(v: Vec3) -> str:
    return "(" + ", ".join(f"{float(x):g}" for x in v) + ")"


# Bodies --------------------------------------------------------------------------------------------------------------


def _body_repair(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal | str:
    """The one mistake that, undone, makes the body pass the check-up."""
    name = _named(finding)
    joint = next((j for j in robot.tree if j.body.name == name), None)
    if joint is None:
        return "the body of the base: its inertia has no effect"
    body = entries_of(joint.body)
    slight = _rounding(body)
    if finding.rule in ("triangle", "not-positive") and slight is not None:
        change = Change("rounding", "the tensor is the nearest physically consistent one", slight)
        return _proposal(finding, joint, change, "the entries violate it by what rounding explains", "high")
    if np.ptp(body.tensor) == 0:
        return "a placeholder: all six entries are the same, and the right ones do not follow from the file"
    passing = _passing(robot, joint, body, finding)
    whole = [change for change in passing if change.kind in WHOLE]
    found = whole or passing
    if len(found) == 1:
        return _proposal(finding, joint, found[0], f"undoing one mistake ({_word(found[0])}) makes the body plausible; "
                         "no other single mistake does", "high" if whole else "medium")  # fmt: skip
    if not found:
        return "no single mistake explains it"
    best = shapes.nearest(name, [change.entries for change in found])
    if best is not None:
        index, distances = best
        others = min((d for k, d in enumerate(distances) if k != index), default=math.inf)
        if others > MORE_LIKELY * distances[index] or others > distances[index] + 2.0:
            return _proposal(finding, joint, found[index], f"of {len(found)} mistakes that explain it, only this one "
                             "agrees with the body's shape at uniform density", "medium")  # fmt: skip
    kinds = ", ".join(dict.fromkeys(_word(change) for change in found))
    several = "several mistakes explain it" if "," in kinds else "it can be undone in several ways"
    return f"{several} ({kinds}), and nothing tells which"


def _word(change: Change) -> str:
    return change.kind.replace("_", " ")


def _proposal(finding: Finding, joint: Joint, change: Change, evidence: str, confidence: Confidence) -> _Proposal:
    repair = Repair(finding.rule, finding.where, change.words, evidence, confidence)
    return _Proposal(repair, edit(joint.name, lambda j: replace(j, body=with_entries(j.body, change.entries))))


def _passing(robot: Robot, joint: Joint, body: Entries, finding: Finding) -> list[Change]:
    """Repairs of one body after which the check-up has nothing against it, each result once."""
    kept: list[Change] = []
    for change in changes(body):
        kinds = UNITS if finding.rule in SIZES else MISTAKES
        if change.kind not in kinds or not consistent(change.entries.tensor) or change.entries.mass <= 0:
            continue
        if any(np.allclose(change.entries.tensor, other.entries.tensor, rtol=1e-9)
               and change.entries.mass == other.entries.mass and (change.entries.com == other.entries.com).all()
               for other in kept):  # fmt: skip
            continue
        after = edit(joint.name, lambda j, c=change: replace(j, body=with_entries(j.body, c.entries)))(robot)  # type: ignore[misc]
        if not any(f.where == finding.where and f.severity != "note" for f in after.checkup().findings):
            kept.append(change)
    return kept


MISTAKES = ("product_sign", "entry_order", "inertia_point", "decimal")
UNITS = ("units_tensor", "units_mass", "units_length", "inertia_point", "decimal")
SIZES = ("gyration-large", "gyration-small", "com-far")


def consistent(T: np.ndarray[Any, Any]) -> bool:
    """Whether a tensor is that of a body: principal moments of mass not negative."""
    moments = np.linalg.eigvalsh(T)
    scale = float(np.abs(moments).max())
    return bool(moments[0] > 0 and moments[2] <= moments[0] + moments[1] + 1e-9 * scale)


def _rounding(body: Entries) -> Entries | None:
    """The nearest physically consistent body, if rounding explains the difference."""
    T = body.tensor
    second = np.trace(T) / 2 * np.eye(3) - T  # second moments of mass: not negative for a body
    values, axes = np.linalg.eigh(second)
    lifted = np.maximum(values, 0.0)
    S = axes @ np.diag(lifted) @ axes.T
    near = np.trace(S) * np.eye(3) - S
    if np.abs(near - T).max() > PUBLISHED * np.abs(T).max():
        return None
    digits = 1e-9 * float(np.abs(T).max())
    return replace(body, tensor=near + digits * np.eye(3))  # inside, so that writing it in decimals keeps it there


def _missing_mass(robot: Robot, finding: Finding, shapes: Shapes) -> _Proposal | str:
    """The mass that the tensor and the shape of the body give together."""
    name = _named(finding)
    joint = next((j for j in robot.tree if j.body.name == name), None)
    shape = shapes.of(name)
    if joint is None or shape is None:
        return "the mass does not follow from the file: the body has no shape to compare with"
    body = entries_of(joint.body)
    mass = float(f"{np.trace(body.tensor) / np.trace(shape.gyration):.4g}")
    low, high = shapes.density
    if not low <= mass / shape.volume <= high:
        return f"with the body's shape the tensor asks for {mass:g} kg, which is not plausible beside the other bodies"
    change = Change("missing_mass", f"the mass is {mass:g} kg", replace(body, mass=mass, com=shape.com))
    return _proposal(finding, joint, change, "tensor and shape of the body agree at this mass, and its density is like "
                     "that of its neighbours", "medium")  # fmt: skip


Propose = Callable[[Robot, Finding, Shapes], "_Proposal | str | None"]
RULES: dict[str, Propose] = {
    "gravity-up": _gravity_up,
    "gravity-size": _gravity_size,
    "range-inverted": _swapped_range,
    "negative-limit": _magnitude,
    "static-below-coulomb": _swapped_friction,
    "angle-off": _right_angles,
    "triangle": _body_repair,
    "not-positive": _body_repair,
    "gyration-large": _body_repair,
    "gyration-small": _body_repair,
    "com-far": _body_repair,
    "inertia-without-mass": _missing_mass,
}
"""Rules of the check-up that have repairs."""
