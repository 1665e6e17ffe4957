"""Siciliano, sec. 7.2 to 7.3.2: notable properties and two simple arms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from armdyn.algebra import derivative
from armdyn.formats import load
from armdyn.graph import identical, symbol, symbols, text
from armdyn.mechanics import (
    christoffel,
    gim_christoffel,
    kinematics,
    kronecker,
    lagrange,
    lagrange_euler,
    rotors,
)
from armdyn.mechanics.matrices import product, times
from armdyn.parameters import (
    energy_regressor,
    link_end_names,
    link_end_regressor,
    momentum_regressor,
    parameter_names,
    regressor,
    standard_parameters,
)
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Spring
from armdyn.robot.random import random_robot
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, identity, matches

chapter = Chapter("siciliano")

NAMES = "a1 a2 l1 l2 ml1 ml2 mm1 mm2 Il1 Il2 Im1 Im2 kr1 kr2 g alpha gx gz mL"
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES.split()})
q = q1, q2 = symbols("q1 q2")
qd = v1, v2 = symbols("v1 v2")
qdd = w1, w2 = symbols("w1 w2")
c1, s1, c2, s2, c12, s12 = q1.cos(), q1.sin(), q2.cos(), q2.sin(), (q1 + q2).cos(), (q1 + q2).sin()
ZERO = 0 * q1
FOUR = (lagrange, gim_christoffel, lagrange_euler, kronecker)
THREE = FOUR[1:]
"""Formulations that also give the matrix C."""
BY = "by Lagrange, Christoffel symbols, 4x4 matrices and Kronecker products"


def difference(A: Any, B: Any) -> list[list[Any]]:
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


def twice(A: Any) -> list[list[Any]]:
    return [[2 * x for x in row] for row in A]


def listed(name: str, expressions: Sequence[Any]) -> str:
    """Equations as text, numbered, one per line."""
    return "\n".join(f"{name}{i} = {text(each)}" for i, each in enumerate(expressions, 1))


def form(x: Any, A: Any) -> Any:
    """x^T A x."""
    return product([list(x)], product(A, [[each] for each in x]))[0][0]


# 7.3.2, two-link planar arm: what is printed ------------------------------------------------------------------------

PLANAR = load("planar2r").symbolic
h = -p.ml2 * p.a1 * p.l2 * s2


def planar_inertia() -> list[list[Any]]:
    b11 = (
        p.Il1
        + p.ml1 * p.l1**2
        + p.kr1**2 * p.Im1
        + p.Il2
        + p.ml2 * (p.a1**2 + p.l2**2 + 2 * p.a1 * p.l2 * c2)
        + p.Im2
        + p.mm2 * p.a1**2
    )
    b12 = p.Il2 + p.ml2 * (p.l2**2 + p.a1 * p.l2 * c2) + p.kr2 * p.Im2
    b22 = p.Il2 + p.ml2 * p.l2**2 + p.kr2**2 * p.Im2
    return [[b11, b12], [b12, b22]]


def planar_coriolis() -> list[list[Any]]:
    return [[h * v2, h * (v1 + v2)], [-h * v1, 0]]


def planar_gravity() -> list[Any]:
    swing = p.ml2 * p.l2 * p.g * c12
    return [(p.ml1 * p.l1 + p.mm2 * p.a1 + p.ml2 * p.a1) * p.g * c1 + swing, swing]


def planar_torques() -> list[Any]:
    """(7.82)"""
    lever = p.ml2 * p.a1 * p.l2 * s2
    inertia, weight = times(planar_inertia(), qdd), planar_gravity()
    tau1 = inertia[0] - 2 * lever * v1 * v2 - lever * v2**2 + weight[0]
    return [tau1, inertia[1] + lever * v1**2 + weight[1]]


def rate_of_inertia() -> Any:
    """Bdot."""
    return derivative(lambda x: gim_christoffel.mass_matrix(PLANAR, x), q, qd)


def planar_parameters() -> list[Any]:
    """pi of (7.83)."""
    at1, at2 = p.l1 - p.a1, p.l2 - p.a2
    return [
        p.ml1 + p.mm2,
        p.ml1 * at1,
        p.Il1 + p.ml1 * at1**2 + p.Im2,
        p.Im1,
        p.ml2,
        p.ml2 * at2,
        p.Il2 + p.ml2 * at2**2,
        p.Im2,
    ]


def planar_regressor() -> list[list[Any]]:
    """The eight columns (y_1k, y_2k) of (7.84)."""
    a1, a2, g, kr1, kr2 = p.a1, p.a2, p.g, p.kr1, p.kr2
    return [
        [a1 * a1 * w1 + a1 * g * c1, 0],
        [2 * a1 * w1 + g * c1, 0],
        [w1, 0],
        [kr1 * kr1 * w1, 0],
        [
            (a1 * a1 + 2 * a1 * a2 * c2 + a2 * a2) * w1
            + (a1 * a2 * c2 + a2 * a2) * w2
            - 2 * a1 * a2 * s2 * v1 * v2
            - a1 * a2 * s2 * v2 * v2
            + a1 * g * c1
            + a2 * g * c12,
            (a1 * a2 * c2 + a2 * a2) * w1 + a2 * a2 * w2 + a1 * a2 * s2 * v1 * v1 + a2 * g * c12,
        ],
        [
            (2 * a1 * c2 + 2 * a2) * w1 + (a1 * c2 + 2 * a2) * w2 - 2 * a1 * s2 * v1 * v2 - a1 * s2 * v2 * v2 + g * c12,
            (a1 * c2 + 2 * a2) * w1 + 2 * a2 * w2 + a1 * s2 * v1 * v1 + g * c12,
        ],
        [w1 + w2, w1 + w2],
        [kr2 * w2, kr2 * w1 + kr2 * kr2 * w2],
    ]


def our_regressor() -> list[list[Any]]:
    """The columns of `link_end_regressor` for the eight parameters of (7.83)."""
    names, Y = link_end_names(PLANAR), link_end_regressor(PLANAR, q, qd, qdd)
    wanted = [f"{kind}{i}" for i in (1, 2) for kind in ("M", "MX", "ZZ", "Im")]
    places = [names.index(name if name.startswith("Im") else f"{name}_end") for name in wanted]
    return [[row[place] for row in Y] for place in places]


# (7.44) to (7.51) ---------------------------------------------------------------------------------------------------


def symbols_by_7_45(middle: str) -> list[list[list[Any]]]:
    """(7.45) of the planar arm; the second term differentiated by q_i, as printed, or by q_j."""
    dB, n = christoffel.partials(lambda x: gim_christoffel.mass_matrix(PLANAR, x), q), range(2)

    def second(i: int, j: int, k: int) -> Any:
        return dB[i if middle == "i" else j][i][k]

    return [[[(ZERO + dB[k][i][j] + second(i, j, k) - dB[i][j][k]) / 2 for k in n] for j in n] for i in n]


def printed_symbols() -> list[list[list[Any]]]:
    """The list of c_ijk in 7.3.2."""
    return [[[0, h], [h, h]], [[-h, 0], [0, 0]]]


@chapter.evidence("Siciliano-4")
def christoffel_slip() -> Check:
    wrong = {
        name: [
            f"{i + 1}{j + 1}{k + 1}"
            for i in range(2)
            for j in range(2)
            for k in range(2)
            if not identical(symbols_by_7_45(name)[i][j][k], printed_symbols()[i][j][k])
        ]
        for name in ("i", "j")
    }
    told = "; ".join(
        f"with q_{name} {', '.join(f'c_{x}' for x in each) or 'none'} differ" for name, each in wrong.items()
    )
    return Check("(7.45) against the list of c_ijk of the planar arm", bool(wrong["i"]) and not wrong["j"], told)


@chapter.item(
    "(7.44)-(7.51)",
    "Skew-symmetry and conservation of energy",
    vouches=(gim_christoffel.coriolis_matrix, gim_christoffel.mass_matrix),
)
def skew_symmetry() -> Outcome:
    u = symbols("u1 u2")
    C = gim_christoffel.coriolis_matrix(PLANAR, q, qd)
    N = difference(rate_of_inertia(), twice(C))
    free = [t - g for t, g in zip(planar_torques(), planar_gravity(), strict=True)]
    growth = [[sum((b * a for b, a in zip(row, qdd, strict=True)), ZERO)] for row in planar_inertia()]
    power = sum((v * t for v, t in zip(qd, free, strict=True)), ZERO)
    rise = sum((v * x[0] for v, x in zip(qd, growth, strict=True)), ZERO) + form(qd, rate_of_inertia()) / 2
    symmetric = symbols_by_7_45("j")
    swapped = [[[symmetric[i][k][j] for k in range(2)] for j in range(2)] for i in range(2)]
    checks = (
        identity("(7.46): c_ijk = c_ikj", identical(symmetric, swapped)),
        identity("(7.48): w^T N w = 0 for any w", identical(form(u, N), ZERO)),
        identity("(7.49): qd^T N qd = 0", identical(form(qd, N), ZERO)),
        identity("(7.50): the rate of the kinetic energy is the power of the torques", identical(rise, power)),
    )
    says = "The properties are checked symbolically on the planar arm of sec. 7.3.2."
    return Outcome(says, checks, (chapter.slip("Siciliano-4"),))


# (7.52) to (7.81), parameters ---------------------------------------------------------------------------------------


def energies_and_momenta(robot: Robot, at: Any, rate: Any) -> float:
    """Difference of energies and momenta by their regressors from Lagrange's, springs and torque offsets included."""
    more: dict[str, Any] = {"spring": Spring(20.0, 0.3), "friction": Friction(0.6, 0.9, offset=0.4)}
    robot = replace(robot, tree=tuple(replace(j, **more) if j.kind != "fixed" else j for j in robot.tree))
    pi: Any = standard_parameters(robot).array()
    energies = [float(f) for f in (lagrange.kinetic_energy(robot, at, rate), lagrange.potential_energy(robot, at))]
    momenta = np.asarray(lagrange.momenta(partial(lagrange.kinetic_energy.formula, robot), at, rate))
    return max(
        distance(np.asarray(energy_regressor(robot, at, rate)) @ pi, energies),
        distance(np.asarray(momentum_regressor(robot, at, rate)) @ pi, momenta),
        distance(momenta, np.asarray(lagrange.mass_matrix(robot, at)) @ rate),
    )


