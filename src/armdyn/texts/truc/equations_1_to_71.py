"""Truc: the formulation of sec. 2 to 4, and the equations of the three-link manipulator of sec. 5."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from armdyn.algebra import Vec3, gradient
from armdyn.algebra import derivative as rate_of
from armdyn.equations import derive
from armdyn.equations.derivation import Equations
from armdyn.formats import load
from armdyn.graph import derivative, identical
from armdyn.mechanics import (
    composite_body,
    coriolis_matrices,
    gim_christoffel,
    kinematics,
    kronecker,
    lagrange_euler,
    newton_euler,
)
from armdyn.mechanics.kinematics import link_poses, point_jacobian
from armdyn.mechanics.matrices import product, transpose
from armdyn.report.figures.robot_figures import robot_figure
from armdyn.robot.random import random_robot
from armdyn.robot.robot import Robot
from armdyn.texts import dh
from armdyn.texts.item import Chapter, Check, Outcome, aside, below, distance, equal, floats, identity
from armdyn.texts.truc import printed as text
from armdyn.typing import Array

chapter = Chapter("truc")
q, qd = text.q, text.qd


@cache
def arm() -> Robot:
    """The three-link manipulator in the symbols of its file."""
    return load("three_link").symbolic


@cache
def sample() -> tuple[Robot, Any, Any, Any]:
    """A random arm of six revolute and prismatic joints, and a state."""
    robot = random_robot(7, 6, prismatic=0.3)
    at, rate, acceleration = np.random.default_rng(7).uniform(-2, 2, (3, robot.n))
    return robot, tuple(at), tuple(rate), tuple(acceleration)


# Velocities, energies, Lagrange: sec. 2 and 3 ---------------------------------------------------------------------


def moving(robot: Robot) -> Any:
    """Every link's centre of mass and rotation, as a function of the joint positions: nested lists."""

    def placed(x: Any) -> list[list[Any]]:
        return [
            [*pose.apply(link.inertia.about_com().com), *(entry for row in pose.R.array() for entry in row)]
            for pose, link in zip(link_poses(robot, x), robot.links, strict=True)
        ]

    return placed


def energies(robot: Robot, at: Any, rate: Any) -> tuple[Array, Array, float, float]:
    """Angular velocities of the links in their axes (10) and in the base (12); kinetic energy (22), potential (17)."""
    now = floats(moving(robot)(at))
    dot = floats(rate_of(moving(robot), at, rate))
    own, base = np.zeros((robot.n, 3)), np.zeros((robot.n, 3))
    K = P = 0.0
    for i, link in enumerate(robot.links):
        body = link.inertia.about_com()
        R, Rd = now[i, 3:].reshape(3, 3), dot[i, 3:].reshape(3, 3)
        own[i], base[i] = (np.array([S[2, 1], S[0, 2], S[1, 0]]) for S in (R.T @ Rd, Rd @ R.T))  # (10), (12)
        tensor, v = floats(body.tensor.array()), dot[i, :3]  # (13)
        K += float(body.mass * v @ v + own[i] @ tensor @ own[i]) / 2  # (22)
        P -= float(body.mass * floats(robot.gravity.array()) @ now[i, :3])  # (17)
    return own, base, K, P


@chapter.item(
    "(1)-(28)",
    "Velocities of the links, Jacobians, energies, the inertia matrix",
    vouches=(kronecker.mass_matrix, kronecker.kinetic_energy, kronecker.potential_energy, kinematics.velocity),
)
def velocities() -> Outcome:
    robot, at, rate, _ = sample()
    own, base, K, P = energies(robot, at, rate)
    now = floats(moving(robot)(at))
    turned = np.array([now[i, 3:].reshape(3, 3) @ own[i] for i in range(robot.n)])
    last = robot.joints[-1].body.name
    M = floats(composite_body.mass_matrix(robot, at))
    return Outcome(
        "On a random arm of six revolute and prismatic joints, rotations differentiated with dual numbers are "
        "compared with the library's Jacobian, its energies, and its inertia matrix by composite bodies.",
        checks=(
            below(
                "(12), last link, against its Jacobian",
                distance(base[-1], floats(kinematics.velocity(robot, at, rate, last))[3:]),
                1e-12,
            ),
            below("(21): omega in the base = R omega", distance(base, turned), 1e-12),
            below("(17), potential energy", distance(P, kronecker.potential_energy(robot, at)), 1e-12),
            below("(22), kinetic energy", distance(K, kronecker.kinetic_energy(robot, at, rate)), 1e-12),
            below("(27), (28): K = 1/2 qd^T M qd", distance(K, np.array(rate) @ M @ np.array(rate) / 2), 1e-12),
            aside(below("(28) against composite bodies", distance(kronecker.mass_matrix(robot, at), M), 1e-12)),
        ),
    )


