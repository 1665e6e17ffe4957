"""Every formulation against every other, exactly, and against Pinocchio, in floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.robot import Robot
from support import pinocchio_model
from support.limits import FULL

CONVENTIONS: tuple[Any, ...] = ("standard", "modified", "free", None)
GIVING = [f for f in FORMULATIONS if "inverse_dynamics" in f.gives]
TOLERANCE = 1e-10  # relative to the largest entry


def random_robot(seed: int) -> Robot:
    """Mixed joints, skew axes (three of four), tilted base, tool; branches and fixed bodies on every other robot."""
    return armdyn.random_robot(
        seed,
        1 + seed % 6,
        convention=CONVENTIONS[seed % 4],
        branching=0.4 * (seed % 2),
        fixed=0.3 * (seed % 2),
        skew=seed % 4 != 3,
        any_gravity=seed % 3 == 0,
    )


@pytest.mark.parametrize("seed", range(50 if FULL else 12))
def test_random_robots_agree_exactly(seed: int) -> None:
    certificate = armdyn.certify(random_robot(seed), points=1, seed=seed)
    assert certificate.holds, str(certificate)
    assert certificate.error_probability < 1e-12


TREES = [name for name in armdyn.catalog.names() if name not in ("delta", "stewart")]
"""Trees of up to six joints: the formulations of fourth order take minutes on those of 12 and 24."""


@pytest.mark.parametrize("name", TREES)
def test_the_catalog_agrees_exactly(name: str) -> None:
    certificate = armdyn.certify(armdyn.load(name).opened, points=2 if FULL else 1)
    assert certificate.holds, str(certificate)
    left_out = {"articulated_body"} if name in ("cartesian2", "planar2r") else set()  # rotors on moving links
    formulations = {check.formulation for check in certificate.checks} - {"inverse kinematics"}
    assert formulations == {f.name for f in FORMULATIONS} - left_out
    shared = ("friction", "inverse kinematics")  # a term that is the same in all of them, and no formulation
    said = [text for text in certificate.left_out if not text.startswith(shared)]
    assert len(said) == len(left_out)


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("entry", GIVING, ids=lambda f: f.name)
@pytest.mark.parametrize("seed", range(8))
def test_torques_agree_with_pinocchio(entry: Formulation, seed: int) -> None:
    robot = random_robot(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    wrench = rng.uniform(-5, 5, 6)
    expected = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench)
    assert relative(entry.function("inverse_dynamics")(robot, q, qd, qdd, wrench), expected) < TOLERANCE


@pytest.mark.parametrize("entry", [f for f in FORMULATIONS if "mass_matrix" in f.gives], ids=lambda f: f.name)
@pytest.mark.parametrize("seed", range(8))
def test_inertia_matrices_agree_with_pinocchio(entry: Formulation, seed: int) -> None:
    robot = random_robot(seed)
    q = np.random.default_rng(seed).uniform(-2, 2, robot.n)
    assert relative(entry.function("mass_matrix")(robot, q), pinocchio_model.mass_matrix(robot, q)) < TOLERANCE


@pytest.mark.parametrize("entry", [f for f in FORMULATIONS if "forward_dynamics" in f.gives], ids=lambda f: f.name)
@pytest.mark.parametrize("seed", range(8))
def test_forward_dynamics_agree_with_pinocchio(entry: Formulation, seed: int) -> None:
    robot = random_robot(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    wrench = rng.uniform(-5, 5, 6)
    tau = pinocchio_model.inverse_dynamics(robot, q, qd, qdd, wrench)
    # the condition of M enters: random chains of six reach 1e4
    assert relative(entry.function("forward_dynamics")(robot, q, qd, tau, wrench), qdd) < 1e4 * TOLERANCE


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("entry", GIVING, ids=lambda f: f.name)
def test_the_catalog_agrees_with_pinocchio(name: str, entry: Formulation) -> None:
    robot = armdyn.load(name).without("friction", "rotors").opened
    q, qd, qdd = np.random.default_rng(1).uniform(-2, 2, (3, robot.n))
    expected = pinocchio_model.inverse_dynamics(robot, q, qd, qdd)
    assert relative(entry.function("inverse_dynamics")(robot, q, qd, qdd), expected) < TOLERANCE


@pytest.mark.parametrize("entry", FORMULATIONS, ids=lambda f: f.name)
def test_batches_equal_loops(entry: Formulation) -> None:
    robot = random_robot(13)
    states = np.random.default_rng(0).uniform(-1, 1, (3, 4, robot.n))
    for quantity in entry.gives:
        arguments = {
            "mass_matrix": 1,
            "gravity": 1,
            "potential_energy": 1,
            "inverse_dynamics": 3,
            "forward_dynamics": 3,
        }
        count = arguments.get(quantity, 2)
        batch = entry.function(quantity)(robot, *states[:count])
        for k in range(4):
            single = entry.function(quantity)(robot, *states[:count, k])
            assert batch[k] == pytest.approx(single, rel=1e-9, abs=1e-9), quantity


def test_a_wrong_formula_is_caught() -> None:
    """The certificate can fail: a formulation with one sign changed does not pass."""
    from types import SimpleNamespace

    from armdyn.mechanics import newton_euler

    def wrong(robot: Robot, q: Any, qd: Any, qdd: Any, wrench: Any = None) -> Any:
        tau = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
        weight = newton_euler.gravity(robot, q)
        return tuple(a - 2 * b for a, b in zip(tau, weight, strict=True))

    class Wrong(Formulation):
        module = SimpleNamespace(inverse_dynamics=wrong)  # type: ignore[assignment]

    certificate = armdyn.certify(armdyn.load("planar2r"), formulations=[Wrong("wrong", "", "")], points=1)
    assert not certificate.holds
    assert "Fails: " in str(certificate)


def test_an_indefinite_robot_is_caught() -> None:
    robot = armdyn.Robot.from_dh([{"a": 1, "mass": 1, "inertia": [0, 0, 0, 0, 0, -3]}])
    certificate = armdyn.certify(robot, points=1)
    assert [check.statement for check in certificate.checks if not check.holds] == [
        "M positive definite, with the robot's own inertias"
    ]