@chapter.item(
    "(7.52)-(7.81)",
    "Linearity in the dynamic parameters",
    vouches=(
        regressor,
        standard_parameters,
        energy_regressor,
        momentum_regressor,
        lagrange.inverse_dynamics,
        lagrange.momenta,
    ),
)
def linearity() -> Outcome:
    include = ("inertial", "rotor", "friction")
    errors, lower, counts, stored = [], [], set(), []
    for seed in (14, 15):
        robot = random_robot(seed, 5, rotors=True)
        tree = tuple(replace(j, friction=Friction(0.6, 0.9)) if j.kind != "fixed" else j for j in robot.tree)
        robot = replace(robot, tree=tree)
        at, rate, accel = np.random.default_rng(seed).uniform(-2, 2, (3, 5))
        Y: Any = np.asarray(regressor(robot, at, rate, accel, include))
        counts.add(Y.shape[1])
        pi = standard_parameters(robot, include).array()
        stored.append(energies_and_momenta(robot, at, rate))
        errors.append(distance(Y @ pi, lagrange.inverse_dynamics(robot, at, rate, accel)))
        owner = [int(re.sub(r"\D", "", name)) - 1 for name in parameter_names(robot, include)]
        lower.append(max(abs(float(Y[i, k])) for i in range(5) for k, j in enumerate(owner) if j < i))
    checks = (
        below("(7.81): Y pi against Lagrange, random arms with friction", max(errors), 1e-11),
        below("(7.76): energies linear in pi, against Lagrange's; and the momenta B qd", max(stored), 1e-11),
        below("(7.80): blocks below the diagonal", max(lower), 0.0),
        matches("parameters, 13 per joint", counts, {13 * 5}),
    )
    says = "The regressor is evaluated for random arms with rotors, viscous and Coulomb friction."
    return Outcome(says, checks, chosen="Random arms.")


