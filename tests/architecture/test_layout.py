"""Where code lives: packages hold no logic of their own."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"


def test_packages_hold_no_logic() -> None:
    """An `__init__.py` has a docstring, imports and `__all__`, or attaches the names of its `__init__.pyi`."""
    for path in SOURCE.rglob("__init__.py"):
        if path.parent != SOURCE:
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert [ast.unparse(statement) for statement in body if not _allowed(statement)] == [], path


def _allowed(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) == "__all__"
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        return ast.unparse(statement.value.func) in ("attach", "import_module")
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return docstring or isinstance(statement, ast.Import | ast.ImportFrom)


def test_equivalent_mutants_are_mutants() -> None:
    """A line that has changed since is to be judged anew."""
    listed = tomllib.loads((SOURCE.parents[1] / "tools" / "equivalent_mutants.toml").read_text(encoding="utf-8"))
    for name in listed["equivalent"]:
        file, _, rest = name.partition(": ")
        lines = {line.strip() for line in (SOURCE / file).read_text(encoding="utf-8").splitlines()} - {""}
        assert any(rest.startswith(f"{line}: ") for line in lines), name
