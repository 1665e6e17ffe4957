"""Siciliano, problems 7.1 to 7.8, solved by hand and by armdyn."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.formats import load
from armdyn.graph import PI, Node, identical, symbol, symbols, text
from armdyn.mechanics import christoffel, gim_christoffel, lagrange, newton_euler
from armdyn.mechanics.matrices import times
from armdyn.motion.torques import torque_breakdown
from armdyn.parameters import base_parameters
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.robot import Robot
from armdyn.texts.item import Chapter, Outcome, below, distance, equal, identity, matches
from armdyn.texts.siciliano.example_7_2 import MOTIONS
from armdyn.texts.siciliano.lagrange_arms import (
    BY,
    FOUR,
    NAMES,
    PLANAR,
    ZERO,
    c1,
    c2,
    c12,
    cartesian_model,
    difference,
    form,
    h,
    listed,
    p,
    planar_torques,
    q,
    q1,
    q2,
    qd,
    qdd,
    rate_of_inertia,
    s2,
    twice,
    v1,
    v2,
    w1,
    w2,
)

chapter = Chapter("siciliano")
NO_SOLUTION = "The text prints no solution."

VALUES = dict.fromkeys(NAMES.split(), 0.7)


def rotor(i: int) -> dict[str, Any]:
    return {"model": "full", "inertia": f"Im{i}", "ratio": f"kr{i}", "mass": f"mm{i}"}


def total(B: Any, *rest: Any) -> list[Any]:
    """B qdd and further terms."""
    return [sum(terms, ZERO) for terms in zip(times(B, qdd), *rest, strict=True)]


# 7.1, Cartesian arm with oblique axes -------------------------------------------------------------------------------


def oblique(angle: str) -> Robot:
    """The Cartesian arm with its second axis at an angle to the first."""
    rows = [
        {"type": "prismatic", "theta": "pi/2", "alpha": angle, "mass": "ml1", "rotor": rotor(1)},
        {"type": "prismatic", "mass": "ml2", "rotor": rotor(2)},
    ]
    return Robot.from_dh(rows, gravity=(0, 0, "-g"), parameters=VALUES).symbolic


def oblique_model(cosine: Any) -> tuple[list[list[Any]], list[Any]]:
    """(B, g) by hand: velocity of link 2 is d1' z0 + d2' z1 with z0.z1 = cosine, neither link rotates, so

    T = 1/2 (ml1 + mm2 + kr1^2 Im1) d1'^2 + 1/2 ml2 (d1'^2 + d2'^2 + 2 cosine d1' d2') + 1/2 kr2^2 Im2 d2'^2,
    U = (ml1 + mm2 + ml2) g d1 + ml2 g cosine d2.
    """
    carried = p.ml1 + p.mm2 + p.ml2
    B = [[carried + p.kr1**2 * p.Im1, p.ml2 * cosine], [p.ml2 * cosine, p.ml2 + p.kr2**2 * p.Im2]]
    return B, [carried * p.g, p.ml2 * p.g * cosine]


@chapter.item(
    "problem 7.1",
    "Cartesian arm with axes at an angle of pi/4",
    vouches=(lagrange.mass_matrix, lagrange.gravity, lagrange.inverse_dynamics),
)
def problem_7_1() -> Outcome:
    checks = []
    angles: tuple[tuple[str, Node], ...] = (("pi/4", PI / 4), ("alpha", p.alpha))
    for letters, angle in angles:
        robot, (B, g) = oblique(letters), oblique_model(angle.cos())
        agree = [
            identical(m.mass_matrix(robot, q), B)
            and identical(m.gravity(robot, q), g)
            and identical(m.coriolis(robot, q, qd), [0, 0])
            and identical(m.inverse_dynamics(robot, q, qd, qdd), total(B, g))
            for m in FOUR
        ]
        checks.append(identity(f"angle {letters}: B, C, g and tau {BY}", all(agree)))
    B, g = oblique_model(0 * q1)
    right, held, _ = cartesian_model()
    checks.append(identity("at a right angle: the arm of sec. 7.3.1", identical([B, [g]], [right, [held]])))
    says = (
        "Derived by hand from the energies and by four formulations. The joints are coupled by ml2 cos(angle), and "
        "gravity acts on both."
    )
    return Outcome(says, tuple(checks), unprinted=NO_SOLUTION)


# 7.2, another C -----------------------------------------------------------------------------------------------------


@chapter.item(
    "problem 7.2",
    "A matrix C with (7.49) but without (7.48)",
    vouches=(
        gim_christoffel.velocity_coefficients,
        gim_christoffel.coriolis_matrix,
        gim_christoffel.coriolis,
        gim_christoffel.mass_matrix,
    ),
)
def problem_7_2() -> Outcome:
    """Derived by hand from (7.41): h_112 = 2h, h_122 = h, h_211 = -h, h_212 = h/2, h_221 = -h/2, the others 0."""
    coefficients = gim_christoffel.velocity_coefficients(PLANAR, q)
    by_hand = [[[0, 2 * h], [0, h]], [[-h, h / 2], [-h / 2, 0]]]
    C = christoffel.matrix_from_symbols(coefficients, qd)
    N, u = difference(rate_of_inertia(), twice(C)), symbols("u1 u2")
    right = difference(rate_of_inertia(), twice(gim_christoffel.coriolis_matrix(PLANAR, q, qd)))
    checks = (
        identity("h_ijk of (7.41) by hand", identical(coefficients, by_hand)),
        identity("(7.43): the same torques", identical(times(C, qd), gim_christoffel.coriolis(PLANAR, q, qd))),
        identity("(7.49): qd^T N qd = 0", identical(form(qd, N), ZERO)),
        matches("(7.48) holds for every w", bool(identical(form(u, N), ZERO)), False),
        identity("it holds with Christoffel symbols", identical(form(u, right), ZERO)),
    )
    return Outcome(
        "C is taken directly from the coefficients h_ijk of the planar arm.",
        checks,
        unprinted="The text states the properties, and prints neither coefficients nor C.",
    )


# 7.3, SCARA ---------------------------------------------------------------------------------------------------------

SCARA = "a1 a2 l1 l2 m1 m2 m3 m4 I1 I2 I3 I4 g"


def scara() -> Robot:
    """Two revolute joints, a prismatic and a last revolute joint, all axes vertical, z upwards, without motors."""
    rows: list[dict[str, Any]] = [
        {"a": f"a{i}", "mass": f"m{i}", "com": [f"l{i} - a{i}", 0, 0], "inertia": [0, 0, 0, 0, 0, f"I{i}"]}
        for i in (1, 2)
    ]
    rows.append({"type": "prismatic", "mass": "m3", "inertia": [0, 0, 0, 0, 0, "I3"]})
    rows.append({"mass": "m4", "inertia": [0, 0, 0, 0, 0, "I4"]})
    return Robot.from_dh(rows, gravity=(0, 0, "-g"), parameters=dict.fromkeys(SCARA.split(), 0.7)).symbolic


def scara_model() -> tuple[list[list[Any]], list[Any], list[Any]]:
    """(B, C qd, g) by hand: a planar arm with m3 + m4 at its end, I3 and I4 rotating with it, I4 also by itself."""
    a1, a2, l1, l2, m1, m2, m3, m4, I1, I2, I3, I4, g = (symbol(name, "parameter") for name in SCARA.split())
    x, v = symbols("q1 q2 q3 q4"), symbols("v1 v2 v3 v4")
    M, turning = m3 + m4, I3 + I4
    c = x[1].cos()
    b11 = (
        I1 + m1 * l1**2 + I2 + m2 * (a1**2 + l2**2 + 2 * a1 * l2 * c) + M * (a1**2 + a2**2 + 2 * a1 * a2 * c) + turning
    )
    b12 = I2 + m2 * (l2**2 + a1 * l2 * c) + M * (a2**2 + a1 * a2 * c) + turning
    b22 = I2 + m2 * l2**2 + M * a2**2 + turning
    B = [[b11, b12, 0, I4], [b12, b22, 0, I4], [0, 0, M, 0], [I4, I4, 0, I4]]
    pull = (m2 * a1 * l2 + M * a1 * a2) * x[1].sin()
    return B, [-pull * (2 * v[0] * v[1] + v[1] ** 2), pull * v[0] ** 2, 0, 0], [0, 0, M * g, 0]


@chapter.item("problem 7.3", "SCARA manipulator", vouches=(lagrange.mass_matrix, lagrange.coriolis, lagrange.gravity))
def problem_7_3() -> Outcome:
    robot, (B, C, g) = scara(), scara_model()
    x, v = symbols("q1 q2 q3 q4"), symbols("v1 v2 v3 v4")
    checks = (
        identity(f"B {BY}", all(identical(m.mass_matrix(robot, x), B) for m in FOUR)),
        identity("C qd", all(identical(m.coriolis(robot, x, v), C) for m in FOUR)),
        identity("g", all(identical(m.gravity(robot, x), g) for m in FOUR)),
    )
    chosen = "Figure 2.36 is not in the text: axes vertical, z upwards, centres of mass on the links, no motors."
    lines = [f"b{i + 1}{j + 1} = {text(B[i][j])}" for i in range(4) for j in range(i, 4)]
    return Outcome(
        "Derived by hand, as a planar arm that carries the prismatic joint and the wrist, and by four formulations.",
        checks,
        chosen=chosen,
        texts=("\n".join(lines),),
        unprinted=NO_SOLUTION,
    )


# 7.4, minimal parameters --------------------------------------------------------------------------------------------


def five() -> tuple[list[Any], list[list[Any]]]:
    """Five parameters of (7.82) and the columns of the regressor that belong to them."""
    parameters = [
        p.Il1 + p.ml1 * p.l1**2 + p.kr1**2 * p.Im1 + p.Im2 + (p.mm2 + p.ml2) * p.a1**2,
        p.ml1 * p.l1 + (p.mm2 + p.ml2) * p.a1,
        p.Il2 + p.ml2 * p.l2**2,
        p.ml2 * p.l2,
        p.Im2,
    ]
    swing = [
        p.a1 * (2 * c2 * w1 + c2 * w2 - 2 * s2 * v1 * v2 - s2 * v2**2) + p.g * c12,
        p.a1 * (c2 * w1 + s2 * v1**2) + p.g * c12,
    ]
    columns = [[w1, 0], [p.g * c1, 0], [w1 + w2, w1 + w2], swing, [p.kr2 * w2, p.kr2 * w1 + p.kr2**2 * w2]]
    return parameters, columns


@chapter.item("problem 7.4", "Minimal parameters of the planar arm")
def problem_7_4() -> Outcome:
    parameters, columns = five()
    tau = [sum((y[i] * x for y, x in zip(columns, parameters, strict=True)), ZERO) for i in (0, 1)]
    base = base_parameters(load("planar2r"), ("inertial", "rotor"), absent="zeros")
    checks = (
        identity("Y pi with five parameters is (7.82)", identical(tau, planar_torques())),
        equal("minimal: rank over exact rationals (footnote 6 says five)", base.count, 5),
        matches("grouping rules and exact rank agree", base.proved, True),
    )
    return Outcome(
        "Five parameters are found by hand; an exact rank shows that no fewer suffice.",
        checks,
        texts=(listed("pi", parameters),),
    )


# 7.5 and 7.8, prismatic and revolute joint --------------------------------------------------------------------------


def slider(loaded: bool = False) -> Robot:
    """Joint 1 is prismatic along z0, joint 2 revolute about y0; l2 from its axis to the centre of mass of link 2.

    Gravity has both components in the plane, so any mounting of the arm is covered (gx = 0: vertical axis, gz = 0:
    horizontal axis). loaded: a mass mL at the tip, the origin of frame 2.
    """
    mass = "ml2 + mL" if loaded else "ml2"
    rows: list[dict[str, Any]] = [
        {"type": "prismatic", "alpha": "-pi/2", "mass": "ml1", "rotor": rotor(1)},
        {
            "a": "a2",
            "mass": mass,
            "moment": ["ml2*(l2 - a2)", 0, 0],
            "rotor": rotor(2),
            "inertia_origin": [0, 0, 0, 0, 0, "Il2 + ml2*(l2 - a2)**2"],
        },
    ]
    return Robot.from_dh(rows, gravity=("gx", 0, "gz"), parameters=VALUES).symbolic


def slider_parameters(load_mass: Any) -> list[Any]:
    """Translating masses, rotor 1, first moment, moment of inertia about the axis, rotor 2."""
    return [
        p.ml1 + p.mm2 + p.ml2 + load_mass,
        p.Im1,
        p.ml2 * p.l2 + load_mass * p.a2,
        p.Il2 + p.ml2 * p.l2**2 + load_mass * p.a2**2,
        p.Im2,
    ]


def slider_columns() -> list[list[Any]]:
    """Columns of the regressor for `slider_parameters`.

    Centre of mass of link 2 at (l2 c2, 0, d1 - l2 s2), so its speed squared is d1'^2 - 2 l2 c2 d1' th' + l2^2 th'^2.
    T = 1/2 (ml1 + mm2 + ml2 + kr1^2 Im1) d1'^2 - ml2 l2 c2 d1' th' + 1/2 (Il2 + ml2 l2^2 + kr2^2 Im2) th'^2,
    U = -(ml1 + mm2) gz d1 - ml2 (gx l2 c2 + gz (d1 - l2 s2)).
    """
    return [
        [w1 - p.gz, 0],
        [p.kr1**2 * w1, 0],
        [-c2 * w2 + s2 * v2**2, -c2 * w1 + p.gx * s2 + p.gz * c2],
        [0, w2],
        [0, p.kr2**2 * w2],
    ]


def slider_torques(load_mass: Any) -> list[Any]:
    pairs = list(zip(slider_columns(), slider_parameters(load_mass), strict=True))
    return [sum((y[i] * x for y, x in pairs), ZERO) for i in (0, 1)]


SLIDER_CHOSEN = (
    "Fig. 7.16 is not in the text: a prismatic joint along z0 and a revolute joint about y0, gravity in any "
    "direction of their plane."
)


@chapter.item(
    "problem 7.5",
    "Arm with a prismatic and a revolute joint, with a payload",
    vouches=(lagrange.inverse_dynamics, gim_christoffel.inverse_dynamics),
)
def problem_7_5() -> Outcome:
    robots = {"without payload": (slider(), 0 * p.mL), "with payload m_L": (slider(loaded=True), p.mL)}
    checks = [
        identity(
            f"{name}: Y pi {BY}",
            all(identical(m.inverse_dynamics(robot, q, qd, qdd), slider_torques(mass)) for m in FOUR),
        )
        for name, (robot, mass) in robots.items()
    ]
    says = (
        "Derived by hand from the energies. The model is linear in five parameters; a payload changes only their "
        "values."
    )
    return Outcome(
        says, tuple(checks), chosen=SLIDER_CHOSEN, texts=(listed("tau", slider_torques(p.mL)),), unprinted=NO_SOLUTION
    )


# 7.6, absolute angles -----------------------------------------------------------------------------------------------


def relative(absolute: Any) -> list[Any]:
    """Joint angles (or velocities) from the absolute angles of the links."""
    first, second = absolute
    return [first, second - first]


def absolute_lagrangian(angles: Any, rates: Any) -> Any:
    """L of the planar arm in absolute angles."""
    kinetic = lagrange.kinetic_energy(PLANAR, relative(angles), relative(rates))
    return kinetic - lagrange.potential_energy(PLANAR, relative(angles))


def absolute_torques() -> list[Any]:
    """By hand. Rotor 2, on link 1, rotates with (1 - kr2) f1' + kr2 f2'. With f = absolute angles and k = ml2 a1 l2

    2T = (Il1 + ml1 l1^2 + kr1^2 Im1 + (ml2 + mm2) a1^2) f1'^2 + (Il2 + ml2 l2^2) f2'^2 + 2 k cos(f2 - f1) f1' f2'
         + Im2 ((1 - kr2) f1' + kr2 f2')^2,
    U = (ml1 l1 + mm2 a1 + ml2 a1) g sin f1 + ml2 l2 g sin f2: centrifugal terms alone, no product f1' f2'.
    """
    k, turn = p.ml2 * p.a1 * p.l2, q2 - q1
    b11 = p.Il1 + p.ml1 * p.l1**2 + p.kr1**2 * p.Im1 + (p.ml2 + p.mm2) * p.a1**2 + p.Im2 * (1 - p.kr2) ** 2
    b12 = k * turn.cos() + p.Im2 * p.kr2 * (1 - p.kr2)
    b22 = p.Il2 + p.ml2 * p.l2**2 + p.kr2**2 * p.Im2
    weight = (p.ml1 * p.l1 + p.mm2 * p.a1 + p.ml2 * p.a1) * p.g * c1
    return [
        b11 * w1 + b12 * w2 - k * turn.sin() * v2**2 + weight,
        b12 * w1 + b22 * w2 + k * turn.sin() * v1**2 + p.ml2 * p.l2 * p.g * c2,
    ]


@chapter.item("problem 7.6", "Planar arm in absolute angles", vouches=(lagrange.inverse_dynamics,))
def problem_7_6() -> Outcome:
    found = lagrange.equations(absolute_lagrangian, q, qd, qdd)
    tied = []
    for module in FOUR:
        tau1, tau2 = module.inverse_dynamics(PLANAR, relative(q), relative(qd), relative(qdd))
        tied.append(identical(found, [tau1 - tau2, tau2]))
    checks = (
        identity("Lagrange's equations by hand", identical(found, absolute_torques())),
        identity("against (7.82): torques (tau1 - tau2, tau2)", all(tied)),
    )
    says = "The motion and its power are the same. Only centrifugal velocity terms remain, and gravity is decoupled."
    return Outcome(says, checks, texts=(listed("xi", absolute_torques()),), unprinted=NO_SOLUTION)


# 7.7, tip forces ----------------------------------------------------------------------------------------------------


@chapter.item("problem 7.7", "Torques of Example 7.2 with tip forces of 500 N")
def problem_7_7() -> Outcome:
    robot, force = load("planar2r"), np.array([500.0, 500.0, 0, 0, 0, 0])
    panels, checks = [], []
    for name, motion in MOTIONS.items():
        move = motion()
        free, pushing = (torque_breakdown(robot, move, 1e-3, wrench=w) for w in (None, force))
        (a, b), s = free.q.T, 500.0
        x, y = np.cos(a) + np.cos(a + b), np.sin(a) + np.sin(a + b)
        by_hand = np.stack([s * (x - y), s * (np.cos(a + b) - np.sin(a + b))], axis=1)  # J^T f, links of 1 m
        checks.append(below(f"{name}: the torques grow by J^T f", distance(pushing.tau - free.tau, by_hand), 1e-12))
        panels.append(
            Axes(
                name,
                "time, s",
                "torque, N m",
                [
                    Line(parts.t, parts.tau[:, j], f"joint {j + 1}, {label}", style, color)
                    for parts, label, style in ((free, "free", "--"), (pushing, "500 N", "-"))
                    for j, color in ((0, "#3b6fd4"), (1, "#e58a3c"))
                ],
            )
        )
    figure = (chart(*panels, columns=3), "Torques along the three motions, free and with forces at the tip")
    chosen = "f is what the arm exerts on its environment, in base axes; g = 9.81 m/s²."
    return Outcome(
        "The three motions with a constant force at the tip.",
        tuple(checks),
        chosen=chosen,
        figures=(figure,),
        unprinted=NO_SOLUTION,
    )


@chapter.item(
    "problem 7.8",
    "Arm with a prismatic and a revolute joint, by Newton-Euler",
    vouches=(newton_euler.inverse_dynamics,),
)
def problem_7_8() -> Outcome:
    tau = newton_euler.inverse_dynamics(slider(), q, qd, qdd)
    loaded = newton_euler.inverse_dynamics(slider(loaded=True), q, qd, qdd)
    checks = (
        identity("the recursion gives the model of problem 7.5", identical(tau, slider_torques(0 * p.mL))),
        identity("with payload, the same", identical(loaded, slider_torques(p.mL))),
    )
    says = "The recursion is run symbolically: one forward and one backward step for each joint."
    return Outcome(says, checks, chosen=SLIDER_CHOSEN, unprinted=NO_SOLUTION)
