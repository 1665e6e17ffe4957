"""Wrenches on any body, in every formulation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq

import armdyn
from armdyn.graph import RationalAngle, trace
from armdyn.mechanics import articulated_body, composite_body, forward, newton_euler
from armdyn.mechanics.registry import FORMULATIONS
from armdyn.robot import Robot
from armdyn.robot.exact import exact
from armdyn.robot.parts import Placement
from armdyn.robot.random import random_robot
from support import pinocchio_model
from support.pinocchio_model import pin, se3

GIVING = [f for f in FORMULATIONS if "inverse_dynamics" in f.gives]
FORWARD = [articulated_body, composite_body, forward]
every = pytest.mark.parametrize("formulation", GIVING, ids=lambda f: f.name)


def tree(seed: int) -> Robot:
    return random_robot(seed, 6, branching=0.5, fixed=0.3, any_gravity=True)


def held_by(robot: Robot, frame: str) -> Robot:
    """The robot with its tool frame at that frame."""
    return replace(robot, tool_on=frame, tool=Placement())


@every
@pytest.mark.parametrize("seed", range(2))
def test_wrenches_on_bodies_add_up_exactly(formulation: Any, seed: int) -> None:
    """The same torques, without tolerance, as with the tool moved to each body in turn, in the formula's own way."""
    robot = exact(tree(seed))
    rng = np.random.default_rng(seed)

    def draw(size: int) -> list[Any]:
        return [fmpq(int(x), int(y)) for x, y in zip(rng.integers(-9, 9, size), rng.integers(1, 9, size), strict=True)]

    q = [RationalAngle(x) if link.revolute else x for link, x in zip(robot.links, draw(robot.n), strict=True)]
    qd, qdd = draw(robot.n), draw(robot.n)
    bodies = [joint.body.name for joint in robot.tree][::2]
    wrenches = {name: draw(6) for name in bodies} | {"base": draw(6), "tool": draw(6)}
    ask = formulation.function("inverse_dynamics")
    free = ask(robot, q, qd, qdd)
    expected = list(ask(robot, q, qd, qdd, wrenches["tool"]))
    for name in bodies:
        held = ask(held_by(robot, name), q, qd, qdd, wrenches[name])
        expected = [a + b - c for a, b, c in zip(expected, held, free, strict=True)]
    assert list(ask(robot, q, qd, qdd, wrenches)) == expected
    assert ask(robot, q, qd, qdd, wrench=wrenches) == newton_euler.inverse_dynamics(robot, q, qd, qdd, wrenches)


@pytest.mark.parametrize("seed", range(3))
def test_wrenches_against_an_engine(seed: int) -> None:
    robot = tree(seed)
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-2, 2, (3, robot.n))
    wrenches = {joint.body.name: rng.uniform(-9, 9, 6) for joint in robot.tree}
    expected = pinocchio_model.inverse_dynamics(robot, q, qd, qdd)
    for name, wrench in wrenches.items():
        expected = expected + pinocchio_jacobian(robot, q, name).T @ wrench
    found = newton_euler.inverse_dynamics(robot, q, qd, qdd, wrenches)
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    for module in FORWARD:
        again = module.forward_dynamics(robot, q, qd, found, wrenches)
        assert np.abs(again - qdd).max() < 1e-6  # the condition of M enters


def pinocchio_jacobian(robot: Robot, q: np.ndarray, name: str) -> np.ndarray:
    model = pinocchio_model.build(robot)
    frame = robot.frame(name)
    if frame.link < 0:
        return np.zeros((6, robot.n))
    parent = model.getJointId(robot.links[frame.link].name)
    number = model.addFrame(pin.Frame("asked", parent, 0, se3(frame.pose), pin.FrameType.OP_FRAME))
    data, at = model.createData(), pinocchio_model.order(model, robot)
    x = np.zeros(robot.n)
    x[at] = q
    return pin.computeFrameJacobian(model, data, x, number, pin.LOCAL_WORLD_ALIGNED)[:, at]


def test_batches_symbols_and_errors() -> None:
    robot = tree(1)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    some = {"joint2": rng.uniform(-1, 1, (4, 6)), "joint5": rng.uniform(-1, 1, 6)}
    batch = newton_euler.inverse_dynamics(robot, q, qd, qdd, some)
    assert batch.shape == (4, robot.n)
    one = {"joint2": some["joint2"][2], "joint5": some["joint5"]}
    assert batch[2] == pytest.approx(newton_euler.inverse_dynamics(robot, q, qd, qdd, one), rel=1e-12)
    graph = trace(lambda q, w: newton_euler.inverse_dynamics(robot, q, qd.tolist(), qdd.tolist(), {"joint2": w}),
                  {"q": robot.n, "w": 6})  # fmt: skip
    alone = newton_euler.inverse_dynamics(robot, q, qd, qdd, {"joint2": one["joint2"]})
    assert graph(q=q, w=one["joint2"]) == pytest.approx(alone, rel=1e-10)
    with pytest.raises(armdyn.ArmdynError, match="unknown frame 'elbw'"):
        newton_euler.inverse_dynamics(robot, q, qd, qdd, {"elbw": np.zeros(6)})
    with pytest.raises(armdyn.ArmdynError, match="force x, y, z, and moment"):
        newton_euler.inverse_dynamics(robot, q, qd, qdd, {"joint2": np.zeros(3)})
