"""Khalil, appendix: the customised inverse dynamics of the RX-90 with symmetric links, line by line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from armdyn.algebra import Vec3
from armdyn.formats import load
from armdyn.graph import trace
from armdyn.mechanics import lagrange, newton_euler
from armdyn.mechanics.kinematics import link_poses
from armdyn.mechanics.steps.newton_euler import rate_matrix
from armdyn.parameters import base_parameters
from armdyn.robot import Robot
from armdyn.texts.item import Chapter, Check, Outcome, Slip, aside, below, distance, equal
from armdyn.texts.khalil import rx90_program
from armdyn.texts.khalil.chapter_7_3 import state
from armdyn.texts.khalil.chapter_7_4 import printed_recursion
from armdyn.texts.khalil.chapter_7_5 import (
    TABLE_7_6,
    counted,
    counts_text,
    customised,
    inverse_operations,
    multiplications_slip,
)
from armdyn.texts.khalil.rx90_program import OFFLINE, operations

chapter = Chapter("khalil")

TIP = ("FX6", "FY6", "FZ6", "CX6", "CY6", "CZ6")
"""Force and moment that the last link exerts, in its axes."""


@chapter.evidence("Khalil-7")
def asterisk_slip() -> Check:
    marked, unmarked = operations(OFFLINE)[1], operations(OFFLINE[1:])[1]
    return Check("additions with and without an asterisk at PIS22", marked == 113 != unmarked, f"{marked}, {unmarked}")


def base_values(robot: Robot) -> dict[str, float]:
    """Values of the program's parameters, by its names."""
    base = base_parameters(robot, ("inertial", "rotor"), absent="zeros")
    values = dict(zip(base.names, base.values.tolist(), strict=True))
    renamed = {"ZZR1": "ZZ1R"} | {f"Ia{j}": f"IA{j}" for j in range(3, 7)}
    values = {renamed.get(name, name): value for name, value in values.items()}
    lengths = {name: float(robot.parameters[name]) for name in ("d3", "RL4")}
    return values | lengths | {"G3": -float(robot.parameters["g"])}


def executed(robot: Robot, q: Any, qd: Any, qdd: Any, tip: Any) -> dict[str, float]:
    """Every variable of the program."""
    known = base_values(robot) | dict(zip(TIP, tip, strict=True))
    for j in range(6):
        known |= {f"S{j + 1}": np.sin(q[j]), f"C{j + 1}": np.cos(q[j]), f"QP{j + 1}": qd[j], f"QDP{j + 1}": qdd[j]}
    return rx90_program.executed(known)


def meanings(robot: Robot, q: Any, qd: Any, qdd: Any, tip: Any) -> dict[str, float]:
    """The same variables from (7.51)-(7.61) with base parameters: the meaning of each name."""
    model = customised(robot).bound()
    force, moment = Vec3(*tip[:3]), Vec3(*tip[3:])
    free = printed_recursion(model, q, qd, qdd, rate_matrix)
    full = printed_recursion(model, q, qd, qdd, rate_matrix, (force, moment))
    found: dict[str, float] = {f"GAM{j}": tau for j, tau in enumerate(full.torques, 1)}
    for j, link in enumerate(model.links):
        R, P = link.pose(q[j])
        w, wd, body = full.w[j], full.wd[j], link.inertia
        U = rate_matrix(w, wd)
        before = free.a[j - 1] + rate_matrix(full.w[j - 1], full.wd[j - 1]) @ P if j else -1 * model.gravity
        XX, _, _, _, _, ZZ = body.tensor.upper()
        vectors = {
            "WI": w,
            "W": w,
            "WP": wd,
            "VSP": before,
            "VP": full.a[j],
            "F": U @ body.moment,
            "No": body.tensor @ wd + w.cross(body.tensor @ w),
            "E": full.f[j],
            "N": full.m[j],
            "FDI": R @ full.f[j],
        }
        found |= {f"{name}{i}{j + 1}": x for name, v in vectors.items() for i, x in enumerate(v, 1)}
        found |= {f"U{r}{c}{j + 1}": U.rows[r - 1][c - 1] for r in (1, 2, 3) for c in (1, 2, 3)}
        rates = list(w)
        found |= {
            f"DV{r}{c}{j + 1}": rates[r - 1] * rates[c - 1] * (-1 if r == c else 1)
            for r in (1, 2, 3)
            for c in range(r, 4)
        }
        found[f"PIS2{j + 1}"] = XX - ZZ
    return {name: float(value) for name, value in found.items()}


def ours_as_program(robot: Robot) -> str:
    """Our customised program for the same arm, without tip forces."""
    model = customised(robot)
    inputs = {"QQ": 6, "QP": 6, "QDP": 6}
    return trace(lambda q, qd, qdd: {"GAM": newton_euler.inverse_dynamics(model, q, qd, qdd)}, inputs).program()


def families(names: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """Names grouped by their letters."""
    stems = dict.fromkeys(re.sub(r"\d+$", "", name) for name in names)
    for stem in stems:
        yield stem, [name for name in names if re.fullmatch(stem + r"\d+", name)]


@chapter.item("appendix", "Program of the inverse dynamics of the RX-90", vouches=(rate_matrix,))
def appendix() -> Outcome:
    robot = load("rx90").without("friction")
    (q, qd, qdd), tip = state(6, 11), state(6, 12, 1)[0]
    printed, ours = executed(robot, q, qd, qdd, tip), meanings(robot, q, qd, qdd, tip)
    R = link_poses(robot, q)[5].R.array().astype(float)
    wrench: Any = np.concatenate([R @ tip[:3], R @ tip[3:]])
    torques = [printed[f"GAM{j}"] for j in range(1, 7)]
    truth = lagrange.inverse_dynamics(robot, q, qd, qdd, wrench)
    checks = [
        equal("multiplications, additions", operations(OFFLINE), TABLE_7_6["simplified, base"]),
        below("torques against Lagrange with standard parameters", distance(torques, truth), 1e-12),
    ]
    for stem, names in families(printed):
        error = max(abs(printed[name] - ours[name]) / max(1.0, abs(ours[name])) for name in names)
        checks.append(below(f"{stem}: {len(names)} lines", error, 1e-12))
    bare, mine = operations(OFFLINE, TIP), counted(inverse_operations(customised(robot), tip=False))
    figure = f"{counts_text(mine)}, {counts_text(bare)} in the printed one"
    less = Check("our program without tip forces needs no more operations", sum(mine) <= sum(bare), figure)
    checks.append(aside(less))
    says = (
        "Every line is executed and compared with the quantity of the recursion that it names; the torques are "
        "compared with Lagrange's. The printed program and ours follow."
    )
    chosen = "Inertial parameters, lengths and the state. The text's table of base parameters is missing (Khalil-8)."
    slips = (Slip("Khalil-6", multiplications_slip()), chapter.slip("Khalil-7"))
    return Outcome(says, tuple(checks), slips, chosen, texts=(rx90_program.PROGRAM, ours_as_program(robot)))
