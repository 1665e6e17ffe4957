"""A package imports only from packages below it: the direction of ARCHITECTURE.md, enforced."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"

LEVEL = {
    "errors": 0,
    "conventions": 0,
    "typing": 0,
    "findings": 0,
    "tables": 0,
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
    "export": 7,
    "trajectory": 8,
    "control": 8,
    "motion": 9,
    "simulation": 9,
    "analysis": 10,
    "identification": 10,
    "sweeps": 10,
    "report": 11,
    "bench": 11,
    "reproduce": 12,
    "studio": 12,
    "cli": 13,
}
# Conveniences (robot.save, trajectory.plot, run.plot), imported when they are called.
LAZY = {
    ("robot", "formats"),
    ("trajectory", "report"),
    ("motion", "report"),
    ("simulation", "report"),
    ("identification", "report"),
}
HEAVY = {"matplotlib": {"report"}, "sympy": {"graph", "equations"}, "llvmlite": {"kernels"}}
MODULES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE)


def room(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downwards(path: Path) -> None:
    here = room(path)
    for name in imports(path):
        parts = name.split(".")
        if parts[0] == "armdyn" and len(parts) > 1 and parts[1] in LEVEL and parts[1] != here:
            allowed = LEVEL[parts[1]] < LEVEL[here] or (here, parts[1]) in LAZY
            assert allowed, f"{here} ({LEVEL[here]}) imports {parts[1]} ({LEVEL[parts[1]]})"
        if parts[0] in HEAVY:
            assert here in HEAVY[parts[0]], f"{parts[0]} is imported outside {HEAVY[parts[0]]}"


def test_every_package_has_a_level() -> None:
    rooms = {room(path) for path in MODULES}
    assert rooms <= set(LEVEL), f"packages without a level: {rooms - set(LEVEL)}"


def test_mechanics_knows_neither_numpy_nor_the_graph() -> None:
    for path in (SOURCE / "mechanics").glob("*.py"):
        if path.name in ("quantity.py", "__init__.py"):
            continue
        names = {name.split(".")[0] for name in imports(path)} | {".".join(n.split(".")[:2]) for n in imports(path)}
        assert not names & {"numpy", "armdyn.graph"}, path.name
