"""DH tables of any robot: the same joints, bodies and zeros, in standard or modified Denavit-Hartenberg frames.

The frames are those of `armdyn.robot.reframing`. A modified row with the branch's gamma and b

    T = Rz(gamma) Tz(b) Rx(alpha) Tx(a) Rz(theta) Tz(d)                      Khalil, after Khalil and Kleinfinger

reaches any frame whose z is given, so that modified tables need nothing else, but for axes that are nearly parallel.
Standard rows follow from them: alpha and a of the next joint go to the row of this one. What a row cannot express, a
second branch or a base that does not stand on the first axis, is a frame of its own: a fixed joint before the row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from armdyn.algebra import CentralInertia, Mat3, Pose, Scalar, Vec3, rot_x, rot_z
from armdyn.errors import NotApplicable, unknown_name
from armdyn.robot.edit import numeric_placement
from armdyn.robot.links import WORLD, Frame, Link
from armdyn.robot.parts import Body, FreeTransform, Joint, Loop, ModifiedDH, Rotor, StandardDH
from armdyn.robot.reframing import PARALLEL, ROUNDING, reframed
from armdyn.robot.robot import Robot

Convention = Literal["standard", "modified"]
CONVENTIONS: tuple[Convention, ...] = ("modified", "standard")


def to_dh(robot: Robot, convention: Convention = "modified") -> Robot:
    """The robot in DH frames; see `Robot.to_dh`."""
    if convention not in CONVENTIONS:
        raise unknown_name("convention", convention, CONVENTIONS, where="Robot.to_dh")
    row = StandardDH if convention == "standard" else ModifiedDH
    if all(isinstance(joint.geometry, row) for joint in robot.movable):
        return robot
    robot = robot.bound()
    tree = robot.opened
    _require_single_joints(robot)
    view = reframed(tree.without("rotors", "coupling"))
    base = robot.base.pose().inverse()
    rows = [
        _row(replace(link, placement=base @ link.placement) if link.parent == WORLD else link) for link in view.links
    ]
    table = _Table(tree, view.links, view.frames, rows)
    made = table.modified() if convention == "modified" else table.standard()
    tool = made.frame("tool")
    result = replace(
        robot,
        tree=tuple(made.joints),
        loops=tuple(made.loop(loop) for loop in robot.loops),
        payloads=(),
        tool=numeric_placement(tool.pose),
        tool_on=made.body(tool.link),
        root=robot.root,
        parameters={},
        expressions=None,
        file=None,
    )
    laws = {joint.name: joint.mimic for joint in robot.tree}
    result = replace(result, tree=tuple(replace(joint, mimic=laws.get(joint.name)) for joint in result.tree))
    residual = _residual(tree, result.opened)
    note = f"{convention} DH frames made from general ones: the tool is within {residual:.1g} m of where it was"
    return replace(result, notes=(*robot.notes, note))


def _require_single_joints(robot: Robot) -> None:
    where = f"robot {robot.name!r}"
    if any(joint.compound for joint in robot.tree):
        raise NotApplicable(
            "free and ball joints have no DH row",
            where=where,
            expected="revolute, prismatic and fixed joints",
            advice='robot.without("free_joints") holds them.',
        )
    if any(joint.body.gravity_compensation for joint in robot.tree):
        raise NotApplicable(
            "gravity compensation acts on single bodies, which a DH table merges",
            where=where,
            expected="none",
            advice='robot.without("gravity_compensation") leaves it out.',
        )


# Rows ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """The six numbers of a modified row; extra: a constant pose before it, for what they cannot express."""

    gamma: float = 0.0
    b: float = 0.0
    alpha: float = 0.0
    a: float = 0.0
    theta: float = 0.0
    d: float = 0.0
    extra: Pose | None = None

    @property
    def branch(self) -> Pose:
        """Up to the foot of the common normal."""
        turn = Pose(rot_z(self.gamma), Vec3(0, 0, self.b))
        return turn if self.extra is None else self.extra @ turn

    @property
    def across(self) -> Pose:
        """Along the common normal: Rx(alpha) Tx(a)."""
        return Pose(rot_x(self.alpha), Vec3(self.a, 0, 0))

    @property
    def plain(self) -> bool:
        return self.extra is None and not self.gamma and not self.b


def _row(link: Link) -> _Row:
    """The row of a link from its pose at q = 0."""
    R, p = link.pose(0)
    zx, zy, zz = (float(x) for x in R.column(2))
    x, y, z = (float(x) for x in p)
    sine = math.hypot(zx, zy)
    if ROUNDING < sine < PARALLEL:  # the common normal is far away: d and b would cancel to lose all digits
        (c, _, _), (s, _, _), _ = rot_z(link.offset).rows if link.revolute else Mat3.identity().rows
        slide = 0.0 if link.revolute else float(link.offset)
        return _Row(theta=math.atan2(s, c), d=slide, extra=link.placement)
    if sine <= ROUNDING:
        gamma = math.atan2(y, x) if abs(y) > ROUNDING else 0.0
        a = math.hypot(x, y) if gamma else x
        alpha = 0.0 if zz > 0 else math.pi
        d, b = (z if zz > 0 else -z), 0.0
    else:
        gamma = 0.0 if abs(zx) <= ROUNDING else math.atan2(zx, -zy)
        alpha = math.atan2(-zy, zz) if not gamma else math.atan2(sine, zz)
        across = math.cos(gamma) * y - math.sin(gamma) * x
        a = math.cos(gamma) * x + math.sin(gamma) * y
        d = _tidy(-across / math.sin(alpha))
        b = _tidy(z - d * math.cos(alpha))
    inner = (rot_z(gamma) @ rot_x(alpha)).T @ R
    (c, _, _), (s, _, _), _ = inner.rows
    return _Row(gamma, b, alpha, _tidy(a), math.atan2(float(s), float(c)), d)


def _tidy(x: float) -> float:
    return 0.0 if abs(x) < ROUNDING else x


# Tables -------------------------------------------------------------------------------------------------------------


@dataclass
class _Made:
    """Joints of the new tree; where each link's new body frame is in its reframed one; frames of the old bodies."""

    joints: list[Joint]
    bodies: Mapping[int, str]
    moved: Mapping[int, Pose]
    frames: Mapping[str, Frame]

    def body(self, link: int) -> str:
        return self.bodies[link]

    def frame(self, name: str) -> Frame:
        """An old frame seen from the new body that carries it."""
        link, pose = self.frames[name]
        return Frame(link, self.moved[link].inverse() @ pose)

    def loop(self, loop: Loop) -> Loop:
        ends = [(self.frame(loop.first), loop.first_placement), (self.frame(loop.second), loop.second_placement)]
        (first, one), (second, two) = [
            (self.body(frame.link), numeric_placement(frame.pose @ placement.pose())) for frame, placement in ends
        ]
        return replace(loop, first=first, second=second, first_placement=one, second_placement=two)


