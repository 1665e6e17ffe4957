"""`armdyn.robots`: the robots of the catalog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from armdyn import catalog
from armdyn.formats.load_save import read
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.robot.describe import types
from armdyn.robot.robot import Robot
from armdyn.tables import Column, Section


@dataclass(frozen=True)
class Robots(Result):
    """The robots of the catalog."""

    robots: tuple[Robot, ...]

    def __iter__(self) -> Iterator[Robot]:
        return iter(self.robots)

    def _view(self) -> View:
        columns = (Column("name"), Column("joints"), Column("types"), Column("source", folds=True))
        rows = tuple((robot.name, str(robot.n), types(robot), robot.source) for robot in self.robots)
        return View("Robots of the catalog", sections=(Section("", columns, rows),))

    def record(self) -> dict[str, Any]:
        """Name, number of joints, their types and the source of every robot."""
        rows = [{"name": r.name, "joints": r.n, "types": types(r), "source": r.source} for r in self.robots]
        return {"robots": rows}


def robots() -> Robots:
    """All robots of the catalog: `armdyn.load(name)` gives one of them."""
    return Robots(tuple(read(name) for name in catalog.names()))
