"""Clearance of a motion: a robot of capsules above a floor, and clear of itself.

The links are capsules about the lines from joint to joint and to the tool, all of one radius. Distances between them
are those of their lines (Ericson, Real-Time Collision Detection, sec. 5.1.9) less two radii; a line moves with its end
points, so that the slope of a distance d = |a + s (b - a) - c - t (d - c)| by the end points is a unit vector times
(1 - s), s, -(1 - t) and -t. Pairs of capsules that meet in a joint, or are nearer to each other along the arm than four
radii, are left out: their joints' limits keep them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.csgraph import shortest_path

from armdyn.dynamics.programs import program
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.graph import gradient, trace
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.robot import Robot
from armdyn.robot.limits import working_range
from armdyn.robot.links import WORLD
from armdyn.typing import Array

SLENDER = 0.05
"""Radius of the capsules over the length of the arm, if none is given."""
NEAR = 0.2
"""Distance, over the length of the arm, from which on a motion is kept away from what it may touch."""
BESIDE = 4.0
"""Distance along the arm, in radii, up to which two links are neighbours."""
DRAWN = 200
"""Random configurations that tell which points move up and down."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What a motion must keep clear of.

    floor: height of a horizontal plane in the world, m; up is against gravity (default None: no floor)
    radius: of the links, m (default: a twentieth of the arm's length)
    itself: links must not touch each other (default True)
    """

    floor: float | None = None
    radius: float | None = None
    itself: bool = True

    def __post_init__(self) -> None:
        if self.radius is not None and not self.radius > 0:
            raise ArmdynError(f"radius = {self.radius}", where="surroundings", expected="a positive length, m")


@dataclass(frozen=True, eq=False)
class Clearance:
    """Distances of a robot from its surroundings, as shares: 0 far away, 1 where it touches."""

    robot: Robot
    surroundings: Surroundings

    def __post_init__(self) -> None:
        if self.robot.constrained:
            raise NotApplicable(
                "clearance of a closed chain",
                where=f"robot {self.robot.name!r}",
                expected="a robot without loops",
                advice="Leave the surroundings out.",
            )

    # Capsules -------------------------------------------------------------------------------------------------------

    def _points(self, q: Any) -> list[Any]:
        """World coordinates, three each, of the base, of every joint and of the tool."""
        poses = link_poses(self.robot, q)
        base = self.robot.frame(self.robot.root.name).pose.p
        places = [base, *(pose.p for pose in poses), frame_pose(poses, self.robot.frame()).p]
        return [x for p in places for x in (p.x, p.y, p.z)]

    @cached_property
    def _kernel(self) -> Callable[..., Any]:
        return program(trace(self._points, {"q": self.robot.n}), "clearance_points", cache=True)

    @cached_property
    def _slopes(self) -> Callable[..., Any]:
        """Gradient by q of a weighted sum of the coordinates."""

        def weighted(q: Any, A: Any) -> Any:
            total: Any = 0
            for weight, x in zip(A, self._points(q), strict=True):
                total = total + weight * x
            return gradient(total, (q,))[0]

        count = 3 * (self.robot.n + 2)
        return program(trace(weighted, {"q": self.robot.n, "A": count}), "clearance_slopes", cache=True)

    def points(self, q: Array) -> Array:
        """(N, n + 2, 3) base, joints and tool in the world."""
        places: Array = np.asarray(self._kernel(np.ascontiguousarray(q))).reshape(len(q), -1, 3)
        return places

    @cached_property
    def capsules(self) -> Array:
        """(c, 2) end points: from the joint before, or the base, to every joint; from the last one to the tool."""
        joints = [(0 if link.parent == WORLD else link.parent + 1, link.index + 1) for link in self.robot.links]
        carrier = self.robot.frame().link
        return np.array([*joints, (0 if carrier == WORLD else carrier + 1, self.robot.n + 1)])

    @cached_property
    def _drawn(self) -> Array:
        low, high = working_range(self.robot)
        return self.points(np.random.default_rng(0).uniform(low, high, (DRAWN, self.robot.n)))

    @cached_property
    def _lengths(self) -> Array:
        a, b = self.capsules.T
        lengths: Array = np.linalg.norm(self._drawn[:, a] - self._drawn[:, b], axis=2).max(axis=0)
        return lengths

    @cached_property
    def _along(self) -> Array:
        """(n + 2, n + 2) distances between points along the arm."""
        count = self.robot.n + 2
        edges = np.full((count, count), np.inf)
        edges[tuple(self.capsules.T)] = np.maximum(self._lengths, 1e-6)  # 0 would mean: not connected
        distances: Array = np.asarray(shortest_path(np.minimum(edges, edges.T), directed=False))
        return distances

    @cached_property
    def radius(self) -> float:
        """Of the capsules, m."""
        return self.surroundings.radius or SLENDER * float(self._along[0].max())

    @cached_property
    def pairs(self) -> Array:
        """(k, 2) capsules that may touch."""
        found = [
            (i, j)
            for i in range(len(self.capsules))
            for j in range(i)
            if self._along[np.ix_(self.capsules[i], self.capsules[j])].min() > BESIDE * self.radius
        ]
        return np.array(found if self.surroundings.itself else [], dtype=int).reshape(-1, 2)

    @cached_property
    def up(self) -> Array:
        """Unit vector against gravity; z without gravity."""
        g = np.array([float(x) for x in self.robot.gravity])
        size = float(np.linalg.norm(g))
        return -g / size if size else np.array([0.0, 0.0, 1.0])

    @cached_property
    def above(self) -> Array:
        """Points that must stay above the floor: those that move up and down."""
        if self.surroundings.floor is None:
            return np.zeros(0, dtype=int)
        return np.flatnonzero(np.ptp(self._drawn @ self.up, axis=0) > 1e-6)

    # Distances ------------------------------------------------------------------------------------------------------

    def distances(self, q: Array) -> Array:
        """(N, k + h) free space, m: between the capsules of `pairs`, then below the points of `above`."""
        points = self.points(q)
        gap = np.linalg.norm(self._closest(points)[0], axis=2) - 2 * self.radius
        height = points[:, self.above] @ self.up - self.radius - (self.surroundings.floor or 0.0)
        return np.hstack([gap, height])

    def shares(self, q: Array) -> tuple[Array, Callable[[Array], Array]]:
        """(N, k + h) 1 - distance / NEAR, at least 0; and from slopes by them, (N, k + h), those by q, (N, n)."""
        near = NEAR * float(self._along[0].max())
        points = self.points(q)
        apart, s, t = self._closest(points)
        length = np.linalg.norm(apart, axis=2)
        height = points[:, self.above] @ self.up - self.radius - (self.surroundings.floor or 0.0)
        shares = np.maximum(1 - np.hstack([length - 2 * self.radius, height]) / near, 0.0)

        def by_q(slopes: Array) -> Array:
            by_distance = np.where(shares > 0, -slopes / near, 0.0)
            k = len(self.pairs)
            pull = by_distance[:, :k, None] * apart / np.maximum(length, 1e-9)[:, :, None]
            weights = np.zeros_like(points)
            (a, b), (c, d) = self.capsules[self.pairs[:, 0]].T, self.capsules[self.pairs[:, 1]].T
            every: Any = slice(None)
            for ends, share in ((a, 1 - s), (b, s), (c, t - 1), (d, -t)):
                np.add.at(weights, (every, ends), share[:, :, None] * pull)
            np.add.at(weights, (every, self.above), by_distance[:, k:, None] * self.up)
            found: Array = self._slopes(np.ascontiguousarray(q), np.ascontiguousarray(weights.reshape(len(q), -1)))
            return found

        return shares, by_q

    def _closest(self, points: Array) -> tuple[Array, Array, Array]:
        """(N, k, 3) vectors between the closest points of the lines of every pair, and their places s, t on them."""
        (a, b), (c, d) = self.capsules[self.pairs[:, 0]].T, self.capsules[self.pairs[:, 1]].T
        A, C = points[:, a], points[:, c]
        u, v, w = points[:, b] - A, points[:, d] - C, A - C
        uu, uv, vv = (np.einsum("nki,nki->nk", x, y) for x, y in ((u, u), (u, v), (v, v)))
        uw, vw = (np.einsum("nki,nki->nk", x, w) for x in (u, v))
        tiny = 1e-12
        across = uu * vv - uv * uv
        s = np.where(across > tiny * uu * vv + 1e-18, (uv * vw - uw * vv) / np.maximum(across, 1e-18), 0.0).clip(0, 1)
        t = np.where(vv > tiny, (uv * s + vw) / np.maximum(vv, tiny), 0.0)
        inside = t.clip(0, 1)
        again = np.where(uu > tiny, (uv * inside - uw) / np.maximum(uu, tiny), 0.0).clip(0, 1)
        s = np.where((t == inside) & (vv > tiny), s, again)
        return w + s[:, :, None] * u - inside[:, :, None] * v, s, inside


__all__ = ["Clearance", "Surroundings"]
