"""`armdyn.show`: a robot as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from armdyn.markup import latex_tables
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.describe import sections, view
from armdyn.robot.dh_tables import Convention
from armdyn.robot.record_writer import record_from_robot
from armdyn.robot.robot import Robot


@dataclass(frozen=True)
class Description(Result):
    """A robot as tables. A description does not judge the robot, so it is always fine."""

    robot: Robot

    @property
    def fine(self) -> bool:
        return True

    def _view(self) -> View:
        return view(self.robot)

    def record(self) -> dict[str, Any]:
        """The robot with the keys of a robot file."""
        return record_from_robot(self.robot)

    def latex(self) -> str:
        """The tables in LaTeX; they need the package booktabs."""
        return latex_tables(sections(self.robot))


def show(robot: Robot, dh: Convention | None = None) -> Description:
    """The robot as tables: geometry, inertias, limits, actuators, friction, findings of the check-up, notes.

    dh: "modified" or "standard" describes the robot by a DH table of that convention.
    """
    return Description(robot if dh is None else robot.to_dh(dh))
