"""The printed formulas of El Baji: (1) to (30) in world axes and about centres of mass, and those of its SCARA arm.

Each erratum has a switch: `printed` names those that are used as printed. With none the formulas are right.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from armdyn.graph import symbols
from armdyn.mechanics.kinematics import link_poses
from armdyn.robot.robot import Robot
from armdyn.texts.item import floats
from armdyn.typing import Array

TABLE_2 = (
    ("0", "l1 + d1", "0", "0"),
    ("t2", "0", "l2", "0"),
    ("t3", "0", "l3", "0"),
    ("t4", "0", "l4", "pi"),
    ("0", "l5 + d5", "0", "0"),
)
"""theta, d, a, alpha of each joint."""
TABLE_3 = {"kane": 46.0, "lagrange": 32.0, "gim_christoffel": 7.0, "bertrand_bruneau": 3.0}
"""Time of derivation by each formulation, s."""
TABLE_4 = {
    "m1": 1.228,
    "m2": 1.023,
    "m3": 1.023,
    "m4": 1.023,
    "m5": 0.5114,
    "l1": 0.524,
    "l2": 0.2,
    "l3": 0.2,
    "l4": 0.2,
    "l5": 0.14,
    "lc2": 0.229,
    "lc3": 0.229,
    "lc4": 0.229,
    "Izz2": 0.0058,
    "Izz3": 0.0058,
    "Izz4": 0.0058,
}


# The SCARA arm ----------------------------------------------------------------------------------------------------


def parameters(names: str) -> Any:
    """Symbols known off-line, as a robot's named parameters are."""
    return symbols(names, "parameter")


def end_effector(q: Any) -> list[list[Any]]:
    """(36)"""
    d1, t2, t3, t4, d5 = q
    l1, l2, l3, l4, l5 = parameters("l1 l2 l3 l4 l5")
    c2, s2, c23, s23 = t2.cos(), t2.sin(), (t2 + t3).cos(), (t2 + t3).sin()
    c234, s234 = (t2 + t3 + t4).cos(), (t2 + t3 + t4).sin()
    return [
        [c234, s234, 0, l2 * c2 + l3 * c23 + l4 * c234],
        [s234, -c234, 0, l2 * s2 + l3 * s23 + l4 * s234],
        [0, 0, -1, l1 + d1 - l5 - d5],
        [0, 0, 0, 1],
    ]


def transformation(theta: Any, d: Any, a: Any, alpha: Any) -> list[list[Any]]:
    """(34)"""
    ct, st, ca, sa = theta.cos(), theta.sin(), alpha.cos(), alpha.sin()
    return [[ct, -ca * st, sa * st, a * ct], [st, ca * ct, -sa * ct, a * st], [0, sa, ca, d], [0, 0, 0, 1]]


