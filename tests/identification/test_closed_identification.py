"""Identification of closed chains: base parameters of the loop, at the independent joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armdyn
from armdyn.identification import Harmonics, Search
from armdyn.identification.log.log import Log
from armdyn.robot import Robot
from armdyn.robot.limits import position_limits
from armdyn.robot.parts import Friction
from armdyn.trajectory.fourier import fourier


def log_of(robot: Robot, seed: int, share: float) -> Log:
    """Ten seconds within a share of the joints' ranges, with noise on positions and torques."""
    rng = np.random.default_rng(seed)
    low, high = position_limits(robot)
    a, b = rng.uniform(-1, 1, (2, robot.n, 5))
    size = (share * (high - low) / 2 / (np.abs(a) + np.abs(b)).sum(axis=1))[:, None]
    course = fourier((low + high) / 2, a * size, b * size, 10.0)
    t = np.arange(0, course.duration, 1 / 250)
    q, qd, qdd = (course(t, order) for order in range(3))
    tau = armdyn.compile(robot).inverse_dynamics(q, qd, qdd)
    tau = tau + 0.01 * tau.std(axis=0) * rng.standard_normal(tau.shape)
    names = tuple(joint.name for joint in robot.joints)
    return Log(t, q + 1e-5 * rng.standard_normal(q.shape), tau, joints=names, source="simulation")


def rubbing(robot: Robot) -> Robot:
    """With friction in every joint, passive ones too."""
    tree = tuple(replace(joint, friction=Friction(viscous=6 + k, coulomb=8 + k)) for k, joint in enumerate(robot.tree))
    return replace(robot, tree=tree, expressions=None)


@pytest.mark.parametrize(("name", "share"), [("palletiser", 1.0), ("five_bar", 0.35)])
def test_base_parameters_are_recovered_inside_the_bars(name: str, share: float) -> None:
    robot = armdyn.load(name)
    fit = armdyn.identify(robot, log_of(robot, 1, share), include=("inertial",), validation=0.3)
    error = (fit.estimate.values - fit.base.values) / fit.estimate.std
    assert len(error) == {"palletiser": 18, "five_bar": 11}[name]
    assert np.abs(error).max() < 3
    assert 0.5 < np.sqrt((error**2).mean()) < 1.6  # bars that are neither too short nor too long
    assert fit.validation.relative_error.max() < 0.006
    assert fit.robot.loops == robot.loops
    assert fit.base.values == pytest.approx(
        fit.base.from_standard(armdyn.parameters.standard_parameters(robot, ("inertial",)))
    )


def test_friction_of_a_palletiser() -> None:
    """Friction of passive joints is seen at the driven ones; elbow and rod turn alike."""
    robot = rubbing(armdyn.load("palletiser"))
    fit = armdyn.identify(
        armdyn.load("palletiser"), log_of(robot, 2, 1.0), include=("inertial", "friction"), friction="plain"
    )
    truth = fit.base.from_standard(armdyn.parameters.standard_parameters(robot, ("inertial", "friction")))
    error = (fit.estimate.values - truth) / fit.estimate.std
    assert {"FvR3", "FcR3"} <= set(fit.base.names)
    assert np.abs(error).max() < 4
    state = [0.1, 1.3, -0.3], [0.5, -0.4, 0.7], [1, 2, -1]
    expected, found = (armdyn.compile(model).inverse_dynamics(*state) for model in (robot, fit.robot))
    assert found == pytest.approx(expected, rel=0.02, abs=2)


def test_excitation_of_a_parallelogram() -> None:
    robot = armdyn.load("parallelogram")
    search = Search(starts=1, iterations=60)
    found = armdyn.excite(robot, include=("inertial",), harmonics=Harmonics(count=4, period=6.0), search=search)
    assert found.base.count == 8
    assert found.condition < 100


def test_the_check_of_a_log_sees_a_closed_chain() -> None:
    robot = armdyn.load("palletiser")
    good = log_of(robot, 3, 0.9)
    assert not [f for f in armdyn.identification.check_log(good, robot) if f.severity == "invalid"]
    swapped = replace(good, tau=good.tau[:, [0, 2, 1]])
    rules = {finding.rule for finding in armdyn.identification.check_log(swapped, robot)}
    assert "order of torques" in rules