# 7.3.1, two-link Cartesian arm --------------------------------------------------------------------------------------

CARTESIAN = load("cartesian2").symbolic


def cartesian_model() -> tuple[list[list[Any]], list[Any], list[Any]]:
    """(B, g, tau) of 7.3.1."""
    carried = p.ml1 + p.mm2 + p.ml2
    B = [[carried + p.kr1**2 * p.Im1, 0], [0, p.ml2 + p.kr2**2 * p.Im2]]
    return B, [carried * p.g, 0], [B[0][0] * w1 + carried * p.g, B[1][1] * w2]


def printed_cartesian_jacobians() -> dict[str, list[list[Any]]]:
    """J_P above J_O of the links' centres of mass and of the motors, 7.3.1; the links do not turn."""
    up, along, still = [0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0] * 6
    spin_1, spin_2 = [0, 0, 0, 0, 0, p.kr1], [0, 0, 0, p.kr2, 0, 0]
    columns = {"l1": (up, still), "l2": (up, along), "m1": (spin_1, still), "m2": (up, spin_2)}
    return {name: [list(row) for row in zip(*pair, strict=True)] for name, pair in columns.items()}


def printed_planar_jacobians() -> dict[str, list[list[Any]]]:
    """J_P above J_O of the links' centres of mass and of the motors, 7.3.2."""

    def turning(x: Any, y: Any, rate: Any) -> list[Any]:
        return [-y, x, 0, 0, 0, rate]

    elbow, end = (p.a1 * c1, p.a1 * s1), (p.l2 * c12, p.l2 * s12)
    both = tuple(a + b for a, b in zip(elbow, end, strict=True))
    columns = {
        "l1": (turning(p.l1 * c1, p.l1 * s1, 1), [0] * 6),
        "l2": (turning(both[0], both[1], 1), turning(*end, 1)),
        "m1": ([0] * 5 + [p.kr1], [0] * 6),
        "m2": (turning(*elbow, 1), [0] * 5 + [p.kr2]),
    }
    return {name: [list(row) for row in zip(*pair, strict=True)] for name, pair in columns.items()}


