"""Free and ball joints: joints of several degrees of freedom, as chains of joints of one.

A free joint is six joints of the tree, a ball joint three, one per velocity, with bodies without mass between them. Its
position is not six or three numbers but a point of a manifold, with a quaternion of any length but zero:

    free: q = (x, y, z, qw, qx, qy, qz), v = (linear, angular velocity) of the moving frame in its own axes
    ball: q = (qw, qx, qy, qz),          v = angular velocity of the moving frame in its own axes

Mechanics works in a chart around the present position: there the chain stands at zero, its rates are v, and its
accelerations follow from vd and v. See `armdyn.mechanics.moving_axes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from armdyn.algebra import Pose, Scalar, Vec3, align_z, rot_quaternion
from armdyn.errors import RobotError, ShapeError
from armdyn.robot.parts import Body, Compound, CompoundKind, FreeTransform, Joint, Kind, Placement
from armdyn.typing import Floats, Scalars

X, Y, Z = Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1)
TURNS: tuple[tuple[str, Kind, Vec3], ...] = (("rx", "revolute", X), ("ry", "revolute", Y), ("rz", "revolute", Z))
SLIDES: tuple[tuple[str, Kind, Vec3], ...] = (("x", "prismatic", X), ("y", "prismatic", Y), ("z", "prismatic", Z))
PARTS: dict[CompoundKind, tuple[tuple[str, Kind, Vec3], ...]] = {"free": (*SLIDES, *TURNS), "ball": TURNS}
"""The joints of a chain, from the parent outwards: suffix of the name, kind, axis."""
QUATERNION = ("qw", "qx", "qy", "qz")
POSITIONS: dict[CompoundKind, tuple[str, ...]] = {"free": ("x", "y", "z", *QUATERNION), "ball": QUATERNION}
"""The numbers of a position."""
FORBIDDEN = ("elastic", "mimic", "spring", "limits", "rotor")
"""Parts of a joint that need a coordinate."""


class Span(NamedTuple):
    """Where a free or ball joint stands in arrays: its first velocity, and its first number in q."""

    compound: Compound
    joint: int
    start: int

    @property
    def velocities(self) -> slice:
        return slice(self.joint, self.joint + len(PARTS[self.compound.kind]))

    @property
    def positions(self) -> slice:
        return slice(self.start, self.start + len(POSITIONS[self.compound.kind]))

    @property
    def turns(self) -> slice:
        """The angular velocities."""
        return slice(self.velocities.stop - 3, self.velocities.stop)

    def pose(self, q: Scalars) -> Pose:
        """The pose of the moving frame in the joint's placement."""
        *p, w, x, y, z = q[self.positions]
        return Pose(rot_quaternion(w, x, y, z), Vec3.of(p or (0, 0, 0)))


def expanded(joint: Joint, kind: CompoundKind) -> list[Joint]:
    """The chain of joints that a free or ball joint is; `joint` gives name, placement, parent, body and friction."""
    return _chain(joint, PARTS[kind], Compound(joint.name, kind))


def collapsed(tree: Sequence[Joint]) -> list[Joint]:
    """The tree with one entry for each free or ball joint: its first part, with its own name and body."""
    result: list[Joint] = []
    for joint in tree:
        if joint.compound is None:
            result.append(joint)
        elif not result or result[-1].compound != joint.compound:
            result.append(replace(joint, name=joint.compound.name))
        else:
            if joint.friction != result[-1].friction:
                raise RobotError(
                    "friction that differs between its degrees of freedom",
                    where=f"{joint.compound.kind} joint {joint.compound.name!r}",
                    expected="the same for all: files have one value",
                )
            result[-1] = replace(result[-1], body=joint.body)
    return result


def in_plane(joint: Joint) -> list[Joint]:
    """Two prismatic joints and a revolute one about the axis of `joint`, the normal of the plane in which it moves.

    They have true coordinates, (x, y, angle), and so does the joint that they make up.
    """
    assert isinstance(joint.geometry, FreeTransform)
    across = align_z(joint.geometry.axis)
    axes: tuple[tuple[str, Kind, Vec3], ...] = (
        ("x", "prismatic", across.column(0)),
        ("y", "prismatic", across.column(1)),
        ("angle", "revolute", joint.geometry.axis),
    )
    return _chain(joint, axes, None)


def _chain(joint: Joint, axes: Sequence[tuple[str, Kind, Vec3]], compound: Compound | None) -> list[Joint]:
    """Joints with bodies without mass between them, in the place of `joint`, each with its friction."""
    assert isinstance(joint.geometry, FreeTransform)
    chain: list[Joint] = []
    for suffix, kind, axis in axes:
        name = f"{joint.name} {suffix}"
        geometry = FreeTransform(Placement() if chain else joint.geometry.placement, axis)
        parent = chain[-1].name if chain else joint.parent
        chain.append(
            replace(joint, name=name, kind=kind, geometry=geometry, parent=parent, body=Body(name), compound=compound)
        )
    return [*chain[:-1], replace(chain[-1], body=joint.body)]


