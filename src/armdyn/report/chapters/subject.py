"""The subject of a study: the robot, the folder of its report, and the results that several chapters share."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from armdyn.analysis.configurations import configurations, pose_table
from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.files import write_text
from armdyn.report.chapters.chapter import File
from armdyn.report.chapters.usual_motion import UsualMotion, usual_motion
from armdyn.report.figures.robot_figures import two_views
from armdyn.robot.robot import Robot
from armdyn.tables import Section
from armdyn.trajectory.trajectory import Trajectory
from armdyn.typing import Array, Progress


@dataclass(frozen=True, eq=False)
class Subject:
    """The robot under study. Shared results are computed at their first use and kept.

    robot: as it was loaded.
    folder: where the report and its files go; it exists.
    say: receives a few words about each step.
    given: motion that the chapters on torques, actuators and control are about (None: `usual_motion`).
    """

    robot: Robot
    folder: Path
    say: Callable[[str], object] = lambda step: None
    given: Trajectory | None = None

    @cached_property
    def shown(self) -> dict[str, Array]:
        """Named configurations at which the robot is shown."""
        return configurations(self.robot)

    @cached_property
    def views(self) -> list[str]:
        """Names of the one or two configurations that are drawn."""
        return two_views(self.robot, self.shown)

    @cached_property
    def poses(self) -> Section:
        """Tool positions at these configurations."""
        return pose_table(self.robot, self.shown)

    @cached_property
    def dyn(self) -> Dynamics:
        """The compiled dynamics."""
        return compiled(self.robot)

    @cached_property
    def motion(self) -> UsualMotion:
        """The motion that the chapters on torques, actuators and control are about."""
        if self.given is not None:
            return UsualMotion(self.given, "as given")
        return usual_motion(self.dyn)

    def progress(self, about: str) -> Progress:
        """Return a Progress that calls `say` with a prefix."""
        return lambda step, done: self.say(f"{about}: {step}")

    def text(self, name: str, text: str, what: str) -> File:
        """Write a text beside the report."""
        return File(write_text(self.folder / name, text), what)

    def table(self, name: str, section: Section, what: str) -> File:
        """Write a table of the report as CSV, units in the header."""
        heads = [f"{column.head} ({column.unit})" if column.unit else column.head for column in section.columns]
        return self.rows(name, heads, section.rows, what)

    def rows(self, name: str, heads: Sequence[str], rows: Iterable[Sequence[object]], what: str) -> File:
        """Write rows as CSV."""
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([heads, *rows])
        return self.text(name, out.getvalue(), what)
