"""armdyn.certify: what holds, what fails, how sure one can be."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from flint import fmpq

import armdyn
from armdyn.equations import certify
from armdyn.equations.degree import Degree, degree_of
from armdyn.errors import ArmdynError, NotApplicable
from armdyn.mechanics import doubled, gim_christoffel, newton_euler
from armdyn.mechanics.dependent_joints import LoopRates
from armdyn.mechanics.registry import FORMULATIONS, Formulation
from armdyn.robot.parts import Elastic
from support.feature_robots import gripper


@pytest.mark.parametrize("name", ["pendulum", "planar2r", "scara5", "three_link"])
def test_certificate_holds(name: str) -> None:
    result = certify(armdyn.load(name), points=1)
    assert result.holds
    assert result.points == 1
    assert 0 < result.error_probability < 1e-12
    named = {check.formulation for check in result.checks}
    assert {entry.name for entry in FORMULATIONS} - named <= {"articulated_body"}
    assert all(reason.startswith(("forward dynamics", "friction is the same term")) for reason in result.left_out)
    assert f"all {len(result.checks)} checks hold" in str(result)


def test_every_point_multiplies_the_certainty() -> None:
    robot = armdyn.load("pendulum")
    one, three = certify(robot, points=1), certify(robot, points=3)
    assert three.error_probability == pytest.approx(one.error_probability**3)


@dataclass(frozen=True)
class Spoilt(Formulation):
    """A formulation of functions that are given here."""

    functions: Any = None

    @property
    def module(self) -> Any:
        return self.functions


def test_a_wrong_sign_is_found() -> None:
    """Gravity with the other sign fails, and what is right still holds."""

    def gravity(robot: armdyn.Robot, q: Any) -> Any:
        return tuple(-x for x in newton_euler.gravity(robot, q))

    functions = SimpleNamespace(
        gravity=gravity, mass_matrix=newton_euler.mass_matrix, inverse_dynamics=newton_euler.inverse_dynamics
    )
    wrong = Spoilt("wrong", "wrong", "here", functions=functions)
    result = certify(armdyn.load("planar2r"), points=1, formulations=(wrong,))
    assert not result.holds
    assert [check.statement for check in result.checks if not check.holds] == ["same gravity torques"]
    assert "checks fail" in str(result)


def test_a_coriolis_matrix_that_is_not_skew_is_found() -> None:
    """Siciliano (7.41), (7.43): C from h_ijk gives the right torques, but Mdot - 2C is not skew."""
    from armdyn.mechanics import christoffel

    def coriolis_matrix(robot: armdyn.Robot, q: Any, qd: Any) -> Any:
        return christoffel.matrix_from_symbols(gim_christoffel.velocity_coefficients(robot, q), qd)

    other = Spoilt("other", "other", "Siciliano (7.43)", functions=SimpleNamespace(
        coriolis_matrix=coriolis_matrix, coriolis=gim_christoffel.coriolis, mass_matrix=gim_christoffel.mass_matrix,
        inverse_dynamics=gim_christoffel.inverse_dynamics))  # fmt: skip
    result = certify(armdyn.load("planar2r"), points=1, formulations=(other,))
    assert [check.statement for check in result.checks if not check.holds] == ["Mdot - 2C skew-symmetric, C qd right"]


def test_degrees() -> None:
    x = Degree(1)
    assert degree_of((x * x * x + 1, [x.cos() * 2, 0])) == 3
    assert degree_of(7) == 0


def test_progress_names_statement_and_formulation() -> None:
    steps: list[str] = []
    certify(armdyn.load("pendulum"), points=1, progress=lambda step, done: steps.append(step))
    assert "same mass matrix (kane)" in steps


@pytest.mark.parametrize("name", ["parallelogram", "five_bar", "palletiser"])
def test_closed_chains(name: str) -> None:
    """The tree's statements, and those of the closed chain with its cuts at random places."""
    result = certify(armdyn.load(name), points=1)
    assert result.holds
    closed = [check.statement for check in result.checks if check.formulation == "closed_chain"]
    assert len(closed) == 5
    projected = {check.formulation for check in result.checks if check.statement == "closed chain: same torques"}
    assert projected == {entry.name for entry in FORMULATIONS if "inverse_dynamics" in entry.gives}
    assert not [reason for reason in result.left_out if "closed" in reason]


def test_spatial_loops_and_mimic_joints() -> None:
    few = tuple(entry for entry in FORMULATIONS if entry.name in ("newton_euler", "kane"))
    for robot in (armdyn.load("delta"), gripper()):
        assert certify(robot, points=1, formulations=few).holds


def test_an_overconstrained_loop_is_certified_as_far_as_it_has_rational_points() -> None:
    few = tuple(entry for entry in FORMULATIONS if entry.name in ("newton_euler", "kane"))
    result = certify(armdyn.load("bricard"), points=1, formulations=few)
    assert result.holds
    assert sum("overconstrained" in reason for reason in result.left_out) == 3