@chapter.item(
    "(29)-(46)",
    "From Euler-Lagrange to the matrix form",
    vouches=(
        coriolis_matrices.unsymmetric_kronecker_matrix,
        kronecker.inverse_dynamics,
        kronecker.coriolis,
        kronecker.gravity,
        kronecker.mass_matrix,
        kronecker.velocity_matrices,
    ),
)
def euler_lagrange() -> Outcome:
    robot, at, rate, acceleration = sample()
    n = robot.n
    v, a = np.array(rate), np.array(acceleration)

    def lagrangian(x: Any, y: Any) -> Any:
        return kronecker.kinetic_energy(robot, x, y) - kronecker.potential_energy(robot, x)

    M = floats(kronecker.mass_matrix(robot, at))
    U, V = (floats(each) for each in kronecker.velocity_matrices(robot, at, rate))
    g = floats(kronecker.gravity(robot, at))
    by_rates = floats(gradient(lambda y: lagrangian(at, y), rate))
    by_positions = floats(gradient(lambda x: lagrangian(x, rate), at))
    momentum = floats(
        rate_of(lambda s: gradient(lambda y: lagrangian(s[:n], y), s[n:]), (*at, *rate), (*rate, *acceleration))
    )
    truth = newton_euler.inverse_dynamics(robot, at, rate, acceleration)
    return Outcome(
        "The Lagrangian of the same arm is differentiated with dual numbers and compared step by step with the "
        "printed terms.",
        checks=(
            below("(38): dL/dqd = qd^T M", distance(by_rates, v @ M), 1e-12),
            below("(39): d/dt dL/dqd = M qdd + Mdot qd", distance(momentum, M @ a + U @ v), 1e-12),
            below("(43): dL/dq, with respect to positions as in (41)", distance(by_positions, V.T @ v / 2 - g), 1e-12),
            below("(44), (46): torques against Newton-Euler", distance(M @ a + U @ v - V.T @ v / 2 + g, truth), 1e-12),
            below(
                "(46): C = U - V^T/2, which is not skew",
                distance(coriolis_matrices.unsymmetric_kronecker_matrix(robot, at, rate), U - V.T / 2),
                1e-12,
            ),
            aside(
                below(
                    "(44): kronecker.inverse_dynamics against Newton-Euler",
                    distance(kronecker.inverse_dynamics(robot, at, rate, acceleration), truth),
                    1e-12,
                )
            ),
            aside(
                below(
                    "(46): kronecker.coriolis against Newton-Euler",
                    distance(M @ a + kronecker.coriolis(robot, at, rate) + g, truth),
                    1e-12,
                )
            ),
        ),
        slips=(chapter.slip("Truc-7"),),
    )


# The operators of sec. 4 ------------------------------------------------------------------------------------------


def example_matrix(x: Any) -> list[list[Any]]:
    """A 2 x 3 matrix of two variables: its number of columns tells q from r in (33)."""
    a, b = x
    return [[a * b, b * b, a + 3 * b], [a * a * a, a * b * b, 5 * b]]


def example_factor(x: Any) -> list[list[Any]]:
    """A 3 x 2 matrix, by which the other one is multiplied."""
    a, b = x
    return [[a, b * b], [a * b, 2 * a], [b, a * a + b]]


X, XD = (0.7, -1.3), (0.4, 2.1)


@chapter.evidence("Truc-2")
def size_of_the_identity() -> Check:
    """(33) on a 2 x 3 matrix of two variables."""
    dD = floats(kronecker.matrix_derivative(example_matrix, X))  # 2 x 6
    printed = np.kron(np.eye(len(X)), np.array(XD)[:, None])  # 1_r (x) xd
    right = np.kron(np.eye(3), np.array(XD)[:, None])  # 1_q (x) xd
    fits = dD.shape[1] == printed.shape[0]
    error = distance(dD @ right, slope(example_matrix))
    figure = f"{dD.shape[0]} x {dD.shape[1]} times {printed.shape[0]} x {printed.shape[1]} as printed; 1_q: {error:.1g}"
    return Check(
        "1_r as the identity of (33), for a matrix with q = 3 columns of r = 2 variables",
        not fits and error < 1e-8,
        figure,
    )


