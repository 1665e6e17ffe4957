"""Motors and joints: coupling, gears, currents, limits; rotors that several joints turn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.formats import toml
from armdyn.mechanics import articulated_body, composite_body, coupling, newton_euler
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.parameters import regressor, standard_parameters
from armdyn.robot import Robot
from armdyn.robot.parts import Motor
from armdyn.robot.random import random_robot
from physics import engine

GIVING = [f for f in FORMULATIONS if "inverse_dynamics" in f.gives]


def coupled(seed: int, n: int = 4) -> Robot:
    """A robot whose last two joints are driven through a differential, with rotors of both models."""
    robot = random_robot(seed, n, rotors=True)
    J = np.diag(1 / np.array([80.0, 100, 50, 60])[:n]).tolist()
    J[-1][-2], J[-2][-1] = 0.0125, -0.005
    tree = [
        replace(j, rotor=replace(j.rotor, ratio=1, model="full" if i % 2 else "reflected", transverse=2e-4),
                motor=Motor(torque_constant=0.1 + 0.02 * i, amplifier=2, torque=1.5, speed=300, current=9))
        for i, j in enumerate(robot.tree)
    ]  # fmt: skip
    return replace(robot, tree=tuple(tree), coupling=tuple(map(tuple, J)))


def test_maps_and_virtual_work() -> None:
    robot = coupled(2)
    J = np.asarray(robot.coupling, dtype=float)
    rng = np.random.default_rng(0)
    q, qd, tau = rng.uniform(-1, 1, (3, 5, robot.n))
    assert coupling.coupling_matrix(robot) == pytest.approx(J)
    assert coupling.joint_positions(robot, coupling.motor_positions(robot, q)) == pytest.approx(q)
    qd_m, tau_m = coupling.motor_velocities(robot, qd), coupling.motor_torques(robot, tau)
    assert coupling.joint_velocities(robot, qd_m) == pytest.approx(qd)
    assert tau_m == pytest.approx(tau @ J)
    assert coupling.joint_torques(robot, tau_m) == pytest.approx(tau)
    assert (tau_m * qd_m).sum(-1) == pytest.approx((tau * qd).sum(-1))  # Khalil (7.32)


def test_gears_alone() -> None:
    robot = random_robot(4, 3, rotors=True)
    N = np.array([j.rotor.ratio for j in robot.joints])
    assert coupling.motor_velocities(robot, [1, 2, 3]) == pytest.approx(N * [1, 2, 3])
    assert coupling.motor_torques(robot, [1, 2, 3]) == pytest.approx([1, 2, 3] / N)


def test_currents_are_those_of_khalil() -> None:
    """9.4: tau = N K_a K_T u."""
    robot = random_robot(4, 3, rotors=True)
    robot = replace(robot, tree=tuple(replace(j, motor=Motor(0.3, 4.0)) for j in robot.tree))
    N, u = np.array([j.rotor.ratio for j in robot.joints]), np.array([0.1, -0.2, 0.3])
    tau = N * 4.0 * 0.3 * u
    assert coupling.torques_from_inputs(robot, u) == pytest.approx(tau)
    assert coupling.control_inputs(robot, tau) == pytest.approx(u)
    assert coupling.currents(robot, tau) == pytest.approx(4 * u)
    assert coupling.torques_from_currents(robot, 4 * u) == pytest.approx(tau)


def test_limits_are_at_the_motor() -> None:
    robot = coupled(1)
    qd, tau = np.array([1.0, -2, 1, 0.5]), np.array([20.0, -30, 5, 8])
    torque, speed, current = coupling.motor_load(robot, qd, tau)
    tau_m = np.array(robot.coupling).T @ tau
    assert torque == pytest.approx(np.abs(tau_m) / 1.5)
    assert speed == pytest.approx(np.abs(np.linalg.solve(robot.coupling, qd)) / 300)
    assert current == pytest.approx(np.abs(tau_m) / [0.1, 0.12, 0.14, 0.16] / 9)
    with pytest.raises(armdyn.ArmdynError, match="joint 'joint1': the joint has no motor"):
        coupling.motor_load(robot.without("motors"), qd, tau)


@pytest.mark.parametrize("seed", range(3))
def test_coupled_rotors_are_bodies_that_several_joints_turn(seed: int) -> None:
    robot = coupled(seed)
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (3, robot.n))
    expected = engine.torques(robot, q, qd, qdd)
    for formulation in GIVING:
        found = formulation.function("inverse_dynamics")(robot, q, qd, qdd)
        assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    assert composite_body.forward_dynamics(robot, q, qd, expected) == pytest.approx(qdd, abs=1e-8)
    bare = newton_euler.inverse_dynamics(robot.without("coupling"), q, qd, qdd)
    assert np.abs(bare - expected).max() > 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(2))
def test_exact_agreement(seed: int) -> None:
    certificate = armdyn.certify(coupled(seed), points=1, seed=seed)
    assert certificate.holds, str(certificate)
    assert len(certificate.left_out) == 1  # articulated bodies say no
    with pytest.raises(armdyn.ArmdynError, match="coupling"):
        reflected = [replace(j, rotor=replace(j.rotor, model="reflected")) for j in coupled(seed).tree]
        robot = replace(coupled(seed), tree=tuple(reflected))
        articulated_body.forward_dynamics(robot, [0] * 4, [0] * 4, [0] * 4)


@pytest.mark.parametrize("places", [(-1, -2), (0, 1)])
@pytest.mark.parametrize("model", ["reflected", "full"])
def test_regressor_and_kernels_know_coupled_rotors(places: tuple[int, int], model: str) -> None:
    robot = coupled(3)
    J = [list(row) for row in robot.coupling]
    J[places[0]][places[1]] = 0.004
    tree = tuple(replace(j, rotor=replace(j.rotor, model=model)) for j in robot.tree)
    robot = replace(robot, tree=tree, coupling=tuple(map(tuple, J)))
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, robot.n))
    expected = engine.torques(robot, q, qd, qdd)
    values = np.array(standard_parameters(robot).values, float)
    assert regressor(robot, q, qd, qdd) @ values == pytest.approx(expected, rel=1e-10, abs=1e-10)
    dynamics = armdyn.compile(robot)
    assert dynamics.inverse_dynamics(q, qd, qdd) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    assert dynamics.forward_dynamics(q, qd, expected) == pytest.approx(qdd, abs=1e-8)


TEXT = """
name = "wrist"
coupling = [[0.01, 0], ["-1/k", "1/k"]]
[parameters]
k = 80
[[joint]]
a = 1
mass = 1
rotor = {inertia = 1e-4}
motor = {torque_constant = 0.1, torque = 2}
[[joint]]
a = 1
mass = 1
rotor = {inertia = 1e-4}
motor = {torque_constant = 0.2, speed = 300}
"""


def test_a_robot_file() -> None:
    robot = toml.loads(TEXT)
    assert robot.coupling == ((0.01, 0), (-0.0125, 0.0125))
    again = toml.loads(toml.dumps(robot))
    assert again.coupling == robot.coupling and again.joints[1].motor == Motor(0.2, speed=300)
    ratios = np.linalg.inv(np.array(robot.coupling, float))
    added = composite_body.mass_matrix(robot, [0, 0]) - composite_body.mass_matrix(robot.without("rotors"), [0, 0])
    assert added == pytest.approx(1e-4 * ratios.T @ ratios)
    faster = robot.with_parameters(k=100)
    assert faster.coupling[1] == pytest.approx((-0.01, 0.01))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[0.01, 0],", "[[0.01, 0, 0],", "coupling[0]"),
        ("[[0.01, 0], ", "[", "2 rows"),
        ("inertia = 1e-4}", "inertia = 1e-4, ratio = 50}", "the coupling alone"),
        ("[[0.01, 0]", "[[1, -1]", "inverted"),
    ],
)
def test_errors(old: str, new: str, message: str) -> None:
    with pytest.raises(armdyn.ArmdynError) as error:
        robot: Any = toml.loads(TEXT.replace(old, new))
        coupling.motor_positions(robot, [0, 0])
    assert message in str(error.value)


def test_a_locked_joint_wants_another_coupling() -> None:
    robot = toml.loads(TEXT)
    with pytest.raises(armdyn.ArmdynError, match='without\\("coupling"\\)'):
        robot.locked({"joint1": 0})
    assert robot.without("coupling").locked({"joint1": 0}).n == 1
