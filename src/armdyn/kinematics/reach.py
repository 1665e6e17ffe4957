"""Reach of a robot: how far its tool gets from its base."""

from __future__ import annotations

import numpy as np

from armdyn.algebra import Vec3
from armdyn.dynamics import compile as compiled
from armdyn.kinematics.closable import pulled_in
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.robot.features import CLOSED, FRICTIONLESS, takes
from armdyn.robot.limits import working_range
from armdyn.robot.robot import Robot
from armdyn.typing import Array

STARTS, FIRST_ROUNDS, KEPT, ROUNDS = 48, 16, 4, 400
"""Positions from which the search starts; rounds over all joints after which the KEPT best go on; most rounds."""
CLOSED_SAMPLES, CLOSED_ROUNDS = 1000, 14
"""Configurations of a closed chain in each round, in a range half as wide as that of the round before."""
SETTLED = 1e-13
"""Relative growth of the distance in one round below which a search has ended."""


@takes("elastic", *CLOSED, *FRICTIONLESS)
def reach(robot: Robot, frame: str = "tool") -> float:
    """Return the largest distance of a frame's origin from the robot's base over the working ranges, m.

    The distance is maximised joint by joint, from the tool to the base, until it no longer grows. In one joint the
    maximum is known: a revolute joint turns the frame to the side of its axis that is opposite to the base, or as far
    towards it as its range allows; a prismatic joint goes to an end of its range, as the squared distance is a convex
    parabola. The search starts from the middle of the ranges and from STARTS - 1 positions drawn with a fixed seed,
    so the result is always the same.

    Joints of a closed chain do not move independently: the distance is the largest of random closed configurations,
    then of ones near the best, drawn with a fixed seed; it is approached from below.

    frame:  name of a body or joint, or "tool".
    """
    if robot.constrained:
        return _closed_reach(robot, frame)
    low, high = working_range(robot)
    q = low + (high - low) * np.random.default_rng(0).random((STARTS, robot.n))
    q[0] = (low + high) / 2
    base = np.array([float(x) for x in robot.base.xyz])
    before = np.zeros(STARTS)
    for count in range(ROUNDS):
        distance = _extended(robot, frame, q, base, low, high)
        if (distance <= before * (1 + SETTLED)).all():
            break
        before = distance
        if count == FIRST_ROUNDS:
            best = np.argsort(-distance, kind="stable")[:KEPT]
            q, before = q[best], distance[best]
    return float(before.max(initial=0.0))


def _closed_reach(robot: Robot, frame: str) -> float:
    dyn, (low, high), draws = compiled(robot), working_range(robot), np.random.default_rng(0)
    base = np.array([float(x) for x in robot.base.xyz])
    best, where, width = 0.0, (low + high) / 2, high - low
    for _ in range(CLOSED_ROUNDS):
        q = np.clip(where + width * draws.uniform(-1, 1, (CLOSED_SAMPLES, robot.n)), low, high)
        q = pulled_in(dyn, q)
        distance = np.linalg.norm(dyn.pose(q, frame=frame)[:, :3, 3] - base, axis=-1)
        if distance.max() > best:
            best, where = float(distance.max()), q[distance.argmax()]
        width = width / 2
    return best


def _extended(robot: Robot, frame: str, q: Array, base: Array, low: Array, high: Array) -> Array:
    """Move q (k, n) one round outwards, in place; return the distances (k,) reached.

    Joints are moved from the last to the first: the axes of those that are still to move stay where they are.
    """
    place = robot.frame(frame)
    poses = link_poses(robot, list(q.T))
    p = _rows(frame_pose(poses, place).p, len(q))
    for j in reversed(robot.path(place.link)):
        z, origin = _rows(poses[j].R.column(2), len(q)), _rows(poses[j].p, len(q))
        if robot.links[j].revolute:
            turn = _outward_turn(p - origin, base - origin, z)
            new = _nearest_angle(q[:, j] + turn, low[j], high[j], q[:, j])
            p = origin + _turned(p - origin, z, new - q[:, j])
        else:
            along = ((p - base) * z).sum(axis=-1)
            ends = np.array([low[j], high[j]])
            new = ends[np.abs(along[:, None] + ends - q[:, j, None]).argmax(axis=-1)]
            p = p + z * (new - q[:, j])[:, None]
        q[:, j] = new
    return np.asarray(np.linalg.norm(p - base, axis=-1))


def _outward_turn(arm: Array, base: Array, z: Array) -> Array:
    """Return the angles (k,) about z that turn the arm to the side of the axis opposite to the base.

    arm, base: (k, 3) from the joint's origin to the frame and to the base. z: (k, 3) unit vectors.
    """
    away = (base * z).sum(axis=-1, keepdims=True) * z - base
    sine = (z * np.cross(arm, away)).sum(axis=-1)
    return np.asarray(np.arctan2(sine, (arm * away).sum(axis=-1)))


def _turned(v: Array, z: Array, angle: Array) -> Array:
    """Return v (k, 3) rotated about the unit vectors z by the angles (k,) (Rodrigues)."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    turned: Array = c * v + s * np.cross(z, v) + (1 - c) * (v * z).sum(axis=-1, keepdims=True) * z
    return turned


def _nearest_angle(wanted: Array, low: float, high: float, now: Array) -> Array:
    """Return angles (k,) in [low, high]: the wanted ones, with the whole turns nearest to `now`, or the closer end."""
    first, last = np.ceil((low - wanted) / (2 * np.pi)), np.floor((high - wanted) / (2 * np.pi))
    turns = np.clip(np.round((now - wanted) / (2 * np.pi)), first, last)
    end = np.where(np.cos(low - wanted) > np.cos(high - wanted), low, high)
    return np.where(first <= last, wanted + 2 * np.pi * turns, end)


def _rows(v: Vec3, count: int) -> Array:
    """Return a vector of scalars or arrays (k,) as (k, 3)."""
    return np.stack([np.broadcast_to(np.asarray(x, dtype=float), (count,)) for x in v], axis=-1)
