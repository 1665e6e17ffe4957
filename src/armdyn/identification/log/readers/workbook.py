"""Tables of numbers in .xlsx workbooks: the first sheet, read as if it had been saved as text."""

from __future__ import annotations

import io
from functools import partial
from itertools import zip_longest
from pathlib import Path

from armdyn import text_table
from armdyn.errors import ArmdynError
from armdyn.files import require_numbers
from armdyn.formats.workbook import sheet
from armdyn.identification.log.columns import Raw


def read_workbook(path: Path) -> Raw:
    """The columns of the first sheet by their headings; columns without any number are left out."""
    rows: list[list[str]] = []
    try:
        for row in sheet(path):
            rows.append([" ".join(cell.split()) for cell in row])
            require_numbers(path, len(rows) * len(row), len(row))
    except ArmdynError as error:
        raise error.located(str(path)) from None
    used = [
        column
        for column in zip_longest(*rows, fillvalue="")
        if any(text_table.number(cell, True) is not None for cell in column)
    ]
    text = "\n".join("\t".join(row) for row in zip(*used, strict=True))
    return text_table.of_text(partial(io.StringIO, text), path)


__all__ = ["read_workbook"]
