"""Siciliano, sec. 7.4 to 7.6: identification, the Newton-Euler recursion, forward dynamics."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from armdyn.algebra import ZERO, Vec3
from armdyn.control import Feedforward
from armdyn.dynamics import compile as compiled
from armdyn.formats import load
from armdyn.graph import identical
from armdyn.identification import Ordinary, Samples, identify, predicted_std
from armdyn.mechanics import forward, kinematics, lagrange, newton_euler, rotors
from armdyn.mechanics.reactions import joint_reactions
from armdyn.parameters import (
    base_parameters,
    link_end_names,
    link_end_parameters,
    link_end_regressor,
    parameter_names,
    regressor,
)
from armdyn.robot import Robot
from armdyn.robot.random import random_robot
from armdyn.simulation.settings import Solver
from armdyn.simulation.simulator import simulate
from armdyn.texts.item import Chapter, Check, Outcome, aside, below, distance, equal, floats, identity, matches, misses
from armdyn.texts.other_model import OtherModel
from armdyn.texts.siciliano.example_7_2 import equal_durations
from armdyn.texts.siciliano.lagrange_arms import (
    PLANAR,
    c1,
    c2,
    c12,
    p,
    planar_torques,
    q,
    qd,
    qdd,
    s1,
    s2,
    s12,
    v1,
    v2,
    w1,
    w2,
)
from armdyn.texts.siciliano.two_link_torques import AT_JOINT, printed_terms
from armdyn.trajectory.fourier import fourier
from armdyn.trajectory.joint import point_to_point
from armdyn.typing import Array

chapter = Chapter("siciliano")

# Sec. 7.4, identification -------------------------------------------------------------------------------------------


def identified(robot: Robot, include: tuple[str, ...]) -> tuple[Check, ...]:
    """`identify` by (7.86), from a log of the torques of (7.82), without errors and with some, and its error bars."""
    t, noise = np.arange(600) / 100, 3.0
    motion = fourier([0.2, -0.4], [[0.5, 0.4, 0.3], [0.6, -0.5, 0.2]], [[0.3, -0.2, 0.4], [-0.4, 0.3, 0.5]], period=6)
    at: Any = [motion(t, order) for order in range(3)]
    terms = printed_terms(*at)
    exact = np.stack([sum(terms[key] for key in keys) for keys in AT_JOINT], axis=1)  # (7.82)
    tau = exact + noise * np.random.default_rng(85).standard_normal(exact.shape)
    clean, fit = (
        identify(
            robot,
            Samples(t, at[0], at[1], at[2], torques, np.ones_like(torques, bool)),
            include=include,
            free=Ordinary(),
        )
        for torques in (exact, tau)
    )
    base, found = fit.base, fit.estimate
    Y = base.regressor(*at).reshape(-1, base.count)
    inverse = np.linalg.inv(Y.T @ Y)
    pi = inverse @ Y.T @ tau.reshape(-1)  # (7.86)
    left, unit = tau.reshape(-1) - Y @ pi, np.sqrt(np.diag(inverse))
    sigma = np.sqrt(left @ left / (len(left) - base.count))
    # Tolerance of the standard deviations: those of the residuals are themselves known to 3 % from 600 samples.
    told, one = predicted_std(base, motion, noise).std, np.ones(base.count)
    return (
        below("`identify`: base parameters from (7.82)", distance(clean.estimate.values, base.values), 1e-8),
        below("`identify` of a log with errors, against (7.86)", distance(found.values, pi), 1e-8),
        below(
            "its standard deviations, against the covariance of (7.86)", distance(found.std / (sigma * unit), one), 0.1
        ),
        aside(below("standard deviations foreseen from the motion alone", distance(told / (noise * unit), one), 1e-9)),
    )


@chapter.item(
    "sec. 7.4",
    "Identification by least squares, (7.85), (7.86)",
    vouches=(regressor, link_end_regressor, link_end_parameters, base_parameters, identify, Ordinary, predicted_std),
)
def identification() -> Outcome:
    robot = load("planar2r")
    include = ("inertial", "rotor")
    rng = np.random.default_rng(74)
    at: Any = rng.uniform(-3, 3, (3, 200, 2))
    Y: Any = np.asarray(regressor(robot, at[0], at[1], at[2], include)).reshape(400, -1)
    names = parameter_names(robot, include)
    ends, values = link_end_regressor(robot, *at).reshape(400, -1), link_end_parameters(robot)
    seen = [
        name
        for name, column, value in zip(link_end_names(robot), ends.T, values, strict=True)
        if np.abs(column * value).max() > 1e-9
    ]
    base = base_parameters(robot, include, absent="zeros")
    general = base_parameters(robot, include)
    terms = printed_terms(*at)
    tau = np.stack([sum(terms[key] for key in keys) for keys in AT_JOINT], axis=1).reshape(-1)  # (7.82)
    Y_base = base.regressor(*at).reshape(400, -1)
    pi = np.linalg.solve(Y_base.T @ Y_base, Y_base.T @ tau)  # (7.86)
    singular = np.linalg.svd(Y / np.maximum(np.abs(Y).max(axis=0), 1e-300), compute_uv=False)
    rank = int((singular > 1e-9 * singular[0]).sum())
    checks = (
        equal("parameters of two links and rotors", len(names), 22),
        equal("those that appear in the model, in the frames of (7.83)", len(seen), 8),
        below(
            "(7.82) as the regressor in the frames of (7.83) times its parameters", distance(ends @ values, tau), 1e-12
        ),
        below("parameters found by (7.86) from 200 samples", distance(pi, base.values), 1e-9),
        *identified(robot, include),
        equal("minimal number of parameters of (7.82), footnote 6", base.count, 5),
        matches("rank of Y: two more, for centres of mass off the links' axes", rank, base.count + 2),
        matches(
            "the second number too, and both proved over exact rationals",
            (general.count, base.proved, general.proved),
            (rank, True, True),
        ),
    )
    says = (
        "Base parameters are estimated from the torques of (7.82) at random states. Parameters that appear in the "
        f"model, about the ends of the links: {', '.join(seen)}."
    )
    chosen = "The samples."
    return Outcome(says, checks, chosen=chosen, texts=(str(base),))


# Sec. 7.5.2, the recursion ------------------------------------------------------------------------------------------


def printed_recursion(
    robot: Robot, q: Any, qd: Any, qdd: Any, gyroscopic_terms: int, tip: tuple[Vec3, Vec3] = (ZERO, ZERO)
) -> SimpleNamespace:
    """(7.107)-(7.114) for revolute and prismatic joints in standard frames; (7.113) prints w x (I w) twice.

    tip: f_n+1 and mu_n+1 at the last link's frame and in its axes, the terminal conditions.
    Returns the vectors of every link in its frame: w, wd, a (of its origin), a_c, wmd (rotors), f, m, and tau.
    """
    n = robot.n
    links = rotors.augmented_links(robot)
    z0 = Vec3(0, 0, 1)
    poses = [joint.pose(x) for joint, x in zip(robot.joints, q, strict=True)]
    turning = [joint.rotor for joint in robot.joints]
    zm = [Vec3(0, 0, 1) if rotor is None else rotor.axis for rotor in turning]
    kr = [0 if rotor is None else rotor.ratio for rotor in turning]
    kI = [0 if rotor is None else rotor.ratio * rotor.inertia for rotor in turning]
    w, wd, a = [Vec3(0, 0, 0)], [Vec3(0, 0, 0)], [-robot.gravity]
    wmd, a_c = [], []
    for i, (R, r0) in enumerate(poses):
        back, r, com = R.T, R.T @ r0, links[i].inertia.about_com().com
        wmd.append(wd[i] + kr[i] * qdd[i] * zm[i] + (kr[i] * qd[i]) * w[i].cross(zm[i]))  # (7.111)
        if robot.links[i].revolute:
            w.append(back @ (w[i] + qd[i] * z0))  # (7.107)
            wd.append(back @ (wd[i] + qdd[i] * z0 + qd[i] * w[i].cross(z0)))  # (7.108)
            sliding = Vec3(0, 0, 0)
        else:
            w.append(back @ w[i])  # (7.107)
            wd.append(back @ wd[i])  # (7.108)
            sliding = back @ (qdd[i] * z0) + (2 * qd[i]) * w[-1].cross(back @ z0)  # (7.109)
        a.append(back @ a[i] + sliding + wd[-1].cross(r) + w[-1].cross(w[-1].cross(r)))  # (7.109)
        a_c.append(a[-1] + wd[-1].cross(com) + w[-1].cross(w[-1].cross(com)))  # (7.110)
    tau, f, m = [0] * n, [Vec3(0, 0, 0)] * n, [Vec3(0, 0, 0)] * n
    (f_next, m_next), R_next = tip, poses[0].R.identity()
    for i in reversed(range(n)):
        body = links[i].inertia.about_com()
        R, r0 = poses[i]
        r, com, W, Wd = R.T @ r0, body.com, w[i + 1], wd[i + 1]
        f_ahead = R_next @ f_next
        f[i] = f_ahead + body.mass * a_c[i]  # (7.112)
        m[i] = -(f[i].cross(r + com)) + R_next @ m_next + f_ahead.cross(com) + body.tensor @ Wd
        m[i] = m[i] + gyroscopic_terms * W.cross(body.tensor @ W)  # (7.113)
        if i + 1 < n:
            m[i] = m[i] + kI[i + 1] * qdd[i + 1] * zm[i + 1] + (kI[i + 1] * qd[i + 1]) * W.cross(zm[i + 1])  # (7.113)
        tau[i] = (m[i] if robot.links[i].revolute else f[i]).dot(R.T @ z0) + kI[i] * wmd[i].dot(zm[i])  # (7.114)
        f_next, m_next, R_next = f[i], m[i], R
    return SimpleNamespace(w=w[1:], wd=wd[1:], a=a[1:], a_c=a_c, wmd=wmd, f=f, m=m, tau=tau)


def geared(seed: int = 4) -> Robot:
    """A random arm of four revolute and prismatic joints whose rotors are bodies on the links."""
    robot = random_robot(seed, 4, convention="standard", prismatic=0.4, rotors=True, tilted_base=False)
    tree = []
    for joint in robot.tree:
        assert joint.rotor is not None
        tree.append(replace(joint, rotor=replace(joint.rotor, model="full", mass=0.3, transverse=2e-4)))
    return replace(robot, tree=tuple(tree))


def borne(robot: Robot, q: Any, steps: SimpleNamespace) -> Array:
    """f_i and mu_i of the printed recursion, in the axes of `joint_reactions` and about its points: (n, 6).

    The text's moments are about the origin of the frame before, which lies on the joint's axis, in the axes of the link
    frame; the library's are about the origin of the joint's frame, in its axes.
    """
    rows = []
    for joint, x, f, m in zip(robot.joints, q, steps.f, steps.m, strict=True):
        R, p = robot.frame(joint.body.name).pose  # the text's link frame in the joint's frame
        force = R @ f
        rows.append([*force, *(R @ m + (p + R @ joint.pose(x).inverse().p).cross(force))])
    return floats(rows)


@chapter.evidence("Siciliano-3")
def gyroscopic_slip() -> Check:
    robot = geared()
    at, rate, acceleration = (x.tolist() for x in np.random.default_rng(0).uniform(-2, 2, (3, 4)))
    truth = lagrange.inverse_dynamics(robot, at, rate, acceleration)
    once, double = (distance(printed_recursion(robot, at, rate, acceleration, k).tau, truth) for k in (1, 2))
    return misses("torques of a random arm with rotors by (7.107)-(7.114), against Lagrange", double, once)


@chapter.item(
    "(7.107)-(7.114)",
    "Newton-Euler recursion in link frames, fig. 7.14",
    vouches=(newton_euler.inverse_dynamics, rotors.rotor_torques, rotors.spin_torques, joint_reactions),
)
def recursion() -> Outcome:
    ours, corrected, reactions, motors, kinds = [], [], [], [], []
    tip = Vec3(3.0, -2.0, 5.0), Vec3(0.4, -0.7, 1.1)
    for seed in range(4, 10):
        robot, (at, rate, acceleration) = geared(seed), np.random.default_rng(seed).uniform(-2, 2, (3, 4))
        last = robot.joints[-1].body.name
        turned = floats(kinematics.pose(robot, at, last))[:3, :3]
        moved = at.tolist(), rate.tolist(), acceleration.tolist()
        state = at, rate, acceleration, {last: np.concatenate([turned @ floats([*x]) for x in tip])}
        truth = lagrange.inverse_dynamics(robot, *state)
        ours.append(distance(newton_euler.inverse_dynamics(robot, *state), truth))
        steps = printed_recursion(robot, *moved, 1, tip)
        corrected.append(distance(steps.tau, truth))
        reactions.append(distance(joint_reactions(robot, *state), borne(robot, moved[0], steps)))
        _, spun = rotors.spin_torques(robot, moved[0], kinematics.Motion(robot, *moved), *moved[1:])
        turning = [joint.rotor for joint in robot.joints if joint.rotor is not None]
        shares = [r.ratio * r.inertia * wmd.dot(r.axis) for r, wmd in zip(turning, steps.wmd, strict=True)]
        motors.append(distance(spun, shares))
        kinds.append("".join("R" if joint.kind == "revolute" else "P" for joint in robot.joints))
    checks = (
        below("the printed recursion, corrected, against Lagrange", max(corrected), 1e-11),
        below("the rotors' share of (7.114), by the library", max(motors), 1e-11),
        aside(below("our recursion against Lagrange", max(ours), 1e-11)),
        below(
            "`joint_reactions` against f_i of (7.112) and mu_i of (7.113), all six components", max(reactions), 1e-11
        ),
        aside(Check("prismatic joints take part", any("P" in each for each in kinds), ", ".join(kinds))),
    )
    says = (
        "The recursion is run as printed and with w x (I w) once, and ours, on random arms with rotors that exert a "
        "wrench; the forces and moments that the joints transmit are compared too."
    )
    chosen = "Random arms of four joints with rotors, and a wrench at the last link's frame."
    return Outcome(says, checks, (chapter.slip("Siciliano-3"),), chosen=chosen)


# Sec. 7.5.3, example ------------------------------------------------------------------------------------------------


def printed_example() -> dict[str, Any]:
    """The printed steps of sec. 7.5.3, in the parameters of links and rotors.

    With (7.83) m_1, m_2 and m_i (l_Ci + a_i) become sums over link and rotor; the moments of inertia about the centres
    of the augmented links enter through I_i + m_i (l_Ci + a_i)^2, the moment about the joint.
    """
    m1, m2, r1, r2 = p.ml1 + p.mm2, p.ml2, p.ml1 * p.l1 + p.mm2 * p.a1, p.ml2 * p.l2  # r_i = m_i (l_Ci + a_i)
    at1 = p.Il1 + p.ml1 * p.l1**2 + p.mm2 * p.a1**2 + p.Im2
    at2 = p.Il2 + p.ml2 * p.l2**2
    both, rate = w1 + w2, v1 + v2
    a_c2 = [
        p.a1 * s2 * w1 - p.a1 * c2 * v1**2 - p.l2 * rate**2 + p.g * s12,
        p.a1 * c2 * w1 + p.l2 * both + p.a1 * s2 * v1**2 + p.g * c12,
        0,
    ]
    mu2 = at2 * both + r2 * p.a1 * c2 * w1 + r2 * p.a1 * s2 * v1**2 + r2 * p.g * c12
    f1 = [
        -r2 * s2 * both - r1 * v1**2 - m2 * p.a1 * v1**2 - r2 * c2 * rate**2 + (m1 + m2) * p.g * s1,
        r1 * w1 + m2 * p.a1 * w1 + r2 * c2 * both - r2 * s2 * rate**2 + (m1 + m2) * p.g * c1,
        0,
    ]
    mu1 = (
        at1 * w1
        + m2 * p.a1**2 * w1
        + r2 * p.a1 * c2 * w1
        + at2 * both
        + r2 * p.a1 * c2 * both
        + p.kr2 * p.Im2 * w2
        + r2 * p.a1 * s2 * v1**2
        - r2 * p.a1 * s2 * rate**2
        + r1 * p.g * c1
        + m2 * p.a1 * p.g * c1
        + r2 * p.g * c12
    )
    return {
        "angular velocities": [[0, 0, v1], [0, 0, rate]],
        "angular accelerations": [[0, 0, w1], [0, 0, both]],
        "acceleration of the origin of link 1": [-p.a1 * v1**2 + p.g * s1, p.a1 * w1 + p.g * c1, 0],
        "acceleration of the origin of link 2": [
            p.a1 * s2 * w1 - p.a1 * c2 * v1**2 - p.a2 * rate**2 + p.g * s12,
            p.a1 * c2 * w1 + p.a2 * both + p.a1 * s2 * v1**2 + p.g * c12,
            0,
        ],
        "acceleration of the centre of link 2": a_c2,
        "angular accelerations of the rotors": [[0, 0, p.kr1 * w1], [0, 0, w1 + p.kr2 * w2]],
        "f_2": [m2 * x for x in a_c2],
        "mu_2, third component": mu2,
        "f_1": f1,
        "mu_1, third component": mu1,
        "tau_2": mu2 + p.kr2 * p.Im2 * (w1 + p.kr2 * w2),
        "tau_1": mu1 + p.kr1**2 * p.Im1 * w1,
    }


def computed_example() -> dict[str, Any]:
    """The same steps by the symbolic recursion."""
    r = printed_recursion(PLANAR, q, qd, qdd, 1)
    return {
        "angular velocities": [list(x) for x in r.w],
        "angular accelerations": [list(x) for x in r.wd],
        "acceleration of the origin of link 1": list(r.a[0]),
        "acceleration of the origin of link 2": list(r.a[1]),
        "acceleration of the centre of link 2": list(r.a_c[1]),
        "angular accelerations of the rotors": [list(x) for x in r.wmd],
        "f_2": list(r.f[1]),
        "mu_2, third component": r.m[1].z,
        "f_1": list(r.f[0]),
        "mu_1, third component": r.m[0].z,
        "tau_2": r.tau[1],
        "tau_1": r.tau[0],
    }


def library_steps() -> dict[str, Any]:
    """The same steps by the library's recursion, whose frames are at the joints and which has rotors apart.

    The spin of rotor 2 is the motion of a motor: its moment on link 1 is added here, as (7.113) has it.
    """
    found = newton_euler.transmitted(
        PLANAR,
        q,
        qd,
        qdd,
        newton_euler.tip_wrench(PLANAR, q, None),
        newton_euler.Start(ZERO, ZERO, -PLANAR.gravity),
    )
    first, second = found.motion
    body = PLANAR.links[1].inertia
    on_joints, _ = rotors.spin_torques(PLANAR, q, kinematics.Motion(PLANAR, q, qd, qdd), qd, qdd)
    spins = rotors.rotor_torques(PLANAR, q, qd, qdd)
    return {
        "angular velocities": [list(x.w) for x in found.motion],
        "angular accelerations": [list(x.wd) for x in found.motion],
        "acceleration of the origin of link 1": list(first.at(Vec3(p.a1, 0, 0))),
        "acceleration of the origin of link 2": list(second.at(Vec3(p.a2, 0, 0))),
        "acceleration of the centre of link 2": list(second.at(body.about_com().com)),
        "f_2": list(found.f[1]),
        "mu_2, third component": found.m[1].z,
        "f_1": list(found.f[0]),
        "mu_1, third component": found.m[0].z + on_joints[0],
        "tau_2": found.torques[1] + spins[1],
        "tau_1": found.torques[0] + spins[0],
    }


@chapter.item(
    "sec. 7.5.3",
    "Newton-Euler steps of the planar arm",
    vouches=(newton_euler.inverse_dynamics, newton_euler.transmitted),
)
def section_7_5_3() -> Outcome:
    printed, ours = printed_example(), computed_example()
    checks = [identity(name, identical(ours[name], printed[name])) for name in printed]
    checks += [identity(f"{name}, by the library", identical(x, printed[name])) for name, x in library_steps().items()]
    model = planar_torques()
    checks.append(identity("tau agrees with (7.82)", identical([printed["tau_1"], printed["tau_2"]], model)))
    same = newton_euler.inverse_dynamics(PLANAR, q, qd, qdd)
    checks.append(identity("tau agrees with our recursion", identical(same, model)))
    says = (
        "The forward and backward steps are computed symbolically, in the parameters of links and rotors, and "
        "compared with the printed vectors."
    )
    return Outcome(says, tuple(checks))


# Sec. 7.6, forward dynamics ------------------------------------------------------------------------------------------


@chapter.item(
    "sec. 7.6", "Forward dynamics, (7.115), (7.116)", vouches=(forward.forward_dynamics, lagrange.mass_matrix)
)
def forward_dynamics() -> Outcome:
    robot = load("planar2r")
    dyn = compiled(robot)
    at, rate, acceleration = np.random.default_rng(76).uniform(-2, 2, (3, 2))
    tau: Any = lagrange.inverse_dynamics(robot, at, rate, acceleration)
    weightless = robot.without("gravity")
    still: Any = np.zeros(2)
    columns = [newton_euler.inverse_dynamics(weightless, at, still, unit) for unit in np.eye(2)]
    rest = newton_euler.inverse_dynamics(robot, at, rate, still)
    found = np.linalg.solve(np.transpose(columns), tau - rest)  # (7.115)
    start = equal_durations()(0.0)
    move = point_to_point(start, start + np.pi / 2, "quintic", duration=0.5)
    other: Any = OtherModel(robot, lambda *state: lagrange.inverse_dynamics.formula(robot, *state))
    run = simulate(dyn, Feedforward(other), move, solver=Solver(dt=1e-3, integrator="rk4", compiled=False))
    still_terms = {key: float(value[0]) for key, value in printed_terms(at[None], rate[None], still[None]).items()}
    by_text = [sum(still_terms[key] for key in keys) for keys in AT_JOINT]
    checks = (
        below(
            "B column by column, g_0 = 0, qd = 0, against the kinetic energy differentiated",
            distance(np.transpose(columns), lagrange.mass_matrix(robot, at)),
            1e-12,
        ),
        below("(7.116), the recursion with qdd = 0, against (7.82)", distance(rest, by_text), 1e-12),
        below("(7.115)", distance(found, acceleration), 1e-11),
        aside(
            below("our module `forward`", distance(forward.forward_dynamics(robot, at, rate, tau), acceleration), 1e-11)
        ),
        aside(
            below(
                "simulation with Lagrange's torques of such a motion (Runge-Kutta) against it, rad",
                float(np.abs(run.error).max()),
                1e-6,
            )
        ),
    )
    says = "The accelerations follow from n + 1 evaluations of the inverse dynamics, and are used in a simulation."
    chosen = (
        "A random state, and a quintic motion between the ends of fig. 7.5. The order of growth is not examined "
        "(Siciliano-12)."
    )
    return Outcome(says, checks, chosen=chosen)
