"""Hypotheses about geometry: placements of joints and fixed bodies, the base, and how joint positions are read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from armdyn.algebra import Mat3, Vec3, align_z, rot_rpy, rot_x, rot_y, rot_z, rpy_of
from armdyn.algebra.poses import rot_quaternion
from armdyn.doctor.gap import Gap, edit_joint, edit_joints
from armdyn.doctor.reading import Reading, hypothesis
from armdyn.doctor.structure import SAME, central, facing, screw
from armdyn.doctor.variant import Variant
from armdyn.kinematics.rotations import inverse_pose
from armdyn.robot.links import WORLD
from armdyn.robot.parts import FreeTransform, Joint, Placement
from armdyn.robot.right_angles import snap
from armdyn.typing import Floats

GEOMETRY = ("axis", "position")
ALL = (*GEOMETRY, "mass", "centre", "tensor", "gravity_compensation")
ROUNDINGS = (2, 3, 4, 5)
"""Decimals of a rounded angle."""


def _placed(joint: Joint, placement: Placement) -> Joint:
    geometry = joint.geometry
    assert isinstance(geometry, FreeTransform)
    return replace(joint, geometry=replace(geometry, placement=placement))


def _placement(joint: Joint) -> Placement:
    assert isinstance(joint.geometry, FreeTransform)
    return joint.geometry.placement


def _floats(v: Vec3) -> Floats:
    return np.array([float(x) for x in v])


def _vec(v: Floats) -> Vec3:
    return Vec3(*(float(x) for x in v))


def _rpy(R: Mat3) -> Vec3:
    return Vec3(*rpy_of(np.asarray(R.array(), float)))


def _near(gap: Gap) -> list[Joint]:
    """Joints of the tree whose placement can be a cause of what differs: on the links concerned or their parents."""
    if gap.target is None:
        return [joint for joint in gap.robot.tree if joint.compound is None]
    frames = gap.robot.opened.frames
    links = set(gap.differences.at(*ALL))
    placed = gap.differences.at(*GEOMETRY)
    wider = links | {gap.own.parents[joint] for joint in placed}
    return [j for j in gap.robot.tree if j.compound is None and frames[j.body.name].link in wider]


# Placements read wrongly: no number is fitted ------------------------------------------------------------------------

Reread = Callable[[Placement], Placement | None]


def _no_rotation(placement: Placement) -> Placement | None:
    return replace(placement, rpy=Vec3(0, 0, 0)) if _floats(placement.rpy).any() else None


def _no_translation(placement: Placement) -> Placement | None:
    return replace(placement, xyz=Vec3(0, 0, 0)) if _floats(placement.xyz).any() else None


def _scaled(key: str, factor: float) -> Reread:
    def change(placement: Placement) -> Placement | None:
        v = _floats(getattr(placement, key))
        return replace(placement, **{key: _vec(factor * v)}) if v.any() else None

    return change


def _scaled_entry(k: int, factor: float) -> Reread:
    def change(placement: Placement) -> Placement | None:
        v = _floats(placement.xyz)
        if v[k] == 0:
            return None
        v[k] *= factor
        return replace(placement, xyz=_vec(v))

    return change


def _quaternion(first_to_last: bool) -> Reread:
    """The rotation whose quaternion, w first, is read w last, or the other way round."""

    def change(placement: Placement) -> Placement | None:
        if not _floats(placement.rpy).any():
            return None
        w, x, y, z = quaternion_of(np.asarray(rot_rpy(*placement.rpy).array(), float))
        other = (z, w, x, y) if first_to_last else (x, y, z, w)
        return replace(placement, rpy=_rpy(rot_quaternion(*other)))

    return change


def quaternion_of(R: Floats) -> tuple[float, float, float, float]:
    """(w, x, y, z) of a rotation matrix, w not negative."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    )
    w, x, y, z = (float(v) for v in np.linalg.eigh(K)[1][:, -1])
    return (w, x, y, z) if w >= 0 else (-w, -x, -y, -z)


def _other_order(placement: Placement) -> Placement | None:
    """Angles about fixed axes read as angles about moving ones: Rx Ry Rz instead of Rz Ry Rx."""
    roll, pitch, yaw = placement.rpy
    if np.count_nonzero(_floats(placement.rpy)) < 2:
        return None
    return replace(placement, rpy=_rpy(rot_x(roll) @ rot_y(pitch) @ rot_z(yaw)))


def _rounded(digits: int) -> Reread:
    def change(placement: Placement) -> Placement | None:
        before = _floats(placement.rpy)
        after = np.round(before, digits)
        return replace(placement, rpy=_vec(after)) if (before != after).any() else None

    return change