def spans(joints: Sequence[Joint]) -> tuple[Span, ...]:
    """The free and ball joints among the joints of a robot, in order."""
    found: list[Span] = []
    start = 0
    for index, joint in enumerate(joints):
        if joint.compound is None:
            start += 1
        elif not found or found[-1].compound != joint.compound:
            found.append(Span(joint.compound, index, start))
            start = found[-1].positions.stop
    return tuple(found)


def position_names(joints: Sequence[Joint]) -> tuple[str, ...]:
    """What the entries of q stand for."""
    names: list[str] = []
    known: set[Compound] = set()
    for joint in joints:
        if joint.compound is None:
            names.append(joint.name)
        elif joint.compound not in known:
            known.add(joint.compound)
            names += [f"{joint.compound.name} {name}" for name in POSITIONS[joint.compound.kind]]
    return tuple(names)


def validate(tree: Sequence[Joint], where: str) -> None:
    """Raise RobotError unless every free or ball joint is complete and has no part that needs a coordinate."""
    chains: dict[Compound, list[Joint]] = {}
    for joint in tree:
        if joint.compound is not None:
            chains.setdefault(joint.compound, []).append(joint)
    for compound, chain in chains.items():
        whose = f"{where}, {compound.kind} joint {compound.name!r}"
        kinds = [(part.kind, part.geometry.axis) for part in chain if isinstance(part.geometry, FreeTransform)]
        linked = all(b.parent == a.body.name for a, b in pairwise(chain))
        if kinds != [(kind, axis) for _, kind, axis in PARTS[compound.kind]] or not linked:
            raise RobotError(
                "some of its degrees of freedom are missing",
                where=whose,
                expected="all of them, or none",
                advice="Lock or leave out the whole joint.",
            )
        for part in chain:
            held = [name for name in FORBIDDEN if getattr(part, name) is not None]
            if held:
                raise RobotError(
                    f"{held[0]} on a {compound.kind} joint",
                    where=whose,
                    expected="none",
                    advice="A joint of several degrees of freedom has no coordinate for it.",
                )


def between(tree: Sequence[Joint]) -> set[str]:
    """Names of the bodies without mass that stand between the parts of free and ball joints."""
    return {a.body.name for a, b in pairwise(tree) if a.compound is not None and a.compound == b.compound}


def position_rates(spans: Sequence[Span], q: Scalars, v: Scalars) -> list[Scalar]:
    """(nq,) the time derivative of positions at velocities v, over any scalar."""
    result: list[Scalar] = [None] * len(q)
    for place, part in _ordinary(spans, len(q)):
        result[part] = v[place]
    for span in spans:
        *p, w, x, y, z = q[span.positions]
        a, b, c = v[span.turns]
        turning = (-(x * a) - y * b - z * c, w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a)
        linear = span.pose(q).R @ Vec3.of(v[span.joint : span.joint + 3]) if p else ()
        result[span.positions] = [*linear, *(rate / 2 for rate in turning)]
    return result


# Positions as numbers -------------------------------------------------------------------------------------------------


def neutral(spans: Sequence[Span], nq: int) -> Floats:
    """The position with all one-degree joints at zero and all free and ball joints at the identity."""
    q = np.zeros(nq)
    for span in spans:
        q[span.positions.stop - 4] = 1.0
    return q


def rates(spans: Sequence[Span], q: Floats, v: Floats) -> Floats:
    """The time derivative of q at velocities v."""
    entries = position_rates(spans, np.moveaxis(q, -1, 0), np.moveaxis(v, -1, 0))
    return np.stack(np.broadcast_arrays(*entries), axis=-1)


def kept(spans: Sequence[Span], q: Floats) -> Floats:
    """The same positions with quaternions of length one."""
    if not spans:
        return q
    result = q.copy()
    for span in spans:
        attitude = result[..., span.positions][..., -4:]
        attitude[...] = unit(attitude)
    return result


def integrate(spans: Sequence[Span], q: Floats, v: Floats) -> Floats:
    """The position after moving for one second with constant velocities v."""
    result = np.empty(np.broadcast_shapes(q.shape[:-1], v.shape[:-1]) + q.shape[-1:])
    for place, part in _ordinary(spans, q.shape[-1]):
        result[..., part] = q[..., part] + v[..., place]
    for span in spans:
        attitude, w = q[..., span.positions][..., -4:], v[..., span.turns]
        moved = result[..., span.positions]
        moved[..., -4:] = unit(product(attitude, exponential(w)))
        if span.compound.kind == "free":
            linear = v[..., span.velocities][..., :3]
            moved[..., :3] = q[..., span.positions][..., :3] + turned(attitude, _swept(w, linear))
    return result


