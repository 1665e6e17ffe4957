"""The closed form of an arm's inverse kinematics: recognised once, evaluated over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3, ops
from armdyn.algebra.ops import Scalar
from armdyn.errors import NotApplicable
from armdyn.kinematics.decompositions import POSITIONS, Branch, Kind, planar_arm, prismatic_arm
from armdyn.kinematics.recognise import (
    EXACT,
    LITERAL,
    Lines,
    Match,
    branches,
    completed,
    lines_of,
    placed,
    recognised,
    recognised_position,
    tidy,
)
from armdyn.kinematics.subproblems import Angle, Axis, both
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.robot.robot import Robot

POSE_TOLERANCE = 1e-10
"""Error, m and rad, up to which an arm with fewer joints than the pose has components takes the pose."""

Held = Sequence[Scalar]
"""Joint positions that free joints keep."""


@dataclass(frozen=True, eq=False)
class Geometry:
    """Axes of a serial arm at q = 0 in the frame of its first axis, over any scalar.

    across: unit vectors across the axes. base: pose of that frame in the world. tool: of the wanted frame in it.
    """

    revolute: tuple[bool, ...]
    axes: tuple[Axis, ...]
    across: tuple[Vec3, ...]
    base: Pose
    tool: Pose

    def motion(self, wanted: Pose) -> Pose:
        """Return the motion X from the pose at q = 0 to the wanted one."""
        return (self.base.inverse() @ wanted) @ self.tool.inverse()

    @cached_property
    def lines(self) -> Lines:
        """The axes of an arm in numbers."""
        h, p = ([list(getattr(axis, name)) for axis in self.axes] for name in "hp")
        return lines_of(np.array(h, dtype=float), np.array(p, dtype=float))


Steps = Callable[[Geometry, Pose, Sequence[Any]], Iterator[Branch]]
"""From the arm, the wanted pose and the angles (or positions) that free joints keep, to the branches."""


@dataclass(frozen=True, eq=False)
class ClosedForm:
    """The closed form of an arm.

    family:   which arms have it, in words.
    geometry: the arm.
    steps:    the solution, over any scalar.
    rotation: whether the pose needs a rotation; else its position suffices.
    known:    the joint that is given (arms with seven joints), or None.
    off:      how far the arm is from its family, rad or share of its size: beyond rounding, results need improvement.
    conic:    whether an angle is found where a conic meets a circle: near double solutions results need improvement.
    virtual:  number of joints that the arm lacks; the pose must be one that it can take.
    """

    family: str
    geometry: Geometry
    steps: Steps
    rotation: bool = True
    known: int | None = None
    off: float = 0.0
    virtual: int = 0
    conic: bool = False

    @property
    def exact(self) -> bool:
        """Whether results are exact to rounding everywhere; those of conics are not at double solutions."""
        return self.off < EXACT and not self.conic

    def solve(self, wanted: Pose, held: Sequence[Angle | Scalar], geometry: Geometry | None = None) -> Iterator[Branch]:
        """Return the branches, in the order of the robot's joints; those of the known joint are what was given.

        wanted: pose of the frame in the world. held: what free joints keep. geometry: the arm over another scalar.
        """
        return self.steps(geometry or self.geometry, wanted, held)


def geometry_of(robot: Robot, frame: str = "tool") -> Geometry | None:
    """Return the axes of a serial arm, in the scalars of the robot; None for other robots."""
    if robot.constrained or robot.n == 0 or robot.nq != robot.n:
        return None
    where = robot.frame(frame)
    if robot.path(where.link) != list(range(robot.n)):
        return None
    poses = link_poses(robot, [0] * robot.n)
    to_base = poses[0].inverse()
    local = [_tidy_pose(to_base @ pose) for pose in poses]
    return Geometry(
        tuple(link.revolute for link in robot.links),
        tuple(Axis(pose.R.column(2), pose.p) for pose in local),
        tuple(pose.R.column(0) for pose in local),
        _tidy_pose(poses[0]),
        _tidy_pose(to_base @ frame_pose(poses, where)),
    )


def _tidy_pose(pose: Pose) -> Pose:
    return Pose(Mat3([tuple(tidy(row)) for row in pose.R.rows]), tidy(pose.p))


@lru_cache(maxsize=64)
def closed_form(robot: Robot, frame: str = "tool", rotation: bool = True) -> ClosedForm | None:
    """Return the closed form of an arm, or None if none is known here.

    rotation: of the pose; False: of its position, with any rotation.
    """
    geometry = geometry_of(robot, frame)
    if geometry is None:
        return None
    made = planar_form(geometry, rotation) or prismatic_form(geometry, rotation)
    if made is not None or not all(geometry.revolute):
        return made
    if not rotation:
        return position_form(geometry)
    if robot.n == 7:
        return _redundant(geometry)
    if robot.n < 6:
        return _completed(geometry)
    match = recognised(geometry.lines) if robot.n == 6 else None
    return None if match is None else _of_family(match, geometry, slice(0, 6))


def _of_family(match: Match, geometry: Geometry, six: slice, known: int | None = None) -> ClosedForm:
    """The closed form of six revolute axes; with seven, of which one is known, the other six have constant places."""
    lines = _part(geometry.lines, six)

    def steps(arm: Geometry, wanted: Pose, held: Sequence[Any]) -> Iterator[Branch]:
        X = arm.motion(wanted)
        if known is not None:
            axis, given = arm.axes[known], held[known]
            turned = Mat3.columns(*(axis.turned(-given, e) for e in _UNITS))
            back = Pose(turned, axis.moved(-given, Vec3(0, 0, 0)))
            X = X @ back if known else back @ X
        chain = placed(arm.axes[six], arm.across[six], lines, match.family, mirrored=match.mirrored)
        for angles, exists in branches(match, X, held[six], chain):
            yield Branch(angles if known is None else (*angles, given) if known else (given, *angles), exists)

    return ClosedForm(_words(match), geometry, steps, known=known, off=match.off, conic=match.family.conic)


def _part(lines: Lines, part: slice) -> Lines:
    return Lines(lines.h[part], lines.p[part], lines.size)


def _words(match: Match) -> str:
    return f"{match.family.name}, seen from the tool" if match.mirrored else match.family.name


def _redundant(geometry: Geometry) -> ClosedForm | None:
    """Seven revolute axes of which the last or the first is known."""
    for known, six in ((6, slice(0, 6)), (0, slice(1, 7))):
        match = recognised(_part(geometry.lines, six))
        if match is not None:
            return _of_family(match, geometry, six, known)
    return None


_UNITS = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))


def _completed(geometry: Geometry) -> ClosedForm | None:
    """Fewer than six revolute axes, completed by virtual ones whose angles must be zero."""
    found = completed(geometry.lines)
    if found is None:
        return None
    match, real = found
    virtual = [k for k in range(6) if k not in real]

    def steps(arm: Geometry, wanted: Pose, held: Sequence[Any]) -> Iterator[Branch]:
        own = iter(held)
        kept = [next(own) if k in real else Angle(1, 0) for k in range(6)]
        for angles, exists in branches(match, arm.motion(wanted), kept):
            for k in virtual:
                angle = angles[k]
                off = angle.sin * angle.sin + (angle.cos - 1) * (angle.cos - 1)
                exists = both(exists, POSE_TOLERANCE * POSE_TOLERANCE - off)
            yield Branch(tuple(angles[k] for k in real), exists)

    return ClosedForm(
        f"{_words(match)}, {len(virtual)} joints of which are virtual",
        geometry,
        steps,
        off=match.off,
        virtual=len(virtual),
        conic=match.family.conic,
    )


def position_form(geometry: Geometry) -> ClosedForm | None:
    """Three revolute axes that put a point somewhere, with any rotation."""
    h = geometry.lines.h
    if len(h) != 3 or np.abs(np.cross(h, h[0])).max() < LITERAL:  # in a plane, two would be enough
        return None
    found = recognised_position(geometry.lines)
    if found is None:
        return None
    name, kind, off = found

    def steps(arm: Geometry, wanted: Pose, held: Sequence[Any]) -> Iterator[Branch]:
        chain = placed(arm.axes, arm.across, geometry.lines, kind)
        return POSITIONS[name](chain.axes, arm.tool.p, arm.base.inverse().apply(wanted.p), held, chain.size)

    words = f"position by three axes, {name}"
    return ClosedForm(words, geometry, steps, rotation=False, off=off, conic=name == "skew")


def planar_form(geometry: Geometry, rotation: bool) -> ClosedForm | None:
    """Axes that are all parallel: two or three revolute, any number prismatic (SCARA, planar arms)."""
    h, turning = geometry.lines.h, [k for k, is_revolute in enumerate(geometry.revolute) if is_revolute]
    if len(turning) not in (2, 3) or np.abs(np.cross(h, h[turning[0]])).max() > LITERAL:
        return None
    if len(turning) == 3 and not rotation:
        return None
    kind = Kind((tuple(range(1, len(h) + 1)),), ())

    def steps(arm: Geometry, wanted: Pose, held: Sequence[Any]) -> Iterator[Branch]:
        chain = placed(arm.axes, arm.across, geometry.lines, kind)
        X = arm.motion(wanted) if rotation else None
        end = X.apply(arm.tool.p) if X else arm.base.inverse().apply(wanted.p)
        return planar_arm(chain, arm.revolute, X, arm.tool.p, end, held, POSE_TOLERANCE)

    sliding = len(h) - len(turning)
    words = f"{len(turning)} parallel revolute axes" + (f" and {sliding} prismatic" if sliding else "")
    return ClosedForm(words, geometry, steps, rotation=len(turning) == 3)


def prismatic_form(geometry: Geometry, rotation: bool) -> ClosedForm | None:
    """Prismatic joints alone, in independent directions."""
    G = geometry.lines.h.T
    if any(geometry.revolute) or np.linalg.matrix_rank(G) < G.shape[1]:
        return None
    inverse = [tidy(row) for row in np.linalg.pinv(G)]

    def steps(arm: Geometry, wanted: Pose, held: Sequence[Any]) -> Iterator[Branch]:
        end = arm.base.inverse().apply(wanted.p) - arm.tool.p
        R = arm.motion(wanted).R if rotation else None
        return prismatic_arm(inverse, [axis.h for axis in arm.axes], R, end, POSE_TOLERANCE)

    return ClosedForm("prismatic joints", geometry, steps, rotation=False)


def held_angles(revolute: Sequence[bool], q: Held) -> list[Angle | Scalar]:
    """Return joint positions as angles, or as they are for prismatic joints."""
    return [Angle(ops.cos(x), ops.sin(x)) if turning else x for turning, x in zip(revolute, q, strict=True)]


def no_closed_form(robot: Robot, frame: str = "tool") -> NotApplicable:
    """Return the error that says which arms have a closed form."""
    where = f"robot {robot.name!r}"
    if closed_form(robot, frame) is not None:
        return NotApplicable("a closed form for a part of the pose", where=where, advice="Use method='numeric'.")
    return NotApplicable(
        "no closed form of the inverse kinematics",
        where=where,
        expected="axes all parallel (two or three revolute), prismatic joints alone, or three to seven revolute joints "
        "with three neighbouring axes at an end of the arm through one point, or three neighbouring axes parallel",
        advice="Use method='numeric'.",
    )
