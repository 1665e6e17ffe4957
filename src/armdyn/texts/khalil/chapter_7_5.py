"""Khalil, sec. 7.5: customised programs, base parameters, and their operation counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from armdyn.algebra import ZERO, Vec3, named
from armdyn.formats import load
from armdyn.graph import Graph, Operations, symbol, text, trace
from armdyn.mechanics import kinematics, lagrange, newton_euler
from armdyn.mechanics.actuators import friction_torques, rotor_torques
from armdyn.mechanics.matrices import plus
from armdyn.mechanics.newton_euler import Start, Tip, transmitted
from armdyn.parameters import base_parameters
from armdyn.robot import Robot
from armdyn.robot.links import WORLD
from armdyn.robot.parts import Friction
from armdyn.tables import Column, Section
from armdyn.texts.item import Chapter, Check, Claim, Count, Outcome, below, distance, equal, matches, misses
from armdyn.texts.khalil.chapter_7_3 import TEN, state
from armdyn.texts.khalil.rx90_program import OFFLINE, operations

chapter = Chapter("khalil")

# Table 7.5 ----------------------------------------------------------------------------------------------------------

Counts = tuple[int, int]
"""(multiplications, additions)"""
POLYNOMIALS: dict[str, tuple[Callable[[int], int], Callable[[int], int], Counts]] = {
    "Raibert 78": (lambda n: n**3 + 2 * n**2, lambda n: n**3 + n**2, (288, 252)),
    "Luh 80b": (lambda n: 137 * n - 22, lambda n: 101 * n - 11, (800, 595)),
    "Hollerbach 80": (lambda n: 412 * n - 277, lambda n: 320 * n - 201, (2195, 1719)),
    "Khalil 87b": (lambda n: 92 * n - 127, lambda n: 81 * n - 117, (425, 369)),
}
"""Table 7.5, column "general case", with n^3 for the printed 3^n (Khalil-4), and its numbers for n = 6."""
PRESENTED: dict[str, tuple[Counts, Counts]] = {
    "Stanford": ((240, 227), (142, 99)),
    "TH8": ((175, 162), (104, 72)),
    "RX-90": ((253, 238), (159, 113)),
}
"""Table 7.5, last row: general and simplified links."""
GEOMETRY: dict[str, tuple[str, Sequence[tuple[Any, Any, Any]]]] = {
    "Stanford": (
        "RRPRRR",
        [(0, 0, 0), ("-pi/2", 0, "r2"), ("pi/2", 0, 0), (0, 0, 0), ("-pi/2", 0, 0), ("pi/2", 0, 0)],
    ),
    "TH8": ("RPPRRR", [(0, 0, 0), (0, 0, 0), ("-pi/2", 0, 0), (0, 0, 0), ("pi/2", 0, 0), ("-pi/2", 0, 0)]),
    "RX-90": (
        "RRRRRR",
        [(0, 0, 0), ("pi/2", 0, 0), (0, "d3", 0), ("-pi/2", 0, "RL4"), ("pi/2", 0, 0), ("-pi/2", 0, 0)],
    ),
}
"""Kinds of joints, and (alpha, d, r) of each; only those of the RX-90 are in the text."""


def symbolic_arm(kinds: str, geometry: Sequence[tuple[Any, Any, Any]], simplified: bool) -> Robot:
    """An arm whose links have all ten inertial parameters as symbols, or diagonal tensors and one first moment."""
    rows, values = [], {"G3": -9.81}
    for j, (kind, (alpha, a, d)) in enumerate(zip(kinds, geometry, strict=True), 1):
        letters: list[Any] = [f"{name}{j}" for name in TEN]
        if simplified:
            for k in (1, 2, 4, 6, 8 if j % 2 else 7):  # products of inertia, and two of MX, MY, MZ
                letters[k] = 0
        rows.append(
            {
                "type": "revolute" if kind == "R" else "prismatic",
                "alpha": alpha,
                "a": a,
                "d": d,
                "mass": letters[9],
                "moment": letters[6:9],
                "inertia_origin": letters[:6],
                "rotor": {"inertia": f"Ia{j}"},
            }
        )
        values |= {str(x): 1.0 for x in (*letters, f"Ia{j}", a, d) if isinstance(x, str)}
    return Robot.from_dh(rows, "modified", gravity=(0, 0, "G3"), parameters=values)


def arm(name: str, simplified: bool) -> Robot:
    """One of the arms of the table. The simplified RX-90 is that of the appendix, with symmetric links."""
    if name == "RX-90" and simplified:
        return load("rx90").without("friction")
    return symbolic_arm(*GEOMETRY[name], simplified)


def inverse_program(robot: Robot, tip: bool = True) -> Graph:
    """The customised inverse dynamics, with forces and moments of the last link given in its own frame.

    tip: whether there are any. The text's counts include them (FX6 ... CZ6 in its appendix).
    """

    def torques(q: Any, qd: Any, qdd: Any, wrench: Any) -> Any:
        last = Tip(robot.n - 1 if tip else WORLD, Vec3.of(wrench[:3]), Vec3.of(wrench[3:]))
        bodies = transmitted(robot, q, qd, qdd, last, Start(ZERO, ZERO, -robot.gravity)).torques
        return plus(bodies, rotor_torques(robot, q, qd, qdd), friction_torques(robot, qd))

    return trace(torques, {"q": robot.n, "qd": robot.n, "qdd": robot.n, "wrench": 6})


def inverse_operations(robot: Robot, tip: bool = True) -> Operations:
    """Operations of `inverse_program`."""
    return inverse_program(robot, tip).operations


def program_error(robot: Robot) -> float:
    """Relative error of the program with base parameters and tip forces, against Lagrange with all parameters."""
    model, arm = customised(robot), robot.bound()
    made = inverse_program(model)
    (q, qd, qdd), tip = state(robot.n, 9), state(6, 10, 1)[0]
    values = {str(node): float(model.parameters[str(node)]) for node in made.parameters}
    ours = made(q=q, qd=qd, qdd=qdd, wrench=tip, **values)
    R = kinematics.link_poses(arm, q)[-1].R.array().astype(float)
    return distance(ours, lagrange.inverse_dynamics(arm, q, qd, qdd, np.concatenate([R @ tip[:3], R @ tip[3:]])))


def customised(robot: Robot) -> Robot:
    """The robot in the symbols of its base parameters."""
    return base_parameters(robot, ("inertial", "rotor"), absent="zeros").symbolic_robot


def counted(operations: Operations) -> Counts:
    return operations.multiplications, operations.additions


def counts_text(counts: Counts) -> str:
    return f"{counts[0]} / {counts[1]}"


def compared(what: str, program: Operations, printed: Counts, functions: int | None = None) -> Count:
    """Operations of a program of ours beside the printed ones; functions: sines and cosines of the text's program."""
    return Count(what, counted(program), printed, (program.trigonometric, functions))


