"""004 (Siciliano et al.) sec. 7.3 and problems 7.1, 7.2, 7.5, 7.6, as identities in all symbols.

The expected side is the printed text or, for the problems, a solution by hand from kinetic and potential energy.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import armdyn
from armdyn.algebra import derivative
from armdyn.graph import PI, Node, identical, symbol, symbols
from armdyn.mechanics import christoffel, gim_christoffel, kinematics, kronecker, lagrange, lagrange_euler
from armdyn.mechanics.matrices import product, times

NAMES = "a1 a2 l1 l2 ml1 ml2 mm1 mm2 Il1 Il2 Im1 Im2 kr1 kr2 g alpha gx gz"
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES.split()})
q = q1, q2 = symbols("q1 q2")
qd = v1, v2 = symbols("v1 v2")
qdd = w1, w2 = symbols("w1 w2")
c1, s1, c2, s2, c12, s12 = q1.cos(), q1.sin(), q2.cos(), q2.sin(), (q1 + q2).cos(), (q1 + q2).sin()
ZERO = 0 * q1

MODULES = [lagrange, gim_christoffel, lagrange_euler, kronecker]
four = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.split(".")[-1])
three = pytest.mark.parametrize("module", MODULES[1:], ids=lambda module: module.__name__.split(".")[-1])


def difference(A: Any, B: Any) -> list[list[Any]]:
    return [[a - b for a, b in zip(*rows, strict=True)] for rows in zip(A, B, strict=True)]


# 7.3.1, two-link Cartesian arm, and problem 7.1 -------------------------------------------------------------------

CARTESIAN = armdyn.load("cartesian2").symbolic


def test_cartesian_jacobians() -> None:
    """J_P of the two links: the first slides along z0, the second also along x0."""
    assert identical(kinematics.jacobian(CARTESIAN, q, "link1")[:3], [[0, 0], [0, 0], [1, 0]])
    assert identical(kinematics.jacobian(CARTESIAN, q, "link2")[:3], [[0, 1], [0, 0], [1, 0]])


@four
def test_cartesian_arm(module: Any) -> None:
    carried = p.ml1 + p.mm2 + p.ml2
    B = [[carried + p.kr1**2 * p.Im1, 0], [0, p.ml2 + p.kr2**2 * p.Im2]]
    assert identical(module.mass_matrix(CARTESIAN, q), B)
    assert identical(module.coriolis(CARTESIAN, q, qd), [0, 0])
    assert identical(module.gravity(CARTESIAN, q), [carried * p.g, 0])
    torques = [(carried + p.kr1**2 * p.Im1) * w1 + carried * p.g, (p.ml2 + p.kr2**2 * p.Im2) * w2]
    assert identical(module.inverse_dynamics(CARTESIAN, q, qd, qdd), torques)


def oblique(angle: str) -> armdyn.Robot:
    """The Cartesian arm with its second axis at an angle to the first."""
    rotor = {"model": "full"}
    rows = [
        {"type": "prismatic", "theta": "pi/2", "alpha": angle, "mass": "ml1"},
        {"type": "prismatic", "mass": "ml2"},
    ]
    for i, row in enumerate(rows, start=1):
        row["rotor"] = rotor | {"inertia": f"Im{i}", "ratio": f"kr{i}", "mass": f"mm{i}"}
    values = dict.fromkeys(NAMES.split(), 0.7)
    return armdyn.Robot.from_dh(rows, gravity=(0, 0, "-g"), parameters=values).symbolic


@pytest.mark.parametrize(("angle", "node"), [("pi/4", PI / 4), ("alpha", p.alpha)])
@four
def test_problem_7_1(module: Any, angle: str, node: Node) -> None:
    """Velocity of link 2: d1' z0 + d2' z1 with z0.z1 = cos(angle); neither link turns.

    T = 1/2 (ml1 + mm2 + kr1^2 Im1) d1'^2 + 1/2 ml2 (d1'^2 + d2'^2 + 2 cos d1' d2') + 1/2 kr2^2 Im2 d2'^2,
    U = (ml1 + mm2 + ml2) g d1 + ml2 g cos d2. At a right angle this is the arm of 7.3.1: the coupling is gone.
    """
    robot, cosine = oblique(angle), node.cos()
    carried = p.ml1 + p.mm2 + p.ml2
    B = [[carried + p.kr1**2 * p.Im1, p.ml2 * cosine], [p.ml2 * cosine, p.ml2 + p.kr2**2 * p.Im2]]
    g = [carried * p.g, p.ml2 * p.g * cosine]
    assert identical(module.mass_matrix(robot, q), B)
    assert identical(module.gravity(robot, q), g)
    assert identical(module.coriolis(robot, q, qd), [0, 0])
    assert identical(module.inverse_dynamics(robot, q, qd, qdd), [x + y for x, y in zip(times(B, qdd), g, strict=True)])


# 7.3.2, two-link planar arm ---------------------------------------------------------------------------------------

PLANAR = armdyn.load("planar2r").symbolic
h = -p.ml2 * p.a1 * p.l2 * s2


def planar_inertia() -> list[list[Any]]:
    b11 = (
        p.Il1 + p.ml1 * p.l1**2 + p.kr1**2 * p.Im1 + p.Il2 + p.ml2 * (p.a1**2 + p.l2**2 + 2 * p.a1 * p.l2 * c2)
        + p.Im2 + p.mm2 * p.a1**2
    )  # fmt: skip
    b12 = p.Il2 + p.ml2 * (p.l2**2 + p.a1 * p.l2 * c2) + p.kr2 * p.Im2
    b22 = p.Il2 + p.ml2 * p.l2**2 + p.kr2**2 * p.Im2
    return [[b11, b12], [b12, b22]]


def planar_gravity() -> list[Any]:
    swing = p.ml2 * p.l2 * p.g * c12
    return [(p.ml1 * p.l1 + p.mm2 * p.a1 + p.ml2 * p.a1) * p.g * c1 + swing, swing]


def rate_of_inertia() -> Any:
    """Bdot."""
    return derivative(lambda x: gim_christoffel.mass_matrix(PLANAR, x), q, qd)


@four
def test_planar_inertia_matrix(module: Any) -> None:
    assert identical(module.mass_matrix(PLANAR, q), planar_inertia())


def test_planar_christoffel_symbols() -> None:
    c = [[[0, h], [h, h]], [[-h, 0], [0, 0]]]
    assert identical(gim_christoffel.christoffel_symbols(PLANAR, q), c)


@three
def test_planar_coriolis_matrix(module: Any) -> None:
    C = [[h * v2, h * (v1 + v2)], [-h * v1, 0]]
    assert identical(module.coriolis_matrix(PLANAR, q, qd), C)


@three
def test_planar_skew_matrix(module: Any) -> None:
    """N of (7.47)"""
    assert identical(rate_of_inertia(), [[2 * h * v2, h * v2], [h * v2, 0]])
    C = module.coriolis_matrix(PLANAR, q, qd)
    N = difference(rate_of_inertia(), [[2 * entry for entry in row] for row in C])
    assert identical(N, [[0, -2 * h * v1 - h * v2], [2 * h * v1 + h * v2, 0]])


@four
def test_planar_gravity(module: Any) -> None:
    assert identical(module.gravity(PLANAR, q), planar_gravity())


@four
def test_planar_equations_7_82(module: Any) -> None:
    lever = p.ml2 * p.a1 * p.l2 * s2
    inertia, weight = times(planar_inertia(), qdd), planar_gravity()
    tau1 = inertia[0] - 2 * lever * v1 * v2 - lever * v2**2 + weight[0]
    tau2 = inertia[1] + lever * v1**2 + weight[1]
    assert identical(module.inverse_dynamics(PLANAR, q, qd, qdd), [tau1, tau2])


def test_printed_7_45_fails() -> None:
    """(7.45) is printed with db_ik/dq_i; then neither the list of symbols nor (7.46) comes out."""
    dB = christoffel.partials(lambda x: gim_christoffel.mass_matrix(PLANAR, x), q)
    n = range(2)
    printed = [[[(ZERO + dB[k][i][j] + dB[i][i][k] - dB[i][j][k]) / 2 for k in n] for j in n] for i in n]
    right = [[[(ZERO + dB[k][i][j] + dB[j][i][k] - dB[i][j][k]) / 2 for k in n] for j in n] for i in n]
    assert identical(right, gim_christoffel.christoffel_symbols(PLANAR, q))
    assert not identical(printed[0][1][1], h)  # c_122
    assert not identical(printed[0][0][1], printed[0][1][0])  # c_112 = c_121 of (7.46)


def test_problem_7_2() -> None:
    """C taken straight from h_ijk of (7.41): qd^T N qd = 0 still holds (7.49), but N is not skew (7.48).

    By hand: h_112 = 2h, h_122 = h, h_211 = -h, h_212 = h/2, h_221 = -h/2, the others 0.
    """
    coefficients = gim_christoffel.velocity_coefficients(PLANAR, q)
    assert identical(coefficients, [[[0, 2 * h], [0, h]], [[-h, h / 2], [-h / 2, 0]]])
    C = christoffel.matrix_from_symbols(coefficients, qd)
    assert identical(times(C, qd), gim_christoffel.coriolis(PLANAR, q, qd))  # (7.43): the same torques
    N = difference(rate_of_inertia(), [[2 * entry for entry in row] for row in C])
    assert identical(N, [[-2 * h * v2, -h * v2], [2 * h * v1, h * v1]])
    assert identical(product([qd], product(N, [[v] for v in qd])), [[0]])  # (7.49)
    u1, u2 = symbols("u1 u2")
    assert not identical(product([[u1, u2]], product(N, [[u1], [u2]])), [[0]])  # (7.48)
    right = difference(
        rate_of_inertia(), [[2 * x for x in row] for row in gim_christoffel.coriolis_matrix(PLANAR, q, qd)]
    )
    assert identical(product([[u1, u2]], product(right, [[u1], [u2]])), [[0]])


# Problem 7.5, prismatic and revolute joint (without the payload) --------------------------------------------------


def slider() -> armdyn.Robot:
    """Joint 1 slides along z0, joint 2 turns about y0; l2 from its axis to the centre of mass of link 2.

    The figure is not in the text: gravity is left with both components in the plane, so that any standing of
    the arm is covered (gx = 0: upright slide; gz = 0: level slide).
    """
    rows = [
        {"type": "prismatic", "alpha": "-pi/2", "mass": "ml1"},
        {"type": "revolute", "a": "a2", "mass": "ml2", "com": ["l2 - a2", 0, 0], "inertia": [0, 0, 0, 0, 0, "Il2"]},
    ]
    for i, row in enumerate(rows, start=1):
        row["rotor"] = {"model": "full", "inertia": f"Im{i}", "ratio": f"kr{i}", "mass": f"mm{i}"}
    values = dict.fromkeys(NAMES.split(), 0.7)
    return armdyn.Robot.from_dh(rows, gravity=("gx", 0, "gz"), parameters=values).symbolic


@four
def test_problem_7_5(module: Any) -> None:
    """Centre of mass of link 2 at (l2 c2, 0, d1 - l2 s2), so its speed squared is d1'^2 - 2 l2 c2 d1' th' + l2^2 th'^2.

    T = 1/2 (ml1 + mm2 + ml2 + kr1^2 Im1) d1'^2 - ml2 l2 c2 d1' th' + 1/2 (Il2 + ml2 l2^2 + kr2^2 Im2) th'^2,
    U = -(ml1 + mm2) gz d1 - ml2 (gx l2 c2 + gz (d1 - l2 s2)).
    """
    robot, lever = slider(), p.ml2 * p.l2
    carried = p.ml1 + p.mm2 + p.ml2
    B = [[carried + p.kr1**2 * p.Im1, -lever * c2], [-lever * c2, p.Il2 + lever * p.l2 + p.kr2**2 * p.Im2]]
    g = [-carried * p.gz, lever * (p.gx * s2 + p.gz * c2)]
    assert identical(module.mass_matrix(robot, q), B)
    assert identical(module.coriolis(robot, q, qd), [lever * s2 * v2**2, 0])
    assert identical(module.gravity(robot, q), g)
    inertia = times(B, qdd)
    assert identical(
        module.inverse_dynamics(robot, q, qd, qdd), [inertia[0] + lever * s2 * v2**2 + g[0], inertia[1] + g[1]]
    )


# Problem 7.6, absolute angles -------------------------------------------------------------------------------------


def relative(absolute: Any) -> list[Any]:
    """Joint angles (or rates) from the links' angles to the base frame."""
    first, second = absolute
    return [first, second - first]


