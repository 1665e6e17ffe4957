"""Inverse kinematics in closed form: all joint positions of a pose, where the geometry of the arm allows it.

Three families are recognised by their geometry, whatever the robot is called and however it is described:

- `PlanarArm`: all axes parallel; two or three revolute joints, any number of prismatic ones (SCARA, planar arms);
- `WristArm`: six revolute joints, the last three axes through one point (Pieper 1968), the first three in any position;
- `ParallelArm`: six revolute joints, axes 2, 3, 4 parallel, the last two axes through one point.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from armdyn.kinematics.rotations import inverse_pose
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.links import Link
from armdyn.robot.robot import Robot
from armdyn.typing import Array

SAME = 1e-9
"""Axes closer than this (relative to the arm's size, or in rad) count as parallel or intersecting."""
FREE = 1e-9
"""A lever shorter than this part of the arm leaves its joint free: the reference position is kept."""
CIRCLE = 1e-5
"""How far from the unit circle a root may lie: double roots are exact only to the square root of rounding."""
DEFINED = 1e-7
"""Orientation error, rad, up to which an arm with parallel axes counts as able to take an orientation."""


@dataclass(frozen=True, eq=False)
class PlanarArm:
    """All axes parallel to n. In the plane across n, points are complex numbers and the arm is

        tip = origin + e^(i phi_1) l_1 + e^(i phi_2) l_2 [+ e^(i phi_3) l_3],    phi_k = sum_(j<=k) sign_j q_j

    revolute, prismatic: joint indices. signs: of every joint's axis against n. zero: pose of the frame at q = 0.
    """

    n: Array
    plane: Array
    revolute: tuple[int, ...]
    prismatic: tuple[int, ...]
    signs: Array
    origin: complex
    levers: tuple[complex, ...]
    zero: Array
    size: float

    @property
    def needs_rotation(self) -> bool:
        """With three revolute joints the orientation must be given."""
        return len(self.revolute) == 3

    def solutions(self, R: Array | None, p: Array, near: Array) -> Iterator[Array]:
        """Joint positions for the tip at p (and rotation R). El Baji (38), sign as in ElBaji-1, for any such arm."""
        w = complex(*(self.plane @ p)) - self.origin
        phi = 0.0
        if self.needs_rotation:
            assert R is not None
            turn = R @ self.zero[:3, :3].T
            if np.abs(turn @ self.n - self.n).max() > DEFINED:
                return  # the tool would have to leave its plane
            x, y = self.plane @ (turn @ self.plane[0])
            phi = math.atan2(y, x)
            w -= cmath.exp(1j * phi) * self.levers[2]
        held = float(near[self.revolute[0]] * self.signs[self.revolute[0]])
        for first, second in _two_links(w, self.levers[0], self.levers[1], FREE * self.size, held):
            angles = [first, second, phi - first - second][: len(self.revolute)]
            q = near.copy()
            q[list(self.revolute)] = self.signs[list(self.revolute)] * np.array(angles)
            if self.prismatic:  # all but the last stay where they are; the last one takes the height
                *others, last = self.prismatic
                height = float(self.n @ (p - self.zero[:3, 3])) - float(self.signs[others] @ q[others])
                q[last] = self.signs[last] * height
            yield q


@dataclass(frozen=True, eq=False)
class WristArm:
    """Six revolute joints, the last three axes through one point.

    links: T_parent_link at joint value 0, (6, 4, 4). offsets: added to q. wrist: that point in the frames of link 3
    and of link 6. tool: pose of the frame in link 6.
    """

    links: Array
    offsets: Array
    wrist_3: Array
    wrist_6: Array
    tool: Array
    size: float

    needs_rotation = True

    def solutions(self, R: Array | None, p: Array, near: Array) -> Iterator[Array]:
        """All joint positions of a pose: up to four of the arm, times two of the wrist."""
        assert R is not None
        R06 = R @ self.tool[:3, :3].T
        centre = p + R06 @ (self.wrist_6 - self.tool[:3, 3])
        reference = near + self.offsets
        for arm in self._arm(centre, reference):
            R03 = np.eye(3)
            for k in range(3):
                R03 = R03 @ self.links[k, :3, :3] @ _rot_z(arm[k])
            for wrist in self._wrist(R03.T @ R06, reference[3:]):
                yield np.array([*arm, *wrist]) - self.offsets

    def _arm(self, centre: Array, reference: Array) -> Iterator[tuple[float, float, float]]:
        """The first three joints: p = T1 Rz(q1) T2 Rz(q2) T3 Rz(q3) w, solved for q3, q2, q1 in this order.

        f = T3 Rz(q3) w is affine in (cos q3, sin q3). Distance from and height along axis 1 do not depend on q1:
            e . (x, y) = (|p|^2 - |f|^2 - |t2|^2)/2 - e_z f_z,    k . (x, y) = p_z - t2_z - k_z f_z
        with (x, y) = Rz(q2)(f_x, f_y), e = R2^T t2, k the last row of R2. If they determine (x, y), its length gives a
        quadratic in (cos q3, sin q3) with four roots; if not (axes 1 and 2 parallel or intersecting, or e along k),
        a combination without q2 gives q3, and the other equation q2: two times two.
        """
        (R2, t2), (R3, t3) = ((T[:3, :3], T[:3, 3]) for T in self.links[1:3])
        p = self.links[0, :3, :3].T @ (centre - self.links[0, :3, 3])
        wx, wy, wz = self.wrist_3
        f = np.stack([R3 @ [0, 0, wz] + t3, R3 @ [wx, wy, 0], R3 @ [-wy, wx, 0]], axis=-1)  # columns: 1, cos, sin
        ff = 2 * t3 @ f + np.array([self.wrist_3 @ self.wrist_3 - t3 @ t3, 0, 0])
        one = np.array([1.0, 0.0, 0.0])
        e, k = R2.T @ t2, R2[2]
        right = np.stack([((p @ p - t2 @ t2) * one - ff) / 2 - e[2] * f[2], (p[2] - t2[2]) * one - k[2] * f[2]])
        right[0] /= self.size
        left = np.stack([e[:2] / self.size, k[:2]])
        U, S, Vt = np.linalg.svd(left)
        for q3, q2 in self._elbows(left, right, U, S, Vt, f, ff):
            g = R2 @ _rot_z(q2) @ (f @ [1.0, math.cos(q3), math.sin(q3)]) + t2
            free = math.hypot(g[0], g[1]) < FREE * self.size
            q1 = reference[0] if free else math.atan2(p[1], p[0]) - math.atan2(g[1], g[0])
            yield q1, q2, q3

    def _elbows(
        self, left: Array, right: Array, U: Array, S: Array, Vt: Array, f: Array, ff: Array
    ) -> Iterator[tuple[float, float]]:
        if S[1] > SAME:
            xy = np.linalg.solve(left, right)
            quadratic = np.outer(xy[0], xy[0]) + np.outer(xy[1], xy[1]) + np.outer(f[2], f[2])
            quadratic[0] -= ff
            for q3 in _quadratic_angles(quadratic / self.size**2):
                basis = np.array([1.0, math.cos(q3), math.sin(q3)])
                (x, y), (fx, fy, _) = xy @ basis, f @ basis
                yield q3, math.atan2(y, x) - math.atan2(fy, fx)
        elif S[0] > SAME:
            for q3 in _affine_angles(U[:, 1] @ right):
                basis = np.array([1.0, math.cos(q3), math.sin(q3)])
                fx, fy, _ = f @ basis
                vx, vy = S[0] * Vt[0]
                value = float(U[:, 0] @ right @ basis)
                for q2 in _affine_angles(np.array([-value, vx * fx + vy * fy, vy * fx - vx * fy])):
                    yield q3, q2

    def _wrist(self, R36: Array, reference: Array) -> Iterator[tuple[float, float, float]]:
        """Three axes through one point, at any angles: R36 = A Rz(q4) B Rz(q5) C Rz(q6)."""
        A, B, C = (T[:3, :3] for T in self.links[3:])
        M = A.T @ R36
        b, c = B[2], C[:, 2]
        for q5 in _affine_angles(np.array([b[2] * c[2] - M[2, 2], b[:2] @ c[:2], b[1] * c[0] - b[0] * c[1]])):
            inner = B @ _rot_z(q5) @ C
            if math.hypot(inner[0, 2], inner[1, 2]) > FREE:
                q4 = math.atan2(M[1, 2], M[0, 2]) - math.atan2(inner[1, 2], inner[0, 2])
            else:  # axes 4 and 6 in line: only the sum of the two angles is determined
                q4 = float(reference[0])
            rest = inner.T @ _rot_z(q4).T @ M
            yield q4, q5, math.atan2(rest[1, 0] - rest[0, 1], rest[0, 0] + rest[1, 1])


@dataclass(frozen=True, eq=False)
class ParallelArm:
    """Six revolute joints, axes 2, 3, 4 parallel, axes 5 and 6 through one point (the arms of Universal Robots).

    links, offsets, tool: as in `WristArm`. crossing: of axes 5 and 6, as heights on both.
    """

    links: Array
    offsets: Array
    crossing: tuple[float, float]
    tool: Array
    size: float

    needs_rotation = True

    def solutions(self, R: Array | None, p: Array, near: Array) -> Iterator[Array]:
        """All joint positions of a pose: up to two of each of joint 1, joint 5 and the elbow.

        Joints 2 to 4 move link 4 across their common direction n only. So the crossing of axes 5 and 6, known from the
        pose, has a known coordinate along n, which gives q1; the angle of axis 6 to n gives q5, the direction of n
        seen from the tool q6; what is left is a planar arm of three joints.
        """
        assert R is not None
        reference = near + self.offsets
        T06 = np.eye(4)
        T06[:3, :3] = R @ self.tool[:3, :3].T
        T06[:3, 3] = p - T06[:3, :3] @ self.tool[:3, 3]
        P1, P2, P3, P4, P5, P6 = self.links
        n, sign = P2[:3, 2], P3[2, 2] * P4[2, 2]
        u = (inverse_pose(P1) @ T06 @ [0, 0, self.crossing[1], 1])[:3]
        height = n @ (P2 @ P3 @ P4 @ P5 @ [0, 0, self.crossing[0], 1])[:3]
        for q1 in _affine_angles(np.array([n[2] * u[2] - height, n[:2] @ u[:2], n[0] * u[1] - n[1] * u[0]])):
            T16 = _turn(-q1) @ inverse_pose(P1) @ T06
            row = sign * n @ T16[:3, :3]  # z of link 4, seen from link 6
            b, c = P5[2, :3], P6[:3, 2]
            for q5 in _affine_angles(np.array([b[2] * c[2] - row[2], b[:2] @ c[:2], b[1] * c[0] - b[0] * c[1]])):
                w = b @ _rot_z(q5) @ P6[:3, :3]
                free = math.hypot(w[0], w[1]) < FREE  # axis 6 along n: only a sum of angles is determined
                q6 = float(reference[5]) if free else math.atan2(w[1], w[0]) - math.atan2(row[1], row[0])
                T24 = inverse_pose(P2) @ T16 @ inverse_pose(P5 @ _turn(q5) @ P6 @ _turn(q6))
                for q2, q3, q4 in self._planar(T24, float(reference[1])):
                    yield np.array([q1, q2, q3, q4, q5, q6]) - self.offsets

    def _planar(self, T24: Array, held: float) -> Iterator[tuple[float, float, float]]:
        """T24 = Rz(q2) P3 Rz(q3) P4 Rz(q4) with all z parallel."""
        P3, P4 = self.links[2:4]
        last = P3 @ P4
        first = complex(*P3[:2, 3])
        second = complex(*last[:2, 3]) - first
        turn = T24[:3, :3] @ last[:3, :3].T
        phi = math.atan2(turn[1, 0], turn[0, 0])
        for q2, bend in _two_links(complex(*T24[:2, 3]), first, second, FREE * self.size, held):
            yield q2, P3[2, 2] * bend, last[2, 2] * (phi - q2 - bend)


def _two_links(w: complex, l1: complex, l2: complex, tiny: float, held: float) -> Iterator[tuple[float, float]]:
    """(first, second) with w = e^(i first) (l1 + e^(i second) l2): the law of cosines. El Baji (38)

    held: the first angle where it is free, because the links fold onto each other.
    """
    cosine = (abs(w) ** 2 - abs(l1) ** 2 - abs(l2) ** 2) / (2 * abs(l1) * abs(l2))
    if abs(cosine) > 1 + SAME:
        return
    bend = math.acos(max(-1.0, min(1.0, cosine)))
    for elbow in (bend, -bend) if bend not in (0.0, math.pi) else (bend,):
        second = elbow - cmath.phase(l2 / l1)
        reach = l1 + cmath.exp(1j * second) * l2
        yield held if abs(reach) < tiny else cmath.phase(w / reach), second


def _turn(angle: float) -> Array:
    T = np.eye(4)
    T[:3, :3] = _rot_z(angle)
    return T


def _rot_z(angle: float) -> Array:
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _affine_angles(c: Array) -> Iterator[float]:
    """Solutions of c0 + c1 cos x + c2 sin x = 0; a miss within rounding of the nearest point counts."""
    length = math.hypot(c[1], c[2])
    if length < SAME or abs(c[0]) > (1 + CIRCLE**2) * length + SAME:
        return
    middle, half = math.atan2(c[2], c[1]), math.acos(max(-1.0, min(1.0, -c[0] / length)))
    yield middle + half
    if 0 < half < math.pi:
        yield middle - half


def _quadratic_angles(Q: Array) -> Iterator[float]:
    """Solutions of b^T Q b = 0, b = (1, cos x, sin x), as roots on the unit circle of a quartic in z = e^(ix).

    (The half angle's tangent gives a quartic too, but sends x = pi to infinity.)
    """
    F, A, C = Q[0, 0], Q[1, 1], Q[2, 2]
    D, E, B = Q[0, 1] + Q[1, 0], Q[0, 2] + Q[2, 0], Q[1, 2] + Q[2, 1]
    quartic = np.array(
        [(A - C) / 4 - 1j * B / 4, (D - 1j * E) / 2, (A + C) / 2 + F, (D + 1j * E) / 2, (A - C) / 4 + 1j * B / 4]
    )
    scale = np.abs(quartic).max()
    if scale < SAME:
        return
    if abs(quartic[0]) < 1e-13 * scale:
        quartic = quartic[1:-1]
    for z in np.roots(quartic):
        if abs(abs(z) - 1) < CIRCLE:
            yield math.atan2(z.imag, z.real)


ClosedForm = PlanarArm | WristArm | ParallelArm


# Recognition --------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def closed_form(robot: Robot, frame: str = "tool") -> ClosedForm | None:
    """The family this arm belongs to, or None if no closed form is known here."""
    where = robot.frame(frame)
    if robot.n == 0 or robot.path(where.link) != list(range(robot.n)):
        return None
    size = sum(float(np.linalg.norm(_array(link)[:3, 3])) for link in robot.links) or 1.0
    tool = np.asarray(where.pose.array(), dtype=float)
    return _planar(robot, tool, size) or _wristed(robot, tool, size) or _parallel(robot, tool, size)


def _array(link: Link) -> Array:
    return np.asarray(link.placement.array(), dtype=float)


def _planar(robot: Robot, tool: Array, size: float) -> PlanarArm | None:
    revolute = tuple(k for k, link in enumerate(robot.links) if link.revolute)
    prismatic = tuple(k for k, link in enumerate(robot.links) if not link.revolute)
    if len(revolute) not in (2, 3):
        return None
    poses = [np.asarray(pose.array(), dtype=float) for pose in link_poses(robot, [0.0] * robot.n)]
    axes = np.array([T[:3, 2] for T in poses])
    n = axes[revolute[0]]
    if np.abs(np.cross(axes, n)).max() > SAME:
        return None
    first = np.cross(n, [1.0, 0, 0] if abs(n[0]) < 0.7 else [0, 1.0, 0])
    first /= np.linalg.norm(first)
    plane = np.stack([first, np.cross(n, first)])
    zero = poses[-1] @ tool
    points = [complex(*(plane @ poses[k][:3, 3])) for k in revolute] + [complex(*(plane @ zero[:3, 3]))]
    levers = tuple(b - a for a, b in pairwise(points))
    if min(abs(levers[0]), abs(levers[1])) < FREE * size:
        return None
    return PlanarArm(n, plane, revolute, prismatic, np.sign(axes @ n), points[0], levers, zero, size)


def _wristed(robot: Robot, tool: Array, size: float) -> WristArm | None:
    if robot.n != 6 or not all(link.revolute for link in robot.links):
        return None
    links = np.array([_array(link) for link in robot.links])
    on_4, on_5 = _crossing(links[4], size) or (None, None)
    also_5, on_6 = _crossing(links[5], size) or (None, None)
    if on_4 is None or also_5 is None or on_5 is None or abs(on_5 - also_5) > SAME * size:
        return None
    wrist_3 = links[3, :3, :3] @ [0, 0, on_4] + links[3, :3, 3]
    if np.hypot(*wrist_3[:2]) < SAME * size:
        return None  # the third joint would not move the wrist
    offsets = np.array([float(link.offset) for link in robot.links])
    return WristArm(links, offsets, wrist_3, np.array([0.0, 0.0, on_6]), tool, size)


def _parallel(robot: Robot, tool: Array, size: float) -> ParallelArm | None:
    if robot.n != 6 or not all(link.revolute for link in robot.links):
        return None
    links = np.array([_array(link) for link in robot.links])
    crossing = _crossing(links[5], size)
    parallel = np.hypot(links[2:4, 0, 2], links[2:4, 1, 2]).max() < SAME
    across = math.hypot(links[1, 0, 2], links[1, 1, 2]) > SAME and math.hypot(links[4, 0, 2], links[4, 1, 2]) > SAME
    levers = np.hypot(links[2:4, 0, 3], links[2:4, 1, 3]).min() > FREE * size
    if crossing is None or not (parallel and across and levers):
        return None
    offsets = np.array([float(link.offset) for link in robot.links])
    return ParallelArm(links, offsets, crossing, tool, size)


def _crossing(T: Array, size: float) -> tuple[float, float] | None:
    """Where the z axis of a frame and of the next one, placed at T in it, cross: the heights on both."""
    p, d = T[:3, 3], T[:3, 2]
    if math.hypot(d[0], d[1]) < SAME:
        return None
    (on_first, on_second), *_ = np.linalg.lstsq(np.stack([[0.0, 0.0, 1.0], -d], axis=-1), p, rcond=None)
    miss = np.array([0, 0, on_first]) - p - on_second * d
    return (float(on_first), float(on_second)) if np.abs(miss).max() < SAME * size else None
