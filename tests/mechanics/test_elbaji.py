"""El Baji: its SCARA, its equations of motion (fig. 3), and its printed formulas with their errata.

`armdyn.texts.elbaji.printed` has the formulas (1)-(30) as printed, in world axes and about the centres of
mass, each erratum with a switch: with all of them corrected they must agree with Pinocchio and with the implementation;
with one printed form put back they must not.
"""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.graph import identical, symbols, trace
from armdyn.mechanics import bertrand_bruneau, dalembert, gibbs_appell, kane, kinematics, newton_euler
from armdyn.texts.elbaji.printed import (
    angular_rates,
    coefficients,
    com_accelerations_10,
    com_accelerations_14,
    end_effector,
    figure_3,
    forces,
    inverse_kinematics,
    parameters,
    structure,
    transformation,
    velocity_torques_22,
)
from armdyn.texts.elbaji.printed import torques as printed_torques
from support import pinocchio_model as engine

FORMULATIONS = [bertrand_bruneau, dalembert, gibbs_appell, kane, newton_euler]
TOLERANCE = 1e-10
VISIBLE = 1e-3
"""A printed slip must change the result by more than this, relative to its scale."""


def distance(a, b):
    a, b = np.asarray(a, float), np.asarray(b, float)
    assert a.shape == b.shape
    return np.abs(a - b).max() / max(1.0, np.abs(b).max())


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
    """ElBaji-2 on the SCARA: with I5z fig. 3 holds only with I_4z + I_5z for I_4z; as printed it misses body 5."""
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
    assert identical(kinematics.pose(robot.symbolic, (theta,)), transformation(theta, d, a, alpha))


def test_pose_of_the_end_effector():
    """(36), (37)"""
    q = symbols("d1 t2 t3 t4 d5")
    assert identical(kinematics.pose(armdyn.load("scara5").symbolic, q), end_effector(q))


@pytest.mark.parametrize("branch", [1, -1])
def test_inverse_kinematics_needs_the_other_sign(branch):
    """ElBaji-1: round trip through the pose; printed, it misses by decimetres."""
    robot = armdyn.load("scara5")
    missed = []
    for t in np.linspace(0, 10, 21):  # the path (40), with the decimal commas read as such (ElBaji-13)
        x, y = 0.1 * np.cos(t / 2) * np.cos(t) + 0.2, 0.1 * np.sin(t / 2) * np.cos(t) + 0.2
        goal = (x, y, 0.2, np.pi / 3, 0.1)
        q = inverse_kinematics(robot, goal, branch)
        T = kinematics.pose(robot, q)
        assert np.abs(T[:3, 3] - goal[:3]).max() < 1e-12
        assert abs(np.arctan2(T[1, 0], T[0, 0]) - np.pi / 3) < 1e-12  # phi of (36)
        printed = kinematics.pose(robot, inverse_kinematics(robot, goal, branch, {"ElBaji-1"}))
        missed.append(np.linalg.norm(printed[:2, 3] - goal[:2]))
    assert max(missed) > 0.1


def test_initial_position_of_the_source_fits_only_the_corrected_inverse_kinematics():
    """ElBaji-1: q(0) = (0.1, -0.8, 1.9, -0.1, 0.284) is near the corrected solution for (40) at t = 0."""
    robot = armdyn.load("scara5")
    start = np.array([0.1, -0.8, 1.9, -0.1, 0.284])
    right, printed = (
        inverse_kinematics(robot, (0.3, 0.2, 0.2, np.pi / 3, 0.1), 1, tags) for tags in ((), {"ElBaji-1"})
    )
    assert np.abs(right - start).max() < 0.19
    assert np.abs(printed - start).max() > 0.31


# The formulas as printed ------------------------------------------------------------------------------------------


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
    H, beta, zeta = coefficients(robot, q)
    wrench = np.random.default_rng(seed).uniform(-9, 9, 6)
    G, Q = forces(robot, q, wrench[:3], wrench[3:], engine.tool_pose(robot, q)[:3, 3])
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


@pytest.mark.parametrize("erratum", ["ElBaji-2", "ElBaji-6", "ElBaji-7"])
def test_printed_coefficients_fail(erratum):
    """The factor on I_k and J_k, u_j for u_n in (22), the parenthesis of (29): each gives wrong torques."""
    robot, q, qd, qdd = chain(5, 0.5)
    torques = engine.inverse_dynamics(robot, q, qd, qdd)
    assert distance(printed_torques(robot, q, qd, qdd), torques) < TOLERANCE
    assert distance(printed_torques(robot, q, qd, qdd, {erratum}), torques) > VISIBLE


def test_rate_outside_of_the_bracket_of_22():
    """ElBaji-6: (22) puts qd_n on the last term only; then the torque is not quadratic in the rates."""
    robot, q, qd, _ = chain(5, 0.5)
    rest = np.zeros(robot.n)
    velocity = engine.inverse_dynamics(robot.without("gravity"), q, qd, rest)
    assert distance(velocity_torques_22(robot, q, qd), velocity) > VISIBLE
    assert distance(bertrand_bruneau.coriolis(robot, q, qd), velocity) < TOLERANCE


def test_external_force_is_exerted_by_the_body():
    """ElBaji-3: a force applied ON the tool lowers tau by J^T F; (28) printed adds it. ElBaji-7: Q of prismatic i."""
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
    _, Q = forces(robot, q, applied[:3], applied[3:], point)
    assert distance(free - Q.sum(1), truth) < TOLERANCE
    assert distance(free + Q.sum(1), truth) > VISIBLE  # ElBaji-3
    _, Q = forces(robot, q, applied[:3], applied[3:], point, {"ElBaji-7"})
    assert distance(free - Q.sum(1), truth) > VISIBLE  # ElBaji-7
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


@pytest.mark.parametrize(("seed", "prismatic"), SERIAL)
def test_accelerations(seed, prismatic):
    """ElBaji-4 and ElBaji-5: (14) and the corrected (5), (10) hold; as printed (5) and (10) do not."""
    robot, q, qd, qdd = chain(seed, prismatic)
    S = structure(robot, q)
    linear, angular = true_accelerations(robot, q, qd, qdd)
    assert distance(com_accelerations_14(S, qd, qdd), linear) < TOLERANCE
    assert distance(com_accelerations_10(S, qd, qdd), linear) < TOLERANCE
    assert distance(com_accelerations_10(S, qd, qdd, {"ElBaji-4"}), linear) > VISIBLE
    assert distance(angular_rates(S, qd, qdd)[1], angular) < TOLERANCE
    assert distance(angular_rates(S, qd, qdd, {"ElBaji-5"})[1], angular) > VISIBLE
