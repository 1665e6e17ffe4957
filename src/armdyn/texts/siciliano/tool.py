"""Siciliano, sec. 7.7 to 7.9: dynamic scaling, operational space, dynamic manipulability."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from armdyn.algebra import derivative, gradient
from armdyn.analysis import acceleration_ellipsoid, operational_space
from armdyn.control import Desired, OperationalSpace
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.equations import derive
from armdyn.formats import load
from armdyn.mechanics import kinematics, lagrange
from armdyn.motion.scaling import scale_to_torque
from armdyn.report.figures.charts import Axes, Line, chart
from armdyn.report.figures.ellipsoid_figures import gravity_figure
from armdyn.report.figures.style import as_svg
from armdyn.robot import Robot
from armdyn.robot.parts import Friction
from armdyn.texts.item import Chapter, Check, Outcome, below, distance, floats
from armdyn.texts.siciliano.example_7_2 import equal_durations, posture
from armdyn.texts.siciliano.two_link_torques import AT_JOINT, printed_terms
from armdyn.trajectory.joint import point_to_point
from armdyn.typing import Array

chapter = Chapter("siciliano")

# Sec. 7.7, dynamic scaling ------------------------------------------------------------------------------------------


def moving_torques(dyn: Dynamics, q: Array, qd: Array, qdd: Array) -> Array:
    """tau_s of (7.123): the torques without gravity."""
    tau: Array = dyn.inverse_dynamics(q, qd, qdd) - dyn.gravity(q)
    return tau


def retimed(t: Array) -> tuple[Array, Array, Array]:
    """An increasing r(t) that is not linear, and two derivatives."""
    return t + 0.3 * t**2, 1 + 0.6 * t, np.full_like(t, 0.6)


@chapter.item("sec. 7.7", "Dynamic scaling of trajectories, (7.117)-(7.126)", vouches=(scale_to_torque,))
def scaling() -> Outcome:
    dyn = compiled(load("planar2r"))
    start = posture(0.2)
    path = point_to_point(start, start + np.pi / 2, "quintic", duration=1.0)
    t = np.linspace(0, 0.7, 141)
    r, rd, rdd = retimed(t)
    q, slope, bend = (path(r, k) for k in range(3))
    qd, qdd = rd[:, None] * slope, (rd**2)[:, None] * bend + rdd[:, None] * slope  # (7.120), (7.121)
    carried = np.einsum("kij,kj->ki", dyn.mass_matrix(q), slope)
    terms = printed_terms(q, qd, qdd)
    moving = np.stack([sum(terms[key] for key in keys if "gravity" not in key) for keys in AT_JOINT], axis=1)  # (7.82)
    by_text = (rd**2)[:, None] * moving_torques(dyn, q, slope, bend) + rdd[:, None] * carried  # (7.126)
    Gamma = np.array(list(map(derive(load("planar2r"), "lagrange").lambdify("Gamma"), q)))
    products = np.stack([qd[:, 0] ** 2, qd[:, 0] * qd[:, 1], qd[:, 1] ** 2], axis=-1)
    quadratic = np.einsum("kij,kj->ki", Gamma, products)
    limits = np.array([4000.0, 2500.0])
    move = equal_durations()
    slower = scale_to_torque(move, dyn, limits={"tau_max": limits})
    times = [np.linspace(0, m.duration, 801) for m in (move, slower)]
    torques = [dyn.inverse_dynamics(*(m(x, k) for k in range(3))) for m, x in zip((move, slower), times, strict=True)]
    used = [np.abs(tau / limits).max() for tau in torques]
    weight = [dyn.gravity(m(x)) for m, x in zip((move, slower), times, strict=True)]
    scaled = (torques[1] - weight[1])[5:-5] - slower.c**2 * (torques[0] - weight[0])[5:-5]
    away = np.abs(np.linspace(0, 1, 801)[5:-5] - 0.5) > 0.01  # off the jump of the acceleration
    checks = (
        below("(7.117): C qd from products of velocities", distance(quadratic, dyn.coriolis(q, qd)), 1e-12),
        below("(7.126) with r = t + 0.3 t², against (7.82)", distance(by_text, moving), 1e-12),
        below("r = c t: torques without gravity scale by c²", float(np.abs(scaled[away]).max()) / limits[0], 1e-9),
        Check("fig. 7.5 exceeds the limits", bool(used[0] > 1), f"{used[0]:.3f} of a limit"),
        below("scaled, one torque is at its limit", abs(float(used[1]) - 1), 1e-3),
        Check("the scaled motion is slower", slower.c < 1, f"c = {slower.c:.4f}, {slower.duration:.4f} s, not 0.5 s"),
    )
    panels = [
        Axes(
            f"joint {j + 1}, limit {limits[j]:g} N m",
            "time, s",
            "torque, N m",
            [
                Line(times[0], torques[0][:, j], "as in fig. 7.5"),
                Line(times[1], torques[1][:, j], "scaled"),
                *(Line([0, slower.duration], [s * limits[j]] * 2, "", ":", "#8a93a3") for s in (-1, 1)),
            ],
        )
        for j in (0, 1)
    ]
    says = (
        "The relations of the section are checked on the planar arm, and the motion of fig. 7.5 is scaled to torque "
        "limits."
    )
    chosen = f"The timing r(t), and torque limits of {limits[0]:g} and {limits[1]:g} N m."
    return Outcome(says, checks, chosen=chosen, figures=((chart(*panels), "A motion scaled to its torque limits"),))


# Sec. 7.8, operational space ----------------------------------------------------------------------------------------


def random_state(n: int, seed: int) -> Any:
    return np.random.default_rng(seed).uniform(-1.5, 1.5, (4, n))


def by_poses(robot: Robot, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array]:
    """J (2, n) and the acceleration of the tip along x and y: poses differentiated with dual numbers."""

    def tip(x: Any) -> list[Any]:
        return list(kinematics.pose.formula(robot, x).p)[:2]

    def along(t: Any) -> list[Any]:
        return tip([a + b * t[0] + c / 2 * t[0] * t[0] for a, b, c in zip(q, qd, qdd, strict=True)])

    acceleration = derivative(lambda t: derivative(along, t, (1,)), (0.0,), (1,))
    return floats(gradient(tip, tuple(q))).T, floats(acceleration)


def by_euler_angles(dyn: Dynamics, q: Array, qd: Array, qdd: Array, step: float = 2e-3) -> Array:
    """Second derivative of the tool's position and ZYZ angles, from poses by differences of fourth order."""
    t = step * np.arange(-2, 3)[:, None]
    T = dyn.pose(q + t * qd + t**2 / 2 * qdd)
    angles = np.unwrap(Rotation.from_matrix(T[:, :3, :3]).as_euler("ZYZ"), axis=0)
    return floats(np.array([-1, 16, -30, 16, -1]) @ np.hstack([T[:, :3, 3], angles])) / (12 * step**2)


