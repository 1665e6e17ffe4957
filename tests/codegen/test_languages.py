"""Exported Python, LaTeX, CasADi and JAX: they run on their own and agree with mechanics."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import armdyn
from armdyn.codegen import DEFAULT, Model, model, write
from armdyn.codegen.export_files import TARGETS, texts
from armdyn.codegen.functions import PARAMETERS, Function
from armdyn.codegen.python_source import function_text, module
from armdyn.codegen.reference_vectors import reference, states
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import ArmdynError, MissingExtra, UnknownName
from armdyn.robot import Robot

casadi_installed = importlib.util.find_spec("casadi") is not None
jax_installed = importlib.util.find_spec("jax") is not None


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def agrees(value: object, expected: np.ndarray) -> None:
    scale = max(1e-3, float(np.abs(expected).max()))
    np.testing.assert_allclose(np.asarray(value), expected, rtol=0, atol=1e-12 * scale)


# Python -----------------------------------------------------------------------------------------------------------


def test_python_equals_mechanics_on_batches(robot: Robot, made: Model, tmp_path: Path) -> None:
    path = tmp_path / "arm.py"
    path.write_text(module(made))
    code = loaded(path)
    state = {name: values.reshape(2, 3, -1) for name, values in states(robot, 6, seed=2).items()}
    for function in made.functions:
        arguments = [state[name] for name in function.graph.inputs]
        expected = reference(robot, function.name, *arguments)
        value = getattr(code, function.name)(*arguments)
        if len(function.definition.results) > 1:
            value = np.stack(value, axis=2)
        assert value.shape == expected.shape
        agrees(value, expected)


def test_python_broadcasts_and_checks_sizes(tmp_path: Path) -> None:
    robot = armdyn.load("scara5")
    code = loaded(write(robot, "python", tmp_path, ["inverse_dynamics", "gravity", "kinetic_energy"])[0])
    q, qd = np.zeros((4, 1, 5)), np.ones((3, 5))
    assert code.inverse_dynamics(q, qd, [0, 0, 0, 0, 0]).shape == (4, 3, 5)
    assert code.gravity(q).shape == (4, 1, 5)  # constant, and still one per sample
    assert code.kinetic_energy([0] * 5, [1] * 5).shape == ()
    assert code.gravity(np.zeros((0, 5))).shape == (0, 5)
    with pytest.raises(ValueError, match="qd has shape .4,., expected .*5"):
        code.inverse_dynamics(np.zeros(5), np.zeros(4), np.zeros(5))


def test_python_needs_numpy_only(tmp_path: Path) -> None:
    path = write(armdyn.load("scara5"), "python", tmp_path, ["pose"])[0]
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {path.stem} as m; m.pose([0]*5); "
    program += "assert not any(name.startswith('armdyn') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_python_with_parameters(tmp_path: Path) -> None:
    robot = armdyn.load("scara5")
    code = loaded(write(robot, "python", tmp_path, ["inverse_dynamics"], parameters=True)[0])
    state = states(robot, 4)
    arguments = [state[name] for name in ("q", "qd", "qdd")]
    agrees(code.inverse_dynamics(*arguments), reference(robot, "inverse_dynamics", *arguments))
    weightless = code.PARAMETERS | {"g": 0.0}
    expected = reference(robot.without("gravity"), "inverse_dynamics", *arguments)
    agrees(code.inverse_dynamics(*arguments, tuple(weightless.values())), expected)


# LaTeX ------------------------------------------------------------------------------------------------------------


def test_latex_is_balanced(made: Model) -> None:
    text = texts(made, "latex")[next(iter(texts(made, "latex")))]
    plain = re.sub(r"\\[{}]", "", text)
    depth = 0
    for letter in plain:
        depth += (letter == "{") - (letter == "}")
        assert depth >= 0
    assert depth == 0
    opened, closed = re.findall(r"\\begin{(\w+\*?)}", text), re.findall(r"\\end{(\w+\*?)}", text)
    assert sorted(opened) == sorted(closed)
    assert opened.count("align*") >= len(made.functions)
    assert max(map(len, text.splitlines())) < 1500
    for row in rows(text):
        assert row.count("&") == 1
    assert text.count("(") == text.count(")")


def rows(text: str) -> list[str]:
    blocks = re.findall(r"\\begin{align\*}\n(.*?)\n\\end{align\*}", text, flags=re.DOTALL)
    return [row for block in blocks for row in block.split(" \\\\\n")]


def test_latex_rows_can_be_typeset() -> None:
    from matplotlib.mathtext import MathTextParser

    robot = armdyn.random_robot(3, 2, friction=True)
    text = "".join(texts(model(robot, ["forward_dynamics", "pose"]), "latex").values())
    parser = MathTextParser("path")
    for row in rows(text)[::4]:
        parser.parse("$" + re.sub(r"&|\\quad|\\[bB]ig[lr]", "", row) + "$")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_has_no_overfull_boxes(tmp_path: Path) -> None:
    robot = armdyn.load("puma560")
    (text,) = texts(model(robot, ["inverse_dynamics", "inverse_dynamics_derivatives", "mass_matrix"]), "latex").values()
    (tmp_path / "made.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "made.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120)
    log = (tmp_path / "made.log").read_text(errors="replace")
    assert done.returncode == 0 and "Overfull" not in log, log[-1500:]


# CasADi and JAX ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(casadi_installed, reason="CasADi is installed")
def test_missing_casadi_is_an_error_with_the_command() -> None:
    from armdyn.codegen import casadi_source as casadi

    with pytest.raises(MissingExtra, match=r"pip install 'armdyn\[casadi\]'"):
        casadi.function(armdyn.load("scara5"), "gravity")


@pytest.mark.skipif(jax_installed, reason="JAX is installed")
def test_missing_jax_is_an_error_with_the_command() -> None:
    from armdyn.codegen import jax_source as jax

    with pytest.raises(MissingExtra, match=r"pip install 'armdyn\[jax\]'"):
        jax.function(armdyn.load("scara5"), "gravity")


@pytest.mark.skipif(not casadi_installed, reason="CasADi is not installed (pip install 'armdyn[casadi]')")
def test_casadi_equals_mechanics(tmp_path: Path) -> None:
    import casadi

    from armdyn.codegen import casadi_source as export_casadi

    robot = armdyn.random_robot(7, 4, prismatic=0.4, branching=0.5, friction=True)
    state = states(robot, 3, seed=1)
    paths = [path for path in write(robot, "casadi", tmp_path, DEFAULT, "arm") if path.suffix == ".casadi"]
    for path, name in zip(paths, DEFAULT, strict=True):
        stored, built = casadi.Function.load(str(path)), export_casadi.function(robot, name)
        for k in range(3):
            arguments = [state[each][k] for each in built.name_in()]
            expected = reference(robot, name, *arguments)
            expected = expected if expected.ndim == 2 else expected[:, None]
            agrees(built(*arguments), expected)
            agrees(stored(*arguments), expected)


@pytest.mark.skipif(not casadi_installed, reason="CasADi is not installed (pip install 'armdyn[casadi]')")
def test_casadi_differentiates() -> None:
    import casadi

    from armdyn.codegen import casadi_source as export_casadi

    robot = armdyn.load("scara5")
    state = states(robot, 2)
    arguments = [state[name][1] for name in ("q", "qd", "qdd")]
    slope = export_casadi.function(robot, "inverse_dynamics").jacobian()
    dtau_dq = casadi.evalf(slope(*arguments, np.zeros(robot.n))[0])
    agrees(dtau_dq, reference(robot, "inverse_dynamics_derivatives", *arguments)[0])


@pytest.mark.skipif(not jax_installed, reason="JAX is not installed (pip install 'armdyn[jax]')")
def test_jax_equals_mechanics(tmp_path: Path) -> None:
    import jax

    from armdyn.codegen import jax_source as export_jax

    jax.config.update("jax_enable_x64", True)
    robot = armdyn.random_robot(7, 3, prismatic=0.4, branching=0.5, friction=True)
    code = loaded(write(robot, "jax", tmp_path, prefix="arm")[0])
    state = {name: values.reshape(2, 3, -1) for name, values in states(robot, 6, seed=2).items()}
    for name in ("inverse_dynamics", "forward_dynamics", "jacobian"):
        function = export_jax.function(robot, name)
        inputs = model(robot, [name]).functions[0].graph.inputs
        arguments = [state[each] for each in inputs]
        expected = reference(robot, name, *arguments)
        agrees(jax.jit(function)(*arguments), expected)
        agrees(getattr(code, name)(*arguments), expected)
    q, qd, qdd = (state[each][0, 1] for each in ("q", "qd", "qdd"))
    slope = jax.jacfwd(export_jax.function(robot, "inverse_dynamics"))(q, qd, qdd)
    agrees(slope, reference(robot, "inverse_dynamics_derivatives", q, qd, qdd)[0])


# The door ---------------------------------------------------------------------------------------------------------


def test_same_robot_same_text() -> None:
    """Also from another process, whose strings hash differently and whose objects lie elsewhere."""
    program = (
        "import armdyn, hashlib; from armdyn.codegen import model; from armdyn.codegen.export_files import texts;"
        "ms = [model(armdyn.load('scara5'), ['forward_dynamics', 'pose']),"
        "      model(armdyn.load('puma560'), ['coriolis_matrix'])];"
        "made = [t for m in ms for to in ('c', 'python', 'latex') for t in texts(m, to).values()];"
        "print(hashlib.sha256(''.join(made).encode()).hexdigest())"
    )
    before = ("", "import armdyn; kept = armdyn.derive(armdyn.load('planar3r')), [object() for _ in range(54321)];")
    found = set()
    for seed, first in zip(("1", "2"), before, strict=True):
        run = [sys.executable, "-c", first + program]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout)
    assert len(found) == 1


def test_unknown_words_are_errors(tmp_path: Path) -> None:
    robot = armdyn.load("scara5")
    with pytest.raises(UnknownName, match="Did you mean 'gravity'"):
        write(robot, "c", tmp_path, ["gravty"])
    with pytest.raises(UnknownName, match="one of: c, cpp"):
        write(robot, "fortran", tmp_path)
    with pytest.raises(ArmdynError, match="no function"):
        write(robot, "c", tmp_path, [])
    for prefix in ("../x", "a b", "", "2x", "int", "test", "con", "math", "x" * 50, "a__b", "_a", "é"):
        with pytest.raises(ArmdynError, match="prefix"):
            write(robot, "c", tmp_path, ["gravity"], prefix)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArmdynError, match="cannot be written"):
        write(armdyn.load("scara5"), "c", tmp_path / "file", ["gravity"])


def assignments(text: str) -> dict[str, str]:
    """The right-hand sides of a generated function by name, each on one line and without the brackets around it."""
    joined = re.sub(r"\n {8,}", " ", text.replace("(\n", "("))
    found = dict(re.findall(r"^    (\w+) = (.*)$", joined, flags=re.MULTILINE))
    return {name: re.sub(r"^\((.*)\)$", r"\1", right) if len(right) > 90 else right for name, right in found.items()}


@pytest.mark.parametrize("name", ["scara5", "planar3r", "pendulum"])
def test_derive_and_export_write_the_same_expressions(name: str) -> None:
    """One graph as `derive --format python` and as `export --to python` write it."""
    graph = armdyn.derive(armdyn.load(name)).graph
    known = replace(graph, inputs={**graph.inputs, PARAMETERS: graph.parameters})
    exported = function_text(Function(QUANTITIES["inverse_dynamics"], lambda: known, lambda _: graph.names))
    derived = assignments(graph.program("python"))
    torques = [derived.pop(f"tau{i + 1}") for i in range(len(graph.outputs["tau"]))]
    assert derived
    written = assignments(exported)
    assert {name: written[name] for name in derived} == derived
    listed = re.sub(r"\s+", " ", exported[exported.index("tau_ = [") :])
    assert f"tau_ = [ {', '.join(torques)}, ]" in listed


def test_every_language_has_a_module() -> None:
    for name in TARGETS:
        assert importlib.util.find_spec(f"armdyn.codegen.{name}_source")
