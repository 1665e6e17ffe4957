"""Siciliano, sec. 7.3.3: the parallelogram arm, as printed and corrected."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from armdyn import catalog
from armdyn.equations import derive, design_conditions
from armdyn.formats import load, toml
from armdyn.graph import PI, count_operations, derivative, evaluate, identical, symbol, symbols, to_float
from armdyn.mechanics import closed_chain, kinematics, newton_euler
from armdyn.mechanics.matrices import product
from armdyn.robot import Robot
from armdyn.texts.item import Chapter, Check, Claim, Outcome, aside, below, distance, identity

chapter = Chapter("siciliano")

NAMES = "g a1p a1s l1p l2p l3p l1s ml1p ml2p ml3p ml1s Il1p Il2p Il3p Il1s c u w"
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES.split()})
t1, t2 = symbols("t1 t2")
q = symbols("q1 q2 q3 q4")
G = [[1, 0], [-1, 1], [1, -1], [0, 1]]
"""Rates of all joints per rate of the active ones: theta2' = theta1'' - theta1', theta3' = pi - theta2'."""
CLOSED = (t1, t2 - t1, PI - (t2 - t1), t2)
lb3 = p.l3p - p.a1p


def parallelogram(**changes: str) -> Robot:
    """The arm of the catalog with a2' = a1'' and a3' = a1', and with the given lengths or masses."""
    text = Path(catalog.__file__ or "").with_name("parallelogram.toml").read_text(encoding="utf-8")
    text = text.replace('a2p = "a1s"\n', "").replace('a3p = "a1p"\n', "").replace("a2p", "a1s").replace("a3p", "a1p")
    text = text.replace("[parameters]", "[parameters]\nc = 2.0\nu = 0.3\nw = 1.1")
    for name, formula in changes.items():
        text = text.replace(f'"{name}"', f'"{formula}"').replace(f'"{name} -', f'"{formula} -')
    return toml.loads(text).symbolic


ARM = parallelogram()


def active_inertia(robot: Robot = ARM) -> list[list[Any]]:
    """B_a: the tree's inertia matrix, projected."""
    return closed_chain.reduced(G, newton_euler.mass_matrix(robot.opened, CLOSED))


def printed_tree() -> list[list[Any]]:
    """B' of the virtual arm, with a2' = a1''; b_3'3' without the cosine (Siciliano-2)."""
    c2, c3, c23 = q[1].cos(), q[2].cos(), (q[1] + q[2]).cos()
    m2, m3, a1, a2, l2, l3 = p.ml2p, p.ml3p, p.a1p, p.a1s, p.l2p, p.l3p
    b11 = (
        p.Il1p
        + p.ml1p * p.l1p**2
        + p.Il2p
        + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * c2)
        + p.Il3p
        + m3 * (a1**2 + a2**2 + l3**2 + 2 * a1 * a2 * c2 + 2 * a1 * l3 * c23 + 2 * a2 * l3 * c3)
    )
    b12 = (
        p.Il2p
        + m2 * (l2**2 + a1 * l2 * c2)
        + p.Il3p
        + m3 * (a2**2 + l3**2 + a1 * a2 * c2 + a1 * l3 * c23 + 2 * a2 * l3 * c3)
    )
    b13 = p.Il3p + m3 * (l3**2 + a1 * l3 * c23 + a2 * l3 * c3)
    b22 = p.Il2p + m2 * l2**2 + p.Il3p + m3 * (a2**2 + l3**2 + 2 * a2 * l3 * c3)
    b23 = p.Il3p + m3 * (l3**2 + a2 * l3 * c3)
    return [[b11, b12, b13], [b12, b22, b23], [b13, b23, p.Il3p + m3 * l3**2]]


def printed_tree_gravity() -> list[Any]:
    """g_1', g_2', g_3', g_1''."""
    c1, c12, c123 = q[0].cos(), (q[0] + q[1]).cos(), (q[0] + q[1] + q[2]).cos()
    third = p.ml3p * p.l3p * p.g * c123
    second = (p.ml2p * p.l2p + p.ml3p * p.a1s) * p.g * c12 + third
    first = (p.ml1p * p.l1p + p.ml2p * p.a1p + p.ml3p * p.a1p) * p.g * c1 + second
    return [first, second, third, p.ml1s * p.l1s * p.g * q[3].cos()]


def printed_active(b22: Any) -> list[list[Any]]:
    """B_a with a given b_a22."""
    b11 = (
        p.Il1p
        + p.ml1p * p.l1p**2
        + p.ml2p * p.a1p**2
        + p.Il3p
        + p.ml3p * p.l3p**2
        + p.ml3p * p.a1p**2
        - 2 * p.a1p * p.ml3p * p.l3p
    )
    b12 = (p.a1p * p.ml2p * p.l2p + p.a1s * p.ml3p * (p.a1p - p.l3p)) * (t2 - t1).cos()
    return [[b11, b12], [b12, b22]]