def slope(D: Any, h: float = 1e-5) -> Array:
    """dD/dt along XD by central differences; their error is of the order h^2 = 1e-10."""
    ahead, behind = (np.array(D([x + s * h * v for x, v in zip(X, XD, strict=True)])) for s in (1, -1))
    return np.asarray((ahead - behind) / (2 * h), dtype=float)


@chapter.item(
    "(30)-(33)",
    "Kronecker product, derivatives of matrices, their product rule",
    vouches=(kronecker.kronecker_product, kronecker.matrix_derivative, kronecker.time_derivative),
)
def operators() -> Outcome:
    one, v = np.eye(2), np.array(XD)[:, None]
    H = floats(example_factor(X))
    dD, dH = (floats(kronecker.matrix_derivative(f, X)) for f in (example_matrix, example_factor))

    def both(x: Any) -> list[list[Any]]:
        return product(example_matrix(x), example_factor(x))

    rule = dD @ np.kron(H, one) + floats(example_matrix(X)) @ dH  # (32)
    ours = kronecker.time_derivative(kronecker.matrix_derivative(example_matrix, X), XD)
    D, V = example_matrix(X), [[x] for x in XD]
    return Outcome(
        "The definitions are evaluated on a 2 x 3 and a 3 x 2 matrix of two variables and compared with NumPy's "
        "Kronecker product and central differences.",
        checks=(
            aside(below("(30), against NumPy", distance(kronecker.kronecker_product(D, V), np.kron(D, v)), 0.0)),
            below("(32), both sides", distance(rule, kronecker.matrix_derivative(both, X)), 1e-12),
            aside(below("(33) with 1_q, against central differences", distance(ours, slope(example_matrix)), 1e-8)),
            below("(47): (1 (x) x) x = (x (x) 1) x", distance(np.kron(one, v) @ v, np.kron(v, one) @ v), 0.0),
        ),
        slips=(chapter.slip("Truc-2"),),
    )


@chapter.evidence("Truc-7")
def sum_of_columns() -> Check:
    """(36) on the momenta of the sample arm: a row of blocks has n^2 entries, h^T has n."""
    robot, at, rate, _ = sample()
    h = floats(kronecker.mass_matrix(robot, at)) @ floats(rate)
    rows = [x * e for x, e in zip(h, np.eye(robot.n), strict=True)]
    printed, right = np.hstack(rows), sum(rows, np.zeros(robot.n))
    error = distance(right, h)
    return Check(
        "[h_1 e_1^T ... h_n e_n^T] of (36) as h^T",
        printed.shape != h.shape and error == 0,
        f"{printed.size} entries as printed, {h.size} in h^T; the sum of h_i e_i^T differs by {error:.1g}",
    )


@chapter.item(
    "(52)-(55)",
    "The Coriolis matrix, and why Mdot - 2C is skew-symmetric",
    vouches=(kronecker.coriolis_matrix, kronecker.velocity_matrices, gim_christoffel.coriolis_matrix),
)
def skew_symmetry() -> Outcome:
    robot, at, rate, _ = sample()
    C = floats(kronecker.coriolis_matrix(robot, at, rate))
    _, V = (floats(each) for each in kronecker.velocity_matrices(robot, at, rate))
    Mdot = floats(rate_of(lambda x: composite_body.mass_matrix.formula(robot, x), at, rate))
    N = Mdot - 2 * C
    return Outcome(
        "On a random arm of six revolute and prismatic joints, (52) is compared with the Christoffel symbols of "
        "another module, which does not use Kronecker products; Mdot is that of composite bodies.",
        checks=(
            aside(
                below(
                    "(52) against Christoffel symbols",
                    distance(C, gim_christoffel.coriolis_matrix(robot, at, rate)),
                    1e-12,
                )
            ),
            below("(55): Mdot - 2C = V^T - V", distance(N, V.T - V), 1e-12),
            below("Mdot - 2C + its transpose", distance(N, -N.T), 1e-12),
        ),
    )


