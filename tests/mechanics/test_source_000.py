"""000 (El Baji et al.): its SCARA, its equations of motion (fig. 3), and its printed formulas with their errata.

The formulas (1)-(30) are written here once more as they stand in the text, in world axes and about the centres of mass,
each erratum with a switch: with all of them corrected they must agree with Pinocchio and with the implementation; with
one printed form put back they must not.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import armdyn
from armdyn.graph import identical, symbols, trace
from armdyn.mechanics import bertrand_bruneau, dalembert, gibbs_appell, kane, kinematics, newton_euler
from support import pinocchio_model as engine

FORMULATIONS = [bertrand_bruneau, dalembert, gibbs_appell, kane, newton_euler]
TOLERANCE = 1e-10
VISIBLE = 1e-3
"""A printed slip must change the result by more than this, relative to its scale."""


def distance(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape
    return np.abs(a - b).max() / max(1.0, np.abs(b).max())


def parameters(names):
    """Symbols known off-line, as a robot's named parameters are."""
    return symbols(names, "parameter")


# The SCARA --------------------------------------------------------------------------------------------------------


def figure_3(q, qd, qdd, I5z=0):
    """The forces F1, T2, T3, T4, F5 that make the five expressions of fig. 3 vanish, copied term by term.

    The catalog calls I_iz Izzi. E000-2: where body 5 has a moment of inertia, every I_4z must read I_4z + I_5z.
    """
    g, m1, m2, m3, m4, m5 = parameters("g m1 m2 m3 m4 m5")
    l2, l3, l4, lc2, lc3, lc4 = parameters("l2 l3 l4 lc2 lc3 lc4")
    I2z, I3z, I4z = parameters("Izz2 Izz3 Izz4")
    I4z = I4z + I5z
    _, _, t3, t4, _ = q
    _, w2, w3, w4, _ = qd
    vd1, wd2, wd3, wd4, vd5 = qdd
    s3, s4, s34 = t3.sin(), t4.sin(), (t3 + t4).sin()
    c3, c4, c34 = t3.cos(), t4.cos(), (t3 + t4).cos()
    first = -g * m1 - g * m2 - g * m3 - g * m4 - g * m5 + m5 * vd5 - (m1 + m2 + m3 + m4 + m5) * vd1
    second = (
        l2 * l3 * m4 * (w2 + w3) ** 2 * s3 - l2 * l3 * m4 * w2**2 * s3 + l2 * l3 * m5 * (w2 + w3) ** 2 * s3
        - l2 * l3 * m5 * w2**2 * s3 + l2 * l4 * m5 * (-w2 - w3 - w4) ** 2 * s34
        - l2 * l4 * m5 * w2**2 * s34 + l2 * lc3 * m3 * (w2 + w3) ** 2 * s3 - l2 * lc3 * m3 * w2**2 * s3
        + l2 * lc4 * m4 * (-w2 - w3 - w4) ** 2 * s34 - l2 * lc4 * m4 * w2**2 * s34
        - l3 * l4 * m5 * (w2 + w3) ** 2 * s4 + l3 * l4 * m5 * (-w2 - w3 - w4) ** 2 * s4
        - l3 * lc4 * m4 * (w2 + w3) ** 2 * s4 + l3 * lc4 * m4 * (-w2 - w3 - w4) ** 2 * s4
        - (I4z + l4 * m5 * (l2 * c34 + l3 * c4 + l4) + lc4 * m4 * (l2 * c34 + l3 * c4 + lc4)) * wd4
        - (I3z + I4z + lc3 * m3 * (l2 * c3 + lc3)
           + m4 * (l2 * l3 * c3 + l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
           + m5 * (l2 * l3 * c3 + l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)) * wd3
        - (I2z + I3z + I4z + lc2**2 * m2 + m3 * (l2**2 + 2 * l2 * lc3 * c3 + lc3**2)
           + m4 * (l2**2 + 2 * l2 * l3 * c3 + 2 * l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
           + m5 * (l2**2 + 2 * l2 * l3 * c3 + 2 * l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)) * wd2
    )  # fmt: skip
    third = (
        -l2 * l3 * m4 * w2**2 * s3 - l2 * l3 * m5 * w2**2 * s3 - l2 * l4 * m5 * w2**2 * s34
        - l2 * lc3 * m3 * w2**2 * s3 - l2 * lc4 * m4 * w2**2 * s34 - l3 * l4 * m5 * (w2 + w3) ** 2 * s4
        + l3 * l4 * m5 * (-w2 - w3 - w4) ** 2 * s4 - l3 * lc4 * m4 * (w2 + w3) ** 2 * s4
        + l3 * lc4 * m4 * (-w2 - w3 - w4) ** 2 * s4
        - (I4z + l4 * m5 * (l3 * c4 + l4) + lc4 * m4 * (l3 * c4 + lc4)) * wd4
        - (I3z + I4z + lc3**2 * m3 + m4 * (l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
           + m5 * (l3**2 + 2 * l3 * l4 * c4 + l4**2)) * wd3
        - (I3z + I4z + lc3 * m3 * (l2 * c3 + lc3)
           + m4 * (l2 * l3 * c3 + l2 * lc4 * c34 + l3**2 + 2 * l3 * lc4 * c4 + lc4**2)
           + m5 * (l2 * l3 * c3 + l2 * l4 * c34 + l3**2 + 2 * l3 * l4 * c4 + l4**2)) * wd2
    )  # fmt: skip
    fourth = (
        -l2 * l4 * m5 * w2**2 * s34 - l2 * lc4 * m4 * w2**2 * s34 - l3 * l4 * m5 * (w2 + w3) ** 2 * s4
        - l3 * lc4 * m4 * (w2 + w3) ** 2 * s4 - (I4z + l4**2 * m5 + lc4**2 * m4) * wd4
        - (I4z + l4 * m5 * (l3 * c4 + l4) + lc4 * m4 * (l3 * c4 + lc4)) * wd3
        - (I4z + l4 * m5 * (l2 * c34 + l3 * c4 + l4) + lc4 * m4 * (l2 * c34 + l3 * c4 + lc4)) * wd2
    )  # fmt: skip
    fifth = g * m5 + m5 * vd1 - m5 * vd5
    return [-first, -second, -third, -fourth, -fifth]


def traced_torques(module, robot):
    graph = trace(lambda q, qd, qdd: module.inverse_dynamics(robot, q, qd, qdd), {"q": 5, "qd": 5, "qdd": 5})
    return graph.outputs["out"], graph.inputs


def named(modules):
    return pytest.mark.parametrize("module", modules, ids=lambda module: module.__name__.split(".")[-1])


@named(FORMULATIONS)
def test_figure_3(module):
    """All five equations of motion, as identities in every symbol."""
    torques, inputs = traced_torques(module, armdyn.load("scara5").symbolic)
    for mine, printed in zip(torques, figure_3(**inputs), strict=True):
        assert identical(mine, printed)


def scara_with_turning_quill():
    """The file of the catalog robot, with a moment of inertia I5z of its last body about the vertical axis."""
    text = armdyn.catalog.path("scara5").read_text()
    text = text.replace("Izz4 = 0.0058", "Izz4 = 0.0058\nI5z = 0.001")
    return text.replace('mass = "m5"', 'mass = "m5"\ninertia = ["I5z", 0, 0, "I5z", 0, "I5z"]')


@named(FORMULATIONS)
def test_inertia_behind_a_prismatic_joint(module, tmp_path):
    """E000-2 on the SCARA: with I5z fig. 3 holds only with I_4z + I_5z for I_4z; as printed it misses body 5."""
    file = tmp_path / "scara.toml"
    file.write_text(scara_with_turning_quill())
    torques, inputs = traced_torques(module, armdyn.load(file).symbolic)
    assert identical(torques, figure_3(**inputs, I5z=parameters("I5z")[0]))
    printed = figure_3(**inputs)
    assert [identical(a, b) for a, b in zip(torques, printed, strict=True)] == [True, False, False, False, True]


def test_general_transformation():
    """(34), (35)"""
    (theta,), (d, a, alpha) = symbols("theta"), parameters("d a alpha")
    robot = armdyn.Robot.from_dh(
        [{"type": "revolute", "theta": 0, "d": "d", "a": "a", "alpha": "alpha"}],
        "standard",
        parameters={"d": 0.3, "a": 0.2, "alpha": 0.4},
    )
    ct, st, ca, sa = theta.cos(), theta.sin(), alpha.cos(), alpha.sin()
    expected = [
        [ct, -ca * st, sa * st, a * ct],
        [st, ca * ct, -sa * ct, a * st],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ]
    assert identical(kinematics.pose(robot.symbolic, (theta,)), expected)


def test_pose_of_the_end_effector():
    """(36), (37)"""
    q = d1, t2, t3, t4, d5 = symbols("d1 t2 t3 t4 d5")
    l1, l2, l3, l4, l5 = parameters("l1 l2 l3 l4 l5")
    c2, s2, c23, s23 = t2.cos(), t2.sin(), (t2 + t3).cos(), (t2 + t3).sin()
    c234, s234 = (t2 + t3 + t4).cos(), (t2 + t3 + t4).sin()
    expected = [
        [c234, s234, 0, l2 * c2 + l3 * c23 + l4 * c234],
        [s234, -c234, 0, l2 * s2 + l3 * s23 + l4 * s234],
        [0, 0, -1, l1 + d1 - l5 - d5],
        [0, 0, 0, 1],
    ]
    assert identical(kinematics.pose(armdyn.load("scara5").symbolic, q), expected)


def inverse_kinematics(x, y, z, phi, d1, sign_of_c2, branch, l1, l2, l3, l4, l5):
    """(38); sign_of_c2 is -1 as printed, +1 corrected (E000-1)."""
    X, Y = x - l4 * np.cos(phi), y - l4 * np.sin(phi)
    c3 = (X**2 + Y**2 - l2**2 - l3**2) / (2 * l2 * l3)
    s3 = branch * np.sqrt(1 - c3**2)
    norm = l2**2 + l3**2 + 2 * l2 * l3 * c3
    s2 = (Y * (l2 + l3 * c3) - l3 * s3 * X) / norm
    c2 = (X * (l2 + l3 * c3) + sign_of_c2 * l3 * s3 * Y) / norm
    t3, t2 = np.arctan2(s3, c3), np.arctan2(s2, c2)
    return np.array([d1, t2, t3, phi - t3 - t2, l1 + d1 - l5 - z])


@pytest.mark.parametrize("branch", [1, -1])
def test_inverse_kinematics_needs_the_other_sign(branch):
    """E000-1: round trip through the pose; printed, it misses by decimetres."""
    robot = armdyn.load("scara5")
    lengths = {name: robot.parameters[name] for name in ("l1", "l2", "l3", "l4", "l5")}
    missed = []
    for t in np.linspace(0, 10, 21):  # the path (40), with the decimal commas read as such (E000-13)
        x, y = 0.1 * np.cos(t / 2) * np.cos(t) + 0.2, 0.1 * np.sin(t / 2) * np.cos(t) + 0.2
        goal = (x, y, 0.2, np.pi / 3, 0.1)
        q = inverse_kinematics(*goal, +1, branch, **lengths)
        T = kinematics.pose(robot, q)
        assert np.abs(T[:3, 3] - goal[:3]).max() < 1e-12
        assert abs(np.arctan2(T[1, 0], T[0, 0]) - np.pi / 3) < 1e-12  # phi of (36)
        printed = kinematics.pose(robot, inverse_kinematics(*goal, -1, branch, **lengths))
        missed.append(np.linalg.norm(printed[:2, 3] - goal[:2]))
    assert max(missed) > 0.1


def test_initial_position_of_the_source_fits_only_the_corrected_inverse_kinematics():
    """E000-1: q(0) = (0.1, -0.8, 1.9, -0.1, 0.284) is near the corrected solution for (40) at t = 0."""
    robot = armdyn.load("scara5")
    lengths = {name: robot.parameters[name] for name in ("l1", "l2", "l3", "l4", "l5")}
    start = np.array([0.1, -0.8, 1.9, -0.1, 0.284])
    right, printed = (inverse_kinematics(0.3, 0.2, 0.2, np.pi / 3, 0.1, sign, 1, **lengths) for sign in (1, -1))
    assert np.abs(right - start).max() < 0.19
    assert np.abs(printed - start).max() > 0.31


# The formulas as printed ------------------------------------------------------------------------------------------


def hat(v):
    """(3)"""
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def structure(robot, q):
    """Table 1 of a serial robot, in world axes: o, u, c, m, I, J, eps, eps_bar, N."""
    poses, bodies = kinematics.link_poses(robot, q), [link.inertia.about_com() for link in robot.links]
    R = [np.asarray(pose.R.array(), float) for pose in poses]
    I = [A @ np.asarray(body.tensor.array(), float) @ A.T for A, body in zip(R, bodies, strict=True)]
    eps = np.array([0 if link.revolute else 1 for link in robot.links])
    return SimpleNamespace(
        N=robot.n,
        o=[np.asarray(pose.p.array(), float) for pose in poses],
        u=[A[:, 2] for A in R],
        c=[np.asarray(pose.apply(body.com).array(), float) for pose, body in zip(poses, bodies, strict=True)],
        m=[float(body.mass) for body in bodies],
        I=I,
        J=[-A + np.trace(A) / 2 * np.eye(3) for A in I],
        eps=eps,
        eps_bar=1 - eps,
        g_u_g=np.asarray(robot.gravity.array(), float),
    )


def printed_coefficients(robot, q, printed=()):
    """H, beta, zeta of (24)-(26); `printed` names the errata that are put back in."""
    S, one = structure(robot, q), np.eye(3)
    H, beta, zeta = np.zeros((S.N,) * 3), np.zeros((S.N,) * 3), np.zeros((S.N,) * 4)
    for k in range(S.N):
        turning = S.eps_bar[k] if "E000-2" in printed else 1  # (29), (25), (26) against (24)
        m, I = S.m[k], turning * S.I[k]
        for i in range(k + 1):
            e, e_bar, c_i = S.eps[i], S.eps_bar[i], hat(S.c[k] - S.o[i])
            for j in range(k + 1):
                f, f_bar, c_j, u_j = S.eps[j], S.eps_bar[j], hat(S.c[k] - S.o[j]), hat(S.u[j])
                bracket = e_bar * (f_bar * (I - m * c_i @ c_j) + f * m * c_i) + e * (f * m * one - f_bar * m * c_j)
                H[i, j, k] = bracket @ S.u[j] @ S.u[i]  # (24)
                bracket = f_bar * (e_bar * (u_j @ I - m * c_i @ u_j @ c_j) - e * m * u_j @ c_j)
                beta[i, j, k] = bracket @ S.u[j] @ S.u[i]  # (25)
                for n in range(j):
                    u_n = hat(S.u[n])
                    u_in_22 = u_j if "E000-6" in printed else u_n
                    turn = turning * hat(S.J[k] @ S.u[n])
                    along = e * u_n @ (f * m * one - f_bar * m * c_j)
                    if "E000-7" in printed:
                        along = e_bar * along  # the eps_i term sits inside eps_bar_i(...)
                    bracket = e_bar * (f_bar * (turn - m * c_i @ u_in_22 @ c_j) + f * m * c_i @ u_n) + along
                    zeta[i, j, n, k] = S.eps_bar[n] * bracket @ S.u[j] @ S.u[i]  # (26)
    return H, beta, zeta


def printed_forces(robot, q, F, M, point, printed=()):
    """G of (27), Q of (28) for a force F at a point of the last body and a moment M, exerted BY it (E000-3)."""
    S = structure(robot, q)
    G, Q = np.zeros((S.N, S.N)), np.zeros((S.N, S.N))
    last = S.N - 1
    M_k = M + np.cross(point - S.c[last], F)
    for k in range(S.N):
        for i in range(k + 1):
            c_i = hat(S.c[k] - S.o[i])
            G[i, k] = -S.m[k] * (S.eps_bar[i] * c_i @ S.g_u_g + S.eps[i] * S.g_u_g) @ S.u[i]  # (27)
    for i in range(S.N):
        c_i, along = hat(S.c[last] - S.o[i]), S.eps[i] * F
        if "E000-7" in printed:
            along = S.eps_bar[i] * along
        Q[i, last] = (S.eps_bar[i] * (M_k + c_i @ F) + along) @ S.u[i]  # (28)
    return G, Q


def printed_torques(robot, q, qd, qdd, printed=()):
    """(23) without external forces, G outside of the sum over j (E000-8)."""
    H, beta, zeta = printed_coefficients(robot, q, printed)
    G, _ = printed_forces(robot, q, np.zeros(3), np.zeros(3), np.zeros(3))
    velocity = np.einsum("ijk,j->i", beta, qd**2) + 2 * np.einsum("ijnk,j,n->i", zeta, qd, qd)
    return np.einsum("ijk,j->i", H, qdd) + velocity + G.sum(1)


SERIAL = [(1, 0.4), (2, 0.5), (5, 0.5), (11, 0.3)]


def chain(seed, prismatic):
    """A serial robot with both kinds of joints, a revolute one somewhere before a prismatic one."""
    robot = armdyn.random_robot(seed, 6, prismatic=prismatic)
    kinds = [link.revolute for link in robot.links]
    assert True in kinds
    assert False in kinds[kinds.index(True) :]
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    return robot, q, qd, qdd


@pytest.mark.parametrize(("seed", "prismatic"), SERIAL)
def test_corrected_formulas_are_those_implemented(seed, prismatic):
    """(24)-(28) about centres of mass in world axes, against ours about origins in link axes; and against Pinocchio."""
    robot, q, qd, qdd = chain(seed, prismatic)
    H, beta, zeta = printed_coefficients(robot, q)
    wrench = np.random.default_rng(seed).uniform(-9, 9, 6)
    G, Q = printed_forces(robot, q, wrench[:3], wrench[3:], engine.tool_pose(robot, q)[:3, 3])
    assert distance(bertrand_bruneau.inertia_coefficients(robot, q), H) < TOLERANCE
    assert distance(bertrand_bruneau.centrifugal_coefficients(robot, q), beta) < TOLERANCE
    assert distance(bertrand_bruneau.coriolis_coefficients(robot, q), zeta) < TOLERANCE
    assert distance(bertrand_bruneau.gravity_coefficients(robot, q), G) < TOLERANCE
    assert distance(bertrand_bruneau.external_coefficients(robot, q, wrench), Q) < TOLERANCE
    torques = engine.inverse_dynamics(robot, q, qd, qdd)
    assert distance(printed_torques(robot, q, qd, qdd), torques) < TOLERANCE
    with_wrench = engine.inverse_dynamics(robot, q, qd, qdd, wrench)
    for module in FORMULATIONS:
        assert distance(module.inverse_dynamics(robot, q, qd, qdd, wrench), with_wrench) < TOLERANCE


@pytest.mark.parametrize("erratum", ["E000-2", "E000-6", "E000-7"])
def test_printed_coefficients_fail(erratum):
    """The factor on I_k and J_k, u_j for u_n in (22), the parenthesis of (29): each gives wrong torques."""
    robot, q, qd, qdd = chain(5, 0.5)
    torques = engine.inverse_dynamics(robot, q, qd, qdd)
    assert distance(printed_torques(robot, q, qd, qdd), torques) < TOLERANCE
    assert distance(printed_torques(robot, q, qd, qdd, {erratum}), torques) > VISIBLE


def test_rate_outside_of_the_bracket_of_22():
    """E000-6: (22) puts qd_n on the last term only; then the torque is not quadratic in the rates."""
    robot, q, qd, _ = chain(5, 0.5)
    rest = np.zeros(robot.n)
    velocity = engine.inverse_dynamics(robot.without("gravity"), q, qd, rest)
    _, beta, zeta = printed_coefficients(robot, q)
    eps = structure(robot, q).eps
    with_rate = zeta * np.where(eps[None, :, None, None] == 1, qd[None, None, :, None], 1)  # qd_n on eps_j terms only
    printed = np.einsum("ijk,j->i", beta, qd**2) + 2 * np.einsum("ijnk,j->i", with_rate, qd)
    assert distance(printed, velocity) > VISIBLE
    assert distance(bertrand_bruneau.coriolis(robot, q, qd), velocity) < TOLERANCE


def test_external_force_is_exerted_by_the_body():
    """E000-3: a force applied ON the tool lowers tau by J^T F; (28) printed adds it. E000-7: Q of prismatic i."""
    robot, q, qd, qdd = chain(5, 0.5)
    applied = np.array([3.0, -2.0, 5.0, 0.4, -0.7, 1.1])
    model = engine.build(robot)
    data, at = model.createData(), engine.order(model, robot)
    tool = model.frames[model.getFrameId("tool")]
    external = [engine.pin.Force.Zero() for _ in range(model.njoints)]
    engine.pin.framesForwardKinematics(model, data, q[np.argsort(at)])
    axes = engine.pin.SE3(data.oMf[model.getFrameId("tool")].rotation.T, np.zeros(3))
    external[tool.parentJoint] = tool.placement.act(axes.act(engine.pin.Force(applied)))
    state = [x[np.argsort(at)] for x in (q, qd, qdd)]
    truth = engine.pin.rnea(model, data, *state, external)[at]
    point = data.oMf[model.getFrameId("tool")].translation
    free = printed_torques(robot, q, qd, qdd)
    _, Q = printed_forces(robot, q, applied[:3], applied[3:], point)
    assert distance(free - Q.sum(1), truth) < TOLERANCE
    assert distance(free + Q.sum(1), truth) > VISIBLE  # E000-3
    _, Q = printed_forces(robot, q, applied[:3], applied[3:], point, {"E000-7"})
    assert distance(free - Q.sum(1), truth) > VISIBLE  # E000-7
    assert distance(bertrand_bruneau.inverse_dynamics(robot, q, qd, qdd, -applied), truth) < TOLERANCE


# Accelerations, (5) to (14) ---------------------------------------------------------------------------------------


def true_accelerations(robot, q, qd, qdd):
    """Of every centre of mass, and angular, from Pinocchio: (N, 3) each, world axes."""
    pin, model = engine.pin, engine.build(robot)
    for link in robot.links:
        at_com = pin.SE3(np.eye(3), np.asarray(link.inertia.about_com().com.array(), float))
        model.addFrame(pin.Frame(f"com {link.name}", model.getJointId(link.name), 0, at_com, pin.FrameType.OP_FRAME))
    data, at = model.createData(), engine.order(model, robot)
    pin.forwardKinematics(model, data, *(x[np.argsort(at)] for x in (q, qd, qdd)))
    pin.updateFramePlacements(model, data)
    frames = [model.getFrameId(f"com {link.name}") for link in robot.links]
    found = [pin.getFrameClassicalAcceleration(model, data, f, pin.LOCAL_WORLD_ALIGNED) for f in frames]
    return np.array([a.linear for a in found]), np.array([a.angular for a in found])


def angular_rates(S, qd, qdd, printed=()):
    """(1), and (5) corrected (E000-5) or, printed, with eps_j for eps_bar_j."""
    w, a = np.zeros((S.N, 3)), np.zeros((S.N, 3))
    for k in range(S.N):
        w[k] = sum(S.eps_bar[j] * qd[j] * S.u[j] for j in range(k + 1))  # (1)
        for j in range(k + 1):
            factor = S.eps[j] if "E000-5" in printed else S.eps_bar[j]
            carried = sum((S.eps_bar[n] * qd[n] * hat(S.u[n]) @ S.u[j] for n in range(j)), np.zeros(3))
            a[k] += factor * (qdd[j] * S.u[j] + qd[j] * carried)  # (5)
    return w, a


def com_accelerations_10(S, qd, qdd, printed=()):
    """(10), with o_j o_{j+1} as in (9) (E000-9); the factor eps_bar_j of the sum only if printed (E000-4)."""
    w, a = angular_rates(S, qd, qdd)
    found = np.zeros((S.N, 3))
    for k in range(S.N):
        found[k] = (hat(a[k]) + hat(w[k]) @ hat(w[k])) @ (S.c[k] - S.o[k])
        for j in range(k + 1):
            before = w[j - 1] if j else np.zeros(3)
            found[k] += S.eps[j] * (qdd[j] * S.u[j] + 2 * qd[j] * hat(before) @ S.u[j])
        for j in range(k):
            factor = S.eps_bar[j] if "E000-4" in printed else 1
            found[k] += factor * (hat(a[j]) + hat(w[j]) @ hat(w[j])) @ (S.o[j + 1] - S.o[j])
    return found


def com_accelerations_14(S, qd, qdd):
    """(14), last line."""
    found = np.zeros((S.N, 3))
    for k in range(S.N):
        for j in range(k + 1):
            lever = S.eps[j] * np.eye(3) - S.eps_bar[j] * hat(S.c[k] - S.o[j])
            w = sum((S.eps_bar[n] * qd[n] * hat(S.u[n]) for n in range(j)), np.zeros((3, 3)))
            centrifugal = S.eps_bar[j] * qd[j] ** 2 * hat(S.u[j]) @ hat(S.c[k] - S.o[j])
            found[k] += (lever * qdd[j] - centrifugal + 2 * qd[j] * w @ lever) @ S.u[j]
    return found


@pytest.mark.parametrize(("seed", "prismatic"), SERIAL)
def test_accelerations(seed, prismatic):
    """E000-4 and E000-5: (14) and the corrected (5), (10) hold; as printed (5) and (10) do not."""
    robot, q, qd, qdd = chain(seed, prismatic)
    S = structure(robot, q)
    linear, angular = true_accelerations(robot, q, qd, qdd)
    assert distance(com_accelerations_14(S, qd, qdd), linear) < TOLERANCE
    assert distance(com_accelerations_10(S, qd, qdd), linear) < TOLERANCE
    assert distance(com_accelerations_10(S, qd, qdd, {"E000-4"}), linear) > VISIBLE
    assert distance(angular_rates(S, qd, qdd)[1], angular) < TOLERANCE
    assert distance(angular_rates(S, qd, qdd, {"E000-5"})[1], angular) > VISIBLE
