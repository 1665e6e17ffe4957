"""Closed chains against Pinocchio's constraint solver, at random closed configurations and in two assembly modes."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Pose, Vec3
from armdyn.errors import NotApplicable
from armdyn.mechanics import closed_chain, kinematics, loop_forces
from armdyn.mechanics.dependent_joints import dependent_joints
from armdyn.mechanics.kinematics import frame_pose, link_poses
from armdyn.robot import Robot
from support import pinocchio_model
from support.assembly_modes import STARTS, another_mode
from support.limits import FULL
from support.pinocchio_model import pin, se3

MECHANISMS = {"parallelogram": 1.0, "palletiser": 0.5, "five_bar": 0.3, "bricard": 0.8, "delta": 0.4, "stewart": 0.06}
"""How far from the assembly the independent joints go, rad or m."""
FUNCTIONS = ("closed", "inverse_dynamics", "forward_dynamics", "mass_matrix")


class Engine:
    """The tree in Pinocchio with its loops as point constraints: two points on the axis of a revolute cut."""

    def __init__(self, robot: Robot) -> None:
        tree = robot.opened
        self.model = pinocchio_model.build(tree)
        self.at = pinocchio_model.order(self.model, tree)
        self.data = self.model.createData()
        self.settings = pin.ProximalSettings(1e-14, 1e-14, 1e-8, 20)
        contacts = pin.StdVec_RigidConstraintModel()
        for loop in robot.loops:
            offsets = (-0.1, 0.1) if loop.kind == "revolute" else (0.0,)
            for offset in offsets:
                ends: list[Any] = []
                for body, place in ((loop.first, loop.first_placement), (loop.second, loop.second_placement)):
                    frame = tree.frame(body)
                    joint = 0 if frame.link < 0 else self.model.getJointId(tree.links[frame.link].name)
                    point = Pose.translation(0, 0, offset) if offset else Pose.identity()
                    ends += [joint, se3(frame.pose @ place.pose() @ point)]
                contacts.append(
                    pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, self.model, *ends, pin.ReferenceFrame.LOCAL)
                )
        self.contacts = contacts
        self.states = pin.StdVec_RigidConstraintData()
        for contact in contacts:
            self.states.append(contact.createData())
        pin.initConstraintDynamics(self.model, self.data, self.contacts, self.states)

    def accelerations(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        x, v, f = np.zeros((3, self.model.nv))
        x[self.at], v[self.at], f[self.at] = q, qd, tau
        found = pin.constraintDynamics(self.model, self.data, x, v, f, self.contacts, self.states, self.settings)
        return np.asarray(found)[self.at]

    def gap_rates(self, qd: np.ndarray) -> np.ndarray:
        """Velocities at which the ends of the cuts part, at the configuration of the last accelerations."""
        v = np.zeros(self.model.nv)
        v[self.at] = qd
        return np.asarray(pin.getConstraintsJacobian(self.model, self.data, self.contacts, self.states)) @ v

    def loop_forces(self, robot: Robot, q: np.ndarray) -> np.ndarray:
        """(loops, 3) forces of the last accelerations on the second bodies, world axes."""
        tree = robot.opened
        poses, states, found = link_poses(tree, q), iter(self.states), []
        for loop in robot.loops:
            end = frame_pose(poses, tree.frame(loop.first)) @ loop.first_placement.pose()
            points = [next(states).contact_force.linear for _ in range(2 if loop.kind == "revolute" else 1)]
            found.append(-np.asarray(end.R.array(), dtype=float) @ np.sum(points, axis=0))
        return np.array(found)


def count_of(name: str) -> int:
    """Configurations; the reference of a Stewart platform takes longest."""
    return 100 if FULL else 5 if name == "stewart" else 20


def compare(robot: Robot, q: np.ndarray, **mode: Any) -> None:
    """Torques that produce an acceleration, and accelerations that torques produce; mode: near="""
    dyn, chain, engine, rng = armdyn.compile(robot), dependent_joints(robot), Engine(robot), np.random.default_rng(7)
    function: dict[str, Any] = {name: getattr(dyn, name) for name in FUNCTIONS}
    qd, qdd, push = rng.uniform(-1, 1, (3, len(q), robot.n))
    q_all = function["closed"](q, **mode)
    assert np.abs(closed_chain.constraints(robot, q_all)).max() < 1e-12
    tau = function["inverse_dynamics"](q, qd, qdd, **mode)
    accelerations = function["forward_dynamics"](q, qd, tau + push, **mode)
    inertia = function["mass_matrix"](q, **mode)
    for k, place in enumerate(q_all):
        rates = np.asarray(chain.projection(place.tolist()), dtype=float) @ qd[k]
        scale = np.abs(tau[k]).max() + 1
        for force, wanted in ((tau[k], qdd[k]), (tau[k] + push[k], accelerations[k])):
            forces = np.zeros(len(place))
            forces[chain.independent] = force
            found = engine.accelerations(place, rates, forces)[chain.independent]
            assert np.abs(inertia[k] @ (found - wanted)).max() < 1e-9 * scale
        assert np.abs(engine.gap_rates(rates)).max() < 1e-11 * (1 + np.abs(rates).max())


@pytest.mark.parametrize("name", ["parallelogram", "five_bar", "delta", "stewart"])
def test_forces_of_closing_joints(name: str) -> None:
    """Where they are unique: in the plane of planar loops, and at balls."""
    robot = armdyn.load(name)
    chain, engine, rng = dependent_joints(robot), Engine(robot), np.random.default_rng(5)
    tree = robot.opened
    for place in chain.drawn(random.Random(6), 5, MECHANISMS[name]):
        q, (qd, qdd), wrench = np.array(place), rng.uniform(-1, 1, (2, robot.n)), rng.uniform(-9, 9, 6)
        forces = np.zeros(tree.n)
        forces[chain.independent] = closed_chain.inverse_dynamics(robot, q, qd, qdd, wrench)
        forces -= np.asarray(kinematics.jacobian(tree, q)).T @ wrench
        engine.accelerations(q, np.asarray(closed_chain.velocities(robot, q, qd)), forces)
        expected = engine.loop_forces(robot, q)
        found = np.asarray(loop_forces.joint_reactions(robot, q, qd, qdd, wrench))[tree.n :]
        poses = link_poses(tree, q)
        for loop, mine, theirs in zip(robot.loops, found, expected, strict=True):
            end = frame_pose(poses, tree.frame(loop.second)) @ loop.second_placement.pose()
            force = np.asarray(end.R.array(), dtype=float) @ mine[:3]
            assert np.abs(force - theirs).max() < 1e-9 * (1 + np.abs(expected).max())


@pytest.mark.parametrize("name", MECHANISMS)
def test_against_the_constraint_solver(name: str) -> None:
    robot = armdyn.load(name)
    chain = dependent_joints(robot)
    home = np.array([chain.assembly[k] for k in chain.independent])
    compare(robot, home + np.random.default_rng(3).uniform(-1, 1, (count_of(name), robot.n)) * MECHANISMS[name])


@pytest.mark.parametrize("name", STARTS)
def test_another_assembly_mode(name: str) -> None:
    robot = armdyn.load(name)
    chain, other = dependent_joints(robot), another_mode(robot)
    home = np.array([chain.assembly[k] for k in chain.independent])
    q = home + np.random.default_rng(3).uniform(-1, 1, (count_of(name), robot.n)) * MECHANISMS[name] / 2
    compare(robot, q, near=other)
    function: Any = armdyn.compile(robot).closed  # `near` belongs to closed chains alone: it is not declared
    assert np.abs(function(q, near=other) - function(q)).max() > 1


@pytest.mark.parametrize(("name", "crossed"), [
    ("parallelogram", {"joint2p": 0.8, "joint3p": -0.5}), ("palletiser", {"elbow": 1.5, "rod_joint": -1.2}),
])  # fmt: skip
def test_crossed_parallelograms(name: str, crossed: dict[str, float]) -> None:
    """Where the file says so, by `home`; a `near` that is crossed is refused where the file's loop is parallel."""
    straight = armdyn.load(name)
    tree = tuple(replace(joint, home=crossed.get(joint.name, joint.home)) for joint in straight.tree)
    robot = replace(straight, tree=tree, expressions=None)
    chain = dependent_joints(robot)
    assert len(chain.linear) < len(dependent_joints(straight).linear)
    home = np.array([chain.assembly[k] for k in chain.independent])
    assert np.abs(np.array(chain.assembly) - dependent_joints(straight).continued(home.tolist())).max() > 0.3
    q = home + np.random.default_rng(3).uniform(-0.1, 0.1, (count_of(name), robot.n))
    compare(robot, q)
    function: Any = armdyn.compile(straight).closed
    with pytest.raises(NotApplicable, match="home"):
        function(q, near=np.array(chain.assembly))


