"""What a report is put together from: the subject that all chapters look at, and what one chapter gives."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from armdyn.dynamics import Dynamics
from armdyn.dynamics import compile as compiled
from armdyn.errors import FileError, NotApplicable
from armdyn.formats import ModelWarning
from armdyn.report.chapters.configurations import configurations
from armdyn.robot.robot import Robot
from armdyn.tables import Section
from armdyn.typing import Array

OPENED = "The robot has closed loops. They are left open here: this is about the tree that remains."


@dataclass(frozen=True)
class Fact:
    """One of the key facts of the summary. good: whether it is a good one; None if it is no verdict."""

    label: str
    text: str
    remark: str = ""
    good: bool | None = None


@dataclass(frozen=True)
class File:
    """A file beside the report, and what is in it."""

    path: Path
    what: str


@dataclass(frozen=True)
class Chapter:
    """What a chapter gives: blocks of HTML, facts for the summary, files, remarks for the notes, and numbers for
    study.json.
    """

    blocks: Sequence[str]
    facts: Sequence[Fact] = ()
    files: Sequence[File] = ()
    notes: Sequence[str] = ()
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Subject:
    """The robot that is studied, the folder for files, and what several chapters need, made when first asked for."""

    robot: Robot
    folder: Path
    say: Callable[[str], object] = lambda step: None
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """What one chapter made and others use."""

    @cached_property
    def shown(self) -> dict[str, Array]:
        """Named configurations at which the robot is looked at."""
        return configurations(self.robot)

    @cached_property
    def dyn(self) -> Dynamics:
        """The compiled dynamics; of the opened tree, if there are loops (`opened` says so)."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return compiled(self.robot)

    @cached_property
    def opened(self) -> str:
        """A sentence for chapters about the tree of a robot with loops; else empty."""
        return OPENED if self.robot.loops else ""

    def saying(self, about: str) -> Callable[[str], object]:
        """`say`, with what it is about in front."""
        return lambda step: self.say(f"{about}: {step}")

    def closed_only(self, what: str) -> None:
        """Leave a chapter that makes no sense for a tree whose loops were opened."""
        if self.robot.loops:
            raise NotApplicable(f"{what} of the opened tree would say nothing about the closed chain",
                                where=f"robot {self.robot.name!r}",
                                advice="armdyn.mechanics.closed_chain has the dynamics of closed chains")  # fmt: skip

    def text(self, name: str, text: str, what: str) -> File:
        """Write a text beside the report."""
        path = self.folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
        return File(path, what)

    def table(self, name: str, section: Section, what: str) -> File:
        """Write a table of the report as CSV, units in the heads."""
        heads = [f"{column.head} ({column.unit})" if column.unit else column.head for column in section.columns]
        return self.rows(name, heads, section.rows, what)

    def rows(self, name: str, heads: Sequence[str], rows: Iterable[Sequence[object]], what: str) -> File:
        """Write rows as CSV."""
        path = self.folder / name
        try:
            with path.open("w", newline="", encoding="utf-8") as file:
                out = csv.writer(file, lineterminator="\n")
                out.writerow(heads)
                out.writerows(rows)
        except OSError as error:
            raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
        return File(path, what)