@chapter.evidence("Khalil-4")
def raibert_slip() -> Check:
    n, printed = 6, POLYNOMIALS["Raibert 78"][2][1]
    holds = 3**n + n**2 != printed and n**3 + n**2 == printed
    return Check(
        "additions of Raibert's method for n = 6", holds, f"3^n + n^2 = {3**n + n**2}, n^3 + n^2 = {n**3 + n**2}"
    )


@chapter.evidence("Khalil-6")
def multiplications_slip() -> Check:
    times, _ = operations(OFFLINE)
    holds = times == TABLE_7_6["simplified, base"][0] != 159
    return Check(
        "multiplications in the program of the appendix", holds, f"{times} counted; table 7.5 says 159, table 7.6 160"
    )


@chapter.item("table 7.5", "Operations of the inverse dynamic model, by method")
def table_7_5() -> Outcome:
    checks = [
        equal(f"{name}, n = 6", (times(6), plus(6)), counts) for name, (times, plus, counts) in POLYNOMIALS.items()
    ]
    rows, counts = [], []
    for name, printed in PRESENTED.items():
        ours = [inverse_operations(customised(arm(name, simplified))) for simplified in (False, True)]
        rows.append((name, *(counts_text(x) for a, b in zip(printed, ours, strict=True) for x in (a, counted(b)))))
        for kind, mine, theirs in zip(("general", "simplified"), ours, printed, strict=True):
            counts.append(compared(f"{name}, {kind} links", mine, theirs, WRITTEN.get((name, kind))))
    heads = ("robot", "general, printed", "general, ours", "simplified, printed", "simplified, ours")
    errors = [program_error(arm(name, simplified)) for name in PRESENTED for simplified in (False, True)]
    checks.append(below("torques of the counted programs, with tip forces, against Lagrange", max(errors), 1e-12))
    note = "Multiplications / additions with base parameters and tip forces."
    table = Section("The method of the text, and ours", tuple(map(Column, heads)), tuple(rows), note)
    chosen = "The geometry and first moments of the Stanford arm and the TH8, which the text does not describe."
    says = (
        "The polynomials of the table are evaluated for n = 6, and our customised programs are compared with its "
        "last row."
    )
    slips = (chapter.slip("Khalil-4"), chapter.slip("Khalil-6"))
    return Outcome(says, tuple(checks), slips, chosen, (table,), counts=tuple(counts))


