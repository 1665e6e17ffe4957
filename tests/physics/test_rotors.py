"""Rotors: against an engine in which they are real bodies, and against the recursion that Siciliano prints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.graph import identical, symbol
from armdyn.mechanics import articulated_body, composite_body, newton_euler, rotors
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot import Robot
from armdyn.robot.random import random_robot
from armdyn.texts.siciliano.newton_euler_items import geared, printed_recursion
from physics import engine

GIVING = [f for f in FORMULATIONS if "inverse_dynamics" in f.gives]


def relative(found: Any, expected: Any) -> float:
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


def robot_with_rotors(seed: int, **options: Any) -> Robot:
    """Skew axes, rotors on other bodies than their joint's parent, transverse inertia, both models."""
    robot = random_robot(seed, 5, rotors=True, branching=0.3 * (seed % 2), **options)
    rng = np.random.default_rng(seed)
    bodies = [robot.root.name, *(joint.body.name for joint in robot.joints)]

    def moved(joint: Any) -> Any:
        across, on = round(float(rng.uniform(1e-4, 1e-3)), 5), str(rng.choice(bodies))
        model, place = ("reflected" if joint.name == "joint2" else "full"), (on if rng.random() < 0.6 else None)
        return replace(joint, rotor=replace(joint.rotor, transverse=across, on=place, model=model))

    return replace(robot, tree=tuple(moved(j) if j.rotor else j for j in robot.tree))


@pytest.mark.parametrize("seed", range(6))
def test_full_rotors_are_geared_bodies(seed: int) -> None:
    robot = robot_with_rotors(seed)
    assert any(spin.axis is not None and spin.carrier >= 0 for spin in robot.spins)
    q, qd, qdd = np.random.default_rng(seed).uniform(-2, 2, (3, robot.n))
    expected = engine.torques(robot, q, qd, qdd)
    for formulation in GIVING:
        assert relative(formulation.function("inverse_dynamics")(robot, q, qd, qdd), expected) < 1e-11
    M = engine.mass_matrix(robot, q)
    assert relative(composite_body.mass_matrix(robot, q), M) < 1e-11
    found = composite_body.forward_dynamics(robot, q, qd, expected)
    assert relative(found, qdd) < 1e-12 * np.linalg.cond(M) + 1e-11


def test_transverse_inertia_is_felt() -> None:
    robot = robot_with_rotors(1)
    without = replace(robot, tree=tuple(replace(j, rotor=replace(j.rotor, transverse=0)) for j in robot.tree))
    q = np.linspace(-1, 1, robot.n)
    assert relative(composite_body.mass_matrix(robot, q), composite_body.mass_matrix(without, q)) > 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_certificate_covers_rotors(seed: int) -> None:
    certificate = armdyn.certify(robot_with_rotors(seed), points=1, seed=seed)
    assert certificate.holds, str(certificate)
    assert len({check.formulation for check in certificate.checks}) >= len(GIVING)


# Augmented links, Siciliano (7.52)-(7.77)
# --------------------------------------------------------------------------------


def test_augmented_links_of_the_planar_arm() -> None:
    """Link 1 carries rotor 2 at its end: mass, first moment and tensor as Siciliano sec. 7.3.2 sums them."""
    p = {name: symbol(name, "parameter") for name in ("a1", "l1", "ml1", "ml2", "mm2", "Il1", "Im2")}
    first, second = rotors.augmented_links(armdyn.load("planar2r").symbolic)
    m, MX, *_, ZZ, Im2 = first.parameters
    assert identical(m, p["ml1"] + p["mm2"])
    assert identical(MX, p["ml1"] * (p["l1"] - p["a1"]))
    assert identical(ZZ, p["Il1"] + p["ml1"] * (p["l1"] - p["a1"]) ** 2 + p["Im2"])
    assert identical(Im2, p["Im2"])
    assert not second.rotors and identical(second.inertia.mass, p["ml2"])


# The recursion of Siciliano (7.107)-(7.114), Siciliano-3
# -----------------------------------------------------------------------


def test_printed_7_113_fails_and_the_corrected_one_holds() -> None:
    robot = geared()
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 4))
    ours = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert relative(ours, engine.torques(robot, q, qd, qdd)) < 1e-12
    assert relative(printed_recursion(robot, q, qd, qdd, 1).tau, ours) < 1e-12
    assert relative(printed_recursion(robot, q, qd, qdd, 2).tau, ours) > 1e-3


def test_articulated_bodies_say_no() -> None:
    robot = robot_with_rotors(1)
    with pytest.raises(armdyn.ArmdynError, match="composite_body"):
        articulated_body.forward_dynamics(robot, [0.1] * 5, [0] * 5, [0] * 5)
