"""The printed closed form of the inverse kinematics, evaluated line by line as a reader would, takes the pose."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import armdyn
from armdyn.equations import inverse_equations
from armdyn.equations.sheets.steps import plain_name
from armdyn.errors import ArmdynError
from armdyn.graph import evaluate
from armdyn.mechanics import kinematics


def evaluated(steps, values):  # type: ignore[no-untyped-def]
    """The values of all lines; equations "0 = ..." hold where their angle is known."""
    for line in steps.lines:
        name = plain_name(line.name).replace("_", "")
        if name != "0":
            values[name] = evaluate(line.value, values)
    for line in steps.lines:
        if line.name == "0":
            assert abs(evaluate(line.value, values)) < 1e-9
    return values


@pytest.mark.parametrize("name", ["scara5", "planar3r", "three_link", "puma560", "rx90", "ur5", "panda"])
def test_the_lines_give_every_branch(name: str) -> None:
    robot = armdyn.load(name)
    steps = inverse_equations(robot)
    assert steps.form is not None
    q = np.random.default_rng(0).uniform(0.2, 1.2, robot.n)
    T = np.asarray(kinematics.pose(robot, q))
    given = {f"{letter}{axis}": T[i, j] for j, letter in enumerate("nsap") for i, axis in enumerate("xyz")}
    given |= {"phi": np.arctan2(T[1, 0], T[0, 0])} | dict(robot.bound().parameters)
    if steps.form.known is not None:
        given[f"q{steps.form.known + 1}"] = q[steps.form.known]
    if name == "scara5":
        given["q1"] = q[0]
    text = " ".join(str(line.value) for line in steps.lines)
    signs = [f"sigma{k}" for k in range(1, robot.n + 1) if f"sigma{k}" in text]
    found, matches = 0, 0
    for chosen in product((1.0, -1.0), repeat=len(signs)):
        with np.errstate(invalid="ignore"):
            try:
                values = evaluated(steps, given | dict(zip(signs, chosen, strict=True)))
            except (ValueError, ArmdynError):  # the root of a negative number: the branch does not exist
                continue
        solved = np.array([values[f"q{k + 1}"] for k in range(robot.n)])
        here = np.asarray(kinematics.pose(robot, solved))
        off = np.abs(here - T) if steps.form.rotation else np.abs(here[:3, 3] - T[:3, 3])
        assert off.max() < 1e-11
        found += 1
        matches += np.abs((solved - q + np.pi) % (2 * np.pi) - np.pi).max() < 1e-9
    assert found >= 2
    assert matches == 1


def test_formats_and_refusals() -> None:
    robot = armdyn.load("scara5")
    assert "C_{3}" in inverse_equations(robot, format="latex").source
    assert "def " in inverse_equations(robot, format="python").source
    assert "every branch" in inverse_equations(robot).source
    with pytest.raises(ArmdynError, match="format"):
        inverse_equations(robot, format="pdf")
    with pytest.raises(ArmdynError, match="no closed form"):
        inverse_equations(armdyn.load("pendulum"))
