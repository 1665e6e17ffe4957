"""El Baji: the formulation for general joints, and the SCARA arm of section 4."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from armdyn.algebra import Mat3, derivative
from armdyn.catalog.curves import SCARA_START, ScaraCurve
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled_dynamics
from armdyn.equations import derive
from armdyn.formats import load
from armdyn.graph import identical, symbols, trace
from armdyn.mechanics import bertrand_bruneau, dalembert, gibbs_appell, kane, kinematics, newton_euler
from armdyn.mechanics.kinematics import link_poses
from armdyn.report.figures.robot_figures import robot_figure
from armdyn.robot.parts import Joint
from armdyn.robot.random import random_robot
from armdyn.robot.robot import Robot
from armdyn.texts import dh
from armdyn.texts.elbaji import printed as text
from armdyn.texts.item import Chapter, Check, Outcome, aside, below, close, distance, floats, identity, misses
from armdyn.typing import Array

chapter = Chapter("elbaji")
G = 9.81
GOAL_0 = (0.3, 0.2, 0.2, np.pi / 3, 0.1)
"""x, y, z, phi of (40) at t = 0, and the lift."""


@cache
def scara() -> Robot:
    return load("scara5")


@cache
def dynamics() -> Dynamics:
    return compiled_dynamics(scara())


# The formulation: (1) to (33) -------------------------------------------------------------------------------------


@cache
def sample() -> tuple[Robot, Any, Any, Any]:
    """A random serial arm: two revolute joints, then prismatic, revolute, prismatic, revolute; and a state."""
    robot = random_robot(48, 6, prismatic=0.4)
    q, qd, qdd = np.random.default_rng(48).uniform(-2, 2, (3, robot.n))
    return robot, q, qd, qdd


@cache
def true_torques() -> Array:
    """Torques of the sample by Newton-Euler, which has nothing in common with the formulation."""
    return floats(newton_euler.inverse_dynamics(*sample()))


def true_accelerations() -> tuple[Array, Array]:
    """Linear, of the centres of mass, and angular, (n, 3) each, by differentiating the poses twice along the motion."""
    robot, q, qd, qdd = sample()

    def placed(t: Any) -> list[list[Any]]:
        at = [a + b * t[0] + c / 2 * t[0] * t[0] for a, b, c in zip(q, qd, qdd, strict=True)]
        poses = link_poses(robot, at)
        return [
            [*pose.apply(link.inertia.about_com().com), *(x for row in pose.R.array() for x in row)]
            for pose, link in zip(poses, robot.links, strict=True)
        ]

    def velocity(t: Any) -> Any:
        return derivative(placed, t, (1,))

    R = [floats(row[3:]).reshape(3, 3) for row in placed((0.0,))]
    Rdd = [floats(row[3:]).reshape(3, 3) for row in derivative(velocity, (0.0,), (1,))]
    linear = floats([row[:3] for row in derivative(velocity, (0.0,), (1,))])
    spin = [a @ b.T for a, b in zip(Rdd, R, strict=True)]  # hat(a) + hat(w) hat(w): its skew part is hat(a)
    angular = floats([[(A[2, 1] - A[1, 2]) / 2, (A[0, 2] - A[2, 0]) / 2, (A[1, 0] - A[0, 1]) / 2] for A in spin])
    return linear, angular


@chapter.evidence("ElBaji-4")
def factor_on_links_behind_prismatic_joints() -> Check:
    robot, q, qd, qdd = sample()
    S, (linear, _) = text.structure(robot, q), true_accelerations()
    printed, right = (distance(text.com_accelerations_10(S, qd, qdd, tags), linear) for tags in ({"ElBaji-4"}, ()))
    return misses("(10) with eps_bar_j, accelerations of the centres of mass", printed, right)


@chapter.evidence("ElBaji-5")
def angular_acceleration_of_prismatic_joints() -> Check:
    robot, q, qd, qdd = sample()
    S, (_, angular) = text.structure(robot, q), true_accelerations()
    printed, right = (distance(text.angular_rates(S, qd, qdd, tags)[1], angular) for tags in ({"ElBaji-5"}, ()))
    return misses("(5) with eps_j, angular accelerations", printed, right)


@chapter.item("table 1", "The pseudoinertia tensor J of a body", vouches=(bertrand_bruneau.pseudo_inertia,))
def table_1() -> Outcome:
    rng = np.random.default_rng(1)
    masses, r = rng.uniform(0.1, 1, 8), rng.uniform(-1, 1, (8, 3))
    r -= masses @ r / masses.sum()
    tensor = floats(sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True)))
    J = floats(bertrand_bruneau.pseudo_inertia(Mat3(tuple(map(tuple, tensor.tolist())))).array())
    u, v = rng.uniform(-1, 1, (2, 3))
    gyroscopic = tensor @ np.cross(u, v) + np.cross(u, tensor @ v) + np.cross(v, tensor @ u)
    return Outcome(
        "Table 1 lists the symbols; J is its only formula but for (1 - eps). For a body of eight point masses, J is "
        "the sum of m r r^T, and 2 dual(J u) v of (18) and (26) is the gyroscopic effect of two angular velocities u "
        "and v.",
        checks=(
            below("J = -I + Tr(I)/2 times the identity", distance(J, np.trace(tensor) / 2 * np.eye(3) - tensor), 1e-14),
            aside(below("J = sum of m r r^T", distance(J, (masses[:, None] * r).T @ r), 1e-14)),
            aside(
                below(
                    "2 dual(J u) v = I (u x v) + u x I v + v x I u",
                    distance(2 * text.hat(J @ u) @ v, gyroscopic),
                    1e-14,
                )
            ),
        ),
    )


@chapter.item(
    "(1)-(14)",
    "Velocities and accelerations of the bodies, revolute and prismatic joints",
    vouches=(kinematics.velocity, kinematics.link_poses),
)
def accelerations() -> Outcome:
    robot, q, qd, qdd = sample()
    S, (linear, angular) = text.structure(robot, q), true_accelerations()
    w, a = text.angular_rates(S, qd, qdd)
    duals = [
        sum(
            (S.eps_bar[j] * (qdd[j] * text.hat(S.u[j]) + qd[j] * _commutators(S, qd, j)) for j in range(k + 1)),
            np.zeros((3, 3)),
        )
        for k in range(S.N)
    ]
    return Outcome(
        "The formulas are evaluated on a random arm of six revolute and prismatic joints, and compared with its poses "
        "differentiated twice along the motion with dual numbers.",
        checks=(
            below("(5) corrected, against the poses", distance(a, angular), 1e-12),
            below("(6), the dual of (5)", distance(duals, [text.hat(x) for x in a]), 1e-12),
            below("(10) without the factor", distance(text.com_accelerations_10(S, qd, qdd), linear), 1e-12),
            below("(14) as printed", distance(text.com_accelerations_14(S, qd, qdd), linear), 1e-12),
            below(
                "(1), (2): angular velocity of the last body against the Jacobian",
                distance(w[-1], floats(kinematics.velocity(robot, tuple(q), tuple(qd)))[3:]),
                1e-12,
            ),
        ),
        slips=(chapter.slip("ElBaji-4"), chapter.slip("ElBaji-5")),
    )


def _commutators(S: text.Structure, qd: Array, j: int) -> Array:
    """The inner sum of (6)."""
    found = np.zeros((3, 3))
    for n in range(j):
        a, b = text.hat(S.u[n]), text.hat(S.u[j])
        found += S.eps_bar[n] * qd[n] * (a @ b - b @ a)
    return found


def torques_with(*tags: str) -> float:
    """Relative error of the torques of (23) with the errata `tags` as printed."""
    return distance(text.torques(*sample(), tags), true_torques())


@chapter.evidence("ElBaji-2")
def factor_on_tensors() -> Check:
    return misses("torques with eps_bar_k on I_k and J_k", torques_with("ElBaji-2"), torques_with())


@chapter.evidence("ElBaji-6")
def third_line_of_22() -> Check:
    robot, q, qd, _ = sample()
    truth = newton_euler.inverse_dynamics(robot.without("gravity"), q, qd, np.zeros(robot.n))
    rate = distance(text.velocity_torques_22(robot, q, qd), truth)
    printed = min(torques_with("ElBaji-6"), rate)
    return misses("torques with u_j in (22), and with qd_n on one term only", printed, torques_with())


@chapter.evidence("ElBaji-7")
def parenthesis_of_29() -> Check:
    return misses("torques with the eps_i term inside eps_bar_i(...)", torques_with("ElBaji-7"), torques_with())


@cache
def pushed() -> tuple[Array, Array, Array]:
    """A force and a moment applied to the tool, the torques by virtual work, and Q of (28)."""
    robot, q, _, _ = sample()
    applied = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])
    truth = true_torques() - floats(kinematics.jacobian(robot, tuple(q))).T @ applied
    point = floats(kinematics.pose(robot, tuple(q)))[:3, 3]
    _, Q = text.forces(robot, q, applied[:3], applied[3:], point)
    return applied, truth, Q.sum(1)


@chapter.evidence("ElBaji-3")
def sign_of_external_forces() -> Check:
    _, truth, Q = pushed()
    free = text.torques(*sample())
    return misses("torques under a force applied to the tool, +Q", distance(free + Q, truth), distance(free - Q, truth))


@chapter.item(
    "(15)-(22)",
    "Dynamic and external generalized forces",
    vouches=(
        bertrand_bruneau.inverse_dynamics,
        bertrand_bruneau.contributions,
        bertrand_bruneau.separate_contributions,
    ),
)
def generalized_forces() -> Outcome:
    robot, q, qd, qdd = sample()
    applied, truth, Q = pushed()
    S, free = text.structure(robot, q), text.torques(*sample())
    by_17, by_18 = text.dynamic_forces_17(S, qd, qdd), text.dynamic_forces_18(S, qd, qdd)
    environment = text.environment_forces_20(S, applied[:3], applied[3:], floats(kinematics.pose(robot, q))[:3, 3])
    return Outcome(
        "Every equation is evaluated about centres of mass in world axes. The torques are compared with the recursive "
        "Newton-Euler algorithm, and the effect of a force on the tool with virtual work.",
        checks=(
            below("(18) corrected against (15)-(17), vectors", distance(by_18, by_17), 1e-12),
            below(
                "(21) with (17) and (20) corrected, against Newton-Euler and virtual work",
                distance(text.projected_21(S, by_17 + environment), truth),
                1e-12,
            ),
            below(
                "(21) with (18) corrected and (20)", distance(text.projected_21(S, by_18 + environment), truth), 1e-12
            ),
            below("(22) corrected, against Newton-Euler", distance(free, true_torques()), 1e-12),
            below("(22) corrected with a force on the tool", distance(free - Q, truth), 1e-12),
            *_parts(robot, q, qd, qdd, applied),
        ),
        slips=tuple(chapter.slip(tag) for tag in ("ElBaji-2", "ElBaji-3", "ElBaji-6")),
    )


def _parts(robot: Robot, q: Any, qd: Any, qdd: Any, applied: Any) -> tuple[Check, ...]:
    """The library's parts of (22), body by body, against the coefficients written out from the text."""
    H, beta, zeta = text.coefficients(robot, q)
    G, Q = text.forces(robot, q, -applied[:3], -applied[3:], floats(kinematics.pose(robot, tuple(q)))[:3, 3])
    crossed = np.einsum("ijnk,j,n->ik", zeta, qd, qd)
    printed = (np.einsum("ijk,j->ik", H, qdd), np.einsum("ijk,j->ik", beta, qd * qd), 2 * crossed, G, Q)
    wrench: Any = -applied
    parts = bertrand_bruneau.contributions(robot, q, qd, qdd, wrench)
    apart = floats(bertrand_bruneau.separate_contributions(robot, q, qd, qdd))
    points = replace(robot, tree=tuple(map(_point_mass, robot.tree)), expressions=None, parameters={})
    masses = bertrand_bruneau.contributions(points, q, qd, qdd)[:4]
    return (
        *(
            below(f"{name} of (22), body by body", distance(part, own), 1e-12)
            for name, part, own in zip(bertrand_bruneau.PARTS, parts, printed, strict=True)
        ),
        below(
            "torques by the library",
            distance(bertrand_bruneau.inverse_dynamics(robot, q, qd, qdd, wrench), floats(printed).sum(axis=(0, 2))),
            1e-12,
        ),
        below("masses and tensors apart: their sum", distance(apart.sum(axis=0), printed[:4]), 1e-12),
        aside(below("masses alone: bodies without tensors", distance(apart[0], masses), 1e-12)),
    )


