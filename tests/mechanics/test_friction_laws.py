"""Piecewise-linear and asymmetric friction: against their formulas, in kernels, derivatives, regressor and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import ops
from armdyn.errors import NotApplicable, PhysicsError
from armdyn.formats import toml
from armdyn.mechanics import newton_euler
from armdyn.mechanics.friction import register_friction
from armdyn.parameters import regressor, with_standard_parameters
from support.feature_robots import arm

RATES = np.array([-3.0, -0.4, -0.05, -0.01, 0.0, 0.02, 0.05, 0.3, 2.0])
ASYMMETRIC = {"viscous": 0.3, "coulomb": 0.8, "values": {"viscous_negative": 0.5, "coulomb_negative": 1.1}}


def rubbing(**friction: Any) -> Any:
    """Friction torques of the second joint at RATES, by kernel; the formulation must agree."""
    robot = arm(friction=friction)
    qd = np.zeros((len(RATES), 3))
    qd[:, 1] = RATES
    torques = armdyn.compile(robot).friction(qd)
    still = np.zeros(3)
    direct = [newton_euler.inverse_dynamics(robot, still, v, still) - newton_euler.coriolis(robot, still, v)
              - newton_euler.gravity(robot, still) for v in qd]  # fmt: skip
    assert torques == pytest.approx(np.array(direct), abs=1e-12)
    return torques[:, 1]


def test_piecewise_linear() -> None:
    expected = 0.3 * RATES + 0.8 * np.clip(RATES / 0.05, -1, 1)
    assert rubbing(law="piecewise", viscous=0.3, coulomb=0.8, width=0.05) == pytest.approx(expected, abs=1e-14)
    with pytest.raises(PhysicsError, match="'piecewise' needs a width"):
        rubbing(law="piecewise", coulomb=0.8)


def asymmetric() -> Any:
    ahead, back = 0.3 * RATES + 0.8, 0.5 * RATES - 1.1
    return np.where(RATES > 0, ahead, np.where(RATES < 0, back, 0.0))


def test_asymmetric() -> None:
    assert rubbing(law="asymmetric", **ASYMMETRIC) == pytest.approx(asymmetric(), abs=1e-14)


def test_asymmetric_and_smooth_tends_to_asymmetric() -> None:
    """Away from rest the sign is off by (width/qd)^2 / 2: the error falls with the width, at least in proportion."""
    apart = np.abs(RATES) > 0.2
    errors = []
    for width in (1e-2, 1e-3):
        smooth = rubbing(law="asymmetric_smooth", width=width, **ASYMMETRIC)
        assert smooth[RATES == 0] == pytest.approx(0.0, abs=1e-15)
        errors.append(np.abs(smooth - asymmetric())[apart].max())
    assert errors[1] < 0.11 * errors[0] < 1e-2


@pytest.mark.parametrize("law", ["piecewise", "asymmetric", "asymmetric_smooth"])
def test_derivatives_and_files(law: str) -> None:
    robot = arm(friction={"law": law, "width": 0.05, **ASYMMETRIC})
    dyn, again = armdyn.compile(robot), toml.loads(toml.dumps(robot))
    assert again.joints[1].friction == robot.joints[1].friction
    q, qd, qdd = np.random.default_rng(2).uniform(0.2, 1.0, (3, 3))
    for v in (qd, -qd, 0.02 * qd):
        _, slope = dyn.inverse_dynamics_derivatives(q, v, qdd)
        steps = 1e-7 * np.eye(3)
        numeric = (dyn.inverse_dynamics(q, v + steps, qdd) - dyn.inverse_dynamics(q, v - steps, qdd)).T / 2e-7
        assert slope == pytest.approx(numeric, abs=1e-5)  # central differences of rounded torques


@pytest.mark.parametrize("law", ["stribeck", "smooth", "piecewise", "asymmetric", "asymmetric_smooth"])
def test_every_law_is_linear_in_its_coefficients(law: str) -> None:
    static = {"static": 1.9, "stribeck": 0.07} if law in ("stribeck", "smooth") else {}
    robot = arm(friction={"law": law, "width": 0.05, **ASYMMETRIC, **static})
    dyn = armdyn.compile(robot)
    q, qd, qdd = np.random.default_rng(3).uniform(-0.1, 0.1, (3, 20, 3))
    assert dyn.regressor(q, qd, qdd) @ dyn.parameters == pytest.approx(dyn.inverse_dynamics(q, qd, qdd), abs=1e-12)
    other = dict(zip(dyn.parameter_names, np.random.default_rng(4).uniform(0.5, 2, len(dyn.parameters)), strict=True))
    changed = armdyn.compile(with_standard_parameters(robot, {k: x for k, x in other.items() if k.startswith("F")}))
    assert changed.regressor(q, qd, qdd) == pytest.approx(dyn.regressor(q, qd, qdd), abs=1e-12)
    tau = changed.regressor(q, qd, qdd) @ changed.parameters
    assert tau == pytest.approx(changed.inverse_dynamics(q, qd, qdd), abs=1e-11)


def test_a_registered_law_that_is_not_linear_has_no_regressor() -> None:
    register_friction("rooted", lambda friction, rate: ops.sqrt(friction.viscous * rate * rate))
    robot = arm(friction={"law": "rooted", "viscous": 0.3})
    with pytest.raises(NotApplicable, match="'rooted' is not linear in its coefficients"):
        regressor(robot, np.ones(3), np.ones(3), np.ones(3))
