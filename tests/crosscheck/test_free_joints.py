"""Robots with free and ball joints against Pinocchio and MuJoCo, formulation by formulation."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import armdyn
from armdyn.errors import FeatureError
from armdyn.formats import mjcf_read
from armdyn.mechanics import closed_chain
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot import Robot
from armdyn.robot.edit import floated
from armdyn.robot.engines import forces_from_mujoco, forces_to_mujoco, from_mujoco, to_mujoco
from armdyn.robot.parts import Loop, Mimic
from armdyn.robot.random import random_robot
from support.feature_robots import floating
from support.pinocchio_model import build, pin, places

TOLERANCE = 1e-10
ROBOTS = {
    "floating arm": lambda: random_robot(3, 5, free_root=True, any_gravity=True),
    "floating tree": lambda: random_robot(4, 6, free_root=True, ball=0.3, branching=0.4, fixed=0.2),
    "ball joints": lambda: random_robot(5, 4, ball=0.8, branching=0.2),
    "one ball": lambda: random_robot(6, 1, ball=1.0),
    "one free body": lambda: random_robot(7, 1, free_root=True),
    "plain": lambda: random_robot(8, 3, free_root=True, skew=False, tilted_base=False, tool=False),
    "small": floating,
}


class Engine(NamedTuple):
    """Pinocchio's model of a robot, in our order."""

    robot: Robot
    model: Any
    data: Any
    positions: list[int]
    velocities: list[int]

    def q(self, q: Any) -> Any:
        """Pinocchio's positions."""
        x = np.zeros(self.model.nq)
        x[self.positions] = q
        return x

    def v(self, v: Any) -> Any:
        x = np.zeros(self.model.nv)
        x[self.velocities] = v
        return x

    def matrix(self, A: Any) -> Any:
        return np.asarray(A)[np.ix_(self.velocities, self.velocities)]


def engine(robot: Robot) -> Engine:
    model = build(robot)
    return Engine(robot, model, model.createData(), *places(model, robot))


class State(NamedTuple):
    q: Any
    v: Any
    a: Any
    tau: Any


def state(robot: Robot, seed: int = 0) -> State:
    rng = np.random.default_rng(seed)
    q = robot.integrate(robot.neutral, rng.normal(size=robot.n))
    return State(q, *rng.normal(size=(3, robot.n)))


def agree(found: Any, expected: Any) -> None:
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * scale)


def symmetric(A: Any) -> Any:
    return np.triu(A) + np.triu(A, 1).T