def _point_mass(joint: Joint) -> Joint:
    body = joint.body.inertia.about_com()
    return replace(joint, body=replace(joint.body, inertia=replace(body, tensor=Mat3.zero())))


@chapter.item(
    "(23)-(29)",
    "Coefficients of the inverse dynamics: H, beta, zeta, G, Q",
    vouches=(
        bertrand_bruneau.inertia_coefficients,
        bertrand_bruneau.centrifugal_coefficients,
        bertrand_bruneau.coriolis_coefficients,
        bertrand_bruneau.gravity_coefficients,
        bertrand_bruneau.external_coefficients,
        bertrand_bruneau.inverse_dynamics,
        kane.inverse_dynamics,
        dalembert.inverse_dynamics,
        gibbs_appell.inverse_dynamics,
    ),
)
def coefficients() -> Outcome:
    robot, q, qd, qdd = sample()
    H, beta, zeta = text.coefficients(robot, q)
    wrench: Any = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])
    point = floats(kinematics.pose(robot, tuple(q)))[:3, 3]
    gravity, external = text.forces(robot, q, wrench[:3], wrench[3:], point)
    ours = bertrand_bruneau
    return Outcome(
        "Every coefficient, in world axes about centres of mass, is compared with the library's, which are in link "
        "axes about the links' origins. This is the step from (24)-(28) to (29).",
        checks=(
            below("H, (24)", distance(ours.inertia_coefficients(robot, q), H), 1e-12),
            below("beta, (25) corrected", distance(ours.centrifugal_coefficients(robot, q), beta), 1e-12),
            below("zeta, (26) corrected", distance(ours.coriolis_coefficients(robot, q), zeta), 1e-12),
            below("G, (27)", distance(ours.gravity_coefficients(robot, q), gravity), 1e-12),
            below(
                "Q, (28), exerted by the tool", distance(ours.external_coefficients(robot, q, wrench), external), 1e-12
            ),
            aside(
                below("(23), the torques", distance(ours.inverse_dynamics(robot, q, qd, qdd), true_torques()), 1e-12)
            ),
            *(
                below(
                    f"(23) with Q, {module.__name__.rpartition('.')[2]}",
                    distance(
                        module.inverse_dynamics(robot, q, qd, qdd, wrench), text.torques(*sample()) + external.sum(1)
                    ),
                    1e-12,
                )
                for module in (ours, kane, dalembert, gibbs_appell)
            ),
        ),
        slips=(chapter.slip("ElBaji-2"), chapter.slip("ElBaji-7")),
    )


