"""Khalil, sec. 8.4: motion between two poses."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from armdyn.kinematics.rotations import euler_zxz
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, misses
from armdyn.texts.khalil.chapter_8 import printed_interpolation
from armdyn.trajectory.cartesian import TaskTrajectory, line
from armdyn.typing import Array

chapter = Chapter("khalil")

FROM, TO = np.array([0.4, 0.9, -0.3]), np.array([1.1, 0.5, 0.6])
"""Euler angles phi, theta, psi of the two ends."""


def by_euler(phi: float, theta: float, psi: float) -> Array:
    """rot(z, phi) rot(x, theta) rot(z, psi)."""
    return np.asarray(Rotation.from_euler("ZXZ", [phi, theta, psi]).as_matrix())


def rot(u: Array, angle: float) -> Array:
    """Rotation by an angle about the unit vector u."""
    return np.asarray(Rotation.from_rotvec(angle * u).as_matrix())


def pose(R: Array, p: Any) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


def printed_axis_angle(Ri: Array, Rf: Array) -> tuple[Array, float]:
    """(8.50), (8.51) from the columns s, n, a of both rotations."""
    (si, ni, ai), (sf, nf, af) = Ri.T, Rf.T
    twice = np.array([ai @ nf - ni @ af, si @ af - ai @ sf, ni @ sf - si @ nf])
    C, S = 0.5 * (si @ sf + ni @ nf + ai @ af - 1), 0.5 * float(np.linalg.norm(twice))
    return twice / (2 * S), float(np.arctan2(S, C))


@chapter.evidence("Khalil-5")
def euler_slip() -> Check:
    """(8.55) at t = 0, where it should be R^i."""
    start = by_euler(*FROM)
    right = by_euler(*euler_zxz(start))
    return misses(
        "R(0) of (8.55), with R^i in front and without", distance(start @ right, start), distance(right, start)
    )


def turning_error(motion: TaskTrajectory, step: float = 1e-5) -> float:
    """Difference of the angular velocity of a motion from differences of its rotations, relative."""
    t = np.linspace(0.2, 1.8, 9)
    R, ahead, behind = (motion.pose(t + s * step)[:, :3, :3] for s in (0, 1, -1))
    spin = (ahead - behind) / (2 * step) @ np.swapaxes(R, 1, 2)
    return distance(motion.velocity(t)[:, 3:], np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=-1))


@chapter.item("sec. 8.4", "Motion in the task space, (8.48)-(8.57)", vouches=(euler_zxz, line))
def task_space() -> Outcome:
    Ri, Rf, pi, pf = by_euler(*FROM), by_euler(*TO), np.array([0.3, -0.2, 0.5]), np.array([0.8, 0.4, 0.1])
    u, alpha = printed_axis_angle(Ri, Rf)
    ours = {frame: line(pose(Ri, pi), pose(Rf, pf), "quintic", duration=2.0, frame=frame) for frame in ("tool", "base")}
    euler = line(pose(Ri, pi), pose(Rf, pf), "quintic", duration=2.0, rotation="euler")
    t = np.linspace(0, 2, 41)
    r = printed_interpolation(t / 2)["quintic"]
    rd = (30 * (t / 2) ** 2 - 60 * (t / 2) ** 3 + 30 * (t / 2) ** 4) / 2
    turned = np.array([Ri @ rot(u, x * alpha) for x in r])  # (8.54)
    fixed_axis = Ri @ u  # of (8.56): rot(R u, alpha) = R rot(u, alpha) R^T
    eulers = np.array([by_euler(*(FROM + x * (TO - FROM))) for x in r])
    velocity = rd[:, None] * alpha * fixed_axis
    checks = (
        below("(8.49)-(8.51): R^i rot(u, alpha) = R^f", distance(Ri @ rot(u, alpha), Rf), 1e-14),
        below("(8.53): positions", distance(ours["tool"].pose(t)[:, :3, 3], pi + r[:, None] * (pf - pi)), 1e-14),
        below("(8.54): rotations", distance(ours["tool"].pose(t)[:, :3, :3], turned), 1e-13),
        below(
            "(8.56): rotation about an axis fixed in the base, same motion",
            distance(ours["base"].pose(t)[:, :3, :3], [rot(fixed_axis, x * alpha) @ Ri for x in r]),
            1e-12,
        ),
        below("(8.57): angular velocity", distance(ours["base"].velocity(t)[:, 3:], velocity), 1e-12),
        below("its angular velocity, against differences of poses", turning_error(euler), 1e-6),
        below("(8.55) without R^i: rotations by Euler angles", distance(euler.pose(t)[:, :3, :3], eulers), 1e-12),
    )
    chosen = "Two poses, and quintic interpolation in 2 s."
    says = "A motion between two poses is generated with each of the three descriptions of rotation."
    return Outcome(says, checks, (chapter.slip("Khalil-5"),), chosen)