def difference(spans: Sequence[Span], q0: Floats, q1: Floats) -> Floats:
    """The velocities that lead from q0 to q1 in one second, angles of free and ball joints within half a turn."""
    batch = np.broadcast_shapes(q0.shape[:-1], q1.shape[:-1])
    n = q0.shape[-1] - len(spans)
    result = np.empty((*batch, n))
    for place, part in _ordinary(spans, q0.shape[-1]):
        result[..., place] = q1[..., part] - q0[..., part]
    for span in spans:
        first, second = q0[..., span.positions], q1[..., span.positions]
        back = first[..., -4:] * [1, -1, -1, -1]
        w = logarithm(product(back, second[..., -4:]))
        result[..., span.turns] = w
        if span.compound.kind == "free":
            apart = turned(back, second[..., :3] - first[..., :3])
            result[..., span.velocities][..., :3] = _unswept(w, apart)
    return result


def _ordinary(spans: Sequence[Span], nq: int) -> list[tuple[int, int]]:
    """(place among the velocities, place in q) of the joints of one degree of freedom."""
    velocities = {j for span in spans for j in range(*span.velocities.indices(nq))}
    positions = {j for span in spans for j in range(*span.positions.indices(nq))}
    n = nq - len(spans)
    return list(
        zip((j for j in range(n) if j not in velocities), (j for j in range(nq) if j not in positions), strict=True)
    )


def checked(name: str, value: object, size: int) -> Floats:
    """An array with `size` finite entries on the last axis."""
    array = np.asarray(value, dtype=float)
    if array.ndim == 0 or array.shape[-1] != size or not np.isfinite(array).all():
        raise ShapeError(f"{name} has shape {array.shape}", expected=f"(..., {size}), finite")
    return array


# Quaternions (w, x, y, z) on the last axis ----------------------------------------------------------------------------


def product(a: Floats, b: Floats) -> Floats:
    """The quaternion of rotation a followed, in the moved axes, by b."""
    (aw, av), (bw, bv) = ((q[..., :1], q[..., 1:]) for q in (a, b))
    scalar = aw * bw - np.sum(av * bv, axis=-1, keepdims=True)
    return np.concatenate([scalar, aw * bv + bw * av + np.cross(av, bv)], axis=-1)


def unit(a: Floats) -> Floats:
    """The quaternion of length one."""
    length: Floats = np.linalg.norm(a, axis=-1, keepdims=True)
    return a / length


def turned(a: Floats, p: Floats) -> Floats:
    """The vectors p rotated by the quaternion a, of any length but zero."""
    w, v = a[..., :1], a[..., 1:]
    t = np.cross(v, p) * (2 / np.sum(a * a, axis=-1, keepdims=True))
    moved: Floats = p + w * t + np.cross(v, t)
    return moved


def exponential(w: Floats) -> Floats:
    """The quaternion of a turn by the vector w, rad."""
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * w * np.sinc(half / np.pi)], axis=-1)


def logarithm(a: Floats) -> Floats:
    """The vector of the shorter turn of a quaternion, rad."""
    near = unit(a) * np.where(a[..., :1] < 0, -1.0, 1.0)
    length = np.linalg.norm(near[..., 1:], axis=-1, keepdims=True)
    half = np.arctan2(length, near[..., :1])
    turn: Floats = 2 * near[..., 1:] / np.sinc(half / np.pi)
    return turn


def _swept(w: Floats, v: Floats) -> Floats:
    """Where a point goes in one second that moves with velocity v in axes that turn with w."""
    angle = np.linalg.norm(w, axis=-1, keepdims=True)
    across = 0.5 * np.sinc(0.5 * angle / np.pi) ** 2  # (1 - cos a) / a^2
    safe = np.where(angle < 0.05, 1.0, angle)
    series = 1 / 6 - angle**2 / 120 + angle**4 / 5040 - angle**6 / 362880
    twice = np.where(angle < 0.05, series, (safe - np.sin(safe)) / safe**3)
    first = np.cross(w, v)
    moved: Floats = v + across * first + twice * np.cross(w, first)
    return moved


def _unswept(w: Floats, p: Floats) -> Floats:
    """The velocity whose `_swept` is p."""
    half = 0.5 * np.linalg.norm(w, axis=-1, keepdims=True)
    safe = np.where(half < 0.05, 1.0, half)
    series = 1 / 12 + half**2 / 180 + half**4 / 1890 + half**6 / 18900
    factor = np.where(half < 0.05, series, (1 - safe / np.tan(safe)) / (4 * safe**2))
    first = np.cross(w, p)
    velocity: Floats = p - 0.5 * first + factor * np.cross(w, first)
    return velocity


__all__ = ["PARTS", "POSITIONS", "Span", "expanded", "spans"]
