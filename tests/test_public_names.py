"""The names that users are promised: they exist, with these arguments, and the command line has the same verbs."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import armdyn
from armdyn import graph
from armdyn.cli import application
from armdyn.public import homes

PROMISED: dict[str, tuple[str, ...]] = {
    "load": ("robot", "tip", "lock"),
    "Robot.from_dh": ("rows", "convention", "gravity", "base", "tool"),
    "Robot.save": ("path",),
    "Robot.with_payload": ("mass", "com", "inertia"),
    "Robot.without": ("parts",),
    "compile": ("robot",),
    "Dynamics.inverse_dynamics": ("q", "qd", "qdd", "wrench"),
    "Dynamics.forward_dynamics": ("q", "qd", "tau", "wrench"),
    "Dynamics.mass_matrix": ("q",),
    "Dynamics.coriolis_matrix": ("q", "qd"),
    "Dynamics.coriolis": ("q", "qd"),
    "Dynamics.gravity": ("q",),
    "Dynamics.friction": ("qd",),
    "Dynamics.pose": ("q",),
    "Dynamics.jacobian": ("q",),
    "Dynamics.jacobian_dot_qd": ("q", "qd"),
    "Dynamics.regressor": ("q", "qd", "qdd"),
    "Dynamics.inverse_dynamics_derivatives": ("q", "qd", "qdd"),
    "Dynamics.joint_reactions": ("q", "qd", "qdd", "wrench"),
    "Dynamics.kinetic_energy": ("q", "qd"),
    "Dynamics.potential_energy": ("q",),
    "mechanics.newton_euler.inverse_dynamics": ("robot", "q", "qd", "qdd"),
    "derive": ("robot",),
    "formulations": (),
    "compare": ("robot",),
    "certify": ("robot",),
    "base_parameters": ("robot", "include"),
    "point_to_point": ("q0", "q1", "profile", "v_max", "a_max", "duration"),
    "scale_to_torque": (),
    "simulate": ("duration", "q0", "qd0", "solver"),
    "ComputedTorque": ("dyn", "kp", "kd"),
    "PID": (),
    "PDGravity": (),
    "Feedforward": (),
    "identify": ("robot", "log", "validation"),
}
SOURCE = Path(armdyn.__file__).parent
LAZY = [".".join(("armdyn", *path.parent.relative_to(SOURCE).parts)) for path in sorted(SOURCE.rglob("__init__.pyi"))]
"""Packages whose names are imported on first use."""
VERBS = ("show", "check", "derive", "compare", "certify", "plan", "simulate", "identify", "export", "study",
         "reproduce", "bench", "studio", "sweep")  # fmt: skip


@pytest.mark.parametrize("name", PROMISED)
def test_the_function_is_there_with_its_arguments(name: str) -> None:
    found: Any = armdyn
    for part in name.split("."):
        found = getattr(found, part)
    arguments = inspect.signature(found).parameters
    assert set(PROMISED[name]) <= set(arguments), sorted(arguments)


@pytest.mark.parametrize("package", LAZY)
def test_everything_listed_can_be_imported(package: str) -> None:
    module = import_module(package)
    for name in homes(package):
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", LAZY)
def test_the_list_is_one_name_per_line_in_the_form_that_type_checkers_re_export(package: str) -> None:
    """`armdyn.public` reads the lines with a pattern; a line of another form would be seen by only one of the two."""
    tree = ast.parse(Path(str(import_module(package).__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    listed = {alias.name: node.module for node in imports for alias in node.names if alias.asname == alias.name}
    assert listed == homes(package) and len(imports) == len(listed)


def test_dir_shows_public_names_only() -> None:
    import armdyn.robot.links  # makes `robot` an attribute of the module

    assert set(dir(armdyn)) == {*homes("armdyn"), "__version__"}


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'lod'\. Did you mean 'load'\?$"):
        armdyn.lod  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'xyzzy'$"):
        armdyn.xyzzy  # type: ignore[attr-defined]  # noqa: B018


def test_the_map_at_the_top_of_help_names_what_exists() -> None:
    rows = [line.split(None, 1)[1] for line in (armdyn.__doc__ or "").strip().splitlines()[2:]]
    assert len(rows) == 10
    for row in rows:
        for name in re.sub(r"\(.*?\)", "", row).split(","):
            assert name.strip() in homes("armdyn"), name


def test_a_function_is_not_hidden_by_the_module_of_its_name() -> None:
    module = import_module("armdyn.graph.trace")
    assert graph.trace is module.trace
    graph.trace = sys  # type: ignore[assignment]  # as if the module were imported once more
    assert graph.trace is module.trace


def test_dynamics_tells_its_parameters() -> None:
    dyn = armdyn.compile(armdyn.load("planar2r"))
    assert len(dyn.parameter_names) == len(dyn.parameters)


@pytest.mark.parametrize("verb", VERBS)
def test_the_verb_is_there(verb: str) -> None:
    known: list[Callable[..., Any] | None] = [command.callback for command in application().registered_commands]
    assert verb in {callback.__name__ for callback in known if callback is not None}
