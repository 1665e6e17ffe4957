"""Where code lives: packages hold no logic of their own, and public names are listed once."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import armdyn
from armdyn import public

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"


def test_packages_hold_no_logic() -> None:
    """An `__init__.py` has a docstring, imports and `__all__`; that of armdyn also finds its public names."""
    for path in SOURCE.rglob("__init__.py"):
        if path.parent != SOURCE:
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert [ast.unparse(statement) for statement in body if not _allowed(statement)] == [], path


def _allowed(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        return ast.unparse(statement.targets[0]) == "__all__"
    docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return docstring or isinstance(statement, ast.Import | ast.ImportFrom)


def test_names_for_type_checkers_are_those_of_the_run_time() -> None:
    """`armdyn/__init__.py` imports for type checkers what `armdyn.public` imports on first use."""
    tree = ast.parse((SOURCE / "__init__.py").read_text(encoding="utf-8"))
    (block,) = (statement for statement in tree.body if isinstance(statement, ast.If))
    homes: dict[str, set[str]] = defaultdict(set)
    for statement in block.body:
        assert isinstance(statement, ast.ImportFrom) and statement.module
        assert all(alias.asname == alias.name for alias in statement.names), "re-export as the same name"
        homes[statement.module] |= {alias.name for alias in statement.names}
    assert homes.pop("armdyn") == set(public.PACKAGES)
    assert homes == {module: set(names) for module, names in public.HOME.items()}
    assert set(armdyn.__all__) == set(public.NAMES)
