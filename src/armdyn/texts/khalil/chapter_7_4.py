"""Khalil, sec. 7.4: the Newton-Euler recursion, as printed and corrected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armdyn.algebra import ZERO, Mat3, Vec3, cross, skew
from armdyn.graph import Operations, count_operations, symbols
from armdyn.mechanics import kinematics, lagrange, moving_base, newton_euler
from armdyn.mechanics.steps.newton_euler import rate_matrix, turning_moment
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Rotor
from armdyn.robot.random import random_robot
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, equal, misses
from armdyn.texts.khalil.chapter_7_3 import state

chapter = Chapter("khalil")

RateMatrix = Callable[[Vec3, Vec3], Mat3]


class Recursion(NamedTuple):
    """Results of the printed recursion, vectors in link frames."""

    torques: list[Any]
    w: list[Vec3]
    wd: list[Vec3]
    a: list[Vec3]
    f: list[Vec3]
    m: list[Vec3]


def printed_rate_matrix(w: Vec3, wd: Vec3) -> Mat3:
    """(7.57) as printed: w under the first hat, where wd belongs."""
    return skew(w) + skew(w) @ skew(w)


def printed_recursion(
    robot: Robot, q: Any, qd: Any, qdd: Any, rate_matrix: RateMatrix, tip: tuple[Vec3, Vec3] = (ZERO, ZERO)
) -> Recursion:
    """(7.51)-(7.61) line by line, for a chain of joints. tip: f_e, m_e of the last link, in its axes."""
    n = robot.n
    w, wd, a, U = [ZERO], [ZERO], [-robot.gravity], [Mat3.zero()]
    poses = [link.pose(x) for link, x in zip(robot.links, q, strict=True)]
    f_t, m_t = [], []
    for j, (link, (R, P)) in enumerate(zip(robot.links, poses, strict=True)):
        spin, slide, body = link.spin(qd[j]), link.slide(qd[j]), link.inertia
        before = R.T @ w[j]  # (7.51)
        w.append(before + spin)  # (7.52)
        wd.append(R.T @ wd[j] + link.spin(qdd[j]) + cross(before, spin))  # (7.53)
        a.append(R.T @ (a[j] + U[j] @ P) + link.slide(qdd[j]) + 2 * cross(before, slide))  # (7.54)
        U.append(rate_matrix(w[-1], wd[-1]))  # (7.57)
        f_t.append(body.mass * a[-1] + U[-1] @ body.moment)  # (7.55)
        m_t.append(body.tensor @ wd[-1] + cross(body.moment, a[-1]) + cross(w[-1], body.tensor @ w[-1]))  # (7.56)
    f_t[-1], m_t[-1] = f_t[-1] + tip[0], m_t[-1] + tip[1]  # (7.58), (7.60): f_e, m_e
    f, m = list(f_t), list(m_t)
    torques: list[Any] = [0.0] * n
    for j in reversed(range(n)):
        if j + 1 < n:
            R, P = poses[j + 1]
            ahead = R @ f[j + 1]  # (7.59)
            f[j] = f_t[j] + ahead  # (7.58)
            m[j] = m_t[j] + R @ m[j + 1] + cross(P, ahead)  # (7.60)
        joint = robot.joints[j]
        dry = joint.friction or Friction()
        torques[j] = robot.links[j].along(f[j], m[j]) + dry.coulomb * np.sign(qd[j]) + dry.viscous * qd[j]
        if joint.rotor is not None:
            torques[j] += joint.rotor.ratio**2 * joint.rotor.inertia * qdd[j]  # (7.61)
    return Recursion(torques, w[1:], wd[1:], a[1:], f, m)


def arms() -> list[Robot]:
    """Random chains of revolute and prismatic joints, with the rotors and the friction of (7.61)."""
    found = []
    for seed in (1, 2, 3):
        robot = random_robot(seed, 5).bound()
        rotor, dry = Rotor(inertia=0.002, ratio=40.0 + seed), Friction(0.7, 1.1)
        tree = tuple(replace(j, rotor=rotor, friction=dry) if j.kind != "fixed" else j for j in robot.tree)
        found.append(replace(robot, tree=tree))
    return found


@chapter.evidence("Khalil-1")
def rate_matrix_slip() -> Check:
    wrong, right = [], []
    for robot in arms():
        q, qd, qdd = state(5, 4)
        truth = lagrange.inverse_dynamics(robot, q, qd, qdd)
        wrong.append(distance(printed_recursion(robot, q, qd, qdd, printed_rate_matrix).torques, truth))
        right.append(distance(printed_recursion(robot, q, qd, qdd, rate_matrix).torques, truth))
    return misses("torques of random arms by (7.51)-(7.61), U of (7.57), against Lagrange", min(wrong), max(right))


def operations_with_and_without_u() -> tuple[Operations, Operations]:
    """Operations of one general link: U P, U MS and the moment of its rotation; and the same by cross products."""
    w, wd, P, S = (Vec3(*symbols(f"{name}x {name}y {name}z")) for name in ("w", "wd", "P", "S"))
    inertia = Mat3.symmetric(*symbols("XX XY XZ YY YZ ZZ", "parameter"))
    U = rate_matrix(w, wd)
    shared = [list(U @ P), list(U @ S), list(turning_moment(inertia, w, wd, U))]
    plain = [list(cross(wd, r) + cross(w, cross(w, r))) for r in (P, S)]
    plain.append(list(inertia @ wd + cross(w, inertia @ w)))
    return count_operations(shared), count_operations(plain)


def with_a_wrench(robot: Robot) -> float:
    """Difference of the recursion from Lagrange and virtual work, with force and moment at the tool."""
    q, qd, qdd = state(5, 4)
    wrench = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])
    held = np.asarray(kinematics.jacobian(robot, q)).T @ wrench
    return distance(
        newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench), lagrange.inverse_dynamics(robot, q, qd, qdd) + held
    )


def accelerated(robot: Robot, step: float = 1e-3) -> float:
    """Difference of the tool's acceleration from differences of its poses along the motion, relative."""
    q, qd, qdd = state(5, 4)
    t = step * np.arange(-2, 3)
    poses = np.asarray(kinematics.pose(robot, q + t[:, None] * qd + t[:, None] ** 2 / 2 * qdd))
    first, second = np.array([1, -8, 0, 8, -1]) / 12 / step, np.array([-1, 16, -30, 16, -1]) / 12 / step**2
    p, R, R1, R2 = (
        second @ poses[:, :3, 3],
        poses[2, :3, :3],
        *(np.tensordot(w, poses[:, :3, :3], 1) for w in (first, second)),
    )
    spin = R2 @ R.T + R1 @ R1.T  # skew(wd)
    found = kinematics.acceleration(robot, q, qd, qdd)
    return distance(found, [*p, spin[2, 1], spin[0, 2], spin[1, 0]]) / 1e3


