"""Exported Python: it runs on its own and agrees with mechanics; what every language refuses."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path, PurePath
from types import ModuleType

import numpy as np
import pytest

import armdyn
from armdyn.codegen import Model, export
from armdyn.codegen.export_files import TARGETS
from armdyn.codegen.functions import PARAMETERS, ExportedFunction, applicable
from armdyn.codegen.python_source import function_text, module
from armdyn.codegen.reference_vectors import reference, states
from armdyn.dynamics.quantities import QUANTITIES
from armdyn.errors import ArmdynError, UnknownName
from armdyn.robot import Robot


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
    code = loaded(export(robot, "python", ["inverse_dynamics", "gravity", "kinetic_energy"]).save(tmp_path)[0])
    q, qd = np.zeros((4, 1, 5)), np.ones((3, 5))
    assert code.inverse_dynamics(q, qd, [0, 0, 0, 0, 0]).shape == (4, 3, 5)
    assert code.gravity(q).shape == (4, 1, 5)  # constant, and still one per sample
    assert code.kinetic_energy([0] * 5, [1] * 5).shape == ()
    assert code.gravity(np.zeros((0, 5))).shape == (0, 5)
    with pytest.raises(ValueError, match="qd has shape .4,., expected .*5"):
        code.inverse_dynamics(np.zeros(5), np.zeros(4), np.zeros(5))


def test_python_needs_numpy_only(tmp_path: Path) -> None:
    path = export(armdyn.load("scara5"), "python", ["pose"]).save(tmp_path)[0]
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {path.stem} as m; m.pose([0]*5); "
    program += "assert not any(name.startswith('armdyn') for name in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_python_with_parameters(tmp_path: Path) -> None:
    robot = armdyn.load("scara5")
    code = loaded(export(robot, "python", ["inverse_dynamics"], parameters=True).save(tmp_path)[0])
    state = states(robot, 4)
    arguments = [state[name] for name in ("q", "qd", "qdd")]
    agrees(code.inverse_dynamics(*arguments), reference(robot, "inverse_dynamics", *arguments))
    weightless = code.PARAMETERS | {"g": 0.0}
    expected = reference(robot.without("gravity"), "inverse_dynamics", *arguments)
    agrees(code.inverse_dynamics(*arguments, tuple(weightless.values())), expected)


# The door ---------------------------------------------------------------------------------------------------------


def test_same_robot_same_text() -> None:
    """Also from another process, whose strings hash differently and whose objects lie elsewhere."""
    program = (
        "import armdyn, hashlib; from armdyn.codegen import model; from armdyn.codegen.export_files import texts;"
        "ms = [model(armdyn.load('scara5'), ['forward_dynamics', 'pose']),"
        "      model(armdyn.load('puma560'), ['coriolis_matrix'])];"
        "made = [t for m in ms for to in ('c', 'cpp', 'python') for t in texts(m, to).values()];"
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
        export(robot, "c", ["gravty"]).save(tmp_path)
    with pytest.raises(UnknownName, match="one of: c, cpp"):
        export(robot, "fortran").save(tmp_path)
    with pytest.raises(ArmdynError, match="no function"):
        export(robot, "c", []).save(tmp_path)
    for prefix in ("../x", "a b", "", "2x", "int", "test", "con", "math", "x" * 50, "a__b", "_a", "é"):
        with pytest.raises(ArmdynError, match="prefix"):
            export(robot, "c", ["gravity"], prefix).save(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ArmdynError, match="cannot be written"):
        export(armdyn.load("scara5"), "c", ["gravity"]).save(tmp_path / "file")


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
    exported = function_text(ExportedFunction(QUANTITIES["inverse_dynamics"], lambda: known, lambda _: graph.names))
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


# Words ----------------------------------------------------------------------------------------------------------------

PYTHON_NAMES = re.compile(
    r"PhysicsError|Raises|\bdyn\.|\bparameters\.link_end|\brobot\.(opened|position)|Y @|ndarray|armdyn\.\w"
)
"""Names that mean something in a Python session with armdyn alone."""
PYTHON_WORDS = re.compile(r"\bNone\b|\(\.\.\.,|\bTrue\b|\bFalse\b|NumPy|numpy|\btuple\b|\bPython\b")
"""Words that mean something in Python alone."""


def written(files: Mapping[PurePath, str | bytes]) -> Iterator[tuple[str, str]]:
    """The texts of all files, those in archives too, by name."""
    for name, content in files.items():
        if isinstance(content, str):
            yield str(name), content
        elif zipfile.is_zipfile(BytesIO(content)):
            with zipfile.ZipFile(BytesIO(content)) as archive:
                for each in archive.namelist():
                    if Path(each).suffix in (".c", ".h", ".xml", ".txt", ".json"):
                        yield f"{name}/{each}", archive.read(each).decode()


@pytest.mark.parametrize("to", TARGETS)
def test_code_speaks_its_own_language(to: str) -> None:
    """Every quantity, the inverse kinematics, the payload and a law, in headers, READMEs, tests and descriptions.

    Of units of simulation, which take long to write, those with the most words.
    """
    robot = armdyn.load("scara5")
    functions = [*applicable(robot), "inverse_kinematics", "all_inverse_kinematics"]
    if to == "fmu":
        functions = ["energy_regressor", "joint_reactions", "closed"]
    units = [armdyn.export(robot, to, functions), armdyn.export(robot, to, law="pid", tunable=("kp", "payload"))]
    found = []
    for name, text in (each for unit in units for each in written(unit.files)):
        words = [PYTHON_NAMES] if name.endswith(".py") else [PYTHON_NAMES, PYTHON_WORDS]
        found += [f"{name}: {line.strip()}" for line in text.splitlines() if any(each.search(line) for each in words)]
    assert not found, "\n".join(dict.fromkeys(found))
