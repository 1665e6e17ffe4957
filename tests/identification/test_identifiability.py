"""What torques can tell: null spaces leave torques alone, and a motion that tells less is found out."""

import numpy as np
import pytest

import armdyn
from armdyn.errors import ShapeError
from armdyn.identification import identifiable, identify
from armdyn.parameters import base_parameters, parameter_names, regressor, standard_parameters
from armdyn.trajectory import fourier
from support.logs import rubbing, simulated


@pytest.mark.parametrize("name", ["puma560", "random"])
def test_changes_of_the_null_space_leave_all_torques_alone(name: str) -> None:
    robot = armdyn.random_robot(3, 4, prismatic=0.4) if name == "random" else armdyn.load(name)
    found = identifiable(robot, include=("inertial",))
    names = parameter_names(robot, ("inertial",))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 30, robot.n))
    Y = np.asarray(regressor(robot, q, qd, qdd, ("inertial",)))
    assert len(found.null_space) == len(names) - found.base.count
    size = np.abs(Y).max()
    for free, changes in found.null_space.items():
        assert changes[free] == 1.0
        torques = Y @ np.array([changes.get(each, 0.0) for each in names])
        assert np.abs(torques).max() < 1e-10 * size


def test_kinds_of_a_pendulum_by_hand() -> None:
    """A pendulum's torque has ZZ, MX and MY and nothing else."""
    found = identifiable(armdyn.load("pendulum"), include=("inertial",))
    told = {name for name, kind in found.standard.items() if kind == "individually identifiable"}
    assert told == {"ZZ1", "MX1", "MY1"}
    assert set(found.null_space) == set(parameter_names(armdyn.load("pendulum"), ("inertial",))) - told


def test_a_joint_at_rest_hides_its_parameters() -> None:
    robot = armdyn.load("planar2r")
    moves = np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 0.0]])
    poor = identifiable(robot, fourier([0.3, 0.4], moves, moves[:, ::-1], 5.0), include=("inertial", "friction"))
    rich = identifiable(robot, fourier([0.3, 0.4], moves + 0.1, moves[::-1] + 0.2, 5.0))
    assert all(rich.determined.values()) and rich.condition is not None and rich.condition < 1e4
    assert poor.condition == np.inf
    hidden = {name for name, known in poor.determined.items() if not known}
    assert {"Fv2", "Fc2"} <= hidden and not {"Fv1", "Fc1"} & hidden
    # what it hides changes no torque of this motion
    assert poor.undetermined is not None
    t = np.linspace(0, 5, 77)
    course = fourier([0.3, 0.4], moves, moves[:, ::-1], 5.0)
    Y = np.array([poor.base.regressor(course(x), course(x, 1), course(x, 2)) for x in t])
    for change in poor.undetermined:
        assert np.abs(Y @ change).max() < 1e-6 * np.abs(Y).max()


def test_a_motion_of_another_robot() -> None:
    with pytest.raises(ShapeError, match="2 joints"):
        identifiable(armdyn.load("puma560"), fourier([0, 0], np.ones((2, 2)), np.ones((2, 2)), 1.0))


def test_rounding_of_a_quarter_turn_tells_nothing_apart() -> None:
    """Angles of a Puma typed with four decimals: as many parameters as with exact ones, and each within its bars.

    None of 58 normal errors is beyond 4.5 standard deviations in 99.96 % of cases.
    """
    exact = rubbing("puma560").bound()
    typed = exact.mapped(lambda x: x, lambda angle: round(float(angle), 4) if angle else angle)
    assert base_parameters(typed, ("inertial", "rotor")).count == 41
    fit = identify(typed, simulated(typed), friction="plain", check=False)
    assert fit.base.count == base_parameters(exact, fit.base.include).count == 58
    truth = fit.base.from_standard(standard_parameters(typed, fit.base.include))
    assert (np.abs(fit.estimate.values - truth) < 4.5 * fit.estimate.std).all()
    assert fit.estimate.std.max() < np.abs(truth).max()
    given = [joint.geometry for joint in typed.tree]
    assert [joint.geometry for joint in fit.robot.tree] == given != [joint.geometry for joint in exact.tree]