def printed_active_gravity() -> list[Any]:
    first = (p.ml1p * p.l1p + p.ml2p * p.a1p - p.ml3p * lb3) * p.g * t1.cos()
    return [first, (p.ml1s * p.l1s + p.ml2p * p.l2p + p.ml3p * p.a1s) * p.g * t2.cos()]


RIGHT_B22 = p.Il1s + p.ml1s * p.l1s**2 + p.Il2p + p.ml2p * p.l2p**2 + p.ml3p * p.a1s**2
PRINTED_B22 = p.Il1p + p.ml1p * p.l1p**2 + p.Il2p + p.ml2p * p.l2p**2 + p.ml2p * p.a1s**2


def shown(what: str, printed: bool, right: bool, text: str) -> Check:
    """Symbolic evidence: the printed form is not an identity, the right one is."""
    told = {True: "identical in every symbol", False: "not identical"}
    return Check(what, right and not printed, f"as printed {told[printed]}; {text} {told[right]}")


@chapter.evidence("Siciliano-1")
def b_a22_slip() -> Check:
    found = active_inertia()[1][1]
    return shown("b_a22", identical(found, PRINTED_B22), identical(found, RIGHT_B22), "with 1'' and m_3'")


@chapter.evidence("Siciliano-2")
def b_33_slip() -> Check:
    found = newton_euler.mass_matrix(ARM.opened, q)[2][2]
    as_printed = p.Il3p + p.ml3p * (p.l3p**2 + p.a1s * p.l3p * q[2].cos())
    return shown("b_3'3'", identical(found, as_printed), identical(found, p.Il3p + p.ml3p * p.l3p**2), "without cosine")


def decoupled() -> Robot:
    """m2', m3' and l3' that satisfy m_3' lb_3' / (m_2' l_2') = a_1' / a_1'' whatever c, u and the lengths are."""
    return parallelogram(ml2p="c*u*a1s", ml3p="c*a1p*l2p", l3p="a1p + u")


@chapter.evidence("Siciliano-5")
def condition_slip() -> Check:
    as_printed = parallelogram(l2p="a1s*w", l3p="a1p + a1p*w")  # lb3' / l2' = a1' / a1''
    printed, right = (identical(active_inertia(robot)[0][1], 0 * t1) for robot in (as_printed, decoupled()))
    return shown("b_a12 = 0 under the condition of decoupling", printed, right, "with m_2' in the denominator")


@chapter.evidence("Siciliano-6")
def decoupled_slip() -> Check:
    m2 = p.c * p.u * p.a1s
    ratio = m2 * p.l2p**2 * (1 + p.a1p * p.a1s / (p.l2p * p.u))
    found = active_inertia(decoupled())[1][1]
    as_printed, right = (
        inertia + p.Il2p + ratio for inertia in (p.Il1p + p.ml1p * p.l1p**2, p.Il1s + p.ml1s * p.l1s**2)
    )
    return shown("decoupled b_a22", identical(found, as_printed), identical(found, right), "with 1'' and lb_3'")


def _numbers(robot: Robot, at: Any) -> tuple[Check, ...]:
    """B_a, g_a and the torques of the velocities that follow from B_a, printed, against the library's functions."""
    rates, growth = np.array([1.0, 2.0]), np.array([0.7, -1.3])
    values = {**robot.parameters, str(t1): at[0], str(t2): at[3]}
    B, g = evaluate((printed_active(RIGHT_B22), printed_active_gravity()), values)
    slopes = evaluate([derivative(printed_active(RIGHT_B22)[0][1], (t,)) for t in (t2, t1)], values)
    torques = np.array(slopes, float).reshape(2) * rates[::-1] ** 2  # only b_a12 varies
    return (
        below("B_a in numbers", distance(closed_chain.mass_matrix(robot, at), B), 1e-12),
        below("g_a in numbers", distance(closed_chain.gravity(robot, at), g), 1e-12),
        below(
            "equations of motion in numbers",
            distance(
                closed_chain.inverse_dynamics(robot, at, rates, growth),
                np.asarray(B, float) @ growth + torques + np.asarray(g, float),
            ),
            1e-12,
        ),
        below(
            "C_a qd_a from the derivatives of B_a", distance(closed_chain.coriolis(robot, at, rates), torques), 1e-12
        ),
    )


def printed_jacobians() -> dict[str, tuple[str, list[list[Any]]]]:
    """J_P above J_O of the centres of mass of the virtual arm and of link 1'', by the names of the bodies."""
    zero, one = 0 * t1, 0 * t1 + 1
    angles = [q[0], q[0] + q[1], q[0] + q[1] + q[2]]

    def bar(length: Any, angle: Any) -> tuple[Any, Any]:
        return -length * angle.sin(), length * angle.cos()

    def jacobian(bars: list[tuple[Any, Any]], first: int) -> list[list[Any]]:
        columns = []
        for j in range(4):
            turns = first <= j < first + len(bars)
            v = [sum((each[axis] for each in bars[j - first :]), zero) if turns else zero for axis in (0, 1)]
            columns.append([*v, zero, zero, zero, one if turns else zero])
        return [list(row) for row in zip(*columns, strict=True)]

    first, second = bar(p.a1p, angles[0]), bar(p.a1s, angles[1])
    return {
        "l_1'": ("link1p", jacobian([bar(p.l1p, angles[0])], 0)),
        "l_2'": ("link2p", jacobian([first, bar(p.l2p, angles[1])], 0)),
        "l_3'": ("link3p", jacobian([first, second, bar(p.l3p, angles[2])], 0)),
        "l_1''": ("link1s", jacobian([bar(p.l1s, q[3])], 3)),
    }


