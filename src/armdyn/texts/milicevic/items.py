"""Milićević: Lagrange-Euler, Newton-Euler and d'Alembert, formula by formula; their operation counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from armdyn.algebra import Vec3
from armdyn.graph import identical, symbols, trace
from armdyn.mechanics import dalembert, kinematics, lagrange_euler, newton_euler, newton_euler_base
from armdyn.mechanics.lagrange import inverse_dynamics as lagrange_energies
from armdyn.mechanics.registry import formulation
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.report.figures.style import COLORS
from armdyn.robot.random import random_robot
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.texts.item import Chapter, Check, Claim, Outcome, below, distance, identity, matches, misses
from armdyn.texts.milicevic import printed as text
from armdyn.typing import Array

chapter = Chapter("milicevic")
SIZES = range(2, 7)
"""Numbers of joints whose operations are counted."""


@cache
def sample(prismatic: float = 0.35) -> tuple[Robot, Any, Any, Any]:
    """A random arm of six joints in standard Denavit-Hartenberg frames, g = 9.8062 m/s^2 downwards, and a state.

    Two of its joints are prismatic, each between revolute ones; for prismatic = 0 none is.
    """
    robot = random_robot(40, 6, convention="standard", prismatic=prismatic)
    robot = replace(robot, gravity=Vec3(0, 0, -text.G))
    q, qd, qdd = np.random.default_rng(40).uniform(-2, 2, (3, robot.n))
    return robot, q, qd, qdd


@cache
def lagranges() -> Array:
    """Torques of the sample by (2.5), (2.11), (2.14), (2.15), written out from the text."""
    robot, q, qd, qdd = sample()
    D, h, c = text.lagrange_euler(robot, q)
    return np.asarray(D @ qdd + qd @ h @ qd + c)


# Section 2 --------------------------------------------------------------------------------------------------------


@chapter.evidence("Milicevic-1")
def sign_of_gravity_in_24() -> Check:
    robot, q, qd, qdd = sample()
    _, _, c = text.lagrange_euler(robot, q)
    truth = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    printed = distance(lagranges() - 2 * c, truth)
    return misses("torques with + m_j g U_ji r_j, against Newton-Euler", printed, distance(lagranges(), truth))


@chapter.item("(2.1)", "Homogeneous transformation between neighbouring links", vouches=(kinematics.pose,))
def transformation() -> Outcome:
    (theta,), (d, a, alpha) = symbols("theta"), symbols("d a alpha", "parameter")
    ct, st, ca, sa = theta.cos(), theta.sin(), alpha.cos(), alpha.sin()
    row = {"type": "revolute", "theta": 0, "d": "d", "a": "a", "alpha": "alpha"}
    robot = Robot.from_dh([row], "standard", parameters={"d": 0.3, "a": 0.2, "alpha": 0.4})
    printed = [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
    ours = kinematics.pose(robot.symbolic, (theta,))
    return Outcome(
        "One joint of the standard convention, compared symbolically.", (identity("(2.1)", identical(ours, printed)),)
    )


@chapter.item(
    "(2.2)-(2.15)",
    "Lagrange-Euler formulation",
    vouches=(
        lagrange_euler.D,
        lagrange_euler.h,
        lagrange_euler.gravity,
        lagrange_euler.inverse_dynamics,
        lagrange_euler.coriolis,
        lagrange_energies,
    ),
)
def lagrange() -> Outcome:
    robot, q, qd, qdd = sample()
    D, h, c = text.lagrange_euler(robot, q)
    n = range(robot.n)
    truth = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    own = max(abs(h[i, i, i]) for i in n)
    return Outcome(
        "The coefficients follow the text, with U_ij and U_ijk by differentiating the frames with dual numbers. On a "
        "random arm of six revolute and prismatic joints they are compared with the library's Lagrange-Euler and "
        "Newton-Euler modules.",
        checks=(
            below("D of (2.11)", distance(lagrange_euler.D(robot, q), D), 1e-12),
            below("h of (2.14)", distance(lagrange_euler.h(robot, q), h), 1e-12),
            below("c of (2.15)", distance(lagrange_euler.gravity(robot, q), c), 1e-12),
            below(
                "torques of (2.2), by differentiating the energies",
                distance(lagrange_energies(*sample()), lagranges()),
                1e-12,
            ),
            below("torques of (2.5), against Newton-Euler", distance(lagranges(), truth), 1e-12),
            below("torques of (2.5)", distance(lagrange_euler.inverse_dynamics(robot, q, qd, qdd), lagranges()), 1e-12),
            below("h of (2.8)", distance(lagrange_euler.coriolis(robot, q, qd), qd @ h @ qd), 1e-12),
            below("the text's D_ik = D_ki", distance(D, D.T), 1e-12),
            below("the text's h_ikm = h_imk", distance(h, h.transpose(0, 2, 1)), 1e-12),
            below("the text's h_iii = 0", own, 1e-12),
        ),
        slips=(chapter.slip("Milicevic-1"),),
    )


# Section 3 --------------------------------------------------------------------------------------------------------


def recursion(*tags: str) -> float:
    """Relative error of table 1, with the errata `tags` as printed, against (2.5)."""
    return distance(text.table_1(*sample(), tags), lagranges())


@chapter.evidence("Milicevic-2")
def acceleration_of_a_rotational_link() -> Check:
    return misses("torques with the line of omega_dot for v_dot, against (2.5)", recursion("Milicevic-2"), recursion())


@chapter.evidence("Milicevic-3")
def acceleration_of_the_base() -> Check:
    """Not only a miss: the difference is exactly twice the torque of gravity."""
    _, _, c = text.lagrange_euler(*sample()[:2])
    shift = distance(text.table_1(*sample(), {"Milicevic-3"}), lagranges() - 2 * c)
    found = misses("torques with the base accelerated by g, against (2.5)", recursion("Milicevic-3"), recursion())
    return Check(
        found.what, found.holds and shift < 1e-12, f"{found.figure}; (2.5) minus twice gravity agrees to {shift:.1g}"
    )


@chapter.item(
    "table 1",
    "Recursive Newton-Euler equations, base axes",
    vouches=(newton_euler_base.inverse_dynamics, newton_euler_base.joint_torques),
)
def table_1() -> Outcome:
    robot, q, qd, qdd = sample()
    ours = newton_euler_base.inverse_dynamics(robot, q, qd, qdd)
    return Outcome(
        "The recursion of the text is run on the same arm and compared with (2.5) and with the library's module.",
        checks=(
            below("table 1, corrected, against (2.5)", recursion(), 1e-12),
            below("the library's recursion in base axes", distance(ours, text.table_1(*sample())), 1e-12),
        ),
        slips=(chapter.slip("Milicevic-2"), chapter.slip("Milicevic-3")),
    )


@chapter.item("table 2", "Recursive Newton-Euler equations, link axes", vouches=(newton_euler.inverse_dynamics,))
def table_2() -> Outcome:
    robot, q, qd, qdd = sample()
    ours = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    own, based = (sum(counted(name, 6)) for name in ("newton_euler", "newton_euler_base"))
    return Outcome(
        "According to the text this is the recursion of table 1 in link axes.",
        checks=(below("torques against table 1", distance(ours, text.table_1(*sample())), 1e-12),),
        claims=(
            Claim(
                "it has fewer operations than in base axes",
                f"{own} in link axes, {based} in base axes, for six joints",
                own < based,
            ),
        ),
        slips=(chapter.slip("Milicevic-3"),),
        chosen="Half of the table is illegible; Siciliano (7.107) to (7.114) take its place (Milicevic-4).",
    )


# Section 4 --------------------------------------------------------------------------------------------------------


@chapter.item(
    "(4.1)-(4.5)",
    "Generalized d'Alembert equations, revolute joints",
    vouches=(
        dalembert.inverse_dynamics,
        dalembert.mass_matrix,
        dalembert.mass_matrix_translational,
        dalembert.mass_matrix_rotational,
        dalembert.coriolis,
        dalembert.coriolis_translational,
        dalembert.coriolis_rotational,
        dalembert.velocity_terms,
        dalembert.gravity,
    ),
)
def generalized_dalembert() -> Outcome:
    robot, q, qd, qdd = sample(0.0)
    tran, rot, h, c = text.dalembert(robot, q, qd)
    truth = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    ours = {
        "D^tran of (4.2)": (dalembert.mass_matrix_translational(robot, q), tran),
        "D^rot of (4.2)": (dalembert.mass_matrix_rotational(robot, q), rot),
        "D of (4.2)": (dalembert.mass_matrix(robot, q), tran + rot),
        "h^tran of (4.3)": (dalembert.coriolis_translational(robot, q, qd), h[:4].sum(axis=0)),
        "h^rot of (4.4)": (dalembert.coriolis_rotational(robot, q, qd), h[4:].sum(axis=0)),
        "the six terms of (4.3), (4.4), row by row": (dalembert.velocity_terms(robot, q, qd), h),
        "h of (4.3), (4.4)": (dalembert.coriolis(robot, q, qd), h.sum(axis=0)),
        "c of (4.5)": (dalembert.gravity(robot, q), c),
        "torques of (4.1)": (dalembert.inverse_dynamics(robot, q, qd, qdd), (tran + rot) @ qdd + h.sum(axis=0) + c),
        "torques of (4.1), against Newton-Euler": ((tran + rot) @ qdd + h.sum(axis=0) + c, truth),
    }
    return Outcome(
        "The sums are written out from the text for a random arm of six revolute joints, and compared part by part "
        "with the library's d'Alembert module, their sum with Newton-Euler.",
        checks=tuple(below(what, distance(*pair), 1e-12) for what, pair in ours.items()),
        restored="(4.3) is damaged and (4.4) is missing: the formulas were chosen (Milicevic-5, Milicevic-6), with the "
        "legible sums of (4.3) row by row, so that (4.1) gives the torques of Newton and Euler.",
    )


@cache
def counted(name: str, n: int) -> tuple[int, int]:
    """Multiplications and additions of our program for a general arm of n revolute joints."""
    robot = random_robot(3, n, convention="standard", prismatic=0.0, tilted_base=False, tool=False)
    module = formulation(name).module
    made = trace(lambda q, qd, qdd: module.inverse_dynamics(robot, q, qd, qdd), {"q": n, "qd": n, "qdd": n})
    return made.operations.multiplications, made.operations.additions


@chapter.item("table 3", "Operations per set point of the three formulations")
def table_3() -> Outcome:
    printed = {name: tuple(round(count(6)) for count in counts) for name, counts in text.COUNTS.items()}
    ours = {name: counted(name, 6) for name in text.COUNTS}
    broken = max(
        abs(count(n) - round(count(n))) for pair in text.COUNTS.values() for count in pair for n in range(1, 13)
    )
    order, found = (sorted(each, key=lambda name: sum(each[name])) for each in (printed, ours))
    steps = [sum(counted("newton_euler", n)) for n in SIZES]
    growth = np.diff(steps)
    rows = tuple(
        (
            name,
            *(str(x) for x in printed[name]),
            *(str(x) for x in ours[name]),
            f"{sum(printed[name]) / sum(ours[name]):.1f}",
        )
        for name in printed
    )
    heads = (("n = 6", ""), ("x", "printed"), ("+", "printed"), ("x", "here"), ("+", "here"), ("ratio", ""))
    columns = tuple(Column(*head) for head in heads)
    share = max(a / b for name in ours for a, b in zip(ours[name], printed[name], strict=True))
    lines = []
    for k, name in enumerate(text.COUNTS):
        lines.append(
            Line(SIZES, [sum(f(n) for f in text.COUNTS[name]) for n in SIZES], f"{name}, printed", "--", COLORS[k])
        )
        lines.append(Line(SIZES, [sum(counted(name, n)) for n in SIZES], f"{name}, here", "o-", COLORS[k]))
    svg = chart(Axes("Operations, multiplications and additions", "joints n", "operations", lines, log=True))
    return Outcome(
        "The printed polynomials are compared with the operations of our programs for general arms of revolute joints, "
        "which share common subexpressions and drop products with zero. What must agree is the order of the three "
        "formulations, and the linear growth of the recursion with the number of joints.",
        checks=(
            below("the polynomials give whole numbers for 1 to 12 joints, distance", broken, 1e-9),
            below("ours against the printed, n = 6, largest share", share, 1.0),
            matches("order by operations, n = 6, as by the polynomials", " < ".join(found), " < ".join(order)),
            Check(
                "Newton-Euler grows linearly",
                bool(np.ptp(growth[1:]) <= 0.1 * growth[1:].mean()),
                f"operations per further joint: {', '.join(map(str, growth))}",
            ),
        ),
        chosen="Our counts are those of our programs; the text quotes its counts from elsewhere (Milicevic-9).",
        tables=(Section("Operations for six joints", columns, rows),),
        figures=((svg, "Printed counts dashed, ours with dots."),),
    )
