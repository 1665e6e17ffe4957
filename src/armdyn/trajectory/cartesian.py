"""Motion of a frame in space: lines, arcs, any curve. Khalil sec. 8.4"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np

from armdyn.errors import ArmdynError, ShapeError, unknown_name
from armdyn.kinematics.rotations import axis_angle, checked_pose, euler_zxz, rot
from armdyn.trajectory.joint import interpolation, profile_named
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array

ROTATIONS = ("axis", "euler", "fixed")
FRAMES = ("tool", "base")


class Point(NamedTuple):
    """A point's position and its derivatives, each (..., 3): with respect to time, or to a path's parameter."""

    p: Array
    v: Array
    a: Array


class Rotation(NamedTuple):
    """A rotation (..., 3, 3), its angular velocity and acceleration (..., 3), rad/s and rad/s^2, world axes."""

    R: Array
    w: Array
    wd: Array


class PathTiming(TypedDict, total=False):
    """Keyword arguments for the timing of a path; without a duration, the minimum time within the limits.

    duration: s.
    v_max:    velocity limit, m/s.
    a_max:    acceleration limit, m/s^2.
    w_max:    angular velocity limit, rad/s (of each Euler angle, for Euler angles).
    wd_max:   angular acceleration limit, rad/s^2.
    """

    duration: float | None
    v_max: float | None
    a_max: float | None
    w_max: float | None
    wd_max: float | None


@dataclass(frozen=True, eq=False, repr=False)
class TaskTrajectory:
    """A motion of a frame in the world from time 0 to `duration`.

    duration: s.
    position: function of times (k,) within [0, duration] that returns a Point.
    rotation: likewise a Rotation; None if the orientation is free.
    breaks:   times at which some derivative may jump, both ends included, s.
    """

    duration: float
    position: Callable[[Array], Point]
    rotation: Callable[[Array], Rotation] | None
    breaks: Array

    def pose(self, t: Any) -> Array:
        """(..., 4, 4) pose at times t; the rotation is the identity if the orientation is free. Khalil (8.52)"""
        at, _ = self._time(t)
        T = np.zeros((*at.shape, 4, 4))
        T[..., :3, :3] = np.eye(3) if self.rotation is None else self.rotation(at).R
        T[..., :3, 3] = self.position(at).p
        T[..., 3, 3] = 1
        return T

    def velocity(self, t: Any) -> Array:
        """(..., 6) linear and angular velocity, m/s and rad/s, world axes; zero outside [0, duration]."""
        return self._rates(t, 1)

    def acceleration(self, t: Any) -> Array:
        """(..., 6) linear and angular acceleration, m/s^2 and rad/s^2, world axes; zero outside [0, duration]."""
        return self._rates(t, 2)

    def _time(self, t: Any) -> tuple[Array, Array]:
        times = np.asarray(t, dtype=float)
        return np.clip(times, 0.0, self.duration), (times < 0) | (times > self.duration)

    def _rates(self, t: Any, order: int) -> Array:
        at, still = self._time(t)
        linear = self.position(at)[order]
        angular = np.zeros_like(linear) if self.rotation is None else self.rotation(at)[order]
        rates = np.concatenate([linear, np.broadcast_to(angular, linear.shape)], axis=-1)
        return np.where(still[..., None], 0.0, rates)

    def __repr__(self) -> str:
        return f"<TaskTrajectory: {'position' if self.rotation is None else 'pose'}, {self.duration:.6g} s>"


def in_sequence(parts: Sequence[TaskTrajectory], gap: float) -> TaskTrajectory:
    """Motions of a frame one after the other; where two meet, rates are those of the later one.

    parts: each starts at the pose where the one before it ends. gap: largest jump, m or entry of a rotation matrix.
    """
    if len({part.rotation is None for part in parts}) > 1:
        raise ArmdynError(
            "some parts have an orientation and others leave it free",
            where="concatenate",
            expected="poses in all parts, or positions in all",
        )
    for k, (first, second) in enumerate(pairwise(parts), 1):
        jump = float(np.abs(second.pose(0.0) - first.pose(first.duration)).max())
        if jump > gap:
            raise ArmdynError(
                f"the pose jumps by {jump:.3g} between parts {k} and {k + 1}",
                where="concatenate",
                expected="each part to start where the one before it ends",
                advice="Insert a `line` between them.",
            )
    starts = np.cumsum([0.0, *(part.duration for part in parts)])

    def at(t: Array, functions: Sequence[Callable[[Array], Any]]) -> list[Array]:
        piece = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(parts) - 1)
        every = [
            function(np.clip(t - start, 0, part.duration))
            for function, start, part in zip(functions, starts, parts, strict=False)
        ]
        rows = np.indices(piece.shape)
        return [np.stack([np.asarray(each[i]) for each in every])[(piece, *rows)] for i in range(3)]

    turns = [part.rotation for part in parts if part.rotation is not None]
    return TaskTrajectory(
        float(starts[-1]),
        lambda t: Point(*at(t, [part.position for part in parts])),
        (lambda t: Rotation(*at(t, turns))) if turns else None,
        np.unique(np.concatenate([start + part.breaks for start, part in zip(starts, parts, strict=False)])),
    )


# Rotations along a path -------------------------------------------------------------------------------------------


def _about_axis(R0: Array, u: Array, alpha: float, frame: str) -> Callable[[Array, Array, Array], Rotation]:
    """Rotation by r alpha about an axis fixed in the tool or in the base, as a function of r and its rates.

    Tool: R = R0 rot(u, r alpha), (8.54); base: R = rot(u, r alpha) R0, (8.56). Either way w is along one world axis:
    w = rd alpha R0 u or rd alpha u, (8.57).
    """
    axis = R0 @ u if frame == "tool" else u

    def turn(r: Array, rd: Array, rdd: Array) -> Rotation:
        turned = R0 @ rot(u, r * alpha) if frame == "tool" else rot(u, r * alpha) @ R0
        return Rotation(turned, (alpha * rd)[..., None] * axis, (alpha * rdd)[..., None] * axis)

    return turn


def _by_euler(start: Array, change: Array) -> Callable[[Array, Array, Array], Rotation]:
    """R = rot(z, phi) rot(x, theta) rot(z, psi), the angles linear in r. Khalil (8.55) without R^i: Khalil-5"""
    x, z = np.array([1.0, 0, 0]), np.array([0, 0, 1.0])

    def turn(r: Array, rd: Array, rdd: Array) -> Rotation:
        phi, theta, psi = (a + r * d for a, d in zip(start, change, strict=True))
        first = rot(z, phi)
        second = first @ rot(x, theta)
        axes = (np.broadcast_to(z, (*r.shape, 3)), first @ x, second @ z)
        w1, w2, w3 = ((d * rd)[..., None] * axis for d, axis in zip(change, axes, strict=True))
        wd = sum(((d * rdd)[..., None] * axis for d, axis in zip(change, axes, strict=True)), np.zeros(3))
        # An axis that the earlier rotations carry along rotates with them.
        wd = wd + np.cross(w1, w2) + np.cross(w1 + w2, w3)
        return Rotation(second @ rot(z, psi), w1 + w2 + w3, wd)

    return turn


def _euler_change(R0: Array, R1: Array) -> tuple[Array, Array]:
    """Euler angles at the start, and their change to the nearer of the two sets of angles at the end."""
    start, end = np.array(euler_zxz(R0)), np.array(euler_zxz(R1))
    if abs(math.sin(start[1])) < 1e-12 <= abs(math.sin(end[1])):  # phi and psi are free at the start: as at the end
        start = _shared(start, end)
    elif abs(math.sin(end[1])) < 1e-12:
        end = _shared(end, start)
    other = np.array([end[0] + math.pi, -end[1], end[2] + math.pi])
    changes = [(e - start + math.pi) % (2 * math.pi) - math.pi for e in (end, other)]
    return start, min(changes, key=lambda d: float(np.abs(d).sum()))


def _shared(free: Array, other: Array) -> Array:
    """Angles where only phi + psi (theta = 0) or phi - psi (theta = pi) is determined, with the other's phi."""
    total = free[0]  # psi = 0 was taken
    psi = total - other[0] if free[1] < 1 else other[0] - total
    return np.array([other[0], free[1], psi])