@chapter.item(
    "sec. 7.3.3",
    "Parallelogram arm",
    vouches=(
        closed_chain.reduced_torques,
        closed_chain.inverse_dynamics,
        closed_chain.constraint_jacobian,
        kinematics.body_jacobian,
        closed_chain.coriolis,
        closed_chain.mass_matrix,
        closed_chain.gravity,
    ),
)
def section_7_3_3() -> Outcome:
    tree = newton_euler.mass_matrix(ARM.opened, q)
    J = closed_chain.constraint_jacobian(ARM, CLOSED)
    gravity = closed_chain.reduced_torques(G, newton_euler.gravity(ARM.opened, CLOSED))
    m2 = p.c * p.u * p.a1s
    b11 = p.Il1p + p.ml1p * p.l1p**2 + m2 * p.a1p**2 * (1 + p.l2p * p.u / (p.a1p * p.a1s)) + p.Il3p
    diagonal = active_inertia(decoupled())
    robot = load("parallelogram")
    at = closed_chain.close(robot, [0.3, 1.5], [0.3, 1.0, 2.0, 1.5])
    coupled, free = (np.abs(closed_chain.coriolis(each, at, [1.0, 2.0])).max() for each in (robot, decoupled().bound()))
    values = {name: float(value) for name, value in ARM.bound().parameters.items()}
    off = [to_float(b, values) for b in (PRINTED_B22, RIGHT_B22)]
    checks = (
        identity("the loop closes", identical(closed_chain.constraints(ARM, CLOSED), [0] * 5)),
        identity(
            "the Jacobian of the loop is the derivative of its conditions",
            identical(closed_chain.constraint_jacobian(ARM, q), derivative(closed_chain.constraints(ARM, q), q)),
        ),
        identity("G keeps the loop closed", identical(product(J, G), [[0, 0]] * 5)),
        identity(
            "B' of the virtual arm, with b_3'3' corrected", identical([row[:3] for row in tree[:3]], printed_tree())
        ),
        *(
            identity(f"J_P and J_O of {name}", identical(kinematics.body_jacobian(ARM.opened, q, body), J))
            for name, (body, J) in printed_jacobians().items()
        ),
        identity("b_1''1''", identical(tree[3], [0, 0, 0, p.Il1s + p.ml1s * p.l1s**2])),
        identity("g_1' to g_1''", identical(newton_euler.gravity(ARM.opened, q), printed_tree_gravity())),
        identity("B_a, with b_a22 corrected", identical(active_inertia(), printed_active(RIGHT_B22))),
        identity("g_a", identical(gravity, printed_active_gravity())),
        identity("decoupled: b_a11 and the zeros", identical([diagonal[0], [diagonal[1][0]]], [[b11, 0], [0]])),
        *_numbers(robot, at),
        below("decoupled: Coriolis and centrifugal torques, N m", float(free), 1e-12),
        Check("without decoupling they do not vanish", bool(coupled > 0.1), f"{coupled:.2g} N m"),
    )
    spent = [
        count_operations(list(derive(load(name).without("rotors")).nodes("tau"))).total
        for name in ("parallelogram", "planar2r")
    ]
    loops, bars = (
        design_conditions(load(name).without("rotors"), "M diagonal") for name in ("parallelogram", "planar2r")
    )
    ((condition,), (never,)) = loops.conditions, [each for each in bars.conditions if not each.possible]
    mass = condition.solved("ml3p")
    a2p = symbol("a2p", "parameter")  # a_1'' of the text
    checks = (
        *checks,
        identity(
            "the condition of decoupling, solved from b_a12",
            mass is not None and identical(mass * (a2p * lb3), p.a1p * p.ml2p * p.l2p),
        ),
        aside(Check("no masses and lengths decouple the two-link planar arm", not bars.possible, f"{never}")),
    )
    claim = Claim(
        "the dynamic model of the parallelogram is remarkably lighter than that of the two-link planar arm",
        f"{spent[0]} operations for the torques by the explicit equations, letters multiplied out before; "
        f"{spent[1]} for the planar arm without motors",
        spent[0] < 0.7 * spent[1],
    )
    slips = tuple(chapter.slip(f"Siciliano-{k}") for k in (1, 2, 5, 6))
    says = "The tree, its projection onto the active joints and the decoupled design are compared symbolically."
    note = f"With the numbers of the catalog the printed b_a22 is {off[0]:.4g} kg m², the right one {off[1]:.4g} kg m²."
    return Outcome(f"{says} {note}", checks, slips, claims=(claim,))
