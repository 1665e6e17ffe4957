"""The same robot in frames that cost fewer operations.

A link's frame must have its z on the joint's axis; where along it the origin lies and where x points is free. The
modified Denavit-Hartenberg frame (Khalil sec. 3.2.2) puts the origin at the foot of the common normal to the axis of
the next joint, and x along that normal, so that a placement is a turn about x and a move along x and z: half of its
entries are zeros. A sliding joint has a direction only, no place: its frame goes where the next joint's is. On a
branch the child that carries most decides; the others keep general placements.

Nothing is rounded to the nearest right angle: what a file gives as 1.5708 stays 1.5708. Entries that rounding alone
keeps away from 0 or 1 become literals.
"""

from __future__ import annotations

import math
from dataclasses import replace

from armdyn.algebra import Z_AXIS, ZERO, Mat3, Pose, Scalar, Vec3, cross, ops, rot_z
from armdyn.errors import RobotError
from armdyn.robot.links import WORLD, Assembly, Frame, Link, Spin
from armdyn.robot.robot import Robot

PARALLEL = 1e-3
"""Sine of the angle between axes below which their common normal is not used: its foot runs off to infinity."""
ROUNDING = 1e-14
"""What a dozen products of rotations leave; a length is compared with the robot's size."""


def reframed(robot: Robot, *, level: bool = True) -> Robot:
    """The robot with its links in modified Denavit-Hartenberg frames: same torques, bodies, frames and tool.

    level: where axes are parallel, put the origin level with the next one; otherwise leave it where it is.
    Torques, energies and poses of named frames are the same; `links`, and standard parameters with them, are not.
    """
    if robot.has_symbols:
        raise RobotError(
            "a robot in symbols", where="reframed", expected="numbers", advice="Give its parameters values."
        )
    changes = _changes(robot, level)
    size = max((abs(float(x)) for link in robot.links for x in link.placement.p), default=0.0) or 1.0
    links = tuple(_moved(link, changes, size, _is_upright(link, robot)) for link in robot.links)
    back = [change.inverse() for change in changes]
    frames = {
        name: frame if frame.link == WORLD else Frame(frame.link, _tidy(back[frame.link] @ frame.pose, size))
        for name, frame in robot.frames.items()
    }
    spins = tuple(_turned(spin, back) for spin in robot.spins)
    return with_assembly(robot, Assembly(links, frames, spins))


def with_assembly(robot: Robot, assembly: Assembly) -> Robot:
    """A view of the robot whose links, frames and rotors are these. Robots derived from it assemble theirs anew."""
    view = replace(robot, expressions=None)
    view.__dict__["_assembly"] = assembly
    return view


def _changes(robot: Robot, level: bool) -> list[Pose]:
    """T_old_new of every link's frame: a turn about z, and a move along z (for a sliding joint: any move)."""
    children: dict[int, list[Link]] = {}
    carries = [1] * robot.n
    for link in robot.inward():
        children.setdefault(link.parent, []).append(link)
        if link.parent != WORLD:
            carries[link.parent] += carries[link.index]
    changes = [Pose.identity()] * robot.n
    for link in robot.inward():
        fixed = [child for child in children.get(link.index, []) if child.compound is None]
        beyond = sorted(fixed, key=lambda child: carries[child.index])
        if beyond:
            child = beyond[-1]
            point = child.placement.apply(changes[child.index].p)
            changes[link.index] = _towards(link, point, child.placement.R.column(2), level)
        else:
            changes[link.index] = Pose(Mat3.identity(), _at_the_end(link))
    return changes


def _towards(link: Link, point: Vec3, axis: Vec3, level: bool) -> Pose:
    """The frame of a link whose next joint has this axis through this point, both in the link's old frame."""
    normal = cross(Z_AXIS, axis)
    length = _length(normal)
    if length > PARALLEL:
        x = normal * (1 / length)
        height = cross(point, axis).dot(normal) / (length * length)
    else:
        height = point.z if level else 0
        across = Vec3(point.x, point.y, 0)
        distance = _length(across)
        x = across * (1 / distance) if link.revolute and distance > ROUNDING else Vec3(1, 0, 0)
    if float(x.x) < -ROUNDING or (abs(float(x.x)) <= ROUNDING and float(x.y) < 0):
        x = -x  # the nearer of the two directions: often no turn is left
    turn = math.atan2(float(x.y), float(x.x))
    origin = Vec3(0, 0, ops.tidy(float(height))) if link.revolute else point
    return Pose(rot_z(_tidy_angle(turn)), origin)