# Example 7.4 --------------------------------------------------------------------------------------------------------


def printed_rates(q: Any, qd: Any, as_printed: bool) -> dict[str, Any]:
    """The intermediate variables of Example 7.4; row 2 of 4w3 as printed (WI12) or as in the appendix (WI13)."""
    C, S = dict(enumerate(np.cos(q), 1)), dict(enumerate(np.sin(q), 1))
    QP = dict(enumerate(qd, 1))
    v: dict[str, Any] = {"WI12": S[2] * QP[1], "WI22": C[2] * QP[1]}
    v |= {
        "WI13": C[3] * v["WI12"] + S[3] * v["WI22"],
        "WI23": -S[3] * v["WI12"] + C[3] * v["WI22"],
        "W33": QP[2] + QP[3],
    }
    v["WI14"] = C[4] * v["WI13"] - S[4] * v["W33"]
    v["WI24"] = -S[4] * v["WI12" if as_printed else "WI13"] - C[4] * v["W33"]
    v["W34"] = v["WI23"] + QP[4]
    v |= {"WI15": C[5] * v["WI14"] + S[5] * v["W34"], "WI25": -S[5] * v["WI14"] + C[5] * v["W34"]}
    v["W35"] = -v["WI24"] + QP[5]
    v |= {"WI16": C[6] * v["WI15"] - S[6] * v["W35"], "WI26": -S[6] * v["WI15"] - C[6] * v["W35"]}
    v["W36"] = v["WI25"] + QP[6]
    return v


def true_rates(robot: Robot, q: Any, qd: Any) -> dict[str, Any]:
    """The same variables from poses and Jacobians: jw_j and, without the joint's own rate, jw_(j-1)."""
    found: dict[str, Any] = {}
    for j, joint in enumerate(robot.joints, 1):
        R = np.asarray(kinematics.pose(robot, q, joint.body.name))[:3, :3]
        w = R.T @ kinematics.velocity(robot, q, qd, joint.body.name)[3:]
        found |= {f"WI{i}{j}": w[i - 1] for i in (1, 2)} | {f"W3{j}": w[2]}
    return found


def rate_errors(as_printed: bool) -> dict[str, float]:
    robot, (q, qd) = load("rx90"), state(6, 2, 2)
    printed, truth = printed_rates(q, qd, as_printed), true_rates(robot, q, qd)
    return {name: abs(float(value - truth[name])) for name, value in printed.items()}


@chapter.evidence("Khalil-3")
def example_7_4_slip() -> Check:
    return misses("WI24 at a random state", rate_errors(True)["WI24"], max(rate_errors(False).values()))


