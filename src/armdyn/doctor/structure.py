"""Two robots joint by joint: geometry, inertia, drives and gravity as numbers, and where they differ.

A link's frame is determined by its joint up to a turn about and a shift along the joint axis. The comparison goes from
the base outwards and carries this freedom along, so robots described by DH tables and by URDF can be compared, and a
difference shows at the joint where it is, not at all that follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armdyn.algebra import Inertia, ops
from armdyn.doctor.variant import Variant
from armdyn.kinematics.rotations import inverse_pose
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Joint
from armdyn.robot.robot import Robot
from armdyn.typing import Floats

FINEST = 1e-9
"""Relative difference at which two numbers count as equal in all digits."""
SAME = 1e-7
"""Relative difference of parameters below which they are the same: files give six to ten digits."""
OVER = np.diag([1.0, -1.0, -1.0, 1.0])
"""A half turn about x: the frame of a joint whose axis is reversed."""


@dataclass(frozen=True, eq=False)
class JointNumbers:
    """A robot's numbers, per movable joint.

    placement: (n, 4, 4) poses in the parent's frame at joint position zero. bodies: (n, 4, 4) pseudo-inertias of the
    links (second moments of mass, first moments, mass), so that a change of frame is T J T^T. drives: numbers of each
    drive, by name.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    parents: tuple[int, ...]
    placement: Floats
    bodies: Floats
    drives: dict[str, Floats]
    gravity: Floats


class _JointPart(NamedTuple):
    """The numbers of one joint of the tree: poses before and after its motion, its offset, body and drive."""

    joint: Joint
    before: Floats
    after: Floats
    body: Floats | None
    drives: dict[str, list[float]]
    compensation: float


_PARTS: dict[int, _JointPart] = {}
"""Numbers of joints by identity: variants of a robot share all joints but the changed one."""
MOST_PARTS = 20_000


def _part(joint: Joint) -> _JointPart:
    known = _PARTS.get(id(joint))
    if known is not None and known.joint is joint:
        return known
    geometry, kind = joint.geometry, joint.kind
    before, after = (np.asarray(pose.array(), float) for pose in (geometry.before(kind), geometry.after()))
    before = before @ screw(kind, float(geometry.offset(kind))) if kind != "fixed" else before
    body = pseudo_inertia(joint.body.inertia.at_origin())
    drives = {name: numbers(joint) for name, numbers in DRIVES.items()} if kind != "fixed" else {}
    part = _JointPart(
        joint, before, after, body if body.any() else None, drives, float(joint.body.gravity_compensation)
    )
    if len(_PARTS) > MOST_PARTS:
        _PARTS.clear()
    _PARTS[id(joint)] = part
    return part


def structure(variant: Variant) -> JointNumbers:
    """The numbers of a robot, its joints' signs and zeros read as the variant says."""
    robot = variant.robot.opened
    parts = [_part(joint) for joint in robot.tree]
    moving = [part for part in parts if part.joint.kind != "fixed"]
    n = len(moving)
    sign, zero = _of_all(variant, [part.joint.name for part in moving])
    frames = {robot.root.name: (WORLD, np.asarray(robot.base.pose().array(), float))}
    placement, bodies, carried = np.empty((n, 4, 4)), np.zeros((n, 4, 4)), np.zeros((n, 4))
    parents: list[int] = []
    for part in parts:
        link, pose = frames[part.joint.parent]
        pose = pose @ part.before
        if part.joint.kind != "fixed":
            parents.append(link)
            link = len(parents) - 1
            placement[link] = pose @ screw(part.joint.kind, zero[link]) @ facing(sign[link])
            pose = facing(sign[link])
        pose = pose @ part.after
        frames[part.joint.body.name] = (link, pose)
        if part.body is not None and link != WORLD:
            body = moved(pose, part.body)
            bodies[link] += body
            carried[link] += part.compensation * body[:, 3]
    _add_rotors(robot, frames, bodies)
    return JointNumbers(
        tuple(part.joint.name for part in moving),
        tuple(part.joint.kind for part in moving),
        tuple(parents),
        placement,
        bodies,
        {name: np.array([part.drives[name] for part in moving], float).reshape(n, -1) for name in DRIVES}
        | {"gravity_compensation": carried},
        np.array([float(x) for x in robot.gravity]),
    )


def _add_rotors(robot: Robot, frames: dict[str, tuple[int, Floats]], bodies: Floats) -> None:
    """The mass of rotors that are bodies on their carriers, with their inertia at rest."""
    for joint in robot.tree:
        rotor = joint.rotor
        if rotor is None or rotor.model != "full":
            continue
        link, pose = frames[rotor.on or joint.parent]
        if link != WORLD:
            axis = np.array([float(x) for x in rotor.axis])
            along = np.outer(axis, axis)
            T = float(rotor.inertia) * along + float(rotor.transverse) * (np.eye(3) - along)
            bodies[link] += moved(
                pose, from_central(float(rotor.mass), np.array([float(x) for x in rotor.position]), T)
            )


