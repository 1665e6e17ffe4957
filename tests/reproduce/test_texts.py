"""The formulas of 001, written out from the text, beside Pinocchio; those of 000 and 003 are in tests/mechanics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.reproduce.elbaji.items import sample as sample_000
from armdyn.reproduce.item import distance
from armdyn.reproduce.milicevic import printed as text001
from armdyn.reproduce.milicevic.items import sample as sample_001
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
    assert distance(text001.table_1(robot, q, qd, qdd), engine.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_lagrange_euler(seed: int) -> None:
    robot, q, qd, qdd = arm(seed, 0.4)
    D, h, c = text001.lagrange_euler(robot, q)
    assert distance(D @ qdd + qd @ h @ qd + c, engine.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_generalized_dalembert(seed: int) -> None:
    robot, q, qd, qdd = arm(seed, 0.0)
    D, h, c = text001.dalembert(robot, q, qd)
    assert distance(D @ qdd + h + c, engine.inverse_dynamics(robot, q, qd, qdd)) < TOLERANCE


def test_samples_have_sliding_joints_between_turning_ones() -> None:
    """Only so the factors of 000 and the prismatic lines of 001 are seen."""
    kinds = ["".join(joint.kind[0] for joint in robot.joints) for robot in (sample_000()[0], sample_001()[0])]
    assert kinds == ["rrprpr", "rprrpr"]
    assert all(joint.kind == "revolute" for joint in sample_001(0.0)[0].joints)


def test_counts_of_table_3_for_six_joints() -> None:
    """001 table 3 evaluated by hand."""
    found = {name: tuple(count(6) for count in counts) for name, counts in text001.COUNTS.items()}
    assert found == {"lagrange_euler": (101348, 77405), "newton_euler": (792, 662), "dalembert": (2963, 2209)}