@chapter.item("Example 7.4", "Customised program of the RX-90's angular velocities", vouches=(kinematics.velocities,))
def example_7_4() -> Outcome:
    robot = load("rx90").without("friction")

    def rates(q: Any, qd: Any) -> Any:
        return [list(named(w, "W", j)) for j, w in enumerate(kinematics.velocities(robot, q, qd)[1], 1)]

    program = trace(rates, {"q": 6, "qd": 6}).program()
    bad = {name for name, error in rate_errors(True).items() if error > 1e-9}
    checks = (
        below("all 14 variables, row of 4w3 as in the appendix", max(rate_errors(False).values()), 1e-13),
        matches("variables that the misprinted row affects", bad, {"WI24", "W35", "WI16", "WI26"}),
        matches("our program contains S1 or C1", "sin(q1)" in program or "cos(q1)" in program, False),
    )
    says = "The printed variables are compared with poses and Jacobians. Our program for the same velocities follows."
    return Outcome(says, checks, (chapter.slip("Khalil-3"),), texts=(program,))


# Sec. 7.5.3 and table 7.6 -------------------------------------------------------------------------------------------


def general_arm(n: int) -> Robot:
    """A general revolute arm as in the text: only r_1, d_1, alpha_1 and r_n vanish. Its geometry is numeric."""
    rows = []
    for j in range(1, n + 1):
        letters = [f"{name}{j}" for name in TEN]
        first, last = j == 1, j == n
        rows.append(
            {
                "alpha": 0 if first else 0.4 + 0.2 * j,
                "a": 0 if first else 0.2 + 0.1 * j,
                "d": 0 if first or last else 0.1 + 0.07 * j,
                "mass": letters[9],
                "moment": letters[6:9],
                "inertia_origin": letters[:6],
            }
        )
    values = {f"{name}{j}": 1.0 for name in TEN for j in range(1, n + 1)}
    return Robot.from_dh(rows, "modified", parameters=values)


