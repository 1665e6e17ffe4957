"""Random robots: the same for the same seed, possible, and of every shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armdyn import random_robot
from armdyn.errors import ArmdynError
from armdyn.formats import toml
from armdyn.robot import FreeTransform, ModifiedDH, Robot, StandardDH

KINDS = {"standard": StandardDH, "modified": ModifiedDH, "free": FreeTransform}
EVERYTHING: dict[str, Any] = {
    "branching": 0.4,
    "fixed": 0.3,
    "rotors": True,
    "friction": True,
    "limits": True,
    "any_gravity": True,
}


def pseudo_inertia(inertia) -> np.ndarray:
    """[[covariance, m c], [m c, m]]: positive definite for a body of some extent in every direction."""
    at_origin = inertia.at_origin()
    tensor = at_origin.tensor.array().astype(float)
    moment = at_origin.moment.array().astype(float)[:, None]
    covariance = np.trace(tensor) / 2 * np.eye(3) - tensor
    return np.block([[covariance, moment], [moment.T, np.array([[float(at_origin.mass)]])]])


@given(seed=st.integers(0, 2**32), skew=st.booleans())
@settings(max_examples=60, deadline=None)
def test_every_body_is_possible(seed: int, skew: bool) -> None:
    for joint in random_robot(seed, skew=skew, **EVERYTHING).tree:
        assert np.linalg.eigvalsh(pseudo_inertia(joint.body.inertia)).min() > 0


@given(seed=st.integers(0, 2**32), n=st.integers(1, 10))
@settings(max_examples=20, deadline=None)
def test_same_arguments_same_robot(seed: int, n: int) -> None:
    first, second = random_robot(seed, n, **EVERYTHING), random_robot(seed, n, **EVERYTHING)
    assert toml.dumps(first) == toml.dumps(second)
    assert first.n == n


def test_other_seed_other_robot() -> None:
    texts = {toml.dumps(random_robot(seed, 4)).split("\n", 2)[2] for seed in range(30)}
    assert len(texts) == 30


@pytest.mark.parametrize("convention", KINDS)
def test_convention_is_kept(convention: Any) -> None:
    robot = random_robot(3, 6, convention=convention, fixed=0.5, branching=0.5)
    assert {type(joint.geometry) for joint in robot.tree} == {KINDS[convention]}


def test_without_convention_all_are_mixed() -> None:
    assert {type(joint.geometry) for joint in random_robot(1, 20).tree} == set(KINDS.values())


def test_joints_are_mixed_and_shares_obeyed() -> None:
    kinds = [joint.kind for joint in random_robot(2, 200).joints]
    assert 30 <= kinds.count("prismatic") <= 90  # 0.3 of 200, four standard deviations
    assert {joint.kind for joint in random_robot(2, 20, prismatic=0).joints} == {"revolute"}


def children(robot: Robot) -> dict[str, int]:
    counts: dict[str, int] = {}
    for joint in robot.tree:
        counts[joint.parent] = counts.get(joint.parent, 0) + 1
    return counts


@pytest.mark.parametrize("convention", [None, *KINDS])
def test_branches_occur_only_when_asked(convention) -> None:
    assert max(children(random_robot(5, 12, convention=convention)).values()) == 1
    assert max(children(random_robot(5, 12, convention=convention, branching=0.6)).values()) > 1


def test_branches_of_modified_dh_have_gamma_and_b() -> None:
    robot = random_robot(5, 12, convention="modified", branching=0.6)
    branches = [joint.geometry for joint in robot.tree if joint.geometry.gamma != 0 and joint.geometry.b != 0]
    assert branches


def test_fixed_bodies_only_when_asked() -> None:
    assert all(joint.kind != "fixed" for joint in random_robot(4, 10).tree)
    robot = random_robot(4, 10, fixed=1)
    assert [joint.kind == "fixed" for joint in robot.tree] == [True, False] * 10 + [True]


def test_angles_are_general_or_right() -> None:
    quarter = math.pi / 2
    for joint in random_robot(6, 12, skew=True, convention="standard").tree:
        assert abs(joint.geometry.alpha / quarter - round(joint.geometry.alpha / quarter)) > 1e-4
    for joint in random_robot(6, 12, skew=False, convention="standard").tree:
        assert joint.geometry.alpha in (0, quarter, -quarter, math.pi)


def test_axes_have_length_one() -> None:
    robot = random_robot(7, 30, convention="free")
    lengths = [joint.geometry.axis.dot(joint.geometry.axis) for joint in robot.tree]
    assert np.allclose(lengths, 1, rtol=0, atol=1e-15)
    assert len({joint.geometry.axis for joint in robot.tree}) > 10


def test_base_tool_and_gravity() -> None:
    plain = random_robot(8, 3, tilted_base=False, tool=False)
    assert np.array_equal(plain.base.pose().array(), np.eye(4))
    assert np.array_equal(plain.tool.pose().array(), np.eye(4))
    assert tuple(plain.gravity) == (0, 0, -9.81)
    placed = random_robot(8, 3, any_gravity=True)
    assert abs(placed.base.pose().array()[2, 2] - 1) > 1e-3
    assert np.linalg.norm(placed.gravity.array().astype(float)) == pytest.approx(9.81, abs=1e-3)
    assert placed.gravity.x != 0


def test_parts_only_when_asked() -> None:
    bare = random_robot(9, 5)
    assert all(joint.rotor is joint.friction is joint.limits is None for joint in bare.joints)
    full = random_robot(9, 12, **EVERYTHING)
    assert {joint.rotor.model for joint in full.joints} == {"reflected", "full"}
    assert all(joint.friction.static > joint.friction.coulomb > 0 for joint in full.joints)
    assert all(joint.limits.lower < 0 < joint.limits.upper for joint in full.joints)


def test_numbers_are_short() -> None:
    robot = random_robot(10, 8, skew=True, **EVERYTHING)
    for word in toml.dumps(robot).replace(",", " ").replace("[", " ").replace("]", " ").replace("}", " ").split():
        try:
            value = float(word)
        except ValueError:
            continue
        assert value == round(value, 4)


@pytest.mark.parametrize(
    "arguments",
    [{"seed": -1}, {"n": 0}, {"n": -1}, {"prismatic": 1.5}, {"branching": -0.1}, {"fixed": 2}, {"convention": "dh"}],
)
def test_nonsense_is_refused(arguments) -> None:
    with pytest.raises(ArmdynError):
        random_robot(**({"seed": 1} | arguments))