def _snapped(placement: Placement) -> Placement | None:
    before = _floats(placement.rpy)
    after = np.array([x if (near := snap(x)) is None else near for x in before])
    return replace(placement, rpy=_vec(after)) if (before != after).any() else None


REREADINGS: tuple[tuple[str, str, Reread, int], ...] = (
    ("rotation_dropped", "the rotation is left out", _no_rotation, 1),
    ("translation_dropped", "the translation is left out", _no_translation, 1),
    ("units_angle", "radians are read as degrees", _scaled("rpy", math.pi / 180), 1),
    ("units_angle", "degrees are read as radians", _scaled("rpy", 180 / math.pi), 1),
    ("units_length", "lengths are 1000 times as large: mm instead of m", _scaled("xyz", 1000.0), 1),
    ("units_length", "lengths are 1000 times smaller: mm instead of m", _scaled("xyz", 0.001), 1),
    ("quaternion_order", "a quaternion with w first is read with w last", _quaternion(True), 2),
    ("quaternion_order", "a quaternion with w last is read with w first", _quaternion(False), 2),
    ("rotation_order", "angles about fixed axes are read as angles about moving axes", _other_order, 1),
    ("rounded_angles", "an angle near a multiple of pi/2 is exact in one model", _snapped, 1),
    *(("rounded_angles", f"angles are rounded to {d} decimals", _rounded(d), 4) for d in ROUNDINGS),
    *(
        ("decimal", f"{'xyz'[k]} is {f:g} times as large", _scaled_entry(k, f), 12)
        for k in range(3)
        for f in (10.0, 0.1, 100.0, 0.01)
    ),
)
"""(kind, words, change of a placement, number of alternatives of the same kind)"""


@hypothesis("model", "torques", effort=2, fits=True)
def reread_placements(gap: Gap) -> Iterator[Reading]:
    """Placements read wrongly: one joint, or all joints."""
    if gap.target is not None and not gap.differences.at(*ALL):
        return
    near = _near(gap)
    everywhere = [joint for joint in gap.robot.tree if joint.compound is None]
    for kind, words, change, options in REREADINGS:
        edits: dict[str, Callable[[Joint], Joint]] = {}
        for joint in everywhere:
            after = change(_placement(joint))
            if after is None:
                continue
            edits[joint.name] = _taking(after)
            if joint in near:
                place = "fixed body" if joint.kind == "fixed" else "joint"
                what = f"placement of {place} {joint.name!r}: {words}"
                yield Reading(kind, (joint.name,), what, edit_joint(joint.name, _taking(after)), options=options)
                anchored = _about_anchor(gap, joint, after)
                if anchored is not None:
                    yield Reading(kind, (joint.name,), what, edit_joint(joint.name, _taking(anchored)), options=options)
        if len(edits) > 1:
            yield Reading(kind, tuple(edits), f"placements of all joints: {words}", edit_joints(edits), options=options)


def _about_anchor(gap: Gap, joint: Joint, after: Placement) -> Placement | None:
    """The changed rotation about the origin of the body that stands fixed on the joint: MJCF turns bodies, not axes."""
    fixed = [j for j in gap.robot.tree if j.parent == joint.body.name and j.kind == "fixed"]
    if joint.kind == "fixed" or len(fixed) != 1 or not _floats(_placement(fixed[0]).xyz).any():
        return None
    before, offset = _placement(joint), _placement(fixed[0]).xyz
    stays = before.xyz + rot_rpy(*before.rpy) @ offset
    return replace(after, xyz=stays - rot_rpy(*after.rpy) @ offset)


def _taking(placement: Placement) -> Callable[[Joint], Joint]:
    return lambda joint: _placed(joint, placement)


@hypothesis("model", "torques", effort=2, fits=True)
def rounded_zero(gap: Gap) -> Iterator[Reading]:
    """Offsets of joints rounded with the other angles of a DH table."""
    if gap.target is not None and not gap.differences.at(*ALL):
        return
    for digits in ROUNDINGS:
        edits: dict[str, Callable[[Joint], Joint]] = {}
        for joint in gap.robot.tree:
            assert isinstance(joint.geometry, FreeTransform)
            zero, placed = float(joint.geometry.zero), _rounded(digits)(_placement(joint))
            short = round(zero, digits) if joint.kind == "revolute" else zero
            if joint.compound is None and (short != zero or placed is not None):
                edits[joint.name] = _with_zero(short, placed)
        if any(float(joint.geometry.zero) for joint in gap.robot.tree):  # type: ignore[union-attr]
            yield Reading(
                "rounded_angles",
                tuple(edits),
                f"angles are rounded to {digits} decimals",
                edit_joints(edits),
                options=4,
            )


