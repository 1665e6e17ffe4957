"""Khalil, sec. 7.3: Lagrange's equations, their properties, and the terms of friction, rotors and elastic joints."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from armdyn.algebra import Inertia, Vec3, skew
from armdyn.analysis.model_bounds import model_bounds
from armdyn.formats import load
from armdyn.graph import closed_form, derivative, identical, ordered, symbol, symbols, text
from armdyn.mechanics import (
    articulated_body,
    composite_body,
    coupling,
    doubled,
    elastic,
    external,
    friction,
    gim_christoffel,
    kinematics,
    kronecker,
    lagrange,
    lagrange_euler,
    newton_euler,
    rotors,
)
from armdyn.mechanics import energies as energies_module
from armdyn.mechanics.friction import friction_torque
from armdyn.mechanics.kinematics import velocities
from armdyn.parameters import regressor, standard_parameters
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.robot import Robot
from armdyn.robot.links import Link
from armdyn.robot.parts import Elastic, Friction, Motor, Rotor
from armdyn.robot.random import random_robot
from armdyn.texts.item import Chapter, Check, Claim, Outcome, below, distance, identity

chapter = Chapter("khalil")

TEN = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
NAMES = [f"{name}{j}" for j in (1, 2, 3) for name in (*TEN, "Ia")] + ["D3", "G3"]
p = SimpleNamespace(**{name: symbol(name, "parameter") for name in NAMES})
q = q1, q2, q3 = symbols("q1 q2 q3")
qd = v1, v2, v3 = symbols("v1 v2 v3")
C2, S2, C3, S3, C23, S23 = q2.cos(), q2.sin(), q3.cos(), q3.sin(), (q2 + q3).cos(), (q2 + q3).sin()
BY_ENERGY = (lagrange, gim_christoffel, lagrange_euler, kronecker)
WITH_MATRIX = BY_ENERGY[1:]


def state(n: int, seed: int = 0, rows: int = 3) -> Any:
    """Random q, qd, qdd."""
    return np.random.default_rng(seed).uniform(-2, 2, (rows, n))


# Example 7.1: what is printed -----------------------------------------------------------------------------------------


def first_three() -> Robot:
    """The first three links of the RX-90, ten inertial parameters and a rotor each, all symbols."""
    rows = [
        {
            "a": a,
            "alpha": alpha,
            "mass": f"M{j}",
            "moment": [f"MX{j}", f"MY{j}", f"MZ{j}"],
            "inertia_origin": [f"{name}{j}" for name in TEN[:6]],
            "rotor": {"inertia": f"Ia{j}"},
        }
        for j, a, alpha in ((1, 0, 0), (2, 0, "pi/2"), (3, "D3", 0))
    ]
    return Robot.from_dh(rows, "modified", gravity=(0, 0, "G3"), parameters=dict.fromkeys(NAMES, 0.7)).symbolic


ROBOT = first_three()


def printed_angular_velocities() -> list[list[Any]]:
    """Example 7.1 i."""
    return [[0, 0, v1], [S2 * v1, C2 * v1, v2], [S23 * v1, C23 * v1, v2 + v3]]


def printed_linear_velocities() -> list[list[Any]]:
    """Example 7.1 ii."""
    return [[0, 0, 0], [0, 0, 0], [S3 * p.D3 * v2, C3 * p.D3 * v2, -C2 * p.D3 * v1]]


def printed_inertia() -> list[list[Any]]:
    """Example 7.1 iii."""
    SS2, CC2, CS2, SS23, CC23, CS23 = S2 * S2, C2 * C2, C2 * S2, S23 * S23, C23 * C23, C23 * S23
    A11 = (
        p.Ia1
        + p.ZZ1
        + SS2 * p.XX2
        + 2 * CS2 * p.XY2
        + CC2 * p.YY2
        + SS23 * p.XX3
        + 2 * CS23 * p.XY3
        + CC23 * p.YY3
        + 2 * C2 * C23 * p.D3 * p.MX3
        - 2 * C2 * S23 * p.D3 * p.MY3
        + CC2 * p.D3**2 * p.M3
    )
    A12 = S2 * p.XZ2 + C2 * p.YZ2 + S23 * p.XZ3 + C23 * p.YZ3 - S2 * p.D3 * p.MZ3
    A13 = S23 * p.XZ3 + C23 * p.YZ3
    A22 = p.Ia2 + p.ZZ2 + p.ZZ3 + 2 * C3 * p.D3 * p.MX3 - 2 * S3 * p.D3 * p.MY3 + p.D3**2 * p.M3
    A23 = p.ZZ3 + C3 * p.D3 * p.MX3 - S3 * p.D3 * p.MY3
    return [[A11, A12, A13], [A12, A22, A23], [A13, A23, p.Ia3 + p.ZZ3]]


def printed_potential() -> Any:
    """Example 7.1 iv."""
    return -p.G3 * (p.MZ1 + S2 * p.MX2 + C2 * p.MY2 + S23 * p.MX3 + C23 * p.MY3 + p.D3 * S2 * p.M3)


def printed_gravity() -> list[Any]:
    """Example 7.1 iv."""
    Q2 = -p.G3 * (C2 * p.MX2 - S2 * p.MY2 + C23 * p.MX3 - S23 * p.MY3 + p.D3 * C2 * p.M3)
    return [0, Q2, -p.G3 * (C23 * p.MX3 - S23 * p.MY3)]


def christoffel_of_printed() -> list[list[Any]]:
    """C by (7.7) from the printed A."""
    dA, n = derivative(printed_inertia(), q), range(3)
    return [[sum(((dA[i][j][k] + dA[i][k][j] - dA[j][k][i]) * qd[k] for k in n), 0 * q1) / 2 for j in n] for i in n]


# Sec. 7.3.2, 7.3.3, energies ----------------------------------------------------------------------------------------


def vector(v: Vec3) -> Any:
    return np.asarray(v.array(), dtype=float)


def spatial_inertia(body: Inertia) -> Any:
    """(7.21)"""
    S = np.asarray(skew(body.moment).array(), dtype=float)
    return np.block([[float(body.mass) * np.eye(3), S.T], [S, np.asarray(body.tensor.array(), dtype=float)]])


def screw_transform(link: Link, at: float) -> Any:
    """(7.23a), first form."""
    R, P = link.pose(at)
    back, hat = np.asarray(R.T.array(), dtype=float), np.asarray(skew(P).array(), dtype=float)
    return np.block([[back, -back @ hat], [np.zeros((3, 3)), back]])


def printed_energies(robot: Robot, at: Any, rate: Any) -> dict[str, float]:
    """Kinetic energy of a chain by (7.10), by (7.13) and by (7.19); potential energy by (7.24) and by (7.25b)."""
    totals = dict.fromkeys(("(7.10)", "(7.13)", "(7.19)", "(7.24)", "(7.25b)"), 0.0)
    V, g = np.zeros(6), vector(robot.gravity)
    for link, T in zip(robot.links, kinematics.link_poses(robot, at), strict=True):
        axis = np.array([0, 0, 0, 0, 0, 1.0] if link.revolute else [0, 0, 1.0, 0, 0, 0])  # (7.23b)
        V = screw_transform(link, at[link.index]) @ V + rate[link.index] * axis  # (7.22)
        v, w, body, central = V[:3], V[3:], link.inertia, link.inertia.about_com()
        m, s, MS = float(body.mass), vector(central.com), vector(body.moment)
        I_G, I_O = (np.asarray(x.array(), dtype=float) for x in (central.tensor, body.tensor))
        v_G = v + np.cross(w, s)  # (7.11)
        R, P = np.asarray(T.R.array(), dtype=float), vector(T.p)
        totals["(7.10)"] += 0.5 * float(w @ I_G @ w + m * v_G @ v_G)
        totals["(7.13)"] += 0.5 * float(w @ I_O @ w + m * v @ v + 2 * MS @ np.cross(v, w))
        totals["(7.19)"] += 0.5 * float(V @ spatial_inertia(body) @ V)
        totals["(7.24)"] -= float(m * g @ (P + R @ s))
        totals["(7.25b)"] -= float(g @ (m * P + R @ MS))
    return totals


def energies_of(robot: Robot, x: Any, v: Any) -> Any:
    """L = E - U by the velocities of the links. (7.4)"""
    total: Any = 0
    for linear, angular, link in zip(*velocities(robot, x, v), robot.links, strict=True):
        body = link.inertia
        turning = angular.dot(body.tensor @ angular) + 2 * body.moment.dot(linear.cross(angular))
        total = total + (turning + body.mass * linear.dot(linear)) / 2
    return total - energies_module.potential_energy.formula(robot, x)


@chapter.item(
    "(7.4)-(7.25)",
    "Energies and the elements of A, C and Q",
    vouches=(
        composite_body.mass_matrix,
        gim_christoffel.potential_energy,
        lagrange.equations,
        newton_euler.coriolis,
        newton_euler.gravity,
    ),
)
def energies() -> Outcome:
    errors: dict[str, list[float]] = {}
    for seed in (1, 2, 3):
        robot = random_robot(seed, 5).bound()
        at, rate, accel = state(5, seed)
        A, still = newton_euler.mass_matrix(robot, at), 1e-30j
        T, U = 0.5 * rate @ A @ rate, lagrange.potential_energy(robot, at)
        for name, value in printed_energies(robot, at, rate).items():
            truth = float(U if name in ("(7.24)", "(7.25b)") else T)
            errors.setdefault(name, []).append(abs(value - truth) / abs(truth))
        units = np.eye(5)
        slope = np.array([np.imag(lagrange.potential_energy(robot, at + still * u)) for u in units]) / 1e-30
        growth = np.array([np.imag(composite_body.mass_matrix(robot, at + still * u)) for u in (*units, rate)]) / 1e-30
        printed = growth[5] @ rate - 0.5 * np.einsum("kij,i,j->k", growth[:5], rate, rate)
        errors.setdefault("(7.8): Q = dU/dq", []).append(distance(newton_euler.gravity(robot, at), slope))
        errors.setdefault("C qd = dA/dt qd - dE/dq", []).append(
            distance(newton_euler.coriolis(robot, at, rate), printed)
        )

        def lagrangian(x: Any, v: Any, robot: Robot = robot) -> Any:
            return energies_of(robot, x, v)

        ours = lagrange.equations(lagrangian, at, rate, accel)
        errors.setdefault("(7.4a), the Lagrangian differentiated", []).append(
            distance(ours, newton_euler.inverse_dynamics(robot, at, rate, accel))
        )
    checks = tuple(below(f"{name}, random arms", max(found), 1e-11) for name, found in errors.items())
    says = (
        "Each form of the energies is summed link by link with (7.22) and compared with A and U of the whole arm; Q "
        "and C qd follow from them."
    )
    return Outcome(says, checks, chosen="Random arms of five revolute and prismatic joints.")


# Sec. 7.3.3.3, properties -------------------------------------------------------------------------------------------


def _symbols(expression: Any) -> set[str]:
    """Names of the symbols in an expression after cancellation."""
    return {str(node.value) for node in ordered(closed_form(expression)) if node.op == "symbol"}


def entries_depend_only_on_what_they_may() -> bool:
    """Property c: A_ij on q_{k+1}.. with k = min(i, j), and on parameters of links max(i, j).. ."""
    A = newton_euler.mass_matrix(ROBOT, q)
    for i in range(3):
        for j in range(3):
            low, high = min(i, j), max(i, j)
            positions = {f"q{k}" for k in range(low + 2, 4)}
            inertial = {f"{name}{k}" for k in range(high + 1, 4) for name in (*TEN, "Ia")}
            if not _symbols(A[i][j]) <= positions | inertial | {"D3"}:
                return False
    return True


def energies_of_links() -> bool:
    """Property b: the kinetic energy (7.13) of link j depends on q_1 .. q_j and qd_1 .. qd_j."""
    for j, (v, w, link) in enumerate(zip(*velocities(ROBOT, q, qd), ROBOT.links, strict=True), 1):
        body = link.inertia
        energy = w.dot(body.tensor @ w) + body.mass * v.dot(v) + 2 * body.moment.dot(v.cross(w))
        moving = {name for name in _symbols(energy) if name.startswith("q")}
        if not moving <= {f"{letter}{k}" for letter in ("q", "qd") for k in range(1, j + 1)}:
            return False
    return True


def passivity(robot: Robot) -> tuple[float, float]:
    """Property h: the energy's rate is the power of the torques less that of friction; its error, and the tolerance.

    The rate follows from energies differentiated by a complex step, the acceleration from articulated bodies.
    """
    rubbing = replace(robot.bound(), expressions=None, parameters={})
    rubbing = replace(rubbing, tree=tuple(replace(j, friction=Friction(3.0, 5.0)) for j in rubbing.tree))
    worst = 0.0
    for seed in range(20):
        at, rate, tau = state(6, seed)
        qdd = articulated_body.forward_dynamics(rubbing, at, rate, 50 * tau)
        ahead, faster = at + 1e-30j * rate, rate + 1e-30j * qdd
        energy: Any = lagrange.kinetic_energy(rubbing, ahead, faster) + lagrange.potential_energy(rubbing, ahead)
        rise = float(np.imag(energy)) / 1e-30
        lost = float(rate @ (3.0 * rate + 5.0 * np.sign(rate)))
        given = float(50 * tau @ rate)
        worst = max(worst, abs(given - rise - lost) / (abs(given) + lost), 0.0 if lost > 0 else 1.0)
    return worst, 1e-11


SPHERICAL = Robot.from_dh(
    [
        {"d": 0.5, "alpha": "-pi/2", "mass": 2.0, "com": (0, 0, 0.1), "inertia": (0.1, 0, 0, 0.1, 0, 0.1)},
        {"alpha": "pi/2", "mass": 1.0, "com": (0, 0.1, 0), "inertia": (0.1, 0, 0, 0.2, 0, 0.1)},
        {"type": "prismatic", "mass": 1.5, "com": (0, 0, -0.2), "inertia": (0.3, 0, 0, 0.3, 0, 0.1)},
    ],
    "standard",
)
"""A spherical arm, for property g with a prismatic joint."""


def largest_share(robot: Robot) -> float:
    """Largest share that |A|, |C| / |qd| and |Q| reach of the bounds of property g, at 200 random states."""
    rng, bounds, share = np.random.default_rng(3), model_bounds(robot), 0.0
    for q, qd in zip(rng.uniform(-3, 3, (200, robot.n)), rng.uniform(-1, 1, (200, robot.n)), strict=True):
        A, C = gim_christoffel.mass_matrix(robot, q), gim_christoffel.coriolis_matrix(robot, q, qd)
        norms = (
            np.linalg.norm(A, 2),
            np.linalg.norm(C, 2) / np.linalg.norm(qd),
            np.linalg.norm(newton_euler.gravity(robot, q)),
        )
        share = max(share, *(float(x / y) for x, y in zip(norms, bounds.at(float(np.linalg.norm(q))), strict=True)))
    return share


@chapter.item(
    "sec. 7.3.3.3",
    "Properties a to h of the dynamic model",
    vouches=(regressor, standard_parameters, model_bounds, gim_christoffel.coriolis_matrix),
)
def properties() -> Outcome:
    robot = load("rx90")
    rows: Any = np.random.default_rng(1).uniform(-np.pi, np.pi, (200, 6))
    at, rate, accel = state(6)
    A, C = gim_christoffel.mass_matrix(robot, rows), gim_christoffel.coriolis_matrix(robot, at, rate)
    step = 1e-30j
    A_dot = np.imag(composite_body.mass_matrix(robot, at + step * rate)) / 1e-30
    N = A_dot - 2 * C
    Y: Any = np.asarray(regressor(robot, at, rate, accel))
    carried = np.array([[k // (Y.shape[1] // 6) >= i for k in range(Y.shape[1])] for i in range(6)])
    tau = newton_euler.inverse_dynamics(robot, at, rate, accel)
    rates: Any = np.random.default_rng(2).normal(size=(200, 6))
    rates /= np.linalg.norm(rates, axis=1, keepdims=True)
    found = np.array(
        [
            np.linalg.norm(A, 2, axis=(-2, -1)).max(),
            np.linalg.norm(gim_christoffel.coriolis_matrix(robot, rows, rates), 2, axis=(-2, -1)).max(),
            np.linalg.norm(newton_euler.gravity(robot, rows), axis=-1).max(),
        ]
    )
    limits = np.array(model_bounds(robot).at(0.0))
    share = largest_share(SPHERICAL)
    checks = (
        below("a: A is symmetric, largest asymmetry", float(np.abs(A - np.swapaxes(A, -1, -2)).max()), 1e-12),
        Check(
            "a: A is positive definite",
            bool((np.linalg.eigvalsh(A) > 0).all()),
            f"smallest eigenvalue {np.linalg.eigvalsh(A).min():.3g}",
        ),
        identity("b: positions and velocities on which the energy of each link depends", energies_of_links()),
        identity("c: positions and parameters on which each A_ij depends", entries_depend_only_on_what_they_may()),
        below("d: influence of earlier links' parameters on a joint torque", float(np.abs(Y[~carried]).max()), 0.0),
        below("e: symmetric part of dA/dt - 2C", float(np.abs(N + N.T).max()), 1e-11),
        below("f: Y pi - tau", distance(Y @ standard_parameters(robot).array(), tau), 1e-12),
        Check(
            "g: bounds on |A|, |C| / |qd| and |Q| of the RX-90",
            bool((found <= limits).all()),
            "; ".join(f"{x:.3g}, bound {y:.3g}" for x, y in zip(found, limits, strict=True)),
        ),
        below("g: largest share of its bounds, with a6, that an arm with a prismatic joint reaches", share, 1.0),
        below(
            "h: power of the torques, minus the rate of the energy, minus the power of friction, relative",
            *passivity(robot),
        ),
    )
    sizes = {
        d: float(np.linalg.norm(gim_christoffel.coriolis_matrix(SPHERICAL, [0.3, 0.8, d], [1.0, 1.0, 0.0]), 2))
        for d in (1e2, 1e4)
    }
    growth = float(np.log10(sizes[1e4] / sizes[1e2]) / 2)
    claim = Claim(
        "g: with prismatic joints, ||C(q, qd)|| <= ||qd|| (a4 + a5 ||q||)",
        f"for an arm of two revolute and one prismatic joint ||C|| grows with the power {growth:.2f} of ||q||; a term "
        "a6 ||q||^2 is needed, and `armdyn.analysis.model_bounds` has it",
        growth <= 1.01,
    )
    says = (
        "Each property is checked on the RX-90: symbolically if it concerns dependence, otherwise at random "
        "configurations."
    )
    return Outcome(
        says, checks, chosen="Inertial parameters of the RX-90 (the text gives symbols only).", claims=(claim,)
    )


# Sec. 7.3.4, friction -----------------------------------------------------------------------------------------------

F_C, F_V, F_ST, B = 4.0, 1.5, 7.0, 6.0


def printed_friction(rate: Any, static: float = F_ST, viscous: float = F_V) -> Any:
    """(7.26); with static = F_c it is (7.27)."""
    return F_C * np.sign(rate) + viscous * rate + (static - F_C) * np.sign(rate) * np.exp(-np.abs(rate) * B)


KNEE = 0.3
"""Velocity up to which the law of fig. 7.2d is steep, rad/s."""


def by_line(rate: Any) -> Any:
    """The law of fig. 7.2d: a line from corner to corner, and (7.27) beyond."""
    corner = F_C + F_V * KNEE
    return np.where(
        np.abs(rate) <= KNEE, np.interp(rate, [-KNEE, KNEE], [-corner, corner]), printed_friction(rate, F_C)
    )


@chapter.item(
    "fig. 7.2",
    "Friction models, (7.26)-(7.28)",
    vouches=(friction_torque, friction.friction_torques, friction.piecewise),
)
def figure_7_2() -> Outcome:
    rate = np.unique([*np.linspace(-3, 3, 1201), -1e-6, 1e-6])  # the peak at rest too
    laws = {
        "a) static and Coulomb": (Friction(0, F_C, F_ST, 0.01), None),
        "b) with viscous friction and Stribeck effect": (Friction(F_V, F_C, F_ST, 1 / B), printed_friction(rate)),
        "c) Coulomb and viscous": (Friction(F_V, F_C), printed_friction(rate, F_C)),
        "d) piecewise linear": (Friction(F_V, F_C, width=KNEE, law="piecewise"), by_line(rate)),
    }
    torques = {name: friction_torque(law, rate) for name, (law, _) in laws.items()}
    checks = [
        below(name[3:], distance(torques[name], printed), 1e-14)
        for name, (_, printed) in laws.items()
        if printed is not None
    ]
    diagonal = np.diag([1.5, -0.5]) @ [F_V, 2 * F_V] + np.diag(np.sign([1.5, -0.5])) @ [F_C, 2 * F_C]  # (7.28)
    rubbing = [Friction(k * F_V, k * F_C) for k in (1, 2)]
    each = [friction_torque(law, x) for law, x in zip(rubbing, (1.5, -0.5), strict=True)]
    two = load("planar2r").bound()
    two = replace(two, tree=tuple(replace(j, friction=law) for j, law in zip(two.tree, rubbing, strict=True)))
    checks += [
        below("(7.28) of two joints", distance(each, diagonal), 1e-15),
        below("(7.28) of an arm", distance(friction.friction_torques(two, (1.5, -0.5)), diagonal), 1e-15),
        Check(
            "b) falls before it rises",
            bool((np.diff(torques[list(laws)[1]][rate > 0][:50]) < 0).all()),
            f"from {F_ST:g} N m at rest",
        ),
    ]
    panels = [Axes(name, "velocity, rad/s", "friction, N m", [Line(rate, y)]) for name, y in torques.items()]
    says = (
        "The four laws are drawn and compared with their formulas; d), which the text only draws, with straight lines."
    )
    chosen = f"F_c = {F_C:g}, F_st = {F_ST:g} N m, F_v = {F_V:g} N m s/rad, B = {B:g} s/rad; the figure has no numbers."
    return Outcome(says, tuple(checks), chosen=chosen, figures=((chart(*panels), "Friction models"),))


# Sec. 7.3.5 to 7.3.8, rotors, tip forces, transmissions, springs -----------------------------------------------------


@chapter.item(
    "(7.29)-(7.33)",
    "Rotor inertia, forces at the tip, actuator torques",
    vouches=(
        coupling.motor_torques,
        coupling.motor_velocities,
        coupling.coupling_matrix,
        coupling.joint_positions,
        coupling.joint_velocities,
        external.external_torques,
        friction.motor_friction,
        rotors.rotor_mass_matrix,
        kinematics.jacobian,
    ),
)
def rotors_and_tip() -> Outcome:
    N, Jm = np.array([80.0, 100.0, 60.0, 50.0, 50.0, 40.0]), np.array([6e-4, 6e-4, 7e-4, 2e-4, 1e-4, 1e-4])
    bare = load("rx90").without("rotors")
    plain = replace(bare.bound(), expressions=None, parameters={})
    motors = [Rotor(inertia=inertia, ratio=ratio) for inertia, ratio in zip(Jm, N, strict=True)]
    driven = replace(plain, tree=tuple(replace(j, rotor=r) for j, r in zip(plain.tree, motors, strict=True)))
    at, rate, accel = state(6, 3)
    added = newton_euler.mass_matrix(driven, at) - newton_euler.mass_matrix(bare, at)
    wrench = np.array([30.0, -20.0, 50.0, 2.0, -1.0, 3.0])
    free, pushing = (newton_euler.inverse_dynamics(driven, at, rate, accel, w) for w in (None, wrench))
    held = np.asarray(kinematics.jacobian(driven, at)).T @ wrench
    J = np.diag(1 / N)
    J[5, 4] = 0.01  # the last motor is coupled with the one before
    coupled = replace(plain, coupling=tuple(map(tuple, J.tolist())))
    K = np.linalg.inv(J)
    spun, dry = K @ rate, Motor(viscous=0.02, coulomb=0.03)
    rubbing = replace(coupled, tree=tuple(replace(j, motor=dry) for j in coupled.tree))
    work = np.asarray(coupling.motor_torques(coupled, free)) @ np.asarray(coupling.motor_velocities(coupled, rate))
    checks = (
        below("(7.29): A grows by diag(N^2 J_m)", distance(added, np.diag(N**2 * Jm)), 1e-12),
        below("(7.30): torques grow by J^T F_e", distance(pushing - free, held), 1e-12),
        below("(7.29), rotor_mass_matrix", distance(rotors.rotor_mass_matrix(driven, at), np.diag(N**2 * Jm)), 1e-12),
        below(
            "(7.30), external_torques", distance(external.external_torques(driven, at, {"tool": wrench}), held), 1e-12
        ),
        below("(7.31): J", distance(coupling.coupling_matrix(coupled), J), 1e-15),
        below("(7.31): qd = J qd_m", distance(coupling.joint_velocities(coupled, accel), J @ accel), 1e-15),
        below("(7.31): q = J q_m", distance(coupling.joint_positions(coupled, accel), J @ accel), 1e-15),
        below(
            "friction of the motors, on the joints by (7.33)",
            distance(friction.motor_friction(rubbing, rate), K.T @ (0.02 * spun + 0.03 * np.sign(spun))),
            1e-12,
        ),
        below("(7.33): tau_m = J^T tau", distance(coupling.motor_torques(coupled, free), J.T @ free), 1e-12),
        below("(7.32): motors and joints have the same power", abs(work - free @ rate) / abs(free @ rate), 1e-12),
    )
    chosen = (
        "Gear ratios, rotor inertias and a wrist coupling; the inertial parameters of the RX-90 are those of the "
        "catalog."
    )
    return Outcome("The terms that motors and tip forces add to (7.6) are checked on the RX-90.", checks, chosen=chosen)


def springy() -> Robot:
    """The RX-90 with a spring, and friction on both sides, at every joint."""
    robot = load("rx90").bound()
    spring, dry = Elastic(9e3, viscous=2.0, coulomb=1.0), Friction(3.0, 5.0)
    tree = tuple(replace(joint, elastic=spring, friction=dry) for joint in robot.tree)
    return replace(robot, tree=tree, expressions=None, parameters={})


@chapter.item(
    "fig. 7.3",
    "Robots with elastic joints, (7.34), (7.35)",
    vouches=(
        elastic.forward_dynamics,
        elastic.inverse_dynamics,
        elastic.energy,
        doubled.inverse_dynamics,
        doubled.potential_energy,
    ),
)
def figure_7_3() -> Outcome:
    robot = springy()
    links = robot.without("rotors", "friction", "elastic")
    at, rate, _ = state(6, 5)
    turned, spinning, tau = state(6, 6)
    turned = at + 0.01 * turned
    spring = np.array([float(j.elastic.stiffness) for j in robot.joints if j.elastic])
    Ia = np.array([float(j.rotor.inertia) for j in robot.joints if j.rotor])
    qdd, motors = elastic.forward_dynamics(robot, at, rate, turned, spinning, tau)
    stretched = spring * (at - turned)
    first = (
        newton_euler.mass_matrix(links, at) @ qdd
        + newton_euler.coriolis(links, at, rate)
        + newton_euler.gravity(links, at)
        + stretched
        + 3.0 * rate
        + 5.0 * np.sign(rate)
    )
    second = Ia * motors + 2.0 * spinning + 1.0 * np.sign(spinning) - stretched
    size = np.abs(stretched).max()
    still: Any = np.zeros(6)
    stored = elastic.energy(robot, at, still, turned, still) - lagrange.potential_energy(links, at)
    both = elastic.inverse_dynamics(robot, at, rate, qdd, turned, spinning, motors)
    x, xd, xdd = (np.concatenate(pair) for pair in ((at, turned), (rate, spinning), (qdd, motors)))
    checks = (
        below("(7.35), torques of this motion", distance(both, [still, tau]), 1e-10),
        below("(7.35) in one vector", distance(doubled.inverse_dynamics(robot, x, xd, xdd), [*still, *tau]), 1e-10),
        below(
            "(7.34): potential energy of weights and springs",
            distance(
                doubled.potential_energy(robot, x),
                lagrange.potential_energy(links, at) + 0.5 * (at - turned) @ stretched,
            ),
            1e-12,
        ),
        below("residual of (7.35a)", float(np.abs(first).max()) / size, 1e-12),
        below("residual of (7.35b)", float(np.abs(second - tau).max()) / size, 1e-12),
        below("(7.34): energy of the springs", distance(stored, 0.5 * (at - turned) @ stretched), 1e-12),
    )
    chosen = "Springs of 9 kN m/rad with friction on both sides; the parameters of the RX-90 are those of the catalog."
    return Outcome(
        "The accelerations of links and motors are substituted into the printed equations.", checks, chosen=chosen
    )


@chapter.item(
    "Example 7.1",
    "A, U and Q of the first three links of the RX-90",
    vouches=(
        velocities,
        lagrange.mass_matrix,
        gim_christoffel.mass_matrix,
        lagrange_euler.mass_matrix,
        kronecker.mass_matrix,
        lagrange.gravity,
        gim_christoffel.gravity,
        lagrange_euler.gravity,
        kronecker.gravity,
        gim_christoffel.coriolis_matrix,
        lagrange_euler.coriolis_matrix,
        kronecker.coriolis_matrix,
    ),
)
def example_7_1() -> Outcome:
    v, w = velocities(ROBOT, q, qd)
    A, Q, C = printed_inertia(), printed_gravity(), christoffel_of_printed()
    by = " and ".join(("Lagrange, Christoffel symbols, 4x4 matrices", "Kronecker products"))
    checks = (
        identity("angular velocities, i", identical(w, printed_angular_velocities())),
        identity("linear velocities, ii", identical(v, printed_linear_velocities())),
        identity(f"A by {by}", all(identical(module.mass_matrix(ROBOT, q), A) for module in BY_ENERGY)),
        identity("U", identical(lagrange.potential_energy(ROBOT, q), printed_potential())),
        identity("Q by four formulations", all(identical(module.gravity(ROBOT, q), Q) for module in BY_ENERGY)),
        identity(
            "C of (7.7) by three formulations", all(identical(m.coriolis_matrix(ROBOT, q, qd), C) for m in WITH_MATRIX)
        ),
    )
    ours = newton_euler.mass_matrix(ROBOT, q)
    upper = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))
    lines = [f"A{i}{j} = {text(closed_form(ours[i - 1][j - 1]))}" for i, j in upper]
    says = "The printed velocities, inertia matrix, potential energy and gravity torques are identities in all symbols."
    return Outcome(says, checks, texts=("\n".join(lines),))