@pytest.fixture(params=ROBOTS, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[armdyn.Dynamics, Engine]:
    robot = ROBOTS[request.param]()
    return armdyn.compile(robot), engine(robot)


def test_sizes(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    dyn, other = pair
    assert (dyn.robot.n, dyn.robot.nq) == (other.model.nv, other.model.nq)
    assert len(dyn.robot.position_names) == dyn.robot.nq


def test_dynamics(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    dyn, other = pair
    for seed in range(3):
        q, v, a, tau = state(dyn.robot, seed)
        model, data, x = other.model, other.data, other.q(q)
        rates = other.v(v), other.v(a)
        agree(dyn.inverse_dynamics(q, v, a), pin.rnea(model, data, x, *rates)[other.velocities])
        agree(dyn.mass_matrix(q), other.matrix(symmetric(pin.crba(model, data, x))))
        agree(dyn.forward_dynamics(q, v, tau), pin.aba(model, data, x, rates[0], other.v(tau))[other.velocities])
        gravity = pin.computeGeneralizedGravity(model, data, x)
        agree(dyn.gravity(q), gravity[other.velocities])
        c = (pin.nonLinearEffects(model, data, x, rates[0]) - gravity)[other.velocities]
        agree(dyn.coriolis(q, v), c)
        agree(dyn.coriolis_matrix(q, v) @ v, c)
        agree(dyn.regressor(q, v, a) @ dyn.parameters, pin.rnea(model, data, x, *rates)[other.velocities])
        agree(dyn.kinetic_energy(q, v), pin.computeKineticEnergy(model, data, x, rates[0]))
        agree(dyn.potential_energy(q), pin.computePotentialEnergy(model, data, x))


def test_kinematics(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    dyn, other = pair
    q, v, _, _ = state(dyn.robot)
    model, data, x = other.model, other.data, other.q(q)
    tool = model.getFrameId("tool")
    pin.forwardKinematics(model, data, x, other.v(v), np.zeros(model.nv))
    pin.updateFramePlacements(model, data)
    agree(dyn.pose(q), data.oMf[tool].homogeneous)
    J = pin.computeFrameJacobian(model, data, x, tool, pin.LOCAL_WORLD_ALIGNED)
    agree(dyn.jacobian(q), J[:, other.velocities])
    drift = pin.getFrameClassicalAcceleration(model, data, tool, pin.LOCAL_WORLD_ALIGNED)
    agree(dyn.jacobian_dot_qd(q, v), drift.vector)


def test_centroid(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    dyn, other = pair
    q, v, _, _ = state(dyn.robot)
    model, data, x = other.model, other.data, other.q(q)
    agree(dyn.center_of_mass(q), pin.centerOfMass(model, data, x))
    agree(dyn.centroidal_momentum(q, v), pin.computeCentroidalMomentum(model, data, x, other.v(v)).vector)


def test_reactions(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    """The last link of a free or ball joint has the frame that the joint moves."""
    dyn, other = pair
    q, v, a, _ = state(dyn.robot)
    pin.rnea(other.model, other.data, other.q(q), other.v(v), other.v(a))
    found = dyn.joint_reactions(q, v, a)
    for span in dyn.robot.compounds:
        joint = other.model.getJointId(dyn.robot.joints[span.joint].name)
        agree(found[span.velocities.stop - 1], other.data.f[joint].vector)


def test_derivatives_along_velocities(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    dyn, other = pair
    q, v, a, tau = state(dyn.robot)
    model, data, x = other.model, other.data, other.q(q)
    pin.computeRNEADerivatives(model, data, x, other.v(v), other.v(a))
    for found, expected in zip(dyn.inverse_dynamics_derivatives(q, v, a), (data.dtau_dq, data.dtau_dv), strict=True):
        agree(found, other.matrix(expected))
    pin.computeABADerivatives(model, data, x, other.v(v), other.v(tau))
    expected = data.ddq_dq, data.ddq_dv, symmetric(data.Minv)
    for found, slope in zip(dyn.forward_dynamics_derivatives(q, v, tau), expected, strict=True):
        agree(found, other.matrix(slope))


def test_the_coriolis_matrix_goes_with_the_mass_matrix(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    """Mdot - 2C is skew-symmetric, with Mdot along the motion, by central differences."""
    dyn, _ = pair
    q, v, _, _ = state(dyn.robot)
    step = 1e-5
    ahead, behind = (dyn.mass_matrix(dyn.robot.integrate(q, v, sign * step)) for sign in (1, -1))
    left = (ahead - behind) / (2 * step) - 2 * dyn.coriolis_matrix(q, v)
    np.testing.assert_allclose(left + left.T, 0, atol=1e-7)  # of the differences


def test_manifold(pair: tuple[armdyn.Dynamics, Engine]) -> None:
    dyn, other = pair
    robot = dyn.robot
    for seed in range(5):
        q, v, far, _ = state(robot, seed)
        agree(other.q(robot.integrate(q, v, 0.3)), pin.integrate(other.model, other.q(q), 0.3 * other.v(v)))
        q1 = robot.integrate(q, 3 * far)
        agree(other.v(robot.difference(q, q1)), pin.difference(other.model, other.q(q), other.q(q1)))
        agree(robot.integrate(q, robot.difference(q, q)), q)
        agree(robot.difference(q, robot.integrate(q, 1e-6 * v)), 1e-6 * v)


def test_joints_that_follow_others() -> None:
    """Mimic joints on a floating tree against Pinocchio's tree, projected by the laws that the joints follow."""
    tree = random_robot(3, 7, free_root=True, ball=0.2, branching=0.4, fixed=0.2, any_gravity=True)
    single = [joint.name for joint in tree.joints if joint.compound is None]
    laws = {single[-1]: Mimic(single[0], 1.7, 0.3), single[-2]: Mimic(single[0], -0.6, -0.2)}
    robot = replace(tree, tree=tuple(replace(joint, mimic=laws.get(joint.name)) for joint in tree.tree))
    names = [joint.name for joint in robot.joints]
    G = np.zeros((tree.n, robot.n))
    for row, joint in zip(G, tree.joints, strict=True):
        law = laws.get(joint.name)
        row[names.index(law.joint if law else joint.name)] = law.ratio if law else 1.0
    dyn, other = armdyn.compile(robot), engine(tree)
    model, data, (q, v, a, tau) = other.model, other.data, state(robot)
    q_all = dyn.closed(q)
    for name, law in laws.items():
        at = {each: q_all[k] for k, each in enumerate(tree.position_names)}
        assert at[name] == pytest.approx(law.ratio * at[law.joint] + law.offset)
    agree(closed_chain.all_positions(robot, q), q_all)
    x, rates = other.q(q_all), (other.v(G @ v), other.v(G @ a))
    torques = G.T @ pin.rnea(model, data, x, *rates)[other.velocities]
    agree(dyn.inverse_dynamics(q, v, a), torques)
    agree(closed_chain.inverse_dynamics(robot, q_all, v, a), torques)
    agree(closed_chain.accelerations(robot, q_all, v, a), G @ a)
    M = G.T @ other.matrix(symmetric(pin.crba(model, data, x))) @ G
    agree(dyn.mass_matrix(q), M)
    expected = np.linalg.solve(M, tau - G.T @ pin.nonLinearEffects(model, data, x, rates[0])[other.velocities])
    agree(dyn.forward_dynamics(q, v, tau), expected)
    agree(closed_chain.forward_dynamics(robot, q_all, v, tau), expected)
    agree(dyn.center_of_mass(q), pin.centerOfMass(model, data, x))
    agree(dyn.centroidal_momentum(q, v), pin.computeCentroidalMomentum(model, data, x, rates[0]).vector)
    agree(dyn.regressor(q, v, a) @ dyn.parameters, torques)
    for acceleration, found in ((a, dyn.inverse_dynamics_derivatives(q, v, a)),
                                (expected, dyn.forward_dynamics_derivatives(q, v, tau)[:2])):  # fmt: skip
        pin.computeRNEADerivatives(model, data, x, rates[0], other.v(G @ acceleration))
        for slope, theirs in zip(found, (data.dtau_dq, data.dtau_dv), strict=True):
            back = np.eye(robot.n) if acceleration is a else -np.linalg.inv(M)
            agree(slope, back @ G.T @ other.matrix(theirs) @ G)


def test_a_floating_closed_chain() -> None:
    """Exactly, by every formulation and by multipliers; and a loop through a ball joint is refused by name."""
    few = [entry for entry in FORMULATIONS if entry.name in ("newton_euler", "kane", "composite_body")]
    assert armdyn.certify(armdyn.load("five_bar").edited(floated), points=1, formulations=few).holds
    robot = floating()
    bodies = [joint.body.name for joint in robot.tree]
    looped = replace(robot, loops=(Loop("cut", bodies[5], bodies[-1]),))
    with pytest.raises(FeatureError, match="runs through a ball joint"):
        armdyn.compile(looped).mass_matrix(looped.neutral)


@cache
def compared() -> tuple[armdyn.Dynamics, ...]:
    return armdyn.compile(floating()), armdyn.compile(random_robot(11, 2, free_root=True, ball=0.5))


@pytest.mark.parametrize("entry", FORMULATIONS, ids=lambda entry: entry.name)
def test_every_formulation_agrees(entry: Any) -> None:
    for seed, dyn in enumerate(compared()):
        robot = dyn.robot
        q, v, a, tau = state(robot, seed)
        arguments = {"inverse_dynamics": (q, v, a), "mass_matrix": (q,), "coriolis_matrix": (q, v), "coriolis": (q, v),
                     "gravity": (q,), "forward_dynamics": (q, v, tau), "kinetic_energy": (q, v),
                     "potential_energy": (q,)}  # fmt: skip
        for name in entry.gives:
            agree(entry.function(name)(robot, *arguments[name]), getattr(dyn, name)(*arguments[name]))


MJCF = """<mujoco><compiler angle="radian"/><option gravity="1 2 -9"/><worldbody>
<body name="b" pos="1 2 3" euler=".1 .2 .3"><freejoint name="root"/>
 <inertial mass="5" pos=".1 .2 .3" fullinertia=".5 .6 .7 .01 .02 .03"/>
 <body name="c" pos=".1 .2 .3" quat="1 .2 .3 .4"><joint name="ball" type="ball" pos=".05 .06 .07" damping=".3"/>
  <inertial mass="2" pos="-.1 .2 .1" fullinertia=".15 .26 .17 .01 .02 .03"/>
  <body name="d" pos=".1 .2 .3" quat="1 .2 -.3 .4"><joint name="h" axis="1 2 3" pos=".1 0 .1"/>
   <joint name="s" type="slide" axis="1 0 3"/><joint name="t" type="ball" pos="0 .1 0"/>
   <inertial mass="1" pos="-.1 .2 .1" fullinertia=".15 .26 .17 .01 .02 .03"/></body></body></body>
<body name="z"><joint type="free" damping="0.2"/>
 <inertial mass="1" pos="-.1 .2 .1" fullinertia=".15 .26 .17 .01 .02 .03"/></body>
</worldbody></mujoco>"""


def test_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = mjcf_read.loads(MJCF)
    model = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(model)
    dyn = armdyn.compile(robot)
    assert (robot.n, robot.nq) == (model.nv, model.nq)
    for seed in range(3):
        q, v, a, tau = state(robot, seed)
        data.qpos[:], data.qvel[:], data.qacc[:] = to_mujoco(robot, q, v, a)
        mujoco.mj_inverse(model, data)
        agree(dyn.inverse_dynamics(q, v, a), forces_from_mujoco(robot, q, data.qfrc_inverse))
        data.qfrc_applied[:] = forces_to_mujoco(robot, q, tau)
        mujoco.mj_forward(model, data)
        agree(dyn.forward_dynamics(q, v, tau), from_mujoco(robot, data.qpos, data.qvel, data.qacc)[2])
        for name in "bcdz":
            T = dyn.pose(q, frame=name)
            agree(T[:3, 3], data.body(name).xpos)
            agree(T[:3, :3], data.body(name).xmat.reshape(3, 3))