def _jacobians(robot: Robot, printed: dict[str, list[list[Any]]]) -> list[Check]:
    """Jacobians of the links' centres of mass and of the motors against the printed ones."""
    found = {f"l{i}": kinematics.body_jacobian(robot, q, each.body.name) for i, each in enumerate(robot.joints, 1)}
    found |= {f"m{i}": rotors.rotor_jacobian(robot, q, each.name) for i, each in enumerate(robot.joints, 1)}
    return [identity(f"J_P and J_O of {name}", identical(found[name], J)) for name, J in printed.items()]


@chapter.item(
    "sec. 7.3.1",
    "Two-link Cartesian arm",
    vouches=(
        kinematics.jacobian,
        kinematics.body_jacobian,
        rotors.rotor_jacobian,
        lagrange.mass_matrix,
        gim_christoffel.mass_matrix,
        lagrange.gravity,
        gim_christoffel.gravity,
        lagrange.inverse_dynamics,
        gim_christoffel.inverse_dynamics,
    ),
)
def section_7_3_1() -> Outcome:
    B, g, tau = cartesian_model()
    J = [kinematics.jacobian(CARTESIAN, q, f"link{i}")[:3] for i in (1, 2)]
    checks = (
        identity("J_P of link 1", identical(J[0], [[0, 0], [0, 0], [1, 0]])),
        identity("J_P of link 2", identical(J[1], [[0, 1], [0, 0], [1, 0]])),
        *_jacobians(CARTESIAN, printed_cartesian_jacobians()),
        identity(f"B {BY}", all(identical(m.mass_matrix(CARTESIAN, q), B) for m in FOUR)),
        identity("C qd = 0", all(identical(m.coriolis(CARTESIAN, q, qd), [0, 0]) for m in FOUR)),
        identity("g", all(identical(m.gravity(CARTESIAN, q), g) for m in FOUR)),
        identity("equations of motion", all(identical(m.inverse_dynamics(CARTESIAN, q, qd, qdd), tau) for m in FOUR)),
    )
    return Outcome("The Jacobians, B, C, g and the equations of motion are compared symbolically.", checks)