def _law_by_hand() -> float:
    """Difference of the control law from (7.133), with the null space of (7.138), (7.141), for a redundant arm."""
    robot = load("planar3r")
    q, qd, rest, aside = random_state(3, 81)
    J, drift = by_poses(robot, q, qd, np.zeros(3))
    M = lagrange.mass_matrix(robot, q)
    mobility = J @ np.linalg.solve(M, J.T)
    Jbar = np.linalg.solve(M, J.T) @ np.linalg.inv(mobility)  # (7.138)
    goal = np.array(kinematics.pose(robot, q), dtype=float)
    goal[:2, 3] += aside[:2]
    desired = Desired(goal, np.array([0.3, -0.2, 0, 0, 0, 0.0]), np.array([1.1, 0.4, 0, 0, 0, 0.0]))
    w = desired.qdd[:2] + 4.0 * (desired.qd[:2] - J @ qd) + 30.0 * aside[:2]
    wish = 2.0 * (rest - q) - 0.5 * qd
    qdd = Jbar @ (w - drift) + wish - Jbar @ (J @ wish)
    printed = lagrange.inverse_dynamics(robot, q, qd, qdd)
    law = OperationalSpace(compiled(robot), 30.0, 4.0, rows="x y", posture=rest, posture_kp=2.0, posture_kd=0.5)
    return distance(law(0.0, q, qd, desired), printed)


