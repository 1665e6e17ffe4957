"""The prior of bodies: of use where a log hardly determines parameters, without effect where it does."""

from __future__ import annotations

import numpy as np
import pytest

import armdyn
from armdyn.identification import Log, Robust, identify
from armdyn.identification.body_prior import WIDE, body_prior, weight_of
from armdyn.parameters import base_parameters, parameter_names, standard_parameters, with_standard_parameters
from armdyn.robot import Robot
from armdyn.trajectory import fourier
from armdyn.typing import Array
from support.logs import excitation, rubbing, simulated

FAMILIES = ("inertial", "rotor", "friction", "offset")


def scaled(robot: Robot, factor: float) -> Robot:
    """The robot with all masses and inertias times a factor."""
    names = parameter_names(robot, ("inertial",))
    values = factor * standard_parameters(robot, ("inertial",)).array()
    return with_standard_parameters(robot, dict(zip(names, values.tolist(), strict=True)))


def error(found: Robot, true: Robot) -> Array:
    """Relative error of the torques of a richer motion, by joint."""
    course, t = excitation(true, 108), np.arange(0, 10, 0.02)
    state = [course(t, order) for order in range(3)]
    tau, expected = (armdyn.compile(robot).inverse_dynamics(*state) for robot in (found, true))
    return np.asarray((tau - expected).std(axis=0) / expected.std(axis=0))


def test_a_poor_log_gives_no_wild_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """6 s of two slow harmonics, and a model whose links are a third too heavy."""
    true, rng = rubbing("puma560"), np.random.default_rng(0)
    middle, (a, b) = rng.uniform(-0.5, 0.5, 6), rng.uniform(-0.35, 0.35, (2, 6, 2))
    course = fourier(middle, a, b, 6.0)
    t = np.arange(0, 6, 0.004)
    q, qd, qdd = (course(t, order) for order in range(3))
    tau = armdyn.compile(true).inverse_dynamics(q, qd, qdd)
    noise = rng.standard_normal((2, *q.shape))
    log = Log(t, q + 2e-5 * noise[0], tau + 0.03 * tau.std(axis=0) * noise[1])
    fit = identify(scaled(true, 1.33), log, friction="plain", check=False)
    assert "10 times their size" in fit.steps["prior"]
    monkeypatch.setattr("armdyn.identification.fit.body_prior", lambda base: np.zeros((0, base.count + 1)))
    wild = identify(scaled(true, 1.33), log, friction="plain", check=False)
    assert "prior" not in wild.steps
    assert np.log(error(fit.robot, true) / error(wild.robot, true)).mean() < np.log(0.7)


def test_parameters_of_an_exciting_log_stay_within_their_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the log alone, whatever the masses of the model, also if they are placeholders; and the truth does too."""
    true = rubbing("puma560")
    fits = [identify(scaled(true, x), simulated(true), friction="plain", check=False) for x in (0.01, 1.5)]
    monkeypatch.setattr("armdyn.identification.fit.body_prior", lambda base: np.zeros((0, base.count + 1)))
    without = identify(true, simulated(true), friction="plain", check=False).estimate
    for fit in fits:
        assert (np.abs(fit.estimate.values - without.values) < without.std).all()
        truth = fit.base.from_standard(standard_parameters(true, fit.base.include))
        assert (np.abs(fit.estimate.values - truth) < 2 * fit.estimate.std).mean() > 0.9


def test_the_prior_has_the_size_of_the_links() -> None:
    """One link about a vertical axis: its moment of inertia is expected within ten times its size."""
    robot = Robot.from_dh([{"type": "revolute", "mass": 2.0, "inertia": [0, 0, 0, 0, 0, 0.5]}], name="wheel")
    base = base_parameters(robot, ("inertial",))
    prior = body_prior(base)
    assert base.count == 1 and prior.shape == (1, 2)
    assert 1 / abs(prior[0, 0]) == pytest.approx(WIDE * 0.5)
    assert prior[0, 1] / prior[0, 0] == pytest.approx(0.5)
    assert len(body_prior(base_parameters(scaled(robot, 0.0), ("inertial",)))) == 0  # no masses, no size
    free = base_parameters(rubbing("puma560"), FAMILIES)
    friction = [k for k, place in enumerate(free.places) if place.startswith(("F", "off"))]
    assert friction and not body_prior(free)[:, friction].any()


def test_the_weight_of_a_prior_is_the_most_probable_one() -> None:
    """Values that scatter by a known multiple of the prior's deviation, exactly measured; and it never exceeds 1."""
    rng = np.random.default_rng(0)
    prior = np.column_stack([np.eye(400), np.zeros(400)])
    exactly = np.zeros((400, 400))  # a mean square of 400 values scatters by 7 %
    assert weight_of(prior, 1.0, 5 * rng.standard_normal(400), exactly) == pytest.approx(
        1 / 25, rel=0.3
    )  # 7 % by chance
    assert weight_of(prior, 1.0, 0.1 * rng.standard_normal(400), exactly) == 1.0


def test_other_methods_use_the_log_alone() -> None:
    robot = rubbing("planar2r")
    assert "prior" in identify(robot, simulated(robot), check=False).steps
    assert "prior" not in identify(robot, simulated(robot), method=Robust(), check=False).steps
