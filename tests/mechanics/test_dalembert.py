"""Generalized d'Alembert equations against Pinocchio, exact arithmetic, and the meaning of their parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armdyn.errors import RobotError
from armdyn.mechanics import dalembert, newton_euler
from support import pinocchio_model as engine
from support.laws import assert_close, sample, without_mass


def half_tensors(robot):
    """The robot with the central tensor of every body halved."""
    tree = []
    for joint in robot.tree:
        body = joint.body.inertia.about_com()
        tree.append(replace(joint, body=replace(joint.body, inertia=replace(body, tensor=body.tensor * 0.5))))
    return replace(robot, tree=tuple(tree))


@pytest.mark.parametrize("shape", ["standard", "modified", "tree"])
def test_translation_and_rotation_apart(shape):
    """Milićević: the first sums of (4.2) and (4.4) are due to rotation: they alone halve with the central tensors."""
    robot, q, qd, _, _ = sample(shape)
    assert all(joint.kind != "fixed" for joint in robot.tree)  # a merged body's tensor holds masses apart
    lighter, rest = half_tensors(robot), np.zeros(robot.n)
    M, M_half = engine.mass_matrix(robot, q), engine.mass_matrix(lighter, q)
    h, h_half = (engine.inverse_dynamics(x.without("gravity"), q, qd, rest) for x in (robot, lighter))
    assert np.abs(M - M_half).max() > 1e-3  # there is something to tell apart
    assert_close(dalembert.mass_matrix_rotational(robot, q), 2 * (M - M_half))
    assert_close(dalembert.mass_matrix_translational(robot, q), 2 * M_half - M)
    assert_close(dalembert.coriolis_rotational(robot, q, qd), 2 * (h - h_half), 1e-9)  # differences of larger torques
    assert_close(dalembert.coriolis_translational(robot, q, qd), 2 * h_half - h)


def test_bodies_without_mass():
    """No inertia at all is fine; first moments without a mass have no centre, and the error says so."""
    robot, *motion = sample("standard")
    light = without_mass(robot, keep_moment=False)
    assert_close(dalembert.inverse_dynamics(light, *motion), newton_euler.inverse_dynamics(light, *motion))
    with pytest.raises(RobotError, match=rf"link '{robot.links[1].name}' has first moments but no mass"):
        dalembert.inverse_dynamics(without_mass(robot, keep_moment=True), *motion)
