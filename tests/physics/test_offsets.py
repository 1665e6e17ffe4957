"""Torque offsets of joints, and friction of motors that several joints turn: in every place where friction is."""

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import articulated_body, composite_body, derivatives, elastic, forward, newton_euler
from armdyn.mechanics.coupling import motor_torques, motor_velocities
from armdyn.parameters import base_parameters, regressor, standard_parameters, with_standard_parameters
from armdyn.robot.parts import Elastic, Friction, Motor, Rotor

COUPLING = ((0.02, 0.0, 0.0), (0.0, -0.03, 0.0), (0.0, 0.03, 0.025))


def arm(coupled: bool = True) -> armdyn.Robot:
    """Three random joints with friction and offsets; with a coupled wrist, motors rub too."""
    robot = armdyn.random_robot(11, 3).bound()
    rng = np.random.default_rng(3)
    tree = []
    for joint in robot.tree:
        viscous, coulomb, offset = rng.uniform(0.2, 1.0, 3).tolist()
        friction = Friction(viscous, coulomb, offset=offset - 0.6)
        motor = Motor(viscous=1e-4 * viscous, coulomb=1e-2 * coulomb) if coupled else None
        tree.append(replace(joint, friction=friction, motor=motor, rotor=Rotor(inertia=1e-4)))
    return replace(robot, tree=tuple(tree), coupling=COUPLING if coupled else (), expressions=None)


@pytest.fixture
def state() -> tuple[np.ndarray, ...]:
    return tuple(np.random.default_rng(5).uniform(-2, 2, (3, 3)))


def test_an_offset_is_a_constant_torque(state):
    robot = arm(coupled=False)
    offsets = [joint.friction.offset for joint in robot.joints]
    without = robot.without("offsets")
    difference = newton_euler.inverse_dynamics(robot, *state) - newton_euler.inverse_dynamics(without, *state)
    np.testing.assert_allclose(difference, offsets, rtol=1e-12)
    assert all(joint.friction is None for joint in robot.without("friction").joints)


def test_the_torque_of_a_motor_is_that_of_its_own_rate(state):
    """By virtual work: at the motors the difference is Fv qd_m + Fc sign(qd_m), motor by motor."""
    robot = arm()
    smooth = replace(robot, tree=tuple(replace(joint, motor=None) for joint in robot.tree))
    difference = newton_euler.inverse_dynamics(robot, *state) - newton_euler.inverse_dynamics(smooth, *state)
    rate = motor_velocities(robot, state[1])
    expected = [j.motor.viscous * r + j.motor.coulomb * np.sign(r) for j, r in zip(robot.joints, rate, strict=True)]
    np.testing.assert_allclose(motor_torques(robot, difference), expected, rtol=1e-9)


def test_forward_dynamics_takes_back_what_inverse_dynamics_asks(state):
    robot, (q, qd, qdd) = arm(), state
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    for way in (composite_body, forward):
        np.testing.assert_allclose(way.forward_dynamics(robot, q, qd, tau), qdd, rtol=1e-9)
    plain = arm(coupled=False)
    tau = newton_euler.inverse_dynamics(plain, q, qd, qdd)
    np.testing.assert_allclose(articulated_body.forward_dynamics(plain, q, qd, tau), qdd, rtol=1e-9)
    np.testing.assert_allclose(forward.mass_matrix(robot, q), composite_body.mass_matrix(robot, q), rtol=1e-9)


def test_compiled_functions_have_them(state):
    robot, (q, qd, qdd) = arm(), state
    dyn = armdyn.compile(robot)
    tau = dyn.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(tau, newton_euler.inverse_dynamics(robot, q, qd, qdd), rtol=1e-10)
    np.testing.assert_allclose(dyn.forward_dynamics(q, qd, tau), qdd, rtol=1e-8)
    np.testing.assert_allclose(dyn.regressor(q, qd, qdd) @ dyn.parameters, tau, rtol=1e-10)
    parts = dyn.mass_matrix(q) @ qdd + dyn.coriolis(q, qd) + dyn.gravity(q) + dyn.friction(qd)
    np.testing.assert_allclose(parts, tau, rtol=1e-10)


def test_derivatives_by_complex_step(state):
    robot, (q, qd, qdd) = arm(), state
    slope = derivatives.inverse_dynamics_derivatives(robot, q, qd, qdd)[1]
    for j in range(3):
        step = qd + 1e-30j * np.eye(3)[j]
        column = newton_euler.inverse_dynamics(robot, q, step, qdd).imag / 1e-30
        np.testing.assert_allclose(slope[:, j], column, rtol=1e-9, atol=1e-12)


def test_a_stiff_spring_feels_the_same_at_the_motors(state):
    """Motors that follow their joints: the two rows of Khalil (7.35) together are the stiff robot's torques."""
    robot, (q, qd, qdd) = arm(), state
    springy = replace(robot, tree=tuple(replace(joint, elastic=Elastic(100.0)) for joint in robot.tree))
    rows = elastic.inverse_dynamics(springy, q, qd, qdd, q, qd, qdd)
    np.testing.assert_allclose(rows.sum(axis=0), newton_euler.inverse_dynamics(robot, q, qd, qdd), rtol=1e-10)


def test_parameters_and_robot_say_the_same(state):
    robot = arm()
    values = standard_parameters(robot)
    assert values.names[-6:] == ("Fvm1", "Fcm1", "Fvm2", "Fcm2", "Fvm3", "Fcm3")
    other = {name: float(value) * 1.1 for name, value in values.as_dict().items()}
    back = standard_parameters(with_standard_parameters(robot, other)).as_dict()
    assert back == pytest.approx(other, rel=1e-12)
    tau = newton_euler.inverse_dynamics(with_standard_parameters(robot, other), *state)
    np.testing.assert_allclose(regressor(robot, *state) @ np.array(list(other.values())), tau, rtol=1e-9)


def test_base_parameters_know_motors():
    """Only the third motor, which two joints turn, can be told from its joint; the others are grouped."""
    everything = ("inertial", "rotor", "friction", "offset", "motor")
    robot = arm()
    base, plain = base_parameters(robot, everything), base_parameters(robot, everything[:4])
    assert base.count == plain.count + 2
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-2, 2, (3, 40, 3))
    tau = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(base.regressor(q, qd, qdd) @ base.values, tau, rtol=1e-9, atol=1e-9)
    assert np.linalg.matrix_rank(base.regressor(q, qd, qdd).reshape(120, -1)) == base.count


def test_files_keep_them(tmp_path):
    robot = arm()
    robot.save(tmp_path / "arm.toml")
    again = armdyn.load(tmp_path / "arm.toml")
    for a, b in zip(robot.joints, again.joints, strict=True):
        assert (a.friction.offset, a.motor.viscous, a.motor.coulomb) == pytest.approx(
            (b.friction.offset, b.motor.viscous, b.motor.coulomb)
        )
    assert "offset" in str(robot) and "motor friction" in str(robot)
