"""A package imports only from packages below it: the levels of ARCHITECTURE.md, enforced."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from armdyn.public import homes

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"

LEVEL = {
    "errors": 0,
    "conventions": 0,
    "typing": 0,
    "findings": 0,
    "files": 0,
    "tables": 0,
    "text_table": 0,
    "formula_lines": 0,
    "markup": 0,
    "notebook_view": 0,
    "progress": 0,
    "result": 0,
    "algebra": 1,
    "graph": 1,
    "catalog": 1,
    "robot": 2,
    "formats": 3,
    "mechanics": 3,
    "parameters": 4,
    "equations": 5,
    "kernels": 5,
    "dynamics": 6,
    "kinematics": 7,
    "codegen": 7,
    "controllers": 10,
    "bridges": 7,
    "casadi": 8,
    "jax": 8,
    "torch": 8,
    "trajectory": 8,
    "control": 8,
    "motion": 9,
    "simulation": 9,
    "analysis": 10,
    "doctor": 9,
    "identification": 10,
    "sweeps": 10,
    "report": 11,
    "speed": 11,
    "texts": 12,
    "browser": 12,
    "webpage": 12,
    "cli": 13,
    "__main__": 14,
}
ROOMS = {
    "identification.log": 8,
    "identification.clock": 8,
    "identification.friction": 8,
    # Closed forms are formulas over any scalar, which are written down and certified.
    "kinematics.subproblems": 4,
    "kinematics.decompositions": 4,
    "kinematics.recognise": 4,
    "kinematics.closed_form": 4,
    "kinematics.inverse_graphs": 4,
}
"""Parts of a package that have a level of their own: packages below the rest of it may import them."""
LAZY = {
    "robot/robot.py": "armdyn.formats",  # robot.save
    "robot/describe.py": "armdyn.doctor",  # the findings in the notebook view of a robot
    "doctor/explanation.py": "armdyn.report.pages",  # explanation.report
    "analysis/analyse.py": "armdyn.report.figures",  # analysis.plot
    "analysis/pruning.py": "armdyn.report.figures",  # pruned.plot
    "kinematics/solutions.py": "armdyn.report.figures",  # solutions.plot
    "trajectory/trajectory.py": "armdyn.report.figures",  # trajectory.plot
    "motion/torques.py": "armdyn.report.figures",  # breakdown.plot
    "sweeps/sweep_run.py": "armdyn.report.figures",  # sweep.plot
    "simulation/run.py": "armdyn.report.figures",  # run.plot
    "identification/fit/identify.py": "armdyn.report.pages",  # fit.report
    "identification/excitation/excite.py": "armdyn.report.figures",  # excitation.plot
}
"""Conveniences that import upwards, inside the method that needs it: module -> what it may import."""
HEAVY = {
    "matplotlib": ("report/figures/",),
    "mpl_toolkits": ("report/figures/",),
    "sympy": ("graph/", "equations/", "texts/elbaji/sympy_methods.py"),  # whose own mechanics is compared there
    "llvmlite": ("kernels/",),
}
"""Library -> the only places that may import it."""
MODULES = sorted(path for path in SOURCE.rglob("*.py*") if path.suffix in (".py", ".pyi") and path.parent != SOURCE)


class Import(NamedTuple):
    name: str
    lazy: bool
    """The import is inside a function, so it happens when the function is called."""


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def package_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].split(".")[0]


@cache
def imports(path: Path) -> list[Import]:
    """Everything a module imports; imports for type checkers only (`if TYPE_CHECKING:`) included."""
    return list(_imports(ast.parse(path.read_text(encoding="utf-8")), lazy=False))


def _imports(node: ast.AST, lazy: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"relative import in line {child.lineno}"
            yield from (Import(f"{child.module}.{alias.name}", lazy) for alias in child.names)
        else:
            if isinstance(child, ast.Call) and ast.unparse(child.func).endswith("import_module"):
                yield Import(_beginning(child.args[0]), lazy)
            yield from _imports(child, lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def _beginning(argument: ast.expr) -> str:
    """The constant text with which the argument of `import_module` begins: f"armdyn.formats.{ending}" says enough."""
    first = argument.values[0] if isinstance(argument, ast.JoinedStr) else argument
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "?"


def level_of(parts: Sequence[str]) -> int:
    """Level of a module, given by the parts of its name below `armdyn`."""
    return ROOMS.get(".".join(parts[:2]), LEVEL.get(parts[0], 99))


def is_below(name: str, place: str) -> bool:
    return name == place or name.startswith(f"{place}.")


def test_imports_point_downwards() -> None:
    upwards = []
    for path in MODULES:
        here = package_of(path)
        for name, lazy in imports(path):
            parts = name.split(".")
            if parts[0] != "armdyn" or len(parts) == 1 or parts[1] in ("IMPORTED", "__version__"):
                continue
            there = parts[1]
            if there in ("references", "public") or (here == "cli" and there in homes("armdyn")):
                continue
            own, other = level_of(path.relative_to(SOURCE).with_suffix("").parts), level_of(parts[1:])
            allowed = other <= own if there == here else other < own
            if not allowed and not (lazy and is_below(name, LAZY.get(name_of(path), "-"))):
                upwards.append(f"{name_of(path)} (level {own}) imports {name} (level {other})")
    assert upwards == []


def test_imports_by_name_are_seen() -> None:
    source = "from importlib import import_module\ndef find(name):\n    import_module(f'armdyn.{name}')"
    assert Import("armdyn.", lazy=True) in _imports(ast.parse(source), lazy=False)
    assert any(name == "armdyn.formats." for name, _ in imports(SOURCE / "formats" / "load_save.py"))


@pytest.mark.parametrize("module", LAZY)
def test_every_lazy_import_is_needed(module: str) -> None:
    """An exception that nobody uses any more goes."""
    assert any(lazy and is_below(name, LAZY[module]) for name, lazy in imports(SOURCE / module))


@pytest.mark.parametrize("library", HEAVY)
def test_heavy_libraries_stay_in_their_place(library: str) -> None:
    users = {name_of(path) for path in MODULES for name, _ in imports(path) if is_below(name, library)}
    assert users, "nobody imports it any more"
    assert {user for user in users if not user.startswith(HEAVY[library])} == set()


def test_every_package_has_a_level() -> None:
    assert {package_of(path) for path in MODULES} <= set(LEVEL)


def test_mechanics_knows_neither_numpy_nor_the_graph() -> None:
    for path in (SOURCE / "mechanics").glob("*.py"):
        if path.name not in ("quantity.py", "__init__.py"):  # where arrays are taken apart into scalars
            names = [name for name, _ in imports(path)]
            assert not [name for name in names if is_below(name, "numpy") or is_below(name, "armdyn.graph")], path.name


def test_verbs_share_no_code_but_that_of_shared_modules() -> None:
    shared = {"parse", "console", "verb"}
    for path in (SOURCE / "cli").glob("*.py"):
        if path.stem not in {"__init__", "command"}:  # these gather the verbs
            used = {name.removeprefix("armdyn.cli.").split(".")[0] for name, _ in imports(path)
                    if is_below(name, "armdyn.cli")}  # fmt: skip
            assert used <= shared, path.name


def test_a_constant_is_defined_once() -> None:
    """A second definition would change the first in silence."""
    twice = []
    for path in MODULES:
        statements = [node for node in ast.parse(path.read_text(encoding="utf-8")).body
                      if isinstance(node, ast.Assign | ast.AnnAssign)]  # fmt: skip
        names = [part for node in statements for part in ast.walk(node) if isinstance(part, ast.Name)]
        constants = [name.id for name in names if isinstance(name.ctx, ast.Store) and name.id.isupper()]
        twice += [f"{name_of(path)}: {name}" for name in set(constants) if constants.count(name) > 1]
    assert twice == []
