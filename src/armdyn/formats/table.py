"""Robots in tables: one row per joint, in CSV, TSV or XLSX, with units in the headings or in a row below them.

`table_columns.toml` says which columns there are. Rows above the headings may give the robot's name, source,
convention, gravity, base, tool, and parameters that cells may use. A cell that cannot be right is an error that names
the cell.
"""

from __future__ import annotations

import csv
import io
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from armdyn.errors import ArmdynError, FileError, RobotError, unknown_name
from armdyn.files import regular_size
from armdyn.formats.text import LARGEST_FILE
from armdyn.formats.workbook import column_name, sheet
from armdyn.robot.expression import parse
from armdyn.robot.physical import invalid_findings
from armdyn.robot.record import robot_from_record
from armdyn.robot.robot import Robot
from armdyn.robot.units import fitting, in_si, unit
from armdyn.text_table import encoding

MOST_ROWS = 2000
"""Rows that are read: more than a robot has joints, so that a log is not taken for a robot."""
TYPES = {
    **dict.fromkeys(("revolute", "r", "rotary", "rotational", "drehgelenk", "rotatorisch"), "revolute"),
    **dict.fromkeys(("prismatic", "p", "linear", "sliding", "schubgelenk", "translatorisch"), "prismatic"),
    **dict.fromkeys(("fixed", "f", "fest"), "fixed"),
}
ABOVE = {
    **dict.fromkeys(("robot", "roboter", "name"), "name"),
    **dict.fromkeys(("source", "quelle"), "source"),
    **dict.fromkeys(("convention", "dh convention", "konvention"), "convention"),
    **dict.fromkeys(("gravity", "schwerkraft", "erdbeschleunigung"), "gravity"),
    **dict.fromkeys(("base", "basis"), "base"),
    **dict.fromkeys(("tool", "werkzeug"), "tool"),
    **dict.fromkeys(("parameter", "parameters"), "parameters"),
}
"""First cell of a row above the headings -> key of a robot file."""
TOGETHER = (("com.0", "com.1", "com.2"), ("inertia.0", "inertia.3", "inertia.5"))
"""Columns that make sense only side by side."""


@dataclass(frozen=True)
class TableColumn:
    """A column that a table may have; see `table_columns.toml`."""

    key: str
    headings: tuple[str, ...]
    says: str
    unit: str = ""
    required: bool = False

    @property
    def is_text(self) -> bool:
        return self.key in ("name", "type", "link", "parent")


class Cell(NamedTuple):
    """What a cell contains, stripped, and its name in a spreadsheet."""

    text: str
    place: str


class Heading(NamedTuple):
    """A column of the file: which one it is, and its units."""

    column: TableColumn
    units: tuple[str, ...]
    place: str


@cache
def columns() -> Mapping[str, TableColumn]:
    """The columns that tables may have, by their keys."""
    text = Path(__file__).with_name("table_columns.toml").read_text(encoding="utf-8")
    return {
        key: TableColumn(key, **{**each, "headings": tuple(each["headings"])})
        for key, each in tomllib.loads(text).items()
    }


def read(path: Path, free_root: bool | None = None) -> Robot:
    """Read the robot of a table; raises an error that names the cell."""
    try:
        rows = [row for row in _rows(path) if row and not row[0].text.startswith("#")]
        return _robot(rows)
    except ArmdynError as error:
        raise error.located(str(path)) from None


def write(robot: Robot, path: Path) -> None:
    raise FileError("a robot is not written as a table", where=str(path), expected="a .toml, .urdf or .xml file")


# Cells ----------------------------------------------------------------------------------------------------------------


def _rows(path: Path) -> Iterator[list[Cell]]:
    """The cells of each row that are not empty."""
    regular_size(path, LARGEST_FILE)
    raw = sheet(path) if path.suffix.lower() == ".xlsx" else _lines(path)
    for number, row in enumerate(raw, start=1):
        if number > MOST_ROWS:
            raise FileError(f"more than {MOST_ROWS} rows", expected="a robot: one row per joint")
        cells = (Cell(str(text).strip(), f"cell {column_name(at)}{number}") for at, text in enumerate(row))
        yield [cell for cell in cells if cell.text]


def _lines(path: Path) -> Iterator[list[str]]:
    """Rows of a text file in one of the encodings of offices."""
    text = path.read_text(encoding=encoding(path))
    delimiter = max(";\t,", key=lambda sign: (text.count(sign) if sign != "," else 0, sign == ","))
    try:
        yield from csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise FileError(f"not a table: {error}", expected="one row per joint") from None


def number(cell: Cell) -> Fraction:
    """A decimal number; comma and point are both decimal signs, and what could be either is refused."""
    text = cell.text.replace("\N{MINUS SIGN}", "-").replace("\xa0", "").replace(" ", "")
    if re.fullmatch(r"[-+]?\d{1,3}(?:[.,]\d{3})*[.,]\d+", text) and ("." in text and "," in text):
        raise RobotError(
            f"{cell.text!r} has a point and a comma",
            where=cell.place,
            expected="one decimal sign and no sign for thousands",
            advice=f"Write {re.sub('[.,](?=.*[.,])', '', text)}.",
        )
    if re.fullmatch(r"[-+]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][-+]?\d{1,3})?", text) is None:
        raise RobotError(
            f"{cell.text[:40]!r} is not a number", where=cell.place, expected="a number such as 0.25 or 0,25"
        )
    return Fraction(text.replace(",", "."))