def test_far_from_the_assembly() -> None:
    """Where the fixed number of Newton steps does not end, the configuration is continued from the assembly."""
    robot = armdyn.load("bricard")
    dyn, chain = armdyn.compile(robot), dependent_joints(robot)
    q = np.linspace(-2.0, 2.0, 41)[:, None]
    q_all = dyn.closed(q)
    expected = np.array([chain.continued([x]) for x in q[:, 0]])
    assert np.abs(q_all - expected).max() < 1e-9
    assert np.abs(closed_chain.constraints(robot, q_all)).max() < 1e-12


def test_along_a_trajectory() -> None:
    """Every sample from the one before: the way of a continuation in small steps, and one error that names choices."""
    robot = armdyn.load("bricard")
    dyn, chain = armdyn.compile(robot), dependent_joints(robot)
    q = 1.8 * np.sin(np.linspace(0, 6, 60))[:, None]
    function: Any = dyn.closed
    expected = np.array([chain.continued([x]) for x in q[:, 0]])
    assert np.abs(function(q, near="previous") - expected).max() < 1e-9
    torques: Any = dyn.inverse_dynamics
    found = torques(q, 0.3 * q, q, near="previous")
    assert np.abs(found - torques(q, 0.3 * q, q)).max() < 1e-9 * np.abs(found).max()
    with pytest.raises(armdyn.ArmdynError, match="previous"):
        function(q, near="last")


