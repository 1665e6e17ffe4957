"""Repairs of masses and inertia tensors: the one mistake that, undone, makes a body plausible.

Witnesses are the check-up, the other bodies of the robot (twins above all), and the body's mesh.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from armdyn.algebra import Vec3
from armdyn.doctor.body_slips import ENTRIES, InertiaEntries, entries_of, slips_of, with_entries
from armdyn.doctor.inertia_checks import inertia_findings
from armdyn.doctor.proposals import Confidence, Proposal, Repair, edit, named, shown
from armdyn.doctor.shapes import Shapes
from armdyn.findings import Finding
from armdyn.robot.parts import Joint
from armdyn.robot.physical import PUBLISHED, is_consistent
from armdyn.robot.robot import Robot

WHOLE = ("product_sign", "entry_order", "inertia_point", "units_tensor", "units_mass", "units_length")
"""Mistakes that concern all entries at once; a single entry is looked at only if none of these explains the finding."""
FAR = 3.0
"""Distance of a body from its shape beyond which the two do not belong together."""
MORE_LIKELY = 3.0
"""How much nearer to the body's shape the best repair must be than the next, as a factor of their distances."""
TWIN, ALIKE = 0.02, 0.1
"""Parts by which mass and centre of two twin bodies differ at most, and their tensors."""
EXACT = 1e-9
"""Part of the largest moment by which a repaired tensor may fail."""
LIKE = 10.0
"""Factor within which sizes of neighbouring bodies are alike."""
SIZES = ("gyration-large", "gyration-small", "com-far")
"""Rules of findings about sizes: undone is a unit there, in the others a mistake of the tensor."""
MISTAKES = ("product_sign", "entry_order", "inertia_point", "decimal")
UNITS = ("units_tensor", "units_mass", "units_length", "inertia_point", "decimal")


class Undone(NamedTuple):
    """A slip that was undone: its kind and words, and the entries of the body without it."""

    kind: str
    words: str
    entries: InertiaEntries