def _of_all(variant: Variant, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Signs and zeros of all movable joints; dependent ones are read as they are."""
    sign, zero = np.ones(len(names)), np.zeros(len(names))
    if variant.arrays.sign or variant.arrays.zero:
        places = [names.index(joint.name) for joint in variant.robot.joints]
        sign[places], zero[places] = variant.sign(), variant.zero()
    return sign, zero


def facing(sign: float) -> Floats:
    """The frame of a joint that counts the other way, in the frame of the joint: a half turn, its own inverse."""
    return OVER if sign < 0 else np.eye(4)


def screw(kind: str, value: float) -> Floats:
    """The displacement of a joint by `value`: (4, 4)."""
    T = np.eye(4)
    if kind == "prismatic":
        T[2, 3] = value
        return T
    c, s = math.cos(value), math.sin(value)
    T[:2, :2] = [[c, -s], [s, c]]
    return T


def pseudo_inertia(body: Inertia) -> Floats:
    """(4, 4): second moments, first moments and mass."""
    I = np.array([[float(x) for x in row] for row in body.tensor.rows])
    s = np.array([float(x) for x in body.moment])
    return _pseudo(np.trace(I) / 2 * np.eye(3) - I, s, float(body.mass))


def moved(T: Floats, J: Floats) -> Floats:
    """The pseudo-inertia in frame a of a body given in frame b, T = T_ab."""
    return np.asarray(T @ J @ T.T)


def central(J: Floats) -> tuple[float, Floats, Floats]:
    """(mass, centre of mass, tensor about it) of a pseudo-inertia; a body without mass has its centre at the origin."""
    m, c, T = centrals(J[None])
    return float(m[0]), c[0], T[0]


def centrals(J: Floats) -> tuple[Floats, Floats, Floats]:
    """The same of many, (n, 4, 4)."""
    m = J[:, 3, 3]
    c = J[:, :3, 3] / np.where(np.abs(m) > 1e-300, m, np.inf)[:, None]
    S = J[:, :3, :3] - m[:, None, None] * c[:, :, None] * c[:, None, :]
    return m, c, np.trace(S, axis1=1, axis2=2)[:, None, None] * np.eye(3) - S


def from_central(m: float, c: Floats, T: Floats) -> Floats:
    """The pseudo-inertia of a body given by its centre of mass."""
    return _pseudo(np.trace(T) / 2 * np.eye(3) - T + m * np.outer(c, c), m * c, m)


def _pseudo(second: Floats, first: Floats, m: float) -> Floats:
    J = np.empty((4, 4))
    J[:3, :3], J[:3, 3], J[3, :3], J[3, 3] = second, first, first, m
    return J


DRIVES: dict[str, Callable[[Joint], list[float]]] = {
    "rotor": lambda joint: _rotor(joint),
    "viscous": lambda joint: [_of(joint.friction, "viscous")],
    "coulomb": lambda joint: [
        _of(joint.friction, "coulomb"),
        _of(joint.friction, "static"),
        _of(joint.friction, "stribeck"),
        _of(joint.friction, "offset"),
    ],
    "spring": lambda joint: [_of(joint.spring, "stiffness"), _of(joint.spring, "rest")],
}
"""The numbers of a joint's drive, by name."""


def _of(part: object, name: str) -> float:
    return 0.0 if part is None else float(getattr(part, name))


def _rotor(joint: Joint) -> list[float]:
    rotor = joint.rotor
    if rotor is None or ops.is_zero(rotor.inertia):
        return [0.0, 0.0]
    inertia, ratio = float(rotor.inertia), float(rotor.ratio)
    return [inertia * ratio**2, inertia * ratio if rotor.model == "full" else 0.0]


# The comparison ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Difference:
    """One number, or group of numbers, in which two robots differ: where, and by how much (relative)."""

    what: str
    joint: int
    distance: float


@dataclass(frozen=True, eq=False)
class Differences:
    """The items of two structures, and the second one in the frames of the first.

    gauge: (n, 4, 4) pose of each frame of the second in the frame of the first, as far as the joint axis leaves it
    open; raw: the whole pose. placement, bodies: of the second, in
    the frames of the first.
    """

    items: tuple[Difference, ...]
    gauge: Floats
    raw: Floats
    placement: Floats
    bodies: Floats

    def at(self, *what: str) -> tuple[int, ...]:
        """Joints that differ in any of these items."""
        return tuple(dict.fromkeys(item.joint for item in self.items if item.what in what))

    @property
    def digits(self) -> float:
        """Sum over the items of the digits in which they do not agree."""
        return sum(math.log10(1 + item.distance / FINEST) for item in self.items)


def differences(a: JointNumbers, b: JointNumbers) -> Differences:
    """Compare two robots of the same number of joints, joint by joint."""
    n = len(a.names)
    size = max(_size(a), _size(b)) or 1.0
    heavy = max((abs(J[3, 3]) for J in (*a.bodies, *b.bodies)), default=0.0)
    gauge, raw, placement, bodies = np.empty((4, n, 4, 4))
    items: list[Difference] = []
    for i in range(n):
        before = np.eye(4) if a.parents[i] == WORLD else gauge[a.parents[i]]
        full = inverse_pose(a.placement[i]) @ before @ b.placement[i]  # T_ab at zero
        gauge[i], raw[i] = _nearest_freedom(a.kinds[i], full), full
        placement[i] = before @ b.placement[i] @ inverse_pose(gauge[i])
        bodies[i] = moved(gauge[i], b.bodies[i])
        items += _geometry(a, b, i, placement[i], size)
    items += _inertia(a.bodies, bodies, size, heavy)
    for name, mine in a.drives.items():
        other = b.drives[name]
        if name == "gravity_compensation":
            other = np.einsum("kij,kj->ki", gauge, other)
        items += [Difference(name, i, d) for i in range(n) if (d := _relative(mine[i], other[i])) > SAME]
    if (d := _relative(a.gravity, b.gravity)) > SAME:
        items.append(Difference("gravity", WORLD, d))
    return Differences(tuple(items), gauge, raw, placement, bodies)


def _size(s: JointNumbers) -> float:
    """The longest distance between two joints, m: the scale of lengths."""
    return max((float(np.linalg.norm(T[:3, 3])) for T in s.placement), default=0.0)


def _nearest_freedom(kind: str, T: Floats) -> Floats:
    """The displacement nearest to T that a joint axis leaves open: a turn about z and a shift along z.

    The axis of a prismatic joint is a direction, so that its frame may be shifted anywhere.
    """
    G = screw("revolute", math.atan2(T[1, 0] - T[0, 1], T[0, 0] + T[1, 1]))
    if kind == "prismatic":
        G[:3, 3] = T[:3, 3]
    G[2, 3] = T[2, 3]
    return G


def _geometry(a: JointNumbers, b: JointNumbers, i: int, other: Floats, size: float) -> list[Difference]:
    """Axis and parent of one joint."""
    if a.kinds[i] != b.kinds[i] or a.parents[i] != b.parents[i]:
        return [Difference("joint", i, 1.0)]
    mine = a.placement[i]
    items = []
    turn = float(np.linalg.norm(mine[:3, 2] - other[:3, 2]))
    if turn > SAME:
        items.append(Difference("axis", i, turn))
    apart = mine[:3, 3] - other[:3, 3]
    away = float(np.linalg.norm(apart - mine[:3, 2] * (mine[:3, 2] @ apart))) / size
    if away > SAME:
        items.append(Difference("position", i, away))
    return items


def _inertia(mine: Floats, other: Floats, size: float, heavy: float) -> list[Difference]:
    """Mass, centre and tensor of the links; lengths are measured by the robot, tensors by themselves."""
    (m, c, T), (m2, c2, T2) = centrals(mine), centrals(other)
    most = np.maximum(np.abs(m), np.abs(m2))
    largest = np.maximum(np.abs(T).max(axis=(1, 2)), np.abs(T2).max(axis=(1, 2)))
    values = {
        "mass": np.abs(m - m2) / np.maximum(most, 1e-9 * heavy + 1e-300),
        "centre": np.where(most > 1e-9 * heavy, np.linalg.norm(c - c2, axis=1) / size, 0.0),
        "tensor": np.abs(T - T2).max(axis=(1, 2)) / np.maximum(largest, 1e-9 * heavy * size**2 + 1e-300),
    }
    return [Difference(what, i, float(d[i])) for what, d in values.items() for i in np.flatnonzero(d > SAME).tolist()]


def _relative(x: Floats, y: Floats) -> float:
    scale = max(float(np.abs(x).max(initial=0.0)), float(np.abs(y).max(initial=0.0)))
    return float(np.abs(x - y).max(initial=0.0)) / scale if scale else 0.0


def permuted(s: JointNumbers, order: Sequence[int]) -> JointNumbers:
    """The structure with joint k at the place of joint order[k]."""
    back = {old: new for new, old in enumerate(order)} | {WORLD: WORLD}
    pick = list(order)
    return JointNumbers(
        tuple(s.names[k] for k in pick),
        tuple(s.kinds[k] for k in pick),
        tuple(back[s.parents[k]] for k in pick),
        s.placement[pick],
        s.bodies[pick],
        {name: values[pick] for name, values in s.drives.items()},
        s.gravity,
    )