def general_counts() -> tuple[list[Check], list[Count], Section]:
    """Operations for general arms of n joints, and 92 n - 127 and 81 n - 117."""
    times, plus, _ = POLYNOMIALS["Khalil 87b"]
    sizes = (4, 5, 6, 7)
    made = [inverse_operations(customised(general_arm(n))) for n in sizes]
    ours = list(map(counted, made))
    counts = [
        compared(f"general arm of {n} joints, printed 92 n - 127 and 81 n - 117", mine, (times(n), plus(n)))
        for n, mine in zip(sizes, made, strict=True)
    ]
    steps = {(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(ours)}
    checks = [
        Check(
            "general arms of 4 to 7 joints: operations linear in n", len(steps) == 1, f"{sorted(steps)[0]} per joint"
        ),
        below(
            "torques of the counted program for 7 joints, with tip forces, against Lagrange",
            program_error(general_arm(7)),
            1e-12,
        ),
    ]
    rows = tuple(
        (str(n), counts_text((times(n), plus(n))), counts_text(mine)) for n, mine in zip(sizes, ours, strict=True)
    )
    note = "Multiplications / additions with tip forces."
    heads = (Column("joints"), Column("92 n - 127 / 81 n - 117"), Column("ours"))
    return checks, counts, Section("General revolute arms, base parameters", heads, rows, note)


@chapter.item("sec. 7.5.3", "Base inertial parameters", vouches=(base_parameters,))
def base_inertial_parameters() -> Outcome:
    robot = load("rx90").without("friction")
    base = base_parameters(robot, ("inertial", "rotor"), absent="zeros")
    motion = state(6, 7)
    truth = lagrange.inverse_dynamics(robot, *motion)
    grouped = newton_euler.inverse_dynamics(base.symbolic_robot.bound(), *motion)
    letters = [Friction(symbol(f"Fv{k}", "parameter"), symbol(f"Fc{k}", "parameter")) for k in range(1, 7)]
    tree = tuple(replace(j, friction=f) for j, f in zip(robot.symbolic.tree, letters, strict=True))
    more, less = (inverse_operations(each) for each in (replace(robot.symbolic, tree=tree), robot.symbolic))
    general = arm("RX-90", simplified=False)
    whole = base_parameters(general, ("inertial", "rotor"), absent="zeros")
    bare = base_parameters(general.without("rotors"), ("inertial",), absent="zeros")
    checks = (
        below(
            "torques from the base parameters, against Lagrange with all parameters", distance(grouped, truth), 1e-12
        ),
        Check(
            "minimal: rank over exact rationals",
            base.proved and whole.proved and bare.proved,
            f"{base.count} for symmetric links; {bare.count} in general, {whole.count} with rotors",
        ),
        matches("additions for friction, 2 n", more.additions - less.additions, 2 * 6),
        matches("sign functions for friction, n", more.others - less.others, 6),
        matches(
            "multiplications for friction by F_v, n (the text counts F_c sign(qd) as a sign)",
            more.multiplications - less.multiplications - 6,
            6,
        ),
    )
    rows = tuple((name, text(group)) for name, group in base.groups.items())
    table = Section("Base parameters of the RX-90", (Column("name"), Column("combination", folds=True)), rows)
    says = "Grouping gives the parameters that the appendix uses; the torques do not change."
    chosen = (
        "The inertial parameters of the RX-90, whose table of base parameters is not in the text, and the general arms."
    )
    more_checks, counts, costs = general_counts()
    return Outcome(says, (*checks, *more_checks), chosen=chosen, tables=(table, costs), counts=tuple(counts))


WRITTEN = {("RX-90", "simplified"): 10}
"""Sines and cosines of the one program that the text prints, in its appendix: S2, C2 to S6, C6."""
TABLE_7_6: dict[str, Counts] = {
    "general, standard": (294, 283),
    "general, base": (253, 238),
    "simplified, standard": (202, 153),
    "simplified, base": (160, 113),
}


@chapter.item("table 7.6", "Operations of the inverse dynamic model of the RX-90")
def table_7_6() -> Outcome:
    ours: dict[str, Operations] = {}
    for kind in ("general", "simplified"):
        robot = arm("RX-90", simplified=kind == "simplified")
        ours[f"{kind}, standard"] = inverse_operations(robot.symbolic)
        ours[f"{kind}, base"] = inverse_operations(customised(robot))
    counts = tuple(
        compared(name, ours[name], printed, WRITTEN["RX-90", "simplified"] if name == "simplified, base" else None)
        for name, printed in TABLE_7_6.items()
    )
    errors = [program_error(arm("RX-90", simplified)) for simplified in (False, True)]
    checks = (
        below("torques of the programs with base parameters, with tip forces, against Lagrange", max(errors), 1e-12),
    )
    kinds = ("general", "simplified")
    saved = {
        who: [1 - sum(t[f"{k}, base"]) / sum(t[f"{k}, standard"]) for k in kinds]
        for who, t in (("printed", TABLE_7_6), ("ours", {name: counted(each) for name, each in ours.items()}))
    }
    shares = {who: " and ".join(f"{100 * x:.0f} %" for x in each) for who, each in saved.items()}
    claim = Claim(
        "base parameters save about 25 % of the operations",
        f"{shares['ours']} for general and simplified links; the printed counts themselves give {shares['printed']}",
        all(0.2 <= x <= 0.3 for x in saved["ours"]),
    )
    heads = (Column("inertial parameters"), Column("printed"), Column("ours"))
    rows = tuple((name, counts_text(printed), counts_text(counted(ours[name]))) for name, printed in TABLE_7_6.items())
    note = "Multiplications / additions with tip forces."
    says = (
        "The operations of our programs are compared with the printed counts. The last row is the program of the "
        "appendix."
    )
    chosen = "The simplified links are those of the appendix. Different programs are counted, not one algorithm."
    table = Section("RX-90", heads, rows, note)
    return Outcome(says, checks, chosen=chosen, tables=(table,), claims=(claim,), counts=counts)