@chapter.item(
    "(30)-(33)",
    "Matrix form: inertia matrix and the N x N x N array C",
    vouches=(
        bertrand_bruneau.mass_matrix,
        bertrand_bruneau.coriolis_tensor,
        bertrand_bruneau.coriolis_matrix,
        bertrand_bruneau.coriolis,
        bertrand_bruneau.gravity,
    ),
)
def matrix_form() -> Outcome:
    robot, q, qd, _ = sample()
    H, beta, zeta = text.coefficients(robot, q)
    n = range(robot.n)
    M = floats([[H[i, j, max(i, j) :].sum() for j in n] for i in n])  # (31)
    C = np.zeros((robot.n,) * 3)  # (33)
    for i in n:
        for j in n:
            C[i, j, j] = beta[i, j, max(i, j) :].sum()
            for m in range(j):
                C[i, j, m] = C[i, m, j] = zeta[i, j, m, max(i, j) :].sum()
    rest = np.zeros(robot.n)
    velocity = newton_euler.inverse_dynamics(robot.without("gravity"), q, qd, rest)
    ours = bertrand_bruneau
    pairs = {
        "(31) against Newton-Euler, column by column": (M, _columns(robot, q)),
        "(31) is symmetric": (M, M.T),
        "qd^T C qd with (32), (33), against Newton-Euler": (qd @ C @ qd, velocity),
        "(31), mass_matrix": (ours.mass_matrix(robot, q), M),
        "(32), (33), coriolis_tensor": (ours.coriolis_tensor(robot, q), C),
        "C qd, coriolis_matrix": (ours.coriolis_matrix(robot, q, qd), C @ qd),
        "(30), coriolis": (ours.coriolis(robot, q, qd), velocity),
        "(30), gravity": (ours.gravity(robot, q), newton_euler.inverse_dynamics(robot, q, rest, rest)),
    }
    return Outcome(
        "The sums have the printed index limits, max(i, j) to N; the library's matrices are compared with them.",
        checks=tuple(below(what, distance(*pair), 1e-12) for what, pair in pairs.items()),
    )


