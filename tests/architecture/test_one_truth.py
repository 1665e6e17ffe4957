"""One fact, one place: what is decided about limits, ranges, rotations, task rows and reach is defined once."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "armdyn"
TREES = {path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
         for path in sorted(SOURCE.rglob("*.py"))}  # fmt: skip

HOMES = {
    r"_?(joint_)?ranges?": {"doctor/checkup.py"},  # the findings about ranges
    r"_?(position|velocity|torque|motion)_limits|_?STROKE|_?NO_LIMITS|CAREFUL|USUAL_RATES|MODERATE": {
        "robot/limits.py",
        "simulation/arguments.py",  # _torque_limits: reads the option, and asks robot/limits.py
    },
    r"working_range|half_span|start_position|joint_(names|units|vector)|limit_vector": {"robot/limits.py"},
    r"_?reach": {"kinematics/reach.py"},
    r"_?rotation_vector|_?rotvec|_?log_so3": {"kinematics/rotations.py"},
    r"ROWS|TASK_ROWS|row_mask|_rows_of_task|SINGULAR_RATIO|FLAT": {"kinematics/task_rows.py"},
    r"_?coupling_rows|_?inverse_rows|_ratios": {"robot/transmission.py", "robot/limits.py"},
}
"""Names (of functions and constants, whole) and the modules that may define them."""


def defined(tree: ast.Module) -> set[str]:
    """Functions and constants at the top level of a module."""
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            names |= {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    return names


@pytest.mark.parametrize("pattern", HOMES)
def test_each_of_these_is_defined_in_its_home_alone(pattern: str) -> None:
    found = defaultdict(set)
    for module, tree in TREES.items():
        for name in defined(tree):
            if re.fullmatch(pattern, name) and not module.startswith("texts/"):
                found[module].add(name)
    assert set(found) <= HOMES[pattern], {
        module: names for module, names in found.items() if module not in HOMES[pattern]
    }


def test_nobody_else_reads_the_limits_of_a_joint() -> None:
    """`joint.limits` and the limits of `joint.motor` are read where robots are described, checked and written, and in
    robot/limits.py; everybody else asks the latter. A log is compared with what its joint's file says.
    """
    allowed = ("robot/", "formats/", "mechanics/coupling.py", "doctor/")
    readers = set()
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute):
                pair = node.value.attr, node.attr
                of_joint = pair[0] == "limits" and pair[1] in ("lower", "upper", "velocity", "acceleration", "torque")
                base = ast.unparse(node.value.value)
                of_joint = of_joint and "joint" in base
                if of_joint or (pair[0] == "motor" and pair[1] in ("torque", "speed", "current")):
                    readers.add(module)
    assert {module for module in readers if not module.startswith(allowed)} == set()


def test_units_of_joints_are_written_once() -> None:
    """No `"rad" if joint.kind == "revolute" else "m"` outside robot/limits.py."""
    copies = set()
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.IfExp) and "revolute" in ast.unparse(node.test):
                values = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                if values & {"rad", "rad/s", "N m"} and values & {"m", "m/s", "N"}:
                    copies.add(module)
    assert copies == set()
