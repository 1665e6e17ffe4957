"""Rotors: against an engine in which they are real bodies, and against the recursion that 004 prints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.algebra import Vec3
from armdyn.graph import identical, symbol
from armdyn.mechanics import articulated_body, composite_body, newton_euler, rotors
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot import Robot
from armdyn.robot.random import random_robot
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


# Augmented links, 004 (7.52)-(7.77) --------------------------------------------------------------------------------


def test_augmented_links_of_the_planar_arm() -> None:
    """Link 1 carries rotor 2 at its end: mass, first moment and tensor as 004 sec. 7.3.2 sums them."""
    p = {name: symbol(name, "parameter") for name in ("a1", "l1", "ml1", "ml2", "mm2", "Il1", "Im2")}
    first, second = rotors.augmented_links(armdyn.load("planar2r").symbolic)
    m, MX, *_, ZZ, Im2 = first.parameters
    assert identical(m, p["ml1"] + p["mm2"])
    assert identical(MX, p["ml1"] * (p["l1"] - p["a1"]))
    assert identical(ZZ, p["Il1"] + p["ml1"] * (p["l1"] - p["a1"]) ** 2 + p["Im2"])
    assert identical(Im2, p["Im2"])
    assert not second.rotors and identical(second.inertia.mass, p["ml2"])


# The recursion of 004 (7.107)-(7.114), E004-3 -----------------------------------------------------------------------


def recursion_of_004(robot: Robot, q: Any, qd: Any, qdd: Any, gyroscopic_terms: int) -> list[Any]:
    """The printed recursion for revolute joints, vectors in link frames; (7.113) prints w x (I w) twice."""
    n = robot.n
    links = rotors.augmented_links(robot)
    z0 = Vec3(0, 0, 1)
    poses = [joint.pose(x) for joint, x in zip(robot.joints, q, strict=True)]
    zm = [joint.rotor.axis for joint in robot.joints]
    kI = [joint.rotor.ratio * joint.rotor.inertia for joint in robot.joints]
    w, wd, a = [Vec3(0, 0, 0)], [Vec3(0, 0, 0)], [-robot.gravity]
    wmd = []
    for i, (R, p) in enumerate(poses):
        back, r = R.T, R.T @ p
        k = robot.joints[i].rotor.ratio
        wmd.append(wd[i] + k * qdd[i] * zm[i] + (k * qd[i]) * w[i].cross(zm[i]))  # (7.111)
        w.append(back @ (w[i] + qd[i] * z0))  # (7.107)
        wd.append(back @ (wd[i] + qdd[i] * z0 + qd[i] * w[i].cross(z0)))  # (7.108)
        a.append(back @ a[i] + wd[-1].cross(r) + w[-1].cross(w[-1].cross(r)))  # (7.109)
    tau = [0.0] * n
    f_next, m_next, R_next = Vec3(0, 0, 0), Vec3(0, 0, 0), poses[0].R.identity()
    for i in reversed(range(n)):
        body = links[i].inertia.about_com()
        R, p = poses[i]
        r, c, W, Wd = R.T @ p, body.com, w[i + 1], wd[i + 1]
        a_c = a[i + 1] + Wd.cross(c) + W.cross(W.cross(c))  # (7.110)
        f_ahead = R_next @ f_next
        f = f_ahead + body.mass * a_c  # (7.112)
        m = -(f.cross(r + c)) + R_next @ m_next + f_ahead.cross(c) + body.tensor @ Wd
        m = m + gyroscopic_terms * W.cross(body.tensor @ W)  # (7.113)
        if i + 1 < n:
            m = m + kI[i + 1] * qdd[i + 1] * zm[i + 1] + (kI[i + 1] * qd[i + 1]) * W.cross(zm[i + 1])  # (7.113)
        tau[i] = m.dot(R.T @ z0) + kI[i] * wmd[i].dot(zm[i])  # (7.114)
        f_next, m_next, R_next = f, m, R
    return tau


def test_printed_7_113_fails_and_the_corrected_one_holds() -> None:
    robot = random_robot(3, 4, convention="standard", prismatic=0, rotors=True, tilted_base=False)
    full = tuple(replace(j, rotor=replace(j.rotor, model="full", mass=0.3, transverse=2e-4)) for j in robot.tree)
    robot = replace(robot, tree=full)
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 4))
    ours = newton_euler.inverse_dynamics(robot, q, qd, qdd)
    assert relative(ours, engine.torques(robot, q, qd, qdd)) < 1e-12
    assert relative(recursion_of_004(robot, q, qd, qdd, 1), ours) < 1e-12
    assert relative(recursion_of_004(robot, q, qd, qdd, 2), ours) > 1e-3


def test_articulated_bodies_say_no() -> None:
    robot = robot_with_rotors(1)
    with pytest.raises(armdyn.ArmdynError, match="composite_body"):
        articulated_body.forward_dynamics(robot, [0.1] * 5, [0] * 5, [0] * 5)
