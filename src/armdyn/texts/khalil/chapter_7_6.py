"""Khalil, sec. 7.6: forward dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from armdyn.algebra import cross
from armdyn.graph import Operations, trace
from armdyn.mechanics import articulated_body, composite_body, forward, lagrange, newton_euler, newton_euler_base
from armdyn.mechanics.steps.newton_euler import rate_matrix
from armdyn.robot import Robot
from armdyn.robot.parts import Spring
from armdyn.tables import Column, Section
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, misses
from armdyn.texts.khalil.chapter_7_3 import state
from armdyn.texts.khalil.chapter_7_4 import arms, printed_recursion
from armdyn.texts.khalil.chapter_7_5 import Counts, arm, compared, counted, counts_text, customised

chapter = Chapter("khalil")


@chapter.evidence("Khalil-2")
def elimination_slip() -> Check:
    """(7.88) for the last two links of random arms, wrenches from the recursion."""
    wrong, right = [], []
    for robot in arms():
        q, qd, qdd = state(5, 4)
        found = printed_recursion(robot, q, qd, qdd, rate_matrix)
        j = robot.n - 2
        body, (R, P) = robot.links[j].inertia, robot.links[j + 1].pose(q[j + 1])
        force, moment = R @ found.f[j + 1], R @ found.m[j + 1]
        ahead = np.concatenate([force.array(), (moment + cross(P, force)).array()]).astype(float)  # S^T F_n
        w, wd, a = found.w[j], found.wd[j], found.a[j]
        left = [body.mass * a + cross(wd, body.moment), body.tensor @ wd + cross(body.moment, a)]  # I V_dot, (7.21)
        beta = [-1 * cross(w, cross(w, body.moment)), -1 * cross(w, body.tensor @ w)]  # (7.70)
        known = [found.f[j] + beta[0], found.m[j] + beta[1]]
        truth, rest = (np.concatenate([x.array() for x in pair]).astype(float) for pair in (left, known))
        wrong.append(distance(rest + ahead, truth))
        right.append(distance(rest - ahead, truth))
    return misses("equilibrium of link n-1 of random arms, (7.88)", min(wrong), max(right))


FORWARD: Mapping[str, Counts] = {"general, base": (889, 653), "simplified, base": (637, 423)}
"""Notes of sec. 7.6.2.1, for the RX-90."""


def operations(module: Any, robot: Robot) -> Operations:
    """Operations of a module's forward dynamics for the robot."""
    inputs = {"q": robot.n, "qd": robot.n, "tau": robot.n}
    return trace(lambda q, qd, tau: module.forward_dynamics(robot, q, qd, tau), inputs).operations


def sprung(robot: Robot) -> Robot:
    """The robot with a spring across every joint."""
    return replace(
        robot, tree=tuple(replace(j, spring=Spring(20.0, 0.3)) if j.kind != "fixed" else j for j in robot.tree)
    )


@chapter.item(
    "sec. 7.6",
    "Forward dynamics by the inertia matrix and by recursion",
    vouches=(
        forward.forward_dynamics,
        forward.mass_matrix,
        forward.columns,
        forward.bias,
        forward.accelerations,
        newton_euler.mass_matrix,
        newton_euler_base.mass_matrix,
        composite_body.forward_dynamics,
        articulated_body.forward_dynamics,
    ),
)
def forward_dynamics() -> Outcome:
    errors, inertia, rest = [], [], []
    for robot in (*arms(), *map(sprung, arms())):
        at, rate, accel = state(5, 8)
        tau = newton_euler.inverse_dynamics(robot, at, rate, accel)
        errors += [
            distance(module.forward_dynamics(robot, at, rate, tau), accel)
            for module in (forward, composite_body, articulated_body)
        ]
        A = lagrange.mass_matrix(robot, at)
        inertia += [distance(each.mass_matrix(robot, at), A) for each in (forward, newton_euler, newton_euler_base)]
        inertia.append(distance(forward.columns(robot, at), A))
        still = np.zeros(robot.n)
        rest.append(distance(forward.bias(robot, at, rate), lagrange.inverse_dynamics(robot, at, rate, still)))
    checks = [
        below("accelerations from torques by three formulations, random arms, also with springs", max(errors), 1e-9),
        below("(7.64): A column by column, against the energy differentiated twice", max(inertia), 1e-11),
        below("H of (7.63), against Lagrange", max(rest), 1e-11),
    ]
    rows, counts = [], []
    for name, printed in FORWARD.items():
        robot = customised(arm("RX-90", simplified=name.startswith("simplified")))
        ours = [operations(module, robot) for module in (composite_body, articulated_body)]
        rows.append((name, counts_text(printed), *(counts_text(counted(each)) for each in ours)))
        fewest = min(ours, key=lambda each: sum(counted(each)))
        counts.append(compared(f"RX-90, {name}", fewest, printed))
    heads = ("inertial parameters", "printed", "ours, composite bodies", "ours, articulated bodies")
    note = "Multiplications / additions; ours also need divisions. For six joints, solving with the matrix costs less."
    table = Section("Forward dynamics of the RX-90", tuple(map(Column, heads)), tuple(rows), note)
    says = (
        "Three modules evaluate (7.62)-(7.79), (7.88) is evaluated with both signs, and the operations are compared "
        "with the printed counts."
    )
    chosen = "Random arms. Different programs are counted, not one algorithm."
    return Outcome(says, tuple(checks), (chapter.slip("Khalil-2"),), chosen, (table,), counts=tuple(counts))
