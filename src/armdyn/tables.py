"""Tables as data: one description serves the plain text, the terminal and the page."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any

WIDTH = 112
"""Characters that a plain table may use before its texts are folded."""
ROUNDING = 1e-12
"""Part of its scale up to which a number is what rounding leaves of a zero."""
_NARROWEST = 16
_GAP = "  "
_EQUALS = "\u00a0=\u00a0"
_LAST = ("type", "parent", "body")
_NUMBER = re.compile(r"[-+]?(?P<whole>\d+)(?P<rest>\.?\d*(?:e[-+]?\d+)?)")


@dataclass(frozen=True, slots=True)
class Column:
    """The head of a column. folds: its texts may be broken into lines."""

    head: str
    unit: str = ""
    folds: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A titled table of texts; `note` stands below it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    @property
    def cells(self) -> list[tuple[str, ...]]:
        """The texts column by column; of a table without rows none in each."""
        return list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)

    def aligned(self) -> Section:
        """The same table with columns of numbers padded so that their decimal points stand below one another."""
        columns = [_aligned(list(cells)) for cells in self.cells]
        return Section(self.title, self.columns, tuple(zip(*columns, strict=True)), self.note)

    def filled(self) -> Section:
        """The same table without columns that are empty."""
        kept = [k for k, cells in enumerate(self.cells) if any(cells) or not self.rows]
        columns = tuple(self.columns[k] for k in kept)
        return Section(self.title, columns, tuple(tuple(row[k] for k in kept) for row in self.rows), self.note)


def without_rounding(numbers: Iterable[Any], scale: float | None = None, part: float = ROUNDING) -> list[Any]:
    """Numbers to be printed: 0 where they are at most a part of their scale. Symbols stay as they are.

    scale: size of what they are computed from; None: the largest of them.

    >>> without_rounding([2.0, 3e-17, -0.001])
    [2.0, 0, -0.001]
    """
    found = list(numbers)
    sizes = (abs(x) for x in found if isinstance(x, int | float) and math.isfinite(x))
    least = part * (max(sizes, default=0.0) if scale is None else scale)
    return [0 if isinstance(x, float) and abs(x) <= least else x for x in found]


def at_most(bound: float, digits: int = 4) -> str:
    """An upper bound with so many digits, rounded up: what is printed is proven too.

    >>> at_most(0.95741, 3), at_least(0.95789, 3)
    ('0.958', '0.957')
    """
    return f"{float(Context(digits, ROUND_CEILING).create_decimal(float(bound))):.{digits}g}"


def at_least(bound: float, digits: int = 4) -> str:
    """A lower bound with so many digits, rounded down."""
    return f"{float(Context(digits, ROUND_FLOOR).create_decimal(float(bound))):.{digits}g}"


def is_numeric(cells: Iterable[str]) -> bool:
    """True for a column of numbers (empty cells do not matter)."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(_NUMBER.fullmatch(cell.strip()) for cell in filled)


def _aligned(cells: list[str]) -> list[str]:
    if not is_numeric(cells):
        return cells
    split = [re.match(r"([-+]?\d*)(.*)", cell) for cell in cells]
    heads, tails = zip(*((m[1], m[2]) if m else ("", "") for m in split), strict=True)
    left, right = max(map(len, heads)), max(map(len, tails))
    return [head.rjust(left) + tail.ljust(right) for head, tail in zip(heads, tails, strict=True)]


def render(section: Section, width: int = WIDTH) -> str:
    """The table as plain text: title, heads, units, a line, the rows, the note."""
    table = section.aligned()
    cells = table.cells
    widths = _widths(table.columns, cells, width)
    numeric = [is_numeric(column) for column in cells]
    lines = [section.title] if section.title else []
    lines += _line([column.head for column in table.columns], widths, numeric)
    if any(column.unit for column in table.columns):
        lines += _line([column.unit for column in table.columns], widths, numeric)
    lines.append("-" * (sum(widths) + len(_GAP) * (len(widths) - 1)))
    tall = any(len(cell) > size for column, size in zip(cells, widths, strict=True) for cell in column)
    for i, row in enumerate(table.rows):
        lines += [""] if tall and i else []
        lines += _line(row, widths, numeric)
    if section.note:
        lines += textwrap.wrap(section.note, width)
    return "\n".join(line.rstrip() for line in lines)


def split(section: Section, width: int = WIDTH, gap: int = len(_GAP)) -> Iterator[Section]:
    """The table, or several that fit the width, each with the names of the rows in front.

    Texts that fold need no splitting. What is asked for least gives way first: types, parents, bodies.
    """
    section = section.aligned()
    heads = [column.head for column in section.columns]
    cells = section.cells
    sizes = [max(map(len, (c.head, c.unit, *texts))) + gap for c, texts in zip(section.columns, cells, strict=True)]
    if sum(sizes) <= width + gap or any(column.folds for column in section.columns):
        yield section
        return
    names = [i for i, head in enumerate(heads) if head == "#" or (i < 2 and head in ("joint", "body"))] or [0]
    group = list(names)
    title = section.title
    for i in sorted((i for i in range(len(heads)) if i not in names), key=lambda i: heads[i] in _LAST):
        if len(group) > len(names) and sum(sizes[k] for k in group) + sizes[i] > width + gap:
            yield _chosen(section, group, title, "")
            group, title = list(names), ""
        group.append(i)
    yield _chosen(section, group, title, section.note)


def _chosen(section: Section, indices: Sequence[int], title: str, note: str) -> Section:
    rows = tuple(tuple(row[i] for i in indices) for row in section.rows)
    return Section(title, tuple(section.columns[i] for i in indices), rows, note)


def _widths(columns: Sequence[Column], cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """What each column needs; those that fold give way until the table fits."""
    widths = [max(map(len, (head.head, head.unit, *column))) for head, column in zip(columns, cells, strict=True)]
    spare = width - sum(widths) - len(_GAP) * (len(widths) - 1)
    while spare < 0:
        folding = [i for i, column in enumerate(columns) if column.folds and widths[i] > _NARROWEST]
        if not folding:
            break
        widest = max(folding, key=widths.__getitem__)
        widths[widest] -= 1
        spare += 1
    return widths


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    """One row as lines of text, folded where a cell is wider than its column."""
    folded = [
        [cell] if len(cell) <= size else textwrap.wrap(cell, size) or [""]
        for cell, size in zip(row, widths, strict=True)
    ]
    lines = []
    for i in range(max(map(len, folded))):
        parts = [column[i] if i < len(column) else "" for column in folded]
        padded = [
            part.rjust(size) if right else part.ljust(size)
            for part, size, right in zip(parts, widths, numeric, strict=True)
        ]
        lines.append(_GAP.join(padded))
    return lines


def paragraph(label: str, text: str, indent: int, width: int = WIDTH) -> str:
    """A labelled text with a hanging indent; `name = value` stays on one line."""
    together = text.replace(" = ", _EQUALS)
    lines = textwrap.wrap(together, max(width - indent, _NARROWEST)) or [""]
    return "\n".join(
        ((label if i == 0 else "").ljust(indent) + line.replace(_EQUALS, " = ")).rstrip()
        for i, line in enumerate(lines)
    )
