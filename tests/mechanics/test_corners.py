"""What seldom happens: quantities that are not there, tools that stand still, exact numbers in arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.errors import NotApplicable, UnknownName
from armdyn.mechanics import coupling, elastic, lagrange_euler, moving_base, newton_euler, registry, rotors
from armdyn.robot.exact import exact
from armdyn.robot.parts import Elastic


def test_a_formulation_says_what_it_does_not_give() -> None:
    with pytest.raises(UnknownName, match="formulation 'composite_body'.*unknown quantity 'inverse_dynamics'"):
        registry.formulation("composite_body").function("inverse_dynamics")


def test_a_wrench_at_a_tool_on_the_base_asks_nothing_of_the_joints() -> None:
    arm = armdyn.Robot.from_dh([{"a": 0.5, "mass": 1.0}, {"a": 0.4, "mass": 1.0}], name="arm")
    standing = replace(arm, tool_on="base")
    assert standing.frame("tool").link == -1
    q, push = np.array([0.3, 0.4]), [10.0, 20.0, 30.0, 1.0, 2.0, 3.0]
    still = np.zeros(2)
    free = newton_euler.inverse_dynamics(standing, q, still, still)
    assert newton_euler.inverse_dynamics(standing, q, still, still, push) == pytest.approx(free, abs=0)
    assert newton_euler.inverse_dynamics(arm, q, still, still, push) != pytest.approx(free)


def test_the_coefficients_D_are_the_links_share_of_the_inertia_matrix() -> None:
    arm = armdyn.random_robot(7, n=4, rotors=True)
    q = np.random.default_rng(0).uniform(-1, 1, 4)
    bare = newton_euler.mass_matrix(arm.without("rotors"), q)
    assert lagrange_euler.D(arm.without("rotors"), q) == pytest.approx(bare, rel=1e-10, abs=1e-12)


def test_exact_numbers_may_come_in_an_array() -> None:
    """An array of objects is taken scalar by scalar: nothing is rounded on the way in."""
    arm = armdyn.Robot.from_dh([{"type": "prismatic", "mass": 3}, {"type": "prismatic", "alpha": 0, "mass": 2}])
    third, zero = (np.array([fmpq(k, 3)] * 2, dtype=object) for k in (1, 0))
    torques = newton_euler.inverse_dynamics(exact(arm.without("gravity")), zero, zero, third)
    assert list(torques) == [fmpq(7, 3), fmpq(4, 3)]  # 3 kg by 1/3 m/s^2 and 2 kg by 2/3 m/s^2


def test_couplings_stay_with_their_joints_on_a_moving_base() -> None:
    """Virtual joints have no motors of others: the joints' coupling is kept beside an identity."""
    J = ((0.5, 0.1), (0.0, 0.25))
    arm = replace(armdyn.Robot.from_dh([{"a": 0.5, "mass": 1.0}, {"a": 0.4, "mass": 1.0}]), coupling=J)
    moving = moving_base.with_virtual_joints(arm, ("x", "y", "yaw"))
    whole = np.asarray(coupling.coupling_matrix(moving), dtype=float)
    assert whole[:3, :3] == pytest.approx(np.eye(3))
    assert whole[3:, 3:] == pytest.approx(np.array(J))
    assert not whole[:3, 3:].any() and not whole[3:, :3].any()
    tau = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert coupling.motor_torques(moving, tau)[3:] == pytest.approx(coupling.motor_torques(arm, tau[3:]))


def test_motors_behind_springs_refuse_rotors_that_turn_with_their_carrier() -> None:
    arm = armdyn.load("planar2r")  # full rotors, the second on a moving link
    springs = tuple(replace(joint, elastic=Elastic(stiffness=1e4)) for joint in arm.bound().tree)
    soft = replace(arm.bound(), tree=springs, expressions=None, parameters={})
    with pytest.raises(NotApplicable, match="rotor of the full model on a moving link"):
        elastic.motor_motion(soft, *np.zeros((5, 2)))


def test_links_are_augmented_by_the_rotors_that_they_carry() -> None:
    """Siciliano (7.52): the motor of joint 2 rides on link 1, that of joint 1 on the base; reflected ones nowhere."""
    arm = armdyn.load("planar2r").bound()
    assert [[rotor[0] for rotor in link.rotors] for link in rotors.augmented_links(arm)] == [["elbow"], []]
    tree = tuple(replace(joint, rotor=joint.rotor and replace(joint.rotor, model="reflected")) for joint in arm.tree)
    reflected = replace(arm, tree=tree, expressions=None, parameters={})
    assert [link.rotors for link in rotors.augmented_links(reflected)] == [(), ()]
