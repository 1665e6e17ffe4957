"""Exported code of robots with free and ball joints, run on its reference vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import armdyn
from armdyn.codegen import DEFAULT, export, model
from armdyn.codegen.export_files import texts
from armdyn.codegen.reference_vectors import TOLERANCE, states, vectors
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.robot import Robot
from armdyn.robot.edit import floated
from support.feature_robots import floating

from .conftest import STRICT, needs_compiler, run

FUNCTIONS = tuple(name for name, row in QUANTITIES.items() if "free_joints" in row.takes)


@needs_compiler
def test_c(tmp_path: Path) -> None:
    functions = (*DEFAULT, "inverse_dynamics_derivatives", "centroidal_momentum")
    export(floating(), "c", functions, "arm").save(tmp_path)
    assert "shoulder qz" in " ".join((tmp_path / "arm.h").read_text().replace("*", " ").split())
    done = run("gcc", *STRICT, "arm.c", "arm_test.c", "-lm", "-o", "test", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = run(tmp_path / "test", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count(" pass ") == len(functions)


def floating_loop() -> Robot:
    return armdyn.load("five_bar").edited(floated)


LOOPED = ("forward_dynamics", "inverse_dynamics_derivatives", "forward_dynamics_derivatives", "joint_reactions")
CASES = [*((floating, name) for name in FUNCTIONS), *((floating_loop, name) for name in LOOPED)]


@pytest.mark.parametrize(("make", "name"), CASES)
def test_python(make: Callable[[], Robot], name: str) -> None:
    made = model(make(), (name,), "arm")
    (text,) = (text for path, text in texts(made, "python").items() if str(path).endswith("arm.py"))
    space: dict[str, Any] = {}
    exec(compile(text, "arm.py", "exec"), space)
    known = vectors(made, made.functions[0])
    found = space[name](*known.inputs.values())
    listed = found if isinstance(found, tuple) else (found,)
    for result, expected in zip(listed, known.outputs.values(), strict=True):
        count = len(expected)
        error = np.abs(np.reshape(result, (count, -1)) - expected).max(axis=1)
        assert (error <= 10 * TOLERANCE * known.scale).all()  # a chain of nine links: more terms than in a joint
    assert f"{made.robot.position_names[3]}" in " ".join(text.split())


def test_states_are_on_the_manifold() -> None:
    robot = floating()
    q = states(robot)["q"]
    np.testing.assert_allclose(q[0], robot.neutral)
    np.testing.assert_allclose(np.linalg.norm(q[:, 3:7], axis=1), 1, atol=1e-5)  # six decimals
