"""Workbooks, .xlsx: the cells of their first sheet, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from armdyn.errors import FileError, MissingExtra

LARGEST_SHEET = 100 * 2**20
"""Bytes that an .xlsx file may unpack to."""
BROKEN = ("#REF!", "#DIV/0!", "#VALUE!", "#N/A", "#NAME?", "#NULL!", "#NUM!")
"""What formulas show that have no value."""


def sheet(path: Path) -> Iterator[list[str]]:
    """Texts and numbers of the first sheet, "" where a cell is empty; dates and formulas without a value are refused.

    Formulas are not computed: their values are those that were saved.
    """
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra(
            "reading .xlsx needs openpyxl",
            where=str(path),
            expected="openpyxl to read workbooks",
            advice='pip install "armdyn[xlsx]", or save the sheet as .csv.',
        ) from None
    try:
        with ZipFile(path) as packed:
            if sum(entry.file_size for entry in packed.infolist()) > LARGEST_SHEET:
                raise FileError("it unpacks to too much", expected=f"at most {LARGEST_SHEET // 2**20} MiB")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        for number, row in enumerate(book.worksheets[0].iter_rows(values_only=True), start=1):
            for at, value in enumerate(row):
                if (value is not None and not isinstance(value, str | int | float)) or value in BROKEN:
                    raise FileError(
                        f"{value} is not a number",
                        where=f"cell {column_name(at)}{number}",
                        expected="a number or a text",
                        advice="Spreadsheets turn numbers such as 1.5 into dates; format the cell as a number.",
                    )
            yield ["" if value is None else repr(value) if isinstance(value, float) else str(value) for value in row]
    except (BadZipFile, KeyError, ValueError, OSError, IndexError) as error:
        raise FileError(f"not an .xlsx workbook: {error}", advice="Save the sheet again, or as .csv.") from None


def column_name(at: int) -> str:
    """A, B, ..., Z, AA, ... as spreadsheets count."""
    return (column_name(at // 26 - 1) if at >= 26 else "") + chr(ord("A") + at % 26)
