"""How many values a Parquet file says it holds, read from its footer.

pyarrow offers the same numbers, but where a description contradicts itself it ends the whole process instead of
raising an exception. The footer is a struct in Thrift's compact protocol, followed by its length and the file's mark.
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from armdyn.errors import FileError

MARK = b"PAR1"
LARGEST = 4 * 2**20
"""Bytes of a footer."""
DEEPEST = 16
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
ROW_GROUPS, COLUMNS, ABOUT_COLUMN, VALUES = 4, 1, 3, 5
"""Fields: of the file, of a row group, of a column in it, of its description."""


def declared_values(path: Path) -> int:
    """Values of all columns, also within lists, as the footer declares them."""
    footer = _Compact(_footer(path)).value(STRUCT)
    return sum(column[ABOUT_COLUMN][VALUES] for group in footer[ROW_GROUPS] for column in group[COLUMNS])


def _footer(path: Path) -> bytes:
    with path.open("rb") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 8, 0))
        tail = file.read(8)
        size = int.from_bytes(tail[:4], "little")
        if tail[4:] != MARK or size > end - 8:
            raise FileError("no description at its end", where=str(path), expected="a Parquet file, complete")
        if size > LARGEST:
            raise FileError(f"a description of {size} bytes", where=str(path), expected=f"at most {LARGEST}")
        file.seek(end - 8 - size)
        return file.read(size)


class _Compact:
    """Reads values one after the other; a struct is {field: value}, texts and maps are skipped."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def value(self, kind: int, depth: int = 0) -> Any:
        if depth > DEEPEST:
            raise ValueError("too deeply nested")
        if kind == STRUCT:
            return self._struct(depth)
        if kind in (LIST, SET):
            head = self._byte()
            size = head >> 4 if head >> 4 < 15 else self._varint()
            return [self.value(head & 15, depth + 1) for _ in range(self._possible(size))]
        if kind == MAP:
            size = self._possible(self._varint())
            kinds = self._byte() if size else 0
            for _ in range(size):
                self.value(kinds >> 4, depth + 1)
                self.value(kinds & 15, depth + 1)
            return None
        if kind in (BINARY, DOUBLE):
            size = self._possible(self._varint()) if kind == BINARY else 8
            self.at += size
            return None
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        number = self._varint()
        return number >> 1 ^ -(number & 1)

    def _struct(self, depth: int) -> dict[int, Any]:
        found: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            field = field + (head >> 4) if head >> 4 else self.value(BYTE + 1)
            kind = head & 15
            found[field] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth + 1)
        return found

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def _possible(self, size: int) -> int:
        """A size that fits into what is left: every element has at least one byte."""
        if size > len(self.data) - self.at:
            raise ValueError("a size beyond the end")
        return size


__all__ = ["declared_values"]