def lagrangian(angles: Any, rates: Any) -> Any:
    """L of the planar arm in absolute angles."""
    kinetic = lagrange.kinetic_energy(PLANAR, relative(angles), relative(rates))
    return kinetic - lagrange.potential_energy(PLANAR, relative(angles))


def test_problem_7_6() -> None:
    """Rotor 2, on link 1, turns with (1 - kr2) f1' + kr2 f2'. With f = absolute angles and k = ml2 a1 l2

    2T = (Il1 + ml1 l1^2 + kr1^2 Im1 + (ml2 + mm2) a1^2) f1'^2 + (Il2 + ml2 l2^2) f2'^2 + 2 k cos(f2 - f1) f1' f2'
         + Im2 ((1 - kr2) f1' + kr2 f2')^2,
    U = (ml1 l1 + mm2 a1 + ml2 a1) g sin f1 + ml2 l2 g sin f2: centrifugal terms alone, no product f1' f2'.
    """
    k, turn = p.ml2 * p.a1 * p.l2, q2 - q1
    b11 = (
        p.Il1 + p.ml1 * p.l1**2 + p.kr1**2 * p.Im1 + (p.ml2 + p.mm2) * p.a1**2 + p.Im2 * (1 - p.kr2) ** 2
    )  # fmt: skip
    b12 = k * turn.cos() + p.Im2 * p.kr2 * (1 - p.kr2)
    b22 = p.Il2 + p.ml2 * p.l2**2 + p.kr2**2 * p.Im2
    by_hand = [
        b11 * w1 + b12 * w2 - k * turn.sin() * v2**2 + (p.ml1 * p.l1 + p.mm2 * p.a1 + p.ml2 * p.a1) * p.g * c1,
        b12 * w1 + b22 * w2 + k * turn.sin() * v1**2 + p.ml2 * p.l2 * p.g * c2,
    ]
    assert identical(lagrange.equations(lagrangian, q, qd, qdd), by_hand)


@four
def test_problem_7_6_against_7_82(module: Any) -> None:
    """The torques on the absolute angles are (tau1 - tau2, tau2): same motion, same power."""
    tau1, tau2 = module.inverse_dynamics(PLANAR, relative(q), relative(qd), relative(qdd))
    assert identical(lagrange.equations(lagrangian, q, qd, qdd), [tau1 - tau2, tau2])