def _with_zero(zero: float, placed: Placement | None) -> Callable[[Joint], Joint]:
    def change(joint: Joint) -> Joint:
        joint = joint if placed is None else _placed(joint, placed)
        assert isinstance(joint.geometry, FreeTransform)
        return replace(joint, geometry=replace(joint.geometry, zero=zero))

    return change


# Placements with other values: taken from the second model -----------------------------------------------------------


@hypothesis("model")
def other_placement(gap: Gap) -> Iterator[Reading]:
    """A joint that stands elsewhere: other lengths, or another direction of its axis."""
    found = gap.differences
    for i in range(len(gap.own.names)):
        if i in found.at(*GEOMETRY):
            yield from _moved_joint(gap, i, found.placement[i])
        raw, kept = found.raw[i], np.abs(found.raw[i][:3, :3] - np.eye(3)).max() < SAME
        # A frame may be shifted along its joint axis without any effect; with the rest of its link, it is a length.
        if kept and np.abs(raw[:3, 3]).max() > SAME and found.at(*ALL):
            yield from _moved_joint(gap, i, gap.own.placement[i] @ raw)


def _moved_joint(gap: Gap, i: int, wanted: Floats) -> Iterator[Reading]:
    robot = gap.robot.opened
    joint, link = robot.joints[i], robot.links[i]
    geometry = joint.geometry
    if joint.compound is not None or not isinstance(geometry, FreeTransform):
        return
    carrier = np.asarray(robot.frames[joint.parent].pose.array(), float)
    before = np.eye(4) if link.parent == WORLD else facing(gap.sign_and_zero(link.parent)[0])
    sign, zero = gap.sign_and_zero(i)
    behind = screw(joint.kind, float(geometry.zero) + zero) @ facing(sign)
    axis = np.eye(4)
    axis[:3, :3] = np.asarray(align_z(geometry.axis).array(), float)
    pose = inverse_pose(before @ carrier) @ wanted @ inverse_pose(axis @ behind)
    old = geometry.placement
    R, p = np.asarray(rot_rpy(*old.rpy).array(), float), _floats(old.xyz)
    turn, shift = np.abs(pose[:3, :3] - R).max() > SAME, pose[:3, 3] - p
    scale = max(float(np.abs(p).max()), float(np.abs(pose[:3, 3]).max()), 1e-3)
    steps = int((np.abs(shift) > SAME * scale).sum())
    xyz = _vec(np.where(np.abs(shift) > SAME * scale, pose[:3, 3], p))
    placement = Placement(xyz, Vec3(*rpy_of(pose[:3, :3])) if turn else old.rpy)
    kind, words = ("placement", "turned") if turn else ("length", "shifted")
    amount = f"by {_angle(R.T @ pose[:3, :3]):.4g} deg" if turn else f"by {1000 * np.linalg.norm(shift):.4g} mm"
    yield Reading(
        kind,
        (joint.name,),
        f"joint {joint.name!r} is {words} {amount} on {joint.parent!r}: it stands at "
        f"({', '.join(f'{x:.5g}' for x in p)}) m in {gap.first} and at "
        f"({', '.join(f'{x:.5g}' for x in _floats(xyz))}) m in {gap.second}",
        edit_joint(joint.name, _taking(placement)),
        reals=steps + (3 if turn else 0),
    )


def _angle(R: Floats) -> float:
    return math.degrees(math.acos(min(1.0, max(-1.0, (float(np.trace(R)) - 1) / 2))))


# The base ------------------------------------------------------------------------------------------------------------


@hypothesis("model")
def base(gap: Gap) -> Iterator[Reading]:
    """The base turned in the world: every joint that stands on it moves with it."""
    assert gap.target is not None
    roots = [i for i, parent in enumerate(gap.own.parents) if parent == WORLD]
    if not roots or not gap.differences.at(*ALL):
        return
    D = gap.target.placement[roots[0]] @ inverse_pose(gap.own.placement[roots[0]])
    if np.abs(D[:3, :3] - np.eye(3)).max() < SAME:
        return
    angle = _angle(D[:3, :3])
    yield Reading(
        "base_orientation",
        (gap.robot.root.name,),
        f"the base is turned by {angle:.4g} deg in {gap.second}",
        turned_base(D),
        reals=2,
    )


def turned_base(D: Floats) -> Callable[[Variant], Variant]:
    """The transformation that displaces the base in the world by D."""

    def apply(variant: Variant) -> Variant:
        pose = D @ np.asarray(variant.robot.base.pose().array(), float)
        placement = Placement(_vec(pose[:3, 3]), Vec3(*rpy_of(pose[:3, :3])))
        return replace(variant, robot=replace(variant.robot, base=placement))

    return apply