def _columns(robot: Robot, q: Array) -> Array:
    """Inertia matrix as torques of unit accelerations without gravity."""
    light, rest = robot.without("gravity"), np.zeros(robot.n)
    return floats([newton_euler.inverse_dynamics(light, q, rest, unit) for unit in np.eye(robot.n)]).T


# The SCARA arm: section 4 -----------------------------------------------------------------------------------------


@chapter.item("table 2", "D-H parameters of the SCARA arm")
def table_2() -> Outcome:
    checks, table = dh.compared(scara(), ("d1", "t2", "t3", "t4", "d5"), text.TABLE_2)
    figure = robot_figure(scara(), {"at q(0) of sec. 5.3": SCARA_START})
    return Outcome(
        "The table of the catalog robot scara5, in its symbols.",
        checks,
        tables=(table,),
        figures=((figure, "The arm of fig. 2."),),
    )


@chapter.item("(34)-(37)", "General transformation, pose of the end effector", vouches=(kinematics.pose,))
def forward_kinematics() -> Outcome:
    (theta,), (d, a, alpha) = symbols("theta"), text.parameters("d a alpha")
    row = {"type": "revolute", "theta": 0, "d": "d", "a": "a", "alpha": "alpha"}
    general = Robot.from_dh([row], "standard", parameters={"d": 0.3, "a": 0.2, "alpha": 0.4})
    q = symbols("d1 t2 t3 t4 d5")
    return Outcome(
        "Compared symbolically; (35) and (37) are parts of (34) and (36).",
        checks=(
            identity(
                "(34), (35)",
                identical(kinematics.pose(general.symbolic, (theta,)), text.transformation(theta, d, a, alpha)),
            ),
            identity("(36), (37)", identical(kinematics.pose(scara().symbolic, q), text.end_effector(q))),
        ),
    )