def body_repair(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str:
    """The one mistake that, undone, makes the body pass the check-up."""
    name = named(finding)
    joint = next((j for j in robot.tree if j.body.name == name), None)
    if joint is None:
        return "the body of the base: its inertia has no effect"
    body = entries_of(joint.body)
    slight = _rounding(body)
    if finding.rule in ("triangle", "not-positive") and slight is not None:
        change = Undone("rounding", "the tensor is the nearest physically consistent one", slight)
        return _proposal(finding, joint, change, "the entries violate it by what rounding explains", "high")
    if np.ptp(body.tensor) == 0:
        return "a placeholder: all six entries are the same, and the right ones do not follow from the file"
    passing, twin = _passing(robot, joint, body, finding), _twin(robot, joint)
    like = _as_twin(passing, body, twin[1]) if twin is not None else []
    if twin is not None and len(like) == 1:
        return _proposal(
            finding,
            joint,
            like[0],
            f"body {twin[0]!r}, of the same mass and centre, has these entries; "
            f"undoing one mistake ({_word(like[0])}) gives them",
            "high",
        )
    whole = [change for change in passing if change.kind in WHOLE]
    found = whole or passing
    if len(found) == 1:
        return _proposal(
            finding,
            joint,
            found[0],
            f"undoing one mistake ({_word(found[0])}) makes the body plausible; no other single mistake does",
            "high" if whole else "medium",
        )
    if not found:
        return "no single mistake explains it"
    best = shapes.nearest(name, [change.entries for change in found])
    if best is not None:
        index, distances = best
        others = min((d for k, d in enumerate(distances) if k != index), default=math.inf)
        if distances[index] <= FAR and (others > MORE_LIKELY * distances[index] or others > distances[index] + 2.0):
            return _proposal(
                finding,
                joint,
                found[index],
                f"of {len(found)} mistakes that explain it, only this one "
                "agrees with the body's shape at uniform density",
                "medium",
            )
    kinds = ", ".join(dict.fromkeys(_word(change) for change in found))
    several = "several mistakes explain it" if "," in kinds else "it can be undone in several ways"
    if best is not None and min(best[1]) > FAR:
        return f"{several} ({kinds}), but none of them agrees with the body's mesh"
    return f"{several} ({kinds}), and nothing tells which"


MISTAKE = {
    "product_sign": "products of inertia with the opposite sign",
    "entry_order": "the six entries in another order",
    "inertia_point": "a tensor about another point",
    "decimal": "a shifted decimal point",
    "units_tensor": "a tensor in another unit",
    "units_mass": "a mass in another unit",
    "units_length": "a centre of mass in another unit",
    "rounding": "rounding has made the inertia tensor unphysical",
    "missing_mass": "a missing mass",
}


def _twin(robot: Robot, joint: Joint) -> tuple[str, InertiaEntries] | None:
    """A consistent body of the same mass whose centre is the same or mirrored: the other arm or leg of a robot."""
    body = entries_of(joint.body)
    if not body.com.any():  # bodies with their centre at the origin are often of default values, and not twins
        return None
    known = {f.where for f in inertia_findings(robot.opened) if f.severity != "note"}
    for other in robot.tree:
        found = entries_of(other.body)
        if f"body {other.body.name!r}" in known:
            continue
        size = max(float(np.linalg.norm(body.com)), 1e-3)
        same = (
            abs(found.mass - body.mass) <= TWIN * body.mass
            and np.ptp(found.tensor) > 0
            and is_consistent(found.tensor, EXACT)
        )
        if other is not joint and same and np.abs(np.abs(found.com) - np.abs(body.com)).max() <= TWIN * size:
            return other.body.name, found
    return None


def _as_twin(found: list[Undone], body: InertiaEntries, twin: InertiaEntries) -> list[Undone]:
    """Changes of the tensor alone that make it that of the twin, up to signs of products; none if it is so already."""

    def alike(e: InertiaEntries) -> bool:
        apart = float(np.abs(np.abs(e.tensor) - np.abs(twin.tensor)).max())
        return apart <= ALIKE * float(np.abs(twin.tensor).max())

    if alike(body):
        return []
    of_tensor = [c for c in found if c.entries.mass == body.mass and (c.entries.com == body.com).all()]
    return [c for c in of_tensor if alike(c.entries)]


def _word(change: Undone) -> str:
    return MISTAKE.get(change.kind, change.kind.replace("_", " "))


def _became(before: InertiaEntries, after: InertiaEntries) -> str:
    """Which entries change, from which value to which."""
    parts = [f"mass {before.mass:.6g} -> {after.mass:.6g} kg"] if before.mass != after.mass else []
    if (before.com != after.com).any():
        parts.append(f"centre of mass {shown(Vec3(*before.com))} -> {shown(Vec3(*after.com))} m")
    changed = [k for k, (x, y) in enumerate(zip(before.six(), after.six(), strict=True)) if x != y]
    moved = [f"{ENTRIES[k]} {before.six()[k]:.4g} -> {after.six()[k]:.4g}" for k in changed]
    return ", ".join([*parts, *([f"{', '.join(moved)} kg m^2"] if moved else [])])


def _unit(change: Undone) -> str:
    """The unit in which a value was given, if the repair is one of units: `: given in mm instead of m`."""
    large = "times as large" in change.words
    known = change.kind.startswith("units") and ": " in change.words
    return f": {'too small by this factor' if large else 'given in ' + change.words.split(': ')[1]}" if known else ""


def _proposal(finding: Finding, joint: Joint, change: Undone, evidence: str, confidence: Confidence) -> Proposal:
    what = _became(entries_of(joint.body), change.entries) + _unit(change)
    repair = Repair(finding.rule, finding.where, _word(change), what, evidence, confidence)
    return Proposal(repair, edit(joint.name, lambda j: replace(j, body=with_entries(j.body, change.entries))))


def _passing(robot: Robot, joint: Joint, body: InertiaEntries, finding: Finding) -> list[Undone]:
    """Repairs of one body after which the check-up has nothing against it, each result once."""
    kept: list[Undone] = []
    for change in (Undone(slip.kind, slip.what, after) for slip, after in slips_of(body)):
        kinds = UNITS if finding.rule in SIZES else MISTAKES
        if change.kind not in kinds or not is_consistent(change.entries.tensor, EXACT) or change.entries.mass <= 0:
            continue
        if finding.rule in SIZES and not _concerns(finding.rule, body, change.entries):
            continue
        if any(
            np.allclose(change.entries.tensor, other.entries.tensor, rtol=1e-9)
            and change.entries.mass == other.entries.mass
            and (change.entries.com == other.entries.com).all()
            for other in kept
        ):
            continue
        after = edit(joint.name, lambda j, c=change: replace(j, body=with_entries(j.body, c.entries)))(robot)  # type: ignore[misc]
        if any(f.where == finding.where and f.severity != "note" for f in inertia_findings(after.opened)):
            continue
        if finding.rule not in SIZES or _like_neighbours(robot, joint, change.entries):
            kept.append(change)
    return kept


def _concerns(rule: str, before: InertiaEntries, after: InertiaEntries) -> bool:
    """Whether a change is about the size that was found: the centre of mass, or the radius of gyration."""
    if rule == "com-far":
        return before.mass == after.mass and bool((before.tensor == after.tensor).all())
    apart = not math.isclose(_gyration(before), _gyration(after), rel_tol=1e-6)
    return apart and bool((before.com == after.com).all())


def _weight(body: InertiaEntries) -> float:
    return body.mass


def _gyration(body: InertiaEntries) -> float:
    """The squared radius of gyration, m^2."""
    return float(np.trace(body.tensor)) / body.mass


def _like_neighbours(robot: Robot, joint: Joint, after: InertiaEntries) -> bool:
    """Whether a change of size brings mass and radius of gyration nearer to those of the robot's other bodies, or keeps
    them: a leg of 7 kg is not one of 7 t, although that would make its large tensor plausible.
    """
    others = [entries_of(j.body) for j in robot.tree if j is not joint]
    known = [body for body in others if body.mass > 0 and np.trace(body.tensor) > 0]
    before = entries_of(joint.body)
    for size in (_weight, _gyration):
        values = [math.log(size(body)) for body in known]
        if not values or size(before) <= 0:
            continue
        middle = float(np.median(values))
        old, new = (abs(math.log(size(body)) - middle) for body in (before, after))
        if new > max(old, math.log(LIKE)):
            return False
    return True


def _rounding(body: InertiaEntries) -> InertiaEntries | None:
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


def missing_mass(robot: Robot, finding: Finding, shapes: Shapes) -> Proposal | str:
    """The mass that the tensor and the shape of the body give together."""
    name = named(finding)
    joint = next((j for j in robot.tree if j.body.name == name), None)
    shape = shapes.of(name)
    if joint is None or shape is None:
        return "the mass does not follow from the file: the body has no shape to compare with"
    body = entries_of(joint.body)
    mass = float(f"{np.trace(body.tensor) / np.trace(shape.gyration):.4g}")
    low, high = shapes.density
    if not low <= mass / shape.volume <= high:
        return f"with the body's shape the tensor asks for {mass:g} kg, which is not plausible beside the other bodies"
    change = Undone("missing_mass", f"the mass is {mass:g} kg", replace(body, mass=mass, com=shape.com))
    return _proposal(
        finding,
        joint,
        change,
        "tensor and shape of the body agree at this mass, and its density is like that of its neighbours",
        "medium",
    )
