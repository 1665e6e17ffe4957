"""Reads a Parquet file in a process of its own: `python -m ... FILE OUT.npz`.

pyarrow ends the whole process, instead of raising an exception, where the description of a file contradicts itself. In
a process of its own, with limits of memory and time, that is an error like any other. Its columns come back as an .npz
file, whose sizes are checked when it is read.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from armdyn.errors import FileError, MissingExtra
from armdyn.files import require_numbers, writing
from armdyn.identification.log.columns import Raw
from armdyn.identification.log.readers.numpy_files import is_numeric, read_numpy
from armdyn.typing import Array

LARGEST = 8 * 2**30
"""Bytes of memory of the process: some times those of the largest table that is read."""
LONGEST = 120.0
"""Time of the process, s."""
MISSING, REFUSED = 3, 4
"""Exit statuses: pyarrow is not there; the file is not a table of numbers, with the reason on stderr."""


def read_parquet(path: Path) -> Raw:
    """The columns of a Parquet file; a column of lists of one length is a block."""
    with TemporaryDirectory() as folder:
        out = Path(folder) / "columns.npz"
        words = [sys.executable, "-m", __name__, str(path), str(out)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise FileError(f"not read within {LONGEST:g} s", where=str(path), expected="a Parquet file") from None
        if done.returncode == MISSING:
            raise MissingExtra(
                "pyarrow is not installed",
                where=str(path),
                expected="pyarrow to read Parquet files",
                advice="pip install 'armdyn[parquet]'",
            )
        if done.returncode:
            reason = done.stderr.strip().splitlines()[-1:] if done.returncode == REFUSED else []
            raise FileError(
                f"cannot be read{': ' if reason else ''}{''.join(reason)[:200]}",
                where=str(path),
                expected="a Parquet file, complete",
            )
        return read_numpy(out)


def _convert(path: Path, out: Path) -> int:
    """Write the numeric columns of a Parquet file as arrays; return the exit status."""
    try:
        from pyarrow import parquet
    except ImportError:
        return MISSING
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
    try:
        with parquet.ParquetFile(path) as file:
            about = file.metadata
            groups = [about.row_group(k) for k in range(about.num_row_groups)]
            values = sum(group.column(j).num_values for group in groups for j in range(group.num_columns))
            require_numbers(path, max(values, about.num_rows * about.num_columns), about.num_columns)
            table = file.read()
        columns = {name: _numbers(table.column(name)) for name in table.column_names}
        arrays: dict[str, Any] = {name: array for name, array in columns.items() if array is not None}
        with writing(out) as part, part.open("wb") as file:
            np.savez(file, **arrays)
    except Exception as error:
        sys.stderr.write(str(error))
        return REFUSED
    return 0


def _numbers(column: Any) -> Array | None:
    """A column as numbers: (N,), or (N, k) of lists; None if it is something else."""
    values: Array = column.to_numpy()
    if values.dtype == object and len(values) and isinstance(values[0], np.ndarray):
        if len({len(row) for row in values}) != 1:
            return None
        values = np.stack(list(values))
    return values if is_numeric(values) else None


if __name__ == "__main__":
    sys.exit(_convert(Path(sys.argv[1]), Path(sys.argv[2])))

__all__ = ["read_parquet"]
