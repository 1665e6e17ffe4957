"""`armdyn.template`: an empty table for a robot, with an explanation of each column."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armdyn.errors import MissingExtra
from armdyn.files import writing
from armdyn.formats.table import TableColumn, columns
from armdyn.notebook_view import View
from armdyn.result import Result
from armdyn.tables import Column, Section


@dataclass(frozen=True)
class Template(Result):
    """The columns that a table of a robot may have."""

    columns: tuple[TableColumn, ...]
    file: Path | None = None

    def _view(self) -> View:
        facts = [("empty table", str(self.file))] if self.file else []
        shown = (Column("heading"), Column("what it is", folds=True), Column("also", folds=True))
        rows = tuple((_heading(each), each.says, ", ".join(each.headings[1:])) for each in self.columns)
        notes = (
            "One row per joint. Units may stand in the headings, in a row below them, or behind a number.",
            "Rows above the headings may give: robot, source, convention (standard or modified), gravity, base, tool,",
            "parameter (as in: parameter; l2; 400 mm). Cells may then be expressions in SI units, such as -l2/2.",
            "Columns that a robot does not need may be deleted.",
        )
        return View("Table of a robot", facts=facts, sections=(Section("Columns", shown, rows),), notes=notes)

    def record(self) -> dict[str, Any]:
        """Key, heading, unit and explanation of every column."""
        rows = [{"key": e.key, "heading": _heading(e), "unit": e.unit, "says": e.says} for e in self.columns]
        return {"columns": rows, "file": None if self.file is None else str(self.file)}

    def save(self, path: str | Path) -> Path:
        """Write an empty table, .csv, .tsv or .xlsx, which `load` reads once its rows are filled in."""
        path = Path(path)
        headings = [_heading(each) for each in self.columns]
        if path.suffix.lower() == ".xlsx":
            return self._save_workbook(path, headings)
        with writing(path) as part, part.open("w", newline="", encoding="utf-8-sig") as file:
            out = csv.writer(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ";", lineterminator="\n")
            out.writerows([f"# {heading}: {each.says}"] for heading, each in zip(headings, self.columns, strict=True))
            out.writerows(
                [["robot", path.stem], ["convention", "standard"], ["gravity [m/s^2]", 0, 0, -9.81], headings]
            )
        return path

    def _save_workbook(self, path: Path, headings: list[str]) -> Path:
        try:
            from openpyxl import Workbook
            from openpyxl.comments import Comment
        except ImportError:
            raise MissingExtra(
                "writing .xlsx needs openpyxl", advice='pip install "armdyn[xlsx]", or write a .csv file.'
            ) from None
        book = Workbook()
        sheet = book.active
        for row in (["robot", path.stem], ["convention", "standard"], ["gravity [m/s^2]", 0, 0, -9.81], headings):
            sheet.append(row)
        for cell, each in zip(sheet[4], self.columns, strict=True):
            cell.comment = Comment(each.says, "armdyn")
            sheet.column_dimensions[cell.column_letter].width = max(10, len(cell.value) + 2)
        with writing(path) as part, part.open("wb") as file:
            book.save(file)
        return path


def template(file: str | Path | None = None) -> Template:
    """The columns of a robot in a table.

    file: .csv, .tsv or .xlsx, written as an empty table to fill in (default: none).

    >>> template().columns[4].headings[0]
    'theta'
    """
    made = Template(tuple(columns().values()), None if file is None else Path(file))
    if made.file is not None:
        made.save(made.file)
    return made


def _heading(column: TableColumn) -> str:
    return f"{column.headings[0]} [{column.unit}]" if column.unit else column.headings[0]