# Headings -------------------------------------------------------------------------------------------------------------


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    """A heading and its units: "d [mm]", "q_min (deg, mm)", "mass / kg"."""
    match = re.fullmatch(r"(.*?)\s*(?:\[([^\]]*)\]|\(([^)]*)\)|/\s+(.+)|\s+in\s+(\S+))?", text.strip())
    assert match is not None
    units = next((each for each in match.groups()[1:] if each), "")
    name = re.sub(r"[\s_.\-]+", " ", match[1].lower()).strip()
    return name, tuple(each.strip() for each in re.split(r"[,;|]", units) if each.strip() not in ("", "-", "–"))


def _headings(rows: list[list[Cell]]) -> tuple[int, dict[str, Heading]]:
    """The row of headings, and its columns by the letter of their cells."""
    known = {name: column for column in columns().values() for name in column.headings}
    at = next((i for i, row in enumerate(rows) if _is_heading(row, known)), None)
    if at is None:
        raise FileError(
            "no row of headings",
            expected="a row with headings such as joint, theta [deg], d [mm], a [mm], alpha [deg], mass [kg]",
            advice="`armdyn template robot.csv` writes an empty table.",
        )
    found: dict[str, Heading] = {}
    for cell in rows[at]:
        name, units = _split(cell.text)
        if name not in known:
            raise unknown_name("heading", name, known, where=cell.place)
        twice = [each for each in found.values() if each.column is known[name]]
        if twice:
            raise RobotError(f"{cell.text!r} stands also in {twice[0].place}", where=cell.place, expected="one column")
        found[_letter(cell)] = Heading(known[name], units, cell.place)
    present = {heading.column.key for heading in found.values()}
    for group in TOGETHER:
        missing = [key for key in group if key not in present]
        if 0 < len(missing) < len(group):
            raise RobotError(
                f"the column {columns()[missing[0]].headings[0]!r} is missing",
                where=next(h.place for h in found.values() if h.column.key in group),
                expected=", ".join(columns()[key].headings[0] for key in group),
            )
    return at, found