def figure_3(q: Any, qd: Any, qdd: Any, I5z: Any = 0) -> list[Any]:
    """The forces F1, T2, T3, T4, F5 that make the five expressions of fig. 3 vanish, copied term by term.

    The catalog calls I_iz Izzi. ElBaji-2: where body 5 has a moment of inertia, every I_4z must read I_4z + I_5z.
    """
    g, m1, m2, m3, m4, m5 = parameters("g m1 m2 m3 m4 m5")
    l2, l3, l4, lc2, lc3, lc4 = parameters("l2 l3 l4 lc2 lc3 lc4")
    I2z, I3z, I4z = parameters("Izz2 Izz3 Izz4")
    I4z = I4z + I5z
    _, _, t3, t4, _ = q
    _, w2, w3, w4, _ = qd
    vd1, wd2, wd3, wd4, vd5 = qdd
    s3, s4, s34 = t3.sin(), t4.sin(), (t3 + t4).sin()
    c3, c4, c34 = t3.cos(), t4.cos(), (t3 + t4).cos()
    first = -g * m1 - g * m2 - g * m3 - g * m4 - g * m5 + m5 * vd5 - (m1 + m2 + m3 + m4 + m5) * vd1
    second = (
        l2 * l3 * m4 * (w2 + w3) ** 2 * s3
        - l2 * l3 * m4 * w2**2 * s3
        + l2 * l3 * m5 * (w2 + w3) ** 2 * s3
        - l2 * l3 * m5 * w2**2 * s3
        + l2 * l4 * m5 * (-w2 - w3 - w4) ** 2 * s34
        - l2 * l4 * m5 * w2**2 * s34
        + l2 * lc3 * m3 * (w2 + w3) ** 2 * s3
        - l2 * lc3 * m3 * w2**2 * s3
        + l2 * lc4 * m4 * (-w2 - w3 - w4) ** 2 * s34
        - l2 * lc4 * m4 * w2**2 * s34
        - l3 * l4 * m5 * (w2 + w3) ** 2 * s4
        + l3 * l4 * m5 * (-w2 - w3 - w4) ** 2 * s4
        - l3 * lc4 * m4 * (w2 + w3) ** 2 * s4
        + l3 * lc4 * m4 * (-w2 - w3 - w4) ** 2 * s4
        - (I4z + l4 * m5 * (l2 * c34 + l3 * c4 + l4) + lc4 * m4 * (l2 * c34 + l3 * c4 + lc4)) * wd4
        - (
            I3z
            + I4z
            + lc3 * m3 * (l2 * c3 + lc3)
            + m4 * (l2 * l3 * c3 + l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
            + m5 * (l2 * l3 * c3 + l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )
        * wd3
        - (
            I2z
            + I3z
            + I4z
            + lc2**2 * m2
            + m3 * (l2**2 + 2 * l2 * lc3 * c3 + lc3**2)
            + m4 * (l2**2 + 2 * l2 * l3 * c3 + 2 * l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
            + m5 * (l2**2 + 2 * l2 * l3 * c3 + 2 * l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )
        * wd2
    )
    third = (
        -l2 * l3 * m4 * w2**2 * s3
        - l2 * l3 * m5 * w2**2 * s3
        - l2 * l4 * m5 * w2**2 * s34
        - l2 * lc3 * m3 * w2**2 * s3
        - l2 * lc4 * m4 * w2**2 * s34
        - l3 * l4 * m5 * (w2 + w3) ** 2 * s4
        + l3 * l4 * m5 * (-w2 - w3 - w4) ** 2 * s4
        - l3 * lc4 * m4 * (w2 + w3) ** 2 * s4
        + l3 * lc4 * m4 * (-w2 - w3 - w4) ** 2 * s4
        - (I4z + l4 * m5 * (l3 * c4 + l4) + lc4 * m4 * (l3 * c4 + lc4)) * wd4
        - (
            I3z
            + I4z
            + lc3**2 * m3
            + m4 * (l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
            + m5 * (l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )
        * wd3
        - (
            I3z
            + I4z
            + lc3 * m3 * (l2 * c3 + lc3)
            + m4 * (l2 * l3 * c3 + l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
            + m5 * (l2 * l3 * c3 + l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)
        )
        * wd2
    )
    fourth = (
        -l2 * l4 * m5 * w2**2 * s34
        - l2 * lc4 * m4 * w2**2 * s34
        - l3 * l4 * m5 * (w2 + w3) ** 2 * s4
        - l3 * lc4 * m4 * (w2 + w3) ** 2 * s4
        - (I4z + l4**2 * m5 + lc4**2 * m4) * wd4
        - (I4z + l4 * m5 * (l3 * c4 + l4) + lc4 * m4 * (l3 * c4 + lc4)) * wd3
        - (I4z + l4 * m5 * (l2 * c34 + l3 * c4 + l4) + lc4 * m4 * (l2 * c34 + l3 * c4 + lc4)) * wd2
    )
    fifth = g * m5 + m5 * vd1 - m5 * vd5
    return [-first, -second, -third, -fourth, -fifth]


def inverse_kinematics(
    robot: Robot, goal: tuple[float, float, float, float, float], branch: int, printed: Collection[str] = ()
) -> Array:
    """(38) for the goal x, y, z, phi and the lift d1; branch: the sign of s_3."""
    x, y, z, phi, d1 = goal
    l1, l2, l3, l4, l5 = (robot.parameters[f"l{i}"] for i in range(1, 6))
    sign = -1 if "ElBaji-1" in printed else 1
    X, Y = x - l4 * np.cos(phi), y - l4 * np.sin(phi)
    c3 = (X**2 + Y**2 - l2**2 - l3**2) / (2 * l2 * l3)
    s3 = branch * np.sqrt(1 - c3**2)
    norm = l2**2 + l3**2 + 2 * l2 * l3 * c3
    s2 = (Y * (l2 + l3 * c3) - l3 * s3 * X) / norm
    c2 = (X * (l2 + l3 * c3) + sign * l3 * s3 * Y) / norm
    t3, t2 = np.arctan2(s3, c3), np.arctan2(s2, c2)
    return np.array([d1, t2, t3, phi - t3 - t2, l1 + d1 - l5 - z])


# The formulation --------------------------------------------------------------------------------------------------


def hat(v: Array) -> Array:
    """(3)"""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@dataclass(frozen=True, eq=False)
class Structure:
    """Table 1 of a serial robot, in world axes: joint centres, axes, centroids, masses, tensors, joint types."""

    N: int
    o: list[Array]
    u: list[Array]
    c: list[Array]
    m: list[float]
    I: list[Array]
    J: list[Array]
    eps: Array
    eps_bar: Array
    g_u_g: Array


def structure(robot: Robot, q: Any) -> Structure:
    """The letters of table 1 at a position."""
    poses, bodies = link_poses(robot, tuple(q)), [link.inertia.about_com() for link in robot.links]
    R = [floats(pose.R.array()) for pose in poses]
    I = [A @ floats(body.tensor.array()) @ A.T for A, body in zip(R, bodies, strict=True)]
    eps = np.array([0 if link.revolute else 1 for link in robot.links])
    return Structure(
        N=robot.n,
        o=[floats(pose.p.array()) for pose in poses],
        u=[A[:, 2] for A in R],
        c=[floats(pose.apply(body.com).array()) for pose, body in zip(poses, bodies, strict=True)],
        m=[float(body.mass) for body in bodies],
        I=I,
        J=[-A + np.trace(A) / 2 * np.eye(3) for A in I],
        eps=eps,
        eps_bar=1 - eps,
        g_u_g=floats(robot.gravity.array()),
    )


def coefficients(robot: Robot, q: Any, printed: Collection[str] = ()) -> tuple[Array, Array, Array]:
    """H, beta, zeta of (24)-(26); `printed` names the errata used as printed."""
    S, one = structure(robot, q), np.eye(3)
    H, beta, zeta = np.zeros((S.N,) * 3), np.zeros((S.N,) * 3), np.zeros((S.N,) * 4)
    for k in range(S.N):
        turning = S.eps_bar[k] if "ElBaji-2" in printed else 1  # (29), (25), (26) against (24)
        m, I = S.m[k], turning * S.I[k]
        for i in range(k + 1):
            e, e_bar, c_i = S.eps[i], S.eps_bar[i], hat(S.c[k] - S.o[i])
            for j in range(k + 1):
                f, f_bar, c_j, u_j = S.eps[j], S.eps_bar[j], hat(S.c[k] - S.o[j]), hat(S.u[j])
                bracket = e_bar * (f_bar * (I - m * c_i @ c_j) + f * m * c_i) + e * (f * m * one - f_bar * m * c_j)
                H[i, j, k] = bracket @ S.u[j] @ S.u[i]  # (24)
                bracket = f_bar * (e_bar * (u_j @ I - m * c_i @ u_j @ c_j) - e * m * u_j @ c_j)
                beta[i, j, k] = bracket @ S.u[j] @ S.u[i]  # (25)
                for n in range(j):
                    u_n = hat(S.u[n])
                    u_in_22 = u_j if "ElBaji-6" in printed else u_n
                    turn = turning * hat(S.J[k] @ S.u[n])
                    along = e * u_n @ (f * m * one - f_bar * m * c_j)
                    if "ElBaji-7" in printed:
                        along = e_bar * along  # the eps_i term sits inside eps_bar_i(...)
                    bracket = e_bar * (f_bar * (turn - m * c_i @ u_in_22 @ c_j) + f * m * c_i @ u_n) + along
                    zeta[i, j, n, k] = S.eps_bar[n] * bracket @ S.u[j] @ S.u[i]  # (26)
    return H, beta, zeta


def forces(
    robot: Robot, q: Any, F: Array, M: Array, point: Array, printed: Collection[str] = ()
) -> tuple[Array, Array]:
    """G of (27), Q of (28) for a force F at a point of the last body and a moment M, exerted BY it (ElBaji-3)."""
    S = structure(robot, q)
    G, Q = np.zeros((S.N, S.N)), np.zeros((S.N, S.N))
    last = S.N - 1
    M_k = M + np.cross(point - S.c[last], F)
    for k in range(S.N):
        for i in range(k + 1):
            c_i = hat(S.c[k] - S.o[i])
            G[i, k] = -S.m[k] * (S.eps_bar[i] * c_i @ S.g_u_g + S.eps[i] * S.g_u_g) @ S.u[i]  # (27)
    for i in range(S.N):
        c_i, along = hat(S.c[last] - S.o[i]), S.eps[i] * F
        if "ElBaji-7" in printed:
            along = S.eps_bar[i] * along
        Q[i, last] = (S.eps_bar[i] * (M_k + c_i @ F) + along) @ S.u[i]  # (28)
    return G, Q


def torques(robot: Robot, q: Any, qd: Array, qdd: Array, printed: Collection[str] = ()) -> Array:
    """(23) without external forces, G outside of the sum over j (ElBaji-8)."""
    H, beta, zeta = coefficients(robot, q, printed)
    G, _ = forces(robot, q, np.zeros(3), np.zeros(3), np.zeros(3))
    velocity = np.einsum("ijk,j->i", beta, qd**2) + 2 * np.einsum("ijnk,j,n->i", zeta, qd, qd)
    return floats(np.einsum("ijk,j->i", H, qdd) + velocity + G.sum(1))


def dynamic_forces_17(S: Structure, qd: Array, qdd: Array) -> Array:
    """F_d of (15)-(17), (N, 3): moments about o_i for revolute i, forces for prismatic i; Gamma of (14)."""
    (w, a), Gamma = angular_rates(S, qd, qdd), com_accelerations_14(S, qd, qdd)
    F = np.zeros((S.N, 3))
    for i in range(S.N):
        for k in range(i, S.N):
            turning = S.I[k] @ a[k] + hat(w[k]) @ (S.I[k] @ w[k])
            moment = turning + S.m[k] * hat(S.c[k] - S.o[i]) @ Gamma[k]
            F[i] += S.eps_bar[i] * moment + S.eps[i] * S.m[k] * Gamma[k]  # (17)
    return F


def dynamic_forces_18(S: Structure, qd: Array, qdd: Array, printed: Collection[str] = ()) -> Array:
    """F_d of (18), second form, (N, 3): sums over bodies k and joints j; printed: with eps_bar_k (ElBaji-2)."""
    one, F = np.eye(3), np.zeros((S.N, 3))
    for i in range(S.N):
        for k in range(i, S.N):
            factor = S.eps_bar[k] if "ElBaji-2" in printed else 1
            arm = S.m[k] * (S.eps_bar[i] * hat(S.c[k] - S.o[i]) + S.eps[i] * one)
            for j in range(k + 1):
                u_j, c_j = hat(S.u[j]), hat(S.c[k] - S.o[j])
                lever = S.eps[j] * one - S.eps_bar[j] * c_j
                before = [(S.eps_bar[n] * qd[n], S.u[n]) for n in range(j)]
                turned = sum((rate * hat(S.J[k] @ u_n) for rate, u_n in before), np.zeros((3, 3)))
                moved = sum((rate * hat(u_n) @ lever for rate, u_n in before), np.zeros((3, 3)))
                turning = qdd[j] * S.I[k] + qd[j] ** 2 * u_j @ S.I[k] + 2 * qd[j] * turned
                moving = lever * qdd[j] - S.eps_bar[j] * qd[j] ** 2 * u_j @ c_j + 2 * qd[j] * moved
                F[i] += (S.eps_bar[i] * factor * S.eps_bar[j] * turning + arm @ moving) @ S.u[j]  # (18)
    return F


def environment_forces_20(S: Structure, F: Array, M: Array, point: Array, sign: int = -1) -> Array:
    """F_e of (19), (20), (N, 3), for a force F at a point of the last body and a moment M, applied TO it.

    sign: +1 as printed, -1 corrected (ElBaji-3).
    """
    found, last = np.zeros((S.N, 3)), S.N - 1
    for i in range(S.N):
        for k in range(i, S.N):
            applied = sign * F if k == last else np.zeros(3)
            moment = sign * (M + np.cross(point - S.c[last], F)) if k == last else np.zeros(3)
            force = applied - S.m[k] * S.g_u_g
            found[i] += S.eps_bar[i] * (moment + hat(S.c[k] - S.o[i]) @ force) + S.eps[i] * force  # (20)
    return found


def projected_21(S: Structure, forces: Array) -> Array:
    """(21): the component of a moment or force along each joint's axis."""
    return floats([force @ u for force, u in zip(forces, S.u, strict=True)])


def velocity_torques_22(robot: Robot, q: Any, qd: Array) -> Array:
    """Centrifugal and Coriolis torques with the rate of joint n placed as (22) prints it (ElBaji-6).

    In the braces of eps_bar_i the rate stands in the last term alone, that of prismatic j; those of eps_i have it.
    """
    _, beta, zeta = coefficients(robot, q)
    prismatic = structure(robot, q).eps == 1
    has_rate = prismatic[:, None, None, None] | prismatic[None, :, None, None]
    with_rate = zeta * np.where(has_rate, qd[None, None, :, None], 1)
    return floats(np.einsum("ijk,j->i", beta, qd**2) + 2 * np.einsum("ijnk,j->i", with_rate, qd))


def angular_rates(S: Structure, qd: Array, qdd: Array, printed: Collection[str] = ()) -> tuple[Array, Array]:
    """(1), and (5) corrected (ElBaji-5) or, printed, with eps_j for eps_bar_j."""
    w, a = np.zeros((S.N, 3)), np.zeros((S.N, 3))
    for k in range(S.N):
        w[k] = sum(S.eps_bar[j] * qd[j] * S.u[j] for j in range(k + 1))  # (1)
        for j in range(k + 1):
            factor = S.eps[j] if "ElBaji-5" in printed else S.eps_bar[j]
            carried = sum((S.eps_bar[n] * qd[n] * hat(S.u[n]) @ S.u[j] for n in range(j)), np.zeros(3))
            a[k] += factor * (qdd[j] * S.u[j] + qd[j] * carried)  # (5)
    return w, a


def com_accelerations_10(S: Structure, qd: Array, qdd: Array, printed: Collection[str] = ()) -> Array:
    """(10), with o_j o_{j+1} as in (9) (ElBaji-9); the factor eps_bar_j of the sum only if printed (ElBaji-4)."""
    w, a = angular_rates(S, qd, qdd)
    found = np.zeros((S.N, 3))
    for k in range(S.N):
        found[k] = (hat(a[k]) + hat(w[k]) @ hat(w[k])) @ (S.c[k] - S.o[k])
        for j in range(k + 1):
            before = w[j - 1] if j else np.zeros(3)
            found[k] += S.eps[j] * (qdd[j] * S.u[j] + 2 * qd[j] * hat(before) @ S.u[j])
        for j in range(k):
            factor = S.eps_bar[j] if "ElBaji-4" in printed else 1
            found[k] += factor * (hat(a[j]) + hat(w[j]) @ hat(w[j])) @ (S.o[j + 1] - S.o[j])
    return found


def com_accelerations_14(S: Structure, qd: Array, qdd: Array) -> Array:
    """(14), last line."""
    found = np.zeros((S.N, 3))
    for k in range(S.N):
        for j in range(k + 1):
            lever = S.eps[j] * np.eye(3) - S.eps_bar[j] * hat(S.c[k] - S.o[j])
            w = sum((S.eps_bar[n] * qd[n] * hat(S.u[n]) for n in range(j)), np.zeros((3, 3)))
            centrifugal = S.eps_bar[j] * qd[j] ** 2 * hat(S.u[j]) @ hat(S.c[k] - S.o[j])
            found[k] += (lever * qdd[j] - centrifugal + 2 * qd[j] * w @ lever) @ S.u[j]
    return found
