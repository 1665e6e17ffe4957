"""The certificate of inverse kinematics: it holds for closed forms, and fails for formulas that are slightly wrong."""

from __future__ import annotations

import random

import pytest

import armdyn
from armdyn.algebra import ops
from armdyn.equations.inverse_certificate import certify_inverse, reason_against
from armdyn.equations.surds import Field
from armdyn.kinematics import closed_form, decompositions, subproblems
from armdyn.kinematics.subproblems import Angle, Choice


def solved(name: str):  # type: ignore[no-untyped-def]
    robot = armdyn.load(name)
    form = closed_form(robot) or closed_form(robot, rotation=False)
    assert form is not None
    assert not reason_against(form)
    return robot, form


@pytest.mark.parametrize("name", ["planar3r", "scara5", "three_link", "cartesian2", "puma560", "rx90", "ur5", "panda"])
def test_every_branch_takes_the_pose_exactly(name: str) -> None:
    robot, form = solved(name)
    found = certify_inverse(robot, form, 2, random.Random(0))
    assert found.takes
    assert found.finds
    assert found.branches >= 2
    assert found.error_probability < 1e-10


def turn_without_its_sign(*given):  # type: ignore[no-untyped-def]
    return -subproblems.turn(*given)


def height_with_one_branch(*given):  # type: ignore[no-untyped-def]
    return subproblems.to_height(*given)[:1] * 2


def direction_with_one_branch(*given):  # type: ignore[no-untyped-def]
    return subproblems.to_direction(*given)[:1] * 2


def distance_off_by_little(axis, v, center, square, *rest):  # type: ignore[no-untyped-def]
    return subproblems.to_distance(axis, v, center, square * (1 + 2.0**-40), *rest)


def distance_with_swapped_signs(*given):  # type: ignore[no-untyped-def]
    return [Choice(-each.angle, each.exists) for each in subproblems.to_distance(*given)]


def rest_by_half_a_turn(*given):  # type: ignore[no-untyped-def]
    return subproblems.turn_of(*given).half_turn()


MUTANTS = {
    "turn": turn_without_its_sign,
    "to_height": height_with_one_branch,
    "to_direction": direction_with_one_branch,
    "turn_of": rest_by_half_a_turn,
}


@pytest.mark.parametrize(
    ("name", "mutant"),
    [*MUTANTS.items(), ("to_distance", distance_off_by_little), ("to_distance", distance_with_swapped_signs)],
)
def test_wrong_formulas_are_rejected(name: str, mutant, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    """At enough points: a branch that is lost is missed only where the configuration lies on it."""
    robot, form = solved("puma560")  # recognised before: a wrong formula would not be taken
    monkeypatch.setattr(decompositions, name, mutant)
    found = certify_inverse(robot, form, 4, random.Random(0))
    assert not (found.takes and found.finds)


def test_the_certificate_of_a_robot_has_its_row() -> None:
    certificate = armdyn.certify(armdyn.load("planar3r"), points=1)
    rows = [check for check in certificate.checks if check.formulation == "inverse kinematics"]
    assert len(rows) == 2
    assert certificate.holds


def test_numbers_with_roots_are_exact() -> None:
    field = Field()
    two, three = field.number(2).sqrt(), field.number(3).sqrt()
    nested = (two + 1).sqrt()
    assert (field.number(5) + 2 * two * three).sqrt() == two + three
    assert (two - 1).sqrt() == nested * (two - 1)
    assert len(field.radicands) == 3
    assert ((nested + three) ** 2).sqrt() == nested + three
    assert (two + three).inverse() * (two + three) == 1
    assert (nested - three).sign() == -1
    assert (nested * nested - two - 1).sign() == 0
    assert Angle(two / 2, two / 2).plus(Angle(two / 2, -(two / 2))) == Angle(field.number(1), field.number(0))
    assert ops.select(two * three - ops.sqrt(field.number(6)), 1, -1) == 1
