"""Compiled dynamics of robots with elastic joints: every quantity by another formulation, and by an engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.dynamics import closed_graphs, elastic_graphs
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.robot import Robot
from armdyn.robot.parts import Elastic
from armdyn.robot.random import random_robot
from support.elastic_mujoco import ElasticArm


def springy(seed: int, n: int = 3, model: str = "full", turning: bool = False, every: bool = False) -> Robot:
    """A random robot whose joint 2 is rigid unless `every`."""
    robot = random_robot(seed, n, rotors=True, any_gravity=True, branching=0.3 * (seed % 2))
    tree = []
    for i, joint in enumerate(robot.tree):
        spring = Elastic(300.0 + 100 * i, damping=0.7, viscous=0.2, coulomb=0.1) if every or i != 1 else None
        rotor = replace(joint.rotor, model=model, transverse=2e-4)
        tree.append(replace(joint, elastic=spring, rotor=rotor, kind="revolute" if turning else joint.kind))
    return replace(robot, tree=tuple(tree))


def states(dyn: armdyn.Dynamics, count: int = 20) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    return {name: rng.uniform(-1, 1, (count, dyn.n)) for name in ("q", "qd", "qdd", "tau")}


def off(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def test_the_table_tells_which_quantities_have_graphs_of_other_chains() -> None:
    """Rows say it as data, so that what makes those graphs is loaded for such robots only."""
    for feature, graphs in (("elastic", elastic_graphs.QUANTITIES), ("loops", closed_graphs.QUANTITIES)):
        assert set(graphs) == {name for name, row in QUANTITIES.items() if feature in row.takes}


@pytest.mark.parametrize("model", ["full", "reflected"])
@pytest.mark.parametrize("seed", range(3))
def test_every_quantity_by_another_formulation(seed: int, model: str) -> None:
    robot = springy(seed, model=model)
    dyn = armdyn.compile(robot)
    given = states(dyn)
    for name, row in QUANTITIES.items():
        if "elastic" not in row.takes:
            continue
        inputs = [given[each] for each in row.inputs]
        found = getattr(dyn, name)(*inputs)
        found = np.stack(found, axis=-3) if isinstance(found, tuple) else found
        assert off(found, np.asarray(row.elastic.reference(robot, *inputs))) < 1e-12, name


@pytest.mark.parametrize("seed", range(3))
def test_identities(seed: int) -> None:
    """The terms add up, forward inverts inverse, dM/dt - 2C is skew-symmetric, energies give the torques."""
    dyn = armdyn.compile(springy(seed))
    given = states(dyn)
    x, xd, xdd = given["q"], given["qd"], given["qdd"]
    M, C = dyn.mass_matrix(x), dyn.coriolis_matrix(x, xd)
    tau = dyn.inverse_dynamics(x, xd, xdd)
    terms = np.einsum("...ij,...j", M, xdd) + np.einsum("...ij,...j", C, xd)
    assert off(terms + dyn.gravity(x) + dyn.springs(x) + dyn.friction(xd), tau) < 1e-12
    assert off(dyn.forward_dynamics(x, xd, tau), xdd) < 1e-9  # a condition number of the mass matrix near 1e4
    assert off(np.einsum("...i,...ij,...j", xd, M, xd) / 2, dyn.kinetic_energy(x, xd)) < 1e-12
    h = 1e-5
    rate = (dyn.mass_matrix(x + h * xd) - dyn.mass_matrix(x - h * xd)) / (2 * h)
    skew = rate - 2 * C
    assert np.abs(skew + np.swapaxes(skew, -1, -2)).max() < 1e-8 * np.abs(M).max()  # central differences
    wrench = np.arange(1.0, 7.0)
    pushed = dyn.inverse_dynamics(x, xd, xdd, wrench)
    assert off(pushed - tau, np.swapaxes(dyn.jacobian(x), -1, -2) @ wrench) < 1e-11
    for j, way in enumerate(np.eye(dyn.n)):
        slope = (dyn.potential_energy(x + h * way) - dyn.potential_energy(x - h * way)) / (2 * h)
        assert np.abs(slope - (dyn.gravity(x) + dyn.springs(x))[:, j]).max() < 1e-7 * np.abs(tau).max()
        for place, columns in zip((0, 1), dyn.inverse_dynamics_derivatives(x, xd, xdd), strict=True):
            dx, dxd = (h * way, 0 * way) if place == 0 else (0 * way, h * way)
            up, down = dyn.inverse_dynamics(x + dx, xd + dxd, xdd), dyn.inverse_dynamics(x - dx, xd - dxd, xdd)
            slope = (up - down) / (2 * h)
            assert np.abs(slope - columns[..., j]).max() < 1e-7 * np.abs(tau).max()


@pytest.mark.parametrize("seed", range(3))
def test_mujoco_gives_the_same_accelerations(seed: int) -> None:
    robot = springy(seed, 4, model="reflected", turning=True, every=True)
    springs = tuple(replace(j, elastic=replace(j.elastic, viscous=0, coulomb=0)) for j in robot.tree)
    robot = replace(robot, tree=springs).without("friction")
    dyn, engine = armdyn.compile(robot), ElasticArm(robot)
    given = states(dyn)
    tau = given["tau"].copy()
    tau[:, : robot.n] = 0
    for x, xd, torque in zip(given["q"], given["qd"], tau, strict=True):
        expected = engine.accelerations(x, xd, torque[robot.n :])
        assert off(dyn.forward_dynamics(x, xd, torque), expected) < 1e-9


def test_names_of_both_sides() -> None:
    robot = springy(0)
    dyn = armdyn.compile(robot)
    names = [joint.name for joint in robot.joints]
    assert dyn.n == 5
    assert dyn.coordinates.names == (*names, f"{names[0]} motor", f"{names[2]} motor")
    assert dyn.coordinates.motors == (3, 1, 4)
    assert armdyn.compile(robot.without("elastic")).coordinates.names == tuple(names)


def test_grouped_code_keeps_rotors_behind_springs_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grouping moves rotor inertias into links; behind a spring that would be another machine."""
    robot = springy(1, model="reflected", every=True)
    given = states(armdyn.compile(robot))
    motion = given["q"], given["qd"], given["qdd"]
    fewer, torques = armdyn.compile(robot), armdyn.compile(robot).inverse_dynamics(*motion)
    count = fewer.operations("inverse_dynamics").total
    monkeypatch.setattr("armdyn.dynamics.model_choice.grouped_view", lambda robot: robot)
    plain = armdyn.compile(robot, cache=False)
    assert off(torques, plain.inverse_dynamics(*motion)) < 1e-12
    assert count < plain.operations("inverse_dynamics").total