# How joint positions are read ----------------------------------------------------------------------------------------


def _set(values: tuple[float, ...], n: int, default: float, k: int, value: float) -> tuple[float, ...]:
    full = list(values or [default] * n)
    full[k] = value
    return tuple(full)


def reversed_joint(k: int) -> Callable[[Variant], Variant]:
    """The transformation that counts a joint the other way."""

    def apply(variant: Variant) -> Variant:
        old = variant.arrays.sign or (1,) * variant.robot.n
        return variant.reads(sign=_set(old, variant.robot.n, 1, k, -old[k]))

    return apply


def shifted_joint(k: int, by: float) -> Callable[[Variant], Variant]:
    """The transformation that adds to the zero of a joint."""

    def apply(variant: Variant) -> Variant:
        old = variant.arrays.zero or (0.0,) * variant.robot.n
        return variant.reads(zero=_set(old, variant.robot.n, 0.0, k, old[k] + by))

    return apply


def _places(gap: Gap) -> dict[str, int]:
    """Independent joints of one degree of freedom, by name: their places in the robot's arrays."""
    return {} if gap.robot.compounds else {joint.name: k for k, joint in enumerate(gap.robot.joints)}


@hypothesis("model")
def joint_sign(gap: Gap) -> Iterator[Reading]:
    """An axis that points the other way."""
    places = _places(gap)
    for i in gap.differences.at("axis"):
        name = gap.own.names[i]
        opposed = gap.own.placement[i][:3, 2] @ gap.differences.placement[i][:3, 2] < -0.5
        if name in places and opposed:
            yield Reading("joint_sign", (name,), f"joint {name!r} counts the other way", reversed_joint(places[name]))


@hypothesis("model")
def joint_zero(gap: Gap) -> Iterator[Reading]:
    """A joint whose zero lies elsewhere: what follows it is turned about, or shifted along, its axis."""
    assert gap.target is not None
    places, found = _places(gap), gap.differences
    if not found.at(*ALL):
        return
    for i, name in enumerate(gap.own.names):
        if name not in places:
            continue
        children = [k for k, parent in enumerate(gap.own.parents) if parent == i]
        if not {i, *children} & set(found.at(*ALL)):
            continue
        mine = _marks(gap.own.bodies[i], [gap.own.placement[k] for k in children])
        other = _marks(found.bodies[i], [found.gauge[i] @ gap.target.placement[k] for k in children])
        by = _turn_between(mine, other) if gap.own.kinds[i] == "revolute" else float(np.median((other - mine)[::2, 2]))
        unit = "deg" if gap.own.kinds[i] == "revolute" else "mm"
        for value in dict.fromkeys((_tidy_angle(by) if unit == "deg" else by, by)):
            if abs(value) > 1e-9:
                shown = math.degrees(value) if unit == "deg" else 1000 * value
                yield Reading(
                    "joint_zero",
                    (name,),
                    f"joint {name!r} has its zero {shown:.4g} {unit} away in {gap.second}",
                    shifted_joint(places[name], value * gap.variant.sign()[places[name]]),
                    reals=1,
                )


def _marks(body: Floats, children: list[Floats]) -> Floats:
    """Points and directions that a link carries: centre of mass, and the axes of its children."""
    rows = [central(body)[1], np.zeros(3)]
    for T in children:
        rows += [T[:3, 3], T[:3, 2]]
    return np.array(rows)


def _turn_between(mine: Floats, other: Floats) -> float:
    """The turn about z that takes one set of vectors to the other best."""
    a, b = mine[:, 0] + 1j * mine[:, 1], other[:, 0] + 1j * other[:, 1]
    return float(np.angle(np.sum(np.conj(a) * b)))


def _tidy_angle(angle: float) -> float:
    """The nearest multiple of a degree, if it is near."""
    degrees = round(math.degrees(angle))
    return math.radians(degrees) if abs(angle - math.radians(degrees)) < 1e-6 else angle


@hypothesis("torques")
def any_reading(gap: Gap) -> Iterator[Reading]:
    """Signs and usual zeros of every joint."""
    for name, k in _places(gap).items():
        yield Reading("joint_sign", (name,), f"joint {name!r} counts the other way", reversed_joint(k))
        if gap.robot.joints[k].kind == "revolute":
            for degrees in (90, -90, 180, 45, -45, 30, -30):
                yield Reading(
                    "joint_zero",
                    (name,),
                    f"joint {name!r} has its zero {degrees} deg away in {gap.second}",
                    shifted_joint(k, math.radians(degrees)),
                    options=7,
                )
