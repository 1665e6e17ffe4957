"""Kane's equations against Pinocchio, exact arithmetic, and their own definitions."""

from __future__ import annotations

import numpy as np
import pytest

from armdyn.mechanics import kane, kinematics, newton_euler
from support import pinocchio_model as engine
from support.laws import assert_close, sample, without_mass


@pytest.mark.parametrize("shape", ["modified", "tree"])
def test_velocities_are_sums_of_partial_velocities(shape):
    """The definition: v_k = sum_r v_r qd_r, w_k = sum_r w_r qd_r; the velocities from another recursion."""
    robot, q, qd, _, _ = sample(shape)
    motion = kinematics.Motion(robot, q, qd)
    velocities = np.array([(*v, *w) for v, w in zip(motion.v, motion.w, strict=True)], float)
    assert_close(np.einsum("krx,r->kx", kane.partial_velocities(robot, q), qd), velocities, 1e-13)


def test_forces_balance():
    """F_r + F_r* = 0 for the torques that Pinocchio finds."""
    robot, q, qd, qdd, wrench = sample("sliding")
    tau = engine.inverse_dynamics(robot, q, qd, qdd, wrench)
    active = tau + kane.generalized_active_forces(robot, q, wrench)
    assert_close(-kane.generalized_inertia_forces(robot, q, qd, qdd), active)


@pytest.mark.parametrize("keep_moment", [False, True])
def test_bodies_without_mass(keep_moment):
    robot, *motion = sample("standard")
    light = without_mass(robot, keep_moment)
    expected = newton_euler.inverse_dynamics(light, *motion)
    assert_close(kane.inverse_dynamics(light, *motion), expected)
    assert np.abs(expected - newton_euler.inverse_dynamics(robot, *motion)).max() > 1e-3
