"""The printed formulas of Milićević: three formulations for arms in standard DH frames, in plain NumPy.

Each erratum has a switch: `printed` names those that are used as printed. With none the formulas are right.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.algebra import gradient
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.robot import Robot
from armdyn.texts.item import floats
from armdyn.typing import Array

G = 9.8062
"""m/s^2, below (2.15)."""
COUNTS: dict[str, tuple[Callable[[int], float], Callable[[int], float]]] = {
    "lagrange_euler": (
        lambda n: (128 * n**4 + 512 * n**3 + 739 * n**2 + 160 * n) / 3,
        lambda n: (196 * n**4 + 781 * n**3 + 1118 * n**2 + 245 * n) / 6,
    ),
    "newton_euler": (lambda n: 132 * n, lambda n: 111 * n - 4),
    "dalembert": (
        lambda n: (13 * n**3 + 315 * n**2 + 536 * n) / 6 + 69,
        lambda n: (4 * n**3 + 132 * n**2 + 146 * n) / 3 + 45,
    ),
}
"""Table 3: multiplications and additions for n joints."""


@dataclass(frozen=True, eq=False)
class Arm:
    """A serial arm in a configuration, in base axes, with the letters of fig. 1 and fig. 2.

    z[i], p[i]: axis and origin of frame i = 0 ... n. r[i], m[i], I[i]: centre of mass, mass, tensor of link i + 1.
    revolute[i]: kind of joint i + 1.
    """

    n: int
    z: list[Array]
    p: list[Array]
    r: list[Array]
    m: list[float]
    I: list[Array]
    revolute: list[bool]
    g: Array

    def star(self, i: int) -> Array:
        """p*_i: from the origin of frame i - 1 to that of frame i, i = 1 ... n."""
        return self.p[i] - self.p[i - 1]


def body_poses(robot: Robot, q: Any) -> list[Any]:
    """Poses of the Denavit-Hartenberg frames 1 ... n in the world."""
    poses = link_poses(robot, tuple(q))
    frames = [robot.frame(joint.body.name) for joint in robot.joints]
    return [poses[frame.link] @ frame.pose for frame in frames]


def arm(robot: Robot, q: Any) -> Arm:
    """The letters for a robot in standard frames."""
    base, poses = robot.base.pose(), body_poses(robot, q)
    frames = [floats(pose.array()) for pose in (base, *poses)]
    bodies = [joint.body.inertia.about_com() for joint in robot.joints]
    R = [T[:3, :3] for T in frames[1:]]
    return Arm(
        n=robot.n,
        z=[T[:3, 2] for T in frames],
        p=[T[:3, 3] for T in frames],
        r=[floats(pose.apply(body.com).array()) for pose, body in zip(poses, bodies, strict=True)],
        m=[float(body.mass) for body in bodies],
        I=[A @ floats(body.tensor.array()) @ A.T for A, body in zip(R, bodies, strict=True)],
        revolute=[joint.kind == "revolute" for joint in robot.joints],
        g=floats(robot.gravity.array()),
    )


# Newton-Euler, table 1 --------------------------------------------------------------------------------------------


def table_1(robot: Robot, q: Any, qd: Array, qdd: Array, printed: Collection[str] = ()) -> Array:
    """Torques by the recursion of table 1, nothing at the tip (Milicevic-10)."""
    a = arm(robot, q)
    cross = np.cross
    w, wd = np.zeros(3), np.zeros(3)
    vd = a.g if "Milicevic-3" in printed else -a.g
    F, M = [], []
    for i in range(1, a.n + 1):
        z, star, s = a.z[i - 1], a.star(i), a.r[i - 1] - a.p[i]
        if a.revolute[i - 1]:
            wd, w = wd + z * qdd[i - 1] + cross(w, z * qd[i - 1]), w + z * qd[i - 1]
            carried = cross(wd, star) + cross(w, cross(w, star)) + vd
            vd = wd if "Milicevic-2" in printed else carried  # printed: the line of omega_dot once more
        else:
            slide = z * qdd[i - 1] + 2 * cross(w, z * qd[i - 1])
            vd = slide + cross(wd, star) + cross(w, cross(w, star)) + vd
        acceleration = cross(wd, s) + cross(w, cross(w, s)) + vd
        F.append(a.m[i - 1] * acceleration)
        M.append(a.I[i - 1] @ wd + cross(w, a.I[i - 1] @ w))
    f, n, tau = np.zeros(3), np.zeros(3), np.zeros(a.n)
    for i in range(a.n, 0, -1):
        star, s = a.star(i), a.r[i - 1] - a.p[i]
        n = n + cross(star, f) + cross(star + s, F[i - 1]) + M[i - 1]
        f = F[i - 1] + f
        tau[i - 1] = (n if a.revolute[i - 1] else f) @ a.z[i - 1]
    return tau


# Lagrange-Euler, (2.3) to (2.15) ----------------------------------------------------------------------------------


def pseudo_inertias(robot: Robot) -> list[Array]:
    """J_i of (2.3): the integral of r r^T dm over link i in its frame, r = (x, y, z, 1)."""
    found = []
    for joint in robot.joints:
        body = joint.body.inertia.about_com()
        m, c, I = float(body.mass), floats(body.com.array()), floats(body.tensor.array())
        second = np.trace(I) / 2 * np.eye(3) - I + m * np.outer(c, c)
        found.append(np.block([[second, m * c[:, None]], [m * c[None, :], np.array([[m]])]]))
    return found


def lagrange_euler(robot: Robot, q: Any) -> tuple[Array, Array, Array]:
    """D, h, c of (2.11), (2.14), (2.15), with U_ij and U_ijk by differentiating the frames."""

    def frames(x: Any) -> list[Any]:
        return [[list(row) for row in pose.array()] for pose in body_poses(robot, x)]

    n = robot.n
    U = floats(gradient(frames, tuple(q)))  # [j][i]: dA_i/dq_j
    UU = floats(gradient(lambda x: gradient(frames, x), tuple(q)))  # [k][j][i]
    J = pseudo_inertias(robot)
    D, h, c = np.zeros((n, n)), np.zeros((n, n, n)), np.zeros(n)
    g = np.append(floats(robot.gravity.array()), 0.0)
    for j in range(n):
        first, m_r = J[j], J[j][:, 3]  # m_j r_j in homogeneous coordinates
        for i in range(j + 1):
            c[i] -= g @ U[i, j] @ m_r  # (2.15)
            for k in range(j + 1):
                D[i, k] += np.trace(U[k, j] @ first @ U[i, j].T)  # (2.11)
                for m in range(j + 1):
                    h[i, k, m] += np.trace(UU[m, k, j] @ first @ U[i, j].T)  # (2.14)
    return D, h, c


# Generalized d'Alembert, (4.1) to (4.5) ---------------------------------------------------------------------------


def dalembert(robot: Robot, q: Any, qd: Array) -> tuple[Array, Array, Array, Array]:
    """D^tran, D^rot (4.2), the six terms of h, (4.3) and (4.4) as restored (Milicevic-5, Milicevic-6), and c (4.5).

    Of an arm with revolute joints.
    """
    a = arm(robot, q)
    cross = np.cross
    w, bent = _rates(a, qd)
    tran, rot, h, c = np.zeros((a.n, a.n)), np.zeros((a.n, a.n)), np.zeros((6, a.n)), np.zeros(a.n)
    for i in range(a.n):
        z_i = a.z[i]
        weight = sum((a.m[j] * (a.r[j] - a.p[i]) for j in range(i, a.n)), np.zeros(3))
        c[i] = -a.g @ cross(z_i, weight)  # (4.5)
        for s in range(i, a.n):
            lever = cross(z_i, a.r[s] - a.p[i])
            for j in range(i, s + 1):
                tran[i, j] += a.m[s] * cross(a.z[j], a.r[s] - a.p[j]) @ lever  # (4.2)
                rot[i, j] += z_i @ a.I[s] @ a.z[j]  # (4.2)
                tran[j, i], rot[j, i] = tran[i, j], rot[i, j]
            below = [(w[k], bent[k], a.star(k + 1)) for k in range(s)]
            own = (w[s], bent[s], a.r[s] - a.p[s])
            for row, parts in ((0, below), (2, [own])):  # (4.3)
                h[row, i] += a.m[s] * sum((cross(u, cross(u, v)) for u, _, v in parts), np.zeros(3)) @ lever
                h[row + 1, i] += a.m[s] * sum((cross(b, v) for _, b, v in parts), np.zeros(3)) @ lever
            h[4, i] += z_i @ a.I[s] @ bent[s]  # (4.4)
            h[5, i] += z_i @ cross(w[s], a.I[s] @ w[s])
    return tran, rot, h, c


def _rates(a: Arm, qd: Array) -> tuple[list[Array], list[Array]]:
    """Angular velocity of every link, and its angular acceleration at constant rates: the sums of (4.3)."""
    w, bent = [], []
    before, turned = np.zeros(3), np.zeros(3)
    for k in range(a.n):
        turned = turned + np.cross(before, qd[k] * a.z[k])
        before = before + qd[k] * a.z[k]
        w.append(before)
        bent.append(turned)
    return w, bent