# The three-link manipulator ---------------------------------------------------------------------------------------


@chapter.item("table 1", "D-H parameters of the three-link manipulator")
def table_1() -> Outcome:
    checks, table = dh.compared(load("three_link"), ("q1", "q2", "q3"), text.TABLE_1)
    figure = robot_figure(load("three_link"), {"q = (0.4, -0.6, 0.9) rad": np.array([0.4, -0.6, 0.9])})
    return Outcome(
        "The table of the catalog robot three_link, in its symbols.",
        checks,
        tables=(table,),
        figures=((figure, "The arm of fig. 2."),),
    )


@chapter.item("(56)-(57)", "Homogeneous transformations and rotations", vouches=(kinematics.pose,))
def transformations() -> Outcome:
    checks = tuple(
        identity(f"T of frame {i + 1}", identical(kinematics.pose(arm(), q, link), text.transformation(i)))
        for i, link in enumerate(text.LINKS)
    )
    return Outcome("The poses of the three link frames are compared symbolically with the printed matrices.", checks)


@chapter.item(
    "(58)-(59)",
    "Angular velocities and rotational Jacobians, in link axes",
    vouches=(kinematics.velocity, kinematics.jacobian),
)
def angular_velocities() -> Outcome:
    checks = []
    for i, link in enumerate(text.LINKS):
        back = transpose(text.ROTATIONS[i])
        w = [[x] for x in kinematics.velocity(arm(), q, qd, link)[3:]]
        J = kinematics.jacobian(arm(), q, link)[3:]
        checks += [
            identity(f"omega_{i + 1}", identical(product(back, w), [[x] for x in text.ANGULAR[i]])),
            identity(f"J_R{i + 1}", identical(product(back, J), text.ROTATIONAL[i])),
        ]
    return Outcome("The angular velocities of the links are expressed in their own axes.", tuple(checks))


@chapter.item(
    "(60)-(62)",
    "Centres of mass and translational Jacobians",
    vouches=(kinematics.link_poses, kinematics.point_jacobian),
)
def centres_of_mass() -> Outcome:
    poses = link_poses(arm(), q)
    checks = []
    for i, link in enumerate(text.LINKS):
        frame = arm().frame(link)
        com = arm().joints[i].body.inertia.about_com().com
        at = tuple((poses[frame.link] @ frame.pose).apply(com))
        linear, angular = point_jacobian(arm(), poses, i, Vec3(*text.CENTRES[i]))
        turned = product(transpose(text.ROTATIONS[i]), transpose([tuple(w) for w in angular]))
        checks += [
            identity(f"(60), r_C{i + 1}", identical(tuple(com), text.LOCAL_CENTRES[i])),
            identity(f"(61), p_C{i + 1}", identical(at, text.CENTRES[i])),
            identity(f"(62), J_T{i + 1}", identical(transpose([tuple(v) for v in linear]), text.TRANSLATIONAL[i])),
            identity(f"(59), J_R{i + 1} of the same point", identical(turned, text.ROTATIONAL[i])),
            identity(
                f"(62), derivative of (61), link {i + 1}",
                identical(derivative(text.CENTRES[i], q), text.TRANSLATIONAL[i]),
            ),
        ]
    return Outcome(
        "The centres of mass in link axes and in the world, and their Jacobians from the joint axes and by "
        "differentiation.",
        tuple(checks),
    )


@chapter.item(
    "(63)-(65)",
    "Inertia matrix",
    vouches=(kronecker.mass_matrix, gim_christoffel.mass_matrix, lagrange_euler.mass_matrix),
)
def inertia_matrix() -> Outcome:
    printed = text.inertia_matrix()
    checks = tuple(
        identity(name, identical(module.mass_matrix(arm(), q), printed))
        for name, module in (
            ("Truc (28)", kronecker),
            ("Khalil (7.17)", gim_christoffel),
            ("Milićević (2.11)", lagrange_euler),
        )
    )
    return Outcome("The inertia matrix by three formulations.", checks, texts=(_written("M"),))


