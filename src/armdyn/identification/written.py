"""A robot file that was written, as it reads back: what identifications of single parts hand over."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.doctor import check
from armdyn.errors import ModelWarning
from armdyn.findings import Checkup
from armdyn.formats import load
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot import Robot


@dataclass(frozen=True, eq=False)
class Written(Result):
    """A robot's file. checkup: of the robot that the file gives back."""

    path: Path
    checkup: Checkup

    @property
    def fine(self) -> bool:
        """Whether the check-up finds nothing invalid."""
        return not any(finding.invalid for finding in self.checkup.findings)

    def _view(self) -> View:
        words = "no invalid values" if self.fine else "invalid values"
        return View(f"Written {self.path}", (words, self.fine), [("check-up", self.checkup.summary)])

    def record(self) -> dict[str, Any]:
        """The file and the findings of its check-up."""
        return {"path": str(self.path), "checkup": [finding.record() for finding in self.checkup.findings]}


def written(robot: Robot, path: str | Path) -> Written:
    """Write a robot, read the file back and check what was read."""
    file = robot.save(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # invalid bodies are findings of the check-up
        return Written(file, check(load(file)))