def on_a_moving_base(robot: Robot) -> float:
    """Difference of torques on a base that moves from those of the arm on virtual joints that move so."""
    q, qd, qdd = state(5, 4)
    coupled = np.eye(5) + 0.1 * np.eye(5, k=1)  # motors that turn two joints
    robot = replace(robot.without("rotors"), coupling=tuple(map(tuple, coupled.tolist())))
    rig = moving_base.with_virtual_joints(robot, ("x", "y", "yaw"))
    at, rate, growth = np.random.default_rng(61).uniform(-1, 1, (3, 3))
    whole = [np.concatenate(pair) for pair in ((at, q), (rate, qd), (growth, qdd))]
    c, s = np.cos(at[2]), np.sin(at[2])
    own, turn = np.eye(4), np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    own[:3, :3] = (start := np.array(robot.base.pose().R.array(), dtype=float)) @ turn
    velocity, acceleration = (np.concatenate([start @ (x[0], x[1], 0), start @ (0, 0, x[2])]) for x in (rate, growth))
    found = moving_base.inverse_dynamics(robot, q, qd, qdd, velocity, acceleration, base=own)
    return distance(found, lagrange.inverse_dynamics(rig, *whole)[3:])


@chapter.item(
    "(7.36)-(7.61)",
    "Newton-Euler, linear in the inertial parameters",
    vouches=(
        newton_euler.inverse_dynamics,
        newton_euler.joint_torques,
        newton_euler.transmitted,
        newton_euler.tip_wrench,
        kinematics.acceleration,
        moving_base.inverse_dynamics,
        moving_base.with_virtual_joints,
        rate_matrix,
        turning_moment,
    ),
)
def newton_euler_recursion() -> Outcome:
    errors = [
        distance(newton_euler.inverse_dynamics(robot, *state(5, 4)), lagrange.inverse_dynamics(robot, *state(5, 4)))
        for robot in arms()
    ]
    shared, plain = operations_with_and_without_u()
    moved = [on_a_moving_base(robot) for robot in arms()]
    checks = (
        below("the same with a wrench at the tool, (7.58), (7.60)", max(map(with_a_wrench, arms())), 1e-11),
        below(
            "(7.53), (7.54): accelerations, against poses differentiated twice", max(map(accelerated, arms())), 1e-10
        ),
        below("notes after (7.61): a base that moves, against virtual joints under the arm", max(moved), 1e-10),
        below("our recursion against Lagrange, random arms", max(errors), 1e-11),
        equal("multiplications that U saves per link", plain.multiplications - shared.multiplications, 21),
        equal("additions that U saves per link", plain.additions - shared.additions, 6),
    )
    says = (
        "The recursion is run on random arms as printed and with (7.57) corrected; the operations that U saves are "
        "counted."
    )
    return Outcome(says, checks, (chapter.slip("Khalil-1"),))
