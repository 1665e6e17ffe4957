"""Derived torques include everything that the robot has: they equal those of the compiled dynamics."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn import catalog
from armdyn.equations import Equations
from armdyn.errors import FeatureError, RobotError
from armdyn.graph import evaluate
from armdyn.robot import Friction, Robot, Spring
from support.feature_robots import ROBOTS


def dressed(robot: Robot) -> Robot:
    """The robot with friction and springs at all joints that have none."""

    def joint(place: int, part: Any) -> Any:
        if part.kind == "fixed" or part.compound is not None:
            return part
        rubbing = part.friction or Friction(0.3 + place / 10, 0.7, 1.1, 0.2, offset=0.05)
        return replace(part, friction=rubbing, spring=part.spring or Spring(2.0 + place, 0.1))

    tree = tuple(joint(place, part) for place, part in enumerate(robot.symbolic.tree))
    return replace(robot.symbolic, tree=tree).bound()


def value(equations: Equations, name: str, **inputs: Any) -> np.ndarray:
    """A quantity of the equations at numbers, evaluated as it stands in `raw`."""
    values = {f"{key}{j + 1}": x for key, row in inputs.items() if key != "h" for j, x in enumerate(row)}
    values |= dict(zip(("fx", "fy", "fz", "mx", "my", "mz"), inputs.get("h", ()), strict=False))
    return np.array(evaluate(equations.raw[name], values | dict(equations.robot.bound().parameters)), float)


@pytest.mark.parametrize("name", catalog.names())
def test_torques_of_catalog_robots_are_those_of_the_compiled_dynamics(name: str) -> None:
    robot = dressed(armdyn.load(name))
    try:
        equations = armdyn.derive(robot, wrench=True)
    except FeatureError as error:
        assert error.feature == "loops"  # solved by iteration: there are no polynomial equations
        return
    dyn, rng = armdyn.compile(robot), np.random.default_rng(3)
    for _ in range(5):
        q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
        h = rng.uniform(-10, 10, 6)
        expected = dyn.inverse_dynamics(q, qd, qdd, h)
        scale = np.abs(expected).max()
        assert np.abs(value(equations, "tau", q=q, qd=qd, qdd=qdd, h=h) - expected).max() < 1e-12 * scale
        assert np.abs(value(equations, "friction", q=q, qd=qd) - dyn.friction(qd)).max() < 1e-12 * scale
        whole = sum(value(equations, part, q=q, qd=qd, qdd=qdd, h=h) for part in ("g", "k", "friction", "external"))
        whole = whole + value(equations, "M", q=q) @ qdd + value(equations, "C", q=q, qd=qd) @ qd
        assert np.abs(whole - expected).max() < 1e-12 * scale


FEATURES = ("dry_friction", "static_friction", "asymmetric_friction", "friction_law", "springs", "coupling", "mimic",
            "payload", "gravity_compensation")  # fmt: skip


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("symbols", ["named", "inertial", "base"])
def test_torques_of_robots_with_a_feature(feature: str, symbols: str) -> None:
    robot = ROBOTS[feature]()
    equations = armdyn.derive(robot, symbols=symbols)
    dyn, rng = armdyn.compile(robot), np.random.default_rng(4)
    q, qd, qdd = rng.uniform(-1, 1, (3, robot.n))
    expected = dyn.inverse_dynamics(q, qd, qdd)
    assert np.abs(value(equations, "tau", q=q, qd=qd, qdd=qdd) - expected).max() < 1e-11 * np.abs(expected).max()


def test_friction_of_puma560() -> None:
    """All joints at 0.3 rad, 0.3 rad/s, 0.3 rad/s^2: friction is most of the torque of joint 1."""
    equations, at = armdyn.derive(armdyn.load("puma560")), [0.3] * 6
    tau = equations.lambdify("tau")(at, at, at)
    expected = armdyn.compile(armdyn.load("puma560")).inverse_dynamics(at, at, at)
    assert tau == pytest.approx(expected, rel=1e-12)
    assert equations.lambdify("friction")(at)[0] > 0.9 * tau[0]


@pytest.mark.parametrize("wrench", [False, True])
def test_every_format_says_what_is_included(wrench: bool) -> None:
    robot = armdyn.load("pendulum").symbolic
    robot = replace(robot, tree=(replace(robot.tree[0], friction=Friction(0.5, 0.25)), *robot.tree[1:])).bound()
    for left_out in ((), ("friction",)):
        equations = armdyn.derive(robot.without(*left_out), wrench=wrench)
        texts = [
            str(equations),
            equations.program(),
            equations.latex(),
            equations.markdown(),
            equations.document(paper="a4").source,
        ]
        for text in texts:
            flat = " ".join(text.replace("\n%", "").replace("\\_", "_").split()).lower()
            assert ("left out on request: friction" in flat) == bool(left_out)
            assert ("free motion" in flat) != wrench
        assert ("sign(qd1)" in str(equations) and "sign(qd1)" in equations.program()) != bool(left_out)
        assert (r"\operatorname{sgn}" in equations.latex()) != bool(left_out)
        assert (" + mz" in equations.program()) == wrench


def test_a_program_runs_whatever_its_parameters_are_called(tmp_path: Path) -> None:
    """The palletiser has a height h, and the wrench at the tool is called h too."""
    robot = armdyn.load("palletiser")
    made = runpy.run_path(str(armdyn.derive(robot, wrench=True).save(tmp_path / "torques.py")))
    q, qd, qdd = np.random.default_rng(0).uniform(-0.3, 0.3, (3, robot.n))
    wrench = np.arange(1.0, 7.0)
    found = made["function"](q, qd, qdd, wrench, **made["PARAMETERS"])["tau"]
    expected = armdyn.compile(robot).inverse_dynamics(q, qd, qdd, wrench)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("name", "meaning"), [("c2", "sine or cosine"), ("q1", "coordinate"), ("s_12", "sine")])
def test_names_with_two_meanings_are_refused(name: str, meaning: str) -> None:
    """A length c2 would stand beside c2 = cos(q2): the product c2*c2 of the two would read as a square."""
    rows = [{"a": name, "mass": 1, "com": [f"-{name}/2", 0, 0]}, {"a": 0.3, "mass": 1, "com": [-0.1, 0, 0]}]
    robot = armdyn.Robot.from_dh(rows, parameters={name: 0.4})
    with pytest.raises(RobotError, match=f"{name}.*{meaning}"):
        armdyn.derive(robot)
    assert armdyn.compile(robot).n == 2