# Paths --------------------------------------------------------------------------------------------------------------


def line(
    start: Any,
    end: Any,
    profile: str = "trapezoid",
    *,
    rotation: Literal["axis", "euler", "fixed"] = "axis",
    axis: Any = None,
    angle: float | None = None,
    frame: Literal["tool", "base"] = "tool",
    **timing: Unpack[PathTiming],
) -> TaskTrajectory:
    """Return a straight line between two poses, with synchronised rotation. Khalil (8.48)-(8.57)

    Args:
        start:    (4, 4) pose, or (3,) position, m, with free orientation.
        end:      likewise.
        profile:  as in `point_to_point` (default: trapezoid).
        rotation: "axis" (default) about one fixed axis by the smaller angle; "euler": Euler angles z-x-z proportional
                  to the distance; "fixed": the orientation of `start`.
        axis:     (3,) with `angle`: rotate about this axis instead of to the orientation of `end`.
        angle:    of any size, rad.
        frame:    of the axis: "tool" at the start (default), or "base".
        timing:   duration, or v_max, a_max, w_max, wd_max: see `PathTiming`.
    """
    if rotation not in ROTATIONS:
        raise unknown_name("rotation", rotation, ROTATIONS)
    P0, R0 = position_and_rotation(start)
    P1, R1 = position_and_rotation(end)
    if (R0 is None) != (R1 is None) and np.asarray(end).shape != (3,):
        raise ShapeError("one end has a rotation, the other has none", expected="two poses or two positions")
    D = P1 - P0
    turn, angles = _rotation_along(R0, R1, rotation, axis, angle, frame)

    def place(r: Array) -> Point:  # Khalil (8.53)
        along = r[..., None] * D
        return Point(P0 + along, np.broadcast_to(D, along.shape), np.zeros_like(along))

    distances = np.array([np.linalg.norm(D), *angles])  # Khalil (8.48)
    return _timed(place, turn, distances, profile, timing)


