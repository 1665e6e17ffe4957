"""The closed form of an arm's inverse kinematics: recognised once, evaluated over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from armdyn.algebra import Mat3, Pose, Vec3, ops
from armdyn.algebra.ops import Scalar
from armdyn.kinematics.decompositions import POSITIONS, Branch, planar_arm, prismatic_arm
from armdyn.kinematics.recognise import (
    EXACT,
    LITERAL,
    Lines,
    Match,
    branches,
    chain_of,
    completed,
    lines_of,
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
class ClosedForm:
    """The closed form of an arm.

    family:   which arms have it, in words.
    solve:    from the wanted pose of the frame in the world and the angles (or positions) that free joints keep, to the
              branches, in the order of the robot's joints; those of the known joint are what was given.
    rotation: whether the pose needs a rotation; else its position suffices.
    known:    the joint that is given (arms with seven joints), or None.
    off:      how far the arm is from its family, rad or share of its size: beyond rounding, results need improvement.
    conic:    whether an angle is found where a conic meets a circle: near double solutions results need improvement.
    virtual:  number of joints that the arm lacks; the pose must be one that it can take.
    """

    family: str
    solve: Callable[[Pose, Sequence[Angle | Scalar]], Iterator[Branch]]
    rotation: bool = True
    known: int | None = None
    off: float = 0.0
    virtual: int = 0
    conic: bool = False

    @property
    def exact(self) -> bool:
        """Whether results are exact to rounding everywhere; those of conics are not at double solutions."""
        return self.off < EXACT and not self.conic


@dataclass(frozen=True, eq=False)
class Geometry:
    """Axes of a serial arm at q = 0 in the frame of its first axis.

    base: of that frame in the world. tool: of the wanted frame in it. lines: axes in numbers.
    """

    revolute: tuple[bool, ...]
    base: Pose
    tool: Pose
    lines: Lines

    def motion(self, wanted: Pose) -> Pose:
        """Return the motion X from the pose at q = 0 to the wanted one."""
        return (self.base.inverse() @ wanted) @ self.tool.inverse()


def geometry_of(robot: Robot, frame: str = "tool") -> Geometry | None:
    """Return the axes of a serial arm; None for other robots."""
    where = robot.frame(frame)
    if robot.n == 0 or robot.nq != robot.n or robot.constrained or robot.path(where.link) != list(range(robot.n)):
        return None
    poses = link_poses(robot, [0.0] * robot.n)
    base = _tidy_pose(poses[0])
    tool = _tidy_pose(base.inverse() @ frame_pose(poses, where))
    local = [(base.inverse() @ pose) for pose in poses]
    h = [np.asarray(pose.R.column(2).array(), dtype=float) for pose in local]
    p = [np.asarray(pose.p.array(), dtype=float) for pose in local]
    return Geometry(tuple(link.revolute for link in robot.links), base, tool, lines_of(h, p))


def _tidy_pose(pose: Pose) -> Pose:
    array = np.asarray(pose.array(), dtype=float)
    return Pose(Mat3([tuple(tidy(row)) for row in array[:3, :3]]), tidy(array[:3, 3]))


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
    match = recognised(geometry.lines) if robot.n == 6 else None
    if match is not None:
        return ClosedForm(
            _words(match),
            lambda wanted, held: branches(match, geometry.motion(wanted), held),
            off=match.off,
            conic=match.family.conic,
        )
    return _completed(geometry) if robot.n < 6 else None


def _words(match: Match) -> str:
    return f"{match.family.name}, seen from the tool" if match.mirrored else match.family.name


def _redundant(geometry: Geometry) -> ClosedForm | None:
    """Seven revolute axes of which the last or the first is known: the other six have constant axes."""
    for known, rest in ((6, slice(0, 6)), (0, slice(1, 7))):
        lines = geometry.lines
        match = recognised(Lines(lines.h[rest], lines.p[rest], lines.size))
        if match is None:
            continue
        axis = Axis(tidy(lines.h[known]), tidy(lines.p[known]))

        def solve(
            wanted: Pose, held: Sequence[Angle], match: Match = match, known: int = known, axis: Axis = axis
        ) -> Iterator[Branch]:
            X, given = geometry.motion(wanted), held[known]
            turned = Mat3.columns(*(axis.turned(-given, e) for e in _UNITS))
            back = Pose(turned, axis.moved(-given, Vec3(0, 0, 0)))
            others = [each for k, each in enumerate(held) if k != known]
            for angles, exists in branches(match, X @ back if known else back @ X, others):
                yield Branch((*angles, given) if known else (given, *angles), exists)

        return ClosedForm(_words(match), solve, known=known, off=match.off, conic=match.family.conic)
    return None


_UNITS = (Vec3(1, 0, 0), Vec3(0, 1, 0), Vec3(0, 0, 1))


def _completed(geometry: Geometry) -> ClosedForm | None:
    """Fewer than six revolute axes, completed by virtual ones whose angles must be zero."""
    found = completed(geometry.lines)
    if found is None:
        return None
    match, real = found
    virtual = [k for k in range(6) if k not in real]

    def solve(wanted: Pose, held: Sequence[Angle]) -> Iterator[Branch]:
        own = iter(held)
        kept = [next(own) if k in real else Angle(1, 0) for k in range(6)]
        for angles, exists in branches(match, geometry.motion(wanted), kept):
            for k in virtual:
                angle = angles[k]
                off = angle.sin * angle.sin + (angle.cos - 1) * (angle.cos - 1)
                exists = both(exists, POSE_TOLERANCE * POSE_TOLERANCE - off)
            yield Branch(tuple(angles[k] for k in real), exists)

    return ClosedForm(
        f"{_words(match)}, {len(virtual)} joints of which are virtual",
        solve,
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
    name, lines, off = found
    arm, point, to_base = chain_of(lines), geometry.tool.p, geometry.base.inverse()

    def solve(wanted: Pose, held: Sequence[Angle]) -> Iterator[Branch]:
        return POSITIONS[name](arm.axes, point, to_base.apply(wanted.p), held, arm.size)

    return ClosedForm(f"position by three axes, {name}", solve, rotation=False, off=off, conic=name == "skew")


def planar_form(geometry: Geometry, rotation: bool) -> ClosedForm | None:
    """Axes that are all parallel: two or three revolute, any number prismatic (SCARA, planar arms)."""
    h, turning = geometry.lines.h, [k for k, is_revolute in enumerate(geometry.revolute) if is_revolute]
    if len(turning) not in (2, 3) or np.abs(np.cross(h, h[turning[0]])).max() > LITERAL:
        return None
    if len(turning) == 3 and not rotation:
        return None
    arm = chain_of(geometry.lines)

    def solve(wanted: Pose, held: Sequence[Angle | Scalar]) -> Iterator[Branch]:
        X = geometry.motion(wanted) if rotation else None
        point = geometry.tool.p
        end = X.apply(point) if X else geometry.base.inverse().apply(wanted.p)
        return planar_arm(arm, geometry.revolute, X, point, end, held, POSE_TOLERANCE)

    sliding = len(h) - len(turning)
    words = f"{len(turning)} parallel revolute axes" + (f" and {sliding} prismatic" if sliding else "")
    return ClosedForm(words, solve, rotation=len(turning) == 3)


def prismatic_form(geometry: Geometry, rotation: bool) -> ClosedForm | None:
    """Prismatic joints alone, in independent directions."""
    G = geometry.lines.h.T
    if any(geometry.revolute) or np.linalg.matrix_rank(G) < G.shape[1]:
        return None
    inverse = [tidy(row) for row in np.linalg.pinv(G)]
    columns = [tidy(column) for column in G.T]

    def solve(wanted: Pose, held: Sequence[Scalar]) -> Iterator[Branch]:
        local = geometry.base.inverse()
        end = local.apply(wanted.p) - geometry.tool.p
        R = geometry.motion(wanted).R if rotation else None
        return prismatic_arm(inverse, columns, R, end, POSE_TOLERANCE)

    return ClosedForm("prismatic joints", solve, rotation=False)


def held_angles(revolute: Sequence[bool], q: Held) -> list[Angle | Scalar]:
    """Return joint positions as angles, or as they are for prismatic joints."""
    return [Angle(ops.cos(x), ops.sin(x)) if turning else x for turning, x in zip(revolute, q, strict=True)]
