"""The printed formulas of Milićević, corrected, against Pinocchio; those of El Baji and Truc are in tests/mechanics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.texts.elbaji.sections_2_to_4 import sample as elbaji_sample
from armdyn.texts.item import distance
from armdyn.texts.milicevic import printed as text
from armdyn.texts.milicevic.items import sample as milicevic_sample
from support import pinocchio_model as engine

TOLERANCE = 1e-10
SEEDS = (3, 29, 40, 48)


def arm(seed: int, prismatic: float) -> tuple[armdyn.Robot, Any, Any, Any]:
    robot = armdyn.random_robot(seed, 5, convention="standard", prismatic=prismatic, any_gravity=True)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    return robot, q, qd, qdd


@pytest.mark.parametrize("seed", SEEDS)
def test_newton_euler_of_table_1(seed: int) -> None:
    robot, q, qd, qdd = arm(seed, 0.4)
    assert distance(text.table_1(robot, q, qd, qdd), engine.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_lagrange_euler(seed: int) -> None:
    robot, q, qd, qdd = arm(seed, 0.4)
    D, h, c = text.lagrange_euler(robot, q)
    assert distance(D @ qdd + qd @ h @ qd + c, engine.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_generalized_dalembert(seed: int) -> None:
    robot, q, qd, qdd = arm(seed, 0.0)
    tran, rot, h, c = text.dalembert(robot, q, qd)
    assert distance((tran + rot) @ qdd + h.sum(axis=0) + c, engine.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


def test_samples_have_sliding_joints_between_turning_ones() -> None:
    """Only so the factors of El Baji and the prismatic lines of Milićević show."""
    kinds = ["".join(joint.kind[0] for joint in robot.joints) for robot in (elbaji_sample()[0], milicevic_sample()[0])]
    assert kinds == ["rrprpr", "rprrpr"]
    assert all(joint.kind == "revolute" for joint in milicevic_sample(0.0)[0].joints)


def test_counts_of_table_3_for_six_joints() -> None:
    """Milićević table 3 evaluated by hand."""
    found = {name: tuple(count(6) for count in counts) for name, counts in text.COUNTS.items()}
    assert found == {"lagrange_euler": (101348, 77405), "newton_euler": (792, 662), "dalembert": (2963, 2209)}
