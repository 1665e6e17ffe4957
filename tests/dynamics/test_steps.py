"""Each step of a recursion is written once: breaking it changes the formulation and the looped code alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from armdyn.algebra import Screw
from armdyn.dynamics.looped import links, matrices, torques
from armdyn.dynamics.looped.tables import recipe_and_tables
from armdyn.kernels.looped.kernel import build_looped
from armdyn.mechanics import articulated_body, composite_body, derivatives, newton_euler
from armdyn.mechanics.steps import articulated_body as articulated_steps
from armdyn.mechanics.steps import composite_body as composite_steps
from armdyn.mechanics.steps import derivatives as derivative_steps
from armdyn.mechanics.steps import newton_euler as newton_euler_steps
from armdyn.robot.random import random_robot

ROBOT = random_robot(3, 6, prismatic=0.4, branching=0.3)
BROKEN = 1.25
"""Factor on what a broken step returns."""

STEPS = {
    newton_euler_steps: ("propagate_motion", "body_wrench", "wrench_to_parent"),
    composite_steps: ("unit_wrench",),
    articulated_steps: ("spatial_inertia", "joint_inertia", "driving_force", "joint_gain", "reduced_inertia",
                        "reduced_wrench", "propagate_acceleration", "joint_acceleration"),
    derivative_steps: ("composite_response",),
}  # fmt: skip
QUANTITY: dict[Any, tuple[str, Any]] = {
    newton_euler_steps: ("inverse_dynamics", newton_euler.inverse_dynamics),
    composite_steps: ("mass_matrix", composite_body.mass_matrix),
    articulated_steps: ("forward_dynamics", articulated_body.forward_dynamics),
    derivative_steps: ("inverse_dynamics_derivatives", derivatives.inverse_dynamics_derivatives),
}
USERS = (newton_euler, composite_body, articulated_body, derivatives, links, torques, matrices)
CASES = [(module, name) for module, names in STEPS.items() for name in names]


def looped(name: str, *values: Any) -> Any:
    found = recipe_and_tables(ROBOT, name, plain=True)
    assert found is not None
    return np.array(build_looped(*found, name, None)(*values))


def scaled(value: Any) -> Any:
    """The result of a step, broken: every part of it by another factor."""
    if isinstance(value, Screw):
        return Screw(BROKEN * value.linear, value.angular * (BROKEN + 0.5))
    if isinstance(value, tuple):
        return type(value)(*(scaled(part) for part in value))
    return value * BROKEN


@pytest.mark.parametrize(("module", "name"), CASES, ids=[name for _, name in CASES])
def test_both_users_take_the_same_step(module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quantity, formulation = QUANTITY[module]
    rng = np.random.default_rng(1)
    count = 1 if quantity == "mass_matrix" else 3
    values = [rng.uniform(-1, 1, ROBOT.n) for _ in range(count)]
    right = np.array(formulation(ROBOT, *values))
    scale = np.abs(right).max()
    np.testing.assert_allclose(looped(quantity, *values), right, rtol=0, atol=1e-12 * scale)
    step: Callable[..., Any] = getattr(module, name)

    def broken(*arguments: Any, **named: Any) -> Any:
        return scaled(step(*arguments, **named))

    users = [user for user in USERS if getattr(user, name, None) is step]
    of_formulations = [user for user in users if user.__name__.startswith("armdyn.mechanics")]
    assert of_formulations and len(of_formulations) < len(users)
    for user in users:
        monkeypatch.setattr(user, name, broken)
    for wrong in (np.array(formulation(ROBOT, *values)), looped(quantity, *values)):
        assert np.abs(wrong - right).max() > 1e-3 * scale