def _is_heading(row: list[Cell], known: Mapping[str, TableColumn]) -> bool:
    """Whether at least two cells, and half of the row, are known headings."""
    return sum(_split(cell.text)[0] in known for cell in row) >= max(2, len(row) // 2)


def _letter(cell: Cell) -> str:
    return cell.place.removeprefix("cell ").rstrip("0123456789")


def _with_units_row(row: list[Cell], headings: dict[str, Heading]) -> dict[str, Heading] | None:
    """The headings with the units of the row below them, or None if that row is not one of units."""
    units: dict[str, tuple[str, ...]] = {}
    for cell in row:
        heading = headings.get(_letter(cell))
        words = tuple(each.strip() for each in re.split(r"[,;|]", cell.text.strip("[]()")))
        if heading is None or heading.column.is_text:
            if cell.text.lower() not in ("unit", "units", "einheit", "einheiten", "-"):
                return None
        elif cell.text not in ("-", "–"):
            try:
                [unit(each) for each in words]
            except ArmdynError:
                return None
            if cell.text != "1":
                units[_letter(cell)] = words
    if not units:
        return None
    return {at: each._replace(units=units.get(at, each.units)) for at, each in headings.items()}


# Values ---------------------------------------------------------------------------------------------------------------


def _robot(rows: list[list[Cell]]) -> Robot:
    at, headings = _headings(rows)
    record: dict[str, Any] = {"parameters": {}}
    for row in rows[:at]:
        key, value = _above(row)
        if key != "parameters":
            record[key] = value
        elif value[0] in record["parameters"]:
            raise RobotError(f"the parameter {value[0]!r} is given twice", where=row[0].place, expected="one row")
        else:
            record["parameters"][value[0]] = value[1]
    below = rows[at + 1 :]
    if below and (measured := _with_units_row(below[0], headings)) is not None:
        headings, below = measured, below[1:]
    joints: list[dict[str, Any]] = []
    places: dict[str, str] = {}
    for row in below:
        entry = _joint(row, headings, record["parameters"])
        name = entry.setdefault("name", f"joint{len(joints) + 1}")
        if name in places:
            raise RobotError(
                f"{name!r} stands also in {places[name]}", where=row[0].place, expected="a name of its own"
            )
        places[name] = row[0].place
        joints.append(entry)
    try:
        robot = robot_from_record({**record, "joint": joints})
    except ArmdynError as error:
        raise _in_row(error, places) from None
    for joint in robot.movable:
        limits = joint.limits
        if limits and None not in (limits.lower, limits.upper) and not limits.lower < limits.upper:
            where = f"row of {places[joint.name]}, joint {joint.name!r}"
            raise RobotError("the lower limit is not below the upper one", where=where, expected="lower < upper")
    for finding in invalid_findings(robot):
        raise _in_row(
            RobotError(finding.what, where=finding.where, expected=finding.condition, advice=finding.advice), places
        )
    return robot


def _in_row(error: ArmdynError, places: Mapping[str, str]) -> ArmdynError:
    """The error with the first cell of the row whose joint it names."""
    for name, place in places.items():
        if f"'{name}'" in (error.where or ""):
            return error.located(f"row of {place}")
    return error


def _above(row: list[Cell]) -> tuple[str, Any]:
    """A key and its value from a row above the headings."""
    name, units = _split(row[0].text)
    if name not in ABOVE:
        raise unknown_name("setting above the headings", name, ABOVE, where=row[0].place)
    key = ABOVE[name]
    if key in ("name", "source", "convention"):
        text = row[1].text if len(row) > 1 else ""
        return key, text.lower() if key == "convention" else text
    if key == "parameters":
        return key, _parameter(row)
    if len(row) != 4:
        raise RobotError(f"{len(row) - 1} numbers", where=row[0].place, expected="three numbers, one per cell")
    measured = fitting(units, "gravity" if key == "gravity" else "xyz") if units else unit("1")
    vector = [in_si(number(cell), measured) for cell in row[1:]]
    return key, vector if key == "gravity" else {"xyz": vector}


def _parameter(row: list[Cell]) -> tuple[str, str]:
    """Name and value of a row such as: parameter; l2; 400 mm. It is an expression in SI units."""
    if len(row) != 3 or not re.fullmatch(r"[A-Za-z_]\w*", row[1].text, re.ASCII):
        where = row[min(1, len(row) - 1)].place
        raise RobotError("not a parameter", where=where, expected="a name and a value, as in parameter; l2; 400 mm")
    text = row[2].text
    own = re.fullmatch(r"([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*([A-Za-z°].*|)", text)
    if own is None:
        return row[1].text, text.removeprefix("=").replace("^", "**")
    try:
        return row[1].text, in_si(number(Cell(own[1], row[2].place)), unit(own[2] or "1"))
    except ArmdynError as error:
        raise error.located(row[2].place) from None


def _joint(row: list[Cell], headings: Mapping[str, Heading], parameters: Mapping[str, str]) -> dict[str, Any]:
    """The record of a joint from its row; a cell with a parameter is an expression in SI units."""
    cells = {_letter(cell): cell for cell in row}
    line = row[0].place.removeprefix("cell ").lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    joint: dict[str, Any] = {}
    if stray := sorted(set(cells) - set(headings)):
        text, place = cells[stray[0]]
        raise RobotError(f"{text[:40]!r} stands under no heading", where=place, expected="an empty cell")
    for at, heading in sorted(headings.items(), key=lambda entry: entry[1].column.key != "type"):  # units depend on it
        key, cell = heading.column.key, cells.get(at)
        if cell is None:
            if heading.column.required:
                raise RobotError("the cell is empty", where=f"cell {at}{line}", expected=f"{key}, 0 if there is none")
        elif key == "type":
            if cell.text.lower() not in TYPES:
                raise unknown_name("joint type", cell.text, TYPES, where=cell.place)
            joint[key] = TYPES[cell.text.lower()]
        elif heading.column.is_text:
            joint[key] = cell.text
        elif parameters.keys() & set(re.findall(r"[A-Za-z_]\w*", cell.text)):
            _put(joint, key, _expression(cell, parameters))
        else:
            turns = key.startswith("motor.") or joint.get("type") != "prismatic"
            _put(joint, key, _value(cell, heading, "revolute" if turns else "prismatic"))
    for vector, count in (("com", 3), ("inertia", 6)):
        if vector in joint:
            joint[vector] = [joint[vector].get(str(i), 0) for i in range(count)]
    return joint


def _expression(cell: Cell, parameters: Mapping[str, str]) -> str:
    """The text of a cell with parameters, in the grammar of robot files: spreadsheets write powers as ^."""
    text = cell.text.removeprefix("=").replace("^", "**")
    try:
        parse(text, parameters)
    except ArmdynError as error:
        raise error.located(cell.place) from None
    return text


def _value(cell: Cell, heading: Heading, kind: str) -> str:
    """The number of a cell in SI; the cell's own unit goes before that of its column."""
    own = re.fullmatch(r"(.*?\d[.,]?)\s*([A-Za-z°].*)", cell.text)
    units = heading.units
    if own is not None and re.fullmatch(r"[eE][-+]?\d+", own[2]) is None:
        cell, units = Cell(own[1], cell.place), (own[2],)
    try:
        measured = fitting(units, _short(heading.column.key), kind) if units else unit("1")
    except ArmdynError as error:
        raise error.located(cell.place if own else heading.place) from None
    return in_si(number(cell), measured)


def _short(key: str) -> str:
    """The key by which `units` knows it: "com" for com.0, "lower" for limits.lower."""
    head, _, tail = key.partition(".")
    return head if tail.isdigit() or not tail else tail


def _put(joint: dict[str, Any], key: str, value: str) -> None:
    head, _, tail = key.partition(".")
    if tail:
        joint.setdefault(head, {})[tail] = value
    else:
        joint[head] = value
