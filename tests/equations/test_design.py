"""Conditions under which equations become simple: on designs that meet them, and on ones that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.errors import NotApplicable, UnknownName
from armdyn.graph import to_float
from armdyn.mechanics import closed_chain, newton_euler
from armdyn.parameters import with_standard_parameters
from armdyn.parameters.standard import INERTIAL


def with_values(robot: Any, **values: float) -> Any:
    """The robot with other values of its named parameters."""
    symbolic = robot.symbolic
    return replace(symbolic, parameters={**symbolic.parameters, **values}).bound()


def test_the_parallelogram_of_siciliano() -> None:
    """m_3' lb_3' a_1'' = a_1' m_2' l_2' with lb_3' = l_3' - a_1': sec. 7.3.3."""
    robot = armdyn.load("parallelogram")
    found = armdyn.design_conditions(robot, "M diagonal")
    (condition,) = found.conditions
    assert found.possible
    assert not found.always
    values = {name: float(x) for name, x in robot.bound().parameters.items()}
    mass = to_float(condition.solved("ml3p"), values)
    p = values
    assert mass == pytest.approx(p["a1p"] * p["ml2p"] * p["l2p"] / ((p["l3p"] - p["a1p"]) * p["a1s"]))
    rng = np.random.default_rng(1)
    for arm, zero in ((robot, False), (with_values(robot, ml3p=mass), True)):
        q = closed_chain.close(arm, rng.uniform(0.3, 1.5, 2), [0.3, 1.0, 2.0, 1.5])
        M = closed_chain.mass_matrix(arm, q)
        assert (abs(M[0, 1]) < 1e-12 * M[0, 0]) == zero


def test_a_planar_arm_cannot_be_decoupled() -> None:
    """I_2 + m_2 l_2^2 would have to vanish."""
    found = armdyn.design_conditions(armdyn.load("planar2r").without("rotors"), "M diagonal")
    assert not found.possible
    (impossible,) = [each for each in found.conditions if not each.possible]
    assert impossible.polynomial is not None
    assert "no solution" in str(impossible)
    assert found.record()["possible"] is False


def test_what_always_holds() -> None:
    found = armdyn.design_conditions(armdyn.load("cartesian2"), "M constant")
    assert found.always
    assert found.possible
    assert "holds for all values" in str(found)


def test_gravity_is_no_design() -> None:
    """g itself is no factor that a design could make zero."""
    assert not armdyn.design_conditions(armdyn.load("cartesian2"), "g zero").possible


@pytest.mark.parametrize(("name", "zeros"), [("planar2r", {"l2": 0}), ("three_link", {"r2": 0})])
def test_balanced_arms(name: str, zeros: dict[str, float]) -> None:
    """Centres of mass where the conditions want them: Newton-Euler finds no gravity torques, and some just off it."""
    robot = armdyn.load(name).without("friction")
    found = armdyn.design_conditions(robot, "g zero")
    last = found.conditions[-1]
    letter = "l1" if name == "planar2r" else "r1"
    values = {key: float(x) for key, x in robot.bound().parameters.items()} | zeros
    value = to_float(last.solved(letter), values)
    balanced, off = (with_values(robot, **zeros, **{letter: x}) for x in (value, value + 0.01))
    q = np.random.default_rng(2).uniform(-2, 2, (5, robot.n))
    assert np.abs(newton_euler.gravity(balanced, q)).max() < 1e-12
    assert np.abs(newton_euler.gravity(off, q)).max() > 1e-3


@pytest.mark.parametrize("wanted", ["M diagonal", "M constant", "g zero"])
@pytest.mark.parametrize("seed", range(3))
def test_conditions_are_necessary_and_sufficient(seed: int, wanted: str) -> None:
    """Random arms in ten parameters a link, in which the conditions are linear: on their null space the property holds
    at every configuration, and a step off it in any direction that they forbid is seen in Newton-Euler.
    """
    robot = armdyn.random_robot(seed, 3, tilted_base=False, tool=False, convention="standard").bound()
    found = armdyn.design_conditions(robot, wanted, symbols="inertial")
    names = [f"{kind}{j}" for j in (1, 2, 3) for kind in INERTIAL]
    zero = dict.fromkeys(names, 0.0)
    rows = np.array([[to_float(each.polynomial, zero | {name: 1.0}) for name in names] for each in found.conditions])
    _, sizes, axes = np.linalg.svd(rows.reshape(-1, len(names)))
    rank = int((sizes > 1e-9 * sizes.max(initial=0)).sum())
    rng = np.random.default_rng(seed)
    inside = axes[rank:].T @ rng.normal(size=len(names) - rank)
    q = rng.uniform(-2, 2, (6, 3))

    def defect(values: Any) -> float:
        arm = with_standard_parameters(robot, dict(zip(names, values.tolist(), strict=True)))
        M = newton_euler.mass_matrix(arm, q)
        part = {
            "M diagonal": M - M * np.eye(3),
            "M constant": M - M[0],
            "g zero": newton_euler.gravity(arm, q),
        }[wanted]
        return float(np.abs(part).max())

    assert defect(inside) < 1e-9
    for axis in axes[:rank]:
        assert defect(inside + axis) > 1e-4


def test_implied_conditions_are_left_out() -> None:
    found = armdyn.design_conditions(armdyn.load("planar2r"), "g zero")
    assert [str(each) for each in found.conditions] == ["l2 = 0", "a1*(ml2 + mm2) + l1*ml1 = 0"]
    assert found.conditions[1].solved("a2") is None


def test_errors() -> None:
    robot = armdyn.load("planar2r")
    with pytest.raises(UnknownName, match="M diagonal"):
        armdyn.design_conditions(robot, "M")
    with pytest.raises(NotApplicable, match="base parameters"):
        armdyn.design_conditions(robot, "g zero", symbols="base")
