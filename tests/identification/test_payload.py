"""Payloads: from a loaded and an unloaded log, and from a sensor at the wrist, against the truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import armdyn
from armdyn.errors import ArmdynError, PhysicsError, ShapeError
from armdyn.identification.fit.estimation import Weighted
from armdyn.identification.fit.observation import observe
from armdyn.identification.log.samples import Samples
from armdyn.identification.payload.payload import (
    Payload,
    payload,
    payload_from_estimates,
    payload_from_sensor,
    torque_gain,
    wrench_regressor,
)
from armdyn.mechanics.kinematics import jacobian, pose
from armdyn.parameters import base_parameters
from armdyn.trajectory import fourier
from support.limits import FULL

MASS, COM, INERTIA = 1.7, (0.03, -0.02, 0.06), (0.008, 0.001, -0.0005, 0.009, 0.0007, 0.005)
TRUTH = np.array([MASS, *COM, *INERTIA])


def motion(robot: armdyn.Robot, seed: int, count: int) -> tuple[Any, Any, Any, Any]:
    rng = np.random.default_rng(seed)
    n = robot.n
    course = fourier(rng.uniform(-0.5, 0.5, n), rng.normal(size=(n, 5)), rng.normal(size=(n, 5)), 6.0)
    t = np.arange(count) * 6.0 / count
    return t, course(t), course(t, 1), course(t, 2)


def samples(robot: armdyn.Robot, seed: int, noise: float, rng: np.random.Generator, count: int = 600) -> Samples:
    t, q, qd, qdd = motion(robot, seed, count)
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    return Samples(t, q, qd, qdd, tau + noise * rng.normal(size=tau.shape), np.ones(q.shape, dtype=bool))


def with_friction(robot: armdyn.Robot, factor: float) -> armdyn.Robot:
    values = {f"{kind}{j + 1}": factor * x for j in range(robot.n) for kind, x in (("Fv", 0.4), ("Fc", 1.1))}
    return armdyn.parameters.with_standard_parameters(robot, values)


@pytest.mark.parametrize("name", ["panda", "puma560"] if FULL else ["puma560"])
def test_from_two_logs(name: str) -> None:
    """Ten parameters over the draws: their errors, in their own covariance, are chi squared."""
    robot = with_friction(armdyn.load(name), 1.0)
    carrying = with_friction(robot.with_payload(MASS, COM, INERTIA), 1.3)  # friction grows with the load
    rng = np.random.default_rng(0)
    base = base_parameters(robot, ("inertial", "rotor", "friction"))
    total, draws = 0.0, 4
    for _ in range(draws):
        logs = (samples(robot, 2, 0.05, rng), samples(carrying, 1, 0.05, rng))
        estimates = [(base, Weighted(white=True)(observe(robot, log, base))) for log in logs]
        found = payload_from_estimates(*estimates)
        assert found.undetermined == ()
        error = found.parameters - _about_origin()
        total += float(error @ np.linalg.solve(found.covariance, error))
        value, deviation = (np.array(list(x.values())) for x in (found.values, found.std))
        assert (np.abs(value - TRUTH) < 5 * deviation).all()
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 10 * draws)
    assert low < total < high
    heavier = found.added_to(robot)
    q = rng.uniform(-1, 1, (20, robot.n))
    expected = armdyn.compile(robot.with_payload(MASS, COM, INERTIA)).gravity(q)
    np.testing.assert_allclose(armdyn.compile(heavier).gravity(q), expected, atol=0.05)


def _about_origin() -> np.ndarray:  # type: ignore[type-arg]
    c = np.array(COM)
    tensor = MASS * (c @ c * np.eye(3) - np.outer(c, c))[np.triu_indices(3)] + INERTIA
    return np.array([*tensor, *(MASS * c), MASS])


def test_friction_that_changes_is_not_taken_for_mass() -> None:
    robot = with_friction(armdyn.load("panda"), 1.0)
    carrying = with_friction(robot.with_payload(MASS, COM, INERTIA), 2.0)
    logs = [samples(carrying, 1, 0.01, np.random.default_rng(1)), samples(robot, 1, 0.01, np.random.default_rng(2))]
    options: dict[str, Any] = {"include": ("inertial", "friction"), "estimator": Weighted(white=True)}
    free, same = (payload(robot, *logs, friction_changes=x, **options) for x in (True, False))
    off = [np.abs(np.array(list(f.values.values())) - TRUTH) / list(f.std.values()) for f in (free, same)]
    assert off[0].max() < 5 < off[1].max()
    assert free.residual < 3 < same.residual  # and the misfit tells that something is wrong


def test_what_an_arm_cannot_tell_is_said() -> None:
    robot = armdyn.load("planar2r")
    carrying = robot.with_payload(5.0, (0.2, 0.1, 0.0), (0.1, 0, 0, 0.1, 0, 0.3))
    rng = np.random.default_rng(3)
    found = payload(robot, samples(carrying, 1, 0.5, rng), samples(robot, 2, 0.5, rng),
                             include=("inertial",), estimator=Weighted(white=True))  # fmt: skip
    assert {"cz", "Ixx", "Iyy", "Ixy"} <= set(found.undetermined) and not {"mass", "cx", "cy", "Izz"} & set(
        found.undetermined
    )
    for label, value in (("mass", 5.0), ("cx", 0.2), ("cy", 0.1), ("Izz", 0.3)):
        assert abs(found.values[label] - value) < 4 * found.std[label]
    assert found.std["cz"] == np.inf
    with pytest.raises(PhysicsError, match="do not determine"):
        found.made_consistent()


@pytest.mark.parametrize("seed", range(3))
def test_wrench_of_the_payload_is_the_difference_of_torques(seed: int) -> None:
    """Force and moment at the frame, through the Jacobian, are what Pinocchio asks more of the loaded robot."""
    pytest.importorskip("pinocchio")
    from support import pinocchio_model

    robot = armdyn.random_robot(seed, n=5)
    loaded = robot.with_payload(MASS, COM, INERTIA)
    _, q, qd, qdd = motion(robot, seed, 4)
    w = wrench_regressor(robot, q, qd, qdd) @ _about_origin()
    for k in range(4):
        torques = [pinocchio_model.inverse_dynamics(each, q[k], qd[k], qdd[k]) for each in (robot, loaded)]
        R = np.asarray(pose(robot, q[k]))[:3, :3]
        world = np.concatenate([R @ w[k, :3], R @ w[k, 3:]])
        expected = np.asarray(jacobian(robot, q[k])).T @ world
        np.testing.assert_allclose(torques[1] - torques[0], expected, atol=1e-9 * np.abs(torques[1]).max())


@pytest.mark.parametrize("bias", [True, False])
def test_from_a_sensor_at_the_wrist(bias: bool) -> None:
    robot = armdyn.load("panda")
    _, q, qd, qdd = motion(robot, 4, 800)
    exact = wrench_regressor(robot, q, qd, qdd) @ _about_origin()
    if bias:
        exact = exact + np.array([1.0, -2.0, 0.5, 0.1, 0.05, -0.2])
    sigma = np.repeat([0.3, 0.02], 3)
    rng = np.random.default_rng(5)
    total, draws = 0.0, 8
    for draw in range(draws):
        noise = {"force": 0.3, "moment": 0.02} if draw % 2 else None
        measured = exact + sigma * rng.normal(size=exact.shape)
        found = payload_from_sensor(robot, q, qd, qdd, measured, noise=noise, bias=bias)
        error = found.parameters - _about_origin()
        total += float(error @ np.linalg.solve(found.covariance, error))
        assert found.residual == pytest.approx(1.0, abs=0.1)
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 10 * draws)
    assert low < total < high
    assert "kg m^2" in str(found)


def test_an_impossible_payload_becomes_possible() -> None:
    robot = armdyn.load("panda")
    _, q, qd, qdd = motion(robot, 4, 30)
    exact = wrench_regressor(robot, q, qd, qdd) @ _about_origin()
    sigma = np.repeat([2.0, 1.0], 3)
    rng = np.random.default_rng(6)
    found = payload_from_sensor(robot, q, qd, qdd, exact + sigma * rng.normal(size=exact.shape))
    assert not found.physically_consistent
    better = found.made_consistent()
    assert better.physically_consistent and isinstance(better, Payload)
    given, kept = (
        (x - _about_origin()) @ np.linalg.solve(found.covariance, x - _about_origin())
        for x in (found.parameters, better.parameters)
    )
    assert kept < given + 1e-3  # the truth is possible, and the set of possible ones convex


def test_errors() -> None:
    robot = armdyn.load("panda")
    _, q, qd, qdd = motion(robot, 4, 50)
    with pytest.raises(ShapeError):
        payload_from_sensor(robot, q, qd, qdd, np.zeros((50, 5)))
    with pytest.raises(PhysicsError, match="mass comes out as -"):
        payload_from_sensor(robot, q, qd, qdd, -wrench_regressor(robot, q, qd, qdd) @ _about_origin())
    with pytest.raises(ArmdynError, match="does not move"):
        wrench_regressor(robot, q, qd, qdd, frame=robot.root.name)
    still = np.zeros_like(q)
    with pytest.raises(PhysicsError, match="do not determine the mass"):
        payload_from_sensor(robot, q[:1].repeat(50, 0), still, still, np.ones((50, 6)))


@pytest.mark.parametrize("gain", [0.8, 1.22])
def test_unknown_gains_are_calibrated_by_the_robot_itself(gain: float) -> None:
    """All torques off by one factor: the payload is within its bars with the calibration, and far from them without."""
    robot = with_friction(armdyn.load("puma560"), 1.0)
    carrying = with_friction(robot.with_payload(MASS, COM, INERTIA), 1.3)
    rng = np.random.default_rng(3)
    logs = [samples(arm, seed, 0.05, rng) for arm, seed in ((carrying, 1), (robot, 2))]
    loaded, unloaded = (replace(log, tau=gain * log.tau) for log in logs)
    include = ("inertial", "rotor", "friction")
    found = payload(robot, loaded, unloaded, include=include, calibrated=True)
    value, deviation = (np.array(list(x.values())) for x in (found.values, found.std))
    assert (np.abs(value - TRUTH) < 4 * deviation).all()
    assert found.mass == pytest.approx(MASS, rel=0.05)
    wrong = payload(robot, loaded, unloaded, include=include)
    assert wrong.mass == pytest.approx(gain * MASS, rel=0.05)


@pytest.mark.parametrize("gain", [0.8, 1.22])
def test_bars_with_unknown_gains_hold_over_draws(gain: float) -> None:
    """Errors in their own covariance are chi squared, the gain's uncertainty included; so is the mass alone."""
    robot = with_friction(armdyn.load("puma560"), 1.0)
    carrying = with_friction(robot.with_payload(MASS, COM, INERTIA), 1.3)
    base = base_parameters(robot, ("inertial", "rotor", "friction"))
    rng, total, inside, draws = np.random.default_rng(5), 0.0, 0, 20
    quiet = [samples(arm, seed, 0.0, rng) for arm, seed in ((robot, 2), (carrying, 1))]
    for _ in range(draws):
        noisy = [replace(log, tau=gain * log.tau + 0.3 * rng.normal(size=log.tau.shape)) for log in quiet]
        unloaded, loaded = ((base, Weighted(white=True)(observe(robot, log, base))) for log in noisy)
        payload = payload_from_estimates(unloaded, loaded)
        found = payload.with_gain(*torque_gain(*unloaded))
        error = found.parameters - _about_origin()
        total += float(error @ np.linalg.solve(found.covariance, error))
        inside += abs(found.mass - MASS) < 2 * found.std["mass"]
        known, std = payload.torque_gain(MASS)
        assert abs(known - gain) < 5 * std
    low, high = stats.chi2.ppf([1e-4, 1 - 1e-4], 10 * draws)
    assert low < total < high
    assert inside >= stats.binom.ppf(1e-4, draws, 0.9545)