def circle(
    start: Any,
    centre: Any,
    normal: Any,
    angle: float,
    profile: str = "trapezoid",
    *,
    rotation: Literal["carried", "fixed"] | Any = "carried",
    **timing: Unpack[PathTiming],
) -> TaskTrajectory:
    """Return an arc about an axis, right-handed.

    Args:
        start:    (4, 4) pose, or (3,) position, m, with free orientation.
        centre:   (3,) a point of the axis, m.
        normal:   (3,) direction of the axis.
        angle:    rad; 2 pi for a full circle.
        profile:  as in `point_to_point` (default: trapezoid).
        rotation: "carried" (default): the frame rotates with the arc; "fixed": it keeps its orientation; a (3, 3)
                  matrix: the orientation at the end, reached about one fixed axis.
        timing:   duration, or v_max, a_max, w_max, wd_max: see `PathTiming`. a_max bounds the acceleration along the
                  arc, not the centripetal v^2/radius.
    """
    P0, R0 = position_and_rotation(start)
    n = _unit("normal", normal)
    c = np.asarray(centre, dtype=float)
    arm = P0 - c
    radius = float(np.linalg.norm(arm - (arm @ n) * n))
    if radius == 0 or angle == 0 or not np.isfinite([*c, angle]).all():
        raise ArmdynError(
            f"an arc of radius {radius:.3g} m and {angle:.3g} rad",
            expected="a start off the axis, an angle other than 0",
        )

    def place(r: Array) -> Point:
        spoke = rot(n, r * angle) @ arm
        across = np.cross(n, spoke)
        return Point(c + spoke, angle * across, angle**2 * np.cross(n, across))

    turn: Callable[[Array, Array, Array], Rotation] | None = None
    angles: list[float] = []
    if R0 is not None and isinstance(rotation, str):
        if rotation not in ("carried", "fixed"):
            raise unknown_name("rotation", rotation, ("carried", "fixed"))
        amount = angle if rotation == "carried" else 0.0
        turn, angles = _about_axis(R0, n, amount, "base"), [abs(amount)]
    elif R0 is not None:
        R1 = checked_pose("rotation", _as_pose(rotation))[:3, :3]
        turn, angles = _rotation_along(R0, R1, "axis", None, None, "tool")
    distances = np.array([radius * abs(angle), *angles])
    return _timed(place, turn, distances, profile, timing)


def arc(start: Any, via: Any, end: Any, profile: str = "trapezoid", **timing: Unpack[PathTiming]) -> TaskTrajectory:
    """Return the circular arc from `start` through the point `via` to `end`.

    Args:
        start:   (4, 4) pose, or (3,) position, m, with free orientation.
        via:     (3,) position, or a pose of which the position is used.
        end:     (4, 4) pose, whose orientation is reached about one fixed axis, or (3,) position.
        profile: as in `point_to_point` (default: trapezoid).
        timing:  duration, or v_max, a_max, w_max, wd_max: see `PathTiming`.
    """
    (A, _), (C, R1) = position_and_rotation(start), position_and_rotation(end)
    B = np.asarray(via, dtype=float)[..., :3] if np.shape(via) != (4, 4) else np.asarray(via, dtype=float)[:3, 3]
    a, b = B - A, C - A
    normal = np.cross(a, b)
    area = float(normal @ normal)
    if area < 1e-18 * float(a @ a) * float(b @ b) or not a.any() or not b.any():
        raise ArmdynError("three points on a line", expected="points that determine a circle", advice="Use `line`.")
    centre = A + np.cross((a @ a) * b - (b @ b) * a, np.cross(a, b)) / (2 * area)
    n = normal / math.sqrt(area)
    x = A - centre
    y = np.cross(n, x)
    angle = math.atan2(float((C - centre) @ y), float((C - centre) @ x)) % (2 * math.pi)
    return circle(start, centre, n, angle, profile, rotation="carried" if R1 is None else R1, **timing)


