"""Motion of a frame past several poses: lines and rotations about fixed axes, with smooth blends. Khalil sec. 8.1

Segment i leads from pose i to pose i+1 at a constant velocity v_i and angular velocity w_i about the axis u_i. T_i are
the times that it would need from pose to pose, theta_k those at which the poses would be passed. With the ramp

    rho(t) = tau (2 s^3 - s^4) + max(t - tau, 0),    s = (t + tau)/(2 tau) within 0 and 1      [VP-1]

which turns rest into unit velocity between -tau and tau with a continuous acceleration,

    r_i(t) = rho_i(t - theta_i) - rho_{i+1}(t - theta_{i+1})                                    [VP-2]
    p(t) = p_0 + sum_i v_i r_i(t),    R(t) = R_0 prod_i rot(u_i, w_i r_i(t))                    [VP-3]

In a blend the rates of the two segments add up to one: velocities are never greater than those of the segments. The
acceleration reaches 3/4 |change of velocity| / tau, and the corner is missed by 3/16 tau |change of velocity|.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Unpack

import numpy as np

from armdyn.errors import ArmdynError, ShapeError
from armdyn.kinematics.rotations import rot, rotation_vector
from armdyn.trajectory.cartesian import PathTiming, Point, Rotation, TaskTrajectory, position_and_rotation
from armdyn.typing import Array

PEAK, CORNER = 3 / 4, 3 / 16
"""Largest acceleration of a blend, and its distance from the corner: see the module's text."""
ROUNDS = 100
"""Of slowing down segments whose blends are too strong; then the whole motion is slowed down."""
SAMPLES = 129
"""Of a blend, for its largest angular acceleration, which lies between two of them by less than MARGIN."""
MARGIN = 1.001


@dataclass(frozen=True, eq=False)
class PoseSequence:
    """Poses, the times T (m,) between them, and half the durations tau (m+1,) of the blends.

    steps: (m, 3) from position to position, m.
    turns: (m, 3) rotation vectors from orientation to orientation, in the axes of the earlier one, rad.
    """

    p0: Array
    R0: Array | None
    steps: Array
    turns: Array
    T: Array
    tau: Array

    @property
    def passed(self) -> Array:
        """(m+1,) times at which the poses would be passed, s."""
        return np.asarray(np.concatenate([[0.0], np.cumsum(self.T)]) + self.tau[0])

    @property
    def duration(self) -> float:
        return float(self.passed[-1] + self.tau[-1])

    @property
    def breaks(self) -> Array:
        ends = np.concatenate([self.passed - self.tau, self.passed + self.tau])
        return np.asarray(np.unique(np.clip(ends, 0.0, self.duration)))

    def progress(self, t: Array) -> tuple[Array, Array, Array]:
        """r_i/T_i and its two derivatives, (..., m) each."""
        x = t[..., None] - self.passed
        s = np.clip((x + self.tau) / (2 * self.tau), 0.0, 1.0)
        ramps = (
            self.tau * (2 - s) * s**3 + np.maximum(x - self.tau, 0.0),  # [VP-1]
            (3 - 2 * s) * s**2,
            3 * s * (1 - s) / self.tau,
        )
        r, rd, rdd = ((ramp[..., :-1] - ramp[..., 1:]) / self.T for ramp in ramps)  # [VP-2]
        return r, rd, rdd

    def position(self, t: Array) -> Point:
        r, rd, rdd = self.progress(t)
        return Point(self.p0 + r @ self.steps, rd @ self.steps, rdd @ self.steps)  # [VP-3]

    def rotation(self, t: Array) -> Rotation:
        """The segments' rotations one after the other; each axis is carried along by the rotations before it."""
        assert self.R0 is not None
        R = np.broadcast_to(self.R0, (*t.shape, 3, 3))
        w = wd = np.zeros((*t.shape, 3))
        for turn, r, rd, rdd in zip(self.turns, *(np.moveaxis(x, -1, 0) for x in self.progress(t)), strict=True):
            angle = float(np.linalg.norm(turn))
            if angle == 0:
                continue
            axis = R @ turn  # of length `angle`
            rate = rd[..., None] * axis
            wd = wd + rdd[..., None] * axis + np.cross(w, rate)
            w = w + rate
            R = R @ rot(turn / angle, r * angle)
        return Rotation(R, w, wd)