def test_what_cannot_close_is_an_error_that_names_the_loop() -> None:
    dyn = armdyn.compile(armdyn.load("five_bar").with_parameters(l2=0.35))
    with pytest.raises(armdyn.ArmdynError, match="loop 'meeting'"):
        dyn.gravity([[3.1, 0.0], [2.0, 1.1]])
    with pytest.raises(armdyn.ArmdynError, match="loop 'meeting'"):
        dyn.closed([[3.1, 0.0], [2.0, 1.1]])
    with pytest.raises(armdyn.ArmdynError, match="loop 'meeting'"):
        dyn.gravity(np.array([3.1, 0.0]))


@pytest.mark.parametrize(("name", "start"), [("bricard", [0.3]), ("five_bar", [2.1, 1.0])])
def test_free_motion_keeps_its_energy(name: str, start: list[float]) -> None:
    robot = armdyn.load(name)
    if name == "five_bar":
        robot = robot.with_parameters(l1=0.12)  # cranks that turn freely: no singular configuration on the way
    dyn = armdyn.compile(robot)
    n = robot.n
    run = armdyn.simulate(
        robot.without("gravity", "limits"),
        armdyn.control.NoControl(n),
        np.zeros(n),
        10.0 if FULL else 3.0,
        q0=start,
        qd0=np.full(n, 0.3),
        solver=armdyn.Solver(dt=1e-3, integrator="rk4"),
    )
    energy = dyn.kinetic_energy(run.q, run.qd)
    assert np.abs(energy - energy[0]).max() < 1e-8 * energy[0]
    assert np.abs(closed_chain.constraints(robot, dyn.closed(run.q))).max() < 1e-10


def test_the_vector_of_gravity_is_the_slope_of_the_potential() -> None:
    robot = armdyn.load("delta")
    dyn, step = armdyn.compile(robot), 1e-6
    q = np.array([[0.2, 0.4, 0.3]])
    slope = [
        (dyn.potential_energy(q + step * e) - dyn.potential_energy(q - step * e))[0] / (2 * step) for e in np.eye(3)
    ]
    assert dyn.gravity(q)[0] == pytest.approx(slope, abs=1e-6)
    assert Vec3(*slope).x != 0
