"""Hypotheses about a whole description: units of its columns, swapped columns, degrees, frames of centres of mass."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.algebra import CentralInertia, Inertia, Vec3
from armdyn.doctor.plausibility import ODD_ANGLE, WHOLE_TURN, DescriptionCase, angles
from armdyn.doctor.reading import Reading, hypothesis
from armdyn.robot.parts import FreeTransform, Joint, Limits, ModifiedDH, StandardDH
from armdyn.robot.robot import Robot

LENGTH_UNITS = {"mm": (1e-3, 2), "cm": (1e-2, 6), "inches": (0.0254, 20)}
"""Unit -> (metres, weight of the reading: the number of equally rare readings that it stands for)."""
TENSOR_UNITS = {
    "kg mm^2": (1e-6, 2),
    "kg cm^2": (1e-4, 3),
    "g mm^2": (1e-9, 3),
    "g cm^2": (1e-7, 8),
    "g m^2": (1e-3, 20),
}
"""Unit -> (kg m^2, how many such readings are as rare)."""
DEGREE = math.pi / 180
FASTEST = 40.0
"""rad/s. Half of the joints of a robot are slower: 37 rad/s is the fastest seen. Larger numbers stand for no limit."""
MOST_ODD = 6
"""Odd joints and bodies beyond which the slip is not one of single ones."""
MISPLACED = 0.4
"""Nats, in the mean, against the places of centres of mass from which on frames and columns are in doubt."""
Edit = Callable[[Joint], Joint]


def edit_all(change: Edit) -> Callable[[Robot], Robot]:
    """The edit of all joints of the tree that are not parts of a compound joint."""
    return lambda robot: replace(robot, tree=tuple(j if j.compound is not None else change(j) for j in robot.tree))


def _together(*changes: Edit) -> Edit:
    def change(joint: Joint) -> Joint:
        for each in changes:
            joint = each(joint)
        return joint

    return change


# Edits of one joint --------------------------------------------------------------------------------------------------


def scale_lengths(factor: float, *columns: str) -> Edit:
    """Lengths of the table, or of these columns of a DH table, times a factor."""

    def change(joint: Joint) -> Joint:
        geometry = joint.geometry
        if isinstance(geometry, FreeTransform):
            zero = factor * geometry.zero if joint.kind == "prismatic" else geometry.zero
            placement = replace(geometry.placement, xyz=factor * geometry.placement.xyz)
            return joint if columns else replace(joint, geometry=replace(geometry, placement=placement, zero=zero))
        keys = [key for key in columns or ("a", "d", "b") if hasattr(geometry, key)]
        return replace(joint, geometry=replace(geometry, **{key: factor * getattr(geometry, key) for key in keys}))

    return change


def scale_angles(factor: float, *columns: str) -> Edit:
    """Angles of the table, or of these columns of a DH table, times a factor."""

    def change(joint: Joint) -> Joint:
        geometry = joint.geometry
        if isinstance(geometry, FreeTransform):
            placement = replace(geometry.placement, rpy=factor * geometry.placement.rpy)
            zero = factor * geometry.zero if joint.kind == "revolute" else geometry.zero
            return joint if columns else replace(joint, geometry=replace(geometry, placement=placement, zero=zero))
        keys = [key for key in columns or ("theta", "alpha", "gamma") if hasattr(geometry, key)]
        return replace(joint, geometry=replace(geometry, **{key: factor * getattr(geometry, key) for key in keys}))

    return change


def scale_body(mass: float = 1.0, com: float = 1.0, tensor: float = 1.0) -> Edit:
    """Mass, centre of mass and inertia tensor of the body times factors."""

    def change(joint: Joint) -> Joint:
        body = joint.body.inertia
        scaled: Any = replace(body, mass=mass * body.mass, tensor=tensor * body.tensor)
        if isinstance(scaled, Inertia):
            scaled = replace(scaled, moment=mass * com * scaled.moment)
        else:
            scaled = replace(scaled, com=com * scaled.com)
        return replace(joint, body=replace(joint.body, inertia=scaled))

    return change


def scale_limits(factor: float, *names: str) -> Edit:
    """Limits of a revolute joint times a factor; names: "lower", "upper", "velocity" or "acceleration"."""

    def change(joint: Joint) -> Joint:
        limits = joint.limits or Limits()
        ends = {key: factor * x for key in names if (x := getattr(limits, key)) is not None}
        return replace(joint, limits=replace(limits, **ends)) if ends and joint.kind == "revolute" else joint

    return change


def swap_columns(first: str, second: str) -> Edit:
    def change(joint: Joint) -> Joint:
        geometry = joint.geometry
        if not isinstance(geometry, StandardDH | ModifiedDH):
            return joint
        swapped = {first: getattr(geometry, second), second: getattr(geometry, first)}
        return replace(joint, geometry=replace(geometry, **swapped))

    return change


def _has_table(case: DescriptionCase) -> bool:
    return any(isinstance(joint.geometry, StandardDH | ModifiedDH) for joint in case.robot.tree)


# Units ---------------------------------------------------------------------------------------------------------------


@hypothesis("physics")
def units_of_lengths(case: DescriptionCase) -> Iterator[Reading]:
    """Lengths in another unit: everywhere, or in one column."""
    if not case.doubtful(1.0, "reach", "mass", "length", "gyration", "offset", "com"):
        return
    for unit, (f, options) in LENGTH_UNITS.items():
        parts: list[tuple[str, str, Edit]] = [
            (
                "all lengths",
                f"all lengths are in {unit} and the tensors in kg {unit}^2",
                _together(scale_lengths(f), scale_body(1, f, f * f)),
            ),
            (
                "placements and centres of mass",
                f"all lengths, centres of mass included, are in {unit}",
                _together(scale_lengths(f), scale_body(1, f, 1)),
            ),
            ("placements", f"the lengths between joints are in {unit}", scale_lengths(f)),
            ("centres of mass", f"the centres of mass are in {unit}", scale_body(1, f, 1)),
        ]
        if _has_table(case):
            parts += [(f"column {key}", f"the column {key} is in {unit}", scale_lengths(f, key)) for key in "ad"]
        for where, what, edit in parts:
            yield Reading("units_length", (where,), f"{what}, where m is expected", edit_all(edit), options=options)


@hypothesis("physics")
def units_of_inertia(case: DescriptionCase) -> Iterator[Reading]:
    """Masses in g, tensors in kg mm^2 and the like."""
    if not case.doubtful(1.0, "mass", "density", "gyration"):
        return
    yield Reading(
        "units_mass",
        ("masses",),
        "the masses are in g, where kg is expected",
        edit_all(scale_body(mass=1e-3)),
        options=2,
    )
    for unit, (f, options) in TENSOR_UNITS.items():
        yield Reading(
            "units_tensor",
            ("inertia tensors",),
            f"the inertia tensors are in {unit}, where kg m^2 is expected",
            edit_all(scale_body(tensor=f)),
            options=options,
        )
        if unit.startswith("g "):
            yield Reading(
                "units_mass",
                ("masses and inertia tensors",),
                f"the masses are in g and the inertia tensors in {unit}, where kg and kg m^2 are expected",
                edit_all(scale_body(mass=1e-3, tensor=f)),
                options=4,
            )


@hypothesis("physics")
def grams_and_millimetres(case: DescriptionCase) -> Iterator[tuple[Reading, ...]]:
    """All numbers as programs for mechanical design give them."""
    f = 1e-3
    if not case.doubtful(2.0, "reach"):
        return
    yield (
        Reading(
            "units_length",
            ("all lengths",),
            "all lengths, centres of mass included, are in mm, where m is expected",
            edit_all(_together(scale_lengths(f), scale_body(com=f))),
        ),
        Reading(
            "units_mass",
            ("masses and inertia tensors",),
            "the masses are in g and the inertia tensors in g mm^2, where kg and kg m^2 are expected",
            edit_all(scale_body(mass=1e-3, tensor=1e-9)),
        ),
    )


@hypothesis("physics")
def degrees(case: DescriptionCase) -> Iterator[Reading]:
    """Angles and position limits in degrees."""
    if any(abs(x) > WHOLE_TURN for joint in case.robot.tree for x in angles(joint)):
        columns = [("angles", "all angles are", scale_angles(DEGREE))]
        if _has_table(case):
            columns += [
                (f"column {key}", f"the column {key} is", scale_angles(DEGREE, key)) for key in ("alpha", "theta")
            ]
        for where, words, edit in columns:
            yield Reading("units_angle", (where,), f"{words} in degrees, where rad is expected", edit_all(edit))
    if case.doubtful(1.0, "turns"):
        yield Reading(
            "units_angle",
            ("position limits",),
            "the position limits are in degrees, where rad is expected",
            edit_all(scale_limits(DEGREE, "lower", "upper")),
        )
    speeds = list(case.speeds.values())
    if speeds and np.median(speeds) > FASTEST and DEGREE * max(speeds) < FASTEST:
        yield Reading(
            "units_angle",
            ("velocity limits",),
            "the velocity limits are in degrees, where rad is expected",
            edit_all(scale_limits(DEGREE, "velocity", "acceleration")),
        )


@hypothesis("physics")
def units_of_one_joint(case: DescriptionCase) -> Iterator[Reading]:
    """One row of a table, or one body, in another unit: where its own numbers are odd."""
    odd = {where for _, where, nats in case.witnesses if nats >= ODD_ANGLE}
    if len(odd) > MOST_ODD:
        return
    count = max(len(case.robot.tree), 1)
    for joint in case.robot.tree:
        name, body = joint.name, joint.body.name
        if f"joint {name!r}" in odd:
            for unit, f in (("mm", 1e-3), ("cm", 1e-2)):
                yield Reading(
                    "units_length",
                    (name,),
                    f"the lengths of joint {name!r} are in {unit}, where m is expected",
                    edit_all(_only(name, scale_lengths(f))),
                    options=2 * count,
                )
            yield Reading(
                "units_angle",
                (name,),
                f"the angles of joint {name!r} are in degrees, where rad is expected",
                edit_all(_only(name, scale_angles(DEGREE))),
                options=count,
            )
        if f"body {body!r}" in odd:
            parts = [
                ("units_length", "centre of mass", "mm", "m", {"com": 1e-3}),
                ("units_mass", "mass", "g", "kg", {"mass": 1e-3}),
                *(
                    ("units_tensor", "inertia tensor", unit, "kg m^2", {"tensor": f})
                    for unit, (f, _) in TENSOR_UNITS.items()
                ),
            ]
            for kind, part, unit, expected, scale in parts:
                yield Reading(
                    kind,
                    (body,),
                    f"the {part} of body {body!r} is in {unit}, where {expected} is expected",
                    edit_all(_only(name, scale_body(**scale))),
                    options=4 * count,
                )


# Columns and frames --------------------------------------------------------------------------------------------------


@hypothesis("physics")
def columns(case: DescriptionCase) -> Iterator[Reading]:
    """Columns of a DH table in the wrong order, and angles of the opposite sign."""
    if not _has_table(case):
        return
    pairs = [("a", "d")] if case.doubtful(MISPLACED, "com") else []
    pairs += [("a", "alpha"), ("d", "theta"), ("d", "alpha"), ("a", "theta")] if case.doubtful(0.5, "angle") else []
    for first, second in pairs:
        yield Reading(
            "swapped_columns",
            (f"columns {first} and {second}",),
            f"the columns {first} and {second} are swapped",
            edit_all(swap_columns(first, second)),
            options=10,
        )
    if not case.doubtful(MISPLACED, "com"):
        return
    turned = [j for j in case.robot.tree if float(getattr(j.geometry, "alpha", 0)) not in (0.0, math.pi)]
    for joint in turned:
        edit = _only(joint.name, scale_angles(-1.0, "alpha"))
        yield Reading(
            "angle_sign",
            (joint.name,),
            f"alpha of joint {joint.name!r} has the opposite sign",
            edit_all(edit),
            options=len(turned),
        )
    if len(turned) > 1:
        yield Reading(
            "angle_sign",
            ("column alpha",),
            "the column alpha has the opposite sign",
            edit_all(scale_angles(-1.0, "alpha")),
        )


def _only(name: str, change: Edit) -> Edit:
    return lambda joint: change(joint) if joint.name == name else joint


@hypothesis("physics")
def frames_of_centres(case: DescriptionCase) -> Iterator[Reading]:
    """Centres of mass in the frame of the parent, in the base frame, or with the opposite sign."""
    if not case.doubtful(MISPLACED, "com"):
        return
    for where, words in (
        ("parent", "the frame of the joint before"),
        ("base", "the base frame"),
        ("origin", "the opposite direction"),
    ):
        yield Reading(
            "com_frame",
            ("centres of mass",),
            f"the centres of mass are given in {words}, and not in the frame of their body",
            _moved_centres(where),
            options=3,
        )


def _moved_centres(given_in: str) -> Callable[[Robot], Robot]:
    """The robot with its centres of mass taken from another frame, joints at zero, to those of the bodies."""

    def apply(robot: Robot) -> Robot:
        poses = {robot.root.name: np.eye(4)}
        tree = []
        for joint in robot.tree:
            own = np.asarray(joint.pose().array(), float)
            poses[joint.body.name] = poses[joint.parent] @ own
            pose = {"parent": own, "base": poses[joint.body.name], "origin": np.diag([-1.0, -1, -1, 1])}[given_in]
            inertia = joint.body.inertia
            if isinstance(inertia, CentralInertia) and joint.compound is None:
                com = np.linalg.solve(pose, np.array([*(float(x) for x in inertia.com), 1.0]))[:3]
                joint = replace(joint, body=replace(joint.body, inertia=replace(inertia, com=Vec3(*map(float, com)))))
            tree.append(joint)
        return replace(robot, tree=tuple(tree))

    return apply