@chapter.item(
    "sec. 7.8",
    "Operational space, (7.127)-(7.141)",
    vouches=(operational_space, OperationalSpace, kinematics.jacobian_dot),
)
def operational() -> Outcome:
    robots = [load(name) for name in ("planar2r", "planar3r", "rx90")]
    plain, redundant, spatial = map(compiled, robots)
    q, qd, qdd, _ = random_state(2, 78)
    here, (J, xdd) = operational_space(plain, q, qd), by_poses(robots[0], q, qd, qdd)
    B, c, g = lagrange.mass_matrix(robots[0], q), lagrange.coriolis(robots[0], q, qd), lagrange.gravity(robots[0], q)
    back = np.linalg.inv(J)
    mass = back.T @ B @ back  # (7.134)
    by_text = mass, back.T @ c - mass @ (xdd - J @ qdd), back.T @ g  # (7.135), (7.136); Jdot qd = xdd - J qdd
    errors = [distance(x, y) for x, y in zip((here.mass, here.coriolis, here.gravity), by_text, strict=True)]
    wrench = np.array([30.0, -20.0])
    tau = lagrange.inverse_dynamics(robots[0], q, qd, qdd) + J.T @ wrench

    r, rd, rdd, torque = random_state(3, 79)
    there, (K, add) = operational_space(redundant, r, rd, rows="x y"), by_poses(robots[1], r, rd, rdd)
    M, full = lagrange.mass_matrix(robots[1], r), lagrange.inverse_dynamics(robots[1], r, rd, rdd)
    mobility = K @ np.linalg.solve(M, K.T)
    Jbar = np.linalg.solve(M, K.T) @ np.linalg.inv(mobility)  # (7.139)
    inner = there.null @ (100 * torque)
    speeding = np.linalg.solve(M, inner)
    a, ad, aa, _ = random_state(6, 80)
    euler = operational_space(spatial, a, ad, angles="zyz").acceleration(spatial.inverse_dynamics(a, ad, aa))
    checks = (
        below("(7.134)-(7.136), non-redundant arm", max(errors), 1e-10),
        below(
            "(7.128): Jdot qd, against the tip's acceleration by hand",
            distance(np.asarray(kinematics.jacobian_dot(robots[0], q, qd))[:2] @ qd, xdd - J @ qdd),
            1e-11,
        ),
        below("(7.133), (7.141) as a control law at a random state", _law_by_hand(), 1e-9),
        below("(7.133) with h_e: tau = J^T gamma", distance(J.T @ here.force(xdd, wrench), tau), 1e-10),
        below(
            "(7.133), redundant arm: gamma = Jbar^T tau, (7.139), (7.140)",
            distance(there.force(add), Jbar.T @ full),
            1e-10,
        ),
        below("(7.130): B_A = (J B^-1 J^T)^-1", distance(there.mass @ mobility, np.eye(2)), 1e-11),
        below("(7.138): J^T is a right inverse of Jbar^T", distance(there.inverse.T @ K.T, np.eye(2)), 1e-11),
        below(
            "(7.141): torques of the null space do not accelerate the tip, m/s²",
            float(np.abs(K @ speeding).max()),
            1e-10,
        ),
        Check("they accelerate the joints", float(np.abs(speeding).max()) > 1, f"{np.abs(speeding).max():.3g} rad/s²"),
        below(
            "(7.128), (7.129) with Euler angles on the RX-90: acceleration of the tool, against differences of poses",
            distance(euler, by_euler_angles(spatial, a, ad, aa)),
            1e-6,
        ),
    )
    says = (
        "The operational space model is evaluated for arms of two, three and six joints, and compared with the text's "
        "formulas for B, C and g by Lagrange, and for J and accelerations from differentiated poses."
    )
    chosen = "The planar arms and the RX-90 of the catalog, at random states."
    return Outcome(says, checks, chosen=chosen)


# Sec. 7.9, dynamic manipulability -----------------------------------------------------------------------------------

STRENGTH = 12.0
SHOWN = {"stretched out": [0.5, 0.4, 0.3], "bent": [0.2, 1.1, 0.9], "folded": [0.6, 0.2, 2.0]}