def task_curve(
    duration: float,
    position: Callable[[Array], tuple[Any, Any, Any]],
    rotation: Any = None,
) -> TaskTrajectory:
    """Return any motion of a frame, such as El Baji (40).

    Args:
        duration: s.
        position: function of times (k,) that returns position, velocity and acceleration, (k, 3) each, m and s.
        rotation: likewise rotation (k, 3, 3), angular velocity and acceleration, (k, 3) each; or a constant (3, 3)
                  matrix; None (default): free orientation.
    """

    def place(t: Array) -> Point:
        return Point(*(np.asarray(x, dtype=float) for x in position(t)))

    if rotation is None or callable(rotation):
        turn = None if rotation is None else lambda t: Rotation(*(np.asarray(x, dtype=float) for x in rotation(t)))
    else:
        R = checked_pose("rotation", _as_pose(rotation))[:3, :3]

        def turn(t: Array) -> Rotation:
            still = np.zeros((*t.shape, 3))
            return Rotation(np.broadcast_to(R, (*t.shape, 3, 3)), still, still)

    return TaskTrajectory(float(duration), place, turn, np.array([0.0, duration]))


def _timed(
    place: Callable[[Array], Point],
    turn: Callable[[Array, Array, Array], Rotation] | None,
    distances: Array,
    profile: str,
    timing: PathTiming,
) -> TaskTrajectory:
    """A path with its timing: translation and angles are synchronised like joints. Khalil sec. 8.4"""
    angles = len(distances) - 1
    v_max = [timing.get("v_max"), *[timing.get("w_max")] * angles]
    a_max = [timing.get("a_max"), *[timing.get("wd_max")] * angles]
    r: Trajectory = interpolation(profile_named(profile), distances, v_max, a_max, timing.get("duration"))

    def rates(t: Array) -> tuple[Array, Array, Array]:
        return r(t)[..., 0], r(t, 1)[..., 0], r(t, 2)[..., 0]

    def position(t: Array) -> Point:
        s, sd, sdd = rates(t)
        p, dp, ddp = place(s)
        return Point(p, dp * sd[..., None], ddp * sd[..., None] ** 2 + dp * sdd[..., None])

    rotation = None if turn is None else (lambda t: turn(*rates(t)))
    return TaskTrajectory(r.duration, position, rotation, r.breaks)


def _rotation_along(
    R0: Array | None, R1: Array | None, rotation: str, axis: Any, angle: float | None, frame: str
) -> tuple[Callable[[Array, Array, Array], Rotation] | None, list[float]]:
    """The rotation along a path as a function of r, and the angles that it covers."""
    if frame not in FRAMES:
        raise unknown_name("frame", frame, FRAMES)
    if R0 is None:
        return None, []
    if (axis is None) != (angle is None):
        raise ArmdynError("only one of axis and angle given", expected="both or none")
    if angle is not None:
        return _about_axis(R0, _unit("axis", axis), float(angle), frame), [abs(float(angle))]
    if rotation == "fixed" or R1 is None:
        return _about_axis(R0, np.array([0.0, 0.0, 1.0]), 0.0, "tool"), [0.0]
    if rotation == "euler":
        start, change = _euler_change(R0, R1)
        return _by_euler(start, change), [abs(float(d)) for d in change]
    u, alpha = axis_angle(R0.T @ R1 if frame == "tool" else R1 @ R0.T)  # (8.49)-(8.51), (8.56)
    return _about_axis(R0, u, alpha, frame), [alpha]


def position_and_rotation(pose: Any) -> tuple[Array, Array | None]:
    """(p, R) of a pose, (p, None) of a position."""
    given = np.asarray(pose, dtype=float)
    if given.shape == (3,) and np.isfinite(given).all():
        return given, None
    if given.shape != (4, 4):
        raise ShapeError(f"shape {given.shape}", expected="a pose (4, 4) or a position (3,), finite")
    T = checked_pose("pose", given)
    return T[:3, 3], T[:3, :3]


def _as_pose(R: Any) -> Array:
    T = np.eye(4)
    given = np.asarray(R, dtype=float)
    if given.shape != (3, 3):
        raise ShapeError(f"rotation of shape {given.shape}", expected="(3, 3)")
    T[:3, :3] = given
    return T


def _unit(name: str, v: Any) -> Array:
    vector = np.asarray(v, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        raise ShapeError(f"{name} = {v}", expected="three finite numbers, not all zero")
    unit: Array = vector / np.linalg.norm(vector)
    return unit
