"""The breakdown of torques: both sums are the torque, parts are those of other computations."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.mechanics.gim_christoffel import christoffel_symbols
from motion.arms import compiled, slider


def motion_of(robot: armdyn.Robot) -> armdyn.trajectory.Trajectory:
    rng = np.random.default_rng(3)
    return armdyn.point_to_point(rng.uniform(-1, 0, robot.n), rng.uniform(0, 1, robot.n), "quintic", duration=0.8)


@pytest.mark.parametrize("name", ["planar2r", "scara5", "puma560", "panda"])
def test_effects_and_origins_add_up_to_the_torque(name: str) -> None:
    dyn = compiled(name)
    parts = armdyn.torque_breakdown(dyn, motion_of(dyn.robot), dt=0.02)
    scale = np.abs(parts.tau).max()
    assert np.abs(sum(parts.by_effect.values()) - parts.tau).max() < 1e-11 * scale
    origins = parts.bodies.sum(axis=2) + parts.rotors.sum(axis=2) + parts.friction
    assert np.abs(origins - parts.tau).max() < 1e-11 * scale


def test_velocity_terms_are_those_of_christoffel_symbols() -> None:
    robot = armdyn.load("puma560")
    parts = armdyn.torque_breakdown(robot, motion_of(robot), dt=0.05)
    c = christoffel_symbols(robot, parts.q)
    for j in range(6):
        centrifugal = c[:, :, j, j] * parts.qd[:, [j]] ** 2
        assert np.abs(parts.centrifugal[:, :, j] - centrifugal).max() < 1e-11
    for p, (j, k) in enumerate(parts.pairs):
        coriolis = 2 * c[:, :, j, k] * (parts.qd[:, j] * parts.qd[:, k])[:, None]
        assert np.abs(parts.coriolis[:, :, p] - coriolis).max() < 1e-11
    assert len(parts.pairs) == 15


def test_a_body_contributes_what_it_is_missed_by() -> None:
    robot = armdyn.load("planar3r").without("friction", "rotors")
    move = motion_of(robot)
    parts = armdyn.torque_breakdown(robot, move, dt=0.05)
    loaded = armdyn.torque_breakdown(robot.with_payload(2.0, (0.1, 0, 0)), move, dt=0.05)
    assert np.abs(loaded.bodies[:, :, :2] - parts.bodies[:, :, :2]).max() < 1e-11
    change = loaded.tau - parts.tau
    assert np.abs(change).max() > 1 and np.abs(loaded.bodies[:, :, 2] - parts.bodies[:, :, 2] - change).max() < 1e-10


def test_rotors_of_the_reflected_model_ask_for_their_inertia() -> None:
    dyn = compiled("puma560")
    parts = armdyn.torque_breakdown(dyn, motion_of(dyn.robot), dt=0.05)
    own = [float(j.rotor.ratio) ** 2 * float(j.rotor.inertia) for j in dyn.robot.joints]
    assert np.allclose(parts.rotors[:, range(6), range(6)], np.array(own) * parts.qdd)


def test_a_wrench_at_the_tip_is_a_part_of_its_own() -> None:
    dyn = compiled("planar2r")
    move, w = motion_of(dyn.robot), np.array([500.0, 500.0, 0, 0, 0, 0])  # the forces of Siciliano Problem 7.7
    parts = armdyn.torque_breakdown(dyn, move, dt=0.05, wrench=w)
    expected = dyn.inverse_dynamics(parts.q, parts.qd, parts.qdd, w)
    assert np.allclose(parts.tau, expected) and np.abs(parts.tip).max() > 100
    same = armdyn.torque_breakdown(dyn, move, dt=0.05, wrench=lambda t: np.tile(w, (len(t), 1)))
    assert np.array_equal(same.tau, parts.tau)
    with pytest.raises(armdyn.ArmdynError, match=r"wrench of shape \(3,\)"):
        armdyn.torque_breakdown(dyn, move, wrench=[1.0, 2.0, 3.0])


def test_both_sides_of_a_jump_are_sampled() -> None:
    move = armdyn.point_to_point([0.0], [1.0], "bang_bang", duration=1.0)
    parts = armdyn.torque_breakdown(slider(), move, dt=0.3)
    assert np.allclose(sorted(set(np.round(parts.tau[:, 0], 6))), [-8.0, 8.0])  # 2 kg, 4 m/s^2
    near = np.flatnonzero(np.abs(parts.t - 0.5) < 1e-6)
    assert len(near) >= 2 and parts.tau[near[0], 0] > 0 > parts.tau[near[-1], 0]


def test_a_motion_of_another_robot_is_an_error() -> None:
    with pytest.raises(armdyn.ArmdynError, match=r"a motion of 1 joints.*one of 2 joints"):
        armdyn.torque_breakdown(compiled("planar2r"), armdyn.point_to_point([0.0], [1.0], duration=1.0))