@dataclass(frozen=True)
class _Table:
    tree: Robot
    links: tuple[Link, ...]
    frames: Mapping[str, Frame]
    rows: list[_Row]

    def modified(self) -> _Made:
        """One row per joint; the body frame is the joint's."""
        made = self.started({link.index: Pose.identity() for link in self.links})
        for link, row in zip(self.links, self.rows, strict=True):
            parent = made.bodies[link.parent]
            if row.extra is not None:
                parent = self.between(made, link, parent, row.extra)
            self.add(made, link, ModifiedDH(row.theta, row.d, row.a, row.alpha, row.gamma, row.b), parent)
        return made

    def standard(self) -> _Made:
        """The body frame stands on the axis of the first joint beyond that a plain row leads to."""
        next_row: dict[int, _Row] = {}
        leads: set[int] = set()
        for link, row in zip(self.links, self.rows, strict=True):
            if link.parent != WORLD and link.parent not in next_row and row.plain:
                next_row[link.parent] = row
                leads.add(link.index)
        beyond = {link.index: next_row.get(link.index, _Row()) for link in self.links}
        made = self.started({index: row.across for index, row in beyond.items()})
        for link, row in zip(self.links, self.rows, strict=True):
            parent, start = made.bodies[link.parent], row.branch @ row.across
            if link.index not in leads:
                start = start if link.parent == WORLD else beyond[link.parent].across.inverse() @ start
                if not _is_identity(start):
                    parent = self.between(made, link, parent, start)
            after = beyond[link.index]
            self.add(made, link, StandardDH(row.theta, row.d, after.a, after.alpha), parent)
        return made

    def started(self, moved: Mapping[int, Pose]) -> _Made:
        names = {joint.name: joint.body.name for joint in self.tree.tree}
        bodies = {WORLD: self.tree.root.name} | {link.index: names[link.name] for link in self.links}
        base = {WORLD: self.tree.base.pose()}  # frames of the world are seen from it, those of the root from the base
        return _Made([], bodies, {**base, **moved}, self.frames)

    def between(self, made: _Made, link: Link, parent: str, pose: Pose) -> str:
        """A frame of its own before the row of a link."""
        taken = {name for joint in (*self.tree.tree, *made.joints) for name in (joint.name, joint.body.name)}
        name = next(each for k in range(1, 99) if (each := f"{link.name}_axis{'' if k == 1 else k}") not in taken)
        made.joints.append(Joint(name, "fixed", FreeTransform(numeric_placement(pose)), parent, Body(name)))
        return name

    def add(self, made: _Made, link: Link, geometry: StandardDH | ModifiedDH, parent: str) -> None:
        joint = self.tree.joint(link.name)
        inertia = link.inertia.seen_from(made.moved[link.index].inverse()).about_com()
        body = Body(joint.body.name, _without_rounding(inertia))
        rotor = joint.rotor and self.rotor(made, joint, joint.rotor)
        made.joints.append(replace(joint, geometry=geometry, parent=parent, body=body, rotor=rotor, notes=()))

    def rotor(self, made: _Made, joint: Joint, rotor: Rotor) -> Rotor:
        """The rotor on the new body that carries it."""
        if rotor.model != "full":
            return rotor
        carrier = made.frame(rotor.on or joint.parent)
        place, axis = carrier.pose.apply(rotor.position), carrier.pose.R @ rotor.axis
        return replace(rotor, position=place, axis=axis, on=made.body(carrier.link))


