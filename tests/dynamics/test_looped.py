"""Looped kernels: the same results as Pinocchio and as straight-line code, for robots of any size and shape."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.dynamics.looped.choice import estimated_operations, worth_looping
from armdyn.dynamics.looped.robots import LOOPED, can_be_looped
from armdyn.dynamics.looped.tables import RECIPES, looped, recipe_and_tables
from armdyn.dynamics.programs import SlowCode
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.kernels import Kernel, interpreted
from armdyn.kernels.looped.kernel import build_looped
from armdyn.parameters import regressor
from armdyn.robot import Robot
from armdyn.robot.parts import Friction, Motor, Rotor, Spring
from armdyn.robot.random import random_robot
from support.limits import FULL

NAMES = LOOPED
TREES = {
    "4 revolute": random_robot(1, 4, prismatic=0.0),
    "7 mixed, branches": random_robot(2, 7, branching=0.5),
    "9 prismatic": random_robot(3, 9, prismatic=1.0, branching=0.3),
    "30 revolute": random_robot(4, 30, prismatic=0.0),
    "31 mixed, branches": random_robot(5, 31, branching=0.3, any_gravity=True),
    "33 revolute, branches": random_robot(1, 33, prismatic=0.0, branching=0.3),
    "100 mixed, branches": random_robot(6, 100, branching=0.2),
    "13 on a free base": random_robot(8, 8, branching=0.4, any_gravity=True, free_root=True),
    "44 on a free base": random_robot(10, 39, prismatic=0.1, branching=0.3, free_root=True),
    "100 on a free base": random_robot(10, 95, branching=0.2, free_root=True),
}


def _with_joint_terms(robot: Robot) -> Robot:
    """The robot with linear friction, an offset, a spring and a reflected rotor at every joint."""
    tree = [
        replace(
            joint,
            friction=Friction(viscous=0.3 + k, coulomb=0.2, offset=0.1 * k),
            rotor=Rotor(inertia=0.01, ratio=-5 - k),
            spring=Spring(2.0 + k, 0.3),
        )
        for k, joint in enumerate(robot.tree)
    ]
    return replace(robot, tree=tuple(tree), expressions=None)


EVERYTHING = _with_joint_terms(random_robot(7, 6, branching=0.4))


def test_every_quantity_has_a_recipe() -> None:
    assert {*LOOPED} == {*RECIPES}


def made(robot: Robot, name: str) -> Kernel:
    kernel = looped(robot, name)
    assert kernel is not None
    return kernel


def inputs(robot: Robot, name: str, *batch: int) -> list[Any]:
    rng = np.random.default_rng(robot.n)
    q, *others = (rng.uniform(-2, 2, (*batch, robot.n)) for _ in QUANTITIES[name].inputs)
    return [robot.integrate(robot.neutral, q, 1.0) if robot.compounds else q, *others]


def listed(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def assert_close(results: Any, expected: Any, tolerance: float = 1e-12) -> None:
    for ours, theirs in zip(listed(results), listed(expected), strict=True):
        scale = np.abs(theirs).max()
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", NAMES)
def test_there_is_none_for_ball_joints(name: str) -> None:
    robot = random_robot(4, 9, ball=0.3)
    assert robot.compounds
    assert not can_be_looped(robot, name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tree", TREES)
def test_agrees_with_pinocchio(tree: str, name: str) -> None:
    pytest.importorskip("pinocchio")
    robot = TREES[tree]
    if robot.compounds and name == "regressor":
        assert not can_be_looped(robot, name)
        return
    kernel, values = made(robot, name), inputs(robot, name, 6)
    if robot.compounds and name == "coriolis_matrix":  # not unique: theirs is another for a free base
        if robot.n < (50 if FULL else 20):  # a long trace
            assert_close(kernel(*values), interpreted(armdyn.compile(robot).graph(name))(*values))
        C, v = kernel(*values), values[1]
        assert_close((C @ v[..., None])[..., 0], made(robot, "coriolis")(*values))
        return
    if name == "regressor":  # their parameters are in another order, about other frames
        assert_close((kernel(*values) @ armdyn.compile(robot).parameters), made(robot, "inverse_dynamics")(*values))
        assert_close(kernel(*values), regressor(robot, *values))
        return
    from armdyn.speed.engines.pinocchio import PinocchioEngine

    engine = PinocchioEngine(robot)
    expected = [listed(pinocchio(engine, name, *sample)) for sample in zip(*values, strict=True)]
    stacked = tuple(np.stack(parts) for parts in zip(*expected, strict=True))
    assert_close(kernel(*values), stacked)
    assert_close(kernel.call(*(value[0].copy() for value in values)), expected[0])


def pinocchio(engine: Any, name: str, *values: Any) -> Any:
    given = engine.theirs(values)
    o = engine.order
    if name == "inverse_dynamics":
        return engine.pin.rnea(engine.model, engine.data, *given)[o]
    if name == "forward_dynamics":
        return engine.pin.aba(engine.model, engine.data, *given)[o]
    if name == "coriolis":
        bias = engine.pin.nonLinearEffects(engine.model, engine.data, *given)
        return (bias - engine.pin.computeGeneralizedGravity(engine.model, engine.data, given[0]))[o]
    if name == "mass_matrix":
        return engine._matrix(engine.pin.crba(engine.model, engine.data, *given))
    if name == "coriolis_matrix":
        return engine.pin.computeCoriolisMatrix(engine.model, engine.data, *given)[np.ix_(o, o)]
    assert name == "inverse_dynamics_derivatives"
    return tuple(engine._matrices(engine.pin.computeRNEADerivatives(engine.model, engine.data, *given)))


@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_straight_line_code_of_joints_with_everything(name: str) -> None:
    robot = EVERYTHING.without("springs") if name == "regressor" else EVERYTHING
    values = inputs(robot, name, 5)
    assert_close(made(robot, name)(*values), interpreted(armdyn.compile(robot).graph(name))(*values))


@pytest.mark.parametrize("name", NAMES)
def test_batches_strides_and_threads(name: str) -> None:
    robot = TREES["31 mixed, branches"]
    kernel = made(robot, name)
    values = inputs(robot, name, 3, 7)
    whole = listed(kernel(*values))
    for k in np.ndindex(3, 7):
        for all_, one in zip(whole, listed(kernel(*(value[k][None] for value in values))), strict=True):
            np.testing.assert_array_equal(all_[k], one[0])  # the same to the last bit in every batch
        assert_close(kernel.call(*(value[k].copy() for value in values)), tuple(all_[k] for all_ in whole), 1e-13)
    spread = [np.repeat(value, 2, axis=-1)[..., ::2][::-1] for value in values]
    assert_close(kernel(*spread), tuple(part[::-1] for part in whole), 1e-15)
    gaps = tuple(np.full((*part.shape[:-1], 2 * part.shape[-1]), np.nan) for part in whole)
    kernel(*values, out=tuple(part[..., ::2] for part in gaps))
    for gap, part in zip(gaps, whole, strict=True):
        np.testing.assert_array_equal(gap[..., ::2], part)
        assert np.isnan(gap[..., 1::2]).all()
    many = [np.tile(value.reshape(-1, robot.n), (60, 1)) for value in values]
    for a, b in zip(listed(kernel(*many)), listed(kernel(*many, threads=2)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["mass_matrix", "coriolis_matrix", "inverse_dynamics_derivatives", "regressor"])
def test_large_results_are_written_past_the_caches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Line by line, wherever the caller's memory begins, and nothing beside it."""
    robot = TREES["31 mixed, branches"]
    kernel, given = made(robot, name), inputs(robot, name, 37)
    monkeypatch.setattr("armdyn.kernels.looped.kernel.STREAMED", 0)
    other, around = made(robot, name), 8
    for count, offset in itertools.product((1, 9, 37), (0, 1, 5, 7)):
        part = [values[:count] for values in given]
        expected = listed(kernel(*part))
        memory = [np.full(array.size + 3 * around, np.pi) for array in expected]
        spans = [slice(around + offset, around + offset + array.size) for array in expected]
        out = tuple(m[s].reshape(a.shape) for m, s, a in zip(memory, spans, expected, strict=True))
        other(*part, out=out if len(out) > 1 else out[0])
        for found, array, span in zip(memory, expected, spans, strict=True):
            np.testing.assert_array_equal(found[span], array.ravel())
            assert (np.delete(found, span) == np.pi).all()


