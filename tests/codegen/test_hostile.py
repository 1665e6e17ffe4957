"""Names from robot files never reach generated code as they are."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import armdyn
from armdyn.codegen import export, model
from armdyn.codegen.export_files import texts
from armdyn.codegen.naming import C_WORDS, c_comment, file_stem, identifier
from armdyn.markup import latex_text, safe_text
from armdyn.robot import Robot

from .conftest import COMPILERS, STRICT, needs_compiler, run


@needs_compiler
@pytest.mark.parametrize("parameters", [False, True])
def test_hostile_names_in_c(hostile: Robot, parameters: bool, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "in"
    paths = export(hostile, "c", parameters=parameters).save(folder)
    assert all(path.parent == folder for path in paths)
    assert sorted(path.name for path in folder.iterdir()) == sorted(path.name for path in paths)
    name = paths[0].stem
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name)
    for flags in (STRICT, ("-std=gnu99", "-trigraphs", "-Wall", "-Wextra", "-Werror")):
        done = run(COMPILERS[0], *flags, f"{name}.c", f"{name}_test.c", "-lm", "-o", "t", cwd=folder)
        assert done.returncode == 0, done.stderr
        assert run(folder / "t", cwd=folder).returncode == 0
    if shutil.which("cmake"):
        assert run("cmake", "-B", "build", cwd=folder).returncode == 0
    for path in paths:
        text = path.read_text()
        assert text.isascii()
        assert "??" not in text
        assert not re.search(r"\\$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("parameters", [False, True])
def test_hostile_names_in_python(hostile: Robot, parameters: bool) -> None:
    made = model(hostile, parameters=parameters)
    (text,) = texts(made, "python").values()
    tree = ast.parse(text)
    assert {node.names[0].name for node in ast.walk(tree) if isinstance(node, ast.Import)} == {"numpy"}
    calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    assert not any("os" in call.split(".") for call in calls)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert all(re.fullmatch(r"\w+", name) for name in names)


def test_parameters_that_collide_after_cleaning(tmp_path: Path) -> None:
    row = {
        "type": "revolute",
        "a": "l_1",
        "mass": "l__1*q1",
        "com": ["tau", "t1", "C1"],
        "inertia": [0, 0, 0, 0, 0, "w"],
    }
    values = {"l_1": 0.5, "l__1": 2.0, "q1": 1.5, "tau": 0.1, "t1": 0.2, "C1": 0.3, "w": 0.05}
    robot = Robot.from_dh([row, row], name="twins", parameters=values)
    made = model(robot, parameters=True)
    assert {node.value for node in made.parameters} == set(values) - {"C1"}  # turning about z does not feel it
    for function in made.functions:
        program = function.program(C_WORDS)
        assert len(set(program.names.values())) == len(program.names)
    export(robot, "c", parameters=True).save(tmp_path)
    if COMPILERS:
        done = run(COMPILERS[0], *STRICT, "twins.c", "twins_test.c", "-lm", "-o", "t", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert run(tmp_path / "t", cwd=tmp_path).returncode == 0


@given(st.text(max_size=80))
def test_any_text_is_made_safe(text: str) -> None:
    line = c_comment(text)
    assert line.isascii()
    assert line.isprintable() or not line
    for bad in ("*/", "/*", "??", "\\", '"', "\n", "//"):
        assert bad not in line
    assert "\\" not in safe_text(text)
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", identifier(text))
    assert identifier(text) not in C_WORDS
    stem = file_stem(text)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", stem)
    assert "__" not in stem
    assert not re.search(r"(?<!\\)[#$%&_]", latex_text(text))


def test_many_joints() -> None:
    """Two-digit numbers: C1_10 is not C110."""
    made = model(armdyn.random_robot(2, 12, skew=False), ["inverse_dynamics", "mass_matrix"])
    for function in made.functions:
        assert len(set(function.labels.values())) == len(function.labels)
