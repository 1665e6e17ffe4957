"""A robot's Denavit-Hartenberg table as the texts print it, with the joint variable in its place."""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section
from armdyn.texts.item import Check, equal

COLUMNS = (Column("joint"), Column("theta", "rad"), Column("d", "m"), Column("a", "m"), Column("alpha", "rad"))
Row = tuple[str, str, str, str]


def rows(robot: Robot, variables: Sequence[str]) -> tuple[Row, ...]:
    """theta, d, a, alpha of every joint in standard DH, in the symbols of the robot."""
    found = []
    for joint, variable in zip(robot.symbolic.joints, variables, strict=True):
        theta, d, a, alpha = (str(getattr(joint.geometry, name)) for name in ("theta", "d", "a", "alpha"))
        if joint.kind == "revolute":
            theta = _moved(theta, variable)
        else:
            d = _moved(d, variable)
        found.append((theta, d, a, alpha))
    return tuple(found)


def _moved(constant: str, variable: str) -> str:
    return variable if constant == "0" else f"{constant} + {variable}"


def compared(robot: Robot, variables: Sequence[str], printed: Sequence[Row]) -> tuple[tuple[Check, ...], Section]:
    """Comparison of the robot's table with the printed one, row by row, and the table for the page."""
    ours = rows(robot, variables)
    checks = tuple(
        equal(f"joint {i + 1}", ", ".join(a), ", ".join(b)) for i, (a, b) in enumerate(zip(ours, printed, strict=True))
    )
    table = tuple((str(i + 1), *row) for i, row in enumerate(ours))
    return checks, Section("Denavit-Hartenberg parameters", COLUMNS, table)