def _without_rounding(body: CentralInertia) -> CentralInertia:
    """Products of inertia and coordinates that only rounding keeps away from zero become zero."""
    least = ROUNDING * max(abs(float(x)) for x in body.tensor.upper())
    tensor = Mat3.symmetric(*(0 if abs(float(x)) <= least else x for x in body.tensor.upper()))
    return replace(body, com=Vec3(*(0 if abs(float(x)) <= ROUNDING else x for x in body.com)), tensor=tensor)


def _is_identity(pose: Pose) -> bool:
    entries = [
        *pose.p,
        *(x - y for rows in zip(pose.R.rows, Mat3.identity().rows, strict=True) for x, y in zip(*rows, strict=True)),
    ]
    return all(abs(float(x)) <= ROUNDING for x in entries)


def _residual(robot: Robot, made: Robot) -> float:
    """Largest distance between the two tools at the zero position and at five random ones, m."""
    draws = np.random.default_rng(0).uniform(-1, 1, (5, len(robot.links)))
    return max(_apart(robot, made, [float(x) for x in q]) for q in (np.zeros(len(robot.links)), *draws))


def _apart(robot: Robot, made: Robot, q: list[float]) -> float:
    one, two = (_tool(each, q).p for each in (robot, made))
    return math.sqrt(float((one - two).dot(one - two)))


def _tool(robot: Robot, q: list[Scalar]) -> Pose:
    frame = robot.frame("tool")
    pose = Pose.identity()
    for index in robot.path(frame.link):
        pose = pose @ robot.links[index].pose(q[index])
    return pose @ frame.pose


__all__ = ["CONVENTIONS", "Convention", "to_dh"]