def missed(goal: tuple[float, float, float, float, float], branch: int, *tags: str) -> float:
    """Distance in m of the tool from the goal of (38)."""
    pose = dynamics().pose(text.inverse_kinematics(scara(), goal, branch, tags))
    return float(np.linalg.norm(pose[:3, 3] - goal[:3]))


def goals() -> list[tuple[float, float, float, float, float]]:
    """Points of (40)."""
    return [(float(x), float(y), float(z), np.pi / 3, 0.1) for x, y, z in ScaraCurve().tool(np.linspace(0, 10, 101))]


@chapter.evidence("ElBaji-1")
def sign_in_c2() -> Check:
    printed = max(missed(goal, branch, "ElBaji-1") for goal in goals() for branch in (1, -1))
    right = max(missed(goal, branch) for goal in goals() for branch in (1, -1))
    figure = f"as printed {printed:.2f} m, corrected {right:.1g} m"
    return Check(
        "(38) on the motion (40): largest distance of the tool from its goal", printed > 0.1 > 1e-12 > right, figure
    )


@chapter.item("(38)", "Inverse kinematics of the SCARA arm")
def inverse_kinematics() -> Outcome:
    corrected = text.inverse_kinematics(scara(), GOAL_0, 1)
    printed = text.inverse_kinematics(scara(), GOAL_0, 1, {"ElBaji-1"})
    near, far = (float(np.abs(q - SCARA_START).max()) for q in (corrected, printed))
    return Outcome(
        "Both branches are evaluated at 101 points of (40) and checked by the pose of the arm; the initial "
        "configuration of sec. 5.3 is compared with the solutions at t = 0.",
        checks=(
            below("round trip, corrected, m", max(missed(goal, 1) for goal in goals()), 1e-12),
            Check(
                "q(0) of sec. 5.3 is closer to the corrected solution",
                near < 0.19 < 0.31 < far,
                f"largest difference {near:.3f} rad, with the printed sign {far:.3f} rad",
            ),
            close("d_5 at t = 0, m", float(corrected[4]), 0.284, 1e-3),
        ),
        slips=(chapter.slip("ElBaji-1"),),
    )


@chapter.item(
    "fig. 3",
    "Equations of motion of the SCARA arm",
    vouches=(bertrand_bruneau.inverse_dynamics,),
)
def figure_3() -> Outcome:
    checks = []
    for module in (bertrand_bruneau, kane, newton_euler, dalembert, gibbs_appell):
        made = trace(_torques_of(module), {"q": 5, "qd": 5, "qdd": 5})
        name = module.__name__.rpartition(".")[2]
        checks.append(
            identity(f"all five equations, {name}", identical(made.outputs["out"], text.figure_3(**made.inputs)))
        )
    eq = derive(scara(), "bertrand_bruneau")
    lines = [f"tau{i + 1} = {x}" for i, x in enumerate(eq.nodes("tau"))]
    return Outcome(
        "The forces that make the five printed expressions vanish are compared symbolically with five formulations. "
        "Our five equations follow in full. SymPy's KanesMethod, its result simplified, writes the five expressions "
        "with the same terms, signs and order but for (-w2 - w3 - w4)^2, which is (w2 + w3 + w4)^2 there (tried once, "
        "SymPy 1.14); what made the print is not known by that. (A moment of inertia of body 5 would add to I_4z "
        "everywhere, which the factor of ElBaji-2 hides.)",
        tuple(checks),
        texts=("\n".join(lines),),
    )


def _torques_of(module: Any) -> Callable[..., Any]:
    return lambda q, qd, qdd: module.inverse_dynamics(scara().symbolic, q, qd, qdd)