@chapter.item(
    "(66)-(67)",
    "Coriolis and centrifugal matrix",
    vouches=(kronecker.coriolis_matrix, gim_christoffel.coriolis_matrix, lagrange_euler.coriolis_matrix),
)
def coriolis_matrix() -> Outcome:
    printed = text.coriolis_matrix()
    checks = tuple(
        identity(name, identical(module.coriolis_matrix(arm(), q, qd), printed))
        for name, module in (
            ("Truc (52)", kronecker),
            ("Christoffel symbols", gim_christoffel),
            ("Milićević (2.14)", lagrange_euler),
        )
    )
    return Outcome("All nine entries by three formulations.", checks, texts=(_written("C"),))


@chapter.item(
    "(68)-(69)", "Potential energy and gravity torques", vouches=(kronecker.potential_energy, kronecker.gravity)
)
def gravity() -> Outcome:
    checks = (
        identity("(68), P", identical(kronecker.potential_energy(arm(), q), text.potential_energy())),
        identity("(69), g", identical(kronecker.gravity(arm(), q), text.gravity())),
        identity("(45): g is the gradient of (68)", identical(derivative(text.potential_energy(), q), text.gravity())),
    )
    return Outcome("Compared symbolically.", checks, texts=(_written("g"),))


def _written(name: str) -> str:
    """One of our explicit equations as text, entry by entry."""
    found = _equations().nodes(name)
    if name == "g":
        return "\n".join(f"g{i + 1} = {x}" for i, x in enumerate(found))
    return "\n".join(f"{name}{i + 1}{j + 1} = {x}" for i, row in enumerate(found) for j, x in enumerate(row))


@cache
def _equations() -> Equations:
    return derive(load("three_link"), "kronecker")


@cache
def skew_part() -> list[list[Any]]:
    """Mdot - 2C by (40) and (52)."""
    Mdot = kronecker.time_derivative(kronecker.inertia_derivative(arm(), q), qd)
    C = kronecker.coriolis_matrix(arm(), q, qd)
    return [[a - 2 * b for a, b in zip(*rows, strict=True)] for rows in zip(Mdot, C, strict=True)]


@chapter.evidence("Truc-1")
def third_moment_of_inertia() -> Check:
    """(70) with I3zz: two entries differ, unless the moments happen to be equal."""
    N = skew_part()
    printed, right = text.skew_matrix(text.p.I3zz), text.skew_matrix(text.p.I3xx)
    wrong = [f"{i + 1}{j + 1}" for i in range(3) for j in range(i + 1, 3) if not identical(N[i][j], printed[i][j])]
    holds = wrong == ["12", "13"] and bool(identical(N, right))
    return Check("(70) with I_3zz against Mdot - 2C", holds, f"entries {' and '.join(wrong)} differ; with I_3xx none")


@chapter.item(
    "(70)",
    "Mdot - 2C, entry by entry",
    vouches=(kronecker.inertia_derivative, kronecker.coriolis_matrix),
)
def skew_matrix() -> Outcome:
    N, right = skew_part(), text.skew_matrix(text.p.I3xx)
    checks = (
        identity("the diagonal vanishes", all(identical(N[i][i], 0) for i in range(3))),
        identity("entry 23", bool(identical(N[1][2], right[1][2]))),
        identity("entries 12 and 13 with I_3xx", bool(identical(N[0], right[0]))),
        identity("skew symmetry", all(identical(N[i][j], -N[j][i]) for i in range(3) for j in range(3))),
    )
    return Outcome(
        "The derivative of the inertia matrix minus twice (67), entry by entry.", checks, (chapter.slip("Truc-1"),)
    )


@chapter.item("(71)", "Properties of the links")
def properties() -> Outcome:
    robot = load("three_link")
    checks = [equal(name, robot.parameters[name], printed) for name, printed in text.DATA_71.items()]
    for i, printed in enumerate(text.CENTRES_71):
        com = np.array([float(x) for x in robot.joints[i].body.inertia.about_com().com])
        checks.append(below(f"r_C{i + 1} of (60) against (71)", float(np.abs(com - printed).max()), 1e-15))
    radii = [float(np.sqrt(robot.parameters[f"I{i}zz"] / robot.parameters[f"m{i}"])) for i in (2, 3)]
    said = "The centres of mass of (60) follow from the lengths. " + (
        f"The radii of gyration of links 2 and 3, {radii[0]:.3f} m and {radii[1]:.3f} m, exceed half of their lengths "
        "(Truc-6); the numbers are kept."
    )
    return Outcome(said, tuple(checks))
