"""Each cause of each body on each joint, in numbers and in symbols; wrenches on any bodies; Milićević's sub-terms."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.graph import evaluate
from armdyn.mechanics import bertrand_bruneau, dalembert, gim_christoffel, newton_euler
from support import pinocchio_model


@pytest.mark.parametrize("seed", [1, 4, 9])
def test_parts_sum_to_the_torques_of_pinocchio(seed: int) -> None:
    pytest.importorskip("pinocchio")
    robot = armdyn.random_robot(seed, n=4).without("friction", "rotors")
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (3, 4))
    parts = bertrand_bruneau.separate_contributions(robot, q, qd, qdd)
    np.testing.assert_allclose(
        parts.sum(axis=(0, 1, 3)), pinocchio_model.inverse_dynamics(robot, q, qd, qdd), atol=1e-9
    )
    np.testing.assert_allclose(
        parts.sum(axis=0), bertrand_bruneau.contributions(robot, q, qd, qdd)[:4], rtol=1e-9, atol=1e-9
    )


def test_mass_and_tensor_are_translation_and_rotation() -> None:
    """D^tran qdd and D^rot qdd of Milićević (4.2), from another formulation; tensors weigh nothing."""
    robot = armdyn.random_robot(5, n=5).without("friction", "rotors")
    q, qd, qdd = np.random.default_rng(5).uniform(-1, 1, (3, 5))
    mass, tensor = bertrand_bruneau.separate_contributions(robot, q, qd, qdd).sum(axis=-1)
    np.testing.assert_allclose(mass[0], dalembert.mass_matrix_translational(robot, q) @ qdd, atol=1e-9)
    np.testing.assert_allclose(tensor[0], dalembert.mass_matrix_rotational(robot, q) @ qdd, atol=1e-9)
    np.testing.assert_allclose(mass[1] + mass[2], dalembert.coriolis_translational(robot, q, qd), atol=1e-9)
    np.testing.assert_allclose(tensor[1] + tensor[2], dalembert.coriolis_rotational(robot, q, qd), atol=1e-9)
    assert not tensor[3].any()


def test_wrenches_on_several_bodies() -> None:
    robot = armdyn.load("puma560").without("friction", "rotors")
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, 7, 6))
    frames = ["tool", robot.joints[2].body.name]
    wrench = {frame: rng.uniform(-1, 1, (7, 6)) for frame in frames}
    parts = bertrand_bruneau.contributions(robot, q, qd, qdd, wrench)
    torques = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrench)
    np.testing.assert_allclose(parts.sum(axis=(1, 3)), torques, atol=1e-9)
    Q = bertrand_bruneau.external_coefficients(robot, q, wrench)
    assert Q[..., 5].any() and Q[..., 2].any() and not Q[..., [0, 1, 3, 4]].any()
    np.testing.assert_allclose(parts[:, 4], Q)


@pytest.mark.parametrize("seed", [3, 6])
def test_sub_terms_of_the_velocities(seed: int) -> None:
    """Their sums are (4.3) and (4.4); centrifugal terms alone remain if one joint turns."""
    robot = armdyn.random_robot(seed, n=4).without("friction", "rotors")
    q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, 4))
    parts = dalembert.velocity_terms(robot, q, qd)
    np.testing.assert_allclose(parts[:4].sum(axis=0), dalembert.coriolis_translational(robot, q, qd), atol=1e-9)
    np.testing.assert_allclose(parts[4:].sum(axis=0), dalembert.coriolis_rotational(robot, q, qd), atol=1e-9)
    alone = np.array([qd[0], 0, 0, 0])
    one = dalembert.velocity_terms(robot, q, alone)
    assert not one[[1, 3, 4]].any()
    c = gim_christoffel.christoffel_symbols(robot, q)
    np.testing.assert_allclose(one.sum(axis=0), c[:, 0, 0] * qd[0] ** 2, atol=1e-9)


@pytest.mark.parametrize("name", ["planar2r", "three_link", "scara5"])
def test_symbols_and_numbers_agree(name: str) -> None:
    robot = armdyn.load(name).without("friction", "rotors")
    found = armdyn.derive(robot).contributions(apart=True)
    q, qd, qdd = state = np.random.default_rng(2).uniform(-1, 1, (3, robot.n))
    numbers = bertrand_bruneau.separate_contributions(robot, *state)
    names = ("q", "qd", "qdd")
    values = {f"{names[a]}{j + 1}": float(state[a][j]) for a in range(3) for j in range(robot.n)}
    values |= {name: float(value) for name, value in robot.parameters.items()}
    for k, joint in enumerate(robot.joints):
        for a, kind in enumerate(("mass", "tensor")):
            for b, cause in enumerate(("inertia", "centrifugal", "coriolis", "gravity")):
                torques = found.get(joint.body.name, {}).get(f"{cause} of {kind}")
                shown = np.zeros(robot.n) if torques is None else np.array(evaluate(torques, values), dtype=float)
                np.testing.assert_allclose(shown, numbers[a, b, :, k], atol=1e-9)
    assert q.shape == qd.shape == qdd.shape
