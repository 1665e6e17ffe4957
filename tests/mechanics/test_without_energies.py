"""The formulations that need no energies, all alike: Pinocchio, exact arithmetic, rotors, every scalar."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from armdyn.mechanics import bertrand_bruneau, dalembert, gibbs_appell, kane
from support import pinocchio_model as engine
from support.laws import SHAPES, assert_close, check_exact, check_scalars, sample

each = pytest.mark.parametrize("module", [bertrand_bruneau, dalembert, gibbs_appell, kane], ids=lambda m: m.__name__)


@each
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_pinocchio(module: Any, shape: str) -> None:
    robot, q, qd, qdd, wrench = sample(shape)
    rest = np.zeros(robot.n)
    torques = engine.inverse_dynamics(robot, q, qd, qdd, wrench)
    velocity = engine.inverse_dynamics(robot.without("gravity"), q, qd, rest)
    assert_close(module.inverse_dynamics(robot, q, qd, qdd, wrench), torques)
    assert_close(module.mass_matrix(robot, q), engine.mass_matrix(robot, q))
    assert_close(module.coriolis(robot, q, qd), velocity)
    assert_close(module.gravity(robot, q), engine.inverse_dynamics(robot, q, rest, rest))


@each
@pytest.mark.parametrize("shape", ["standard", "sliding", "right angles", "tree"])
def test_equals_newton_euler_exactly(module: Any, shape: str) -> None:
    check_exact(module, shape)


@each
def test_rotors_exactly(module: Any) -> None:
    check_exact(module, "free axes", rotors=True)


@each
def test_every_scalar(module: Any) -> None:
    check_scalars(module)