def _at_the_end(link: Link) -> Vec3:
    """Origin of a last link: the foot of the common normal with the joint before, or level with its origin."""
    if link.parent == WORLD or link.compound is not None:
        return ZERO
    back = link.placement.inverse()
    if not link.revolute:
        return Vec3(back.p.x, back.p.y, 0)
    axis = back.R.column(2)
    normal = cross(Z_AXIS, axis)
    length = _length(normal)
    height = back.p.z if length <= PARALLEL else cross(back.p, axis).dot(normal) / (length * length)
    return Vec3(0, 0, ops.tidy(float(height)))


def _moved(link: Link, changes: list[Pose], size: float, upright: bool) -> Link:
    """The link in its new frame. upright: gravity is along the axis of a joint on the base."""
    change = changes[link.index]
    before = Pose.identity() if link.parent == WORLD else changes[link.parent].inverse()
    inertia = link.inertia if change == Pose.identity() else link.inertia.seen_from(change.inverse())
    compound = link.compound and link.compound @ Pose(Mat3.identity() if link.revolute else change.R, change.p)
    if not link.revolute:
        placement = _tidy(before @ link.placement @ change, size)
        return replace(link, placement=placement, inertia=inertia, compound=compound)
    R, P = before @ link.placement @ Pose(Mat3.identity(), change.p)
    (c, _, _), (s, _, _), _ = change.R.rows
    offset = _tidy_angle(ops.add(link.offset, _tidy_angle(math.atan2(s, c))))
    # A turn about the joint's own axis may stand on either side of the joint: in the placement or in the offset.
    grounded = link.parent == WORLD
    turn = 0 if compound or (grounded and not upright) else offset if grounded else _turn_to_x(R)
    placement = _tidy(Pose(R @ rot_z(turn), P), size)
    offset = _tidy_angle(ops.sub(offset, turn))
    return replace(link, placement=placement, offset=offset, inertia=inertia, compound=compound)


def _turn_to_x(R: Mat3) -> Scalar:
    """The turn about z after which R is a turn about x; where there is none, a turn about z and then about x."""
    (xx, xy, xz), _, (zx, zy, _) = R.rows
    if abs(float(xz)) < ROUNDING:
        return _tidy_angle(math.atan2(xy, xx))
    return _tidy_angle(math.atan2(-zx, zy))


def _is_upright(link: Link, robot: Robot) -> bool:
    return all(abs(float(x)) < ROUNDING * 10 for x in cross(link.placement.R.column(2), robot.gravity))


def _turned(spin: Spin, back: list[Pose]) -> Spin:
    if spin.axis is None or spin.carrier == WORLD:
        return spin
    return replace(spin, axis=_tidy_direction(back[spin.carrier].R @ spin.axis))


# Rounding ----------------------------------------------------------------------------------------------------------


def _length(v: Vec3) -> float:
    return math.sqrt(float(v.dot(v)))


def _tidy(T: Pose, size: float) -> Pose:
    """The pose without rounding: zeros and ones are literals, and a turn about x has one cosine and one sine."""
    R = Mat3([[_tidy_entry(entry) for entry in row] for row in T.R.rows])
    if ops.is_zero(R.rows[0][1]) and ops.is_zero(R.rows[0][2]) and type(R.rows[0][0]) is int:
        sign, c, s = R.rows[0][0], R.rows[1][1], R.rows[2][1]
        R = Mat3(((sign, 0, 0), (0, c, -s if sign == 1 else s), (0, s, c if sign == 1 else -c)))
    return Pose(R, Vec3(*(0 if abs(float(x)) < ROUNDING * size else x for x in T.p)))


def _tidy_direction(v: Vec3) -> Vec3:
    return Vec3(*map(_tidy_entry, v))


def _tidy_entry(x: Scalar) -> Scalar:
    near = round(float(x))
    return near if abs(float(x) - near) < ROUNDING else x


def _tidy_angle(angle: Scalar) -> Scalar:
    """The angle, or the double that stands for a multiple of pi/2 where it is nearest to one."""
    quarters = round(float(angle) / (math.pi / 2))
    if abs(float(angle) - quarters * math.pi / 2) < ROUNDING:
        return quarters * math.pi / 2 if quarters else 0
    return angle


__all__ = ["reframed", "with_assembly"]