@pytest.mark.parametrize("name", NAMES)
def test_registers_of_other_processors(name: str) -> None:
    """Batches are the same, however many samples a register holds."""
    robot = TREES["31 mixed, branches"]
    kernel, given, found = made(robot, name), inputs(robot, name, 21), recipe_and_tables(robot, name)
    assert found is not None
    samples = {4: 8, 8: 4}[kernel.record.lanes]
    other = build_looped(*found, name, None, samples=samples)
    assert other.record.lanes == samples
    for count in (1, samples, samples + 1, 21):
        part = [values[:count] for values in given]
        assert_close(other(*part), kernel(*part), 1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_out_of_one_call(name: str) -> None:
    robot = TREES["7 mixed, branches"]
    kernel, values = made(robot, name), inputs(robot, name)
    expected = [part.copy() for part in listed(kernel.call(*values))]
    targets = tuple(np.empty_like(part) for part in expected)
    given = targets if len(targets) > 1 else targets[0]
    assert kernel.call(*values, out=given) is given
    for target, part in zip(targets, expected, strict=True):
        np.testing.assert_array_equal(target, part)


@pytest.mark.parametrize("name", NAMES)
def test_large_angles_and_nan(name: str) -> None:
    robot = TREES["30 revolute"]
    kernel, (q, *rest) = made(robot, name), inputs(robot, name, 5)
    turned = q.copy()
    turned[2] += 2e10 * np.pi
    exact = np.arctan2(np.sin(turned), np.cos(turned))
    assert_close(kernel(turned, *rest), kernel(exact, *rest), 1e-12)
    q[1, 3] = np.nan
    for part in listed(kernel(q, *rest)):
        assert np.isnan(part[1]).any()
        assert np.isfinite(np.delete(part, 1, axis=0)).all()


@pytest.mark.parametrize("name", NAMES)
def test_same_code_for_robots_of_the_same_kinds(name: str) -> None:
    small, large = (made(random_robot(8, n, prismatic=0.0), name) for n in (50, 90))
    assert small.record.image == large.record.image
    assert small.source() == large.source()


def test_not_for_rotors_carried_by_links_nor_other_laws_of_friction() -> None:
    motor = replace(EVERYTHING.tree[0], motor=Motor(viscous=0.1))
    assert looped(replace(EVERYTHING, tree=(motor, *EVERYTHING.tree[1:]), expressions=None), "inverse_dynamics") is None
    assert EVERYTHING.tree[0].friction is not None
    dry = replace(EVERYTHING.tree[0], friction=replace(EVERYTHING.tree[0].friction, static=2.0, stribeck=0.1))
    assert looped(replace(EVERYTHING, tree=(dry, *EVERYTHING.tree[1:]), expressions=None), "inverse_dynamics") is None
    assert looped(armdyn.load("planar2r"), "inverse_dynamics") is None


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_wrenches(name: str) -> None:
    robot = random_robot(10, 24, branching=0.3)
    dyn, values = armdyn.compile(robot), inputs(robot, name, 5)
    wrench = np.random.default_rng(3).uniform(-5, 5, (5, 6))
    frame = robot.joints[11].body.name
    function = getattr(dyn, name)
    for given in (wrench, {frame: wrench, "tool": 2 * wrench[0]}):
        variant = "wrench" if given is wrench else tuple(given)
        wrenches = [wrench] if given is wrench else list(given.values())
        expected = interpreted(dyn.graph(name, variant))(*values, *wrenches)
        assert_close(function(*values, wrench=given), expected)
        target = np.empty_like(expected)
        assert function(*values, wrench=given, out=target) is target
        assert_close(target, expected)
    with pytest.raises(armdyn.errors.ShapeError):
        function(*values, wrench=[1.0, 2.0])


def test_choice_by_size() -> None:
    tidy, skew = armdyn.compile(armdyn.load("panda")), armdyn.compile(random_robot(7, 7, prismatic=0.0))
    name = "inverse_dynamics_derivatives"
    assert can_be_looped(tidy.robot, name) and can_be_looped(skew.robot, name)
    image = made(skew.robot, name).record.image
    chosen = [(tidy, name), (skew, "inverse_dynamics"), (skew, name)]
    kernels = [dyn.program(quantity) for dyn, quantity in chosen]
    assert [isinstance(kernel, Kernel) and kernel.record.image == image for kernel in kernels] == [False, False, True]


def test_choice_by_the_numbers_of_links() -> None:
    """A robot whose links are turned by right angles takes far fewer operations than a general one of its size."""
    n = 40
    rows = [{"a": 0.1, "alpha": (-1) ** k * np.pi / 2, "d": 0.0, "mass": 1.0, "com": (0.1, 0, 0)} for k in range(n)]
    tidy, skew = armdyn.Robot.from_dh(rows, convention="modified"), random_robot(4, n, prismatic=0.0)
    for robot in (tidy, skew):
        counted = armdyn.compile(robot).operations("inverse_dynamics").total
        # The estimates differ by a factor of 2.2, which is what decides; how near they are to the counts matters less.
        assert estimated_operations(robot) == pytest.approx(counted, rel=0.5)
    assert not worth_looping("inverse_dynamics", tidy, lambda: 0) and worth_looping("inverse_dynamics", skew, lambda: 0)
    dyn, values = armdyn.compile(tidy), inputs(tidy, "inverse_dynamics", 5)
    assert_close(dyn.inverse_dynamics(*values), made(tidy, "inverse_dynamics")(*values))


def test_interpretation_announces_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("armdyn.dynamics.programs.LARGEST", 10)
    with pytest.warns(SlowCode, match="too many to compile"):
        armdyn.compile(armdyn.load("planar2r"), cache=False).program("inverse_dynamics")


def test_long_chains_are_compiled_so() -> None:
    robot = random_robot(9, 60)
    dyn = armdyn.compile(robot)
    values = inputs(robot, "inverse_dynamics")
    kernel = dyn.program("inverse_dynamics")
    assert isinstance(kernel, Kernel) and kernel.source() == made(robot, "inverse_dynamics").source()
    np.testing.assert_array_equal(dyn.inverse_dynamics(*values), kernel(*values))