def via_poses(
    poses: Sequence[Any],
    *,
    blend: float = 1.0,
    corner: float | None = None,
    **timing: Unpack[PathTiming],
) -> TaskTrajectory:
    """Return a motion from the first pose to the last, past the others, with continuous acceleration.

    Between the blends the frame moves on straight lines and rotates about fixed axes by the smaller angle.

    Args:
        poses:  (4, 4) poses, or (3,) positions, m, with free orientation; at least two.
        blend:  share of the time between two poses that their blends may take, over 0 to 1 (default: all of it).
        corner: largest distance at which the positions are passed, m (default: what `blend` allows).
        timing: duration, or v_max, a_max, w_max, wd_max: see `PathTiming`.

    >>> path = via_poses([(0, 0, 0), (1, 0, 0), (1, 1, 0)], corner=0.01, v_max=1.0, a_max=10.0)
    >>> middle = path.pose(path.duration / 2)[:3, 3]
    >>> round(float(np.linalg.norm(middle - (1, 0, 0))), 6)
    0.01
    """
    if not 0 < blend <= 1:
        raise ArmdynError(f"blend = {blend}", where="via_poses", expected="a share over 0, at most 1")
    if corner is not None and not corner > 0:
        raise ArmdynError(
            f"corner = {corner}",
            where="via_poses",
            expected="a positive distance, m",
            advice="To stop at every pose, join motions with concatenate(line(...), ...).",
        )
    p0, R0, steps, turns = _segments(poses)
    limits = [timing.get("v_max"), timing.get("a_max"), timing.get("w_max"), timing.get("wd_max")]
    v_max, a_max, w_max, wd_max = map(_limit, ("v_max", "a_max", "w_max", "wd_max"), limits)
    T = _shortest_times(steps, turns, v_max, w_max, timing.get("duration"))
    course = PoseSequence(p0, R0, steps, turns, T, _blends(steps, T, blend, corner))
    for _ in range(ROUNDS):
        slower = _excess(course, a_max, wd_max)
        if (slower <= 1).all():
            break
        T = course.T * np.maximum(slower[:-1], slower[1:])
        course = replace(course, T=T, tau=_blends(steps, T, blend, corner))
    course = _slowed(course, max(1.0, float(_excess(course, a_max, wd_max).max())))
    duration = timing.get("duration")
    if duration is not None:
        limited = any(limit is not None for limit in limits)
        if limited and course.duration > duration * (1 + 1e-9):
            raise ArmdynError(
                f"a duration of {duration:.6g} s exceeds the limits",
                where="via_poses",
                expected=f"at least {course.duration:.6g} s",
            )
        course = _slowed(course, duration / course.duration)
    turn = None if R0 is None else course.rotation
    return TaskTrajectory(course.duration, course.position, turn, course.breaks)


def _segments(poses: Sequence[Any]) -> tuple[Array, Array | None, Array, Array]:
    """Start (p, R), and the steps and turns from pose to pose."""
    given = [position_and_rotation(pose) for pose in poses]
    if len(given) < 2 or len({R is None for _, R in given}) > 1:
        raise ShapeError(
            f"{len(given)} poses and positions",
            where="via_poses",
            expected="at least two poses (4, 4), or at least two positions (3,)",
        )
    positions = np.array([p for p, _ in given])
    steps, turns = np.diff(positions, axis=0), np.zeros((len(given) - 1, 3))
    rotations = [R for _, R in given if R is not None]
    if rotations:
        turns = np.array([rotation_vector(a.T @ b) for a, b in pairwise(rotations)])
    still = ~(steps.any(axis=1) | turns.any(axis=1))
    if still.any():
        k = int(still.argmax()) + 1
        raise ArmdynError(f"poses {k} and {k + 1} are the same", where="via_poses", advice="Leave one out.")
    return positions[0], rotations[0] if rotations else None, steps, turns


def _limit(name: str, limit: float | None) -> float:
    if limit is not None and not limit > 0:
        raise ArmdynError(f"{name} = {limit}", where="via_poses", expected="a positive number")
    return np.inf if limit is None else float(limit)


def _shortest_times(steps: Array, turns: Array, v_max: float, w_max: float, duration: float | None) -> Array:
    """Times of the segments at the velocity limits; without limits, shares of the duration by length and angle."""
    lengths, angles = np.linalg.norm(steps, axis=1), np.linalg.norm(turns, axis=1)
    if np.isinf(v_max) and np.isinf(w_max):
        if duration is None or not duration > 0:
            raise ArmdynError(
                f"duration = {duration} and no velocity limit",
                where="via_poses",
                expected="v_max or w_max, or a positive duration, s",
            )
        shares = [x / x.sum() for x in (lengths, angles) if x.any()]
        return np.asarray(duration * np.max(shares, axis=0))
    T = np.maximum(lengths / v_max, angles / w_max)
    if not T.all():
        k = int(T.argmin()) + 1
        missing = "w_max" if np.isinf(w_max) else "v_max"
        raise ArmdynError(f"no limit for the motion between poses {k} and {k + 1}", where="via_poses", expected=missing)
    return np.asarray(T)


def _blends(steps: Array, T: Array, blend: float, corner: float | None) -> Array:
    """Half the durations of the blends: no two overlap, and the corners are kept."""
    around = np.minimum(np.append(T, T[-1]), np.insert(T, 0, T[0]))
    tau = blend * around / 2
    if corner is not None and len(T) > 1:
        change = np.linalg.norm(np.diff(steps / T[:, None], axis=0), axis=1)
        with np.errstate(divide="ignore"):
            tau[1:-1] = np.minimum(tau[1:-1], corner / (CORNER * change))
    return np.asarray(tau)


def _excess(course: PoseSequence, a_max: float, wd_max: float) -> Array:
    """(m+1,) factors by which the times around the poses must be longer for the acceleration limits to hold."""
    velocities = np.pad(course.steps / course.T[:, None], ((1, 1), (0, 0)))
    linear = PEAK * np.linalg.norm(np.diff(velocities, axis=0), axis=1) / course.tau
    angular = np.zeros_like(linear)
    if np.isfinite(wd_max) and course.R0 is not None:
        t = course.passed + np.linspace(-1, 1, SAMPLES)[:, None] * course.tau
        angular = MARGIN * np.linalg.norm(course.rotation(t).wd, axis=-1).max(axis=0)
    excess = np.sqrt(np.maximum(linear / a_max, angular / wd_max))
    return np.asarray(np.where(excess > 1 + 1e-12, excess * (1 + 1e-9), 1.0))


def _slowed(course: PoseSequence, factor: float) -> PoseSequence:
    return replace(course, T=course.T * factor, tau=course.tau * factor)