def test_a_closed_chain_without_its_drift_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accelerations of dependent joints that velocities cause, left out."""
    monkeypatch.setattr(LoopRates, "drift", lambda self, q, qd: [0 * x for x in qd])
    few = tuple(entry for entry in FORMULATIONS if entry.name == "newton_euler")
    result = certify(armdyn.load("five_bar"), points=1, formulations=few)
    wrong = {check.statement for check in result.checks if not check.holds}
    assert {"loops closed, J G = 0", "closed chain: forward dynamics by multipliers"} <= wrong


@pytest.mark.parametrize("points", [0, -1, 1.5, True, 10**9])
def test_nothing_checked_is_no_certificate(points: Any) -> None:
    with pytest.raises(ArmdynError, match="points = .*whole number, 1 to 1000"):
        certify(armdyn.load("pendulum"), points=points)


def test_no_formulations() -> None:
    with pytest.raises(ArmdynError, match="no formulation"):
        certify(armdyn.load("pendulum"), formulations=())


def test_a_wrong_kinetic_energy_is_noticed() -> None:
    """One that is off by a constant balances the power all the same."""
    right = gim_christoffel
    wrong = SimpleNamespace(kinetic_energy=lambda robot, q, qd: right.kinetic_energy(robot, q, qd) + 1,
                            potential_energy=right.potential_energy)  # fmt: skip
    result = certify(
        armdyn.load("planar2r"), points=1, formulations=[*FORMULATIONS[:1], Spoilt("x", "", "", (), wrong)]
    )
    assert [check.statement for check in result.checks if not check.holds] == ["kinetic energy is qd . M qd / 2"]


def test_free_and_ball_joints_are_certified() -> None:
    """Along the true motion of quaternions of any length: power, and Mdot - 2C; a wrong law would show."""
    for robot in (armdyn.random_robot(7, 1, ball=1.0), armdyn.random_robot(9, 2, free_root=True)):
        certificate = armdyn.certify(robot, points=1)
        assert certificate.holds, certificate
        assert {"lagrange", "kane", "articulated_body"} <= {check.formulation for check in certificate.checks}
        assert certificate.error_probability < 1e-14


def test_a_wrong_rate_of_moving_axes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from armdyn.mechanics import actuators

    monkeypatch.setattr(actuators, "less_frame_rates", lambda robot, C, M, v: C)
    assert not armdyn.certify(armdyn.random_robot(7, 1, ball=1.0), points=1).holds


# Injected errors ------------------------------------------------------------------------------------------------------


def last(value: Any, change: Any) -> Any:
    """The same, its last number changed."""
    return (*value[:-1], last(value[-1], change)) if isinstance(value, tuple | list) else change(value)


def first(value: Any, change: Any) -> Any:
    return (first(value[0], change), *value[1:]) if isinstance(value, tuple | list) else change(value)


def negated(value: Any) -> Any:
    return tuple(map(negated, value)) if isinstance(value, tuple | list) else -value


ALMOST_ONE = fmpq(10**12 + 1, 10**12)
ERRORS: dict[str, Any] = {
    "sign": negated,
    "factor": lambda value: last(value, lambda x: x * ALMOST_ONE if x != 0 else x + ALMOST_ONE - 1),
    "offset": lambda value: first(value, lambda x: x + 1),
    "order": lambda value: tuple(reversed(value)),
    "term left out": lambda value: first(value, lambda x: 0 * x),
}
CASES = [
    (entry.name, quantity, error)
    for entry in FORMULATIONS
    for quantity in entry.gives
    for error in ERRORS
    if not (quantity.endswith("energy") and error == "order")  # one number
    and (quantity, error) != ("potential_energy", "offset")  # no error: it is defined up to a constant
]
DRAWN = CASES if os.environ.get("ARMDYN_FULL") else CASES[::7]


def test_injected_errors_are_noticed() -> None:
    """Every quantity of every formulation, wrong in one way at a time (all of them with ARMDYN_FULL)."""
    robot, reference, missed = armdyn.load("planar2r").without("rotors"), FORMULATIONS[:1], []
    for name, quantity, error in DRAWN:
        entry = next(each for each in FORMULATIONS if each.name == name)
        functions: dict[str, Any] = {given: entry.function(given) for given in entry.gives}
        right = functions[quantity]
        functions[quantity] = lambda *arguments, right=right, error=error: ERRORS[error](right(*arguments))
        spoilt = Spoilt("spoilt", "", "", entry.takes, SimpleNamespace(**functions))
        if certify(robot, points=1, formulations=[*reference, spoilt]).holds:
            missed.append((name, quantity, error))
    assert not missed, f"{len(missed)} of {len(DRAWN)} injected errors were not noticed: {missed}"


# Elastic joints ---------------------------------------------------------------------------------------------------


def soft_arm(name: str = "rx90", count: int = 3) -> armdyn.Robot:
    """The first joints of an arm with springs, one of them with a rotor of the full model where it has one."""
    robot = armdyn.load(name).bound()
    tree = [replace(joint, elastic=Elastic(900.0 + k)) if k < count else joint for k, joint in enumerate(robot.tree)]
    return replace(robot, tree=tuple(tree), expressions=None, parameters={})


@pytest.mark.parametrize(("name", "count"), [("planar2r", 1), ("planar2r", 2), ("cartesian2", 2)])
def test_elastic_joints_are_certified(name: str, count: int) -> None:
    result = certify(soft_arm(name, count), points=1)
    assert result.holds
    assert sum(check.statement.startswith("elastic joints") for check in result.checks) == 6
    assert result.error_probability < 1e-12


def test_a_wrong_spring_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stretch that pulls links and motors the same way: energies and equations differ."""
    right = doubled.stretch

    def both_ways(robot: Any, x: Any) -> Any:
        torques = right(robot, x)
        return [*torques[:-1], -torques[-1]]

    monkeypatch.setattr(doubled, "stretch", both_ways)
    result = certify(soft_arm("planar2r", 2), points=1)
    failed = {check.statement for check in result.checks if not check.holds}
    assert failed >= {"elastic joints: same torques as Lagrange", "elastic joints: power: xd . tau = dE/dt"}


def test_soft_and_closed_is_refused() -> None:
    robot = armdyn.load("parallelogram").bound()
    tree = tuple(replace(joint, elastic=Elastic(900.0)) if k == 0 else joint for k, joint in enumerate(robot.tree))
    with pytest.raises(NotApplicable, match="closed loops"):
        certify(replace(robot, tree=tree, expressions=None, parameters={}))
