"""Tables of numbers in text files, CSV and its relatives: read in any delimiter and encoding, written as CSV."""

from __future__ import annotations

import csv
import io
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import TextIO

import numpy as np

from armdyn.errors import FileError
from armdyn.files import reading, require_numbers, writing
from armdyn.typing import Array

DELIMITERS = (",", ";", "\t", None)
"""None: any blanks."""
LONGEST_LINE = 2**20
LOOK = 60
"""Lines at the head of a file among which its numbers must begin."""


def read(path: str | Path, *, interrupted: bool = False) -> dict[str, Array]:
    """Return the columns of a text file, (N,) each, by the names of its header, or as `column 0`, `column 1`, ...

    Empty cells are NaN.

    interrupted: the last line may be incomplete, as in a log whose writer was stopped; it is left out then.
    """
    source = Path(path)
    with reading(source, "a table of numbers as text"):
        return of_text(partial(source.open, encoding=encoding(source)), source, interrupted=interrupted)


def of_text(text: Callable[[], TextIO], path: Path, *, interrupted: bool = False) -> dict[str, Array]:
    """The columns of a text that can be opened again and again; path: the file that errors name."""
    head = _head(text, path)
    start, delimiter, comma = _layout(head, str(path))
    width = len(_cells(head[start], delimiter))
    with text() as file:
        lines = 1 + sum(block.count("\n") for block in iter(partial(file.read, 2**20), ""))
    require_numbers(path, width * lines, width)
    names = _names(head[:start], delimiter, width)
    with text() as file:
        values = _numbers(file, head[:start], delimiter, comma, width)
    if values is None:
        with text() as file:
            values = _row_by_row(file.readlines(), path, start, delimiter, comma, width, interrupted)
    return {name: values[:, k] for k, name in enumerate(names)}


def encoding(path: Path) -> str:
    """The encoding of a text from an office: UTF-8, UTF-16 with a mark at its beginning, or else Latin-1."""
    with path.open("rb") as file:
        names = ("utf-16",) if file.read(2) in (BOM_UTF16_LE, BOM_UTF16_BE) else ("utf-8-sig", "latin-1")
    for name in names:
        with suppress(UnicodeDecodeError), path.open(encoding=name) as text:
            if not any("\0" in block for block in iter(partial(text.read, 2**20), "")):
                return name
    raise FileError(
        "not a text",
        where=str(path),
        expected="a table as text, in UTF-8, UTF-16 with a mark at its beginning, or Latin-1",
        advice="Save it as .csv in UTF-8.",
    )


def numbered(columns: Mapping[str, Array], name: str) -> Array:
    """The columns name1, name2, ... side by side: (N, n); n is 0 if there is none."""
    names = takewhile(columns.__contains__, (f"{name}{k}" for k in count(1)))
    rows = len(next(iter(columns.values()), ()))
    return np.column_stack([np.empty((rows, 0)), *(columns[name] for name in names)])


def write(path: str | Path, columns: Mapping[str, Array], digits: int | None = None) -> Path:
    """Write columns, (N,) each, as CSV with a header of their names, and return the path.

    digits: significant digits (default: as many as are needed to read the same numbers again).
    """
    form = "{!r}" if digits is None else f"{{:.{digits}g}}"
    rows = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()]).tolist()
    with writing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows([form.format(x) for x in row] for row in rows)
    return Path(path)


# Parts of the reader --------------------------------------------------------------------------------------------------


def _head(text: Callable[[], TextIO], path: Path) -> list[str]:
    """The first lines."""
    with text() as file:
        lines = [file.readline(LONGEST_LINE + 1) for _ in range(LOOK)]
    for line_number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise FileError(
                f"more than {LONGEST_LINE} characters",
                where=f"{path}, line {line_number}",
                expected="a table of numbers, one line per sample",
            )
    return [line for line in lines if line]


def _cells(line: str, delimiter: str | None) -> list[str]:
    return [cell.strip().strip('"') for cell in line.strip("\r\n").split(delimiter)]


def _layout(head: list[str], where: str) -> tuple[int, str | None, bool]:
    """First line of numbers, the delimiter, and whether the decimal sign is a comma."""
    for k, line in enumerate(head):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = [
            (len(_cells(line, d)), -i, d, comma)
            for i, d in enumerate(DELIMITERS)
            for comma in (False, True)
            if (d != "," or not comma) and _all_numbers(_cells(line, d), comma)
        ]
        if found:
            _, _, delimiter, comma = max(found, key=lambda entry: (entry[0], entry[1], not entry[3]))
            return k, delimiter, comma
    raise FileError("no line of numbers", where=where, expected=f"a table of numbers within the first {LOOK} lines")


def _all_numbers(cells: list[str], comma: bool) -> bool:
    """All cells are numbers or empty, and at least one is a number."""
    return any(cells) and all(not cell or number(cell, comma) is not None for cell in cells)


def number(cell: str, comma: bool) -> float | None:
    """What a cell says, None if it is not a number; comma: that is its decimal sign."""
    try:
        return float(cell.replace(",", ".") if comma else cell)
    except ValueError:
        return None


def _names(lines: list[str], delimiter: str | None, width: int) -> list[str]:
    """The names in the last line above the numbers that has as many; a comment may be that line."""
    for line in reversed(lines):
        cells = _cells(line.lstrip("# \t"), delimiter)
        if len(cells) == width and all(cells) and len(set(cells)) == width:
            return cells
    return [f"column {k}" for k in range(width)]


def _numbers(file: TextIO, head: list[str], delimiter: str | None, comma: bool, width: int) -> Array | None:
    """(N, width) by the quick reader of NumPy; None where cells are empty or broken."""
    for _ in head:
        next(file)
    try:
        source = io.StringIO(file.read().replace(",", ".")) if comma else file
        values: Array = np.loadtxt(source, delimiter=delimiter, ndmin=2, quotechar='"')
    except ValueError:
        return None
    return values if values.shape[1] == width else None


def _row_by_row(
    lines: list[str], path: Path, start: int, delimiter: str | None, comma: bool, width: int, interrupted: bool
) -> Array:
    """The same with empty cells as NaN; a cell that is not a number is an error with its line."""
    rows: list[list[float]] = []
    for line_number, line in enumerate(lines[start:], start + 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        row = [number(cell, comma) if cell else np.nan for cell in _cells(line, delimiter)]
        if len(row) != width or None in row:
            if interrupted and line_number == len(lines) and len(row) <= width:
                break
            shown = re.sub(r"\s+", " ", line)[:80]
            raise FileError(f"{shown!r}", where=f"{path}, line {line_number}", expected=f"{width} numbers")
        rows.append([np.nan if x is None else x for x in row])
    return np.array(rows).reshape(-1, width)