def _moving_ellipsoid() -> float:
    """Difference of the exact ellipsoid of a moving arm from (7.143) with the velocities kept."""
    robot = load("planar3r").bound()
    tree = tuple(replace(joint, friction=Friction(2.0)) for joint in robot.tree)
    robot = replace(robot, tree=tree, expressions=None, parameters={})
    q, qd, _, _ = random_state(3, 82)
    J, drift = by_poses(robot, q, qd, np.zeros(3))
    M, rest = lagrange.mass_matrix(robot, q), lagrange.inverse_dynamics(robot, q, qd, np.zeros(3))
    found = acceleration_ellipsoid(compiled(robot), q, qd, tau_max=STRENGTH)
    still = acceleration_ellipsoid(compiled(robot), q, tau_max=STRENGTH)
    return max(distance(found.centre, drift - J @ np.linalg.solve(M, rest)), distance(found.lengths, still.lengths))


@chapter.item(
    "fig. 7.15", "Effect of gravity on the dynamic manipulability ellipsoid", vouches=(acceleration_ellipsoid,)
)
def figure_7_15() -> Outcome:
    dyn = compiled(load("planar3r"))
    q = np.array(SHOWN["folded"])
    sets = {method: acceleration_ellipsoid(dyn, q, tau_max=STRENGTH, method=method) for method in ("exact", "text")}
    free = acceleration_ellipsoid(dyn, q, tau_max=STRENGTH, gravity=False, method="text")
    M, g, J = dyn.mass_matrix(q), dyn.gravity(q), dyn.jacobian(q)[:2]
    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)])
    text = sets["text"]
    surface = text.centre[:, None] + text.axes @ (text.lengths[:, None] * circle)
    needed = M @ np.linalg.pinv(J)
    norms = np.linalg.norm(needed @ (surface - text.centre[:, None]), axis=0) / STRENGTH
    true_norms = np.linalg.norm(needed @ surface + g[:, None], axis=0) / STRENGTH
    rng = np.random.default_rng(15)
    torques = rng.normal(size=(3, 400))
    torques *= STRENGTH / np.linalg.norm(torques, axis=0)
    reached = J @ np.linalg.solve(M, torques - g[:, None])
    levels = sets["exact"].level(reached.T)
    down, up = (float(sets["exact"].support(d)) for d in (np.array([0.0, -1.0]), np.array([0.0, 1.0])))
    two = compiled(load("planar2r"))
    pair = [acceleration_ellipsoid(two, [0.4, 1.1], tau_max=1000.0, method=method) for method in ("exact", "text")]
    checks = (
        below("the centre is -J B^-1 g", distance(text.centre, -J @ np.linalg.solve(M, g)), 1e-11),
        below(
            "at velocity and with friction the centre is Jdot qd - J B^-1 (C qd + F qd + g), the axes are the same",
            _moving_ellipsoid(),
            1e-11,
        ),
        below("gravity translates the ellipsoid: half axes without it", distance(free.lengths, text.lengths), 1e-11),
        below("surface of (7.148): |B J+ (x - centre)| = 1", float(np.abs(norms - 1).max()), 1e-11),
        below("accelerations due to torques in the ball lie in the exact set", float(levels.max()) - 1, 1e-9),
        Check("accelerations are larger downwards", down > up, f"{down:.0f} m/s² down, {up:.0f} m/s² up"),
        below("non-redundant: (7.149) is the exact set", distance(pair[0].lengths, pair[1].lengths), 1e-10),
        Check(
            "redundant: (7.147) drops a term, so torques on the surface of (7.148) have another norm (Siciliano-13)",
            float(np.abs(true_norms - 1).max()) > 1e-3,
            f"{true_norms.min():.3f} to {true_norms.max():.3f} of it",
        ),
    )
    svg = as_svg(gravity_figure(dyn, SHOWN, tau_max=STRENGTH))
    says = "Ellipsoids of a three-link planar arm with and without gravity, exact and by (7.148)."
    chosen = f"The three-link arm of the catalog, three postures, torques of norm {STRENGTH:g} N m."
    return Outcome(says, checks, chosen=chosen, figures=((svg, "The ellipsoid with and without gravity"),))