@chapter.item(
    "sec. 7.3.2",
    "Two-link planar arm, (7.82)-(7.84)",
    vouches=(
        kinematics.jacobian,
        kinematics.body_jacobian,
        rotors.rotor_jacobian,
        rotors.augmented_links,
        lagrange.mass_matrix,
        gim_christoffel.christoffel_symbols,
        gim_christoffel.coriolis_matrix,
        lagrange.gravity,
        lagrange.inverse_dynamics,
        gim_christoffel.inverse_dynamics,
        regressor,
        link_end_regressor,
    ),
)
def section_7_3_2() -> Outcome:
    B, C, g, tau = planar_inertia(), planar_coriolis(), planar_gravity(), planar_torques()
    N = [[0, -2 * h * v1 - h * v2], [2 * h * v1 + h * v2, 0]]
    J = kinematics.jacobian(PLANAR, q, "link2")
    tip = [[-p.a1 * s1 - p.a2 * s12, -p.a2 * s12], [p.a1 * c1 + p.a2 * c12, p.a2 * c12], [0, 0]]
    Y, pi = planar_regressor(), planar_parameters()
    by_parameters = [sum((column[i] * x for column, x in zip(Y, pi, strict=True)), ZERO) for i in (0, 1)]
    augmented = [
        x
        for link in rotors.augmented_links(PLANAR)
        for x in (link.inertia.mass, link.inertia.moment.x, link.inertia.tensor.upper()[5])
    ]
    checks = (
        identity("J_P and J_O of link 2", identical(J, [*tip, [0, 0], [0, 0], [1, 1]])),
        *_jacobians(PLANAR, printed_planar_jacobians()),
        identity(f"B {BY}", all(identical(m.mass_matrix(PLANAR, q), B) for m in FOUR)),
        identity("Christoffel symbols", identical(gim_christoffel.christoffel_symbols(PLANAR, q), printed_symbols())),
        identity("C by three formulations", all(identical(m.coriolis_matrix(PLANAR, q, qd), C) for m in THREE)),
        identity("Bdot", identical(rate_of_inertia(), [[2 * h * v2, h * v2], [h * v2, 0]])),
        identity(
            "N",
            all(identical(difference(rate_of_inertia(), twice(m.coriolis_matrix(PLANAR, q, qd))), N) for m in THREE),
        ),
        identity("g by four formulations", all(identical(m.gravity(PLANAR, q), g) for m in FOUR)),
        identity(
            "(7.82) by four formulations", all(identical(m.inverse_dynamics(PLANAR, q, qd, qdd), tau) for m in FOUR)
        ),
        identity("(7.83): both augmented links", identical(augmented, [*pi[:3], *pi[4:7]])),
        identity("(7.84): all 16 entries", identical(our_regressor(), Y)),
        identity("(7.84) times (7.83) is (7.82)", identical(by_parameters, tau)),
    )
    says = (
        "The Jacobian, inertia matrix, Christoffel symbols, C, N, g, equations of motion and regressor are compared "
        "symbolically."
    )
    return Outcome(says, checks, texts=(listed("tau", tau),))
