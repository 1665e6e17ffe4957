"""Robots that exported code is tested on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import armdyn
from armdyn.codegen import DEFAULT, Model, model
from armdyn.dynamics.quantities import QUANTITIES, RARE
from armdyn.robot import Robot

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wshadow", "-Wconversion")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) on this machine")

HOSTILE = (
    'a*/ #error "x" /* ??/\n\\\n#include </etc/passwd>',
    '"""; import os; os.system("x") #',
    "../../escape //\\",
    "\\input{/etc/passwd} $ % & { naïve\u202e joint \u0000",
)
"""Names that mean harm."""


def robots() -> dict[str, Robot]:
    tree = armdyn.random_robot(7, 6, prismatic=0.4, branching=0.5, fixed=0.3, rotors=True, friction=True, limits=True)
    return {"scara5": armdyn.load("scara5"), "panda": armdyn.load("panda"), "tree": tree}


@pytest.fixture(scope="session", params=["scara5", "panda", "tree"])
def robot(request: pytest.FixtureRequest) -> Robot:
    return robots()[request.param]


@pytest.fixture(scope="session")
def made(robot: Robot) -> Model:
    """Everything of the small robots, the usual of the large one."""
    everything = [name for name in QUANTITIES if robot.name == "scara5" or name not in RARE]
    return model(robot, DEFAULT if robot.name == "panda" else everything, "arm")


@pytest.fixture(scope="session")
def hostile() -> Robot:
    """A robot with friction whose every name is an attack."""
    rows = [
        {
            "name": f"joint{i}",
            "type": "prismatic" if i % 3 == 1 else "revolute",
            "a": 0.3,
            "alpha": "pi/2" if i % 2 else 0,
            "mass": "double*exp + np*lambda" if i == 0 else 1.5,
            "com": [0.1, 0.02, 0.03],
            "inertia": [0.02, 0, 0, 0.03, 0, 0.04],
            "friction": {"viscous": 0.1, "coulomb": "M_PI", "static": 1.5, "stribeck": 0.1},
        }
        for i in range(4)
    ]
    parameters = {"double": 2.0, "exp": 0.75, "M_PI": 0.9, "np": 0.5, "lambda": 0.3}
    return renamed(Robot.from_dh(rows, parameters=parameters), HOSTILE)


def renamed(robot: Robot, names: Sequence[str]) -> Robot:
    """The robot with other names of itself, its joints and its last body, past the readers, which refuse some."""
    tree = [replace(joint, name=name) for joint, name in zip(robot.tree, names, strict=True)]
    tree[-1] = replace(tree[-1], body=replace(tree[-1].body, name=names[0]))
    view = None if robot.expressions is None else renamed(robot.expressions, names)
    return replace(robot, name=names[0], tree=tuple(tree), expressions=view)


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
