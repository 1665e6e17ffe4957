"""Formulas of closed loops one by one: an iteration that follows would hide an error in them."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.mechanics import dependent_joints as module
from armdyn.mechanics.dependent_joints import DependentJoints, Distances, Iteration, Linear, Strut, Triangle
from armdyn.mechanics.loop_geometry import _snapped
from armdyn.mechanics.strut import universal_joint
from armdyn.mechanics.triangle import TriangleGeometry
from armdyn.robot.parts import Mimic

ON_STRUTS = ("delta", "stewart")


def chain_of(name: str) -> DependentJoints:
    return module.dependent_joints(armdyn.load(name))


def opened(chain: DependentJoints, seed: int) -> list[float]:
    """Next to the assembly, not closed."""
    return list(np.array(chain.assembly) + np.random.default_rng(seed).uniform(-0.05, 0.05, len(chain.assembly)))


def gap(chain: DependentJoints, loop: int, q: list[Any]) -> np.ndarray:
    return np.array([float(x) for x in chain.loops[loop].placed(q).gap])


@pytest.mark.parametrize("name", ON_STRUTS)
def test_both_angles_of_a_strut_close_its_loop(name: str) -> None:
    """With either root; a position near one of them gives that one."""
    chain = chain_of(name)
    (place,) = chain.drawn(random.Random(3), 1, 0.2)
    for stage in chain.stages:
        if isinstance(stage, Strut):
            strut, (one, two) = chain.strut(stage.loops[0], stage.joints), stage.joints
            for sign in (1, -1):
                q: list[Any] = list(place)
                q[one], q[two] = (math.atan2(x.sine, x.cosine) for x in strut.angles(place, None, sign))
                assert gap(chain, stage.loops[0], q) == pytest.approx(np.zeros(3), abs=1e-9)
                near = strut.angles(place, q[two] + 0.1, -sign)
                for pair, k in zip(near, stage.joints, strict=True):
                    assert (pair.cosine, pair.sine) == pytest.approx((math.cos(q[k]), math.sin(q[k])), abs=1e-9)


@pytest.mark.parametrize("name", ON_STRUTS)
def test_a_strut_has_no_other_open_joint(name: str) -> None:
    """Its length must be known: neither its own two joints nor another loop may wait for what comes after them."""
    chain = chain_of(name)
    for stage in chain.stages:
        if isinstance(stage, Strut):
            loop, joints = chain.loops[stage.loops[0]], {*stage.joints}
            leg = loop.first if stage.joints[0] in loop.first else loop.second
            assert universal_joint(loop, joints, joints) == stage.joints
            assert universal_joint(loop, joints, joints - {stage.joints[0]}) is None
            for later in leg[leg.index(stage.joints[1]) + 1 :]:
                assert universal_joint(loop, joints | {later}, joints) is None


def test_both_angles_of_a_triangle_close_its_loop() -> None:
    chain = chain_of("five_bar")
    (place,) = chain.drawn(random.Random(3), 1, 0.2)
    (stage,) = chain.stages
    assert isinstance(stage, Triangle)
    triangle, (one, two) = TriangleGeometry(chain.loops[0], stage.joints, stage.chained, stage.sense), stage.joints
    found = []
    for sign in (1, -1):
        q: list[Any] = list(place)
        q[one], q[two] = (math.atan2(x.sine, x.cosine) for x in triangle.angles(place, None, sign))
        assert gap(chain, 0, q) == pytest.approx(np.zeros(3), abs=1e-9)
        near, _ = triangle.angles(place, q[one] + 0.1, -sign)
        assert (near.cosine, near.sine) == pytest.approx((math.cos(q[one]), math.sin(q[one])), abs=1e-9)
        found.append(q[one])
    assert abs(found[0] - found[1]) > 0.1


@pytest.mark.parametrize("name", ON_STRUTS)
def test_lengths_of_struts_and_their_rates(name: str) -> None:
    """Of an open loop: half of what the squares of the distance and of the strut differ by, and its differences."""
    chain = chain_of(name)
    q, h = opened(chain, 1), 1e-6
    stage = chain.stages[0]
    assert isinstance(stage, Distances)
    for i, joints in zip(stage.loops, stage.struts, strict=True):
        strut, loop = chain.strut(i, joints), chain.loops[i]
        rates, value = strut.condition(q)
        placed = loop.placed(q)
        ends = (placed.first, placed.second) if joints[0] in loop.first else (placed.second, placed.first)
        own, other = (np.array([float(x) for x in end.p]) for end in ends)
        centre = np.array([float(x) for x in placed.joints[joints[0]].p])
        expected = (np.sum((other - centre) ** 2) - np.sum((own - centre) ** 2)) / 2
        assert value == pytest.approx(expected, abs=1e-12)
        assert set(rates) == set(loop.joints) - set(joints)
        for k, rate in rates.items():
            up, down = ([x + sign * h * (j == k) for j, x in enumerate(q)] for sign in (1, -1))
            assert rate == pytest.approx((strut.condition(up)[1] - strut.condition(down)[1]) / (2 * h), abs=1e-7)


@pytest.mark.parametrize("name", ["five_bar", *ON_STRUTS])
def test_what_counts_as_open_is_in_parts_of_the_robot(name: str) -> None:
    """Lengths in parts of the sum of all distances from joint to joint; angles as they are."""
    chain = chain_of(name)
    q = opened(chain, 2)
    size = sum(float(np.linalg.norm([float(x) for x in link.pose(0.0).p])) for link in chain.tree.links)
    assert chain.size == pytest.approx(size)
    expected = 0.0
    for loop in chain.loops:
        placed = loop.placed(q)
        lengths, angles = np.split(np.array([float(x) for x in loop.conditions(placed)]), [3])
        expected += np.sum((lengths / size) ** 2) + np.sum(angles**2)
    assert chain._error(chain._whole(), q) == pytest.approx(expected)
    if isinstance(stage := chain.stages[0], Distances):
        values = np.array(chain.stacked(stage, q)[1], dtype=float)
        assert chain._error(stage, q) == pytest.approx(np.sum((values / size**2) ** 2))


def test_steps_are_limited() -> None:
    """A short step is taken as it is, a long one in its direction."""
    chain = chain_of("bricard")
    (stage,) = chain.stages
    assert isinstance(stage, Iteration)
    for spread, long in ((0.01, False), (1.5, True)):
        q = list(np.array(chain.assembly) + np.random.default_rng(4).uniform(-spread, spread, len(chain.assembly)))
        after = list(q)
        J, f = chain.stacked(stage, q)
        matrix = np.array([[float(row.get(k, 0)) for k in stage.joints] for row in J])
        newton = -np.linalg.lstsq(matrix, np.array(f, dtype=float), rcond=None)[0]
        length = float(np.linalg.norm(newton))
        assert chain._step(stage, after) == pytest.approx(length**2, rel=1e-6)
        assert (length > 0.5) == long
        taken = np.array([after[k] - q[k] for k in stage.joints])
        assert taken == pytest.approx(newton * min(1, 0.5 / length), rel=1e-5, abs=1e-9)


def test_a_joint_that_follows_a_follower() -> None:
    """q2 = -2 q1 + 0.3 and q1 = 3 q0 - 0.1, named in the other order too."""
    robot = armdyn.load("ur5")
    names = [joint.name for joint in robot.tree]
    for first, second in ((1, 2), (2, 1)):
        mimics = {first: Mimic(names[0], 3, -0.1), second: Mimic(names[first], -2, 0.3)}
        tree = tuple(replace(joint, mimic=mimics.get(k)) for k, joint in enumerate(robot.tree))
        found = DependentJoints(replace(robot, tree=tree, expressions=None))
        assert found.independent == [0, 3, 4, 5]
        for k, rate, constant in ((first, 3, -0.1), (second, -6, 0.5)):
            line = found.linear[k]
            assert isinstance(line, Linear) and line.rates == (rate, 0, 0, 0)
            assert line.constant == pytest.approx(constant)
        q = found.positions([0.7, 1, 2, 3])
        assert [q[0], q[first], q[second], *q[3:]] == pytest.approx([0.7, 2.0, -3.7, 1, 2, 3])


def test_numbers_that_rounding_has_changed() -> None:
    """Whole rates and quarter turns become exact, others stay; so do entries of rotations."""
    assert (module._whole_number(2 + 1e-12), module._whole_number(-1.0)) == (2, -1)
    assert type(module._whole_number(2 + 1e-12)) is int
    assert (module._whole_number(2.5), module._whole_number(2 + 1e-7)) == (2.5, 2 + 1e-7)
    assert module._quarter_turns(3 * math.pi / 2 - 1e-12) == 3 * math.pi / 2
    assert module._quarter_turns(1e-12) == 0 and type(module._quarter_turns(1e-12)) is int
    assert (module._quarter_turns(0.3), module._quarter_turns(math.pi / 2 + 1e-7)) == (0.3, math.pi / 2 + 1e-7)
    for whole in (0, 1, -1):
        assert (_snapped(whole + 1e-14), type(_snapped(whole - 1e-14))) == (whole, int)
        assert _snapped(whole + 1e-11) == whole + 1e-11
