"""Which joint of one model is which of the other: by name, else by geometry, else by order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armdyn.doctor.reading import Reading
from armdyn.doctor.sides import Side
from armdyn.doctor.structure import JointNumbers, structure
from armdyn.doctor.variant import States, Variant
from armdyn.errors import NotApplicable
from armdyn.findings import listed
from armdyn.robot.links import WORLD
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

SAME_LINE = 1e-6
"""Relative distance of two joint axes that are the same line."""


@dataclass(frozen=True, eq=False)
class Match:
    """Two models with the same joints.

    robot: the first, other: the second, if its numbers are known. joints: for each movable joint of the first the index
    of its partner. order: places of the second's arrays, as joints of the first (empty: the same order or unknown).
    torques: of the second. causes: joints that only one of the models has.
    """

    first: str
    second: str
    robot: Robot
    other: Robot | None
    joints: tuple[int, ...]
    order: tuple[int, ...]
    torques: Callable[[States], Floats]
    causes: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()


def match(first: Side, second: Side) -> Match:
    """The two models with the same joints; a joint that only one has is held at zero there, which is a cause."""
    robot = first.robot
    if robot is None:
        raise NotApplicable(
            f"neither {first.name} nor {second.name} can be read as a robot",
            where="armdyn.explain",
            expected="at least one robot, file or model whose parameters are known",
        )
    notes = (*first.notes, *second.notes)
    if second.robot is None:
        return _with_torques(first, second, robot, notes)
    robot, other, torques, causes = _same_joints(first, second)
    names, others = ([joint.name for joint in r.opened.joints] for r in (robot, other))
    if len(names) != len(others):
        raise _numbers(first.name, names, second.name, others)
    joints = _partners(names, others, robot, other)
    if [others[k] for k in joints] != names and set(names) != set(others):
        notes += (
            f"joints are matched {_how(names, others, robot, other)}: "
            + listed([f"{a} = {others[k]}" for a, k in zip(names, joints, strict=True)]),
        )
    order = _order(robot, other, joints)
    return Match(first.name, second.name, robot, other, tuple(joints), order, torques, causes, notes)


def _with_torques(first: Side, second: Side, robot: Robot, notes: tuple[str, ...]) -> Match:
    names = [joint.name for joint in robot.joints]
    order: tuple[int, ...] = ()
    if second.joints and len(second.joints) != len(names):
        raise _numbers(first.name, names, second.name, list(second.joints))
    if set(second.joints) == set(names) and list(second.joints) != names:
        order = tuple(names.index(name) for name in second.joints)
    elif second.states is not None and second.states.qd.shape[1] != len(names):
        raise _numbers(first.name, names, second.name, [str(k + 1) for k in range(second.states.qd.shape[1])])
    return Match(first.name, second.name, robot, None, (), order, second.torques, (), notes)


def _numbers(first: str, names: list[str], second: str, others: list[str]) -> NotApplicable:
    return NotApplicable(
        f"the models have different numbers of movable joints: {first} {len(names)}, {second} {len(others)}",
        where="armdyn.explain",
        expected="the same joints, or the same names of those that both have",
        advice=f"{first} has {listed(names)}; {second} has {listed(others)}. A joint that one model lacks is held at "
        'zero if the others have the same names; else hold it first: robot.locked({"joint": 0.0}).',
    )


def _same_joints(first: Side, second: Side) -> tuple[Robot, Robot, Callable[[States], Floats], tuple[Reading, ...]]:
    """Both robots with their common joints; where joints are only in one, those are held at zero."""
    robot, other = first.robot, second.robot
    assert robot is not None and other is not None
    own, theirs = {j.name for j in robot.joints}, {j.name for j in other.joints}
    causes: list[Reading] = []
    torques = second.torques
    if own != theirs and own & theirs and (len(own) != len(theirs)):
        for side, model, extra in ((first, robot, own - theirs), (second, other, theirs - own)):
            if not extra:
                continue
            partner, away = (other, second.name) if side is first else (robot, first.name)
            laws = {j.name: j.mimic for j in partner.tree if j.mimic and j.name in extra}
            fixed = tuple(joint.name for joint in model.joints if joint.name in extra and joint.name not in laws)
            for kind, names, what in (
                ("mimic_joint", tuple(laws), "follow another joint"),
                ("locked_joint", fixed, "are fixed or missing"),
            ):
                if names:
                    text = f"joints {listed(names)} move in {side.name} and {what} in {away}"
                    causes.append(Reading(kind, names, text, lambda gap: gap))
            tree = tuple(replace(j, mimic=laws[j.name]) if j.name in laws else j for j in model.tree)
            held = replace(model, tree=tree) if laws else model
            held = held.locked(dict.fromkeys(fixed, 0.0)) if fixed else held
            if side is first:
                robot = held
            else:
                other, torques = held, Variant(held).torques
    return robot, other, torques, tuple(causes)


def _partners(names: list[str], others: list[str], robot: Robot, other: Robot) -> list[int]:
    if set(names) == set(others):
        return [others.index(name) for name in names]
    by_line = _by_geometry(structure(Variant(robot)), structure(Variant(other)))
    return by_line or list(range(len(names)))


def _how(names: list[str], others: list[str], robot: Robot, other: Robot) -> str:
    found = _by_geometry(structure(Variant(robot)), structure(Variant(other)))
    return "by the lines of their axes" if found else "in the order of the files"


def _by_geometry(a: JointNumbers, b: JointNumbers) -> list[int]:
    """Partners by the lines of the axes at zero; empty if they are not one to one."""
    first, second = _lines(a), _lines(b)
    size = max(float(np.abs(first[:, 3:]).max(initial=0.0)), 1.0)
    pairs: list[int] = []
    for kind, line in zip(a.kinds, first, strict=True):
        near = [
            k
            for k, (other_kind, other) in enumerate(zip(b.kinds, second, strict=True))
            if kind == other_kind and min(np.abs(line - other).max(), np.abs(line + other).max()) < SAME_LINE * size
        ]
        if len(near) != 1 or near[0] in pairs:
            return []
        pairs.append(near[0])
    return pairs


def _lines(s: JointNumbers) -> Floats:
    """(n, 6) direction and moment of every joint axis at zero; prismatic axes have no moment."""
    world = np.empty_like(s.placement)
    for i, parent in enumerate(s.parents):
        world[i] = s.placement[i] if parent == WORLD else world[parent] @ s.placement[i]
    z = world[:, :3, 2]
    moment = np.cross(world[:, :3, 3], z)
    moment[[kind == "prismatic" for kind in s.kinds]] = 0
    return np.hstack([z, moment])


def _order(robot: Robot, other: Robot, joints: list[int]) -> tuple[int, ...]:
    """Places of the second's arrays as joints of the first; empty if they are the same."""
    if robot.compounds:
        return ()
    tree, others = [j.name for j in robot.opened.joints], [j.name for j in other.opened.joints]
    partner = {others[k]: name for name, k in zip(tree, joints, strict=True)}
    names = [joint.name for joint in robot.joints]
    wanted = [partner[joint.name] for joint in other.joints]
    if set(wanted) != set(names) or wanted == names:
        return ()
    return tuple(names.index(name) for name in wanted)
