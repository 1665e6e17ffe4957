"""Transmission between motors and joints: qd = J qd_m. Khalil (7.31)

J is the robot's `coupling`, gears included; without one it is diagonal with 1/ratio of the rotors.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from armdyn.algebra import Scalar, elimination
from armdyn.algebra.ops import div
from armdyn.robot.robot import Robot

Rows = list[list[Scalar]]


def coupling_rows(robot: Robot) -> Rows:
    """Return the rows of J, (n, n): joint rates from motor rates."""
    if robot.coupling:
        return [list(row) for row in robot.coupling]
    return _diagonal([div(1, ratio) for ratio in _ratios(robot)])


def inverse_rows(robot: Robot) -> Rows:
    """Return the rows of J^-1, (n, n): motor rates from joint rates."""
    if not robot.coupling:
        return _diagonal(_ratios(robot))
    where = f"robot {robot.name!r}, coupling"
    if all(type(x) is float for row in robot.coupling for x in row):
        return [list(row) for row in _inverse_of_floats(robot.coupling, where)]
    return elimination.inverse(robot.coupling, where)


@lru_cache(maxsize=64)
def _inverse_of_floats(coupling: Sequence[Sequence[float]], where: str) -> Rows:
    """The inverse, made once: a regressor asks for it once per motor. Of floats alone, since 1 and 1.0 are equal."""
    return elimination.inverse(coupling, where)


def _ratios(robot: Robot) -> list[Scalar]:
    return [1 if joint.rotor is None else joint.rotor.ratio for joint in robot.joints]


def _diagonal(entries: Sequence[Scalar]) -> Rows:
    return [[x if i == j else 0 for j in range(len(entries))] for i, x in enumerate(entries)]
